-- Arithmetic is the limit of the step.
return rule {
  id = "compute-bound-step", api = 1, version = "1.0.0",
  title = "Arithmetic is the limit",
  category = "kernels", severity = "info",
  needs = { "step.ns", "device.idle_share", "flops.mfu", "flops.bytes_per_step", "flops.memory_peak_per_s",
            "flops.known_share" },
  tags = { "roofline" },
  params = {
    min_use = { default = 0.70, min = 0, max = 1, unit = "share", doc = "use of what limits" },
    max_other = { default = 0.50, min = 0, max = 1, unit = "share", doc = "use of the other" },
    min_known = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of the computing time, with known operations" },
  },
  doc = [[
Compares the traffic and the operations of the step with what the device can do in its time. A fact
without a price: it tells which rules to follow. Silent where most ops are of unknown cost, and where
the sums exceed what the device can do, which means that traffic was counted that caches serve.]],

  check = function(p, cfg)
    return p:at_limit {
      limit = "arithmetic", title = "Arithmetic is the limit: %s of it is used, %s of memory bandwidth",
      min_known = cfg.min_known, min_use = cfg.min_use, max_other = cfg.max_other,
      remedy = { text = "Compute less or narrower: 16 or 8 bits, better tiles, fewer operations." },
    }
  end,

  examples = {
    { name = "at the limit", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.05, ["flops.mfu"] = 0.75, ["flops.bytes_per_step"] = 4e9,
                ["flops.memory_peak_per_s"] = 2e12, ["flops.known_share"] = 0.9 } },
    { name = "neither", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5, ["flops.mfu"] = 0.2, ["flops.bytes_per_step"] = 4e9,
                ["flops.memory_peak_per_s"] = 2e12, ["flops.known_share"] = 0.9 } },
  },
}
