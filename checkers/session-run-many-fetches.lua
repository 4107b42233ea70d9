-- A session run hands out many results, or several runs a step compute the same.
local function runs_again(p, cfg)
  return p:in_excess {
    flaw = "repeated-run", min_share = cfg.min_share,
    time = "doing it again, with the pauses before it,", severity = "warn",
    title = "Several session runs a step compute the same: %s",
    remedy = { text = "Fetch all results of a batch in one run.",
               code = "_, loss, accuracy = session.run([train_op, loss_op, accuracy_op], feed)" },
    confidence = "high",
  }
end

-- The same without a graph: names of ops tell what runs have in common, not whether they are fed the same.
local function runs_alike(p, cfg)
  return p:in_excess {
    flaw = "run-again", min_share = cfg.min_alike_share,
    time = "running ops of another run once more, with the pauses before it,", severity = "info",
    title = "A session run computes again what another run of the step does: %s",
    remedy = { text = "Where both are fed the same batch, fetch all results in one run; what belongs to training, as "
                 .. "moving averages of batch normalisation, hand to the train op.",
               code = "with tf.control_dependencies(update_ops): train_op = optimizer.minimize(loss)\n"
                 .. "_, loss, accuracy = session.run([train_op, loss_op, accuracy_op], feed)" },
    confidence = "medium",
  }
end

-- Runs that load or read one variable each.
local function small_runs(p, cfg)
  return p:in_excess {
    flaw = "small-runs", min_share = cfg.min_share, time = "starting them, feeding and fetching", severity = "warn",
    title = "Many small session runs a step, each with next to nothing to compute: %s",
    remedy = { text = "Do it in one run: group the assignments and feed all of them, fetch a list, or put a batch into "
                 .. "a queue by enqueue_many.",
               code = "load = tf.group(*[v.assign(p) for v, p in zip(variables, placeholders)])\n"
                 .. "session.run(load, dict(zip(placeholders, values)))   # instead of v.load(value, session)" },
    confidence = "medium",
  }
end

-- Runs that hand all variables to Python.
local function fetched_variables(p, cfg)
  return p:in_excess {
    flaw = "fetched-variables", min_share = cfg.min_share, time = "copying variables for Python", severity = "warn",
    title = "Each session run fetches whole variables: %s",
    remedy = { text = "Fetch variables every few hundred steps, or what is wanted of them, as a norm, from the graph.",
               code = "size = tf.linalg.global_norm(variables)\n"
                 .. "session.run([train_op, size])   # instead of session.run([train_op, variables])" },
    confidence = "high",
  }
end

return rule {
  id = "session-run-many-fetches", api = 1, version = "1.0.0",
  title = "A session run hands out many results",
  category = "host", severity = "info",
  formats = { "graph", "xspace" },
  needs = { "step.ns" },
  cause = "output", tags = { "tensorflow", "host" },
  more_specific_than = { "hot-op", "host-bound", "feed-dict-input", "duplicate-compute", "batch-too-small",
                         "xla-cluster-fragmentation" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in runs that repeat others, from which this is said" },
    min_alike_share = { default = 0.10, min = 0, max = 1, unit = "share",
                        doc = "the same where no graph tells what runs compute" },
    max_fetches = { default = 10, min = 1, max = 1e6, unit = "count", doc = "results a run from which this is said" },
  },
  doc = [[
Every fetch is copied to the host and made a Python object before the loop goes on. The recording does not show that
time, so it is a fact without a price. Silent for a loss and a few metrics. Where runs of a step share ops with the run
that trains, they compute them again: that has a price.
Where no graph is recorded, names and times of ops tell it: a run that takes about as long as a way forward of the
batch that is trained, and has ops of the same names. So have eight or more runs a step in which no op takes long, as
variables that are loaded or read one by one make them: what starting them takes, with usual pauses before them. And so
has fetching the variables themselves, where that copies them.]],

  check = function(p, cfg)
    local costly = runs_again(p, cfg) or runs_alike(p, cfg) or small_runs(p, cfg) or fetched_variables(p, cfg)
    if costly then return costly end
    if not p:has("graph_patterns.fetches") then
      return skip { reason = "the graph of the runs is not known", capture = "the graph beside the runs" }
    end
    local fetches = p.fact["graph_patterns.fetches"]
    if fetches < cfg.max_fetches then return nil end
    return finding {
      title = ("Each session run hands out %s results"):format(fmt.count(fetches)),
      evidence = { { "results a run", fetches, "count" } },
      condition = ("%s results a run, fewer than %s accepted"):format(fmt.count(fetches), fmt.count(cfg.max_fetches)),
      remedy = { text = "Fetch the train op alone, and metrics every 100 steps.",
                 code = "sess.run(train_op) if step % 100 else sess.run([train_op, *metrics])" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "loss and accuracy fetched one by one", format = "graph", framework = "tensorflow", finding = true,
      replay = { 4e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "repeated-run", ns = 4e6, share = 0.4, factor = 0,
                              detail = "3 runs a step" } } } },
    { name = "moving averages updated by a run of their own", format = "xspace", framework = "tensorflow",
      finding = true, replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "run-again", ns = 3e6, share = 0.3, factor = 0,
                              detail = "2 runs a step" } } } },
    { name = "a short run beside the long one", format = "xspace", framework = "tensorflow", skipped = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "run-again", ns = 6e5, share = 0.06, factor = 0,
                              detail = "2 runs a step" } } } },
    { name = "variables loaded one by one", format = "xspace", framework = "tensorflow", finding = true,
      replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "small-runs", ns = 3e6, share = 0.3, factor = 0,
                              detail = "84 runs a step in which no op takes long" } } } },
    { name = "all weights fetched", format = "xspace", framework = "tensorflow", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "fetched-variables", ns = 5e6, share = 0.5, factor = 0.02,
                              op = "ReadVariableOp", detail = "variables are fetched whole in each run" } } } },
    { name = "the counter of steps fetched", format = "xspace", framework = "tensorflow", skipped = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "fetched-variables", ns = 1e4, share = 0.001, factor = 0.02 } } } },
    { name = "a few of them", format = "xspace", framework = "tensorflow", skipped = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "small-runs", ns = 3e5, share = 0.03, factor = 0,
                              detail = "9 runs a step in which no op takes long" } } } },
    { name = "all gradients", format = "graph", framework = "tensorflow", finding = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.fetches"] = 40 } },
    { name = "a loss", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.fetches"] = 2 } },
  },
}
