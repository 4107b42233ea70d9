-- Kernels seem to start before the calls that launch them, or ranks to leave collectives before others come.
return rule {
  id = "clock-misaligned", api = 1, version = "1.1.0",
  title = "The clocks of hosts and devices do not agree",
  category = "validity", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "clock.checked_count" },
  tags = { "validity" },
  params = {
    min_launches = { default = 100, min = 1, max = 1e9, unit = "count", doc = "launches with a known kernel" },
    max_early = { default = 0.001, min = 0, max = 1, unit = "share",
                  doc = "of the kernels, those that start before their launch" },
    min_collectives = { default = 10, min = 1, max = 1e9, unit = "count", doc = "collectives that ranks share" },
    max_left_early = { default = 0.1, min = 0, max = 1, unit = "share",
                       doc = "of the collectives, those that end before a rank has come" },
  },
  doc = [[
A kernel cannot start before its launch. Where some do, times of the host and of the device are shifted against each
other, and idle time by cause, launch delays and lateness of ranks are off by about that much. Nor can a collective of
all ranks end before the last one has come. Ranks are moved so that their collectives end together where their ends
differ by about the same each time; where they do not, times of one rank say nothing about those of another. Silent for
single ones.]],

  check = function(p, cfg)
    local remedy =
      { text = "Record again, after the device has warmed up; several ranks need synchronised clocks (chrony or PTP)." }
    local share, launches = p.fact["launch.early_share"] or 0, p.fact["launch.linked_count"] or 0
    if launches >= cfg.min_launches and share > cfg.max_early then
      return finding {
        title = ("%s of kernels start before the call that launches them"):format(fmt.pct(share)),
        evidence = { { "kernels that start before their launch", share, "share" },
                     { "launches looked at", launches, "count" } },
        condition = ("%s of the kernels, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.max_early)),
        remedy = remedy,
        impact = impact.none(),
        confidence = "high",
      }
    end
    local left, collectives = p.fact["clock.early_share"] or 0, p.fact["clock.collective_count"] or 0
    if collectives < cfg.min_collectives or left <= cfg.max_left_early then return nil end
    return finding {
      title = ("%s of a rank's collectives end before another rank has come to them"):format(fmt.pct(left)),
      evidence = { { "collectives that end before a rank has come", left, "share" },
                   { "collectives looked at", collectives, "count" },
                   { "what their ends differ by", p.fact["clock.deviation_ns"] or 0, "ns" } },
      condition = ("%s of the collectives, %s accepted"):format(fmt.pct(left), fmt.pct(cfg.max_left_early)),
      remedy = remedy,
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["clock.checked_count"] = 1000, ["launch.linked_count"] = 1000, ["launch.early_share"] = 0.1 } },
    { name = "in order", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["clock.checked_count"] = 1000, ["launch.linked_count"] = 1000, ["launch.early_share"] = 0 } },
    { name = "ranks that leave early", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["clock.checked_count"] = 40, ["clock.collective_count"] = 40, ["clock.early_share"] = 0.5,
                ["clock.deviation_ns"] = 3e7 } },
    { name = "ranks in step", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["clock.checked_count"] = 40, ["clock.collective_count"] = 40, ["clock.early_share"] = 0,
                ["clock.deviation_ns"] = 3e4 } },
  },
}
