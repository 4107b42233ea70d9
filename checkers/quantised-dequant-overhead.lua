-- Turning quantised weights back into floats costs as much as a good part of the products.
-- Rounding as quantised layers would, in a program that trains nothing: training needs it, floats do not.
local function simulated(p, cfg)
  if p.format ~= "kineto" or not p:has("work") or (p.fact["torch.backward_ns"] or 0) > 0 then return nil end
  local step_ns = p.fact["step.ns"]
  local rounds = p:table("work"):where { type = { like = "fake_quantize" }, phase = "forward" }
  local ns, count = rounds:sum("ns"), rounds:sum("calls")
  if ns < cfg.min_share * step_ns then return nil end
  -- Observers look for the extremes of what is rounded behind them.
  local seen_ns = p:table("work"):where { type = { like = "::_?aminmax$" } }:sum("ns")
  local top = rounds:top("ns", 1):rows()[1]
  local all_ns = math.min(ns + seen_ns, step_ns)
  return finding {
    title = ("Rounding as quantised layers would takes %s of each step, and nothing is trained"):format(
      fmt.ms(all_ns)),
    severity = all_ns >= 0.1 * step_ns and "warn" or "info",
    subject = { op = top.type },
    evidence = { { "fake quantisation a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "looking for extremes", seen_ns, "ns" }, { "calls a step", count, "count" } },
    condition = ("fake quantisation takes %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Convert the model to quantised layers, or switch observers and fake quantisation off for "
                 .. "inference in floats.",
               code = "model.apply(torch.ao.quantization.disable_observer)\n"
                 .. "model.apply(torch.ao.quantization.disable_fake_quant)   # or convert(model)" },
    impact = impact.exposed { ns = all_ns, low = 0.9 * ns, high = math.min(1.3 * all_ns, step_ns) },
    confidence = "medium",
  }
end

-- TensorFlow on a processor: a product whose result has another type than what it multiplies, as int8 whose sums are
-- int32, is an op of its own (BatchMatMulV3), for which oneDNN has nothing: a loop without the processor's instructions
-- for it. What rounds its input and scales its result back stands in the same layer.
local function without_kernel(p, cfg)
  if p.framework ~= "tensorflow" or p.format ~= "xspace" or p:has("device.idle_share") or not p:has("ops") then
    return nil
  end
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local products = ops:where { type = "BatchMatMulV3" }
  local product_ns = products:sum("self_ns")
  if product_ns < cfg.min_products * step_ns then return nil end
  local layers, around_ns = {}, 0
  for row in products:each() do layers[row.name:match("^(.*/)[^/]*$") or ""] = true end
  for row in ops:where { type = { like = "^(Abs|Cast|Max|Maximum|Minimum|Mul|RealDiv|Round)$" } }:each() do
    local layer = row.name:gsub("clip_by_value/", ""):match("^(.*/)[^/]*$") or ""
    if layers[layer] then around_ns = around_ns + row.self_ns end
  end
  local top, all_ns = products:top("self_ns", 1):rows()[1], math.min(product_ns + around_ns, step_ns)
  local floats = ops:where { type = { like = "^_Mkl(Native)?(Fused|Batch)?MatMul(V2)?$" } }:sum("self_ns")
  return finding {
    title = ("Products of int8 take %s of each step: this processor's library has no kernel for them"):format(
      fmt.ms(math.min(product_ns, step_ns))),
    severity = product_ns >= cfg.loud_products * step_ns and "warn" or "info",
    subject = { op = top.name },
    evidence = { { "products whose result has another type a step", product_ns, "ns",
                   share = math.min(1, product_ns / step_ns) },
                 { "rounding what goes in and scaling what comes out", around_ns, "ns" },
                 { "such products a step", products:sum("calls"), "count" },
                 { "products of floats a step", floats, "ns" }, { top.name, top.self_ns, "ns" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(product_ns / step_ns),
                                                                fmt.pct(cfg.min_products)),
    remedy = { text = "Serve in float32, which oneDNN multiplies, where TensorFlow itself computes on a processor. "
                 .. "Weights of 8 bits pay with a runtime that has kernels for them, as LiteRT, OpenVINO or ONNX "
                 .. "Runtime; or keep them only in the file, and turn them into floats once when loading.",
               code = "model.load_weights(path)   # without model.quantize(\"int8\")" },
    impact = impact.exposed { ns = 0.8 * all_ns, low = math.min(cfg.spared * product_ns, 0.8 * all_ns),
                              high = all_ns },
    claims = { op_type = "BatchMatMulV3" },
    confidence = "medium",
  }
end

-- TensorFlow on a processor: weights of 4 bits that plain ops of their layer unpack in each call. Masks and shifts of
-- bits stand together in scopes that multiply, or look rows up, and the passes beside them there are theirs.
local PASSES = "^(_Mkl)?(Bitwise(And|Or|Xor)|Cast|GatherV2|Mul|Pack|RightShift|SelectV2|Sub|Transpose)$"
local function unpacked(p, cfg)
  if p.framework ~= "tensorflow" or p.format ~= "xspace" or p:has("device.idle_share") or not p:has("ops") then
    return nil
  end
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local function scope_of(row) return row.name:match("^(.*/)[^/]*$") or "" end
  local masks, layers, multiplies = {}, {}, false
  for row in ops:where { type = { like = "^BitwiseAnd$" } }:each() do masks[scope_of(row)] = true end
  for row in ops:where { type = { like = "^RightShift$" } }:each() do
    if masks[scope_of(row)] and (row.input_ns or 0) <= 0 then layers[scope_of(row)] = true end
  end
  for row in ops:where { type = { like = "^(_Mkl)?(Native)?(Fused)?(Batch)?MatMul(V[23])?$" } }:each() do
    multiplies = multiplies or layers[row.name:gsub("Tensordot/", ""):match("^(.*/)[^/]*$") or ""]
  end
  if not multiplies then return nil end
  local ns, calls, top = 0, 0, nil
  for row in ops:where { type = { like = PASSES } }:each() do
    if layers[scope_of(row)] then
      ns, calls = ns + row.self_ns, calls + row.calls
      if not top or row.self_ns > top.self_ns then top = row end
    end
  end
  ns = math.min(ns, step_ns)
  if ns < cfg.min_products * step_ns then return nil end
  return finding {
    title = ("Weights of few bits are unpacked by plain ops in each call: %s of each step"):format(fmt.ms(ns)),
    severity = ns >= cfg.loud_products * step_ns and "warn" or "info",
    subject = { op = top.name },
    evidence = { { "passes that unpack weights a step", ns, "ns", share = ns / step_ns },
                 { "such ops a step", calls, "count" }, { top.name, top.self_ns, "ns" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_products)),
    remedy = { text = "Where memory is not what is short serve in float32, or turn the weights into floats once when "
                 .. "loading. Few bits pay with a runtime whose products unpack them on their way, as LiteRT, "
                 .. "OpenVINO or ONNX Runtime.",
               code = "model.load_weights(path)   # without model.quantize(\"int4\")" },
    impact = impact.exposed { ns = 0.9 * ns, low = 0.7 * ns, high = ns },
    confidence = "medium",
  }
end

-- Conversions as PyTorch names them, and passes that scale as many results of the same size: weights of a few bits as
-- plain ops unpack them. They take at least about as long as the products do that then read them: what norms convert
-- are activations, far smaller.
local function by_ops(kernels, cfg, product_ns)
  local casts = kernels:where { category = "copy",
    name = { like = "direct_copy_kernel_cuda.*LoadWithCast|bfloat16_copy_kernel_cuda|float16_copy_kernel" } }
  local found, ns, calls = nil, 0, 0
  for cast in casts:each() do
    local scale
    for row in kernels:where { category = "elementwise" }:each() do
      if row.calls == cast.calls and row.grid_blocks == cast.grid_blocks and
          row.total_ns <= 2 * cast.total_ns and cast.total_ns <= 2 * row.total_ns then scale = row end
    end
    if scale and cast.total_ns >= cfg.min_of_products * product_ns then
      found = found or cast
      ns, calls = ns + cast.total_ns + scale.total_ns, calls + cast.calls + scale.calls
    end
  end
  return found, ns, calls
end

return rule {
  id = "quantised-dequant-overhead", api = 1, version = "1.0.0",
  title = "Dequantising takes a good part of the products' time",
  category = "kernels", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "dequant", tags = { "precision", "kernels" },
  more_specific_than = { "hot-op" },
  params = {
    min_ratio = { default = 0.10, min = 0, max = 10, unit = "ratio",
                  doc = "of the products' time from which this is said" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "share of the step from which this is said" },
    min_of_products = { default = 0.5, min = 0, max = 10, unit = "ratio",
                        doc = "plain conversions of weights, over the products' time" },
    min_products = { default = 0.15, min = 0, max = 1, unit = "share",
                     doc = "TensorFlow on a processor: of the step, products of int8, or unpacking weights, from which "
                       .. "this is said" },
    loud_products = { default = 0.25, min = 0, max = 1, unit = "share", doc = "the same, from which it is a warning" },
    spared = { default = 0.6, min = 0, max = 1, unit = "share",
               doc = "of their time, what products of floats spare at least" },
    keep = { default = 0.1, min = 0, max = 1, unit = "share", doc = "of its time, what a fused product still needs" },
  },
  doc = [[
A separate kernel writes weights in 16 bits that the product then reads again; fused products unpack them in registers.
Priced as their time less a tenth. Plain ops of PyTorch do so, too, in a graph or out of it: a conversion for each
product and a pass that scales as much. Silent below a tenth of the products and 2 % of the step. In PyTorch also said
of fake quantisation in a program without a backward pass, which then only costs time: priced as its ops. TensorFlow on
a processor has no fast product of int8: such products are said from 15 % of the step on, and priced as six tenths of
them to all of it with what rounds and scales around them. Weights of 4 bits, which it unpacks by masks and shifts of
their layer, are priced as the passes that do so.]],

  check = function(p, cfg)
    local found = simulated(p, cfg) or without_kernel(p, cfg) or unpacked(p, cfg)
    if found then return found end
    if not p:has("kernels") then
      local has_ops = p:has("work") or p.framework == "tensorflow" and p:has("ops")
      return not has_ops and skip { reason = "no kernels are recorded", capture = "a timeline of the device" } or nil
    end
    local step_ns, kernels = p.fact["step.ns"], p:table("kernels")
    local unpack = kernels:where { name = { like = "(?i)dequant" }, category = { like = "^(?!gemm|attention)" } }
    local ns, product_ns = math.min(unpack:sum("total_ns"), step_ns),
      kernels:where { category = "gemm" }:sum("total_ns")
    local top, calls, is_plain = unpack:top("total_ns", 1):rows()[1], unpack:sum("calls"), false
    if not top and p.format == "kineto" and product_ns > 0 and (p.fact["torch.backward_ns"] or 0) <= 0 then
      top, ns, calls = by_ops(kernels, cfg, product_ns)
      ns, is_plain = math.min(ns, step_ns), true
    end
    if not top or ns < cfg.min_share * step_ns or product_ns == 0 or ns < cfg.min_ratio * product_ns then return nil end
    return finding {
      title = ("Dequantising takes %s of each step, products %s"):format(fmt.ms(ns), fmt.ms(product_ns)),
      severity = ns >= 0.1 * step_ns and "warn" or "info",
      subject = { kernel = top.name },
      evidence = { { "dequantising a step", ns, "ns", share = ns / step_ns },
                   { "products a step", product_ns, "ns" },
                   { "kernels a step", calls, "count" } },
      condition = ("%s of the products' time, %s accepted"):format(fmt.pct(ns / product_ns), fmt.pct(cfg.min_ratio)),
      remedy = { text = "Use a product that unpacks its weights itself (Marlin, Machete, CUTLASS mixed input), or "
                   .. "another group size." .. (is_plain and " Where memory is free, unpack weights once." or ""),
                 code = is_plain and "layer.weight = (layer.q.to(torch.bfloat16) * layer.scale)   # once, when loading"
                   or nil },
      -- Once unpacked, none of it is left.
      impact = is_plain and impact.exposed { ns = ns, low = 0.9 * ns } or impact.exposed { ns = (1 - cfg.keep) * ns },
      confidence = is_plain and "medium" or "low",
    }
  end,

  examples = {
    { name = "a third of the products", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "kDequantizeBlockwise", category = "other", total_ns = 1e6, calls = 100 },
                             { name = "ampere_bf16_s16816gemm", category = "gemm", total_ns = 3e6, calls = 100 } } } },
    -- 4 ms + 4 ms, where products take 3.
    { name = "int8 by plain ops in a graph", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", impact_ns = 8e6, facts = { ["step.ns"] = 1.2e7 },
      tables = { kernels = {
        { name = "unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast<1>>", category = "copy",
          total_ns = 4e6, calls = 32, grid_blocks = 32768 },
        { name = "elementwise_kernel<MulFunctor>", category = "elementwise", total_ns = 4e6, calls = 32,
          grid_blocks = 32768 },
        { name = "nvjet_sm90", category = "gemm", total_ns = 3e6, calls = 33 } } } },
    -- Norms in 32 bits convert activations.
    { name = "conversions of activations", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1.2e7 },
      tables = { kernels = {
        { name = "unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast<1>>", category = "copy",
          total_ns = 4e5, calls = 32, grid_blocks = 512 },
        { name = "elementwise_kernel<MulFunctor>", category = "elementwise", total_ns = 4e5, calls = 32,
          grid_blocks = 512 },
        { name = "nvjet_sm90", category = "gemm", total_ns = 3e6, calls = 33 } } } },
    -- 5 ms of rounding and 1 ms of looking for extremes.
    { name = "left on in a server of floats", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", impact_ns = 6e6, facts = { ["step.ns"] = 1e7, ["torch.backward_ns"] = 0 },
      tables = { work = {
        { type = "aten::fake_quantize_per_tensor_affine", phase = "forward", calls = 14, ns = 5e6 },
        { type = "aten::aminmax", phase = "forward", calls = 14, ns = 1e6 },
        { type = "aten::conv2d", phase = "forward", calls = 7, ns = 3e6 } } } },
    { name = "training with quantisation in mind", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_ns"] = 2e6 },
      tables = { work = {
        { type = "aten::fake_quantize_per_tensor_affine", phase = "forward", calls = 14, ns = 5e6 } } } },
    -- 6 ms of products and 1.5 around them: from 3.6 to 7.5 ms.
    { name = "int8 where nothing multiplies it fast", framework = "tensorflow", format = "xspace", finding = true,
      severity = "warn", impact_ns = 5.55e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "net/ffn_1/MatMul", type = "BatchMatMulV3", calls = 1, self_ns = 4e6 },
        { name = "net/ffn_2/MatMul", type = "BatchMatMulV3", calls = 1, self_ns = 2e6 },
        { name = "net/ffn_1/Round", type = "Round", calls = 1, self_ns = 5e5 },
        { name = "net/ffn_1/clip_by_value/Minimum", type = "Minimum", calls = 1, self_ns = 4e5 },
        { name = "net/ffn_2/Cast", type = "Cast", calls = 1, self_ns = 6e5 },
        { name = "net/norm/Mul", type = "Mul", calls = 1, self_ns = 5e5 },
        { name = "net/attention/MatMul", type = "_MklBatchMatMulV2", calls = 1, self_ns = 1e6 } } } },
    -- 1, 1.5, 2 and 0.5 ms: 0.7 to all of 5.
    { name = "weights of 4 bits unpacked in each call", framework = "tensorflow", format = "xspace", finding = true,
      severity = "warn", impact_ns = 4.25e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "net/ffn/BitwiseAnd", type = "BitwiseAnd", calls = 1, self_ns = 1e6 },
        { name = "net/ffn/RightShift", type = "RightShift", calls = 1, self_ns = 1.5e6 },
        { name = "net/ffn/transpose", type = "Transpose", calls = 1, self_ns = 2e6 },
        { name = "net/ffn/Mul", type = "Mul", calls = 1, self_ns = 5e5 },
        { name = "net/ffn/Gelu/Mul", type = "Mul", calls = 1, self_ns = 5e5 },
        { name = "net/ffn/Tensordot/MatMul", type = "_MklMatMul", calls = 1, self_ns = 4e6 } } } },
    { name = "bits that are hashed, apart from any product", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "hash/BitwiseAnd", type = "BitwiseAnd", calls = 1, self_ns = 2e6 },
        { name = "hash/RightShift", type = "RightShift", calls = 1, self_ns = 2e6 },
        { name = "net/ffn/MatMul", type = "_MklMatMul", calls = 1, self_ns = 4e6 } } } },
    { name = "one small layer of int8", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "net/head/MatMul", type = "BatchMatMulV3", calls = 1, self_ns = 1e6 },
        { name = "net/ffn/MatMul", type = "_MklMatMul", calls = 1, self_ns = 8e6 } } } },
    { name = "fused", framework = "pytorch", format = "kineto", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "gemm_dequant_kernel", category = "gemm", total_ns = 3e6, calls = 100 } } } },
  },
}
