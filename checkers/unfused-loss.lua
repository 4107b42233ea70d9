-- Cross-entropy is spelled out in softmax, logarithm, product and sum.

-- TensorFlow: labels as one-hot rows, which a metric makes numbers again, and a softmax that the loss does not need.
local function of_one_hot(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops"):where { is_eager = false }
  local loss = ops:where { type = "SoftmaxCrossEntropyWithLogits" }:top("self_ns", 1):rows()[1]
  local largest = ops:where { type = "ArgMax" }:rows()
  -- One of the labels and one of the answers, as an accuracy takes them.
  if not loss or #largest ~= 2 or largest[1].scope ~= largest[2].scope then return nil end
  local labels_ns, softmax_ns = (largest[1].self_ns + largest[2].self_ns) / 2, 0
  for row in ops:where { type = { like = "^(_Mkl)?Softmax$" } }:each() do
    local place = row.scope and row.scope ~= "" and row.scope or row.name
    local backward = "(^|/)gradient[^/]*/(.*/)?\\Q" .. place .. "\\E(_grad)?(/|$)"
    if not row.name:find("gradient|(^|/)while/") and ops:where { name = { like = backward } }:count() == 0 then
      softmax_ns = softmax_ns + row.self_ns
    end
  end
  local ns = labels_ns + softmax_ns
  if ns < cfg.min_one_hot_share * step_ns then return nil end
  return finding {
    title = ("Labels are one-hot rows, of which the largest is sought again: %s"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = loss.name },
    evidence = { { "numbers of labels from their rows a step", labels_ns, "ns",
                   share = math.min(1, labels_ns / step_ns) },
                 { "a softmax that the loss is not taken of", softmax_ns, "ns",
                   share = math.min(1, softmax_ns / step_ns) },
                 { "the loss itself", loss.self_ns, "ns" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_one_hot_share)),
    remedy = { text = "Give the loss and the accuracy logits and class numbers: rows of classes are then neither made, "
                 .. "moved nor searched.",
               code = "model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), "
                 .. "metrics=[tf.keras.metrics.SparseCategoricalAccuracy()])" },
    impact = impact.exposed { ns = ns, low = 0.7 * ns, high = 1.3 * ns },
    confidence = "medium",
  }
end

return rule {
  id = "unfused-loss", api = 1, version = "1.0.0",
  title = "Cross-entropy is spelled out",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "formula.loss", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_one_hot_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "of the step, what one-hot labels cost in TensorFlow" },
    min_classes = { default = 64, min = 2, max = 1e9, unit = "count",
      doc = "classes, below which it costs little" },
  },
  doc = [[
The probabilities, their logarithm, the one-hot targets and their product are as large as the logits, are written and
read one after the other, and all over again in the backward pass. The fused loss makes one of them. Priced as what is
not the softmax and its gradient. In TensorFlow, where labels are one-hot rows: the half of an accuracy's two
searches for the largest that is of the labels, and a softmax layer that has no gradient, since the loss goes back to
the logits. Silent with few classes and below min_share.]],

  check = function(p, cfg)
    if p.format == "xspace" then
      if p.framework ~= "tensorflow" or not p:has("ops") then
        return skip { reason = "no ops of TensorFlow are recorded" }
      end
      return of_one_hot(p, cfg)
    end
    if not p:has("eager_idioms") then
      return skip { reason = "no timeline of PyTorch ops is recorded", capture = "a timeline of ops" }
    end
    return p:spelled_out {
      idiom = "loss", min_share = cfg.min_share, title = "Cross-entropy by hand takes",
      price = function(row)
        if p:is_large(row, row.last_dim, cfg.min_classes) then
          return 0.7 * (row.ns - row.pivot_ns), row.ns - row.pivot_ns
        end
      end,
      remedy = { text = "Give the logits and the class numbers to the fused loss; it needs no one-hot targets.",
          code = "loss = F.cross_entropy(logits, targets)" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 3.4e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "loss", first_op = "aten::mul", ns = 5e7, count = 1, calls = 9,
          product_ns = 0, pivot_ns = 1e7, longest_ns = 0, last_dim = 12000, elements = 200000.0 } } } },
    -- Half of 8 ms, and 2 ms of a softmax without a gradient; the other one has one.
    { name = "masks as one-hot maps", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 3e7 },
      tables = { ops = {
        { name = "loss/xent", type = "SoftmaxCrossEntropyWithLogits", scope = "loss", self_ns = 1e7, is_eager = false },
        { name = "ArgMax", type = "ArgMax", scope = "", self_ns = 3e6, is_eager = false },
        { name = "ArgMax_1", type = "ArgMax", scope = "", self_ns = 5e6, is_eager = false },
        { name = "net/softmax/Softmax", type = "Softmax", scope = "net/softmax", self_ns = 2e6, is_eager = false },
        { name = "net/heads/Softmax", type = "Softmax", scope = "net/heads", self_ns = 3e6, is_eager = false },
        { name = "gradient_tape/net/heads/mul/Mul", type = "Mul", scope = "gradient_tape/net/heads/mul",
          self_ns = 1e5, is_eager = false } } } },
    { name = "a program of JAX", framework = "jax", format = "xspace", skipped = true, facts = { ["step.ns"] = 1e7 } },
    { name = "no ops of PyTorch", framework = "pytorch", format = "kineto", skipped = true,
      facts = { ["step.ns"] = 1e7 } },
    { name = "labels as numbers", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 3e7 },
      tables = { ops = {
        { name = "loss/xent", type = "SparseSoftmaxCrossEntropyWithLogits", scope = "loss", self_ns = 1e7,
          is_eager = false },
        { name = "ArgMax", type = "ArgMax", scope = "", self_ns = 8e6, is_eager = false } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "loss", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 4e5, longest_ns = 0, last_dim = 12000, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
