-- The first recorded step is warm-up, or start-up is in a recording without steps.
return rule {
  id = "warmup-in-window", api = 1, version = "1.0.0",
  title = "The first recorded step is warm-up",
  category = "validity", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.used" },
  tags = { "validity" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "start-up in a recording that counts as one step, from which this is said" },
    veto_share = { default = 0.50, min = 0, max = 1, unit = "share",
                   doc = "start-up from which the recording tells nothing of a steady step" },
    filled_share = { default = 0.50, min = 0, max = 1, unit = "share",
                     doc = "of the rest, work of the device that lets it stand for a step" },
    nearly_all = { default = 0.80, min = 0, max = 1, unit = "share", doc = "start-up from which no such rest does" },
    max_capture = { default = 0.20, min = 0, max = 1, unit = "share",
                    doc = "share of the step in which a graph is captured" },
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count", doc = "other steps needed to compare with" },
  },
  doc = [[
The first step took more than twice the median of the rest: compiling, autotuning, first allocations, filling buffers.
It is left out of all averages. Silent with few other steps. Where nothing marks steps, or only one or two are recorded,
calls that a program makes once (loading a library or a kernel on first use, creating a context, first allocations) are
part of the recording; they stand with compiling, and no finding prices them. Where they are most of the step, and work
of the device does not fill the rest, it tells nothing of others: a veto. So does a step in which a graph is captured,
whose launches run nothing. The same is said where the step waits for stages below a cache in memory: only the first
epoch does.]],

  check = function(p, cfg)
    local step_ns, warmup_ns = p.fact["step.ns"], p.fact["step.warmup_ns"] or 0
    local startup_ns, capture = p.fact["startup.ns"] or 0, p.fact["validity.capture_share"] or 0
    if capture >= cfg.max_capture then
      return finding {
        title = ("A graph is captured in %s of the step: what is launched then does not run"):format(fmt.pct(capture)),
        evidence = { { "of the step, capturing", capture, "share" },
                     { "what holds", "kernels and copies that are there; neither idle time nor the host's share" } },
        condition = ("capturing takes %s of the step, %s accepted"):format(fmt.pct(capture), fmt.pct(cfg.max_capture)),
        remedy = { text = "Record steps that replay the graph.",
                   code = p.framework == "pytorch" and "schedule=torch.profiler.schedule(wait=1, warmup=3, active=10)"
                     or nil },
        severity = "veto", impact = impact.none(), confidence = "high",
      }
    end
    if startup_ns > 0 and startup_ns >= cfg.min_share * step_ns then
      -- What a device fills beside it tells of steps all the same.
      local busy_ns = p:has("device.idle_share") and (1 - p.fact["device.idle_share"]) * step_ns or 0
      local is_filled = busy_ns >= cfg.filled_share * (step_ns - startup_ns)
      local is_all = startup_ns >= (is_filled and cfg.nearly_all or cfg.veto_share) * step_ns
      return finding {
        title = ("%s of %s are start-up: first use, loading, first allocations"):format(fmt.ms(startup_ns),
          p.fact["step.source"] == "marker" and "the step" or "the recording"),
        evidence = { { "calls that are made once", startup_ns, "ns", share = startup_ns / step_ns } },
        condition = ("start-up takes %s of the recording, %s accepted"):format(
          fmt.pct(startup_ns / step_ns), fmt.pct(cfg.min_share)),
        remedy = { text = "Run the program a few times before recording, and mark its steps.",
                   code = p.framework == "pytorch" and "schedule=torch.profiler.schedule(wait=1, warmup=3, active=10)"
                     or nil },
        severity = is_all and "veto" or "warn",
        impact = impact.none(), confidence = "high",
      }
    end
    local fill_ns = p.fact["input.cache_fill_ns"] or 0
    if fill_ns >= cfg.min_share * step_ns then
      return finding {
        title = ("The input's cache was still being filled: %s of each step"):format(fmt.ms(fill_ns)),
        evidence = { { "wait for what the cache keeps from now on, a step", fill_ns, "ns",
                       share = math.min(1, fill_ns / step_ns) } },
        condition = ("filling it takes %s of the step, %s accepted"):format(
          fmt.pct(fill_ns / step_ns), fmt.pct(cfg.min_share)),
        remedy = { text = "Record behind the first epoch; what stands here of the input says nothing of later ones.",
                   code = "tf.keras.callbacks.TensorBoard(log_dir, profile_batch=(batches + 10, batches + 30))" },
        impact = impact.none(), confidence = "high",
      }
    end
    if warmup_ns <= 0 or p.fact["step.used"] < cfg.min_steps then return nil end
    local compiles = (p.fact["compile.count"] or 0) > 0 and " (compiling)" or ""
    return finding {
      title = ("The first step took %s the median%s; it is left out"):format(
        fmt.ratio(warmup_ns / step_ns), compiles),
      evidence = { { "first step", warmup_ns, "ns" }, { "median of the others", step_ns, "ns" } },
      condition = ("the first step took %s the median, 2x accepted"):format(fmt.ratio(warmup_ns / step_ns)),
      remedy = { text = "Begin the recording after step 10, or give the profiler's schedule a warm-up.",
                 code = p.framework == "pytorch" and "schedule=torch.profiler.schedule(wait=1, warmup=3, active=10)"
                   or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "compiled in the first step", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.warmup_ns"] = 4e7 } },
    { name = "the first epoch of a cached pipeline", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["input.cache_fill_ns"] = 2e6 } },
    { name = "hardly a wait for the cache", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["input.cache_fill_ns"] = 2e5 } },
    { name = "even from the start", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.warmup_ns"] = 0 } },
    { name = "nothing was left out", finding = false, facts = { ["step.ns"] = 1e7, ["step.used"] = 10 } },
    { name = "most of the step is first launches", finding = true, severity = "veto",
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["startup.ns"] = 8e8 } },
    { name = "a graph's capture", finding = true, severity = "veto",
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["validity.capture_share"] = 0.3 } },
    { name = "a small graph's capture", finding = false,
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["validity.capture_share"] = 0.02 } },
    { name = "start-up, and a device that fills the rest", finding = true, severity = "warn",
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["startup.ns"] = 6e8, ["device.idle_share"] = 0.65 } },
    { name = "start-up, and a device that hardly works", finding = true, severity = "veto",
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["startup.ns"] = 6e8, ["device.idle_share"] = 0.95 } },
    { name = "first launches of kernels", finding = true, severity = "warn",
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["startup.ns"] = 4e8 } },
    { name = "hardly any start-up", finding = false,
      facts = { ["step.ns"] = 1e9, ["step.used"] = 1, ["startup.ns"] = 4e7 } },
  },
}
