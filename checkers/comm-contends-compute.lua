-- Products run slower while a collective is active.
return rule {
  id = "comm-contends-compute", api = 1, version = "1.0.0",
  title = "Products run slower while a collective is active",
  category = "communication", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "part.compute_ns", "contention.ns", "contention.ratio", "contention.kernels" },
  cause = "contention", tags = { "communication", "kernels" },
  params = {
    min_ratio = { default = 1.15, min = 1, max = 100, unit = "ratio", doc = "time beside collectives over time alone" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "the loss over the step" },
  },
  doc = [[
A collective's kernels take multiprocessors and memory bandwidth from what runs beside them; some of that is the price
of overlap and no fault. Compares the same product, of the same shapes, beside collectives and alone, five times each.
Priced as up to half of the difference. Silent below 1.15 times.]],

  check = function(p, cfg)
    local step_ns, ratio = p.fact["step.ns"], p.fact["contention.ratio"]
    local ns = math.min(p.fact["contention.ns"], p.fact["part.compute_ns"], step_ns)
    if ratio < cfg.min_ratio or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Products run %s slower beside collectives: %s of each step"):format(fmt.ratio(ratio), fmt.ms(ns)),
      subject = { kernel = p.fact["contention.kernel"] },
      evidence = { { "time that products lose a step", ns, "ns", share = ns / step_ns },
                   { "beside collectives over alone", ratio, "ratio" },
                   { "different products compared", p.fact["contention.kernels"], "count" } },
      condition = ("%s, %s accepted"):format(fmt.ratio(ratio), fmt.ratio(cfg.min_ratio)),
      remedy = { text = "Give collectives fewer channels, or copy engines where the library can use them.",
                 flags = "NCCL_MAX_CTAS=8" },
      impact = impact.exposed { ns = ns, low = 0, high = 0.5 * ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a third slower", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1e5,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["contention.ns"] = 5e5, ["contention.ratio"] = 1.35,
                ["contention.kernels"] = 4, ["contention.kernel"] = "gemm" } },
    { name = "hardly", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["contention.ns"] = 5e5, ["contention.ratio"] = 1.05,
                ["contention.kernels"] = 4 } },
  },
}
