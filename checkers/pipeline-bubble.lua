-- Stages of a pipeline in one compiled program have nothing to work on in the first and last rounds.
return rule {
  id = "pipeline-bubble", api = 1, version = "1.0.0",
  title = "Stages of a pipeline work on nothing",
  category = "communication", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "excess" },
  cause = "bubble", tags = { "communication" },
  more_specific_than = { "exposed-comm", "hot-op", "small-collectives" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "what fewer such rounds save, of the step" },
  },
  doc = [[
Devices that hand their results on to the next one by a collective-permute in each round of a loop are stages of a
pipeline: S of them take M parts of a batch in M + S - 1 rounds, and each stage computes in all rounds, in S - 1 of them
on nothing. Told by that identity: the rounds that were recorded, the devices of the ring, and an array of M parts that
the loop carries. Priced as what the rounds take less with four parts a stage. Silent where there are so many.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "pipeline-bubble", min_share = cfg.min_share, time = "in rounds without work, beyond few,",
      title = "Stages of the pipeline work on nothing for %s of each step",
      remedy = { text = "Cut the batch into more parts, four times as many as there are stages; or let each device "
                   .. "hold several short stages.",
                 code = "parts = x.reshape(4 * stages, -1, width)   # micro-batches for lax.scan over ppermute" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "four stages, two parts", framework = "jax", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "pipeline-bubble", cause = "unused", ns = 3e6, share = 0.3, factor = 0.5,
                              detail = "4 stages take 2 parts of a batch in 5 rounds" } } } },
    { name = "another excess", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "cut-results", cause = "unused", ns = 3e6, share = 0.3,
                              factor = 0.5 } } } },
  },
}
