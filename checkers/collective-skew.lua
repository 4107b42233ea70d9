-- Collective time is mostly waiting for the last rank.
return rule {
  id = "collective-skew", api = 1, version = "1.0.0",
  title = "Collectives mostly wait for the last rank",
  category = "communication", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "comm.ns", "comm.share", "comm.skew_ns", "comm.skew_share", "ranks.count" },
  cause = "imbalance", tags = { "ranks", "communication" },
  params = {
    min_skew_share = { default = 0.20, min = 0, max = 1, unit = "share",
                       doc = "of collective time, the distance between the first and the last rank's start" },
    high_share = { default = 0.15, min = 0, max = 1, unit = "share",
                   doc = "share of the step that waits so, from which this is a warning" },
    min_comm_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step in collectives" },
  },
  doc = [[
Ranks begin a collective at different times, and the first ones wait inside it. Faster links do not shorten that.
A fact without a price: rules about the late rank have one. Silent where ranks start together.]],

  check = function(p, cfg)
    local skew = p.fact["comm.skew_share"]
    if p.fact["ranks.count"] < 2 or skew < cfg.min_skew_share or p.fact["comm.share"] < cfg.min_comm_share then
      return nil
    end
    skew = math.min(1, skew)
    local evidence = {
      { "last start less first start of a collective", p.fact["comm.skew_ns"], "ns" },
      { "that over collective time", skew, "share" },
      { "collectives a step", p.fact["comm.ns"], "ns", share = math.min(1, p.fact["comm.share"]) },
    }
    if p.fact["comm.matched_by"] == "ends" then
      evidence[#evidence + 1] = { "told to be the same by when they end", p.fact["comm.matched_count"], "count" }
      evidence[#evidence + 1] = { "recorded on one rank alone", p.fact["comm.alone_count"], "count" }
    end
    return finding {
      title = ("%s of collective time is waiting for the last rank"):format(fmt.pct(skew)),
      severity = skew * p.fact["comm.share"] >= cfg.high_share and skew > 0.5 and "warn" or nil,
      evidence = evidence,
      condition = ("starts differ by %s of collective time, %s accepted"):format(
        fmt.pct(skew), fmt.pct(cfg.min_skew_share)),
      remedy = { text = "Level the ranks' work before the collective; bandwidth is not the limit." },
      impact = impact.none(),
      confidence = p.fact["comm.matched_by"] == "ends" and "low" or "medium",
    }
  end,

  examples = {
    { name = "ranks start apart", finding = true, severity = "warn",
      facts = { ["step.ns"] = 2e8, ["comm.ns"] = 7e7, ["comm.share"] = 0.33, ["comm.skew_ns"] = 6e7,
                ["comm.skew_share"] = 0.85, ["ranks.count"] = 2 } },
    { name = "ranks start together", finding = false,
      facts = { ["step.ns"] = 2e8, ["comm.ns"] = 7e7, ["comm.share"] = 0.33, ["comm.skew_ns"] = 1e6,
                ["comm.skew_share"] = 0.02, ["ranks.count"] = 2 } },
  },
}
