-- DDP searches the graph for unused parameters in each step.
return rule {
  id = "ddp-unused-parameter-search", api = 1, version = "1.0.0",
  title = "DDP searches for unused parameters in each step",
  category = "communication", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "activities" },
  cause = "host", tags = { "communication", "host" },
  more_specific_than = { "host-bound" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "share of the step in the search" },
  },
  doc = [[
find_unused_parameters=True walks the autograd graph after each forward pass. It is needed only where some parameters
take no part in a step. Priced as the search on the path and one of the all-reduces. Silent where the search is off or
hidden.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local search = p:table("activities"):where { name = { like = "search_unused_parameters" } }
    -- Which parameters were used goes round the ranks in one more collective.
    local collectives = p:has("collectives") and p:table("collectives"):where { type = "all-reduce" }
    local calls = collectives and collectives:sum("count") or 0
    local round_ns = calls >= 2 and math.min(collectives:sum("exposed_ns"), p:has("part.communication_ns") and
        p.fact["part.communication_ns"] or step_ns) / calls or 0
    local ns = math.min(search:sum("path_ns") + round_ns, step_ns)
    if search:count() == 0 or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Searching for unused parameters takes %s of each step"):format(fmt.ms(ns)),
      severity = ns >= 0.05 * step_ns and "warn" or "info",
      evidence = { { "the search and its collective, a step", ns, "ns", share = ns / step_ns },
                   { "searches a step", search:sum("events"), "count" } },
      condition = ("the search takes %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Leave it off where each step uses all parameters; with a fixed graph say so.",
                 code = "DistributedDataParallel(model, find_unused_parameters=False, static_graph=True)" },
      impact = impact.exposed { ns = ns, low = 0.5 * ns, high = ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a large graph", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { activities = { { name = "torch.distributed.ddp.reducer::search_unused_parameters", events = 1,
                                  path_ns = 2.4e5 } } } },
    { name = "between ranks", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9.3e5,
      facts = { ["step.ns"] = 1e7, ["part.communication_ns"] = 2e6 },
      tables = { activities = { { name = "torch.distributed.ddp.reducer::search_unused_parameters", events = 1,
                                  path_ns = 2.4e5 } },
                 collectives = { { type = "all-reduce", count = 2, exposed_ns = 2e6 } } } },
    { name = "off", framework = "pytorch", format = "kineto", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { activities = { { name = "DistributedDataParallel.forward", events = 1, path_ns = 2.4e6 } } } },
  },
}
