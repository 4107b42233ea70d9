-- Summaries are written in every step.

-- The slow steps are those that write, as those at the end of short epochs: a part of what they take longer is the
-- library's own work at such an end, the rest goes with the summaries.
local function in_slow_steps(p, cfg)
  local step_ns, used = p.fact["step.ns"], p:has("step.used") and p.fact["step.used"] or 0
  local slow = p:has("step.slow_count") and p.fact["step.slow_count"] or 0
  local excess_ns = slow > 0 and p.fact["step.slow_excess_ns"] or 0
  local writes = p:has("activities") and p:table("activities"):where {
    kind = "output", name = { like = "(?i)summary" } }:count() or 0
  if slow < 1 or writes == 0 or excess_ns < cfg.min_slow_share * step_ns
    or math.abs(p.fact["output.steps_share"] * used - slow) > 0.5 then return nil end
  return finding {
    title = ("The slow steps are those that write summaries: %s a step"):format(fmt.ms(excess_ns)),
    evidence = { { "what slow steps take longer, spread over the steps", excess_ns, "ns",
                   share = math.min(1, excess_ns / step_ns) },
                 { "slow steps", slow, "count" }, { "steps that write", p.fact["output.steps_share"], "share" } },
    condition = ("slow steps take %s of all time longer, %s accepted, and each of them writes"):format(
      fmt.pct(math.min(1, excess_ns / step_ns)), fmt.pct(cfg.min_slow_share)),
    remedy = { text = "Write summaries less often than at the end of each short epoch; count epochs in more steps.",
               code = "keras.callbacks.TensorBoard(log, histogram_freq=25)   # not 1, or more steps_per_epoch" },
    impact = impact.exposed { ns = excess_ns, low = 0.3 * excess_ns, high = 0.9 * excess_ns },
    confidence = "medium",
  }
end

-- What computes in the ops that prepare a summary: pictures are encoded there, and values counted.
local function prepared_again(p, cfg)
  local names = {}
  local ops = p:table("ops")
  for _, op in ipairs(ops and ops:rows() or {}) do
    if op.is_eager and op.self_ns >= cfg.min_op_share * p.fact["step.ns"] then
      names[#names + 1] = "(EagerLocalExecute: )?\\Q" .. op.name .. "\\E"
    end
  end
  return #names > 0 and { "scale", name = table.concat(names, "|"), factor = 0.02 } or nil
end

-- Output of Python's print alone: logging-in-step says what that costs.
local function only_prints(p)
  local output = p:has("activities") and p:table("activities"):where { kind = "output" }
  return output and output:count() > 0
    and output:where { name = { like = "^\\$builtins print$" } }:count() == output:count()
end

return rule {
  id = "summary-every-step", api = 1, version = "1.0.0",
  title = "Summaries are written in every step",
  category = "output", severity = "warn",
  formats = { "xspace", "graph" },
  needs = { "step.ns", "output.count", "output.path_ns", "output.steps_share" },
  cause = "output", tags = { "tensorflow", "output" },
  more_specific_than = { "step-outliers", "step-bimodal", "eager-heavy" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent writing from which this is said" },
    min_ops = { default = 10, min = 1, max = 1e6, unit = "count",
                doc = "eager ops for each function call, from which they prepare summaries" },
    max_ops_a_write = { default = 60, min = 0, max = 1e6, unit = "count",
                        doc = "eager ops for each write, up to which they belong to it" },
    ops_a_call = { default = 5, min = 1, max = 100, unit = "ratio",
                   doc = "host time of a function call over an eager op's" },
    min_slow_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "what slow steps that write take longer, spread over all steps" },
    min_op_share = { default = 0.002, min = 0, max = 1, unit = "share",
                     doc = "share of the step from which an op that prepares a summary is taken out by its name" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share",
                        doc = "share of the steps that write" },
  },
  doc = [[
Histograms and images cost passes over whole tensors, and each write a trip through the executor.
Priced as the time in such ops, and their part of the executor's own time, less one step in fifty. Where eager ops
prepare them beside a compiled step, these and the host's time for them count too, but for Python before the step
computes at all. Where few steps write and these are
the slow ones, a third to nine tenths of what they take longer.
Silent where writing takes little of the step.]],

  check = function(p, cfg)
    local path_ns, step_ns = p.fact["output.path_ns"], p.fact["step.ns"]
    if p.fact["output.steps_share"] < cfg.min_steps_share then return in_slow_steps(p, cfg) end
    -- What a summary is made from runs op by op beside a compiled step: scaling, counting, encoding.
    local count, eager = p.fact["output.count"], p:has("eager.ops") and p.fact["eager.ops"] or 0
    local calls = p:has("eager.function_calls") and p.fact["eager.function_calls"] or 0
    local is_prepared = count > 0 and calls >= 1 and eager >= cfg.min_ops * calls
      and eager <= cfg.max_ops_a_write * count
    if is_prepared and p:has("eager.path_ns") then path_ns = path_ns + p.fact["eager.path_ns"] end
    if path_ns / step_ns < cfg.min_share or only_prints(p) then return nil end

    local ops = p:has("ops.count_per_step") and p.fact["ops.count_per_step"] or 0
    local edits = { { "scale", parts = { "output" }, factor = 0.02 } }
    if math.max(count, ops) > 0 then
      edits[2] = { "scale", parts = { "host" }, kinds = { "executor" },
                   factor = 1 - 0.98 * count / math.max(count, ops) }
    end
    -- Python calls each of those ops; a call of a compiled function costs it as much as a few. What Python takes before
    -- the step computes at all is the batch's and stays.
    if is_prepared then
      local left = cfg.ops_a_call * calls / (cfg.ops_a_call * calls + eager)
      local host_ns = p:has("part.host_ns") and p.fact["part.host_ns"] or 0
      local before_ns = p:has("host.python_before_ns") and p.fact["host.python_before_ns"] or 0
      local stays = host_ns > 0 and math.min(before_ns / host_ns, 1) or 0
      edits[2] = { "scale", parts = { "host" }, factor = stays + (1 - stays) * left }
      edits[3] = prepared_again(p, cfg)
    end
    return finding {
      title = ("Writing summaries takes %s of each step"):format(fmt.ms(path_ns)),
      evidence = { { "writing a step", path_ns, "ns", share = math.min(path_ns / step_ns, 1) },
                   { "summary ops a step", count, "count" },
                   { "ops run eagerly for them, at most", is_prepared and eager or 0, "count" },
                   { "steps that write", p.fact["output.steps_share"], "share" } },
      condition = ("writing takes %s of the step, %s accepted"):format(
        fmt.pct(path_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Write every 50 or 100 steps.",
                 code = p.format == "graph"
                   and "if step % 100 == 0: writer.add_summary(session.run(merged, feed), step)" or
                   "with tf.summary.record_if(lambda: step % 50 == 0): ..." },
      impact = impact.replay(edits),
      confidence = "high",
    }
  end,

  examples = {
    { name = "losses are printed", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["output.count"] = 1, ["output.path_ns"] = 4e6, ["output.steps_share"] = 1 },
      tables = { activities = { { name = "$builtins print", kind = "output", events = 1, path_ns = 4e6 } } } },
    { name = "half the step", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["output.count"] = 1000, ["output.path_ns"] = 5e6, ["output.steps_share"] = 1 } },
    { name = "images encoded op by op", framework = "tensorflow", finding = true, replay = { 2e5, 4e6 },
      facts = { ["step.ns"] = 7.3e6, ["output.count"] = 3, ["output.path_ns"] = 1.7e5, ["output.steps_share"] = 1,
                ["eager.ops"] = 25, ["eager.function_calls"] = 1, ["eager.path_ns"] = 1.6e6 } },
    -- The encoder is taken out by its name; the step's function and a short op stay: three edits are priced.
    { name = "a picture encoded for long", framework = "tensorflow", finding = true, replay = { 2e5, 4e6, 1e6 },
      facts = { ["step.ns"] = 7.3e6, ["output.count"] = 3, ["output.path_ns"] = 1.7e5, ["output.steps_share"] = 1,
                ["eager.ops"] = 25, ["eager.function_calls"] = 1, ["eager.path_ns"] = 1.6e6 },
      tables = { ops = { { name = "EncodePng", is_eager = true, self_ns = 1e6 },
                         { name = "Sub", is_eager = true, self_ns = 1e3 },
                         { name = "a/MatMul", is_eager = false, self_ns = 2e6 } } } },
    -- Of 6 ms of the host's, 3 are Python's before the step; of the other 3, 5 of 30 are left: 2.5 are saved.
    { name = "histograms beside a batch made in Python", framework = "tensorflow", finding = true,
      replay = { 2e5, 2.5e6 },
      facts = { ["step.ns"] = 7.3e6, ["output.count"] = 3, ["output.path_ns"] = 1.7e5, ["output.steps_share"] = 1,
                ["eager.ops"] = 25, ["eager.function_calls"] = 1, ["eager.path_ns"] = 1.6e6, ["part.host_ns"] = 6e6,
                ["host.python_before_ns"] = 3e6 } },
    { name = "a few ops beside a short write", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 7.3e6, ["output.count"] = 3, ["output.path_ns"] = 1e5, ["output.steps_share"] = 1,
                ["eager.ops"] = 4, ["eager.function_calls"] = 1, ["eager.path_ns"] = 1.6e6 } },
    { name = "histograms at the end of short epochs", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 7.2e6, -- 0.6 of 12 ms
      facts = { ["step.ns"] = 1.9e7, ["output.count"] = 3, ["output.path_ns"] = 8e4, ["output.steps_share"] = 0.2,
                ["step.used"] = 15, ["step.slow_count"] = 3, ["step.slow_excess_ns"] = 1.2e7 },
      tables = { activities = { { name = "EagerLocalExecute: WriteSummary", kind = "output" } } } },
    { name = "slow steps that write nothing", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.9e7, ["output.count"] = 3, ["output.path_ns"] = 8e4, ["output.steps_share"] = 0.07,
                ["step.used"] = 15, ["step.slow_count"] = 3, ["step.slow_excess_ns"] = 1.2e7 },
      tables = { activities = { { name = "EagerLocalExecute: WriteSummary", kind = "output" } } } },
    { name = "conditional writes that do not fire", finding = false,
      facts = { ["step.ns"] = 1e7, ["output.count"] = 80, ["output.path_ns"] = 2e4, ["output.steps_share"] = 1 } },
  },
}
