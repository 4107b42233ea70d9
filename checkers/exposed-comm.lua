-- Collectives run while nothing is computed.
return rule {
  id = "exposed-comm", api = 1, version = "1.0.0",
  title = "Collectives run while nothing is computed",
  category = "communication", severity = "warn",
  needs = { "step.ns", "device.idle_share", "comm.exposed_ns", "comm.ns", "comm.count_per_step",
            "part.communication_ns", "collectives" },
  cause = "communication", tags = { "communication" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in collectives that no kernel hides" },
    high_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
  },
  doc = [[
Only the time that no kernel covers counts. Where other ranks come late, waiting for them is part of
it: the rules about ranks say so. Priced by replay: collectives beside computation, as far as there is
enough of it; in a program that does not train, as what sending less could save. Silent for one rank, where computation
covers them, and where there is none to run them beside.]],

  check = function(p, cfg)
    local step_ns, ns = p.fact["step.ns"], p.fact["part.communication_ns"]
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
      evidence[#evidence + 1] = { row.type .. " " .. row.name, row.exposed_ns, "ns" }
    end
    local ranks, given = p.fact["coverage.world_size"], p.fact["coverage.hosts"]
    if ranks and given and given < ranks then
      evidence[#evidence + 1] = { "ranks that were not given, waiting for which is inside", ranks - given, "count" }
    end
    local remedy = {
      pytorch = { text = "Start them earlier: tune the buckets, prefetch FSDP's parameters, accumulate gradients, "
                    .. "send bfloat16.",
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
    -- They can run beside no more than there is to compute.
    local room_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
    local price = is_served and impact.exposed { ns = ns } or saved_ns and saved_ns > room_ns and
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
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a fifth of the step", framework = "pytorch", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.exposed_ns"] = 2e6, ["comm.ns"] = 4e6,
                ["comm.count_per_step"] = 9, ["part.communication_ns"] = 2e6 },
      tables = { collectives = { { type = "all-reduce", name = "ncclKernel_AllReduce", exposed_ns = 2e6,
                                   ns = 4e6 } } } },
    { name = "hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.exposed_ns"] = 1e5, ["comm.ns"] = 4e6,
                ["comm.count_per_step"] = 9, ["part.communication_ns"] = 1e5 }, tables = { collectives = {} } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
