-- A step is many small compiled programs with host time between them.
-- The share of the time of all ops that is in programs of tiny runs, or of many; and patterns of calls of the others.
-- A program runs as often as its ops outside of loops, where their scope tells, else as the one that it runs least.
local function small_share(p, cfg)
  local programs, all_ns, small_ns = {}, 0, 0
  for row in p:table("ops"):each() do
    local name = row.module or ""
    local program = programs[name] or { ns = 0, least = math.huge }
    programs[name] = program
    program.ns, program.least = program.ns + row.self_ns, math.min(program.least, row.calls or 1)
    if (row.scope or "") ~= "" and not row.scope:find("/while") then
      program.outside = math.max(program.outside or 0, row.calls or 1)
    end
    all_ns = all_ns + row.self_ns
  end
  local large = {}
  for name, program in sorted_pairs(programs) do
    local runs = program.outside or program.least
    if runs >= cfg.min_loop or program.ns < cfg.tiny_run_ns * math.max(runs, 1) then
      small_ns = small_ns + program.ns
    else
      large[#large + 1] = "PjitFunction\\(<?_*\\Q" .. name:gsub("^jit_+", ""):gsub("_+$", "") .. "\\E_*>?\\)"
    end
  end
  return all_ns > 0 and small_ns / all_ns or 1, large
end

-- The part of the computing that lies in instructions: the rest is beginning and ending runs, once for each.
local function in_instructions(p)
  local _, _, ns = p:whatif { { "scale", parts = { "compute" }, op_type = ".+", factor = 1 } }
  local all_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or 0
  return type(ns) == "number" and all_ns > 0 and math.min(1, ns / all_ns) or 1
end

-- Host time in calls of large programs: it stays.
local function kept_ns(p, large)
  if #large == 0 then return 0 end
  local _, _, selected_ns = p:whatif { { "scale", parts = { "host", "copy" }, name = table.concat(large, "|") } }
  return selected_ns or 0
end

-- Where nothing marks steps, each call of a program that nothing but itself follows counts as one: layers, time steps
-- or updates. How many such calls; nil: they are few, long or hidden.
local function calls_in_turn(p, cfg)
  if not p:has("step.source") or p.fact["step.source"] ~= "inferred" or not p:has("device.idle_share")
    or p.fact["runs.count"] > 1.5 or p.fact["step.used"] < cfg.min_tiny_runs or p.fact["step.ns"] > cfg.max_run_ns
    or p.fact["part.host_share"] < cfg.min_turn_share then return nil end
  return p.fact["step.used"]
end

-- A program that takes what it gave the time before, and next to nothing besides (a key, a number), is a round of a
-- loop: draws of a chain, iterations of a solver. How many a step.
local function rounds_in_turn(p, cfg)
  local repeats = p.fact["runs.main_count"]
  if repeats < cfg.min_tiny_runs or not p:has("programs") or not p:has("runs.main_program") then return nil end
  local program = p:table("programs"):where { program = p.fact["runs.main_program"] }:rows()[1]
  if not program or program.results == 0 or program.state <= 0.5 * program.results
    or (program.brought_bytes or math.huge) > cfg.max_brought_bytes then return nil end
  return repeats
end

return rule {
  id = "xla-cluster-fragmentation", api = 1, version = "1.0.0",
  title = "A step is many small compiled programs",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "runs.count", "runs.programs", "runs.median_ns", "runs.main_count",
            "part.host_share", "part.host_ns" },
  cause = "host", tags = { "jax", "host" },
  params = {
    min_runs = { default = 10, min = 2, max = 1e6, unit = "count", doc = "program runs a step" },
    max_run_ns = { default = 300e3, min = 0, max = 1e12, unit = "ns", doc = "median run that counts as small" },
    tiny_run_ns = { default = 50e3, min = 0, max = 1e12, unit = "ns", doc = "a median run that is mostly overhead" },
    half_work_ns = { default = 10e3, min = 1, max = 1e12, unit = "ns",
                     doc = "a median run up to which half of the computing in instructions is saved, of longer ones as "
                       .. "much less" },
    min_loop = { default = 8, min = 2, max = 1e6, unit = "count",
                 doc = "runs a step of one program, from which it is part of a loop" },
    min_tiny_runs = { default = 32, min = 2, max = 1e6, unit = "count",
                      doc = "runs a step that are mostly overhead, from which their ops' share counts too" },
    max_busy = { default = 0.5, min = 0, max = 1, unit = "share", doc = "share of the step inside ops, then" },
    max_brought_bytes = { default = 64, min = 0, max = 1e12, unit = "bytes",
                          doc = "what a run takes that it does not give a new version of, up to which it is a round" },
    kept_single = { default = 0.4, min = 0, max = 1, unit = "ratio",
                    doc = "part of the time that programs of a single elementwise op keep in one program" },
    min_turn_share = { default = 0.5, min = 0, max = 1, unit = "share",
                       doc = "share of a step in host code, where each call of a small program counts as a step" },
    min_elsewhere = { default = 0.1, min = 0, max = 1, unit = "share",
                      doc = "share of the step in Python that starts no programs or makes the batch, from which other "
                        .. "rules speak" },
    min_share = { default = 0.2, min = 0, max = 1, unit = "share", doc = "share of the step in host code" },
  },
  doc = [[
Between two programs the host finds, prepares and launches the next one. Priced as the host time of the step divided
by its runs: one program a step would remain, and calls that waited for a program which ran already; of runs that are
mostly overhead half of the computing in instructions stays (all of it in a compiled loop, little where rows become a
batch), and more of it the longer the runs are, and where an accelerator runs several kernels in each; of longer ones
that hold a single elementwise op two fifths. Also said of many such runs whose ops take less than half of the step,
beside an accelerator where steps that nothing marks are calls of one small program that follow each other, and of
a program of any length that runs often, takes what it gave the time before and next to nothing besides.
Silent when runs are long or the host hides behind them.]],

  check = function(p, cfg)
    local count, repeats = p.fact["runs.count"], p.fact["runs.main_count"]
    local share = p.fact["part.host_share"]
    -- Runs this short are mostly the program's own start and end.
    local tiny = p.fact["runs.median_ns"] < cfg.tiny_run_ns
    local busy = p:has("ops.self_share") and p.fact["ops.self_share"] or 1
    local wasted = tiny and count >= cfg.min_tiny_runs and busy <= cfg.max_busy
    local rounds = rounds_in_turn(p, cfg)
    local in_turn = calls_in_turn(p, cfg) or rounds
    if (count < cfg.min_runs and not in_turn) or (p.fact["runs.median_ns"] > cfg.max_run_ns and not rounds)
      or (share < cfg.min_share and not wasted) then
      return nil
    end
    -- Where Python was recorded and lies elsewhere, other rules have its lines.
    if p:has("excess") and p:table("excess"):where { flaw = { like = "^(own-python|batch-of-items)$" } }:sum("share") >=
        cfg.min_elsewhere then return nil end
    -- Of the computing, what belongs to the short runs: a large program among them computes as before.
    local small, large = 1, {}
    if p:has("ops") then small, large = small_share(p, cfg) end
    -- One program a step would remain, the calls of large ones, what a library does around them, and the program's own
    -- work in Python.
    local own_ns = p:has("excess")
      and p:table("excess"):where { cause = "python", source_file = { like = "." } }:sum("ns") or 0
    local around_ns = p:has("runs.around_ns") and p.fact["runs.around_ns"] or 0
    -- A call that waits for a program which runs would wait, however few there are.
    local held_ns = p:has("runs.held_up_ns") and p.fact["runs.held_up_ns"] or 0
    -- A program that calls the host is waited for there.
    held_ns = held_ns + (p:has("callback.path_ns") and p.fact["callback.path_ns"] or 0)
    local kept = (own_ns + around_ns + held_ns + kept_ns(p, large)) / math.max(p.fact["part.host_ns"], 1)
    local together = in_turn or count
    local left = math.min(1, math.max(1 / math.max(together, 1), kept))
    local inside = in_instructions(p)
    -- Programs of several kernels are what the compiler made of them; one more program around them changes little.
    local kernels = p:has("device.idle_share") and p:has("kernels.count_per_step")
      and p.fact["kernels.count_per_step"] / count or 1
    -- The longer a run, the less of it is what each instruction costs however little it does.
    local by_size = math.min(1, cfg.half_work_ns / math.max(p.fact["runs.median_ns"], 1))
    local spared = small
      * (0.5 * by_size * inside / math.max(kernels, 1) + (1 - 1 / math.max(count, 1)) * (1 - inside))
    -- x[i] by an array of numbers is such a row of programs.
    local picks = p:has("programs") and p:table("programs"):where { program = "jit_gather" }:count() > 0
    return finding {
      title = in_turn and ("A small program runs %s times in turn; the host takes %s of the time"):format(
        fmt.whole(in_turn), fmt.pct(share))
        or ("A step runs %s small programs; the host takes %s of it"):format(fmt.whole(count), fmt.pct(share)),
      evidence = { { "program runs a step", count, "count" },
                   { "different programs", p.fact["runs.programs"], "count" },
                   { "runs a step of the most frequent one", repeats, "count" },
                   { "median run", p.fact["runs.median_ns"], "ns" },
                   { "host code a step", p.fact["part.host_ns"], "ns", share = share } },
      condition = ("%s runs %s with a median of %s, %s of them accepted"):format(fmt.count(together),
        in_turn and "in turn" or "a step", fmt.ns(p.fact["runs.median_ns"]),
        fmt.count(in_turn and cfg.min_tiny_runs or cfg.min_runs)),
      remedy = { text = in_turn and "Run many of them in one program: layers, time steps, draws or updates by a loop "
                     .. "in it that collects what is read of each."
                   or "Compile the whole step as one program; put Python loops inside it."
                     .. (picks and " Rows of a batch are cheaper to take by NumPy, or inside the step: give it all "
                     .. "rows and the numbers of those of the batch." or ""),
                 code = in_turn and "state, out = jax.lax.scan(step, state, inputs)   # not step() for each in Python"
                   or picks and "step = jax.jit(lambda state, data, rows: train(state, data[rows]))   # all on a device"
                   or p.framework == "tensorflow" and "@tf.function\ndef step(batch): ...   # the loop inside"
                   or "step = jax.jit(lambda xs: jax.vmap(f)(xs).mean(0))" },
      -- What is read of each round is waited for in each.
      impact = impact.replay { { "scale", parts = rounds and { "host", "copy", "idle.sync" } or { "host", "copy" },
                                 factor = math.max(left, 0.02) },
                               tiny and { "scale", parts = { "compute" }, factor = 1 - spared } or
                               -- Programs of one elementwise op each pass over memory once an op; fused they do so
                               -- once.
                               { "scale", name = "(wrapped|broadcast|transpose)_.*", factor = cfg.kept_single } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "batches taken in Python", framework = "jax", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 100, ["runs.programs"] = 5, ["runs.main_count"] = 50,
                ["runs.median_ns"] = 1e4, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 },
      tables = { programs = { { program = "jit_gather" }, { program = "jit_less" } } } },
    { name = "fragments", framework = "jax", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 100, ["runs.programs"] = 5, ["runs.main_count"] = 50,
                ["runs.median_ns"] = 1e4, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 } },
    -- 500 calls of 86 us, of which the host takes 76 and a five-hundredth of it stays.
    { name = "one small program in turn", framework = "jax", format = "xspace", finding = true, replay = { 7.5e4 },
      facts = { ["step.ns"] = 8.6e4, ["step.used"] = 500, ["step.source"] = "inferred", ["device.idle_share"] = 0.8,
                ["runs.count"] = 1, ["runs.programs"] = 1, ["runs.main_count"] = 1, ["runs.median_ns"] = 1e4,
                ["part.host_ns"] = 7.6e4, ["part.host_share"] = 0.88 } },
    -- What a run takes besides its state is a key: 40 rounds that the host takes 6 of 10 ms to start.
    { name = "draws of a chain", framework = "jax", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 42, ["runs.programs"] = 2, ["runs.main_count"] = 40,
                ["runs.main_program"] = "jit_draw", ["runs.median_ns"] = 6e5, ["part.host_ns"] = 6e6,
                ["part.host_share"] = 0.6 },
      tables = { programs = { { program = "jit_draw", results = 10, state = 9, brought_bytes = 8 } } } },
    { name = "updates from batches", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 42, ["runs.programs"] = 2, ["runs.main_count"] = 40,
                ["runs.main_program"] = "jit_train", ["runs.median_ns"] = 6e5, ["part.host_ns"] = 6e6,
                ["part.host_share"] = 0.6 },
      tables = { programs = { { program = "jit_train", results = 10, state = 9, brought_bytes = 65536 } } } },
    { name = "marked steps of one small program", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 8.6e4, ["step.used"] = 500, ["step.source"] = "marker", ["device.idle_share"] = 0.8,
                ["runs.count"] = 1, ["runs.programs"] = 1, ["runs.main_count"] = 1, ["runs.median_ns"] = 1e4,
                ["part.host_ns"] = 7.6e4, ["part.host_share"] = 0.88 } },
    { name = "layers that wait for each other", framework = "jax", finding = true, replay = { 2e6, 9e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 96, ["runs.programs"] = 1, ["runs.main_count"] = 96,
                ["runs.median_ns"] = 6e3, ["part.host_ns"] = 1.9e6, ["part.host_share"] = 0.19,
                ["ops.self_share"] = 0.3 } },
    { name = "substeps of 40 us", framework = "jax", finding = true, replay = { 3e6, 2e6 },
      facts = { ["step.ns"] = 5e6, ["runs.count"] = 50, ["runs.programs"] = 1, ["runs.main_count"] = 50,
                ["runs.median_ns"] = 4e4, ["part.host_ns"] = 3e6, ["part.host_share"] = 0.6 } },
    { name = "layers of five kernels each", framework = "jax", finding = true, replay = { 4.6e6, 9e6 },
      facts = { ["step.ns"] = 5e6, ["runs.count"] = 64, ["runs.programs"] = 1, ["runs.main_count"] = 64,
                ["runs.median_ns"] = 1e4, ["part.host_ns"] = 4.4e6, ["part.host_share"] = 0.88,
                ["device.idle_share"] = 0.88, ["kernels.count_per_step"] = 320 } },
    { name = "short runs full of work", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 96, ["runs.programs"] = 1, ["runs.main_count"] = 96,
                ["runs.median_ns"] = 4e4, ["part.host_ns"] = 1.9e6, ["part.host_share"] = 0.19,
                ["ops.self_share"] = 0.8 } },
    { name = "beside a call of nnx.jit", framework = "jax", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 100, ["runs.programs"] = 5, ["runs.main_count"] = 50,
                ["runs.median_ns"] = 1e4, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6,
                ["runs.around_ns"] = 3e6 } },
    { name = "calls that wait for a program", framework = "jax", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 100, ["runs.programs"] = 5, ["runs.main_count"] = 50,
                ["runs.median_ns"] = 1e4, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6,
                ["runs.held_up_ns"] = 3e6 } },
    { name = "one program", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 1, ["runs.programs"] = 1, ["runs.main_count"] = 1,
                ["runs.median_ns"] = 9e6, ["part.host_ns"] = 1e6, ["part.host_share"] = 0.1 } },
  },
}
