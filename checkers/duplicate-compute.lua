-- A forward pass runs again whose results no backward pass needs.
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
the shapes differ (validation data, a smaller teacher). A teacher of the same shapes on the same batch looks alike.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.median_ns"]
    local ns, products = p.fact["torch.repeated_forward_ns"], p.fact["torch.repeated_products"]
    if products == 0 or ns < cfg.min_share * step_ns then return nil end
    local low_ns, high_ns = 0.9 * ns, ns
    local title = ("A second forward pass takes %s a step, and no backward pass uses it"):format(fmt.ms(ns))
    local evidence = { { "second forward pass a step", ns, "ns", share = math.min(1, ns / step_ns) },
                       { "products in it a step", products, "count" } }
    local condition = ("%s products repeat trained ones and no backward node belongs to them"):format(fmt.count(products))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Keep the results of the first pass for metrics and logging.",
                 code = "logits = model(x); loss = F.cross_entropy(logits, y); accuracy = (logits.detach().argmax(-1) == y).float().mean()" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "for accuracy", framework = "pytorch", finding = true, impact_ns = 2.9e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 3e6, ["torch.repeated_products"] = 3 } },
    { name = "once", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0 } },
  },
}
