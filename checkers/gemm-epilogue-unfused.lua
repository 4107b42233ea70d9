-- Bias, activation or residual run as passes of their own behind matrix products.
return rule {
  id = "gemm-epilogue-unfused", api = 1, version = "1.0.0",
  title = "Bias and activation run as passes of their own behind products",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "part.compute_ns", "epilogue.count", "epilogue.ns", "epilogue.product_ns" },
  cause = "elementwise", tags = { "kernels" },
  more_specific_than = { "elementwise-chain", "hot-op" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "their time over the step" },
  },
  doc = [[
An elementwise kernel right behind a product, over just its results, reads and writes them once more; compilers and the
library itself can do that before the product writes. Counted where one takes at least a tenth of its product. Priced as
half to all of their time; in compiled code as a bound, since products of the compiler are often slower. Silent below
2 % of the step and without shapes; results that others read as well stay.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local ns = math.min(p.fact["epilogue.ns"], p.fact["part.compute_ns"], step_ns)
    if p.fact["epilogue.count"] == 0 or ns < cfg.min_share * step_ns then return nil end
    -- What Inductor made stands beside a library's product unless it may write the product, too.
    local is_compiled = p.fact["epilogue.op"]:match("^triton_") ~= nil
    return finding {
      title = ("Elementwise passes right behind products take %s of each step"):format(fmt.ms(ns)),
      subject = { kernel = p.fact["epilogue.product"], op = p.fact["epilogue.op"] },
      evidence = { { "elementwise kernels right behind products, a step", ns, "ns", share = ns / step_ns },
                   { "how many", p.fact["epilogue.count"], "count" },
                   { "those products a step", p.fact["epilogue.product_ns"], "ns" } },
      condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = is_compiled
        and { text = "Let the compiler try products of its own, which write the activation along; it keeps the "
                .. "library's where those are faster.",
              code = "model = torch.compile(model, mode='max-autotune')" }
        or { text = "Compile the model, or give the bias and activation to the product.",
             code = "model = torch.compile(model)" },
      impact = is_compiled and impact.share { ns = ns } or impact.exposed { ns = ns },
      claims = { { parts = { "compute" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a tenth of the step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["part.compute_ns"] = 9e6, ["epilogue.count"] = 96,
                ["epilogue.ns"] = 1e6, ["epilogue.product_ns"] = 4e6, ["epilogue.product"] = "ampere_sgemm",
                ["epilogue.op"] = "aten::gelu" } },
    { name = "in compiled code", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["part.compute_ns"] = 9e6, ["epilogue.count"] = 96,
                ["epilogue.ns"] = 1e6, ["epilogue.product_ns"] = 4e6, ["epilogue.product"] = "nvjet_sm90",
                ["epilogue.op"] = "triton_poi_fused_gelu_view_2" } },
    { name = "fused", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["part.compute_ns"] = 9e6, ["epilogue.count"] = 0,
                ["epilogue.ns"] = 0, ["epilogue.product_ns"] = 0 } },
  },
}
