-- A rank, or all of them, pause now and then.
return rule {
  id = "rank-pauses", api = 1, version = "1.0.0",
  title = "Ranks pause now and then, and the others wait",
  category = "variance", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ranks.count", "rank_causes" },
  cause = "imbalance", tags = { "ranks", "variance" },
  more_specific_than = { "rank-variance", "collective-skew", "checkpoint-spike" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "what a step loses by it, mean" },
  },
  doc = [[
One rank takes far longer than it usually does in some steps, or all of them do every so many steps, and all others
wait in their collectives. A checkpoint, an evaluation or logging every N steps looks like that, as does another program
on one machine. Told from summaries of ranks, by what each does itself. Priced as what the steps lose, mean. Silent
where another rank does it each time.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local row = p:table("rank_causes"):where { kind = { like = "^(pauses|periodic)$" } }:rows()[1]
    if not row or row.ns < cfg.min_share * step_ns then return nil end
    local is_all = row.ranks > 1
    local who = is_all and ("All %d ranks"):format(p.fact["ranks.count"])
      or row.rank and ("Rank %d"):format(row.rank) or row.host
    local often = row.period and ("every %d steps"):format(row.period)
      or ("in %s of the steps"):format(fmt.pct(row.step_share))
    local evidence = { { "how much longer such a step of it takes, mean", row.own_ns, "ns" },
                       { "of the steps", row.step_share, "share" }, { "what takes longer", row.why } }
    if row.period then evidence[#evidence + 1] = { "steps from one to the next", row.period, "count" } end
    local text = row.period and "Do what comes every so many steps beside the steps: save asynchronously from a copy, "
      .. "evaluate on other machines, log from one thread; or do it less often."
      or "Look at what else runs on that machine, at its memory (garbage collection, swapping) and its disk."
    return finding {
      title = ("%s %s %s longer (%s)%s"):format(who, is_all and "take" or "takes", fmt.ms(row.own_ns) .. " " .. often,
        (row.why:gsub("%.", ", ")), is_all and "" or "; all wait for it"),
      subject = is_all and {} or { rank = row.rank, host = row.host },
      evidence = evidence,
      condition = ("a step loses %s by it, %s accepted"):format(fmt.pct(row.ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = text },
      impact = impact.exposed { ns = math.min(row.ns, step_ns) },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a rank saves", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e8, ["ranks.count"] = 64 },
      tables = { rank_causes = { { kind = "periodic", rank = 0, host = "a", ranks = 1, why = "output", ns = 4e6,
                                   own_ns = 4e7, step_share = 0.1, period = 10 } } } },
    { name = "a machine stalls", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e8, ["ranks.count"] = 64 },
      tables = { rank_causes = { { kind = "pauses", rank = 5, host = "f", ranks = 1, why = "host", ns = 4e6,
                                   own_ns = 2e7, step_share = 0.2 } } } },
    { name = "another one each time", finding = false,
      facts = { ["step.ns"] = 1e8, ["ranks.count"] = 64 },
      tables = { rank_causes = { { kind = "uneven", ranks = 9, why = "compute", ns = 4e6, own_ns = 2e7,
                                   step_share = 0.2 } } } },
  },
}
