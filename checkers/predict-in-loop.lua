-- predict or evaluate is called again and again, each call with its own set-up.
return rule {
  id = "predict-in-loop", api = 1, version = "1.0.0",
  title = "predict is called in a loop",
  category = "host", severity = "error",
  formats = { "xspace" },
  needs = { "step.median_ns", "activities", "eager.function_calls", "step.used" },
  cause = "host", tags = { "tensorflow", "keras", "host" },
  more_specific_than = { "eager-heavy", "host-bound", "steps-per-execution-1", "input-bound-step",
                         "recompile-in-steady-state", "batch-too-small", "step-boundary-gap" },
  params = {
    min_calls = { default = 3, min = 2, max = 1e6, unit = "count",
                  doc = "datasets built a step from which calls are said to be in a loop" },
    min_share = { default = 0.3, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent building datasets and iterators" },
  },
  doc = [[
Model.predict and evaluate build a dataset, its iterator and their functions in every call. Called
for one row at a time, that set-up is the work. Priced as all of the step but one call in n. Silent
where a step builds few datasets.]],

  check = function(p, cfg)
    local made = p:table("activities"):where { name = { like = "^MakeIterator::RootDataset$|^EagerLocalExecute: MakeIterator$" } }
    local builds = made:max("events") or 0
    local setup_ns = made:max("path_ns") or 0
    local step_ns = p.fact["step.median_ns"]
    if builds < cfg.min_calls or setup_ns / step_ns < cfg.min_share then return nil end

    local calls = math.max(p.fact["eager.function_calls"], 2)
    return finding {
      title = ("Datasets are built %s times a step, as predict does in each call"):format(fmt.count(math.floor(builds + 0.5))),
      evidence = { { "building iterators a step", setup_ns, "ns", share = math.min(setup_ns / step_ns, 1) },
                   { "iterators built a step", builds, "count" },
                   { "graph function calls a step", calls, "count" } },
      condition = ("%s iterators built a step, %s accepted; %s of the step"):format(fmt.count(builds),
        fmt.count(cfg.min_calls), fmt.pct(setup_ns / step_ns)),
      remedy = { text = "Call predict once for all rows, or call the model itself for small inputs.",
                 code = "y = model.predict(all_rows, batch_size=256)   # or model(rows, training=False)" },
      impact = impact.replay { { "scale", factor = 1 / calls } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "sixteen calls", framework = "tensorflow", finding = true, replay = { 9e8 },
      facts = { ["step.median_ns"] = 1e9, ["eager.function_calls"] = 16, ["step.used"] = 4 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 32, path_ns = 5e8 } } } },
    { name = "one call", finding = false,
      facts = { ["step.median_ns"] = 1e8, ["eager.function_calls"] = 1, ["step.used"] = 4 },
      tables = { activities = { { name = "MakeIterator::RootDataset", kind = "input-work", events = 2, path_ns = 5e7 } } } },
  },
}
