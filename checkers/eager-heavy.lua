-- Python runs TensorFlow ops one by one.
return rule {
  id = "eager-heavy", api = 1, version = "1.0.0",
  title = "Ops run eagerly, one by one from Python",
  category = "host", severity = "error",
  formats = { "xspace" },
  needs = { "step.median_ns", "eager.ops", "eager.function_calls", "part.host_ns", "part.host_share" },
  cause = "host", tags = { "tensorflow", "host" },
  params = {
    min_ops = { default = 30, min = 1, max = 1e6, unit = "count",
                doc = "eager ops a step, and for each function call in it, from which this is said" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "share of the step in host code" },
    left = { default = 0.05, min = 0, max = 1, unit = "ratio",
             doc = "part of the host time that a graph function still needs" },
  },
  doc = [[
Each eager op costs a trip through Python and the dispatcher; a tf.function pays it once a call and
runs its ops from the graph. Priced as the host time of the step, of which a graph keeps a twentieth.
Silent where a step has few eager ops besides the functions it calls.]],

  check = function(p, cfg)
    local ops, calls = p.fact["eager.ops"], p.fact["eager.function_calls"]
    local host_ns, share = p.fact["part.host_ns"], p.fact["part.host_share"]
    if ops < cfg.min_ops * math.max(calls, 1) or share < cfg.min_share then return nil end

    return finding {
      title = ("%s ops a step run eagerly; host code takes %s of the step"):format(
        fmt.count(math.floor(ops + 0.5)), fmt.pct(share)),
      evidence = { { "eager ops a step", ops, "count" },
                   { "host code a step", host_ns, "ns", share = share },
                   { "graph functions called a step", calls, "count" } },
      condition = ("%s eager ops a step, %s accepted for each of %s function calls"):format(
        fmt.count(ops), fmt.count(cfg.min_ops), fmt.count(calls)),
      remedy = { text = "Make the whole step one graph function.",
                 code = "@tf.function\ndef train_step(batch): ...   # strategy.run(...) inside it too" },
      impact = impact.replay { { "scale", parts = { "host" }, factor = cfg.left } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "eager loop", framework = "tensorflow", finding = true, replay = { 8e6 },
      facts = { ["step.median_ns"] = 1e7, ["eager.ops"] = 2000, ["eager.function_calls"] = 0,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 } },
    { name = "one function a step", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["eager.ops"] = 2, ["eager.function_calls"] = 1,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 } },
  },
}
