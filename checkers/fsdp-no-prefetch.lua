-- Sharded parameters are gathered only when their layer needs them.
return rule {
  id = "fsdp-no-prefetch", api = 1, version = "1.0.0",
  title = "Sharded parameters are gathered only when needed",
  category = "communication", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "comm.exposed_ns", "collectives", "activities" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm", "overlap-low" },
  params = {
    min_alone = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of the all-gathers, those that no kernel hides" },
    min_count = { default = 4, min = 1, max = 1e6, unit = "count", doc = "all-gathers a step" },
    min_share = { default = 0.03, min = 0, max = 1, unit = "share", doc = "their uncovered time over the step" },
  },
  doc = [[
FSDP gathers a layer's parameters before the layer runs. Gathered one layer ahead they are hidden by the layer before.
Fires where most all-gathers run with nothing beside them. Priced as three quarters of their uncovered time. Silent
without FSDP and where they are hidden. Prefetching keeps two layers' parameters in memory.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p:table("activities"):where { name = { like = "FSDP|FullyShardedDataParallel" } }:count() == 0 then
      return nil
    end
    local gathers = p:table("collectives"):where { type = "all-gather" }
    local count, alone = gathers:sum("count"), gathers:sum("solo_count")
    local ns = math.min(gathers:sum("exposed_ns"), p.fact["comm.exposed_ns"], step_ns)
    if count < cfg.min_count or alone < cfg.min_alone * count or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("%s of %s all-gathers a step run with nothing beside them: %s"):format(
        fmt.whole(alone), fmt.whole(count), fmt.ms(ns)),
      subject = { kernel = gathers:top("exposed_ns", 1):rows()[1].name },
      evidence = { { "all-gathers that nothing covers, a step", ns, "ns", share = ns / step_ns },
                   { "all-gathers a step", count, "count" },
                   { "of them, those that nothing hides", alone, "count" } },
      condition = ("%s of them alone, %s accepted"):format(fmt.pct(alone / count), fmt.pct(cfg.min_alone)),
      remedy = { text = "Gather one layer ahead, forward and backward.",
                 code = "FullyShardedDataParallel(model, forward_prefetch=True, "
                   .. "backward_prefetch=BackwardPrefetch.BACKWARD_PRE)" },
      impact = impact.exposed { ns = 0.75 * ns },
      claims = { { parts = { "communication" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each layer waits", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.2e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["comm.exposed_ns"] = 2.5e6 },
      tables = { activities = { { name = "FullyShardedDataParallel.forward" } },
                 collectives =
                   { { type = "all-gather", name = "nccl", count = 24, solo_count = 20, exposed_ns = 2e6 } } } },
    { name = "hidden", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02, ["comm.exposed_ns"] = 1e5 },
      tables = { activities = { { name = "FullyShardedDataParallel.forward" } },
                 collectives =
                   { { type = "all-gather", name = "nccl", count = 24, solo_count = 2, exposed_ns = 1e5 } } } },
    { name = "tensor parallel", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["comm.exposed_ns"] = 2.5e6 },
      tables = { activities = {},
                 collectives =
                   { { type = "all-gather", name = "nccl", count = 24, solo_count = 20, exposed_ns = 2e6 } } } },
  },
}
