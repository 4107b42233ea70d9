-- One rank is last to join the collectives, and the others wait for it.
-- Summaries of many ranks tell what each does by itself: there it is the rank whose own work takes longest.
local function from_summaries(p, cfg)
  local step_ns = p.fact["step.ns"]
  local row = p:table("rank_causes"):where { kind = { like = "^rank$" } }:rows()[1]
  if not row or row.ns < cfg.min_late_share * step_ns then return nil end
  local who = row.rank and ("Rank %d"):format(row.rank) or row.host
  if row.ranks > 1 then who = ("%s and %d others"):format(who, row.ranks - 1) end
  local evidence = { { "its own work a step", row.own_ns, "ns" },
                     { "that of the ranks like it", row.usual_ns, "ns" },
                     { "ranks that take longer", row.ranks, "count" },
                     { "what takes longer", row.why .. (row.cause and ": " .. row.cause or "") } }
  if row.cause_ns then
    evidence[#evidence + 1] = { "that a step", row.cause_ns, "ns" }
    evidence[#evidence + 1] = { "the same on ranks like it", row.cause_usual_ns, "ns" }
  end
  local by_class = {
    compute = "The same work takes its accelerator longer: look at its clock, temperature, memory errors and what else "
      .. "runs there, exchange it, or see whether this rank has more to do than others.",
    input = "Give this host the same input pipeline and as much data as the others; look at its disk and network.",
  }
  return finding {
    title = ("%s %s %s longer for own work (%s); %d ranks wait"):format(
      who, row.ranks > 1 and "take" or "takes", fmt.ms(row.own_ns - row.usual_ns), (row.why:gsub("%.", ", ")),
      p.fact["ranks.count"] - row.ranks),
    subject = { rank = row.rank, host = row.host },
    evidence = evidence,
    condition = ("own work takes %s of the step longer than that of ranks like it, %s accepted"):format(
      fmt.pct((row.own_ns - row.usual_ns) / step_ns), fmt.pct(cfg.min_late_share)),
    remedy = { text = by_class[row.why] or "Compare what this rank does with another one: its data, its input "
      .. "pipeline, work that it alone does (logging, saving, evaluation), its machine." },
    impact = impact.exposed { ns = row.ns, low = 0.75 * row.ns, high = row.ns },
    confidence = "high",
  }
end

return rule {
  id = "straggler-rank", api = 1, version = "1.1.0",
  title = "One rank keeps the others waiting",
  category = "communication", severity = "error",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ranks", "ranks.count", "ranks.slowest_late_ns", "ranks.slowest_last_share" },
  cause = "imbalance", tags = { "ranks", "communication" },
  more_specific_than = { "rank-variance", "collective-skew", "exposed-comm", "comm-bandwidth-low", "input-bound-step",
                         "jax-device-put-in-loop", "block-until-ready-each-step", "host-bound", "python-in-step",
                         "maybe-input-bound-other", "small-collectives", "barrier-bound" },
  params = {
    min_last_share = { default = 0.6, min = 0.5, max = 1, unit = "share",
                       doc = "share of the collectives that the rank is last to join" },
    min_late_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "its lateness at a collective, of the step" },
    min_ranks = { default = 4, min = 2, max = 1e6, unit = "count",
                  doc = "ranks from which summaries tell whose own work takes longer" },
    min_deviations = { default = 2, min = 0, max = 100, unit = "none",
                       doc = "how far from chance that is, in standard deviations" },
  },
  doc = [[
A collective ends when the last rank has joined. When it is mostly the same rank that comes last, that rank's own work
sets the step of all of them, and their waiting looks like slow communication. Priced as the time that the other ranks
spend more in collectives than the late one, at most its lateness. From summaries of ranks it is the rank whose own
work, without collectives, takes longer than that of ranks like it in each step. Silent when ranks take turns in being
last, or when too few collectives were recorded to tell that from chance.]],

  check = function(p, cfg)
    local step_ns, ranks = p.fact["step.ns"], p:table("ranks")
    local last_share, late_ns = p.fact["ranks.slowest_last_share"], p.fact["ranks.slowest_late_ns"]
    local count, collectives = p.fact["ranks.count"], ranks:max("collectives") or 0
    if p:table("rank_causes") and count >= cfg.min_ranks then return from_summaries(p, cfg) end
    if count < 2 or last_share < cfg.min_last_share or late_ns < cfg.min_late_share * step_ns then return nil end
    local deviation = math.sqrt(math.max(collectives, 1) * (1 - 1 / count) / count)
    if (last_share - 1 / count) * collectives < cfg.min_deviations * deviation then return nil end

    local slowest = ranks:top("late_ns", 1):rows()[1]
    local comm_ns = slowest.comm_ns or 0
    local others_ns, others, input_ns, compute_ns = 0, 0, 0, 0
    for rank in ranks:each() do
      if rank.host ~= slowest.host or rank.rank ~= slowest.rank then
        others = others + 1
        others_ns = others_ns + (rank.comm_ns or 0)
        input_ns, compute_ns = input_ns + (rank.input_ns or 0), compute_ns + (rank.compute_ns or 0)
      end
    end
    local waited_ns = math.max(others_ns / math.max(others, 1) - comm_ns, 0)
    local saving_ns = math.min(waited_ns > 0 and waited_ns or late_ns, late_ns)
    if saving_ns < cfg.min_late_share * step_ns then return nil end

    local name = slowest.rank and ("rank %d"):format(slowest.rank) or slowest.host or "one rank"
    local evidence = {
      { "last of all at collectives", last_share, "share" },
      { "lateness at a collective", late_ns, "ns", share = math.min(1, late_ns / step_ns) },
      { "its time in collectives a step", comm_ns, "ns" },
      { "the others' time in collectives a step", others_ns / math.max(others, 1), "ns" },
    }
    if p.fact["comm.matched_by"] == "ends" then
      evidence[#evidence + 1] = { "collectives told to be the same by when they end", p.fact["comm.matched_count"],
                                  "count" }
      evidence[#evidence + 1] = { "collectives recorded on one rank alone", p.fact["comm.alone_count"], "count" }
    end
    local function compare(what, own_ns, other_ns)
      if own_ns and own_ns - other_ns / others > 0.05 * step_ns then
        evidence[#evidence + 1] = { "its " .. what .. " a step", own_ns, "ns" }
        evidence[#evidence + 1] = { "the others' " .. what .. " a step", other_ns / others, "ns" }
      end
    end
    compare("waiting for input", slowest.input_ns, input_ns)
    compare("computing", slowest.compute_ns, compute_ns)
    -- What it does longer than the rank that comes first, since the collective before.
    local late = p:table("collective_lateness")
    local longer, most
    if late then
      local sums = {}
      for row in late:each() do
        if row.host == slowest.host and row.rank == slowest.rank and row.why then
          sums[row.why] = (sums[row.why] or 0) + row.why_ns
          if not most or sums[row.why] > sums[most] then most = row.why end
        end
      end
      for row in late:each() do
        if not longer and row.host == slowest.host and row.rank == slowest.rank and row.why == most then
          longer = row
        end
      end
    end
    if longer then
      evidence[#evidence + 1] = { "what it does longer than the first to come", longer.why:gsub("_", " ")
        .. (longer.cause and ": " .. longer.cause or ", nothing recorded of it") }
      evidence[#evidence + 1] = { "how much longer, before the latest one", longer.why_ns, "ns" }
    end
    local path = not longer and p:table("path")
    local busiest = path
      and path:where { part = { like = "^(host|input|copy|output|compile)$" } }:top("ns", 1):rows()[1]
    if busiest then
      evidence[#evidence + 1] = { "most of its path", busiest.name }
      evidence[#evidence + 1] = { "time of that a step", busiest.ns, "ns", share = math.min(1, busiest.ns / step_ns) }
    end
    return finding {
      title = ("%s joins collectives %s late; %s for it"):format(
        (name:gsub("^r", "R")), fmt.ms(late_ns),
        others == 1 and "the other rank waits" or ("%d ranks wait"):format(others)),
      subject = { rank = slowest.rank, host = slowest.host },
      evidence = evidence,
      condition = ("one rank is last in %s of the collectives, %s accepted, by %s of the step"):format(
        fmt.pct(last_share), fmt.pct(cfg.min_last_share), fmt.pct(late_ns / step_ns)),
      remedy = { text = "Compare what this rank does before the collective with another one: its data, its input "
                   .. "pipeline, work that it alone does (logging, saving, evaluation), its machine." },
      impact = impact.exposed { ns = saving_ns, low = 0.75 * saving_ns, high = saving_ns },
      confidence = p.fact["comm.matched_by"] == "ends" and "low" or "high",
    }
  end,

  examples = {
    { name = "one of two is late", finding = true, impact_ns = 1.3e8,
      facts = { ["step.ns"] = 2.2e8, ["ranks.count"] = 2, ["ranks.slowest_late_ns"] = 1.4e8,
                ["ranks.slowest_last_share"] = 1 },
      tables = { ranks = { { host = "worker0", comm_ns = 2.1e8, input_ns = 0, compute_ns = 2e6, collectives = 10,
                             late_ns = 0 },
                           { host = "worker1", comm_ns = 7.2e7, input_ns = 0, compute_ns = 3e6, collectives = 10,
                             late_ns = 1.4e8 } } } },
    { name = "one of a thousand computes longer", finding = true, impact_ns = 8.75e6,
      facts = { ["step.ns"] = 1e8, ["ranks.count"] = 1024, ["ranks.slowest_late_ns"] = 1e7,
                ["ranks.slowest_last_share"] = 0.3 },
      tables = { ranks = {}, rank_causes = { { kind = "rank", rank = 17, host = "node17", ranks = 1, why = "compute",
                                               cause = "gemm", cause_ns = 6e7, cause_usual_ns = 5e7, ns = 1e7,
                                               own_ns = 9e7, usual_ns = 8e7 } } } },
    { name = "summaries of a healthy job", finding = false,
      facts = { ["step.ns"] = 1e8, ["ranks.count"] = 1024, ["ranks.slowest_late_ns"] = 1e7,
                ["ranks.slowest_last_share"] = 0.9 },
      tables = { ranks = {}, rank_causes = {} } },
    { name = "they take turns", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["ranks.count"] = 2, ["ranks.slowest_late_ns"] = 2.5e6,
                ["ranks.slowest_last_share"] = 0.5 },
      tables = { ranks = { { host = "worker0", comm_ns = 1.3e7, collectives = 28, late_ns = 2.5e6 },
                           { host = "worker1", comm_ns = 1.3e7, collectives = 28, late_ns = 1e6 } } } },
  },
}
