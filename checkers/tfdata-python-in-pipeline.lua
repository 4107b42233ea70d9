-- Python code inside the input pipeline makes the step wait.
local remedy = {
  text = "Open and read files once, not for each item; write the function in TensorFlow ops, or prepare the data once "
    .. "and store it as TFRecords. More parallel calls do not help: Python runs one at a time.",
  code = "ds = ds.batch(n).map(lambda x: tf.io.decode_csv(x, defaults), "
    .. "num_parallel_calls=tf.data.AUTOTUNE)",
}

-- A generator or a PyDataset of Keras that is called once for each step makes whole batches.
local of_batches = {
  text = "Each call makes a whole batch: work on all of its rows at once, with operations of whole arrays, rather than "
    .. "row by row; read files, and make what is the same each time, as indexes, tables and weights of interpolations, "
    .. "once, before. Else prepare the data once, or write the function in TensorFlow ops. More parallel calls do not "
    .. "help: Python runs one at a time.",
  code = "x = scaler.transform(table[start:stop])   # in __getitem__; not np.stack([f(row) for row in rows])",
}

-- A function that a map calls for each element, py_function or numpy_function.
local of_elements = {
  text = "Write the function in TensorFlow ops, on whole batches, or prepare the data once and store it as TFRecords; "
    .. "open files once, not for each item. Where it must stay Python let it do less: interpolation of a lower order, "
    .. "float32, fewer copies, what is the same each time made once before. More parallel calls do not help: Python "
    .. "runs one at a time.",
  code = "x = scipy.ndimage.rotate(x, angle, reshape=False, order=1)   # splines of order 3 are its default\n"
    .. "x = keras.layers.RandomRotation(0.04)(x)   # or on the batch, without Python",
}

local function remedy_for(stage)
  if (stage.type or ""):find("Map", 1, true) and stage.type ~= "FlatMap" then return of_elements end
  return stage.type == "Generator" and stage.calls < 2 and of_batches or remedy
end

-- Steps that were recorded live on batches from before, and new ones take longer than steps.
local function runs_dry(p, python_ns, worst)
  local step_ns, refill_ns = p.fact["step.ns"], p.fact["input.refill_ns"]
  local share = 1 - (step_ns - p.fact["input.wait_ns"]) / refill_ns
  return finding {
    title = ("Python makes a batch in %s and steps take %s: they live on a buffer that runs dry"):format(
      fmt.ms(refill_ns), fmt.ms(step_ns)),
    subject = { op = worst.name },
    evidence = {
      { "stage that calls Python", worst.name },
      { "making what a step takes, on one thread", refill_ns, "ns" },
      { "Python in the pipeline a step", python_ns, "ns" },
      { "share of the time that steps will wait", share, "share" },
    },
    condition = ("a batch takes %s, a step %s while the buffer lasts"):format(fmt.ms(refill_ns), fmt.ms(step_ns)),
    remedy = remedy_for(worst),
    impact = impact.exposed { ns = share * step_ns, low = 0.5 * share * step_ns, high = share * step_ns },
    confidence = "medium",
  }
end

return rule {
  id = "tfdata-python-in-pipeline", api = 1, version = "1.0.0",
  title = "Python inside the input pipeline makes the step wait",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "input.wait_ns", "input.python_ns", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input", "python" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-slow-iterator",
                         "tfdata-sequential-map", "tfdata-sequential-op", "tfdata-vectorize-map",
                         "tfdata-cache", "tfdata-slow-source", "host-callback-in-step", "host-bound",
                         "eager-heavy", "tiny-ops", "python-in-step" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_python_share = { default = 0.20, min = 0, max = 1, unit = "share",
                         doc = "of the pipeline's work, what Python takes" },
    left = { default = 0.05, min = 0, max = 1, unit = "ratio",
             doc = "part of the stage's time that TensorFlow ops still need" },
    min_refill = { default = 1.15, min = 1, max = 100, unit = "ratio",
                   doc = "making a step's input over the step, from which a buffer will run dry" },
  },
  doc = [[
py_function, numpy_function and from_generator call Python for each element. The interpreter's lock
lets one call run at a time, however many are asked for, and takes it from the training loop as well.
Priced by replay: the stage costs a twentieth, and the loop's own Python no longer waits for the lock.
Where the step does not wait, but one thread takes longer than a step to make its input, the recorded
steps live on batches that lay ready: priced as the share of the time that steps will wait. Silent where
Python keeps up or is a small part of the pipeline.]],

  check = function(p, cfg)
    local waits = not p.fact["input.keeps_up"] and p.fact["input.wait_share"] >= cfg.min_wait_share
    local refill_ns = p:has("input.refill_ns") and p.fact["input.refill_ns"] or 0
    if not waits and refill_ns < cfg.min_refill * p.fact["step.ns"] then return nil end

    local stages = p:table("iterators")
    local python = stages:where { python_ns = { min = 1 } }
    local python_ns = p.fact["input.python_ns"]
    -- A stage's own time holds its wait for the pool that runs its function: the longer one counts.
    local work_ns = math.max(stages:sum("self_ns"), stages:sum("cpu_ns"), 1)
    local share = math.min(1, python_ns / work_ns)
    if share < cfg.min_python_share or python:count() == 0 then return nil end

    local worst = python:top("python_ns", 1):rows()[1]
    if not waits then return runs_dry(p, python_ns, worst) end
    local edits = {}
    for stage in python:each() do
      edits[#edits + 1] = { "stage_scale", stage = "\\Q" .. stage.name .. "\\E", factor = cfg.left }
    end
    edits.fallback = impact.exposed { ns = p.fact["input.wait_ns"] * share }
    return finding {
      title = ("Python in the input pipeline takes %s a step, under one lock"):format(fmt.ms(python_ns)),
      subject = { op = worst.name },
      evidence = {
        { "stage that calls Python", worst.name },
        { "Python in the pipeline a step", python_ns, "ns" },
        { "of the pipeline's work", share, "share" },
        { "elements a step", worst.calls, "count" },
        { "input wait a step", p.fact["input.wait_ns"], "ns", share = p.fact["input.wait_share"] },
      },
      condition = ("Python is %s of the pipeline's work, %s accepted, and the step waits %s for input"):format(
        fmt.pct(share), fmt.pct(cfg.min_python_share), fmt.pct(p.fact["input.wait_share"])),
      remedy = remedy_for(worst),
      impact = impact.replay(edits),
      confidence = "high",
    }
  end,

  examples = {
    { name = "py_function parses lines", framework = "tensorflow", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["input.wait_ns"] = 6e6,
                ["input.python_ns"] = 1.5e7 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::MapAndBatch", type = "MapAndBatch", calls = 1,
                                 self_ns = 3e5, cpu_ns = 1.8e7, python_ns = 1.5e7, path_ns = 6e6 } } },
      replay = { 6e6 } },
    { name = "a generator", framework = "tensorflow", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.5, ["input.wait_ns"] = 5e6,
                ["input.python_ns"] = 7e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::FlatMap::Generator", type = "Generator", calls = 32,
                                 self_ns = 8e6, cpu_ns = 0, python_ns = 7e6, path_ns = 5e6 } } },
      replay = { 4e6 } },
    -- 14 ms for a batch, steps of 8 ms that wait 0.4: later 7.6 of 14 ms are the step's own, 45.7 % of the time is a
    -- wait, of 8 ms 3.66; half of it and all of it: 2.74 in the middle.
    { name = "a buffer that runs dry", framework = "tensorflow", finding = true, impact_ns = 2.743e6,
      facts = { ["step.ns"] = 8e6, ["input.wait_share"] = 0.04, ["input.wait_ns"] = 4e5,
                ["input.python_ns"] = 8e6, ["input.refill_ns"] = 1.4e7 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::FlatMap::Generator", type = "Generator", calls = 1,
                                 self_ns = 8.2e6, cpu_ns = 0, python_ns = 8e6, path_ns = 4e5 } } } },
    { name = "Python that keeps up", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 8e6, ["input.wait_share"] = 0.04, ["input.wait_ns"] = 4e5,
                ["input.python_ns"] = 5e6, ["input.refill_ns"] = 6e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::FlatMap::Generator", type = "Generator", calls = 1,
                                 self_ns = 5.2e6, cpu_ns = 0, python_ns = 5e6, path_ns = 4e5 } } } },
    { name = "no Python", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["input.wait_ns"] = 6e6,
                ["input.python_ns"] = 0 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::Map", type = "Map", calls = 32,
                                 self_ns = 9e6, cpu_ns = 0, python_ns = 0, path_ns = 6e6 } } } },
  },
}
