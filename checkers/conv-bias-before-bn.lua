-- A convolution adds a bias that the batch norm behind it removes.
return rule {
  id = "conv-bias-before-bn", api = 1, version = "1.0.0",
  title = "A convolution adds a bias that the batch norm behind it removes",
  category = "kernels", severity = "warn",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns" },
  cause = "bias", tags = { "tensorflow", "ops" },
  more_specific_than = { "hot-op", "tiny-ops" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "time of such biases and their gradients over the step from which this is said" },
  },
  doc = [[
A batch norm that trains subtracts the mean of its input, and with it any bias added before. Looks for convolution, bias
and fused batch norm one behind the other. Priced as the time of the additions and of the bias gradients. Silent for
batch norms in inference, and where the biases take little.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local biases = p:table("graph_patterns"):where { pattern = "bias-before-norm" }
    local ns = math.min(biases:sum("ns"), step_ns)
    if biases:count() == 0 or ns < cfg.min_share * step_ns then return nil end

    local worst = biases:top("ns", 1):rows()[1]
    return finding {
      title = ("%s convolutions add a bias that the next batch norm removes: %s of each step"):format(
        fmt.count(biases:count()), fmt.ms(ns)),
      subject = { op = worst.op },
      evidence = { { "bias additions and their gradients a step", ns, "ns", share = ns / step_ns },
                   { "convolutions with one", biases:count(), "count" },
                   { worst.op, worst.ns, "ns" } },
      condition = ("biases before batch norms take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Leave the bias out; the batch norm has its own.",
                 code = "x = tf.nn.conv2d(x, kernel, strides=1, padding='SAME')   # without tf.nn.bias_add" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "twelve layers", format = "graph", framework = "tensorflow", finding = true, impact_ns = 3e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "bias-before-norm", op = "conv1/BiasAdd", ns = 3e5, count = 1 },
                                    { pattern = "bias-before-norm", op = "conv2/BiasAdd", ns = 1e5, count = 1 } } } },
    { name = "no such bias", format = "graph", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = {} } },
    { name = "hardly any time", format = "profile", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { graph_patterns = { { pattern = "bias-before-norm", op = "conv1/BiasAdd", ns = 3e4, count = 1 } } } },
  },
}
