-- The same tensors are converted to another element type again and again.
-- Calls of conversions in the input pipeline, which a map makes for each element: they make the input's type, once for
-- each, and no chain of ops is between them.
local function is_of_elements(stages, row)
  local calls = row.calls or 0
  return stages and calls >= 4 and stages:where { calls = { min = 0.8 * calls, max = 1.25 * calls } }:count() > 0
end

-- Compiled and graph programs name their conversions.
local function of_ops(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local compiled = "^(wrapped_convert|convert|convert_convert|copy_convert|convert_copy|"
    .. "bitcast_convert)(_fusion)?([.].*)?$"
  local casts = p.framework == "jax" and ops:where { name = { like = compiled } } or ops:where { type = "Cast" }
  local stages, ns, count, kinds, worst = p:has("iterators") and p:table("iterators") or nil, 0, 0, 0, nil
  for row in casts:each() do
    if not is_of_elements(stages, row) then
      ns, count, kinds = ns + row.self_ns, count + (row.calls or 1), kinds + 1
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  local all_ns = ops:sum("self_ns")
  -- One conversion of many elements is the input's, not a chain of them.
  if not worst or count < cfg.min_repeats or kinds < cfg.min_repeats or all_ns <= 0
      or ns < cfg.min_of_ops * all_ns or ns < cfg.min_share * step_ns then
    return nil
  end
  ns = math.min(ns, step_ns)
  -- What lies between conversions runs in the other type, which processors compute more slowly: twice as wide, or by
  -- way of a third: at most as much again, say, for which ops these are is not recorded.
  local is_blind = p.framework == "tensorflow" and not p:has("device.idle_share") and (worst.dtype or "") == ""
  local high_ns = is_blind and math.min(cfg.between * ns, step_ns) or ns
  return finding {
    title = ("%s %s"):format(fmt.many(count, "conversion a step takes", "conversions a step take"), fmt.ms(ns)),
    subject = { op = worst.name },
    evidence = { { "conversions a step", ns, "ns", share = ns / step_ns }, { "how many a step", count, "count" },
                 { "of the time of all ops", ns / all_ns, "share" },
                 { worst.name .. " " .. (worst.shapes or ""), worst.self_ns, "ns" } },
    condition = ("conversions take %s of the time of all ops, %s accepted"):format(
      fmt.pct(ns / all_ns), fmt.pct(cfg.min_of_ops)),
    remedy = { text = "Choose one element type for a whole chain of ops, and keep parameters in the type that "
                 .. "products use.",
               code = p.framework == "jax"
                 and "p16 = jax.tree.map(lambda a: a.astype(jnp.bfloat16), p)   # once a step, not at each use" or
                 "x = tf.cast(x, tf.float32)   # once, before the layers" },
    impact = impact.exposed { ns = high_ns, low = 0.6 * ns, high = high_ns },
    claims = { parts = { "compute" } },
    confidence = "medium",
  }
end

-- A processor without arithmetic of 16 bits widens what it reads for each operation, or has no library for it: products
-- in these types then run below what one of its cores does in single precision.
local function of_half(p, cfg)
  local rows = p:table("roofline"):where { dtype = { like = "^(float16|bfloat16)$" },
                                           type = { class = "product|convolution" } }
  local ns, flops, bytes = rows:sum("ns"), rows:sum("flops"), rows:sum("bytes")
  local step_ns, all_ns = p.fact["step.ns"], p:table("roofline"):sum("ns")
  if ns <= 0 or flops / ns * 1e9 >= cfg.slow_rate then return nil end
  local single_rate = math.max(cfg.single_rate, p.fact["flops.best_f32_per_s"] or 0)
  local single_ns = math.max(flops / single_rate, 2 * bytes / cfg.host_bandwidth) * 1e9
  -- Ops that hand their work to a pool take longer than their own time: weigh by the path.
  local path_ns = ns
  if p:has("part.compute_ns") then path_ns = math.min(p.fact["part.compute_ns"] * ns / all_ns, ns) end
  local saved_ns = path_ns * (1 - single_ns / ns)
  if saved_ns < cfg.min_share_of_half * step_ns then return nil end
  local worst = rows:top("ns", 3)
  local first = worst:rows()[1]
  local evidence = { { "products in 16 bits a step", path_ns, "ns", share = math.min(path_ns / step_ns, 1) },
                     { "their rate", flops / ns * 1e9, "flops_per_s" },
                     { "what float32 does at least, taken", single_rate, "flops_per_s" } }
  for row in worst:each() do
    evidence[#evidence + 1] = { ("%s, %s %s"):format(row.type, row.dtype, row.shapes or ""), row.ns, "ns" }
  end
  return finding {
    title = ("Products in %s take %s of each step, slower than in float32 here"):format(
      first.dtype, fmt.ms(path_ns)),
    subject = { op = first.type },
    evidence = evidence, locations = worst:places(),
    condition = ("products in 16 bits run at %.1f GFLOP/s, %.0f accepted, which is less than a core in float32"):format(
      flops / ns, cfg.slow_rate / 1e9),
    remedy = { text = "Compute in float32 on processors without arithmetic of 16 bits (AMX, AVX-512 FP16 or BF16), "
                 .. "where these types only save memory.",
               code = "model = model.float()   # and no torch.autocast(\"cpu\")" },
    impact = impact.exposed { ns = saved_ns, low = 0.7 * saved_ns, high = math.min(1.3 * saved_ns, path_ns) },
    claims = { parts = { "compute" } },
    confidence = "medium",
  }
end

-- Floats that are converted on the way forward have a gradient that is converted back: integers have none. Where there
-- are about as many of them as products, a policy of mixed precision is on.
local function is_mixed(ops, cfg)
  local forward = ops:where { type = { class = "product|convolution" }, name = { like = "^(?!gradient)" } }:count()
  local casts, is_cast, pairs_seen = ops:where { type = "Cast" }, {}, 0
  for row in casts:each() do is_cast[row.name] = true end
  for row in casts:each() do
    local name = row.name:match("^gradient_tape/(.*)/Cast$") or row.name:match("^gradients/(.*)_grad/Cast$")
    if name and is_cast[name] then pairs_seen = pairs_seen + 1 end
  end
  return forward > 0 and pairs_seen >= cfg.min_repeats and pairs_seen >= cfg.min_pairs * forward
end

-- The same of TensorFlow, whose recordings name no types: products outside the vendor's library, which has them for
-- single precision everywhere and for 16 bits where the processor does.
local function of_policy(p, cfg)
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local products = ops:where { type = { class = "product|convolution" } }
  local vendor_ns = products:where { type = { like = "^_Mkl" } }:sum("self_ns")
  local all_ns = ops:sum("self_ns")
  local plain_ns = products:sum("self_ns") - vendor_ns
  if plain_ns <= vendor_ns or not p:has("part.compute_ns") or not is_mixed(ops, cfg) then return nil end
  local conv_ns = products:where { type = { class = "convolution" } }:sum("self_ns")
    - products:where { type = { class = "convolution", like = "^_Mkl" } }:sum("self_ns")
  local on_path = math.min(p.fact["part.compute_ns"] / all_ns, 1)
  local saved_ns = on_path * (conv_ns * (1 - 1 / cfg.conv_speedup)
                              + (plain_ns - conv_ns) * (1 - 1 / cfg.product_speedup))
  if saved_ns < cfg.min_share_of_half * step_ns then return nil end
  local worst = products:top("self_ns", 3)
  local evidence = { { "products outside the vendor's library a step", on_path * plain_ns, "ns",
                       share = math.min(on_path * plain_ns / step_ns, 1) },
                     { "of those, convolutions", on_path * conv_ns, "ns" } }
  for row in worst:each() do evidence[#evidence + 1] = { row.name, row.self_ns, "ns" } end
  return finding {
    title = ("Mixed precision on a processor: its products take %s of each step"):format(fmt.ms(on_path * plain_ns)),
    subject = { op = worst:rows()[1].type },
    evidence = evidence, locations = worst:places(),
    condition = "inputs of products are converted, and the conversions have gradients: a type of 16 bits that the "
      .. "vendor's library does not compute here",
    remedy = { text = "Compute in float32 on processors without arithmetic of 16 bits (AMX, AVX-512 FP16 or BF16).",
               code = "keras.mixed_precision.set_global_policy(\"float32\")" },
    impact = impact.exposed { ns = saved_ns, low = 0.6 * saved_ns,
                              high = math.min(1.4 * saved_ns, on_path * plain_ns) },
    claims = { parts = { "compute" } },
    confidence = "medium",
  }
end

-- For examples: a convolution and a product, and four conversions with their gradients.
local function mixed_ops(convolution)
  local ops = { { name = "a/Conv2D", type = convolution, calls = 1, self_ns = 8e6 },
                { name = "b/MatMul", type = "MatMul", calls = 1, self_ns = 1e6 } }
  for name in ("abcd"):gmatch(".") do
    ops[#ops + 1] = { name = name .. "/Cast", type = "Cast", calls = 1, self_ns = 1e4 }
    ops[#ops + 1] = { name = "gradient_tape/" .. name .. "/Cast/Cast", type = "Cast", calls = 1, self_ns = 1e4 }
  end
  return ops
end

-- On an accelerator kernels have names of their own for conversions, whatever else was recorded.
local function of_kernels(p, cfg)
  local step_ns = p.fact["step.ns"]
  local casts = p:table("kernels"):where { category = "cast", calls = { min = cfg.min_repeats } }
  local ns, calls, worst = casts:sum("total_ns"), casts:sum("calls"), casts:top("total_ns", 1):rows()[1]
  if not worst or ns < cfg.min_share_blind * step_ns then return nil end
  local names = {}
  for row in casts:each() do names[#names + 1] = (row.name:gsub("[^A-Za-z0-9_]", ".")) end
  return finding {
    title = ("%s %s"):format(fmt.many(calls, "conversion a step takes", "conversions a step take"), fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.op ~= "" and worst.op or nil, kernel = worst.name },
    evidence = { { "kernels that convert, a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "how many a step", calls, "count" }, { "the most", fmt.kernel(worst.name) } },
    condition = ("kernels that convert take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_share_blind)),
    remedy = { text = "Keep parameters in the type that products use, or under one torch.autocast for the whole step, "
                 .. "which converts each once; keep activations in one type from layer to layer.",
               code = "model = model.to(torch.bfloat16)   # for inference" },
    impact = impact.exposed { ns = ns, low = 0.5 * ns, high = ns },
    claims = { parts = { "compute" }, name = table.concat(names, "|") },
    confidence = "medium",
  }
end

return rule {
  id = "cast-churn", api = 1, version = "1.0.0",
  title = "Tensors are converted again and again",
  category = "precision", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "casts", tags = { "ops" },
  more_specific_than = { "unrolled-rnn", "loop-indexing", "many-small-gemms", "hot-op", "elementwise-chain",
      "tiny-ops", "batch-too-small" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_repeats = { default = 4, min = 2, max = 1e7, unit = "count",
      doc = "conversions of one shape a step" },
    min_of_ops = { default = 0.08, min = 0, max = 1, unit = "share",
                   doc = "of the time of all ops, where ops are named" },
    between = { default = 2, min = 1, max = 100, unit = "ratio",
                doc = "TensorFlow on a host: times the conversions, what they and the ops between them may take more" },
    slow_rate = { default = 2.5e10, min = 1e6, max = 1e15, unit = "flops_per_s",
      doc = "PyTorch on a host: of products in 16 bits, below which a core does more in float32" },
    single_rate = { default = 6e10, min = 1e6, max = 1e15, unit = "flops_per_s",
      doc = "what products in float32 do at least, where none is recorded" },
    host_bandwidth = { default = 2e10, min = 1e6, max = 1e15, unit = "bytes_per_s",
      doc = "of their operands, which float32 makes twice as many" },
    min_share_of_half = { default = 0.1, min = 0, max = 1, unit = "share",
      doc = "saved by float32 over the step, from which types of 16 bits are named" },
    min_pairs = { default = 0.5, min = 0, max = 10, unit = "ratio",
      doc = "TensorFlow: conversions with gradients for each product of the way forward" },
    conv_speedup = { default = 8, min = 1, max = 64, unit = "ratio",
      doc = "TensorFlow on a host: of convolutions in float32 over those in 16 bits without a library" },
    product_speedup = { default = 2, min = 1, max = 64, unit = "ratio", doc = "the same of other products" },
    min_share_blind = { default = 0.1, min = 0, max = 1, unit = "share",
      doc = "PyTorch without shapes: time over the step, from which conversions about as long are named" },
    min_share_of_one = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "their time over the step, below which a shape does not count" },
  },
  doc = [[
A conversion reads the tensor, writes it in another type and computes nothing. The same shape converted many times a
step is mostly a parameter converted at each use, or a value sent back and forth. Priced as all conversions of a
shape but one, and as six tenths of them (of TensorFlow on a host as up to twice that, for ops between them run in the
other type, which is not recorded), on an accelerator, which reads and writes them as any other pass, as 85 of
a hundred. Silent for conversions made once a step, for those that a
map of the input pipeline makes once for each element, and below min_share.

On a host types of 16 bits are slow where the processor has no arithmetic for them: PyTorch's products below
slow_rate (priced as float32 at single_rate, or as fast as its operands come), TensorFlow's outside of the vendor's
library under a policy of mixed precision (priced by conv_speedup and product_speedup).]],

  check = function(p, cfg)
    local on_host = not p:has("device.idle_share")
    if p.format == "xspace" and p:has("ops") and on_host then
      return p.framework == "tensorflow" and of_policy(p, cfg) or of_ops(p, cfg)
    end
    local half = on_host and p:has("roofline") and of_half(p, cfg)
    if half then return half end
    if not p:has("eager_casts") then
      return skip { reason = "neither PyTorch ops nor ops on a host are recorded", capture = "a timeline of ops" }
    end
    local step_ns = p.fact["step.ns"]
    local ns, high_ns, count, biggest = 0, 0, 0, nil
    local is_blind = p:has("coverage.has_shapes") and not p.fact["coverage.has_shapes"]
    if is_blind and not on_host then
      -- Mixed precision converts in training, and keeps the wider type on purpose.
      local is_trained = (p.fact["torch.backward_ns"] or 0) > 0
      return not is_trained and p:has("kernels") and of_kernels(p, cfg) or nil
    end
    for row in p:table("eager_casts"):each() do
      if not row.from and not is_blind then -- perhaps a copy to another device
        return skip { reason = "types of tensors were not recorded", capture = "tensor shapes" }
      end
      if row.count >= cfg.min_repeats and row.ns >= cfg.min_share_of_one * step_ns then
        ns, count, high_ns = ns + row.ns, count + row.count, high_ns + row.ns * (1 - 1 / row.count)
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or high_ns < (is_blind and cfg.min_share_blind or cfg.min_share) * step_ns then return nil end
    local low_ns = (p:has("device.idle_share") and 0.85 or 0.6) * high_ns
    local title = ("%s %s"):format(fmt.many(count, "conversion a step takes", "conversions a step take"), fmt.ms(ns))
    local evidence = { { "conversions a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "how many a step",
        count, "count" },
                       is_blind and { "one of the longest", biggest.ns / biggest.count, "ns" }
                         or { "most often", (biggest.from or "") .. " " .. (biggest.shapes or "") } }
    local condition = ("%s conversions %s take %s of the step, %s accepted"):format(
      fmt.whole(count), is_blind and "that are about as long" or "of the same shapes", fmt.pct(ns / step_ns),
      fmt.pct(is_blind and cfg.min_share_blind or cfg.min_share))

    return finding {
      title = title,
      severity = is_blind and "info" or nil,
      locations = biggest.source_file
        and { { file = biggest.source_file, line = biggest.source_line } } or nil,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Convert once, outside the loop, and keep parameters in the type that products use.",
                 code = "w = w.float()   # once, before the loop" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    -- Eight conversions of 0.25 ms: between 0.6 and 2 times 2 ms.
    { name = "bfloat16 around each layer on a host", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 2.6e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "Cast", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "Cast_1", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "Cast_2", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "Cast_3", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "MatMul", type = "MatMul", calls = 4, self_ns = 6e6 } } } },
    { name = "pictures converted in the input pipeline", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { iterators = { { name = "Iterator::Root::Map", type = "ParallelMapV2", calls = 32, self_ns = 4e6 } },
                 ops = { { name = "convert_image/Cast", type = "Cast", calls = 32, self_ns = 2e6 },
                         { name = "Cast_1", type = "Cast", calls = 1, self_ns = 1e4 },
                         { name = "Cast_2", type = "Cast", calls = 1, self_ns = 1e4 },
                         { name = "Cast_3", type = "Cast", calls = 1, self_ns = 1e4 },
                         { name = "MatMul", type = "MatMul", calls = 4, self_ns = 6e6 } } } },
    { name = "a weight in a loop", framework = "pytorch", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7,  },
      tables = { eager_casts = { { count = 40, ns = 4e6, from = "bfloat16", shapes = "[512,512]" } } } },
    { name = "once", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7,  },
      tables = { eager_casts = { { count = 1, ns = 4e6, from = "bfloat16", shapes = "[512,512]" } } } },
    -- 0.1 GFLOP in 8 ms are 12.5 GFLOP/s; at 60 they take 1.667 ms: 6.333 ms, from 0.7 of it to all 8 ms.
    { name = "a model in float16 on a host", framework = "pytorch", finding = true, impact_ns = 6.217e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { eager_casts = {},
                 roofline = { { op = "aten::mm", type = "aten::mm", dtype = "float16", flops = 1e8, bytes = 1e6,
                                ns = 8e6 } } } },
    -- Float32 reads 2 * 50 MB at 20 GB/s: 5 ms. 8 ms - 5 ms, from 0.7 to 1.3 times.
    { name = "a few rows times large weights in float16", framework = "pytorch", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { eager_casts = {},
                 roofline = { { op = "aten::mm", type = "aten::mm", dtype = "float16", flops = 1e8, bytes = 5e7,
                                ns = 8e6 } } } },
    { name = "a processor that has bfloat16", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { eager_casts = {},
                 roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16", flops = 1e9, bytes = 1e6,
                                ns = 8e6 } } } },
    -- Convolutions of 8 ms are 1 ms in float32, products of 1 ms half a millisecond, and all of it is on the path:
    -- 7.5 ms, from 0.6 of it to the 9 ms there are.
    { name = "mixed precision without a library", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 6.75e6, facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 1e7 },
      tables = { ops = mixed_ops("Conv2D") } },
    { name = "mixed precision with a library", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 1e7 },
      tables = { ops = mixed_ops("_MklNativeConv2D") } },
    -- 40 of 0.1 ms: all but one, and six tenths of these.
    { name = "shapes not recorded, on a host", framework = "pytorch", finding = true, severity = "info",
      impact_ns = 3.12e6, facts = { ["step.ns"] = 1e7, ["coverage.has_shapes"] = false },
      tables = { eager_casts = { { count = 40, ns = 4e6 } } } },
    -- From half to all of 4 ms.
    { name = "shapes not recorded, on an accelerator", framework = "pytorch", finding = true, severity = "info",
      impact_ns = 3e6, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["coverage.has_shapes"] = false },
      tables = { eager_casts = {}, kernels = { { name = "bfloat16_copy_kernel_cuda", op = "aten::copy_",
                                                 category = "cast", calls = 40, total_ns = 4e6 } } } },
    { name = "types not recorded: perhaps copies to a device", framework = "pytorch", skipped = true,
      facts = { ["step.ns"] = 1e7 }, tables = { eager_casts = { { count = 40, ns = 4e6 } } } },
    { name = "short", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7,  },
      tables = { eager_casts = { { count = 40, ns = 4e4, from = "bfloat16", shapes = "[8]" } } } },
  },
}
