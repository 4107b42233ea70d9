-- Starting kernels takes time in which the device is idle.
return rule {
  id = "kernel-launch-bound", api = 1, version = "1.0.0",
  title = "Starting kernels holds the step up",
  category = "host", severity = "warn",
  needs = { "step.ns", "device.idle_launch_ns", "launch.count_per_step", "launch.ns_per_step", "launch.median_ns",
            "part.idle_launch_ns" },
  cause = "host", tags = { "launch", "device" },
  more_specific_than = { "host-bound" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent starting kernels while the device is idle" },
    high_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
    min_graphs = { default = 0.5, min = 0, max = 1, unit = "share",
                   doc = "of launches, those of captured graphs, from which nothing is said" },
    max_busy = { default = 0.85, min = 0, max = 1, unit = "share",
                 doc = "share of a step, without what recording takes, in which a busy device works" },
    max_queue = { default = 16, min = 0, max = 1e6, unit = "count",
                  doc = "launches waiting from which the host is ahead and their cost is hidden" },
  },
  doc = [[
Counts the pauses before kernels that were launched in time, and launch calls that the idle device waits for. Priced
by replay: without those pauses, and launch calls at a tenth, each counted up to twice their median. A note where the
device works for a quarter of the step, or waits less than two milliseconds: any program pays for its launches. Silent
where the device is busy, the host is well ahead of it, or most launches are of captured graphs.]],

  check = function(p, cfg)
    local step_ns, limit = p.fact["step.ns"], p:host_limit()
    if limit and limit.busy >= cfg.max_busy then return nil end
    -- Both without what recording takes of each call.
    local _, _, pause_ns = p:whatif { { "scale", parts = { "idle.launch" } } }
    pause_ns = type(pause_ns) == "number" and pause_ns or p.fact["part.idle_launch_ns"]
    local depth = p.fact["launch.queue_depth_median"]
    local _, _, call_ns = p:whatif { { "scale", parts = { "host" }, kinds = { "launch" } } }
    -- A single call that sets the device up is no habit: none counts for more than twice the median.
    call_ns = math.min(call_ns or 0, 2 * p.fact["launch.count_per_step"] * p.fact["launch.median_ns"])
    local ns = pause_ns + call_ns
    if ns / step_ns < cfg.min_share or (depth and depth >= cfg.max_queue) then return nil end

    local count = p.fact["launch.count_per_step"]
    -- Launches of captured graphs start many kernels each already; calls of the host behind a kernel start none.
    local launches = p:has("activities") and p:table("activities"):where { kind = "launch" }
    local graphs = launches and launches:where { name = { like = "GraphLaunch" } }:sum("events") or 0
    if graphs > 0 and graphs > cfg.min_graphs *
       (graphs + launches:where { name = { like = p:names("driver_launches") } }:sum("events")) then
      return nil
    end
    local flags, code
    if p.framework == "tensorflow" then flags = "TF_GPU_THREAD_MODE=gpu_private TF_GPU_THREAD_COUNT=2" end
    if p.framework == "tensorflow" then code = "@tf.function(jit_compile=True)" end
    if p.framework == "pytorch" then code = "model = torch.compile(model, mode=\"reduce-overhead\")" end
    return finding {
      title = ("Starting %s kernels leaves the device idle %s a step"):format(fmt.whole(count), fmt.ms(ns)),
      severity = limit and limit.severity == "info" and "info" or
        ns / step_ns >= cfg.high_share and "error" or "warn",
      evidence = { { "idle before kernels launched in time, a step", pause_ns, "ns",
                     share = math.min(1, pause_ns / step_ns) },
                   { "launch calls that the idle device waits for, a step", call_ns, "ns" },
                   { "launches a step", count, "count" },
                   { "all launch calls a step", p.fact["launch.ns_per_step"], "ns" } },
      condition = ("starting kernels takes %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Launch less: fuse or compile the step, capture it as a graph, or batch more.", code = code,
                 flags = flags },
      impact = impact.replay { { "scale", parts = { "idle.launch" }, factor = 0.1 },
                               { "subtract", parts = { "host" }, kinds = { "launch" }, ns = 0.9 * call_ns } },
      claims = { { parts = { "idle.launch" } }, { parts = { "host" }, kinds = { "launch" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a fifth of the step", framework = "pytorch", finding = true, replay = { 1e6, 1.8e6 }, selected_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_launch_ns"] = 1.2e6, ["part.idle_launch_ns"] = 1.2e6,
                ["launch.count_per_step"] = 800, ["launch.ns_per_step"] = 4e6, ["launch.median_ns"] = 5e3,
                ["launch.queue_depth_median"] = 2 } },
    { name = "graphs in a loop", framework = "jax", finding = false, replay = { 1e6, 1.8e6 }, selected_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_launch_ns"] = 1.2e6, ["part.idle_launch_ns"] = 1.2e6,
                ["launch.count_per_step"] = 65, ["launch.ns_per_step"] = 2e6, ["launch.median_ns"] = 3e4 },
      tables = { activities = { { name = "cuGraphLaunch (CudaGraph:4)", kind = "launch", events = 64 } } } },
    { name = "a busy device", framework = "pytorch", finding = false, replay = { 1e6, 1.8e6 }, selected_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_launch_ns"] = 1.2e6, ["part.idle_launch_ns"] = 1.2e6,
                ["device.idle_share"] = 0.12, ["part.compute_ns"] = 8.8e6,
                ["launch.count_per_step"] = 800, ["launch.ns_per_step"] = 4e6, ["launch.median_ns"] = 5e3,
                ["launch.queue_depth_median"] = 2 } },
    { name = "the host is ahead", finding = false, selected_ns = 1e6, replay = { 1e6, 1.8e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_launch_ns"] = 1.2e6, ["part.idle_launch_ns"] = 1.2e6,
                ["launch.count_per_step"] = 800, ["launch.ns_per_step"] = 4e6, ["launch.median_ns"] = 5e3,
                ["launch.queue_depth_median"] = 300 } },
    { name = "TensorFlow's threads", framework = "tensorflow", finding = true, replay = { 1e6, 1.8e6 },
      selected_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_launch_ns"] = 1.2e6, ["part.idle_launch_ns"] = 1.2e6,
                ["launch.count_per_step"] = 800, ["launch.ns_per_step"] = 4e6, ["launch.median_ns"] = 5e3 } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
