-- Convolutions run on tensors with channels before pixels.
return rule {
  id = "channels-last-missing", api = 1, version = "1.0.0",
  title = "Convolutions run with channels before pixels",
  category = "kernels", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "torch.conv_ns", "torch.conv_channels_first_ns", "torch.forward_gap_ns" },
  cause = "layout", tags = { "ops" },
  more_specific_than = { "hot-op", "depthwise-conv-slow", "roofline-gap", "layout-transposes" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    dense_gain = { default = 0.2, min = 0, max = 1, unit = "share",
      doc = "time that dense convolutions save at best" },
    depthwise_gain = { default = 0.75, min = 0, max = 1, unit = "share",
      doc = "time that convolutions with one filter a channel save at best" },
  },
  doc = [[
The processor's convolutions work on many channels of a pixel at once. With pixels of one channel next to each other
they reorder the data in each call, and convolutions with one filter a channel cannot use the vector units at all.
Priced by the parameters' shares, at worst a third of them. Silent where the recording has no strides, and on
accelerators, which show the transposes themselves.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local first_ns, all_ns = p.fact["torch.conv_channels_first_ns"], p.fact["torch.conv_ns"]
    if first_ns < cfg.min_share * step_ns then return nil end
    local depthwise_ns = p.fact["torch.conv_channels_first_depthwise_ns"] or 0
    local high_ns = cfg.depthwise_gain * depthwise_ns + cfg.dense_gain * (first_ns - depthwise_ns)
    local low_ns = high_ns / 3
    local severity = depthwise_ns > cfg.min_share * first_ns and "warn" or "info" -- dense ones gain little
    local title = ("Convolutions with channels first take %s a step"):format(fmt.ms(first_ns))
    local evidence = { { "convolutions with channels first a step", first_ns, "ns", share = math.min(1,
        first_ns / step_ns) },
                       { "of them, with one filter a channel", depthwise_ns, "ns" },
                       { "all convolutions a step", all_ns, "ns" } }
    local condition = ("they take %s of the step, %s accepted"):format(fmt.pct(first_ns / step_ns),
        fmt.pct(cfg.min_share))

    return finding {
      title = title, severity = severity,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Convert the model and its input once to channels-last.",
                 code = "model = model.to(memory_format=torch.channels_last); "
                   .. "x = x.to(memory_format=torch.channels_last)" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "all of them", framework = "pytorch", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 1e7, ["torch.conv_ns"] = 8e6, ["torch.forward_gap_ns"] = 0,
                ["torch.conv_channels_first_ns"] = 8e6,
          ["torch.conv_channels_first_depthwise_ns"] = 4e6 } },
    { name = "channels last", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.conv_ns"] = 8e6, ["torch.forward_gap_ns"] = 0,
                ["torch.conv_channels_first_ns"] = 0 } },
  },
}
