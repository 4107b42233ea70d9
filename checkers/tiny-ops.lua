-- Many tiny ops: the executor's own work dominates.
return rule {
  id = "tiny-ops", api = 1, version = "1.0.0",
  title = "Thousands of tiny ops cost more to run than to compute",
  category = "host", severity = "warn",
  formats = { "xspace", "graph" },
  needs = { "step.median_ns", "host.executor_ns", "ops.count_per_step", "ops.median_ns" },
  cause = "host", tags = { "host" },
  params = {
    min_ops = { default = 100, min = 1, max = 1e7, unit = "count", doc = "ops a step" },
    max_op_ns = { default = 10e3, min = 0, max = 1e9, unit = "ns", doc = "median op that counts as tiny" },
    min_share = { default = 0.35, min = 0, max = 1, unit = "share",
                  doc = "share of the step in the executor between ops" },
  },
  doc = [[
Every op costs the executor some microseconds to find ready, to start and to hand on. Priced as nine
tenths of that time: stacked variables and batched ops need a tenth of the ops. Silent where ops are
long or few, or the executor hides behind them.]],

  check = function(p, cfg)
    local count, median_ns = p.fact["ops.count_per_step"], p.fact["ops.median_ns"]
    local executor_ns, step_ns = p.fact["host.executor_ns"], p.fact["step.median_ns"]
    if count < cfg.min_ops or median_ns > cfg.max_op_ns or executor_ns / step_ns < cfg.min_share then return nil end

    return finding {
      title = ("%s ops a step with a median of %s: the executor takes %s of the step"):format(
        fmt.count(math.floor(count + 0.5)), fmt.ns(median_ns), fmt.pct(executor_ns / step_ns)),
      evidence = { { "executor a step", executor_ns, "ns", share = executor_ns / step_ns },
                   { "ops a step", count, "count" }, { "median op", median_ns, "ns" } },
      condition = ("%s ops a step, median %s; the executor takes %s, %s accepted"):format(fmt.count(count),
        fmt.ns(median_ns), fmt.pct(executor_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Stack small variables and batch their ops, or let XLA fuse them.",
                 code = "@tf.function(jit_compile=True)   # or one stacked variable and a batched matmul" },
      impact = impact.replay { { "scale", parts = { "host" }, kinds = { "executor", "run" }, factor = 0.1 },
                               { "scale", parts = { "compute" }, factor = 0.5 } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "thousands", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.median_ns"] = 1e7, ["host.executor_ns"] = 6e6, ["ops.count_per_step"] = 4000, ["ops.median_ns"] = 1e3 } },
    { name = "few large ops", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["host.executor_ns"] = 1e5, ["ops.count_per_step"] = 40, ["ops.median_ns"] = 1e6 } },
  },
}
