-- DataParallel copies the model to each device in every step.
return rule {
  id = "data-parallel-legacy", api = 1, version = "1.0.0",
  title = "DataParallel copies the model in every step",
  category = "communication", severity = "error",
  formats = { "kineto" },
  needs = { "step.ns", "device.count", "activities" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm", "host-bound", "d2d-copies" },
  params = {
    min_devices = { default = 2, min = 2, max = 1e4, unit = "count", doc = "devices at work" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those that replicate" },
  },
  doc = [[
nn.DataParallel runs all devices from one Python thread group: it replicates the parameters, scatters inputs and gathers
outputs in each step. Priced as the time of those calls on the path. Silent with one device.]],

  check = function(p, cfg)
    if p.fact["device.count"] < cfg.min_devices then return nil end
    local activities, step_ns = p:table("activities"), p.fact["step.ns"]
    local forward = activities:where { name = { like = "^(DataParallel\\.forward|nn\\.Module: DataParallel(_\\d+)?)$" },
                                       steps_share = { min = cfg.min_steps_share } }
    if forward:count() == 0 then return nil end
    local calls =
      activities:where {
        name = { like = "^(Broadcast|BroadcastBackward|Scatter|Gather|GatherBackward|ReduceAddCoalesced)$|"
                   .. "broadcast_coalesced|reduce_add_coalesced" } }
    local ns = math.min(calls:sum("path_self_ns"), step_ns)
    return finding {
      title = ("DataParallel copies the model to %s devices in every step"):format(fmt.count(p.fact["device.count"])),
      severity = ns >= 0.005 * step_ns and "error" or "warn",
      evidence = { { "replicating, scattering and gathering on the path, a step", ns, "ns", share = ns / step_ns },
                   { "calls a step", forward:sum("events"), "count" },
                   { "devices", p.fact["device.count"], "count" } },
      condition = "DataParallel.forward runs in the steps, with several devices",
      remedy = { text = "One process a device, with DistributedDataParallel.",
                 code = "torchrun --nproc_per_node=8 train.py   # model = DistributedDataParallel(model)" },
      impact = ns > 0 and impact.exposed { ns = ns } or impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "two devices", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 2 },
      tables = { activities = { { name = "DataParallel.forward", steps_share = 1, events = 1, path_self_ns = 0 },
               { name = "Broadcast", steps_share = 1, events = 1, path_self_ns = 1.5e6 },
               { name = "Gather", steps_share = 1, events = 1, path_self_ns = 5e5 } } } },
    { name = "one device", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 1 },
      tables = { activities = { { name = "DataParallel.forward", steps_share = 1, events = 1, path_self_ns = 0 } } } },
    { name = "distributed", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 2 },
      tables = { activities = { { name = "DistributedDataParallel.forward", steps_share = 1, events = 1,
                                  path_self_ns = 0 } } } },
  },
}
