-- A convolution adds a bias that the batch norm behind it removes.
-- PyTorch on an accelerator: the bias is a pass of its own over what the convolution gives, and its gradient a sum over
-- the same shape.
local function of_kernels(p, cfg)
  local step_ns, normed = p.fact["step.ns"], {}
  if p:table("ops"):where { type = { like = "batch_norm_backward$" } }:count() == 0 then return nil end
  for row in p:table("ops"):where { type = { like = "batch_norm(_with_update)?$" } }:each() do
    normed[(row.shapes or ""):match("^\\[[0-9,]+\\]") or ""] = true
  end
  local ns, count, biased, worst = 0, 0, {}, nil
  for row in p:table("kernels"):where { op_type = "aten::add_" }:each() do
    local whole = (row.shapes or ""):match("^(\\[\\d+,(\\d+)(,\\d+)+\\])x\\[1,\\2(,1)+\\]")
    if whole and normed[whole] then
      ns, count, biased[whole], worst = ns + row.total_ns, count + row.calls, true, worst or row
    end
  end
  for row in p:table("kernels"):where { op_type = "aten::sum" }:each() do
    if biased[(row.shapes or ""):match("^\\[[0-9,]+\\]") or ""] then ns = ns + row.total_ns end
  end
  ns = math.min(ns, step_ns)
  if not worst or ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("%s convolutions add a bias that the next batch norm removes: %s of each step"):format(
      fmt.whole(count), fmt.ms(ns)),
    subject = { op = "aten::convolution", kernel = worst.name },
    evidence = { { "bias additions and their gradients a step", ns, "ns", share = ns / step_ns },
                 { "convolutions with one", count, "count" }, { "shapes", worst.shapes } },
    condition = ("biases before batch norms take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Leave the bias out; the batch norm has its own.",
               code = "nn.Conv2d(cin, cout, 3, padding=1, bias=False)" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "conv-bias-before-bn", api = 1, version = "1.0.0",
  title = "A convolution adds a bias that the batch norm behind it removes",
  category = "kernels", severity = "warn",
  formats = { "profile", "graph", "kineto" },
  needs = { "step.ns" },
  cause = "bias", tags = { "tensorflow", "ops" },
  more_specific_than = { "hot-op", "tiny-ops", "roofline-gap", "gemm-epilogue-unfused" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "time of such biases and their gradients over the step from which this is said" },
  },
  doc = [[
A batch norm that trains subtracts the mean of its input, and with it any bias added before. Looks for convolution,
bias and fused batch norm one behind the other; in PyTorch on an accelerator for passes that add a row of numbers to
what a batch norm takes in. Priced as the time of the additions and of the bias gradients. Silent for batch norms in
inference, and where the biases take little.]],

  check = function(p, cfg)
    if p.format == "kineto" then
      if not p:has("kernels") or not p:has("ops") then
        return skip { reason = "no kernels of an accelerator are recorded" }
      end
      return of_kernels(p, cfg)
    end
    if not p:has("graph_patterns") then return skip { reason = "no graph is recorded", capture = "a graph" } end
    local step_ns = p.fact["step.ns"]
    local biases = p:table("graph_patterns"):where { pattern = "bias-before-norm" }
    local ns = math.min(biases:sum("ns"), step_ns)
    if biases:count() == 0 or ns < cfg.min_share * step_ns then return nil end

    local worst = biases:top("ns", 1):rows()[1]
    return finding {
      title = ("%s convolutions add a bias that the next batch norm removes: %s of each step"):format(
        fmt.count(biases:count()), fmt.ms(ns)),
      subject = { op = worst.op },
      evidence = { { "bias additions and their gradients a step", ns, "ns", share = ns / step_ns },
                   { "convolutions with one", biases:count(), "count" },
                   { worst.op, worst.ns, "ns" } },
      condition = ("biases before batch norms take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Leave the bias out; the batch norm has its own.",
                 code = "x = tf.nn.conv2d(x, kernel, strides=1, padding='SAME')   # without tf.nn.bias_add" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    -- 6 ms of additions and 2 of their gradients: 0.8 to all of it.
    { name = "passes of PyTorch", format = "kineto", framework = "pytorch", finding = true, impact_ns = 7.2e6,
      facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { type = "aten::native_batch_norm", shapes = "[256,64,48,48]x[64]x[64]x[64]x[64]" },
                         { type = "aten::native_batch_norm_backward", shapes = "[256,64,48,48]x[256,64,48,48]" } },
                 kernels = { { name = "elementwise_kernel", op_type = "aten::add_", calls = 4, total_ns = 6e6,
                               shapes = "[256,64,48,48]x[1,64,1,1]x[]" },
                             { name = "reduce_kernel", op_type = "aten::sum", calls = 4, total_ns = 2e6,
                               shapes = "[256,64,48,48]x[]" },
                             { name = "elementwise_kernel", op_type = "aten::add_", calls = 4, total_ns = 9e6,
                               shapes = "[256,64,48,48]x[256,64,48,48]x[]" } } } },
    { name = "a batch norm in inference", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e8 },
      tables = { ops = { { type = "aten::native_batch_norm", shapes = "[256,64,48,48]x[64]x[64]x[64]x[64]" } },
                 kernels = { { name = "elementwise_kernel", op_type = "aten::add_", calls = 4, total_ns = 6e6,
                               shapes = "[256,64,48,48]x[1,64,1,1]x[]" } } } },
    { name = "PyTorch on a host", format = "kineto", framework = "pytorch", skipped = true,
      facts = { ["step.ns"] = 1e8 } },
    { name = "twelve layers", format = "graph", framework = "tensorflow", finding = true, impact_ns = 3e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "bias-before-norm", op = "conv1/BiasAdd", ns = 3e5, count = 1 },
                                    { pattern = "bias-before-norm", op = "conv2/BiasAdd", ns = 1e5, count = 1 } } } },
    { name = "no such bias", format = "graph", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = {} } },
    { name = "hardly any time", format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "bias-before-norm", op = "conv1/BiasAdd", ns = 3e4, count = 1 } } } },
  },
}
