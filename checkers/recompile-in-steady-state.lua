-- Programs are compiled again in steady state.
return rule {
  id = "recompile-in-steady-state", api = 1, version = "1.0.0",
  title = "Programs are compiled again and again",
  category = "compile", severity = "error",
  formats = { "xspace", "kineto" },
  needs = { "step.median_ns", "compile.path_ns", "compile.steps_share", "compile.count" },
  cause = "compile", tags = { "compile" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent compiling or tracing from which this is said" },
    min_steps_share = { default = 0.3, min = 0, max = 1, unit = "share",
                        doc = "share of the steps that compile" },
  },
  doc = [[
Tracing and compiling belong to the first steps. Later it means that shapes, dtypes or static
arguments keep changing. Priced as the time in compiling and tracing, and the dispatch around it.
Silent where few steps compile.]],

  check = function(p, cfg)
    local path_ns, steps_share = p.fact["compile.path_ns"], p.fact["compile.steps_share"]
    local share = path_ns / p.fact["step.median_ns"]
    if steps_share < cfg.min_steps_share or share < cfg.min_share then return nil end

    local evidence = { { "compiling and tracing a step", path_ns, "ns", share = math.min(share, 1) },
                       { "steps that compile", steps_share, "share" },
                       { "compilations and traces a step", p.fact["compile.count"], "count" } }
    if p.fact["runs.programs"] then
      evidence[#evidence + 1] = { "different programs run", p.fact["runs.programs"], "count" }
    end
    local remedy = {
      jax = { text = "Pad inputs to a few fixed shapes so that a compiled program is found again.",
              code = "x = jnp.pad(x, ((0, 0), (0, bucket(n) - n)))  # a few buckets",
              flags = "JAX_LOG_COMPILES=1 names the arguments that changed" },
      tensorflow = { text = "Keep shapes and Python arguments of tf.functions fixed, build functions once.",
                     code = "@tf.function(reduce_retracing=True)" },
      pytorch = { text = "Mark the dimension that varies as dynamic, or pad it to a few sizes.",
                  code = "torch._dynamo.mark_dynamic(x, 0)", flags = "TORCH_LOGS=recompiles" },
    }
    local edits = { { "scale", parts = { "compile" }, factor = 0 } }
    if p.framework == "jax" then
      edits[2] = { "scale", parts = { "host" }, name = "PjitFunction.*", factor = 0.1 }
    end
    return finding {
      title = ("%s of the steps compile again, %s each"):format(fmt.pct(steps_share), fmt.ms(path_ns)),
      evidence = evidence,
      condition = ("%s of the steps compile, %s accepted; %s of the step"):format(
        fmt.pct(steps_share), fmt.pct(cfg.min_steps_share), fmt.pct(share)),
      remedy = remedy[p.framework] or { text = "Keep shapes and static arguments fixed." },
      impact = impact.replay(edits),
      confidence = "high",
    }
  end,

  examples = {
    { name = "every step", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.median_ns"] = 1e7, ["compile.path_ns"] = 8e6, ["compile.steps_share"] = 1,
                ["compile.count"] = 3 } },
    { name = "warm-up only", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["compile.path_ns"] = 1e6, ["compile.steps_share"] = 0.1,
                ["compile.count"] = 1 } },
  },
}
