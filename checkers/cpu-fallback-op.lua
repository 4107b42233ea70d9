-- An op runs on the CPU although its like runs on the accelerator.
return rule {
  id = "cpu-fallback-op", api = 1, version = "1.0.0",
  title = "An op runs on the CPU beside an accelerator",
  category = "placement", severity = "error",
  formats = { "profile", "graph" },
  needs = { "step.median_ns", "device.idle_share", "ops" },
  cause = "placement", tags = { "placement", "ops" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "the op's own time over the step" },
    speedup = { default = 10, min = 1, max = 1000, unit = "ratio", doc = "how much faster it is on the accelerator" },
  },
  doc = [[
A heavy op on the CPU, of a type that runs on the accelerator elsewhere or takes part in arithmetic,
stops the accelerator and sends its operands across the bus. Priced as Amdahl's law has it. Silent for
strings, files, lookups, shapes, and saving.]],

  check = function(p, cfg)
    local step_ns, findings = p.fact["step.median_ns"], {}
    local ops = p:table("ops")
    local on_cpu = ops:where { device = { like = "(?i)cpu" }, self_ns = { min = cfg.min_share * step_ns } }
    for _, row in ipairs(on_cpu:top("self_ns", 20):rows()) do
      local type = row.type or ""
      local is_bound = type:find("(?i)string|read|write|file|iterator|dataset|queue|lookup|hash|table|shape|save|restore|summary|print|pyfunc|random|_send|_recv|placeholder|const|variable|^decode|^parse|^_?(arg|retval)$|noop")
      local elsewhere = ops:where { type = type, device = { like = "(?i)gpu|tpu" } }:count() > 0
      local is_arithmetic = type:find("MatMul|Conv|Softmax|CrossEntropy|Mul$|Add(V2)?$|Relu|Sum$|Mean$|Norm|Gather|Einsum")
      if not is_bound and (elsewhere or is_arithmetic) and #findings < 3 then
        findings[#findings + 1] = finding {
          title = ("%s runs on the CPU and takes %s a step"):format(row.name, fmt.ms(row.self_ns)),
          subject = { op = row.name, device = row.device },
          locations = row.source_file and row.source_file ~= "" and { { file = row.source_file, line = row.source_line } } or {},
          evidence = { { "its own time a step", row.self_ns, "ns", share = math.min(1, row.self_ns / step_ns) }, { "type", type },
                       { "operands and result", row.shapes or "unknown" },
                       { "of its type on an accelerator", ops:where { type = type, device = { like = "(?i)gpu|tpu" } }:count(), "count" } },
          condition = ("%s of the step on the CPU, %s accepted"):format(fmt.pct(row.self_ns / step_ns), fmt.pct(cfg.min_share)),
          remedy = { text = "Place it on the accelerator; where it has no kernel there, another type usually has: float32, int32.",
                     code = "with tf.device('/GPU:0'): ...\ntf.debugging.set_log_device_placement(True)" },
          impact = impact.amdahl { ns = math.min(row.self_ns, step_ns), speedup = cfg.speedup },
          confidence = elsewhere and "medium" or "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "a loss on the CPU", framework = "tensorflow", format = "profile", finding = true, impact_ns = 3e6,
      facts = { ["step.median_ns"] = 1e7, ["device.idle_share"] = 0.4 },
      tables = { ops = { { name = "xent", type = "SparseSoftmaxCrossEntropyWithLogits", device = "/device:CPU:0", self_ns = 3.6e6 },
                         { name = "mm", type = "MatMul", device = "/device:GPU:0", self_ns = 2e6 } } } },
    { name = "an iterator", format = "profile", finding = false, facts = { ["step.median_ns"] = 1e7, ["device.idle_share"] = 0.4 },
      tables = { ops = { { name = "next", type = "IteratorGetNext", device = "/device:CPU:0", self_ns = 3.6e6 } } } },
    { name = "a CPU program", format = "profile", skipped = true, facts = { ["step.median_ns"] = 1e7 } },
  },
}
