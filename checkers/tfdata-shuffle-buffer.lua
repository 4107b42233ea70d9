-- Filling the shuffle buffer makes a step wait whenever an iterator is new.

-- A step that is a call of Keras' predict or evaluate, which make an iterator themselves.
local function is_prediction(p)
  if not p:has("activities") or not p:has("ops") then return false end
  local calls = p:table("activities"):where {
    name = { like = "^EagerLocalExecute: __inference_(one|multi)_step_on_(data|iterator)" } }
  return calls:count() > 0 and p:table("ops"):where { name = { like = "^gradient_tape/" } }:count() == 0
end

-- An iterator is new in each step.
local function of_each_step(p, cfg)
  if is_prediction(p) then
    return p:in_excess {
      flaw = "iterator-made", min_share = cfg.min_share, time = "making the iterator and filling its buffers",
      severity = "info",
      title = "Each call of predict makes a data set and its iterator anew: %s",
      remedy = { text = "Call predict for more rows at once; where they are few and in memory, call the model itself.",
                 code = "y = model.predict_on_batch(x)   # or model(x, training=False)" },
      confidence = "high",
    }
  end
  local has_sessions = p.format == "graph" or p.format == "profile"
    or p:has("activities") and p:table("activities"):where { name = "SessionRun" }:count() > 0
  return p:in_excess {
    flaw = "iterator-made", min_share = cfg.min_share, time = "making the iterator and filling its buffers",
    title = "Each step makes an iterator over the data anew: %s",
    remedy = has_sessions and {
      text = "Run the initializer once before the loop, over a data set that repeats.",
      code = "session.run(iterator.initializer, {x: all_x})   # once; dataset = dataset.shuffle(n).repeat().batch(b)" }
      or { text = "Make one iterator before the loop, over a data set that repeats.",
               code = "batches = iter(dataset.repeat())\nx, y = next(batches)   # instead of next(iter(dataset))" },
    confidence = "high",
  }
end

return rule {
  id = "tfdata-shuffle-buffer", api = 1, version = "1.0.0",
  title = "Filling the shuffle buffer makes a step wait",
  category = "input", severity = "warn",
  formats = { "xspace", "graph", "profile" },
  needs = { "step.ns", "step.mean_ns", "step.used" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "step-outliers", "step-bimodal",
                         "tfdata-slow-iterator", "tfdata-sequential-map", "tfdata-sequential-op", "tfdata-slow-source",
                         "tfdata-cache", "tfdata-vectorize-map", "tfdata-no-prefetch", "tfdata-read-on-demand" },
  params = {
    min_steps_waited = { default = 3, min = 1, max = 1e6, unit = "ratio",
                         doc = "longest call of the shuffle stage, in median steps" },
    min_wait_share = { default = 0.5, min = 0, max = 1, unit = "share",
                       doc = "of the step's waiting for input, what filling takes" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "filling, spread over the steps, of the step" },
  },
  doc = [[
A shuffle hands out its first element only when its buffer is full, so each new iterator (each epoch, unless repeat
stands below the shuffle) begins with reading and decoding that many elements. Priced as the longest call of the
shuffle stage for each iterator that was seen, spread over the steps. Silent where no call of it lasts several steps,
or where the steps between wait for input as well. Where Python makes an iterator in each step, or runs a session's
initializer of one, making it and waiting for its first batch is priced, whatever its stages; so it is, as a note,
where each step is a call of Keras' predict.]],

  check = function(p, cfg)
    local anew = of_each_step(p, cfg)
    if anew or p.format == "graph" or p.format == "profile" then return anew end
    if not p:has("iterators") or not p:has("input.wait_ns") then
      return skip { reason = "no tf.data iterator events in the steps", capture = "host_tracer_level=2 or higher" }
    end
    local step_ns, steps = p.fact["step.ns"], math.max(p.fact["step.used"], 1)
    local shuffle = p:table("iterators"):where { type = { like = "^(Shuffle|Reservoir)" },
                                                 max_call_ns = { min = cfg.min_steps_waited * step_ns } }
      :top("max_call_ns", 1):rows()[1]
    if not shuffle then return nil end

    -- As many fills as iterators, but no more than fit into the time of all its calls. Prices are for the
    -- median step, which the slow ones lift the mean above.
    local all_ns = (shuffle.call_ns or 0) * (shuffle.calls or 0) * steps
    local fills = math.max(1, math.min(shuffle.instances or 1, math.floor(all_ns / shuffle.max_call_ns)))
    local wait_ns = p.fact["input.wait_ns"]
    local fill_ns = math.min(shuffle.max_call_ns * fills / steps * step_ns / p.fact["step.mean_ns"], wait_ns)
    if fill_ns < cfg.min_wait_share * wait_ns then return nil end
    if fill_ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Filling a shuffle buffer takes %s, %s steps long"):format(
        fmt.ms(shuffle.max_call_ns), fmt.count(math.floor(shuffle.max_call_ns / step_ns))),
      subject = { op = shuffle.name },
      evidence = {
        { "stage", shuffle.name },
        { "longest call", shuffle.max_call_ns, "ns" },
        { "mean call", shuffle.call_ns or 0, "ns" },
        { "times it was filled", fills, "count" },
        { "waiting, spread over the steps", fill_ns, "ns", share = math.min(1, fill_ns / step_ns) },
      },
      condition = ("a call of the shuffle stage lasts %s steps, %s accepted, and costs %s of the step"):format(
        fmt.ratio(shuffle.max_call_ns / step_ns), fmt.ratio(cfg.min_steps_waited), fmt.pct(fill_ns / step_ns)),
      remedy = { text = "Shuffle what is cheap (file names, records before they are decoded), with a smaller buffer, "
                   .. "and repeat below the shuffle so that the buffer stays full between epochs.",
                 code = "ds = records.repeat().shuffle(2048).map(decode, num_parallel_calls=tf.data.AUTOTUNE)" },
      impact = impact.exposed { ns = fill_ns, low = 0.8 * fill_ns, high = fill_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "an initializer in the loop", framework = "tensorflow", format = "graph", finding = true,
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1e7, ["step.used"] = 3 },
      tables = { excess = { { cell = 1, flaw = "iterator-made", ns = 5e6, share = 0.5, factor = 0.05,
                              op = "MakeIterator" } } } },
    { name = "an initializer before the loop", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1e7, ["step.used"] = 3 }, tables = { excess = {} } },
    { name = "next(iter(dataset))", framework = "tensorflow", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1e7, ["step.used"] = 20 },
      tables = { excess = { { cell = 1, flaw = "iterator-made", ns = 6e6, share = 0.6, factor = 0.05,
                              op = "MakeIterator", detail = "Python makes an iterator" } } } },
    { name = "a call of predict a step", framework = "tensorflow", finding = true, severity = "info", replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1e7, ["step.used"] = 20 },
      tables = { ops = { { name = "sequential_1/dense_1/MatMul", type = "MatMul", self_ns = 1e5 } },
                 activities = { { name = "EagerLocalExecute: __inference_one_step_on_data_distributed_12",
                                  kind = "dispatch", events = 1 } },
                 excess = { { cell = 1, flaw = "iterator-made", ns = 6e6, share = 0.6, factor = 0.05,
                              op = "MakeIterator", detail = "Python makes an iterator" } } } },
    { name = "decoded images fill the buffer", framework = "tensorflow", finding = true, impact_ns = 7e6,
      facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1.2e7, ["step.used"] = 20, ["input.wait_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::BatchV2::Shuffle", type = "Shuffle", calls = 32,
                                 instances = 2, call_ns = 3e5, max_call_ns = 9e7, path_ns = 1e5 } } } },
    { name = "each step waits alike", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1.1e7, ["step.used"] = 20, ["input.wait_ns"] = 6e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::BatchV2::Shuffle", type = "Shuffle", calls = 32,
                                 instances = 1, call_ns = 3e5, max_call_ns = 4e7, path_ns = 1e5 } } } },
    { name = "no long call", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.mean_ns"] = 1.2e7, ["step.used"] = 20, ["input.wait_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::BatchV2::Shuffle", type = "Shuffle", calls = 32,
                                 instances = 2, call_ns = 3e5, max_call_ns = 2e6, path_ns = 1e5 } } } },
  },
}
