-- GELU is spelled out in elementwise ops.
return rule {
  id = "unfused-gelu", api = 1, version = "1.0.0",
  title = "GELU is spelled out",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "eager_idioms" },
  cause = "formula.gelu-tanh", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_elements = { default = 1024, min = 1, max = 1e12, unit = "count",
      doc = "elements of the tensor" },
  },
  doc = [[
Powers, products and a hyperbolic tangent or error function each read and write the whole tensor. One op does it in
one pass and still computes the tangent. Priced as half to all of what is not the tangent. On an accelerator, whose
memory holds each pass, priced as all but about one of them, with all other formulas that compiling mends as well;
those whose own take less are facts then. Silent below min_share.]],

  check = function(p, cfg)
    return p:spelled_out {
      passes = "gelu", idiom = { like = "^(gelu-tanh|gelu-erf)$" }, min_share = cfg.min_share,
      title = "GELU by hand takes",
      price = function(row)
        if p:is_large(row, row.elements, cfg.min_elements) then
          return 0.5 * (row.ns - row.pivot_ns), row.ns - row.pivot_ns
        end
      end,
      remedy = { text = "Use the framework's activation: one pass over the tensor.",
          code = "y = F.gelu(x, approximate='tanh')" },
      confidence = "medium",
    }
  end,

  examples = {
    -- 9 passes take 27 ms: all but 0.5 to 1.5 of them, 22.5 to 25.5 ms, are saved.
    { name = "on an accelerator", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2.4e7,
        facts = { ["step.ns"] = 1e8, ["device.idle_share"] = 0.1 },
      tables = { eager_idioms = { { idiom = "gelu-tanh", first_op = "aten::mul", ns = 2.7e7, count = 4, calls = 36,
          product_ns = 0, pivot_ns = 1e6, longest_ns = 3e6, last_dim = 512, elements = 200000.0 } } } },
    { name = "less than a norm beside it", framework = "pytorch", format = "kineto", finding = true, severity = "info",
        facts = { ["step.ns"] = 1e8, ["device.idle_share"] = 0.1 },
      tables = { eager_idioms = { { idiom = "gelu-tanh", first_op = "aten::mul", ns = 2.7e7, count = 4, calls = 36,
          product_ns = 0, pivot_ns = 1e6, longest_ns = 3e6, last_dim = 512, elements = 200000.0 },
        { idiom = "norm", first_op = "aten::mean", ns = 4e7, count = 4, calls = 40,
          product_ns = 0, pivot_ns = 1e6, longest_ns = 4e6, last_dim = 512, elements = 200000.0 } } } },
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 2.2e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "gelu-tanh", first_op = "aten::mul", ns = 4e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 1e7, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "gelu-tanh", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 4e5, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "without shapes", framework = "pytorch", finding = true, impact_ns = 2.2e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "gelu-tanh", first_op = "aten::mul", ns = 4e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 1e7, longest_ns = 1e7, last_dim = 0, elements = 0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
