-- The same kernels run in every step, and the device waits for their launches.
return rule {
  id = "graph-capture-candidate", api = 1, version = "1.0.0",
  title = "The same kernels run in every step and could be captured as a graph",
  category = "host", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "step.source", "device.idle_host_late_ns", "device.idle_launch_ns",
            "kernels.count_per_step", "sync.count_per_step", "kernels", "activities" },
  cause = "host", tags = { "launch" },
  more_specific_than = { "host-bound", "kernel-launch-bound" },
  params = {
    min_kernels = { default = 50, min = 1, max = 1e9, unit = "count", doc = "kernels a step" },
    min_steps = { default = 3, min = 2, max = 1e6, unit = "count", doc = "steps that must be alike" },
    min_alike = { default = 0.95, min = 0, max = 1, unit = "share",
                  doc = "of the kernels, those as many in each step" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "idle time for late launches and starts over the step" },
    min_beside_recorder = { default = 0.6, min = 0, max = 10, unit = "ratio",
                            doc = "the same over what recording takes of the step: less may be its error" },
    max_busy = { default = 0.85, min = 0, max = 1, unit = "share",
                 doc = "share of a step, without what recording takes, in which a busy device works" },
    max_syncs = { default = 0, min = 0, max = 1e6, unit = "count", doc = "blocking calls a step" },
  },
  doc = [[
A captured graph is launched by one call. Kernels count as the same where each runs equally often in every step.
Priced as the idle time before kernels, without what recording takes of the host, at half. Silent where the host
reads results within the step, where graphs are launched already, where the device is busy, and for few kernels.]],

  check = function(p, cfg)
    local step_ns, count, limit = p.fact["step.ns"], p.fact["kernels.count_per_step"], p:host_limit()
    if limit and limit.busy >= cfg.max_busy then return nil end
    local ns = p.fact["device.idle_host_late_ns"] + p.fact["device.idle_launch_ns"]
    -- What recording took of a host that the device waits for is not the program's.
    local bare_ns = p:has("replay.without_recorder_ns") and p.fact["replay.without_recorder_ns"] or step_ns
    local recorder_ns = math.max(0, step_ns - bare_ns)
    ns = math.max(0, ns - recorder_ns)
    -- What recording takes is an estimate: little beside it may be no pause at all.
    if ns < cfg.min_beside_recorder * recorder_ns then return nil end
    if p.fact["step.used"] < cfg.min_steps or p.fact["step.source"] == "whole-trace" or count < cfg.min_kernels then
      return nil
    end
    if ns / bare_ns < cfg.min_share or p.fact["sync.count_per_step"] > cfg.max_syncs then return nil end
    if p:table("activities"):where { name = { like = "GraphLaunch" } }:count() > 0 then return nil end
    local alike = 0
    for row in p:table("kernels"):each() do
      if row.calls and row.calls >= 1 and math.abs(row.calls - math.floor(row.calls + 0.5)) < 0.01 then
        alike = alike + row.calls
      end
    end
    if alike / count < cfg.min_alike then return nil end
    local code =
      { pytorch = "model = torch.compile(model, mode=\"reduce-overhead\")   # or torch.cuda.make_graphed_callables",
        jax = "step = jax.jit(step)", tensorflow = "@tf.function(jit_compile=True)" }
    return finding {
      title = ("The same %s kernels run in every step, with %s of waiting for launches"):format(
        fmt.whole(count), fmt.ms(ns)),
      evidence = { { "idle for late launches and starts a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "kernels a step", count, "count" },
                   { "of them, as many in each step", alike, "count" } },
      condition = ("%s of kernels alike in %d steps"):format(fmt.pct(math.min(1, alike / count)), p.fact["step.used"]),
      remedy = { text = "Capture the step as a graph, and replay it.", code = code[p.framework] },
      impact = impact.exposed { ns = math.min(ns, step_ns), low = 0.25 * math.min(ns, step_ns),
                                high = 0.75 * math.min(ns, step_ns) },
      claims = { { parts = { "host", "idle.launch" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "static steps", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["step.source"] = "marker", ["device.idle_host_late_ns"] = 1.5e6,
                ["device.idle_launch_ns"] = 5e5, ["kernels.count_per_step"] = 500, ["sync.count_per_step"] = 0 },
      tables = { kernels = { { name = "a", calls = 500 } }, activities = {} } },
    -- 5 of 10 ms are the recorder's: of 6 ms of idle time 1 is left.
    { name = "the recorder's time", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["step.source"] = "marker", ["device.idle_host_late_ns"] = 5.5e6,
                ["device.idle_launch_ns"] = 5e5, ["kernels.count_per_step"] = 500, ["sync.count_per_step"] = 0,
                ["replay.without_recorder_ns"] = 5e6 },
      tables = { kernels = { { name = "a", calls = 500 } }, activities = {} } },
    { name = "a busy device", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["step.source"] = "marker", ["device.idle_host_late_ns"] = 5e5,
                ["device.idle_launch_ns"] = 5e5, ["kernels.count_per_step"] = 500, ["sync.count_per_step"] = 0,
                ["device.idle_share"] = 0.1, ["part.compute_ns"] = 9e6 },
      tables = { kernels = { { name = "a", calls = 500 } }, activities = {} } },
    { name = "reads results", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["step.source"] = "marker", ["device.idle_host_late_ns"] = 1.5e6,
                ["device.idle_launch_ns"] = 5e5, ["kernels.count_per_step"] = 500, ["sync.count_per_step"] = 3 },
      tables = { kernels = { { name = "a", calls = 500 } }, activities = {} } },
    { name = "shapes vary", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["step.source"] = "marker", ["device.idle_host_late_ns"] = 1.5e6,
                ["device.idle_launch_ns"] = 5e5, ["kernels.count_per_step"] = 500, ["sync.count_per_step"] = 0 },
      tables = { kernels = { { name = "a", calls = 300.4 }, { name = "b", calls = 199.6 } }, activities = {} } },
  },
}
