-- Gradients of a device travel through gloo on the host.
return rule {
  id = "ddp-backend-gloo", api = 1, version = "1.0.0",
  title = "Gradients of the device travel through gloo",
  category = "communication", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "comm.exposed_ns", "collectives" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm", "comm-bandwidth-low", "overlap-low" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of such collectives over the step" },
    gain = { default = 0.8, min = 0, max = 1, unit = "share", doc = "of that time, what a device's own library saves" },
  },
  doc = [[
gloo copies device tensors to the host and reduces them there. NCCL (RCCL on AMD) sends them from device to device.
Priced at four fifths of the uncovered time. Silent for programs on the CPU, where gloo is right, and where a device's
own collectives run too.]],

  check = function(p, cfg)
    local step_ns, all = p.fact["step.ns"], p:table("collectives")
    local gloo = all:where { name = { like = "^gloo:" } }
    if gloo:count() == 0 or all:where { name = { like = "(?i)nccl|rccl" } }:count() > 0 then return nil end
    local ns = math.min(gloo:sum("exposed_ns"), p.fact["comm.exposed_ns"], step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Gradients of the device travel through gloo: %s of each step"):format(fmt.ms(ns)),
      subject = { op = gloo:top("exposed_ns", 1):rows()[1].name },
      evidence = { { "gloo collectives that nothing covers, a step", ns, "ns", share = ns / step_ns },
                   { "calls a step", gloo:sum("count"), "count" },
                   { "payload a step", gloo:sum("bytes"), "bytes" } },
      condition = ("gloo takes %s of the step of a program with a device, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Use the device's own library.", code = "torch.distributed.init_process_group('nccl')" },
      impact = impact.exposed { ns = cfg.gain * ns },
      claims = { { parts = { "communication" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a fifth of the step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.4, ["comm.exposed_ns"] = 2e6 },
      tables = { collectives = { { name = "gloo:all_reduce", count = 4, bytes = 1e8, exposed_ns = 2e6 } } } },
    { name = "nccl", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.4, ["comm.exposed_ns"] = 2e6 },
      tables = { collectives = { { name = "ncclDevKernel_AllReduce_Sum_f32", count = 4, bytes = 1e8,
                                   exposed_ns = 2e6 } } } },
    { name = "a CPU program", framework = "pytorch", format = "kineto", skipped = true,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 2e6 },
      tables = { collectives = { { name = "gloo:all_reduce", count = 4, bytes = 1e8, exposed_ns = 2e6 } } } },
  },
}
