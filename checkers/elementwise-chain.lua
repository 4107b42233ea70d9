-- Several elementwise ops in a row pass over the same values.
-- For the examples: a product of 20 us for each pair of items or so, its sum and its gradient, and a layer of 1 ms.
local function example_pairs(count)
  local rows = { { name = "dense/MatMul", type = "MatMul", calls = 1, self_ns = 1e6 } }
  for i = 0, count - 1 do
    local number = i > 0 and "_" .. i or ""
    rows[#rows + 1] = { name = "mul" .. number, type = "Mul", calls = 1, self_ns = 2e4 }
    rows[#rows + 1] = { name = "Sum" .. number, type = "Sum", calls = 1, self_ns = 2e4 }
    rows[#rows + 1] = { name = "gradients/mul" .. number .. "_grad/Mul", type = "Mul", calls = 1, self_ns = 2e4 }
  end
  return rows
end

-- Windows of a series that are copied out for what is done with each, and a layer of 4 ms.
local function example_windows(type, scope)
  scope = scope or "net/rolling/"
  return { { name = scope .. "frame/GatherV2", type = "GatherV2", calls = 1, self_ns = 2e6 },
           { name = scope .. "each", type = type, calls = 1, self_ns = 2e6 },
           { name = "gradient_tape/" .. scope .. "frame/UnsortedSegmentSum", type = "UnsortedSegmentSum", calls = 1,
             self_ns = 2e6 },
           { name = "net/conv/Conv2D", type = "Conv2D", calls = 1, self_ns = 4e6 } }
end

-- Updates of parameters pass over them too; rules about optimizers and tables say what that costs.
local UPDATES = "^(?!(adam|adamw|nadam|adamax|adagrad|adadelta|rmsprop|lion|ftrl|adafactor|sgd|lamb)(_[0-9]+)?/)"

-- Formulas that layers are made of, by their scopes.
local OF_LAYERS = "(?i)(^|/)[a-z0-9_]*(gelu|silu|swish|softplus|layer_?norm|group_?norm|rms_?norm|batch_?norm|"
  .. "dropout|activation|softmax|mish|selu)[a-z0-9_]*/"

-- Without compiling, TensorFlow runs one op after the other over the whole tensor.
local function of_graph(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local all_ns, ns, reduced_ns, calls, worst = ops:sum("self_ns"), 0, 0, 0, nil
  for row in ops:where { type = { like = p:names("tf_formula") }, name = { like = UPDATES } }:each() do
    if row.self_ns >= cfg.min_op_ns * row.calls then
      ns, calls = ns + row.self_ns, calls + row.calls
      if p:class_of(row.type) == "reduce" then reduced_ns = reduced_ns + row.self_ns end
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  if not worst or calls < 3 then return nil end
  local is_most = ns >= cfg.min_of_ops * all_ns and ns >= cfg.min_of_step * step_ns
  local is_much = calls >= cfg.min_many and ns >= cfg.min_much * all_ns and ns >= cfg.min_much * step_ns
  if not is_most and not is_much then return nil end
  local limit = is_most and cfg.min_of_ops or cfg.min_much
  -- Where nothing is trained and few rows are picked, what was computed for the others is dropped; distances, which are
  -- sums, are what is picked by.
  local picks = p:has("op_stats.trains") and not p.fact["op_stats.trains"] and reduced_ns <= cfg.min_reduced * all_ns
    and ops:where { type = { like = "^(TopK|NonMaxSuppression|CombinedNonMaxSuppression)" } }:count() > 0
  -- A mask of all classes among them, about as long to make as to pass over.
  local function scope_of(row) return row.name:match("^(.*/)[^/]+$") or "" end
  local mask = ops:where { type = "OneHot" }:top("self_ns", 1):rows()[1]
  local masks = mask and mask.self_ns >= 0.3 * worst.self_ns and scope_of(mask) == scope_of(worst)
  -- Ops of several threads, those of the input pipeline among them, overlap: of computing they take what they are of
  -- all ops.
  local computing_ns, share = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns, ns / all_ns
  ns = math.min(ns, share * computing_ns)
  return finding {
    title = ("Elementwise ops over large tensors are %s of all computing: %s a step"):format(
      fmt.pct(share), fmt.ms(ns)),
    severity = is_most and "warn" or "info",
    subject = { op = worst.name },
    evidence = { { "elementwise ops a step", ns, "ns", share = ns / step_ns }, { "of all ops", share, "share" },
                 { "how many a step", calls, "count" },
                 { worst.name .. " (" .. worst.type .. ")", worst.self_ns, "ns" } },
    condition = ("%s of the time of all ops, %s accepted"):format(fmt.pct(share), fmt.pct(limit)),
    remedy = worst.name:find(OF_LAYERS) and {
        text = "Activations, norms, masks and dropout pass over what products make: take cheaper and fewer ones (ReLU, "
          .. "GELU by its tanh), and no rows of padding. On processors XLA fuses them, but is often slower at the "
          .. "products: time it.",
        code = "x = keras.activations.gelu(x, approximate=True)   # or relu" }
      or picks and {
        text = "Pick first, by the raw scores, and compute for what is picked alone: a sigmoid or softmax keeps the "
          .. "order. Let XLA fuse what remains.",
        code = "best, at = tf.math.top_k(logits, k)\n"
          .. "boxes = decode(tf.gather(deltas, at, batch_dims=1))   # not gather(decode(deltas), at)" }
      or masks and {
        text = "A one-hot mask picks a class of each row here: gather what it picks, work on that alone, and write it "
          .. "back where the others are needed, too. Let XLA fuse what remains.",
        code = "at = tf.stack([tf.range(tf.shape(y)[0]), y], 1)   # not hot * f(x) + (1 - hot) * x\n"
          .. "x = tf.tensor_scatter_nd_update(x, at, f(tf.gather_nd(x, at)))" } or {
        text = "Pass over fewer numbers: no rows of padding, no wider type than is needed, sums over pairs as a "
          .. "product of matrices. Let XLA fuse what remains.",
        code = "d = sq(a)[:, None] + sq(b)[None] - 2 * tf.matmul(a, b, transpose_b=True)   "
          .. "# or @tf.function(jit_compile=True)" },
    -- What is left of a formula in one pass is more beside products, which its passes feed; of what is picked, little.
    impact = impact.exposed { ns = ns, low = (is_most and 0.5 or 0.3) * ns,
                              high = ((is_most or picks) and 0.95 or 0.6) * ns },
    confidence = "low",
  }
end

-- Many log-sum-exps a step over large tensors: rounds that add a vector to one matrix and take the logarithm of the
-- sums of its exponentials, as Sinkhorn's and the forward algorithm in the log domain. With the matrix's exponential
-- made once each round is a product with a vector, which its largest number, or the rounds themselves, keep in range.
-- A loss takes one or two.
local function of_logsums(p, cfg)
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local scope = "(^|/)(ReduceLogSumExp|reduce_logsumexp|logsumexp)(_[0-9]+)?/"
  local inside = ops:where { name = { like = scope } }
  local exps = inside:where { type = { like = "^Exp$" }, name = { like = "^(?!gradient)" } }
  local worst, rounds = exps:top("self_ns", 1):rows()[1], exps:sum("calls") or 0
  -- A sequence whose rounds go over small rows pays for starting ops: other rules see that.
  if not worst or rounds < cfg.min_many or exps:sum("self_ns") < cfg.min_op_ns * rounds then return nil end
  -- A recursion over frames writes a row in each round: what its rounds add differs, and a kernel may know the whole.
  local written = ops:where { type = { like = "^(TensorScatter|TensorListSetItem|TensorArrayWrite)" },
                              name = { like = "^(?!gradient)" } }
  if (written:max("calls") or 0) >= cfg.min_many then return nil end
  local all_ns, executor_ns = ops:sum("self_ns"), p:has("host.executor_ns") and p.fact["host.executor_ns"] or 0
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  local started = inside:sum("calls") / math.max(1, ops:sum("calls"))
  local ns = math.min(step_ns, inside:sum("self_ns") / all_ns * computing_ns + started * executor_ns)
  if ns < cfg.min_logsums * step_ns then return nil end
  return finding {
    title = ("The logarithm of sums of exponentials is taken %s times a step over large tensors: %s"):format(
      fmt.whole(rounds), fmt.ms(ns)),
    severity = "info", subject = { op = worst.name },
    evidence = { { "their ops a step, with the executor's part", ns, "ns", share = ns / step_ns },
                 { "times a step", rounds, "count" },
                 { "exponentials a step", exps:sum("self_ns"), "ns" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_logsums)),
    remedy = {
      text = "Where the rounds add to the same matrix, take its exponential once, before them: each is a product of it "
        .. "with a vector then, scaled by its largest number where the range of the type is too small.",
      code = "k = tf.exp(-cost / eps)   # once\nu = a / tf.linalg.matvec(k, v)   "
        .. "# not f = eps * (log_a - tf.reduce_logsumexp((g - cost) / eps, 1))" },
    -- What is added to the matrix, and divided, goes as well.
    impact = impact.exposed { ns = ns, low = 0.7 * ns, high = math.min(step_ns, 1.5 * ns) },
    confidence = "medium",
  }
end

-- How many items have so many pairs, if any number of them has.
local function items_of(pairs_of_them)
  local items = math.floor((1 + math.sqrt(1 + 8 * pairs_of_them)) / 2 + 0.5)
  return items * (items - 1) // 2 == pairs_of_them and items or 0
end

-- Ops by type and name, without the numbers that tell rounds of a loop apart: of a gradient all that are in it.
local function numbered(ops)
  local groups = {}
  for row in ops:each() do
    local is_back = row.name:find("^gradient") ~= nil
    local name = is_back and row.name:gsub("_[0-9]+", "") or row.name:match("^(.*)_\\d+$") or row.name
    local key = row.type .. " " .. name
    local group = groups[key] or { count = 0, ns = 0, row = row, is_back = is_back }
    groups[key] = group
    group.count, group.ns = group.count + 1, group.ns + row.self_ns
  end
  return groups
end

-- A loop over all pairs of items in a graph: elementwise ops and what sums them, as many as pairs of a dozen items and
-- more. The gradient of an item is a sum over those that it meets.
local function of_items(p, cfg)
  local step_ns, all_ns, groups, best = p.fact["step.ns"], p:table("ops"):sum("self_ns"), numbered(p:table("ops")), nil
  for _, group in sorted_pairs(groups) do
    if not group.is_back and items_of(group.count) >= cfg.min_items and p:class_of(group.row.type) == "elementwise"
      and (not best or group.ns > best.ns) then best = group end
  end
  if not best then return nil end
  local items, kinds, count, ns = items_of(best.count), 0, 0, 0
  for _, group in sorted_pairs(groups) do
    local class = p:class_of(group.row.type)
    local is_round = (group.count == best.count or group.is_back and group.count > 0.9 * best.count) and
      class ~= "product" and class ~= "convolution"
    local is_sum = group.is_back and group.row.type == "AddN" and group.count >= items and group.count < 2 * items
    if is_round or is_sum then count, ns = count + group.count, ns + group.ns end
    if is_round and not group.is_back then kinds = kinds + 1 end
  end
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  ns = math.min(step_ns, ns / all_ns * computing_ns)
  if kinds < 2 or ns < cfg.min_paired * step_ns then return nil end
  -- Each item meets all others, and needs a round or two. What the executor takes for the ops goes with them.
  local executor_ns = p:has("host.executor_ns") and p.fact["host.executor_ns"] or 0
  local ops = p:has("ops.count_per_step") and p.fact["ops.count_per_step"] or count
  local high_ns = (1 - 2 / (items - 1)) * (ns + executor_ns * math.min(1, count / math.max(ops, 1)))
  return finding {
    title = ("All pairs of %s items are multiplied or compared one by one: %s of each step"):format(
      fmt.whole(items), fmt.ms(ns)),
    severity = "info", subject = { op = best.row.name },
    evidence = { { "ops of pairs and their gradients a step", ns, "ns", share = ns / step_ns },
                 { "pairs", best.count, "count" }, { "ops", count, "count" },
                 { "executor a step", executor_ns, "ns" } },
    condition = ("%s rounds without a product take %s of the step, %s accepted"):format(
      fmt.count(best.count), fmt.pct(ns / step_ns), fmt.pct(cfg.min_paired)),
    remedy = {
      text = "Sums over all pairs need no pairs: the square of the sum, less the sum of squares. Where each pair is "
        .. "needed, stack the items, and multiply the stack by itself once.",
      code = "s = tf.add_n(xs)\ny = 0.5 * tf.reduce_sum(s * s - tf.add_n([x * x for x in xs]), -1)   "
        .. "# not for a, b in combinations(xs, 2)" },
    impact = impact.exposed { ns = high_ns, low = 0.7 * high_ns, high = high_ns },
    confidence = "medium",
  }
end

-- Whether an op, or the gradient of one, belongs to a scope; to that of the whole function, if no layer has it.
local function is_in(name, scope)
  local inner = name:gsub("^gradient_tape/", "")
  if scope ~= "" then return inner:find(scope, 1, true) == 1 end
  return inner:find("^frame(_\\d+)?/") ~= nil or not inner:find(name == inner and "/" or "/.*/")
end

-- Windows that overlap are copied out by tf.signal.frame, to be reduced one by one. A spectrum of each needs them, and
-- a layer may.
local function of_windows(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local cut = ops:where { name = { like = "(^|/)frame(_[0-9]+)?/GatherV2(_[0-9]+)?" } }:top("self_ns", 1):rows()[1]
  if not cut or cut.name:find("^gradient") or ops:where { type = { like = "FFT" } }:count() > 0 then return nil end
  local scope, ns, reduced_ns = cut.name:match("^(.*/|)frame(?:_\\d+)?/[^/]+$") or "", 0, 0
  for row in ops:each() do
    if is_in(row.name, scope) then
      local class = p:class_of(row.type)
      if class == "product" or class == "convolution" then return nil end
      ns = ns + row.self_ns
      if class == "reduce" and not row.name:find("^gradient") then reduced_ns = reduced_ns + row.self_ns end
    end
  end
  local all_ns = ops:sum("self_ns")
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  local windows_ns = math.min(step_ns, ns / all_ns * computing_ns)
  if reduced_ns < cfg.min_reduced * all_ns or windows_ns < cfg.min_paired * step_ns then return nil end
  return finding {
    title = ("Overlapping windows are copied out and reduced one by one: %s of each step"):format(fmt.ms(windows_ns)),
    severity = "info", subject = { op = cut.name },
    evidence = { { "ops of windows and their gradients a step", windows_ns, "ns", share = windows_ns / step_ns },
                 { "of it copying windows out", cut.self_ns, "ns" },
                 { "of it reducing them", reduced_ns, "ns" } },
    condition = ("windows and their sums take %s of the step, %s accepted"):format(
      fmt.pct(windows_ns / step_ns), fmt.pct(cfg.min_paired)),
    remedy = {
      text = "Means, sums and maxima over windows are a pooling, deviations that of squares: no window is copied out.",
      code = "mean = tf.nn.avg_pool1d(x, 48, 1, 'VALID')   # not of tf.signal.frame(x, 48, 1, axis=1)\n"
        .. "var = tf.nn.avg_pool1d(x * x, 48, 1, 'VALID') - mean * mean" },
    impact = impact.exposed { ns = windows_ns, low = 0.6 * windows_ns, high = 0.95 * windows_ns },
    confidence = "medium",
  }
end

-- Ops of one scope, which multiplies nothing, make large arrays that it then adds up: of windows or pairs.
local function of_scope(p, cfg)
  local step_ns, ops, scopes = p.fact["step.ns"], p:table("ops"), {}
  local all_ns, worst = ops:sum("self_ns"), nil
  for row in ops:each() do
    local name = row.name:match("^(.+)/[^/]+$")
    local class = p:class_of(row.type or "")
    if name and not name:find("^gradient|(^|/)while/") then
      local scope = scopes[name] or { name = name, ns = 0, reduced_ns = 0, product_ns = 0 }
      scopes[name] = scope
      local copies = row.type:find("^Extract(Image|Volume)Patches$") ~= nil
      if copies then scope.copies = true end
      if class == "product" or class == "convolution" then
        scope.product_ns = scope.product_ns + row.self_ns
      elseif copies or class == "reduce" or class == "elementwise" then
        scope.ns = scope.ns + row.self_ns
        if class == "reduce" then scope.reduced_ns = scope.reduced_ns + row.self_ns end
        if not scope.row or row.self_ns > scope.row.self_ns then scope.row = row end
      end
    end
  end
  for _, scope in sorted_pairs(scopes) do
    if scope.reduced_ns >= cfg.min_reduced * all_ns and scope.product_ns <= cfg.min_reduced * all_ns and
       scope.ns >= cfg.min_much * all_ns and (not worst or scope.ns > worst.ns) then worst = scope end
  end
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  local ns = worst and math.min(worst.ns / all_ns * computing_ns, step_ns)
  if not worst or ns < cfg.min_much * step_ns then return nil end
  return finding {
    title = ("%s makes large arrays only to add them up: %s of each step"):format(worst.name, fmt.ms(ns)),
    severity = "info", subject = { op = worst.row.name, scope = worst.name },
    evidence = { { "its ops a step", ns, "ns", share = ns / step_ns },
                 { "of all ops", worst.ns / all_ns, "share" },
                 { "of that, sums", worst.reduced_ns / worst.ns, "share" },
                 { worst.row.name .. " (" .. worst.row.type .. ")", worst.row.self_ns, "ns" } },
    condition = ("%s of the time of all ops, %s accepted"):format(fmt.pct(worst.ns / all_ns), fmt.pct(cfg.min_much)),
    remedy = worst.copies and {
        text = "Sums and means over windows are a pooling, of squares for deviations, or a convolution: no window is "
          .. "copied out.",
        code = "mean = tf.nn.avg_pool2d(x, 7, 1, 'SAME')   # instead of extract_patches and reduce_mean" } or {
        text = "Write sums over pairs as a product of matrices; let XLA fuse the rest.",
        code = "d = sq(a)[:, None] + sq(b)[None] - 2 * tf.matmul(a, b, transpose_b=True)   "
          .. "# or @tf.function(jit_compile=True)" },
    -- A pooling reads each window, too, though it copies none.
    impact = impact.exposed { ns = ns, low = (worst.copies and 0.2 or 0.5) * ns,
                              high = (worst.copies and 0.7 or 0.95) * ns },
    confidence = "low",
  }
end

-- Compiled programs fuse chains, but make all pairs where they are asked to.
local function of_pairs(p, cfg)
  return p:in_excess {
    flaw = "outer-sums", min_share = cfg.min_share, time = "passes over all pairs",
    severity = p:table("excess"):where { flaw = "outer-sums" }:sum("share") >= cfg.min_loud_share and "warn" or "info",
    title = "Rows are paired in one large array and summed, which a product of matrices does: %s of each step",
    remedy = { text = "Write sums over pairs as a product of matrices: differences squared, and exponentials of sums "
                 .. "less their largest, come apart.",
               code = "d = sq(a)[:, None] + sq(b)[None] - 2 * a @ b.T   "
                 .. "# and logsumexp(a[:, :, None] + b, 1) is log(exp(a - m) @ exp(b)) + m" },
    confidence = "medium",
  }
end

-- What one compiled program writes and the next one only passes over.
local function of_programs(p, cfg)
  return p:in_excess {
    flaw = "handed-on", min_share = cfg.min_share, time = "writing and reading arrays between programs",
    severity = p:table("excess"):where { flaw = "handed-on" }:sum("share") >= cfg.min_loud_share and "warn" or "info",
    title = "Programs one after the other write large arrays for the next one to pass over: %s of each step",
    remedy = { text = "Compile the functions as one, so that the compiler fuses what passes over the same arrays.",
               code = "run = jax.jit(lambda x: second(first(x)))   # not jax.jit around each of them" },
    confidence = "medium",
  }
end

-- The graph of compiled code, run as it is.
local function of_region(p, cfg)
  return p:in_excess {
    flaw = "unfused-region", min_share = cfg.min_share, time = "passes that a compiler fuses",
    severity = "warn",
    title = "Compiled code runs op by op, for nothing is fused: %s of each step",
    remedy = { text = "Leave torch.compile its default backend: 'eager' and 'aot_eager' are for debugging, and run "
                 .. "the graph as it is.",
               code = "model = torch.compile(model)   # not backend='aot_eager'" },
    confidence = "medium",
  }
end

-- A layer's kernels, scaled by each row's factors, as where a style modulates them: a convolution is linear in both.
local KERNELS = {
  text = "Convolve all rows with the one kernel: scale the maps by the row's factors before, and the results after it. "
    .. "No kernel for each row, and no groups.",
  code = "y = F.conv2d(x * s[:, :, None, None], w, padding=1)   # not groups=len(x)\n"
    .. "y = y * torch.rsqrt(s.square() @ w.square().sum((2, 3)).t() + 1e-8)[:, :, None, None]",
}
local function makes_kernels(row)
  return row.idiom == "outer" and (row.shapes or ""):find("^\\[1,\\d+,(\\d+),\\d+,\\d+\\]x\\[\\d+,1,\\1,1,1\\]") ~= nil
end

return rule {
  id = "elementwise-chain", api = 1, version = "1.0.0",
  title = "Elementwise ops pass over the same values one after the other",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace", "graph", "profile" },
  needs = { "step.ns" },
  cause = "formula.chain", tags = { "ops" },
  more_specific_than = { "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op" },
  params = {
    min_of_ops = { default = 0.85, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: of the time of all ops, elementwise ones that take long" },
    min_much = { default = 0.4, min = 0, max = 1, unit = "share",
                 doc = "the same beside products, over the time of all ops and over the step: a fact" },
    min_reduced = { default = 0.02, min = 0, max = 1, unit = "share",
                    doc = "TensorFlow: of the time of all ops, sums in a scope that its arrays are made for" },
    min_many = { default = 16, min = 1, max = 1e6, unit = "count", doc = "calls of such ops a step, then" },
    min_items = { default = 12, min = 3, max = 1e5, unit = "count",
                  doc = "TensorFlow: items whose pairs a graph holds one by one; fewer may be as many as anything" },
    min_paired = { default = 0.15, min = 0, max = 1, unit = "share",
                   doc = "their share of the step, then, or that of windows that are copied out" },
    min_logsums = { default = 0.25, min = 0, max = 1, unit = "share",
                    doc = "TensorFlow: what many logarithms of sums of exponentials take of the step" },
    min_of_step = { default = 0.5, min = 0, max = 1, unit = "share", doc = "the same over the step" },
    min_op_ns = { default = 50e3, min = 0, max = 1e12, unit = "ns", doc = "TensorFlow: an op that takes long" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_loud_share = { default = 0.25, min = 0, max = 1, unit = "share",
      doc = "JAX: share of the step from which sums over pairs are a warning" },
    min_elements = { default = 16384, min = 1, max = 1e12, unit = "count",
      doc = "elements of the tensors; smaller ones stay in the nearest cache" },
    low_outer = { default = 0.7, min = 0, max = 1, unit = "ratio",
      doc = "part of sums over all pairs that a product of matrices saves, at least" },
    high_outer = { default = 0.95, min = 0, max = 1, unit = "ratio", doc = "at most" },
  },
  doc = [[
Each op reads and writes the whole tensor; compiled together they read it once. Without shapes, calls of 20 us and
more that are about as long as each other. Priced as a part to all of what is not the longest op of each chain; a
softmax is one op of little more than that. Pairs of rows combined in one large tensor and summed at once are a
product or a distance of matrices, which never makes that tensor: priced as most of it. So are a layer's kernels
scaled for each row, which one convolution of scaled maps needs none of. In compiled programs of JAX pairs are priced
as all but two passes over the sums.
On an accelerator chains are priced as all but about one pass, with formulas that compiling mends as well.
Compiled programs that run one after the other on an accelerator, each passing over what the one before wrote,
are such a chain, too: priced as what these arrays are of their traffic.
Ops of PyTorch's compiled code that ran one by one on a host, as a backend for debugging runs them, are priced as all
but the longest of each row of them.
TensorFlow programs on a host that do little else are named too, and those in which one scope, without products, takes
much of it and adds up what it made; and those whose graph holds elementwise ops and their sums once for each pair of a
dozen items and more, priced as seven tenths to all of what is beyond two rounds an item; and windows that
tf.signal.frame copies out for sums over each, without a spectrum or a product of them; and log-sum-exps over large
tensors that are taken many times a step, priced as seven tenths of them to half as much again. Silent for small
tensors, for chains that a better rule names and below min_share.]],

  check = function(p, cfg)
    local pairs_found = p.format == "xspace" and p:has("excess") and of_pairs(p, cfg)
    if pairs_found then return pairs_found end
    local handed_on = p.format == "xspace" and p:has("excess") and of_programs(p, cfg)
    if handed_on then return handed_on end
    if p.format ~= "kineto" and p.framework == "tensorflow" and p:has("ops") and not p:has("device.idle_share") then
      return of_items(p, cfg) or of_windows(p, cfg) or of_logsums(p, cfg) or of_graph(p, cfg) or of_scope(p, cfg)
    end
    if not p:has("eager_idioms") then
      return skip { reason = "neither PyTorch ops nor TensorFlow ops on a host are recorded",
                    capture = "a timeline of ops" }
    end
    local is_device = p:has("device.idle_share")
    local region = not is_device and p:has("excess") and of_region(p, cfg)
    if region then return region end
    local chains = is_device and p:spelled_out {
      passes = "chain", idiom = "chain", min_share = cfg.min_share, title = "Chains of elementwise ops take",
      price = function() end,
      remedy = { text = "Compile the function that holds them, or use one fused op for them.",
                 code = "fn = torch.compile(fn)" },
      confidence = "low",
    }
    if chains then return chains end
    local step_ns, rows = p.fact["step.ns"], p:table("eager_idioms"):where {
      idiom = { like = is_device and "^(softmax|dropout|outer)$" or "^(chain|softmax|dropout|outer)$" } }
    local ns, low_ns, high_ns, count, calls, biggest = 0, 0, 0, 0, 0, nil
    for row in rows:each() do
      -- Without shapes chains are told by how long their calls take.
      if row.elements >= cfg.min_elements or (row.elements == 0 and row.idiom == "chain") then
        local low, high = 0.4 * (row.ns - row.longest_ns), row.ns - row.longest_ns
        if row.idiom == "softmax" then low, high = 0.8 * low / 0.4, row.ns - 0.5 * row.longest_ns end
        -- A product or a distance of matrices never makes the large tensor.
        if row.idiom == "outer" then low, high = cfg.low_outer * row.ns, cfg.high_outer * row.ns end
        ns, low_ns, high_ns = ns + row.ns, low_ns + math.max(low, 0), high_ns + math.max(high, 0)
        count, calls = count + row.count, calls + row.calls
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or ns < cfg.min_share * step_ns then return nil end

    return finding {
      title = (makes_kernels(biggest)
          and "Kernels are made for each row: scaling and summing them takes %s a step in %s calls"
          or biggest.idiom == "outer"
          and "Tensors of all pairs that are summed at once take %s a step in %s calls" or
          "Chains of elementwise ops take %s a step in %s calls"):format(fmt.ms(ns), fmt.whole(calls)),
      subject = { op = biggest.first_op },
      locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                   { "times a step", count, "count" },
                   { "calls of ops in it a step", calls, "count" },
                   { "shapes", biggest.shapes or "unknown" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = biggest.idiom == "outer" and (makes_kernels(biggest) and KERNELS) or biggest.idiom == "outer" and
          { text = "Multiply the matrices, or take their distances with one op.",
            code = "s = q @ k.transpose(-1, -2)   # or torch.cdist(a, b)" } or
          biggest.idiom == "dropout" and { text = "Use the framework's dropout.", code = "y = F.dropout(x, 0.5)" } or
          { text = "Compile the function that holds them, or use one fused op for them.",
            code = "fn = torch.compile(fn)" },
      impact = impact.exposed { ns = ns, low = low_ns, high = high_ns },
      confidence = "low",
    }
  end,

  examples = {
    -- 12 of 20 ms of ops take 60 % of 20 ms of computing.
    { name = "matching in the log domain", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 1.2e7, facts = { ["step.ns"] = 3e7, ["part.compute_ns"] = 2e7 },
      tables = { ops = { { name = "ReduceLogSumExp_1/Exp", type = "Exp", calls = 60, self_ns = 9e6 },
                         { name = "ReduceLogSumExp_1/Sum", type = "Sum", calls = 60, self_ns = 3e6 },
                         { name = "dense/MatMul", type = "MatMul", calls = 1, self_ns = 8e6 } } } },
    { name = "a recursion over frames", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 3e7, ["part.compute_ns"] = 2.2e7 },
      tables = { ops = { { name = "ReduceLogSumExp/Exp", type = "Exp", calls = 120, self_ns = 9e6 },
                         { name = "ReduceLogSumExp/Sum", type = "Sum", calls = 120, self_ns = 3e6 },
                         { name = "TensorScatterUpdate", type = "TensorScatterUpdate", calls = 120, self_ns = 2e6 },
                         { name = "dense/MatMul", type = "MatMul", calls = 1, self_ns = 1.6e7 } } } },
    { name = "a mixture's loss, which takes one", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 2.4e7, ["part.compute_ns"] = 2e7 },
      tables = { ops = { { name = "ReduceLogSumExp/Exp", type = "Exp", calls = 1, self_ns = 9e6 },
                         { name = "ReduceLogSumExp/Sum", type = "Sum", calls = 1, self_ns = 3e6 },
                         { name = "dense/MatMul", type = "MatMul", calls = 1, self_ns = 2e7 } } } },
    { name = "a scan whose rounds take small ones", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 4e6, ["part.compute_ns"] = 2e6 },
      tables = { ops = { { name = "while/body/_1/ReduceLogSumExp/Exp", type = "Exp", calls = 60, self_ns = 6e5 },
                         { name = "while/body/_1/ReduceLogSumExp/Sum", type = "Sum", calls = 60, self_ns = 6e5 },
                         { name = "dense/MatMul", type = "MatMul", calls = 1, self_ns = 1e6 } } } },
    { name = "differences of all rows", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "outer-sums", op = "fusion", ns = 6e6, share = 0.6, factor = 0.1 } } } },
    { name = "programs that hand large arrays on", framework = "jax", format = "xspace", finding = true,
      severity = "warn", replay = { 6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "handed-on", op = "fusion", ns = 6e6, share = 0.6, factor = 0.1 } } } },
    { name = "programs that hand little on", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 1e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "handed-on", op = "fusion", ns = 1e6, share = 0.1, factor = 0.1 } } } },
    { name = "differences of a few rows", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 1e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "outer-sums", op = "fusion", ns = 1e6, share = 0.1, factor = 0.1 } } } },
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 2.8e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "chain", first_op = "aten::mul", ns = 5e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 1e7, last_dim = 512, elements = 200000.0 } } } },
    { name = "distances of all pairs", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 6.5e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { name = "sub", type = "Sub", calls = 1, self_ns = 4e7 },
                         { name = "Square", type = "Square", calls = 1, self_ns = 3e7 },
                         { name = "Sum", type = "Sum", calls = 1, self_ns = 2e7 },
                         { name = "matmul", type = "MatMul", calls = 2, self_ns = 5e6 } } } },
    -- 9 of 9.5 ms of two threads' ops, of 5 ms of computing 4.737: half of it to 0.95.
    { name = "distances beside input", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 3.434211e6, facts = { ["step.ns"] = 6e6, ["part.compute_ns"] = 5e6 },
      tables = { ops = { { name = "sub", type = "Sub", calls = 1, self_ns = 4e6 },
                         { name = "Square", type = "Square", calls = 1, self_ns = 3e6 },
                         { name = "Sum", type = "Sum", calls = 1, self_ns = 2e6 },
                         { name = "matmul", type = "MatMul", calls = 2, self_ns = 5e5 } } } },
    -- 105 pairs of 15 items take 6.3 of 7.3 ms of ops, and as much of the step, beyond two of 14 rounds an item 5.4: of
    -- that seven tenths to all.
    { name = "all pairs of columns", framework = "tensorflow", format = "graph", finding = true, severity = "info",
      impact_ns = 4.59e6, facts = { ["step.ns"] = 7.3e6 }, tables = { ops = example_pairs(105) } },
    -- And 315 of 420 ops' part of 2 ms of the executor: 6/7 of 7.8 ms.
    { name = "all pairs that an executor starts", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 5.682857e6, tables = { ops = example_pairs(105) },
      facts = { ["step.ns"] = 9.3e6, ["part.compute_ns"] = 7.3e6, ["host.executor_ns"] = 2e6,
                ["ops.count_per_step"] = 420 } },
    -- 6 of 10 ms of ops, and of the step: 0.6 to 0.95 of that.
    { name = "means over windows", framework = "tensorflow", format = "xspace", finding = true, severity = "info",
      impact_ns = 4.65e6, facts = { ["step.ns"] = 1e7 }, tables = { ops = example_windows("Mean") } },
    { name = "means over windows in no layer", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 4.65e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = example_windows("Mean", "") } },
    { name = "a spectrum of each window", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_windows("RFFT") } },
    { name = "a product with each window", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_windows("BatchMatMulV2") } },
    { name = "rounds that are no pairs", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 7.3e6 }, tables = { ops = example_pairs(104) } },
    -- 6 of 10 ms of ops, and as much of 8 ms computing: 4.8 ms, of which 0.2 to 0.7 may go.
    { name = "windows that are copied out", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 2.16e6, facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { ops = {
        { name = "net/contrast/ExtractImagePatches", type = "ExtractImagePatches", calls = 1, self_ns = 4e6 },
        { name = "net/contrast/sub", type = "SquaredDifference", calls = 1, self_ns = 1e6 },
        { name = "net/contrast/Mean", type = "Mean", calls = 1, self_ns = 1e6 },
        { name = "net/conv/Conv2D", type = "Conv2D", calls = 1, self_ns = 4e6 } } } },
    { name = "attention by hand", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { ops = {
        { name = "net/attention/MatMul", type = "MatMul", calls = 1, self_ns = 4e6 },
        { name = "net/attention/sub", type = "Sub", calls = 1, self_ns = 5e6 },
        { name = "net/attention/Sum", type = "Sum", calls = 1, self_ns = 1e6 } } } },
    { name = "nothing to add up", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { ops = {
        { name = "net/drop/mul", type = "Mul", calls = 1, self_ns = 6e6 },
        { name = "net/conv/Conv2D", type = "Conv2D", calls = 1, self_ns = 4e6 } } } },
    { name = "an optimizer beside products", framework = "tensorflow", format = "xspace", finding = false,
        facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { name = "mul_1", type = "Mul", calls = 1, self_ns = 4e7 },
                         { name = "Square", type = "Square", calls = 1, self_ns = 1e7 },
                         { name = "Sum", type = "Sum", calls = 1, self_ns = 1e7 },
                         { name = "matmul", type = "MatMul", calls = 2, self_ns = 3e7 } } } },
    { name = "a normalisation spelled out", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 2.7e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { name = "truediv", type = "RealDiv", calls = 12, self_ns = 4e7 },
                         { name = "sub", type = "Sub", calls = 12, self_ns = 2e7 },
                         { name = "matmul", type = "MatMul", calls = 2, self_ns = 5e7 } } } },
    -- 45 of 100 ms take boxes apart, scale them and put them together: of 0.3 to 0.95 of that the middle.
    { name = "boxes of all, of which few are picked", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 2.8125e7, facts = { ["step.ns"] = 1e8, ["op_stats.trains"] = false },
      tables = { ops = { { name = "unstack", type = "Unpack", calls = 4, self_ns = 1.5e7 },
                         { name = "mul", type = "Mul", calls = 10, self_ns = 1.5e7 },
                         { name = "stack", type = "Pack", calls = 4, self_ns = 1.5e7 },
                         { name = "TopKV2", type = "TopKV2", calls = 1, self_ns = 5e6 },
                         { name = "conv", type = "Conv2D", calls = 2, self_ns = 5e7 } } } },
    { name = "a batch norm by hand in run metadata", framework = "tensorflow", format = "graph", finding = true,
      impact_ns = 2.7e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { name = "truediv", type = "RealDiv", calls = 12, self_ns = 4e7 },
                         { name = "sub", type = "Sub", calls = 12, self_ns = 2e7 },
                         { name = "conv", type = "Conv2D", calls = 2, self_ns = 5e7 } } } },
    { name = "nothing to look at", format = "xspace", framework = "jax", skipped = true,
      facts = { ["step.ns"] = 1e8 } },
    { name = "all pairs", framework = "pytorch", finding = true, impact_ns = 4.1e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "outer", first_op = "aten::mul", ns = 5e7, count = 1, calls = 2,
          product_ns = 0, pivot_ns = 0, longest_ns = 4e7, last_dim = 64, elements = 65536 } } } },
    { name = "kernels that a style scales", framework = "pytorch", finding = true, impact_ns = 4.1e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "outer", first_op = "aten::mul", ns = 5e7, count = 1, calls = 2,
          product_ns = 0, pivot_ns = 0, longest_ns = 4e7, last_dim = 3, elements = 331776,
          shapes = "[1,48,48,3,3]x[16,1,48,1,1]" } } } },
    { name = "compiled for debugging", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { eager_idioms = {}, excess = { { cell = 1, flaw = "unfused-region", op = "aten::mul", ns = 4e6,
                                                 share = 0.4, factor = 0.3, detail = "90 ops of compiled code" } } } },
    { name = "passes without shapes", framework = "pytorch", finding = true, impact_ns = 2.8e7,
      facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "chain", first_op = "aten::mul", ns = 5e7, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 1e7, last_dim = 0, elements = 0 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "chain", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 2e5, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
