-- An op between device ops runs on the CPU.
return rule {
  id = "cpu-fallback-op", api = 1, version = "1.0.0",
  title = "An op between device ops runs on the CPU",
  category = "copies", severity = "error",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns", "graph_patterns.accelerators" },
  cause = "placement", tags = { "tensorflow", "ops" },
  more_specific_than = { "hot-op", "d2h-share", "h2d-share" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "time of the op over the step from which this is said" },
    speedup = { default = 10, min = 1, max = 1e4, unit = "ratio", doc = "how much faster the device is taken to be" },
  },
  doc = [[
Its neighbours are on an accelerator: inputs come from there or results go back, and the device waits. Priced as the op
at a tenth of its time; copies are not counted. Silent where the program has no accelerator, for strings, files,
lookups, shapes, random numbers, variables and checkpoints, which belong on the host, and below 2 % of the step.]],

  check = function(p, cfg)
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns, findings = p.fact["step.ns"], {}
    local ops = p:table("graph_patterns"):where { pattern = "cpu-fallback", ns = { min = cfg.min_share * step_ns } }
    for i, row in ipairs(ops:top("ns", 3):rows()) do
      local ns = math.min(row.ns, step_ns)
      findings[i] = finding {
        title = ("%s runs on the CPU between device ops: %s of each step"):format(row.op, fmt.ms(ns)),
        subject = { op = row.op, device = row.device },
        evidence = { { "time of the op a step", ns, "ns", share = ns / step_ns },
                     { "its results", row.bytes, "bytes" },
                     { "type", row.type } },
        condition = ("%s of the step on the CPU, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
        remedy = { text = "Place it on the device; cast int64 or double to a type that has a kernel there, and read "
                     .. "the placement log.",
                   code = "with tf.device('/GPU:0'):" },
        impact = impact.amdahl { ns = ns, speedup = cfg.speedup },
        confidence = "low",
      }
    end
    return findings
  end,

  examples = {
    { name = "a loss", format = "graph", framework = "tensorflow", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "cpu-fallback", op = "loss/xent",
                                      type = "SoftmaxCrossEntropyWithLogits", device = "/device:CPU:0", ns = 3.6e6,
                                      count = 1, bytes = 4e5 } } } },
    { name = "a short one", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "cpu-fallback", op = "a/Mul", type = "Mul", device = "/device:CPU:0",
                                      ns = 1e4, count = 1, bytes = 4 } } } },
    { name = "CPU only", format = "profile", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
