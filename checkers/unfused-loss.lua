-- Cross-entropy is spelled out in softmax, logarithm, product and sum.
return rule {
  id = "unfused-loss", api = 1, version = "1.0.0",
  title = "Cross-entropy is spelled out",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "eager_idioms" },
  cause = "formula.loss", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_classes = { default = 64, min = 2, max = 1e9, unit = "count",
      doc = "classes, below which it costs little" },
  },
  doc = [[
The probabilities, their logarithm, the one-hot targets and their product are as large as the logits, are written and
read one after the other, and all over again in the backward pass. The fused loss makes one of them. Priced as what is
not the softmax and its gradient. Silent with few classes and below min_share.]],

  check = function(p, cfg)
    return p:spelled_out {
      idiom = "loss", min_share = cfg.min_share, title = "Cross-entropy by hand takes",
      price = function(row)
        if p:is_large(row, row.last_dim, cfg.min_classes) then
          return 0.7 * (row.ns - row.pivot_ns), row.ns - row.pivot_ns
        end
      end,
      remedy = { text = "Give the logits and the class numbers to the fused loss; it needs no one-hot targets.",
          code = "loss = F.cross_entropy(logits, targets)" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 3.4e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "loss", first_op = "aten::mul", ns = 5e7, count = 1, calls = 9,
          product_ns = 0, pivot_ns = 1e7, longest_ns = 0, last_dim = 12000, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "loss", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 4e5, longest_ns = 0, last_dim = 12000, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
