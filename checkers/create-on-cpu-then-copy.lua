-- Tensors are made on the CPU and copied to the device at once.
return rule {
  id = "create-on-cpu-then-copy", api = 1, version = "1.0.0",
  title = "Tensors are made on the CPU and copied at once",
  category = "copies", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "torch.created_on_cpu", "torch.created_ns" },
  cause = "copy", tags = { "copies" },
  more_specific_than = { "h2d-share", "memcpy-storm", "host-bound", "long-gpu-gap", "constant-recomputed" },
  params = {
    min_count = { default = 1, min = 0, max = 1e6, unit = "count", doc = "such tensors a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "making and copying them over the step" },
  },
  doc = [[
`torch.zeros(n).to(device)` fills on the host, copies, and often waits; with `device=` the tensor is made in place. Seen
as a creation followed at once by `aten::to` with a copy. Priced by replay of the step without making and copying, as
far as the device waits for the host or the copy. Silent below half a per cent of the step.]],

  check = function(p, cfg)
    local step_ns, count = p.fact["step.ns"], p.fact["torch.created_on_cpu"]
    local ns = math.min(p.fact["torch.created_ns"], step_ns)
    if count < cfg.min_count or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Making tensors on the CPU and copying them takes %s of each step"):format(fmt.ms(ns)),
      evidence = { { "making and copying them a step", ns, "ns", share = ns / step_ns },
                   { "tensors a step", count, "count" } },
      condition = ("%s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Make them where they are used.", code = "mask = torch.zeros(n, device=x.device)" },
      impact = impact.replay { { "subtract", parts = { "copy", "host" }, ns = ns },
                               fallback = impact.exposed { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "noise for each batch", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9e5,
      replay = { 9e5 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["torch.created_on_cpu"] = 2,
                ["torch.created_ns"] = 1e6 } },
    { name = "made on the device", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["torch.created_on_cpu"] = 0,
                ["torch.created_ns"] = 0 } },
  },
}
