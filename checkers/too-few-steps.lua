-- Too few steps were recorded for averages, variance or trends.
return rule {
  id = "too-few-steps", api = 1, version = "1.0.0",
  title = "Few steps were recorded",
  category = "validity", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.used", "step.source" },
  tags = { "validity" },
  params = {
    averages = { default = 3, min = 1, max = 1e6, unit = "count", doc = "steps that averages need" },
    variance = { default = 5, min = 1, max = 1e6, unit = "count", doc = "steps that variance needs" },
    drift = { default = 10, min = 1, max = 1e6, unit = "count", doc = "steps that a trend needs" },
  },
  doc = [[
Averages need 3 steps, variance 5, a trend 10. Silent from the first of these on that the recording has too few for,
when steps are not marked at all (another rule says that). Where no step counts, nothing is said of a step, and why
it does not is told.]],

  check = function(p, cfg)
    local used = p.fact["step.used"]
    if p.fact["step.source"] == "whole-trace" or used >= cfg.variance then return nil end
    local why = used == 0 and p:has("steps") and p:table("steps"):where { used = false }:rows()[1] or nil
    local lost = used < cfg.averages and "averages, variance and trends" or "variance and trends"
    local code = {
      jax = "with jax.profiler.trace(log_dir):\n    for i in range(12): step()",
      tensorflow = "tf.keras.callbacks.TensorBoard(log_dir, profile_batch=(10, 25))",
      pytorch = "schedule=torch.profiler.schedule(wait=1, warmup=2, active=10)",
    }
    return finding {
      title = why and why.left_out and ("No step tells of others: %s"):format(why.left_out)
        or ("Only %d whole %s recorded: %s are uncertain"):format(used, used == 1 and "step was" or "steps were", lost),
      severity = used == 0 and "veto" or "info",
      evidence = { { "steps that count", used, "count" }, { "averages need", cfg.averages, "count" },
                   { "variance needs", cfg.variance, "count" }, { "a trend needs", cfg.drift, "count" } },
      condition = ("%s, %d needed"):format(fmt.many(used, "step", "steps"), cfg.variance),
      remedy = { text = "Record ten or more steps after warm-up.", code = code[p.framework] },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "two steps", framework = "pytorch", finding = true,
      facts = { ["step.used"] = 2, ["step.source"] = "marker" } },
    { name = "none that counts", framework = "pytorch", finding = true, severity = "veto",
      facts = { ["step.used"] = 0, ["step.source"] = "marker" },
      tables = { steps = { { number = 1, used = false, left_out = "most of it is start-up" } } } },
    { name = "twelve steps", finding = false, facts = { ["step.used"] = 12, ["step.source"] = "marker" } },
  },
}
