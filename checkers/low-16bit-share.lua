-- Little is computed in 16 bits.
return rule {
  id = "low-16bit-share", api = 1, version = "1.0.0",
  title = "Little is computed in 16 bits",
  category = "precision", severity = "info",
  needs = { "step.ns", "device.idle_share", "device.count", "device.compute_share", "precision.f16_share",
            "precision.f8_share", "precision.f32_share", "precision.product_f32_ns", "device.half_type" },
  cause = "precision", tags = { "precision" },
  params = {
    max_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "computing in 16 bits over computing in 16 and 32 bits" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "float32 products over the step" },
    speedup = { default = 1.8, min = 1, max = 16, unit = "ratio", doc = "how much faster products are in 16 bits" },
  },
  doc = [[
Sixteen bits halve the traffic, and matrix units take them at several times the rate. Priced as Amdahl's
law has it, over the products in float32 alone. Silent without such products, and on devices of which it is not known
what they multiply in 16 bits.]],

  check = function(p, cfg)
    local half, single = p.fact["precision.f16_share"] + p.fact["precision.f8_share"], p.fact["precision.f32_share"]
    local ns, step_ns = p.fact["precision.product_f32_ns"] / p.fact["device.count"], p.fact["step.ns"]
    if half + single <= 0 or half / (half + single) >= cfg.max_share or ns / step_ns < cfg.min_share then return nil end
    local half_type = p:in_16_bits()
    return finding {
      title = half == 0 and ("%s of products a step are in 32 bits, and nothing in 16"):format(fmt.ms(ns)) or
              ("%s of products a step are in 32 bits; 16 bits take %s of computing"):format(fmt.ms(ns), fmt.pct(half)),
      evidence = { { "share of compute in 16 bits or less", half, "share" },
                   { "share of compute in 32 bits", single, "share" },
                   { "float32 products a step", ns, "ns", share = math.min(1, ns / step_ns) } },
      condition = ("%s in 16 bits, %s wanted"):format(fmt.pct(half / (half + single)), fmt.pct(cfg.max_share)),
      remedy = { text = ("Compute products in %s."):format(half_type.dtype), code = half_type.code },
      impact = impact.amdahl { ns = math.min(ns, step_ns), speedup = cfg.speedup },
      claims = { { parts = { "compute" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "all in float32", framework = "tensorflow", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1, ["device.compute_share"] = 0.9,
                ["precision.f16_share"] = 0, ["precision.f8_share"] = 0, ["precision.f32_share"] = 0.9,
                ["precision.product_f32_ns"] = 4e6, ["device.half_type"] = "bfloat16" } },
    { name = "mixed", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1, ["device.compute_share"] = 0.9,
                ["precision.f16_share"] = 0.5, ["precision.f8_share"] = 0, ["precision.f32_share"] = 0.4,
                ["precision.product_f32_ns"] = 4e6, ["device.half_type"] = "bfloat16" } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
