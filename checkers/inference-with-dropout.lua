-- Dropout runs although nothing is trained.
return rule {
  id = "inference-with-dropout", api = 1, version = "1.0.0",
  title = "Dropout runs without training",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "torch.dropout_ns", "torch.backward_nodes" },
  cause = "dropout", tags = { "ops" },
  more_specific_than = { "hot-op", "elementwise-chain" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
  },
  doc = [[
Dropout draws random numbers and drops values, which makes inference slower and its answers worse. Priced as its time;
on the host, attention that drops cannot use its one kernel, and all of it but its products counts. Silent where a
backward pass runs, and where dropout hands its input on.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local high_ns = p.fact["torch.dropout_ns"]
    if p.fact["torch.backward_nodes"] > 0 or high_ns < cfg.min_share * step_ns then return nil end
    local low_ns = 0.8 * high_ns
    local title = ("Dropout takes %s of each step, and nothing is trained"):format(fmt.ms(high_ns))
    local evidence = { { "dropout a step", high_ns, "ns", share = math.min(1, high_ns / step_ns) } }
    local condition = ("dropout takes %s of the step, %s accepted; no backward node in any step"):format(
      fmt.pct(high_ns / step_ns), fmt.pct(cfg.min_share))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Switch the model to evaluation.",
                 code = "model.eval()" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "still training mode", framework = "pytorch", finding = true, impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1e7, ["torch.dropout_ns"] = 2e6, ["torch.backward_nodes"] = 0 } },
    { name = "trains", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.dropout_ns"] = 2e6, ["torch.backward_nodes"] = 50 } },
    { name = "hands on", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.dropout_ns"] = 2e3, ["torch.backward_nodes"] = 0 } },
  },
}
