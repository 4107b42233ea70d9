-- Copying the batch to the device is a good part of waiting for input.
return rule {
  id = "input-transfer-bound", api = 1, version = "1.0.0",
  title = "Copying batches to the device makes the step wait",
  category = "input", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "input.wait_ns", "input.wait_share", "copies.h2d_exposed_ns", "copies.h2d_count",
            "copies.h2d_bytes" },
  cause = "input", tags = { "input", "copy" },
  more_specific_than = { "input-bound-step", "h2d-share" },
  params = {
    min_input_share = { default = 0.05, min = 0, max = 1, unit = "share",
                        doc = "share of the step in waiting for input and copying it" },
    min_copy_share = { default = 0.30, min = 0, max = 1, unit = "share",
                       doc = "of that, copies to the device that nothing hides" },
  },
  doc = [[
Input time is waiting for batches and copying them to the device. Where copies that no kernel hides are a third of it,
they are the thing to change: smaller types, pinned memory, copying while the step before computes. Priced as those
copies. Silent where copies are hidden, or the step hardly waits for input.]],

  check = function(p, cfg)
    local step_ns, wait_ns = p.fact["step.ns"], p.fact["input.wait_ns"]
    local copy_ns = p.fact["copies.h2d_exposed_ns"]
    local input_ns = wait_ns + copy_ns
    if p.fact["input.wait_share"] < cfg.min_input_share or copy_ns < cfg.min_copy_share * input_ns then return nil end

    local count, bytes = p.fact["copies.h2d_count"], p.fact["copies.h2d_bytes"]
    local code = {
      pytorch = "batch = batch.to(device, non_blocking=True)  # from DataLoader(..., pin_memory=True)",
      jax = "batch = jax.device_put(batch)  # in a thread, two batches ahead; uint8, cast on the device",
      tensorflow = "ds = ds.apply(tf.data.experimental.prefetch_to_device('/gpu:0'))",
    }
    return finding {
      title = ("Copies to the device are %s of input time"):format(fmt.pct(math.min(1, copy_ns / input_ns))),
      evidence = {
        { "copies that nothing hides a step", copy_ns, "ns", share = math.min(1, copy_ns / step_ns) },
        { "input wait a step", wait_ns, "ns", share = p.fact["input.wait_share"] },
        { "copies a step", count, "count" },
        { "mean size", bytes / math.max(count, 1), "bytes" },
      },
      condition = ("exposed copies are %s of input time, %s accepted"):format(
        fmt.pct(math.min(1, copy_ns / input_ns)), fmt.pct(cfg.min_copy_share)),
      remedy = { text = "Send small types (uint8 images) and cast on the device; "
                   .. "copy from pinned memory while the step before computes.", code = code[p.framework] },
      impact = impact.exposed { ns = copy_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "half of input is copying", framework = "pytorch", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 1e6, ["input.wait_share"] = 0.1,
                ["copies.h2d_exposed_ns"] = 1e6, ["copies.h2d_count"] = 4, ["copies.h2d_bytes"] = 4e7 } },
    { name = "copies are hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 1e6, ["input.wait_share"] = 0.1,
                ["copies.h2d_exposed_ns"] = 1e4, ["copies.h2d_count"] = 4, ["copies.h2d_bytes"] = 4e7 } },
  },
}
