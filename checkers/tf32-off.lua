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
    speedup = { default = 6, min = 1, max = 16, unit = "ratio",
                doc = "how much faster they are in TF32, where arithmetic bounds them" },
  },
  doc = [[
Since Ampere, tensor cores take float32 with a mantissa of ten bits: 156 instead of 19.5 TFLOP/s on an
A100. PyTorch leaves it off for products unless told. Priced as Amdahl's law has it, with the speed-up
of the parameter. Silent on older devices, on AMD's, and where kernels are of unknown kind.]],

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
    local code = { pytorch = "torch.set_float32_matmul_precision('high')\ntorch.backends.cudnn.allow_tf32 = True",
                   tensorflow = "tf.config.experimental.enable_tensor_float_32_execution(True)",
                   jax = "jax.config.update('jax_default_matmul_precision', 'tensorfloat32')" }
    return finding {
      title = ("%s of float32 products a step run without TF32"):format(fmt.ms(ns)),
      subject = { kernel = top[1].name },
      evidence = evidence,
      condition = ("such products take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Allow TF32 unless the program needs all of float32's bits.", code = code[p.framework] },
      impact = impact.amdahl { ns = math.min(ns, step_ns), speedup = cfg.speedup },
      claims = { { parts = { "compute" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "sgemm on A100", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3.16e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.count"] = 1,
                ["device.model"] = "NVIDIA A100-SXM4-40GB", ["device.tf32_flops_per_s"] = 1.56e14 },
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
