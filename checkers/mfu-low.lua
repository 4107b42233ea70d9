-- The device does a small part of the arithmetic it could.
return rule {
  id = "mfu-low", api = 1, version = "1.0.0",
  title = "The device does a small part of the arithmetic it could",
  category = "model", severity = "info",
  needs = { "step.ns", "device.idle_share", "flops.mfu", "flops.known_share", "flops.product_share",
            "flops.achieved_per_s", "flops.peak_per_s", "flops.per_step" },
  tags = { "model", "roofline" },
  params = {
    max_mfu = { default = 0.35, min = 0, max = 1, unit = "share", doc = "use of the peak below which this is said" },
    low_mfu = { default = 0.20, min = 0, max = 1, unit = "share", doc = "use below which it is a warning" },
    min_known = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of the computing time, with known operations" },
    max_memory = { default = 0.5, min = 0, max = 1, unit = "share",
                   doc = "of the computing time, in ops that memory holds" },
    min_product = { default = 0.3, min = 0, max = 1, unit = "share", doc = "of the computing time, in products" },
  },
  doc = [[
Operations of the model over what the device could do in the time of a step, at its dense peak. Half is
excellent for dense transformers. No price: the rules about kernels, idle time and precision have one.
Silent where most operations are unknown, for programs that are no products, where memory holds most of the time, as in
decoding, and for a use over 100 %, which means a wrong peak.]],

  check = function(p, cfg)
    local mfu = p.fact["flops.mfu"]
    if mfu <= 0 or mfu > 1 or mfu >= cfg.max_mfu or p.fact["flops.known_share"] < cfg.min_known then return nil end
    if p.fact["flops.product_share"] < cfg.min_product then return nil end
    if (p.fact["flops.memory_bound_share"] or 0) > cfg.max_memory then return nil end
    return finding {
      title = ("The step uses %s of the device's arithmetic"):format(fmt.pct(mfu)),
      severity = mfu < cfg.low_mfu and "warn" or "info",
      evidence = { { "operations a step", p.fact["flops.per_step"], "flops" },
                   { "rate over the step", p.fact["flops.achieved_per_s"], "flops_per_s" },
                   { "dense peak of one device", p.fact["flops.peak_per_s"], "flops_per_s" },
                   { "of the computing time, with known operations", p.fact["flops.known_share"], "share" } },
      condition = ("%s of the peak, %s wanted"):format(fmt.pct(mfu), fmt.pct(cfg.max_mfu)),
      remedy = { text =
                   "Begin with idle time, then precision, then the products with the largest gap to their limit." },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["flops.mfu"] = 0.1, ["flops.known_share"] = 0.8,
                ["flops.product_share"] = 0.7, ["flops.achieved_per_s"] = 3.1e13, ["flops.peak_per_s"] = 3.12e14,
                ["flops.per_step"] = 3.1e11 } },
    { name = "weights are read once for few tokens", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["flops.mfu"] = 0.1, ["flops.known_share"] = 0.8,
                ["flops.product_share"] = 0.7, ["flops.achieved_per_s"] = 3.1e13, ["flops.peak_per_s"] = 3.12e14,
                ["flops.per_step"] = 3.1e11, ["flops.memory_bound_share"] = 0.6 } },
    { name = "unknown operations", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["flops.mfu"] = 0.1, ["flops.known_share"] = 0.1,
                ["flops.product_share"] = 0.7, ["flops.achieved_per_s"] = 3.1e13, ["flops.peak_per_s"] = 3.12e14,
                ["flops.per_step"] = 3.1e11 } },
    { name = "good", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["flops.mfu"] = 0.5, ["flops.known_share"] = 0.8,
                ["flops.product_share"] = 0.7, ["flops.achieved_per_s"] = 1.5e14, ["flops.peak_per_s"] = 3.12e14,
                ["flops.per_step"] = 1.5e12 } },
  },
}
