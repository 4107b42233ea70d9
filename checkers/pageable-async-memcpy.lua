-- Copies from pageable memory wait, though they are called asynchronous.
return rule {
  id = "pageable-async-memcpy", api = 1, version = "1.0.0",
  title = "Copies from pageable memory wait, though they are called asynchronous",
  category = "copies", severity = "warn",
  needs = { "step.ns", "device.idle_share", "part.copy_ns", "copies" },
  cause = "copy", tags = { "copies" },
  more_specific_than = { "h2d-share", "d2h-share", "blocking-sync-in-step", "sync-memcpy" },
  params = {
    min_bytes = { default = 65536, min = 1, max = 1e12, unit = "bytes", doc = "a copy from which it matters" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of these copies over the step" },
    most_up = { default = 0.8, min = 0, max = 1, unit = "share",
                doc = "of these copies, uploads, from which they are batches that could be copied ahead" },
    gain = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of that time, what pinned memory saves" },
  },
  doc = [[
A copy from or to pageable memory goes through a pinned buffer of the driver: it is slower, and the host waits. Priced
at half of the uncovered time; in PyTorch, where mostly batches go up, by replay without the copies that the host
waits for, since pinned memory lets them go ahead. Silent for copies up to 64 KiB.]],

  check = function(p, cfg)
    local copies = p:table("copies"):where { is_pageable = true, mean_bytes = { min = cfg.min_bytes } }
    local ns, step_ns = math.min(copies:sum("exposed_ns"), p.fact["part.copy_ns"]), p.fact["step.ns"]
    if ns / step_ns < cfg.min_share then return nil end
    local top = copies:top("exposed_ns", 1):rows()[1]
    local locations, price, claims = {}, impact.exposed { ns = cfg.gain * math.min(ns, step_ns) }, nil
    -- An eager program waits for what it uploads so; from pinned memory the next batch goes up beside the step.
    local up_ns = copies:where { direction = "h2d" }:sum("exposed_ns")
    local edits = { { "omit", name = p:names("aten_copy"), kinds = { "sync" } } }
    local saved_ns = p.framework == "pytorch" and up_ns >= cfg.most_up * copies:sum("exposed_ns")
      and p:without_calls(edits)
    if saved_ns and saved_ns > cfg.gain * ns then
      price = impact.replay { edits[1], fallback = price }
      claims = { { parts = { "copy", "idle.sync" } } }
    end
    if top.source_file and top.source_file ~= "" then
      locations[1] = { file = top.source_file, line = top.source_line }
    end
    return finding {
      title = ("%s a step is copied from or to pageable memory"):format(fmt.bytes(copies:sum("bytes"))),
      subject = { op = top.name }, locations = locations,
      evidence = { { "pageable copies that nothing hides, a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "bytes a step", copies:sum("bytes"), "bytes" }, { "copies a step", copies:sum("count"), "count" },
                   { "rate of the largest", top.bytes_per_s or 0, "bytes_per_s" } },
      condition = ("pageable copies take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Copy from pinned memory, without waiting.",
                 code = p.framework == "pytorch"
                   and "DataLoader(ds, pin_memory=True)\nx = x.to(device, non_blocking=True)" or nil },
      impact = price,
      claims = claims or { { parts = { "copy" }, name = "(?i).*pageable.*" } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1e6 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pageable -> Device)", is_pageable = true,
                              count = 2, bytes = 2e7, mean_bytes = 1e7, exposed_ns = 1e6 } } } },
    { name = "batches", framework = "pytorch", finding = true, replay = { 2e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1.5e6 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pageable -> Device)", is_pageable = true,
                              count = 2, bytes = 2e7, mean_bytes = 1e7, exposed_ns = 1.5e6 } } } },
    { name = "results", framework = "pytorch", finding = true, impact_ns = 4e5, replay = { 2e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1e6 },
      tables = { copies = { { direction = "d2h", name = "Memcpy DtoH (Device -> Pageable)", is_pageable = true,
                              count = 2, bytes = 2e7, mean_bytes = 1e7, exposed_ns = 1e6 } } } },
    { name = "small", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1e6 },
      tables = { copies = { { direction = "d2h", name = "Memcpy DtoH (Device -> Pageable)", is_pageable = true,
                              count = 2, bytes = 8, mean_bytes = 4, exposed_ns = 1e6 } } } },
  },
}
