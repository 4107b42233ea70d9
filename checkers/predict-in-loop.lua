-- predict or evaluate is called again and again, each call with its own set-up.
-- What is outside of ops goes, as where the model itself is called.
local function without_setup(cfg)
  return { { "scale", parts = { "host", "input", "compile" }, factor = cfg.left } }
end

-- Functions of the pipelines are traced where these are built. The training function's own traces are no call's set-up.
local function tracing_ns(p)
  local compile_ns = p:has("compile.path_ns") and p.fact["compile.path_ns"] or 0
  return math.max(0, compile_ns - (p:has("retrace.path_ns") and p.fact["retrace.path_ns"] or 0))
end

-- Each step is a call of predict or evaluate, and next to nothing of it is the model's.
local function alone(p, cfg, builds, setup_ns)
  local step_ns = p.fact["step.ns"]
  local edit = without_setup(cfg)
  local _, saved_ns = p:whatif(edit)
  if type(saved_ns) ~= "number" or saved_ns < cfg.min_alone * step_ns then return nil end
  return finding {
    title = ("Each call of predict or evaluate sets itself up: %s of each step are not the model's"):format(
      fmt.ms(saved_ns)),
    severity = "info", -- rows that come rarely may well be predicted so
    evidence = { { "building iterators and tracing their functions a step", setup_ns, "ns",
                   share = math.min(setup_ns / step_ns, 1) },
                 { "iterators built a step", builds, "count" } },
    condition = ("%s of the step go without it, %s accepted"):format(fmt.pct(saved_ns / step_ns),
      fmt.pct(cfg.min_alone)),
    remedy = { text = "Call the model itself for a few rows, and predict once for many.",
               code = "y = model(rows, training=False)   # or model.predict(all_rows, batch_size=256), once" },
    impact = impact.replay(edit),
    confidence = "high",
  }
end

-- A call in or between training steps: its function and the one that trains both run.
local function beside(p, cfg, builds, setup_ns)
  local step_ns, functions = p.fact["step.ns"], 0
  local calls = p:table("activities"):where { name = { like = "^EagerLocalExecute: __inference_" },
                                              events = { min = cfg.min_beside } }
  local is_keras, most_calls = false, 0
  for row in calls:each() do
    if not row.name:find("[Dd]ataset") then
      functions, most_calls = functions + 1, math.max(most_calls, row.events)
      is_keras = is_keras or row.name:find(p:names("keras_function")) ~= nil
    end
  end
  setup_ns = setup_ns + tracing_ns(p)
  local trains = p:has("ops") and p:table("ops"):where { name = { like = "^gradient_tape/" } }:count() > 0
  if functions == 1 and is_keras and not trains and builds >= cfg.min_single and most_calls <= cfg.max_batches
      and setup_ns >= cfg.min_share * step_ns then
    return alone(p, cfg, builds, setup_ns)
  end
  -- One function that trains, called no more often than iterators are built: its call had a data set of one batch.
  local is_alone = functions == 1 and most_calls <= builds and trains
  if builds < cfg.min_beside or functions < 2 and not is_alone or not is_keras or
      setup_ns < cfg.min_share * step_ns then
    return nil
  end
  return finding {
    title = (is_alone and "fit builds a dataset for each batch: %s of each step" or
      "evaluate or predict builds a dataset beside training: %s of each step"):format(
      fmt.ms(math.min(setup_ns, step_ns))),
    evidence = { { "building iterators and tracing their functions a step", setup_ns, "ns",
                   share = math.min(setup_ns / step_ns, 1) },
                 { "iterators built a step", builds, "count" },
                 { "graph functions that run", functions, "count" } },
    condition = ("%s iterators built a step, %s accepted; %s of the step"):format(fmt.count(builds),
      fmt.count(cfg.min_beside), fmt.pct(setup_ns / step_ns)),
    remedy = is_alone and
      { text = "Give fit one data set of all batches, or train on a batch without one.",
        code = "loss = model.train_on_batch(x, y)" } or
      { text = "Validate once an epoch; for a few rows call the model itself.",
               code = "model.fit(train, validation_data=validation)   # in callbacks: model(rows, training=False)" },
    impact = impact.replay(without_setup(cfg)),
    confidence = "high",
  }
end

-- Calls a step of a function that Keras compiled for JAX: the runtime notes each of them twice, one within the other.
local function compiled_calls(activities, name)
  local calls = activities:where { kind = "dispatch", name = { like = "^PjitFunction\\(" .. name .. "\\)$" } }
  return (calls:max("events") or 0) / 2
end

-- JAX: each call of predict makes its iterator, its callbacks and a copy of the model's state in Python. Where Python
-- was not recorded, a call for many batches is told by the little that lies between runs of the compiled function.
local function on_jax(p, cfg)
  local activities, step_ns = p:table("activities"), p.fact["step.ns"]
  local runs = compiled_calls(activities, "predict_step")
  local host_ns = p:has("part.host_ns") and p.fact["part.host_ns"] or 0
  if runs < cfg.min_beside or host_ns < cfg.min_share * step_ns then return nil end
  local is_beside = compiled_calls(activities, "train_step") >= cfg.min_beside
  local frames = activities:where { kind = "python", name = { like = p:names("keras_predict_frame") } }
  if activities:where { kind = "python" }:count() > 0 then
    if (frames:max("events") or 0) < cfg.min_single_batch * runs then return nil end
  elseif host_ns < cfg.min_setup_ns * runs then
    return nil
  end

  return finding {
    title = (is_beside and "predict is called beside training: the host takes %s of each step" or
      "predict is called for single batches: the host takes %s of each step"):format(fmt.ms(host_ns)),
    evidence = { { "host work a step", host_ns, "ns", share = math.min(host_ns / step_ns, 1) },
                 { "runs of predict's function a step", runs, "count" } },
    condition = ("%s of the step is host work, %s accepted; %s runs of predict's function a step"):format(
      fmt.pct(host_ns / step_ns), fmt.pct(cfg.min_share), fmt.count(runs)),
    remedy = is_beside and
      { text = "Ask the model less often: once an epoch, or once for all rows that were gathered.",
        code = "model.predict(rows, batch_size=256)   # in on_epoch_end, not in on_train_batch_end" } or
      { text = "Call predict once for all rows. Where rows come one after the other, compile the model's own call.",
        code = "answer = jax.jit(lambda t, n, x: model.stateless_call(t, n, x, training=False)[0])\n"
          .. "trained, other = model.trainable_variables, model.non_trainable_variables\n"
          .. "state = [v.value for v in trained], [v.value for v in other]\n"
          .. "y = answer(*state, rows)   # rows padded to few sizes" },
    impact = impact.replay(without_setup(cfg)),
    confidence = "high",
  }
end

return rule {
  id = "predict-in-loop", api = 1, version = "1.0.0",
  title = "predict is called in a loop",
  category = "host", severity = "error",
  formats = { "xspace" },
  needs = { "step.ns", "activities", "eager.function_calls", "step.used" },
  cause = "host", tags = { "tensorflow", "jax", "keras", "host" },
  more_specific_than = { "eager-heavy", "host-bound", "steps-per-execution-1", "input-bound-step",
                         "recompile-in-steady-state", "batch-too-small", "step-boundary-gap",
                         "tfdata-shuffle-buffer", "jax-device-put-in-loop", "block-until-ready-each-step",
                         "python-in-step" },
  params = {
    min_calls = { default = 3, min = 2, max = 1e6, unit = "count",
                  doc = "datasets built a step from which calls are said to be in a loop" },
    min_beside = { default = 0.3, min = 0, max = 1, unit = "count",
                   doc = "datasets built and calls of each of two functions a step, from which a call beside training "
                     .. "is meant" },
    min_single = { default = 0.9, min = 0, max = 1e6, unit = "count",
                   doc = "datasets built a step from which each step is a call of its own" },
    max_batches = { default = 4, min = 1, max = 1e6, unit = "count",
                    doc = "batches of such a call: with more the model itself cannot take them at once" },
    min_single_batch = { default = 0.5, min = 0, max = 1, unit = "ratio",
                         doc = "calls of predict for each run of its function on JAX, from which each has one batch" },
    min_setup_ns = { default = 6e5, min = 0, max = 1e12, unit = "ns",
                     doc = "host work for each run on JAX from which it is a call's, where Python was not recorded" },
    min_alone = { default = 0.8, min = 0, max = 1, unit = "share",
                  doc = "share of such a step that goes without the set-up" },
    left = { default = 0.05, min = 0, max = 1, unit = "ratio",
             doc = "part of the time outside of ops that a step keeps without such a call" },
    min_share = { default = 0.3, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent building datasets and iterators, and tracing their functions" },
  },
  doc = [[
Model.predict and evaluate build a dataset, its iterator and their functions in every call. Called
for one row at a time, that set-up is the work. Priced as all of the step but one call in n, or as what calls of the
model itself leave out, whichever is more. A call beside
each training step, to validate or from a callback, costs the same, and so does a call of fit for each batch: priced as
all but a twentieth of what the step spends outside of ops. Where each step is one call, it is told if next to nothing
of it is the model's. On JAX the host's work goes, but for the same twentieth.
Silent where a step builds few datasets, and for single calls without other functions.]],

  check = function(p, cfg)
    if p.framework == "jax" then return on_jax(p, cfg) end
    local made =
      p:table("activities"):where { name = { like = p:names("tf_makes_iterator") } }
    local builds = made:max("events") or 0
    local setup_ns = made:max("path_ns") or 0
    local step_ns = p.fact["step.ns"]
    if builds < cfg.min_calls then return beside(p, cfg, builds, setup_ns) end
    setup_ns = setup_ns + tracing_ns(p)
    if setup_ns / step_ns < cfg.min_share then return nil end

    local calls = math.max(p.fact["eager.function_calls"], 2)
    -- One call for all, or the same calls without what each sets up: whichever leaves less.
    local one, bare = { { "scale", factor = 1 / calls } }, without_setup(cfg)
    local _, one_ns = p:whatif(one)
    local _, bare_ns = p:whatif(bare)
    local is_bare = type(one_ns) == "number" and type(bare_ns) == "number" and bare_ns > one_ns
    return finding {
      title = ("Datasets are built %s times a step, as predict does in each call"):format(fmt.whole(builds)),
      evidence = { { "building iterators and tracing their functions a step", setup_ns, "ns",
                     share = math.min(setup_ns / step_ns, 1) },
                   { "iterators built a step", builds, "count" },
                   { "graph function calls a step", calls, "count" } },
      condition = ("%s iterators built a step, %s accepted; %s of the step"):format(fmt.count(builds),
        fmt.count(cfg.min_calls), fmt.pct(setup_ns / step_ns)),
      remedy = { text = "Call predict once for all rows, or call the model itself for small inputs.",
                 code = "y = model.predict(all_rows, batch_size=256)   # or model(rows, training=False)" },
      impact = impact.replay(is_bare and bare or one),
      confidence = "high",
    }
  end,

  examples = {
    { name = "sixteen calls", framework = "tensorflow", finding = true, replay = { 9e8 },
      facts = { ["step.ns"] = 1e9, ["eager.function_calls"] = 16, ["step.used"] = 4 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 32,
                                  path_ns = 5e8 } } } },
    { name = "validation beside each step", framework = "tensorflow", finding = true, replay = { 8e7 },
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 3, ["step.used"] = 4, ["compile.path_ns"] = 1.5e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 2, path_ns = 3e7 },
                                { name = "EagerLocalExecute: __inference_train_8", kind = "dispatch", events = 1 },
                                { name = "EagerLocalExecute: __inference_Dataset_map_3", kind = "dispatch",
                                  events = 1 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_9", kind = "dispatch",
                                  events = 1 } } } },
    { name = "fit for each batch", framework = "tensorflow", finding = true, replay = { 8e7 },
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 1, ["step.used"] = 4, ["compile.path_ns"] = 1.5e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 2, path_ns = 3e7 },
                                { name = "EagerLocalExecute: __inference_multi_step_on_iterator_9", kind = "dispatch",
                                  events = 1 } },
                 ops = { { name = "gradient_tape/dense/MatMul", type = "MatMul", self_ns = 1e6 } } } },
    { name = "a call for a few rows", framework = "tensorflow", finding = true, severity = "info",
      replay = { 9e7, 9e7 },
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 1, ["step.used"] = 4, ["compile.path_ns"] = 1.5e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 1, path_ns = 3e7 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_9", kind = "dispatch",
                                  events = 1 } },
                 ops = { { name = "dense/MatMul", type = "MatMul", self_ns = 1e6 } } } },
    { name = "a call for many batches", framework = "tensorflow", finding = false, replay = { 9e7, 9e7 },
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 32, ["step.used"] = 4, ["compile.path_ns"] = 1.5e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 1, path_ns = 3e7 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_9", kind = "dispatch",
                                  events = 32 } },
                 ops = { { name = "dense/MatMul", type = "MatMul", self_ns = 1e6 } } } },
    { name = "predict for all rows at once", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 1, ["step.used"] = 4, ["compile.path_ns"] = 1.5e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 2, path_ns = 3e7 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_9", kind = "dispatch",
                                  events = 1 } },
                 ops = { { name = "dense/MatMul", type = "MatMul", self_ns = 1e6 } } } },
    { name = "one call of predict", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 3, ["step.used"] = 4, ["compile.path_ns"] = 1.5e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 1, path_ns = 3e7 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_9", kind = "dispatch",
                                  events = 4 } } } },
    { name = "a function traced again in each step", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 8, ["step.used"] = 4, ["compile.path_ns"] = 4e7 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 1, path_ns = 2e6 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_8", kind = "dispatch",
                                  events = 0.25 },
                                { name = "EagerLocalExecute: __inference_one_step_on_data_9", kind = "dispatch",
                                  events = 0.25 } } } },
    { name = "an iterator a step by hand", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 2, ["step.used"] = 4, ["compile.path_ns"] = 0 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 1, path_ns = 4e7 },
                                { name = "EagerLocalExecute: __inference_train_8", kind = "dispatch", events = 1 },
                                { name = "EagerLocalExecute: __inference_metrics_9", kind = "dispatch",
                                  events = 1 } } } },
    { name = "JAX: a call for each request", framework = "jax", finding = true, replay = { 2.3e6 },
      facts = { ["step.ns"] = 3.8e6, ["eager.function_calls"] = 0, ["step.used"] = 15, ["part.host_ns"] = 2.4e6 },
      tables = { activities = { { name = "PjitFunction(predict_step)", kind = "dispatch", events = 2 },
                                { name = "$trainer.py:652 predict", kind = "python", events = 0.7 } } } },
    { name = "JAX: one call for many batches", framework = "jax", finding = false,
      facts = { ["step.ns"] = 3.8e6, ["eager.function_calls"] = 0, ["step.used"] = 15, ["part.host_ns"] = 2.4e6 },
      tables = { activities = { { name = "PjitFunction(predict_step)", kind = "dispatch", events = 2 },
                                { name = "$trainer.py:652 predict", kind = "python", events = 0.3 } } } },
    { name = "JAX without Python: much between runs", framework = "jax", finding = true, replay = { 1.2e6 },
      facts = { ["step.ns"] = 1.3e6, ["eager.function_calls"] = 0, ["step.used"] = 15, ["part.host_ns"] = 1.2e6 },
      tables = { activities = { { name = "PjitFunction(predict_step)", kind = "dispatch", events = 2 } } } },
    { name = "JAX without Python: little between runs", framework = "jax", finding = false,
      facts = { ["step.ns"] = 6e5, ["eager.function_calls"] = 0, ["step.used"] = 15, ["part.host_ns"] = 3e5 },
      tables = { activities = { { name = "PjitFunction(predict_step)", kind = "dispatch", events = 2 } } } },
    { name = "JAX: the model is most of it", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["eager.function_calls"] = 0, ["step.used"] = 15, ["part.host_ns"] = 2.4e6 },
      tables = { activities = { { name = "PjitFunction(predict_step)", kind = "dispatch", events = 2 },
                                { name = "$trainer.py:652 predict", kind = "python", events = 1 } } } },
    { name = "JAX: from a callback of fit", framework = "jax", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 4.2e6, ["eager.function_calls"] = 0, ["step.used"] = 15, ["part.host_ns"] = 2.2e6 },
      tables = { activities = { { name = "PjitFunction(train_step)", kind = "dispatch", events = 2.2 },
                                { name = "PjitFunction(predict_step)", kind = "dispatch", events = 2 },
                                { name = "$trainer.py:652 predict", kind = "python", events = 1 } } } },
    { name = "one call", finding = false,
      facts = { ["step.ns"] = 1e8, ["eager.function_calls"] = 1, ["step.used"] = 4 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 2,
                                  path_ns = 5e7 } } } },
  },
}
