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
    local memory = p.fact["flops.bytes_per_step"] / (p.fact["flops.memory_peak_per_s"] * p.fact["step.ns"] / 1e9)
    local compute = p.fact["flops.mfu"]
    local use, other = compute, memory
    if p.fact["flops.known_share"] < cfg.min_known or use < cfg.min_use or use > 1.05 or other >= cfg.max_other then
      return nil
    end
    return finding {
      title = ("Arithmetic is the limit: %s of it is used, %s of memory bandwidth"):format(
        fmt.pct(math.min(1, use)), fmt.pct(other)),
      evidence = { { "memory bandwidth used", math.min(1, memory), "share" }, { "arithmetic used", compute, "share" },
                   { "traffic a step", p.fact["flops.bytes_per_step"], "bytes" } },
      condition = ("%s used, %s of the other"):format(fmt.pct(use), fmt.pct(other)),
      remedy = { text = "Compute less or narrower: 16 or 8 bits, better tiles, fewer operations." },
      impact = impact.none(),
      confidence = "medium",
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
