-- Memory of the device is set by calls that wait.
return rule {
  id = "sync-memset", api = 1, version = "1.0.0",
  title = "Memory of the device is set by calls that wait",
  category = "idle", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.idle_share", "activities" },
  cause = "sync", tags = { "sync" },
  params = {
    min_share = { default = 0.001, min = 0, max = 1, unit = "share", doc = "share of the step inside such calls" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those with such calls" },
  },
  doc = [[
cudaMemset on pinned or managed memory waits for the device; its asynchronous form does not. Priced as the calls' time
on the path. Silent for a few microseconds.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local calls = p:table("activities"):where { name = { like = "^(cuda|hip)Memset(2D|3D)?$" },
                                                steps_share = { min = cfg.min_steps_share } }
    local ns = math.min(calls:sum("path_ns"), step_ns)
    if calls:count() == 0 or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("%s device memory, waiting: %s"):format(
        fmt.many(calls:sum("events"), "call a step sets", "calls a step set"), fmt.ms(ns)),
      subject = { op = calls:top("path_ns", 1):rows()[1].name },
      evidence = { { "their time on the path, a step", ns, "ns", share = ns / step_ns },
                   { "calls a step", calls:sum("events"), "count" } },
      condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Use the asynchronous form, or allocate set memory on the device.",
                 code = "cudaMemsetAsync(p, 0, bytes, stream);" },
      impact = impact.exposed { ns = ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "eight a step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7.5e4,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { activities = { { name = "cudaMemset", events = 8, steps_share = 1, path_ns = 1e5 } } } },
    { name = "asynchronous", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { activities = { { name = "cudaMemsetAsync", events = 8, steps_share = 1, path_ns = 1e5 } } } },
  },
}
