-- One variable holds a large part of the parameters.
return rule {
  id = "params-concentrated", api = 1, version = "1.0.0",
  title = "One variable holds a large part of the parameters",
  category = "model", severity = "info",
  formats = { "profile", "graph" },
  needs = { "parameters.total", "parameters" },
  tags = { "model", "parameters" },
  params = {
    min_share = { default = 0.30, min = 0, max = 1, unit = "share", doc = "of all parameters, those of one variable" },
    min_count = { default = 1e6, min = 0, max = 1e15, unit = "count",
                  doc = "parameters from which it is worth a line" },
  },
  doc = [[
Often an embedding or the last layer: it can be sharded, tied or factored. Slots of optimisers count as
variables of their own. A fact without a price. Silent for small models.]],

  check = function(p, cfg)
    local total, top = p.fact["parameters.total"], p:table("parameters"):top("count", 1):rows()[1]
    if not top or total < cfg.min_count or top.count / total < cfg.min_share then return nil end
    return finding {
      title = ("%s holds %s of %s parameters"):format(top.variable, fmt.pct(top.count / total), fmt.count(total)),
      subject = { op = top.variable },
      evidence = { { "parameters of it", top.count, "count" }, { "of all", top.count / total, "share" },
                   { "all parameters", total, "count" } },
      condition = ("%s of the parameters, %s worth a line"):format(fmt.pct(top.count / total), fmt.pct(cfg.min_share)),
      remedy = { text = "Shard it over devices, tie input and output embeddings, or factor it." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "an embedding", finding = true, facts = { ["parameters.total"] = 1e8 },
      tables = { parameters = { { variable = "embedding", count = 6e7, share = 0.6 },
                                { variable = "dense", count = 4e6, share = 0.04 } } } },
    { name = "a small model", finding = false, facts = { ["parameters.total"] = 7850 },
      tables = { parameters = { { variable = "w", count = 7840, share = 0.99 } } } },
  },
}
