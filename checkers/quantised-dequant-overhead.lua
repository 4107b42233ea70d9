-- Turning quantised weights back into floats costs as much as a good part of the products.
return rule {
  id = "quantised-dequant-overhead", api = 1, version = "1.0.0",
  title = "Dequantising takes a good part of the products' time",
  category = "kernels", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "kernels" },
  cause = "dequant", tags = { "precision", "kernels" },
  params = {
    min_ratio = { default = 0.10, min = 0, max = 10, unit = "ratio",
                  doc = "of the products' time from which this is said" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "share of the step from which this is said" },
    keep = { default = 0.1, min = 0, max = 1, unit = "share", doc = "of its time, what a fused product still needs" },
  },
  doc = [[
A separate kernel writes weights in 16 bits that the product then reads again; fused products unpack them in registers.
Priced as their time less a tenth. Silent below a tenth of the products and 2 % of the step.]],

  check = function(p, cfg)
    local step_ns, kernels = p.fact["step.ns"], p:table("kernels")
    local unpack = kernels:where { name = { like = "(?i)dequant" }, category = { like = "^(?!gemm|attention)" } }
    local ns, product_ns = math.min(unpack:sum("total_ns"), step_ns),
      kernels:where { category = "gemm" }:sum("total_ns")
    if ns < cfg.min_share * step_ns or product_ns == 0 or ns < cfg.min_ratio * product_ns then return nil end
    local top = unpack:top("total_ns", 1):rows()[1]
    return finding {
      title = ("Dequantising takes %s of each step, products %s"):format(fmt.ms(ns), fmt.ms(product_ns)),
      severity = ns >= 0.1 * step_ns and "warn" or "info",
      subject = { kernel = top.name },
      evidence = { { "dequantising a step", ns, "ns", share = ns / step_ns },
                   { "products a step", product_ns, "ns" },
                   { "kernels a step", unpack:sum("calls"), "count" } },
      condition = ("%s of the products' time, %s accepted"):format(fmt.pct(ns / product_ns), fmt.pct(cfg.min_ratio)),
      remedy = { text = "Use a product that unpacks its weights itself (Marlin, Machete, CUTLASS mixed input), or "
                   .. "another group size." },
      impact = impact.exposed { ns = (1 - cfg.keep) * ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a third of the products", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "kDequantizeBlockwise", category = "other", total_ns = 1e6, calls = 100 },
                             { name = "ampere_bf16_s16816gemm", category = "gemm", total_ns = 3e6, calls = 100 } } } },
    { name = "fused", framework = "pytorch", format = "kineto", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "gemm_dequant_kernel", category = "gemm", total_ns = 3e6, calls = 100 } } } },
  },
}
