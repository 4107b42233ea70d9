-- Metrics that count predictions are updated in each training step.
return rule {
  id = "metrics-in-step", api = 1, version = "1.0.0",
  title = "Metrics that count predictions are updated in each training step",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "excess" },
  cause = "forward.metrics", tags = { "ops", "keras", "tensorflow" },
  more_specific_than = { "hot-op", "host-bound", "elementwise-chain", "tiny-ops", "gather-scatter-bound" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step from which this is said" },
  },
  doc = [[
Curves, precision at a recall and tables of confusion count the predictions of each batch against many thresholds,
or in bins. In the function that trains that is done for each batch, for a number that nobody reads before the epoch's
end. Seen by ops right below that function, outside of layers, losses and gradients, that compare, tile, join and sum.
Priced as their time but one step in fifty. Silent where a function computes no gradients.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "metrics", min_share = cfg.min_share, time = "counting predictions for metrics",
      title = "Updating metrics takes %s of each training step",
      remedy = { text = "Evaluate such metrics on held-out data once an epoch; train with the loss alone.",
                 code = "model.compile(optimizer, loss)   # metrics: in a model for evaluation, or fewer thresholds" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "curves in training", framework = "tensorflow", format = "xspace", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "metrics", ns = 5e6, share = 0.5, factor = 0.02, op = "Tile",
                              detail = "predictions are counted against thresholds" } } } },
    { name = "too little", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "metrics", ns = 2e5, share = 0.02, factor = 0.02 } } } },
    { name = "another flaw", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
