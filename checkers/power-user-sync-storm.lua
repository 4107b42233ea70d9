-- The host waits for the device very often.
return rule {
  id = "power-user-sync-storm", api = 1, version = "1.0.0",
  title = "The host waits for the device very often",
  category = "idle", severity = "info",
  formats = { "kineto", "xspace", "graph" },
  needs = { "step.ns", "sync.count_per_step", "sync.bubble_ns", "syncs", "device.idle_share" },
  cause = "sync", tags = { "sync", "idle" },
  params = {
    min_count = { default = 50, min = 1, max = 1e9, unit = "count", doc = "blocking calls a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device behind them, over the step" },
  },
  doc = [[
Each blocking call empties the queue of the device a little, and so many of them are rarely meant: an assertion on
device values, a loop over tensors, a debugging wait in a helper. Priced as the idle time of the device behind them.
Silent where the device stays busy meanwhile.]],

  check = function(p, cfg)
    local step_ns, count, bubble_ns = p.fact["step.ns"], p.fact["sync.count_per_step"], p.fact["sync.bubble_ns"]
    if count < cfg.min_count or bubble_ns < cfg.min_share * step_ns then return nil end
    bubble_ns = math.min(bubble_ns, step_ns)
    local evidence = { { "blocking calls a step", count, "count" },
                       { "device idle behind them a step", bubble_ns, "ns", share = bubble_ns / step_ns } }
    local most = p:table("syncs"):where { count = { min = 1 } }:top("count", 3)
    for row in most:each() do
      evidence[#evidence + 1] =
        { row.name .. (row.owner and row.owner ~= "" and " in " .. row.owner or "") .. ", a step", row.count, "count" }
    end
    return finding {
      title = ("%s blocking calls a step"):format(fmt.whole(count)),
      evidence = evidence, locations = most:places(),
      condition = ("%s a step, %s accepted, with %s of the step idle behind them"):format(
        fmt.whole(count), fmt.count(cfg.min_count), fmt.pct(bubble_ns / step_ns)),
      remedy = { text = "Remove waits that nobody needs; where order between streams matters, record an event and let "
                   .. "the stream wait for it.",
                 code = p.framework == "pytorch" and "event.record(a); b.wait_event(event)   # the host goes on"
                   or nil },
      impact = impact.exposed { ns = bubble_ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a wait for each layer", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7.5e5,
      facts = { ["step.ns"] = 1e7, ["sync.count_per_step"] = 96, ["sync.bubble_ns"] = 1e6,
                ["device.idle_share"] = 0.2 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::item", count = 96, bubble_ns = 1e6 } } } },
    { name = "the device stays busy", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["sync.count_per_step"] = 96, ["sync.bubble_ns"] = 1e4,
                ["device.idle_share"] = 0.02 },
      tables = { syncs = {} } },
    { name = "a few", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["sync.count_per_step"] = 6, ["sync.bubble_ns"] = 1e6, ["device.idle_share"] = 0.2 },
      tables = { syncs = {} } },
  },
}
