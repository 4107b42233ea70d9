-- Copies to the device hold the step up.
return rule {
  id = "h2d-share", api = 1, version = "1.0.0",
  title = "Copies to the device hold the step up",
  category = "copies", severity = "warn",
  needs = { "step.ns", "device.idle_share", "copies.h2d_exposed_ns", "copies.h2d_exposed_share", "part.copy_ns",
            "copies.h2d_ns", "copies.h2d_bytes", "copies.h2d_count", "copies" },
  cause = "copy", tags = { "copies" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in such copies that no kernel hides" },
    high_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
  },
  doc = [[
Only copying that no kernel hides counts. Priced by replay: those copies beside computation. Silent
where they are hidden or short.]],

  check = function(p, cfg)
    -- The facts sum over devices that copy side by side; the step waits for one of them.
    local ns = math.min(p.fact["copies.h2d_exposed_ns"], p.fact["part.copy_ns"])
    local share = math.min(p.fact["copies.h2d_exposed_share"], ns / p.fact["step.ns"])
    if share < cfg.min_share then return nil end
    local evidence = { { "copies to the device that nothing hides, a step", ns, "ns", share = math.min(1, share) },
                       { "all of them a step", p.fact["copies.h2d_ns"], "ns" },
                       { "copies a step", p.fact["copies.h2d_count"], "count" },
                       { "bytes a step", p.fact["copies.h2d_bytes"], "bytes" } }
    local remedy = {
      pytorch = { text = "Pin memory and copy the next batch while the step computes; "
                    .. "send small types and cast on the device.",
                  code = "DataLoader(ds, pin_memory=True)\nx = x.to(device, non_blocking=True)" },
      jax = { text = "Put the next batch on the device while the step computes.",
              code = "batch = jax.device_put(next(it))   # before waiting for the step" },
      tensorflow = { text = "Copy the next batch while the step computes.",
                     code = "ds = ds.apply(tf.data.experimental.prefetch_to_device('/GPU:0'))" },
    }
    return finding {
      title = ("Copies to the device take %s (%s) of each step"):format(fmt.ms(ns), fmt.pct(share)),
      severity = share >= cfg.high_share and "error" or "warn",
      evidence = evidence, locations = p:table("copies"):where { direction = "h2d" }:top("exposed_ns", 3):places(),
      condition = ("uncovered copies take %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = remedy[p.framework]
        or { text = "Copy the next batch while the step computes, from pinned memory, in small types." },
      impact = impact.replay { { "overlap", parts = { "copy" }, name = "(?i).*(HtoD|H2D|host to device).*" },
                               fallback = impact.exposed { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth of the step", framework = "pytorch", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.h2d_exposed_ns"] = 1e6,
                ["copies.h2d_exposed_share"] = 0.1, ["copies.h2d_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.h2d_bytes"] = 2e7, ["copies.h2d_count"] = 4 },
      tables = { copies = { { direction = "h2d", exposed_ns = 1e6 } } } },
    { name = "hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["copies.h2d_exposed_ns"] = 1e4,
                ["copies.h2d_exposed_share"] = 0.001, ["copies.h2d_ns"] = 2e6, ["part.copy_ns"] = 1e6,
                ["copies.h2d_bytes"] = 2e7, ["copies.h2d_count"] = 4 }, tables = { copies = {} } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
