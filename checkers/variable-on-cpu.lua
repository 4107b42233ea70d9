-- Variables lie in host memory while an accelerator reads them.
return rule {
  id = "variable-on-cpu", api = 1, version = "1.0.0",
  title = "Variables on the CPU are read by an accelerator",
  category = "copies", severity = "warn",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns", "graph_patterns.accelerators" },
  cause = "copy", tags = { "tensorflow", "copies" },
  more_specific_than = { "h2d-share" },
  params = {
    min_bytes = { default = 1048576, min = 0, max = 1e15, unit = "bytes",
                  doc = "of such variables from which this is said" },
    link_bytes_per_s = { default = 12e9, min = 1, max = 1e15, unit = "none", doc = "how fast the bus is taken to be" },
  },
  doc = [[
Each step copies such a variable to the device, and its gradient back. Priced as the bytes over the speed of the bus,
with low confidence: copies may hide behind computation. Silent where the program has no accelerator, for small
variables, and for those that only the CPU reads, as embeddings too large for the device whose lookups stay there.]],

  check = function(p, cfg)
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local variables = p:table("graph_patterns"):where { pattern = "variable-on-cpu" }
    local bytes = variables:sum("bytes")
    if variables:count() == 0 or bytes < cfg.min_bytes then return nil end

    local worst = variables:top("bytes", 1):rows()[1]
    local ns = math.min(bytes / cfg.link_bytes_per_s * 1e9, p.fact["step.ns"])
    return finding {
      title = ("%s of variables cross the bus each step"):format(fmt.bytes(bytes)),
      subject = { op = worst.op, device = worst.device },
      evidence = { { "variables on the CPU that an accelerator reads", bytes, "bytes" },
                   { "of them", variables:count(), "count" },
                   { worst.op, worst.bytes, "bytes" },
                   { "copying them once, estimated", ns, "ns", share = ns / p.fact["step.ns"] } },
      condition = ("%s of variables, %s accepted"):format(fmt.bytes(bytes), fmt.bytes(cfg.min_bytes)),
      remedy = { text = "Place the variables on the device, or mirror them there.",
                 code = "with tf.device('/GPU:0'):" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "weights", format = "graph", framework = "tensorflow", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 2e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "variable-on-cpu", op = "fc/weights", device = "/device:CPU:0", ns = 0,
                                      count = 1, bytes = 4e7, elements = 1e7 } } } },
    { name = "biases", format = "graph", finding = false,
      facts = { ["step.ns"] = 2e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "variable-on-cpu", op = "fc/biases", device = "/device:CPU:0", ns = 0,
                                      count = 1, bytes = 4e3, elements = 1e3 } } } },
    { name = "CPU only", format = "profile", skipped = true,
      facts = { ["step.ns"] = 2e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
