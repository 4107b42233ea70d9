-- Reading single values back drains the device's queue.
-- A loop over parameters, classes or boxes that computes a value and reads it: what it does each time.
local function loop_of(p, cfg)
  if not p:has("sequences") then return nil end
  for _, row in ipairs(p:table("sequences"):top("total_ns", 64):rows()) do
    if row.ops:find("aten::item") and row.repeats >= cfg.min_loop then return row end
  end
end

local function remedy_of(p, loop)
  if p:has("serving.trains") and not p.fact["serving.trains"] then
    local makes_tokens = p:has("serving.phase") or p:has("ops") and
      p:table("ops"):where { type = { like = "^aten::(multinomial|argmax)$" } }:count() > 0
    return { text = makes_tokens and "Keep values on the device: sample and stop there, read tokens of the step before "
               .. "while this one runs; torch.where instead of masks as indices."
               or "Keep values on the device and read results once, in the end; torch.where instead of masks as "
               .. "indices, sizes that are known ahead instead of those that data tell." }
  end
  if loop then
    return { text = "Compute them in one call, read them with one, and only every so many steps.",
             code = "norms = torch.stack(torch._foreach_norm(grads))   # one call for all\n"
               .. "if step % 100 == 0: log(norms.tolist())          # one read" }
  end
  return { text = "Keep losses on the device and read them every 100 steps; torch.where instead of masks as indices.",
           code = "total += loss.detach()\nif step % 100 == 0: print(total.item())" }
end

return rule {
  id = "scalar-readback", api = 1, version = "1.0.0",
  title = "Reading single values back drains the device's queue",
  category = "idle", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "syncs" },
  cause = "sync", tags = { "sync", "idle" },
  more_specific_than = { "blocking-sync-in-step", "long-gpu-gap", "power-user-sync-storm", "tiny-kernels", "host-bound",
                         "kernel-launch-bound", "graph-capture-candidate", "step-boundary-gap", "memcpy-storm" },
  params = {
    min_count = { default = 1, min = 0, max = 1e6, unit = "count", doc = "such reads a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device after them, over the step" },
    min_loop = { default = 8, min = 2, max = 1e7, unit = "count", doc = "values that a loop reads a step" },
  },
  doc = [[
`.item()`, `if tensor:`, `nonzero` and masks as indices need a value on the host: the host waits for
everything enqueued, and the device waits for the host afterwards, until the host has caught up. Priced by replay
without the reads, and without the selections by a mask that wait to learn their size: the host then runs ahead. Where
nothing can be replayed priced as the second wait, or as the first as far as the device is idle for late launches.
Silent where work is queued behind the read.]],

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
    bubble_ns = math.min(bubble_ns, step_ns)
    local edits = { { "omit", name = p:names("aten_reads_back") .. "|.*IndexBackward0", kinds = { "sync" } } }
    local saved_ns, claims = p:without_calls(edits)
    if saved_ns and saved_ns < cfg.min_share * step_ns then return nil end
    local evidence = { { "values read a step", count, "count" },
                       { "device idle for them a step", bubble_ns, "ns", share = math.min(1, bubble_ns / step_ns) } }
    local worst, loop = reads:top("bubble_ns", 3), loop_of(p, cfg)
    if loop then evidence[#evidence + 1] = { "each time", loop.ops } end
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
      remedy = remedy_of(p, loop),
      impact = saved_ns and impact.replay { edits[1], fallback = impact.exposed { ns = bubble_ns } }
        or impact.exposed { ns = bubble_ns },
      claims = claims, confidence = "medium",
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
    -- By replay 3 ms; a host that is faster besides saves 4 of them.
    { name = "the host runs ahead without them", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6, 4e6 }, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::nonzero", bubble_ns = 2e5, wait_ns = 4e6,
                             count = 30 } },
                 sequences = { { ops = "aten::norm > aten::item", repeats = 30, total_ns = 1e6 } } } },
    { name = "the host is ahead all the same", format = "kineto", finding = false, replay = { 2e4, 2e4 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::nonzero", bubble_ns = 2e5,
                             count = 30 } } } },
    { name = "another sync", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", bubble_ns = 4e5, count = 4 } } } },
    { name = "a CPU program", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
