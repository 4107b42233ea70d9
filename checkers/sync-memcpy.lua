-- Copies are called in a form that waits.
return rule {
  id = "sync-memcpy", api = 1, version = "1.0.0",
  title = "Copies are called in a form that waits",
  category = "copies", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.idle_share", "activities" },
  cause = "copy", tags = { "copies", "sync" },
  more_specific_than = { "long-gpu-gap", "blocking-sync-in-step", "host-bound" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "time on the path in such calls over the step" },
  },
  doc = [[
cudaMemcpy, without Async, holds the host until the copy is done. Priced as its time on the path.
Silent where the device has other work meanwhile.]],

  check = function(p, cfg)
    local calls =
      p:table("activities"):where {
        name = { like = p:names("driver_copies_and_waits") } }
    local ns, count, step_ns = calls:sum("path_ns"), calls:sum("events"), p.fact["step.ns"]
    if ns / step_ns < cfg.min_share then return nil end
    local top = calls:top("path_ns", 1):rows()[1]
    return finding {
      title = ("%s for %s"):format(fmt.many(math.max(1, count), "copy a step waits", "copies a step wait"), fmt.ms(ns)),
      subject = { op = top.name },
      evidence = { { "waiting in copies on the path a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "calls a step", count, "count" },
                   { "all of their time a step", calls:sum("total_ns"), "ns" } },
      condition = ("such calls take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Copy asynchronously from pinned memory, on a stream of its own.",
                 code = p.framework == "pytorch" and "x = x.pin_memory().to(device, non_blocking=True)" or nil },
      impact = impact.replay { { "scale", parts = { "host", "copy", "idle.sync" }, factor = 0.1,
                                 name = p:names("driver_copies_and_waits") },
                               fallback = impact.exposed { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true, replay = { 9e5 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cudaMemcpy", events = 4, path_ns = 1e6, total_ns = 2e6 } } } },
    { name = "asynchronous", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cudaMemcpyAsync", events = 4, path_ns = 1e6, total_ns = 2e6 } } } },
  },
}
