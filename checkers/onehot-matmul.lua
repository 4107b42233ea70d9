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
    local step_ns, rows = p.fact["step.ns"],
        p:table("eager_idioms"):where { idiom = { like = "^(onehot-product)$" } }
    local ns, low_ns, high_ns, count, calls, biggest = 0, 0, 0, 0, 0, nil
    for row in rows:each() do
      if row.last_dim >= 0 then
        local low, high = 0.7 * row.ns, 0.98 * row.ns
        ns, low_ns, high_ns = ns + row.ns, low_ns + math.max(low, 0), high_ns + math.max(high, 0)
        count, calls = count + row.count, calls + row.calls
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or ns < cfg.min_share * step_ns then return nil end

    return finding {
      title = ("A one-hot product takes %s a step in %s calls"):format(fmt.ms(ns),
          fmt.count(math.floor(calls + 0.5))),
      subject = { op = biggest.first_op },
      locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                   { "times a step", count, "count" },
                   { "calls of ops in it a step", calls, "count" },
                   { "shapes", biggest.shapes or "unknown" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Look the rows up instead of multiplying with zeros.",
          code = "y = F.embedding(ids, weight)   # instead of F.one_hot(ids).float() @ weight" },
      impact = impact.exposed { ns = ns, low = low_ns, high = high_ns },
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
