-- The queue of launches is full: the device sets the pace.
return rule {
  id = "launch-queue-full", api = 1, version = "1.0.0",
  title = "The queue of launches is full: the device sets the pace",
  category = "host", severity = "info",
  needs = { "launch.queue_full_share", "launch.queue_depth_median", "device.busy_share" },
  tags = { "launch", "device" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "share of launches behind 1000 or more" },
  },
  doc = [[
A stream holds about a thousand launches; then the launch call blocks. Long launch calls are no host
limit then: the device is the limit, and kernels are where to look. A fact without a price. Silent
where the queue is seldom full.]],

  check = function(p, cfg)
    local share = p.fact["launch.queue_full_share"]
    if share < cfg.min_share then return nil end
    return finding {
      title = ("%s of launches wait behind a full queue: the device sets the pace"):format(fmt.pct(share)),
      evidence = { { "launches behind 1000 or more", share, "share" },
                   { "median launches waiting", p.fact["launch.queue_depth_median"], "count" },
                   { "step with work on the device", p.fact["device.busy_share"], "share" } },
      condition = ("%s of launches behind a full queue, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Nothing to do on the host; make kernels fewer or faster." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "half of the launches", finding = true,
      facts = { ["launch.queue_full_share"] = 0.5, ["launch.queue_depth_median"] = 994,
                ["device.busy_share"] = 0.97 } },
    { name = "seldom", finding = false,
      facts = { ["launch.queue_full_share"] = 0.01, ["launch.queue_depth_median"] = 20,
                ["device.busy_share"] = 0.97 } },
  },
}
