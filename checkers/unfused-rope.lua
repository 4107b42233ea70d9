-- Rotary embeddings are spelled out in elementwise ops.
return rule {
  id = "unfused-rope", api = 1, version = "1.0.0",
  title = "Rotary embeddings are spelled out",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "eager_idioms" },
  cause = "formula.rope", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_elements = { default = 1024, min = 1, max = 1e12, unit = "count",
      doc = "elements of the tensor" },
  },
  doc = [[
Halves are sliced, negated, joined, multiplied by sine and cosine and added: five passes over queries and keys in
each layer. Compiled together they are one. Priced as a third to most of it. On an accelerator, whose memory holds
each pass, priced as all but about one of them, with all other formulas that compiling mends as well; those whose
own take less are facts then. Silent below min_share.]],

  check = function(p, cfg)
    return p:spelled_out {
      passes = "rope", idiom = "rope", min_share = cfg.min_share, title = "Rotary embedding by hand takes",
      price = function(row)
        if p:is_large(row, row.elements, cfg.min_elements) then return 0.3 * row.ns, 0.8 * row.ns end
      end,
      remedy = { text = "Compile the function that rotates, or rotate with one complex product.",
          code = "apply_rope = torch.compile(apply_rope)" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 1.1e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "rope", first_op = "aten::mul", ns = 2e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 1e6, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "rope", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
