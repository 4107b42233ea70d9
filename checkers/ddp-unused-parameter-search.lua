-- DDP searches the graph for unused parameters in each step, or does all of its work for one process.
-- What DDP adds to a step besides its collectives: buckets filled and read back, the search, the calls of the group.
local ADDED = "torch::distributed::reducer::.*,torch\\.distributed\\.ddp\\.reducer::.*,c10d::.*,record_param_comms,"
  .. "nccl:.*,gloo:.*"

local function of_one_process(p, cfg)
  if not p:has("coverage.world_size") or p.fact["coverage.world_size"] ~= 1 then return nil end
  local step_ns, calls = p.fact["step.ns"], p:table("activities")
  local buckets = calls:where { name = { like = "ddp\\.reducer::copy_bucket_to_grad|reducer::mul_out" } }
  if buckets:count() == 0 then return nil end
  local edits = {}
  for _, part in ipairs { "host", "compute", "copy", "communication" } do
    edits[#edits + 1] = { "scale", parts = { part }, name = ADDED, factor = 0 }
  end
  local _, saved_ns = p:whatif(edits)
  if type(saved_ns) ~= "number" or saved_ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("DistributedDataParallel runs in a job of one process: %s of each step for nobody"):format(
      fmt.ms(saved_ns)),
    severity = saved_ns >= 0.05 * step_ns and "warn" or "info",
    evidence = { { "what it adds to a step", saved_ns, "ns", share = math.min(1, saved_ns / step_ns) },
                 { "gradients copied to buckets and back, a step", buckets:sum("events"), "count" },
                 { "processes of the job", 1, "count" } },
    condition = "gradients are gathered and summed in a job of one process",
    remedy = { text = "Train the bare module where there is one process.",
               code = "if dist.get_world_size() > 1:\n    model = DistributedDataParallel(model)" },
    impact = impact.replay(edits),
    confidence = "medium",
  }
end

return rule {
  id = "ddp-unused-parameter-search", api = 1, version = "1.0.0",
  title = "DDP searches for unused parameters in each step",
  category = "communication", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "activities" },
  cause = "host", tags = { "communication", "host" },
  more_specific_than = { "host-bound", "tiny-kernels", "kernel-launch-bound", "graph-capture-candidate", "d2d-copies",
    "exposed-comm", "small-collectives" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "share of the step in the search" },
  },
  doc = [[
find_unused_parameters=True walks the autograd graph after each forward pass. It is needed only where some parameters
take no part in a step. Priced as the search on the path and one of the all-reduces. In a job of one process all that
DDP does is for nobody: buckets, collectives and searches are priced by replay without them. Silent where the search is
off or hidden.]],

  check = function(p, cfg)
    local alone = of_one_process(p, cfg)
    if alone then return alone end
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
    { name = "one process", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      replay = { 8e5, 1e6, 1e6, 1.1e6 }, facts = { ["step.ns"] = 1e7, ["coverage.world_size"] = 1 },
      tables = { activities = { { name = "torch.distributed.ddp.reducer::copy_bucket_to_grad", events = 105 },
                                { name = "torch::distributed::reducer::mul_out", events = 105 } } } },
    { name = "two processes", framework = "pytorch", format = "kineto", finding = false,
      replay = { 8e5, 1e6, 1e6, 1.1e6 }, facts = { ["step.ns"] = 1e7, ["coverage.world_size"] = 2 },
      tables = { activities = { { name = "torch.distributed.ddp.reducer::copy_bucket_to_grad", events = 105 } } } },
    { name = "off", framework = "pytorch", format = "kineto", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { activities = { { name = "DistributedDataParallel.forward", events = 1, path_ns = 2.4e6 } } } },
  },
}
