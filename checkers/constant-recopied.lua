-- A constant of the graph is copied to the device in each step.
return rule {
  id = "constant-recopied", api = 1, version = "1.0.0",
  title = "A constant is copied to the device in each step",
  category = "copies", severity = "warn",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns", "graph_patterns.accelerators" },
  cause = "copy", tags = { "tensorflow", "copies" },
  more_specific_than = { "h2d-share" },
  params = {
    min_bytes = { default = 65536, min = 1, max = 1e12, unit = "bytes",
                  doc = "constants a step from which this is said" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "share of the step that the copies take" },
    link = { default = 12e9, min = 1e8, max = 1e12, unit = "bytes_per_s", doc = "rate of the link to the device" },
  },
  doc = [[
A constant that was placed on the CPU and feeds an op on a device crosses the bus in each step with the same bytes.
Priced as their bytes over the link's rate. Silent without a device, below 64 KiB, and where the copies take little.]],

  check = function(p, cfg)
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns = p.fact["step.ns"]
    local constants = p:table("graph_patterns"):where { pattern = "constant-copied" }
    local bytes = constants:sum("bytes")
    local ns = math.min(bytes / cfg.link * 1e9, step_ns)
    if bytes < cfg.min_bytes or ns < cfg.min_share * step_ns then return nil end
    local top = constants:top("bytes", 1):rows()[1]
    return finding {
      title = ("%s of constants go to the device in each step, mostly %s"):format(fmt.bytes(bytes), top.op),
      subject = { op = top.op, device = top.device },
      evidence = { { "constants a step", bytes, "bytes" }, { "how many", constants:count(), "count" },
                   { top.op, top.bytes, "bytes" },
                   { "time of that on the link a step", ns, "ns", share = ns / step_ns } },
      condition = ("%s a step, %s accepted"):format(fmt.bytes(bytes), fmt.bytes(cfg.min_bytes)),
      remedy = { text = "Make it on the device, or keep it in a variable there.",
                 code = "with tf.device('/GPU:0'):\n    table = tf.constant(values)" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a table", format = "graph", framework = "tensorflow", finding = true, impact_ns = 6e5,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "constant-copied", op = "table", device = "/device:CPU:0", bytes = 1e7,
                                      count = 1, ns = 0 } } } },
    { name = "an axis", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "constant-copied", op = "axis", device = "/device:CPU:0", bytes = 4,
                                      count = 1, ns = 0 } } } },
    { name = "CPU only", format = "profile", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
