-- A tf.function is traced again in call after call.
return rule {
  id = "tf-function-retrace", api = 1, version = "1.0.0",
  title = "A tf.function is traced again and again",
  category = "compile", severity = "error",
  formats = { "xspace" },
  needs = { "step.ns", "retrace.calls", "retrace.path_ns", "retrace.steps_share" },
  cause = "compile", tags = { "tensorflow", "compile" },
  more_specific_than = { "recompile-in-steady-state" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step inside calls that trace from which this is said" },
    min_steps_share = { default = 0.3, min = 0, max = 1, unit = "share",
                        doc = "share of the steps that trace; one or two traces are needed" },
    min_rare_share = { default = 0.3, min = 0, max = 1, unit = "share",
                       doc = "share of the step inside calls that trace from which this is said of fewer steps too" },
    min_rare_calls = { default = 2, min = 1, max = 1e6, unit = "count",
                       doc = "calls that trace in the recording, from which fewer steps count" },
  },
  doc = [[
Every new Python value or shape of an argument is a new signature, for which the function is traced
and its graph optimised before it runs. Priced as the host and compile time inside such calls: the
ops themselves stay. A model that is compiled again every few steps traces as well. Silent where few steps trace and
take little: each signature needs one trace.]],

  check = function(p, cfg)
    local path_ns, steps_share = p.fact["retrace.path_ns"], p.fact["retrace.steps_share"]
    local share = path_ns / p.fact["step.ns"]
    local is_often, calls = steps_share >= cfg.min_steps_share, nil
    if p:has("step.used") then
      calls = p.fact["retrace.calls"] * p.fact["step.used"]
      is_often = is_often or calls >= cfg.min_rare_calls and share >= cfg.min_rare_share
    end
    -- A function's first call alone, as where a recording begins with it: each signature needs one.
    if calls and calls < cfg.min_rare_calls and p.fact["retrace.count"] == 1 then return nil end
    if not is_often or share < cfg.min_share then return nil end

    local name = p.fact["retrace.function"] or "a function"
    local evidence = { { "time a step inside calls that trace", path_ns, "ns", share = math.min(share, 1) },
                       { "calls a step that trace", p.fact["retrace.calls"], "count" },
                       { "steps that trace", steps_share, "share" },
                       { "function", name } }
    if p.fact["retrace.count"] then
      evidence[#evidence + 1] = { "traces of it so far", p.fact["retrace.count"], "count" }
    end
    return finding {
      title = ("%s is traced anew in %s of the steps"):format(name, fmt.pct(steps_share)),
      subject = { op = name },
      evidence = evidence,
      condition = ("%s of the steps trace; %s of the step inside them, %s accepted"):format(
        fmt.pct(steps_share), fmt.pct(share),
        fmt.pct(steps_share >= cfg.min_steps_share and cfg.min_share or cfg.min_rare_share)),
      remedy = name:find("step_on_") and
        { text = "Call compile once; set what changes on the optimizer.",
          code = "model.optimizer.learning_rate.assign(rate)   # instead of model.compile(...) again" } or
        { text = "Pass tensors instead of Python numbers, and fix the signature.",
          code = "@tf.function(input_signature=[tf.TensorSpec([None, 128], tf.float32)])" },
      impact = impact.replay { { "scale", parts = { "compile", "host" }, name = "\\Q" .. name .. "\\E", factor = 0 } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "every step", framework = "tensorflow", finding = true, replay = { 9e6 },
      facts = { ["step.ns"] = 1e7, ["retrace.calls"] = 1, ["retrace.path_ns"] = 9e6,
                ["retrace.steps_share"] = 1, ["retrace.count"] = 12 } },
    { name = "a model compiled anew each round", framework = "tensorflow", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["step.used"] = 11, ["retrace.calls"] = 0.27, ["retrace.path_ns"] = 8e6,
                ["retrace.steps_share"] = 0.27, ["retrace.function"] = "multi_step_on_iterator" } },
    { name = "one trace in a short recording", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["retrace.calls"] = 0.2, ["retrace.path_ns"] = 8e6,
                ["retrace.steps_share"] = 0.2 } },
    { name = "a recording of one call, the first", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e8, ["step.used"] = 1, ["retrace.calls"] = 1, ["retrace.path_ns"] = 1e8,
                ["retrace.steps_share"] = 1, ["retrace.count"] = 1 } },
    { name = "a recording of one call, the eighth that traces", framework = "tensorflow", finding = true,
      replay = { 9e7 }, facts = { ["step.ns"] = 1e8, ["step.used"] = 1, ["retrace.calls"] = 1,
                                  ["retrace.path_ns"] = 9e7, ["retrace.steps_share"] = 1, ["retrace.count"] = 8 } },
    { name = "the first call only", finding = false,
      facts = { ["step.ns"] = 1e7, ["retrace.calls"] = 0.1, ["retrace.path_ns"] = 1e6,
                ["retrace.steps_share"] = 0.1 } },
  },
}
