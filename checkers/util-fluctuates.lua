-- The device swings between full use and none within each step.
return rule {
  id = "util-fluctuates", api = 1, version = "1.0.0",
  title = "Use of the device swings between full and none",
  category = "idle", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "device.use_p5", "device.use_p95", "device.use_swings", "device.idle_share", "step.source" },
  tags = { "idle" },
  params = {
    high = { default = 0.70, min = 0, max = 1, unit = "share", doc = "use in the busiest twentieth of the steps" },
    low = { default = 0.10, min = 0, max = 1, unit = "share", doc = "use in the idlest twentieth" },
    min_swings = { default = 2, min = 1, max = 1e6, unit = "count", doc = "falls from full use to none a step" },
    min_idle = { default = 0.15, min = 0, max = 1, unit = "share", doc = "of the step without work on the device" },
  },
  doc = [[
Each step is cut into twenty slices. Slices of full use beside slices of none, several times a step, mean that device
and host take turns. A fact without a price: the causes of the idle time have findings of their own. Silent where use
falls once a step, which is a phase, and where steps are not marked.]],

  check = function(p, cfg)
    local low, high, swings = p.fact["device.use_p5"], p.fact["device.use_p95"], p.fact["device.use_swings"]
    if p.fact["step.source"] == "whole-trace" or low >= cfg.low or high < cfg.high or swings < cfg.min_swings or
       p.fact["device.idle_share"] < cfg.min_idle then
      return nil
    end
    return finding {
      title = ("Use of the device swings between %s and %s, %s times a step"):format(
        fmt.pct(low), fmt.pct(high), fmt.whole(swings)),
      evidence = { { "use in the busiest twentieth of the steps", high, "share" },
                   { "use in the idlest twentieth", low, "share" },
                   { "falls from full use to none a step", swings, "count" },
                   { "idle", p.fact["device.idle_share"], "share" } },
      condition = ("%s falls a step, fewer than %s accepted"):format(fmt.whole(swings), fmt.count(cfg.min_swings)),
      remedy = { text = "Let the host run ahead: fewer waits for results inside the step, input made ahead." },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "taking turns", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["device.use_p5"] = 0, ["device.use_p95"] = 1, ["device.use_swings"] = 4, ["device.idle_share"] = 0.4,
                ["step.source"] = "marker" } },
    { name = "one phase", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["device.use_p5"] = 0, ["device.use_p95"] = 1, ["device.use_swings"] = 1, ["device.idle_share"] = 0.4,
                ["step.source"] = "marker" } },
    { name = "evenly used", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["device.use_p5"] = 0.5, ["device.use_p95"] = 0.9, ["device.use_swings"] = 0,
                ["device.idle_share"] = 0.3, ["step.source"] = "marker" } },
  },
}
