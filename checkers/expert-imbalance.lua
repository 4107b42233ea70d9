-- One rank gets far more of an all-to-all than the others.
return rule {
  id = "expert-imbalance", api = 1, version = "1.0.0",
  title = "One rank gets far more of an all-to-all than the others",
  category = "communication", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "collectives" },
  cause = "imbalance", tags = { "communication", "ranks" },
  more_specific_than = { "collective-skew" },
  params = {
    min_ratio = { default = 1.5, min = 1, max = 1e6, unit = "ratio",
                  doc = "the most that goes to one rank over the mean" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "time in such all-to-alls over the step" },
  },
  doc = [[
With experts on different ranks an all-to-all sends each its tokens, and the rank that gets most works longest: the
others wait at the next collective. Reads the sizes that were recorded with the call. Priced as what the time in these
all-to-alls would be less with even parts. Silent where sizes were not recorded.]],

  check = function(p, cfg)
    local step_ns, ns, saved_ns, worst = p.fact["step.ns"], 0, 0, nil
    for row in p:table("collectives"):where { type = "all-to-all", unevenness = { min = cfg.min_ratio } }:each() do
      local exposed = row.exposed_ns or 0
      ns, saved_ns = ns + exposed, saved_ns + exposed * (1 - 1 / row.unevenness)
      if not worst or row.unevenness > worst.unevenness then worst = row end
    end
    ns = math.min(ns, step_ns)
    if not worst or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("The busiest rank of an all-to-all gets %s the mean"):format(fmt.ratio(worst.unevenness)),
      subject = { kernel = worst.name },
      evidence = { { "the most to one rank over the mean", worst.unevenness, "ratio" },
                   { "uneven all-to-alls, uncovered, a step", ns, "ns", share = ns / step_ns },
                   { "such calls a step", worst.count, "count" } },
      condition = ("%s the mean, %s accepted"):format(fmt.ratio(worst.unevenness), fmt.ratio(cfg.min_ratio)),
      remedy = { text = "Bound what an expert takes (capacity factor), balance the router by its loss or a bias, or "
                   .. "place busy experts apart." },
      impact = impact.exposed { ns = math.min(saved_ns, step_ns) },
      claims = { { parts = { "communication" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "one rank gets three times the mean", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { collectives = { { type = "all-to-all", name = "ncclDevKernel_SendRecv", unevenness = 3,
                                   exposed_ns = 2e6, count = 4 } } } },
    { name = "even", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { collectives = { { type = "all-to-all", name = "ncclDevKernel_SendRecv", unevenness = 1.1,
                                   exposed_ns = 2e6, count = 4 } } } },
    { name = "covered", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { collectives = { { type = "all-to-all", name = "ncclDevKernel_SendRecv", unevenness = 3,
                                   exposed_ns = 1e5, count = 4 } } } },
  },
}
