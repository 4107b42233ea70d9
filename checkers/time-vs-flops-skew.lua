-- An op type takes much time for little arithmetic.
return rule {
  id = "time-vs-flops-skew", api = 1, version = "1.0.0",
  title = "A type of op takes much time for little arithmetic",
  category = "model", severity = "info",
  formats = { "profile", "graph", "kineto" },
  needs = { "step.ns", "flops.per_step", "flops.known_share", "roofline" },
  tags = { "model", "roofline" },
  params = {
    min_time = { default = 0.20, min = 0, max = 1, unit = "share", doc = "of the computing time" },
    max_flops = { default = 0.02, min = 0, max = 1, unit = "share", doc = "of the operations" },
    min_known = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of the computing time, with known operations" },
  },
  doc = [[
Such ops move bytes or wait for launches: their arithmetic is not the problem. A fact without a price,
for ops of known operations alone. Silent where most operations are unknown.]],

  check = function(p, cfg)
    local all = p.fact["flops.per_step"]
    if all <= 0 or p.fact["flops.known_share"] < cfg.min_known then return nil end
    local types = p:table("roofline"):where { flops = { min = 1 }, share = { min = 0 } }
    local flops_of = {}
    for _, group in ipairs(types:group("type", "flops")) do flops_of[group.key] = group.sum end
    local top = types:group("type", "share")[1]
    for _, group in ipairs(types:group("type", "share")) do
      if group.sum >= cfg.min_time and flops_of[group.key] / all < cfg.max_flops then
        return finding {
          title = ("%s takes %s of computing but does %s of the operations"):format(
            group.key, fmt.pct(math.min(1, group.sum)), fmt.pct(flops_of[group.key] / all)),
          subject = { op = group.key },
          evidence = { { "of the computing time", math.min(1, group.sum), "share" },
                       { "its operations a step", flops_of[group.key], "flops" },
                       { "all known operations a step", all, "flops" }, { "most time", top.key } },
          condition = ("%s of the time, %s of the operations"):format(
            fmt.pct(math.min(1, group.sum)), fmt.pct(flops_of[group.key] / all)),
          remedy = { text = "Fuse it with its neighbours, or call it less often on more." },
          impact = impact.none(),
          confidence = "medium",
        }
      end
    end
    return nil
  end,

  examples = {
    { name = "elementwise", finding = true,
      facts = { ["step.ns"] = 1e7, ["flops.per_step"] = 1e9, ["flops.known_share"] = 0.9 },
      tables = { roofline = { { type = "MatMul", flops = 9.9e8, share = 0.5 },
                              { type = "Mul", flops = 1e7, share = 0.4 } } } },
    { name = "as it should be", finding = false,
      facts = { ["step.ns"] = 1e7, ["flops.per_step"] = 1e9, ["flops.known_share"] = 0.9 },
      tables = { roofline = { { type = "MatMul", flops = 9.9e8, share = 0.8 },
                              { type = "Mul", flops = 1e7, share = 0.1 } } } },
  },
}
