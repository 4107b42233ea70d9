-- The accelerator does nothing for much of the step.

-- Runs of a session are recorded op by op: those that the device waits longest for, with their time.
local function long_ops(p, least_ns)
  local evidence, ns = {}, 0
  if p.format ~= "graph" or not p:has("gaps") then return evidence, ns end
  local gaps = p:table("gaps"):where { cause = { like = "^host-late$" }, ns = { min = least_ns } }
  for row in gaps:top("ns", 3):each() do
    if row.host_activity then
      evidence[#evidence + 1] = { ("of it while %s runs on the host"):format(row.host_activity), row.ns, "ns" }
      ns = ns + row.ns
    end
  end
  return evidence, ns
end

return rule {
  id = "device-idle-high", api = 1, version = "1.0.0",
  title = "The accelerator is idle for much of the step",
  category = "idle", severity = "warn",
  needs = { "step.ns", "device.idle_share", "devices" },
  tags = { "device", "idle" },
  params = {
    min_share = { default = 0.15, min = 0, max = 1, unit = "share",
                  doc = "share of the step without work on the busiest accelerator from which this is said" },
    min_recorder_share = { default = 0.05, min = 0, max = 1, unit = "share",
                           doc = "what recording takes of the host, of the idle time, from which it is left out" },
    min_op_share = { default = 0.1, min = 0, max = 1, unit = "share",
                     doc = "runs of a session: of the idle time, one pause from which the host's op is named" },
    high_share = { default = 0.30, min = 0, max = 1, unit = "share",
                   doc = "share from which it is an error" },
  },
  doc = [[
Tells what the idle time of the busiest accelerator is down to. It has no price of its own: the rules
about input, the host, launches, syncs and communication price their part of it. Idle means that no
stream had a kernel, a copy or a set. Start-up in a recording that stands for a step is left out of both, and so is
what recording took of the host and what a few slow steps alone wait for it; of the idle time also work of replayed
graphs that was not recorded. Silent below min_share and where the timeline is missing.]],

  check = function(p, cfg)
    local device = p:table("devices"):top("busy_ns", 1):rows()[1]
    if not device or device.idle_share < cfg.min_share then return nil end
    local startup_ns = math.min(p:has("startup.ns") and p.fact["startup.ns"] or 0, device.idle_compile_ns or 0)
    -- Between works of a replayed graph the device hardly rests: what it did there was not recorded.
    local unrecorded_ns = device.idle_unrecorded_ns or 0
    -- And where it waits for the host, recording made that slower.
    local without_ns = p:has("replay.without_recorder_ns") and p.fact["replay.without_recorder_ns"] or p.fact["step.ns"]
    local recorder_ns = math.min(device.idle_host_late_ns or 0,
      math.max(0, 1 - without_ns / p.fact["step.ns"]) * (device.busy_ns + device.idle_ns))
    if recorder_ns < cfg.min_recorder_share * device.idle_ns then recorder_ns = 0 end
    local stalled_ns = math.min((device.idle_host_late_ns or 0) - recorder_ns, p:stalled_ns())
    local idle_ns = device.idle_ns - startup_ns - unrecorded_ns - recorder_ns - stalled_ns
    local step_ns = device.busy_ns + device.idle_ns - startup_ns - recorder_ns - stalled_ns
    local is_cut = startup_ns + unrecorded_ns + recorder_ns + stalled_ns > 0
    local share = is_cut and (step_ns > 0 and idle_ns / step_ns or 0) or device.idle_share
    if share < cfg.min_share then return nil end
    -- Idle time is a mean over all steps, and a step is the usual one: the share holds for both.
    local scale = step_ns > 0 and math.min(1, p.fact["step.ns"] / (device.busy_ns + device.idle_ns)) or 1

    local causes = {
      { "idle_host_late_ns", "the host launches too late",
        "Give the device more work a launch: compile or capture the step, batch, move host work off the thread that "
        .. "launches." },
      { "idle_input_ns", "the host waits for input", "Make batches ahead of the step." },
      { "idle_sync_ns", "the host is in a blocking call", "Read results less often, and later." },
      { "idle_launch_ns", "starting kernels", "Fewer, larger kernels: compile or capture the step." },
      { "idle_dependency_ns", "another stream is waited for", "Start what is waited for earlier." },
      { "idle_compile_ns", "the host compiles", "Keep shapes fixed, or compile beforehand." },
      { "idle_profiler_ns", "the profiler's own work", "Record less." },
      { "idle_other_ns", "no cause in the recording",
        "Kernels whose launch was recorded stood in the queue meanwhile: the device, or a wait that was not recorded, "
        .. "held them up. Where launches are missing, record them." },
    }
    local evidence, most = { { "idle a step", scale * idle_ns, "ns", share = share } }, nil
    if startup_ns > 0 then
      evidence[#evidence + 1] = { "start-up, which is left out", scale * startup_ns, "ns" }
      device.idle_compile_ns = device.idle_compile_ns - startup_ns
    end
    if unrecorded_ns > 0 then
      evidence[#evidence + 1] =
        { "work of replayed graphs that was not recorded, left out", scale * unrecorded_ns, "ns" }
    end
    if recorder_ns > 0 then
      evidence[#evidence + 1] = { "what recording takes of the host, left out", scale * recorder_ns, "ns" }
      device.idle_host_late_ns = device.idle_host_late_ns - recorder_ns
    end
    if stalled_ns > 0 then
      evidence[#evidence + 1] = { "what slow steps alone wait for the host, left out", scale * stalled_ns, "ns" }
      device.idle_host_late_ns = device.idle_host_late_ns - stalled_ns
    end
    table.sort(causes, function(a, b) return (device[a[1]] or 0) > (device[b[1]] or 0) end)
    for _, cause in ipairs(causes) do
      local ns = device[cause[1]] or 0
      if ns > 0.01 * idle_ns then evidence[#evidence + 1] = { cause[2], scale * ns, "ns" } end
      if not most or ns > most.ns then most = { ns = ns, cause = cause } end
    end
    local ops, ops_ns = long_ops(p, cfg.min_op_share * idle_ns)
    local remedy = most.cause[3]
    if most.cause[1] == "idle_host_late_ns" then
      for _, op in ipairs(ops) do evidence[#evidence + 1] = op end
      if ops_ns > 0.5 * most.ns then
        remedy = "What the host does meanwhile hides behind no kernel: do it ahead of the step, in the input pipeline, "
          .. "or on the device."
      end
    end
    return finding {
      title = ("%s is idle %s of each step: mostly %s"):format(device.device, fmt.pct(share), most.cause[2]),
      severity = share >= cfg.high_share and "error" or "warn",
      subject = { device = device.device },
      evidence = evidence,
      condition = ("idle %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = remedy },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a session whose lookup runs on the host", framework = "tensorflow", format = "graph", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5 },
      tables = { devices = { { device = "GPU 0", busy_ns = 5e6, idle_ns = 5e6, idle_share = 0.5,
                               idle_host_late_ns = 4.5e6, idle_launch_ns = 5e5 } },
                 gaps = { { cause = "host-late", ns = 3e6, host_activity = "table_Lookup" },
                          { cause = "host-late", ns = 1e5, host_activity = "MatMul" } } } },
    { name = "idle for half the step", finding = true, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5 },
      tables = { devices = { { device = "GPU 0", busy_ns = 5e6, idle_ns = 5e6, idle_share = 0.5,
                               idle_host_late_ns = 4e6, idle_launch_ns = 1e6 } } } },
    { name = "a host that recording made slower", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.4, ["replay.without_recorder_ns"] = 6.5e6 },
      tables = { devices = { { device = "GPU 0", busy_ns = 6e6, idle_ns = 4e6, idle_share = 0.4,
                               idle_host_late_ns = 4e6 } } } },
    -- 60 ms of one step of eight are 7.5 of the 8 ms a step.
    { name = "idle in one step of eight", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.6, ["step.is_uneven"] = true, ["step.used"] = 8,
                ["slow.count"] = 1, ["slow.part"] = "host", ["slow.part_ns"] = 6e7 },
      tables = { devices = { { device = "GPU 0", busy_ns = 5e6, idle_ns = 8e6, idle_share = 0.6,
                               idle_host_late_ns = 7.8e6 } } } },
    { name = "one of two is busy", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5 },
      tables = { devices = { { device = "GPU 0", busy_ns = 9.5e6, idle_ns = 5e5, idle_share = 0.05 },
                             { device = "GPU 1", busy_ns = 5e5, idle_ns = 9.5e6, idle_share = 0.95 } } } },
    { name = "start-up, and little beside it", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.6, ["startup.ns"] = 5.5e6 },
      tables = { devices = { { device = "GPU 0", busy_ns = 4e6, idle_ns = 6e6, idle_share = 0.6,
                               idle_compile_ns = 5.6e6, idle_host_late_ns = 4e5 } } } },
    { name = "graphs of which not all is recorded", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5 },
      tables = { devices = { { device = "GPU 0", busy_ns = 5e6, idle_ns = 5e6, idle_share = 0.5,
                               idle_unrecorded_ns = 4e6, idle_host_late_ns = 1e6 } } } },
    { name = "start-up, and much beside it", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.8, ["startup.ns"] = 4e6 },
      tables = { devices = { { device = "GPU 0", busy_ns = 2e6, idle_ns = 8e6, idle_share = 0.8,
                               idle_compile_ns = 4e6, idle_host_late_ns = 4e6 } } } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
