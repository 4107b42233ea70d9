-- Findings about copies and about a device's limits, and none where they are short or far.
return rule {
  id = "api1/limits", api = 1, version = "1.0.0", title = "What holds a device up",
  category = "copies", severity = "info",
  needs = { "step.ns", "copies.h2d_exposed_ns", "copies.h2d_exposed_share", "copies.h2d_ns", "copies.h2d_bytes",
            "copies.h2d_count", "part.copy_ns", "copies", "flops.mfu", "flops.bytes_per_step", "flops.known_share",
            "flops.memory_peak_per_s" },

  check = function(p)
    local function copies(min_share)
      return p:exposed_copies {
        direction = "h2d", title = "Copies of batches", name = "HtoD.*", min_share = min_share,
        severity = function(share) return share >= 0.1 and "warn" or "info" end, remedy = { text = "Copy ahead." },
      }
    end
    local function limit(name)
      return p:at_limit {
        limit = name, title = "%s of " .. name .. ", %s of the other", min_known = 0.5, min_use = 0.6, max_other = 0.5,
        remedy = { text = "Do less." },
      }
    end
    -- Without an accelerator's idle time there is nothing to run ahead of, and nothing that waits.
    assert(p:host_limit() == nil and p:stalled_ns() == 0)
    -- A quarter of 2 TB/s over 1 byte/s is beyond what is usual; nothing gets slower; unknown peaks allow what is usual.
    assert(p:faster_by("flops.memory_peak_per_s", 3, 0.25) == 3 and p:faster_by("flops.mfu", 3, 1.2) == 1)
    assert(p:faster_by("device.half_of_f32", 3, 1.2) == 3)
    assert(p:in_16_bits().dtype == "bfloat16" and p:in_16_bits().code == nil)
    assert(p:without_calls { { "omit", name = "aten::item" } } == nil)
    assert(copies(0.2) == nil and limit("memory") == nil)
    local copied, computed = copies(0.05), limit("arithmetic")
    assert(copied.title == "Copies of batches take 1.00 ms (10.0 %) of each step", copied.title)
    assert(copied.severity == "warn")
    -- 4e9 bytes in 10 ms are 400 GB/s of 2000.
    assert(computed.title == "75.0 % of arithmetic, 20.0 % of the other", computed.title)
    return { copied, computed }
  end,

  examples = {
    { name = "both", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["copies.h2d_exposed_ns"] = 2e6, ["copies.h2d_exposed_share"] = 0.2,
                ["copies.h2d_ns"] = 2e6, ["copies.h2d_bytes"] = 2e7, ["copies.h2d_count"] = 4, ["part.copy_ns"] = 1e6,
                ["flops.mfu"] = 0.75, ["flops.bytes_per_step"] = 4e9, ["flops.known_share"] = 1,
                ["flops.memory_peak_per_s"] = 2e12 },
      tables = { copies = { { direction = "h2d", exposed_ns = 1e6 } } } },
    { name = "nothing recorded", finding = false, skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
