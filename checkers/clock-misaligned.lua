-- Kernels seem to start before the calls that launch them.
return rule {
  id = "clock-misaligned", api = 1, version = "1.0.0",
  title = "The clocks of host and device do not agree",
  category = "validity", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "launch.linked_count", "launch.early_share" },
  tags = { "validity" },
  params = {
    min_launches = { default = 100, min = 1, max = 1e9, unit = "count", doc = "launches with a known kernel" },
    max_early = { default = 0.001, min = 0, max = 1, unit = "share", doc = "of the kernels, those that start before their launch" },
  },
  doc = [[
A kernel cannot start before its launch. Where some do, times of the host and of the device are shifted against each other,
and idle time by cause, launch delays and lateness of ranks are off by about that much. Silent for single ones.]],

  check = function(p, cfg)
    local share = p.fact["launch.early_share"]
    if p.fact["launch.linked_count"] < cfg.min_launches or share <= cfg.max_early then return nil end
    return finding {
      title = ("%s of kernels start before the call that launches them"):format(fmt.pct(share)),
      evidence = { { "kernels that start before their launch", share, "share" },
                   { "launches looked at", p.fact["launch.linked_count"], "count" } },
      condition = ("%s of the kernels, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.max_early)),
      remedy = { text = "Record again, after the device has warmed up; several ranks need synchronised clocks (chrony or PTP)." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["launch.linked_count"] = 1000, ["launch.early_share"] = 0.1 } },
    { name = "in order", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["launch.linked_count"] = 1000, ["launch.early_share"] = 0 } },
  },
}
