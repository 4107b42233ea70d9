-- A normalisation is spelled out in elementwise ops.
return rule {
  id = "unfused-norm", api = 1, version = "1.0.0",
  title = "A normalisation is spelled out",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "eager_idioms" },
  cause = "formula.norm", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_elements = { default = 1024, min = 1, max = 1e12, unit = "count",
      doc = "elements of the normalised tensor" },
  },
  doc = [[
Mean, difference, square, mean, root, quotient, scale and shift each read and write the whole tensor. One op does it
in two passes. Priced as half of it, at best all but half of its longest op. On an accelerator, whose memory holds
each pass, priced as all but about one of them, with all other formulas that compiling mends as well; those whose
own take less are facts then. Silent below min_share.]],

  check = function(p, cfg)
    return p:spelled_out {
      passes = "norm", idiom = "norm", min_share = cfg.min_share, title = "Normalisation by hand takes",
      price = function(row)
        if p:is_large(row, row.elements, cfg.min_elements) then return 0.5 * row.ns, row.ns - 0.5 * row.longest_ns end
      end,
      remedy = { text = "Use the framework's normalisation: one pass instead of ten.",
          code = "y = F.layer_norm(x, x.shape[-1:], weight, bias)   # or F.rms_norm, F.normalize" },
      confidence = "medium",
    }
  end,

  examples = {
    -- 10 passes of 40 ms save 34 to 38 ms, 9 of 27 ms of a GELU beside them 22.5 to 25.5.
    { name = "more than a GELU beside it", framework = "pytorch", format = "kineto", finding = true, impact_ns = 6e7,
        facts = { ["step.ns"] = 1e8, ["device.idle_share"] = 0.1 },
      tables = { eager_idioms = { { idiom = "gelu-tanh", first_op = "aten::mul", ns = 2.7e7, count = 4, calls = 36,
          product_ns = 0, pivot_ns = 1e6, longest_ns = 3e6, last_dim = 512, elements = 200000.0 },
        { idiom = "norm", first_op = "aten::mean", ns = 4e7, count = 4, calls = 40,
          product_ns = 0, pivot_ns = 1e6, longest_ns = 4e6, last_dim = 512, elements = 200000.0 } } } },
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 1.25e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "norm", first_op = "aten::mul", ns = 2e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 1e5, longest_ns = 1e7, last_dim = 512, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "norm", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
