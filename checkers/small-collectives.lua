-- Many collectives carry little.
return rule {
  id = "small-collectives", api = 1, version = "1.0.0",
  title = "Many collectives carry little",
  category = "communication", severity = "warn",
  needs = { "step.median_ns", "comm.count_per_step", "comm.small_count", "collectives" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm" },
  params = {
    min_count = { default = 20, min = 1, max = 1e9, unit = "count", doc = "collectives below 1 MiB a step" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "their uncovered time over the step" },
    max_bytes = { default = 1048576, min = 1, max = 1e12, unit = "bytes", doc = "payload that counts as small" },
  },
  doc = [[
Each collective has a cost of its own that does not shrink with its payload. Priced as their uncovered
time, less what one for each 25 MiB would take at the median of them. Silent for few or hidden ones,
and where payloads were not recorded.]],

  check = function(p, cfg)
    -- Processes on hosts: what their collectives cost shows in PyTorch's own timeline alone.
    if not p:has("device.idle_share") and p.format ~= "kineto" then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local small = p:table("collectives"):where { mean_bytes = { min = 1, max = cfg.max_bytes } }
    local count, ns, bytes = small:sum("count"), small:sum("exposed_ns"), small:sum("bytes")
    local step_ns = p.fact["step.median_ns"]
    if count < cfg.min_count or ns / step_ns < cfg.min_share then return nil end
    local merged = math.max(1, math.ceil(bytes / 26214400))
    local saved_ns = ns * math.max(0, 1 - merged / count)
    return finding {
      title = ("%s collectives a step carry less than %s each"):format(fmt.count(math.floor(count + 0.5)), fmt.bytes(cfg.max_bytes)),
      evidence = { { "small collectives a step", count, "count" }, { "their payload a step", bytes, "bytes" },
                   { "their uncovered time a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "transfers of 25 MiB instead", merged, "count" } },
      condition = ("%s small collectives, %s accepted"):format(fmt.count(math.floor(count + 0.5)), fmt.count(cfg.min_count)),
      remedy = { text = "Join them: larger buckets, flattened parameters, coalesced calls.",
                 code = p.framework == "pytorch" and "DDP(model, bucket_cap_mb=25)   # or FSDP with larger units" or nil },
      impact = impact.exposed { ns = math.min(saved_ns, step_ns) },
      claims = { { parts = { "communication" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "one for each parameter, on hosts", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9.9e5,
      facts = { ["step.median_ns"] = 1e7, ["comm.count_per_step"] = 84, ["comm.small_count"] = 84 },
      tables = { collectives = { { type = "all-reduce", count = 84, mean_bytes = 8192, bytes = 688128, exposed_ns = 1e6 } } } },
    { name = "on hosts, without a timeline of ops", framework = "tensorflow", format = "xspace", skipped = true,
      facts = { ["step.median_ns"] = 1e7, ["comm.count_per_step"] = 84, ["comm.small_count"] = 84 },
      tables = { collectives = { { type = "all-reduce", count = 84, mean_bytes = 8192, bytes = 688128, exposed_ns = 1e6 } } } },
    { name = "a hundred", framework = "pytorch", finding = true, impact_ns = 9e5,
      facts = { ["step.median_ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.count_per_step"] = 100, ["comm.small_count"] = 100 },
      tables = { collectives = { { type = "all-reduce", count = 100, mean_bytes = 4096, bytes = 409600, exposed_ns = 1e6 } } } },
    { name = "few", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.count_per_step"] = 2, ["comm.small_count"] = 2 },
      tables = { collectives = { { type = "all-reduce", count = 2, mean_bytes = 4096, bytes = 8192, exposed_ns = 1e6 } } } },
  },
}
