-- One variable holds a large part of the parameters.
local SLOT = "/(Adam(_1)?|Adagrad|Momentum|RMSProp(_1)?|Ftrl(_1)?|ExponentialMovingAverage)$"

-- What a layer takes that holds nearly all weights: its update, and the products with it.
local function of_layer(p, cfg)
  local weights, top = 0, nil
  for row in p:table("parameters"):each() do
    if not row.variable:find(SLOT) then
      weights = weights + row.count
      if not top or row.count > top.count then top = row end
    end
  end
  if not top or top.count < cfg.min_layer * weights then return nil end
  local update_ns, product_ns = 0, 0
  for row in p:table("ops"):each() do
    if row.name:find("(^|/)update_\\Q" .. top.variable .. "\\E/") and row.type:find("^(Resource)?Apply") then
      update_ns = update_ns + row.self_ns
    elseif p:class_of(row.type or "") == "product" then
      for rows, columns in (row.shapes or ""):gmatch("\\[([0-9]+),([0-9]+)\\]") do
        if tonumber(rows) * tonumber(columns) == top.count then
          product_ns = product_ns + row.self_ns
          break
        end
      end
    end
  end
  return top, update_ns, product_ns
end

return rule {
  id = "params-concentrated", api = 1, version = "1.0.0",
  title = "One variable holds a large part of the parameters",
  category = "model", severity = "info",
  formats = { "profile", "graph" },
  needs = { "parameters.total", "parameters" },
  tags = { "model", "parameters" },
  params = {
    min_layer = { default = 0.9, min = 0, max = 1, unit = "share",
                  doc = "of all weights, those of a layer whose time is told" },
    min_layer_time = { default = 0.3, min = 0, max = 1, unit = "share",
                       doc = "of the step, what its products and its update take" },
    min_share = { default = 0.30, min = 0, max = 1, unit = "share", doc = "of all parameters, those of one variable" },
    min_count = { default = 1e6, min = 0, max = 1e15, unit = "count",
                  doc = "parameters from which it is worth a line" },
  },
  doc = [[
Often an embedding or the last layer: it can be sharded, tied or factored. Slots of optimisers count as
variables of their own. A fact without a price; where one layer holds nearly all weights, and its update and the
products with it are a large part of the step, their time is a bound. Silent for small models.]],

  check = function(p, cfg)
    local total, top = p.fact["parameters.total"], p:table("parameters"):top("count", 1):rows()[1]
    if not top or total < cfg.min_count or top.count / total < cfg.min_share then return nil end
    local layer, update_ns, product_ns
    if p:has("ops") and p:has("step.ns") then layer, update_ns, product_ns = of_layer(p, cfg) end
    if layer and update_ns > 0 and update_ns + product_ns >= cfg.min_layer_time * p.fact["step.ns"] then
      local ns = math.min(update_ns + product_ns, p.fact["step.ns"])
      return finding {
        title = ("%s holds nearly all weights, and its update and products take %s a step"):format(layer.variable,
          fmt.ms(ns)),
        subject = { op = layer.variable },
        evidence = { { "weights of it", layer.count, "count" },
                     { "its update", update_ns, "ns", share = math.min(1, update_ns / p.fact["step.ns"]) },
                     { "products with it", product_ns, "ns", share = math.min(1, product_ns / p.fact["step.ns"]) } },
        condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / p.fact["step.ns"]),
          fmt.pct(cfg.min_layer_time)),
        remedy = { text = "Make what comes into the layer smaller: pool a map before a dense layer instead of "
                     .. "flattening it, or put a narrow layer between.",
                   code = "h = tf.reduce_mean(h, [1, 2])   # instead of tf.reshape(h, [batch, -1])" },
        impact = impact.share { ns = ns },
        confidence = "low",
      }
    end
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
    -- Nearly all weights: 7 ms of its update and 6 ms of a product are 13 of 17; the small product is another layer's.
    { name = "a dense layer behind a flattened map", finding = true, impact_ns = 1.3e7,
      facts = { ["parameters.total"] = 9.45e6, ["step.ns"] = 1.7e7 },
      tables = { parameters = { { variable = "fc", count = 3145728, share = 0.33 },
                                { variable = "fc/Adam", count = 3145728, share = 0.33 },
                                { variable = "fc/Adam_1", count = 3145728, share = 0.33 },
                                { variable = "k2", count = 4608, share = 0.001 } },
                 ops = { { name = "Adam/update_fc/ResourceApplyAdam", type = "ResourceApplyAdam", self_ns = 7e6 },
                         { name = "MatMul", type = "MatMul", self_ns = 6e6, shapes = "[16,8192]x[8192,384]->[16,384]" },
                         { name = "MatMul_1", type = "MatMul", self_ns = 1e6,
                           shapes = "[16,384]x[384,6]->[16,6]" } } } },
    { name = "a small model", finding = false, facts = { ["parameters.total"] = 7850 },
      tables = { parameters = { { variable = "w", count = 7840, share = 0.99 } } } },
  },
}
