-- JAX operations are dispatched one by one.
-- The share of the time of all ops that is in programs of a few ops, as calls outside of jax.jit are.
local function single_share(p, cfg)
  local programs, all_ns, single_ns = {}, 0, 0
  for row in p:table("ops"):each() do
    local program = programs[row.module or ""] or { ns = 0, ops = 0 }
    programs[row.module or ""] = program
    program.ns, program.ops = program.ns + row.self_ns, program.ops + 1
    all_ns = all_ns + row.self_ns
  end
  for _, program in sorted_pairs(programs) do
    if program.ops <= cfg.max_ops then single_ns = single_ns + program.ns end
  end
  return all_ns > 0 and single_ns / all_ns or 1
end

-- Tracing a step where nothing is compiled: a model outside of jit asks for shapes in each call.
local function traced_ns(p)
  if not p:has("activities") or (p.fact["compile.path_ns"] or 0) <= 0 then return 0 end
  local rows = p:table("activities")
  if rows:where { kind = "compile" }:sum("events") > 0 or rows:where { kind = "tracing" }:sum("events") == 0 then
    return 0
  end
  return p.fact["compile.path_ns"]
end

-- A transformation of a jitted function that is itself not jitted is traced in Python in each call.
local function transformed(p, cfg)
  local step_ns, share = p.fact["step.ns"], p.fact["part.host_share"]
  if share < cfg.min_traced_share or not p:has("activities") or (p.fact["compile.count"] or 0) >= 0.5 then
    return nil
  end
  local calls = p:table("activities"):where { kind = "dispatch", on_leader = true,
                                              name = { like = p:names("jit_call") } }
  local worst = calls:top("path_self_ns", 1):rows()[1]
  -- Taking many arguments apart is a call's own work too; then checking them takes long as well.
  local arguments_ns = p:table("activities"):where { kind = "dispatch", on_leader = true,
                                                     name = "ParseArguments" }:sum("path_self_ns")
  if worst and arguments_ns > cfg.max_arguments * worst.path_self_ns then return nil end
  if not worst or worst.path_self_ns < cfg.min_call_ns * worst.events
      or worst.path_self_ns < cfg.min_share * step_ns then
    return nil
  end
  -- Tracing takes long in each call. One long call is a host that was kept from running.
  local calls_seen = worst.events * (p.fact["step.used"] or 1)
  if worst.max_ns and calls_seen > 1 and
     worst.path_self_ns * (p.fact["step.used"] or 1) - worst.max_ns < cfg.min_call_ns * (calls_seen - 1) then
    return nil
  end
  return finding {
    title = ("%s is traced again in each call: the host takes %s of the step"):format(worst.name, fmt.pct(share)),
    subject = { op = worst.name },
    evidence = { { "in calls of it a step", worst.path_self_ns, "ns",
                   share = math.min(1, worst.path_self_ns / step_ns) },
                 { "a call", worst.path_self_ns / worst.events, "ns" },
                 { "host code a step", p.fact["part.host_ns"], "ns", share = share } },
    condition = ("a call of %s takes %s before it runs, %s accepted"):format(worst.name,
      fmt.ns(worst.path_self_ns / worst.events), fmt.ns(cfg.min_call_ns)),
    remedy = { text = "Jit the outermost function: grad, vmap and the update inside it.",
               code = "step = jax.jit(lambda p, x: jax.grad(loss)(p, x))   # not jax.grad(jax.jit(loss)) in the loop" },
    impact = impact.replay { { "scale", parts = { "host", "copy" }, factor = cfg.left } },
    confidence = "medium",
  }
end

-- Numbers are taken out of an array of JAX one by one and each is read: a program and a wait for each.
local function picked(p, cfg)
  if not p:has("sync.count") or not p:has("runs.picks") or p.fact["part.host_share"] < cfg.min_share then return nil end
  local count, waits, runs = p.fact["runs.count"], p.fact["sync.count"], p.fact["runs.picks"]
  if runs < cfg.min_picks or runs < cfg.min_pick_share * count or waits < cfg.min_read * runs then return nil end
  -- What the program does in Python beside, and the runs of other programs, stay.
  local own_ns = p:has("excess")
    and p:table("excess"):where { cause = "python", source_file = { like = "." } }:sum("ns") or 0
  local own = math.min(own_ns / math.max(p.fact["part.host_ns"], 1), 1)
  local left = math.max(cfg.left, own, 1 - runs / math.max(count, 1))
  return finding {
    title = ("%s times a step something is taken out of an array by itself, and read"):format(fmt.whole(runs)),
    evidence = { { "programs that take a part out of an array, a step", runs, "count" },
                 { "all program runs a step", count, "count" }, { "waits for results a step", waits, "count" },
                 { "host code a step", p.fact["part.host_ns"], "ns", share = p.fact["part.host_share"] } },
    condition = ("%s of %s runs a step, %s accepted, and %s waits"):format(fmt.count(runs), fmt.count(count),
      fmt.count(cfg.min_picks), fmt.count(waits)),
    remedy = { text = "Get the whole arrays once, by one call, and index, iterate and compare in NumPy. Each x[i] of a "
                 .. "JAX array is a program of its own, and float() of it a wait.",
               code = "boxes, scores = jax.device_get((boxes, scores))   # then for box in boxes: ..." },
    impact = impact.replay { { "scale", parts = { "host", "copy", "idle.sync" }, factor = left } },
    confidence = "medium",
  }
end

-- Where Python was recorded, much of the host's time may lie where nothing is started: of the rest, what lines that
-- start programs take.
local function of_lines(p, cfg)
  if not p:has("excess") then return nil end
  local cells = p:table("excess")
  if cells:where { flaw = { like = "^(own-python|batch-of-items)$" } }:sum("share") < cfg.min_elsewhere then
    return nil
  end
  return cells:where { flaw = "calls-at-line" }
end

return rule {
  id = "jax-not-jitted", api = 1, version = "1.0.0",
  title = "JAX operations are dispatched one by one",
  category = "host", severity = "error",
  formats = { "xspace" },
  needs = { "step.ns", "runs.count", "runs.programs", "runs.median_ns", "part.host_share", "part.host_ns" },
  cause = "host", tags = { "jax", "host" },
  more_specific_than = { "xla-cluster-fragmentation", "host-bound", "tiny-kernels" },
  params = {
    min_runs = { default = 30, min = 1, max = 1e6, unit = "count", doc = "program runs a step" },
    min_programs = { default = 15, min = 1, max = 1e6, unit = "count",
                     doc = "different programs: one operation each when nothing is jitted" },
    min_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share of the step in host code" },
    min_traced_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "share of the step in host code, from which slow calls of jitted functions are traced "
                           .. "ones" },
    min_call_ns = { default = 100e3, min = 0, max = 1e12, unit = "ns", doc = "time of a call's own, then" },
    max_arguments = { default = 0.25, min = 0, max = 1, unit = "ratio",
                      doc = "time of checking arguments over that of the calls, above which they are many" },
    max_ops = { default = 8, min = 1, max = 1e6, unit = "count",
                doc = "ops of a program that may be a call outside of jax.jit" },
    min_line_share = { default = 0.02, min = 0, max = 1, unit = "share",
                       doc = "what such lines take, from which this is said" },
    min_elsewhere = { default = 0.1, min = 0, max = 1, unit = "share",
                      doc = "share of the step in Python that starts no programs, from which lines that do have the "
                        .. "price" },
    min_picks = { default = 20, min = 1, max = 1e6, unit = "count",
                  doc = "runs a step of programs that only take a part out of an array" },
    min_pick_share = { default = 0.75, min = 0, max = 1, unit = "ratio",
                       doc = "of all runs, such: x[0] of what a program gives back is two beside it" },
    min_read = { default = 0.25, min = 0, max = 1, unit = "ratio",
                 doc = "waits for each such run: slicing and dropping an axis are two" },
    left = { default = 0.05, min = 0, max = 1, unit = "ratio", doc = "part of the host time that stays" },
  },
  doc = [[
Outside jax.jit every jnp call is a program of its own: found, dispatched and run by itself, with its result written to
memory. Priced as the host time, of which one dispatch stays, and what a library as nnx.jit does around a compiled
program, and half of the compute time: fused operations do not write each result to memory; so does tracing where
nothing is compiled, as a model does outside of jit to check shapes. A jitted function that is differentiated or mapped
outside of jit is traced in Python in each call: priced as the host time too. Numbers that Python takes out of an array
by x[i] or a loop over it, and reads, are a program and a wait each: priced as those runs' part of the host's time and
the waits. Silent where checking many arguments is
what such calls do, and where few programs repeat: that is a loop around compiled functions, which other rules name.]],

  check = function(p, cfg)
    if p.framework ~= "jax" then return nil end
    local taken_apart = picked(p, cfg)
    if taken_apart then return taken_apart end
    local count, programs = p.fact["runs.count"], p.fact["runs.programs"]
    local share = p.fact["part.host_share"]
    if count < cfg.min_runs or programs < cfg.min_programs or share < cfg.min_share then return transformed(p, cfg) end

    local lines = of_lines(p, cfg)
    if lines and lines:sum("share") < cfg.min_line_share then return nil end
    -- Compiling does away with dispatching, not with the program's own work in Python, nor with what a library does
    -- around a compiled program beside them.
    local own_ns = p:has("excess")
      and p:table("excess"):where { cause = "python", source_file = { like = "." } }:sum("ns") or 0
    own_ns = own_ns + (p:has("runs.around_ns") and p.fact["runs.around_ns"] or 0)
    -- A program that calls the host is waited for there: compiling the rest leaves that.
    own_ns = own_ns + (p:has("callback.path_ns") and p.fact["callback.path_ns"] or 0)
    local single = p:has("ops") and single_share(p, cfg) or 1
    local own = math.min(own_ns / math.max(p.fact["part.host_ns"], 1), 1)
    local tracing_ns = traced_ns(p)
    return finding {
      title = ("%s JAX programs a step are dispatched one by one"):format(fmt.whole(count)),
      evidence = { { "program runs a step", count, "count" }, { "different programs", programs, "count" },
                   { "median run", p.fact["runs.median_ns"], "ns" },
                   { "host code a step", p.fact["part.host_ns"], "ns", share = share },
                   tracing_ns > 0 and { "tracing a step, of which nothing is compiled", tracing_ns, "ns" } or nil },
      condition = ("%s runs of %s programs a step, %s of %s accepted"):format(fmt.count(count),
        fmt.count(programs), fmt.count(cfg.min_runs), fmt.count(cfg.min_programs)),
      remedy = { text = "Compile the whole step.",
                 code = "@jax.jit\ndef train_step(state, batch): ...   # loss, gradient and update\n"
                   .. "# Keras compiles its own: model.compile(jit_compile=True), and no run_eagerly" },
      locations = lines and lines:places() or nil,
      impact = lines and impact.cells(lines) or
          impact.replay { { "scale", parts = { "host", "copy" }, factor = math.max(cfg.left, own) },
                          { "scale", parts = { "compute" }, factor = 1 - 0.5 * single },
                          tracing_ns > 0 and { "scale", parts = { "compile" }, factor = 0 } or nil },
      confidence = "high",
    }
  end,

  examples = {
    -- 120 of 150 runs slice and squeeze, and each number is waited for: 0.8 of 6 ms of host code and 2 of waits.
    { name = "numbers read one by one", framework = "jax", finding = true, replay = { 4.8e6, 1.6e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 150, ["runs.programs"] = 5, ["runs.median_ns"] = 1e3,
                ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6, ["sync.count"] = 60, ["runs.picks"] = 120 } },
    -- Rows that go on into a compiled step are not read, but for a few numbers.
    { name = "rows taken out for a batch", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 150, ["runs.programs"] = 5, ["runs.median_ns"] = 1e3,
                ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6, ["sync.count"] = 20, ["runs.picks"] = 120 } },
    -- One of each result: the program that gives it runs as often.
    { name = "decoding with a few picks a token", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 150, ["runs.programs"] = 5, ["runs.median_ns"] = 1e3,
                ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6, ["sync.count"] = 60, ["runs.picks"] = 100 } },
    { name = "a few metrics that are taken out", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 15, ["runs.programs"] = 5, ["runs.median_ns"] = 1e3,
                ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6, ["sync.count"] = 12, ["runs.picks"] = 12 } },
    { name = "eager step", framework = "jax", finding = true, replay = { 7e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 180, ["runs.programs"] = 70,
                ["runs.median_ns"] = 3e3, ["part.host_ns"] = 7e6, ["part.host_share"] = 0.7 } },
    -- 6 ms of host code and 2 of tracing, of which nothing is compiled.
    { name = "eager model that checks shapes", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 180, ["runs.programs"] = 70, ["compile.path_ns"] = 2e6,
                ["runs.median_ns"] = 3e3, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 },
      tables = { activities = { { name = "trace", kind = "tracing", on_leader = true, events = 9 } } } },
    -- Of 6 ms of host code nnx.jit takes 3 around the step itself, which stay.
    { name = "metrics beside a compiled step", framework = "jax", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 36, ["runs.programs"] = 26, ["runs.around_ns"] = 3e6,
                ["runs.median_ns"] = 1e3, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 } },
    -- Of 6 ms of host code 2 are in callbacks of a compiled program, which stay.
    { name = "eager step beside callbacks", framework = "jax", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 90, ["runs.programs"] = 40, ["callback.path_ns"] = 2e6,
                ["runs.median_ns"] = 3e3, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 } },
    { name = "grad of a jitted function", framework = "jax", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 2.4e6, ["runs.count"] = 4, ["runs.programs"] = 4,
                ["runs.median_ns"] = 1e5, ["part.host_ns"] = 2.1e6, ["part.host_share"] = 0.9, ["compile.count"] = 0 },
      tables = { activities = { { name = "PjitFunction(loss)", kind = "dispatch", on_leader = true, events = 6,
                                  path_self_ns = 1e6 } } } },
    { name = "one long call among short ones", framework = "jax", finding = false,
      facts = { ["step.ns"] = 2.4e6, ["step.used"] = 5, ["runs.count"] = 4, ["runs.programs"] = 4,
                ["runs.median_ns"] = 1e5, ["part.host_ns"] = 2.1e6, ["part.host_share"] = 0.9, ["compile.count"] = 0 },
      tables = { activities = { { name = "PjitFunction(loss)", kind = "dispatch", on_leader = true, events = 2,
                                  path_self_ns = 2e6, max_ns = 9.5e6 } } } },
    { name = "calls that are short", framework = "jax", finding = false,
      facts = { ["step.ns"] = 2.4e6, ["runs.count"] = 4, ["runs.programs"] = 4,
                ["runs.median_ns"] = 1e5, ["part.host_ns"] = 2.1e6, ["part.host_share"] = 0.9, ["compile.count"] = 0 },
      tables = { activities = { { name = "PjitFunction(loss)", kind = "dispatch", on_leader = true, events = 6,
                                  path_self_ns = 1.2e5 } } } },
    { name = "calls with many arguments", framework = "jax", finding = false,
      facts = { ["step.ns"] = 9.3e6, ["runs.count"] = 2, ["runs.programs"] = 2,
                ["runs.median_ns"] = 1e5, ["part.host_ns"] = 6.3e6, ["part.host_share"] = 0.68, ["compile.count"] = 0 },
      tables = { activities = { { name = "PjitFunction(whole)", kind = "dispatch", on_leader = true, events = 2,
                                  path_self_ns = 3.1e6 },
                                { name = "ParseArguments", kind = "dispatch", on_leader = true, events = 2,
                                  path_self_ns = 1.9e6 } } } },
    { name = "one program", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["runs.count"] = 1, ["runs.programs"] = 1,
                ["runs.median_ns"] = 9e6, ["part.host_ns"] = 7e6, ["part.host_share"] = 0.7 } },
  },
}
