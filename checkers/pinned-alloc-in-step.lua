-- Pinned memory is allocated in steady steps.
return rule {
  id = "pinned-alloc-in-step", api = 1, version = "1.0.0",
  title = "Pinned memory is allocated in steady steps",
  category = "host", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "device.idle_share", "activities" },
  cause = "host", tags = { "memory", "launch" },
  params = {
    min_count = { default = 0.5, min = 0, max = 1e6, unit = "count", doc = "calls a step" },
    min_ns = { default = 5000, min = 0, max = 1e9, unit = "ns",
               doc = "time of a call; shorter ones come from a cache" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those with such calls" },
  },
  doc = [[
Pinning memory takes a lock that launches need. Priced as its time on the path. Silent for calls that a
cache serves, and for those of the first step alone.]],

  check = function(p, cfg)
    if p.fact["step.used"] < 2 then return nil end
    local calls = p:table("activities"):where {
      name = { like = p:names("driver_pins") },
      steps_share = { min = cfg.min_steps_share } }
    local count, total_ns, ns = calls:sum("events"), calls:sum("total_ns"), calls:sum("path_ns")
    if count < cfg.min_count or total_ns / count < cfg.min_ns then return nil end
    local step_ns = p.fact["step.ns"]
    return finding {
      title = ("%s %s"):format(
        fmt.many(math.max(1, count), "pinned allocation a step takes", "pinned allocations a step take"),
        fmt.ms(total_ns)),
      subject = { op = calls:top("total_ns", 1):rows()[1].name },
      evidence = { { "calls a step", count, "count" }, { "their time a step", total_ns, "ns" },
                   { "of that, on the path", ns, "ns", share = math.min(1, ns / step_ns) } },
      condition = ("%s a step of %s each"):format(
        fmt.many(math.max(1, count), "call", "calls"), fmt.ns(total_ns / count)),
      remedy = { text = "Allocate pinned buffers once and reuse them; let the loader pin.",
                 code = p.framework == "pytorch" and "DataLoader(ds, pin_memory=True, persistent_workers=True)"
                   or nil },
      impact = impact.replay { { "scale", parts = { "host" },
                                 name = p:names("driver_pins") },
        fallback = impact.exposed { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each step", framework = "pytorch", format = "kineto", finding = true, replay = { 3e5 },
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cudaHostAlloc", events = 2, steps_share = 1, path_ns = 3e5,
                                  total_ns = 6e5 } } } },
    { name = "from a cache", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cudaHostAlloc", events = 2, steps_share = 1, path_ns = 3e3,
                                  total_ns = 6e3 } } } },
  },
}
