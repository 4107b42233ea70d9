-- The gradient scaler waits for the device in each step.
return rule {
  id = "amp-scaler-sync", api = 1, version = "1.0.0",
  title = "The gradient scaler waits for the device",
  category = "idle", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_share", "torch.scaler_reads", "syncs" },
  cause = "sync", tags = { "sync", "precision" },
  more_specific_than = { "scalar-readback", "blocking-sync-in-step" },
  params = {
    min_reads = { default = 0.9, min = 0, max = 1e6, unit = "count", doc = "such reads a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device after them, over the step" },
  },
  doc = [[
GradScaler reads whether any gradient overflowed before each update; the host waits for the whole backward pass, and the
device then waits for the host. bfloat16 needs no scaler, where the device has it, and fused optimizers take the
flag on the device. Priced as
the device's idle time after values are read, by the scaler's part of the reads. Silent where work is queued behind.]],

  check = function(p, cfg)
    local step_ns, reads = p.fact["step.ns"], p.fact["torch.scaler_reads"]
    local all = p:table("syncs"):where { owner = { like = p:names("aten_item") } }
    local count = all:sum("count")
    if reads < cfg.min_reads or count == 0 then return nil end
    local ns = math.min(all:sum("bubble_ns") * math.min(1, reads / count), step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    local is_float16 = p:has("device.half_type") and p.fact["device.half_type"] == "float16"
    local fused = "torch.optim.AdamW(params, fused=True)"
    return finding {
      title = ("The gradient scaler reads %s values a step; the device is idle for %s after them"):format(
        fmt.ratio(reads), fmt.ms(ns)),
      evidence = { { "device idle after them a step", ns, "ns", share = ns / step_ns },
                   { "its reads a step", reads, "count" },
                   { "all values read a step", count, "count" } },
      condition = ("idle after its reads takes %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = is_float16 and { text = "Use a fused optimizer; this device has no bfloat16, which needs no scaler.",
                                code = fused }
        or { text = "Use bfloat16 without a scaler, or a fused optimizer.",
             code = "with torch.autocast('cuda', torch.bfloat16): ...\n" .. fused },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "idle.sync", "host" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "one a step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["torch.scaler_reads"] = 1 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::_local_scalar_dense", count = 1,
                             bubble_ns = 5e5 } } } },
    { name = "no scaler", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["torch.scaler_reads"] = 0 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::_local_scalar_dense", count = 1,
                             bubble_ns = 5e5 } } } },
    { name = "work is queued", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02, ["torch.scaler_reads"] = 1 },
      tables = { syncs = { { name = "cudaStreamSynchronize", owner = "aten::_local_scalar_dense", count = 1,
                             bubble_ns = 0 } } } },
  },
}
