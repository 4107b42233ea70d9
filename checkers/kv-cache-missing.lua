-- Each new token runs all tokens before it again.
return rule {
  id = "kv-cache-missing", api = 1, version = "1.0.0",
  title = "Each new token runs all tokens before it again",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "excess" },
  cause = "forward.prefix", tags = { "ops" },
  more_specific_than = { "hot-op", "repeated-op-sequence", "duplicate-compute" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
  },
  doc = [[
Products of the same weights get a few rows more in each round and all rows of the round before again: a generation that
keeps no keys and values. What is needed are the new rows; the first round is the prompt and counts as needed.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "growing-prefix", min_share = cfg.min_share,
      title = "Running the same prefix again for each token takes %s a step",
      time = "rows of rounds before",
      remedy = { text = "Keep keys and values of earlier tokens, and run the new ones alone.",
                 code = "out = model(ids[:, -1:], past_key_values=cache, use_cache=True)   "
                   .. "# generate(use_cache=True)" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a loop over tokens", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-prefix", op = "aten::linear", ns = 3e6, share = 0.3,
                              factor = 0.1,
        region = "train.py(12): step", detail = "256, 260, 264 rows" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-prefix", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
