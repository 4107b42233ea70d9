-- A loss over all of very many classes takes a large part of the step.

-- What frameworks share: most positions of a masked or instructed text have no label.
local LABELLED = " Where few positions have labels (masked words, an answer behind its prompt), pick them before the "
  .. "layer that makes the logits."
local SAMPLED = { text = "Train with a sampled loss; evaluate with the full one." .. LABELLED,
                  code = "loss = tf.nn.sampled_softmax_loss(w, b, labels, x, num_sampled=512, num_classes=classes)" }

-- Compiled programs tell the classes by their shapes: probabilities and all that has one dimension as large.
local function of_compiled(p, cfg)
  local step_ns, classes = p.fact["step.ns"], 0
  for row in p:table("ops"):where { name = { like = "exp|softmax|log" },
                                    shapes = { like = "[,\\[][0-9]{4,}\\]" } }:each() do
    for dims in row.shapes:gmatch("\\[([0-9,]+)\\]") do
      local rows, last = dims:match("^([0-9,]+),([0-9]+)$")
      if rows and not rows:find("^1(,1)*$") then classes = math.max(classes, tonumber(last)) end
    end
  end
  if classes < cfg.min_classes then return nil end
  local sized = p:table("ops"):where { shapes = { like = ("[,\\[]%d[,\\]]"):format(classes) } }
  local ns, worst = math.min(sized:sum("self_ns"), step_ns), sized:top("self_ns", 1):rows()[1]
  if ns < cfg.min_share * step_ns then return nil end
  local high_ns = ns * math.max(0, 1 - cfg.samples / classes)
  return finding {
    title = ("The loss over %s classes takes %s of the step"):format(fmt.count(classes), fmt.pct(ns / step_ns)),
    subject = { op = worst.name },
    evidence = { { "ops over all classes a step", ns, "ns", share = ns / step_ns }, { "classes", classes, "count" },
                 { worst.name .. " " .. worst.shapes, worst.self_ns, "ns" } },
    condition = ("%s classes, %s accepted, and %s of the step, %s accepted"):format(fmt.count(classes),
      fmt.count(cfg.min_classes), fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Train with a sampled loss; evaluate with the full one." .. LABELLED,
               code = "logits = h @ table[jnp.concatenate([labels, samples])].T   "
                 .. "# labels and some hundred other classes" },
    impact = impact.exposed { ns = ns, low = 0.8 * high_ns, high = high_ns },
    confidence = "low",
  }
end

-- Two losses that take about as long, and a scope with two products that do: pairs of a batch, looked at from either
-- side. A layer of weights multiplies once, so these classes are the batch itself, of which nothing can be sampled.
local function between_pairs(losses, ops, stem)
  local scope, rows = stem:match("^(.*)/[^/]*$"), losses:top("self_ns", 2):rows()
  if not scope or #rows < 2 or 2 * rows[2].self_ns < rows[1].self_ns then return false end
  local products = ops:where { name = { like = "^\\Q" .. scope .. "\\E/MatMul(_\\d+)?$" } }:top("self_ns", 2):rows()
  return #products == 2 and 2 * products[2].self_ns >= products[1].self_ns
end

-- Recordings of TensorFlow's host have no shapes: a softmax that takes a fair part of the time, beside a product and
-- its gradients that take more, is over many classes. Names tell what belongs to that product.
local function of_names(p, cfg)
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local losses = ops:where { type = { like = "(SoftmaxCrossEntropyWithLogits|^LogSoftmax)$" } }
  local loss, loss_ns = losses:top("self_ns", 1):rows()[1], losses:sum("self_ns")
  -- The joined op makes its gradient, too; that of a logarithm of softmax is four ops that take as long.
  loss_ns = loss_ns + losses:where { type = "LogSoftmax" }:sum("self_ns")
  if not loss or loss_ns < cfg.min_loss_share * ops:sum("self_ns") or loss.mean_ns < cfg.min_loss_ns then return nil end
  local stem, product_ns
  for _, row in ipairs(ops:where { type = { class = "product" } }:top("self_ns", 20):rows()) do
    stem = row.name:match("^gradient_tape/(.*)/MatMul(_\\d+)?$")
    if stem then break end
  end
  if not stem or between_pairs(losses, ops, stem) then return nil end
  local function time_of(before, scope, behind)
    return ops:where { name = { like = before .. "\\Q" .. scope .. "\\E/" .. behind } }:sum("self_ns")
  end
  local gradients_ns = time_of("^gradient_tape/", stem, "MatMul(_\\d+)?$")
  local layer = stem:match("^(.*?)(/Tensordot)?/[^/]*$")
  local layer_ns = layer and time_of("^(gradient_tape/)?", layer, "") or 0
  -- The product itself takes as long as one of its two gradients; fused with what follows it has another name.
  product_ns = math.max(layer_ns, 1.5 * gradients_ns)
  local behind_ns = time_of("^gradient_tape/", loss.name:match("^(.*)/[^/]*$") or loss.name, "")
  local ns = math.min(loss_ns + product_ns + behind_ns, step_ns)
  if product_ns < loss_ns or ns < cfg.min_unseen_share * step_ns then return nil end
  return finding {
    title = ("The loss over all classes takes %s of the step"):format(fmt.pct(ns / step_ns)),
    subject = { op = loss.name },
    evidence = { { "softmax, its product and their gradients a step", ns, "ns", share = ns / step_ns },
                 { "of it the softmax alone", loss_ns, "ns" },
                 { "product " .. stem .. " and its gradients", product_ns, "ns" } },
    condition = ("the softmax takes %s of the time of all ops, %s accepted"):format(
      fmt.pct(loss_ns / ops:sum("self_ns")), fmt.pct(cfg.min_loss_share)),
    remedy = SAMPLED,
    impact = impact.exposed { ns = ns, low = 0.9 * ns, high = ns },
    confidence = "low",
  }
end

-- Ledger: the softmax, the product that makes its logits, and both ways back.
local function of_torch(p, cfg)
  return p:in_excess {
    flaw = "wide-loss", min_share = cfg.min_share, time = "what classes that are not sampled take",
    title = "The loss over all classes takes %s of each step",
    remedy = { text = "Train with a sampled loss, or over a tree of classes; evaluate with the full one. Where all "
                 .. "classes are needed, join the product and the loss, in chunks of rows." .. LABELLED,
               code = "c = torch.cat([labels, torch.randint(classes, (512,))])   # labels and other classes\n"
                 .. "loss = F.cross_entropy(h @ table.weight[c].T, torch.arange(len(labels)))" },
    confidence = "low",
  }
end

local function of_xspace(p, cfg)
  if p:has("ops") and p.framework == "jax" then return of_compiled(p, cfg) end
  if p:has("ops") and p.framework == "tensorflow" then return of_names(p, cfg) end
  return skip { reason = "no ops are recorded", capture = "a compiled program's ops" }
end

return rule {
  id = "full-softmax-loss", api = 1, version = "1.0.0",
  title = "The loss is computed over very many classes",
  category = "model", severity = "info",
  formats = { "profile", "graph", "xspace", "kineto" },
  needs = { "step.ns" },
  cause = "loss", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_classes = { default = 20000, min = 2, max = 1e9, unit = "count", doc = "classes from which this is said" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "time of the loss, its product and their gradients over the step" },
    min_loss_share = { default = 0.15, min = 0, max = 1, unit = "share",
                       doc = "where no shapes tell the classes: the softmax alone over the time of all ops" },
    min_loss_ns = { default = 1e6, min = 0, max = 1e12, unit = "ns", doc = "and over one call" },
    min_unseen_share = { default = 0.40, min = 0, max = 1, unit = "share", doc = "and with its product over the step" },
    samples = { default = 512, min = 1, max = 1e9, unit = "count", doc = "classes that a sampled loss would look at" },
  },
  doc = [[
Softmax cross-entropy over tens of thousands of classes multiplies and exponentiates for each of them. A sampled
loss looks at some hundreds while training. Priced as the share of classes that are then left out; the model
changes, so confidence is low. Where no shapes are recorded, a softmax that takes a fair part of the time, and a
product whose gradients take more, tell that there are many; in PyTorch, that loss and product take more than all
layers before them. Silent for fewer classes, where the loss takes little, and where it has no gradients: evaluation
needs all classes and does not train.]],

  check = function(p, cfg)
    if p.format == "xspace" then return of_xspace(p, cfg) end
    if p.format == "kineto" then return of_torch(p, cfg) end
    if not p:has("graph_patterns") then return skip { reason = "no graph is recorded", capture = "a graph" } end
    local step_ns = p.fact["step.ns"]
    local losses = p:table("graph_patterns"):where { pattern = "softmax-loss", elements = { min = cfg.min_classes } }
    local worst = losses:top("ns", 1):rows()[1]
    if not worst then return nil end
    local ns = math.min(worst.ns, step_ns)
    if ns < cfg.min_share * step_ns then return nil end

    return finding {
      title = ("The loss over %s classes takes %s of the step"):format(
        fmt.count(worst.elements), fmt.pct(ns / step_ns)),
      subject = { op = worst.op },
      evidence = { { "loss, its product and their gradients a step", ns, "ns", share = ns / step_ns },
                   { "classes", worst.elements, "count" } },
      condition = ("%s classes, %s accepted, and %s of the step, %s accepted"):format(fmt.count(worst.elements),
        fmt.count(cfg.min_classes), fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = SAMPLED,
      impact = impact.exposed { ns = ns, low = 0.8 * ns * math.max(0, 1 - cfg.samples / worst.elements),
                                high = ns * math.max(0, 1 - cfg.samples / worst.elements) },
      confidence = "low",
    }
  end,

  examples = {
    { name = "items of a recommender", format = "kineto", framework = "pytorch", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "wide-loss", op = "aten::cross_entropy_loss", ns = 8e6, share = 0.8,
                              factor = 0.1 } } } },
    { name = "a small part of the step", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "wide-loss", ns = 8e5, share = 0.08, factor = 0.1 } } } },
    { name = "a vocabulary", format = "graph", framework = "tensorflow", finding = true, impact_ns = 4.4e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "softmax-loss", op = "loss/xent", ns = 5e6, count = 1,
                                      elements = 80000 } } } },
    { name = "ten classes", format = "graph", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "softmax-loss", op = "loss/xent", ns = 5e6, count = 1,
                                      elements = 10 } } } },
    { name = "a softmax without shapes", format = "xspace", framework = "tensorflow", finding = true,
      impact_ns = 8.55e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "loss/xent", type = "SparseSoftmaxCrossEntropyWithLogits", self_ns = 3e6,
                           mean_ns = 3e6 },
                         { name = "gradient_tape/loss/mul", type = "Mul", self_ns = 5e5 },
                         { name = "gradient_tape/m/dense/MatMul/MatMul_1", type = "_MklMatMul", self_ns = 2e6 },
                         { name = "gradient_tape/m/dense/MatMul/MatMul", type = "_MklMatMul", self_ns = 1.5e6 },
                         { name = "m/dense/BiasAdd", type = "_MklNativeFusedMatMul", self_ns = 1e6 },
                         { name = "gradient_tape/m/dense/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 1e6 },
                         { name = "sgd/Mul", type = "Mul", self_ns = 1e6 } } } },
    { name = "a logarithm of softmax, picked from", format = "xspace", framework = "tensorflow", finding = true,
      impact_ns = 8.55e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "loss/LogSoftmax", type = "LogSoftmax", self_ns = 1.5e6, mean_ns = 1.5e6 },
                         { name = "gradient_tape/loss/mul", type = "Mul", self_ns = 5e5 },
                         { name = "gradient_tape/m/dense/MatMul/MatMul_1", type = "_MklMatMul", self_ns = 2e6 },
                         { name = "gradient_tape/m/dense/MatMul/MatMul", type = "_MklMatMul", self_ns = 1.5e6 },
                         { name = "m/dense/BiasAdd", type = "_MklNativeFusedMatMul", self_ns = 1e6 },
                         { name = "gradient_tape/m/dense/BiasAdd/BiasAddGrad", type = "BiasAddGrad", self_ns = 1e6 },
                         { name = "sgd/Mul", type = "Mul", self_ns = 1e6 } } } },
    { name = "pairs of a batch, from either side", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 2e7 },
      tables = { ops = { { name = "a/xent", type = "SparseSoftmaxCrossEntropyWithLogits", self_ns = 3e6,
                           mean_ns = 3e6 },
                         { name = "b/xent", type = "SparseSoftmaxCrossEntropyWithLogits", self_ns = 2e6,
                           mean_ns = 2e6 },
                         { name = "m/MatMul", type = "_MklMatMul", self_ns = 2e6 },
                         { name = "m/MatMul_1", type = "_MklMatMul", self_ns = 2.5e6 },
                         { name = "gradient_tape/m/MatMul_1/MatMul_1", type = "_MklMatMul", self_ns = 3.5e6 },
                         { name = "gradient_tape/m/MatMul_1/MatMul", type = "_MklMatMul", self_ns = 3e6 } } } },
    { name = "pixels by a convolution", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "loss/xent", type = "SparseSoftmaxCrossEntropyWithLogits", self_ns = 3e6,
                           mean_ns = 3e6 },
                         { name = "m/conv/BiasAdd", type = "_MklNativeFusedConv2D", self_ns = 5e6 } } } },
    { name = "a small part of a language model", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 2e7 },
      tables = { ops = { { name = "loss/xent", type = "SparseSoftmaxCrossEntropyWithLogits", self_ns = 1.8e6,
                           mean_ns = 1.8e6 },
                         { name = "gradient_tape/m/dense/MatMul/MatMul", type = "_MklMatMul", self_ns = 4e6 },
                         { name = "gradient_tape/m/ff/MatMul/MatMul", type = "_MklMatMul", self_ns = 12e6 } } } },
    { name = "little time", format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "softmax-loss", op = "loss/xent", ns = 5e5, count = 1,
                                      elements = 80000 } } } },
  },
}
