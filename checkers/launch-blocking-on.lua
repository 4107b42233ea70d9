-- Every launch waits for its kernel.
return rule {
  id = "launch-blocking-on", api = 1, version = "1.0.0",
  title = "Launches wait for their kernels",
  category = "validity", severity = "error",
  needs = { "step.ns", "device.busy_ns", "launch.blocking_share", "launch.count_per_step", "launch.ns_per_step" },
  cause = "host", tags = { "launch", "validity" },
  more_specific_than = { "host-bound", "kernel-launch-bound", "tiny-kernels", "graph-capture-candidate",
                         "python-in-step" },
  params = {
    min_share = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "share of launch calls that last as long as their kernel" },
    min_launches = { default = 200, min = 1, max = 1e9, unit = "count", doc = "launches a step" },
    launch_ns = { default = 5000, min = 0, max = 1e6, unit = "ns", doc = "a launch call that does not wait" },
  },
  doc = [[
With CUDA_LAUNCH_BLOCKING=1, or in a debug mode, each launch call returns only after its kernel:
nothing overlaps, and what the recording shows of asynchrony is not real. Priced by replay of launches that do
not wait; where nothing can be replayed as the idle time of the device, less the launches' usual cost. Silent
for few launches: a graph launch blocks in its own right; and for runtimes other than CUDA's and HIP's, whose
calls may run the work by design.]],

  check = function(p, cfg)
    local share, count = p.fact["launch.blocking_share"], p.fact["launch.count_per_step"]
    if share < cfg.min_share or count < cfg.min_launches then return nil end
    -- Other runtimes run a program inside of the call by design: there is no mode to leave.
    local launches = p:has("activities") and p:table("activities"):where { kind = "launch" }
    if launches and launches:count() > 0 and launches:where { name = { like = "^(cu|hip)" } }:count() == 0 then
      return nil
    end
    local extra_ns = math.max(0, math.min(p.fact["launch.ns_per_step"] - count * cfg.launch_ns,
                                          p.fact["step.ns"] - p.fact["device.busy_ns"]))
    local names = {}
    for _, row in ipairs(launches and launches:top("total_ns", 8):rows() or {}) do names[#names + 1] = row.name end
    local waits = #names > 0 and { "unblock", name = table.concat(names, "|"), ns = cfg.launch_ns }
    return finding {
      title = ("%s of launches wait for their kernel: blocking mode is on"):format(fmt.pct(share)),
      evidence = { { "launch calls as long as their kernel", share, "share" }, { "launches a step", count, "count" },
                   { "launch calls a step", p.fact["launch.ns_per_step"], "ns" },
                   { "device busy a step", p.fact["device.busy_ns"], "ns" } },
      condition = ("%s of launches block, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Unset CUDA_LAUNCH_BLOCKING (HIP_LAUNCH_BLOCKING) and leave anomaly detection off.",
                 code = p.framework == "pytorch" and "torch.autograd.set_detect_anomaly(False)" or nil,
                 flags = "CUDA_LAUNCH_BLOCKING=0" },
      impact = waits and impact.replay { waits, fallback = impact.exposed { ns = extra_ns } }
        or impact.exposed { ns = extra_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "all of them", framework = "pytorch", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["device.busy_ns"] = 8e6, ["launch.blocking_share"] = 0.98,
                ["launch.count_per_step"] = 500, ["launch.ns_per_step"] = 9e6 } },
    { name = "calls of CUDA", framework = "pytorch", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["device.busy_ns"] = 8e6, ["launch.blocking_share"] = 0.98,
                ["launch.count_per_step"] = 500, ["launch.ns_per_step"] = 9e6 },
      tables = { activities = { { name = "cudaLaunchKernel", kind = "launch", total_ns = 9e6 } } } },
    { name = "calls of a runtime that run the work themselves", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.busy_ns"] = 8e6, ["launch.blocking_share"] = 0.98,
                ["launch.count_per_step"] = 500, ["launch.ns_per_step"] = 9e6 },
      tables = { activities = { { name = "runFunction", kind = "launch" } } } },
    { name = "a graph launch", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.busy_ns"] = 8e6, ["launch.blocking_share"] = 1,
                ["launch.count_per_step"] = 1, ["launch.ns_per_step"] = 9e6 } },
  },
}
