-- Garbage collection stops the step.
return rule {
  id = "python-gc-pause", api = 1, version = "1.0.0",
  title = "Garbage collection stops the step",
  category = "host", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "gc.count", "gc.path_ns" },
  cause = "host", tags = { "python", "host" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "collections on the path over the step" },
    min_ns = { default = 1e6, min = 0, max = 1e12, unit = "ns", doc = "length of one" },
  },
  doc = [[
Python's collector stops the thread that launches, at other times on each rank. Priced as its time on
the path. Silent for collections below a millisecond.]],

  check = function(p, cfg)
    local count, ns, step_ns = p.fact["gc.count"], p.fact["gc.path_ns"], p.fact["step.ns"]
    if count <= 0 or ns / step_ns < cfg.min_share or ns / count < cfg.min_ns then return nil end
    return finding {
      title = ("Garbage collection takes %s a step"):format(fmt.ms(ns)),
      evidence = { { "collections on the path a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "collections a step", count, "count" } },
      condition = ("collections take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Freeze what setup made, and collect at chosen steps, on all ranks together.",
                 code = "gc.freeze(); gc.disable()\nif step % 500 == 0: gc.collect()" },
      impact = impact.replay { { "scale", kinds = { "gc" }, factor = 0.05 }, fallback = impact.exposed { ns = ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true, replay = { 9e6 },
      facts = { ["step.ns"] = 1e8, ["gc.count"] = 0.5, ["gc.path_ns"] = 1e7 } },
    { name = "short ones", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e8, ["gc.count"] = 50, ["gc.path_ns"] = 2e6 } },
  },
}
