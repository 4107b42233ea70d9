-- The first recorded step is warm-up.
return rule {
  id = "warmup-in-window", api = 1, version = "1.0.0",
  title = "The first recorded step is warm-up",
  category = "validity", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.used", "step.warmup_ns" },
  tags = { "validity" },
  params = {
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count", doc = "other steps needed to compare with" },
  },
  doc = [[
The first step took more than twice the median of the rest: compiling, autotuning, first allocations, filling buffers. It
is left out of all averages. Silent with few other steps.]],

  check = function(p, cfg)
    local step_ns, warmup_ns = p.fact["step.ns"], p.fact["step.warmup_ns"]
    if warmup_ns <= 0 or p.fact["step.used"] < cfg.min_steps then return nil end
    local compiles = (p.fact["compile.count"] or 0) > 0 and " (compiling)" or ""
    return finding {
      title = ("The first step took %s times the median%s; it is left out"):format(fmt.ratio(warmup_ns / step_ns), compiles),
      evidence = { { "first step", warmup_ns, "ns" }, { "median of the others", step_ns, "ns" } },
      condition = ("the first step took %s times the median, 2 accepted"):format(fmt.ratio(warmup_ns / step_ns)),
      remedy = { text = "Begin the recording after step 10, or give the profiler's schedule a warm-up.",
                 code = p.framework == "pytorch" and "schedule=torch.profiler.schedule(wait=1, warmup=3, active=10)" or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "compiled in the first step", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.warmup_ns"] = 4e7 } },
    { name = "even from the start", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.warmup_ns"] = 0 } },
    { name = "nothing was left out", skipped = true, facts = { ["step.ns"] = 1e7, ["step.used"] = 10 } },
  },
}
