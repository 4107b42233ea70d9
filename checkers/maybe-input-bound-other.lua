-- Host code between steps takes long, and arrays enter from Python: input made in the loop.
-- What takes long to become a tensor: lists, which are walked element by element, and large arrays, which are copied.
local function of_conversions(p, cfg)
  local step_ns, ns, calls, longest = p.fact["step.ns"], 0, 0, nil
  local rows = p:table("activities"):where { on_leader = true, kind = "dispatch",
    name = { like = "^(tf\\.constant|convert_to_tensor)" } }
  for row in rows:top("path_self_ns", 8):each() do
    if (row.path_self_ns or 0) >= cfg.min_long_ns * math.max(1, row.events or 1) then
      ns, calls, longest = ns + row.path_self_ns, calls + (row.events or 1), longest or row.name
    end
  end
  if ns < cfg.min_python_share * step_ns then return nil end
  return finding {
    title = ("Lists and arrays of Python take %s of each step to become tensors"):format(fmt.ms(ns)),
    evidence = { { "making tensors of them a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "calls a step", calls, "count" }, { "in", longest } },
    condition = ("long conversions take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns),
      fmt.pct(cfg.min_python_share)),
    remedy = { text = "Stack lists by NumPy before, as they are walked element by element; make what stays the same a "
                 .. "tensor once, before the loop; and keep what batches are drawn from in one array of the type that "
                 .. "the model takes, as arrays are copied, too.",
               code = "x = tf.constant(np.stack(windows))   # not tf.constant(windows), a list of arrays" },
    impact = impact.replay { { "subtract", parts = { "host", "copy" }, ns = ns },
                             fallback = impact.exposed { ns = ns } },
    confidence = "medium",
  }
end

return rule {
  id = "maybe-input-bound-other", api = 1, version = "1.0.0",
  title = "Unexplained host time, probably input made in Python",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "host.python_ns", "host.python_share", "eager.path_share", "activities" },
  cause = "input", tags = { "tensorflow", "input", "python" },
  more_specific_than = { "input-bound-step", "python-in-step", "host-bound", "input-uninstrumented" },
  params = {
    min_python_share = { default = 0.15, min = 0, max = 1, unit = "share",
                         doc = "share of the step in Python outside any event" },
    min_entry_share = { default = 0.01, min = 0, max = 1, unit = "share",
                        doc = "share of the step turning Python arrays into tensors" },
    min_before = { default = 0.5, min = 0, max = 1, unit = "share",
                   doc = "of that Python, the part before the step's first computation" },
    max_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for a tf.data pipeline, from which that is the matter" },
    min_long_ns = { default = 300e3, min = 0, max = 1e12, unit = "ns",
                    doc = "a conversion that takes as long on average is told by itself" },
    max_eager_share = { default = 0.2, min = 0, max = 1, unit = "share",
                        doc = "share of the step in eager ops, from which those are the matter" },
  },
  doc = [[
The step has no input pipeline, spends its time in Python that leaves no event, and turns arrays into tensors: the batch
is made in the loop, by one thread, while nothing else runs. Priced as that Python and the conversion, which a pipeline
of TensorFlow ops would do beside the step; Python behind the step's last computation is left out. The same is said of
what is made before the step beside a tf.data pipeline that keeps up. Conversions that take long themselves, as those of
lists, are told instead. Silent where most Python comes behind the step's
first computation, where the step waits for such a pipeline or where it runs eagerly.]],

  check = function(p, cfg)
    local conversions = of_conversions(p, cfg)
    if conversions then return conversions end
    local step_ns, python_ns = p.fact["step.ns"], p.fact["host.python_ns"]
    local before_ns = p:has("host.python_before_ns") and p.fact["host.python_before_ns"]
    -- What comes behind the step's last computation takes its results: no batch is made of that.
    if before_ns then
      local after_ns = p:has("host.python_after_ns") and p.fact["host.python_after_ns"] or 0
      python_ns = math.max(python_ns - after_ns, before_ns)
    end
    -- Beside a pipeline that keeps up, only what comes before the step can be a part of the batch.
    local beside = p:has("iterators")
    if beside then
      python_ns = math.min(python_ns, before_ns or 0)
      if p.fact["input.wait_share"] > cfg.max_wait_share then return nil end
    end
    -- A batch is made before the step computes, though between its arrays a conversion looks like computing.
    if before_ns and before_ns < cfg.min_before * p.fact["host.python_ns"] then return nil end
    if python_ns < cfg.min_python_share * step_ns or
       p.fact["eager.path_share"] > cfg.max_eager_share then
      return nil
    end
    local entry_ns = p:table("activities"):where { on_leader = true, kind = { like = "^(dispatch|transfer|other)$" },
      name = { like = "^(tf\\.constant|convert_to_tensor|EagerConst|Tensor\\.from|make_array)" } }:max("path_ns") or 0
    if entry_ns < cfg.min_entry_share * step_ns then return nil end

    local all_ns = python_ns + entry_ns
    return finding {
      title = ("%s of each step passes in Python that makes the batch"):format(fmt.ms(all_ns)),
      evidence = {
        { "Python outside any event a step", python_ns, "ns", share = math.min(1, python_ns / step_ns) },
        { "arrays turned into tensors a step", entry_ns, "ns", share = math.min(1, entry_ns / step_ns) },
        { "input pipeline", beside and "keeps up with the step" or "none in the recording" },
      },
      condition = (
        "Python outside events takes %s of the step, %s accepted, and turning arrays into tensors %s, %s accepted")
        :format(fmt.pct(python_ns / step_ns), fmt.pct(cfg.min_python_share), fmt.pct(entry_ns / step_ns),
                fmt.pct(cfg.min_entry_share)),
      remedy = { text = "Make batches in a tf.data pipeline of TensorFlow ops that runs beside the step. What makes "
                   .. "them in Python, as a tokenizer, call once for a batch, not for each item.",
                 code = "ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n).repeat()\n"
        .. "ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(b).prefetch(tf.data.AUTOTUNE)" },
      impact = impact.replay { { "subtract", parts = { "host", "copy" }, ns = all_ns },
                    fallback = impact.exposed { ns = all_ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "numpy batches", framework = "tensorflow", finding = true, impact_ns = 1.1e7,
      facts = { ["step.ns"] = 1.9e7, ["host.python_ns"] = 8e6, ["host.python_share"] = 0.42,
                ["eager.path_share"] = 0.06 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 3e6 } } },
      replay = { 1.1e7 } },
    { name = "an environment that takes what was computed", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 4.2e7, ["host.python_ns"] = 2.1e7, ["host.python_share"] = 0.5,
                ["eager.path_share"] = 0.1, ["host.python_before_ns"] = 0 },
      tables = { activities = { { name = "convert_to_tensor", kind = "dispatch", on_leader = true,
                                  path_ns = 4.3e6 } } } },
    -- 2.8 ms of Python less 0.4 ms that scores what came out, and 0.2 ms of conversions: 2.6 ms.
    { name = "rows made before, scored behind", framework = "tensorflow", finding = true, impact_ns = 2.6e6,
      facts = { ["step.ns"] = 5.2e6, ["host.python_ns"] = 2.8e6, ["host.python_share"] = 0.54,
                ["eager.path_share"] = 0.02, ["host.python_before_ns"] = 2.4e6, ["host.python_after_ns"] = 4e5 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 2e5 } } } },
    { name = "noise beside a pipeline", framework = "tensorflow", finding = true, impact_ns = 3.3e6,
      facts = { ["step.ns"] = 5.8e6, ["host.python_ns"] = 3.1e6, ["host.python_share"] = 0.53,
                ["eager.path_share"] = 0.01, ["host.python_before_ns"] = 3.05e6, ["input.wait_share"] = 0.03 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 2.5e5 } },
                 iterators = { { name = "Iterator::Root::Prefetch", type = "Prefetch" } } },
      replay = { 3.3e6 } },
    { name = "a pipeline that the step waits for", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 5.8e6, ["host.python_ns"] = 3.1e6, ["host.python_share"] = 0.53,
                ["eager.path_share"] = 0.01, ["host.python_before_ns"] = 3.05e6, ["input.wait_share"] = 0.3 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 2.5e5 } },
                 iterators = { { name = "Iterator::Root::Prefetch", type = "Prefetch" } } } },
    -- 4.7 ms of own time in each of two calls.
    { name = "a list of arrays", framework = "tensorflow", finding = true, impact_ns = 9.4e6, replay = { 9.4e6 },
      facts = { ["step.ns"] = 2.3e7, ["host.python_ns"] = 5e5, ["host.python_share"] = 0.02,
                ["eager.path_share"] = 0.01 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, events = 2,
                                  path_ns = 9.6e6, path_self_ns = 9.4e6 } } } },
    { name = "many short conversions", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 6e7, ["host.python_ns"] = 1e6, ["host.python_share"] = 0.02,
                ["eager.path_share"] = 0.7 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, events = 700,
                                  path_ns = 2.5e7, path_self_ns = 1.4e7 } } } },
    { name = "eager ops", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 6e7, ["host.python_ns"] = 1.8e7, ["host.python_share"] = 0.29,
                ["eager.path_share"] = 0.7 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 3e6 } } } },
  },
}
