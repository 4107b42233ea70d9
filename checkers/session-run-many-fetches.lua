-- A session run hands out many results.
return rule {
  id = "session-run-many-fetches", api = 1, version = "1.0.0",
  title = "A session run hands out many results",
  category = "host", severity = "info",
  formats = { "graph" },
  needs = { "step.ns", "graph_patterns.fetches" },
  cause = "output", tags = { "tensorflow", "host" },
  params = {
    max_fetches = { default = 10, min = 1, max = 1e6, unit = "count", doc = "results a run from which this is said" },
  },
  doc = [[
Every fetch is copied to the host and made a Python object before the loop goes on. The recording does not show that time,
so it is a fact without a price. Silent for a loss and a few metrics.]],

  check = function(p, cfg)
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
    { name = "all gradients", format = "graph", framework = "tensorflow", finding = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.fetches"] = 40 } },
    { name = "a loss", format = "graph", finding = false, facts = { ["step.ns"] = 1e7, ["graph_patterns.fetches"] = 2 } },
  },
}
