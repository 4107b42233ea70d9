-- Reading single values back drains the device's queue.
return rule {
  id = "scalar-readback", api = 1, version = "1.0.0",
  title = "Reading single values back drains the device's queue",
  category = "idle", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "syncs" },
  cause = "sync", tags = { "sync", "idle" },
  more_specific_than = { "blocking-sync-in-step", "long-gpu-gap" },
  params = {
    min_count = { default = 1, min = 0, max = 1e6, unit = "count", doc = "such reads a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device after them, over the step" },
  },
  doc = [[
`.item()`, `if tensor:`, `nonzero` and masks as indices need a value on the host: the host waits for
everything enqueued, and the device waits for the host afterwards, until the host has caught up. Priced as that second
wait, or as the first as far as the device is idle for late launches. Silent
where work is queued behind the read.]],

  check = function(p, cfg)
    local reads =
      p:table("syncs"):where {
        owner = { like = p:names("aten_reads_back") .. "|autograd::.*item" } }
    local count, bubble_ns, step_ns = reads:sum("count"), reads:sum("bubble_ns"), p.fact["step.ns"]
    -- A host that waited has lost its lead: it launches late until it has caught up. Without the waits it would be
    -- ahead by them, so they cost as much of that idle time as they last.
    if p:has("device.idle_host_late_ns") and p:has("device.idle_sync_ns") then
      bubble_ns = math.max(
        bubble_ns, math.min(reads:sum("wait_ns"), p.fact["device.idle_host_late_ns"] + p.fact["device.idle_sync_ns"]))
    end
    if count < cfg.min_count or bubble_ns / step_ns < cfg.min_share then return nil end
    local evidence = { { "values read a step", count, "count" },
                       { "device idle for them a step", bubble_ns, "ns", share = math.min(1, bubble_ns / step_ns) } }
    local worst = reads:top("bubble_ns", 3)
    for row in worst:each() do
      evidence[#evidence + 1] = { row.name .. " in " .. row.owner, row.bubble_ns or 0, "ns" }
    end
    return finding {
      title = ("%s the device idle %s"):format(
        fmt.many(count, "value read a step leaves", "values read a step leave"), fmt.ms(bubble_ns)),
      subject = { op = reads:top("bubble_ns", 1):rows()[1].owner },
      evidence = evidence, locations = worst:places(),
      condition = ("idle for reads takes %s of the step, %s accepted"):format(
        fmt.pct(bubble_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = p:has("serving.trains") and not p.fact["serving.trains"]
        and { text = "Keep values on the device: sample and stop there, read tokens of the step before while this one "
                .. "runs; torch.where instead of masks as indices." }
        or { text = "Keep losses on the device and read them every 100 steps; "
               .. "torch.where instead of masks as indices.",
             code = "total += loss.detach()\nif step % 100 == 0: print(total.item())" },
      impact = impact.exposed { ns = math.min(bubble_ns, step_ns) },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "four items a step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::_local_scalar_dense", bubble_ns = 4e5,
                             count = 4 } } } },
    { name = "the host catches up slowly", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["device.idle_host_late_ns"] = 2.5e6,
                ["device.idle_sync_ns"] = 0 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::nonzero", bubble_ns = 2e5, wait_ns = 4e6,
                             count = 30 } } } },
    { name = "another sync", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", bubble_ns = 4e5, count = 4 } } } },
    { name = "a CPU program", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
