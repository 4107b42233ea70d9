-- Many tiny ops: the executor's own work dominates.
-- PyTorch runs ops as Python calls them. What lies between them is told without a price: recording each call makes it
-- longer, how much the recording does not tell, and what may go is the program's to say.
local function of_calls(p, cfg)
  if p:has("device.idle_share") or not p:has("part.host_share") then return nil end
  local count, host_ns, share = p.fact["ops.count_per_step"], p.fact["part.host_ns"], p.fact["part.host_share"]
  local named_ns = p:has("excess") and p:table("excess"):where { cause = "python" }:sum("ns") or 0
  if count < cfg.min_many_ops or share < cfg.min_between or named_ns > 0.5 * host_ns then return nil end
  return finding {
    severity = "info",
    title = ("%s ops a step, and %s between them"):format(fmt.whole(count), fmt.ms(host_ns)),
    evidence = { { "host code between ops a step", host_ns, "ns", share = share }, { "ops a step", count, "count" },
                 { "median op", p.fact["ops.median_ns"], "ns" }, { "of it, named by place", named_ns, "ns" } },
    condition = ("host code between ops takes %s of the step, %s accepted"):format(fmt.pct(share),
      fmt.pct(cfg.min_between)),
    remedy = { text = "Let fewer and larger ops do the work: larger batches, torch.inference_mode() where nothing is "
                 .. "trained, or torch.compile, which joins them. Recording makes each call longer than it is.",
               code = "model = torch.compile(model)" },
    impact = impact.none(),
    confidence = "high",
  }
end

-- The loop of a recurrent layer starts its ops anew in each round.
local function unrolled(ops)
  local way = {
    text = "The loop of a recurrent layer starts its ops anew for each reading: unroll it for a few dozen readings, "
      .. "make batches larger, or let XLA compile the step.",
    code = "x = tf.keras.layers.GRU(units, unroll=True)(x)   # or model.compile(..., jit_compile=True)",
  }
  if ops:where { name = { like = "(?i)lstm" } }:count() > 0 then
    way.code = "x = tf.keras.layers.LSTM(units, unroll=True)(x)   # or model.compile(..., jit_compile=True)"
  end
  return way
end

-- What XLA may be asked for: it compiles no program that calls Python. Rounds of a loop with few rows are told to take
-- more.
local function fewer(ops, count)
  local function calls(pattern) return ops and ops:where { name = { like = pattern } }:sum("calls") or 0 end
  local may_compile = not ops or ops:where { type = { like = "PyFunc" } }:count() == 0
  local xla = may_compile and ", or let XLA fuse them."
    or ". XLA compiles no program that calls Python: leave that out first."
  if calls("(^|/)while/") > 0.5 * count then
    return {
      text = "Let each round of the loop do many rows, as several episodes, chains or sequences side by side: it "
        .. "starts as many ops for one" .. xla,
      code = "for t in tf.range(length): logits, values = model(states)   # states: [episodes, features]",
    }
  end
  return { text = "Stack small variables and batch their ops" .. xla,
           code = may_compile and "@tf.function(jit_compile=True)   # or one stacked variable and a batched matmul"
             or "w = tf.Variable(tf.stack(ws))   # and a batched matmul" }
end

return rule {
  id = "tiny-ops", api = 1, version = "1.0.0",
  title = "Thousands of tiny ops cost more to run than to compute",
  category = "host", severity = "warn",
  formats = { "xspace", "graph", "kineto" },
  needs = { "step.ns", "host.executor_ns", "ops.count_per_step", "ops.median_ns" },
  cause = "host", tags = { "host" },
  params = {
    usual_op_ns = { default = 6e3, min = 0, max = 1e9, unit = "ns",
                    doc = "what the executor takes for an op at most, where nothing else holds its thread" },
    min_ops = { default = 100, min = 1, max = 1e7, unit = "count", doc = "ops a batch" },
    max_op_ns = { default = 10e3, min = 0, max = 1e9, unit = "ns", doc = "median op that counts as tiny" },
    unrecorded = { default = 10, min = 1, max = 1e6, unit = "ratio",
                   doc = "turns of the executor for each recorded op, from which it is their time that counts" },
    loop = { default = 0.5, min = 0, max = 1, unit = "ratio",
             doc = "part of a recurrent layer's turns of the executor that are its loop's" },
    max_layer_share = { default = 0.5, min = 0, max = 1, unit = "share",
                        doc = "of the ops, those of a recurrent layer or an optimizer, from which this is a fact" },
    min_with_ops = { default = 0.5, min = 0, max = 1, unit = "share",
                     doc = "share of the step in the executor and in tiny ops, from which this is a fact" },
    min_executor = { default = 0.15, min = 0, max = 1, unit = "share", doc = "of it, the executor" },
    min_many_ops = { default = 300, min = 1, max = 1e7, unit = "count", doc = "ops a step, then" },
    min_between = { default = 0.4, min = 0, max = 1, unit = "share",
                    doc = "PyTorch on a host: share of the step between ops from which this is a fact" },
    min_share = { default = 0.35, min = 0, max = 1, unit = "share",
                  doc = "share of the step in the executor between ops" },
  },
  doc = [[
Every op costs the executor some microseconds to find ready, to start and to hand on. Priced as nine tenths of that
time: stacked variables and batched ops need a tenth of the ops; of the loop of a recurrent layer, which can be
unrolled, as half. A fact where the executor and hundreds of tiny ops take half of the step together, where most ops
are an optimizer's, and in the loop of a recurrent layer. In PyTorch on a host the code between ops, no cause of which
is known, is a fact without a price. Silent where ops are long or few, or the executor hides
behind them.]],

  check = function(p, cfg)
    if p.format == "kineto" then return of_calls(p, cfg) end
    local count, median_ns = p.fact["ops.count_per_step"], p.fact["ops.median_ns"]
    local recorded = count
    local executor_ns, step_ns = p.fact["host.executor_ns"], p.fact["step.ns"]
    -- Ops that take next to no time are not recorded themselves: in loops only the executor's turns are.
    local turns = p:has("activities") and
      p:table("activities"):where { kind = "executor", name = "ExecutorState::Process" }:sum("events") or 0
    if turns > cfg.unrecorded * count then median_ns = executor_ns / turns end
    count = math.max(count, turns)
    -- Starting an op costs a few microseconds; beyond that an executor waits for a core.
    local part = math.min(1, count * cfg.usual_op_ns / math.max(executor_ns, 1))
    executor_ns = part * executor_ns
    -- A step of several batches holds the ops of each.
    local batches = p:has("work.per_step") and math.max(1, p.fact["work.per_step"]) or 1
    if count / batches < cfg.min_ops or median_ns > cfg.max_op_ns or executor_ns / step_ns < cfg.min_executor then
      return nil
    end
    -- Of ops this short most is starting and ending them.
    local ops_ns = p:has("ops.tiny_self_ns") and p.fact["ops.tiny_self_ns"] or 0
    local is_fact = executor_ns / step_ns < cfg.min_share
    if is_fact and (recorded < cfg.min_many_ops or (executor_ns + ops_ns) / step_ns < cfg.min_with_ops) then
      return nil
    end

    -- The loop of a library's recurrent layer is its only form on a host, as an optimizer's ops on each variable are: a
    -- fact, not a flaw.
    local is_recurrent, is_optimizer = false, false
    if p:has("ops") then
      local ops = p:table("ops")
      local function calls(pattern) return ops:where { name = { like = pattern } }:sum("calls") end
      is_recurrent = calls("(?i)while.*(gru|lstm|rnn)[a-z0-9_]*(/|$)") > cfg.max_layer_share * recorded
        or turns > 2 * recorded and calls("(?i)(^|/)[a-z0-9_]*(gru|lstm|rnn)[a-z0-9_]*/TensorArray") > 0
      is_optimizer = calls("(?i)(^|/)(ada|sgd|rmsprop|nadam|lion|ftrl|lamb|momentum)[a-z0-9_]*/")
        > cfg.max_layer_share * recorded
    end
    is_fact = is_fact or is_recurrent or is_optimizer
    local tiny = p:has("ops.tiny_self_ns") and p:has("part.compute_ns")
      and math.min(1, ops_ns / math.max(p.fact["part.compute_ns"], 1)) or 1
    return finding {
      severity = is_fact and "info" or "warn",
      title = ("%s ops a step with a median of %s: the executor takes %s of the step"):format(
        fmt.whole(count), fmt.ns(median_ns), fmt.pct(executor_ns / step_ns)),
      evidence = { { "executor a step", executor_ns, "ns", share = executor_ns / step_ns },
                   { "ops a step", count, "count" }, { "median op", median_ns, "ns" } },
      condition = ("%s ops a step, median %s; the executor takes %s, %s accepted"):format(fmt.count(count),
        fmt.ns(median_ns), fmt.pct(executor_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = is_recurrent and unrolled(p:table("ops")) or fewer(p:has("ops") and p:table("ops"), recorded),
      -- Of a layer's loop what goes round is gone, and the cell's own ops stay.
      impact = impact.replay { { "scale", parts = { "host" }, kinds = { "executor", "run" },
                                 factor = 1 - (is_recurrent and cfg.loop or 0.9) * part },
                               { "scale", parts = { "compute" },
                                 factor = 1 - (is_recurrent and 0.2 or is_fact and 0.5 or 0.8) * tiny } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "hundreds beside a product", framework = "tensorflow", finding = true, replay = { 2e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 2.4e6, ["ops.count_per_step"] = 670,
                ["ops.median_ns"] = 1.2e3, ["ops.tiny_self_ns"] = 3.2e6 } },
    { name = "hundreds that take little", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 2.4e6, ["ops.count_per_step"] = 670,
                ["ops.median_ns"] = 1.2e3, ["ops.tiny_self_ns"] = 1e6 } },
    { name = "thousands", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 6e6, ["ops.count_per_step"] = 4000,
                ["ops.median_ns"] = 1e3 } },
    { name = "rounds that call Python", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 7e6, ["ops.count_per_step"] = 2000,
                ["ops.median_ns"] = 1500 },
      tables = { ops = { { name = "while/body/_1/while/MatMul", type = "MatMul", self_ns = 1e6, calls = 1900 },
                         { name = "while/body/_1/while/PyFunc", type = "PyFunc", self_ns = 1e5, calls = 100 } } } },
    { name = "a loop of ops too short to be recorded", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 6e6, ["ops.count_per_step"] = 86, ["ops.median_ns"] = 1e5 },
      tables = { activities = { { name = "ExecutorState::Process", kind = "executor", events = 3700 } } } },
    { name = "turns of the executor that take long", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 6e6, ["ops.count_per_step"] = 30, ["ops.median_ns"] = 500 },
      tables = { activities = { { name = "ExecutorState::Process", kind = "executor", events = 400 } } } },
    { name = "an optimizer's ops, beside products", framework = "tensorflow", finding = true, severity = "info",
      replay = { 2e6, 2.5e5 },
      facts = { ["step.ns"] = 4e6, ["host.executor_ns"] = 2.2e6, ["ops.count_per_step"] = 713, ["ops.median_ns"] = 260,
                ["ops.tiny_self_ns"] = 5e5, ["part.compute_ns"] = 1.7e6 },
      tables = { ops = { { name = "adam/mul_3", type = "Mul", calls = 640 },
                         { name = "dense/MatMul", type = "_MklMatMul", calls = 73 } } } },
    { name = "a recurrent layer", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 6e6, ["ops.count_per_step"] = 4000, ["ops.median_ns"] = 1e3 },
      tables = { activities = { { name = "ExecutorState::Process", kind = "executor", events = 9000 } },
                 ops = { { name = "model/gru_1/while/body/_1/model/gru_1/while/gru_cell/split", type = "Split",
                           calls = 2000 },
                         { name = "model/gru_1/while/body/_1/model/gru_1/while/gru_cell/MatMul", type = "_MklMatMul",
                           calls = 1900 },
                         { name = "dense/MatMul", type = "_MklMatMul", calls = 100 } } } },
    { name = "twenty batches of few ops", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 5e6, ["host.executor_ns"] = 2.6e6, ["ops.count_per_step"] = 1085, ["ops.median_ns"] = 331,
                ["work.per_step"] = 20 } },
    { name = "a few hundred on cores that others use", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1.3e7, ["host.executor_ns"] = 4.7e6, ["ops.count_per_step"] = 209,
                ["ops.median_ns"] = 540 } },
    { name = "a model of many small calls", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 0, ["ops.count_per_step"] = 600, ["ops.median_ns"] = 3e3,
                ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 },
      tables = { excess = { { flaw = "long-pause", cause = "python", ns = 1e6 } } } },
    { name = "pauses that have a name", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 0, ["ops.count_per_step"] = 600, ["ops.median_ns"] = 3e3,
                ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 },
      tables = { excess = { { flaw = "long-pause", cause = "python", ns = 5e6 } } } },
    { name = "few large ops", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 1e5, ["ops.count_per_step"] = 40, ["ops.median_ns"] = 1e6 } },
  },
}
