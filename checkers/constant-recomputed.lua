-- Weights are made again from parameters in each call, or a matrix is decomposed again in each step.
-- TensorFlow: ops of tf.sparse.from_dense, which goes over all elements of a dense array to find the few that count.
local function made_sparse(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("ops") then return nil end
  local ops = p:table("ops")
  local made = ops:where { name = { like = "(^|/)dense_to_sparse(_[0-9]+)?/" } }
  local ns, all_ns, step_ns, longest = made:sum("self_ns"), ops:sum("self_ns"), p.fact["step.ns"],
    made:top("self_ns", 1):rows()[1]
  if not longest or ns < cfg.min_sparse_share * step_ns then return nil end
  local names = {}
  for row in made:each() do names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E" end
  local spared_ns = math.min(ns, ns / all_ns * step_ns)
  return finding {
    title = ("A dense array is made sparse in each step: %s"):format(fmt.ms(ns)),
    subject = { op = longest.name },
    evidence = { { "finding what is not zero a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "longest of it, " .. longest.type, longest.self_ns, "ns" } },
    condition = ("making it sparse takes %s of the step, %s accepted"):format(fmt.pct(math.min(1, ns / step_ns)),
      fmt.pct(cfg.min_sparse_share)),
    remedy = { text = "Keep it sparse: made once before the loop where it stays the same, or by what makes the batch.",
               code = "adjacency = tf.sparse.from_dense(a)   # once, before the loop" },
    impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = 0 },
                             fallback = impact.exposed { ns = spared_ns } },
    confidence = "medium",
  }
end

return rule {
  id = "constant-recomputed", api = 1, version = "1.0.0",
  title = "Weights are made again from parameters in each call",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace", "profile", "graph" },
  needs = { "step.ns", "excess" },
  cause = "forward.weights", tags = { "ops" },
  more_specific_than = { "hot-op", "duplicate-compute" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
    min_sparse_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: share of the step in making a dense array sparse, from which that is said" },
  },
  doc = [[
Without gradients, a product of two thin matrices gives a weight that the next product takes: an adapter that is merged
in each call, say; or a matrix of fewer bits is converted and scaled to be one; or, where nothing is trained, the
weight of a convolution is normed, scaled or inverted right before it, as by weight_norm that was left on; where no
shapes are recorded, what weight_norm makes, or a batch norm of what is laid out anew before and behind it. Nothing of
it changes between calls. Recordings make small ops longer than they are, so the price is a bound. In training, one
matrix that is decomposed or inverted in each step without gradients and not made of a batch right before, or in a
function or session of TensorFlow before any layer; that it stays the same no recording tells. Where a step that trains
multiplies a vector by a matrix there and back three times and more without gradients, and norms it each time, the
rounds but the first. Where an optimizer asks its closure several times a step, as L-BFGS does, what that makes without
gradients before anything that is trained, each time but the first. In PyTorch also rows of ops that count, and then
compute with nothing but such counts, with the same shapes in each step: filters, windows, masks, positions; and all
but one of a step's equal block masks that create_block_mask makes for flex_attention, or all of them where they look
into no other array. In JAX what a program without gradients makes of a tree of weights and of constants alone, where
others of its arguments meet these weights in products; and where a program that refines its result runs three times
and more a step, as for each time of a diffusion, what it makes of arguments that it does not give back, the text that
steers it, say: whether they are the same each time no recording tells. In TensorFlow also a dense array that
tf.sparse.from_dense makes sparse in the step.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "derived-weight", min_share = cfg.min_share,
      title = "Making weights again from parameters takes %s a step",
      time = "what makes weights",
      remedy = { text = "Make the weight once, after loading or after an update, if memory holds it; "
                   .. "or apply the two thin factors one after the other, and the scale to the result. A norm of "
                   .. "weights is taken into them by removing it after loading.",
                 code = "layer.weight += layer.B @ layer.A   # once; or y = x @ W.T + (x @ A.T) @ B.T\n"
                   .. "parametrize.remove_parametrizations(layer, \"weight\")   # weight_norm, spectral_norm" },
      confidence = "medium",
    } or p:in_excess {
      flaw = "power-rounds", min_share = cfg.min_share,
      title = "A norm of weights is sought in many rounds of the power method in each step: %s",
      time = "rounds beyond the first",
      remedy = { text = "Keep the vectors between steps, as spectral_norm does, and run one round a step: the weights "
                   .. "change little in one, so that the vectors follow.",
                 code = "layer = torch.nn.utils.parametrizations.spectral_norm(layer, n_power_iterations=1)" },
      confidence = "medium",
    } or p:in_excess {
      flaw = "closure-fixed", min_share = cfg.min_share,
      title = "The optimizer's closure makes the same of the data each time it is asked: %s a step",
      time = "all but the first time",
      remedy = { text = "Make before the step what the closure makes of data alone, as targets and their spectra, and "
                   .. "let it take that: within a step only the weights change.",
                 code = "target = features(seen)   # once\noptimizer.step(lambda: closure(target))" },
      confidence = "medium",
    } or p:in_excess {
      flaw = "fixed-matrix", min_share = cfg.min_share,
      title = "A matrix that nothing in the step makes is decomposed in each: %s a step",
      time = "decomposing or inverting it",
      remedy = { text = "If it stays the same, do it once before the loop and keep the result; of a matrix that "
                   .. "changes slowly, every hundredth step.",
                 code = p.framework == "tensorflow" and "inverse = tf.linalg.pinv(mixing)   # once, before the loop"
                   or "inverse = torch.linalg.inv(covariance)   # once, before the loop" },
      severity = p.framework == "tensorflow" and "info" or nil,
      confidence = "low",
    } or p:in_excess {
      flaw = "made-constants", min_share = cfg.min_share,
      title = "The same filters, masks or positions are made from numbers again: %s a step",
      time = "making them",
      remedy = { text = "Make them once and keep them: as a buffer of the module, or as the object of the library that "
                   .. "keeps them, instead of its function.",
                 code = 'self.register_buffer("mask", build_mask(length), persistent=False)\n'
                   .. "block_mask = create_block_mask(documents, None, None, n, n)   # once, for all layers" },
      confidence = "medium",
    } or p:in_excess {
      flaw = "weights-alone", min_share = cfg.min_share,
      title = "Each call makes the same of the weights again: %s of each step",
      time = "what is made of weights alone",
      remedy = { text = "Make it once, behind loading or behind an update, and give it to the call as an argument; one "
                   .. "who changes the weights between calls needs it.",
                 code = "made = jax.jit(prepare)(params)   # once\nout = step(params, made, x)" },
      confidence = "medium",
    } or p:in_excess {
      flaw = "held-arguments", min_share = cfg.min_share, severity = "info",
      title = "Each round of a refinement makes the same of other arguments again: %s of each step",
      time = "what is made without the refined array",
      remedy = { text = "If these arguments stay the same for all rounds, as what steers a diffusion does, make it "
                   .. "once, in a function of its own in front of the rounds, and give it to each as an argument.",
                 code = "made = jax.jit(encode)(params, text)   # once\n"
                   .. "for t in times: x = refine(params, made, x, t)" },
      confidence = "medium",
    } or made_sparse(p, cfg)
  end,

  examples = {
    -- All of 3 of 10 ms.
    { name = "targets made in a closure", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "closure-fixed", ns = 3e6, share = 0.3, factor = 0, op = "aten::abs",
                              detail = "the optimizer asks its closure 5 times a step" } } } },
    -- All of 2 of 10 ms.
    { name = "spectral norm in many rounds", framework = "pytorch", format = "kineto", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "power-rounds", ns = 2e6, share = 0.2, factor = 0, op = "aten::mv",
                              detail = "12 rounds of products with a vector, there and back" } } } },
    -- All of 4 of 9 ms.
    { name = "an adjacency made sparse", framework = "tensorflow", format = "xspace", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = {}, ops = {
        { name = "dense_to_sparse/Where", type = "Where", self_ns = 2e6 },
        { name = "dense_to_sparse/NotEqual", type = "NotEqual", self_ns = 2e6 },
        { name = "SparseTensorDenseMatMul", type = "SparseTensorDenseMatMul", self_ns = 5e6 } } } },
    { name = "labels made sparse", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = {}, ops = {
        { name = "dense_to_sparse/Where", type = "Where", self_ns = 4e5 },
        { name = "dense/MatMul", type = "MatMul", self_ns = 5e6 } } } },
    { name = "an adapter merged in each call", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "derived-weight", op = "aten::mm", ns = 3e6, share = 0.3, factor = 0.1,
        region = "train.py(12): step", detail = "a product of two thin matrices" } } } },
    { name = "a covariance inverted in each step", framework = "pytorch", format = "kineto", finding = true,
      replay = { 6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "fixed-matrix", op = "aten::linalg_inv", ns = 6e6, share = 0.6,
        factor = 0, detail = "a matrix of 400 rows in each step" } } } },
    { name = "a pseudo-inverse before any layer", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 4e6 }, severity = "info",
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "fixed-matrix", op = "Svd", ns = 4e6, share = 0.4,
        factor = 0, detail = "before any layer, and no gradient is for it" } } } },
    { name = "a filter made in each call", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "made-constants", op = "aten::cos", ns = 3e6, share = 0.3, factor = 0,
        detail = "made from numbers alone, the same each time" } } } },
    { name = "a block mask in each layer", framework = "pytorch", format = "kineto", finding = true,
      replay = { 4.5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "made-constants", op = "aten::sum", ns = 4.5e6, share = 0.45, factor = 0,
        detail = "a block mask of attention, by the same ops" } } } },
    { name = "positions resized in each call", framework = "jax", format = "xspace", finding = true,
      replay = { 4e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "weights-alone", op = "dot", ns = 4e6, share = 0.4, factor = 0,
        detail = "made of weights and constants alone" } } } },
    -- 11 of 12 rounds, all of 6 of 10 ms.
    { name = "a text encoded in each round", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 5.5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "held-arguments", op = "dot", ns = 5.5e6, share = 0.55, factor = 0.083,
        detail = "made of weights and of arguments that no round gives back" } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "derived-weight", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
