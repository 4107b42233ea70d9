-- Collectives run while nothing is computed.
-- Devices of one process on a host share its cores: waiting for the others' work is part of their collectives.
local function on_cores(p, cfg)
  local step_ns, ns = p.fact["step.ns"], p.fact["part.communication_ns"]
  if p.framework ~= "jax" or p.fact["coverage.hosts"] ~= 1 then
    return skip { reason = "the program ran on the CPU: there is no accelerator" }
  end
  if ns < cfg.min_core_share * step_ns then return nil end
  local trains = p:has("ops") and p:table("ops"):where { scope = { like = "transpose\\(jvp" } }:count() > 0
  local worst = p:table("collectives"):top("ns", 3)
  local evidence = { { "collectives on the path of a step", ns, "ns", share = math.min(1, ns / step_ns) } }
  for row in worst:each() do
    evidence[#evidence + 1] = { row.type .. " " .. fmt.kernel(row.name) .. ", payload", row.mean_bytes or 0, "bytes" }
  end
  -- What other devices compute meanwhile on the same cores is still to be done without them.
  local left_ns, gone_ns = p:whatif { { "scale", parts = { "communication" }, factor = 0 } }
  local saved_ns = left_ns and gone_ns > 0 and math.min(gone_ns, ns) or ns
  if saved_ns < ns then evidence[#evidence + 1] = { "of that, while no other device computes", saved_ns, "ns" } end
  return finding {
    title = ("Collectives take %s of each step (%s)"):format(fmt.ms(ns), fmt.pct(ns / step_ns)),
    severity = "info", subject = { op = worst:rows()[1] and worst:rows()[1].name or nil }, locations = worst:places(),
    evidence = evidence,
    condition = ("collectives take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_core_share)),
    remedy = { text = "Send less and more seldom: gather what is read next instead of whole tables, look up where the "
                 .. "rows are and add up the results, exchange all gradients at once.",
               code = "rows = jax.lax.psum(jnp.where(is_mine, table[local_ids], 0), \"data\")   "
                 .. "# not all_gather(table)[ids]" },
    impact = trains and impact.share { ns = saved_ns }
      or impact.exposed { ns = saved_ns, low = 0.25 * saved_ns, high = saved_ns },
    claims = { { parts = { "communication" } } },
    confidence = "low",
  }
end

return rule {
  id = "exposed-comm", api = 1, version = "1.0.0",
  title = "Collectives run while nothing is computed",
  category = "communication", severity = "warn",
  needs = { "step.ns", "comm.exposed_ns", "comm.ns", "comm.count_per_step",
            "part.communication_ns", "collectives" },
  cause = "communication", tags = { "communication" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in collectives that no kernel hides" },
    min_core_share = { default = 0.20, min = 0, max = 1, unit = "share",
                       doc = "the same among devices of one process on a host" },
    high_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
    max_skew = { default = 0.5, min = 0, max = 1, unit = "share",
                 doc = "of collective time that waits for the last rank, above which only the rest counts" },
  },
  doc = [[
Only the time that no kernel covers counts. Where other ranks come late, waiting for them is part of it: the rules
about ranks say so, and where all ranks were given and most of it is that, only the rest counts here. Priced by
replay: collectives beside computation, as far as there is enough of it; in a program that does not train, as what
sending less could save. Of several ranks that are not the job, and whose own schedule waits for the host, it is a
bound. Among devices that share a host's cores what others compute meanwhile is still to be done. Silent for one rank,
where computation covers them, and where there is none to run them beside.]],

  check = function(p, cfg)
    if not p:has("device.idle_share") then return on_cores(p, cfg) end
    local step_ns, ns = p.fact["step.ns"], p.fact["part.communication_ns"]
    local ranks, given = p.fact["coverage.world_size"], p.fact["coverage.hosts"]
    local lacks = ranks and given and given < ranks
    -- What waits for the last rank ends when that one comes, whatever runs beside it.
    local skew = not lacks and p:has("comm.skew_share") and p.fact["comm.matched_by"] ~= "ends"
      and math.min(1, p.fact["comm.skew_share"]) or 0
    local waits_ns = skew > cfg.max_skew and skew * ns or 0
    ns = ns - waits_ns
    local share = ns / step_ns
    if share < cfg.min_share then return nil end
    local _, saved_ns = p:whatif { { "overlap", parts = { "communication" } } }
    local is_served = p:has("serving.trains") and not p.fact["serving.trains"]
    if not is_served and saved_ns and saved_ns < 0.005 * step_ns then return nil end -- nothing to run them beside
    local evidence = { { "collectives that nothing covers, a step", ns, "ns", share = math.min(1, share) },
                       { "all collectives a step", p.fact["comm.ns"], "ns" },
                       { "collectives a step", p.fact["comm.count_per_step"], "count" } }
    local worst = p:table("collectives"):where { exposed_ns = { min = 1 } }:top("exposed_ns", 3)
    for row in worst:each() do
      evidence[#evidence + 1] = { row.type .. " " .. fmt.kernel(row.name), row.exposed_ns, "ns" }
    end
    if waits_ns > 0 then
      evidence[#evidence + 1] = { "beside that, waiting for the last rank", waits_ns, "ns" }
    end
    if lacks then
      evidence[#evidence + 1] = { "ranks that were not given, waiting for which is inside", ranks - given, "count" }
    end
    local remedy = {
      pytorch = { text = "Start them earlier: tune the buckets, prefetch FSDP's parameters, accumulate gradients, "
                    .. "send 16 bits.",
                  code = "DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True, static_graph=True)" },
      jax = { text = "Let the compiler hide them.",
              flags = "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true" },
      tensorflow = { text = "Pack gradients into larger transfers, and send 16 bits.",
                     code = "tf.distribute.experimental.CommunicationOptions(bytes_per_pack=50 * 1024 * 1024)" },
    }
    -- A server has no gradients to bucket: what it gathers is activations, each of which the next op waits for.
    if is_served then
      remedy.pytorch =
        { text = "Send less: gather only what is read next (the last position, the largest logits of each rank), 16 "
            .. "bits, fewer ranks a layer; all-reduce kernels made for small messages." }
    end
    -- Rows for experts or tables, or a stage's results: buckets and prefetched parameters are not about them.
    local first = p:table("collectives"):top("exposed_ns", 1):rows()[1]
    if not is_served and first and (first.type == "all-to-all" or first.type == "send-recv") then
      remedy.pytorch =
        { text = "Exchange beside what does not need the result: rows of the next batch, another micro-batch, the part "
            .. "of the model that is whole on each rank; send 16 bits or fewer." }
    end
    -- They can run beside no more than there is to compute.
    local room_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
    -- What a schedule of few ranks gives back says nothing of what the others would: of several that are not the job,
    -- no more is known than the time itself.
    local is_bound = lacks and given > 1 and p:has("replay.device_bound_ns")
      and p.fact["replay.device_bound_ns"] < 0.5 * ns
    local price = is_served and impact.exposed { ns = ns } or is_bound and
                  impact.share { ns = math.min(ns, room_ns) } or
                  saved_ns and saved_ns > (waits_ns > 0 and math.min(ns, room_ns) or room_ns) and
                  impact.replay { { "subtract", parts = { "communication" }, ns = math.min(ns, room_ns) },
                                  fallback = impact.exposed { ns = math.min(ns, room_ns) } } or
                  impact.replay { { "overlap", parts = { "communication" } }, fallback = impact.exposed { ns = ns } }
    return finding {
      title = ("Collectives hold the step up for %s (%s)"):format(fmt.ms(ns), fmt.pct(share)),
      severity = share >= cfg.high_share and "error" or "warn",
      evidence = evidence, locations = worst:places(),
      condition = ("uncovered collectives take %s of the step, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = remedy[p.framework] or { text = "Start collectives earlier, beside computation, and send less." },
      impact = price,
      confidence = is_bound and "low" or "medium",
    }
  end,

  examples = {
    { name = "two ranks of many, whose schedule waits for the host", framework = "pytorch", format = "kineto",
      finding = true, severity = "error", replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.5, ["comm.exposed_ns"] = 4e6, ["comm.ns"] = 4e6,
                ["comm.count_per_step"] = 9, ["part.communication_ns"] = 4e6, ["part.compute_ns"] = 3e6,
                ["coverage.world_size"] = 128, ["coverage.hosts"] = 2, ["replay.device_bound_ns"] = 1e5 },
      tables = { collectives = { { type = "all-to-all", name = "ncclKernel_SendRecv", exposed_ns = 4e6,
                                   ns = 4e6 } } } },
    -- 1.9 of 2 ms wait for the last rank: 0.1 ms is less than a twentieth of 10 ms.
    { name = "the last rank comes late", framework = "pytorch", format = "kineto", finding = false, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.exposed_ns"] = 2e6, ["comm.ns"] = 2e6,
                ["comm.count_per_step"] = 4, ["part.communication_ns"] = 2e6, ["comm.skew_share"] = 0.95,
                ["coverage.world_size"] = 2, ["coverage.hosts"] = 2 }, tables = { collectives = {} } },
    { name = "a table is gathered by devices of a host", framework = "jax", format = "xspace", finding = true,
      severity = "info", impact_ns = 4e6,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 2.6e7, ["comm.ns"] = 2.6e7, ["comm.count_per_step"] = 4,
                ["part.communication_ns"] = 6.4e6, ["coverage.hosts"] = 1 },
      tables = { collectives = { { type = "all-gather", name = "all_gather.3", ns = 2.6e7, mean_bytes = 7680000 } } } },
    { name = "a tenth of the step among devices of a host", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 4e6, ["comm.ns"] = 4e6, ["comm.count_per_step"] = 4,
                ["part.communication_ns"] = 1e6, ["coverage.hosts"] = 1 }, tables = { collectives = {} } },
    { name = "a fifth of the step", framework = "pytorch", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.exposed_ns"] = 2e6, ["comm.ns"] = 4e6,
                ["comm.count_per_step"] = 9, ["part.communication_ns"] = 2e6 },
      tables = { collectives = { { type = "all-reduce", name = "ncclKernel_AllReduce", exposed_ns = 2e6,
                                   ns = 4e6 } } } },
    { name = "hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.exposed_ns"] = 1e5, ["comm.ns"] = 4e6,
                ["comm.count_per_step"] = 9, ["part.communication_ns"] = 1e5 }, tables = { collectives = {} } },
    { name = "processes on hosts", skipped = true,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 4e6, ["comm.ns"] = 4e6, ["comm.count_per_step"] = 4,
                ["part.communication_ns"] = 4e6, ["coverage.hosts"] = 2 }, tables = { collectives = {} } },
  },
}
