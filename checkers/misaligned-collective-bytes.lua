-- Payloads of collectives are no multiple of what a link moves at once.
return rule {
  id = "misaligned-collective-bytes", api = 1, version = "1.0.0",
  title = "Payloads of collectives are not aligned",
  category = "communication", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "comm.exposed_ns", "collectives" },
  cause = "communication", tags = { "communication" },
  params = {
    align_bytes = { default = 16, min = 2, max = 65536, unit = "bytes",
                    doc = "what the part of each rank should be a multiple of" },
    min_bytes = { default = 1048576, min = 0, max = 1e15, unit = "bytes", doc = "payload from which bandwidth counts" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of such collectives over the step" },
    max_speed = { default = 0.7, min = 0, max = 1, unit = "share",
                  doc = "their bus bandwidth over that of the fastest aligned ones, above which it does no harm" },
  },
  doc = [[
A collective cuts its payload into a part for each rank. Parts that are no multiple of 16 bytes cannot be moved by the
widest loads and stores. Looks at collectives that always carry the same payload, beside aligned ones of the recording.
Priced as a share of their uncovered time. Silent where they are about as fast as aligned ones, or where there are none
to compare with.]],

  check = function(p, cfg)
    local step_ns, fastest, ns, worst = p.fact["step.ns"], 0, 0, nil
    local function is_aligned(row) return row.mean_bytes % (cfg.align_bytes * row.group_size) == 0 end
    local big = p:table("collectives"):where { same_bytes = true, mean_bytes = { min = cfg.min_bytes },
                                               group_size = { min = 2 } }
    for row in big:each() do
      if row.bus_bytes_per_s and is_aligned(row) then fastest = math.max(fastest, row.bus_bytes_per_s) end
    end
    for row in big:each() do
      if row.bus_bytes_per_s and not is_aligned(row) and row.bus_bytes_per_s < cfg.max_speed * fastest then
        ns = ns + row.exposed_ns
        if not worst or row.exposed_ns > worst.exposed_ns then worst = row end
      end
    end
    ns = math.min(ns, p.fact["comm.exposed_ns"], step_ns)
    if not worst or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("%s moves %s for each of %s ranks, no multiple of %s"):format(
        worst.type, fmt.bytes(worst.mean_bytes / worst.group_size),
        fmt.count(worst.group_size), fmt.bytes(cfg.align_bytes)),
      subject = { kernel = worst.name },
      evidence = { { "payload", worst.mean_bytes, "bytes" }, { "ranks", worst.group_size, "count" },
                   { "its bus bandwidth", worst.bus_bytes_per_s, "bytes_per_s" },
                   { "that of aligned ones", fastest, "bytes_per_s" },
                   { "uncovered time of such collectives a step", ns, "ns", share = ns / step_ns } },
      condition = ("at %s of the bandwidth of aligned ones, %s accepted"):format(
        fmt.pct(worst.bus_bytes_per_s / fastest), fmt.pct(cfg.max_speed)),
      remedy = { text = ("Pad the buffer to a multiple of %s times the ranks."):format(fmt.bytes(cfg.align_bytes)),
                 code = "flat = F.pad(flat, (0, -flat.numel() % (16 * world_size // flat.element_size())))" },
      impact = impact.share { ns = ns },
      claims = { { parts = { "communication" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "an odd bucket", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3e5,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 2e6 },
      tables = { collectives = {
        { type = "reduce-scatter", name = "a", same_bytes = true, mean_bytes = 8388610, group_size = 8,
          bus_bytes_per_s = 5e10, exposed_ns = 1e6 },
        { type = "reduce-scatter", name = "b", same_bytes = true, mean_bytes = 8388608, group_size = 8,
          bus_bytes_per_s = 2e11, exposed_ns = 2e5 } } } },
    { name = "fast all the same", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 2e6 },
      tables = { collectives = {
        { type = "reduce-scatter", name = "a", same_bytes = true, mean_bytes = 8388610, group_size = 8,
          bus_bytes_per_s = 1.9e11, exposed_ns = 1e6 },
        { type = "reduce-scatter", name = "b", same_bytes = true, mean_bytes = 8388608, group_size = 8,
          bus_bytes_per_s = 2e11, exposed_ns = 2e5 } } } },
    { name = "nothing to compare with", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 2e6 },
      tables = { collectives = {
        { type = "all-reduce", name = "a", same_bytes = true, mean_bytes = 8388610, group_size = 8,
          bus_bytes_per_s = 5e10, exposed_ns = 1e6 } } } },
  },
}
