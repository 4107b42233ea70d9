-- A loop appends to a tensor by concatenating it anew in each round.

-- Concatenations of a long tensor and a little more, in whatever loop: a network's layers come between its rounds, or
-- the steps of the program are the rounds.
local function of_appends(p, cfg)
  local step_ns = p.fact["step.ns"]
  local count, ns = p.fact["torch.appends"] or 0, p.fact["torch.appends_ns"] or 0
  -- Of copies inside an accelerator d2d-copies speaks.
  if p:has("device.idle_share") or count <= 0 or ns < cfg.min_append_share * step_ns then return nil end
  return finding {
    title = ("%s concatenations copy a long tensor to add a little to it: %s a step"):format(
        fmt.whole(count), fmt.ms(ns)),
    locations = p:lines_of("torch.appends_ns"),
    evidence = { { "such concatenations a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "how many", count, "count" } },
    condition = "what is added is at most a sixteenth of the result",
    remedy = { text = "Allocate the whole tensor once and write the new part in place.",
               code = "cache = torch.empty(batch, heads, longest, dim, device=x.device); cache[:, :, t] = new" },
    impact = impact.exposed { ns = ns, low = 0.85 * ns, high = ns },
    confidence = "medium",
  }
end

-- Results of batches that are put together anew with each batch, as few as these may be.
local function of_grown(p, cfg)
  local step_ns = p.fact["step.ns"]
  local count, ns = p.fact["torch.grown"] or 0, p.fact["torch.grown_ns"] or 0
  local last_ns = p.fact["torch.grown_last_ns"] or 0
  if p:has("device.idle_share") or count <= 0 or ns - last_ns < cfg.min_append_share * step_ns then return nil end
  return finding {
    title = ("%s concatenations put results together anew for each part that comes: %s a step"):format(
        fmt.whole(count), fmt.ms(ns)),
    locations = p:lines_of("torch.grown_ns"),
    evidence = { { "such concatenations a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "how many", count, "count" }, { "the last, with all parts", last_ns, "ns" } },
    condition = "each takes what the one before made, and one part more",
    remedy = { text = "Keep of each batch only what is read in the end, such as classes instead of the scores of all; "
                 .. "collect that in a list and concatenate once.",
               code = "parts.append(logits.argmax(-1))   # then, behind the loop: y = torch.cat(parts)\n"
                 .. "Trainer(..., preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1))" },
    -- Of the whole, or of little: then the last one goes as well.
    impact = impact.exposed { ns = ns, low = ns - last_ns, high = ns },
    confidence = "medium",
  }
end

-- Beside a network in graph functions, long ops of Python, against joining, work on what was joined.
local function on_joined_ns(p, cfg, join)
  if (p:has("eager.function_calls") and p.fact["eager.function_calls"] or 0) < 1 then return 0 end
  local ns, least_ns = 0, math.max(cfg.min_eager_ns, cfg.min_on_joined * join.mean_ns)
  for row in p:table("ops"):where { mean_ns = { min = least_ns } }:each() do
    if row.is_eager and not row.type:find("^Concat") then ns = ns + row.self_ns end
  end
  return ns
end

-- Python that joins arrays in each step, op by op, and copies much.
local function of_eager(p, cfg)
  local step_ns, worst = p.fact["step.ns"], nil
  for row in p:table("ops"):where { type = { like = "^Concat(V2)?$" } }:each() do
    if row.is_eager and row.mean_ns >= cfg.min_eager_ns and (not worst or row.self_ns > worst.self_ns) then
      worst = row
    end
  end
  if not worst or worst.self_ns < cfg.min_eager_share * step_ns then return nil end
  local join_ns = math.min(worst.self_ns, step_ns)
  local on_it_ns = on_joined_ns(p, cfg, worst)
  local ns = math.min(join_ns + on_it_ns, step_ns)
  return finding {
    title = (on_it_ns > 0 and "Python joins large arrays in each step, and works on them: %s"
             or "Python joins large arrays in each step: %s"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.name },
    evidence = { { "joining a step", join_ns, "ns", share = join_ns / step_ns },
                 { "calls a step", worst.calls, "count" },
                 on_it_ns > 0 and { "other long ops outside of graph functions", on_it_ns, "ns" }
                   or nil },
    condition = ("joining takes %s of the step, %s accepted"):format(fmt.pct(join_ns / step_ns),
      fmt.pct(cfg.min_eager_share)),
    remedy = { text = "What grows by a part in each step is copied whole each time: keep the parts in a list, and join "
                 .. "them once at the end.",
               code = "parts.append(y)   # then, behind the loop: tf.concat(parts, 0)" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- A loop of a function of TensorFlow in which arrays are put together: a cell joins its two inputs quickly, what takes
-- long is the history that grows.
local function of_functions(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("ops") or not p:has("work") then return nil end
  local step_ns, often = p.fact["step.ns"], { min = cfg.min_turns }
  local ops = p:table("ops"):where { type = { like = "^Concat(V2)?$" }, calls = often }
  local rounds, types, worst = 0, {}, nil
  for row in ops:each() do
    if not row.is_eager and row.mean_ns >= cfg.min_copy_ns then
      types[row.type], rounds = true, math.max(rounds, row.calls)
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  local ns = 0
  for row in p:table("work"):where { calls = often, part = "compute" }:each() do
    if types[row.type or ""] and row.phase ~= "input" then ns = ns + row.ns end
  end
  if not worst or ns < cfg.min_copied_share * step_ns then return nil end
  return finding {
    title = ("A loop puts an array together anew in each of %s rounds: %s a step"):format(
      fmt.whole(rounds), fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.name },
    evidence = { { worst.type .. " in the loop a step", ns, "ns", share = ns / step_ns }, { "rounds", rounds, "count" },
                 { "one copy", worst.mean_ns, "ns" } },
    condition = ("such copies take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_copied_share)),
    remedy = { text = "Write each round's result to a TensorArray, and stack it once behind the loop.",
               code = "states = states.write(t, state)   # states = tf.TensorArray(tf.float32, steps); "
                 .. "then states.stack()" },
    impact = impact.exposed { ns = ns, low = 0.3 * ns, high = ns },
    confidence = "medium",
  }
end

-- A variable that gets a joined array of its own size: a history that is shifted to take what is new.
local function of_variable(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("ops") then return nil end
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local function longest(pattern)
    return ops:where { type = { like = pattern }, mean_ns = { min = cfg.min_shift_ns } }:top("self_ns", 1):rows()[1]
  end
  local assign, concat = longest("^Assign(VariableOp)?$"), longest("^Concat(V2)?$")
  -- Both move the same bytes, as often; copies of one array differ by what lies in the cache.
  if not assign or not concat or assign.is_eager or concat.is_eager or assign.calls ~= concat.calls
      or concat.mean_ns > 3 * assign.mean_ns or assign.mean_ns > 3 * concat.mean_ns then return nil end
  local read = longest("^ReadVariableOp$")
  local read_ns = read and read.mean_ns >= 0.5 * assign.mean_ns and read.calls <= concat.calls and read.self_ns or 0
  local ns = concat.self_ns + assign.self_ns + read_ns
  if ns < cfg.min_append_share * step_ns then return nil end
  return finding {
    title = ("A whole variable is copied to take what is new: %s a step"):format(fmt.ms(ns)),
    severity = ns >= 0.15 * step_ns and "warn" or "info",
    subject = { op = concat.name },
    evidence = { { "putting it together a step", concat.self_ns, "ns", share = math.min(1, concat.self_ns / step_ns) },
                 { "assigning it a step", assign.self_ns, "ns" }, { "reading it whole a step", read_ns, "ns" } },
    condition = ("such copies take %s of the step, %s accepted"):format(
      fmt.pct(math.min(1, ns / step_ns)), fmt.pct(cfg.min_append_share)),
    remedy = { text = "Keep an index of the oldest row and write the new rows there, in a ring.",
               code = "memory.scatter_update(tf.IndexedSlices(new, (at + tf.range(n)) % size)); "
                 .. "at.assign((at + n) % size)" },
    impact = impact.exposed { ns = ns, low = 0.6 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "cat-in-loop", api = 1, version = "1.0.0",
  title = "A tensor grows by concatenation in a loop",
  category = "host", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "loop", tags = { "ops", "python" },
  more_specific_than = { "many-small-gemms", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
      "elementwise-chain", "batch-too-small", "unvectorised-loop", "gather-scatter-bound",
      "embedding-bound", "loop-indexing", "contiguous-copies" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time of the loop over the step from which this is said" },
    min_append_share = { default = 0.08, min = 0, max = 1, unit = "share",
      doc = "the same of concatenations that add little to a long tensor" },
    min_repeats = { default = 8, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step" },
    min_turns = { default = 16, min = 2, max = 1e7, unit = "count", doc = "TensorFlow: rounds a step of a loop" },
    min_copied_share = { default = 0.10, min = 0, max = 1, unit = "share",
                         doc = "TensorFlow: share of the step in copies of the loop" },
    min_eager_share = { default = 0.15, min = 0, max = 1, unit = "share",
                        doc = "TensorFlow: share of the step in one call of Python's own that joins arrays" },
    min_on_joined = { default = 0.1, min = 0, max = 10, unit = "ratio",
                      doc = "of a join's time, what an op outside of functions takes that works on the result" },
    min_eager_ns = { default = 2e5, min = 0, max = 1e12, unit = "ns", doc = "TensorFlow: such a call, on average" },
    min_shift_ns = { default = 1e5, min = 0, max = 1e12, unit = "ns",
                     doc = "TensorFlow: one copy of a whole variable, on average" },
    min_copy_ns = { default = 30000, min = 0, max = 1e12, unit = "ns", doc = "TensorFlow: one copy, on average" },
    max_bare = { default = 2, min = 1, max = 1e6, unit = "count",
                 doc = "calls a round, up to which the loop only concatenates" },
  },
  doc = [[
Each round copies all that came before to append a little: the bytes grow with the square of the rounds. Priced as the
concatenations, at best with a part of the loop round them. One that adds little to a long tensor copies all that was
there, in a loop or once a step. Three or more in a step, each of what the one before made and of another batch's rows,
are priced as all but the last to all of them. In TensorFlow, a loop of a function that spends a good part of the step
in putting arrays together: at best all of it, for the results are stacked once in the end; and, as a bound, one that
Python calls itself, with other long ops outside of graph functions: they work on what was joined. An assignment to a
variable that takes as long as a concatenation moves all of the variable to take a few new rows: priced as both, with a
read that copies it once more. Silent where what is concatenated keeps its size.]],

  check = function(p, cfg)
    local function price(row)
      local ns = row.concat_ns
      if row.repeats < cfg.min_repeats or ns < cfg.min_share * p.fact["step.ns"] or not row.is_growing or
          row.concats < cfg.min_repeats or row.concats < 0.5 * row.repeats then return nil end
      -- Nothing else in the loop: one concatenation at its end, of the last one's size, takes its place.
      local saved_ns = row.ns * (1 - 2 / row.repeats)
      if row.body <= cfg.max_bare then return row.ns, 0.8 * saved_ns, saved_ns end
      return ns, 0.7 * ns, math.max(ns, 0.3 * row.ns)
    end
    if p.format == "xspace" then
      return of_variable(p, cfg) or of_functions(p, cfg)
        or p.framework == "tensorflow" and p:has("ops") and of_eager(p, cfg) or nil
    end
    if not p:has("eager_loops") then return skip { reason = "no loops of an eager program are recorded" } end
    return of_appends(p, cfg) or p:in_loop {
      price = price, min_share = cfg.min_share,
      severity = function() return "warn" end, -- it grows: that is known without shapes, too
      title = "A growing tensor is concatenated %s times a step: %s",
      remedy = function()
        return { text = "Collect the pieces in a list and concatenate once, or write into a tensor made in advance.",
                 code = "parts.append(x)   # then, behind the loop: y = torch.cat(parts)" }
      end,
    } or of_grown(p, cfg)
  end,

  examples = {
    { name = "a cache that grows", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3.7e6,
      facts = { ["step.ns"] = 1e7, ["torch.appends"] = 8, ["torch.appends_ns"] = 4e6 },
      tables = { eager_loops = {} } },
    -- 4 ms, of which the last takes 1.6: 2.4 to 4 ms.
    { name = "scores of four batches", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3.2e6,
      facts = { ["step.ns"] = 1e7, ["torch.grown"] = 3, ["torch.grown_ns"] = 4e6, ["torch.grown_last_ns"] = 1.6e6 },
      tables = { eager_loops = {} } },
    { name = "classes of four batches", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.grown"] = 3, ["torch.grown_ns"] = 4e5, ["torch.grown_last_ns"] = 1.6e5 },
      tables = { eager_loops = {} } },
    { name = "only concatenations", framework = "pytorch", finding = true, impact_ns = 9e6,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "cat", ns = 1.04e7, repeats = 50, body = 1, calls = 50, span_ns = 1e7,
          backward_ns = 0, call_ns = 2e5, view_ns = 2e3, products = 0, gates = 0, concats = 50, concat_ns = 8e6,
          readbacks = 0,
          conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1000, is_growing = true } } } },
    { name = "loop", framework = "pytorch", finding = true, impact_ns = 7e6, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "cat", ns = 1.2e7, repeats = 64, body = 5, calls = 320, span_ns = 1.2e7,
          backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 0, gates = 0, concats = 64, concat_ns = 8e6,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = true } } } },
    { name = "does not grow", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "cat", ns = 1.2e7, repeats = 64, body = 5, calls = 320, span_ns = 1.2e7,
          backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 0, gates = 0, concats = 64, concat_ns = 8e6,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "a trajectory in a while loop", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 2.6e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "while/concat", type = "ConcatV2", calls = 80, mean_ns = 5e4, self_ns = 4e6 } },
                 work = { { type = "ConcatV2", part = "compute", phase = "forward", calls = 80, ns = 4e6 } } } },
    { name = "a memory that is shifted", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 4e6, -- 0.8 of 2 ms, 1.5 ms and 1.5 ms
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "concat", type = "ConcatV2", calls = 1, mean_ns = 2e6, self_ns = 2e6 },
                         { name = "AssignVariableOp", type = "AssignVariableOp", calls = 1, mean_ns = 1.5e6,
                           self_ns = 1.5e6 },
                         { name = "ReadVariableOp", type = "ReadVariableOp", calls = 1, mean_ns = 1.5e6,
                           self_ns = 1.5e6 } }, work = {} } },
    { name = "a short assignment beside a concatenation", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "concat", type = "ConcatV2", calls = 1, mean_ns = 2e6, self_ns = 2e6 },
                         { name = "AssignVariableOp", type = "AssignVariableOp", calls = 1, mean_ns = 1.5e5,
                           self_ns = 1.5e5 } }, work = {} } },
    { name = "a cell that joins its inputs", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "while/concat", type = "ConcatV2", calls = 80, mean_ns = 1e4, self_ns = 8e5 } },
                 work = { { type = "ConcatV2", part = "compute", phase = "forward", calls = 80, ns = 8e5 } } } },
    { name = "all vectors so far, joined eagerly", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "ConcatV2", type = "ConcatV2", is_eager = true, calls = 1, mean_ns = 4e6,
                           self_ns = 4e6 } }, work = {} } },
    -- 4 ms of joining; subtracting from the result takes 3 ms more, a product of the network is in a function.
    { name = "a history that is gone over in Python", framework = "tensorflow", format = "xspace", finding = true,
      facts = { ["step.ns"] = 1e7, ["eager.function_calls"] = 1 },
      impact_ns = 7e6, severity = "info",
      tables = { ops = { { name = "ConcatV2", type = "ConcatV2", is_eager = true, calls = 1, mean_ns = 4e6,
                           self_ns = 4e6 },
                         { name = "Sub", type = "Sub", is_eager = true, calls = 1, mean_ns = 3e6, self_ns = 3e6 },
                         { name = "Mul", type = "Mul", is_eager = true, calls = 9, mean_ns = 1e4, self_ns = 9e4 },
                         { name = "a/MatMul", type = "MatMul", is_eager = false, calls = 1, mean_ns = 2e6,
                           self_ns = 2e6 } } } },
    { name = "a small one", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "ConcatV2", type = "ConcatV2", is_eager = true, calls = 20, mean_ns = 1e5,
                           self_ns = 2e6 } }, work = {} } },
    { name = "no concatenation", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = true } } } },
  },
}
