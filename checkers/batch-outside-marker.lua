-- The next batch is taken outside of the marker of the step.
return rule {
  id = "batch-outside-marker", api = 1, version = "1.0.0",
  title = "The next batch is taken outside of the step's marker",
  category = "validity", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "input.between_ns" },
  tags = { "validity", "input" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "of the step, waiting for input behind its marker" },
  },
  doc = [[
A loop that asks for its batch outside of the marker leaves the wait between two steps, where tools that go by
markers do not look: to them the program is not held up by its input. Here a step ends where the next one begins,
so the wait counts all the same, and this is a note without a price. Silent where it is little, and where nothing
marks the steps.]],

  check = function(p, cfg)
    local step_ns, ns = p.fact["step.ns"], p.fact["input.between_ns"]
    if ns < cfg.min_share * step_ns then return nil end
    local code = {
      tensorflow = "with tf.profiler.experimental.Trace('train', step_num=step, _r=1):\n    train_step(next(batches))",
      jax = "with jax.profiler.StepTraceAnnotation('train', step_num=step):\n"
        .. "    state = train_step(state, next(batches))",
    }
    return finding {
      title = ("%s of each step are a wait for input outside of its marker"):format(fmt.ms(ns)),
      evidence = { { "waits for input between two markers, a step", ns, "ns", share = math.min(1, ns / step_ns) } },
      condition = ("the wait outside of markers takes %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Take the batch inside of the marker, so that every tool counts it as part of the step.",
                 code = code[p.framework] },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "for batch in dataset, then the marker", finding = true, framework = "tensorflow",
      facts = { ["step.ns"] = 1e7, ["input.between_ns"] = 4e6 } },
    { name = "taken inside", finding = false, facts = { ["step.ns"] = 1e7, ["input.between_ns"] = 0 } },
    { name = "little of it", finding = false, facts = { ["step.ns"] = 1e7, ["input.between_ns"] = 4.9e5 } },
  },
}
