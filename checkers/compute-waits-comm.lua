-- Kernels that were launched in time wait for a collective to end.
return rule {
  id = "compute-waits-comm", api = 1, version = "1.0.0",
  title = "Computing waits for a collective",
  category = "communication", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "streams.comm_wait_ns", "comm_waits" },
  cause = "communication", tags = { "communication", "idle" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "of the step, waiting without computing" },
  },
  doc = [[
An uncovered collective that nobody waits for costs nothing. Here a kernel was launched while the collective ran and
began as it ended, and the device computed nothing meanwhile: the two are tied. Names the collective and the kernel; the
price stands with exposed-comm. Silent where the kernel's launch came later, for then the host was late.]],

  check = function(p, cfg)
    local step_ns, ns = p.fact["step.ns"], p.fact["streams.comm_wait_ns"]
    if ns < cfg.min_share * step_ns then return nil end
    local top = p:table("comm_waits"):top("ns", 1):rows()[1]
    local is_served = p:has("serving.trains") and not p.fact["serving.trains"]
    local is_sharded = not is_served and (top.collective:find("AllGather", 1, true) or
                                          top.collective:find("ReduceScatter", 1, true))
    local evidence =
      { { "waiting for collectives without computing, a step", ns, "ns", share = math.min(1, ns / step_ns) } }
    for _, row in ipairs(p:table("comm_waits"):top("ns", 3):rows()) do
      evidence[#evidence + 1] = { fmt.kernel(row.collective) .. " before " .. fmt.kernel(row.kernel), row.ns, "ns" }
    end
    return finding {
      title = ("Computing waits %s a step for collectives, mostly %s"):format(fmt.ms(ns), fmt.kernel(top.collective)),
      subject = { kernel = top.kernel },
      evidence = evidence,
      condition = ("such waits take %s of the step, %s accepted"):format(
        fmt.pct(math.min(1, ns / step_ns)), fmt.pct(cfg.min_share)),
      remedy = { text = "Start that collective earlier, or move work that does not need its result between the two.",
                 code = p.framework == "pytorch" and is_sharded and
                   "FullyShardedDataParallel(model, forward_prefetch=True, "
                   .. "backward_prefetch=BackwardPrefetch.BACKWARD_PRE)" or nil },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "an all-gather before a product", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["streams.comm_wait_ns"] = 2e6 },
      tables = { comm_waits = { { collective = "ncclDevKernel_AllGather_RING_LL", kernel = "gemm", count = 12,
                                  ns = 2e6 } } } },
    { name = "rows for tables", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["streams.comm_wait_ns"] = 2e6 },
      tables = { comm_waits = { { collective = "ncclKernel_SendRecv_RING_SIMPLE", kernel = "embedding", count = 4,
                                  ns = 2e6 } } } },
    { name = "hidden", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["streams.comm_wait_ns"] = 1e5 },
      tables = { comm_waits = { { collective = "ncclDevKernel_AllGather_RING_LL", kernel = "gemm", count = 1,
                                  ns = 1e5 } } } },
  },
}
