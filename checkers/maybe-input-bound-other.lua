-- Host code between steps takes long, and arrays enter from Python: input made in the loop.
return rule {
  id = "maybe-input-bound-other", api = 1, version = "1.0.0",
  title = "Unexplained host time, probably input made in Python",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.median_ns", "host.python_ns", "host.python_share", "eager.path_share", "activities" },
  cause = "input", tags = { "tensorflow", "input", "python" },
  more_specific_than = { "input-bound-step", "python-in-step", "host-bound", "input-uninstrumented" },
  params = {
    min_python_share = { default = 0.15, min = 0, max = 1, unit = "share",
                         doc = "share of the step in Python outside any event" },
    min_entry_share = { default = 0.03, min = 0, max = 1, unit = "share",
                        doc = "share of the step turning Python arrays into tensors" },
    max_eager_share = { default = 0.2, min = 0, max = 1, unit = "share",
                        doc = "share of the step in eager ops, from which those are the matter" },
  },
  doc = [[
The step has no input pipeline, spends its time in Python that leaves no event, and turns arrays into tensors: the batch is
made in the loop, by one thread, while nothing else runs. Priced as that Python and the conversion, which a
pipeline of TensorFlow ops would do beside the step. Silent where a tf.data pipeline feeds the step or where it
runs eagerly.]],

  check = function(p, cfg)
    local step_ns, python_ns = p.fact["step.median_ns"], p.fact["host.python_ns"]
    if p:has("iterators") or p.fact["host.python_share"] < cfg.min_python_share or
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
        { "Python outside any event a step", python_ns, "ns", share = p.fact["host.python_share"] },
        { "arrays turned into tensors a step", entry_ns, "ns", share = math.min(1, entry_ns / step_ns) },
        { "input pipeline", "none in the recording" },
      },
      condition = ("Python outside events takes %s of the step, %s accepted, and turning arrays into tensors %s, %s accepted")
        :format(fmt.pct(p.fact["host.python_share"]), fmt.pct(cfg.min_python_share), fmt.pct(entry_ns / step_ns),
                fmt.pct(cfg.min_entry_share)),
      remedy = { text = "Make batches in a tf.data pipeline of TensorFlow ops that runs beside the step.",
                 code = "ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n).repeat()\n"
                   .. "ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(b).prefetch(tf.data.AUTOTUNE)" },
      impact = impact.replay { { "subtract", parts = { "host", "copy" }, ns = all_ns },
                               fallback = impact.exposed { ns = all_ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "numpy batches", framework = "tensorflow", finding = true, impact_ns = 1.1e7,
      facts = { ["step.median_ns"] = 1.9e7, ["host.python_ns"] = 8e6, ["host.python_share"] = 0.42, ["eager.path_share"] = 0.06 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 3e6 } } },
      replay = { 1.1e7 } },
    { name = "eager ops", framework = "tensorflow", finding = false,
      facts = { ["step.median_ns"] = 6e7, ["host.python_ns"] = 1.8e7, ["host.python_share"] = 0.29, ["eager.path_share"] = 0.7 },
      tables = { activities = { { name = "tf.constant", kind = "dispatch", on_leader = true, path_ns = 3e6 } } } },
  },
}
