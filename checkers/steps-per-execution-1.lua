-- Keras returns to Python after every short step.
return rule {
  id = "steps-per-execution-1", api = 1, version = "1.0.0",
  title = "Keras returns to Python after every short step",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "activities", "host.lead_ns", "eager.function_calls" },
  cause = "host", tags = { "tensorflow", "keras", "host" },
  more_specific_than = { "host-bound", "step-boundary-gap", "tiny-ops" },
  params = {
    max_step_ns = { default = 5e6, min = 0, max = 1e12, unit = "ns",
                    doc = "beside longer steps the loop's some hundred microseconds are little" },
    min_share = { default = 0.3, min = 0, max = 1, unit = "share",
                  doc = "share of the step in the loop around the training function" },
    most_host = { default = 0.75, min = 0, max = 1, unit = "share",
                  doc = "share of the step that is the host's, from which less of the loop is enough" },
    min_host_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "that is" },
  },
  doc = [[
Model.fit calls its training function once a step unless steps_per_execution says otherwise; around
each call Keras runs callbacks, metrics and dispatch in Python. Priced as the host time that a call
for 32 steps spreads over them; where executors around ops take most of that, as a note from the loop alone to all
of it. Silent for long steps and where the loop takes little of the step.]],

  check = function(p, cfg)
    local step_ns, lead_ns = p.fact["step.ns"], p.fact["host.lead_ns"]
    local keras = p:table("activities"):where { name = { like = p:names("keras_loop") } }
    local host_ns = p:has("part.host_ns") and p.fact["part.host_ns"] or 0
    local least = host_ns >= cfg.most_host * step_ns and cfg.min_host_share or cfg.min_share
    if keras:count() == 0 or step_ns > cfg.max_step_ns or lead_ns / step_ns < least then return nil end

    -- A loop that is the smaller part: what executors take around ops is of the call, or of the ops, which stay.
    local is_part = lead_ns / step_ns < cfg.min_share
    local calls = math.max(p.fact["eager.function_calls"], 1)
    return finding {
      title = ("Keras spends %s of each %s step around its training function"):format(fmt.ms(lead_ns), fmt.ms(step_ns)),
      severity = is_part and "info" or "warn",
      evidence = { { "host work of the loop a step", lead_ns, "ns", share = math.min(lead_ns / step_ns, 1) },
                   { "calls of the training function a step", calls, "count" } },
      condition = ("a step takes %s, the loop %s of it, %s accepted"):format(fmt.ms(step_ns),
        fmt.pct(lead_ns / step_ns), fmt.pct(least)),
      remedy = { text = "Run several steps in one call.",
                 code = "model.compile(..., steps_per_execution=32)" },
      impact = is_part and
        impact.exposed { ns = 0.9 * host_ns, low = 0.9 * lead_ns, high = 0.9 * host_ns } or
        impact.replay { { "scale", parts = { "host", "idle.other", "idle.sync" }, factor = 0.1 } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "short steps", framework = "tensorflow", finding = true, replay = { 4e5 },
      facts = { ["step.ns"] = 8e5, ["host.lead_ns"] = 4.5e5, ["eager.function_calls"] = 1 },
      tables = { activities = { { name = "multi_step_on_iterator", kind = "other", path_ns = 7e5 } } } },
    -- Between 0.9 of 0.8 and of 3 ms.
    { name = "nearly all of it is the host's", framework = "tensorflow", finding = true, severity = "info",
      impact_ns = 1.71e6,
      facts = { ["step.ns"] = 3.3e6, ["host.lead_ns"] = 8e5, ["eager.function_calls"] = 1, ["part.host_ns"] = 3e6 },
      tables = { activities = { { name = "train_function", kind = "other", path_ns = 3e6 } } } },
    { name = "a loop that takes a quarter", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 3.3e6, ["host.lead_ns"] = 8e5, ["eager.function_calls"] = 1, ["part.host_ns"] = 1.5e6 },
      tables = { activities = { { name = "train_function", kind = "other", path_ns = 3e6 } } } },
    { name = "long steps", finding = false,
      facts = { ["step.ns"] = 8e7, ["host.lead_ns"] = 4.5e5, ["eager.function_calls"] = 1 },
      tables = { activities = { { name = "multi_step_on_iterator", kind = "other", path_ns = 7e7 } } } },
  },
}
