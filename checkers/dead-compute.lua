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
    local cells = p:table("excess"):where { flaw = "thrown-rows" }
    local share = cells:sum("share")
    if share < cfg.min_share then return nil end
    local ns = cells:sum("ns")
    local worst = cells:top("ns", 1):rows()[1]
    return finding {
      title = ("Rows of products that are thrown away take %s a step"):format(fmt.ms(ns)),
      subject = { op = worst.op, scope = worst.region }, locations = cells:places(),
      evidence = { { "computing rows that the next op drops a step", ns, "ns", share = math.min(share, 1) },
                   { "seen by", worst.detail or "structure" }, { "where", worst.region or "the step" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Cut to the rows that are needed before the product.",
                 code = "logits = head(h[:, -1])   # instead of head(h)[:, -1]" },
      impact = impact.cells(cells),
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
