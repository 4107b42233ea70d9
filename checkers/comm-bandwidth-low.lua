-- Large collectives move their data slowly.
return rule {
  id = "comm-bandwidth-low", api = 1, version = "1.0.0",
  title = "Large collectives move their data slowly",
  category = "communication", severity = "warn",
  needs = { "step.ns", "device.idle_share", "collectives" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm" },
  params = {
    min_bytes = { default = 16777216, min = 1, max = 1e15, unit = "bytes",
                  doc = "payload from which bandwidth counts" },
    min_ratio = { default = 0.7, min = 0, max = 1, unit = "ratio",
                  doc = "bus bandwidth over the best one in the recording" },
    ceiling = { default = 0, min = 0, max = 1e15, unit = "bytes_per_s",
                doc = "what the link can do; 0: the best one in the recording" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "their uncovered time over the step" },
  },
  doc = [[
Compares bus bandwidth of large collectives with the link's, or with the best large one of the same
group size in the recording. Waiting for late ranks is part of the time, so a slow one may be a late
rank. Priced as what the same payload at four fifths of the best would save. Silent below 16 MiB.]],

  check = function(p, cfg)
    local large = p:table("collectives"):where { mean_bytes = { min = cfg.min_bytes }, bus_bytes_per_s = { min = 1 } }
    local step_ns = p.fact["step.ns"]
    local best = cfg.ceiling > 0 and cfg.ceiling or large:max("bus_bytes_per_s")
    local slow = best
      and large:where { bus_bytes_per_s = { max = cfg.min_ratio * best } }:top("exposed_ns", 1):rows()[1]
    if not slow or slow.exposed_ns / step_ns < cfg.min_share then return nil end
    local saved_ns = slow.exposed_ns * math.max(0, 1 - slow.bus_bytes_per_s / (0.8 * best))
    return finding {
      title = ("%s of %s runs at %s/s, the best at %s/s"):format(
        slow.type, fmt.bytes(slow.mean_bytes), fmt.bytes(slow.bus_bytes_per_s), fmt.bytes(best)),
      severity = slow.bus_bytes_per_s < 0.2 * best and "error" or "warn",
      subject = { op = slow.name },
      evidence = { { "bus bandwidth, waiting included", slow.bus_bytes_per_s, "bytes_per_s" },
                   { "best", best, "bytes_per_s" },
                   { "payload of one", slow.mean_bytes, "bytes" },
                   { "uncovered time a step", slow.exposed_ns, "ns", share = math.min(1, slow.exposed_ns / step_ns) } },
      condition = ("%s of the best bandwidth, %s accepted"):format(
        fmt.pct(slow.bus_bytes_per_s / best), fmt.pct(cfg.min_ratio)),
      remedy = { text = "Look for a late rank first; then at topology, network cards beside their GPUs, and NCCL's "
                   .. "choice of path.",
                 flags = "NCCL_DEBUG=INFO" },
      impact = impact.exposed { ns = math.min(saved_ns, step_ns) },
      claims = { { parts = { "communication" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "one at a tenth", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { collectives = { { type = "all-reduce", name = "a", mean_bytes = 3e7, bus_bytes_per_s = 2e11,
                                   exposed_ns = 1e5 },
                                 { type = "all-gather", name = "b", mean_bytes = 3e7, bus_bytes_per_s = 2e10,
                                   exposed_ns = 1e6 } } } },
    { name = "all alike", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { collectives = { { type = "all-reduce", name = "a", mean_bytes = 3e7, bus_bytes_per_s = 2e11,
                                   exposed_ns = 1e6 } } } },
  },
}
