-- A model is made, and its weights are filled or read, inside the step.
return rule {
  id = "model-load-in-step", api = 1, version = "1.0.0",
  title = "A model is built inside the step",
  category = "host", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "excess" },
  cause = "host.model", tags = { "host" },
  more_specific_than = { "hot-op", "host-bound", "python-in-step" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
  },
  doc = [[
Before its first product a step fills four matrices or more of the shapes that the products then take, with numbers as
initialisers draw them or from storage that was read, or packs weights for quantised layers: a model is made for each
request or step. Everything from the first such matrix to the first product counts, files that are read between
included. A model that is made once, before the recording, is silent.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "model-built", min_share = cfg.min_share,
      title = "Building a model and loading its weights takes %s of each step",
      time = "making and loading it",
      remedy = { text = "Build and load it once, when the process starts, and keep it.",
                 code = "model.load_state_dict(torch.load(path))   # once, when the process starts" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a model for each request", framework = "pytorch", format = "kineto", finding = true, replay = { 7e5 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "model-built", op = "aten::normal_", ns = 7e5, share = 0.07, factor = 0,
        detail = "12 matrices are filled, read or packed before the first product takes one" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "model-built", ns = 4e5, share = 0.04, factor = 0 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
