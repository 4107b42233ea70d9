-- Memory traffic is the limit of the step.
return rule {
  id = "memory-bound-step", api = 1, version = "1.0.0",
  title = "Memory traffic is the limit",
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
    local is_nvidia = p:has("device.model") and p.fact["device.model"]:find("NVIDIA", 1, true) ~= nil
    return p:at_limit {
      limit = "memory", title = "Memory traffic is the limit: %s of it is used, %s of arithmetic",
      min_known = cfg.min_known, min_use = cfg.min_use, max_other = cfg.max_other,
      remedy = { text = "Move less: fuse neighbours, 16 bit activations, larger batches for products that are bound "
                   .. "by weights." .. (is_nvidia and " Where rows lie beside each other, have the cache fetch "
                   .. "128 bytes at once." or ""),
                 code = is_nvidia and "cudart = ctypes.CDLL(\"libcudart.so\")\n"
                   .. "cudart.cudaDeviceSetLimit(0x05, 128)  # cudaLimitMaxL2FetchGranularity, before training"
                   or nil },
    }
  end,

  examples = {
    { name = "at the limit", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.05, ["flops.mfu"] = 0.1, ["flops.bytes_per_step"] = 1.6e10,
                ["flops.memory_peak_per_s"] = 2e12, ["flops.known_share"] = 0.9 } },
    { name = "at the limit of a GPU of NVIDIA", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.05, ["flops.mfu"] = 0.1, ["flops.bytes_per_step"] = 1.6e10,
                ["flops.memory_peak_per_s"] = 2e12, ["flops.known_share"] = 0.9,
                ["device.model"] = "NVIDIA A100-SXM4-80GB" } },
    { name = "neither", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5, ["flops.mfu"] = 0.2, ["flops.bytes_per_step"] = 4e9,
                ["flops.memory_peak_per_s"] = 2e12, ["flops.known_share"] = 0.9 } },
  },
}
