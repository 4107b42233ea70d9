-- The driver allocates and frees memory in steady steps, or the system gives new pages for arrays of the host.
local function on_host(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "fresh-arrays", min_share = cfg.min_fresh_share, time = "new pages of memory for them",
    title = "Op after op makes an array above 32 MiB, which the system gives new pages: %s of each step",
    remedy = { text = "Keep one array and write into it (out=), work in place, or on parts of less than 32 MiB, which "
                 .. "the C library keeps when they are freed; or run with an allocator that keeps larger ones, too.",
               code = "torch.mm(q, bank.T, out=d); d.mul_(-2).add_(norms).clamp_(min=0)   # d is made once" },
    confidence = "medium",
  } or nil
end

return rule {
  id = "allocator-churn", api = 1, version = "1.0.0",
  title = "The driver allocates and frees memory in steady steps",
  category = "memory", severity = "error",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "activities" },
  cause = "host", tags = { "memory" },
  more_specific_than = { "host-bound", "long-gpu-gap", "tiny-kernels", "kernel-launch-bound",
                         "graph-capture-candidate", "hot-op", "elementwise-chain" },
  params = {
    min_count = { default = 1, min = 0, max = 1e6, unit = "count", doc = "calls of the driver a step" },
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count", doc = "steps, to tell steady ones from the first" },
    min_many = { default = 50, min = 1, max = 1e9, unit = "count", doc = "calls that are no warm-up, in fewer steps" },
    min_short_share = { default = 0.05, min = 0, max = 1, unit = "share",
                        doc = "their time over the step, in fewer steps" },
    min_fresh_share = { default = 0.08, min = 0, max = 1, unit = "share",
      doc = "on the host: time in new pages over the step from which this is said" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those with such calls" },
  },
  doc = [[
cudaMalloc and cudaFree wait for the device. A framework's allocator calls them only while it grows, or
when its cache was emptied. Priced as their time on the path. Silent in the first steps, unless
there are very many, and where few steps have such calls. Without an accelerator, ops of PyTorch that make arrays above
32 MiB without gradients and take over 2.5 times what others take here that pass over as much and make none: the C
library gives such arrays back to the system, and each new one gets new pages, cleared when they are first written.
Priced as what is beyond passing over them.]],

  check = function(p, cfg)
    if not p:has("device.idle_share") then return on_host(p, cfg) end
    local is_short = p.fact["step.used"] < cfg.min_steps
    local calls =
      p:table("activities"):where {
        name = { like = p:names("driver_allocates") },
        steps_share = { min = cfg.min_steps_share } }
    local count, ns, step_ns = calls:sum("events"), calls:sum("path_ns"), p.fact["step.ns"]
    if count < cfg.min_count then return nil end
    if is_short and (count < cfg.min_many or ns < cfg.min_short_share * step_ns) then return nil end
    local top = calls:top("total_ns", 1):rows()[1]
    return finding {
      title = ("%s it up for %s"):format(
        fmt.many(count, "driver allocation a step holds", "driver allocations a step hold"), fmt.ms(ns)),
      severity = ns > 0.02 * step_ns and "error" or "warn",
      subject = { op = top.name },
      evidence = { { "calls a step", count, "count" },
                   { "their time on the path a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "all of their time a step", calls:sum("total_ns"), "ns" } },
      condition = ("%s a step, %s accepted"):format(fmt.many(count, "call", "calls"), fmt.count(cfg.min_count)),
      remedy = { text = "Drop empty_cache() from the loop, keep shapes fixed, leave the allocator room.",
                 flags = p.framework == "pytorch" and "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" or nil },
      impact = impact.replay { { "scale", parts = { "host", "idle.sync" },
                                 name = p:names("driver_allocates") },
                               fallback = impact.exposed { ns = ns } },
      confidence = is_short and "low" or "medium",
    }
  end,

  examples = {
    { name = "four a step", framework = "pytorch", format = "kineto", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cudaMalloc", events = 4, steps_share = 1, path_ns = 1e6,
                                  total_ns = 2e6 } } } },
    { name = "hundreds in one recording", framework = "pytorch", format = "kineto", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["step.used"] = 1, ["device.idle_share"] = 0.8 },
      tables = { activities = { { name = "hipFree", events = 800, steps_share = 1, path_ns = 4e6,
                                  total_ns = 5e6 } } } },
    -- 6 of 20 ms of the cell.
    { name = "new pages on the host", framework = "pytorch", format = "kineto", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 2e7, ["step.used"] = 5 },
      tables = { activities = {}, excess = { { cell = 1, flaw = "fresh-arrays", cause = "bytes", grade = "B", ns = 6e6,
                                              share = 0.3, factor = 0.1, op = "aten::mul" } } } },
    { name = "few new pages", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 2e7, ["step.used"] = 5 },
      tables = { activities = {}, excess = { { cell = 1, flaw = "fresh-arrays", cause = "bytes", grade = "B", ns = 1e6,
                                              share = 0.05, factor = 0.1, op = "aten::mul" } } } },
    { name = "in the first step", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cudaMalloc", events = 4, steps_share = 0.2, path_ns = 1e6,
                                  total_ns = 2e6 } } } },
  },
}
