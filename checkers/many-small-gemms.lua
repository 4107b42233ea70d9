-- The same small product or update runs over and over within a step.
return rule {
  id = "many-small-gemms", api = 1, version = "1.0.0",
  title = "The same small product runs many times a step",
  category = "kernels", severity = "warn",
  formats = { "xspace", "kineto", "graph" },
  needs = { "step.median_ns", "ops" },
  cause = "compute.gemm", tags = { "kernels" },
  more_specific_than = { "hot-op", "roofline-gap", "tiny-ops" },
  params = {
    min_calls = { default = 64, min = 2, max = 1e7, unit = "count", doc = "runs a step of one op with one shape" },
    max_intensity = { default = 2, min = 0, max = 1e3, unit = "ratio",
                      doc = "operations for each byte: less is bound by memory" },
    max_flops = { default = 20e6, min = 0, max = 1e15, unit = "flops", doc = "operations a run that count as small" },
    min_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share of the time of all ops" },
    kept = { default = 0.15, min = 0, max = 1, unit = "ratio", doc = "part of the time that one product needs" },
  },
  doc = [[
A loop of products with a small inner dimension reads and writes its result in every turn. One product
over all turns reads the operands once. An op counts when it runs often with one shape, is a product
or an accumulation into its own shape, and does few operations for each byte. Priced as its time, of
which one large product keeps a seventh. Silent for few runs and small shares.]],

  check = function(p, cfg)
    local ops = p:table("ops")
    local all_ns = ops:sum("self_ns")
    local best
    for _, row in ipairs(ops:where { calls = { min = cfg.min_calls } }:top("self_ns", 10):rows()) do
      local flops, bytes = row.flops or 0, row.bytes or 0
      local shapes = row.shapes or ""
      local is_product = (row.type or ""):find("(?i)dot|matmul|gemm|conv|aten::(mm|bmm|addmm|linear)")
      -- Accumulating outer products: the result has the shape of an operand with two dimensions.
      local result = shapes:match("->(\\[[0-9]+,[0-9]+\\])$")
      local accumulates = result and shapes:find("^\\Q" .. result .. "\\Ex") and shapes:find("x.*->")
      if flops > 0 and bytes > 0 and flops <= cfg.max_flops and flops / bytes <= cfg.max_intensity and
         (is_product or accumulates) and row.self_ns / all_ns >= cfg.min_share then
        best = best or row
      end
    end
    if not best then return nil end
    local step_ns = p.fact["step.median_ns"]
    local locations = {}
    if best.source_file and best.source_file ~= "" then
      locations[1] = { file = best.source_file, line = best.source_line }
    end
    return finding {
      title = ("%s runs %s times a step on %s operations each"):format(best.name,
        fmt.count(math.floor(best.calls + 0.5)), fmt.count(best.flops)),
      subject = { op = best.name }, locations = locations,
      evidence = { { "its time a step", best.self_ns, "ns", share = math.min(best.self_ns / step_ns, 1) },
                   { "runs a step", best.calls, "count" }, { "operations a run", best.flops, "flops" },
                   { "bytes a run", best.bytes, "bytes" }, { "shapes", best.shapes } },
      condition = ("%s runs a step, %s accepted; %.2f operations a byte, %.0f accepted"):format(
        fmt.count(best.calls), fmt.count(cfg.min_calls), best.flops / best.bytes, cfg.max_intensity),
      remedy = { text = "Do all turns as one product: stack the operands and contract over the loop's dimension.",
                 code = p.framework == "jax" and "w = w + jnp.einsum('ki,kj->ij', a, b)   # instead of a scan of outer products" or
                        p.framework == "pytorch" and "w += a.T @ b   # or torch.bmm over the stacked operands" or "w += tf.einsum('ki,kj->ij', a, b)" },
      impact = impact.replay { { "scale", name = "\\Q" .. best.name:gsub(",", ".") .. "\\E(:.*)?", factor = cfg.kept },
                               fallback = impact.share { ns = best.self_ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a scan of outer products", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { name = "multiply_add_fusion", type = "fusion", calls = 256, flops = 1.18e6, bytes = 6.3e6,
                           shapes = "[768,768]x[256,768]x[]x[256,768]->[768,768]", self_ns = 9e6 } } } },
    { name = "large products", finding = false, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { name = "dot.1", type = "dot", calls = 100, flops = 1e9, bytes = 1e7,
                           shapes = "[512,1024]x[1024,1024]->[512,1024]", self_ns = 9e6 } } } },
  },
}
