-- The device's memory is nearly full.
return rule {
  id = "memory-near-limit", api = 1, version = "1.0.0",
  title = "The device's memory is nearly full",
  category = "memory", severity = "warn",
  needs = { "device.idle_share", "memory.peak_bytes", "memory.capacity_bytes", "memory.peak_share" },
  tags = { "memory" },
  params = {
    min_share = { default = 0.90, min = 0, max = 1, unit = "share",
                  doc = "peak over capacity from which this is said" },
    high_share = { default = 0.97, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
  },
  doc = [[
Near the limit allocators retry, free their caches and stop the device; a longer input ends the
program. Counts bytes in use, not what a pool reserved. No price. Silent below min_share.]],

  check = function(p, cfg)
    local share, peak = p.fact["memory.peak_share"], p.fact["memory.peak_bytes"]
    if share < cfg.min_share then return nil end
    local evidence = { { "peak in use", peak, "bytes" }, { "capacity", p.fact["memory.capacity_bytes"], "bytes" },
                       { "peak over capacity", share, "share" } }
    if p:has("memory_owners") then
      for _, row in ipairs(p:table("memory_owners"):top("bytes", 5):rows()) do
        evidence[#evidence + 1] = { row.owner or "unknown owner", row.bytes, "bytes" }
      end
    end
    local is_served = p:has("serving.trains") and not p.fact["serving.trains"]
    return finding {
      title = ("Memory peaks at %s of %s (%s)"):format(
        fmt.bytes(peak), fmt.bytes(p.fact["memory.capacity_bytes"]), fmt.pct(share)),
      severity = share >= cfg.high_share and "error" or "warn",
      evidence = evidence,
      condition = ("%s in use, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = is_served and "Where an engine fills it with keys and values, that is on purpose; else smaller "
                   .. "batches, prompts in chunks, weights in 8 bits." or
                   "Checkpoint activations, shard the optimiser, or accumulate smaller batches."
                   .. (p.framework == "tensorflow" and " A session that is asked for it says who held what when memory "
                   .. "does run out." or ""),
                 code = p.framework == "tensorflow"
                   and "options = tf.compat.v1.RunOptions()\noptions.report_tensor_allocations_upon_oom = True\n"
                   .. "session.run(train, options=options)"
                   or not is_served and p.framework == "pytorch"
                   and "y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)" or
                        p.framework == "jax" and "block = jax.checkpoint(block)" or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "95 %", framework = "pytorch", finding = true,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 38e9, ["memory.capacity_bytes"] = 40e9,
                ["memory.peak_share"] = 0.95 },
      tables = { memory_owners = { { owner = "aten::mm", bytes = 4e9 } } } },
    { name = "95 % of a session's", framework = "tensorflow", finding = true,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 38e9, ["memory.capacity_bytes"] = 40e9,
                ["memory.peak_share"] = 0.95 } },
    { name = "half", finding = false,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 20e9, ["memory.capacity_bytes"] = 40e9,
                ["memory.peak_share"] = 0.5 } },
  },
}
