-- Products in float32 run without TF32.
return rule {
  id = "tf32-off", api = 1, version = "1.0.0",
  title = "Products in float32 run without TF32",
  category = "precision", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.idle_share", "device.count", "device.model", "device.tf32_flops_per_s", "kernels" },
  cause = "precision", tags = { "precision", "kernels" },
  more_specific_than = { "tensor-cores-unused", "tensor-core-share-low" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "float32 products without tensor cores over the step" },
    speedup_low = { default = 4, min = 1, max = 16, unit = "ratio",
                    doc = "how much faster they are in TF32 at least, where arithmetic bounds them" },
    speedup_high = { default = 12, min = 1, max = 32, unit = "ratio", doc = "at most, in 16 bits" },
    of_peaks = { default = 1.2, min = 0.5, max = 2, unit = "ratio",
                 doc = "how much faster at most, over what peaks differ by: float32 stays further below its own" },
    worth = { default = 1.5, min = 1, max = 4, unit = "ratio",
              doc = "how much faster products are in TF32 at least, for that to be what to do" },
    attention_speedup = { default = 6, min = 1, max = 32, unit = "ratio",
                          doc = "how much faster attention in float32 is in 16 bits" },
  },
  doc = [[
Since Ampere, tensor cores take float32 with a mantissa of ten bits: 156 instead of 19.5 TFLOP/s on an A100. PyTorch
leaves it off for products unless told. GeForce cards take TF32 at the rate of float32, and 16 bits at twice it. Priced
as Amdahl's law has it: at least by what TF32 gives products, at most by what 16 bits give them, by the peaks of this
device, and attention in float32, whose kernels have no other way to the fast units; where
attention takes a part, 16 bits are thought of for all. Silent on older devices, on AMD's, and where kernels are of
unknown kind.]],

  check = function(p, cfg)
    -- AMD's take it where a program asks for it by another name.
    if p.fact["device.tf32_flops_per_s"] == 0 or p.fact["device.model"]:find("AMD|Instinct") then return nil end
    local slow = p:table("kernels"):where { tensor_core = "no", dtype = "float32", category = { like = "gemm|conv" } }
    local ns, step_ns = slow:sum("total_ns") / p.fact["device.count"], p.fact["step.ns"]
    if ns / step_ns < cfg.min_share then return nil end
    local evidence = { { "float32 products without tensor cores a step", ns, "ns", share = math.min(1, ns / step_ns) },
                       { "different kernels", slow:count(), "count" } }
    local top = slow:top("total_ns", 3):rows()
    for _, row in ipairs(top) do evidence[#evidence + 1] = { row.family or row.name, row.total_ns, "ns" } end
    local attention_ns = p:table("kernels"):where { dtype = "float32", category = "attention" }:sum("total_ns")
      / p.fact["device.count"]
    if attention_ns > 0 then
      evidence[#evidence + 1] = { "attention in float32 a step", math.min(attention_ns, step_ns), "ns" }
    end
    -- Where it is not known what this device can do, as the fastest.
    local faster_low = p:faster_by("device.tf32_of_f32", cfg.speedup_low, cfg.of_peaks)
    local faster_high = p:faster_by("device.half_of_f32", cfg.speedup_high, cfg.of_peaks)
    local low_ns = (1 - 1 / faster_low) * math.min(ns, step_ns)
    local high_ns = (1 - 1 / faster_high) * ns
      + (1 - 1 / p:faster_by("device.half_of_f32", cfg.attention_speedup, cfg.of_peaks)) * attention_ns
    evidence[#evidence + 1] = { "times as fast in TF32, at least", faster_low, "ratio" }
    evidence[#evidence + 1] = { "times as fast in 16 bits, at most", faster_high, "ratio" }
    -- Where attention takes a part, 16 bits are what helps, and halve what passes over memory move.
    if attention_ns >= cfg.min_share * step_ns then
      local passes = p:table("kernels"):where { dtype = "float32",
                                                category = { like = "^(?!gemm|conv|attention|collective)" } }
      low_ns = low_ns + 0.5 * attention_ns
      high_ns = high_ns + 0.5 * passes:sum("total_ns") / p.fact["device.count"]
    end
    low_ns, high_ns = math.min(low_ns, step_ns), math.min(high_ns, step_ns)
    local code = { pytorch = "torch.set_float32_matmul_precision('high')\ntorch.backends.cudnn.allow_tf32 = True",
                   tensorflow = "tf.config.experimental.enable_tensor_float_32_execution(True)",
                   jax = "jax.config.update('jax_default_matmul_precision', 'tensorfloat32')" }
    -- A card that takes TF32 hardly faster than float32 is fast in 16 bits alone.
    local is_slow = faster_low < cfg.worth
    local half = is_slow and p:has("device.half_type") and p:in_16_bits() or nil
    return finding {
      title = ("%s of float32 products a step run without TF32"):format(fmt.ms(ns)),
      subject = { kernel = top[1].name },
      evidence = evidence,
      condition = ("such products take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = half and half.code
        and { text = ("Compute products in %s; this card takes TF32 hardly faster than float32."):format(half.dtype),
              code = half.code }
        or { text = "Allow TF32 unless the program needs all of float32's bits; where 16 bits do, they save more.",
             code = code[p.framework] },
      impact = impact.exposed { ns = math.min(ns, step_ns), low = low_ns, high = high_ns },
      claims = { { parts = { "compute" }, factor = 0.001 } }, -- faster products are still launched
      confidence = "medium",
    }
  end,

  examples = {
    { name = "sgemm on A100", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 3.333e6, -- the middle of 3/4 and 11/12 of 4 ms
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "NVIDIA A100-SXM4-40GB", ["device.tf32_flops_per_s"] = 1.56e14 },
      tables = { kernels = { { name = "ampere_sgemm_128x64_tn", family = "ampere_sgemm", category = "gemm",
                               tensor_core = "no", dtype = "float32", total_ns = 4e6 } } } },
    -- Products of 4 ms save 3 to 3.667 ms, attention of 1.2 ms 0.6 to 1 more.
    { name = "with attention in float32", framework = "pytorch", format = "kineto", finding = true, impact_ns = 4.133e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "NVIDIA A100-SXM4-40GB", ["device.tf32_flops_per_s"] = 1.56e14 },
      tables = { kernels = { { name = "ampere_sgemm_128x64_tn", family = "ampere_sgemm", category = "gemm",
                               tensor_core = "no", dtype = "float32", total_ns = 4e6 },
                             { name = "fmha_cutlassF_f32_aligned_64x64_rf_sm80", category = "attention",
                               tensor_core = "yes", dtype = "float32", total_ns = 1.2e6 } } } },
    -- As fast in TF32 as in float32, but for what float32 falls short: 1.2 times; in 16 bits 1.2 * 2 = 2.4 times. The
    -- middle of 4 ms * (1 - 1 / 1.2) = 0.667 and 4 ms * (1 - 1 / 2.4) = 2.333.
    { name = "a GeForce card", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "NVIDIA GeForce RTX 3090", ["device.tf32_flops_per_s"] = 3.56e13,
                ["device.tf32_of_f32"] = 1, ["device.half_of_f32"] = 2 },
      tables = { kernels = { { name = "ampere_sgemm_128x64_tn", family = "ampere_sgemm", category = "gemm",
                               tensor_core = "no", dtype = "float32", total_ns = 4e6 } } } },
    { name = "a V100 has none", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "Tesla V100-SXM2-32GB", ["device.tf32_flops_per_s"] = 0 },
      tables = { kernels = { { name = "volta_sgemm_128x64_tn", category = "gemm", tensor_core = "no", dtype = "float32",
                               total_ns = 4e6 } } } },
    { name = "a CPU program", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
