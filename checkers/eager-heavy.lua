-- Python runs TensorFlow ops one by one, or functions of a few.
-- Different functions that Python calls, by the time on the step's path inside of their graphs; the largest one's part.
local function functions_of(p)
  local by_name, count, all_ns, most_ns = {}, 0, 0, 0
  for row in p:has("path") and p:table("path"):where { part = "host" }:each() or function() end do
    local name = row.name:match("^__inference_(\\w+?)_\\d+")
    if name then
      if not by_name[name] then count = count + 1 end
      by_name[name] = (by_name[name] or 0) + row.ns
      all_ns, most_ns = all_ns + row.ns, math.max(most_ns, by_name[name])
    end
  end
  return count, all_ns > 0 and most_ns / all_ns or 1
end

-- Eager ops a step that read a variable, and those that hand its value on.
local function of_reading(p)
  local reads = p:has("activities") and p:table("activities"):where { name = "EagerLocalExecute: ReadVariableOp" }
  return reads and 2 * reads:sum("events") or 0
end

-- Several functions take turns, each with little to do. One that is called for one input after the other is
-- batch-too-small's.
local function of_functions(p, cfg)
  local calls, host_ns, share = p.fact["eager.function_calls"], p.fact["part.host_ns"], p.fact["part.host_share"]
  if calls < cfg.min_calls or share < cfg.min_calling then return nil end
  local functions, largest = functions_of(p)
  if functions < 2 or largest > cfg.max_one then return nil end
  local left = math.max(cfg.left, 1 / calls)
  return finding {
    title = ("Python calls %s graph functions a step; host code takes %s of the step"):format(
      fmt.whole(calls), fmt.pct(share)),
    severity = "warn",
    evidence = { { "graph functions called a step", calls, "count" }, { "different functions", functions, "count" },
                 { "host code a step", host_ns, "ns", share = share } },
    condition = ("%s functions a step, %s accepted, and host code takes %s of it, %s accepted"):format(
      fmt.count(calls), fmt.count(cfg.min_calls), fmt.pct(share), fmt.pct(cfg.min_calling)),
    remedy = { text = "Call one graph function a step, in which the others are inlined.",
               code = "@tf.function(jit_compile=True)\ndef step(x): ...   # calls the smaller functions" },
    impact = impact.replay { { "scale", parts = { "host" }, factor = left },
                             fallback = impact.exposed { ns = (1 - left) * host_ns, low = 0.7 * (1 - left) * host_ns,
                                                         high = (1 - left) * host_ns } },
    confidence = "medium",
  }
end

return rule {
  id = "eager-heavy", api = 1, version = "1.0.0",
  title = "Ops run eagerly, one by one from Python",
  category = "host", severity = "error",
  formats = { "xspace" },
  needs = { "step.ns", "eager.ops", "eager.function_calls", "part.host_ns", "part.host_share" },
  cause = "host", tags = { "tensorflow", "host" },
  params = {
    min_ops = { default = 30, min = 1, max = 1e6, unit = "count",
                doc = "eager ops a step, and for each function call in it, from which this is said" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "share of the step in host code" },
    min_row = { default = 60, min = 2, max = 1e6, unit = "count",
                doc = "eager ops without a function called between them, from which this is said beside any calls" },
    min_row_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "of the step in host code there" },
    min_calls = { default = 12, min = 2, max = 1e6, unit = "count",
                  doc = "calls of different graph functions a step, from which these are said" },
    min_calling = { default = 0.50, min = 0, max = 1, unit = "share", doc = "share of the step in host code, then" },
    max_one = { default = 0.75, min = 0, max = 1, unit = "share",
                doc = "of the functions' time, the longest one's, then" },
    min_short = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent in several short writes, from which the ops before them belong to "
                    .. "them" },
    min_writes = { default = 2, min = 1, max = 1e6, unit = "count", doc = "how many of them a step" },
    max_ops_a_short = { default = 60, min = 0, max = 1e6, unit = "count", doc = "eager ops for each of them" },
    max_ops_a_write = { default = 100, min = 0, max = 1e6, unit = "count",
                        doc = "eager ops for each write of a summary or checkpoint, up to which they belong to it" },
    min_writing = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share of the step spent writing, then" },
    min_read = { default = 0.5, min = 0, max = 1, unit = "share",
                 doc = "of the host's part, reading variables back, from which the ops belong to that" },
    left = { default = 0.05, min = 0, max = 1, unit = "ratio",
             doc = "part of the host time that a graph function still needs" },
    kept_kernels = { default = 0.3, min = 0, max = 1, unit = "ratio",
                     doc = "part of the time in kernels of eager ops that the same ops take in a graph" },
  },
  doc = [[
Each eager op costs a trip through Python and the dispatcher; a tf.function pays it once a call and
runs its ops from the graph. Priced as the host time of the step: of Python and the dispatcher a graph keeps a
twentieth, of the ops' kernels three tenths, and what runs inside of graph functions stays.
Where a step calls functions often and runs many ops in one row besides, the host time in that row is what it costs.
Many calls of different small functions are priced as all of that but one call's part. Silent where a step has few eager
ops besides the functions it calls, and where they write summaries or checkpoints.]],

  check = function(p, cfg)
    local ops, calls = p.fact["eager.ops"], p.fact["eager.function_calls"]
    local host_ns, share = p.fact["part.host_ns"], p.fact["part.host_share"]
    if share < cfg.min_share then return nil end
    -- Between many calls of functions they may stand in one place all the same: a step that acts, and updates op by op.
    local in_row, place_ns = p:has("eager.row_ops") and p.fact["eager.row_ops"] or 0, host_ns
    if ops < cfg.min_ops * math.max(calls, 1) then
      place_ns = in_row > 0 and p.fact["eager.row_host_ns"] or 0
      if in_row < cfg.min_row or place_ns < cfg.min_row_share * p.fact["step.ns"] then return of_functions(p, cfg) end
    end

    -- Beside a compiled step, summaries and checkpoints are written op by op: the rules about output speak.
    local writes = p:has("output.count") and p.fact["output.count"] or 0
    local writing_ns = p:has("output.path_ns") and p.fact["output.path_ns"] or 0
    local writing = writing_ns / p.fact["step.ns"]
    if calls >= 1 and (writing >= cfg.min_writing and ops <= cfg.max_ops_a_write * writes or
       writing >= cfg.min_short and writes >= cfg.min_writes and ops <= cfg.max_ops_a_short * writes) then
      return nil
    end
    -- So are variables read for them.
    local read_ns = p:has("excess") and p:table("excess"):where { flaw = "read-back" }:sum("ns") or 0
    if calls >= 1 and read_ns > 0 and
       (read_ns >= cfg.min_read * host_ns or ops - of_reading(p) < cfg.min_ops * calls) then
      return nil
    end

    -- Kernels of small ops leave no event of their own work, which a graph needs too.
    local kept_ns = 0
    for row in p:has("path") and p:table("path"):where { part = "host" }:each() or function() end do
      if row.name == "KernelAndDeviceFunc::Run" then
        kept_ns = kept_ns + (cfg.kept_kernels - cfg.left) * row.ns
      elseif calls >= 1 and row.name:find("^Executor(State|DoneCallback)") then
        kept_ns = kept_ns + (1 - cfg.left) * row.ns
      end
    end
    local left = 1 - place_ns / host_ns * (1 - math.min(1, cfg.left + math.max(kept_ns, 0) / host_ns))
    return finding {
      title = ("%s ops a step run eagerly; host code takes %s of the step"):format(fmt.whole(ops), fmt.pct(share)),
      evidence = { { "eager ops a step", ops, "count" },
                   place_ns < host_ns and { "of them in a row", in_row, "count" } or nil,
                   place_ns < host_ns and { "host code in that row", place_ns, "ns",
                                            share = place_ns / p.fact["step.ns"] } or nil,
                   { "host code a step", host_ns, "ns", share = share },
                   { "graph functions called a step", calls, "count" } },
      condition = ("%s eager ops a step, %s accepted for each of %s"):format(
        fmt.count(ops), fmt.count(cfg.min_ops), fmt.many(calls, "function call", "function calls")),
      remedy = p:has("op_stats.trains") and not p.fact["op_stats.trains"]
        and { text = "Call the model from one graph function, in which all of its ops run.",
              code = "predict = tf.function(lambda x: model(x, training=False))   # once; then predict(x)" }
        or { text = "Make the whole step one graph function.",
             code = "@tf.function\ndef train_step(batch): ...   # strategy.run(...) inside it too" },
      impact = impact.replay { { "scale", parts = { "host" }, factor = left },
                               fallback = impact.exposed { ns = (1 - left) * host_ns, low = 0.9 * (1 - left) * host_ns,
                                                           high = (1 - left) * host_ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "eager loop", framework = "tensorflow", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 2000, ["eager.function_calls"] = 0,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 } },
    -- Of 9 ms host 2 ms are kernels and 1 ms is inside of a function: 6 * 0.95 + 2 * 0.7 go, 0.95 of that is likely.
    { name = "kernels and a function stay", framework = "tensorflow", finding = true, impact_ns = 6.745e6,
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 2000, ["eager.function_calls"] = 1,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 },
      tables = { path = { { name = "KernelAndDeviceFunc::Run", part = "host", ns = 2e6 },
                          { name = "ExecutorState::Process", part = "host", ns = 1e6 } } } },
    { name = "summaries beside a function", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 36, ["eager.function_calls"] = 1, ["part.host_ns"] = 4e6,
                ["part.host_share"] = 0.4, ["output.count"] = 10, ["output.path_ns"] = 4e6 } },
    { name = "ops beside a short write", framework = "tensorflow", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 36, ["eager.function_calls"] = 1, ["part.host_ns"] = 4e6,
                ["part.host_share"] = 0.4, ["output.count"] = 10, ["output.path_ns"] = 4e4 } },
    { name = "statistics of each gradient, op by op", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 6.8e7, ["eager.ops"] = 855, ["eager.function_calls"] = 1, ["part.host_ns"] = 5.6e7,
                ["part.host_share"] = 0.83, ["output.count"] = 22, ["output.path_ns"] = 7.4e5 } },
    { name = "weights read back for a checkpoint", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1.6e8, ["eager.ops"] = 59, ["eager.function_calls"] = 1, ["part.host_ns"] = 1.4e8,
                ["part.host_share"] = 0.87 },
      tables = { excess = { { cell = 1, flaw = "read-back", ns = 1.3e8, share = 0.8, factor = 0 } } } },
    -- 17 variables are read by 34 of 43 ops.
    { name = "weights read back, in less than half of the host's part", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1.7e8, ["eager.ops"] = 43, ["eager.function_calls"] = 1, ["part.host_ns"] = 1.0e8,
                ["part.host_share"] = 0.6 },
      tables = { excess = { { cell = 1, flaw = "read-back", ns = 4.5e7, share = 0.28, factor = 0 } },
                 activities = { { name = "EagerLocalExecute: ReadVariableOp", events = 17 } } } },
    { name = "variables read beside many ops", framework = "tensorflow", finding = true,
      facts = { ["step.ns"] = 1.7e8, ["eager.ops"] = 143, ["eager.function_calls"] = 1, ["part.host_ns"] = 1.0e8,
                ["part.host_share"] = 0.6 },
      tables = { excess = { { cell = 1, flaw = "read-back", ns = 2.0e7, share = 0.12, factor = 0 } },
                 activities = { { name = "EagerLocalExecute: ReadVariableOp", events = 17 } } } },
    -- Of 9 ms host a twentieth stays, more than one of 36 calls needs: 8.55 ms go.
    { name = "a function for each piece of the model", framework = "tensorflow", finding = true, severity = "warn",
      replay = { 8.55e6 },
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 1, ["eager.function_calls"] = 36,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 },
      tables = { path = { { name = "__inference_norm_35755", part = "host", ns = 4e5 },
                          { name = "__inference_dense_35764", part = "host", ns = 3e5 } } } },
    -- 20 calls that act, then an update of 400 ops in 6 ms of host code, of which a twentieth stays.
    { name = "an update in a row behind calls that act", framework = "tensorflow", finding = true, replay = { 5.7e6 },
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 440, ["eager.function_calls"] = 20, ["eager.row_ops"] = 400,
                ["eager.row_host_ns"] = 6e6, ["part.host_ns"] = 8e6, ["part.host_share"] = 0.8 } },
    { name = "a few ops for each call", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 440, ["eager.function_calls"] = 20, ["eager.row_ops"] = 24,
                ["eager.row_host_ns"] = 6e6, ["part.host_ns"] = 8e6, ["part.host_share"] = 0.8 } },
    { name = "one function for each row", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 1, ["eager.function_calls"] = 36,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 },
      tables = { path = { { name = "__inference_score_35755", part = "host", ns = 4e5 } } } },
    { name = "one function a step", finding = false,
      facts = { ["step.ns"] = 1e7, ["eager.ops"] = 2, ["eager.function_calls"] = 1,
                ["part.host_ns"] = 9e6, ["part.host_share"] = 0.9 } },
  },
}
