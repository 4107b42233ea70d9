-- The model is evaluated in each training step.
return rule {
  id = "evaluation-every-step", api = 1, version = "1.0.0",
  title = "The model is evaluated in each training step",
  category = "host", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "excess" },
  cause = "forward.evaluation", tags = { "ops" },
  more_specific_than = { "hot-op", "duplicate-compute", "unnamed-excess" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
  },
  doc = [[
In steps that train, products of the trained weights run that no backward node is for, with a loss of their own or
behind the update: evaluation, or metrics that call the model once more. Silent where they lie between a trained pass
and its gradients or compute no loss: a teacher or a target network.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "evaluation", min_share = cfg.min_share,
      title = "Evaluating the model takes %s of each training step",
      time = "forward passes that nothing is trained by",
      remedy = { text = "Evaluate every few hundred steps, and take what metrics need from the training pass.",
                 code = "args = TrainingArguments(eval_strategy=\"steps\", eval_steps=500)" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a Trainer that evaluates each step", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation", op = "aten::linear", ns = 3e6, share = 0.3, factor = 0.1,
        region = "train.py(12): step", detail = "products of the trained weights" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
