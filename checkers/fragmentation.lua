-- Free memory lies in pieces.
return rule {
  id = "fragmentation", api = 1, version = "1.0.0",
  title = "Free memory lies in pieces",
  category = "memory", severity = "warn",
  needs = { "device.idle_share", "memory.peak_bytes" },
  tags = { "memory" },
  params = {
    min_fragmentation = { default = 0.5, min = 0, max = 1, unit = "share",
                          doc = "1 - largest free block over free bytes, at the peak" },
    min_unused = { default = 0.25, min = 0, max = 1, unit = "share",
                   doc = "of the reserved bytes, not in use at the peak" },
    min_bytes = { default = 1073741824, min = 0, max = 1e15, unit = "bytes", doc = "such bytes" },
    min_used = { default = 0.4, min = 0, max = 1, unit = "share",
                 doc = "peak over capacity, below which whatever is asked for has room" },
    max_used = { default = 0.9, min = 0, max = 1, unit = "share",
                 doc = "peak over capacity, above which too little is free to matter" },
  },
  doc = [[
An allocator that holds much memory that it does not use fails although enough is free. No price; where
allocations stop the device, allocator-churn has one. Silent where little is free, and where little is in use.]],

  check = function(p, cfg)
    local peak = p.fact["memory.peak_bytes"]
    local reserved = p:has("memory.reserved_bytes") and p.fact["memory.reserved_bytes"]
    local unused = p:has("memory.reserved_unused_share") and p.fact["memory.reserved_unused_share"]
    local pieces = p:has("memory.fragmentation") and p.fact["memory.fragmentation"]
    local capacity = p:has("memory.capacity_bytes") and p.fact["memory.capacity_bytes"]
    local by_pieces = pieces and capacity and pieces >= cfg.min_fragmentation
      and peak <= cfg.max_used * capacity and peak >= cfg.min_used * capacity
    local by_reserve = reserved and unused and unused >= cfg.min_unused and unused * reserved >= cfg.min_bytes
    if not by_pieces and not by_reserve then return nil end
    local evidence = { { "peak in use", peak, "bytes" } }
    if reserved then evidence[#evidence + 1] = { "reserved at the peak", reserved, "bytes" } end
    if unused then evidence[#evidence + 1] = { "of the reserved bytes, not in use", unused, "share" } end
    if pieces then evidence[#evidence + 1] = { "1 - largest free block over free bytes", pieces, "share" } end
    return finding {
      title = by_reserve and ("%s are reserved but not in use at the peak"):format(fmt.bytes(unused * reserved)) or
              ("%s of free memory is in smaller pieces than the largest"):format(fmt.pct(pieces)),
      evidence = evidence,
      condition = by_reserve
        and ("%s of the reserve unused, %s accepted"):format(fmt.pct(unused), fmt.pct(cfg.min_unused)) or
                  ("fragmentation %s, %s accepted"):format(fmt.pct(pieces), fmt.pct(cfg.min_fragmentation)),
      remedy = { text = "Let segments grow, use fewer different shapes, allocate what lives long first.",
                 flags = p.framework == "pytorch" and "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" or nil },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "half of the reserve unused", framework = "pytorch", finding = true,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 6.6e9, ["memory.reserved_bytes"] = 1.28e10,
                ["memory.reserved_unused_share"] = 0.48 } },
    { name = "in pieces", framework = "tensorflow", finding = true,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 6e9, ["memory.capacity_bytes"] = 1e10,
                ["memory.fragmentation"] = 0.7 } },
    { name = "in pieces, with room for everything", framework = "jax", finding = false,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 1e9, ["memory.capacity_bytes"] = 1e10,
                ["memory.fragmentation"] = 0.7 } },
    { name = "whole", finding = false,
      facts = { ["device.idle_share"] = 0.1, ["memory.peak_bytes"] = 6e9, ["memory.capacity_bytes"] = 1e10,
                ["memory.fragmentation"] = 0.1 } },
  },
}
