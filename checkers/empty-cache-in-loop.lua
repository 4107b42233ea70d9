-- The allocator's cache is emptied in each step.
return rule {
  id = "empty-cache-in-loop", api = 1, version = "1.0.0",
  title = "The allocator's cache is emptied in each step",
  category = "memory", severity = "error",
  formats = { "kineto" },
  needs = { "step.ns", "step.used", "device.idle_share", "activities" },
  cause = "host", tags = { "memory" },
  more_specific_than = { "allocator-churn", "host-bound", "long-gpu-gap" },
  params = {
    min_steps = { default = 2, min = 1, max = 1e6, unit = "count", doc = "steps that must have it" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those with it" },
  },
  doc = [[
torch.cuda.empty_cache() returns memory to the driver, which waits for the device, and the next allocations ask the
driver again. Recorded Python stacks show the call. Priced by replay: the driver's calls disappear. Silent between
phases, where few steps have it.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local step_ns, activities = p.fact["step.ns"], p:table("activities")
    local empties =
      activities:where {
        name = { like = "(cuda/memory|cuda/__init__|accelerator/memory)\\.py.*: empty_cache$|_cuda_emptyCache" },
        steps_share = { min = cfg.min_steps_share } }
    if empties:count() == 0 then return nil end
    local driver = activities:where { name = { like = p:names("driver_allocates") } }
    local ns = math.min(driver:sum("path_ns"), step_ns)
    local top = empties:top("total_ns", 1):rows()[1]
    return finding {
      title = ("The allocator's cache is emptied in each step; the driver takes %s"):format(fmt.ms(ns)),
      severity = ns >= 0.02 * step_ns and "error" or "warn",
      subject = { op = top.name },
      evidence = { { "allocations and frees of the driver on the path, a step", ns, "ns", share = ns / step_ns },
                   { "driver calls a step", driver:sum("events"), "count" },
                   { "empty_cache calls a step", top.events, "count" } },
      condition = ("%s of the steps empty the cache, %s accepted"):format(
        fmt.pct(top.steps_share), fmt.pct(cfg.min_steps_share)),
      remedy = { text = "Delete empty_cache() from the loop; against fragmentation let segments grow.",
                 flags = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
      impact = impact.replay { p:has("device.busy_ns") and { "omit", name = p:names("driver_allocates") }
                                 or { "scale", parts = { "host", "idle.sync" }, name = p:names("driver_allocates") },
                               fallback = impact.exposed { ns = ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "each step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2e6, replay = { 2e6 },
      selected_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 4, ["device.idle_share"] = 0.3 },
      tables = { activities = { { name = "torch/cuda/memory.py(170): empty_cache", steps_share = 1, events = 1,
                                  total_ns = 1e6 },
                                { name = "cudaFree", steps_share = 1, events = 20, path_ns = 1e6, total_ns = 1e6 },
                                { name = "cudaMalloc", steps_share = 1, events = 20, path_ns = 1e6,
                                  total_ns = 1e6 } } } },
    { name = "between phases", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 4, ["device.idle_share"] = 0.3 },
      tables = { activities = { { name = "torch/cuda/memory.py(170): empty_cache", steps_share = 0.25, events = 0.25,
                                  total_ns = 1e6 } } } },
  },
}
