-- Blocking calls leave the device without work.
-- Waits for the device that the program asks for itself, by calls that no op makes: what the step saves without them,
-- and what a finding of that claims.
local function without_waits(p)
  -- Without steps the wait may be the one that ends the recording.
  if p.framework ~= "pytorch" or (p:has("step.source") and p.fact["step.source"] == "whole-trace") then return nil end
  local asked, inside = {}, {}
  for row in p:table("syncs"):each() do
    (row.owner and row.owner:find("^aten::") and inside or asked)[row.name] = true
  end
  local names = {}
  for name in sorted_pairs(asked) do
    if name:find("(Device|Event|Ctx)Synchronize") and not inside[name] then names[#names + 1] = name end
  end
  if #names == 0 then return nil end
  local edit = { "omit", name = table.concat(names, "|") }
  local saved_ns, claims = p:without_calls { edit }
  return saved_ns, edit, claims
end

return rule {
  id = "blocking-sync-in-step", api = 1, version = "1.0.0",
  title = "Blocking calls leave the device without work",
  category = "idle", severity = "warn",
  needs = { "step.ns", "device.idle_share", "sync.bubble_ns", "sync.count_per_step", "sync.late_ns", "syncs" },
  cause = "sync", tags = { "sync", "idle" },
  more_specific_than = { "long-gpu-gap", "host-bound", "tiny-kernels", "kernel-launch-bound",
                         "graph-capture-candidate" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device after blocking calls, over the step" },
    min_waits = { default = 8, min = 1, max = 1e9, unit = "count",
                  doc = "waits a step, from which short Python after them is the loop that reads results" },
    short_ns = { default = 2e5, min = 0, max = 1e12, unit = "ns", doc = "such Python, a wait" },
    high_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
  },
  doc = [[
Waiting for a busy device is free; what costs is the time after the wait, until the host has launched new work. Only
that is counted, and no Python that runs then, unless it is short and between many waits. Priced as this idle time, as
far as the host waited: what it does behind the wait would take as long without it. Between many waits priced as the
waits, as far as the device is idle for late launches. Waits that a PyTorch program asks for itself
(`torch.cuda.synchronize()`) are priced by replay without them. Silent where work is queued behind the wait.]],

  check = function(p, cfg)
    local step_ns, bubble_ns = p.fact["step.ns"], p.fact["sync.bubble_ns"]
    local waits = p.fact["sync.count_per_step"]
    local is_reading = waits >= cfg.min_waits and bubble_ns < waits * cfg.short_ns
    if not is_reading and p:has("part.compute_ns") and p:has("python.path_ns") then
      -- Python that runs after the wait is the business of other rules.
      local room_ns = step_ns - p.fact["part.compute_ns"] - p.fact["python.path_ns"]
      bubble_ns = math.max(0, math.min(bubble_ns, room_ns))
    end
    if p.format == "kineto" and waits >= cfg.min_waits then
      -- A host that waited has lost its lead, and launches late until it has caught up.
      bubble_ns = math.max(bubble_ns, math.min(p:table("syncs"):sum("wait_ns"), p.fact["sync.late_ns"]))
    end
    local saved_ns, edit, claims = without_waits(p)
    -- A host that hardly waits is no faster without waiting: its own work is what the device waits for.
    if p:has("sync.wait_ns") then bubble_ns = math.min(bubble_ns, p.fact["sync.wait_ns"]) end
    local is_asked = saved_ns and saved_ns > bubble_ns
    if is_asked then bubble_ns = saved_ns end
    local share = bubble_ns / step_ns
    if share < cfg.min_share then return nil end
    local evidence = { { "device idle after blocking calls a step", bubble_ns, "ns", share = math.min(1, share) },
                       { "blocking calls a step", p.fact["sync.count_per_step"], "count" } }
    -- Where the waits themselves were priced, they are told, not the pauses right behind them.
    local column = p:table("syncs"):sum("bubble_ns") < 0.5 * bubble_ns and "wait_ns" or "bubble_ns"
    local worst = p:table("syncs"):where { [column] = { min = 1 } }:top(column, 3)
    for row in worst:each() do
      evidence[#evidence + 1] = { row.name .. (row.owner and row.owner ~= "" and " in " .. row.owner or "") ..
                                    (column == "wait_ns" and ", waiting" or ""), row[column], "ns" }
    end
    -- Ops that must know how large their result is wait for the device themselves.
    local first = worst:rows()[1]
    local sized = first and (first.owner or ""):match("^aten::_?(coalesce|nonzero|masked_select|unique|repeat_inter)")
    local is_served = p:has("serving.trains") and not p.fact["serving.trains"]
    local code = { pytorch = not is_served
                     and "if step % 100 == 0: print(loss.item())   # no torch.cuda.synchronize() in the loop" or nil,
                   jax = "jax.block_until_ready(state)   # once every 100 steps",
                   tensorflow = "if step % 100 == 0: print(float(loss))" }
    local count = p.fact["sync.count_per_step"]
    local often = count >= 1 and fmt.many(count, "blocking call a step leaves", "blocking calls a step leave") or
                  ("A blocking call in every %d steps leaves"):format(math.floor(1 / math.max(count, 1e-6) + 0.5))
    return finding {
      title = ("%s the device idle %s a step"):format(often, fmt.ms(bubble_ns)),
      severity = share >= cfg.high_share and "error" or "warn",
      evidence = evidence, locations = worst:places(),
      condition = ("idle after blocking calls takes %s of the step, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = sized and
        { text = ("%s waits to learn how large its result is: do that once, outside of the loop, or use what has a "
                  .. "size that is known: torch.where, output_size=."):format(first.owner) } or
        { text = is_served and "Delete waits for the device between launches; read the results of a step while "
                   .. "the next one runs." or "Delete waits for the device in the loop; read results every 100 steps, "
                   .. "and of the step before.", code = code[p.framework] },
      impact = is_asked and impact.replay { edit, fallback = impact.exposed { ns = math.min(bubble_ns, step_ns) } }
        or impact.exposed { ns = math.min(bubble_ns, step_ns) },
      claims = is_asked and claims or nil, confidence = "medium",
    }
  end,

  examples = {
    { name = "the wait that ends a recording", framework = "pytorch", format = "kineto", finding = false,
      replay = { 3e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.4, ["sync.bubble_ns"] = 5e4, ["sync.late_ns"] = 5e4,
                ["sync.count_per_step"] = 1, ["sync.wait_ns"] = 5e6, ["step.source"] = "whole-trace" },
      tables = { syncs = { { name = "cudaDeviceSynchronize", owner = "", bubble_ns = 5e4, wait_ns = 5e6,
                             count = 1 } } } },
    -- Timers round the parts of a step: 3 ms by replay.
    { name = "waits that the program asks for", framework = "pytorch", format = "kineto", finding = true,
      replay = { 3e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.4, ["sync.bubble_ns"] = 5e5, ["sync.late_ns"] = 5e5,
                ["sync.count_per_step"] = 4, ["sync.wait_ns"] = 5e6 },
      tables = { syncs = { { name = "cudaDeviceSynchronize", owner = "", bubble_ns = 5e5, wait_ns = 5e6,
                             count = 4 } } } },
    { name = "a tenth of the step", framework = "pytorch", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1e6, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 4 },
      tables = { syncs = { { name = "cudaDeviceSynchronize", owner = "train", bubble_ns = 1e6, count = 4 } } } },
    { name = "a sparse matrix made again", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1e6, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 4 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::_coalesce", bubble_ns = 1e6,
                             count = 4 } } } },
    { name = "the host never catches up", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5, ["sync.bubble_ns"] = 1e6, ["sync.late_ns"] = 5e6,
                ["sync.count_per_step"] = 96 },
      tables = { syncs = { { name = "cudaDeviceSynchronize", owner = "", bubble_ns = 1e6, wait_ns = 3e6,
                             count = 96 } } } },
    { name = "now and then", framework = "jax", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1e6, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 0.1 },
      tables = { syncs = { { name = "block_until_ready", owner = "", bubble_ns = 1e6, count = 0.1 } } } },
    { name = "the host hardly waits", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.9, ["sync.bubble_ns"] = 5e6, ["sync.late_ns"] = 9e6,
                ["sync.count_per_step"] = 4, ["sync.wait_ns"] = 2e4 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::copy_", bubble_ns = 5e6, wait_ns = 2e4,
                             count = 4 } } } },
    { name = "Python runs after the wait", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1e6, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 1, ["part.compute_ns"] = 8e6, ["python.path_ns"] = 1.95e6 },
      tables = { syncs = { { name = "cudaDeviceSynchronize", owner = "train", bubble_ns = 1e6, count = 1 } } } },
    { name = "many results are read one by one", framework = "jax", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1.8e6, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 12, ["part.compute_ns"] = 8e6, ["python.path_ns"] = 1.95e6 },
      tables = { syncs = { { name = "_value", owner = "", bubble_ns = 1.8e6, count = 12 } } } },
    { name = "threads of a server wait, others launch", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1e4, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 96 },
      tables = { syncs = { { name = "synchronizeStream", owner = "", bubble_ns = 1e4, wait_ns = 1e7, count = 96 } } } },
    { name = "work is queued", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["sync.bubble_ns"] = 1e4, ["sync.late_ns"] = 0,
                ["sync.count_per_step"] = 4 },
      tables = { syncs = {} } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7, ["sync.count_per_step"] = 4 } },
  },
}
