-- Now and then a step takes far longer because it saves a checkpoint.
return rule {
  id = "checkpoint-spike", api = 1, version = "1.0.0",
  title = "Saving makes single steps far longer",
  category = "output", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.max_ns", "step.used", "activities" },
  cause = "output", tags = { "output" },
  more_specific_than = { "step-outliers", "step-bimodal", "logging-in-step", "unnamed-excess" },
  params = {
    min_steps = { default = 5, min = 3, max = 1e6, unit = "count", doc = "steps needed to tell one that is longer" },
    max_steps_share = { default = 0.34, min = 0, max = 1, unit = "share",
                        doc = "of the steps, those that save at most" },
    min_ratio = { default = 0.5, min = 0, max = 1e6, unit = "ratio", doc = "a save over the median step" },
  },
  doc = [[
A checkpoint written by the training thread holds one step for its whole length. Priced as the saving time spread over
the recorded steps; how often it happens outside the recording is not known. Silent where each step saves (that is
another rule) and where saving is short.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.fact["step.used"] < cfg.min_steps or p.fact["step.max_ns"] < (1 + cfg.min_ratio) * step_ns then return nil end
    local saves =
      p:table("activities"):where {
        name = { like = p:names("saves") },
        steps_share = { max = cfg.max_steps_share },
        max_ns = { min = cfg.min_ratio * step_ns } }
    local top = saves:top("path_ns", 1):rows()[1]
    if not top or top.path_ns <= 0 then return nil end
    return finding {
      title = ("Saving takes %s in single steps of %s"):format(fmt.ms(top.max_ns), fmt.ms(step_ns)),
      subject = { op = top.name },
      evidence = { { "longest save", top.max_ns, "ns" },
                   { "saving spread over the steps", top.path_ns, "ns", share = math.min(1, top.path_ns / step_ns) },
                   { "of the steps, those that save", top.steps_share, "share" } },
      condition = ("a save takes %s median steps, %s accepted"):format(
        fmt.ratio(top.max_ns / step_ns), fmt.ratio(cfg.min_ratio)),
      remedy = { text = "Copy the state and write it beside the steps that follow.",
                 code = p.framework == "pytorch"
                   and "torch.distributed.checkpoint.async_save(state, checkpoint_id=path)"
                        or p.framework == "jax" and "ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())"
                        or "tf.train.CheckpointOptions(enable_async=True)" },
      impact = impact.exposed { ns = math.min(top.path_ns, step_ns) },
      confidence = "low",
    }
  end,

  examples = {
    { name = "one in ten", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["step.max_ns"] = 5e7, ["step.used"] = 10 },
      tables = { activities = { { name = "SaveV2", steps_share = 0.1, max_ns = 4e7, path_ns = 4e6 } } } },
    { name = "each step", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 5e7, ["step.max_ns"] = 5.2e7, ["step.used"] = 10 },
      tables = { activities = { { name = "SaveV2", steps_share = 1, max_ns = 4e7, path_ns = 4e7 } } } },
  },
}
