-- Work went to an accelerator, but what ran there was not recorded.
return rule {
  id = "device-timeline-missing", api = 1, version = "1.0.0",
  title = "What ran on the accelerator was not recorded",
  category = "validity", severity = "veto",
  formats = { "xspace", "kineto" },
  needs = { "coverage.accelerators", "coverage.launches", "coverage.kernels" },
  tags = { "validity", "device" },
  doc = [[
The host enqueued kernels, or ran ops that only programs on an accelerator have (of cuDNN, MIOpen or NCCL), but no
kernel was recorded; or the machine has an accelerator and not one call of its runtime is there, not even the
profiler's own. An absent timeline and an idle accelerator look
the same in sums, so nothing is said about idle time, use or kernels. Silent for programs on the CPU
and where the accelerator's timeline is there. Where the profiler wrote down why, that is quoted. A process that ran
Python alone, as the one of a server that takes requests, is told to be no work's.]],

  check = function(p)
    local launches, kernels = p.fact["coverage.launches"], p.fact["coverage.kernels"]
    if kernels > 0 or p:has("device.count") then return nil end
    local err = p:has("coverage.capture_error") and p.fact["coverage.capture_error"] or nil
    local tells = err and err:find("(?i)cupti|roctracer|rocprof|gpu|cuda|\\bhip|tpu|privilege") ~= nil
    local ops = p:has("coverage.device_ops") and p.fact["coverage.device_ops"] or 0
    local lacks = p:has("coverage.lacks_device") and p.fact["coverage.lacks_device"]
    if not lacks and not tells then return nil end
    -- As the process of a server that takes requests and hands them to others.
    local is_bystander = lacks and not tells and launches == 0 and ops == 0 and p:has("coverage.ops") and
      p.fact["coverage.ops"] == 0
    local evidence = { { "launch calls of the host", launches, "count" }, { "kernels recorded", 0, "count" },
                       { "accelerators named", p.fact["coverage.accelerators"], "count" } }
    if ops > 0 then evidence[#evidence + 1] = { "ops and ranges that only an accelerator has", ops, "count" } end
    if err then evidence[#evidence + 1] = { "the profiler's error", err } end
    return finding {
      title = tells and ("No kernel was recorded: %s"):format(err) or
        launches > 0 and ("%s, but no kernel was recorded"):format(fmt.many(launches, "launch", "launches"))
        or is_bystander and "This process ran no op and launched nothing: another one has the accelerator's work"
        or ops > 0 and "The program ran on an accelerator, and only its host was recorded"
        or "The machine has an accelerator, and nothing of it was recorded",
      evidence = evidence,
      condition = tells and "no kernel, and the profiler's error speaks of the accelerator" or
        ("no kernel after %s and %s of an accelerator; one of either tells, or an accelerator without a call")
          :format(fmt.many(launches, "launch", "launches"), fmt.many(ops, "op", "ops")),
      remedy = is_bystander and { text = "Give the recording of the process that runs the model: workers of a server "
          .. "write their own, beside this one." } or
               { text = "Let the profiler read the device: counters for users that are not root (under WSL in NVIDIA's "
                   .. "control panel on Windows), a CUPTI that fits the driver, no second profiler. Where the "
                   .. "program is meant for the CPU, hide the accelerator from it.",
                 code = p.framework == "pytorch" and "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
                   or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "launches alone", framework = "pytorch", finding = true,
      facts = { ["coverage.accelerators"] = 1, ["coverage.launches"] = 500, ["coverage.kernels"] = 0,
                ["coverage.lacks_device"] = true } },
    { name = "a server's process that takes requests", framework = "pytorch", finding = true,
      facts = { ["coverage.accelerators"] = 1, ["coverage.launches"] = 0, ["coverage.kernels"] = 0,
                ["coverage.ops"] = 0, ["coverage.lacks_device"] = true } },
    { name = "ops of an accelerator, without its calls", framework = "pytorch", finding = true,
      facts = { ["coverage.accelerators"] = 8, ["coverage.launches"] = 0, ["coverage.kernels"] = 0,
                ["coverage.device_ops"] = 1, ["coverage.lacks_device"] = true } },
    { name = "the profiler says why", finding = true,
      facts = { ["coverage.accelerators"] = 0, ["coverage.launches"] = 0, ["coverage.kernels"] = 0,
                ["coverage.capture_error"] = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" } },
    { name = "an error about something else", finding = false,
      facts = { ["coverage.accelerators"] = 0, ["coverage.launches"] = 0, ["coverage.kernels"] = 0,
                ["coverage.capture_error"] = "the Python tracer stopped" } },
    { name = "kernels are there", finding = false,
      facts = { ["coverage.accelerators"] = 1, ["coverage.launches"] = 500, ["coverage.kernels"] = 500,
                ["device.count"] = 1 } },
    { name = "a CPU program", finding = false,
      facts = { ["coverage.accelerators"] = 0, ["coverage.launches"] = 0, ["coverage.kernels"] = 0 } },
  },
}
