-- Much of the products' time is outside the tensor cores.
return rule {
  id = "tensor-core-share-low", api = 1, version = "1.0.0",
  title = "Much of the products' time is outside the tensor cores",
  category = "precision", severity = "info",
  needs = { "step.ns", "device.idle_share", "device.count", "kernels.product_ns", "kernels.no_tensor_core_ns",
            "kernels.tensor_core_ns", "kernels" },
  cause = "precision", tags = { "precision", "kernels" },
  params = {
    min_share = { default = 0.30, min = 0, max = 1, unit = "share", doc = "products over the step" },
    min_without = { default = 0.50, min = 0, max = 1, unit = "share", doc = "of them, surely without tensor cores" },
    speedup = { default = 3, min = 1, max = 16, unit = "ratio",
                doc = "how much faster such kernels are with 16 bits, where peaks allow it" },
    of_peaks = { default = 1.2, min = 0.5, max = 2, unit = "ratio",
                 doc = "how much faster at most, over what peaks differ by: float32 stays further below its own" },
  },
  doc = [[
Lists the products that run without tensor cores although others have them, or although it is unknown
of others. The reason is their type, a dimension that is not a multiple of 8, or the library. Priced as
Amdahl's law has it, at low confidence. Silent where most of the time is on tensor cores.]],

  check = function(p, cfg)
    local devices = p.fact["device.count"] -- their kernels are summed, but they run side by side
    local ns, without_ns = p.fact["kernels.product_ns"] / devices, p.fact["kernels.no_tensor_core_ns"] / devices
    local step_ns = p.fact["step.ns"]
    if ns / step_ns < cfg.min_share or without_ns < cfg.min_without * ns then return nil end
    local evidence = { { "products, convolutions and attention a step", ns, "ns", share = math.min(1, ns / step_ns) },
                       { "of that, surely without tensor cores", without_ns, "ns" },
                       { "surely with tensor cores", p.fact["kernels.tensor_core_ns"], "ns" } }
    local rows = p:table("kernels"):where { tensor_core = "no" }:top("total_ns", 3):rows()
    for _, row in ipairs(rows) do
      evidence[#evidence + 1] =
        { ("%s (%s)"):format(row.family or row.name, row.dtype ~= "" and row.dtype or "type unknown"), row.total_ns,
          "ns" }
    end
    return finding {
      title = ("%s of %s of products a step run without tensor cores"):format(fmt.pct(without_ns / ns), fmt.ms(ns)),
      subject = { kernel = rows[1] and rows[1].name },
      evidence = evidence,
      condition = ("%s surely without, %s accepted"):format(fmt.pct(without_ns / ns), fmt.pct(cfg.min_without)),
      remedy = { text = "Compute them in 16 bits with dimensions that are multiples of 8.",
                 code = p:in_16_bits().code },
      impact = impact.amdahl { ns = math.min(without_ns, step_ns),
                             speedup = p:faster_by("device.half_of_f32", cfg.speedup, cfg.of_peaks) },
      claims = { { parts = { "compute" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "most", framework = "pytorch", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1, ["kernels.product_ns"] = 5e6,
                ["kernels.no_tensor_core_ns"] = 3e6, ["kernels.tensor_core_ns"] = 1e6 },
      tables = { kernels = { { name = "sgemm_128", family = "sgemm", tensor_core = "no", dtype = "float32",
                               total_ns = 3e6 } } } },
    -- Peaks differ twofold, and float32 falls short of its own, so 2.4 times:
    -- 3 ms * (1 - 1 / (1 + 0.75 * (2.4 - 1))).
    { name = "a GeForce card", framework = "pytorch", finding = true, impact_ns = 1.537e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1, ["kernels.product_ns"] = 5e6,
                ["kernels.no_tensor_core_ns"] = 3e6, ["kernels.tensor_core_ns"] = 1e6, ["device.half_of_f32"] = 2 },
      tables = { kernels = { { name = "sgemm_128", family = "sgemm", tensor_core = "no", dtype = "float32",
                               total_ns = 3e6 } } } },
    { name = "little", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1, ["kernels.product_ns"] = 5e6,
                ["kernels.no_tensor_core_ns"] = 1e6, ["kernels.tensor_core_ns"] = 4e6 }, tables = { kernels = {} } },
  },
}
