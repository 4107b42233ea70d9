-- Each epoch starts the loader's worker processes again.
return rule {
  id = "dataloader-worker-respawn", api = 1, version = "1.0.0",
  title = "The loader's workers are started again and again",
  category = "input", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "excess" },
  cause = "input.workers", tags = { "input" },
  more_specific_than = { "dataloader-slow-next", "dataloader-periodic-stall", "input-bound-step", "python-in-step",
                         "host-bound", "step-outliers", "step-bimodal" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the steps from which this is said" },
  },
  doc = [[
Twice or more in the recording nothing runs for fifty milliseconds or more, and then, an order being drawn in between at
most, the loop waits for a batch of a loader with worker processes: they are started anew, as each
`for batch in loader` does that has no persistent workers. Priced as those pauses and the waits of the same step, in
which old workers end and fresh ones have made nothing ahead. One start at the beginning is silent.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "worker-start", min_share = cfg.min_share,
      title = "Starting the loader's workers again takes %s a step",
      time = "starts and first waits",
      remedy = { text = "Keep the workers from one epoch to the next; make epochs longer.",
                 code = "DataLoader(ds, num_workers=n, persistent_workers=True)" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "every third step", framework = "pytorch", format = "kineto", finding = true, replay = { 7e5 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "worker-start", ns = 7e5, share = 0.07, factor = 0,
        detail = "workers are started 2 times in 6 steps" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "worker-start", ns = 4e5, share = 0.04, factor = 0 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
