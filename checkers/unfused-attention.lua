-- Attention is spelled out in products, a softmax and what lies between.
return rule {
  id = "unfused-attention", api = 1, version = "1.0.0",
  title = "Attention is spelled out",
  category = "kernels", severity = "error",
  formats = { "kineto" },
  needs = { "step.median_ns", "eager_idioms" },
  cause = "formula.attention", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
      "python-in-step" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_keys = { default = 128, min = 1, max = 1e7, unit = "count",
      doc = "keys a query meets, below which fusing gains little" },
    kept_high = { default = 0.6, min = 0, max = 1, unit = "share",
      doc = "time of the products that the fused form keeps at best" },
  },
  doc = [[
Scores of every query with every key are written, scaled, masked, normalised and read again. A fused form works block by
block and keeps them in cache. Priced as all but the products, and as a part of the products too. Silent for short
sequences, where the scores fit in cache anyway, and where a fused form is used.]],

  check = function(p, cfg)
    local step_ns, rows = p.fact["step.median_ns"],
        p:table("eager_idioms"):where { idiom = { like = "^(attention)$" } }
    local ns, low_ns, high_ns, count, calls, biggest = 0, 0, 0, 0, 0, nil
    for row in rows:each() do
      if row.last_dim >= cfg.min_keys then
        local low, high = row.ns - row.product_ns, row.ns - cfg.kept_high * row.product_ns
        ns, low_ns, high_ns = ns + row.ns, low_ns + math.max(low, 0), high_ns + math.max(high, 0)
        count, calls = count + row.count, calls + row.calls
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or ns < cfg.min_share * step_ns then return nil end

    return finding {
      title = ("Attention by hand takes %s a step in %s calls"):format(fmt.ms(ns),
          fmt.count(math.floor(calls + 0.5))),
      subject = { op = biggest.first_op },
      locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                   { "times a step", count, "count" },
                   { "calls of ops in it a step", calls, "count" },
                   { "shapes", biggest.shapes or "unknown" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Let the framework's fused attention do it: it never stores the scores.",
          code = "y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)" },
      impact = impact.exposed { ns = ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 3.4e7,
        facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "attention", first_op = "aten::mul", ns = 5e7, count = 8, calls = 64,
          product_ns = 2e7, pivot_ns = 1e7, longest_ns = 0, last_dim = 640, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "attention", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 4e5, pivot_ns = 0, longest_ns = 0, last_dim = 640, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
