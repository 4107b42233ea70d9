-- Most rows of a product are thrown away.

-- Ledger: what stands behind a product drops, and what nothing takes of results of compiled programs.
local kinds = {
  { flaw = "thrown-rows", confidence = "high",
    title = "Rows of products that are thrown away take %s a step", time = "computing rows that the next op drops",
    remedy = { text = "Cut to the rows that are needed before the product; a convolution of which every second place "
                 .. "is kept takes a stride instead.",
               code = "logits = head(h[:, -1])   # instead of head(h)[:, -1]" } },
  { flaw = "unread-direction", confidence = "medium",
    title = "A recurrent layer goes both ways over all rows for the one that is read: %s a step",
    time = "what the two directions do beyond that row",
    remedy = { text = "At the last row the way back has read that row alone, and at the first one the way there. Take "
                 .. "the end of each direction, if both are meant to have read all; or leave bidirectional out.",
               code = "_, (h, _) = lstm(x)\nboth = torch.cat([h[-2], h[-1]], 1)   # instead of lstm(x)[0][:, -1]" } },
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
  { flaw = "square-diagonal", confidence = "medium",
    title = "Arrays of all pairs of rows are made, and each row with itself is kept: %s of each step",
    time = "pairs off the diagonal",
    remedy = { text = "Make the diagonal alone: multiply row by row and add up, or ask the library for it; variances "
                 .. "of a Gaussian process need no covariance.",
               code = 'd = jnp.einsum("ij,ij->i", x @ m, y)   # instead of jnp.diag(x @ m @ y.T)' } },
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
  { flaw = "idle-branches", confidence = "medium",
    title = "Like branches run beside the one that is trained: %s of each step", time = "branches without a gradient",
    remedy = { text = "Run the branch whose result is taken, as the head of the task at hand, and none beside it; "
                 .. "where the others' results are read without being trained, put them under torch.no_grad().",
               code = "y = heads[task](h)   # instead of [head(h) for head in heads][task]" } },
  { flaw = "detached-rounds", confidence = "medium",
    title = "A network runs over its own results, and nothing goes back through these rounds: recording them takes %s",
    time = "recording rounds for gradients",
    remedy = { text = "Run rounds whose result is detached, as the warm-up of a roll-out, without recording them: what "
                 .. "autograd keeps of them is new memory in each step.",
               code = "with torch.no_grad():\n    for _ in range(warm_up): state = net(state)\n"
                 .. "loss = criterion(net(state), target)   # not net(state.detach()) behind recorded rounds" } },
  { flaw = "cut-results", confidence = "medium",
    title = "Results of which only a part is taken: %s a step too much", time = "computing what is cut off",
    remedy = { text = "Cut first, then compute: last positions and chosen rows belong in front of the product, and a "
                 .. "convolution of which every second place is kept takes a stride instead.",
               code = "logits = h[:, -1] @ embedding.T   # instead of (h @ embedding.T)[:, -1]" } },
  { flaw = "zero-filled", confidence = "medium",
    title = "Products with arrays that are mostly zeros take %s a step", time = "multiplying by zeros",
    remedy = { text = "Multiply the parts themselves: blocks of a diagonal side by side, kernels with spread taps by "
                 .. "the convolution's own dilation, rows before they are padded.",
               code = 'y = jnp.einsum("bgi,gij->bgj", x, w)   # instead of x @ block_diag(*w)\n'
                 .. "y = jax.lax.conv_general_dilated(x, k, (1,), pad, rhs_dilation=(d,))   "
                 .. "# not zeros.at[::d].set(k)" } },
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
  { flaw = "unfilled-rounds", confidence = "medium",
    title = "A loop's results have room for many more rounds than it runs: filling that takes %s of each step",
    time = "filling rows that no round writes",
    remedy = { text = "Ask for what is read: the end, or chosen times, instead of each step. Where rows of all steps "
                 .. "are read, a bound near what runs (max_steps, the longest answer) leaves less to fill, forward "
                 .. "and in the gradient.",
               code = "saveat = diffrax.SaveAt(t1=True)   # not SaveAt(steps=True), which has max_steps rows" } },
  -- Outputs may be as many as that: a fact.
  { flaw = "row-jacobian", confidence = "low", severity = "info",
    title = "A Jacobian of every row by every row takes %s a step", time = "gradients of all outputs",
    remedy = { text = "Rows of a batch do not depend on each other: ask for each row's derivatives by its own inputs.",
               code = "jacobian = tape.batch_jacobian(y, x)   # instead of the diagonal of tape.jacobian(y, x)" } },
}

-- Where layers were trained on large pictures, and for what is small in them, they have to be enlarged: a bound.
local function enlarged(p, cfg)
  local cells = p:table("excess"):where { flaw = "enlarged-pictures" }
  local worst, ns = cells:top("ns", 1):rows()[1], cells:sum("ns")
  if not worst or cells:sum("share") < cfg.min_enlarged_share then return nil end
  return finding {
    title = ("Pictures are enlarged before a network: %s a step for places that hold nothing new"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.op, scope = worst.region },
    locations = cells:places(),
    evidence = { { "layers on the added places a step", ns, "ns", share = math.min(1, ns / p.fact["step.ns"]) },
                 { "seen by", worst.detail or "structure" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(cells:sum("share")),
      fmt.pct(cfg.min_enlarged_share)),
    remedy = { text = "Give the network pictures as large as they are, or train it on smaller ones; set the size that "
                 .. "a library resizes to by itself.",
               code = "model = fasterrcnn_mobilenet_v3_large_fpn(min_size=240, max_size=320)   # not 800 and 1333" },
    impact = impact.share { ns = math.min(ns, p.fact["step.ns"]) },
    claims = { cell = worst.cell },
    confidence = "low",
  }
end

-- TensorFlow without shapes: the gradient of a slice fills the whole array that was cut, and takes about as long as the
-- gradient of a bias that passes over the same one. Where that is of a dense layer far wider than all others, which
-- gets all positions (its product is a tensordot), it is the head, of whose results a part was taken.
local function cut_head(p, cfg)
  local ops, head, second_ns = p:table("ops"), nil, 0
  for row in ops:where { type = "BiasAddGrad" }:each() do
    if not head or row.self_ns > head.self_ns then
      head, second_ns = row, head and head.self_ns or 0
    else
      second_ns = math.max(second_ns, row.self_ns)
    end
  end
  local tape, layer = (head and head.name or ""):match("^(gradient_tape/)(.+)/BiasAdd/BiasAddGrad$")
  local cut = ops:where { type = "StridedSliceGrad", name = { like = "^gradient_tape/.*" } }:top("self_ns", 1):rows()[1]
  if not tape or not cut or head.self_ns < cfg.wider * second_ns or cut.self_ns < 0.3 * head.self_ns then return nil end
  local inside, ns, multiplies, names = "^\\Q" .. layer .. "\\E/", cut.self_ns, false, { "\\Q" .. cut.name .. "\\E" }
  for row in ops:each() do
    local name = row.name:gsub("^gradient_tape/", "")
    if name:find(inside) and not row.type:find("VariableOp$") then
      ns, names[#names + 1] = ns + row.self_ns, "\\Q" .. row.name:gsub(",", ".") .. "\\E"
      multiplies = multiplies or name:find("/Tensordot/MatMul$")
    end
  end
  local all_ns, step_ns = ops:sum("self_ns"), p.fact["step.ns"]
  -- Ops that ran at once take no more of the step than their share of all.
  local spared_ns = (1 - cfg.taken) * math.min(ns, ns / math.max(all_ns, 1) * step_ns)
  if not multiplies or spared_ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("A part of what %s computes is taken: it takes %s a step"):format(layer, fmt.ms(ns)),
    severity = spared_ns >= cfg.min_loud_share * step_ns and "warn" or "info",
    subject = { op = layer },
    evidence = { { "the layer, its gradients and that of the cut a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "filling what was cut, in the gradient", cut.self_ns, "ns" },
                 { "gradient of its bias", head.self_ns, "ns" }, { "that of the next widest", second_ns, "ns" } },
    condition = ("the gradient of its bias takes %s times as long as any other, %s accepted"):format(
      fmt.whole(math.min(head.self_ns / math.max(second_ns, 1), 999)), fmt.whole(cfg.wider)),
    remedy = { text = "Cut first, then compute: last positions and chosen rows belong in front of the layer.",
               code = "logits = head(h[:, -1])   # instead of head(h)[:, -1]" },
    impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = cfg.taken },
                             fallback = impact.exposed { ns = spared_ns } },
    confidence = "medium",
  }
end

-- TensorFlow: a shuffle that is a matter moves whole rows, for an order of numbers is drawn in microseconds. With what
-- joins columns for it.
local function shuffled_table(p, cfg)
  local ops = p:table("ops")
  local shuffle = ops:where { type = "RandomShuffle" }:top("self_ns", 1):rows()[1]
  local step_ns, all_ns = p.fact["step.ns"], ops:sum("self_ns")
  if not shuffle or shuffle.self_ns < cfg.min_shuffle * step_ns then return nil end
  local ns, names = shuffle.self_ns, "\\Q" .. shuffle.name .. "\\E"
  local joined = ops:where { type = "ConcatV2" }:top("self_ns", 1):rows()[1]
  if joined and not joined.name:find("^gradient") and joined.self_ns >= 0.2 * shuffle.self_ns then
    ns, names = ns + joined.self_ns, names .. "|\\Q" .. joined.name:gsub(",", ".") .. "\\E"
  end
  local spared_ns = (1 - cfg.taken) * math.min(ns, ns / math.max(all_ns, 1) * step_ns)
  return finding {
    title = ("A whole table is shuffled in each step: %s"):format(fmt.ms(ns)),
    severity = spared_ns >= cfg.min_loud_share * step_ns and "warn" or "info",
    subject = { op = shuffle.name },
    evidence = { { "shuffling, and joining for it, a step", ns, "ns", share = math.min(1, ns / step_ns) } },
    condition = ("shuffling takes %s of the step, %s accepted"):format(
      fmt.pct(math.min(1, shuffle.self_ns / step_ns)), fmt.pct(cfg.min_shuffle)),
    remedy = { text = "Draw the numbers of the rows that the batch takes, and gather these.",
               code = "rows = tf.gather(x, tf.random.uniform([b], 0, n, tf.int32))   # not tf.random.shuffle(x)[:b]" },
    impact = impact.replay { { "scale", name = names, factor = cfg.taken },
                             fallback = impact.exposed { ns = spared_ns } },
    confidence = "medium",
  }
end

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
    min_enlarged_share = { default = 0.15, min = 0, max = 1, unit = "share",
      doc = "PyTorch: share of the step in layers on places that enlarging pictures added" },
    wider = { default = 4, min = 1, max = 1e6, unit = "ratio",
      doc = "TensorFlow: gradient of the bias of a layer that is cut, over that of any other" },
    taken = { default = 0.1, min = 0, max = 1, unit = "share",
      doc = "of the results of such a layer, or the rows of a shuffled table, the part that is expected to be taken" },
    min_shuffle = { default = 0.15, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: share of the step in one shuffle, from which it is of a table's rows" },
  },
  doc = [[
The op behind a product keeps a few of its rows: a head over all positions of which the last is read, say. Priced as
the product times the share thrown away. Of a recurrent layer that goes both ways over a sequence of which one row is
read, half of the last layer: up to that row one way and from there the other would do. So are ops by number
(activations, resized pictures) on arrays of which one part in four or more is then taken, products of all rows with
all others whose diagonal is taken, tables that are shuffled whole for a batch, and layers of a graph network but for
the nodes that those taken in the end reach, with as many edges a node as there are on average. Of like branches in a
row, two thirds of which autograd records and goes back through none, all of these; where it is the last that is
trained in each of three steps and more, the others are rounds before it, and three tenths go: what recording them
takes. In compiled programs of JAX the parts of results are followed back that slices take, through what works element
by element and reductions, to the products that make them. Fourier transforms of complex numbers whose data is real, or
of which the real part alone is taken, count half. In TensorFlow, networks of the same layers beside each other that
are joined behind a choice of one or two of them and its mask: all but those; and gradients of all outputs that take a
hundred times as long as the model: a bound, since outputs may be as many. So is a dense layer far wider than all
others in whose gradient a slice is filled up that is as large: nine tenths of it; and a shuffle that takes much of the
step, for it moves whole rows. Pictures that are enlarged to twice as many places or more before the first convolution
make those places' share of the layers behind it a bound: the task may need them large.]],

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
    list[#list + 1] = enlarged(p, cfg)
    if #list == 0 and p.framework == "tensorflow" and p.format == "xspace" and p:has("ops") then
      list[1] = cut_head(p, cfg) or shuffled_table(p, cfg)
    end
    return list
  end,

  examples = {
    -- The head's products, its bias and their gradients and the filling take 9 ms, of which a tenth is needed.
    { name = "scores of the last position alone", framework = "tensorflow", format = "xspace", finding = true,
      severity = "warn", replay = { 8.1e6 }, facts = { ["step.ns"] = 1.2e7 },
      tables = { excess = {}, ops = {
        { name = "model/head/Tensordot/MatMul", type = "_MklMatMul", self_ns = 3e6 },
        { name = "gradient_tape/model/head/Tensordot/MatMul/MatMul", type = "_MklMatMul", self_ns = 3e6 },
        { name = "gradient_tape/model/head/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 2e6 },
        { name = "gradient_tape/model/strided_slice/StridedSliceGrad", type = "StridedSliceGrad", self_ns = 1e6 },
        { name = "gradient_tape/model/dense/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 4e5 },
        { name = "model/dense/MatMul", type = "_MklMatMul", self_ns = 2e6 } } } },
    { name = "the first position of a block as wide as all", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1.2e7 },
      tables = { excess = {}, ops = {
        { name = "model/dense/Tensordot/MatMul", type = "_MklMatMul", self_ns = 3e6 },
        { name = "gradient_tape/model/dense/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 1e6 },
        { name = "gradient_tape/model/strided_slice/StridedSliceGrad", type = "StridedSliceGrad", self_ns = 1e6 },
        { name = "gradient_tape/model/dense_1/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 8e5 } } } },
    { name = "a head that gets the last position", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.2e7 },
      tables = { excess = {}, ops = {
        { name = "model/head/MatMul", type = "_MklMatMul", self_ns = 3e6 },
        { name = "gradient_tape/model/head/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 2e6 },
        { name = "gradient_tape/model/strided_slice/StridedSliceGrad", type = "StridedSliceGrad", self_ns = 1e6 },
        { name = "gradient_tape/model/dense/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 4e5 } } } },
    -- Nine tenths of 5 ms of 6.
    { name = "a table that is shuffled for a batch", framework = "tensorflow", format = "xspace", finding = true,
      severity = "warn", replay = { 4.5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = {}, ops = { { name = "RandomShuffle", type = "RandomShuffle", self_ns = 4e6 },
                                      { name = "concat", type = "ConcatV2", self_ns = 1e6 },
                                      { name = "dense/MatMul", type = "_MklMatMul", self_ns = 1e6 } } } },
    { name = "an order that is drawn", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = {}, ops = { { name = "RandomShuffle", type = "RandomShuffle", self_ns = 5e4 },
                                      { name = "dense/MatMul", type = "_MklMatMul", self_ns = 6e6 } } } },
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
    { name = "the last row of both directions", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unread-direction", op = "aten::lstm", ns = 4e6, share = 0.4,
                              factor = 0.5, detail = "1 of 64 places is read" } } } },
    { name = "pictures that are enlarged", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "enlarged-pictures", op = "aten::conv2d", ns = 5e6, share = 0.5,
                              factor = 0.2, detail = "4.9 times as many places as the pictures have" } } } },
    { name = "pictures of few layers that are enlarged", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "enlarged-pictures", op = "aten::conv2d", ns = 1e6, share = 0.1,
                              factor = 0.2, detail = "4.9 times as many places as the pictures have" } } } },
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
    { name = "variances from a whole covariance", framework = "jax", format = "xspace", finding = true,
      severity = "warn", replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "square-diagonal", op = "dot", ns = 4e6, share = 0.4,
                              factor = 0.001 } } } },
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
