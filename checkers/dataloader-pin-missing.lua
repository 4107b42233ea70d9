-- The loader hands out batches in pageable memory, so that their copies wait.
return rule {
  id = "dataloader-pin-missing", api = 1, version = "1.0.0",
  title = "Batches are copied from pageable memory",
  category = "copies", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "copies.h2d_bytes", "part.copy_ns", "copies", "activities" },
  cause = "copy", tags = { "copies", "input" },
  more_specific_than = { "pageable-async-memcpy", "h2d-share" },
  params = {
    min_pageable = { default = 0.8, min = 0, max = 1, unit = "share",
                     doc = "of the bytes copied to the device, those from pageable memory" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of these copies over the step" },
    gain = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of that time, what pinned memory saves" },
  },
  doc = [[
A loader that pins its batches lets copies run at full rate beside the step. Priced at half of the copies' uncovered
time. Silent for programs without a DataLoader, where most bytes come from pinned memory, and below 1 % of the step.]],

  check = function(p, cfg)
    if p:table("activities"):where { name = { like = "DataLoader" } }:count() == 0 then return nil end
    local step_ns, all_bytes = p.fact["step.ns"], p.fact["copies.h2d_bytes"]
    local copies = p:table("copies"):where { direction = "h2d", is_pageable = true, mean_bytes = { min = 65536 } }
    local bytes, ns = copies:sum("bytes"), math.min(copies:sum("exposed_ns"), p.fact["part.copy_ns"])
    if all_bytes == 0 or bytes < cfg.min_pageable * all_bytes or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Batches come from pageable memory: %s of uncovered copies a step"):format(fmt.ms(ns)),
      subject = { op = copies:top("exposed_ns", 1):rows()[1].name },
      evidence = { { "copies from pageable memory that nothing hides, a step", ns, "ns",
                     share = math.min(1, ns / step_ns) },
                   { "their bytes a step", bytes, "bytes" },
                   { "all bytes to the device a step", all_bytes, "bytes" } },
      condition = ("%s of the bytes are pageable and take %s of the step, %s accepted"):format(
        fmt.pct(math.min(1, bytes / all_bytes)), fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Let the loader pin its batches, and copy without waiting.",
                 code = "DataLoader(ds, pin_memory=True)\nx = x.to(device, non_blocking=True)" },
      impact = impact.exposed { ns = cfg.gain * math.min(ns, step_ns) },
      claims = { { parts = { "copy" }, name = "(?i).*pageable.*" } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth of the step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1e6, ["copies.h2d_bytes"] = 2e7 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" } },
                 copies = { { direction = "h2d", name = "Memcpy HtoD (Pageable -> Device)", is_pageable = true,
                              bytes = 2e7, mean_bytes = 1e7, exposed_ns = 1e6 } } } },
    { name = "pinned", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1e6, ["copies.h2d_bytes"] = 2e7 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" } },
                 copies = { { direction = "h2d", name = "Memcpy HtoD (Pinned -> Device)", is_pageable = false,
                              bytes = 2e7, mean_bytes = 1e7, exposed_ns = 1e6 } } } },
    { name = "no loader", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["part.copy_ns"] = 1e6, ["copies.h2d_bytes"] = 2e7 },
      tables = { activities = {},
                 copies = { { direction = "h2d", name = "Memcpy HtoD (Pageable -> Device)", is_pageable = true,
                              bytes = 2e7, mean_bytes = 1e7, exposed_ns = 1e6 } } } },
  },
}
