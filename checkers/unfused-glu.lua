-- A gated unit is spelled out in elementwise ops.
return rule {
  id = "unfused-glu", api = 1, version = "1.0.0",
  title = "A gated unit is spelled out",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "eager_idioms" },
  cause = "formula.glu", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_elements = { default = 16384, min = 1, max = 1e12, unit = "count",
      doc = "elements of the tensor" },
  },
  doc = [[
A sigmoid and a product or two each read and write the whole tensor. Priced as a part of it. On an accelerator,
whose memory holds each pass, priced as all but about one of them, with all other formulas that compiling mends as
well; those whose own take less are facts then. Silent for small tensors and below min_share.]],

  check = function(p, cfg)
    return p:spelled_out {
      passes = "glu", idiom = "glu", min_share = cfg.min_share, title = "Gates by hand takes",
      price = function(row)
        if p:is_large(row, row.elements, cfg.min_elements) then return 0.2 * row.ns, row.ns - 0.5 * row.longest_ns end
      end,
      remedy = { text = "Use the framework's gate and compile the rest with it.",
          code = "y = F.silu(a) * b   # or F.glu(x), inside torch.compile" },
      confidence = "low",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 9e6,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "glu", first_op = "aten::mul", ns = 2e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 1e7, longest_ns = 1e7, last_dim = 512, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "glu", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
