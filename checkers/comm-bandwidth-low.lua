-- Large collectives move their data slowly.
-- The shortest of them takes many times what the links of the devices need: another way is used.
local function far_from_links(p, far, step_ns, cfg)
  local saved_ns = far.exposed_ns * (1 - far.link_share / cfg.link_reach)
  local links = p.fact["comm.link_bytes_per_s"] or 0
  return finding {
    title = ("%s of %s runs at %s/s, the devices' links carry %s/s"):format(
      far.type, fmt.bytes(far.mean_bytes), fmt.bytes(far.bus_bytes_per_s), fmt.bytes(links)),
    severity = "warn",
    subject = { op = far.name },
    evidence = { { "bus bandwidth, waiting included", far.bus_bytes_per_s, "bytes_per_s" },
                 { "links of one device, one direction", links, "bytes_per_s" },
                 { "least time over the links, of the call that comes nearest", far.link_share, "share" },
                 { "payload of one", far.mean_bytes, "bytes" },
                 { "uncovered time a step", far.exposed_ns, "ns",
                   share = math.min(1, far.exposed_ns / step_ns) } },
    condition = ("%s of the links' speed at best, %s wanted"):format(
      fmt.pct(far.link_share), fmt.pct(cfg.min_link_share)),
    remedy = { text = "See which way the data goes: NVLink or Infinity Fabric may be off, absent between them, "
                 .. "or kept from use by a container, an environment variable or peer access; a late rank makes "
                 .. "single calls long, not all of them.",
               code = "nvidia-smi topo -m    # rocm-smi --showtopo",
               flags = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=GRAPH" },
    impact = impact.exposed { ns = math.min(saved_ns, step_ns) },
    claims = { { parts = { "communication" } } },
    confidence = "low",
  }
end

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
    min_link_share = { default = 0.12, min = 0, max = 1, unit = "share",
                       doc = "the least time that the devices' links need over the time it takes" },
    link_reach = { default = 0.35, min = 0.01, max = 1, unit = "share",
                   doc = "of that, what large collectives reach at least where links work" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "their uncovered time over the step" },
  },
  doc = [[
Compares bus bandwidth of large collectives with the link's, or with the best large one of the same
group size in the recording. Waiting for late ranks is part of the time, so a slow one may be a late
rank. Priced as what the same payload at four fifths of the best would save. Where the group's ranks are known to be in
one machine and its devices' links are known, also with the least time that those need: the call that comes
nearest to it has waited least. Priced as a third of the links' speed. Silent below 16 MiB.]],

  check = function(p, cfg)
    local large = p:table("collectives"):where { mean_bytes = { min = cfg.min_bytes }, bus_bytes_per_s = { min = 1 } }
    local step_ns = p.fact["step.ns"]
    local far = cfg.ceiling == 0 and large:where { link_share = { min = 1e-6, max = cfg.min_link_share } }
      :top("exposed_ns", 1):rows()[1]
    if far and far.exposed_ns / step_ns >= cfg.min_share then return far_from_links(p, far, step_ns, cfg) end
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
    -- the links need a tenth of the time: at 35 % of their speed it would take 0.1 / 0.35 of it
    { name = "far from its links", finding = true, impact_ns = 1e6 * (1 - 0.1 / 0.35),
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.link_bytes_per_s"] = 4.5e11 },
      tables = { collectives = { { type = "all-reduce", name = "a", mean_bytes = 3e7, bus_bytes_per_s = 2.3e10,
                                   exposed_ns = 1e6, link_share = 0.1 } } } },
    { name = "as fast as links get", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.link_bytes_per_s"] = 4.5e11 },
      tables = { collectives = { { type = "all-reduce", name = "a", mean_bytes = 3e7, bus_bytes_per_s = 2.3e11,
                                   exposed_ns = 1e6, link_share = 0.5 } } } },
    { name = "all alike", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { collectives = { { type = "all-reduce", name = "a", mean_bytes = 3e7, bus_bytes_per_s = 2e11,
                                   exposed_ns = 1e6 } } } },
  },
}
