-- Allocations failed for want of memory while the program was recorded.
return rule {
  id = "out-of-memory", api = 1, version = "1.0.0",
  title = "Memory ran out",
  category = "memory", severity = "error",
  formats = { "kineto" },
  needs = { "memory.failed_count" },
  tags = { "memory", "pytorch" },
  more_specific_than = { "memory-near-limit" },
  params = {
    min_count = { default = 1, min = 1, max = 1e9, unit = "count", doc = "failed allocations from which this is said" },
  },
  doc = [[
The program asked for memory that was not there, and went on by other means, as smaller batches: what it did until
then was for nothing, and the next input that is a little longer may end it. Counts over the recording, with what was
asked for, what was in use at most and who held it. No price. Silent where no allocation failed.]],

  check = function(p, cfg)
    local count, asked = p.fact["memory.failed_count"], p.fact["memory.failed_bytes"]
    if count < cfg.min_count then return nil end
    local evidence = { { "allocations that failed", count, "count" }, { "the largest asked for", asked, "bytes" } }
    if p:has("memory.peak_bytes") then
      evidence[#evidence + 1] = { "most in use at once", p.fact["memory.peak_bytes"], "bytes" }
    end
    if p:has("memory.capacity_bytes") then
      evidence[#evidence + 1] = { "capacity", p.fact["memory.capacity_bytes"], "bytes" }
    end
    if p:has("memory_owners") then
      for _, row in ipairs(p:table("memory_owners"):top("bytes", 3):rows()) do
        evidence[#evidence + 1] = { row.owner or "unknown owner", row.bytes, "bytes" }
      end
    end
    return finding {
      title = ("Memory ran out %d time%s: %s were asked for"):format(count, count > 1 and "s" or "", fmt.bytes(asked)),
      evidence = evidence,
      condition = ("%d failed, none accepted"):format(count),
      remedy = { text = "Bound what a step takes before it starts: pad to fewer lengths, accumulate smaller batches, "
                   .. "checkpoint activations. The allocator's own record says what lay where.",
                 code = "torch.cuda.memory._record_memory_history()\n"
                   .. "torch.cuda.memory._dump_snapshot(\"memory.pickle\")  # in the handler; open at "
                   .. "pytorch.org/memory_viz" },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "twice", format = "kineto", framework = "pytorch", finding = true,
      facts = { ["memory.failed_count"] = 2, ["memory.failed_bytes"] = 8e9, ["memory.peak_bytes"] = 36e9,
                ["memory.capacity_bytes"] = 40e9 },
      tables = { memory_owners = { { owner = "aten::mm", bytes = 4e9 } } } },
    { name = "once", format = "kineto", framework = "pytorch", finding = true,
      facts = { ["memory.failed_count"] = 1, ["memory.failed_bytes"] = 8e9 } },
    { name = "never", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["memory.failed_count"] = 0, ["memory.peak_bytes"] = 36e9 } },
    { name = "no memory events", format = "kineto", framework = "pytorch", skipped = true, facts = {} },
  },
}
