-- Most rows of a product are thrown away.

-- Ledger: what the op behind a product drops, and what nothing takes of results of compiled programs.
local kinds = {
  { flaw = "thrown-rows", confidence = "high",
    title = "Rows of products that are thrown away take %s a step", time = "computing rows that the next op drops",
    remedy = { text = "Cut to the rows that are needed before the product.",
               code = "logits = head(h[:, -1])   # instead of head(h)[:, -1]" } },
  { flaw = "unpicked-rows", confidence = "medium",
    title = "All rows of a table are worked on where a few are looked up: %s a step",
    time = "rows that nothing looks up",
    remedy = { text = "Look up first, then normalise or scale the rows that came out; what does not change from step "
                 .. "to step is computed once before the loop.",
               code = "a = F.normalize(table[ids], dim=-1)   # instead of F.normalize(table, dim=-1)[ids]" } },
  { flaw = "unreached-nodes", confidence = "medium",
    title = "Layers pass over a whole graph, of which a few nodes' results are taken: %s of each step",
    time = "nodes that are too far away",
    remedy = { text = "Give the layers the nodes that they reach from those of the batch: a neighbourhood of as many "
                 .. "hops as there are layers.",
               code = "nodes, edges, at, _ = k_hop_subgraph(seeds, 2, edge_index, relabel_nodes=True)\n"
                 .. "out = model(x[nodes], edges)[at]   # or NeighborLoader; not model(x, edge_index)[seeds]" } },
  { flaw = "picked-parts", confidence = "medium",
    title = "Of arrays that ops make in full one part in many is taken: %s of each step", time = "the other parts",
    remedy = { text = "Pick first, then resize, activate or scale what was picked.",
               code = "mask = torch.sigmoid(F.interpolate(masks[rows, label][:, None], size))   "
                 .. "# instead of torch.sigmoid(F.interpolate(masks, size))[rows, label]" } },
  { flaw = "kept-diagonal", confidence = "high",
    title = "All rows are multiplied with all others, and each with itself is kept: %s of each step",
    time = "products off the diagonal",
    remedy = { text = "Multiply row by row and add up.",
               code = "d = ((x @ m) * y).sum(-1)   # instead of torch.diag(x @ m @ y.T)" } },
  { flaw = "shuffled-rows", confidence = "medium",
    title = "A whole table is shuffled to take a few of its rows: %s of each step", time = "moving the other rows",
    remedy = { text = "Cut the drawn order, not the shuffled table; where a row may come twice, draw as many numbers "
                 .. "as are needed.",
               code = "batch = x[torch.randperm(n)[:b]]   "
                 .. "# or x[torch.randint(n, (b,))]; not x[torch.randperm(n)][:b]" } },
  { flaw = "idle-experts", confidence = "high",
    title = "Experts work on rows that did not pick them: %s of each step", time = "experts on rows of others",
    remedy = { text = "Give each expert the rows that picked it: gathered, worked on, added back.",
               code = "row, nth = torch.where(picked == e)\n"
                 .. "out.index_add_(0, row, expert(x[row]) * weight[row, nth, None])" },
    tensorflow = "parts = tf.dynamic_partition(x, choice, experts)   # and tf.dynamic_stitch what each gives" },
  { flaw = "cut-results", confidence = "medium",
    title = "Results of which only a part is taken: %s a step too much", time = "computing what is cut off",
    remedy = { text = "Cut first, then compute: last positions and chosen rows belong in front of the product.",
               code = "logits = h[:, -1] @ embedding.T   # instead of (h @ embedding.T)[:, -1]" } },
  { flaw = "complex-of-real", confidence = "medium",
    title = "Real numbers are transformed as complex ones: %s a step too much", time = "the redundant half of it",
    remedy = { text = "Transforms of real numbers have a form that does half of the work.",
               code = "y = jnp.fft.irfft2(w * jnp.fft.rfft2(x), s=x.shape[-2:])   # not ifft2(w * fft2(x)).real" } },
  { flaw = "masked-write", confidence = "medium",
    title = "Each round of a loop writes all rows to change one: %s of each step", time = "rows that stay as they are",
    remedy = { text = "Give the row out of the scan (its second result), or write it in place.",
               code = "return state, row   # instead of jnp.where(jnp.arange(n) == i, row, rows)" } },
  { flaw = "unread-rounds", confidence = "medium",
    title = "A loop keeps the rows of all its rounds, of which few are read: %s of each step", time = "keeping them",
    remedy = { text = "Take the last result from what the scan carries (its first result) instead of from the rows "
                 .. "that it stacks, and stack none.",
               code = "state, _ = jax.lax.scan(lambda s, x: (f(s, x), None), state, xs)   # instead of states[-1]" } },
  -- Outputs may be as many as that: a fact.
  { flaw = "row-jacobian", confidence = "low", severity = "info",
    title = "A Jacobian of every row by every row takes %s a step", time = "gradients of all outputs",
    remedy = { text = "Rows of a batch do not depend on each other: ask for each row's derivatives by its own inputs.",
               code = "jacobian = tape.batch_jacobian(y, x)   # instead of the diagonal of tape.jacobian(y, x)" } },
}

return rule {
  id = "dead-compute", api = 1, version = "1.0.0",
  title = "Most rows of a product are thrown away",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "excess" },
  cause = "forward.thrown", tags = { "ops" },
  more_specific_than = { "hot-op", "big-logits", "gather-scatter-bound" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
    min_loud_share = { default = 0.25, min = 0, max = 1, unit = "share",
      doc = "share of the step from which it is a warning" },
  },
  doc = [[
The op behind a product keeps a few of its rows: a head over all positions of which the last is read, say. Priced as
the product times the share thrown away. So are ops by number (activations, resized pictures) on arrays of which one
part in four or more is then taken, products of all rows with all others whose diagonal is taken, tables that are
shuffled whole for a batch, and layers of a graph network but for the nodes that those taken in the end reach, with as
many edges a node as there are on average. In compiled programs of JAX the parts of results are followed back that
slices take, through what works element by element and reductions, to the products that make them. Fourier transforms
of complex numbers whose data is real, or of which the real part alone is taken, count half. In TensorFlow, networks of
the same layers beside each other that are joined behind a choice of one or two of them and its mask: all but those;
and gradients of all outputs that take a hundred times as long as the model: a bound, since outputs may be as many.]],

  check = function(p, cfg)
    local list = {}
    for _, kind in ipairs(kinds) do
      local remedy = kind.remedy
      if p.framework == "tensorflow" and kind.tensorflow then
        remedy = { text = remedy.text, code = kind.tensorflow }
      end
      local found = p:in_excess { flaw = kind.flaw, min_share = cfg.min_share, title = kind.title, time = kind.time,
                                  remedy = remedy, confidence = kind.confidence,
                                  severity = kind.severity or (p:table("excess"):where { flaw = kind.flaw }:sum("share")
                                    >= cfg.min_loud_share and "warn" or "info") }
      if found then list[#list + 1] = found end
    end
    return list
  end,

  examples = {
    { name = "a mask over all experts", framework = "tensorflow", format = "xspace", finding = true,
      severity = "warn", replay = { 6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "idle-experts", op = "MatMul", ns = 6e6, share = 0.6,
                              factor = 0 } } } },
    { name = "the diagonal of a Jacobian", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", replay = { 9e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "row-jacobian", op = "MatMul", ns = 9e6, share = 0.9, factor = 0.1,
                              detail = "253 times as long" } } } },
    { name = "a head over all positions", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "thrown-rows", op = "aten::linear", ns = 3e6, share = 0.3, factor = 0.1,
        region = "train.py(12): step", detail = "keeps 1 of 40 rows" } } } },
    { name = "a table that is normalised whole", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unpicked-rows", op = "aten::div", ns = 3e6, share = 0.3, factor = 0.01,
                              detail = "512 of 40000 rows are looked up behind it" } } } },
    { name = "a whole graph for a few seeds", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 7e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unreached-nodes", op = "aten::index_select", ns = 7e6, share = 0.7,
                              factor = 0.2 } } } },
    { name = "masks of all classes", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      replay = { 6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "picked-parts", op = "aten::sigmoid", ns = 6e6, share = 0.6,
                              factor = 0.025, detail = "1 of 40 parts is taken of what was made" } } } },
    { name = "a diagonal of all products", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", replay = { 2e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "kept-diagonal", op = "aten::matmul", ns = 2e6, share = 0.2,
                              factor = 0.01 } } } },
    { name = "a batch of a shuffled table", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 7e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "shuffled-rows", op = "aten::index", ns = 7e6, share = 0.7,
                              factor = 0.1 } } } },
    { name = "logits of all positions", framework = "jax", format = "xspace", finding = true, replay = { 7e6 },
      severity = "warn", facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "cut-results", op = "fusion", ns = 7e6, share = 0.7,
                              factor = 0.1 } } } },
    { name = "logits of a short text", framework = "jax", format = "xspace", finding = true, replay = { 1e6 },
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "cut-results", op = "fusion", ns = 1e6, share = 0.1,
                              factor = 0.1 } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "thrown-rows", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "experts on all rows", framework = "pytorch", format = "kineto", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "idle-experts", op = "aten::linear", ns = 5e6, share = 0.5,
                              factor = 0.25 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
