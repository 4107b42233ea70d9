-- Compiled code still launches its kernels one by one, and the device waits.
local REGIONS = "Torch-Compiled Region.*,CompiledFunction.*,## Call CompiledFxGraph.*"

return rule {
  id = "compile-mode-default", api = 1, version = "1.0.0",
  title = "Compiled code launches its kernels one by one",
  category = "compile", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_host_late_ns", "device.idle_launch_ns", "kernels", "activities" },
  cause = "host", tags = { "compile", "launch" },
  more_specific_than = { "tiny-kernels", "kernel-launch-bound", "host-bound", "graph-capture-candidate" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "idle time around launches over the step" },
    min_compiled = { default = 0.25, min = 0, max = 1, unit = "share",
                     doc = "of the kernels, those that the compiler made" },
    max_memory = { default = 0.9, min = 0, max = 1, unit = "share",
                   doc = "of the device's memory in use; graphs need some of their own" },
    min_joined = { default = 2, min = 1, max = 1e6, unit = "count",
                   doc = "kernels of the compiler a call of a region: a graph of one joins nothing" },
    left = { default = 0.1, min = 0, max = 1, unit = "share",
             doc = "of the host's time in compiled regions, what launching graphs and filling inputs takes" },
  },
  doc = [[
torch.compile replays device graphs only in the modes reduce-overhead and max-autotune. Fires where compiled regions
run, no graph is launched and the device waits for launches. Priced by replay with a tenth of the host's time inside of
compiled regions. Silent near the limit of memory, where graphs are launched, where most kernels come from code that is
not compiled, and where regions are so short that there is nothing to capture together: graph-breaks has those.]],

  check = function(p, cfg)
    local step_ns, activities = p.fact["step.ns"], p:table("activities")
    local regions =
      activities:where { name = { like = "^(Torch-Compiled Region|CompiledFunction$|## Call CompiledFxGraph)" } }
    if regions:count() == 0 or activities:where { name = { like = "GraphLaunch" } }:count() > 0 then return nil end
    local triton = p:table("kernels"):where { name = { like = "^triton_" } }
    local ns = math.min(p.fact["device.idle_host_late_ns"] + p.fact["device.idle_launch_ns"], step_ns)
    if triton:count() == 0 or ns < cfg.min_share * step_ns or (p.fact["memory.peak_share"] or 0) > cfg.max_memory then
      return nil
    end
    local count = p:table("kernels"):sum("calls")
    local called = regions:where { name = { like = "^Torch-Compiled Region" } }:sum("events")
    if triton:sum("calls") < math.max(cfg.min_compiled * count, cfg.min_joined * called) then return nil end
    return finding {
      title = ("Compiled code launches %s kernels one by one; the device waits %s a step"):format(
        fmt.whole(count), fmt.ms(ns)),
      evidence = { { "idle around launches a step", ns, "ns", share = ns / step_ns },
                   { "kernels a step", count, "count" },
                   { "of them, made by the compiler", triton:sum("calls"), "count" } },
      condition = ("no graph is launched, and launches leave the device idle %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Let the compiler capture graphs.",
                 code = "model = torch.compile(model, mode='reduce-overhead')" },
      impact = impact.replay { { "scale", parts = { "host" }, name = REGIONS, factor = cfg.left },
                               { "scale", parts = { "idle.launch" }, factor = cfg.left } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "late launches", framework = "pytorch", format = "kineto", finding = true, replay = { 1.5e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6, ["device.idle_launch_ns"] = 1e6,
                ["memory.peak_share"] = 0.5 },
      tables = { kernels = { { name = "triton_poi_fused_add_0", calls = 100 } },
                 activities = { { name = "Torch-Compiled Region: 0/0" } } } },
    { name = "mostly eager", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6, ["device.idle_launch_ns"] = 1e6,
                ["memory.peak_share"] = 0.5 },
      tables = { kernels = { { name = "triton_poi_fused_add_0", calls = 10 }, { name = "gemm", calls = 400 } },
                 activities = { { name = "Torch-Compiled Region: 0/0" } } } },
    { name = "regions of a kernel each", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6, ["device.idle_launch_ns"] = 1e6,
                ["memory.peak_share"] = 0.5 },
      tables = { kernels = { { name = "triton_poi_fused_add_0", calls = 100 } },
                 activities = { { name = "Torch-Compiled Region: 0/0", events = 90 } } } },
    { name = "graphs are launched", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6, ["device.idle_launch_ns"] = 1e6,
                ["memory.peak_share"] = 0.5 },
      tables = { kernels = { { name = "triton_poi_fused_add_0", calls = 100 } },
                 activities = { { name = "Torch-Compiled Region: 0/0" }, { name = "cudaGraphLaunch" } } } },
  },
}
