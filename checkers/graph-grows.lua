-- Python adds ops to the graph between runs of a session.
return rule {
  id = "graph-grows", api = 1, version = "1.0.0",
  title = "The graph grows from step to step",
  category = "compile", severity = "error",
  formats = { "graph", "xspace" },
  needs = { "step.ns", "excess" },
  cause = "host.growing", tags = { "tensorflow", "host" },
  more_specific_than = { "hot-op", "host-bound", "python-in-step", "step-outliers", "step-drift" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step between runs from which this is said" },
  },
  doc = [[
Runs have ops that ran in no other run, or the graph holds many copies of an op that no recorded run needs and most of
the time passes between runs: the program makes new ones for each step, and the session prepares the whole graph anew
for the next run. Under the host's profiler, which shows no graph: most steps have a run with ops of its own whose
numbers rise, as Assign_7 and Assign_8. Priced as the time between runs, less what recording them costs, or what
passes before other runs. Silent where a step's runs have the same ops.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "growing-graph", min_share = cfg.min_share, time = "between runs",
      title = "The graph grows in each step: %s between its runs",
      remedy = { text = "Make all ops once, before the loop, with placeholders for what changes; "
                   .. "finalise the graph so that growing fails.",
                 code = "set_rate = rate.assign(rate_value); graph.finalize()   "
                   .. "# then session.run(set_rate, {rate_value: r})" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "an assignment made in each step", framework = "tensorflow", format = "graph", finding = true,
      replay = { 9e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-graph", ns = 9e6, share = 0.9, factor = 0,
                              detail = "8 of 12 runs" } } } },
    { name = "an assignment made in each step, under the host's profiler", framework = "tensorflow",
      format = "xspace", finding = true, replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-graph", ns = 4e6, share = 0.4, factor = 0,
                              detail = "5 of 10 runs have ops that ran in no other, as Assign_14" } } } },
    { name = "short pauses", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-graph", ns = 2e5, share = 0.02, factor = 0 } } } },
  },
}
