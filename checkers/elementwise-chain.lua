-- Several elementwise ops in a row pass over the same values.
return rule {
  id = "elementwise-chain", api = 1, version = "1.0.0",
  title = "Elementwise ops pass over the same values one after the other",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.median_ns", "eager_idioms" },
  cause = "formula.chain", tags = { "ops" },
  more_specific_than = { "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op", "python-in-step" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_elements = { default = 16384, min = 1, max = 1e12, unit = "count",
      doc = "elements of the tensors; smaller ones stay in the nearest cache" },
    low_outer = { default = 0.7, min = 0, max = 1, unit = "ratio",
      doc = "part of sums over all pairs that a product of matrices saves, at least" },
    high_outer = { default = 0.95, min = 0, max = 1, unit = "ratio", doc = "at most" },
  },
  doc = [[
Each op reads and writes the whole tensor; compiled together they read it once. Priced as a part to all of what is not the
longest op of each chain. Pairs of rows combined in one large tensor and summed at once are a product or a distance of
matrices, which never makes that tensor: priced as most of it. Silent for small tensors, for chains that a better rule names and below min_share.]],

  check = function(p, cfg)
    local step_ns, rows = p.fact["step.median_ns"],
        p:table("eager_idioms"):where { idiom = { like = "^(chain|softmax|dropout|outer)$" } }
    local ns, low_ns, high_ns, count, calls, biggest = 0, 0, 0, 0, 0, nil
    for row in rows:each() do
      if row.elements >= cfg.min_elements then
        local low, high = 0.4 * (row.ns - row.longest_ns), row.ns - row.longest_ns
        -- A product or a distance of matrices never makes the large tensor.
        if row.idiom == "outer" then low, high = cfg.low_outer * row.ns, cfg.high_outer * row.ns end
        ns, low_ns, high_ns = ns + row.ns, low_ns + math.max(low, 0), high_ns + math.max(high, 0)
        count, calls = count + row.count, calls + row.calls
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or ns < cfg.min_share * step_ns then return nil end

    return finding {
      title = (biggest.idiom == "outer" and "Tensors of all pairs that are summed at once take %s a step in %s calls" or
          "Chains of elementwise ops take %s a step in %s calls"):format(fmt.ms(ns), fmt.count(math.floor(calls + 0.5))),
      subject = { op = biggest.first_op },
      locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                   { "times a step", count, "count" },
                   { "calls of ops in it a step", calls, "count" },
                   { "shapes", biggest.shapes or "unknown" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = biggest.idiom == "outer" and
          { text = "Multiply the matrices, or take their distances with one op.",
            code = "s = q @ k.transpose(-1, -2)   # or torch.cdist(a, b)" } or
          biggest.idiom == "dropout" and { text = "Use the framework's dropout.", code = "y = F.dropout(x, 0.5)" } or
          { text = "Compile the function that holds them, or use one fused op for them.",
            code = "fn = torch.compile(fn)" },
      impact = impact.exposed { ns = ns, low = low_ns, high = high_ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 2.8e7,
        facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "chain", first_op = "aten::mul", ns = 5e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 1e7, last_dim = 512, elements = 200000.0 } } } },
    { name = "all pairs", framework = "pytorch", finding = true, impact_ns = 4.1e7,
        facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "outer", first_op = "aten::mul", ns = 5e7, count = 1, calls = 2,
          product_ns = 0, pivot_ns = 0, longest_ns = 4e7, last_dim = 64, elements = 65536 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "chain", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 2e5, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.median_ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
