-- A loop handles one element of the batch a turn, or a batch is put together from single samples.
local function of_samples(worst)
  if worst.detail and worst.detail:find("made one by one") then
    return { text = "Stack first, and run the ops once over the batch.",
             code = "y = transform(torch.stack(samples))   # instead of torch.stack([transform(x) for x in samples])" }
  end
  return { text = "Keep samples in tensors that are allocated once, and pick a batch with one index.",
           code = "batch = storage[torch.randint(count, (batch_size,))]   # instead of torch.stack([...])" }
end

local function of_pytorch(p, cfg)
  return p:in_excess {
    flaw = "shifted-rounds", min_share = cfg.min_gather_share, time = "rolling, multiplying and summing",
    title = "A correlation is computed shift by shift, over the whole array each: %s of each step",
    remedy = { text = "Where the shifts are all places of an axis, or many of them, correlate by Fourier transforms: "
                 .. "all shifts in a few passes. For a few dozen neighbours take a convolution.",
               code = "f = torch.fft.rfft(q, dim=1) * torch.fft.rfft(k, dim=1).conj()\n"
                 .. "c = torch.fft.irfft(f, n=q.shape[1], dim=1).mean(-1)   # of all shifts" },
    confidence = "medium",
  } or p:in_excess {
    flaw = "gathered-items", min_share = cfg.min_gather_share, time = "stacking samples and looking at each",
    title = "Putting batches together from single samples takes %s a step",
    remedy = of_samples, confidence = "medium",
  }
end

-- Ledger: rounds of a loop of a compiled program that need nothing of each other.
local function of_compiled(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "separate-rounds", min_share = cfg.min_share, time = "small ops of rounds that could be one",
    title = "A loop does one by one what needs nothing of each other: %s of each step",
    remedy = { text = "Do all items at once, or a few dozen a round where memory is short: micro-batches of 16 rows "
                 .. "and more read weights, and add up gradients, once for all of them.",
               code = "y = jax.vmap(f)(xs)   # instead of jax.lax.map(f, xs); or lax.map(f, xs, batch_size=64)\n"
                 .. "draw = Predictive(model, samples, parallel=True)   # NumPyro's maps over samples without" },
    confidence = "medium",
  }
end

-- An optimizer or solver of scipy that is given no derivatives takes differences: a call for each number that it seeks.
local function of_differences(p, cfg)
  if p.format ~= "xspace" or not p:has("activities") then return nil end
  local step_ns = p.fact["step.ns"]
  local row = p:table("activities"):where { kind = "python", on_leader = true,
                                            name = { like = p:names("scipy_differences") } }:top("path_ns", 1):rows()[1]
  if not row or row.path_ns < cfg.min_share * step_ns then return nil end
  local ns = math.min(row.path_ns, step_ns)
  return finding {
    title = ("scipy takes derivatives by differences, a call for each unknown: %s of each step"):format(
      fmt.pct(ns / step_ns)),
    subject = { op = row.name },
    evidence = { { "taking differences a step", ns, "ns", share = ns / step_ns } },
    condition = ("differences take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = p.framework == "tensorflow" and {
        text = "Give value and gradient together: a gradient takes about as long as two or three calls.",
        code = "both = lambda x: [v.numpy() for v in tfp.math.value_and_gradient(loss, x)]\n"
          .. "r = scipy.optimize.minimize(both, x0, jac=True)   # not without jac" }
      or { text = "Give value and gradient together: a gradient takes about as long as two or three calls. Residuals "
             .. "of least squares take jac=jax.jit(jax.jacfwd(residuals)).",
           code = "both = jax.jit(jax.value_and_grad(loss))\n"
             .. "r = scipy.optimize.minimize(both, x0, jac=True)   # not without jac" },
    impact = impact.exposed { ns = ns, low = cfg.spared * ns, high = ns },
    confidence = "medium",
  }
end

-- A loop of a function over lists of tensors whose ops are too small to be recorded: turns of the executor are seen.
local function of_small_turns(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("host.executor_ns") or not p:has("activities") then return nil end
  local ops, step_ns, executor_ns = p:table("ops"), p.fact["step.ns"], p.fact["host.executor_ns"]
  local lists = ops:where { type = { like = "^TensorList(Stack|FromTensor|GetItem|SetItem|PushBack|PopBack)$" } }
  local turns = p:table("activities"):where { kind = "executor", name = "ExecutorState::Process" }:sum("events") or 0
  -- Recurrent layers and decoders multiply in each turn: they are what they are.
  local products = ops:where { type = { class = "product|convolution" }, calls = { min = cfg.min_turns } }
  if lists:count() == 0 or products:count() > 0 or turns < cfg.min_small_turns * ops:sum("calls")
    or executor_ns < cfg.min_share * step_ns then
    return nil
  end
  return finding {
    severity = "info",
    title = ("A loop of tiny ops keeps the executor busy for %s of each step"):format(fmt.ms(executor_ns)),
    subject = { op = lists:top("self_ns", 1):rows()[1].name },
    evidence = { { "executor a step", executor_ns, "ns", share = math.min(executor_ns / step_ns, 1) },
                 { "turns of the executor a step", turns, "count" },
                 { "recorded ops a step", ops:sum("calls"), "count" } },
    condition = ("%s turns of the executor for each recorded op, %s accepted; %s of the step"):format(
      fmt.ratio(turns / math.max(1, ops:sum("calls"))), fmt.ratio(cfg.min_small_turns), fmt.pct(executor_ns / step_ns)),
    -- TensorFlow Probability's chains and solvers: each round needs the one before.
    remedy = ops:where { name = { like = "(^|/)(mcmc_sample_chain|trace_scan|windowed_sampling|bfgs|lbfgs|nelder_mead)"
                           .. "[_/]" } }:count() > 0
      and { text = "Let XLA compile the loop, so that a round starts a few kernels; and run all chains or starts as "
              .. "one batch, in which a round costs hardly more.",
            code = "run = tf.function(lambda: tfp.mcmc.sample_chain(500, start, kernel=kernel), jit_compile=True)   "
              .. "# start: [chains, size]" }
      or { text = "Write it for the whole axis: a cumulative sum, a product with a triangle of weights, or a few "
             .. "rounds of doubling; or let XLA compile the loop.",
           code = "sums = tf.matmul(discounts, xs)   # instead of tf.scan(lambda total, x: x + g * total, xs)" },
    impact = impact.replay { { "scale", parts = { "host" }, kinds = { "executor", "run" }, factor = cfg.kept },
                             fallback = impact.share { ns = executor_ns } },
    confidence = "medium",
  }
end

-- A loop of a function whose rounds only pass over memory: a recursion over time or over a table of scores. What of
-- it is on the path is told by type, how often it runs by name.
local function of_rounds(p, cfg)
  if p.framework ~= "tensorflow" or p.format ~= "xspace" or not p:has("work") then return nil end
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local often = ops:where { calls = { min = cfg.min_rounds } }
  -- Recurrent layers multiply in each round; a function called for each row, and eager ops, are no loop of a function.
  if often:count() == 0 or often:where { type = { class = "product|convolution|attention" } }:count() > 0 then
    return nil
  end
  local rounds, types, once = 0, {}, 0
  for row in ops:each() do
    local is_round = row.calls >= cfg.min_rounds and not row.is_eager
    if is_round then
      types[row.type or ""], rounds = true, math.max(rounds, row.calls)
    elseif row.calls <= cfg.max_once then
      once = once + row.self_ns
    end
  end
  local ns, worst = 0, nil
  for row in p:table("work"):where { calls = { min = cfg.min_rounds } }:each() do
    if types[row.type or ""] and row.part == "compute" and row.phase ~= "input" then
      ns, worst = ns + row.ns, (not worst or row.ns > worst.ns) and row or worst
    end
  end
  if not worst or ns < cfg.min_rounds_share * step_ns or once < cfg.min_once_share * step_ns then return nil end
  local executor_ns = p:has("host.executor_ns") and math.min(p.fact["host.executor_ns"], step_ns - ns) or 0
  return finding {
    severity = "info",
    title = ("A loop passes over memory %s times a step: %s"):format(fmt.whole(rounds), fmt.ms(ns)),
    subject = { op = worst.type },
    evidence = { { "ops of its rounds a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "executor a step", executor_ns, "ns", share = executor_ns / step_ns },
                 { worst.type, worst.ns, "ns" }, { "rounds a step", rounds, "count" } },
    condition = ("%s rounds without a product, %s accepted; %s of the step"):format(
      fmt.count(rounds), fmt.count(cfg.min_rounds), fmt.pct(ns / step_ns)),
    remedy = { text = "Use an op that has a kernel for the whole recursion, or a form without a loop: "
                 .. "a cumulative sum, a product with a triangle of weights, rounds of doubling. "
                 .. "Where rounds must remain, do more in each, and write their results to a TensorArray.",
               code = "loss = tf.nn.ctc_loss(tf.sparse.from_dense(labels), ...)   # dense labels go through a loop" },
    impact = impact.exposed { ns = ns + executor_ns, low = 0.6 * (ns + executor_ns), high = ns + executor_ns },
    confidence = "low",
  }
end

-- What a loop of a session would take if it were not recorded. A session's recorder gives each op a whole microsecond
-- at least and notes it down between the ops, so that loops of thousands of tiny ops are mostly that: ops count beyond
-- their first microsecond, and with what the executor needs for one.
-- Returns the loop's time and the step's, both without what recording adds, and what is recorded of the loop.
local function unrecorded(p, cfg, inside)
  local own_ns, calls, idle_ns = 0, inside:sum("calls"), 0
  for row in inside:each() do
    own_ns = own_ns + math.max(0, row.self_ns - row.calls * cfg.recorded_ns)
  end
  own_ns = own_ns + calls * cfg.executor_ns
  for row in p:has("path") and p:table("path"):where { part = "idle.other" }:each() or function() end do
    idle_ns = idle_ns + row.ns
  end
  local pauses_ns = idle_ns * calls / math.max(1, p:table("ops"):sum("calls"))
  local recorded_ns = math.min(inside:sum("self_ns") + pauses_ns, p.fact["step.ns"])
  own_ns = math.min(own_ns, recorded_ns)
  return own_ns, p.fact["step.ns"] - recorded_ns + own_ns, recorded_ns
end

-- A loop of a session that passes over numbers and multiplies no matrices: sums with discounts, filters.
local function of_session(p, cfg)
  if p.framework ~= "tensorflow" or p.format == "xspace" then return nil end
  local ops = p:table("ops")
  local loops = ops:where { name = { like = "(^|/)while(_[0-9]+)?(_grad)?/" } }
  -- Recurrent layers and decoders multiply in each turn: they are what they are.
  local products = loops:where { type = { class = "product|convolution|attention" } }
  local turns = loops:max("calls") or 0
  if turns < cfg.min_rounds or products:count() > 0 then return nil end
  local loop_ns, step_ns = unrecorded(p, cfg, loops)
  local share = loop_ns / step_ns
  if share < cfg.min_share then return nil end
  local worst, ns = loops:top("self_ns", 1):rows()[1], (1 - cfg.kept) * share * p.fact["step.ns"]
  return finding {
    severity = "info",
    title = ("A loop without a product runs %s times a step"):format(fmt.whole(turns)),
    subject = { op = worst.name },
    evidence = { { "ops inside the loop a step", loops:sum("self_ns"), "ns" },
                 { "the loop without what recording adds", loop_ns, "ns" },
                 { "turns a step", turns, "count" }, { worst.name, worst.self_ns, "ns" } },
    condition = ("%s rounds without a product, %s accepted; %s of the step"):format(
      fmt.count(turns), fmt.count(cfg.min_rounds), fmt.pct(share)),
    remedy = { text = "Write it for the whole axis: a cumulative sum, a product with a triangle of weights, or a few "
                 .. "rounds of doubling.",
               code = "sums = tf.matmul(xs, discounts)   # instead of tf.scan(lambda total, x: x + g * total, xs)" },
    impact = impact.exposed { ns = ns, low = 0.5 * ns, high = math.min(p.fact["step.ns"], 2 * ns) },
    confidence = "medium",
  }
end

-- A loop of a session whose rounds each multiply a row or two, among dozens of ops that only start, and look up what
-- some rounds before made, as nodes of a tree do with their children: those that are ready can go together. A recurrent
-- layer reads one row of an array and writes one.
local function of_nodes(p, cfg)
  if p.framework ~= "tensorflow" or p.format == "xspace" then return nil end
  local loops = p:table("ops"):where { name = { like = "(^|/)while(_[0-9]+)?(_grad)?/" } }
  local products = loops:where { type = { class = "product|convolution" } }
  local turns, calls = products:max("calls") or 0, loops:sum("calls") or 0
  local looked_up = loops:where { type = { like = "^TensorArrayGather" }, calls = { min = turns },
                                  name = { like = "^(?!(.*/)?gradients/)" } }
  if turns < cfg.min_rounds or looked_up:count() == 0 or calls < cfg.min_round_ops * turns
    or products:sum("self_ns") > products:sum("calls") * cfg.max_product_ns then
    return nil
  end
  local loop_ns, step_ns = unrecorded(p, cfg, loops)
  local share = loop_ns / step_ns
  if share < cfg.min_rounds_share then return nil end
  local lookup, ns = looked_up:top("self_ns", 1):rows()[1], (1 - cfg.kept) * share * p.fact["step.ns"]
  return finding {
    title = ("A loop of %s rounds looks up what earlier ones made, and starts %s tiny ops a step"):format(
      fmt.whole(turns), fmt.whole(calls)),
    subject = { op = lookup.name },
    evidence = { { "ops inside the loop a step", loops:sum("self_ns"), "ns" },
                 { "the loop without what recording adds", loop_ns, "ns" }, { "rounds a step", turns, "count" },
                 { "ops a round", calls / turns, "count" },
                 { "a product", products:sum("self_ns") / math.max(1, products:sum("calls")), "ns" } },
    condition = ("%s ops a round, %s accepted; the loop takes %s of the step"):format(
      fmt.whole(calls / turns), fmt.whole(cfg.min_round_ops), fmt.pct(share)),
    remedy = { text = "Do at once all that are ready, as the nodes of one level of a tree: as many rounds as levels.",
               code = "left, right = tf.gather(states, left_ids[level]), tf.gather(states, right_ids[level])   "
                 .. "# of all nodes of a level" },
    impact = impact.exposed { ns = ns, low = 0.5 * ns, high = math.min(p.fact["step.ns"], ns / (1 - cfg.kept)) },
    confidence = "medium",
  }
end

-- Ops of a type in the gradient of a loop, once a round.
local function in_rounds_back(p, cfg, like)
  return p:table("ops"):where { type = { like = like }, calls = { min = cfg.min_rounds },
                                name = { like = "(^|/)while_grad/" } }
end

-- What of_weights says, of `ns` of a step's time in `what`.
local function says_weights(p, cfg, worst, what, ns)
  local step_ns = p.fact["step.ns"]
  ns = math.min(ns, step_ns)
  return finding {
    severity = "info",
    title = ("Gradients of weights are added up %s times a step, in each round of a loop: %s"):format(
      fmt.whole(worst.calls), fmt.ms(ns)),
    subject = { op = worst.name },
    evidence = { { what, ns, "ns", share = ns / step_ns }, { "rounds a step", worst.calls, "count" } },
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_rounds_share)),
    remedy = { text = "Multiply for all time steps at once, before the loop, what needs no state of it, and behind it "
                 .. "what no later round reads, as scores of words: the cell then only adds its part, and the gradient "
                 .. "of these weights is one product.",
               code = "x = tf.keras.layers.Dense(gates * units)(x)   # [batch, time, ...], before the cell" },
    impact = impact.exposed { ns = ns, low = 0.7 * ns, high = math.min(1.4 * ns, step_ns) },
    confidence = "medium",
  }
end

-- Loops of sessions: the sum is named by the weights' way into the loop, the product that it takes by the product
-- there. Of a cell's own weights, which need its state, neither takes much: one matrix has to take it alone.
local function of_session_weights(p, cfg)
  local ops, worst, most_ns = p:table("ops"), nil, 0
  for sum in ops:where { type = { like = "^Add(V2|N)?$" }, calls = { min = cfg.min_rounds },
                         name = { like = "(^|/)gradients/.*while(_[0-9]+)?/.*/Enter_grad/Add(N)?$" } }:each() do
    local product = sum.name:match("^(.*)/Enter_grad/AddN?$") .. "_grad/MatMul_1"
    local row = ops:where { name = product, calls = { min = cfg.min_rounds } }:rows()[1]
    -- One product of all rounds multiplies as many numbers, but writes and packs its result once.
    local ns = row and sum.self_ns + (1 - cfg.kept_product) * row.self_ns or 0
    if ns > most_ns then worst, most_ns = row, ns end
  end
  if not worst or most_ns < cfg.min_rounds_share * p.fact["step.ns"] then return nil end
  return says_weights(p, cfg, worst, "multiplying and adding up a step, over one product of all rounds", most_ns)
end

-- A loop's gradient adds up those of its weights round by round: a pass over the whole matrix each time, where one
-- product of all rounds would do. That is so of what needs nothing of the round before: inputs, keys, encodings; and
-- of what nothing in the next one needs: scores of words.
local function of_weights(p, cfg)
  if p.framework ~= "tensorflow" then return nil end
  local sums = in_rounds_back(p, cfg, "^(_Mkl)?AddN$")
  local ns = sums:sum("self_ns")
  if ns < cfg.min_rounds_share * p.fact["step.ns"] then return of_session_weights(p, cfg) end
  return says_weights(p, cfg, sums:top("self_ns", 1):rows()[1], "adding up a step", ns)
end

-- A round that cuts its part out of a whole array gives back an array of the whole size, zeros but for the part, which
-- is added to those of the other rounds: as many passes over it, there and in the sum, as there are rounds.
local function of_cuts(p, cfg)
  if p.framework ~= "tensorflow" then return nil end
  local cuts, sums = in_rounds_back(p, cfg, "^StridedSliceGrad$"), in_rounds_back(p, cfg, "^(_Mkl)?AddN$")
  local step_ns, cuts_ns, sums_ns = p.fact["step.ns"], cuts:sum("self_ns"), sums:sum("self_ns")
  local worst = cuts:top("self_ns", 1):rows()[1]
  if cuts_ns < cfg.min_cuts_share * step_ns or cuts_ns + sums_ns < cfg.min_rounds_share * step_ns then return nil end
  return finding {
    severity = "info",
    title = ("Each of %s rounds cuts its part out of an array, and goes back over all of it: %s of ops a step"):format(
      fmt.whole(worst.calls), fmt.ms(cuts_ns + sums_ns)),
    subject = { op = worst.name },
    evidence = { { "arrays made of parts a step", cuts_ns, "ns" }, { "adding them up a step", sums_ns, "ns" },
                 { "rounds a step", worst.calls, "count" } },
    condition = ("arrays of parts take %s of the step, %s accepted"):format(fmt.pct(cuts_ns / step_ns),
      fmt.pct(cfg.min_cuts_share)),
    remedy = { text = "Take the array apart once before the loop, and let each round read its part: the way back then "
                 .. "puts the parts together once.",
               code = "parts = tf.TensorArray(x.dtype, steps).unstack(tf.transpose(x, [1, 0, 2]))\n"
                 .. "for t in tf.range(steps): state = cell(parts.read(t), state)   # instead of x[:, t]" },
    -- Parts are still read and written one by one.
    impact = impact.replay { { "scale", op_type = "StridedSliceGrad", factor = cfg.kept },
                             { "scale", op_type = "(_Mkl)?AddN", factor = cfg.kept },
                             fallback = impact.exposed { ns = math.min(cuts_ns + sums_ns, step_ns),
                                                         low = math.min(cuts_ns, step_ns),
                                                         high = math.min(1.4 * (cuts_ns + sums_ns), step_ns) } },
    confidence = "medium",
  }
end

-- Layers that go over all places in one pass and, in the same step, round by round in a loop that is trained
-- through: an autoregressive flow that is turned round, a decoder that is fed its own outputs. Generation with a cache
-- does so, too, but asks for no gradients. Layers are told apart by the last parts of their products' names.
local function layers_in_both(p, cfg, ops)
  local looped, once, both, rounds, is_trained = {}, {}, 0, 0, false
  for row in ops:each() do
    local class, layer = p:class_of(row.type or ""), (row.name or ""):match("([^/]+/[^/]+/[^/]+)$")
    local is_product = layer and (class == "product" or class == "convolution")
    if is_product and row.name:find("(?:^|/)while(?:_[0-9]+)?(?:_grad)?/") then
      looped[layer], rounds = row.calls >= cfg.min_turns, math.max(rounds, row.calls)
      is_trained = is_trained or row.calls >= cfg.min_turns and row.name:find("/while(?:_[0-9]+)?_grad/") ~= nil
    elseif is_product and row.calls <= cfg.max_once then
      once[layer] = true
    end
  end
  for layer in sorted_pairs(looped) do both = both + (looped[layer] and once[layer] and 1 or 0) end
  return is_trained and both or 0, rounds
end

local function of_known_places(p, cfg)
  if p.framework ~= "tensorflow" then return nil end
  local ops = p:table("ops")
  local loops = ops:where { name = { like = "(^|/)while(_[0-9]+)?(_grad)?/" }, calls = { min = cfg.min_turns } }
  local all_ns, loop_ns = ops:sum("self_ns"), loops:sum("self_ns")
  if all_ns <= 0 or loop_ns < cfg.min_rounds_share * all_ns then return nil end
  local both, rounds = layers_in_both(p, cfg, ops)
  if both < cfg.min_layers then return nil end
  local worst, ns = loops:top("self_ns", 1):rows()[1], math.min(1, loop_ns / all_ns) * p.fact["step.ns"]
  return finding {
    title = ("Layers that run once for all places run again in a loop of %s rounds, and back through it"):format(
      fmt.whole(rounds)),
    subject = { op = worst.name },
    evidence = { { "ops of the loop a step", loop_ns, "ns" }, { "of the time of all ops", loop_ns / all_ns, "share" },
                 { "rounds a step", rounds, "count" }, { "products that are in both", both, "count" },
                 { worst.name, worst.self_ns, "ns" } },
    condition = ("%s products are in both, %s accepted; the loop takes %s of the time of all ops"):format(
      fmt.count(both), fmt.count(cfg.min_layers), fmt.pct(loop_ns / all_ns)),
    remedy = { text = "Keep what the one pass gave instead of finding it again place by place: draws that are "
                 .. "reshaped or cast before log_prob miss the cache of a flow's bijector, which is then inverted step "
                 .. "by step. Or give the layers the known inputs of all places at once, and turn a flow so that "
                 .. "training takes its fast direction.",
               code = "z, log_q = q.experimental_sample_and_log_prob(n)   "
                 .. "# not q.log_prob(tf.reshape(q.sample(n), ...))" },
    impact = impact.replay { { "scale", name = ".*while(_[0-9]+)?(_grad)?/.*", factor = 1 / rounds },
                             fallback = impact.share { ns = ns } },
    confidence = "medium",
  }
end

return rule {
  id = "unvectorised-loop", api = 1, version = "1.0.0",
  title = "A loop handles the batch element by element",
  category = "kernels", severity = "warn",
  formats = { "xspace", "graph", "profile", "kineto" },
  needs = { "step.ns", "ops" },
  cause = "loop", tags = { "kernels" },
  more_specific_than = { "tiny-ops", "hot-op", "many-small-gemms", "host-bound" },
  params = {
    min_turns = { default = 8, min = 2, max = 1e7, unit = "count", doc = "turns of the loop a step" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "share of the step inside the loop" },
    min_gather_share = { default = 0.08, min = 0, max = 1, unit = "share",
                         doc = "PyTorch: share of the step in stacking single samples" },
    min_small_turns = { default = 4, min = 1, max = 1e6, unit = "ratio",
                        doc = "turns of the executor for each recorded op, where a loop's ops are too small for that" },
    min_rounds = { default = 16, min = 2, max = 1e7, unit = "count",
                   doc = "rounds a step of a loop that only passes over memory" },
    min_rounds_share = { default = 0.25, min = 0, max = 1, unit = "share", doc = "share of the step in its ops" },
    min_cuts_share = { default = 0.10, min = 0, max = 1, unit = "share",
                       doc = "TensorFlow: what arrays made of the parts that rounds cut out take of the step" },
    max_once = { default = 2, min = 1, max = 1e6, unit = "count", doc = "calls a step of what is outside of it" },
    min_once_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step outside of it" },
    min_layers = { default = 3, min = 1, max = 1e6, unit = "count",
                   doc = "products of layers that run both in a loop and in one pass" },
    recorded_ns = { default = 1000, min = 0, max = 1e6, unit = "ns",
                    doc = "sessions: least that their recorder writes down of an op" },
    executor_ns = { default = 300, min = 0, max = 1e6, unit = "ns",
                    doc = "sessions: what the executor takes for an op of a loop where nothing is recorded" },
    min_round_ops = { default = 40, min = 1, max = 1e6, unit = "count",
                      doc = "sessions: ops a round of a loop that looks up what earlier rounds made" },
    max_product_ns = { default = 100e3, min = 0, max = 1e9, unit = "ns",
                       doc = "sessions: a product of its rounds, above which one of them is work enough" },
    spared = { default = 0.5, min = 0, max = 1, unit = "ratio",
               doc = "part of the time in differences that goes at least: of six unknowns, beside a gradient's calls" },
    kept_product = { default = 0.4, min = 0, max = 1, unit = "ratio",
                     doc = "sessions: part of the products of weights' gradients that one of all rounds takes" },
    kept = { default = 0.2, min = 0, max = 1, unit = "ratio", doc = "part of the loop's time that a batched op needs" },
  },
  doc = [[
tf.map_fn and Python-style loops over examples run the same few ops once an element: each turn pays the executor, and
no op is large enough to use the cores. Elements of a map do not depend on each other, so the dimension can be
batched; scans over time, which do, are not meant, unless no turn multiplies: sums with discounts and filters have a
form without a loop. Priced as four fifths of the loop's ops and of the executor's time, or of its part of the pauses
between ops. Derivatives that scipy takes by differences are a loop over the unknowns, seen where Python was recorded:
at least half of that goes. A loop of a function without a product that takes a good part of the step is told, too,
whose ops are large enough to be recorded: recursions over time, priced as its ops on the path and the executor's
time. Loops of sessions are priced without what recording adds, which is most of their tiny ops. A loop that
multiplies is told where adding up the gradients of its weights in each round takes a good part of the step (in a
session, of one matrix, with the products that are added): what needs no state belongs before it, and what no later
round reads behind it; where each round cuts its part out of an array, whose gradient is then made whole in each
round; where layers of it also run once for all places, as those of a flow do that is inverted though its draws are
known: one round of it stays; and in sessions, where its rounds look up what earlier ones made, as nodes of trees do.
Silent for few turns. In PyTorch, a stack or cat of dozens of small tensors, one a sample, with the small ops that
look at each of them; or of eight and more that ops make one by one, three or more for each; or a correlation, an
array that is rolled, multiplied and summed for one shift after the other. In compiled programs of JAX, a loop whose
rounds read arrays by their number and write or add to arrays that no round reads: its small ops are priced, four
fifths of them.]],

  check = function(p, cfg)
    if p.format == "kineto" then return of_pytorch(p, cfg) end
    local found = of_differences(p, cfg) or of_compiled(p, cfg)
    if found then return found end
    local maps = "(^|/)(map|map_fn|vectorized_map|TensorArrayV2.*)(_[0-9]+)?/while(_grad)?/"
    local inside = p:table("ops"):where { name = { like = maps } }
    local turns, self_ns = inside:max("calls") or 0, inside:sum("self_ns")
    local step_ns = p.fact["step.ns"]
    if turns < cfg.min_turns then
      return of_small_turns(p, cfg) or of_known_places(p, cfg) or of_rounds(p, cfg) or of_session(p, cfg)
        or of_nodes(p, cfg) or of_cuts(p, cfg) or of_weights(p, cfg)
    end
    local executor_ns = p:has("host.executor_ns") and p.fact["host.executor_ns"] or 0
    local ns = self_ns + executor_ns
    -- Where no executor is recorded, the pauses between ops are its: the loop's part of them by how many ops it runs.
    local pauses = p.format == "xspace" and 0 or inside:sum("calls") / math.max(1, p:table("ops"):sum("calls"))
    if ns / step_ns < cfg.min_share then return nil end
    -- Of a session, what the loop's share is without recording, of the time that is recorded of it.
    local kept = cfg.kept
    if p.format ~= "xspace" then
      local loop_ns, unrecorded_ns, recorded_ns = unrecorded(p, cfg, inside)
      kept = 1 - (1 - cfg.kept) * math.min(1, loop_ns / unrecorded_ns * step_ns / math.max(1, recorded_ns))
    end

    local evidence = { { "ops inside the loop a step", self_ns, "ns", share = math.min(self_ns / step_ns, 1) },
                       { "turns a step", turns, "count" } }
    if executor_ns > 0 then evidence[#evidence + 1] = { "executor a step", executor_ns, "ns" } end
    for _, row in ipairs(inside:top("self_ns", 3):rows()) do
      evidence[#evidence + 1] = { row.name, row.self_ns, "ns" }
    end
    return finding {
      title = ("A loop runs %s times a step, an element a turn"):format(fmt.whole(turns)),
      evidence = evidence,
      condition = ("%s turns a step, %s accepted; %s of the step"):format(
        fmt.count(turns), fmt.count(cfg.min_turns), fmt.pct(ns / step_ns)),
      remedy = { text = "Batch the dimension the loop walks over.",
                 code = "y = tf.vectorized_map(f, xs)   # or write f for a whole batch" },
      impact = impact.replay { { "scale", name = ".*(map|map_fn)(_[0-9]+)?/while(_grad)?/.*", factor = kept },
                               { "scale", parts = { "host" }, kinds = { "executor", "run" }, factor = kept },
                               { "scale", parts = { "idle.other" }, factor = 1 - (1 - kept) * pauses },
                               fallback = impact.share { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    -- Half to all of 8 ms.
    { name = "scipy without a gradient", framework = "jax", format = "xspace", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "fusion", self_ns = 5e6, calls = 50 } },
                 activities = { { name = "$_numdiff.py:278 approx_derivative", kind = "python", on_leader = true,
                                  events = 5, path_ns = 8e6 },
                                { name = "$_numdiff.py:663 _dense_difference", kind = "python", on_leader = true,
                                  events = 5, path_ns = 7e6 } } } },
    -- A check of one gradient in a long step.
    { name = "few differences", framework = "jax", format = "xspace", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { name = "fusion", self_ns = 5e6, calls = 50 } },
                 activities = { { name = "$_numdiff.py:278 approx_derivative", kind = "python", on_leader = true,
                                  events = 1, path_ns = 8e6 } } } },
    { name = "map_fn", framework = "tensorflow", finding = true, replay = { 2e6, 6e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 5e6 },
      tables = { ops = { { name = "map/while/body/_1/map/while/MatMul", type = "MatMul", calls = 64,
                           self_ns = 3e6 } } } },
    { name = "map_fn and its gradient in a session", framework = "tensorflow", format = "profile", finding = true,
      facts = { ["step.ns"] = 1e7 }, replay = { 3e6, 3e6 },
      tables = { ops = { { name = "gradients/match/map/while_grad/match/map/while_grad/body/_92/MatMul",
                           type = "MatMul", calls = 16, self_ns = 3e6 } } } },
    { name = "lax.map over a batch", framework = "jax", format = "xspace", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 excess = { { cell = 1, flaw = "separate-rounds", ns = 5e6, share = 0.5, factor = 0.05, op = "dot",
                              source_file = "train.py", source_line = 18 } } } },
    { name = "a replay memory of tuples", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 excess = { { cell = 1, flaw = "gathered-items", ns = 3e6, share = 0.3, factor = 0.05,
                              op = "aten::stack" } } } },
    { name = "a correlation at all shifts", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 excess = { { cell = 1, flaw = "shifted-rounds", ns = 3e6, share = 0.3, factor = 0.05, op = "aten::mul",
                              detail = "96 times rolled, multiplied and summed" } } } },
    { name = "samples that are transformed one by one", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 excess = { { cell = 1, flaw = "gathered-items", ns = 3e6, share = 0.3, factor = 0.05, op = "aten::div",
                              detail = "32 tensors are made one by one and stacked" } } } },
    { name = "a few samples", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 excess = { { cell = 1, flaw = "gathered-items", ns = 3e5, share = 0.03, factor = 0.05 } } } },
    { name = "a scan of sums", framework = "tensorflow", format = "xspace", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 3e6 },
      tables = { ops = { { name = "scan/TensorArrayV2Read/TensorListGetItem", type = "TensorListGetItem", calls = 1,
                           self_ns = 1e3 }, { name = "dense/MatMul", type = "MatMul", calls = 1, self_ns = 4e6 } },
                 activities = { { name = "ExecutorState::Process", kind = "executor", events = 900 } } } },
    { name = "a scan that multiplies", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 3e6 },
      tables = { ops = { { name = "scan/TensorArrayV2Read/TensorListGetItem", type = "TensorListGetItem", calls = 1,
                           self_ns = 1e3 }, { name = "while/MatMul", type = "MatMul", calls = 40, self_ns = 4e6 } },
                 activities = { { name = "ExecutorState::Process", kind = "executor", events = 900 } } } },
    -- Two of three million nanoseconds of ops, of ten rounds each: nine tenths of them go.
    { name = "a flow that is inverted place by place", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 1.8e6 }, facts = { ["step.ns"] = 4e6 },
      tables = { ops = {
        { name = "q/sample/inverse/net/dense/MatMul", type = "MatMul", calls = 1, self_ns = 2e5 },
        { name = "q/sample/inverse/net/dense_1/MatMul", type = "MatMul", calls = 1, self_ns = 2e5 },
        { name = "q/sample/inverse/net/dense_2/MatMul", type = "MatMul", calls = 1, self_ns = 6e5 },
        { name = "q/log_prob/forward/while/body/_1/q/forward/while/net/dense/MatMul", type = "MatMul", calls = 10,
          self_ns = 4e5 },
        { name = "q/log_prob/forward/while/body/_1/q/forward/while/net/dense_1/MatMul", type = "MatMul", calls = 10,
          self_ns = 4e5 },
        { name = "q/log_prob/forward/while/body/_1/q/forward/while/net/dense_2/MatMul", type = "MatMul", calls = 10,
          self_ns = 4e5 },
        { name = "gradient_tape/q/forward/while_grad/body/_9/net/dense_2/MatMul_grad/MatMul", type = "MatMul",
          calls = 10, self_ns = 8e5 } } } },
    { name = "a prompt in one pass and words in a loop", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 4e6 },
      tables = { ops = {
        { name = "prompt/net/dense/MatMul", type = "MatMul", calls = 1, self_ns = 2e5 },
        { name = "prompt/net/dense_1/MatMul", type = "MatMul", calls = 1, self_ns = 2e5 },
        { name = "prompt/net/dense_2/MatMul", type = "MatMul", calls = 1, self_ns = 6e5 },
        { name = "words/while/body/_1/net/dense/MatMul", type = "MatMul", calls = 10, self_ns = 4e5 },
        { name = "words/while/body/_1/net/dense_1/MatMul", type = "MatMul", calls = 10, self_ns = 4e5 },
        { name = "words/while/body/_1/net/dense_2/MatMul", type = "MatMul", calls = 10, self_ns = 4e5 } } } },
    { name = "a recursion over frames", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 1e6 },
      tables = { ops = { { name = "ReduceLogSumExp/Exp", type = "Exp", calls = 60, self_ns = 4e6 },
                         { name = "conv/Conv2D", type = "Conv2D", calls = 1, self_ns = 2e6 } },
                 work = { { type = "Exp", part = "compute", phase = "forward", calls = 60, ns = 4e6 } } } },
    { name = "a recursion that multiplies", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 1e6 },
      tables = { ops = { { name = "cell/Exp", type = "Exp", calls = 60, self_ns = 4e6 },
                         { name = "cell/MatMul", type = "MatMul", calls = 60, self_ns = 1e6 },
                         { name = "conv/Conv2D", type = "Conv2D", calls = 1, self_ns = 2e6 } },
                 work = { { type = "Exp", part = "compute", phase = "forward", calls = 60, ns = 4e6 } } } },
    { name = "files decoded beside the step", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "DecodeJpeg", type = "DecodeJpeg", calls = 32, self_ns = 8e6 },
                         { name = "conv/Conv2D", type = "Conv2D", calls = 1, self_ns = 9e6 } },
                 work = { { type = "Conv2D", part = "compute", phase = "forward", calls = 1, ns = 9e6 } } } },
    -- The loop records 300 x 2 + 900 x 1 us and half of the pauses, 1 ms; unrecorded it takes 300 x 1 us and
    -- 1200 x 0.3 us: 0.66 of 8.16 ms, 8 %.
    { name = "discounted sums by tf.scan in a session, beside other work", framework = "tensorflow",
      format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "scan/while/mul", type = "Mul", calls = 300, self_ns = 6e5 },
                         { name = "scan/while/Switch", type = "Switch", calls = 900, self_ns = 9e5 },
                         { name = "dense/MatMul", type = "MatMul", calls = 1200, self_ns = 5e6 } },
                 path = { { kind = "other", part = "idle.other", ns = 2e6 } } } },
    -- 3000 x 2 us and all of 2 ms of pauses are recorded; unrecorded 3000 x 1.3 us = 3.9 ms of 5.9 ms, 4/5 of 66 %.
    { name = "discounted sums by tf.scan in a session", framework = "tensorflow", format = "profile", finding = true,
      impact_ns = 5.288e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "scan/while/mul", type = "Mul", calls = 3000, self_ns = 6e6 } },
                 path = { { kind = "other", part = "idle.other", ns = 2e6 } } } },
    -- 20400 ops a step record 41.4 ms; beyond their first microseconds 21 ms, and 0.3 us each: 27.12 of 85.72 ms, 4/5
    -- of 31.6 %.
    { name = "nodes of trees one by one in a session", framework = "tensorflow", format = "profile", finding = true,
      impact_ns = 2.5310e7, facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { name = "while/MatMul", type = "MatMul", calls = 200, self_ns = 1e6 },
                         { name = "while/TensorArrayGatherV3", type = "TensorArrayGatherV3", calls = 200,
                           self_ns = 4e5 },
                         { name = "while/Switch", type = "Switch", calls = 20000, self_ns = 4e7 } } } },
    { name = "a recurrent layer in a session", framework = "tensorflow", format = "profile", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "rnn/while/mul", type = "Mul", calls = 3000, self_ns = 6e6 },
                         { name = "rnn/while/MatMul", type = "MatMul", calls = 300, self_ns = 1e6 } } } },
    { name = "inputs that are multiplied in each time step", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", impact_ns = 4e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gradient_tape/rnn/while/rnn/while_grad/body/_85/AddN", type = "AddN", calls = 100,
                           self_ns = 4e6 },
                         { name = "rnn/while/body/_13/cell/MatMul", type = "MatMul", calls = 100, self_ns = 3e6 } } } },
    -- 12 ms by 0.6, and 6 ms of 40.
    { name = "scores of words made in each round of a session's decoder", framework = "tensorflow", format = "graph",
      finding = true, severity = "info", impact_ns = 1.32e7, facts = { ["step.ns"] = 4e7 },
      tables = { ops = { { name = "gradients/rnn/while/project/MatMul/Enter_grad/Add", type = "AddV2", calls = 36,
                           self_ns = 6e6 },
                         { name = "gradients/rnn/while/project/MatMul_grad/MatMul_1", type = "MatMul", calls = 36,
                           self_ns = 1.2e7 } } } },
    { name = "cells of a session whose weights take no part alone", framework = "tensorflow", format = "graph",
      finding = false, facts = { ["step.ns"] = 4e7 },
      tables = { ops = { { name = "gradients/rnn/while/cell/MatMul/Enter_grad/Add", type = "AddV2", calls = 36,
                           self_ns = 2e6 },
                         { name = "gradients/rnn/while/cell/MatMul_grad/MatMul_1", type = "MatMul", calls = 36,
                           self_ns = 8e6 },
                         { name = "gradients/rnn_1/while/cell/MatMul/Enter_grad/Add", type = "AddV2", calls = 36,
                           self_ns = 2e6 },
                         { name = "gradients/rnn_1/while/cell/MatMul_grad/MatMul_1", type = "MatMul", calls = 36,
                           self_ns = 8e6 } } } },
    { name = "rows that are cut out of an array in each round", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gradients/while_grad/while_grad/body/_85/StridedSliceGrad",
                           type = "StridedSliceGrad", calls = 100, self_ns = 3e6 },
                         { name = "gradients/while_grad/while_grad/body/_85/AddN", type = "AddN", calls = 100,
                           self_ns = 2e6 } } } },
    { name = "a recurrent layer of small weights", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gradient_tape/rnn/while/rnn/while_grad/body/_85/AddN", type = "AddN", calls = 100,
                           self_ns = 1e6 },
                         { name = "rnn/while/body/_13/cell/MatMul", type = "MatMul", calls = 100, self_ns = 3e6 } } } },
    { name = "a scan over time", finding = false, facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 5e6 },
      tables = { ops = { { name = "while/body/_1/while/lstm_cell/MatMul", type = "MatMul", calls = 64,
                           self_ns = 3e6 } } } },
  },
}
