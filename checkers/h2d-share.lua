-- Copies to the device hold the step up.
return rule {
  id = "h2d-share", api = 1, version = "1.0.0",
  title = "Copies to the device hold the step up",
  category = "copies", severity = "warn",
  needs = { "step.ns", "device.idle_share", "copies.h2d_exposed_ns", "part.copy_ns",
            "copies.h2d_ns", "copies.h2d_bytes", "copies.h2d_count", "copies" },
  cause = "copy", tags = { "copies" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in such copies that no kernel hides" },
    high_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
    max_beside = { default = 0.10, min = 0, max = 1, unit = "share",
                   doc = "of the copying to several devices, to two at once, below which it goes one after the other" },
  },
  doc = [[
Only copying that no kernel hides counts. Priced by replay: those copies beside computation. Silent
where they are hidden or short. Says where several devices of a host get their copies one after the other.]],

  check = function(p, cfg)
    local remedy = {
      pytorch = { text = "Pin memory and copy the next batch while the step computes; "
                    .. "send small types and cast on the device.",
                  code = "DataLoader(ds, pin_memory=True)\nx = x.to(device, non_blocking=True)" },
      jax = { text = "Put the next batch on the device while the step computes.",
              code = "batch = jax.device_put(next(it))   # before waiting for the step" },
      tensorflow = { text = "Copy the next batch while the step computes.",
                     code = "ds = ds.apply(tf.data.experimental.prefetch_to_device('/GPU:0'))" },
    }
    local found = p:exposed_copies {
      direction = "h2d", title = "Copies to the device", name = "(?i).*(HtoD|H2D|host to device).*",
      min_share = cfg.min_share, severity = function(share) return share >= cfg.high_share and "error" or "warn" end,
      remedy = remedy[p.framework]
        or { text = "Copy the next batch while the step computes, from pinned memory, in small types." },
    }
    local devices, beside = p.fact["copies.h2d_devices"], p.fact["copies.h2d_beside_share"]
    if found and devices and beside < cfg.max_beside then
      found.evidence[#found.evidence + 1] = { "devices that get their copies one after the other", devices, "count" }
      found.remedy.text = found.remedy.text .. " Start the copies to all devices before waiting for one, from a thread "
        .. "a device or without blocking: they can go side by side."
    end
    return found
  end,

  examples = {
    { name = "a tenth of the step", framework = "pytorch", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.h2d_exposed_ns"] = 1e6,
                ["copies.h2d_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.h2d_bytes"] = 2e7, ["copies.h2d_count"] = 4 },
      tables = { copies = { { direction = "h2d", exposed_ns = 1e6 } } } },
    { name = "one device after the other", framework = "pytorch", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.h2d_exposed_ns"] = 1e6,
                ["copies.h2d_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.h2d_bytes"] = 2e7, ["copies.h2d_count"] = 4, ["copies.h2d_devices"] = 4,
                ["copies.h2d_beside_share"] = 0.01 },
      tables = { copies = { { direction = "h2d", exposed_ns = 1e6 } } } },
    { name = "hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.h2d_exposed_ns"] = 1e4,
                ["copies.h2d_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.h2d_bytes"] = 2e7, ["copies.h2d_count"] = 4 }, tables = { copies = {} } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
