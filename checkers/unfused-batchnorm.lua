-- A batch norm runs as a dozen small ops instead of one, or apart from the convolution that could hold it.

-- Four convolutions of 1 ms, each with a norm of 0.4 ms, which gradients go through where it is trained.
local function example_network(is_trained)
  local rows = {}
  for i = 1, 4 do
    local norm = "net/bn_" .. i .. "/batchnorm/"
    rows[#rows + 1] = { name = "net/conv_" .. i .. "/convolution", type = "Conv2D", calls = 1, self_ns = 1e6 }
    rows[#rows + 1] = { name = norm .. "mul_1", type = "Mul", calls = 1, self_ns = 2e5 }
    rows[#rows + 1] = { name = norm .. "add_1", type = "AddV2", calls = 1, self_ns = 2e5 }
    if is_trained then
      rows[#rows + 1] = { name = "gradient_tape/" .. norm .. "mul_1/Mul", type = "Mul", calls = 1, self_ns = 2e5 }
    end
  end
  return rows
end

-- Without training a batch norm scales and shifts each channel by constants, which the convolution before it can hold.
-- Most that standardise weights are none of these: there is nothing that they could be folded into.
local function in_inference(p, cfg)
  if not p:has("work") or (p.fact["torch.backward_ns"] or 0) > 0 then return nil end
  local step_ns, work = p.fact["step.ns"], p:table("work")
  local norms = work:where { type = "aten::batch_norm" }
  local ns, count = norms:sum("ns"), norms:sum("calls")
  local of_weights_ns = p:has("excess")
    and p:table("excess"):where { flaw = "derived-weight", op = "aten::batch_norm" }:sum("ns") or 0
  -- What takes the batch's own statistics is no constant to fold: inference-with-dropout says so first.
  if count <= 0 or ns < cfg.min_inference_share * step_ns or of_weights_ns > 0.5 * ns
    or (p.fact["torch.own_statistics_ns"] or 0) > 0.5 * ns
    or work:where { type = { class = "convolution" } }:sum("calls") < count then return nil end
  local worst = norms:top("ns", 1):rows()[1]
  return finding {
    title = ("%s apart from convolutions, and nothing is trained: %s of each step"):format(
      fmt.many(count, "batch norm runs", "batch norms run"), fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.type },
    locations = worst.source_file and worst.source_file ~= ""
      and { { file = worst.source_file, line = worst.source_line } } or nil,
    evidence = { { "batch norms a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "how many", count, "count" },
                 { "convolutions", work:where { type = { class = "convolution" } }:sum("calls"), "count" } },
    condition = ("they take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_inference_share)),
    remedy = { text = "Fold each into the weights of the convolution before it, once after loading: by hand, by "
                 .. "torch.fx, or by a compiler that freezes weights.",
               code = "conv = torch.nn.utils.fuse_conv_bn_eval(conv, bn)   # in place of both" },
    impact = impact.replay { { "scale", op_type = "aten::batch_norm", factor = 0 },
                             fallback = impact.exposed { ns = ns } },
    confidence = "medium",
  }
end

-- Keras spells them out as a scaling and an addition over the whole map. XLA, which would fuse these, is slow at many
-- convolutions on processors.
local function in_keras(p, cfg)
  if p.framework ~= "tensorflow" or p:has("device.idle_share") or not p:has("ops") or not p:has("op_stats.trains") then
    return nil
  end
  local ops, step_ns, trains = p:table("ops"), p.fact["step.ns"], p.fact["op_stats.trains"]
  -- In a step that trains, those of a frozen network, which nothing goes back through.
  if trains and ops:where { name = { like = "^gradient_tape/.*/batchnorm(_[0-9]+)?/" } }:count() > 0 then return nil end
  local norms = ops:where { name = { like = "/batchnorm(_[0-9]+)?/(mul_1|add_1)$" } }
  local convolutions = ops:where { type = { class = "convolution" } }:count()
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  -- Ops of several threads overlap: of computing they take what they are of all ops.
  local all_ns, count = ops:sum("self_ns"), norms:count() / 2
  local ns = all_ns > 0 and norms:sum("self_ns") / all_ns * math.min(computing_ns, step_ns) or 0
  if count < cfg.min_norms or convolutions < count or ns < cfg.min_spelled_share * step_ns then return nil end
  local worst = norms:top("self_ns", 1):rows()[1]
  return finding {
    title = ("%s apart from convolutions, and %s: %s of each step"):format(
      fmt.many(math.floor(count), "batch norm runs", "batch norms run"),
      trains and "nothing goes back through them" or "nothing is trained", fmt.ms(ns)),
    severity = "info", subject = { op = worst.name },
    evidence = { { "scaling and adding a step", ns, "ns", share = ns / step_ns }, { "batch norms", count, "count" },
                 { "convolutions", convolutions, "count" }, { worst.name, worst.self_ns, "ns" } },
    condition = ("they take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_spelled_share)),
    remedy = { text = "Fold each into the weights of the convolution before it, once after loading"
                 .. (trains and ". Where its inputs come again unchanged, keep what the frozen network makes of them."
                   or ", or serve by a runtime that does (OpenVINO, ONNX Runtime, LiteRT)."),
               code = "scale = bn.gamma / keras.ops.sqrt(bn.moving_variance + bn.epsilon)\n"
                 .. "conv.kernel.assign(conv.kernel * scale)   # and bn.beta - bn.moving_mean * scale as its bias" },
    impact = impact.exposed { ns = ns },
    confidence = "medium",
  }
end

return rule {
  id = "unfused-batchnorm", api = 1, version = "1.0.0",
  title = "A batch norm is not fused",
  category = "kernels", severity = "warn",
  formats = { "profile", "graph", "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "norm", tags = { "ops" },
  more_specific_than = { "hot-op", "tiny-ops", "elementwise-chain" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "time of such batch norms over the step from which this is said" },
    min_inference_share = { default = 0.08, min = 0, max = 1, unit = "share",
                            doc = "PyTorch: time of batch norms without training over the step" },
    min_spelled_share = { default = 0.15, min = 0, max = 1, unit = "share",
                          doc = "Keras: the same of those that are spelled out" },
    min_norms = { default = 4, min = 1, max = 1e6, unit = "count",
                  doc = "Keras: batch norms from which they are a network's" },
    kept = { default = 0.4, min = 0, max = 1, unit = "share", doc = "what of the time a fused one is taken to need" },
  },
  doc = [[
Scopes named after a batch norm that hold a reciprocal square root and no FusedBatchNorm op. Mean, variance, scaling and
their gradients then read the activations once each. Priced as what a fused op is taken to save; it runs beside other
ops, so confidence is low. Silent where every such scope is fused, and where they take little. In PyTorch batch norms of
steps without a backward pass, as many as convolutions or fewer: priced as all of their time. Silent where most of them
standardise weights, which constant-recomputed names, or take the statistics of each batch, as in training. So are those
that Keras spells out on a host, as its XSpace shows, also of a frozen network in a step that trains what is behind it:
no gradient goes back through them.]],

  check = function(p, cfg)
    if p.format == "kineto" then return in_inference(p, cfg) end
    if p.format == "xspace" then return in_keras(p, cfg) end
    if not p:has("graph_patterns") then
      return skip { reason = "no graph of ops with their times is recorded", capture = "run metadata beside the graph" }
    end
    local step_ns = p.fact["step.ns"]
    local norms = p:table("graph_patterns"):where { pattern = "unfused-batch-norm" }
    local ns = math.min(norms:sum("ns"), step_ns)
    if norms:count() == 0 or ns < cfg.min_share * step_ns then return nil end

    local evidence = { { "ops of unfused batch norms a step", ns, "ns", share = ns / step_ns },
                       { "batch norms", norms:count(), "count" } }
    for _, row in ipairs(norms:top("ns", 3):rows()) do evidence[#evidence + 1] = { row.op, row.ns, "ns" } end
    local worst = norms:top("ns", 1):rows()[1]
    return finding {
      title = ("%s as small ops: %s of each step"):format(
        fmt.many(norms:count(), "batch norm runs", "batch norms run"), fmt.ms(ns)),
      subject = { scope = worst.op },
      evidence = evidence,
      condition = ("unfused batch norms take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Ask for the fused op, which takes 4-D input.",
                 code = "tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=is_training)" },
      impact = impact.exposed { ns = ns, low = 0.5 * (1 - cfg.kept) * ns, high = (1 - cfg.kept) * ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "two scopes", format = "graph", framework = "tensorflow", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "unfused-batch-norm", op = "a/BatchNorm", ns = 6e5, count = 1 },
                                    { pattern = "unfused-batch-norm", op = "b/BatchNorm", ns = 4e5, count = 1 } } } },
    { name = "a network that serves", format = "kineto", framework = "pytorch", finding = true, severity = "info",
      impact_ns = 1.5e6, facts = { ["step.ns"] = 1e7 },
      tables = { work = { { type = "aten::conv2d", class = "convolution", calls = 20, ns = 6e6 },
                          { type = "aten::batch_norm", class = "norm", calls = 20, ns = 1.5e6 } } } },
    -- Four norms of 0.4 ms among 5.6 ms of ops: 1.6 of them, of 7 ms computing 2.
    { name = "a network of Keras that serves", format = "xspace", framework = "tensorflow", finding = true,
      severity = "info", impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 7e6, ["op_stats.trains"] = false },
      tables = { ops = example_network() } },
    { name = "a frozen network below one that is trained", format = "xspace", framework = "tensorflow", finding = true,
      severity = "info", impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 7e6, ["op_stats.trains"] = true },
      tables = { ops = example_network() } },
    { name = "one that trains", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 7e6, ["op_stats.trains"] = true },
      tables = { ops = example_network(true) } },
    { name = "weights that are standardised", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { work = { { type = "aten::conv2d", class = "convolution", calls = 20, ns = 6e6 },
                          { type = "aten::batch_norm", class = "norm", calls = 20, ns = 1.5e6 } },
                 excess = { { cell = 1, flaw = "derived-weight", op = "aten::batch_norm", ns = 1.4e6 } } } },
    { name = "small norms", format = "kineto", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { work = { { type = "aten::conv2d", class = "convolution", calls = 20, ns = 6e6 },
                          { type = "aten::batch_norm", class = "norm", calls = 20, ns = 5e5 } } } },
    { name = "a network that trains", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.backward_ns"] = 4e6 },
      tables = { work = { { type = "aten::conv2d", class = "convolution", calls = 20, ns = 6e6 },
                          { type = "aten::batch_norm", class = "norm", calls = 20, ns = 2e6 } } } },
    { name = "norms in the mode of training", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.own_statistics_ns"] = 2e6 },
      tables = { work = { { type = "aten::conv2d", class = "convolution", calls = 20, ns = 6e6 },
                          { type = "aten::batch_norm", class = "norm", calls = 20, ns = 2e6 } } } },
    { name = "norms behind other layers", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { work = { { type = "aten::linear", class = "product", calls = 20, ns = 6e6 },
                          { type = "aten::batch_norm", class = "norm", calls = 20, ns = 2e6 } } } },
    { name = "hardly any time", format = "graph", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "unfused-batch-norm", op = "a/BatchNorm", ns = 6e4, count = 1 } } } },
    { name = "all fused", format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = {} } },
  },
}
