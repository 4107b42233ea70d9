-- Attention is spelled out in products, a softmax and what lies between.
return rule {
  id = "unfused-attention", api = 1, version = "1.0.0",
  title = "Attention is spelled out",
  category = "kernels", severity = "error",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "formula.attention", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
                         "roofline-gap", "low-occupancy-latency" },
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
block and keeps them in cache. Priced as all but the products, and as a part of the products too; in compiled programs
on devices whose peak is known as all but what the products take at the rate of fused attention. Silent for short
sequences, where the scores fit in cache anyway, and where a fused form is used.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local idioms, scores = p:table("eager_idioms"), p:table("score_products")
    if not idioms and not scores then
      return skip { reason = "neither calls of ops nor a compiled program with shapes are recorded",
        capture = "PyTorch: record_shapes=True; XLA: keep the HLO protos of the trace" }
    end
    local ns, low_ns, high_ns, count, calls, biggest = 0, 0, 0, 0, 0, nil
    local beside_ns = 0
    local function add(row, row_count, row_calls)
      ns, beside_ns = ns + row.ns, beside_ns + math.max(row.ns - row.product_ns, 0)
      -- Where the device's rate is known, that of the fused form is, too: a mask that is a triangle spares it half.
      local low_kept, high_kept = row.product_ns, cfg.kept_high * row.product_ns
      if row.fused_ns then
        low_kept, high_kept = math.min(low_kept, 2 * row.fused_ns), math.min(high_kept, 0.5 * row.fused_ns)
      end
      low_ns, high_ns = low_ns + math.max(row.ns - low_kept, 0), high_ns + math.max(row.ns - high_kept, 0)
      count, calls = count + row_count, calls + row_calls
      if not biggest or row.ns > biggest.ns then biggest = row end
    end
    if idioms then
      for row in idioms:where { idiom = "attention" }:each() do
        if p:is_large(row, row.last_dim, cfg.min_keys) then add(row, row.count, row.calls) end
      end
    end
    if scores then
      for row in scores:each() do if row.keys >= cfg.min_keys then add(row, 1, 0) end end
    end
    if not biggest or ns < cfg.min_share * step_ns then return nil end

    local evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                       { "of that, all but its products", beside_ns, "ns" },
                       { calls > 0 and "times a step" or "products that write scores", count, "count" },
                       { "shapes", biggest.shapes or "unknown" } }
    if calls > 0 then table.insert(evidence, 3, { "calls of ops in it a step", calls, "count" }) end
    local codes = {
      pytorch = "y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)",
      jax = 'y = jax.nn.dot_product_attention(q, k, v, mask=mask, implementation="cudnn")',
      tensorflow = "keras.config.enable_flash_attention()  # for MultiHeadAttention",
    }
    return finding {
      title = calls > 0 and ("Attention by hand takes %s a step in %s calls"):format(fmt.ms(ns), fmt.whole(calls))
          or ("Attention that stores its scores takes %s a step"):format(fmt.ms(ns)),
      subject = { op = biggest.first_op or biggest.op },
      locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = evidence,
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Let the framework's fused attention do it: it never stores the scores."
                   .. (p.framework == "pytorch" and " nn.MultiheadAttention does with need_weights=False." or ""),
          code = codes[p.framework] or codes.pytorch },
      impact = impact.exposed { ns = ns, low = low_ns, high = high_ns },
      claims = scores and { { parts = { "compute" } } } or nil,
      confidence = "medium",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 3.4e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "attention", first_op = "aten::mul", ns = 5e7, count = 8, calls = 64,
          product_ns = 2e7, pivot_ns = 1e7, longest_ns = 0, last_dim = 640, elements = 200000.0 } } } },
    { name = "without shapes, on a few numbers", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e6 },
      tables = { eager_idioms = { { idiom = "attention", first_op = "aten::mul", ns = 5e5, count = 8, calls = 64,
          product_ns = 2e5, pivot_ns = 1e5, longest_ns = 1e5, last_dim = 0, elements = 0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "attention", first_op = "aten::mul", ns = 2e6, count = 8, calls = 64,
          product_ns = 8e5, pivot_ns = 0, longest_ns = 0, last_dim = 640, elements = 200000.0 } } } },
    { name = "scores stored by a compiled program", format = "xspace", framework = "jax", finding = true,
      impact_ns = 4e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { score_products = { { op = "dot.1", ns = 3e6, product_ns = 1e6, keys = 2048, elements = 1e8 },
          { op = "dot.5", ns = 3e6, product_ns = 1e6, keys = 2048, elements = 1e8 } } } },
    -- 6 ms less twice and half of 0.4 ms: 5.2 to 5.8.
    { name = "scores on a device of known rate", format = "xspace", framework = "jax", finding = true,
      impact_ns = 5.5e6, facts = { ["step.ns"] = 1e7 },
      tables = { score_products = { { op = "dot.1", ns = 6e6, product_ns = 3e6, fused_ns = 4e5, keys = 2048,
          elements = 1e8 } } } },
    { name = "few keys", format = "xspace", framework = "jax", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { score_products = { { op = "dot.1", ns = 6e6, product_ns = 1e6, keys = 64, elements = 1e6 } } } },
    { name = "nothing to look at", format = "xspace", skipped = true, facts = { ["step.ns"] = 1e7 } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
