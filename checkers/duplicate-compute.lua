-- A forward pass runs again whose results no backward pass needs, or a backward pass runs twice.
local function second_forward(p, ns, products, severity)
  local trains = severity == "warn"
  return finding {
    title = ("A second forward pass takes %s a step, and no backward pass uses it"):format(fmt.ms(ns)),
    severity = severity,
    evidence = { { "second forward pass a step", ns, "ns", share = math.min(1, ns / p.fact["step.median_ns"]) },
                 { "products in it a step", products, "count" } },
    condition = ("%s products repeat trained ones and no backward node belongs to them"):format(fmt.count(products)),
    remedy = { text = trains and "Keep the results of the first pass for metrics and logging." or
                   "If it is the same model on the same batch, keep the results of the first pass.",
               code = "logits = model(x); loss = F.cross_entropy(logits, y); accuracy = (logits.detach().argmax(-1) == y).float().mean()" },
    impact = impact.exposed { ns = ns, low = 0.9 * ns, high = ns },
    confidence = trains and "medium" or "low",
  }
end

local function twice_backward(p, ns, nodes)
  return finding {
    title = ("The backward pass runs twice over the same calls: %s a step"):format(fmt.ms(ns)),
    severity = "warn",
    evidence = { { "backward nodes that ran before, a step", ns, "ns", share = math.min(1, ns / p.fact["step.median_ns"]) },
                 { "such nodes a step", nodes, "count" } },
    condition = ("%s nodes of the backward pass run again for the same forward call"):format(fmt.count(math.floor(nodes + 0.5))),
    remedy = { text = "Add up the losses and go back once.", code = "(loss_a + loss_b).backward()   # instead of retain_graph=True" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "duplicate-compute", api = 1, version = "1.0.0",
  title = "A forward pass runs twice",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.median_ns", "torch.repeated_forward_ns", "torch.repeated_products" },
  cause = "forward", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
  },
  doc = [[
In a step that trains, products of the same shapes and in the same order as the trained ones run again, and no
backward node belongs to them: typically metrics that call the model once more. Priced as that time. Silent where
the shapes differ (validation data, a smaller teacher). Where that pass is without gradients it may be another model of
the same shapes, a teacher or a target network: a fact then. Nodes of a backward pass that run again for the same
forward call are losses that go back one by one.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.median_ns"]
    local least_ns = cfg.min_share * step_ns
    local ns, products = p.fact["torch.repeated_forward_ns"], p.fact["torch.repeated_products"]
    local again_ns, nodes = p.fact["torch.backward_again_ns"] or 0, p.fact["torch.backward_again_nodes"] or 0
    local untrained_ns = p.fact["torch.untrained_forward_ns"] or 0
    if nodes > 1 and again_ns >= least_ns and again_ns > ns then return twice_backward(p, again_ns, nodes) end
    if products == 0 or ns < least_ns then
      if untrained_ns < least_ns then return nil end
      -- Without gradients it may be another model: a teacher, a target network.
      return second_forward(p, untrained_ns, p.fact["torch.untrained_products"], "info")
    end
    return second_forward(p, ns, products, "warn")
  end,

  examples = {
    { name = "for accuracy", framework = "pytorch", finding = true, impact_ns = 2.9e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 3e6, ["torch.repeated_products"] = 3 } },
    { name = "a target network", framework = "pytorch", finding = true, impact_ns = 2.9e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0,
                ["torch.untrained_forward_ns"] = 3e6, ["torch.untrained_products"] = 3 } },
    { name = "two losses", framework = "pytorch", finding = true, impact_ns = 2.7e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0,
                ["torch.backward_again_ns"] = 3e6, ["torch.backward_again_nodes"] = 12 } },
    { name = "one node again", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0,
                ["torch.backward_again_ns"] = 1e5, ["torch.backward_again_nodes"] = 1 } },
    { name = "once", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0 } },
  },
}
