-- The host is hardly ahead of the device.
return rule {
  id = "launch-queue-empty", api = 1, version = "1.0.0",
  title = "The host is hardly ahead of the device",
  category = "host", severity = "warn",
  needs = { "step.ns", "device.busy_share", "launch.queue_empty_share", "launch.queue_depth_median",
            "launch.count_per_step", "launch.ns_per_step" },
  tags = { "launch", "device" },
  params = {
    min_share = { default = 0.50, min = 0, max = 1, unit = "share", doc = "share of launches onto an empty queue" },
    min_busy = { default = 0.60, min = 0, max = 1, unit = "share",
                 doc = "below this the host is the limit already, and other rules say so" },
    min_count = { default = 50, min = 1, max = 1e9, unit = "count", doc = "launches a step" },
  },
  doc = [[
The device is busy, but the host launches each kernel only just in time: a faster device would wait for
the host. A fact without a price. Silent where the host is the limit already.]],

  check = function(p, cfg)
    local empty, busy = p.fact["launch.queue_empty_share"], p.fact["device.busy_share"]
    if empty < cfg.min_share or busy < cfg.min_busy or p.fact["launch.count_per_step"] < cfg.min_count then
      return nil
    end
    return finding {
      title = ("%s of launches find an empty queue: a faster device would wait for the host"):format(fmt.pct(empty)),
      evidence = { { "launches onto an empty queue", empty, "share" },
                   { "median launches waiting", p.fact["launch.queue_depth_median"], "count" },
                   { "step with work on the device", busy, "share" },
                   { "launch calls a step", p.fact["launch.ns_per_step"], "ns" } },
      condition = ("%s of launches, %s accepted"):format(fmt.pct(empty), fmt.pct(cfg.min_share)),
      remedy = { text = "Compile or capture the step before moving to a faster device." },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "just in time", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.busy_share"] = 0.8, ["launch.queue_empty_share"] = 0.7,
                ["launch.queue_depth_median"] = 0, ["launch.count_per_step"] = 500, ["launch.ns_per_step"] = 3e6 } },
    { name = "ahead", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.busy_share"] = 0.8, ["launch.queue_empty_share"] = 0.05,
                ["launch.queue_depth_median"] = 60, ["launch.count_per_step"] = 500, ["launch.ns_per_step"] = 3e6 } },
  },
}
