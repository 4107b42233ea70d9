-- The loop waits for each step's result before it prepares the next one.
-- A program that is run several times a step and only read, beside one that goes backward: validation, or metrics.
local function only_read(p, cfg, evidence)
  local step_ns, reads = p.fact["step.ns"], p.fact["sync.count"]
  local name, runs = p.fact["runs.main_program"], p.fact["runs.main_count"] or 0
  if not name or not p:has("ops") or runs < cfg.min_read_runs or reads < 0.8 * runs then return nil end
  local ops = p:table("ops")
  local mine, all_ns = ops:where { module = name }, ops:sum("self_ns")
  local backward = ops:where { scope = { like = "transpose\\(jvp" } }
  if all_ns <= 0 or backward:count() == 0 or backward:where { module = name }:count() > 0 then return nil end
  local ns = p.fact["part.compute_ns"] * mine:sum("self_ns") / all_ns
  if ns < cfg.min_share * step_ns then return nil end
  evidence[#evidence + 1] = { "runs of " .. name .. " a step", runs, "count" }
  evidence[#evidence + 1] = { "computing in them a step", ns, "ns", share = math.min(1, ns / step_ns) }
  local host_ns = math.min(p.fact["host.lead_ns"], step_ns - ns)
  return finding {
    title = ("%s runs %s times beside each training step and its results are read"):format(name, fmt.whole(runs)),
    subject = { op = name }, evidence = evidence,
    condition = ("%s runs a step that do not go backward, %s accepted, and %s waits"):format(fmt.count(runs),
      fmt.count(cfg.min_read_runs), fmt.count(reads)),
    remedy = { text = "Validate every N steps or once an epoch, and read one number for all batches.",
               code = "if step % 100 == 0: print(float(validate(params)))   # lax.map over the batches inside" },
    impact = impact.exposed { ns = ns, low = ns,
                              high = math.min(ns + math.min(host_ns + p.fact["sync.path_ns"], ns), step_ns) },
    confidence = "medium",
  }
end

-- Lines of the program that wait most. A file is the program's own where something compiled comes from it: frames of
-- Python have names without folders, and the innermost are those of the library.
local function own_lines(p)
  local own, lines = {}, {}
  if not p:has("ops") or not p:has("syncs") then return lines end
  for row in p:table("ops"):each() do own[(row.source_file or ""):match("[^/]*$")] = true end
  for _, row in ipairs(p:table("syncs"):top("wait_ns", 8):rows()) do
    local file = row.source_file or ""
    if #lines < 2 and file ~= "" and own[file:match("[^/]*$")] then
      lines[#lines + 1] = { file = file, line = row.source_line }
    end
  end
  return lines
end

-- What a device that has computed waits for while the host takes results: handing requests to other threads, copies of
-- a few bytes and waking up, once for each of them.
local IN_WAITS = { "scale", kinds = { "sync" }, parts = { "host", "copy", "idle.sync" }, factor = 0 }

local function of_reads(p, cfg, evidence, locations)
  if not p:has("device.idle_share") then return nil end
  local step_ns, reads = p.fact["step.ns"], p.fact["sync.count"]
  local _, _, read_ns = p:whatif { IN_WAITS }
  read_ns = type(read_ns) == "number" and math.min(read_ns, step_ns) or 0
  if reads < cfg.min_values or read_ns < cfg.min_share * step_ns then return nil end
  table.insert(evidence, 1, { "the device waits while results are read, a step", read_ns, "ns",
                              share = read_ns / step_ns })
  return finding {
    title = ("%s results are read one by one in each step; the device waits %s for it"):format(fmt.whole(reads),
      fmt.ms(read_ns)),
    evidence = evidence, locations = locations,
    condition = ("reading takes %s of the step, %s accepted, in %s waits"):format(fmt.pct(read_ns / step_ns),
      fmt.pct(cfg.min_share), fmt.count(reads)),
    remedy = { text = "Keep metrics on the device, read them every N steps, and all of them by one call.",
               code = "if step % 50 == 0: log(jax.device_get(metrics))   # not float() of each" },
    impact = impact.replay { IN_WAITS, { "overlap", parts = { "host", "copy", "idle.sync" } } },
    confidence = "medium",
  }
end

-- What a call of a library waits for is not the loop's doing.
local IN_LIBRARY = {
  text = "Call what the library has compiled yourself, where it offers that: it returns at once. equinox.filter_jit "
    .. "waits so that it can raise errors from inside: split the model once and compile a function of its arrays.",
  code = "arrays, static = eqx.partition(model, eqx.is_array)\n"
    .. "step = jax.jit(lambda arrays, batch: update(eqx.combine(arrays, static), batch))",
}

-- A program that hands nothing on to its next run and does not go backward answers: who asked wants what it gives.
local function is_answer(p)
  local name = p.fact["runs.main_program"]
  if not name or not p:has("programs") or not p:has("ops") then return false end
  local program = p:table("programs"):where { program = name }
  return program:count() > 0 and program:max("state") == 0 and
    p:table("ops"):where { scope = { like = "transpose\\(jvp" } }:count() == 0
end

local LOSSES = { text = "Keep losses on the device and read them every N steps.",
                 code = "if step % 10 == 0: print(float(loss))" }

local ANSWERS = {
  text = "Where the next rows are there already, call with them before this answer is read, so that two or three "
    .. "calls are on their way. A caller that waits for its answer needs it read: then only what lies around the call "
    .. "can be less.",
  code = "pending.append(answer(params, rows))\nif len(pending) > 2: send(np.asarray(pending.pop(0)))",
}

return rule {
  id = "block-until-ready-each-step", api = 1, version = "1.0.0",
  title = "The loop waits for every step's result",
  category = "idle", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "sync.count", "sync.path_ns", "sync.steps_share", "host.lead_ns",
            "part.compute_ns", "part.copy_ns" },
  cause = "sync", tags = { "jax", "idle" },
  more_specific_than = { "long-gpu-gap", "step-boundary-gap" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in host work that could run beside the device's" },
    min_sure_share = { default = 0.15, min = 0, max = 1, unit = "share",
                       doc = "without an accelerator: what is saved of the step, below which the price is a bound" },
    min_wait = { default = 0.01, min = 0, max = 1, unit = "share", doc = "share of the step in those waits" },
    min_values = { default = 4, min = 2, max = 1e6, unit = "count",
                   doc = "with an accelerator: waits a step, from which they are results that are read one by one" },
    min_read_runs = { default = 3, min = 1, max = 1e6, unit = "count",
                      doc = "runs a step of a program that is only read beside one that goes backward" },
    min_reads = { default = 16, min = 2, max = 1e6, unit = "count",
                  doc = "waits a step, after each few runs of programs, from which the loop itself is on the host" },
    max_runs = { default = 3, min = 1, max = 1e3, unit = "ratio", doc = "runs of programs for each wait, then" },
    min_turns = { default = 0.25, min = 0, max = 1, unit = "ratio",
                  doc = "of those waits, such behind which a program is called: reading one result may take some" },
    min_picks = { default = 0.75, min = 0, max = 1, unit = "ratio",
                  doc = "of all runs, such that only take a part out of an array, from which these are what is read" },
    kept = { default = 0.5, min = 0, max = 1, unit = "ratio",
             doc = "of the time in ops, what stays then: all in a compiled loop, little where rows become a batch" },
    min_steps_share = { default = 0.8, min = 0, max = 1, unit = "share",
                        doc = "share of the steps that wait for a result" },
  },
  doc = [[
float(loss), np.asarray and block_until_ready stop the thread until the step is computed; only then
does it prepare the next one. Without the wait both happen at once. Priced by running the host's
work beside the rest. Where a step waits many times, after every few runs, Python decides what comes next from what it
reads: priced as a loop in one program, unless most runs only take numbers out of arrays (jax-not-jitted). A program
that runs several times beside one that goes backward, and is read, is validation: priced as its runs. With an
accelerator many waits are results that are read one by one: priced without the time in which the device waits for that,
and with the host's work beside the rest. Where it is the call of a library that waits for the program that it starts,
it is a note, and so where the program answers (it hands nothing on and does not go backward), as who asked may need it.
Without an accelerator, where computing takes the host's own cores, a little work that could run beside it
is a bound. Silent where few steps wait or the host has little to do.]],

  check = function(p, cfg)
    -- A function that TensorFlow compiled with XLA returns when it is done, whatever the loop does.
    if p.framework == "tensorflow" then return nil end
    local lead_ns, step_ns = p.fact["host.lead_ns"] + p.fact["part.copy_ns"], p.fact["step.ns"]
    local hidden_ns = math.min(lead_ns, p.fact["part.compute_ns"])
    local steps_share, wait_ns = p.fact["sync.steps_share"], p.fact["sync.path_ns"]
    -- block_until_ready leaves no event without the tracer of Python.
    local unseen_ns = p:has("sync.unseen_ns") and p.fact["sync.unseen_ns"] or 0
    if unseen_ns > wait_ns then steps_share, wait_ns = p.fact["sync.unseen_steps_share"], unseen_ns end
    if steps_share < cfg.min_steps_share or wait_ns < cfg.min_wait * step_ns then return nil end
    local reads, runs = p.fact["sync.count"], p:has("runs.count") and p.fact["runs.count"] or 0
    -- Results that are kept and read together at the end decide nothing.
    local turns = p:has("sync.turns") and p.fact["sync.turns"] or reads
    local is_loop = reads >= cfg.min_reads and runs >= reads and runs <= cfg.max_runs * reads
      and turns >= cfg.min_turns * reads
    -- Numbers that are taken out of arrays one by one decide nothing: jax-not-jitted names that.
    if is_loop and p:has("runs.picks") and p.fact["runs.picks"] >= cfg.min_picks * runs then return nil end
    local evidence = { { wait_ns == unseen_ns and "doing nothing until the device is done, a step"
                           or "waiting for results a step", wait_ns, "ns", share = math.min(wait_ns / step_ns, 1) },
                       { "host work before the wait a step", lead_ns, "ns", share = math.min(lead_ns / step_ns, 1) },
                       { "waits a step", wait_ns == unseen_ns and p.fact["sync.unseen_count"] or reads, "count" } }
    local locations = own_lines(p)
    if p:has("activities") then
      for _, row in ipairs(p:table("activities"):where { kind = "sync", on_leader = 1 }:top("path_ns", 2):rows()) do
        evidence[#evidence + 1] = { row.name, row.path_ns, "ns" }
      end
    end
    local values = not is_loop and of_reads(p, cfg, evidence, locations)
    if values then return values end
    if hidden_ns / step_ns < cfg.min_share then return nil end
    if is_loop then
      -- Of computing, what lies between ops is the start and end of each run.
      local ops_share = p:has("ops.self_ns") and math.min(1, p.fact["ops.self_ns"] / p.fact["part.compute_ns"]) or 1
      return finding {
        title = ("Python reads a result %s times a step to decide what to run next"):format(fmt.whole(reads)),
        evidence = evidence, locations = locations,
        condition = ("%s waits a step, %s accepted, and %s runs of programs"):format(fmt.count(reads),
          fmt.count(cfg.min_reads), fmt.count(runs)),
        remedy = { text = "Make the loop and its condition part of the compiled function.",
                   code = "x = jax.jit(lambda x: jax.lax.while_loop(goes_on, body, x))(x)" },
        impact = impact.replay { { "scale", parts = { "host", "copy", "idle.sync", "idle.other" }, factor = 1 / reads },
                                 { "scale", parts = { "compute" }, factor = cfg.kept * ops_share } },
        confidence = "medium",
      }
    end
    local validation = only_read(p, cfg, evidence)
    if validation then return validation end
    -- Computing on the host's own cores leaves little room beside it: a little work is gained in part.
    local overlap = { "overlap", parts = { "host", "copy", "idle.sync" } }
    local little_ns = hidden_ns
    if not p:has("device.idle_share") then
      local _, _, saved_ns = p:whatif { overlap }
      little_ns = type(saved_ns) == "number" and math.min(saved_ns, hidden_ns) or hidden_ns
    end
    local is_little = not p:has("device.idle_share") and little_ns < cfg.min_sure_share * step_ns
    local answers = is_answer(p)
    local by_library = p:has("sync.library_steps_share") and p.fact["sync.library_steps_share"] >= cfg.min_steps_share
    return finding {
      title = (by_library and "A library's call waits for the program that it starts; %s of host work could overlap"
        or answers and "Each answer is read before the next is asked for; %s of host work could overlap"
        or "The loop waits for each step; %s of host work could overlap"):format(fmt.ms(hidden_ns)),
      severity = (by_library or is_little or answers) and "info" or "warn",
      evidence = evidence, locations = locations,
      condition = ("%s of the steps wait for a result, %s accepted; host work takes %s of the step"):format(
        fmt.pct(steps_share), fmt.pct(cfg.min_steps_share), fmt.pct(lead_ns / step_ns)),
      remedy = by_library and IN_LIBRARY or answers and ANSWERS or LOSSES,
      impact = is_little and impact.share { ns = little_ns } or impact.replay { overlap },
      confidence = is_little and "low" or "medium",
    }
  end,

  examples = {
    { name = "reads the loss each step", framework = "jax", finding = true, replay = { 4e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 1, ["sync.path_ns"] = 6e6, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6, ["part.copy_ns"] = 0 } },
    { name = "little to do beside it", framework = "jax", finding = true, severity = "info", replay = { 1e6 },
      impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 1, ["sync.path_ns"] = 9e6, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 1e6, ["part.compute_ns"] = 9e6, ["part.copy_ns"] = 0 } },
    { name = "a server reads its answers", framework = "jax", finding = true, severity = "info", replay = { 4e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 1, ["sync.path_ns"] = 6e6, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6, ["part.copy_ns"] = 0,
                ["runs.main_program"] = "jit_score" },
      tables = { programs = { { program = "jit_score", results = 1, state = 0 } },
                 ops = { { name = "dot", module = "jit_score", scope = "jit(score)/dot", self_ns = 5e6 } } } },
    { name = "a chain that is read each step", framework = "jax", finding = true, severity = "warn",
      replay = { 4e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 1, ["sync.path_ns"] = 6e6, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6, ["part.copy_ns"] = 0,
                ["runs.main_program"] = "jit_sample" },
      tables = { programs = { { program = "jit_sample", results = 2, state = 1 } },
                 ops = { { name = "dot", module = "jit_sample", scope = "jit(sample)/dot", self_ns = 5e6 } } } },
    { name = "a library's call waits itself", framework = "jax", finding = true, severity = "info",
      replay = { 4e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 1, ["sync.path_ns"] = 6e6, ["sync.steps_share"] = 1,
                ["sync.library_steps_share"] = 1, ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6,
                ["part.copy_ns"] = 0 } },
    { name = "a loop until it converges", framework = "jax", finding = true, replay = { 6e6, 4e6 },
      facts = { ["step.ns"] = 1.4e7, ["sync.count"] = 200, ["sync.path_ns"] = 4e6, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 5.8e6, ["part.compute_ns"] = 6.7e6, ["part.copy_ns"] = 3e4, ["runs.count"] = 400 } },
    { name = "numbers that are read one by one", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1.4e7, ["sync.count"] = 200, ["sync.path_ns"] = 4e6, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 5.8e6, ["part.compute_ns"] = 6.7e6, ["part.copy_ns"] = 3e4, ["runs.count"] = 401,
                ["runs.picks"] = 360 } },
    -- 20 tokens are made and then read: beside 8 ms of computing the host could do its 1 ms.
    { name = "results that are read at the end", framework = "jax", finding = true, severity = "info",
      replay = { 1e6 }, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 20, ["sync.turns"] = 1, ["sync.path_ns"] = 2e6,
                ["sync.steps_share"] = 1, ["host.lead_ns"] = 1e6, ["part.compute_ns"] = 8e6, ["part.copy_ns"] = 0,
                ["runs.count"] = 40 } },
    { name = "a wait that is over at once", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 1, ["sync.path_ns"] = 1e4, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6, ["part.copy_ns"] = 0 } },
    { name = "validation in each step", framework = "jax", finding = true, impact_ns = 4.95e6,
      facts = { ["step.ns"] = 5.4e6, ["sync.count"] = 6, ["sync.path_ns"] = 3e5, ["sync.steps_share"] = 1,
                ["host.lead_ns"] = 7e5, ["part.compute_ns"] = 5e6, ["part.copy_ns"] = 0, ["runs.count"] = 7,
                ["runs.main_count"] = 6, ["runs.main_program"] = "jit_evaluate" },
      tables = { ops = { { name = "dot", module = "jit_evaluate", scope = "jit(evaluate)/dot", self_ns = 9e6 },
                         { name = "dot.1", module = "jit_train", scope = "jit(train)/transpose(jvp())/dot",
                           self_ns = 1e6 } } } },
    { name = "metrics are read one by one", framework = "jax", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.7, ["sync.count"] = 30, ["sync.path_ns"] = 6e6,
                ["sync.steps_share"] = 1, ["host.lead_ns"] = 1e5, ["part.compute_ns"] = 3e6, ["part.copy_ns"] = 0,
                ["runs.count"] = 1 } },
    { name = "a wait that no event shows", framework = "jax", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.4, ["sync.count"] = 0, ["sync.path_ns"] = 0,
                ["sync.steps_share"] = 0, ["sync.unseen_ns"] = 5e6, ["sync.unseen_count"] = 0.9,
                ["sync.unseen_steps_share"] = 0.9, ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6,
                ["part.copy_ns"] = 0 } },
    { name = "one result, that is there", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.7, ["sync.count"] = 1, ["sync.path_ns"] = 6e6,
                ["sync.steps_share"] = 1, ["host.lead_ns"] = 1e5, ["part.compute_ns"] = 3e6, ["part.copy_ns"] = 0,
                ["runs.count"] = 1 } },
    { name = "every tenth step", finding = false,
      facts = { ["step.ns"] = 1e7, ["sync.count"] = 0.1, ["sync.path_ns"] = 6e6,
                ["sync.steps_share"] = 0.1, ["host.lead_ns"] = 4e6, ["part.compute_ns"] = 6e6, ["part.copy_ns"] = 0 } },
  },
}
