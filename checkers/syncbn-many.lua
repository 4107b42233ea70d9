-- Batch norms that reduce over all ranks run many times a step.
return rule {
  id = "syncbn-many", api = 1, version = "1.0.0",
  title = "Many synchronised batch norms run in each step",
  category = "communication", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "comm.exposed_ns", "activities", "collectives" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "small-collectives", "exposed-comm" },
  params = {
    min_count = { default = 20, min = 1, max = 1e6, unit = "count", doc = "synchronised batch norms a step" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "their uncovered collectives over the step" },
    max_bytes = { default = 1048576, min = 1, max = 1e12, unit = "bytes",
                  doc = "payload of such a collective at most" },
  },
  doc = [[
Each SyncBatchNorm gathers statistics from all ranks forward and reduces gradients backward: two small collectives that
nothing can hide, because the next layer waits. Priced as the uncovered time of small collectives. Silent for few of
them, and below 1 % of the step.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local norms = p:table("activities"):where { name = { like = "^aten::batch_norm_gather_stats_with_counts$" } }
    local count = norms:sum("events")
    if count < cfg.min_count then return nil end
    local small = p:table("collectives"):where { mean_bytes = { min = 1, max = cfg.max_bytes } }
    local ns = math.min(small:sum("exposed_ns"), p.fact["comm.exposed_ns"], step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("%s synchronised batch norms a step wait %s for small collectives"):format(fmt.whole(count), fmt.ms(ns)),
      evidence = { { "small collectives that nothing covers, a step", ns, "ns", share = ns / step_ns },
                   { "synchronised batch norms a step", count, "count" },
                   { "small collectives a step", small:sum("count"), "count" } },
      condition = ("%s of them, %s accepted, at %s of the step"):format(
        fmt.whole(count), fmt.count(cfg.min_count), fmt.pct(ns / step_ns)),
      remedy = { text = "With 16 or more samples a device, plain batch norm does; "
                   .. "else group norm, which needs no other rank.",
                 code = "norm = nn.GroupNorm(32, channels)   # instead of SyncBatchNorm" },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "communication" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "fifty", framework = "pytorch", format = "kineto", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["comm.exposed_ns"] = 2e6 },
      tables = { activities = { { name = "aten::batch_norm_gather_stats_with_counts", events = 50 } },
                 collectives = { { type = "all-gather", count = 100, mean_bytes = 4096, exposed_ns = 1e6 } } } },
    { name = "plain ones", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["comm.exposed_ns"] = 2e6 },
      tables = { activities = { { name = "aten::cudnn_batch_norm", events = 50 } },
                 collectives = { { type = "all-reduce", count = 100, mean_bytes = 4096, exposed_ns = 1e6 } } } },
  },
}
