-- A loss over all of very many classes takes a large part of the step.
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
    remedy = { text = "Train with a sampled loss; evaluate with the full one.",
               code = "logits = h @ table[jnp.concatenate([labels, samples])].T   "
                 .. "# labels and a few thousand other classes" },
    impact = impact.exposed { ns = ns, low = 0.8 * high_ns, high = high_ns },
    confidence = "low",
  }
end

return rule {
  id = "full-softmax-loss", api = 1, version = "1.0.0",
  title = "The loss is computed over very many classes",
  category = "model", severity = "info",
  formats = { "profile", "graph", "xspace" },
  needs = { "step.ns" },
  cause = "loss", tags = { "tensorflow", "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_classes = { default = 20000, min = 2, max = 1e9, unit = "count", doc = "classes from which this is said" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "time of the loss, its product and their gradients over the step" },
    samples = { default = 2048, min = 1, max = 1e9, unit = "count", doc = "classes that a sampled loss would look at" },
  },
  doc = [[
Softmax cross-entropy over tens of thousands of classes multiplies and exponentiates for each of them. A sampled loss
looks at one or two thousand while training. Priced as the share of classes that are then left out; the model changes,
so confidence is low. Silent for fewer classes, where the loss takes little, and where it has no gradients: evaluation
needs all classes and does not train.]],

  check = function(p, cfg)
    if p.format == "xspace" then
      if not p:has("ops") or p.framework ~= "jax" then
        return skip { reason = "no shapes of ops are recorded", capture = "a graph, or a compiled program's ops" }
      end
      return of_compiled(p, cfg)
    end
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
      remedy = { text = "Train with a sampled loss; evaluate with the full one.",
                 code = "loss = tf.nn.sampled_softmax_loss(w, b, labels, x, num_sampled=2048, num_classes=classes)" },
      impact = impact.exposed { ns = ns, low = 0.8 * ns * math.max(0, 1 - cfg.samples / worst.elements),
                                high = ns * math.max(0, 1 - cfg.samples / worst.elements) },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a vocabulary", format = "graph", framework = "tensorflow", finding = true, impact_ns = 4.4e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "softmax-loss", op = "loss/xent", ns = 5e6, count = 1,
                                      elements = 80000 } } } },
    { name = "ten classes", format = "graph", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "softmax-loss", op = "loss/xent", ns = 5e6, count = 1,
                                      elements = 10 } } } },
    { name = "little time", format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "softmax-loss", op = "loss/xent", ns = 5e5, count = 1,
                                      elements = 80000 } } } },
  },
}
