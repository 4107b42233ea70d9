-- Convolutions in 16 bits run with channels before pixels.
return rule {
  id = "layout-for-tensor-cores", api = 1, version = "1.0.0",
  title = "16 bit convolutions run with channels before pixels",
  category = "kernels", severity = "info",
  formats = { "profile", "graph" },
  needs = { "step.ns", "graph_patterns", "graph_patterns.accelerators" },
  cause = "layout", tags = { "tensorflow", "precision" },
  more_specific_than = { "hot-op" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "time of such convolutions over the step" },
  },
  doc = [[
Tensor cores (compute capability 7.0 and later) take half precision convolutions with channels last; with channels first
the library transposes around each of them. For float32 without tensor cores channels first may be the faster one, so
nothing is said about it. Priced as up to a fifth of the convolutions: what the transposes usually take. Silent on the
CPU.]],

  check = function(p, cfg)
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns = p.fact["step.ns"]
    local convolutions = p:table("graph_patterns"):where { pattern = "channels-first" }
    local ns = math.min(convolutions:sum("ns"), step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    local top = convolutions:top("ns", 1):rows()[1]
    return finding {
      title = ("%s with channels first: %s of each step"):format(
        fmt.many(convolutions:count(), "16 bit convolution runs", "16 bit convolutions run"), fmt.ms(ns)),
      subject = { op = top.op, device = top.device },
      evidence = { { "such convolutions a step", ns, "ns", share = ns / step_ns },
                   { "how many", convolutions:count(), "count" },
                   { top.op, top.ns, "ns" } },
      condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Keep pixels before channels from end to end.",
                 code = "tf.keras.backend.set_image_data_format('channels_last')" },
      impact = impact.exposed { ns = 0.2 * ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "half of the step", format = "graph", framework = "tensorflow", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "channels-first", op = "conv1/Conv2D", device = "/device:GPU:0",
                                      ns = 5e6, count = 1 } } } },
    { name = "channels last", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 }, tables = { graph_patterns = {} } },
    { name = "CPU only", format = "graph", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
