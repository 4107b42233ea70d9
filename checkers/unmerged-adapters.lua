-- Adapters run beside the weights they could be merged into.
return rule {
  id = "unmerged-adapters", api = 1, version = "1.0.0",
  title = "Adapters run beside weights that nothing trains",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "excess" },
  cause = "forward.adapters", tags = { "ops" },
  more_specific_than = { "hot-op", "many-small-gemms", "tiny-ops", "unfused-gelu" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
  },
  doc = [[
Where nothing is trained, four times a step or more, two thin products of one input (its width to a fourth or less, and
back) are added to a product of the same width: low-rank adapters. Merged into the weights once they cost nothing. A
server that changes adapters from request to request keeps them on purpose. Those that rescale their weight (DoRA) also
multiply both with an identity, add that to the weight and take norms. The price holds these ops, what leads to them
from the product beside them, and the Python between: a lower bound where libraries wrap each in modules.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "side-product", min_share = cfg.min_share,
      title = "Adapters beside frozen weights take %s a step",
      time = "thin products, what leads to them and what adds them",
      remedy = { text = "Merge them into the weights once after loading.",
                 code = "model = model.merge_and_unload()   # peft; or: layer.weight += scale * (B @ A)" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "adapters at each layer", framework = "pytorch", format = "kineto", finding = true, replay = { 7e5 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "side-product", op = "aten::linear", ns = 7e5, share = 0.07, factor = 0,
        detail = "24 pairs of thin products are added to a product of the same input" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "side-product", ns = 4e5, share = 0.04, factor = 0 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
