-- The program does not mark its steps.
return rule {
  id = "no-step-markers", api = 1, version = "1.0.0",
  title = "The program does not mark its steps",
  category = "validity", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.source" },
  tags = { "validity" },
  params = {
    min_repeats = { default = 3, min = 2, max = 100, unit = "count",
                    doc = "repeats from which inferred steps are good enough for an info" },
    max_idle = { default = 0.10, min = 0, max = 1, unit = "share",
                 doc = "idle time of a device that works through the whole recording: what its kernels take of it "
                   .. "holds without steps" },
  },
  doc = [[
Without markers the steps are inferred from what repeats, or the whole recording counts as one step.
Per-step numbers are then less certain, or missing. Where a device works nearly all of the recording, shares of its time
hold anyway, and this is an info. Where there is no step at all, or the device idles and nothing of the host was
recorded, prices a step mean nothing: a veto. Silent when steps were marked, or are calls of a session or requests.]],

  check = function(p, cfg)
    local source = p.fact["step.source"]
    if source == "marker" or source == "session" then return nil end

    local used = p.fact["step.used"] or 0
    local left_out = used == 0 and p:has("steps") and p:table("steps"):where { used = false }:rows()[1] or nil
    local is_inferred = source == "inferred" and used >= cfg.min_repeats
    local idle = p:has("device.idle_share") and p.fact["device.idle_share"] or 1
    local is_busy = source == "whole-trace" and used >= 1 and idle <= cfg.max_idle
    local is_blind = source == "whole-trace" and not is_busy and p:has("device.idle_share")
      and (p.fact["coverage.ops"] or 1) == 0 and (p.fact["coverage.python_events"] or 1) == 0
    local code = {
      jax = "with jax.profiler.StepTraceAnnotation('train', step_num=i):",
      tensorflow = "with tf.profiler.experimental.Trace('train', step_num=i, _r=1):",
      -- Without a schedule step() marks nothing.
      pytorch = "with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=2, active=10)) as prof:\n"
        .. "    ...; prof.step()   # in the loop, behind each iteration",
    }
    -- A schedule begins anew behind its last active step: what is saved behind that is its waiting.
    local is_nothing = p.framework == "pytorch" and source == "whole-trace" and used > 0 and
      not p:has("part.compute_ns") and p:has("coverage.kernels") and (p.fact["coverage.ops"] or 1) +
        p.fact["coverage.kernels"] + (p.fact["coverage.launches"] or 0) == 0
    if is_nothing then
      return finding {
        title = "No op ran in the recording", severity = "veto",
        evidence = { { "ops", 0, "count" }, { "launches and kernels", 0, "count" },
                     { "recorded", p.fact["step.ns"] or 0, "ns" } },
        condition = "neither an op nor a launch or kernel was recorded",
        remedy = { text = "Save each recording as its active steps end, and end the schedule there: what is exported "
                     .. "later holds the wait before the next ones.",
                   code = "with torch.profiler.profile(\n"
                     .. "    schedule=torch.profiler.schedule(wait=1, warmup=2, active=10, repeat=1),\n"
                     .. "    on_trace_ready=torch.profiler.tensorboard_trace_handler('trace')) as prof:" },
        impact = impact.none(), confidence = "high",
      }
    end
    local by_calls = p:has("step.meaning") and p.fact["step.meaning"]:find("the profiler's step", 1, true)
    return finding {
      title = source == "inferred" and used > 0 and ("No step markers; %s%s inferred from what repeats"):format(
          is_inferred and "" or "only ", used == 1 and "1 step was" or ("%d steps were"):format(used))
        or "No step markers; the recording counts as one step",
      severity = (is_inferred or is_busy) and "info" or (used == 0 or is_blind) and "veto" or "warn",
      evidence = { { "steps come from", source }, { "steps", used, "count" },
                   left_out and left_out.left_out and { "why that is none", left_out.left_out } or
                     is_blind and { "what holds without steps", "shares of the device's work; not why it idles" } or
                     is_busy and { "what holds without steps",
                                   "shares of the device's time; times are of the whole recording" } or nil },
      condition = ("steps come from '%s', not from markers"):format(source),
      remedy = { text = by_calls and "Give the profiler a schedule: without one, its step() marks nothing."
                   or "Mark each iteration of the loop, taking the next batch or request included.",
                 code = code[p.framework] },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "calls of the profiler", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.source"] = "inferred", ["step.used"] = 8,
                ["step.meaning"] = "from one call of the profiler's step to the next" } },
    { name = "inferred", framework = "jax", finding = true,
      facts = { ["step.source"] = "inferred", ["step.used"] = 8 } },
    { name = "nothing but the profiler", format = "kineto", framework = "pytorch", finding = true, severity = "veto",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 1, ["step.ns"] = 2e5, ["coverage.ops"] = 0,
                ["coverage.kernels"] = 0, ["coverage.launches"] = 0 } },
    { name = "kernels without ops", format = "kineto", framework = "pytorch", finding = true, severity = "warn",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 1, ["step.ns"] = 2e5, ["coverage.ops"] = 0,
                ["coverage.kernels"] = 90, ["coverage.launches"] = 90 } },
    { name = "two of what repeats", finding = true, severity = "warn",
      facts = { ["step.source"] = "inferred", ["step.used"] = 2 } },
    { name = "one window", finding = true, severity = "warn",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 1 } },
    { name = "no step", finding = true, severity = "veto",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 0 } },
    { name = "the device alone", finding = true, severity = "veto",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 1, ["device.idle_share"] = 0.2,
                ["coverage.ops"] = 0, ["coverage.python_events"] = 0 } },
    { name = "the device and ops", finding = true, severity = "warn",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 1, ["device.idle_share"] = 0.2,
                ["coverage.ops"] = 20, ["coverage.python_events"] = 0 } },
    { name = "a device that works all the time", finding = true, severity = "info",
      facts = { ["step.source"] = "whole-trace", ["step.used"] = 1, ["device.idle_share"] = 0.02 } },
    { name = "marked", finding = false, facts = { ["step.source"] = "marker", ["step.used"] = 8 } },
  },
}
