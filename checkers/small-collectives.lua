-- Many collectives carry little.
-- Objects of Python are pickled, their sizes exchanged and then their bytes, and read again on each rank.
local function of_objects(p, cfg)
  return p:in_excess {
    flaw = "library-range", detail = { like = "^objects" }, min_share = cfg.min_host_share, severity = "warn",
    title = "Ranks exchange Python objects: %s of each step",
    time = "pickling, sizes and bytes of objects",
    remedy = { text = "Exchange numbers, as one tensor, and every hundred steps: counts of right answers add up over "
                 .. "ranks, so that no predictions have to be gathered.",
               code = "counts = torch.stack([correct, total])\n"
                 .. "if step % 100 == 0: dist.all_reduce(counts)   # not dist.all_gather_object(...)" },
    confidence = "medium",
  }
end

-- Processes on hosts: each collective costs threads and sockets of the same cores, so a few are enough; and what is
-- neither gradients nor sharded parameters is something that the program added.
local function on_hosts(p, cfg)
  local step_ns, rows = p.fact["step.ns"], p:table("collectives")
  local exposed_ns = math.min(p:has("part.communication_ns") and p.fact["part.communication_ns"] or step_ns, step_ns)
  local all = rows:where { type = { like = "." } }
  local others = rows:where { type = { like = "^(broadcast|all-gather|gather|scatter|reduce)$" } }
  local is_sharded = rows:where { type = { like = "^reduce-scatter$" } }:count() > 0
  local small, is_unknown = rows:where { mean_bytes = { max = cfg.max_bytes } }, false
  if all:sum("bytes") == 0 then -- without shapes: buckets of gradients are a few, sums of each are many
    small = rows:where { type = { like = "^all-reduce$" }, count = { min = cfg.min_unknown_count } }
    is_unknown = small:count() > 0
  end
  local count, ns = small:sum("count"), math.min(small:sum("exposed_ns"), exposed_ns)
  local merged = math.max(1, math.ceil(small:sum("bytes") / 26214400))
  local saved_ns, what = ns * math.max(0, 1 - merged / math.max(count, 1)), nil
  if count < cfg.min_host_count then saved_ns = 0 end
  local other_ns = math.min(
    others:sum("exposed_ns"), exposed_ns * others:sum("exposed_ns") / math.max(all:sum("exposed_ns"), 1))
  if not is_sharded and others:sum("count") >= 2 and other_ns >= saved_ns then
    what = others:top("exposed_ns", 1):rows()[1].type
    saved_ns, ns, count = other_ns, other_ns, others:sum("count")
  end
  if saved_ns < cfg.min_host_share * step_ns then return nil end
  return finding {
    title = what and ("%s collectives a step (%s) are not for gradients: %s"):format(fmt.whole(count), what, fmt.ms(ns))
        or is_unknown and ("%s sums over all processes a step: %s"):format(fmt.whole(count), fmt.ms(ns))
        or ("%s collectives a step carry less than %s each"):format(fmt.whole(count), fmt.bytes(cfg.max_bytes)),
    evidence = { { what and "such collectives a step" or "small collectives a step", count, "count" },
                 { "their uncovered time a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "all collectives a step", all:sum("count"), "count" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_host_share)),
    remedy = what
      and { text = "Gather metrics and objects every hundred steps, as one tensor; "
              .. "parameters are alike after the first broadcast.",
            code = "DDP(model, broadcast_buffers=False)   # and: if step % 100 == 0: dist.all_gather_object(...)" } or
        { text = "Join them: larger buckets, values stacked into one tensor, coalesced calls.",
          code = "dist.all_reduce(torch.stack(values))   # and DDP(model, bucket_cap_mb=25)" },
    impact = impact.exposed { ns = saved_ns, low = 0.9 * saved_ns, high = saved_ns },
    claims = { { parts = { "communication" } } },
    confidence = "medium",
  }
end

-- XLA on the CPU joins collectives into one instruction, but its devices still meet once for each array in it.
local function on_cores(p, cfg)
  local step_ns, ns, devices, bytes = p.fact["step.ns"], p.fact["part.communication_ns"], 1, 0
  for row in p:table("collectives"):each() do
    devices = math.max(devices, row.group_size or 1)
    bytes = bytes + (row.bytes or 0) / math.max(row.group_size or 1, 1)
  end
  local events = p:has("activities") and p:table("activities"):where { name = "Rendezvous" }:sum("events") or 0
  local meetings = events / devices
  if bytes / math.max(meetings, 1) > cfg.max_bytes then return nil end
  if meetings < cfg.min_count then return nil end
  if ns < cfg.min_host_share * step_ns then return nil end
  -- What other devices compute meanwhile on the same cores is still to be done without them.
  local left_ns, gone_ns = p:whatif { { "scale", parts = { "communication" }, factor = 0 } }
  return finding {
    title = ("Devices meet %s times a step to exchange small arrays"):format(fmt.whole(meetings)),
    severity = "info",
    evidence = { { "meetings of a device a step", meetings, "count" }, { "payload of one", bytes / meetings, "bytes" },
                 { "in collectives a step", ns, "ns", share = ns / step_ns } },
    condition = ("each device meets the others %s times a step, %s accepted"):format(
      fmt.whole(meetings), fmt.count(cfg.min_count)),
    remedy = { text = "Put them into one array before, and take them apart behind.",
               code = "flat, unravel = jax.flatten_util.ravel_pytree(grads)\n"
                 .. "grads = unravel(jax.lax.pmean(flat, \"data\"))" },
    impact = impact.share { ns = left_ns and gone_ns > 0 and math.min(gone_ns, ns) or ns },
    claims = { { parts = { "communication" } } },
    confidence = "low",
  }
end

return rule {
  id = "small-collectives", api = 1, version = "1.0.0",
  title = "Many collectives carry little",
  category = "communication", severity = "warn",
  needs = { "step.ns", "comm.count_per_step", "comm.small_count", "collectives" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm", "rank-variance", "collective-skew", "loop-indexing", "collective-outlier" },
  params = {
    min_count = { default = 20, min = 1, max = 1e9, unit = "count", doc = "collectives below 1 MiB a step" },
    min_host_count = { default = 4, min = 1, max = 1e9, unit = "count", doc = "the same between processes on hosts" },
    min_unknown_count = { default = 32, min = 1, max = 1e9, unit = "count",
                          doc = "sums between processes on hosts, where payloads were not recorded" },
    min_host_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "the same between processes on hosts" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "their uncovered time over the step" },
    max_bytes = { default = 1048576, min = 1, max = 1e12, unit = "bytes", doc = "payload that counts as small" },
  },
  doc = [[
Each collective has a cost of its own that does not shrink with its payload. Priced as their uncovered
time, less what one for each 25 MiB would take at the median of them. Between processes on hosts a few are enough, and
broadcasts and gatherings beside the gradients are priced as all of their time,
objects of Python with pickling them. Devices of one process on a host meet
once for each array, also where XLA joined their collectives: at most what is left of them once what other devices
compute meanwhile is done. Silent for few or hidden
ones, and where payloads were not recorded, but for dozens of sums between processes on hosts.]],

  check = function(p, cfg)
    local objects = p.framework == "pytorch" and p:has("excess") and of_objects(p, cfg)
    if objects then return objects end
    -- Processes on hosts: what their collectives cost shows in PyTorch's own timeline alone.
    if p.framework == "jax" and not p:has("device.idle_share") and p:has("part.communication_ns") then
      return on_cores(p, cfg)
    end
    if not p:has("device.idle_share") and p.format ~= "kineto" then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    if not p:has("device.idle_share") and p.framework == "pytorch" then return on_hosts(p, cfg) end
    local small = p:table("collectives"):where { mean_bytes = { min = 1, max = cfg.max_bytes } }
    local count, ns, bytes = small:sum("count"), small:sum("exposed_ns"), small:sum("bytes")
    local step_ns = p.fact["step.ns"]
    if count < cfg.min_count or ns / step_ns < cfg.min_share then return nil end
    local merged = math.max(1, math.ceil(bytes / 26214400))
    local saved_ns = ns * math.max(0, 1 - merged / count)
    return finding {
      title = ("%s collectives a step carry less than %s each"):format(fmt.whole(count), fmt.bytes(cfg.max_bytes)),
      evidence = { { "small collectives a step", count, "count" }, { "their payload a step", bytes, "bytes" },
                   { "their uncovered time a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "transfers of 25 MiB instead", merged, "count" } },
      condition = ("%s small collectives, %s accepted"):format(fmt.whole(count), fmt.count(cfg.min_count)),
      remedy = { text = "Join them: larger buckets, flattened parameters, coalesced calls.",
                 code = p.framework == "pytorch" and not (p:has("serving.trains") and not p.fact["serving.trains"])
                   and "DDP(model, bucket_cap_mb=25)   # or FSDP with larger units"
                   or nil },
      impact = impact.exposed { ns = math.min(saved_ns, step_ns) },
      claims = { { parts = { "communication" } } },
      confidence = "medium",
    }
  end,

  examples = {
    -- Of the 7 ms other devices compute in 3 ms: a bound of the other 4 ms, three tenths of which are likely.
    { name = "sums beside which other devices compute", framework = "jax", format = "xspace", finding = true,
      severity = "info", impact_ns = 1.2e6, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 4, ["comm.small_count"] = 4,
                ["part.communication_ns"] = 7e6 },
      tables = { activities = { { name = "Rendezvous", kind = "other", events = 196 } },
                 collectives = { { type = "all-reduce", count = 4, group_size = 4, mean_bytes = 117508,
                                   bytes = 470032, ns = 3e7 } } } },
    { name = "a sum for each gradient among devices of a host", framework = "jax", format = "xspace", finding = true,
      severity = "info", impact_ns = 2.1e6,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 4, ["comm.small_count"] = 4,
                ["part.communication_ns"] = 7e6 },
      tables = { activities = { { name = "Rendezvous", kind = "other", events = 196 } },
                 collectives = { { type = "all-reduce", count = 4, group_size = 4, mean_bytes = 117508,
                                   bytes = 470032, ns = 3e7 } } } },
    { name = "one sum of all gradients among devices of a host", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 4, ["comm.small_count"] = 4,
                ["part.communication_ns"] = 7e6 },
      tables = { activities = { { name = "Rendezvous", kind = "other", events = 8 } },
                 collectives = { { type = "all-reduce", count = 4, group_size = 4, mean_bytes = 117508,
                                   bytes = 470032, ns = 3e7 } } } },
    { name = "one for each parameter, on hosts", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 1.88e6,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 84, ["comm.small_count"] = 84 },
      tables = { collectives = { { type = "all-reduce", count = 84, mean_bytes = 8192, bytes = 688128,
                                   exposed_ns = 2e6 } } } },
    { name = "the same without shapes", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.88e6,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 84, ["comm.small_count"] = 0 },
      tables = { collectives = { { type = "all-reduce", count = 84, exposed_ns = 2e6 } } } },
    { name = "Python objects are gathered in each step", framework = "pytorch", format = "kineto", finding = true,
      replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 3, ["comm.small_count"] = 3 },
      tables = { excess = { { cell = 1, flaw = "library-range", cause = "rare", grade = "A", ns = 4e6, share = 0.4,
                              factor = 0.02, detail = "objects: torch/distributed/distributed_c10d.py(3020): "
                                .. "all_gather_object" } },
                 collectives = { { type = "all-gather", count = 2, mean_bytes = 8192, bytes = 16384,
                                   exposed_ns = 1e6 } } } },
    { name = "results are gathered in each step", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 2.85e6,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 3, ["comm.small_count"] = 3,
                ["part.communication_ns"] = 4e6 },
      tables = { collectives = { { type = "all-gather", count = 2, mean_bytes = 8192, bytes = 16384, exposed_ns = 3e6 },
                                 { type = "all-reduce", count = 1, mean_bytes = 1e5, bytes = 1e5,
                                   exposed_ns = 1e6 } } } },
    { name = "the gradients alone, on hosts", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 2, ["comm.small_count"] = 2 },
      tables = { collectives = { { type = "all-reduce", count = 2, mean_bytes = 8192, bytes = 16384,
                                   exposed_ns = 4e6 } } } },
    { name = "on hosts, without a timeline of ops", framework = "tensorflow", format = "xspace", skipped = true,
      facts = { ["step.ns"] = 1e7, ["comm.count_per_step"] = 84, ["comm.small_count"] = 84 },
      tables = { collectives = { { type = "all-reduce", count = 84, mean_bytes = 8192, bytes = 688128,
                                   exposed_ns = 1e6 } } } },
    { name = "a hundred", framework = "pytorch", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.count_per_step"] = 100,
                ["comm.small_count"] = 100 },
      tables = { collectives = { { type = "all-reduce", count = 100, mean_bytes = 4096, bytes = 409600,
                                   exposed_ns = 1e6 } } } },
    { name = "few", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.count_per_step"] = 2, ["comm.small_count"] = 2 },
      tables = { collectives = { { type = "all-reduce", count = 2, mean_bytes = 4096, bytes = 8192,
                                   exposed_ns = 1e6 } } } },
  },
}
