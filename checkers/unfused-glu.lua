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
A sigmoid and a product or two each read and write the whole tensor. Priced as a part of it. Silent for small tensors
and below min_share.]],

  check = function(p, cfg)
    local step_ns, rows = p.fact["step.ns"], p:table("eager_idioms"):where { idiom = { like = "^(glu)$" } }
    local ns, low_ns, high_ns, count, calls, biggest = 0, 0, 0, 0, 0, nil
    for row in rows:each() do
      if row.elements >= cfg.min_elements then
        local low, high = 0.2 * row.ns, row.ns - 0.5 * row.longest_ns
        ns, low_ns, high_ns = ns + row.ns, low_ns + math.max(low, 0), high_ns + math.max(high, 0)
        count, calls = count + row.count, calls + row.calls
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or ns < cfg.min_share * step_ns then return nil end

    return finding {
      title = ("Gates by hand takes %s a step in %s calls"):format(fmt.ms(ns), fmt.count(math.floor(calls + 0.5))),
      subject = { op = biggest.first_op },
      locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                   { "times a step", count, "count" },
                   { "calls of ops in it a step", calls, "count" },
                   { "shapes", biggest.shapes or "unknown" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Use the framework's gate and compile the rest with it.",
          code = "y = F.silu(a) * b   # or F.glu(x), inside torch.compile" },
      impact = impact.exposed { ns = ns, low = low_ns, high = high_ns },
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
