-- Convolutions pay for turning their operands round.
-- PyTorch's batch norm of tensors with channels before pixels; those for the other order are named for it.
local channels_first_norms = "batch_norm_(backward|collect_statistics|transform_input)_kernel"

-- Whether a transpose may change between channels last and first, as far as its shapes tell: the batch stays in front,
-- and channels go past all pixels.
local function is_layout(shapes, is_volume)
  local from, to = (shapes or ""):match("^\\[([0-9,]+)\\].*->\\[([0-9,]+)\\]$")
  if not from then return true end
  local dims, batch, rest = select(2, from:gsub(",", "")) + 1, from:match("^([0-9]+),(.*)$")
  if not batch or dims > (is_volume and 5 or 4) then return false end
  local first, pixels = rest:match("^([0-9]+),(.*)$")
  local before, last = rest:match("^(.*),([0-9]+)$")
  return dims > 2 and (to == batch .. "," .. pixels .. "," .. first or to == batch .. "," .. last .. "," .. before)
end

-- Those transposes, and a pattern of their names. What a gather along an inner axis turns round for its gradient is no
-- layout, nor is what an input pipeline makes items of.
local function of_layout(ops)
  local is_volume = ops:where { type = { like = "^(_Mkl(Native)?)?Conv3D" } }:count() > 0
  local turns, names = {}, {}
  for row in ops:where { type = { like = "^(_Mkl)?Transpose$" } }:each() do
    local is_input = (row.input_ns or 0) > 0.5 * row.self_ns
    if not is_input and not row.name:find("Gather[^/]*_grad/") and is_layout(row.shapes, is_volume) then
      turns[#turns + 1] = row
      names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
    end
  end
  return turns, #turns <= 60 and table.concat(names, "|") or nil
end

-- Convolutions with holes as sessions and tf.nn.atrous_conv2d spell them: pixels go to the batch before each and back
-- behind it. Neighbours of one rate need only one such pair.
local function of_blocks(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local blocks = ops:where { type = { like = "^(SpaceToBatch|BatchToSpace)(ND)?$" } }
  local pairs_count, ns = blocks:sum("calls") / 2, blocks:sum("self_ns")
  local conv_ns = ops:where { type = { class = "convolution" } }:sum("self_ns")
  if pairs_count < 2 or conv_ns < cfg.min_conv * step_ns or ns < cfg.min_block_step * step_ns then return nil end
  local saved_ns = ns * (1 - 1 / pairs_count)
  return finding {
    severity = "info",
    title = ("Pixels go to the batch and back around convolutions: %s a step"):format(fmt.ms(ns)),
    subject = { op = blocks:top("self_ns", 1):rows()[1].name },
    evidence = { { "to the batch and back a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "convolutions a step", conv_ns, "ns" }, { "pairs", pairs_count, "count" } },
    condition = ("to the batch and back takes %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_block_step)),
    remedy = { text = "Let neighbouring convolutions of one rate share a pair: pad once, go to the batch, run them all "
                 .. "without holes, go back. Or give the holes to an op that has a kernel for them.",
               code = "y = tf.space_to_batch(x, [rate, rate], paddings)   # once\n"
                 .. "for w in kernels: y = tf.nn.relu(tf.nn.conv2d(y, w, 1, 'SAME'))\n"
                 .. "y = tf.batch_to_space(y, [rate, rate], paddings)" },
    impact = impact.exposed { ns = saved_ns, low = 0.5 * saved_ns, high = ns },
    confidence = "medium",
  }
end

-- TensorFlow on a host: its libraries transpose as they need inside the convolution, so these are the program's own.
local function of_tensorflow(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local turns, names = of_layout(ops)
  local turn_ns, top = 0, nil
  for _, row in ipairs(turns) do
    turn_ns = turn_ns + row.self_ns
    if not top or row.self_ns > top.self_ns then top = row end
  end
  local conv_ns = ops:where { type = { class = "convolution" } }:sum("self_ns")
  if conv_ns / step_ns < cfg.min_conv or turn_ns / conv_ns < cfg.min_host_share
      or turn_ns / step_ns < cfg.min_host_step then
    return nil
  end
  return finding {
    title = ("Transposes take %s a step beside %s of convolutions"):format(fmt.ms(turn_ns), fmt.ms(conv_ns)),
    subject = { op = top and top.name },
    evidence = { { "transposes a step", turn_ns, "ns", share = math.min(1, turn_ns / step_ns) },
                 { "convolutions a step", conv_ns, "ns" }, { "transposes", #turns, "count" } },
    condition = ("transposes take %s of convolutions, %s accepted"):format(
      fmt.pct(turn_ns / conv_ns), fmt.pct(cfg.min_host_share)),
    remedy = { text = "Keep model and inputs in channels-last layout from end to end.",
               code = "tf.keras.backend.set_image_data_format('channels_last')" },
    impact = impact.replay { { "scale", parts = { "compute" }, op_type = "(_Mkl)?Transpose", name = names },
                             fallback = impact.exposed { ns = turn_ns } },
    confidence = "high",
  }
end

-- A cache of keys and values, written a row at a time and turned round whole for each product.
local function of_cache(p, cfg)
  return p:in_excess {
    flaw = "turned-cache", min_share = cfg.min_cache,
    title = "A cache is turned round in each call: %s a step",
    time = "turning what is kept from call to call",
    remedy = { text = "Keep it, or make it, in the order in which the products read it: batch and heads in front, "
                 .. "positions behind.",
               code = "cache = jnp.zeros((batch, heads, length, size))   # not (batch, length, heads, size)\n"
                 .. "cache = jax.lax.dynamic_update_slice(cache, new, (0, 0, position, 0))\n"
                 .. "scores = jnp.einsum('bhd,bhtd->bht', query, cache)" },
    confidence = "medium",
  }
end

return rule {
  id = "layout-transposes", api = 1, version = "1.0.0",
  title = "Operands are turned round before they are used",
  category = "kernels", severity = "warn",
  needs = { "step.ns" },
  cause = "compute.kernel", tags = { "kernels", "layout" },
  more_specific_than = { "roofline-gap", "small-grid", "graph-capture-candidate", "tiny-kernels", "hot-op",
      "tail-wave", "unnamed-excess" },
  params = {
    min_share = { default = 0.10, min = 0, max = 10, unit = "ratio", doc = "transposes over convolutions" },
    high_share = { default = 0.20, min = 0, max = 10, unit = "ratio", doc = "ratio from which it is an error" },
    min_host_share = { default = 0.20, min = 0, max = 10, unit = "ratio",
                       doc = "on a host: transposes over convolutions" },
    min_host_step = { default = 0.05, min = 0, max = 1, unit = "share", doc = "on a host: transposes over the step" },
    min_block_step = { default = 0.15, min = 0, max = 1, unit = "share",
                       doc = "on a host: pixels that go to the batch and back over the step" },
    min_cache = { default = 0.05, min = 0, max = 1, unit = "share", doc = "turning a cache over the step" },
    norm_factor = { default = 0.4, min = 0, max = 1, unit = "ratio",
                    doc = "PyTorch: time of its own batch norm kernels that is left with channels last" },
    min_conv = { default = 0.05, min = 0, max = 1, unit = "share", doc = "convolutions over the step" },
  },
  doc = [[
Tensor cores want channels last; libraries turn other layouts round before and behind each convolution. Priced as the
time of these transposes, and a part of PyTorch's own batch norm kernels for channels first, which give a channel to a
block and read with gaps. Transposes whose shapes are known count where they move channels past pixels alone. On a
host, convolutions with holes whose pixels go to the batch before each and back behind it are told, too: all such pairs
but one are priced. So are caches that a compiled program gets, writes a part of or not, and gives back, and what one is
called with beside a state that it hands on, where it turns them round before a product reads them.
Silent where convolutions are a small part of the step.]],

  check = function(p, cfg)
    if not p:has("device.idle_share") or not p:has("kernels") then
      if not p:has("ops") then
        return skip { reason = "neither ops nor kernels are recorded", capture = "a timeline of ops" }
      end
      return p.framework == "tensorflow" and (of_tensorflow(p, cfg) or of_blocks(p, cfg)) or of_cache(p, cfg)
    end
    local step_ns, kernels = p.fact["step.ns"], p:table("kernels")
    local turns = kernels:where { name = { like = p:names("turning_kernel") } }
    local turn_ns, conv_ns = turns:sum("total_ns"), kernels:where { category = "conv" }:sum("total_ns")
    conv_ns = math.max(conv_ns - turns:where { category = "conv" }:sum("total_ns"), 1)
    if conv_ns / step_ns < cfg.min_conv or turn_ns / conv_ns < cfg.min_share then return nil end
    local top = turns:top("total_ns", 1):rows()[1]
    local norm_ns = kernels:where { name = { like = channels_first_norms } }:sum("total_ns")
    local evidence = { { "transposes a step", turn_ns, "ns", share = math.min(1, turn_ns / step_ns) },
                       { "convolutions a step", conv_ns, "ns" }, { "transposes", turns:sum("calls"), "count" } }
    if norm_ns > 0 then evidence[#evidence + 1] = { "batch norm kernels for channels first a step", norm_ns, "ns" } end
    local code =
      { pytorch = "model = model.to(memory_format=torch.channels_last)\nx = x.to(memory_format=torch.channels_last)",
        tensorflow = "tf.keras.backend.set_image_data_format('channels_last')" }
    return finding {
      title = ("Turning operands round takes %s a step beside %s of convolutions"):format(
        fmt.ms(turn_ns), fmt.ms(conv_ns)),
      severity = turn_ns / conv_ns >= cfg.high_share and "error" or "warn",
      subject = { kernel = top.name },
      evidence = evidence,
      condition = ("transposes take %s of convolutions, %s accepted"):format(
        fmt.pct(turn_ns / conv_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Keep model and inputs in channels-last layout from end to end.", code = code[p.framework] },
      impact = impact.replay { { "scale", parts = { "compute" }, name = p:names("turning_kernel") },
                               { "scale", parts = { "compute" }, name = ".*" .. channels_first_norms .. ".*",
                                 factor = cfg.norm_factor },
                 fallback = impact.exposed { ns = turn_ns + (1 - cfg.norm_factor) * norm_ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a quarter", framework = "pytorch", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { ops = { { name = "a", type = "Conv2D", self_ns = 1 } },
                 kernels = { { name = "void nchwToNhwcKernel<float>", category = "transpose", calls = 40,
                               total_ns = 1e6 },
               { name = "implicit_gemm", category = "conv", calls = 40, total_ns = 4e6 } } } },
    { name = "kernels alone", framework = "pytorch", finding = true, replay = { 1e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "batched_transpose_16x32_half", category = "layout", calls = 40, total_ns = 1e6 },
               { name = "igemm_fwd_gtcx2_nhwc_bf16", category = "conv", calls = 40, total_ns = 4e6 } } } },
    { name = "a host", framework = "tensorflow", format = "xspace", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "transpose_1", type = "_MklTranspose", self_ns = 2e6 },
           { name = "Conv2D", type = "_MklNativeConv2D", self_ns = 5e6 } } } },
    { name = "runs of a session", framework = "tensorflow", format = "graph", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "conv0/transpose", type = "Transpose", self_ns = 2e6 },
           { name = "conv0/Conv2D", type = "Conv2D", self_ns = 5e6 } } } },
    { name = "channels that are shuffled", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "transpose", type = "Transpose", shapes = "[24,16,16,4,16]x[5]->[24,16,16,16,4]",
                           self_ns = 2e6 },
           { name = "gradients/GatherV2_grad/transpose", type = "Transpose", shapes = "[?]x[4]->[64,24,16,16]",
             self_ns = 2e6 },
           { name = "Conv2D", type = "Conv2D", self_ns = 5e6 } } } },
    { name = "layouts by their shapes", framework = "tensorflow", format = "graph", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "transpose", type = "Transpose", shapes = "[32,16,48,24]x[4]->[32,48,24,16]",
                           self_ns = 1e6 },
           { name = "transpose_1", type = "Transpose", shapes = "[32,48,24,16]x[4]->[32,16,48,24]", self_ns = 1e6 },
           { name = "Conv2D", type = "Conv2D", self_ns = 5e6 } } } },
    { name = "spectrograms that a pipeline turns", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "transpose", type = "_MklTranspose", calls = 64, self_ns = 6e6, input_ns = 6e6 },
                         { name = "Conv2D", type = "_MklNativeConv2D", calls = 2, self_ns = 5e6 } } } },
    -- Eight ops are four pairs that take 2 ms; three of four can go.
    { name = "atrous convolutions apart", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 1.5e6, severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "SpaceToBatchND", type = "SpaceToBatchND", calls = 4, self_ns = 1.2e6 },
                         { name = "BatchToSpaceND", type = "BatchToSpaceND", calls = 4, self_ns = 8e5 },
                         { name = "Conv2D", type = "_MklNativeFusedConv2D", calls = 4, self_ns = 6e6 } } } },
    { name = "atrous convolutions that share a pair", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "SpaceToBatchND", type = "SpaceToBatchND", calls = 1, self_ns = 1.2e6 },
                         { name = "BatchToSpaceND", type = "BatchToSpaceND", calls = 1, self_ns = 8e5 },
                         { name = "Conv2D", type = "_MklNativeFusedConv2D", calls = 4, self_ns = 6e6 } } } },
    { name = "dilated layers of many channels", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "SpaceToBatchND", type = "SpaceToBatchND", calls = 4, self_ns = 4e5 },
                         { name = "BatchToSpaceND", type = "BatchToSpaceND", calls = 4, self_ns = 4e5 },
                         { name = "Conv2D", type = "_MklNativeFusedConv2D", calls = 4, self_ns = 6e6 } } } },
    { name = "a cache", framework = "jax", format = "xspace", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "a", type = "fusion", self_ns = 1 } },
                 excess = { { cell = 1, flaw = "turned-cache", op = "fusion", ns = 2e6, share = 0.2, factor = 0,
                   detail = "a cache that is turned round before it is read" } } } },
    { name = "a small one", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "a", type = "fusion", self_ns = 1 } },
                 excess = { { cell = 1, flaw = "turned-cache", ns = 3e5, share = 0.03, factor = 0 } } } },
    { name = "none", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { ops = { { name = "a", type = "Conv2D", self_ns = 1 } },
                 kernels = { { name = "implicit_gemm", category = "conv", calls = 40, total_ns = 4e6 } } } },
  },
}
