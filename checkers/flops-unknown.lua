-- Much time is in ops whose operations are not known.
return rule {
  id = "flops-unknown", api = 1, version = "1.0.0",
  title = "Much time is in ops whose operations are not known",
  category = "model", severity = "info",
  formats = { "profile", "graph" },
  needs = { "step.ns", "flops.known_share", "roofline", "op_types" },
  tags = { "model" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "of the computing time, ops of unknown cost" },
    min_type = { default = 0.05, min = 0, max = 1, unit = "share", doc = "the type with most of it, over the step" },
  },
  doc = [[
Silent zeros mislead: sums of operations leave these ops out. Names the type with most time among
those that do arithmetic. A fact without a price.]],

  check = function(p, cfg)
    local unknown = 1 - p.fact["flops.known_share"]
    if unknown < cfg.min_share then return nil end
    local known = {}
    for row in p:table("roofline"):where { flops = { min = 1 } }:each() do known[row.type or ""] = true end
    local worst
    local costly = p:table("op_types"):where {
      type = { class = "product|convolution|attention|softmax|normalisation|pool|elementwise|activation|reduce|"
        .. "scatter|loss|cell" } }
    for _, row in ipairs(costly:top("self_ns", 20):rows()) do
      if not known[row.type] and not worst then worst = row end
    end
    if not worst or worst.self_ns < cfg.min_type * p.fact["step.ns"] then return nil end
    return finding {
      title = ("The operations of ops that take %s of computing are unknown, %s first"):format(
        fmt.pct(unknown), worst.type),
      subject = { op = worst.type },
      evidence = { { "computing time of unknown operations", unknown, "share" },
                   { worst.type .. ", self time a step", worst.self_ns, "ns" } },
      condition = ("%s unknown, %s accepted"):format(fmt.pct(unknown), fmt.pct(cfg.min_share)),
      remedy = { text = "Give shapes (run metadata), or register the type's cost before the graph is logged.",
                 code = ("from tensorflow.python.framework import ops\n@ops.RegisterStatistics(%q, 'flops')"):format(
                   worst.type) },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "batch norm", finding = true, facts = { ["step.ns"] = 1e7, ["flops.known_share"] = 0.6 },
      tables = { roofline = { { type = "Conv2D", flops = 1e9 } },
                 op_types = { { type = "Conv2D", self_ns = 5e6 }, { type = "FusedBatchNorm", self_ns = 3e6 } } } },
    { name = "known", finding = false, facts = { ["step.ns"] = 1e7, ["flops.known_share"] = 0.95 },
      tables = { roofline = { { type = "Conv2D", flops = 1e9 } }, op_types = { { type = "Conv2D", self_ns = 5e6 } } } },
  },
}
