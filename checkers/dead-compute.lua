-- Most rows of a product are thrown away.
return rule {
  id = "dead-compute", api = 1, version = "1.0.0",
  title = "Most rows of a product are thrown away",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "excess" },
  cause = "forward.thrown", tags = { "ops" },
  more_specific_than = { "hot-op", "big-logits" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
  },
  doc = [[
The op behind a product keeps a few of its rows: a head over all positions of which the last is read, say. Priced as the
product times the share thrown away.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "thrown-rows", min_share = cfg.min_share,
      title = "Rows of products that are thrown away take %s a step",
      time = "computing rows that the next op drops",
      remedy = { text = "Cut to the rows that are needed before the product.",
                 code = "logits = head(h[:, -1])   # instead of head(h)[:, -1]" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a head over all positions", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "thrown-rows", op = "aten::linear", ns = 3e6, share = 0.3, factor = 0.1,
        region = "train.py(12): step", detail = "keeps 1 of 40 rows" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "thrown-rows", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
