-- Autograd checks every gradient for NaN.
return rule {
  id = "anomaly-mode-on", api = 1, version = "1.0.0",
  title = "Anomaly detection is on",
  category = "host", severity = "error",
  formats = { "kineto" },
  needs = { "step.ns", "torch.gradient_checks", "torch.gradient_checks_ns", "torch.backward_nodes" },
  cause = "anomaly", tags = { "ops" },
  more_specific_than = { "tiny-ops", "python-in-step", "hot-op", "tiny-kernels", "graph-capture-candidate",
                         "repeated-op-sequence", "memcpy-storm" },
  params = {
    usual_call_ns = { default = 5e3, min = 0, max = 1e9, unit = "ns",
                      doc = "a short recorded call without a traceback" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_checks = { default = 4, min = 1, max = 1e7, unit = "count",
      doc = "checks a step" },
    min_ratio = { default = 0.2, min = 0, max = 10, unit = "ratio",
      doc = "checks over backward nodes" },
  },
  doc = [[
Anomaly detection keeps a Python traceback for each op of the forward pass and tests each gradient of the backward pass.
Priced as the tests and as what the shortest recorded calls take more than usual, for each node. Silent without such
tests inside the backward pass.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local checks, ns, nodes = p.fact["torch.gradient_checks"], p.fact["torch.gradient_checks_ns"],
        p.fact["torch.backward_nodes"]
    if checks < cfg.min_checks or checks < cfg.min_ratio * nodes or ns < cfg.min_share * step_ns then return nil end
    -- Each recorded node keeps a traceback; without it the short ones take a few microseconds.
    local excess_ns = math.max((p.fact["torch.recorded_short_ns"] or 0) - cfg.usual_call_ns, 0) * nodes
    local forward_ns = p.fact["torch.forward_ns"] or 0
    local low_ns = ns + math.min(0.8 * excess_ns, 0.8 * forward_ns)
    local high_ns = ns + math.max(math.min(excess_ns, 0.9 * forward_ns), 0.3 * forward_ns)
    local title = ("Anomaly detection tests %s gradients a step"):format(fmt.whole(checks))
    local evidence = { { "tests a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "how many a step", checks,
        "count" },
                       { "backward nodes a step", nodes, "count" } }
    local condition = ("%s tests for NaN inside the backward pass, %s accepted"):format(
      fmt.whole(checks), fmt.count(cfg.min_checks - 1))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Turn anomaly detection off; turn it on only to look for a NaN.",
                 code = "torch.autograd.set_detect_anomaly(False)" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "on", framework = "pytorch", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 1e7, ["torch.gradient_checks"] = 40, ["torch.gradient_checks_ns"] = 2e6,
          ["torch.backward_nodes"] = 40, ["torch.forward_ns"] = 2e6 } },
    { name = "off", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.gradient_checks"] = 0, ["torch.gradient_checks_ns"] = 0,
          ["torch.backward_nodes"] = 40 } },
  },
}
