-- Large copies between host and device run far below the link's rate.
return rule {
  id = "pcie-slow", api = 1, version = "1.0.0",
  title = "Large copies run below the link's rate",
  category = "copies", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.idle_share", "part.copy_ns", "copies" },
  cause = "copy", tags = { "copies" },
  params = {
    min_bytes = { default = 8388608, min = 1, max = 1e12, unit = "bytes",
                  doc = "a copy that should reach the link's rate" },
    max_rate = { default = 0.6, min = 0, max = 1, unit = "share",
                 doc = "of the link's rate, below which this is said" },
    link = { default = 12e9, min = 1e8, max = 1e12, unit = "bytes_per_s",
             doc = "the link's rate; 12 GB/s is third generation, 16 lanes" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of these copies over the step" },
  },
  doc = [[
Copies from pinned memory reach nearly the rate of the link; less means a narrow slot, a far socket or neighbours at
work. Compared with the fastest such copy of the recording, or the link given. Priced as what is above the time at
four fifths of that rate. Silent for pageable memory, which has a rule of its own, and for copies below 8 MiB.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local findings = {}
    for _, direction in ipairs { "h2d", "d2h" } do
      local copies = p:table("copies"):where { direction = direction, is_pageable = false,
                                               mean_bytes = { min = cfg.min_bytes } }
      local best = math.max(cfg.link, copies:max("bytes_per_s") or 0)
      local slow = copies:where { bytes_per_s = { max = cfg.max_rate * best }, name = { like = "(?i)pinned" } }
      local ns = math.min(slow:sum("exposed_ns"), p.fact["part.copy_ns"])
      if slow:count() > 0 and ns >= cfg.min_share * step_ns then
        local top = slow:top("exposed_ns", 1):rows()[1]
        findings[#findings + 1] = finding {
          title = ("Copies of %s reach %s/s of %s/s"):format(
            fmt.bytes(top.mean_bytes), fmt.bytes(top.bytes_per_s), fmt.bytes(best)),
          subject = { op = top.name, device = top.where },
          evidence = { { "slow copies that nothing hides, a step", ns, "ns", share = math.min(1, ns / step_ns) },
                       { "their rate", top.bytes_per_s, "bytes_per_s" },
                       { "rate compared with", best, "bytes_per_s" },
                       { "bytes a step", slow:sum("bytes"), "bytes" } },
          condition = ("%s of the rate, %s accepted"):format(fmt.pct(top.bytes_per_s / best), fmt.pct(cfg.max_rate)),
          remedy = { text = "Run the process on the device's own socket; "
                       .. "compare the link's width with what the slot should give.",
                     code = "numactl --cpunodebind=0 --membind=0 python train.py\n"
                       .. "nvidia-smi -q | grep -A3 'Link Width'" },
          impact = impact.exposed { ns = ns * math.max(0, 1 - top.bytes_per_s / (0.8 * best)) },
          claims = { { parts = { "copy" } } },
          confidence = "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "a quarter of the rate", framework = "pytorch", format = "kineto", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["part.copy_ns"] = 1e6 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pinned -> Device)", is_pageable = false,
                              bytes = 6e7, mean_bytes = 6e7, bytes_per_s = 3e9, exposed_ns = 1e6,
                              where = "GPU 0" } } } },
    { name = "near the rate", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["part.copy_ns"] = 1e6 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD (Pinned -> Device)", is_pageable = false,
                              bytes = 6e7, mean_bytes = 6e7, bytes_per_s = 11e9, exposed_ns = 1e6,
                              where = "GPU 0" } } } },
  },
}
