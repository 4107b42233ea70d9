-- A batch norm runs as a dozen small ops instead of one.
return rule {
  id = "unfused-batchnorm", api = 1, version = "1.0.0",
  title = "A batch norm is not fused",
  category = "kernels", severity = "warn",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns" },
  cause = "norm", tags = { "tensorflow", "ops" },
  more_specific_than = { "hot-op", "tiny-ops" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "time of such batch norms over the step from which this is said" },
    kept = { default = 0.4, min = 0, max = 1, unit = "share", doc = "what of the time a fused one is taken to need" },
  },
  doc = [[
Scopes named after a batch norm that hold a reciprocal square root and no FusedBatchNorm op. Mean, variance, scaling and
their gradients then read the activations once each. Priced as what a fused op is taken to save; it runs beside other
ops, so confidence is low. Silent where every such scope is fused, and where they take little.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local norms = p:table("graph_patterns"):where { pattern = "unfused-batch-norm" }
    local ns = math.min(norms:sum("ns"), step_ns)
    if norms:count() == 0 or ns < cfg.min_share * step_ns then return nil end

    local evidence = { { "ops of unfused batch norms a step", ns, "ns", share = ns / step_ns },
                       { "batch norms", norms:count(), "count" } }
    for _, row in ipairs(norms:top("ns", 3):rows()) do evidence[#evidence + 1] = { row.op, row.ns, "ns" } end
    local worst = norms:top("ns", 1):rows()[1]
    return finding {
      title = ("%s as small ops: %s of each step"):format(
        fmt.many(norms:count(), "batch norm runs", "batch norms run"), fmt.ms(ns)),
      subject = { scope = worst.op },
      evidence = evidence,
      condition = ("unfused batch norms take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Ask for the fused op, which takes 4-D input.",
                 code = "tf.compat.v1.nn.fused_batch_norm(x, scale, offset, is_training=is_training)" },
      impact = impact.exposed { ns = ns, low = 0.5 * (1 - cfg.kept) * ns, high = (1 - cfg.kept) * ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "two scopes", format = "graph", framework = "tensorflow", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "unfused-batch-norm", op = "a/BatchNorm", ns = 6e5, count = 1 },
                                    { pattern = "unfused-batch-norm", op = "b/BatchNorm", ns = 4e5, count = 1 } } } },
    { name = "hardly any time", format = "graph", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "unfused-batch-norm", op = "a/BatchNorm", ns = 6e4, count = 1 } } } },
    { name = "all fused", format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = {} } },
  },
}
