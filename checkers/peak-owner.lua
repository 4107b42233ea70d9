-- Names who holds memory at the peak.
return rule {
  id = "peak-owner", api = 1, version = "1.0.0",
  title = "Who holds memory at the peak",
  category = "memory", severity = "info",
  needs = { "device.idle_share", "memory.peak_bytes", "memory.top_owner", "memory.top_owner_bytes",
            "memory.top_owner_share", "memory_owners" },
  tags = { "memory" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "of the peak, what the largest owner holds" },
    min_bytes = { default = 1073741824, min = 0, max = 1e15, unit = "bytes",
                  doc = "peak from which it is worth a line" },
  },
  doc = [[
A fact without a price, for those who run out of memory. Silent for small peaks, and where many small
owners share it.]],

  check = function(p, cfg)
    local peak, share = p.fact["memory.peak_bytes"], p.fact["memory.top_owner_share"]
    if peak < cfg.min_bytes or share < cfg.min_share then return nil end
    local evidence = { { "peak in use", peak, "bytes" } }
    local rows = p:table("memory_owners")
    if p:has("memory.allocator") then
      rows = rows:where { allocator = p.fact["memory.allocator"],
                          device = p:has("memory.device") and p.fact["memory.device"] or nil }
    end
    for _, row in ipairs(rows:top("bytes", 5):rows()) do
      evidence[#evidence + 1] = { row.owner or "unknown owner", row.bytes, "bytes" }
    end
    return finding {
      title = ("%s holds %s of the peak of %s"):format(
        p.fact["memory.top_owner"], fmt.bytes(p.fact["memory.top_owner_bytes"]), fmt.bytes(peak)),
      subject = { op = p.fact["memory.top_owner"] },
      evidence = evidence,
      condition = ("%s of the peak, %s worth a line"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Free it earlier, recompute it, or shard it, if memory runs short." },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a sixth", finding = true,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 6.6e9, ["memory.top_owner"] = "aten::mm",
                ["memory.top_owner_bytes"] = 1e9, ["memory.top_owner_share"] = 0.15 },
      tables = { memory_owners = { { owner = "aten::mm", bytes = 1e9 } } } },
    { name = "many", finding = false,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 6.6e9, ["memory.top_owner"] = "aten::mm",
                ["memory.top_owner_bytes"] = 1e7, ["memory.top_owner_share"] = 0.0015 },
      tables = { memory_owners = { { owner = "aten::mm", bytes = 1e7 } } } },
  },
}
