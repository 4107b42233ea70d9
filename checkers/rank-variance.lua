-- Steps of the ranks differ in length.
return rule {
  id = "rank-variance", api = 1, version = "1.0.0",
  title = "Steps of the ranks differ in length",
  category = "variance", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.used", "ranks", "ranks.count" },
  cause = "imbalance", tags = { "ranks", "variance" },
  params = {
    max_cv = { default = 0.02, min = 0, max = 1, unit = "ratio",
               doc = "standard deviation of the ranks' median steps over their mean" },
    min_steps = { default = 5, min = 1, max = 1e6, unit = "count", doc = "steps needed to judge" },
  },
  doc = [[
Ranks of one job step together, so their steps should last alike; where they do not, some do without others for a while,
or do not belong to one job. Priced as the longest step less the mean. Silent for one rank and few steps, and where
steps vary so much that their medians differ by chance.]],

  check = function(p, cfg)
    local ranks = p:table("ranks")
    local count = ranks:count()
    if count < 2 or p.fact["step.used"] < cfg.min_steps then return nil end

    local mean_ns, square = ranks:sum("step_ns") / count, 0
    if mean_ns <= 0 then return nil end
    for rank in ranks:each() do square = square + ((rank.step_ns or mean_ns) - mean_ns) ^ 2 end
    local cv = math.sqrt(square / count) / mean_ns
    -- Medians of a few uneven steps differ by chance.
    local chance = (p:has("step.cov") and p.fact["step.cov"] or 0) / math.sqrt(math.max(p.fact["step.used"], 1))
    if cv < math.max(cfg.max_cv, chance) then return nil end

    local slowest = ranks:top("step_ns", 1):rows()[1]
    local excess_ns = slowest.step_ns - mean_ns
    return finding {
      title = ("Median steps of the ranks differ by %s"):format(
        fmt.pct((slowest.step_ns - ranks:min("step_ns")) / mean_ns)),
      subject = { rank = slowest.rank, host = slowest.host },
      evidence = {
        { "deviation over mean", cv, "ratio" },
        { "longest median step", slowest.step_ns, "ns" },
        { "shortest", ranks:min("step_ns"), "ns" },
        { "ranks", count, "count" },
      },
      condition = ("deviation over mean of the ranks' steps %s, %s accepted"):format(fmt.pct(cv), fmt.pct(cfg.max_cv)),
      remedy = { text = "Look at what the slow rank does alone; give all ranks equal work and equal machines." },
      impact = impact.exposed { ns = excess_ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "one of two is slower", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 9e7, ["step.used"] = 10, ["ranks.count"] = 2 },
      tables = { ranks = { { host = "a", step_ns = 9e7 }, { host = "b", step_ns = 8e7 } } } },
    { name = "steps that vary as much", finding = false,
      facts = { ["step.ns"] = 9e7, ["step.used"] = 9, ["step.cov"] = 0.3, ["ranks.count"] = 2 },
      tables = { ranks = { { host = "a", step_ns = 9e7 }, { host = "b", step_ns = 8e7 } } } },
    { name = "alike", finding = false,
      facts = { ["step.ns"] = 9e7, ["step.used"] = 10, ["ranks.count"] = 2 },
      tables = { ranks = { { host = "a", step_ns = 9e7 }, { host = "b", step_ns = 8.95e7 } } } },
  },
}
