-- A tensor leaves the device for an op on the CPU and comes back.
return rule {
  id = "placement-ping-pong", api = 1, version = "1.0.0",
  title = "A tensor leaves the device and comes back",
  category = "copies", severity = "warn",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns", "graph_patterns.accelerators" },
  cause = "placement", tags = { "tensorflow", "copies" },
  more_specific_than = { "h2d-share", "d2h-share" },
  params = {
    min_bytes = { default = 65536, min = 1, max = 1e12, unit = "bytes", doc = "bytes that cross both ways a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "share of the step that copies and op take" },
    link = { default = 12e9, min = 1e8, max = 1e12, unit = "bytes_per_s", doc = "rate of the link to the device" },
  },
  doc = [[
An op on the CPU takes a device's result, and the device waits for what comes back. Priced as the bytes of both ways
over the link's rate and the op's own time. Silent without a device, for strings, files, shapes and other work that
belongs on the host, below 64 KiB, and below half a per cent of the step.]],

  check = function(p, cfg)
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns, findings = p.fact["step.ns"], {}
    for _, row in ipairs(
        p:table("graph_patterns"):where { pattern = "ping-pong",
                                          bytes = { min = cfg.min_bytes } }:top("bytes", 3):rows()) do
      local ns = math.min(row.bytes / cfg.link * 1e9 + row.ns, step_ns)
      if ns >= cfg.min_share * step_ns then
        findings[#findings + 1] = finding {
          title = ("%s cross the bus and back for %s on the CPU"):format(fmt.bytes(row.bytes), row.op),
          subject = { op = row.op, device = row.device },
          evidence = { { "bytes both ways a step", row.bytes, "bytes" }, { "time of the op a step", row.ns, "ns" },
                       { "both a step", ns, "ns", share = ns / step_ns }, { "type", row.type } },
          condition = ("%s a step, %s accepted"):format(fmt.bytes(row.bytes), fmt.bytes(cfg.min_bytes)),
          remedy = { text = "Place the op on the device; cast to a type that has a kernel there.",
                     code = "with tf.device('/GPU:0'):" },
          impact = impact.exposed { ns = ns },
          confidence = "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "a unique in the middle", format = "graph", framework = "tensorflow", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "ping-pong", op = "a/Unique", type = "Unique", device = "/device:CPU:0",
                                      bytes = 1.2e7, ns = 1e5, count = 1 } } } },
    { name = "few bytes", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "ping-pong", op = "a/Neg", type = "Neg", device = "/device:CPU:0",
                                      bytes = 8, ns = 1e5, count = 1 } } } },
    { name = "CPU only", format = "profile", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
