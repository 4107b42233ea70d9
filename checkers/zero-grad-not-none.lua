-- Gradients are set to zero instead of being dropped.
return rule {
  id = "zero-grad-not-none", api = 1, version = "1.0.0",
  title = "Gradients are set to zero instead of being dropped",
  category = "host", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "torch.clear_ns", "torch.cleared_gradients" },
  cause = "optimizer", tags = { "ops" },
  more_specific_than = { "unfused-optimizer", "tiny-ops", "python-in-step" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_gradients = { default = 4, min = 1, max = 1e7, unit = "count",
      doc = "gradients cleared a step" },
  },
  doc = [[
Clearing writes every gradient, adding to zeros reads and writes it again, and the optimizer updates also the parameters
that took no part in the step. Priced as the clearing and, by elements, the share of the optimizer's time spent on
gradients that no backward pass handed over. Silent when gradients are dropped, and below min_share.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local cleared, clear_ns = p.fact["torch.cleared_gradients"], p.fact["torch.clear_ns"]
    if cleared < cfg.min_gradients then return nil end
    local elements, used = p.fact["torch.cleared_elements"] or 0, p.fact["torch.accumulated_elements"] or 0
    local unused = elements > 0 and math.max(0, 1 - used / elements) or 0
    local update_ns = p.fact["torch.update_ns"] or 0
    local add_ns = p.fact["torch.accumulated_ns"] or 0
    -- An accelerator does nothing for a gradient that is handed over: all of this is adding.
    local add_low_ns = p:has("torch.forward_gap_ns") and 0 or 0.8 * add_ns
    local low_ns = clear_ns + 0.8 * unused * update_ns + add_low_ns
    local high_ns = clear_ns + unused * update_ns + add_ns
    if high_ns < cfg.min_share * step_ns then return nil end
    local title = ("%s gradients are set to zero in each step"):format(fmt.whole(cleared))
    local evidence = { { "clearing gradients a step", clear_ns, "ns", share = math.min(1, clear_ns / step_ns) },
                       { "gradients cleared", cleared, "count" },
                       { "their elements that no backward pass touched", unused, "share" },
                       { "optimizer a step", update_ns, "ns" } }
    local condition = ("%s gradients cleared a step, %s accepted"):format(fmt.whole(cleared),
        fmt.count(cfg.min_gradients - 1))

    return finding {
      title = title,
      locations = p:lines_of("torch.clear_ns"),
      evidence = evidence,
      condition = condition,
      remedy = { text = "Drop the gradients; the next backward pass makes those it needs, and parameters without one "
                   .. "are left alone.",
                 code = "optimizer.zero_grad(set_to_none=True)   # the default since PyTorch 2.0" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "seven of eight heads unused", framework = "pytorch", finding = true, impact_ns = 2.85e6,
      facts = { ["step.ns"] = 1e7, ["torch.clear_ns"] = 1e6, ["torch.cleared_gradients"] = 34,
          ["torch.cleared_elements"] = 2e6, ["torch.accumulated_elements"] = 1e6, ["torch.update_ns"] = 4e6,
          ["torch.accumulated_ns"] = 1e5 } },
    { name = "dropped", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.clear_ns"] = 2e4, ["torch.cleared_gradients"] = 0 } },
    { name = "small", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.clear_ns"] = 2e4, ["torch.cleared_gradients"] = 34 } },
  },
}
