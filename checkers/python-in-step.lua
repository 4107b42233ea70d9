-- Python runs inside the step while nothing else does.
local PREPARE_BESIDE = "Prepare the next batch beside the step, in threads or processes, or do it for the whole batch "
  .. "in the compiled function."

local TRANSFORMED = {
  text = "torch.func's grad, vmap and jacrev do their work in Python at each call: compile what they give, or call it "
    .. "for more rows at once.",
  code = "gradients = torch.compile(torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0)))",
}

-- Sent to other processes and waited for: Connection is what pipes, queues and vectors of environments are made of.
local PIPES = "multiprocessing/connection[.]py"
local BEHIND_PIPES = "Do cheap work, as that of small environments, in this process: each message is pickled, written "
  .. "and wakes another. Of costly work send more at once, and take what it gives when the next is on its way."

-- Arguments of jit that are static are looked up by their hash, which a tuple works out anew each time.
local HASHED = {
  text = "Give large data as arrays in arguments that are traced, by a class that is a pytree, and leave static what "
    .. "is small: a static argument of jit is hashed in each call. Or let __hash__ give what was worked out once.",
  code = "jax.tree_util.register_dataclass(Mesh, data_fields=['edges'], meta_fields=[])   # not static",
}

-- JAX puts a class that is a pytree together behind each call that gives it, and for each transformation.
local UNFLATTENED = {
  text = "A class that is a pytree works these out again whenever JAX puts it together, in each call that takes or "
    .. "gives it: work them out once, keep them as leaves, and let tree_unflatten not call what makes them.",
  code = "obj = object.__new__(cls); obj.ground, obj.tables = leaves; return obj   # in tree_unflatten",
}

-- What libraries' functions are called for, by their frames, and what does it for less.
local known = {
  { frame = "copy[.]py\\(\\d+\\): deepcopy",
    text = "Copy what changes, not the whole object: arrays of a state without its history, weights into one spare "
      .. "model that is made once.",
    code = "spare.load_state_dict(model.state_dict())   # not copy.deepcopy(model); state = (q.copy(), v.copy())" },
  { frame = "pandas/.*: (concat|_append|append)$",
    text = "A frame that grows is copied whole each time: collect its parts in a list, and join them once behind the "
      .. "loop.",
    code = "parts.append(rows)   # in the loop\ntable = pandas.concat(parts)   # behind it" },
  { frame = "(pandas|sklearn)/",
    text = "pandas and scikit-learn take about as long for one row as for thousands: hand them the whole table once, "
      .. "before the loop. For single requests keep what they learned in dicts and arrays.",
    code = "codes = {name: i for i, name in enumerate(encoder.categories_[0])}   # once\n"
      .. "x = [codes[row['kind']], (row['age'] - scaler.mean_[0]) / scaler.scale_[0]]   # for each request" },
}

-- A function that is called for each row of a batch, of those that take longest: its frame as tables of activities have
-- it, how often a step. Rounds of an expression are its function's.
local function calls_of(p, cells, ns, least)
  for _, row in ipairs(p:has("activities") and cells:top("ns", 3):rows() or {}) do
    local place = row.region or ""
    local frame = place:match(".* > (.+)$") or place:match("^in (.+)$") or place
    if row.ns >= 0.3 * ns and not frame:find(" <[a-z]+>$") then
      local rows = p:table("activities"):where { kind = "python", on_leader = true, name = "$" .. frame }
      local calls = rows:max("events") or 0
      if calls >= least then return frame, calls end
    end
  end
  return nil, 0
end

-- What takes many rows in one call, by its frame.
local for_many = {
  { frame = "sql[.]py:\\d+ read_sql|pandas/io/sql[.]py|(^| )(execute|fetch(one|all|many|df))$",
    text = "Ask the database once for all rows of the batch, or read the table once before the loop: each query is "
      .. "parsed, run and made a frame.",
    code = "rows = pandas.read_sql_query(f\"select * from t where id in ({ids}) order by id\", db)" },
  { frame = "(^| )(strptime|fromisoformat|to_datetime)$",
    text = "Parse times once for the whole table, before the loop, and keep them as numbers.",
    code = "table['sent'] = pandas.to_datetime(table['sent'], format='%d.%m.%Y %H:%M')   # not strptime in each batch"
  },
  { frame = "^(_?(lil|dok|csr|csc|compressed|index)[.]py:\\d+ )(__setitem__|_set_\\w+)$",
    text = "Make a sparse matrix at once, of arrays of rows, columns and values: each number that is assigned goes "
      .. "through Python, and in compressed formats moves all behind it.",
    code = "m = scipy.sparse.csr_matrix((values, (rows, columns)), shape)   # rows = np.repeat(np.arange(n), lengths)"
  },
  { frame = "h5py|dataset[.]py:\\d+ __getitem__",
    text = "Read what fits into memory once, or rows that lie beside each other by one slice: of a file in chunks, as "
      .. "HDF5, each row unpacks a whole chunk.",
    code = "rows = file['x'][:]   # once; or file['x'][at:at + 4096], shuffled in memory" },
}

local function selects(cells)
  local list = {}
  for row in cells:top("ns", 64):each() do list[#list + 1] = { cell = row.cell } end
  return list
end

local function has_python_stacks(p)
  return p.format ~= "kineto" or p:has("coverage.has_stacks") and p.fact["coverage.has_stacks"]
end

-- What a step with long pauses does in them, and what to do.
local function name_pauses(p, cfg, cells, ns, place, is_input)
  local has_stacks = has_python_stacks(p)
  if p.framework == "jax" and place:find("__hash__", 1, true) then
    return ("Python hashes arguments for %s of each step"):format(fmt.ms(ns)), HASHED
  end
  local unflatten_ns = p.framework == "jax" and p:has("activities") and
    p:table("activities"):where { kind = "python", name = { like = " tree_unflatten$" } }:max("path_ns") or 0
  if unflatten_ns >= 0.5 * ns then
    return ("Pytrees are put together in Python for %s of each step"):format(fmt.ms(unflatten_ns)), UNFLATTENED
  end
  local piped_ns = cells:where { region = { like = PIPES } }:sum("ns")
  if not is_input and piped_ns >= 0.5 * ns then
    local is_environment = place:find("[Ee]nv") and place:find("connection", 1, true)
    return ("The step sends to other processes and waits for them: %s"):format(fmt.ms(piped_ns)), {
      text = BEHIND_PIPES,
      code = is_environment
        and "envs = DummyVecEnv(makers)   # of Stable-Baselines3; gymnasium.vector.SyncVectorEnv(makers)" or nil }
  end
  local frame, calls = calls_of(p, cells, ns, cfg.min_calls)
  if frame then
    local title = ("Python calls %s %s times for each step: %s"):format(frame:match("[^ ]*$"), fmt.whole(calls),
      fmt.ms(ns))
    local beside = is_input and " " .. PREPARE_BESIDE or ""
    for _, way in ipairs(for_many) do
      if frame:find(way.frame) then return title, { text = way.text .. beside, code = way.code } end
    end
    return title, { text = "Call it before the loop where what it gives stays the same, once for all rows where it "
      .. "takes many; else do in NumPy for the whole batch what it does." .. beside }
  end
  local title = (is_input and "Python prepares for %s of each step what the step then computes with" or
                 "Python works %s of each step outside any op"):format(fmt.ms(ns))
  if place:find("torch/_functorch/", 1, true) then return title, TRANSFORMED, true end
  for _, way in ipairs(known) do
    if place:find(way.frame) then return title, { text = way.text, code = way.code } end
  end
  -- Where a step is taken to begin with a call, what makes the next batch lies behind it.
  local is_either = p.framework == "jax" and p:has("step.source") and p.fact["step.source"] == "inferred"
  return title, {
    text = is_input and PREPARE_BESIDE
      or "Move it out of the step: to every hundredth step, to another process, or into tensor ops." ..
      (is_either and " If it makes the next batch: do it for all rows at once in NumPy, once for the whole set, or "
        .. "beside the step." or "") .. (has_stacks and "" or " Record with Python stacks to see what it is."),
    code = not has_stacks and "with torch.profiler.profile(with_stack=True) as prof: ..." or nil }
end

local function of_pauses(p, cfg, cells)
  local step_ns = p.fact["step.ns"]
  -- Short pauses at many places, none of them worth it, are what a library does around its ops.
  if not cells or (cells:max("share") or 0) < cfg.min_place_share then return nil end
  if not cells or cells:sum("share") < cfg.min_pause_share then return nil end
  local ns, worst = cells:sum("ns"), cells:top("ns", 3):rows()
  local evidence = { { "long pauses between ops a step", ns, "ns", share = math.min(1, ns / step_ns) } }
  for _, row in ipairs(worst) do evidence[#evidence + 1] = { row.region or "the step", row.ns, "ns" } end
  local has_stacks = has_python_stacks(p)

  local share = cells:sum("share")
  -- What any program has of them: how much of it may go is not known.
  local is_once = p.framework == "pytorch" and worst[1].grade == "C"
  -- At many places, a little at each, it is mostly the library's own, which cannot be moved.
  local is_spread = p.framework == "pytorch" and not has_stacks and worst[1].ns < cfg.min_place_part * ns
  local is_usual = is_once or (share < cfg.max_usual_share or is_spread) and not p:has("device.idle_share")
  local title, remedy, is_transform = name_pauses(p, cfg, cells, ns, worst[1].region or "",
    worst[1].cause == "wait.input")
  return finding {
    title = title,
    -- Where programs are compiled a little Python that makes the next batch is usual.
    severity = (is_once or is_spread or is_transform or p.framework ~= "pytorch" and share < cfg.min_own_share)
      and "info" or "warn",
    subject = { scope = worst[1].region }, locations = cells:top("ns", 3):places(),
    evidence = evidence,
    condition = ("long pauses take %s of the step, %s accepted"):format(fmt.pct(share),
        fmt.pct(cfg.min_pause_share)),
    remedy = remedy,
    impact = is_usual and impact.share { ns = ns } or impact.cells(cells),
    claims = is_usual and selects(cells) or nil,
    confidence = is_usual and "low" or "medium",
  }
end

-- A dispatch mode runs Python around each op: counters of arithmetic, debuggers, recorders of calls.
local function of_modes(p, cfg)
  local step_ns = p.fact["step.ns"]
  local modes = p:has("ops") and p:table("ops"):where { type = { like = "^Python(DispatchMode|TorchFunctionMode)$" } }
  local ns = modes and math.min(modes:sum("self_ns"), step_ns) or 0
  if ns < cfg.min_pause_share * step_ns then return nil end
  return finding {
    title = ("Python of a dispatch mode runs around the ops of each step: %s"):format(fmt.ms(ns)),
    severity = "warn", subject = { op = "PythonDispatchMode" },
    evidence = { { "Python around ops a step", ns, "ns", share = ns / step_ns },
                 { "ops that it is called for a step", modes:sum("calls"), "count" } },
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_pause_share)),
    remedy = { text = "Leave counters and debuggers that see every op out of the loop: count one step before it.",
               code = "with FlopCounterMode(display=False) as counter: model(x)   # once, before the loop\n"
                 .. "flops = counter.get_total_flops()" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

-- All weights were read, and then Python works with the arrays.
local function of_weights(p, cfg)
  return p:in_excess {
    flaw = { like = "^(read-back|state-copied)$" }, detail = { like = "^looking" }, min_share = cfg.min_pause_share,
    time = "reading and working", severity = "warn", titles = {
      ["read-back"] = "All variables are read, and Python works with them: %s of each step",
      ["state-copied"] = "Arrays are read from the device and Python works with them: %s of each step",
    },
    remedy = { text = "Look at weights, or save them, every few hundred steps; what must be known in each step, as an "
                 .. "average of the weights, compute in the graph.",
               code = p.framework == "jax" and "if step % 200 == 0: log_histograms(jax.device_get(params))" or
                 "def on_train_batch_end(self, batch, logs=None):\n"
                 .. "    if batch % 200 == 0: self.look_at_weights()\n"
                 .. "# an average of them: keras.optimizers.Adam(use_ema=True, ema_momentum=0.99)" },
    confidence = "medium",
  }
end

-- Another thread keeps the interpreter busy.
local function of_lock(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "lock-waits", min_share = cfg.min_pause_share, severity = "warn",
    title = "Another thread holds Python's interpreter: %s of each step are waits for it", time = "waits of 5 ms each",
    remedy = { text = "A thread of this program runs Python without a pause, and gives way only each 5 ms "
                 .. "(sys.getswitchinterval()): whatever the loop calls waits so long before it goes on. Let that "
                 .. "thread wait for its work (queue.get(), Event.wait(), select) where it asks again and again, or "
                 .. "give what it computes to a process. py-spy dump shows it.",
               code = "frame = frames.get()   # a queue.Queue; not while slot is None: pass" },
    confidence = "medium",
  } or nil
end

local ON_DEVICE = {
  text = "Do it in the compiled function, where the arrays are: draw tokens, pick and sort on the device, and read no "
    .. "more than the few numbers that are needed, some steps later.",
  code = "token = jax.random.categorical(key, logits / temperature)   # in the jitted step",
}

-- flax.nnx: jit, grad and the like take modules apart to graphs and arrays, and put them together, in Python
-- (flax/nnx/extract.py).
local MODULES_APART = {
  text = "nnx.jit takes its modules apart and puts them together in Python at each call: let that be done once, for "
    .. "what stays the same object, or split them before the loop and compile a function of their arrays.",
  code = "step = nnx.cached_partial(train_step, model, optimizer)   # before the loop; then step(x, y)",
}
local function takes_apart(p, total)
  if p.framework ~= "jax" or not p:has("activities") then return false end
  local frames = p:table("activities"):where {
    kind = "python", on_leader = 1, name = { like = "^\\$extract[.]py:[0-9]+ (to_tree|from_tree)$" } }
  local longest = frames:top("path_ns", 1):rows()[1]
  return longest ~= nil and longest.path_ns >= 0.3 * total
end

-- equinox: what filter_jit does in Python around each call (equinox/_jit.py), for each array that it is given or gives.
local function of_filter_jit(p, cfg)
  local step_ns = p.fact["step.ns"]
  local frames = p.framework == "jax" and p:has("activities") and p:table("activities"):where {
    kind = "python", on_leader = true, name = { like = "^\\$_jit[.]py:[0-9]+ _(pre|post)process$" } }
  local ns = frames and math.min(frames:sum("path_ns"), step_ns) or 0
  if ns < cfg.min_apart_share * step_ns then return nil end
  local evidence = { { "taking modules apart and together a step", ns, "ns", share = ns / step_ns } }
  for _, row in ipairs(frames:top("path_ns", 2):rows()) do evidence[#evidence + 1] = { row.name, row.path_ns, "ns" } end
  return finding {
    title = ("equinox takes modules apart and puts them together in Python for %s of each step"):format(fmt.ms(ns)),
    severity = ns >= cfg.min_apart_warn * step_ns and "warn" or "info", evidence = evidence,
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_apart_share)),
    remedy = { text = "filter_jit looks at each array of what goes in and comes out: keep many small networks as one "
                 .. "of stacked arrays. Or split the model before the loop, and compile a function of its arrays by "
                 .. "jax.jit.",
               code = "nets = eqx.filter_vmap(make)(jax.random.split(key, n))   # one module, not a list of n\n"
                 .. "arrays, rest = eqx.partition(model, eqx.is_array)   # step = jax.jit(lambda arrays, x: "
                 .. "loss(eqx.combine(arrays, rest), x))" },
    impact = impact.exposed { ns = ns, low = 0.6 * ns, high = ns },
    confidence = "medium",
  }
end

local BETWEEN_RUNS = {
  text = "Feed NumPy arrays of the placeholder's type: lists are converted in each run, and arrays copied. What is the "
    .. "same in each run, as tables and weights, keep in variables that are loaded once. Make batches by tf.data or in "
    .. "a thread, fetch only what is read, and write files in few of the steps.",
  code = "session.run(train_op, {x: frames[rows]})   # an array, not a list of lists",
}

-- Session runs that were recorded one by one tell when each began and ended, and nothing between: Python, which makes
-- what is fed and reads what was fetched, and what recording a run takes.
local function between_runs(p, cfg)
  local step_ns = p.fact["step.ns"]
  local ns = p:has("step.pause_ns") and math.min(p.fact["step.pause_ns"], step_ns) or 0
  local share = ns / step_ns
  if share < cfg.min_share then return nil end
  return finding {
    title = ("%s of each step pass between runs of the session"):format(fmt.ms(ns)), severity = "info",
    evidence = { { "between runs a step, less what recording usually takes", ns, "ns", share = share } },
    condition = ("it is %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
    remedy = BETWEEN_RUNS,
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- A profile whose steps hold several session runs each, as where add_step was given them one after the other: what lies
-- between the runs is Python and what recording a run takes, and nothing tells one from the other.
local function within_profile(p, cfg)
  local step_ns, ns = p.fact["step.ns"], p:has("part.idle_other_ns") and p.fact["part.idle_other_ns"] or 0
  local share = ns / step_ns
  if p:has("device.idle_share") or share < cfg.min_unseen_share then return nil end
  return finding {
    title = ("No op runs in %s of each step: only what runs beside the ops, or records them, can take it"):format(
      fmt.ms(ns)),
    severity = "info",
    evidence = { { "without any op a step", ns, "ns", share = share } },
    condition = ("it is %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_unseen_share)),
    remedy = { text = "Give each session run a step of its own in the profile, and time the loop without recording: "
                 .. "what recording a run takes lies between the runs, too. " .. BETWEEN_RUNS.text,
               code = BETWEEN_RUNS.code },
    impact = impact.none(),
    confidence = "low",
  }
end

-- JAX with an accelerator: arrays are read in each step, and Python then works with them. Where that is done on the
-- device nothing is waited for: the host runs ahead, and a step takes what computing or starting it takes, whichever
-- is more. nil elsewhere.
local function spared_ns(p, cfg, total_ns)
  local computing_ns = p.fact["part.compute_ns"]
  if p.framework ~= "jax" or not p:has("device.idle_share") or not p:has("sync.steps_share")
      or p.fact["sync.steps_share"] < cfg.min_reading or not p:has("copies.d2h_bytes")
      or p.fact["copies.d2h_bytes"] < cfg.min_read_bytes then
    return nil
  end
  local starting_ns = p:has("host.dispatch_ns") and p.fact["host.dispatch_ns"] or 0
  return math.max(total_ns, p.fact["step.ns"] - math.max(computing_ns, starting_ns)), p.fact["step.ns"] - computing_ns
end

local function runs_sessions(p)
  return p.framework == "tensorflow" and p:has("activities")
    and p:table("activities"):where { name = "SessionRun" }:count() > 0
end

-- What runs between the batches of Keras' fit, besides fit itself.
local IN_CALLBACKS = {
  text = "Between batches fit and evaluate run callbacks: let those that draw, write, score or look at weights work at "
    .. "the end of epochs, or in one batch of some hundred. cProfile, or a sampler as py-spy, shows which of them it "
    .. "is.",
  code = "def on_train_batch_end(self, batch, logs=None):\n"
    .. "    if batch % 200 == 0: self.draw()",
}
-- TensorFlow's profiler often has no Python, even where it was asked for.
local SEEN_BESIDE = {
  text = "Move it out of the step or into the graph; cProfile, or a sampler as py-spy, shows where it is.",
  code = "python -m cProfile -s tottime train.py",
}
-- Where nothing is trained, what follows behind the model works with its results.
local BEHIND_RESULTS = {
  text = "Nothing is trained here: if this works through results, take argmax, top_k, thresholds, counts and sums in "
    .. "the graph, and read only what the answer holds: NumPy goes over whole maps, or all scores, on one thread. "
    .. "cProfile, or a sampler as py-spy, shows what it is.",
  code = "kinds = tf.argmax(scores, -1)   # in the tf.function that serves; not np.argmax(scores.numpy(), -1)",
}
local function in_tensorflow(p)
  local is_fit = p:has("activities")
    and p:table("activities"):where { name = { like = "^(multi|one)_step_on_iterator$" } }:count() > 0
  if is_fit then return IN_CALLBACKS end
  return p:has("op_stats.trains") and not p.fact["op_stats.trains"] and BEHIND_RESULTS or SEEN_BESIDE
end

return rule {
  id = "python-in-step", api = 1, version = "1.0.0",
  title = "Python holds the step",
  category = "host", severity = "warn",
  formats = { "xspace", "kineto", "graph", "profile" },
  needs = { "step.ns", "python.path_ns", "part.compute_ns" },
  cause = "host.python", tags = { "host" },
  more_specific_than = { "block-until-ready-each-step", "host-bound" },
  params = {
    min_pause_share = { default = 0.10, min = 0, max = 1, unit = "share",
                        doc = "share of the step in long pauses between ops, for PyTorch" },
    max_usual_share = { default = 0.15, min = 0, max = 1, unit = "share",
                        doc = "share of the step in such pauses that programs without a flaw have, too: a bound" },
    min_calls = { default = 12, min = 2, max = 1e9, unit = "count",
                  doc = "JAX: calls a step of what takes that long, from which it is called for each row" },
    min_place_part = { default = 0.30, min = 0, max = 1, unit = "share",
                      doc = "PyTorch without stacks: of such pauses at one place, below which they are a bound" },
    min_place_share = { default = 0.05, min = 0, max = 1, unit = "share",
                        doc = "share of the step in pauses at one place, from which this is said" },
    min_apart_share = { default = 0.3, min = 0, max = 1, unit = "share",
                        doc = "share of the step in which equinox takes modules apart, from which this is said" },
    min_apart_warn = { default = 0.5, min = 0, max = 1, unit = "share", doc = "the same, from which it is a warning" },
    min_own_share = { default = 0.25, min = 0, max = 1, unit = "share",
                      doc = "JAX: share of the step in the program's own functions, from which it is a warning" },
    min_reading = { default = 0.9, min = 0, max = 1, unit = "share",
                    doc = "JAX: steps that wait for a result, from which Python works with it" },
    min_read_bytes = { default = 64e3, min = 0, max = 1e12, unit = "bytes",
                       doc = "JAX: bytes read a step, from which they are worked with and not only looked at" },
    min_unseen_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "tfprof profiles: share of the step in which no op runs, from which this is said" },
    min_waits = { default = 8, min = 1, max = 1e9, unit = "count",
                  doc = "waits for results a step, from which short Python between them is theirs" },
    short_ns = { default = 2e5, min = 0, max = 1e12, unit = "ns", doc = "such Python, a wait" },
    min_share = { default = 0.20, min = 0, max = 1, unit = "share",
                  doc = "share of the step in Python, behind its first computation, from which this is said" },
    min_jax_share = { default = 0.15, min = 0, max = 1, unit = "share",
                      doc = "the same of JAX on a host alone, where nothing else is said of it" },
  },
  doc = [[
The leading thread is in Python, or in no recorded event at all, while no program and no pool thread works; for
eager PyTorch on the host, long pauses between ops that come in every step count. So does what follows behind
reading all variables of a TensorFlow program, or many arrays of a program of JAX one after the other. Python before
the first computation of a step usually prepares its input and belongs to the input rules, but for PyTorch while an
accelerator waits. Between runs of a session that were recorded one by one nothing is known but the time, which is a
bound, and so is a pause of PyTorch's in a recording of a single step. A step of a tfprof profile most of which passes
without any op has no price, as recording takes part of it. What equinox's filter_jit does around a call is priced as
six tenths to all of it. Other Python is priced as that time where pauses are more than programs usually have, or an
accelerator waits for it; else it is a bound. Where JAX reads arrays from an accelerator in each step and Python works
with them, as all that computing or starting a step does not take. Many pauses of about 5 ms at several places, and
hardly any a little shorter or longer, are waits for the interpreter while another thread runs Python. Silent where it
hides behind computation.]],

  check = function(p, cfg)
    if p.format == "graph" then return between_runs(p, cfg) end
    if p.format == "profile" then return within_profile(p, cfg) end
    if not p:has("host.python_before_ns") then return skip { reason = "no thread leads the steps" } end
    local lock = of_lock(p, cfg)
    if lock then return lock end
    local step_ns = p.fact["step.ns"]
    local cells = p:has("excess") and p:table("excess"):where { cause = "python" }
    if p.format == "kineto" and p:has("torch.pauses_ns") then
      return of_modes(p, cfg) or p.fact["torch.forward_calls"] > 0 and of_pauses(p, cfg, cells) or nil
    end
    local weights = (p.framework == "tensorflow" or p.framework == "jax") and of_weights(p, cfg)
      or of_filter_jit(p, cfg)
    if weights then return weights end
    -- Frames of the program's own files say whose Python it is. Where none of the steps' programs was called for in
    -- them, all were before: no step waits for Python.
    local is_called = not p:has("activities")
      or p:table("activities"):where { kind = "dispatch", on_leader = true }:count() > 0
    local own = p.framework == "jax" and cells and is_called and of_pauses(p, cfg, p:table("excess"):where {
      flaw = { like = "^(own-python|long-pause)$" }, source_file = { like = "." } })
    if own then return own end
    -- Eager dispatch and loops around programs leave gaps of their own.
    if p:has("eager.ops") and p.fact["eager.ops"] > 20 then return nil end
    if p:has("runs.count") and p.fact["runs.count"] > 8 then return nil end
    if p.fact["part.compute_ns"] == 0 then return nil end
    -- Without stacks what the host does between ops and calls of the runtime has no name: other rules have its time.
    if p.format == "kineto" and p:has("device.idle_share") and (p.fact["coverage.python_events"] or 0) == 0 then
      return nil
    end
    local before = p.fact["host.python_before_ns"]
    -- What prepares a batch inside of the step, the accelerator waits for as for any other Python.
    local prepares = p.framework == "pytorch" and p:has("device.idle_share") and before >= cfg.min_share * step_ns
      and before > p.fact["python.path_ns"] / 2
    local total = prepares and before or math.max(p.fact["python.path_ns"] - before, 0)
    -- What a loop around sessions does outside of their runs, before or behind them, while a pool of threads may still
    -- be at the run before.
    if runs_sessions(p) and not p:has("iterators") then
      local runs = p:table("activities"):where { name = "SessionRun", on_leader = true }
      if runs:count() > 0 then total = math.max(total, step_ns - runs:sum("total_ns")) end
    end
    -- Short pieces between many waits for results are the loop that reads them.
    local waits = p:has("sync.count_per_step") and p.fact["sync.count_per_step"] or 0
    if waits >= cfg.min_waits and total < waits * cfg.short_ns then return nil end
    -- A loader's Python in another thread is input that the step waits for.
    if p:has("activities") then
      total = math.max(
        total - p:table("activities"):where { kind = "python", on_leader = false }:sum("path_self_ns"), 0)
    end
    -- What the compiler wrote launches kernels: a graph replaces it, which other rules say.
    local generated = "torchinductor|torch/_inductor/|torch/_dynamo/|<eval_with_key>"
    if p:has("activities") and p.framework == "pytorch" then
      total = math.max(total - p:table("activities"):where { kind = "python", on_leader = true,
                                                             name = { like = generated } }:sum("path_self_ns"), 0)
    end
    local locations, evidence, sessions = {}, {}, runs_sessions(p)
    if p:has("activities") then
      local most = p:table("activities"):where { kind = "python", on_leader = 1 }:top("path_self_ns", 3)
      for row in most:each() do evidence[#evidence + 1] = { row.name, row.path_self_ns, "ns" } end
      locations = most:places()
    end
    local least = p.framework == "jax" and not p:has("device.idle_share") and cfg.min_jax_share or cfg.min_share
    if total / step_ns < least then return nil end
    table.insert(evidence, 1, { prepares and "Python before the step's first computation"
        or "Python behind the step's first computation", total, "ns", share = math.min(total / step_ns, 1) })
    local spared, most_ns = spared_ns(p, cfg, total)
    return finding {
      title = spared and ("Arrays are read in each step, and Python works %s with them"):format(fmt.ms(total)) or
        (sessions and "%s of each step pass between runs of the session, in feeding, fetching and Python"
        or prepares and "Python prepares for %s of each step what the device then computes with"
        or "%s of each step pass in Python outside any op"):format(fmt.ms(total)),
      -- Nobody can act on time that no function is named for.
      severity = #locations > 0 and "warn" or "info",
      evidence = evidence, locations = locations,
      condition = ("Python takes %s of the step, %s accepted"):format(fmt.pct(total / step_ns), fmt.pct(least)),
      remedy = sessions and BETWEEN_RUNS or spared and ON_DEVICE or takes_apart(p, total) and MODULES_APART
        or p.framework == "tensorflow" and #evidence == 1 and in_tensorflow(p) or {
        text = prepares and PREPARE_BESIDE or "Move it out of the step or into the graph"
          .. (#evidence > 1 and "." or "; a Python tracer shows where it is."),
        code = p.framework == "jax" and #evidence == 1
          and "jax.profiler.trace(logdir)   # its Python tracer names the functions" or nil },
      -- An accelerator waits for all of it; a host on its own does some of it anyway.
      impact = spared and impact.exposed { ns = spared, low = 0.9 * total, high = most_ns }
        or p:has("device.idle_share") and impact.exposed { ns = total, low = 0.9 * total }
        or impact.share { ns = total },
      claims = { parts = spared and { "host", "idle.sync" } or { "host" } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a thread that spins", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 7.5e6 }, impact_ns = 7.5e6,
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.host_ns"] = 8e6, ["part.compute_ns"] = 2e6,
                ["python.path_ns"] = 3e6 },
      tables = { excess = { { cell = 1, flaw = "lock-waits", cause = "python", grade = "B", ns = 7.5e6, share = 0.75,
                              factor = 0, detail = "84 pauses of about 5 ms, 2 a little shorter or longer" } } } },
    { name = "a list of many networks", framework = "jax", format = "xspace", finding = true, severity = "warn",
      impact_ns = 7e6, facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 8e6, ["part.compute_ns"] = 1e6,
                                 ["host.python_before_ns"] = 4e6 },
      tables = { activities = {
        { name = "$_jit.py:73 _preprocess", kind = "python", on_leader = true, path_ns = 2e6 },
        { name = "$_jit.py:106 _postprocess", kind = "python", on_leader = true, path_ns = 5e6 } } } },
    { name = "one network", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 1.5e6, ["part.compute_ns"] = 8e6,
                ["host.python_before_ns"] = 1e6 },
      tables = { activities = {
        { name = "$_jit.py:73 _preprocess", kind = "python", on_leader = true, path_ns = 5e5 },
        { name = "$_jit.py:106 _postprocess", kind = "python", on_leader = true, path_ns = 8e5 } } } },
    { name = "Python between calls, on a host alone", framework = "jax", format = "xspace", finding = true,
      severity = "info", facts = { ["step.ns"] = 1.87e7, ["python.path_ns"] = 3.5e6, ["host.python_before_ns"] = 0,
                                   ["part.compute_ns"] = 1.45e7 } },
    { name = "a little Python between calls", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.87e7, ["python.path_ns"] = 2.2e6, ["host.python_before_ns"] = 0,
                ["part.compute_ns"] = 1.6e7 } },
    { name = "as much where an accelerator waits", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.87e7, ["python.path_ns"] = 3.5e6, ["host.python_before_ns"] = 0,
                ["part.compute_ns"] = 1.45e7, ["device.idle_share"] = 0.2 } },
    { name = "a query for each row", framework = "jax", format = "xspace", finding = true, severity = "warn",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 2e6 },
      replay = { 7e6 },
      tables = { activities = { { name = "PjitFunction(update)", kind = "dispatch", on_leader = true, events = 2 },
                                { name = "$sql.py:437 read_sql_query", kind = "python", on_leader = true,
                                  events = 48 } },
                 excess = { { cell = 1, flaw = "long-pause", cause = "wait.input", grade = "B", ns = 7e6, share = 0.7,
                              factor = 0, source_file = "train.py", source_line = 9,
                              region = "in train.py:9 batch > sql.py:437 read_sql_query" } } } },
    { name = "Python of torch.func", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["torch.pauses_ns"] = 3e6, ["torch.forward_calls"] = 100, ["coverage.has_stacks"] = true },
      replay = { 3e6 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", grade = "B", ns = 3e6, share = 0.3,
                              factor = 0,
                              region = "in train.py(9): step > torch/_functorch/apis.py(244): wrapped" } } } },
    -- 3 of 4 ms in sending and receiving.
    { name = "environments behind pipes", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["torch.pauses_ns"] = 3e6, ["torch.forward_calls"] = 100, ["coverage.has_stacks"] = true },
      replay = { 4e6 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", grade = "B", ns = 3e6, share = 0.3,
                              factor = 0, region = "in envs.py(9): step > multiprocessing/connection.py(246): recv" },
                            { cell = 2, flaw = "long-pause", cause = "python", grade = "B", ns = 1e6, share = 0.1,
                              factor = 0, region = "in policy.py(4): act" } } } },
    { name = "a pytree makes its tables again", framework = "jax", format = "xspace", finding = true,
      severity = "info", replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 3e6, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6 },
      tables = { activities = { { name = "$sim.py:51 tree_unflatten", kind = "python", path_ns = 3e6 } },
                 excess = { { cell = 1, flaw = "own-python", cause = "wait.input", grade = "A", ns = 3e6, share = 0.3,
                              factor = 0, source_file = "sim.py", region = "sim.py:28 tables" } } } },
    { name = "a static argument of many numbers", framework = "jax", format = "xspace", finding = true,
      severity = "warn", replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 3e6, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6 },
      tables = { excess = { { cell = 1, flaw = "own-python", cause = "wait.input", grade = "A", ns = 3e6, share = 0.3,
                              factor = 0, source_file = "sim.py",
                              region = "sim.py:122 frame > <string>:2 __hash__" } } } },
    { name = "modules that are taken apart at each call", framework = "jax", format = "xspace", finding = true,
      severity = "info", impact_ns = 3.5e6,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 5e6, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 4e6 },
      tables = { activities = { { name = "$extract.py:338 to_tree", kind = "python", on_leader = true, path_ns = 4e6,
                                  path_self_ns = 1e6 } } } },
    { name = "a pause in the only step", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["torch.pauses_ns"] = 4e6, ["torch.forward_calls"] = 30 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", grade = "C", ns = 4e6, share = 0.4,
                              factor = 0 } } } },
    { name = "between runs of a session", framework = "tensorflow", format = "graph", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["part.compute_ns"] = 5e6, ["step.pause_ns"] = 5e6 } },
    { name = "several session runs a step of a profile", framework = "tensorflow", format = "profile", finding = true,
      severity = "info",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["part.compute_ns"] = 1e6, ["part.idle_other_ns"] = 9e6 } },
    { name = "short pauses of a profile's step", framework = "tensorflow", format = "profile", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["part.compute_ns"] = 6e6, ["part.idle_other_ns"] = 4e6 } },
    -- Of 10 ms 1 ms computes and starting it takes 2: 8 ms.
    { name = "tokens drawn by numpy", framework = "jax", format = "xspace", finding = true, impact_ns = 8e6,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 5e6, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 1e6,
                ["device.idle_share"] = 0.9, ["sync.steps_share"] = 1, ["copies.d2h_bytes"] = 1e6,
                ["host.dispatch_ns"] = 2e6 } },
    -- A loss is only looked at.
    { name = "Python behind a loss that is read", framework = "jax", format = "xspace", finding = true, impact_ns = 5e6,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 5e6, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 1e6,
                ["device.idle_share"] = 0.9, ["sync.steps_share"] = 1, ["copies.d2h_bytes"] = 4,
                ["host.dispatch_ns"] = 2e6 } },
    -- 10 ms less 3 ms in runs, though other threads were at work for 4 ms of it.
    { name = "feeds made between runs of a session", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 3.5e6, facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 3e6,
      ["host.python_before_ns"] = 1e6, ["part.compute_ns"] = 2e6 },
      tables = { activities = { { name = "SessionRun", kind = "run", on_leader = true, total_ns = 3e6 } } } },
    { name = "statistics of weights", framework = "tensorflow", format = "xspace", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6 },
      tables = { excess = { { cell = 1, flaw = "read-back", cause = "rare", ns = 4e6, share = 0.4, factor = 0.02,
                              detail = "looking: 8 variables are read one by one, 0 written" } } } },
    { name = "histograms of weights", framework = "jax", format = "xspace", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 0, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6 },
      tables = { excess = { { cell = 1, flaw = "state-copied", cause = "wait.io", ns = 4e6, share = 0.4, factor = 0.02,
                              detail = "looking: 16 arrays are read, some after others" } } } },
    { name = "the compiler's own Python", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6, ["host.python_before_ns"] = 0,
                ["part.compute_ns"] = 5e6, ["device.idle_share"] = 0.5, ["coverage.python_events"] = 80 },
      tables = { activities = { { name = "/tmp/torchinductor_u/ov/c.py(25): call", kind = "python", on_leader = true,
                                  path_self_ns = 3e6 } } } },
    { name = "a device, and no stacks", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6, ["host.python_before_ns"] = 0,
                ["part.compute_ns"] = 5e6, ["device.idle_share"] = 0.5, ["coverage.python_events"] = 0 } },
    { name = "a device, and stacks", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6, ["host.python_before_ns"] = 0,
                ["part.compute_ns"] = 5e6, ["device.idle_share"] = 0.5, ["coverage.python_events"] = 80 } },
    { name = "a loader's Python in its own thread", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6,
                ["host.python_before_ns"] = 2e5, ["part.compute_ns"] = 5e6 },
      tables = { activities = { { name = "$load.py:3 decode", kind = "python", on_leader = false,
                                  path_self_ns = 3.7e6 } } } },
    { name = "metrics in Python", framework = "tensorflow", finding = true, severity = "info", impact_ns = 3.4e6,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6,
                ["host.python_before_ns"] = 2e5, ["part.compute_ns"] = 5e6 } },
    { name = "a callback of fit", framework = "tensorflow", format = "xspace", finding = true, severity = "info",
      impact_ns = 3.4e6, facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6,
                                   ["host.python_before_ns"] = 2e5, ["part.compute_ns"] = 5e6 },
      tables = { activities = { { name = "multi_step_on_iterator", kind = "other" } } } },
    { name = "many results are read one by one", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 2.4e6, ["sync.count_per_step"] = 15,
                ["host.python_before_ns"] = 2e5, ["part.compute_ns"] = 5e6 } },
    { name = "much Python between some waits", framework = "jax", finding = true, impact_ns = 3.4e6,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6, ["sync.count_per_step"] = 15,
                ["host.python_before_ns"] = 2e5, ["part.compute_ns"] = 5e6 } },
    { name = "preparing input", finding = false,
      facts = { ["step.ns"] = 1e7, ["python.path_ns"] = 4e6,
                ["host.python_before_ns"] = 3.9e6, ["part.compute_ns"] = 5e6 } },
    { name = "writes a file", format = "kineto", framework = "pytorch", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["python.path_ns"] = 0, ["torch.pauses_ns"] = 0, ["torch.forward_calls"] = 20 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", ns = 4e6, share = 0.4, factor = 0,
               region = "behind aten::item" } } } },
    { name = "counted FLOPs", format = "kineto", framework = "pytorch", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["python.path_ns"] = 0, ["torch.pauses_ns"] = 0, ["torch.forward_calls"] = 20 },
      tables = { ops = { { name = "PythonDispatchMode", type = "PythonDispatchMode", self_ns = 3e6, calls = 280 } } } },
    { name = "a mask made in NumPy", format = "xspace", framework = "jax", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6, ["python.path_ns"] = 0 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", ns = 2e6, share = 0.2, factor = 0,
               region = "$train.py:9 build_mask", source_file = "train.py", source_line = 9 } } } },
    { name = "steps that were all called for before", format = "xspace", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6, ["python.path_ns"] = 0 },
      tables = { activities = { { name = "loop", kind = "python", on_leader = true, path_self_ns = 2e6 } },
                 excess = { { cell = 1, flaw = "long-pause", cause = "wait.input", ns = 3e6, share = 0.3, factor = 0,
                              region = "train.py:7 loop", source_file = "train.py", source_line = 7 } } } },
    { name = "pauses that nobody's frame explains", format = "xspace", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6, ["python.path_ns"] = 0 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", ns = 2e6, share = 0.2, factor = 0,
               region = "between copy and dot" } } } },
    { name = "a library's pauses at many places", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["python.path_ns"] = 0, ["torch.pauses_ns"] = 0, ["torch.forward_calls"] = 20 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", ns = 4e5, share = 0.04, factor = 0,
                              region = "a" },
             { cell = 2, flaw = "long-pause", cause = "python", ns = 3e5, share = 0.03, factor = 0, region = "b" },
             { cell = 3, flaw = "long-pause", cause = "python", ns = 1.5e5, share = 0.015, factor = 0, region = "c" },
             { cell = 4, flaw = "long-pause", cause = "python", ns = 1.5e5, share = 0.015, factor = 0, region = "d" },
             { cell = 5, flaw = "long-pause", cause = "python", ns = 1.5e5, share = 0.015, factor = 0,
               region = "e" } } } },
    -- 500 us at each of four places, a quarter of them each: a bound, of 2 ms at most.
    { name = "as much at each of many places", format = "kineto", framework = "pytorch", finding = true,
      severity = "info",
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["python.path_ns"] = 0, ["torch.pauses_ns"] = 0, ["torch.forward_calls"] = 20 },
      tables = { excess = {
        { cell = 1, flaw = "long-pause", cause = "python", ns = 5e5, share = 0.05, factor = 0, region = "a" },
        { cell = 2, flaw = "long-pause", cause = "python", ns = 5e5, share = 0.05, factor = 0, region = "b" },
        { cell = 3, flaw = "long-pause", cause = "python", ns = 5e5, share = 0.05, factor = 0, region = "c" },
        { cell = 4, flaw = "long-pause", cause = "python", ns = 5e5, share = 0.05, factor = 0, region = "d" } } } },
    { name = "small pauses", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.python_before_ns"] = 0, ["part.compute_ns"] = 5e6,
                ["python.path_ns"] = 0, ["torch.pauses_ns"] = 0, ["torch.forward_calls"] = 20 },
      tables = { excess = { { cell = 1, flaw = "long-pause", cause = "python", ns = 4e5, share = 0.04,
                              factor = 0 } } } },
  },
}
