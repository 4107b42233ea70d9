-- Another rank comes late in each step.
local remedies = {
  compute = "Give all ranks batches of equal cost: sort or bucket by length, balance by the sum of squared lengths "
    .. "where attention is most of it, pack sequences.",
  input = "Keep more batches ready on each host.",
}
-- Summaries of ranks tell what each does in each step by itself.
local function from_summaries(p, cfg)
  local row = p:table("rank_causes"):where { kind = { like = "^uneven$" } }:rows()[1]
  local step_ns = p.fact["step.ns"]
  if not row or row.ns < cfg.min_late_share * step_ns then return nil end
  return finding {
    title = ("Another rank takes %s longer in %s of the steps (%s)"):format(
      fmt.ms(row.own_ns), fmt.pct(row.step_share), (row.why:gsub("%.", ", "))),
    severity = "warn",
    evidence = { { "what the longest rank of such a step takes more than usual, mean", row.own_ns, "ns",
                   share = math.min(1, row.own_ns / step_ns) },
                 { "of the steps", row.step_share, "share" },
                 { "ranks that were it", row.ranks, "count" }, { "what takes longer", row.why } },
    condition = ("no rank is it mostly, and a step loses %s by it"):format(fmt.pct(row.ns / step_ns)),
    remedy = { text = remedies[row.why]
      or "Let all ranks collect garbage in the same step, and keep what else runs now and then off them." },
    impact = impact.exposed { ns = math.min(row.ns, step_ns) },
    confidence = "medium",
  }
end

return rule {
  id = "straggler-transient", api = 1, version = "1.0.0",
  title = "Another rank comes late in each step",
  category = "communication", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ranks", "ranks.count", "ranks.slowest_last_share", "collective_lateness" },
  cause = "imbalance", tags = { "ranks", "communication" },
  more_specific_than = { "collective-skew" },
  params = {
    min_steps = { default = 10, min = 3, max = 1e6, unit = "count", doc = "steps in which a rank came late" },
    max_share = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of these steps, those of one and the same rank" },
    min_late_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "the latest arrival of a step over the step, median" },
  },
  doc = [[
In each step the ranks wait for the one that comes last. When that is another one each time, no machine and no rank's
own work is to blame but what happens now and then on any of them: a garbage collection, a longer sequence, a slow read.
Priced as the median of the latest arrivals. Silent when it is mostly the same rank, which is a straggler, or in less
than ten steps.]],

  check = function(p, cfg)
    if p:table("rank_causes") and p.fact["ranks.count"] >= 4 then return from_summaries(p, cfg) end
    local step_ns, latest, steps, ranks = p.fact["step.ns"], {}, 0, 0
    for row in p:table("collective_lateness"):each() do
      if row.rank or row.host then
        local best = latest[row.step]
        if not best then steps = steps + 1 end
        if not best or row.late_ns > best.late_ns then latest[row.step] = row end
      end
    end
    if steps < cfg.min_steps or p.fact["ranks.count"] < 2 then return nil end
    local times, lates, most, causes = {}, {}, 0, {}
    for _, row in pairs(latest) do
      local who = row.rank and ("rank %d"):format(row.rank) or row.host
      if not times[who] then ranks = ranks + 1 end
      times[who] = (times[who] or 0) + 1
      most = math.max(most, times[who])
      lates[#lates + 1] = row.late_ns
      if row.why then causes[row.why] = (causes[row.why] or 0) + 1 end
    end
    table.sort(lates)
    local late_ns = lates[math.floor((#lates + 1) / 2)]
    -- With two ranks each is last half of the time by chance: then a little more is no rank's habit.
    local accepted = p.fact["ranks.count"] == 2 and math.max(cfg.max_share, 0.65) or cfg.max_share
    if ranks < 2 or most / steps > accepted or late_ns < cfg.min_late_share * step_ns then return nil end
    local evidence =
      { { "latest arrival at a collective of a step, median", late_ns, "ns", share = math.min(1, late_ns / step_ns) },
        { "ranks that were the last one in a step", ranks, "count" },
        { "of the steps, those of the rank that was it most", most / steps, "share" } }
    for why, count in pairs(causes) do
      evidence[#evidence + 1] = { "late for " .. why, count, "count" }
    end
    return finding {
      title = ("Another rank is late in each step, by %s"):format(fmt.ms(late_ns)),
      evidence = evidence,
      condition = ("%s ranks in %s steps, none in more than %s of them, %s accepted"):format(
        fmt.count(ranks), fmt.count(steps), fmt.pct(most / steps), fmt.pct(accepted)),
      remedy = { text = "Let all ranks collect garbage in the same step, give them batches of equal cost (sort or "
                   .. "bucket by length), and keep more batches ready; if none of that is it, look at the network.",
                 code = p.framework == "pytorch"
                   and "gc.disable()\nif step % 100 == 0: gc.collect()   # on all ranks at once" or nil },
      impact = impact.exposed { ns = math.min(late_ns, step_ns) },
      confidence = "low",
    }
  end,

  examples = {
    { name = "three ranks take turns", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7.5e5,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 3, ["ranks.slowest_last_share"] = 0.4 },
      tables = { ranks = {}, collective_lateness = {
        { step = 1, rank = 0, late_ns = 1e6, why = "host" }, { step = 1, rank = 2, late_ns = 2e5 },
        { step = 2, rank = 1, late_ns = 1e6 },
        { step = 3, rank = 2, late_ns = 1e6 }, { step = 4, rank = 0, late_ns = 1e6 },
        { step = 5, rank = 1, late_ns = 1e6 },
        { step = 6, rank = 2, late_ns = 1e6 }, { step = 7, rank = 0, late_ns = 1e6 },
        { step = 8, rank = 1, late_ns = 1e6 },
        { step = 9, rank = 2, late_ns = 1e6 }, { step = 10, rank = 0, late_ns = 1e6 } } } },
    { name = "uneven batches", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 64, ["ranks.slowest_last_share"] = 0.1 },
      tables = { ranks = {}, collective_lateness = {},
                 rank_causes = { { kind = "uneven", ranks = 12, why = "compute", ns = 2e6, own_ns = 2.5e6,
                                   step_share = 0.8 } } } },
    { name = "one rank", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 3, ["ranks.slowest_last_share"] = 0.9 },
      tables = { ranks = {}, collective_lateness = {
        { step = 1, rank = 1, late_ns = 1e6 }, { step = 2, rank = 1, late_ns = 1e6 },
        { step = 3, rank = 1, late_ns = 1e6 },
        { step = 4, rank = 1, late_ns = 1e6 }, { step = 5, rank = 1, late_ns = 1e6 },
        { step = 6, rank = 1, late_ns = 1e6 },
        { step = 7, rank = 1, late_ns = 1e6 }, { step = 8, rank = 1, late_ns = 1e6 },
        { step = 9, rank = 2, late_ns = 1e6 },
        { step = 10, rank = 0, late_ns = 1e6 } } } },
    { name = "two steps", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 3, ["ranks.slowest_last_share"] = 0.4 },
      tables = { ranks = {},
                 collective_lateness = { { step = 1, rank = 0, late_ns = 1e6 },
                                         { step = 2, rank = 1, late_ns = 1e6 } } } },
  },
}
