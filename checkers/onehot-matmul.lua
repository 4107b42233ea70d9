-- A product with one-hot vectors stands for looking rows up.
return rule {
  id = "onehot-matmul", api = 1, version = "1.0.0",
  title = "A one-hot product stands for a lookup",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "eager_idioms" },
  cause = "formula.onehot-product", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
  },
  doc = [[
One-hot vectors are as wide as the table is long, nearly all of them zeros, and the product reads the whole table. A
lookup reads the rows it needs. Priced as nearly all of it. Silent below min_share.]],

  check = function(p, cfg)
    return p:spelled_out {
      idiom = "onehot-product", min_share = cfg.min_share, title = "A one-hot product takes",
      price = function(row)
        return 0.7 * row.ns, 0.98 * row.ns
      end,
      remedy = { text = "Look the rows up instead of multiplying with zeros.",
          code = "y = F.embedding(ids, weight)   # instead of F.one_hot(ids).float() @ weight" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 4.2e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "onehot-product", first_op = "aten::mul", ns = 5e7, count = 1, calls = 3,
          product_ns = 3e7, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "onehot-product", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
