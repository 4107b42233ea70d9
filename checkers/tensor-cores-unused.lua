-- No product of matrices uses the matrix units.
return rule {
  id = "tensor-cores-unused", api = 1, version = "1.0.0",
  title = "No product of matrices uses the tensor cores",
  category = "precision", severity = "error",
  needs = { "step.ns", "device.idle_share", "device.count", "device.model", "kernels.product_ns",
            "kernels.no_tensor_core_ns", "kernels.tensor_core_ns" },
  cause = "precision", tags = { "precision", "kernels" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "products, convolutions and attention over the step" },
    min_known = { default = 0.95, min = 0, max = 1, unit = "share",
                  doc = "of them, those that surely use no tensor cores" },
    speedup = { default = 3, min = 1, max = 16, unit = "ratio",
                doc = "how much faster such kernels are with 16 bits, where peaks allow it" },
    of_peaks = { default = 1.2, min = 0.5, max = 2, unit = "ratio",
                 doc = "how much faster at most, over what peaks differ by: float32 stays further below its own" },
  },
  doc = [[
Devices since Volta, and AMD's Instinct, have units for products of small matrices that are several
times as fast in 16 bits. Kernels are told by their names; one of unknown kind keeps this rule silent.
Priced as Amdahl's law has it, with the speed-up of the parameter; products that memory bounds gain less.]],

  check = function(p, cfg)
    local model, step_ns = p.fact["device.model"], p.fact["step.ns"]
    local devices = p.fact["device.count"] -- their kernels are summed, but they run side by side
    local ns, without_ns = p.fact["kernels.product_ns"] / devices, p.fact["kernels.no_tensor_core_ns"] / devices
    if model:find(p:names("no_tensor_cores")) then return nil end
    if ns / step_ns < cfg.min_share or p.fact["kernels.tensor_core_ns"] > 0 or without_ns < cfg.min_known * ns then
      return nil
    end
    return finding {
      title = ("None of %s of products a step uses tensor cores"):format(fmt.ms(ns)),
      subject = { device = model },
      evidence = { { "products, convolutions and attention a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "of that, surely without tensor cores", without_ns, "ns" }, { "with tensor cores", 0, "ns" } },
      condition = ("products take %s of the step, %s accepted; none on tensor cores"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Compute products in 16 bits, and keep the weights' master copy in 32.",
                 code = p:in_16_bits().code },
      impact = impact.amdahl { ns = math.min(ns, step_ns),
                             speedup = p:faster_by("device.half_of_f32", cfg.speedup, cfg.of_peaks) },
      claims = { { parts = { "compute" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "float32 training on V100", framework = "pytorch", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "Tesla V100-SXM2-32GB", ["kernels.product_ns"] = 4e6,
                ["kernels.no_tensor_core_ns"] = 4e6, ["kernels.tensor_core_ns"] = 0 } },
    -- Peaks differ twofold, and float32 falls short of its own, so 2.4 times:
    -- 4 ms * (1 - 1 / (1 + 0.75 * (2.4 - 1))).
    { name = "a GeForce card", framework = "pytorch", finding = true, impact_ns = 2.049e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "NVIDIA GeForce RTX 3090", ["device.half_of_f32"] = 2, ["kernels.product_ns"] = 4e6,
                ["kernels.no_tensor_core_ns"] = 4e6, ["kernels.tensor_core_ns"] = 0 } },
    { name = "unknown kernels", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "Tesla V100-SXM2-32GB", ["kernels.product_ns"] = 4e6,
                ["kernels.no_tensor_core_ns"] = 2e6, ["kernels.tensor_core_ns"] = 0 } },
    { name = "a device without them", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "Tesla P100-PCIE-16GB", ["kernels.product_ns"] = 4e6,
                ["kernels.no_tensor_core_ns"] = 4e6, ["kernels.tensor_core_ns"] = 0 } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
