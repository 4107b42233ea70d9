-- The collectives of a group take longer than those of groups like it.
return rule {
  id = "slow-link", api = 1, version = "1.0.0",
  title = "A link between ranks is slower than others",
  category = "communication", severity = "error",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ranks.count", "rank_causes" },
  cause = "communication", tags = { "ranks", "communication" },
  more_specific_than = { "rank-variance", "collective-skew", "exposed-comm", "comm-bandwidth-low" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "what a step loses by it" },
  },
  doc = [[
Collectives of one type, size and number of ranks take as long in each group of ranks that is on as many machines.
Compared is the rank that is in them the shortest, which waits for none, so that a late rank is not taken for a slow
link. Where several groups are slow, the rank that most of them share has the slow link. Told from summaries of ranks.
Priced as what the slow collectives take longer. Silent with less than three groups to compare.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local row = p:table("rank_causes"):where { kind = { like = "^link$" } }:rows()[1]
    if not row or row.ns < cfg.min_share * step_ns then return nil end
    local who = row.peer and ("ranks %d and %d"):format(row.rank, row.peer) or ("rank %d"):format(row.rank or 0)
    local evidence = { { "one of its collectives", row.own_ns, "ns" },
                       { "the same in other groups", row.usual_ns, "ns" },
                       { "groups of ranks that are slow", row.ranks, "count" } }
    if row.group then evidence[#evidence + 1] = { "the group", row.group } end
    return finding {
      title = ("Collectives of %s take %s as long as those of others"):format(who,
        fmt.ratio(row.own_ns / row.usual_ns)),
      subject = { rank = row.rank, host = row.host },
      evidence = evidence,
      condition = ("%s as long as in groups like it, a step loses %s"):format(
        fmt.ratio(row.own_ns / row.usual_ns), fmt.pct(row.ns / step_ns)),
      remedy = { text = "Look at the network cards, cables and switch ports of these machines, at errors "
                   .. "and retransmissions counted there, and whether the cards sit beside their GPUs; "
                   .. "take the machine out.",
                 flags = "NCCL_DEBUG=INFO" },
      impact = impact.exposed { ns = math.min(row.ns, step_ns) },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a pair", finding = true, impact_ns = 3.75e6, facts = { ["step.ns"] = 1e8, ["ranks.count"] = 64 },
      tables = { rank_causes = { { kind = "link", rank = 8, peer = 16, host = "b", ranks = 1, group = "[8, 16]",
                                   why = "communication", ns = 5e6, own_ns = 2e6, usual_ns = 5e5 } } } },
    { name = "all alike", finding = false, facts = { ["step.ns"] = 1e8, ["ranks.count"] = 64 },
      tables = { rank_causes = {} } },
  },
}
