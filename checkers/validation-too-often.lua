-- Between training steps the model is evaluated.
return rule {
  id = "validation-too-often", api = 1, version = "1.0.0",
  title = "The model is evaluated too often",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "excess" },
  cause = "forward.evaluation", tags = { "ops" },
  more_specific_than = { "hot-op", "python-in-step", "step-outliers", "step-bimodal", "host-bound" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step from which this is said" },
  },
  doc = [[
Between runs of the function that computes gradients, others run that compute none: functions whose names say
evaluation, that read batches of their own, or that come in some of the steps only, as runs of a session do. A
function without gradients that runs in each step and reads no data (a policy that acts) is no evaluation. Priced as
its time over all steps, of which one in fifty stays.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "evaluation-calls", min_share = cfg.min_share, time = "evaluating",
      title = "Evaluating the model takes %s of each training step",
      remedy = function(worst)
        local is_session = (worst.detail or ""):find("SessionRun", 1, true)
        return { text = "Evaluate every few thousand steps or once an epoch, and on fewer batches in between.",
                 code = is_session and "if step % 1000 == 0: print(session.run(accuracy, held_out))"
                   or p.framework == "tensorflow" and "model.fit(train, validation_data=held_out, validation_freq=5)"
                   or "if step % 1000 == 0: evaluate(state)" }
      end,
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a callback evaluates after every fourth batch", framework = "tensorflow", format = "xspace",
      finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation-calls", ns = 6e6, share = 0.6, factor = 0.02, op = "MatMul",
                              detail = "runs of test_function between those that train" } } } },
    { name = "a session scores after every fifth batch", framework = "tensorflow", format = "xspace",
      finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation-calls", ns = 5e6, share = 0.5, factor = 0.02, op = "MatMul",
                              detail = "runs of SessionRun between those that train" } } } },
    { name = "too little", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation-calls", ns = 2e5, share = 0.02, factor = 0.02 } } } },
    { name = "another flaw", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
