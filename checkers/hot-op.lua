-- One type of op, or one kind of kernel, takes most of the time of all.
-- Classes of ops of which a program rarely needs much, what they do, and what is done instead.
local shuffles = { "Shuffling takes", "Draw one order for several passes, or choose rows by jax.random.randint; "
                     .. "shuffle numbers of rows, and take the rows once." }
local classes = {
  decomposition = { "Decomposing matrices takes",
                    "Compute it once where its matrix does not change, outside of the step; where it changes little, "
    .. "as what an optimizer scales gradients by, once in many steps; or solve by a few iterations." },
  sort = { "Sorting takes", "Take what is needed: argmax, top_k with the k that is read, a threshold, a histogram." },
  random = { "Drawing random numbers takes",
             "One key and one draw of the whole shape; fewer bits; or numbers drawn ahead of the step." },
  scan = { "Running sums take",
           "One pass over the axis (associative_scan, cumsum of a smaller array), or a product with a constant." },
  ["one-hot"] = { "One-hot arrays take", "Look rows up by their numbers." },
  copy = { "Copying arrays takes", "Keep one layout, update in place (donated arguments), carry less through loops." },
  transpose = { "Changing the order of axes takes", "Keep one order of axes from the data on." },
  cast = { "Converting types takes", "Keep one type from the data on." },
  concat = { "Putting arrays together takes", "Write into one array of the final size, or compute on the parts." },
  slice = { "Cutting arrays takes", "Compute on the whole array, or carry a smaller one." },
  gather = { "Gathering elements takes", "Look up whole rows, sorted or once for all uses." },
  scatter = { "Scattering elements takes", "Update only rows that are touched, or sum by sorted segments." },
  control = { "Starting rounds of loops takes", "More work a round: unroll the loop, or do it for the whole batch." },
}
-- For each row anew, which a product with the factor's inverse would do at once.
local solves = { "Solving triangular systems takes",
                 "Where a factor serves many rows, invert it once (solve for the identity) and multiply: a product is "
                   .. "many times as fast as solving row by row. Of normal distributions the parameters may be factors "
                   .. "of the precision, which are only multiplied." }
-- By a number that is not known to be whole, as an exponential of a logarithm.
local powers = { "Raising to powers takes",
                 "A power by a whole number is a few products: x * x * x, Horner's scheme for a polynomial; a power by "
                   .. "a half is a root." }
-- Of one angle's multiples all but the first follow from it.
local angles = { "Sines, cosines and their inverses take",
                 "Of multiples of an angle take one and go on by a recurrence: Chebyshev's polynomials are t = 2 * x * "
                   .. "t1 - t2, without any arccos; sines of 2 a come from those of a. Of positions that stay the "
                   .. "same, look rows up in a table that is made once." }
-- Of sums: those of the parts are fewer.
local exponentials = "Where the exponent is a sum over axes or of a part for each row and one for each column, as the "
  .. "phases of places and wave vectors, take exponentials of the parts, which are far fewer, and multiply: "
  .. "exp(a + b) is exp(a) exp(b), and multiples of one phase are its powers."
-- jax.scipy.linalg.expm, which under vmap squares each matrix as often as the largest may need.
local EXPONENTIALS = {
  text = "Exponentials of matrices are taken here. Of multiples of one matrix take its eigenvectors once: u exp(d "
    .. "t) u^-1 is a product for each t. Under vmap expm squares each matrix as often as the largest may need, and "
    .. "makes all orders of its series: give the max_squarings that your sizes need, or compute exp(a) x by the "
    .. "steps of a series where only some vectors are multiplied.",
  code = "d, u = jnp.linalg.eigh(a)   # once, of a symmetric matrix\n"
    .. "p = jnp.einsum('ik,tk,jk->tij', u, jnp.exp(d * t[:, None]), u)   # not jax.vmap(lambda s: expm(a * s))(t)",
}
-- optimistix's, each of whose rounds takes all derivatives, factors them and solves.
local ROUNDS = {
  text = "A solver's rounds are taken here: derivatives of all equations, their factors, and solving. Begin each solve "
    .. "where the one before ended, or where the last two point to; keep one factor for several rounds; ask for no "
    .. "more digits than the type has and the task needs; and tell the solver of a band, a diagonal or symmetry.",
  code = "x = optx.root_find(f, optx.Chord(rtol=1e-4, atol=1e-4), x, args).value   # from the last x, not from x0",
}
-- XLA for processors hands convolutions to threads and to a library outside of loops alone: those of a loop's body, and
-- above all the gradients of their weights, run by plain code.
local LOOPED = {
  text = "Convolutions in the body of a loop (scan, map, fori_loop) run by slow code on a processor, their gradients "
    .. "most of all. Call the compiled step from Python once for each round, unroll the loop, or put what the rounds "
    .. "work on into one batch.",
  code = "state, losses = jax.lax.scan(update, state, batches, unroll=True)   # or, which compiles faster:\n"
    .. "for batch in batches: state, loss = update(state, batch)   # update = jax.jit(update)",
}
-- XLA for processors works random numbers out one after the other, and what makes them normal with them.
local DRAWN_BY_XLA = {
  text = "XLA draws random numbers slowly on a processor: leave jit_compile out there, or draw outside of what it "
    .. "compiles, as in tf.data, where the next batch is made. Uniform noise is cheaper than normal.",
  code = "ds = ds.map(lambda x: (x + tf.random.normal(tf.shape(x), stddev=0.1), x)).prefetch(2)   # or "
    .. "compile(jit_compile=False)",
}
local passes = { "Passes over memory take",
                 "Fewer passes over smaller arrays: cut to what is needed first, fuse, use a smaller type." }

-- What moves elements, or does more than most programs need, is told what replaces it, whatever it is fused with.
local moves = {
  concat = "Collect the parts in a list and join once, or write each into one tensor of the final size.",
  copy = "Drop clones and contiguous() where a view does, write results where they are needed, keep one layout.",
}
for class in ("cast transpose sort decomposition one-hot"):gmatch("[a-z-]+") do moves[class] = classes[class][2] end
local FREE_ORDER = " Where three matrices are multiplied, as in linear attention, begin with the two whose product is "
  .. "small: q (k^T v) needs no array of all pairs."
-- Of TensorFlow's detectors, one op for all boxes.
local CROPS = "Choose boxes before they are cut out: those above the score's threshold, or a sample of the proposals. "
  .. "Then fewer or smaller crops."

-- TensorFlow's variables of which rows were written.
local COPIES = "A variable is copied whole at each read once rows of it were written, by a scatter, a sparse update or "
  .. "an assignment to a slice. Take rows of the variable itself (tf.gather(table, ids), not of a layer's value), read "
  .. "it once for several uses, and keep what is written by rows apart from what is read whole."

-- What sets pipelines up and reads them, and Python that ops call: rules about these say more.
local told_elsewhere = { input = true, callback = true }

-- Structures that tell a cheaper way to the same numbers.
local structures = {
  { flaw = "formed-inverse", time = "inverting, and factoring again for a determinant",
    title = "A matrix is inverted only to be multiplied with a few vectors: %s of each step too much",
    remedy = { text = "Factor it once and solve for the vectors; the determinant is a product along the factor's "
                 .. "diagonal. Of a matrix that is not symmetric, torch.linalg.solve.",
               code = "f = torch.linalg.cholesky(k); x = torch.cholesky_solve(y[:, None], f)\n"
                 .. "logdet = 2 * f.diagonal().log().sum()   # not torch.inverse(k) @ y and torch.logdet(k)" } },
  { flaw = "unfolded-convolution", time = "copying patches, and half of the products with them",
    title = "A convolution is spelled out as copies of patches and a product: %s of each step too much",
    remedy = { text = "Let the library convolve: it makes no copies of what patches share.",
               code = "y = F.conv2d(x, weight, bias, padding=1)   "
                 .. "# not weight.flatten(1) @ F.unfold(x, 3, padding=1)" } },
  { flaw = "wide-windows", time = "windows beyond their rows and columns, one after the other",
    title = "Pooling looks at all values of wide windows that overlap: %s of each step too much",
    remedy = { text = "Pool along one axis, then along the other of what that gave: sums, means and maxima are the "
                 .. "same. Means of windows wider still come from running sums (cumsum) at any width; maxima of "
                 .. "several widths from pooling the narrower one's result again.",
               code = "y = F.avg_pool2d(x, (k, 1), 1, (k // 2, 0))\n"
                 .. "y = F.avg_pool2d(y, (1, k), 1, (0, k // 2))   # not F.avg_pool2d(x, k, 1, k // 2)" } },
  { flaw = "dense-jacobian", time = "derivatives beyond those of the vectors",
    title = "A whole matrix of derivatives is made only to be multiplied with a few vectors: %s of each step",
    remedy = { text = "Multiply without the matrix: jax.jvp gives J v, jax.vjp gives J^T u, and the jvp of a gradient "
                 .. "H v; solvers (conjugate gradients, power iteration) need no more than that.",
               code = "hvp = lambda v: jax.jvp(jax.grad(loss), (params,), (v,))[1]   "
                 .. "# instead of jax.hessian(loss)(params) @ v" } },
  { flaw = "traced-jacobian", time = "derivatives beyond those of one or two vectors",
    title = "Derivatives for each unit vector are made, and only a diagonal of them is added up: %s of each step",
    remedy = { text = "Estimate the divergence or Laplacian with a random vector a sample (Hutchinson): the mean of "
                 .. "v . J v over v of random signs is the trace of J. Where it must be exact, as for a reported "
                 .. "likelihood, keep it to evaluation.",
               code = "v = jax.random.rademacher(key, x.shape, x.dtype)\n"
                 .. "trace = v @ jax.jvp(f, (x,), (v,))[1]   # instead of jnp.trace(jax.jacfwd(f)(x))" } },
  { flaw = "traced-hessian", time = "the gradient's way back and its derivatives",
    title = "A whole Hessian is made for its diagonal or an entry: %s of each step go to the gradient's way back",
    remedy = { text = "Take second derivatives forwards along each coordinate: a jvp of a jvp, or "
                 .. "jax.experimental.jet, gives entries, the diagonal and its sum without a gradient of the function.",
               code = "along = lambda e: jax.jvp(lambda y: jax.jvp(u, (y,), (e,))[1], (x,), (e,))[1]\n"
                 .. "u_xx = along(jnp.array([1.0, 0.0]))   # instead of jax.hessian(u)(x)[0, 0]\n"
                 .. "jax.vmap(along)(jnp.eye(x.size)).sum()   # instead of jnp.trace(jax.hessian(u)(x))" } },
  { flaw = "forward-gradient", time = "derivatives beyond what a reverse pass takes",
    title = "The gradient of one number is made forwards, by a derivative for each parameter: %s of each step",
    remedy = { text = "Take it backwards: jax.grad costs a few runs of the function, whatever number of parameters. "
                 .. "Forwards is for few parameters and many results, and for loops without a fixed number of rounds: "
                 .. "give these a bound (lax.scan), or an implicit derivative.",
               code = "g = jax.grad(loss)(params)   # not jax.jacfwd(loss)(params); NumPyro: "
                 .. "NUTS(model, forward_mode_differentiation=False)" } },
  { flaw = "product-order", time = "products beyond those in the other order",
    title = "Products in another order take less: %s of each step too much",
    remedy = { text = "Multiply from the small side: (A B) x is A (B x), and q (k^T v) needs no array of all pairs. "
                 .. "Adapters of two thin matrices are applied beside their weight, not added to it in each step; "
                 .. "project to few channels before resizing to many pixels.",
               code = "h = x @ w + (x @ a) @ b   # instead of x @ (w + a @ b)" } },
  { flaw = "summed-products", time = "products of rows beyond that of their mean",
    title = "All rows are multiplied, and then only their mean is taken: %s of each step too much",
    remedy = { text = "Take the mean or the sum of the rows, or the average over places, first and multiply that: a "
                 .. "layer without an activation gives the same; of a sum its bias counts as often as there are rows.",
               code = "y = layer(x.mean(1))   # instead of layer(x).mean(1)" } },
  { flaw = "penalised-weights", time = "squares of weights, their sums and the way back",
    title = "Squares of weights are added to the loss: %s of each step",
    remedy = { text = "Let the optimizer shrink them in the pass that it makes anyway: c times the sum of squares in "
                 .. "the loss is weight_decay=2 * c to SGD. Adam scales either by its gradients' size; AdamW's is "
                 .. "apart from that, and is what is mostly wanted. Of a table only the rows of a batch need it.",
               code = "optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, weight_decay=2e-4)\n"
                 .. "# instead of loss + 1e-4 * sum(p.pow(2).sum() for p in model.parameters())" } },
}

local function structural(p, cfg)
  local list = {}
  for _, kind in ipairs(p:has("excess") and structures or {}) do
    local cells = p:table("excess"):where { flaw = kind.flaw }
    local found = p:in_excess { flaw = kind.flaw, time = kind.time, title = kind.title, remedy = kind.remedy,
                                min_share = cfg.min_structure_share, confidence = "medium",
                                severity = cells:sum("share") >= cfg.min_loud_share and "warn" or "info" }
    if found then list[#list + 1] = found end
  end
  return list
end

-- A solver of differential equations whose steps are implicit finds each stage by rounds of Newton's method: the
-- derivatives of all equations, factors of them, and solving. Found in the names that diffrax and optimistix give.
local function of_implicit_steps(p, cfg)
  if p.framework ~= "jax" or not p:has("ops") or not p:has("part.compute_ns") then return nil end
  local ops = p:table("ops")
  local inside = ops:where { scope = { like = "diffeqsolve.*(root_find|linear_solve|lu_factor|lu_solve)" } }
  local all_ns, roots = ops:sum("self_ns"), inside:where { scope = { like = "root_find" } }:count()
  if all_ns <= 0 or roots == 0 then return nil end
  local step_ns, share = p.fact["step.ns"], inside:sum("self_ns") / all_ns
  local ns = math.min(share * p.fact["part.compute_ns"], step_ns)
  if ns < cfg.min_step_share * step_ns then return nil end
  local worst = inside:top("self_ns", 1):rows()[1]
  return finding {
    title = ("An implicit solver's rounds take %s of each step"):format(fmt.pct(ns / step_ns)),
    severity = "info",
    subject = { op = worst.name, scope = worst.scope },
    locations = worst.source_file and { { file = worst.source_file, line = worst.source_line } } or nil,
    evidence = { { "finding roots and solving for them, a step", ns, "ns", share = ns / step_ns },
                 { "mostly", worst.scope or worst.name } },
    condition = ("finding roots inside a differential equation's solver takes %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_step_share)),
    remedy = { text = "Is the equation stiff? Where it is not, as most learned ones, an explicit solver needs none of "
                 .. "it: compare the steps that both take. Where a part of it is, solve only that implicitly.",
               code = "solver = diffrax.Tsit5()   # or Bosh3(); not Kvaerno5(); KenCarp4() with a MultiTerm for a "
                 .. "stiff part" },
    impact = impact.share { ns = ns, high = ns + 0.5 * (step_ns - ns) },
    confidence = "low",
  }
end

-- All numbers of a row compared with all of them, as in a mask of who comes later.
local COMPARED = {
  text = " Are all compared with all here, as in a mask of what comes later that sums go over? Then sort once and take "
    .. "running sums: each needs its own place alone.",
  code = "order = jnp.argsort(-time)   # once\ntotal = jax.lax.cumlogsumexp(risk[order])   "
    .. "# not jnp.log((mask * jnp.exp(risk)).sum(1))",
}
local ALL_WITH_ALL = "^\\[(\\d{3,})\\].*->\\[\\1,\\1\\]$"

-- Work of the same line makes an array of all pairs of one row of numbers.
local function compares_all(p, row)
  return p.framework == "jax" and row.source_file and p:has("work") and p:table("work"):where {
    shapes = { like = ALL_WITH_ALL }, source_file = row.source_file, source_line = row.source_line }:count() > 0
end

local function costly(p, cfg)
  local list = {}
  local cells = p:has("excess")
    and p:table("excess"):where { flaw = "costly-class", share = { min = cfg.min_step_share } }
  for _, row in ipairs(cells and cells:top("ns", cfg.most):rows() or {}) do
    local class = classes[row.detail] or passes
    -- jax.random.permutation sorts the rows by random keys.
    if row.detail == "sort" and (row.region or ""):find("_shuffle", 1, true) then class = shuffles end
    if (row.op or ""):find("TriangularSolve") or (row.region or ""):find("triangular_solve", 1, true) then
      class = solves
    end
    if (row.region or ""):find("/pow$") or row.op == "aten::pow" then class = powers end
    if (row.region or ""):find("/a?(cos|sin|tan|tan2)$") or (row.op or ""):find("^aten::a?(cos|sin|tan|tan2)_?$") then
      class = angles
    end
    if class == passes and (row.region or ""):find("/exp2?$") then
      class = { passes[1], passes[2] .. " " .. exponentials }
    end
    local all_ns = row.ns / math.max(1 - row.factor, 0.01)
    local place = row.source_file and ("%s:%d"):format(row.source_file:match("[^/]*$"), row.source_line or 0)
    list[#list + 1] = finding {
      title = ("%s %s of each step"):format(class[1], fmt.ms(all_ns)) .. (place and " at " .. place or ""),
      severity = "info",
      subject = { op = row.op, scope = row.region },
      locations = row.source_file and { { file = row.source_file, line = row.source_line } } or nil,
      evidence = { { "what it takes a step", all_ns, "ns", share = math.min(1, all_ns / p.fact["step.ns"]) },
                   { "kind of work", row.detail or "passes" }, { "mostly", row.region or row.op or "ops" } },
      condition = ("more than programs usually need takes %s of the step, %s accepted"):format(fmt.pct(row.share),
        fmt.pct(cfg.min_step_share)),
      remedy = (row.region or ""):find("jit(expm)", 1, true) and EXPONENTIALS
        or row.detail == "random" and p.framework == "tensorflow" and not p:has("device.idle_share") and DRAWN_BY_XLA
        or class == passes and compares_all(p, row) and { text = passes[2] .. COMPARED.text, code = COMPARED.code }
        or { text = class[2] },
      impact = impact.share { ns = row.ns }, claims = { cell = row.cell },
      confidence = "low",
    }
  end
  return list
end

-- What makes a product of TensorFlow's smaller or needless does so to its gradients, which are ops of other types, and
-- often to its neighbours: the time of all types of its class, and a pattern of them.
local function of_kind(p, top)
  local class = p:class_of(top.type)
  if p.framework ~= "tensorflow" or p:has("device.idle_share") or (class ~= "product" and class ~= "convolution") then
    return top.self_ns, top.type
  end
  local ns, names = 0, {}
  for row in p:table("op_types"):each() do
    if p:class_of(row.type) == class then
      ns, names[#names + 1] = ns + row.self_ns, "\\Q" .. row.type .. "\\E"
    end
  end
  return ns, table.concat(names, "|")
end

-- What kernels are for, by their category; what would change it.
local kinds = {
  gemm = "Matrix products", conv = "Convolutions", attention = "Attention",
  gather = "Lookups and sorts", sort = "Lookups and sorts", routing = "Lookups and sorts",
  sampling = "Lookups and sorts", scan = "Lookups and sorts",
}
local memory = "Passes over memory"
for category in ("elementwise cast copy fill layout norm softmax reduce random pool loss optimizer"):gmatch("\\w+") do
  kinds[category] = memory
end
local remedies = {
  ["Matrix products"] = "Larger batches, sizes in multiples of 64, fewer bits where the device has units for them.",
  ["Convolutions"] = "Channels last, larger batches, fewer bits where the device has units for them.",
  ["Attention"] =
    "A fused implementation made for this device, a head size that it knows, a causal or sliding mask where it is one.",
  ["Lookups and sorts"] = "Fewer and larger lookups, rows that lie together, sorted indices.",
  [memory] = "Fuse neighbours (compile the step), fewer bits in between, less that is written and read again.",
}

-- Rows of equal key, most time first: { key, ns, largest row }.
local function grouped(rows, key_of)
  local by_key, list = {}, {}
  for row in rows:each() do
    local key = row.category ~= "collective" and key_of(row)
    if key then
      local group = by_key[key]
      if not group then
        group = { key = key, ns = 0, row = row }
        by_key[key], list[#list + 1] = group, group
      end
      group.ns = group.ns + row.total_ns
      if row.total_ns > group.row.total_ns then group.row = row end
    end
  end
  table.sort(list, function(a, b) return a.ns > b.ns or (a.ns == b.ns and a.key < b.key) end)
  return list
end

-- Instructions of compiled programs that say who does them, not what: their kernels tell.
local opaque = { fusion = true, ["custom-call"] = true, call = true }

-- What is known of how far the ops of a kernel are from what the device can do.
local function roof(p, op)
  if not op or op == "" then return "not known: kernels without an op, as a replayed graph has them, tell no sizes" end
  if op:find("^CompiledFunction") then
    return "not known: code that torch.compile made tells no sizes of its products"
  end
  if not p:has("roofline") then return "not known: sizes or this device's peaks are not recorded" end
  local rows = p:table("roofline")
  if rows:where { op = op }:count() == 0 then rows = rows:where { type = op } else rows = rows:where { op = op } end
  for row in rows:top("ns", 1):each() do
    if row.efficiency and row.efficiency > 0 and row.efficiency <= 1.1 then
      local word = row.efficiency >= 0.6 and "at its roof: " or ""
      return ("%s%s of its %s limit"):format(word, fmt.pct(math.min(row.efficiency, 1)), row.bound)
    end
  end
  return "not known: what this op costs has no formula, or its sizes are not recorded"
end

local function of_kernels(p, cfg)
  local kernels, step_ns = p:table("kernels"), p.fact["step.ns"]
  local ops = grouped(kernels, function(row)
    -- Code that torch.compile made is one op to PyTorch.
    local is_opaque = opaque[row.op_type or ""] or (row.op or ""):find("^command_buffer|^CompiledFunction")
    return is_opaque and kinds[row.category] or row.op_type and row.op_type ~= "" and row.op_type
      or row.op and row.op ~= "" and row.op or fmt.kernel(row.family or row.name)
  end)
  local kernel_classes = grouped(kernels, function(row) return kinds[row.category] end)
  local total_ns = 0
  for _, group in ipairs(ops) do total_ns = total_ns + group.ns end
  if total_ns < cfg.min_step_share * step_ns or #ops == 0 then return nil end
  local class = kernel_classes[1]
  local is_class = class ~= nil and class.ns >= cfg.high_share * total_ns and class.ns > 1.1 * ops[1].ns
  local top = is_class and class or ops[1]
  local share = top.ns / total_ns
  if share < cfg.min_share then return nil end
  local is_device = total_ns >= cfg.min_device_share * step_ns
  local evidence = {}
  for i = 1, math.min(3, #ops) do
    evidence[i] = { ops[i].key .. ", kernel time a step", ops[i].ns, "ns", share = math.min(1, ops[i].ns / step_ns) }
  end
  local at = top.row
  local reached = roof(p, opaque[at.op_type or ""] and at.op or at.op_type or at.op)
  evidence[#evidence + 1] = { "how far from what the device can do", reached }
  local first = ops[1]
  for _, group in ipairs(ops) do
    if is_class and kinds[group.row.category] == class.key then first = group break end
  end
  local row = first.row
  local kind = kinds[row.category]
  local mean_ns = row.calls and row.calls > 0 and row.total_ns / row.calls or nil
  local is_short = mean_ns ~= nil and mean_ns < cfg.short_ns
  local take = remedies[top.key] and top.key ~= "Attention" and "take" or "takes"
  return finding {
    title = is_class and first.key ~= class.key and ("%s %s %s of kernel time, %s first (%s)"):format(
      class.key, take, fmt.pct(share), first.key, fmt.pct(first.ns / total_ns))
      or ("%s %s %s of kernel time"):format(top.key, take, fmt.pct(share)),
    severity = share >= cfg.high_share and is_device and not reached:find("^at its roof") and "warn" or "info",
    subject = { kernel = row.name, op = row.op and row.op ~= "" and row.op or nil },
    locations = row.source_file and row.source_file ~= "" and { { file = row.source_file, line = row.source_line } }
      or {},
    evidence = evidence,
    condition = ("%s of the time of all kernels, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
    remedy = { text = is_short
                 and "Each is too short to fill the device: more work a call, fused calls, a larger batch."
                 or moves[p:class_of(row.op_type or row.op or "")] or kind and remedies[kind]
                 or ("Begin with %s: fewer or smaller calls, fewer bits, a fused form."):format(first.key) },
    impact = impact.none(),
    confidence = "high",
  }
end

-- Elements of "[128,8000]".
local function elements_of(dims)
  local count = 1
  for size in dims:gmatch("\\d+") do count = count * tonumber(size) end
  return count
end

-- Rows that the loss counts one by one, as samples of a batch: "[160,5]x[160]".
local function rows_of_loss(p)
  local row = p:table("work"):where { class = "loss", phase = "forward" }:top("ns", 1):rows()[1]
  return row and (row.shapes or ""):match("^\\[(\\d+),\\d+\\]x\\[\\1\\b") or nil
end

-- Attention from (batch, heads, rows, width), or a recurrence over (places, batch, width) with a state of (layers,
-- batch, width), over as many rows as the loss has samples, several times: samples are taken for the places of one. A
-- graph's nodes, or a single long sequence whose places have a loss each, are so once.
local function mixes_samples(p, row)
  local shapes = row.shapes or ""
  if p.framework ~= "pytorch" or row.phase ~= "forward" then return nil end
  local batch, rows = shapes:match("^\\[(\\d+),\\d+,(\\d+),\\d+\\]x\\[\\1,\\d+,\\2,")
  if row.class == "cell" then
    rows, batch = shapes:match("^\\[(\\d+),(\\d+),\\d+\\]x\\[\\d+,\\2,\\d+\\]")
  elseif row.class ~= "attention" then
    return nil
  end
  if not batch or tonumber(batch) < 2 or batch == rows or rows ~= rows_of_loss(p) then return nil end
  return { title = ("%s goes over the %s samples of a batch, as if they were places of a sequence"):format(
             row.class == "cell" and "A recurrence" or "Attention", rows),
           text = ("Do %s samples of a batch take part in each other's results here, %s times, and not %s places of "
             .. "one sample? Layers take (places, batch, width) unless they are told batch_first=True."):format(
               rows, batch, batch),
           code = (row.class == "cell" and "torch.nn.GRU(width, hidden, batch_first=True)"
             or "torch.nn.TransformerEncoderLayer(width, heads, batch_first=True)")
             .. "   # x: (batch, places, width)" }
end

-- A filter along one axis that makes the result longer or shorter by as much: a transform does the work of a few taps.
local LONG_FILTER = {
  text = " Each result is a sum over a long filter: by Fourier transforms the work hardly grows with its length. Pad "
    .. "to a product of 2, 3 and 5, which fftconvolve does not.",
  code = "n = scipy.fft.next_fast_len(x.shape[-1] + w.shape[-1] - 1, real=True)\n"
    .. "y = jnp.fft.irfft(jnp.fft.rfft(x, n) * jnp.fft.rfft(w, n), n)   # not jnp.convolve(x, w)",
}
local MIN_TAPS = 64
local function is_long_filter(shapes)
  local from, filter, to = shapes:match("^\\[([0-9,]+)\\]x\\[([0-9,]+)\\]->\\[([0-9,]+)\\]")
  if not from then return false end
  for taps in filter:gmatch("[0-9]+") do
    for length in from:gmatch("[0-9]+") do
      for made in to:gmatch("[0-9]+") do
        local change = math.abs(tonumber(made) - tonumber(length))
        if tonumber(taps) >= MIN_TAPS and change == tonumber(taps) - 1 then return true end
      end
    end
  end
  return false
end

-- What the sizes of a product or of attention let one ask beside the general questions.
local sparse = {
  pytorch = "h = torch.sparse.mm(adj, h)   # adj = adj.to_sparse_csr() once, before the loop; not adj @ h",
  jax = "h = jax.ops.segment_sum(h[senders] * weights[:, None], receivers, num_segments=n)   # not adj @ h",
}
local of_pairs = { attention = true, softmax = true, product = true }
local function asked_of(p, row)
  local shapes = row.shapes or ""
  if p.framework == "jax" and row.class == "convolution" and is_long_filter(shapes) then return LONG_FILTER end
  if p.framework == "jax" and row.class == "elementwise" and shapes:find(ALL_WITH_ALL) then
    return COMPARED
  end
  local rows, columns = shapes:match("^\\[(\\d+),\\1\\]x\\[\\1,(\\d+)\\]")
  if row.class == "product" and rows and tonumber(rows) >= 500 and 4 * tonumber(columns) <= tonumber(rows) then
    return { text = " Is most of the square matrix zero, as in a graph's adjacency or a band? Then keep it sparse, or "
               .. "sum over its entries.", code = sparse[p.framework] }
  end
  local size = shapes:match("^\\[(\\d+),\\1\\]x\\[\\1,\\1\\]")
  if row.class == "product" and size and p.framework == "pytorch" and p:table("work"):where {
      type = { like = "aten::diag(_embed)?" }, shapes = { like = "\\[" .. size .. "\\]" } }:count() > 0 then
    return { text = " torch.diag makes such a matrix here: scale the rows or columns of the other one instead.",
             code = "a = d[:, None] * a * d   # not torch.diag(d) @ a @ torch.diag(d)",
             title = "products of [" .. size .. "," .. size .. "] with as large a diagonal one",
             part = "^\\[" .. size .. "," .. size .. "\\]x\\[" .. size .. "," .. size .. "\\]$" }
  end
  if row.type == "aten::stack" and shapes:find("^(\\[\\d+,\\d+\\])(?:x\\1){2,}$") then
    return { text = " Are these weights, as of an ensemble's members? While nothing trains them, stack them once.",
             code = "params, buffers = torch.func.stack_module_state(members)   # before the loop, not at each call" }
  end
  local length = shapes:match("\\[(?:\\d+,){2,}(\\d+),\\1\\]") or shapes:match("x\\[(\\d+),\\1\\]$")
  if length and of_pairs[row.class] and tonumber(length) >= 256
      and (row.class ~= "product" or shapes:find("\\[\\d+,\\d+,\\d+")) then
    return { text = " Does a mask hide most of these pairs, as a window or blocks? Then let each block of rows see its "
               .. "neighbours alone: pairs that are hidden need no scores." }
  end
  -- About as many filters as each is long, of one channel: a transform's are half as many, or both its parts.
  local filters, taps = shapes:match("^\\[\\d+,1,\\d+\\]x\\[(\\d+),1,(\\d+)\\]")
  filters, taps = tonumber(filters or 0), tonumber(taps or 0)
  if p.framework == "pytorch" and filters >= 256 and math.abs(taps - filters) > 2
      and math.abs(taps - filters) <= 0.4 * filters then
    return { text = " A resampler makes such filters, one for each phase: as many as the new rate has parts of the "
               .. "divisor that both rates share. Take rates that share a large one, as multiples of 100.",
             code = "speeds = [torchaudio.transforms.Resample(16000, r) for r in (15800, 16200)]   # not 15801" }
  end
  return nil
end

-- Convolutions are gone back through twice for a penalty on gradients, as of a discriminator; what solves equations
-- needs no convolution's.
local function of_penalty(p)
  if p.framework ~= "pytorch" or p:table("op_types"):where {
      type = { like = "_convolution_double_backward|ConvolutionBackwardBackward" } }:count() == 0 then return nil end
  return { text = " Gradients of gradients are made here, as for a penalty on them (R1, WGAN-GP): it is as good each "
             .. "16th step, weighed 16 times, as StyleGAN2 does, or on a part of the batch.",
           code = "if step % 16 == 0: loss = loss + 16 * r1(discriminator, real)   # not in each step" }
end

-- Time of all eager ops that an array takes part in, forward and back, by its sizes; the most of all, and of those
-- about as costly the largest.
local function costliest_array(p)
  local by_dims, best = {}, nil
  for row in p:table("work"):where { shapes = { like = "\\[\\d+,\\d" } }:top("ns", 200):each() do
    local seen = {}
    for dims in row.shapes:gmatch("\\[\\d+,[0-9,]*\\]") do
      local array = by_dims[dims] or { dims = dims, size = elements_of(dims), ns = 0, rows = {} }
      by_dims[dims] = array
      if not seen[dims] then
        seen[dims], array.ns = true, array.ns + (row.necessary_ns or row.ns)
        array.rows[#array.rows + 1] = row
        array.forward = array.forward or row.phase == "forward" and row or nil
      end
    end
  end
  for _, array in sorted_pairs(by_dims) do
    if array.size >= 1024 and (not best or array.ns > 1.05 * best.ns
        or array.ns > 0.95 * best.ns and array.size > best.size) then
      best = array
    end
  end
  return best
end

-- Whether it stands behind the first operand of products and convolutions alone, as weights of a layer do.
local function is_weight(array)
  for _, row in ipairs(array.rows) do
    if (row.class ~= "product" and row.class ~= "convolution") or row.shapes:sub(1, #array.dims) == array.dims then
      return false
    end
  end
  return true
end

local function of_arrays(p, cfg)
  local array = p:has("work") and costliest_array(p)
  local step_ns = p.fact["step.ns"]
  if not array or array.ns < cfg.min_array_share * step_ns then return nil end
  local evidence, first = {}, array.forward or array.rows[1]
  for i = 1, math.min(3, #array.rows) do
    local row = array.rows[i]
    evidence[i] = { ("%s (%s) on %s"):format(row.type, row.phase, row.shapes), row.ns, "ns" }
  end
  local asked, samples = asked_of(p, first) or of_penalty(p), mixes_samples(p, first)
  local ns, part_ns = array.ns, 0
  for _, row in ipairs(array.rows) do
    if asked and asked.part and row.class == "product" and row.shapes:find(asked.part) then
      part_ns = part_ns + (row.necessary_ns or row.ns)
    end
  end
  if part_ns > 0 then ns = part_ns end
  return finding {
    title = samples and samples.title or ("%s of each step goes to %s"):format(fmt.pct(math.min(1, ns / step_ns)),
      part_ns > 0 and asked.title or "ops on arrays of " .. array.dims),
    severity = "info",
    subject = { op = first.type },
    locations = first.source_file and first.source_file ~= ""
      and { { file = first.source_file, line = first.source_line } } or {},
    evidence = evidence,
    condition = ("ops that such an array takes part in take %s of the step, %s accepted"):format(
      fmt.pct(array.ns / step_ns), fmt.pct(cfg.min_array_share)),
    remedy = samples and { text = samples.text, code = samples.code }
      or { text = (part_ns > 0 and asked.text:sub(2) .. " " or "")
                   .. (is_weight(array) and "%s are a layer's weights: check that it runs on no more rows than are "
                         .. "read, once on all of them, on inputs no larger than the task needs, with no more channels."
                       or "Check that all of %s is needed: rows of padding, results that nothing reads, pairs that "
                         .. "could be a product, inputs larger than the task needs, work that is the same each time.")
                      :format(array.dims) .. (part_ns == 0 and asked and asked.text or ""),
           code = asked and asked.code },
    impact = impact.share { ns = math.min(ns, step_ns) },
    confidence = "low",
  }
end

-- Eager ops of kinds of which a program rarely needs much, one of which takes a good part of the step.
local rare = {
  decomposition = { classes.decomposition[1],
                    "Compute it once where its matrix does not change, or only the part that is read: eigh of the "
    .. "smaller product, a few iterations (svd_lowrank), full_matrices=False." },
  sort = classes.sort,
  random = { classes.random[1],
             "Draw for many steps at once, from as few numbers as the draw needs: a draw from weights reads all of "
    .. "them." },
}
-- The same of single types.
local distinct_rows = { "Finding distinct rows takes",
  "Make one number of each row, and look for distinct numbers: rows are compared column by column and copied one after "
    .. "the other. Where their numbers are small, counts at each place do without sorting.",
  "key = (rows[:, 0] * height + rows[:, 1]) * width + rows[:, 2]\n"
    .. "key, place = torch.unique(key, return_inverse=True)   # not torch.unique(rows, dim=0)" }
local of_any_matrix = { "Eigenvalues of matrices of any form take",
  "Where the matrices are symmetric, as covariances, kernels, Laplacians and A^T A are, eigh finds the same in a "
    .. "part of the time, in real numbers and with vectors whose inverse is their transpose.",
  "w, v = torch.linalg.eigh(c)   # not torch.linalg.eig(c)\n"
    .. "root = (v * w.clamp(min=0).sqrt()[..., None, :]) @ v.mT   # any function of c; no inverse" }
local rare_types = {
  ["aten::unique_dim"] = distinct_rows, ["aten::unique_dim_consecutive"] = distinct_rows,
  ["aten::linalg_eig"] = of_any_matrix, ["aten::linalg_eigvals"] = of_any_matrix,
  ["aten::embedding_renorm_"] = { "Shortening rows of a table at each lookup takes",
    "Leave max_norm out: each lookup measures its rows and writes back those that are longer, one after the other, "
      .. "served rows as well. Shorten the whole table now and then, and once before it serves.",
    "table = torch.nn.Embedding(rows, width)   # without max_norm\n"
      .. "with torch.no_grad(): table.weight.renorm_(2, 0, 1.0)   # each hundredth step" },
}
local function of_rare_op(p, cfg)
  local step_ns, best, kind, first = p.fact["step.ns"], nil, nil, nil
  if not p:has("work") then return nil end
  for row in p:table("work"):where { type = { like = "^(?!.*dropout)." } }:each() do
    local known = rare_types[row.type] or rare[row.class or ""]
    if known and (not best or row.ns > best.ns) then best, kind = row, known end
  end
  if not best then return nil end
  -- Others that decompose the same matrices go with it: an inverse of the vectors, solving on the way back.
  local ns, dims = best.ns, (best.shapes or ""):match("^\\[[0-9,]+\\]")
  for row in best.class == "decomposition" and dims and p:table("work"):where { class = best.class }:each()
      or function() end do
    local goes_with = row.type ~= best.type and row.shapes:sub(1, #dims) == dims
    if goes_with then ns = ns + row.ns end
    if goes_with and rare_types[row.type] then first, kind = row, rare_types[row.type] end
  end
  ns, best = math.min(ns, step_ns), first or best
  if ns < cfg.min_array_share * step_ns then return nil end
  return finding {
    title = ("%s %s of each step: %s on %s"):format(kind[1], fmt.ms(ns), best.type,
      best.shapes and best.shapes ~= "" and best.shapes or "arrays"),
    severity = "info",
    subject = { op = best.type },
    locations = best.source_file and best.source_file ~= ""
      and { { file = best.source_file, line = best.source_line } } or {},
    evidence = { { "what it takes a step", ns, "ns", share = ns / step_ns },
                 { "kind of work", best.class }, { "calls a step", best.calls or 1, "count" } },
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns),
      fmt.pct(cfg.min_array_share)),
    remedy = { text = kind[2], code = kind[3] },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- Pictures are resampled a few times a step, as by changes of place that follow each other.
local function resampled(row)
  if not row.type:find("grid_sampler", 1, true) or row.count < 2 or row.count > 8 then return nil end
  return { text = ("Pictures are resampled %s times a step. Turning, scaling, moving and shearing that follow each "
             .. "other are one change of place: multiply their matrices and sample once, which also blurs less. Data "
             .. "that stay the same are prepared once."):format(fmt.whole(row.count)),
           code = "x = F.grid_sample(x, F.affine_grid((turn @ scale @ shear)[:, :2], x.shape))   "
             .. "# not one grid_sample for each" }
end

-- Where no op stands out, all that a training step does beside what it trains by.
local function of_untracked(p, top, cfg)
  if p.framework ~= "pytorch" or p:has("device.idle_share") or not p:has("eager_untracked") then return nil end
  local rows, step_ns = p:table("eager_untracked"), p.fact["step.ns"]
  local ns = math.min(rows:sum("ns"), step_ns)
  if ns < cfg.min_untracked_share * step_ns or ns <= top.self_ns then return nil end
  local evidence, first = { { "what they take a step", ns, "ns", share = ns / step_ns } }, nil
  for row in rows:top("ns", 3):each() do
    first = first or row
    evidence[#evidence + 1] = { row.type .. ", time a step", row.ns, "ns" }
  end
  return finding {
    title = ("Ops that no backward pass goes through take %s of each training step, %s first"):format(
      fmt.ms(ns), first.type),
    severity = "info",
    subject = { op = first.type },
    evidence = evidence,
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns),
      fmt.pct(cfg.min_untracked_share)),
    remedy = resampled(first) or {
               text = "What is only looked at (a preview, a metric, a picture for the log) is done every hundredth "
                 .. "step; data are prepared once, or ahead of the step by the loader's workers; what a network whose "
                 .. "weights stay says of the same data is kept.",
               code = "if step % 100 == 0: log_preview(model(x[:1]))   # not in each step" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- Lines of the program by what ops made of them take, most first; all of their time.
local function lines_of(p, cfg)
  local by_line, list, all_ns = {}, {}, 0
  for row in p:table("work"):where { type = { like = "." } }:each() do
    all_ns = all_ns + row.ns
    if not row.source_file or row.source_file == "" then goto next end
    local key = ("%s:%d"):format(row.source_file:match("[^/]*$"), row.source_line or 0)
    if not by_line[key] then
      by_line[key] = { key = key, ns = 0, tiny_ns = 0, tiny_calls = 0, row = row, works = {} }
      list[#list + 1] = by_line[key]
    end
    local line = by_line[key]
    line.ns = line.ns + row.ns
    line.works[#line.works + 1] = row
    if row.ns < (row.calls or 0) * cfg.tiny_ns then
      line.tiny_ns, line.tiny_calls = line.tiny_ns + row.ns, line.tiny_calls + row.calls
    end
    line.loops = line.loops or row.class == "control"
    ::next::
  end
  table.sort(list, function(a, b) return a.ns > b.ns or (a.ns == b.ns and a.key < b.key) end)
  return list, all_ns
end

-- Time of the ops on the largest arrays of a compiled program, where the others are far smaller: elements, ns. What is
-- made large (padding, pairs, samples, derivatives) goes through many lines, and what makes it smaller saves them all.
local function on_large_arrays(p, cfg)
  local step_ns, by_size, sizes = p.fact["step.ns"], {}, {}
  for row in p:table("work"):where { shapes = { like = "\\[\\d" } }:each() do
    local size = 0
    for dims in row.shapes:gmatch("\\[\\d[0-9,]*\\]") do size = math.max(size, elements_of(dims)) end
    by_size[size] = (by_size[size] or 0) + row.ns
  end
  for size, ns in sorted_pairs(by_size) do
    if ns >= cfg.min_size_share * step_ns then sizes[#sizes + 1] = size end
  end
  table.sort(sizes, function(a, b) return a > b end)
  local sum_ns = 0
  for i = 1, #sizes - 1 do
    sum_ns = sum_ns + by_size[sizes[i]]
    if sum_ns >= cfg.min_array_share * step_ns and sizes[i] >= cfg.far_larger * sizes[i + 1] then
      return sizes[i], sum_ns
    end
  end
  return nil, 0
end

-- Whether a kind of work that is rarely needed stands out: passes over memory do only where they are much.
local function is_told(p, cfg)
  if not p:has("excess") then return false end
  local cells = p:table("excess"):where { flaw = "costly-class", share = { min = cfg.min_step_share } }
  local top = cells:top("ns", 1):rows()[1]
  return top ~= nil and (top.cause ~= "bytes" or top.share >= cfg.min_most_share)
end

-- What a loop of tiny ops takes is starting them: their arrays are as small as they are.
local function is_tiny_rounds(line, cfg)
  return line.loops and line.tiny_calls >= cfg.min_tiny_calls and line.tiny_ns >= cfg.min_tiny_part * line.ns
end

local TINY_ROUNDS = {
  text = "Larger rounds, and fewer of them: unroll a scan by a few rounds, do several steps or the whole batch in one, "
    .. "solve with looser tolerances, or explicitly where the equation is not stiff.",
  code = "carry, ys = jax.lax.scan(step, carry, xs, unroll=4)   # time it: more is not always faster",
}

-- How far a window of step one reaches in each axis in which it does, by what is left of an array: a larger step would
-- leave less than half. Windows below 5 x 5 are as cheap at once.
local function window_of(row)
  local from, to = (row.shapes or ""):match("^\\[([0-9,]+)\\].*?->\\[([0-9,]+)\\]")
  if (row.class or row.type) ~= "reduce" or not from then return nil end
  local sides, left = {}, {}
  for n in to:gmatch("[0-9]+") do left[#left + 1] = tonumber(n) end
  local axis = 0
  for n in from:gmatch("[0-9]+") do
    axis = axis + 1
    local less = left[axis] and tonumber(n) - left[axis]
    if not less or less < 0 or less >= left[axis] then return nil end
    if less > 0 then sides[#sides + 1] = less + 1 end
  end
  if axis ~= #left or #sides < 2 or math.min(table.unpack(sides)) < 5 then return nil end
  return sides
end

-- The least, the most and the sum of a rectangle are those of its rows' and can be had side by side.
local function by_sides(sides)
  local ones = (", 1"):rep(#sides - 1)
  return {
    text = ("A window of %s at once looks at as many values for each result: take it along one axis, then along the "
      .. "next of what that gave. Maxima, minima and sums stay what they are."):format(table.concat(sides, " x ")),
    code = ("x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (%d%s), (1%s), 'SAME')   # then along the next axis")
      :format(sides[1], ones, ones),
  }
end

-- Fusions take many arrays: of a long list, what comes out first.
local function brief(shapes)
  if not shapes or #shapes <= 60 then return shapes end
  return shapes:match("->(\\[[^\\]]*\\])") or shapes
end

-- Where one line runs all, as Keras' fit does, its kinds of work tell more than itself: those, most first; nil: it
-- stands among others, or none of them takes much.
local function kinds_of(line, all_ns, step_ns, cfg)
  local works = line.works
  if line.ns < cfg.min_alone * all_ns or line.loops or #works < 3 or works[1].ns < cfg.min_step_share * step_ns then
    return nil
  end
  local told = {}
  for i = 1, 3 do
    local what = works[i].class or works[i].type
    told[i] = { key = line.key, ns = works[i].ns, row = works[i], title = ("%s of %s"):format(what, line.key),
                 what = ("%s: %s on %s"):format(line.key, what, brief(works[i].shapes) or "?") }
  end
  return told
end

-- A function of a library that does far more than its call says, by the scope that JAX gives it, where it is most of
-- what the line's programs do.
local function by_function(p, line, cfg)
  if not p:has("ops") then return nil end
  local function is_in(pattern)
    return p:table("ops"):where { scope = { like = pattern } }:sum("self_ns") >= cfg.min_function * line.ns
  end
  local looped = not p:has("device.idle_share") and p:table("ops"):where { type = { like = "^convolution$" },
                                                                          scope = { like = "while/body/" } }
  if looped and looped:sum("self_ns") >= cfg.min_function * line.ns then return LOOPED end
  return is_in("jit\\(expm\\)") and EXPONENTIALS
    or is_in("jit\\((root_find|fixed_point|least_squares|minimise)\\)") and ROUNDS or nil
end

-- Where a compiled program's time goes, by line: fusions have no names that tell.
local function of_lines(p, cfg)
  if not p:has("work") then return nil end
  local list, all_ns = lines_of(p, cfg)
  local step_ns, top = p.fact["step.ns"], list[1]
  if not top or all_ns < cfg.min_host_share * step_ns or top.ns < cfg.min_step_share * step_ns then return nil end
  local evidence, locations = {}, {}
  local told = kinds_of(top, all_ns, step_ns, cfg)
  if told then list, top = told, told[1] end
  for i = 1, math.min(3, #list) do
    local line = list[i]
    evidence[i] = { line.what or ("%s, mostly %s on %s"):format(line.key, line.row.class or line.row.type,
                                                                brief(line.row.shapes) or "?"),
                    line.ns, "ns", share = math.min(1, line.ns / step_ns) }
    locations[told and 1 or i] = { file = line.row.source_file, line = line.row.source_line }
  end
  local size, large_ns = on_large_arrays(p, cfg)
  if size then
    evidence[#evidence + 1] = { ("ops on arrays of %d elements and more"):format(size), large_ns, "ns",
                                share = math.min(1, large_ns / step_ns) }
  end
  local is_tiny, window, asked = not told and is_tiny_rounds(top, cfg), window_of(top.row), asked_of(p, top.row)
  if is_tiny then
    evidence[#evidence + 1] = { "tiny ops a step in the loops of " .. top.key, top.tiny_calls, "count" }
    evidence[#evidence + 1] = { "each on average", top.tiny_ns / top.tiny_calls, "ns" }
  end
  return finding {
    title = ("%s of each step goes to %s"):format(fmt.pct(math.min(1, top.ns / step_ns)),
      top.title or "ops of " .. top.key),
    severity = "info", subject = { op = top.row.type }, locations = locations, evidence = evidence,
    condition = ("%s take %s of the step, %s accepted"):format(
      told and "ops of this kind on one line" or "the ops of this line", fmt.pct(top.ns / step_ns),
      fmt.pct(cfg.min_step_share)),
    remedy = by_function(p, top, cfg) or is_tiny and TINY_ROUNDS or window and by_sides(window)
      or { text = ("Check that all of %s is needed: rows of padding, results that nothing reads, pairs that could "
                       .. "be a product, inputs larger than the task needs, work that is the same each time, a type "
                       .. "that this machine is slow in."):format(brief(top.row.shapes) or top.key)
                       .. (asked and asked.text or ""), code = asked and asked.code },
    -- What of it is needed the recording cannot tell: the line may go, or what is done with large arrays, or all of it.
    -- Of tiny ops about half is being started and recorded; what they compute stays in larger rounds.
    impact = impact.share { ns = math.min(is_tiny and top.ns - top.tiny_ns / 2 or math.max(top.ns, large_ns), step_ns),
                            high = math.min(all_ns, step_ns) },
    confidence = "low",
  }
end

-- A number is drawn for each element that may be dropped.
local function of_dropout(p, type)
  if p.framework ~= "pytorch" or not type:find("bernoulli_?$|dropout") then return nil end
  local attends = p:table("op_types"):where { type = { like = "scaled_dot_product|multi_head_attention" } }:count() > 0
  return "Dropout draws a number for each element: drop out smaller arrays, or fewer." .. (attends and
    " Weights of attention have one for each pair of places: without dropout there it runs fused and keeps no pairs. "
      .. "And check that it goes over the places of a sample, not over the batch: layers take (places, batch, width) "
      .. "unless batch_first=True." or "")
end

-- Without shapes: differences that are squared and then summed, all of which take long, may be of all pairs.
local function of_differences(p, type)
  if p.framework ~= "pytorch" or not type:find("^aten::(sub|pow|square)$") then return nil end
  local types = p:table("op_types")
  local function time_of(pattern) return types:where { type = { like = pattern } }:sum("self_ns") end
  local all_ns = types:sum("self_ns")
  if math.min(time_of("^aten::sub$"), time_of("^aten::(pow|square)$")) < 0.15 * all_ns
      or time_of("^aten::(sum|linalg_vector_norm)$") < 0.02 * all_ns then return nil end
  return "Where differences of all pairs of two sets of vectors are squared and summed, take a product of matrices "
    .. "instead, |a|² + |b|² − 2 a·b, which makes no array of all differences: torch.cdist(a, b). Else begin with "
    .. type .. ": fewer or smaller calls, a fused form."
end

-- tape.jacobian and tape.batch_jacobian go back once for each output; TensorFlow names what they vectorize by pfor. The
-- gradients of each example by weights are vectorized, too, and are as many as there are.
local function of_each_output(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("ops") or not p:has("part.compute_ns")
      or p:has("excess") and p:table("excess"):where { flaw = "row-jacobian" }:count() > 0 then
    return nil
  end
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local back = ops:where { name = { like = "^gradient_tape/.*/pfor/" } }
  local all_ns, ns = ops:sum("self_ns"), back:sum("self_ns")
  if ns <= 0 or back:where { name = { like = "/MatMul_1/pfor/|BackpropFilter" } }:count() > 0 then return nil end
  ns = math.min(ns / all_ns * p.fact["part.compute_ns"], step_ns)
  if ns < cfg.min_each_output * step_ns then return nil end
  local worst = back:top("self_ns", 1):rows()[1]
  return finding {
    title = ("Going back for each output by itself takes %s of each step"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.name },
    evidence = { { "gradients of each output a step", ns, "ns", share = ns / step_ns }, { "mostly", worst.name } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_each_output)),
    remedy = { text = "jacobian and batch_jacobian go back once for each output. By few inputs, as time or a price, go "
                 .. "forwards, once for each of them; of outputs that are summed anyway take the gradient of the sum.",
               code = "with tf.autodiff.ForwardAccumulator(t, tf.ones_like(t)) as forward: y = model(t)\n"
                 .. "dy = forward.jvp(y)   # instead of tape.batch_jacobian(y, t)" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- TensorFlow for processors takes oneDNN for convolutions, and names its ops _Mkl; where it found no instructions for
-- it, or was told not to, for the sake of a message, its own kernels run, which take longer. Records that sessions make
-- name the graph's ops, whatever ran them.
local function of_plain_kernels(p, type)
  if p.framework ~= "tensorflow" or p.format ~= "xspace" or p:has("device.idle_share")
      or p:class_of(type) ~= "convolution"
      or p:table("op_types"):where { type = { like = "^_Mkl" } }:count() > 0 then
    return nil
  end
  return { text = " No op runs by oneDNN, which convolves faster on x86 processors: if TF_ENABLE_ONEDNN_OPTS is 0, "
             .. "which only silences TensorFlow's message at the start, unset it; else try it with 1.",
           code = "TF_ENABLE_ONEDNN_OPTS=1 python train.py   # before TensorFlow is imported" }
end

-- Batches of products without a softmax between them, as in linear attention: which pair comes first is free.
local function of_free_order(p, type)
  return p.framework == "tensorflow" and (type:find("BatchMatMul", 1, true) or type:find("Einsum", 1, true))
    and p:table("op_types"):where { type = { like = "^(_Mkl)?Softmax$" } }:count() == 0
end

return rule {
  id = "hot-op", api = 1, version = "1.0.0",
  title = "One type of op takes most of the time",
  category = "kernels", severity = "info",
  needs = { "step.ns" },
  cause = "compute", tags = { "ops" },
  params = {
    max_compiling = { default = 0.5, min = 0, max = 1, unit = "share",
                      doc = "PyTorch: share of the step in compiling, above which ops say nothing" },
    most = { default = 2, min = 1, max = 10, unit = "count", doc = "places that are said" },
    min_share = { default = 0.30, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops from which a type is worth a mention" },
    min_array_share = { default = 0.20, min = 0, max = 1, unit = "share",
                        doc = "PyTorch on a host: share of the step from which an array's ops are worth a mention" },
    min_size_share = { default = 0.005, min = 0, max = 1, unit = "share",
                       doc = "JAX: what the ops on arrays of one size take, from which the size counts" },
    far_larger = { default = 3, min = 1, max = 1e6, unit = "ratio",
                   doc = "JAX: times as large as the next, from which arrays stand out" },
    min_host_share = { default = 0.15, min = 0, max = 1, unit = "share",
                       doc = "the same on a host alone, where an op is work that something asked for" },
    min_alone = { default = 0.90, min = 0, max = 1, unit = "share",
                  doc = "JAX: of the ops' time, from which a line runs all, and kinds of its ops are told" },
    min_most_share = { default = 0.30, min = 0, max = 1, unit = "share",
                       doc = "JAX: what passes over memory take beyond their need, below which a line is named" },
    min_structure_share = { default = 0.05, min = 0, max = 1, unit = "share",
                            doc = "what a cheaper way saves of the step, from which it is said" },
    min_loud_share = { default = 0.20, min = 0, max = 1, unit = "share", doc = "the same for a warning" },
    high_share = { default = 0.50, min = 0, max = 1, unit = "share",
                   doc = "share from which it is a warning" },
    min_step_share = { default = 0.10, min = 0, max = 1, unit = "share",
                       doc = "its self time over the step, below which it is not worth a look" },
    min_each_output = { default = 0.25, min = 0, max = 1, unit = "share",
                        doc = "TensorFlow: going back for each output by itself, over the step" },
    min_device_share = { default = 0.50, min = 0, max = 1, unit = "share",
                         doc = "kernel time over the step from which the device is what the program waits for" },
    min_untracked_share = { default = 0.2, min = 0, max = 1, unit = "share",
                            doc = "PyTorch: of the step, what no backward pass goes through, from which it is said" },
    min_tiny_calls = { default = 500, min = 1, max = 1e7, unit = "count",
                       doc = "JAX: tiny ops a step of a line's loops, from which starting them counts" },
    min_tiny_part = { default = 0.5, min = 0, max = 1, unit = "share",
                      doc = "JAX: of the line's time, what they take" },
    min_function = { default = 0.5, min = 0, max = 1, unit = "share",
                     doc = "JAX: of the line's time, a library's function that is known to do much" },
    tiny_ns = { default = 3e3, min = 0, max = 1e9, unit = "ns",
                doc = "JAX: such an op on average, about three times what starting it takes" },
    short_ns = { default = 5e3, min = 0, max = 1e9, unit = "ns",
                 doc = "a kernel that is over before the device is full" },
  },
  doc = [[
Names what a look at the program should begin with. Rules that know why an op is slow say more. On a host, a kind of
work of which programs rarely need much (sorting, random numbers, decompositions, copies, passes over memory far
beyond the products) is named with its line; its price, what it takes less a usual need, is a bound. In compiled
programs of JAX, products that take less in another order, and matrices of derivatives that are only multiplied or of
which only the diagonal is added up, are priced by their sizes; so are inverses that PyTorch multiplies with a few
vectors, less a factor of the matrix, products with unfolded pictures, as the copies and half of the products, and
pooling over wide windows that overlap, less a pass along each axis. Of PyTorch programs on a host a decomposition, a
sort, a draw or rows of a table that each lookup shortens are named where they take a good part of the step, squares of
weights in the loss are priced with their way back, else the array whose ops, forward and back, take most: what makes it
smaller or needless saves them all. Of compiled programs of JAX it is the line that takes most, priced by all ops on the
largest arrays where these are far larger than others: what made them large goes through all lines; where one line runs
all, as fit() of Keras, its kinds of work are told; where it is loops of tiny ops, larger and fewer rounds are advised,
and roots that diffrax finds in each step of an implicit solver are named as such. Elsewhere the type of op that takes
most is named, or, where that takes less, all ops of a training step of PyTorch that no backward pass goes through;
which share of it, and of TensorFlow's products and convolutions with their gradients, may go is not known, so its price
is a bound. Kernels of an accelerator are ranked by the op that launched them where they are recorded, with how far they
are from what the device can do, or why that is not known: a program that its kernels hold gets an answer. TensorFlow's
gradients of each output by itself are told together, and where its convolutions run without oneDNN, that is said.
Silent when time is spread, or when ops are a small part of the step.]],

  check = function(p, cfg)
    if p:has("kernels") and p:has("device.idle_share") then return of_kernels(p, cfg) end
    if not p:has("op_types") then
      return skip { reason = "neither ops nor kernels are recorded", capture = "a timeline of ops" }
    end
    local places = structural(p, cfg)
    local implicit = #places == 0 and of_implicit_steps(p, cfg)
    if implicit then return implicit end
    local line = #places == 0 and p.framework == "jax" and not is_told(p, cfg) and of_lines(p, cfg)
    if line then return line end
    for _, place in ipairs(costly(p, cfg)) do places[#places + 1] = place end
    if #places > 0 then return places end
    local each = of_each_output(p, cfg)
    if each then return each end
    -- PyTorch's compiler has ranges of its own among the ops: what they do is no op to make smaller.
    if p.framework == "pytorch" and p:has("part.compile_ns")
        and p.fact["part.compile_ns"] > cfg.max_compiling * p.fact["step.ns"] then return nil end
    local array = p.framework == "pytorch" and not p:has("device.idle_share")
      and (of_rare_op(p, cfg) or of_arrays(p, cfg))
    if array then return array end
    local types, top = p:table("op_types"), {}
    local total_ns = types:sum("self_ns")
    local ops = p:has("ops") and p:table("ops")
    -- Collectives mostly wait for other ranks; what a pipeline prepares runs beside the step.
    for row in types:top("self_ns", 1e6):each() do
      if row.kind ~= "collective" and not told_elsewhere[p:class_of(row.type)] and #top < 3
          and not (ops and ops:where { type = row.type }:sum("input_ns") > 0.5 * row.self_ns) then
        top[#top + 1] = row
      end
    end
    if total_ns <= 0 or #top == 0 then return nil end
    local untracked = of_untracked(p, top[1], cfg)
    if untracked then return untracked end
    local share = top[1].self_ns / total_ns
    if share < (p:has("device.idle_share") and cfg.min_share or cfg.min_host_share)
        or top[1].self_ns < cfg.min_step_share * p.fact["step.ns"] then
      return nil
    end

    local evidence = {}
    for i, row in ipairs(top) do
      evidence[i] = { row.type .. ", self time a step", row.self_ns, "ns" }
    end
    -- A fusion says nothing by its type: name the largest ones and what they were made from.
    local subject, locations, begin = top[1].type, {}, nil
    if p:has("ops") then
      for i, row in ipairs(p:table("ops"):where { type = top[1].type }:top("self_ns", 3):rows()) do
        if i == 1 and subject == "fusion" then subject = row.name end
        -- Names of fused instructions are the compiler's: people know the line.
        if i == 1 and subject == row.name and row.source_file and (row.source_line or 0) > 0 then
          begin = ("line %d of %s (%s)"):format(row.source_line, row.source_file:match("[^/]*$"), subject)
        end
        local from = row.scope and row.scope ~= "" and " from " .. row.scope or ""
        -- Profiles without names of ops call each by its type.
        if row.name .. from ~= top[1].type then
          evidence[#evidence + 1] = { row.name .. from, row.self_ns, "ns" }
        end
        local last = locations[#locations]
        if row.source_file and row.source_file ~= ""
            and not (last and last.file == row.source_file and last.line == row.source_line) then
          locations[#locations + 1] = { file = row.source_file, line = row.source_line }
        end
      end
    end
    begin = begin or subject
    local is_host = not p:has("device.idle_share")
    local products = { product = true, convolution = true, attention = true }
    local is_product = products[p:class_of(top[1].type)] or products[p:class_of(subject)]
    local hint = is_product and is_host and of_penalty(p) or of_plain_kernels(p, top[1].type)
    local ns, claimed = of_kind(p, top[1])
    if ns > top[1].self_ns then
      evidence[#evidence + 1] = { "with its gradients and others of its kind", ns, "ns",
                                  share = math.min(1, ns / p.fact["step.ns"]) }
    end
    return finding {
      title = ("%s takes %s of the time of all ops"):format(top[1].type, fmt.pct(share)),
      severity = not is_host and share >= cfg.high_share and "warn" or "info",
      subject = { op = subject }, locations = locations,
      evidence = evidence,
      condition = ("%s of the self time of ops, %s accepted"):format(
        fmt.pct(share), fmt.pct(is_host and cfg.min_host_share or cfg.min_share)),
      remedy = { text = is_product
                   and ("Check that all of %s is needed: rows of padding, results that nothing reads, inputs larger "
                        .. "than the task needs, a type that this machine is slow in. Then larger batches."):format(
                          subject) .. (hint and hint.text or of_free_order(p, top[1].type) and FREE_ORDER or "")
                   or top[1].type:find("^CropAndResize") and CROPS or top[1].type == "ReadVariableOp" and COPIES
                   or of_dropout(p, top[1].type) or of_differences(p, top[1].type)
                   or p.framework ~= "jax" and moves[p:class_of(top[1].type)] or
                        ("Begin with %s: fewer or smaller calls, lower precision, a fused form."):format(begin),
                 code = hint and hint.code or nil },
      -- What of it is needed the recording cannot tell: some share of it may go.
      impact = p:has("device.idle_share") and impact.none()
        or impact.share { ns = math.min(ns, p.fact["step.ns"]) },
      claims = { op_type = claimed },
      confidence = "low",
    }
  end,

  examples = {
    { name = "differences without squares", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.2e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::sub", kind = "op", self_ns = 4e6 },
                              { type = "aten::mul", kind = "op", self_ns = 3.6e6 },
                              { type = "aten::sum", kind = "op", self_ns = 1e6 } } } },
    { name = "differences without shapes", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.2e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::pow", kind = "op", self_ns = 4e6 },
                              { type = "aten::sub", kind = "op", self_ns = 3.6e6 },
                              { type = "aten::sum", kind = "op", self_ns = 1e6 } } } },
    -- 6 of 8 ms of ops, and 9 ms that compute: 6.75 ms.
    { name = "derivatives of each output", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 2.7e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { op_types = { { type = "_MklMatMul", kind = "op", self_ns = 8e6 } },
                 ops = { { name = "gradient_tape/net/dense/MatMul/MatMul/pfor/MatMul", type = "_MklMatMul",
                           self_ns = 6e6 },
                         { name = "net/dense/MatMul", type = "_MklMatMul", self_ns = 2e6 } } } },
    { name = "gradients of each example by weights", framework = "tensorflow", format = "xspace", finding = true,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { op_types = { { type = "_MklMatMul", kind = "op", self_ns = 8e6 } },
                 ops = { { name = "gradient_tape/net/dense/MatMul/MatMul_1/pfor/MatMul", type = "_MklMatMul",
                           self_ns = 6e6 },
                         { name = "net/dense/MatMul", type = "_MklMatMul", self_ns = 2e6 } } } },
    { name = "what a pipeline computes", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "_MklTranspose", kind = "op", self_ns = 5e6 } },
                 ops = { { name = "transpose", type = "_MklTranspose", self_ns = 5e6, input_ns = 4.5e6 } } } },
    { name = "convolutions without oneDNN", framework = "tensorflow", format = "xspace", finding = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "Conv2D", kind = "op", self_ns = 5e6 } },
                 ops = { { name = "net/Conv2D", type = "Conv2D", self_ns = 5e6 } } } },
    { name = "PyTorch compiles", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compile_ns"] = 9e6 },
      tables = { op_types = { { type = "async_compile.wait", kind = "op", self_ns = 7e6, calls = 0.4 },
                              { type = "aten::mm", kind = "op", self_ns = 1e6, calls = 4 } } } },
    -- 4 and 2 ms of 9.
    { name = "a convolution's gradient, and the convolution", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "Conv2DBackpropFilter", self_ns = 4e6 }, { type = "Conv2D", self_ns = 2e6 },
                              { type = "Mul", self_ns = 3e6 } } } },
    -- 5 of 8 ms in ops, of which 9 ms are computing.
    { name = "steps that are solved implicitly", framework = "jax", format = "xspace", finding = true,
      severity = "info", impact_ns = 5.625e6, facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { op_types = { { type = "fusion", self_ns = 4e6 }, { type = "custom-call", self_ns = 4e6 } },
                 ops = { { name = "lu.1", scope = "jit(f)/jit(diffeqsolve)/while/body/jit(root_find)/jit(lu_factor)/lu",
                           self_ns = 3e6, source_file = "train.py", source_line = 7 },
                         { name = "fusion.1", self_ns = 2e6,
                           scope = "jit(f)/jit(diffeqsolve)/while/body/jit(root_find)/while/body/mul" },
                         { name = "fusion.2", scope = "jit(f)/jit(diffeqsolve)/while/body/mul", self_ns = 3e6 } } } },
    -- A layer of a model solves its own equations, beside an explicit solver.
    { name = "roots elsewhere", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 4.5e6, facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { op_types = { { type = "fusion", self_ns = 6e6 } },
                 ops = { { name = "lu.1", scope = "jit(f)/jit(root_find)/jit(lu_factor)/lu", self_ns = 5e6 },
                         { name = "fusion.2", scope = "jit(f)/jit(diffeqsolve)/while/body/mul", self_ns = 3e6 } },
                 excess = { { cell = 1, flaw = "costly-class", cause = "repeat", grade = "C", ns = 4.5e6, share = 0.45,
                              factor = 0.1, detail = "decomposition", op = "custom-call", source_file = "train.py",
                              source_line = 7 } } } },
    { name = "a costly kind of work", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 4.5e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 6e6 } },
                 excess = { { cell = 1, flaw = "costly-class", cause = "repeat", grade = "C", ns = 4.5e6, share = 0.45,
                              factor = 0.1, detail = "decomposition", op = "custom-call", source_file = "train.py",
                              source_line = 7 } } } },
    -- 4000 ops of a microsecond, a loop's: larger rounds are advised, for half of the line's 4 ms.
    { name = "a scan of tiny rounds", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 2e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 6e6 } },
                 work = { { class = "control", type = "while", shapes = "[]x[10]", source_file = "train.py",
                            source_line = 9, ns = 5e5, calls = 500 },
                          { class = "elementwise", type = "fusion", shapes = "[10]x[10]", source_file = "train.py",
                            source_line = 9, ns = 3.5e6, calls = 3500 } } } },
    -- One line runs all: the most that one kind of its work takes.
    { name = "a fit that a library runs", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 2e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 6e6 } },
                 work = { { class = "reduce", type = "fusion", shapes = "[64]->[8]", source_file = "train.py",
                            source_line = 9, ns = 2e6, calls = 1 },
                          { class = "product", type = "fusion", shapes = "[8]x[8]", source_file = "train.py",
                            source_line = 9, ns = 1.8e6, calls = 1 },
                          { class = "elementwise", type = "fusion", shapes = "[10]", source_file = "train.py",
                            source_line = 9, ns = 1e6, calls = 1 } } } },
    { name = "a convolution by hand", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::im2col", self_ns = 3e6 } },
                 excess = { { cell = 1, flaw = "unfolded-convolution", cause = "bytes", grade = "A", ns = 5e6,
                              share = 0.5, factor = 0.3, op = "aten::im2col" } } } },
    { name = "an inverse for a few vectors", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::inverse", self_ns = 3e6 } },
                 excess = { { cell = 1, flaw = "formed-inverse", cause = "shape", grade = "A", ns = 3e6, share = 0.3,
                              factor = 0.17, op = "aten::inverse" } } } },
    { name = "squares of weights in the loss", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mul", self_ns = 2e6 } },
                 excess = { { cell = 1, flaw = "penalised-weights", cause = "bytes", grade = "A", ns = 4e6,
                              share = 0.4, factor = 0, op = "aten::mul" } } } },
    -- 2 and 1.5 ms that nothing goes back through, more than any op.
    { name = "a preview in each step", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      impact_ns = 3.5e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mm", self_ns = 3e6 }, { type = "aten::istft", self_ns = 2e6 } },
                 eager_untracked = { { type = "aten::istft", count = 32, ns = 2e6 },
                                     { type = "aten::abs", count = 32, ns = 1.5e6 } } } },
    { name = "pictures that are turned, scaled and moved", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 3.5e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mm", self_ns = 3e6 }, { type = "aten::grid_sampler_2d", self_ns = 2e6 } },
                 eager_untracked = { { type = "aten::grid_sampler", count = 3, ns = 3e6 },
                                     { type = "aten::affine_grid_generator", count = 3, ns = 5e5 } } } },
    { name = "little beside the training", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 3e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mm", self_ns = 3e6 }, { type = "aten::abs", self_ns = 1e6 } },
                 eager_untracked = { { type = "aten::abs", count = 32, ns = 1e6 } } } },
    { name = "gradients of gradients of convolutions", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::convolution_backward", self_ns = 6e6 },
                              { type = "aten::_convolution_double_backward", self_ns = 1e5 } } } },
    { name = "rows that each lookup shortens", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::embedding_renorm_", self_ns = 6e6 } },
                 work = { { class = "embedding", type = "aten::embedding_renorm_", phase = "forward",
                            shapes = "[20000,64]x[256,50]", calls = 1, ns = 6e6 } } } },
    -- 4 ms, and 2 of their own way back.
    { name = "eigenvectors of matrices that may be symmetric", framework = "pytorch", format = "kineto",
      finding = true, severity = "info", impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::linalg_eig", self_ns = 4e6 } },
                 work = { { class = "decomposition", type = "aten::linalg_eig", phase = "forward",
                            shapes = "[64,24,24]", calls = 1, ns = 4e6 },
                          { class = "decomposition", type = "aten::linalg_solve", phase = "backward",
                            shapes = "[64,24,24]x[64,24,24]", calls = 1, ns = 2e6 },
                          { class = "decomposition", type = "aten::linalg_inv", phase = "forward",
                            shapes = "[8,3,3]", calls = 1, ns = 1e6 } } } },
    { name = "distinct rows", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::unique_dim", self_ns = 6e6 } },
                 work = { { class = "other", type = "aten::unique_dim", phase = "forward",
                            shapes = "[6000,3]", calls = 1, ns = 6e6 } } } },
    { name = "a draw from the weights of a whole table", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::multinomial", self_ns = 3e6 } },
                 work = { { class = "random", type = "aten::multinomial", phase = "forward", shapes = "[400000]",
                            calls = 1, ns = 3e6 },
                          { class = "random", type = "aten::dropout", phase = "forward", shapes = "[512,256]",
                            calls = 1, ns = 4e6 } } } },
    -- 6 ms of the 7 at the line are expm's.
    { name = "exponentials of matrices", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 2.1e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "dot", self_ns = 7e6 } },
                 ops = { { name = "dot.1", scope = "jit(update)/jvp(vmap(jit(expm)))/while/body/dot_general",
                           self_ns = 6e6 } },
                 work = { { class = "product", type = "dot", shapes = "[47,20,20]x[47,20,20]", ns = 7e6, calls = 16,
                            source_file = "tree.py", source_line = 23 } } } },
    { name = "rounds of Newton's method", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 2.1e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "custom-call", self_ns = 7e6 } },
                 ops = { { name = "lu.1", scope = "jit(step)/jit(root_find)/while/body/jit(lu_factor)/lu",
                           self_ns = 6e6 } },
                 work = { { class = "other", type = "custom-call", shapes = "[240,240]", ns = 7e6, calls = 6,
                            source_file = "heat.py", source_line = 25 } } } },
    { name = "a line of a compiled program", framework = "jax", format = "xspace", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 work = { { class = "product", type = "fusion", shapes = "[64,64]x[64,64]", source_file = "train.py",
                            source_line = 7, ns = 4e6 } },
                 excess = { { cell = 1, flaw = "costly-class", cause = "bytes", grade = "C", ns = 1.5e6, share = 0.15,
                              factor = 0.1, detail = "concat" } } } },
    { name = "convolutions in a loop", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 7e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "convolution", self_ns = 7e6 } },
                 ops = { { name = "conv.1", type = "convolution", self_ns = 6e6,
                           scope = "jit(several)/while/body/closed_call/jvp()/conv_general_dilated" } },
                 work = { { class = "convolution", type = "convolution", ns = 7e6, calls = 12,
                            shapes = "[16,16,16,16]x[24,16,3,3]->[16,24,16,16]", source_file = "smoke.py",
                            source_line = 21 } } } },
    -- 8192 and 256 are 8447 and 1.
    { name = "a long filter", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "convolution", self_ns = 7e6 } },
                 work = { { class = "convolution", type = "convolution", ns = 6e6, calls = 1,
                            shapes = "[1,8192,8]x[256,1,8]->[1,8447,8]", source_file = "halls.py",
                            source_line = 26 } } } },
    { name = "all compared with all", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 7e6 } },
                 work = { { class = "elementwise", type = "fusion", ns = 6e6, calls = 1,
                            shapes = "[3200]x[3200]->[3200,3200]", source_file = "lungs.py", source_line = 19 } } } },
    { name = "pairs of one row of numbers", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 4e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 work = { { class = "elementwise", type = "fusion", ns = 3e6, calls = 1, source_file = "rank.py",
                            source_line = 36, shapes = "[2500]x[2500]->[2500,2500]" } },
                 excess = { { cell = 1, flaw = "costly-class", cause = "bytes", grade = "C", ns = 4e6, share = 0.4,
                              factor = 0.1, detail = "reduce", region = "jit(st)/reduce_sum", source_file = "rank.py",
                              source_line = 36 } } } },
    { name = "exponentials of sums", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 4e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 excess = { { cell = 1, flaw = "costly-class", cause = "bytes", grade = "C", ns = 4e6, share = 0.4,
                              factor = 0.1, detail = "elementwise", region = "jit(refine)/jvp()/exp" } } } },
    -- 126 less 14 are left of both sides: 15 x 15.
    { name = "windows of a picture", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 3e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 work = { { class = "reduce", type = "fusion", shapes = "[4,126,126,1]x[]->[4,112,112,1]",
                            source_file = "train.py", source_line = 7, ns = 3e6 } } } },
    -- Arrays of 65536 elements are four times as large as the next: 3 and 3 ms. A size of 0.04 ms counts for nothing.
    { name = "pairs of rows in a compiled program", framework = "jax", format = "xspace", finding = true,
      severity = "info", impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 work = { { class = "product", type = "fusion", shapes = "[256,64]x[256,64]->[256,256]",
                            source_file = "train.py", source_line = 7, ns = 3e6 },
                          { class = "elementwise", type = "fusion", shapes = "[256,256]->[256,256]",
                            source_file = "train.py", source_line = 8, ns = 3e6 },
                          { class = "copy", type = "fusion", shapes = "[300,100]->[300,100]",
                            source_file = "train.py", source_line = 9, ns = 4e4 },
                          { class = "product", type = "fusion", shapes = "[256,64]x[64,64]->[256,64]",
                            source_file = "train.py", source_line = 10, ns = 2.9e6 } } } },
    { name = "a Hessian for products", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 8e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 excess = { { cell = 1, flaw = "dense-jacobian", cause = "shape", grade = "A", ns = 8e6, share = 0.8,
                              factor = 0.05 } } } },
    { name = "an exact divergence", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 8e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 excess = { { cell = 1, flaw = "traced-jacobian", cause = "shape", grade = "A", ns = 8e6, share = 0.8,
                              factor = 0.1 } } } },
    { name = "a gradient made forwards", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 7e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 excess = { { cell = 1, flaw = "forward-gradient", cause = "shape", grade = "A", ns = 7e6, share = 0.7,
                              factor = 0.2 } } } },
    { name = "a Laplacian by a whole Hessian", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 excess = { { cell = 1, flaw = "traced-hessian", cause = "shape", grade = "A", ns = 5e6, share = 0.5,
                              factor = 0.1 } } } },
    { name = "an adapter added to its weight", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 1e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 9e6 } },
                 excess = { { cell = 1, flaw = "product-order", cause = "shape", grade = "A", ns = 1e6, share = 0.1,
                              factor = 0.05 } } } },
    { name = "logits of a whole vocabulary", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 2.4e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mm", self_ns = 5e6 } },
                 work = { { type = "aten::mm", phase = "forward", shapes = "[128,64]x[64,8000]", ns = 3e6,
                            necessary_ns = 3e6 },
                          { type = "aten::_log_softmax", phase = "forward", shapes = "[128,8000]", ns = 3e6,
                            necessary_ns = 3e6 },
                          { type = "aten::mm", phase = "backward", shapes = "[128,8000]x[8000,64]", ns = 5e6,
                            necessary_ns = 5e6 } } } },
    -- 4 and 2 ms of 10: a batch of 160 is what attention goes over, in each of 24 places.
    { name = "attention over the batch", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::scaled_dot_product_attention", kind = "op", self_ns = 6e6 } },
                 work = { { class = "attention", type = "aten::scaled_dot_product_attention", phase = "forward",
                            shapes = "[24,4,160,12]x[24,4,160,12]x[24,4,160,12]", ns = 4e6, necessary_ns = 4e6 },
                          { class = "attention", type = "aten::scaled_dot_product_attention", phase = "backward",
                            shapes = "[24,4,160,12]x[24,4,160,12]", ns = 2e6, necessary_ns = 2e6 },
                          { class = "loss", type = "aten::cross_entropy_loss", phase = "forward",
                            shapes = "[160,5]x[160]", ns = 1e4, necessary_ns = 1e4 } } } },
    { name = "members that are stacked at each call", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 6e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::stack", self_ns = 6e6 } },
                 work = { { class = "concat", type = "aten::stack", phase = "forward", ns = 6e6, necessary_ns = 6e6,
                            shapes = "[256,256]x[256,256]x[256,256]" } } } },
    { name = "products with a diagonal", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      impact_ns = 4e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mm", kind = "op", self_ns = 4e6 } },
                 work = { { class = "product", type = "aten::matmul", phase = "forward", shapes = "[400,400]x[400,400]",
                            ns = 4e6, necessary_ns = 4e6 },
                          -- Not of the products.
                          { class = "elementwise", type = "aten::dropout", phase = "forward", shapes = "[400,400]",
                            ns = 2e6, necessary_ns = 2e6 },
                          { class = "other", type = "aten::diag", phase = "forward", shapes = "[400]", ns = 1e5,
                            necessary_ns = 1e5 } } } },
    -- 4 ms of 10, of each of 20 places all 192 samples.
    { name = "a recurrence over the batch", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 4e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::gru", kind = "op", self_ns = 4e6 } },
                 work = { { class = "cell", type = "aten::gru", phase = "forward",
                            shapes = "[192,20,16]x[2,20,96]x[288,16]x[288,96]", ns = 4e6, necessary_ns = 4e6 },
                          { class = "loss", type = "aten::cross_entropy_loss", phase = "forward",
                            shapes = "[192,6]x[192]", ns = 1e4, necessary_ns = 1e4 } } } },
    { name = "dropout of attention's weights", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 5e6, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::bernoulli_", kind = "op", self_ns = 5e6 },
                              { type = "aten::scaled_dot_product_attention", kind = "op", self_ns = 1e5 },
                              { type = "aten::mm", kind = "op", self_ns = 2e6 } } } },
    { name = "arrays that no one is the first of", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "aten::mm", self_ns = 9e5 }, { type = "aten::mul", self_ns = 9e6,
                                                                     kind = "collective" } },
                 work = { { type = "aten::mm", phase = "forward", shapes = "[128,64]x[64,80]", ns = 9e5,
                            necessary_ns = 9e5 } } } },
    { name = "attention at its roof", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { kernels = { { name = "attn_fwd", family = "attn_fwd", category = "attention",
                               op = "aten::_flash_attention_forward", calls = 10, total_ns = 8e6 },
                             { name = "add", family = "add", category = "elementwise", op = "aten::add", calls = 10,
                               total_ns = 1e6 } },
                 roofline = { { op = "aten::_flash_attention_forward", type = "aten::_flash_attention_forward",
                                ns = 8e6, efficiency = 0.65, bound = "compute" } } } },
    { name = "a library's products at their roof", format = "xspace", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { kernels = { { name = "nvjet_1", category = "gemm", op = "custom-call.1", op_type = "custom-call",
                               calls = 10, total_ns = 5e6 },
                             { name = "nvjet_2", category = "gemm", op = "gemm_fusion.2", op_type = "fusion",
                               calls = 10, total_ns = 4e6 } },
                 roofline = { { op = "custom-call.1", type = "custom-call", ns = 5e6, efficiency = 0.7,
                                bound = "compute" },
                              { op = "custom-call.3", type = "custom-call", ns = 9e6, efficiency = 0.1,
                                bound = "compute" } } } },
    { name = "a library's products far from it", format = "xspace", finding = true, severity = "warn",
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { kernels = { { name = "nvjet_1", category = "gemm", op = "custom-call.1", op_type = "custom-call",
                               calls = 10, total_ns = 9e6 } },
                 roofline = { { op = "custom-call.1", type = "custom-call", ns = 9e6, efficiency = 0.3,
                                bound = "compute" } } } },
    { name = "products of a replayed graph", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { kernels = { { name = "nvjet_1", family = "nvjet_1", category = "gemm", op = "", calls = 40,
                               total_ns = 4e6 },
                             { name = "nvjet_2", family = "nvjet_2", category = "gemm", op = "", calls = 40,
                               total_ns = 3e6 },
                             { name = "rms_norm", family = "rms_norm", category = "norm", op = "", calls = 80,
                               total_ns = 1e6 } } } },
    { name = "kernels of many ops", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { kernels = { { name = "a", family = "a", category = "gemm", op = "aten::mm", calls = 1,
                               total_ns = 2e6 },
                             { name = "b", family = "b", category = "norm", op = "aten::native_layer_norm", calls = 1,
                               total_ns = 2e6 },
                             { name = "c", family = "c", category = "attention", op = "aten::_flash_attention_forward",
                               calls = 1, total_ns = 2e6 },
                             { name = "d", family = "d", category = "gather", op = "aten::embedding", calls = 1,
                               total_ns = 2e6 } } } },
    { name = "kernels are little of the step", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e8, ["device.idle_share"] = 0.95 },
      tables = { kernels = { { name = "a", family = "a", category = "gemm", op = "aten::mm", calls = 1,
                               total_ns = 2e6 } } } },
    { name = "one type dominates", finding = true, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "MatMul", self_ns = 6e6 }, { type = "Relu", self_ns = 2e6 } } } },
    { name = "waiting for other ranks is no op", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "CollectiveReduceV2", kind = "collective", self_ns = 6e6 },
                              { type = "MatMul", kind = "op", self_ns = 2e5 },
                              { type = "Relu", kind = "op", self_ns = 2e5 } } } },
    { name = "spread", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { op_types = { { type = "MatMul", self_ns = 1e6 }, { type = "Relu", self_ns = 1e6 },
                              { type = "Conv2D", self_ns = 1e6 }, { type = "Add", self_ns = 1e6 } } } },
  },
}
