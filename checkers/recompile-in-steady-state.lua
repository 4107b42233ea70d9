-- Programs are compiled again in steady state.
-- JAX traces without compiling where shapes are asked for, and where a model's own functions run outside of jit.
local function only_traces(p)
  if p.framework ~= "jax" or not p:has("activities") then return false end
  local rows = p:table("activities")
  return rows:where { kind = "tracing" }:sum("events") > 0 and rows:where { kind = "compile" }:sum("events") == 0
end

-- Loops and branches of JAX that are called outside of a compiled function are programs of their own, compiled for what
-- they do in each round, which Python makes anew in each call.
local BARE_LOOPS = {
  text = "A loop or branch (scan, while_loop, cond) that is called outside of a compiled function is compiled by "
    .. "itself, again whenever what it does in a round is a new function: compile the function around it.",
  code = "fit = jax.jit(lambda data: minimize(lambda p: loss(p, data), p0, method='BFGS'))   # once; then fit(data)\n"
    .. "# Keras compiles its own: model.compile(jit_compile=True), and no run_eagerly",
}
local function compiles_loops(p, cfg, compiling_ns)
  return p.framework == "jax" and p:has("activities") and p:table("activities"):where {
    kind = "dispatch", on_leader = true, name = { like = "^PjitFunction\\((scan|while|cond)\\)$" },
  }:sum("path_ns") >= cfg.min_loops * compiling_ns
end

-- Ledger: the lines that compile; where none is known, what a call of the function is named.
local function place(p)
  local cells = p:has("excess") and p:table("excess"):where { flaw = "compiled-again" }
  local lines = cells and cells:where { source_file = { like = "." } }
  local line = lines and lines:top("ns", 1):rows()[1]
  if line then return { scope = line.region }, lines:places() end
  local calls = p:has("activities") and p:table("activities"):where { kind = "dispatch", name = { like = "\\(.+\\)$" } }
  local called = calls and calls:top("path_ns", 1):rows()[1]
  local cell = cells and cells:top("ns", 1):rows()[1]
  return { scope = called and called.name or cell and cell.region or nil }
end

-- One step is recorded, and no program in it is compiled again: what compiles does it in its first call.
local function is_first_call(p, cfg)
  return p:has("step.used") and p.fact["step.used"] < 2 and (p.fact["runs.replaced"] or 0) == 0
    and (p.fact["retrace.count"] or 1) <= 1
    and p.fact["compile.count"] < cfg.min_compilations * math.max(1, p.fact["runs.programs"] or 1)
end

return rule {
  id = "recompile-in-steady-state", api = 1, version = "1.0.0",
  title = "Programs are compiled again and again",
  category = "compile", severity = "error",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "compile.path_ns", "compile.steps_share", "compile.count" },
  cause = "compile", tags = { "compile" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent compiling or tracing from which this is said" },
    min_steps_share = { default = 0.3, min = 0, max = 1, unit = "share",
                        doc = "share of the steps that compile" },
    min_replaced_share = { default = 0.15, min = 0, max = 1, unit = "share",
                           doc = "share of the step spent so, from which fewer steps suffice where a program that ran "
                             .. "before was compiled again" },
    min_compiling = { default = 0.3, min = 0, max = 1, unit = "share",
                      doc = "share of the step in one pass of XLA's compiler, from which the host's time around it "
                        .. "counts too" },
    kept_calling = { default = 0.03, min = 0, max = 1, unit = "ratio",
                     doc = "part of the host's time in calls of functions that were traced again, which calls of "
                       .. "compiled ones take" },
    min_all_steps = { default = 0.9, min = 0, max = 1, unit = "share",
                      doc = "share of the steps that compile, from which all runs are first ones" },
    kept_first_run = { default = 0.35, min = 0, max = 1, unit = "ratio",
                       doc = "part of a program's first run that later ones take" },
    min_compilations = { default = 8, min = 1, max = 1e9, unit = "ratio",
                         doc = "compilations and traces in a single step over its programs, from which these are no "
                           .. "first ones" },
    min_loops = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "JAX: of compiling and tracing, in calls of loops and branches by themselves, from which they "
                    .. "are what is compiled" },
    min_pipelines = { default = 0.8, min = 0, max = 1e6, unit = "count",
                      doc = "tf.data pipelines built a step, from which tracing is for them" },
    max_pipeline_share = { default = 0.3, min = 0, max = 1, unit = "share",
                           doc = "share of the step, above which they cannot explain it" },
  },
  doc = [[
Tracing and compiling belong to the first steps. Later it means that shapes, dtypes or static
arguments keep changing. Priced as the time in compiling and tracing, and the dispatch around it; in JAX also what
first runs of programs take more than later ones, to choose and set up kernels, where all steps compile. Where JAX
traces and compiles nothing, as in calls of a library's model outside of jit, priced as the tracing alone.
Silent where few steps compile, unless a program takes the place of one of its name that ran until then, in XLA's
recordings, and that costs min_replaced_share of the step. Where each step builds an input pipeline, its functions
are traced: a fact then. So are first calls, where a recording holds a single step: they have no price.]],

  check = function(p, cfg)
    -- What pools do beside a compiler lies outside of its calls, and is compiling in the step's parts.
    local steps_share = p.fact["compile.steps_share"]
    local path_ns = math.max(p.fact["compile.path_ns"], p:has("part.compile_ns") and p.fact["part.compile_ns"] or 0)
    local share = path_ns / p.fact["step.ns"]
    -- What comes late for the first time may come once; what has run before is compiled again, and will be.
    local replaced = p.fact["runs.replaced"] or 0
    local is_replaced = replaced > 0 and share >= cfg.min_replaced_share
    if share < cfg.min_share or (steps_share < cfg.min_steps_share and not is_replaced) then return nil end

    local evidence = { { "compiling and tracing a step", path_ns, "ns", share = math.min(share, 1) },
                       { "steps that compile", steps_share, "share" },
                       { "compilations and traces a step", p.fact["compile.count"], "count" } }
    if p.fact["runs.programs"] then
      evidence[#evidence + 1] = { "different programs run", p.fact["runs.programs"], "count" }
    end
    if replaced > 0 then
      evidence[#evidence + 1] = { "programs that ran before, compiled again", replaced, "count" }
    end
    if is_first_call(p, cfg) then
      return finding {
        title = ("The recording holds first calls, which compile: %s"):format(fmt.ms(path_ns)),
        severity = "info", evidence = evidence, impact = impact.none(), confidence = "medium",
        condition = ("compiling takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
        remedy = { text = "That is paid once, and tells nothing of later calls: run a few of them before recording, "
                     .. "and record several." },
      }
    end
    local remedy = {
      jax = { text = "Give a compiled function the same shapes and static arguments: numbers that change are arguments "
                .. "like arrays, not static ones or of a closure, and inputs are padded to a few shapes.",
              code = "step = jax.jit(step)                          # step(params, x, jnp.float32(temperature))\n"
                .. "x = jnp.pad(x, ((0, 0), (0, bucket(n) - n)))  # a few buckets",
              flags = "JAX_LOG_COMPILES=1 names the arguments that changed" },
      tensorflow = { text = "Keep shapes and Python arguments of tf.functions fixed, build functions once.",
                     code = "@tf.function(reduce_retracing=True)" },
      pytorch = { text = "Mark the dimension that varies as dynamic, or pad it to a few sizes.",
                  code = "torch._dynamo.mark_dynamic(x, 0)", flags = "TORCH_LOGS=recompiles" },
    }
    -- Keras builds a pipeline for the arrays it is given, and traces the functions in it.
    local pipelines = p:has("activities") and
      p:table("activities"):where { kind = "input-work", name = "MakeIterator::RootDataset" }:sum("events") or 0
    local is_pipeline = pipelines >= cfg.min_pipelines and share < cfg.max_pipeline_share
    if is_pipeline then
      evidence[#evidence + 1] = { "pipelines built a step", pipelines, "count" }
      remedy.tensorflow = { text = "Build the input pipeline once; give whole data sets to fit and predict.",
                            code = "y = model(x, training=False)   # or model.predict_on_batch(x), for one batch" }
    end
    local edits = { { "scale", parts = { "compile" }, factor = 0 } }
    local only_traced = only_traces(p)
    if only_traced then
      remedy.jax = { text = "Compile the function around it: its shapes do not change, it is traced in each call.",
                     code = "@jax.jit\ndef report(params, batch): return model.apply(params, batch)" }
    elseif p.framework == "jax" then
      remedy.jax = compiles_loops(p, cfg, path_ns) and BARE_LOOPS or remedy.jax
      edits[2] = { "scale", parts = { "host" }, name = "PjitFunction.*", factor = cfg.kept_calling }
      if steps_share >= cfg.min_all_steps then
        edits[3] = { "scale", parts = { "compute", "copy" }, factor = cfg.kept_first_run }
      end
    end
    -- XLA compiles inside the call of the function; what surrounds its passes is the host's.
    local compiling_ns = p:has("activities") and
      p:table("activities"):where { kind = "compile", on_leader = true }:max("path_ns") or 0
    if p.framework == "tensorflow" and compiling_ns >= cfg.min_compiling * p.fact["step.ns"] then
      edits[2] = { "scale", parts = { "host" }, factor = 0.1 }
    end
    local subject, locations = place(p)
    local cure = remedy[p.framework] or { text = "Keep shapes and static arguments fixed." }
    -- Where some steps compile, and nothing that ran before, they may be the first ones of a program.
    local may_be_first = replaced == 0 and steps_share < cfg.min_all_steps
    if may_be_first then
      cure.text = cure.text .. " What compiles in its first calls only is paid once: record behind them."
    end
    return finding {
      subject = subject, locations = locations,
      title = ("%s of the steps %s%s: %s a step"):format(fmt.pct(steps_share),
        only_traced and "trace functions" or "compile", may_be_first and "" or " again", fmt.ms(path_ns)),
      severity = is_pipeline and "info" or only_traced and "warn" or "error",
      evidence = evidence,
      condition = steps_share < cfg.min_steps_share
        and ("compiling takes %s of the step, %s accepted of programs that ran before"):format(
          fmt.pct(share), fmt.pct(cfg.min_replaced_share))
        or ("%s of the steps compile, %s accepted; %s of the step"):format(
          fmt.pct(steps_share), fmt.pct(cfg.min_steps_share), fmt.pct(share)),
      remedy = cure,
      impact = impact.replay(edits),
      confidence = "high",
    }
  end,

  examples = {
    { name = "every step", framework = "jax", finding = true, replay = { 8e6, 4e5, 4e5 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 8e6, ["compile.steps_share"] = 1,
                ["compile.count"] = 3 } },
    { name = "a pipeline each step", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 1.7e6,
      replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 2e6, ["compile.steps_share"] = 1, ["compile.count"] = 3 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 2 } } } },
    -- Tracing alone goes; calls and first runs are as long as they were.
    { name = "traced and not compiled", framework = "jax", format = "xspace", finding = true, replay = { 8e5 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 8e5, ["compile.steps_share"] = 1, ["compile.count"] = 8 },
      tables = { activities = { { name = "$partial_eval.py:2268 trace_to_jaxpr", kind = "tracing", events = 8 } } } },
    { name = "traced and compiled", framework = "jax", format = "xspace", finding = true, replay = { 8e5, 1e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 8e5, ["compile.steps_share"] = 1, ["compile.count"] = 8 },
      tables = { activities = { { name = "$partial_eval.py:2268 trace_to_jaxpr", kind = "tracing", events = 8 },
                                { name = "backend_compile", kind = "compile", events = 1 } } } },
    -- 7 of 8 ms lie in calls of a loop that no compiled function is around.
    { name = "loops outside of a compiled function", framework = "jax", format = "xspace", finding = true,
      replay = { 8e6, 4e5, 4e5 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 8e6, ["compile.steps_share"] = 1, ["compile.count"] = 9 },
      tables = { activities = { { name = "PjitFunction(while)", kind = "dispatch", on_leader = true, events = 3,
                                  path_ns = 7e6 },
                                { name = "backend_compile", kind = "compile", events = 3 } } } },
    { name = "lines that compile", framework = "jax", format = "xspace", finding = true, replay = { 8e6, 4e5, 4e5 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 8e6, ["compile.steps_share"] = 1, ["compile.count"] = 3 },
      tables = { excess = { { cell = 1, flaw = "compiled-again", region = "serve.py:9 answer", ns = 6e6, share = 0.6,
                              source_file = "serve.py", source_line = 9 },
                            { cell = 2, flaw = "compiled-again", region = "PjitFunction(f)", ns = 2e6,
                              share = 0.2 } } } },
    -- One step in 24 compiles what ran in those before it.
    { name = "compiled again now and then", framework = "jax", format = "xspace", finding = true, replay = { 6e6, 1e5 },
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 6e6, ["compile.steps_share"] = 0.04,
                ["compile.count"] = 0.04, ["runs.replaced"] = 1 } },
    { name = "something else is compiled", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 6e6, ["compile.steps_share"] = 0.04,
                ["compile.count"] = 0.04, ["runs.replaced"] = 0 } },
    { name = "compiled again for little", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 7.5e5, ["compile.steps_share"] = 0.04,
                ["compile.count"] = 0.04, ["runs.replaced"] = 1 } },
    { name = "a recording of the first call", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info",
      facts = { ["step.ns"] = 1e8, ["step.used"] = 1, ["compile.path_ns"] = 8e7, ["compile.steps_share"] = 1,
                ["compile.count"] = 1, ["runs.programs"] = 1, ["retrace.count"] = 1 } },
    { name = "a step that compiles what was compiled", framework = "jax", format = "xspace", finding = true,
      severity = "error", replay = { 8e7, 4e6, 4e6 },
      facts = { ["step.ns"] = 1e8, ["step.used"] = 1, ["compile.path_ns"] = 8e7, ["compile.steps_share"] = 1,
                ["compile.count"] = 40, ["runs.programs"] = 2 } },
    { name = "warm-up only", finding = false,
      facts = { ["step.ns"] = 1e7, ["compile.path_ns"] = 1e6, ["compile.steps_share"] = 0.1,
                ["compile.count"] = 1 } },
  },
}
