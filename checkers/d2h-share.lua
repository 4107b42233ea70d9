-- Copies from the device hold the step up.
return rule {
  id = "d2h-share", api = 1, version = "1.0.0",
  title = "Copies from the device hold the step up",
  category = "copies", severity = "warn",
  needs = { "step.ns", "device.idle_share", "copies.d2h_exposed_ns", "part.copy_ns",
            "copies.d2h_ns", "copies.d2h_bytes", "copies.d2h_count", "copies" },
  cause = "copy", tags = { "copies" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in such copies that no kernel hides" },
    high_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
  },
  doc = [[
Only copying that no kernel hides counts. Priced by replay: those copies beside computation. Silent
where they are hidden or short.]],

  check = function(p, cfg)
    local remedy = {
      pytorch = { text = "Reduce on the device, read results every 100 steps, and copy into pinned memory without "
                    .. "waiting.",
                  code = not (p:has("serving.trains") and not p.fact["serving.trains"])
                    and "total += loss.detach()   # .item() every 100 steps" or nil },
      jax = { text = "Return only what is read, and read it every 100 steps." },
      tensorflow = { text = "Fetch less: reduce on the device, and read every 100 steps." },
    }
    return p:exposed_copies {
      direction = "d2h", title = "Copies from the device", name = "(?i).*(DtoH|D2H|device to host).*",
      min_share = cfg.min_share, severity = function(share) return share >= cfg.high_share and "error" or "warn" end,
      remedy = remedy[p.framework] or { text = "Copy results less often, smaller, and beside the next step." },
    }
  end,

  examples = {
    { name = "a tenth of the step", framework = "pytorch", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.d2h_exposed_ns"] = 1e6,
                ["copies.d2h_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.d2h_bytes"] = 2e7, ["copies.d2h_count"] = 4 },
      tables = { copies = { { direction = "d2h", exposed_ns = 1e6 } } } },
    { name = "hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.d2h_exposed_ns"] = 1e4,
                ["copies.d2h_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.d2h_bytes"] = 2e7, ["copies.d2h_count"] = 4 }, tables = { copies = {} } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
