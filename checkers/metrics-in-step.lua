-- Metrics that count predictions are updated in each training step.
-- Ledger: ops over all that was gathered so far, longer in each step.
local function over_history(p, cfg)
  return p:in_excess {
    flaw = "whole-history", min_share = cfg.min_share, time = "going over all of it",
    title = "All that was gathered since the run began is gone over again in each step: %s",
    remedy = { text = "Add up sums and counts as batches come, and compute what needs all of them where it is read: at "
                 .. "the end of an epoch, or every few hundred steps.",
               code = "metric.update(scores, y)                       # in each step\n"
                 .. "if step % 500 == 0: log(metric.compute())      # not in each" },
    confidence = "high",
  }
end

-- Ledger: a data set that a function that trains goes over, as all candidates for a metric of retrieval.
local function over_dataset(p, cfg)
  return p:in_excess {
    flaw = "dataset-pass", min_share = cfg.min_share, time = "going over it, and reading it",
    title = "Each training step goes over a whole data set: %s",
    remedy = { text = "Compute what needs it, as a metric over all candidates, in evaluation alone.",
               code = "return self.task(queries, candidates, compute_metrics=not training)" },
    confidence = "high",
  }
end

-- Ledger: counts of predictions that were counted right before.
local function counted_apart(p, cfg)
  return p:in_excess {
    flaw = "same-counts", min_share = cfg.min_share, time = "counting again",
    title = "Several metrics count arrays of the same sizes, each for itself: %s of each step",
    remedy = { text = "Where they count the same predictions, let one count for all: a collection of metrics that "
                 .. "groups those with equal counts, or one table of confusion that all are computed from.",
               code = "metrics = MetricCollection([accuracy, precision, recall, f1])   # compute_groups: True\n"
                 .. "metrics.update(scores, y)" },
    confidence = "medium",
  }
end

-- Ledger: predictions that are counted against thresholds, or sorted.
local function counted(p, cfg)
  local share = p:table("excess"):where { flaw = "metrics" }:sum("share")
  return p:in_excess {
    flaw = "metrics", min_share = cfg.min_share,
    severity = p.framework == "pytorch" and share < cfg.min_loud_share and "info" or "warn",
    time = "counting predictions for metrics",
    title = "Updating metrics takes %s of each training step",
    remedy = { text = "Evaluate such metrics on held-out data once an epoch; train with the loss alone.",
               code = p.framework == "pytorch"
                 and "if step % 500 == 0: log(metric(scores, y))   # not in each step"
                 or "model.compile(optimizer, loss)   # metrics: in a model for evaluation, or fewer thresholds" },
    confidence = "medium",
  }
end

-- Ledger: ops behind the model of a graph that trains, which no gradient is for.
local function untrained(p, cfg)
  local has_sessions = p.format ~= "xspace"
    or p:has("activities") and p:table("activities"):where { name = "SessionRun" }:count() > 0
  return p:in_excess {
    flaw = "untrained-results", min_share = cfg.min_untrained_share, time = "what nothing is trained by",
    severity = "info",
    title = "Each training step computes from the model's results what nothing is trained by: %s",
    remedy = { text = "Compute metrics every few hundred steps, or on held-out data once an epoch: in a run of their "
                 .. "own, not with the one that trains.",
               code = has_sessions and "_, loss = session.run([train_op, loss_op])\n"
                 .. "if step % 500 == 0: print(session.run(metrics))   # not in each step"
                 or "loss = train_step(x, y)                      # computes no metric\n"
                 .. "if step % 500 == 0: print(metrics(x, y))     # a function of its own" },
    confidence = "medium",
  }
end

return rule {
  id = "metrics-in-step", api = 1, version = "1.0.0",
  title = "Metrics that count predictions are updated in each training step",
  category = "host", severity = "warn",
  formats = { "xspace", "kineto", "graph" },
  needs = { "step.ns", "excess" },
  cause = "forward.metrics", tags = { "ops", "keras", "tensorflow", "pytorch" },
  more_specific_than = { "hot-op", "host-bound", "elementwise-chain", "tiny-ops", "gather-scatter-bound",
                         "unnamed-excess" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step from which this is said" },
    min_untrained_share = { default = 0.08, min = 0, max = 1, unit = "share",
                            doc = "TensorFlow: share of the step of ops that nothing is trained by" },
    min_loud_share = { default = 0.4, min = 0, max = 1, unit = "share",
                       doc = "PyTorch: share of the step from which it is a warning" },
  },
  doc = [[
Curves, precision at a recall and tables of confusion count the predictions of each batch against many thresholds, or
in bins. In the function that trains that is done for each batch, for a number that nobody reads before the epoch's
end. Seen by ops right below that function, outside of layers, losses and gradients, that compare, tile, join and sum.
Priced as their time but one step in fifty. In PyTorch: ops that sort or count behind the update, with the products of
all pairs that they rank, and what is computed
without gradients from all that was gathered so far, which is longer by the same in each step. Metrics of retrieval go
over a data set of candidates: seen by the op that goes over one inside of the function that trains, while no
gradients are made. In graphs of TensorFlow also products, convolutions, sorting and decoding that begin behind the
forward pass and beside the gradients, none of which is for them, what tf.image compares pictures by, as its scopes
tell, from where no gradient comes, and scopes without gradients that join comparisons and add to variables, as curves
of TF1 do. Silent where a function computes no gradients. In PyTorch, in evaluation too, ops that count arrays of the
same sizes one time after the other, while nothing between could make other predictions of them.]],

  check = function(p, cfg)
    return over_history(p, cfg) or over_dataset(p, cfg) or counted_apart(p, cfg) or counted(p, cfg) or untrained(p, cfg)
  end,

  examples = {
    { name = "curves in training", framework = "tensorflow", format = "xspace", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "metrics", ns = 5e6, share = 0.5, factor = 0.02, op = "Tile",
                              detail = "predictions are counted against thresholds" } } } },
    { name = "the best of all candidates", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 8e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "dataset-pass", ns = 8e6, share = 0.8, factor = 0.02,
                              detail = "a data set is reduced" } } } },
    { name = "pictures compared with every batch", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "untrained-results", ns = 3e6, share = 0.3, factor = 0.02,
                              op = "DepthwiseConv2dNative", detail = "behind the forward pass" } } } },
    { name = "little that is not trained", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "untrained-results", ns = 6e5, share = 0.06, factor = 0.02 } } } },
    { name = "a curve over all predictions so far", framework = "pytorch", format = "kineto", finding = true,
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "whole-history", ns = 5e6, share = 0.5, factor = 0, op = "aten::argsort",
                              detail = "ops go over 31232 rows" } } } },
    { name = "metrics that count apart", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "same-counts", ns = 3e6, share = 0.3, factor = 0, op = "aten::bincount",
                              detail = "ops around aten::bincount come again for the same sizes" } } } },
    { name = "an AUC of each batch", framework = "pytorch", format = "kineto", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "metrics", ns = 4e6, share = 0.4, factor = 0.02, op = "aten::argsort",
                              detail = "ops behind the update sort or count what was predicted" } } } },
    { name = "too little", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "metrics", ns = 2e5, share = 0.02, factor = 0.02 } } } },
    { name = "another flaw", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
