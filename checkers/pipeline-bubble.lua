-- Stages of a pipeline have nothing to work on while it fills and empties.
-- Ranks tell what they waited for each other, and how many messages passed: one a micro-batch and way.
local function of_ranks(p, cfg)
  local step_ns, share, stages = p.fact["step.ns"], p.fact["ranks.bubble_share"], p.fact["ranks.stages"]
  if share < cfg.min_share or not p:has("ranks.stage_messages") then return nil end
  local trains = not (p:has("serving.trains") and not p.fact["serving.trains"])
  local parts = math.max(1, p.fact["ranks.stage_messages"] / (trains and 2 or 1))
  local function idle(count) return (stages - 1) / (count + stages - 1) end
  -- Twice as many parts of half the size; what is beyond that of the waits are stages that take longer than others.
  local saved_ns = math.min(idle(parts) - idle(2 * parts), share) * step_ns
  return finding {
    title = ("Ranks wait %s of each step for their neighbours in the pipeline"):format(fmt.pct(share)),
    evidence = { { "waits for neighbours a step, mean", share * step_ns, "ns", share = share },
                 { "stages", stages, "count" },
                 { "micro-batches a step, by messages between two stages", parts, "count" },
                 { "idle with even stages and so many", idle(parts), "share" },
                 { "idle with twice as many", idle(2 * parts), "share" } },
    condition = ("they wait %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
    remedy = { text = share > 1.5 * idle(parts) and "Make the stages even first: they wait more than filling and "
                 .. "emptying the pipeline takes. Then cut the batch into more micro-batches." or
                 "Cut the batch into more micro-batches, or give each rank several short stages in turn.",
               code = p.framework == "pytorch" and
                 "ScheduleInterleaved1F1B(stages, n_microbatches=4 * len(stages))   # torch.distributed.pipelining"
                 or nil },
    impact = impact.exposed { ns = saved_ns, low = 0.3 * saved_ns, high = math.max(saved_ns, 0.8 * share * step_ns) },
    confidence = "low",
  }
end

return rule {
  id = "pipeline-bubble", api = 1, version = "1.0.0",
  title = "Stages of a pipeline work on nothing",
  category = "communication", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns" },
  cause = "bubble", tags = { "communication" },
  more_specific_than = { "exposed-comm", "hot-op", "small-collectives" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "what fewer such rounds save, of the step" },
  },
  doc = [[
Devices that hand their results on to the next one by a collective-permute in each round of a loop are stages of a
pipeline: S of them take M parts of a batch in M + S - 1 rounds, and each stage computes in all rounds, in S - 1 of them
on nothing. Told by that identity: the rounds that were recorded, the devices of the ring, and an array of M parts that
the loop carries. Priced as what the rounds take less with four parts a stage. Silent where there are so many.

Of ranks that send to each other, summaries tell what they wait for their neighbours, and how many messages pass:
with training two a micro-batch, there and back. S even stages with M micro-batches idle (S - 1) of (M + S - 1). Priced
as what twice as many save; a bound, since smaller ones compute less well.]],

  check = function(p, cfg)
    if p:has("ranks.bubble_share") then return of_ranks(p, cfg) end
    return p:in_excess {
      flaw = "pipeline-bubble", min_share = cfg.min_share, time = "in rounds without work, beyond few,",
      title = "Stages of the pipeline work on nothing for %s of each step",
      remedy = { text = "Cut the batch into more parts, four times as many as there are stages; or let each device "
                   .. "hold several short stages.",
                 code = "parts = x.reshape(4 * stages, -1, width)   # micro-batches for lax.scan over ppermute" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "four stages, two parts", framework = "jax", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "pipeline-bubble", cause = "unused", ns = 3e6, share = 0.3, factor = 0.5,
                              detail = "4 stages take 2 parts of a batch in 5 rounds" } } } },
    { name = "four ranks, four micro-batches", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 1.56e6,
      facts = { ["step.ns"] = 1e7, ["ranks.stages"] = 4, ["ranks.bubble_share"] = 0.4, ["ranks.stage_messages"] = 8 } },
    { name = "ranks that hardly wait", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["ranks.stages"] = 4, ["ranks.bubble_share"] = 0.04,
                ["ranks.stage_messages"] = 128 } },
    { name = "another excess", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "cut-results", cause = "unused", ns = 3e6, share = 0.3,
                              factor = 0.5 } } } },
  },
}
