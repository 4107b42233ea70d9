-- An op leaves much memory behind.
return rule {
  id = "residual-bytes-high", api = 1, version = "1.0.0",
  title = "An op leaves much memory behind",
  category = "memory", severity = "info",
  formats = { "profile", "graph" },
  needs = { "memory.residual_bytes", "memory.residual_op", "memory_owners" },
  tags = { "memory" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "of what all ops leave behind" },
    min_bytes = { default = 67108864, min = 0, max = 1e15, unit = "bytes", doc = "bytes of one op" },
  },
  doc = [[
Memory that an op still holds after it ran is kept for the backward pass, or forgotten. A fact without
a price. Silent for small programs, and for variables.]],

  check = function(p, cfg)
    local owners = p:table("memory_owners"):where { residual_bytes = { min = 1 } }
    local all = owners:sum("residual_bytes")
    for _, row in ipairs(owners:top("residual_bytes", 10):rows()) do
      if (row.persistent_bytes or 0) < row.residual_bytes then
        if row.residual_bytes < cfg.min_bytes or row.residual_bytes < cfg.min_share * all then return nil end
        return finding {
          title = ("%s still holds %s after it ran"):format(row.owner, fmt.bytes(row.residual_bytes)),
          subject = { op = row.owner },
          evidence = { { "left behind by it", row.residual_bytes, "bytes" },
                       { "asked for by it", row.requested_bytes or 0, "bytes" },
                       { "left behind by all ops", all, "bytes" } },
          condition = ("%s of what ops leave behind, %s worth a line"):format(
            fmt.pct(row.residual_bytes / all), fmt.pct(cfg.min_share)),
          remedy = { text = "Recompute it in the backward pass, or drop references to it.",
                     code = "y = tf.recompute_grad(block)(x)" },
          impact = impact.none(),
          confidence = "medium",
        }
      end
    end
    return nil
  end,

  examples = {
    { name = "an activation", framework = "tensorflow", format = "profile", finding = true,
      facts = { ["memory.residual_bytes"] = 5e8, ["memory.residual_op"] = "block/conv" },
      tables = { memory_owners = { { owner = "block/conv", residual_bytes = 5e8, requested_bytes = 5e8 },
                                   { owner = "w", residual_bytes = 4e8, persistent_bytes = 4e8 } } } },
    { name = "small", format = "profile", finding = false,
      facts = { ["memory.residual_bytes"] = 3e5, ["memory.residual_op"] = "MatMul" },
      tables = { memory_owners = { { owner = "MatMul", residual_bytes = 3e5 } } } },
  },
}
