-- Code is loaded onto the device during steady steps.
return rule {
  id = "module-load-in-steady-state", api = 1, version = "1.0.0",
  title = "Code is loaded onto the device during steady steps",
  category = "compile", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "device.idle_share", "activities" },
  cause = "compile", tags = { "compile", "launch" },
  params = {
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count",
                  doc = "steps, so that the first two do not count alone" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "loading over the step" },
  },
  doc = [[
Drivers load kernels when they are first needed, which stops launches. Priced as its time on the path,
spread over the steps. Silent in short recordings, where it is warm-up.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local loads = p:table("activities"):where {
      name = { like = p:names("driver_loads_code") } }
    local ns, step_ns = math.max(loads:sum("path_ns"), 0), p.fact["step.ns"]
    if ns / step_ns < cfg.min_share then return nil end
    local top = loads:top("total_ns", 1):rows()[1]
    return finding {
      title = ("Loading code takes %s a step"):format(fmt.ms(ns)),
      subject = { op = top.name },
      evidence = { { "loading on the path a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "loads a step", loads:sum("events"), "count" },
                   { "longest", top.max_ns or 0, "ns" } },
      condition = ("loading takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Run each path of the program once beforehand, or load all kernels at the start.",
                 flags = "CUDA_MODULE_LOADING=EAGER" },
      impact = impact.replay { { "scale",
                                 name = p:names("driver_loads_code") },
                               fallback = impact.exposed { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each step", format = "kineto", finding = true, replay = { 3e5 },
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = { { name = "cuModuleLoadData", events = 2, path_ns = 3e5, total_ns = 6e5,
                                  max_ns = 2e5 } } } },
    { name = "none", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 }, tables = { activities = {} } },
  },
}
