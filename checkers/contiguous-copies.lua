-- Tensors are copied into another layout.
return rule {
  id = "contiguous-copies", api = 1, version = "1.0.0",
  title = "Tensors are copied into another layout",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.median_ns", "torch.copies_ns", "torch.copies" },
  cause = "layout", tags = { "ops" },
  more_specific_than = { "hot-op", "elementwise-chain" },
  params = {
    min_share = { default = 0.08, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_copies = { default = 2, min = 1, max = 1e7, unit = "count",
      doc = "copies a step" },
  },
  doc = [[
A copy into another layout reads and writes the whole tensor and computes nothing. Priced as half to all of the copies that
the forward pass asks for, and their gradients. Silent below min_share; a copy that makes a following product faster
is worth keeping.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.median_ns"]
    local count, high_ns = p.fact["torch.copies"], p.fact["torch.copies_ns"]
    if count < cfg.min_copies or high_ns < cfg.min_share * step_ns then return nil end
    local low_ns = 0.5 * high_ns
    local title = ("%s copies into another layout take %s a step"):format(fmt.count(math.floor(count + 0.5)),
        fmt.ms(high_ns))
    local evidence = { { "copies a step", high_ns, "ns", share = math.min(1, high_ns / step_ns) }, { "how many",
        count, "count" } }
    local condition = ("copies take %s of the step, %s accepted"):format(fmt.pct(high_ns / step_ns),
        fmt.pct(cfg.min_share))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Leave out what only reorders: most ops take strided tensors; keep one layout through the model.",
                 code = "y = x.transpose(1, 2) @ w   # without .contiguous() or .clone()" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each layer", framework = "pytorch", finding = true, impact_ns = 1.5e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.copies"] = 24, ["torch.copies_ns"] = 2e6 } },
    { name = "none", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.copies"] = 0, ["torch.copies_ns"] = 0 } },
    { name = "small", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.copies"] = 24, ["torch.copies_ns"] = 2e5 } },
  },
}
