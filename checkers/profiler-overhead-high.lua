-- The profiler's own work takes much of the step.
-- Each event is written by the thread that it is of. Where an accelerator waits for that thread, steps are that much
-- longer than without a profiler.
local function of_events(p, cfg)
  local step_ns = p.fact["step.ns"]
  local count = p:has("validity.host_events") and p.fact["validity.host_events"] or 0
  local host_ns = p:has("part.host_ns") and p.fact["part.host_ns"] or 0
  local low_ns, high_ns = count * cfg.event_low_ns, math.min(count * cfg.event_high_ns, host_ns)
  if host_ns < cfg.min_host_share * step_ns or low_ns < cfg.min_event_share * step_ns or high_ns <= low_ns then
    return nil
  end
  return finding {
    title = ("Recorded steps may be %s to %s as long as others: %s events each are written by the thread that launches")
      :format(fmt.ratio(step_ns / (step_ns - low_ns)), fmt.ratio(step_ns / (step_ns - high_ns)), fmt.whole(count)),
    severity = "info",
    evidence = { { "events of the leading thread a step", count, "count" },
                 { "writing them, at least", low_ns, "ns", share = low_ns / step_ns },
                 { "writing them, at most", high_ns, "ns", share = high_ns / step_ns },
                 { "the device waits for the host a step", host_ns, "ns", share = math.min(1, host_ns / step_ns) },
                 { "what holds", "times of kernels and copies; the host's share is smaller without a profiler" } },
    condition = ("writing events takes %s of the step, %s accepted"):format(
      fmt.pct(low_ns / step_ns), fmt.pct(cfg.min_event_share)),
    remedy = { text = "Record once more without stacks and shapes, or time the loop without a profiler.",
               code = p.framework == "pytorch" and "profile(with_stack=False, record_shapes=False)" or nil },
    impact = impact.none(),
    confidence = "low",
  }
end

return rule {
  id = "profiler-overhead-high", api = 1, version = "1.0.0",
  title = "The profiler's own work takes much of the step",
  category = "validity", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.idle_share", "device.idle_profiler_ns", "device.idle_profiler_share" },
  tags = { "validity", "device" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "idle time for the profiler over the step" },
    event_low_ns = { default = 500, min = 0, max = 1e6, unit = "ns",
                     doc = "what writing an event costs at least: docs/measuring.md" },
    event_high_ns = { default = 1500, min = 0, max = 1e6, unit = "ns", doc = "the same at most" },
    min_event_share = { default = 0.05, min = 0, max = 1, unit = "share",
                        doc = "that of all events, at least, over the step" },
    min_host_share = { default = 0.25, min = 0, max = 1, unit = "share",
                       doc = "what the device waits for the host, from which that makes steps longer" },
    veto_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which times cannot be trusted" },
  },
  doc = [[
Writing buffers and instrumenting code stops the program; this idle time is charged to nobody else. Each event also
costs the thread that writes it some half to one and a half microseconds, which makes steps longer where the device
waits for that thread. A fact without a price. Silent where it lies outside of steps, or is small.]],

  check = function(p, cfg)
    local share = p.fact["device.idle_profiler_share"]
    if share < cfg.min_share then return of_events(p, cfg) end
    return finding {
      title = ("Profiling itself takes %s of the step"):format(fmt.pct(share)),
      severity = share >= cfg.veto_share and "veto" or "warn",
      evidence = { { "idle while the profiler worked, a step", p.fact["device.idle_profiler_ns"], "ns",
                     share = math.min(1, share) } },
      condition = ("%s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Record fewer steps, without stacks, shapes or memory, one at a time.",
                 code = p.framework == "pytorch"
                   and "profile(with_stack=False, record_shapes=False, profile_memory=False)" or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["device.idle_profiler_ns"] = 1e6,
                ["device.idle_profiler_share"] = 0.1 } },
    { name = "stacks of a program that waits for its host", framework = "pytorch", format = "kineto", finding = true,
      severity = "info",
      facts = { ["step.ns"] = 8e6, ["device.idle_share"] = 0.8, ["device.idle_profiler_ns"] = 0,
                ["device.idle_profiler_share"] = 0, ["validity.host_events"] = 3500, ["part.host_ns"] = 6e6 } },
    { name = "as many events beside a device that works", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 8e6, ["device.idle_share"] = 0.1, ["device.idle_profiler_ns"] = 0,
                ["device.idle_profiler_share"] = 0, ["validity.host_events"] = 3500, ["part.host_ns"] = 4e5 } },
    { name = "little", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["device.idle_profiler_ns"] = 1e4,
                ["device.idle_profiler_share"] = 0.001 } },
  },
}
