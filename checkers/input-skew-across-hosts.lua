-- The input pipeline of one host holds up all hosts.
return rule {
  id = "input-skew-across-hosts", api = 1, version = "1.0.0",
  title = "The input of one host holds up all hosts",
  category = "input", severity = "error",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ranks", "ranks.count", "ranks.slowest_late_ns", "ranks.slowest_last_share" },
  cause = "input", tags = { "ranks", "input" },
  more_specific_than = { "straggler-rank", "rank-variance", "collective-skew", "exposed-comm", "comm-bandwidth-low",
                         "input-bound-step", "input-host-processing-bound", "tfdata-cache", "tfdata-slow-iterator",
                         "tfdata-sequential-map", "tfdata-sequential-op", "tfdata-slow-source",
                         "tfdata-python-in-pipeline", "tfdata-no-prefetch", "tfdata-read-on-demand",
                         "tfdata-vectorize-map", "dataloader-single-process", "dataloader-slow-next",
                         "small-collectives", "barrier-bound" },
  params = {
    min_spread_share = { default = 0.05, min = 0, max = 1, unit = "share",
                         doc = "difference of hosts in waiting for input, of the step" },
    min_last_share = { default = 0.6, min = 0.5, max = 1, unit = "share",
                       doc = "share of the collectives that this host is last to join" },
    min_late_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "its lateness at a collective, of the step" },
  },
  doc = [[
One host waits for its input longer than the others, joins the collectives last, and so holds the step of all of them.
The others show it as time in collectives. Priced by replay on that host, with its input as cheap as the others'.
Silent where hosts wait alike, or where the one that waits is not the one that comes late.]],

  check = function(p, cfg)
    local step_ns, ranks = p.fact["step.ns"], p:table("ranks")
    local last_share, late_ns = p.fact["ranks.slowest_last_share"], p.fact["ranks.slowest_late_ns"]
    if p.fact["ranks.count"] < 2 or last_share < cfg.min_last_share or late_ns < cfg.min_late_share * step_ns then
      return nil
    end
    local slowest = ranks:top("late_ns", 1):rows()[1]
    local others, others_ns = 0, 0
    for rank in ranks:each() do
      if rank.host ~= slowest.host or rank.rank ~= slowest.rank then
        others, others_ns = others + 1, others_ns + (rank.input_ns or 0)
      end
    end
    if others == 0 or not slowest.input_ns then return nil end
    local spread_ns = slowest.input_ns - others_ns / others
    if spread_ns < cfg.min_spread_share * step_ns then return nil end

    local left = math.max(0, others_ns / others / slowest.input_ns)
    local evidence = {
      { "its wait for input a step", slowest.input_ns, "ns", share = math.min(1, slowest.input_ns / step_ns) },
      { "the others' wait for input a step", others_ns / others, "ns" },
      { "last of all at collectives", last_share, "share" },
      { "lateness at a collective", late_ns, "ns" },
    }
    if p.fact["comm.matched_by"] == "ends" then
      evidence[#evidence + 1] = { "collectives told to be the same by when they end", p.fact["comm.matched_count"],
                                  "count" }
      evidence[#evidence + 1] = { "collectives recorded on one rank alone", p.fact["comm.alone_count"], "count" }
    end
    local stage = p.fact["input.bottleneck"]
    if stage then evidence[#evidence + 1] = { "slowest stage of its pipeline", stage } end
    local edits = p:has("iterators") and { { "stage_scale", stage = ".*", factor = left } }
      or { { "scale", parts = { "input" }, factor = left } }
    edits.fallback = impact.exposed { ns = spread_ns, low = 0.8 * spread_ns, high = spread_ns }
    local name = slowest.rank and ("rank %d"):format(slowest.rank) or slowest.host or "one host"
    return finding {
      title = ("%s waits %s a step for its input, the others %s; all wait for it"):format(
        (name:gsub("^r", "R")), fmt.ms(slowest.input_ns), fmt.ms(others_ns / others)),
      subject = { rank = slowest.rank, host = slowest.host, op = stage },
      evidence = evidence,
      condition = (
        "waits for input differ by %s of the step, %s accepted, and that host is last in %s of the collectives")
        :format(fmt.pct(spread_ns / step_ns), fmt.pct(cfg.min_spread_share), fmt.pct(last_share)),
      remedy = { text = "Give this host the same pipeline and as much data as the others: compare its input code, its "
        .. "shard, its disk and what else runs on it. Then apply to all what helps one.",
                 code = p.framework == "tensorflow" and "ds = ds.shard(num_workers, worker_index)" or nil },
      impact = impact.replay(edits),
      confidence = p.fact["comm.matched_by"] == "ends" and "low" or "high",
    }
  end,

  examples = {
    { name = "one worker decodes more", framework = "tensorflow", finding = true, impact_ns = 1.3e7,
      facts = { ["step.ns"] = 2.6e7, ["ranks.count"] = 2, ["ranks.slowest_late_ns"] = 1.4e7,
                ["ranks.slowest_last_share"] = 0.93 },
      tables = { ranks = { { host = "worker0", comm_ns = 2.4e7, input_ns = 4e5, collectives = 30, late_ns = 1e5 },
                           { host = "worker1", comm_ns = 1e7, input_ns = 1.1e7, collectives = 30, late_ns = 1.4e7 } } },
      replay = { 1.3e7 } },
    { name = "not the late one", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["ranks.count"] = 2, ["ranks.slowest_late_ns"] = 2.5e6,
                ["ranks.slowest_last_share"] = 0.5 },
      tables = { ranks = { { host = "worker0", comm_ns = 1.3e7, input_ns = 2.6e6, collectives = 28, late_ns = 2.5e6 },
                           { host = "worker1", comm_ns = 1.3e7, input_ns = 1.5e6, collectives = 28,
                             late_ns = 1e6 } } } },
  },
}
