-- One program runs many times a step on small inputs.
-- How many dimensions, the first of them and the smallest.
local function sizes_of(dims)
  local rank, first, least = 0, 0, math.huge
  for size in dims:gmatch("\\d+") do
    rank, least = rank + 1, math.min(least, tonumber(size))
    if rank == 1 then first = least end
  end
  return rank, first, least
end

-- Rows that the heaviest product of the program works on; nil where no shape tells.
local function rows_of(p, program)
  if not p:has("ops") then return nil end
  local products = p:table("ops"):where { module = program, type = { like = "^(dot|convolution|fusion|custom-call)$" },
                                          name = { class = "product|convolution" } }
  local row = products:top("self_ns", 1):rows()[1]
  local before, after = (row and row.shapes or ""):match("^(.*)->\\[([0-9,]*)\\]")
  if not before then return nil end
  local rank, first, least = sizes_of(after)
  if rank >= 2 then return rank == 2 and least or first end
  if rank == 1 then return 1 end
  -- All of it was summed up: the matrices that went in tell.
  local rows
  for dims in before:gmatch("\\[([0-9,]+)\\]") do
    local dim_count, _, fewest = sizes_of(dims)
    if dim_count >= 2 then rows = math.min(rows or fewest, fewest) end
  end
  return rows
end

-- A function that looks up rows by number and picks the likeliest number at its end may make one token after the other:
-- each call needs what the one before it gave.
local function may_make_tokens(p)
  if p.framework ~= "tensorflow" or not p:has("ops") then return false end
  local ops = p:table("ops")
  return ops:where { type = { class = "embedding|gather", like = "Gather" } }:count() > 0
    and ops:where { type = { like = "^(ArgMax|(Stateless)?Multinomial|RandomCategorical|TopKV2)$" } }:count() > 0
    and ops:where { type = { like = "^(ConcatV2|Softmax|_MklSoftmax)$" } }:count() > 0
end

-- Each run draws by chance, and the step trains: it acts in an environment, which answers before there is a next input.
local function acts_in_each(p, runs)
  if p.framework ~= "tensorflow" or not p:has("ops") then return false end
  local ops = p:table("ops")
  return ops:where { type = { like = "^((Stateless)?Multinomial|RandomCategorical)$" },
                     calls = { min = 0.8 * runs, max = 1.2 * runs } }:count() > 0
    and ops:where { type = { like = "^(AssignSubVariableOp|Resource(Sparse)?Apply.*)$" } }:count() > 0
end

-- Each run ends in an update of the weights, which the next one takes: steps of training, of which an epoch is marked.
local function trains_each_run(p, runs)
  if p.framework ~= "tensorflow" or not p:has("ops") then return false end
  return p:table("ops"):where { type = { like = "^(AssignSubVariableOp|Resource(Sparse)?Apply.*)$" },
                                calls = { min = 0.9 * runs } }:count() > 0
end

-- Every op works on two or more arrays of its result's shape and none is a product: an update of parameters, one by
-- one.
local function updates_arrays(p, program)
  if not p:has("ops") then return false end
  local seen = false
  for _, row in ipairs(p:table("ops"):where { module = program }:top("self_ns", 50):rows()) do
    local before, result = (row.shapes or ""):match("^(.*)->(\\[[0-9,]+\\])$")
    local alike = 0
    if before then
      for dims in before:gmatch("\\[[0-9,]*\\]") do
        if dims == result then alike = alike + 1 end
      end
    end
    local class = p:class_of(row.name)
    if alike < 2 or class == "product" or class == "convolution" or row.type == "custom-call" then return false end
    seen = true
  end
  return seen
end

-- Of a graph function that runs so often: how many ops each run has, and their share of the time of all ops. Ops name
-- no function: what runs as often as it does, or more often in loops, is taken for its.
local function ops_of_function(p, runs)
  if p.framework ~= "tensorflow" or not p:has("ops") then return 0, 0 end
  local calls, ns, all_ns = 0, 0, 0
  for row in p:table("ops"):each() do
    all_ns = all_ns + row.self_ns
    if not row.is_eager and (row.calls or 0) >= 0.9 * runs then calls, ns = calls + row.calls, ns + row.self_ns end
  end
  return calls / runs, all_ns > 0 and ns / all_ns or 0
end

-- Runs a step of the programs that run as often as the one at hand, which are of the same rounds, and their share of
-- the time of all ops.
local function rounds_of(p, name, runs)
  local programs, all_ns, count, ns = {}, 0, 0, 0
  for row in p:table("ops"):each() do
    local program = programs[row.module or ""] or { calls = 0, ns = 0 }
    programs[row.module or ""] = program
    program.calls, program.ns = math.max(program.calls, row.calls or 0), program.ns + row.self_ns
    all_ns = all_ns + row.self_ns
  end
  for module, program in sorted_pairs(programs) do
    if module == name or (program.calls >= 0.9 * runs and program.calls <= 1.1 * runs) then
      count, ns = count + runs, ns + program.ns
    end
  end
  return math.max(count, runs), all_ns > 0 and ns / all_ns or 1
end

-- Many backward passes of a few rows each lead to one update.
local function of_pytorch(p, cfg)
  local step_ns, passes, rows = p.fact["step.ns"], p.fact["torch.backward_passes"], p.fact["torch.product_rows"]
  -- Where each pass has an update of its own, as the inner steps of a meta-learner, the next one needs its weights.
  if passes < cfg.min_passes * math.max(1, p.fact["torch.updates"] or 1) then return nil end
  local ns = p.fact["torch.forward_ns"] + p.fact["torch.forward_gap_ns"] + p.fact["torch.backward_ns"]
  -- Without shapes the host's pauses tell of short ops; passes over one forward pass are rows of a Jacobian.
  local is_unknown = rows == 0 and passes >= cfg.min_unknown_runs * math.max(1, p.fact["torch.updates"] or 1)
    and p.fact["torch.forward_gap_ns"] >= cfg.min_gaps * ns and (p.fact["torch.walked_ns"] or 0) <= cfg.max_walked * ns
  if rows > cfg.max_rows or (rows == 0 and not is_unknown) then return nil end
  ns = math.min(ns, step_ns)
  if ns < cfg.min_share * step_ns then return nil end
  -- All but the update is done once for all rows.
  ns = math.max(ns, step_ns - (p.fact["torch.update_ns"] or step_ns))
  -- What one call spares are the passes of one update, or, where nothing divides the recording, of one round of it.
  local rounds = math.max(p.fact["torch.updates"] or 1,
                          p.fact["step.source"] == "whole-trace" and p.fact["step.rounds"] or 1)
  local together = passes / math.max(1, rounds)
  if together < cfg.min_passes then together = passes end
  local kept = 1 / math.sqrt(together)
  return finding {
    title = (is_unknown and "%s backward passes a step, of ops so short that the host often pauses between them"
             or "%s backward passes a step, each over %s rows"):format(fmt.whole(passes), fmt.count(rows)),
    severity = is_unknown and "info" or "warn", locations = p:lines_of("torch.backward_ns"),
    evidence = { { "forward and backward passes a step", ns, "ns", share = ns / step_ns },
                 { "backward passes a step", passes, "count" },
                 is_unknown and { "pauses between forward ops a step", p.fact["torch.forward_gap_ns"], "ns" }
                   or { "rows of a product, median", rows, "count" } },
    condition = is_unknown and ("%s passes an update, %s accepted where no shapes tell of their rows"):format(
        fmt.whole(passes), fmt.count(cfg.min_unknown_runs))
      or ("%s passes a step, %s accepted; %s rows a product, %s accepted"):format(
        fmt.whole(passes), fmt.count(cfg.min_passes), fmt.count(rows), fmt.count(cfg.max_rows)),
    remedy = { text = "Take more rows at once: gradients add up the same, and each weight is read once.",
               code = "for x, y in batches.split(64): loss(model(x), y).backward()   # instead of split(4)" },
    impact = impact.exposed { ns = (1 - 0.5 * kept) * ns, low = (1 - 2 * kept) * ns, high = (1 - 0.5 * kept) * ns },
    confidence = is_unknown and "low" or "medium",
  }
end

-- With an accelerator that waits for the host each pass of a few rows launches as many kernels as one over all rows.
local function of_launches(p, cfg)
  local limit, passes = p:host_limit(), p.fact["torch.backward_passes"]
  local updates = math.max(1, p.fact["torch.updates"] or 1)
  if not limit or not limit.waits or passes < cfg.min_launched_passes * updates or not p:has("part.host_ns") then
    return nil
  end
  local step_ns = p.fact["step.ns"]
  -- The update is done once anyway.
  local once = math.min(1, (p.fact["torch.update_host_ns"] or 0) / step_ns)
  local left = once + (1 - once) * updates / passes
  local ns = p.fact["part.host_ns"]
  return finding {
    title = ("%s backward passes a step lead to %s update%s, and the device waits for their launches"):format(
      fmt.whole(passes), fmt.whole(updates), updates > 1 and "s" or ""),
    locations = p:lines_of("torch.backward_ns"),
    evidence = { { "host work that the device waits for, a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "backward passes a step", passes, "count" }, { "updates a step", updates, "count" },
                 { "rows of a product, median", p.fact["torch.product_rows"] or 0, "count" },
                 { "device busy", limit.busy, "share" } },
    condition = ("%s passes an update, %s accepted; the device works for %s of the step"):format(
      fmt.count(passes / updates), fmt.count(cfg.min_launched_passes - 1), fmt.pct(limit.busy)),
    remedy = { text = "Take more rows at once where memory allows it: gradients add up the same, and each pass "
                 .. "launches as many kernels.",
               code = "for x, y in loader_of_larger_batches: loss(model(x), y).backward()" },
    impact = impact.replay { { "scale", parts = { "host" }, factor = left },
                             { "scale", parts = { "idle.launch" }, factor = left } },
    confidence = "medium",
  }
end

-- A network is called for each row of a batch, or for small parts of one update.
local function of_items(p, cfg)
  -- Rounds that nothing marks may as well be steps or requests that come one at a time.
  local may_be_steps = p:has("step.rounds") and p.fact["step.rounds"] >= cfg.min_rounds
  return p:in_excess {
    severity = may_be_steps and "info" or "warn",
    flaw = "single-items", time = "starting the same ops for each of them", min_share = cfg.min_items_share,
    title = "The same network runs for one small part of a batch after the other: %s a step too much",
    remedy = { text = "Put the rows together and call it once: pad them to one length, or sort them by length into "
                 .. "a few batches. In training take larger batches before accumulating gradients. A call whose result "
                 .. "is multiplied by zero, as of a guidance scale of 1, can be left out."
                 .. (may_be_steps and " Rounds that are steps or requests of their own stay: mark them." or ""),
               code = "y = model(torch.stack(items))   # instead of [model(x[None]) for x in items]" },
    confidence = may_be_steps and "low" or "medium",
  }
end

-- A policy is asked for each move with gradients kept, and backward walks through a graph for each of them.
local function of_moves(p, cfg)
  return p:in_excess {
    flaw = "moves-with-gradients", time = "what goes back through each move alone", min_share = cfg.min_items_share,
    title = "Each move is played with gradients, and backward walks through a graph for each: %s a step too much",
    remedy = { text = "Play under torch.no_grad(), keep what was seen and done, and take log-probabilities and values "
                 .. "of all moves by one pass with gradients behind the episode.",
               code = "with torch.no_grad(): action = policy(seen[-1]).sample()   # in the loop\n"
                 .. "logp = policy(torch.stack(seen)).log_prob(torch.stack(actions))   # behind it" },
    confidence = "medium",
  }
end

-- Rows of what the costliest op of a session's run makes; nil where no shape tells.
local function rows_of_run(p)
  local op = p:has("ops") and p:table("ops"):top("self_ns", 1):rows()[1]
  return op and tonumber((op.shapes or ""):match("->\\[(\\d+),[^\\]]*\\]$"))
end

-- A session runs the same small graph for each input.
local function of_sessions(p, cfg)
  -- Requests that bring many rows are batches, which come when they come.
  if (rows_of_run(p) or 1) > cfg.max_single_rows then return nil end
  return p:in_excess {
    flaw = "single-inputs", min_share = cfg.min_single_share, time = "starting, feeding and fetching",
    title = "A session runs for each input alone: %s of each run",
    remedy = { text = "Feed many inputs at once.", code = "scores = session.run(score, {x: numpy.stack(inputs)})" },
    confidence = "medium",
  }
end

-- Each step is a short call, and the call costs more than what it computes. It may be that there is no more to hand
-- over: a bound.
local function of_calls(p, cfg)
  local step_ns, host_ns = p.fact["step.ns"], p:has("part.host_ns") and p.fact["part.host_ns"] or 0
  if p.fact["step.source"] ~= "session" or p.fact["step.used"] < cfg.min_unknown_runs or step_ns > cfg.max_run_ns
    or host_ns < cfg.min_call_share * step_ns or (p.fact["host.python_share"] or 0) > cfg.max_call_python
    -- A call that takes its batch from a data set itself: steps-per-execution-1.
    or (p:has("part.input_ns") and p.fact["part.input_ns"] or 0) > 0 then
    return nil
  end
  local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or 0
  return finding {
    severity = "info",
    title = ("A call computes for %s of %s: the rest is paid again for each call"):format(fmt.ns(compute_ns),
      fmt.ns(step_ns)),
    evidence = { { "the host's work around it, a call", host_ns, "ns", share = host_ns / step_ns },
                 { "calls recorded", p.fact["step.used"], "count" } },
    condition = ("host code takes %s of a call, %s accepted"):format(fmt.pct(host_ns / step_ns),
      fmt.pct(cfg.min_call_share)),
    remedy = { text = "Where several inputs are there at once, hand them over in one call; or loop inside of the "
                 .. "function.", code = "y = model(tf.stack(requests))" },
    impact = impact.share { ns = host_ns },
    confidence = "low",
  }
end

return rule {
  id = "batch-too-small", api = 1, version = "1.0.0",
  title = "Items are run one by one instead of as a batch",
  category = "model", severity = "warn",
  formats = { "xspace", "kineto", "graph" },
  needs = { "step.ns" },
  cause = "batch", tags = { "inference", "model" },
  more_specific_than = { "xla-cluster-fragmentation", "host-bound", "block-until-ready-each-step", "loop-indexing",
      "tiny-kernels", "kernel-launch-bound", "graph-capture-candidate", "repeated-op-sequence", "small-grid" },
  params = {
    min_rounds = { default = 3, min = 2, max = 1e6, unit = "count",
                   doc = "rounds of the same ops in a recording without steps, from which they may be its steps" },
    min_items_share = { default = 0.15, min = 0, max = 1, unit = "share",
                        doc = "PyTorch: share of the step that one call for all rows saves" },
    min_single_share = { default = 0.2, min = 0, max = 1, unit = "share",
                         doc = "share of a session's run that a batch of many saves" },
    max_single_rows = { default = 4, min = 1, max = 1e6, unit = "count",
                        doc = "rows that a session's run works on, where shapes are known" },
    min_runs = { default = 8, min = 2, max = 1e6, unit = "count", doc = "runs a step of the same program" },
    min_run_share = { default = 0.4, min = 0, max = 1, unit = "share",
                      doc = "share of all runs that are runs of that program" },
    max_rows = { default = 16, min = 1, max = 1e6, unit = "count",
                 doc = "rows that a product of the program works on, where shapes are known" },
    min_unknown_runs = { default = 16, min = 2, max = 1e6, unit = "count",
                         doc = "runs a step, below which they may well be batches where no shape tells: a fact" },
    min_reads = { default = 0.9, min = 0, max = 1e3, unit = "ratio",
                  doc = "waits for results over its runs, from which, with other programs between, the loop is one of "
                    .. "decisions" },
    min_waits = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step in those waits" },
    max_handed = { default = 0.75, min = 0, max = 1, unit = "share",
                   doc = "of a program's results, new versions of what it takes, up to which the others are what it is "
                     .. "run for" },
    max_brought_bytes = { default = 64, min = 0, max = 1e12, unit = "bytes",
                          doc = "what a run takes that is no state, up to which it is a key and some numbers, and no "
                            .. "item" },
    min_passes = { default = 8, min = 2, max = 1e6, unit = "count",
                   doc = "PyTorch: backward passes an update" },
    min_launched_passes = { default = 4, min = 2, max = 1e6, unit = "count",
                            doc = "with an accelerator that waits for the host: such passes an update" },
    min_share = { default = 0.4, min = 0, max = 1, unit = "share", doc = "PyTorch: their time over the step" },
    min_gaps = { default = 0.25, min = 0, max = 1, unit = "share",
                 doc = "PyTorch without shapes: pauses between forward ops, of such passes' time" },
    max_walked = { default = 0.05, min = 0, max = 1, unit = "share",
                   doc = "PyTorch without shapes: backward passes over one forward pass, of that time" },
    exponent = { default = 0.5, min = 0, max = 1, unit = "ratio",
                 doc = "a batch of n is priced as if it cost n times as much as one by one, over n to this power" },
    min_call_share = { default = 0.75, min = 0, max = 1, unit = "share",
                       doc = "of a step that is one call: the host's, from which this is a fact" },
    max_call_python = { default = 0.3, min = 0, max = 1, unit = "share", doc = "of it, Python outside of calls" },
    max_run_ns = { default = 5e6, min = 0, max = 1e12, unit = "ns",
                   doc = "a longer run has work enough, unless it is of many short ops" },
    max_op_ns = { default = 1e5, min = 0, max = 1e12, unit = "ns",
                  doc = "TensorFlow: of a longer run, for each of its ops, up to which these are short" },
  },
  doc = [[
The same compiled program runs n times a step: each run reads all weights again and pays its own
launch. As one batch the weights are read once. Priced as if a batch of n cost as much as the square
root of n single runs, midway between one (weights dominate) and n (arithmetic does); programs that run as often belong
to the same rounds, and go with it. Silent when a run
takes long by itself (one of many ops that take hardly more than their start is said as a bound), where its products
work on many rows (that is a batch), where the program only updates arrays
or gives nothing but new versions of what it takes (an iteration), or mostly these and takes next to nothing besides (a
chain's draws), and where Python reads a result in each turn to
decide what to run next, or where each run hands a part of what it takes on and the rest is read (acting in an
environment). A bound where the program may make one token of a text after the other, where each run draws by chance in
a step that trains, which may be acts in one environment, and where nothing marks steps and each short call is mostly
the host's. PyTorch programs do
the same that go backward many times over a few rows before they update, or call a network for one row after the other
without the next one being made of its result: what starting its ops and the Python between them takes is priced, and of
products what this machine's best rate does not need; or that play each move of an episode with gradients kept, of
which what goes back through each move alone is priced. With an accelerator that waits for the host, as launching one
pass an update instead of several.]],

  check = function(p, cfg)
    if p.format == "graph" then return of_sessions(p, cfg) end
    -- Launches that a whole step waits for tell more than the small ops among them.
    local has_passes = p.format == "kineto" and p:has("torch.backward_passes")
    local launches = has_passes and p:has("device.idle_share") and of_launches(p, cfg)
    if launches then return launches end
    local items = p.format == "kineto" and (of_moves(p, cfg) or of_items(p, cfg))
    if items then return items end
    if has_passes then
      if p:has("device.idle_share") then return nil end
      if p:has("torch.forward_gap_ns") then return of_pytorch(p, cfg) end
    end
    local calls = p.format == "xspace" and p:has("step.source") and p:has("step.used") and of_calls(p, cfg)
    if calls then return calls end
    if not p:has("runs.main_count") or not p:has("runs.main_median_ns") then
      return skip { reason = "no runs of compiled programs and no backward passes are recorded",
                    capture = "a host timeline" }
    end
    if p:has("step.source") and p.fact["step.source"] == "whole-trace" then
      return skip { reason = "no steps are marked or found, so that runs are not counted a step",
                    capture = "step markers" }
    end
    local runs, all = p.fact["runs.main_count"], p.fact["runs.count"]
    local run_ns = p.fact["runs.main_median_ns"]
    -- Runs of sessions have one name: most of them may compute next to nothing.
    if p:has("excess") and p:table("excess"):where { flaw = "small-runs" }:count() > 0 then return nil end
    local name = p.fact["runs.main_program"]
    if runs < cfg.min_runs or runs / all < cfg.min_run_share then return nil end
    local is_long = run_ns > cfg.max_run_ns
    local ops_each, ops_share = ops_of_function(p, runs)
    -- Ops that take hardly more than their start on several threads take about as long on more rows.
    if is_long and run_ns > cfg.max_op_ns * ops_each then return nil end

    -- jnp operations that nobody compiled are programs too: their loop is over operations, not over items.
    if name:find("^jit__?") and name:gsub("^jit__?", ""):find(p:names("jax_function")) then return nil end
    if updates_arrays(p, name) then return nil end
    -- It gives new versions of what it takes and nothing else: a run goes on where the one before it ended.
    local program = p:has("programs") and p:table("programs"):where { program = name }:rows()[1]
    local rows = rows_of(p, name)
    local decodes = rows and rows <= cfg.max_single_rows and p:has("serving.phase")
      and p.fact["serving.phase"] == "decode"
    if program and program.results > 0 and program.state == program.results and not decodes then return nil end
    -- A result read for every few runs decides whether the loop goes on: what comes next depends on it.
    local reads = p:has("sync.count_per_step") and p.fact["sync.count_per_step"] or 0
    local waits = p:has("sync.wait_share") and p.fact["sync.wait_share"] or 0
    if reads >= cfg.min_reads * runs and all >= 2 * cfg.min_reads * runs and waits >= cfg.min_waits then return nil end
    -- It hands a part of what it takes on to the next run, a key or a state, and Python reads the rest of each: an
    -- environment or a sampler acts on it before there is something to run on. An update gives little but its state.
    local handed = program and program.results > 0 and program.state / program.results or 0
    if reads >= cfg.min_reads * runs and handed > 0 and handed <= cfg.max_handed and not decodes then return nil end
    -- Next to nothing comes with a run but what the one before it gave, a key or a number: there are no items to
    -- collect, as there are where each update brings its rows. Only a loop inside of the program spares the calls.
    local brought = program and program.brought_bytes or math.huge
    if handed > 0.5 and brought <= cfg.max_brought_bytes and not decodes then return nil end
    if rows and rows > cfg.max_rows then return nil end
    -- What a batch leaves of the program's own time, of other programs' and of the loop's work in Python.
    -- A token of one request reads all weights: of a batch no more.
    local saved = 1 - runs ^ -(decodes and 1 or cfg.exponent)
    local of_rounds, own_share = runs, 1
    if is_long then
      own_share = ops_share
    elseif p:has("ops") then
      of_rounds, own_share = rounds_of(p, name, runs)
    end
    local python_ns = p:has("excess")
      and p:table("excess"):where { cause = "python", source_file = { like = "." } }:sum("ns") or 0
    local host_share = math.min(1, of_rounds / all)
      * (1 - math.min(1, python_ns / math.max(1, p:has("part.host_ns") and p.fact["part.host_ns"] or 0)))
    local edits = { { "scale", parts = { "host", "input", "copy", "idle.sync", "idle.other" },
                      factor = 1 - host_share * saved },
                    { "scale", parts = { "compute" }, factor = 1 - own_share * saved } }
    local spared_ns = math.min(host_share, own_share) * saved * p.fact["step.ns"]
    local is_sure = (rows or runs >= cfg.min_unknown_runs) and not is_long and not decodes and not may_make_tokens(p)
      and not trains_each_run(p, runs) and not acts_in_each(p, runs)
    local _, most_ns
    if not is_sure then _, most_ns = p:whatif(edits) end
    return finding {
      severity = is_sure and "warn" or "info",
      title = ("%s runs %s times a step, each for one small input"):format(name, fmt.whole(runs)),
      subject = { op = name },
      evidence = { { "runs a step", runs, "count" }, { "median run", run_ns, "ns" },
                   { "program", name }, { "all program runs a step", all, "count" } },
      condition = ("%s runs a step of one program, %s accepted; a run takes %s"):format(fmt.count(runs),
        fmt.count(cfg.min_runs), fmt.ns(run_ns)),
      remedy = decodes and {
        text = "Decode all open requests in one batch, with a cache that has a row for each; one text alone takes "
          .. "several tokens a call.",
        code = "tokens, cache = decode_step(params, cache, tokens, positions)   # of all requests\n"
          .. "cache, tokens = jax.lax.scan(one_token, cache, length=16)   # of one" } or
               { text = "Collect the items and run them as one batch"
                   .. (p.framework == "jax" and "; where each run takes what the one before gave, as steps of a small "
                     .. "model or a simulation do, let one program make many of them." or "."),
                 code = p.framework == "jax" and "y = f(jnp.stack(requests))   # or jax.vmap(f)\n"
                          .. "state, losses = jax.lax.scan(step, state, length=100)   # inside of jit" or
                        "y = model(tf.stack(requests))" },
      -- Where the next run may need what this one gave, it is a bound.
      impact = type(most_ns) == "number" and impact.share { ns = most_ns } or
        impact.replay { edits[1], edits[2],
                        fallback = impact.exposed { ns = spared_ns, low = 0.9 * spared_ns, high = spared_ns } },
      confidence = is_sure and "medium" or "low",
    }
  end,

  examples = {
    { name = "micro-batches that an accelerator waits for", framework = "pytorch", format = "kineto", finding = true,
      replay = { 7e6, 7e6 },
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 8, ["torch.updates"] = 1, ["part.host_ns"] = 8e6,
                ["device.idle_share"] = 0.8, ["part.compute_ns"] = 2e6, ["torch.update_host_ns"] = 5e5 } },
    { name = "an update behind each pass", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 8, ["torch.updates"] = 8, ["part.host_ns"] = 8e6,
                ["device.idle_share"] = 0.8, ["part.compute_ns"] = 2e6, ["torch.update_host_ns"] = 5e5 } },
    { name = "micro-batches on a busy accelerator", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 8, ["torch.updates"] = 1, ["part.host_ns"] = 1e6,
                ["device.idle_share"] = 0.1, ["part.compute_ns"] = 9e6, ["torch.update_host_ns"] = 5e5 } },
    { name = "a customer a run", format = "graph", framework = "tensorflow", finding = true, replay = { 9e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "single-inputs", ns = 9e6, share = 0.9, factor = 0.1,
                              detail = "64 runs" } } } },
    { name = "requests of 16 rows", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "layer0/MatMul", type = "MatMul", self_ns = 4e5, shapes = "[16,56]->[16,64]" },
                         { name = "Sigmoid", type = "Sigmoid", self_ns = 1e5, shapes = "[?,1]->[1,1]" } },
                 excess = { { cell = 1, flaw = "single-inputs", ns = 9e6, share = 0.9, factor = 0.1 } } } },
    { name = "few runs", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 9e6, share = 0.9, factor = 0.1 } } } },
    { name = "texts one by one", framework = "pytorch", format = "kineto", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "single-items", cause = "dispatch", ns = 5e6, share = 0.5, factor = 0.3,
                              detail = "the same 61 ops 12 times a step" } } } },
    { name = "rounds that may be steps", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7, ["step.rounds"] = 12 },
      tables = { excess = { { cell = 1, flaw = "single-items", cause = "dispatch", ns = 5e6, share = 0.5, factor = 0.3,
                              detail = "the same 61 ops 12 times a step" } } } },
    { name = "a graph of a hundred short ops for each point of a path", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", impact_ns = 3e7, replay = { 1e8 },
      facts = { ["step.ns"] = 1.3e8, ["runs.count"] = 22, ["runs.programs"] = 2, ["runs.main_count"] = 21,
                ["runs.main_median_ns"] = 6e6, ["runs.main_program"] = "grads" },
      tables = { ops = { { name = "a/MatMul", type = "MatMul", self_ns = 6e7, calls = 1050, is_eager = false },
                         { name = "b/Mul", type = "Mul", self_ns = 3e7, calls = 1050, is_eager = false },
                         { name = "Sub", type = "Sub", self_ns = 1e5, calls = 22, is_eager = true } } } },
    { name = "a graph of a few long ops for each of them", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.3e8, ["runs.count"] = 22, ["runs.programs"] = 2, ["runs.main_count"] = 21,
                ["runs.main_median_ns"] = 6e6, ["runs.main_program"] = "grads" },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", self_ns = 9e7, calls = 210, is_eager = false },
                         { name = "b/Mul", type = "Mul", self_ns = 1e6, calls = 420, is_eager = false } } } },
    { name = "an episode played with gradients", framework = "pytorch", format = "kineto", finding = true,
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "moves-with-gradients", cause = "dispatch", ns = 5e6, share = 0.5,
                              factor = 0.05, op = "aten::linear",
                              detail = "64 moves a step, each with a graph of its own" } } } },
    { name = "an episode most of which is the game", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 1, ["torch.forward_gap_ns"] = 1e5,
                ["torch.product_rows"] = 64 },
      tables = { excess = { { cell = 1, flaw = "moves-with-gradients", cause = "dispatch", ns = 1e6, share = 0.1,
                              factor = 0.05, op = "aten::linear",
                              detail = "64 moves a step, each with a graph of its own" } } } },
    { name = "a few small calls", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 1, ["torch.forward_gap_ns"] = 1e5,
                ["torch.product_rows"] = 64 },
      tables = { excess = { { cell = 1, flaw = "single-items", cause = "dispatch", ns = 1e6, share = 0.1,
                              factor = 0.3, detail = "the same 9 ops 4 times a step" } } } },
    -- 25 runs as one cost as much as five: four fifths go, 0.95 of that is likely.
    { name = "25 runs", framework = "jax", finding = true, impact_ns = 7.6e6,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 25, ["runs.programs"] = 1, ["runs.main_count"] = 25,
                ["runs.main_median_ns"] = 3e5, ["runs.main_program"] = "jit_f" } },
    { name = "one by one", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 32, ["runs.programs"] = 1, ["runs.main_count"] = 32,
                ["runs.main_median_ns"] = 3e5, ["runs.main_program"] = "jit_f" } },
    { name = "a row a call", framework = "tensorflow", format = "xspace", finding = true, severity = "info",
      facts = { ["step.ns"] = 1.3e6, ["step.used"] = 236, ["step.source"] = "session", ["host.python_share"] = 0.08,
                ["part.host_ns"] = 1.2e6, ["part.compute_ns"] = 8e4 } },
    { name = "calls of fit", framework = "tensorflow", format = "xspace", skipped = true,
      facts = { ["step.ns"] = 1.3e6, ["step.used"] = 236, ["step.source"] = "session", ["host.python_share"] = 0.08,
                ["part.input_ns"] = 4e3, ["part.host_ns"] = 1.2e6, ["part.compute_ns"] = 8e4 } },
    { name = "parameters one by one", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 61, ["runs.programs"] = 2, ["runs.main_count"] = 60,
                ["runs.main_median_ns"] = 7e3, ["runs.main_program"] = "jit_update" },
      tables = { ops = { { name = "multiply_add_fusion", type = "fusion", module = "jit_update", self_ns = 2e5,
                           shapes = "[64,64]x[64,64]->[64,64]" } } } },
    { name = "iterations of a solver", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 61, ["runs.programs"] = 2, ["runs.main_count"] = 60,
                ["runs.main_median_ns"] = 2e4, ["runs.main_program"] = "jit_iterate" },
      tables = { programs = { { program = "jit_iterate", results = 4, state = 4 } } } },
    -- One result of three is the next key. Without one the inputs may be anything's.
    { name = "actions in an environment", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 42, ["runs.programs"] = 1, ["runs.main_count"] = 40,
                ["runs.main_median_ns"] = 2e5, ["runs.main_program"] = "jit_act", ["sync.count_per_step"] = 41 },
      tables = { programs = { { program = "jit_act", results = 3, state = 1 } } } },
    { name = "answers read one by one", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 42, ["runs.programs"] = 1, ["runs.main_count"] = 40,
                ["runs.main_median_ns"] = 2e5, ["runs.main_program"] = "jit_mlp", ["sync.count_per_step"] = 41 },
      tables = { programs = { { program = "jit_mlp", results = 3, state = 0 } } } },
    { name = "micro-batches whose losses are read", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 42, ["runs.programs"] = 1, ["runs.main_count"] = 40,
                ["runs.main_median_ns"] = 2e5, ["runs.main_program"] = "jit_train", ["sync.count_per_step"] = 41 },
      tables = { programs = { { program = "jit_train", results = 13, state = 12, brought_bytes = 4096 } } } },
    -- A key of eight bytes, and whether the move was taken.
    { name = "draws of a chain", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 42, ["runs.programs"] = 1, ["runs.main_count"] = 40,
                ["runs.main_median_ns"] = 2e5, ["runs.main_program"] = "jit_one", ["sync.count_per_step"] = 41 },
      tables = { programs = { { program = "jit_one", results = 10, state = 9, brought_bytes = 8 } } } },
    { name = "requests that decode one by one", framework = "jax", finding = true, severity = "info",
      replay = { 8e6, 8e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 12, ["runs.programs"] = 1, ["runs.main_count"] = 12,
                ["runs.main_median_ns"] = 4e5, ["runs.main_program"] = "jit_decode_step",
                ["serving.phase"] = "decode" },
      tables = { programs = { { program = "jit_decode_step", results = 8, state = 8 } },
                 ops = { { name = "dot.49", type = "dot", module = "jit_decode_step", self_ns = 3e5,
                           shapes = "[1,1024]x[1024,4096]->[1,4096]" } } } },
    { name = "a batch decodes twelve tokens", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 12, ["runs.programs"] = 1, ["runs.main_count"] = 12,
                ["runs.main_median_ns"] = 4e5, ["runs.main_program"] = "jit_decode_step",
                ["serving.phase"] = "decode" },
      tables = { programs = { { program = "jit_decode_step", results = 8, state = 8 } },
                 ops = { { name = "dot.49", type = "dot", module = "jit_decode_step", self_ns = 3e5,
                           shapes = "[16,1024]x[1024,4096]->[16,4096]" } } } },
    { name = "variables loaded by sessions", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 90, ["runs.programs"] = 1, ["runs.main_count"] = 90,
                ["runs.main_median_ns"] = 1e5, ["runs.main_program"] = "SessionRun" },
      tables = { excess = { { cell = 1, flaw = "small-runs", ns = 3e6, share = 0.3, factor = 0 } } } },
    { name = "an epoch is marked", framework = "tensorflow", finding = true, severity = "info",
      facts = { ["step.ns"] = 5e7, ["runs.count"] = 24, ["runs.programs"] = 1, ["runs.main_count"] = 24,
                ["runs.main_median_ns"] = 9e5, ["runs.main_program"] = "FunctionRun" },
      tables = { ops = { { name = "MatMul", type = "MatMul", calls = 96, self_ns = 4e6 },
                         { name = "adam/AssignSubVariableOp", type = "AssignSubVariableOp", calls = 24,
                           self_ns = 1e5 } } } },
    { name = "acts drawn before an update", framework = "tensorflow", finding = true, severity = "info",
      facts = { ["step.ns"] = 5e7, ["runs.count"] = 24, ["runs.programs"] = 1, ["runs.main_count"] = 24,
                ["runs.main_median_ns"] = 9e5, ["runs.main_program"] = "FunctionRun" },
      tables = { ops = { { name = "Multinomial", type = "Multinomial", calls = 23, self_ns = 4e6 },
                         { name = "adam/AssignSubVariableOp", type = "AssignSubVariableOp", calls = 1,
                           self_ns = 1e5 } } } },
    { name = "gradients of small parts summed, one update", framework = "tensorflow", finding = true,
      severity = "warn",
      facts = { ["step.ns"] = 5e7, ["runs.count"] = 24, ["runs.programs"] = 1, ["runs.main_count"] = 24,
                ["runs.main_median_ns"] = 9e5, ["runs.main_program"] = "FunctionRun" },
      tables = { ops = { { name = "AssignAddVariableOp", type = "AssignAddVariableOp", calls = 24, self_ns = 1e5 },
                         { name = "adam/AssignSubVariableOp", type = "AssignSubVariableOp", calls = 1,
                           self_ns = 1e4 } } } },
    { name = "a loop until it converges", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1.4e7, ["runs.count"] = 400, ["runs.programs"] = 2, ["runs.main_count"] = 200,
                ["runs.main_median_ns"] = 3e3, ["runs.main_program"] = "jit_body", ["sync.count_per_step"] = 200,
                ["sync.wait_share"] = 0.3 } },
    { name = "an optimiser op by op", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 320, ["runs.programs"] = 6, ["runs.main_count"] = 160,
                ["runs.main_median_ns"] = 3e3, ["runs.main_program"] = "jit_multiply" } },
    { name = "layers one by one", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 32, ["runs.programs"] = 1, ["runs.main_count"] = 32,
                ["runs.main_median_ns"] = 3e5, ["runs.main_program"] = "jit_layer" },
      tables = { ops = { { name = "dot.1", type = "dot", module = "jit_layer", shapes = "[32,64]x[64,64]->[32,64]",
                           self_ns = 8e6 } } } },
    { name = "losses of validation batches", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 9, ["runs.programs"] = 2, ["runs.main_count"] = 8,
                ["runs.main_median_ns"] = 1e6, ["runs.main_program"] = "jit_loss" },
      tables = { ops = { { name = "ynn_fusion", type = "fusion", module = "jit_loss",
                           shapes = "[256,256]x[128,256]->[]", self_ns = 8e6 } } } },
    { name = "rows one by one", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 32, ["runs.programs"] = 1, ["runs.main_count"] = 32,
                ["runs.main_median_ns"] = 3e5, ["runs.main_program"] = "jit_f" },
      tables = { ops = { { name = "dot.1", type = "dot", module = "jit_f", shapes = "[512,1]x[512,512]->[1,512]",
                           self_ns = 8e6 } } } },
    { name = "small parts of a batch", framework = "pytorch", format = "kineto", finding = true, impact_ns = 6.4e6,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 32, ["torch.product_rows"] = 8,
                ["torch.forward_ns"] = 3e6, ["torch.forward_gap_ns"] = 1e6, ["torch.backward_ns"] = 4.5e6 } },
    -- Three requests of 16 passes: half a fourth of 10 ms less.
    { name = "a recording of three requests", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 8.75e6,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["step.rounds"] = 3, ["torch.backward_passes"] = 48,
                ["torch.product_rows"] = 1, ["torch.forward_ns"] = 4e6, ["torch.forward_gap_ns"] = 2e6,
                ["torch.backward_ns"] = 4e6 } },
    -- A round is a pass: all 36 count, a twelfth of 10 ms less.
    { name = "rounds of a pass each", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9.166667e6,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["step.rounds"] = 36,
                ["torch.backward_passes"] = 36, ["torch.product_rows"] = 1, ["torch.forward_ns"] = 4e6,
                ["torch.forward_gap_ns"] = 2e6, ["torch.backward_ns"] = 4e6 } },
    { name = "inner steps of tasks", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 8, ["torch.updates"] = 8, ["torch.product_rows"] = 5,
                ["torch.forward_ns"] = 3e6, ["torch.forward_gap_ns"] = 1e6, ["torch.backward_ns"] = 4.5e6 } },
    { name = "larger parts of a batch", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 32, ["torch.product_rows"] = 32,
                ["torch.forward_ns"] = 3e6, ["torch.forward_gap_ns"] = 1e6, ["torch.backward_ns"] = 4.5e6 } },
    -- Half a root of 32 less than 8.5 ms.
    { name = "a session at a time, without shapes", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 7.75e6,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 32, ["torch.product_rows"] = 0, ["torch.updates"] = 1,
                ["torch.forward_ns"] = 3e6, ["torch.forward_gap_ns"] = 3e6, ["torch.backward_ns"] = 2.5e6 } },
    { name = "rows of a Jacobian, without shapes", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_passes"] = 32, ["torch.product_rows"] = 0, ["torch.updates"] = 1,
                ["torch.forward_ns"] = 3e6, ["torch.forward_gap_ns"] = 3e6, ["torch.backward_ns"] = 2.5e6,
                ["torch.walked_ns"] = 2e6 } },
    { name = "nothing to look at", format = "xspace", skipped = true, facts = { ["step.ns"] = 1e7 } },
    { name = "one batch", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 1, ["runs.programs"] = 1, ["runs.main_count"] = 1,
                ["runs.main_median_ns"] = 9e6, ["runs.main_program"] = "jit_f" } },
  },
}
