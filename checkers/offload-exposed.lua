-- State that is kept in host memory goes back and forth uncovered.
return rule {
  id = "offload-exposed", api = 1, version = "1.0.0",
  title = "Offloaded state is moved while the device waits",
  category = "copies", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "copies" },
  cause = "copies", tags = { "copies", "memory" },
  more_specific_than = { "h2d-share", "d2h-share", "memcpy-storm" },
  params = {
    most_hidden = { default = 4, min = 1, max = 1e6, unit = "ratio",
                    doc = "uncovered copies over computing from which hiding them is no remedy" },
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of such copies over the step" },
    min_bytes = { default = 16777216, min = 0, max = 1e15, unit = "bytes", doc = "bytes a step in each direction" },
    evenness = { default = 0.25, min = 0, max = 1, unit = "share", doc = "how much the two directions may differ" },
  },
  doc = [[
Optimizer state, activations or weights that live in host memory leave the device and come back in each step: about as
many bytes go down as come up, by pinned copies. Managed memory does the same page by page. Priced as the uncovered
part, as far as there is computing to hide it behind; where that is far too little, as what moving less could save.
Silent where copies run beside computing. Moving less may not be possible: the memory may be needed.]],

  check = function(p, cfg)
    local step_ns, sums = p.fact["step.ns"], { h2d = { 0, 0 }, d2h = { 0, 0 } }
    local managed_ns = 0
    for row in p:table("copies"):each() do
      local sum = sums[row.direction]
      if (row.kind or ""):find("(?i)managed|unified")
          or (row.name or ""):find("(?i)unified memory|page ?fault|\\bUVM\\b") then
        managed_ns = managed_ns + (row.exposed_ns or 0)
      elseif sum and not row.is_pageable then
        sum[1], sum[2] = sum[1] + (row.bytes or 0), sum[2] + (row.exposed_ns or 0)
      end
    end
    local up, down = sums.h2d, sums.d2h
    local is_even = math.min(up[1], down[1]) >= cfg.min_bytes and
                    math.abs(up[1] - down[1]) <= cfg.evenness * math.max(up[1], down[1])
    local ns = math.min((is_even and up[2] + down[2] or 0) + managed_ns, step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    local evidence = { { "uncovered copies of offloaded state a step", ns, "ns", share = ns / step_ns } }
    if is_even then
      evidence[#evidence + 1] = { "to the device a step", up[1], "bytes" }
      evidence[#evidence + 1] = { "to the host a step", down[1], "bytes" }
    end
    if managed_ns > 0 then
      evidence[#evidence + 1] = { "uncovered traffic of managed memory a step", managed_ns, "ns" }
    end
    -- What computes for a small part of that time cannot hide it: only what is not moved is saved.
    local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
    -- a program that only copies is about them
    local is_too_much = ns > cfg.most_hidden * compute_ns and compute_ns >= 0.01 * step_ns
    if is_too_much then
      evidence[#evidence + 1] = { "computing a step, beside which it could run", compute_ns, "ns" }
    end
    return finding {
      title = ("Offloading is uncovered for %s a step"):format(fmt.ms(ns)),
      evidence = evidence,
      condition = ("%s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = is_too_much
                   and "Keep more on the device, in fewer bits or over more devices: there is too little computing to "
                       .. "hide these copies behind." or
                   "Fetch one layer earlier on a stream of its own, and offload less if memory allows: the recording "
                   .. "tells the peak (tfprof info), not what would fit without offloading.",
                 code = not is_too_much and p.framework == "pytorch"
                   and "with torch.cuda.stream(prefetch): next_layer.weight.data = host[i + 1].to('cuda', "
                       .. "non_blocking=True)" or nil },
      impact = is_too_much and impact.exposed { ns = ns }
        or impact.replay { { "overlap", parts = { "copy" } }, fallback = impact.exposed { ns = ns } },
      claims = { { parts = { "copy" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "more than computing could hide", framework = "jax", format = "xspace", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 5e5 },
      tables = { copies = { { direction = "h2d", name = "copy-done", bytes = 1e9, exposed_ns = 4e6 },
                            { direction = "d2h", name = "copy-done", bytes = 1e9, exposed_ns = 4e6 } } } },
    { name = "optimizer state on the host", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9.5e5,
      replay = { 1e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD", kind = "Pinned -> Device", bytes = 1e8,
                              exposed_ns = 6e5 },
                            { direction = "d2h", name = "Memcpy DtoH", kind = "Device -> Pinned", bytes = 1e8,
                              exposed_ns = 6e5 } } } },
    { name = "batches go up", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD", kind = "Pinned -> Device", bytes = 1e8,
                              exposed_ns = 6e5 },
                            { direction = "d2h", name = "Memcpy DtoH", kind = "Device -> Pinned", bytes = 64,
                              exposed_ns = 1e4 } } } },
    { name = "covered", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { copies = { { direction = "h2d", name = "Memcpy HtoD", kind = "Pinned -> Device", bytes = 1e8,
                              exposed_ns = 1e4 },
                            { direction = "d2h", name = "Memcpy DtoH", kind = "Device -> Pinned", bytes = 1e8,
                              exposed_ns = 1e4 } } } },
  },
}
