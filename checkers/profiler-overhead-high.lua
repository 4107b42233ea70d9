-- The profiler's own work takes much of the step.
return rule {
  id = "profiler-overhead-high", api = 1, version = "1.0.0",
  title = "The profiler's own work takes much of the step",
  category = "validity", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.idle_share", "device.idle_profiler_ns", "device.idle_profiler_share" },
  tags = { "validity", "device" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "idle time for the profiler over the step" },
    veto_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which times cannot be trusted" },
  },
  doc = [[
Writing buffers and instrumenting code stops the program; this idle time is charged to nobody else. A
fact without a price. Silent where it lies outside of steps.]],

  check = function(p, cfg)
    local share = p.fact["device.idle_profiler_share"]
    if share < cfg.min_share then return nil end
    return finding {
      title = ("Profiling itself takes %s of the step"):format(fmt.pct(share)),
      severity = share >= cfg.veto_share and "veto" or "warn",
      evidence = { { "idle while the profiler worked, a step", p.fact["device.idle_profiler_ns"], "ns",
                     share = math.min(1, share) } },
      condition = ("%s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Record fewer steps, without stacks, shapes or memory, one at a time.",
                 code = p.framework == "pytorch"
                   and "profile(with_stack=False, record_shapes=False, profile_memory=False)" or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["device.idle_profiler_ns"] = 1e6,
                ["device.idle_profiler_share"] = 0.1 } },
    { name = "little", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["device.idle_profiler_ns"] = 1e4,
                ["device.idle_profiler_share"] = 0.001 } },
  },
}
