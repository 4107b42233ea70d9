-- Copies from pinned memory wait although they could run beside the step.
return rule {
  id = "non-blocking-missing", api = 1, version = "1.0.0",
  title = "Copies from pinned memory still wait",
  category = "copies", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "copies", "syncs" },
  cause = "sync", tags = { "copies", "sync" },
  more_specific_than = { "blocking-sync-in-step", "long-gpu-gap", "h2d-share", "host-bound", "tiny-kernels",
                         "graph-capture-candidate", "kernel-launch-bound" },
  params = {
    min_count = { default = 1, min = 0, max = 1e6, unit = "count", doc = "waits of such copies a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device after them, over the step" },
  },
  doc = [[
`.to(device)` waits for its copy unless told otherwise. From pinned memory it need not. Priced by replay without these
copies, which then go up while the device works, or as the device's idle time after the waits. Silent where nothing is
copied from pinned memory, and where work is queued behind the wait.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local pinned = p:table("copies"):where { direction = "h2d", is_pageable = false, name = { like = "(?i)pinned" } }
    if pinned:count() == 0 then return nil end
    local waits = p:table("syncs"):where { owner = { like = p:names("aten_copy") },
                                           name = { like = "StreamSynchronize" } }
    local count, bubble_ns = waits:sum("count"), math.min(waits:sum("bubble_ns"), step_ns)
    -- A wait inside a copy may be that of a download; those end in pageable memory.
    local down = p:table("copies"):where { direction = "d2h" }:sum("count")
    if down >= count or count < cfg.min_count or bubble_ns < cfg.min_share * step_ns then return nil end
    -- The host then runs ahead, and the next batch goes up while the device works on this one.
    local edits = { { "omit", name = p:names("aten_copy"), kinds = { "sync" } } }
    local saved_ns, claims = p:without_calls(edits)
    return finding {
      title = ("%s copies a step from pinned memory wait; the device is idle for %s after them"):format(
        fmt.whole(count), fmt.ms(bubble_ns)),
      subject = { op = waits:top("bubble_ns", 1):rows()[1].owner },
      evidence = { { "device idle after them a step", bubble_ns, "ns", share = bubble_ns / step_ns },
                   { "waits a step", count, "count" },
                   { "copies from pinned memory a step", pinned:sum("count"), "count" },
                   { "their bytes a step", pinned:sum("bytes"), "bytes" } },
      condition = ("idle after such waits takes %s of the step, %s accepted"):format(
        fmt.pct(bubble_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Copy without waiting: the device's own order keeps it right.",
                 code = "x = x.to(device, non_blocking=True)" },
      impact = saved_ns and saved_ns > bubble_ns
        and impact.replay { edits[1], fallback = impact.exposed { ns = bubble_ns } }
        or impact.exposed { ns = bubble_ns },
      claims = claims or { { parts = { "idle.sync", "copy" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "two waits", framework = "pytorch", format = "kineto", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pinned -> Device)", is_pageable = false,
                              count = 2, bytes = 2e7 } },
                 syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", count = 2, bubble_ns = 4e5 } } } },
    { name = "the host runs ahead without", framework = "pytorch", format = "kineto", finding = true,
      replay = { 2e6, 3e6 }, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pinned -> Device)", is_pageable = false,
                              count = 2, bytes = 2e7 } },
                 syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", count = 2, bubble_ns = 4e5 } } } },
    { name = "from pageable memory", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pageable -> Device)", is_pageable = true,
                              count = 2, bytes = 2e7 } },
                 syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", count = 2, bubble_ns = 4e5 } } } },
    { name = "downloads", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pinned -> Device)", is_pageable = false,
                              count = 2, bytes = 2e7 },
                            { direction = "d2h", name = "Memcpy DtoH (Device -> Pageable)", is_pageable = true,
                              count = 2, bytes = 8 } },
                 syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", count = 2, bubble_ns = 4e5 } } } },
  },
}
