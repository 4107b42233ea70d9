-- A library still tries algorithms in steady steps.
return rule {
  id = "autotune-in-steady-state", api = 1, version = "1.0.0",
  title = "A library still tries algorithms in steady steps",
  category = "compile", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "device.idle_share", "activities" },
  cause = "compile", tags = { "compile" },
  params = {
    min_steps = { default = 3, min = 2, max = 1e6, unit = "count", doc = "steps, to tell steady ones from the first" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those that try" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "its time over the step" },
  },
  doc = [[
cuDNN's search, XLA's and Triton's autotuners measure several algorithms once a shape. In each step it means that shapes
keep changing or that the result is not kept. Priced as its time, as the step waits for what is measured. Silent in the
first steps.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local step_ns = p.fact["step.ns"]
    local tries =
      p:table("activities"):where { name = { like = "(?i)^cudnnFind|redzone|autotun|benchmark_all_configs|miopenFind" },
                                    steps_share = { min = cfg.min_steps_share } }
    -- The host waits for what it measures: all of it holds the step up, though the path then runs through kernels.
    local ns = math.min(tries:max("total_ns") or 0, step_ns)
    if tries:count() == 0 or ns < cfg.min_share * step_ns then return nil end
    local top = tries:top("total_ns", 1):rows()[1]
    return finding {
      title = ("Trying algorithms takes %s of each step"):format(fmt.ms(ns)),
      subject = { op = top.name },
      evidence = { { "trying, a step", ns, "ns", share = ns / step_ns },
                   { "of the steps, those that try", top.steps_share, "share" },
                   { "times a step", top.events, "count" } },
      condition = ("%s of the steps try algorithms, %s accepted"):format(
        fmt.pct(top.steps_share), fmt.pct(cfg.min_steps_share)),
      remedy = { text = "Keep shapes fixed, warm each up once, and keep the results.",
                 code = p.framework == "pytorch" and "torch.backends.cudnn.benchmark = False   # with shapes that vary"
                        or p.framework == "jax" and "XLA_FLAGS=--xla_gpu_load_autotune_results_from=autotune.txt"
                        or nil },
      impact = impact.exposed { ns = ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.3 },
      tables = { activities = { { name = "cudnnFindConvolutionForwardAlgorithmEx", steps_share = 1, events = 2,
                                  total_ns = 1e6 } } } },
    { name = "the first step", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.3 },
      tables = { activities = { { name = "cudnnFindConvolutionForwardAlgorithmEx", steps_share = 0.2, events = 0.2,
                                  total_ns = 1e6 } } } },
  },
}
