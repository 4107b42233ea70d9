-- A stage of a pipeline computes longer than the others.
-- Summaries of ranks tell which of them make a stage.
local function from_summaries(p, cfg)
  local row = p:table("rank_causes"):where { kind = { like = "^stage$" } }:rows()[1]
  local step_ns = p.fact["step.ns"]
  if not row or row.ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Stage %d of the pipeline works %s a step, the mean is %s"):format(
      row.stage, fmt.ms(row.own_ns), fmt.ms(row.usual_ns)),
    subject = { rank = row.rank, host = row.host },
    evidence = { { "its own work a step", row.own_ns, "ns" }, { "mean of all stages", row.usual_ns, "ns" },
                 { "its ranks", row.ranks, "count" }, { "what takes longer", row.why } },
    condition = ("%s the mean"):format(fmt.ratio(row.own_ns / row.usual_ns)),
    remedy = { text = "Move layers from this stage to others; count the loss and the embedding as layers." },
    impact = impact.exposed { ns = math.min(row.ns, step_ns) },
    confidence = "medium",
  }
end

return rule {
  id = "stage-imbalance", api = 1, version = "1.0.0",
  title = "A stage of the pipeline computes longer than the others",
  category = "communication", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "ranks", "ranks.count", "collectives" },
  cause = "imbalance", tags = { "ranks", "communication" },
  more_specific_than = { "rank-variance", "straggler-rank" },
  params = {
    min_ratio = { default = 1.15, min = 1, max = 100, unit = "ratio",
                  doc = "the most computing of a rank over the mean" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "what it computes more than the mean, over the step" },
  },
  doc = [[
Ranks that send to and receive from each other are stages of a pipeline, and the slowest one sets the pace. The last
stage often has the loss to do in addition. Priced as what it computes more than the mean. Silent where ranks reduce or
gather more than they send, and where sends are not told apart from other collectives.]],

  check = function(p, cfg)
    if p:table("rank_causes") and p.fact["ranks.stages"] then return from_summaries(p, cfg) end
    local step_ns, collectives, ranks = p.fact["step.ns"], p:table("collectives"), p:table("ranks")
    local sends = collectives:where { type = { like = "^(send|recv)$" } }:sum("ns")
    local count = ranks:count()
    if count < 2 or sends <= 0 or sends < collectives:sum("ns") - sends then return nil end
    local slowest, mean_ns = ranks:top("compute_ns", 1):rows()[1], ranks:sum("compute_ns") / count
    local excess_ns = math.min((slowest.compute_ns or 0) - mean_ns, step_ns)
    if mean_ns <= 0 or slowest.compute_ns < cfg.min_ratio * mean_ns or excess_ns < cfg.min_share * step_ns then
      return nil
    end
    local name = slowest.rank and ("rank %d"):format(slowest.rank) or slowest.host
    return finding {
      title = ("The stage on %s computes %s the mean"):format(name, fmt.ratio(slowest.compute_ns / mean_ns)),
      subject = { rank = slowest.rank, host = slowest.host },
      evidence = { { "its computing a step", slowest.compute_ns, "ns" }, { "mean of all ranks", mean_ns, "ns" },
                   { "sends and receives a step", math.min(sends, step_ns), "ns" } },
      condition = ("%s the mean, %s accepted"):format(
        fmt.ratio(slowest.compute_ns / mean_ns), fmt.ratio(cfg.min_ratio)),
      remedy = { text = "Move layers from this stage to others; count the loss and the embedding as layers." },
      impact = impact.exposed { ns = excess_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "the last stage has the loss", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7.5e5,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 2 },
      tables = { collectives = { { type = "send", ns = 1e6 }, { type = "recv", ns = 2e6 },
                                 { type = "all-reduce", ns = 1e5 } },
                 ranks = { { rank = 0, host = "a", compute_ns = 5e6 }, { rank = 1, host = "b", compute_ns = 7e6 } } } },
    { name = "a stage of four", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 16, ["ranks.stages"] = 4 },
      tables = { collectives = {}, ranks = {},
                 rank_causes = { { kind = "stage", rank = 3, host = "d", stage = 3, ranks = 4, why = "compute",
                                   ns = 2e6, own_ns = 7e6, usual_ns = 5e6 } } } },
    { name = "even stages", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 2 },
      tables = { collectives = { { type = "send", ns = 1e6 } },
                 ranks = { { rank = 0, host = "a", compute_ns = 6.5e6 },
                           { rank = 1, host = "b", compute_ns = 7e6 } } } },
    { name = "data parallel", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["ranks.count"] = 2 },
      tables = { collectives = { { type = "all-reduce", ns = 3e6 } },
                 ranks = { { rank = 0, host = "a", compute_ns = 5e6 }, { rank = 1, host = "b", compute_ns = 7e6 } } } },
  },
}
