-- One iteration runs several lazy graphs.
return rule {
  id = "torch-xla-mark-step-storm", api = 1, version = "1.0.0",
  title = "An iteration runs several graphs",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "step.source", "runs.count", "runs.total_ns" },
  cause = "host", tags = { "host" },
  params = {
    min_runs = { default = 2, min = 1, max = 1e6, unit = "count", doc = "graphs an iteration" },
    min_share = { default = 0.03, min = 0, max = 1, unit = "share", doc = "time between graphs over the step" },
  },
  doc = [[
PyTorch/XLA collects ops until mark_step, a .item() or a print asks for a value; each of those compiles and runs what
was collected. Priced as the time between graphs, of which all but one gap would go. Silent for one graph an iteration,
and where iterations are not marked.]],

  check = function(p, cfg)
    if p.framework ~= "torch-xla" or p.fact["step.source"] ~= "marker" then return nil end
    local step_ns, count = p.fact["step.ns"], p.fact["runs.count"]
    local ns = math.max(0, step_ns - p.fact["runs.total_ns"])
    if count < cfg.min_runs or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("%s graphs run in each iteration, with %s between them"):format(fmt.whole(count), fmt.ms(ns)),
      evidence = { { "time outside graphs a step", ns, "ns", share = ns / step_ns },
                   { "graphs a step", count, "count" } },
      condition = ("%s graphs, fewer than %s accepted"):format(fmt.whole(count), fmt.count(cfg.min_runs)),
      remedy = { text = "One mark_step at the end of the iteration; read values every 100 steps.",
                 code = "torch_xla.sync()   # once a step" },
      impact = impact.exposed { ns = ns * (1 - 1 / count) },
      confidence = "low",
    }
  end,

  examples = {
    { name = "four graphs", framework = "torch-xla", format = "xspace", finding = true, impact_ns = 1.1e6,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker", ["runs.count"] = 4, ["runs.total_ns"] = 8e6 } },
    { name = "one graph", framework = "torch-xla", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker", ["runs.count"] = 1, ["runs.total_ns"] = 8e6 } },
    { name = "jax", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker", ["runs.count"] = 4, ["runs.total_ns"] = 8e6 } },
  },
}
