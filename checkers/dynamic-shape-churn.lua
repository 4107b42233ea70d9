-- One op sees many shapes, and something was made anew for them.
return rule {
  id = "dynamic-shape-churn", api = 1, version = "1.0.0",
  title = "An op sees many shapes, and work is done anew for them",
  category = "compile", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "coverage.has_shapes", "ops", "activities", "compile.steps_share" },
  cause = "compile", tags = { "compile", "shapes" },
  params = {
    min_shapes = { default = 10, min = 2, max = 1e6, unit = "count",
                   doc = "different operands of one product, convolution or attention" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share",
                        doc = "of the steps, those that compile, allocate on the device or try algorithms" },
  },
  doc = [[
Shapes that change from step to step are harmless until something is made for each of them: a program is compiled, the
allocator asks the driver, a library tries its algorithms. Looks at products, convolutions and attention. Without a
price: what was made anew has one of its own. Silent where nothing of that happens.]],

  check = function(p, cfg)
    if not p.fact["coverage.has_shapes"] or p.fact["step.used"] < 2 then return nil end
    local counts, most, name = {}, 0, nil
    for row in p:table("ops"):where { type = { class = "product|convolution|attention" } }:each() do
      if row.shapes and row.shapes ~= "" then
        local seen = counts[row.type] or { n = 0 }
        counts[row.type] = seen
        if not seen[row.shapes] then
          seen[row.shapes], seen.n = true, seen.n + 1
        end
        if seen.n > most then most, name = seen.n, row.type end
      end
    end
    if most < cfg.min_shapes then return nil end
    local activities, what, share = p:table("activities"), "compiling or tracing", p.fact["compile.steps_share"]
    local allocs =
      activities:where { name = { like = "^(cuda|hip)Malloc(Async)?$|^cu(MemAlloc|MemCreate)" } }:max("steps_share")
        or 0
    local trials = activities:where { name = { like = p:names("tries_algorithms") } }:max("steps_share") or 0
    if allocs > share then what, share = "allocating on the device", allocs end
    if trials > share then what, share = "trying algorithms", trials end
    if share < cfg.min_steps_share then return nil end
    return finding {
      title = ("%s saw %s shapes, and %s goes on"):format(name, fmt.count(most), what),
      subject = { op = name },
      evidence = { { "different operands of " .. name, most, "count" },
                   { "of the steps, those with " .. what, share, "share" } },
      condition = ("%s shapes, %s accepted, and %s in %s of the steps, %s accepted"):format(
        fmt.count(most), fmt.count(cfg.min_shapes), what, fmt.pct(share), fmt.pct(cfg.min_steps_share)),
      remedy = { text = "Pad lengths to a few buckets, or tell the compiler which dimension varies.",
                 code = p.framework == "pytorch"
                   and "torch._dynamo.mark_dynamic(x, 1)   # or: pad to the next of (128, 256, 512)"
                        or "length = next(b for b in (128, 256, 512) if b >= x.shape[1])" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "ten shapes, and compiling", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["coverage.has_shapes"] = true, ["compile.steps_share"] = 0.8 },
      tables = { activities = {}, ops = { { type = "aten::mm", shapes = "[1, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[2, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[3, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[4, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[5, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[6, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[7, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[8, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[9, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[10, 2] [2, 3]" } } } },
    { name = "many shapes without harm", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["coverage.has_shapes"] = true, ["compile.steps_share"] = 0 },
      tables = { activities = {}, ops = { { type = "aten::mm", shapes = "[1, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[2, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[3, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[4, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[5, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[6, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[7, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[8, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[9, 2] [2, 3]" },
                                          { type = "aten::mm", shapes = "[10, 2] [2, 3]" } } } },
  },
}
