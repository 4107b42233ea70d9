-- The step is 16 bit matrix work on a device that has an 8 bit type.
return rule {
  id = "narrower-precision-candidate", api = 1, version = "1.0.0",
  title = "Matrix work could run in 8 bits",
  category = "precision", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "device.model", "device.f8_flops_per_s", "kernels", "roofline" },
  cause = "precision", tags = { "precision" },
  params = {
    min_share = { default = 0.4, min = 0, max = 1, unit = "share", doc = "16 bit products over the step" },
    min_efficiency = { default = 0.6, min = 0, max = 1, unit = "share", doc = "of the device's rate that they reach" },
  },
  doc = [[
Hopper, Ada, Blackwell and MI300 multiply 8 bit floats twice as fast. Worth a try only where 16 bit products fill the
step and already run near the device's rate; else other findings come first. Not priced: whether the model bears it is a
question of its loss. Silent where 8 bits are in use.]],

  check = function(p, cfg)
    if p.fact["device.f8_flops_per_s"] == 0 then return nil end
    local step_ns, products = p.fact["step.ns"], p:table("kernels"):where { category = "gemm" }
    if products:where { dtype = { like = "float8|float4|int8" } }:count() > 0 then return nil end
    local half = products:where { dtype = { like = "^(b?float16)$" } }
    local ns = math.min(half:sum("total_ns"), step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    local good = p:table("roofline"):where { bound = "compute", dtype = { like = "^(b?float16)$" },
                                             efficiency = { min = cfg.min_efficiency } }
    if good:sum("ns") < 0.5 * ns then return nil end
    return finding {
      title = ("%s of each step is 16 bit matrix work on a device with an 8 bit type"):format(fmt.ms(ns)),
      subject = { kernel = half:top("total_ns", 1):rows()[1].name },
      evidence = { { "16 bit products a step", ns, "ns", share = ns / step_ns },
                   { "of them, near the device's rate", math.min(good:sum("ns"), ns), "ns" },
                   { "device", p.fact["device.model"] } },
      condition = ("16 bit products take %s of the step, %s wanted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Try an fp8 recipe on the largest layers, and compare the loss.",
                 code = p.framework == "pytorch"
                   and "from torchao.float8 import convert_to_float8_training\nconvert_to_float8_training(model)"
                   or nil },
      impact = impact.none(),
      confidence = "low",
    }
  end,

  examples = {
    { name = "two thirds of the step", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.model"] = "NVIDIA H100 80GB HBM3",
                ["device.f8_flops_per_s"] = 1.979e15 },
      tables = { kernels = { { name = "nvjet_hsh_128x256", category = "gemm", dtype = "bfloat16", total_ns = 6.6e6 } },
                 roofline = { { op = "aten::mm", bound = "compute", dtype = "bfloat16", efficiency = 0.7,
                                ns = 6e6 } } } },
    { name = "far from the device's rate", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.model"] = "NVIDIA H100 80GB HBM3",
                ["device.f8_flops_per_s"] = 1.979e15 },
      tables = { kernels = { { name = "nvjet_hsh_128x256", category = "gemm", dtype = "bfloat16", total_ns = 6.6e6 } },
                 roofline = { { op = "aten::mm", bound = "compute", dtype = "bfloat16", efficiency = 0.2,
                                ns = 6e6 } } } },
    { name = "a device without", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.model"] = "NVIDIA A100-SXM4-80GB",
                ["device.f8_flops_per_s"] = 0 },
      tables = { kernels = { { name = "gemm", category = "gemm", dtype = "bfloat16", total_ns = 6.6e6 } },
                 roofline = { { op = "aten::mm", bound = "compute", dtype = "bfloat16", efficiency = 0.7,
                                ns = 6e6 } } } },
  },
}
