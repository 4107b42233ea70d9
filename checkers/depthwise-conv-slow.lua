-- Convolutions with one filter a channel run far below what memory allows.
return rule {
  id = "depthwise-conv-slow", api = 1, version = "1.0.0",
  title = "Depthwise convolutions run far below the memory's rate",
  category = "kernels", severity = "info",
  formats = { "kineto", "profile", "graph" },
  needs = { "step.ns", "roofline" },
  cause = "layout", tags = { "ops", "kernels" },
  more_specific_than = { "hot-op", "roofline-gap" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "their time over the step" },
    max_efficiency = { default = 0.2, min = 0, max = 1, unit = "share", doc = "of what the device could do" },
  },
  doc = [[
A filter a channel is little arithmetic for each byte: memory is the limit, and generic kernels reach a fraction of it.
Priced as the gap to the roofline. Silent where the device's rates are not known.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local slow = p:table("roofline"):where { type = { like = "(?i)depthwise" },
                                             efficiency = { min = 1e-6, max = cfg.max_efficiency } }
    local ns, floor_ns = 0, 0
    for row in slow:each() do ns, floor_ns = ns + row.ns, floor_ns + row.ns * row.efficiency end
    ns = math.min(ns, step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    local top = slow:top("ns", 1):rows()[1]
    return finding {
      title = ("Depthwise convolutions take %s a step at %s of what the device could do"):format(
        fmt.ms(ns), fmt.pct(floor_ns / ns)),
      subject = { op = top.op },
      evidence = { { "depthwise convolutions a step", ns, "ns", share = ns / step_ns },
                   { "efficiency of the longest", top.efficiency, "share" },
                   { "shapes", top.shapes or "unknown" } },
      condition = ("at most %s of the device's rate, %s accepted"):format(
        fmt.pct(top.efficiency), fmt.pct(cfg.max_efficiency)),
      remedy = { text = "Channels last with a recent cuDNN, or a block that joins expansion and filter.",
                 code = p.framework == "pytorch" and "model = model.to(memory_format=torch.channels_last)" or nil },
      impact = impact.roofline { ns = ns, floor_ns = math.min(floor_ns / 0.5, ns) },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a tenth of its rate", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.4e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { roofline = { { op = "aten::_conv_depthwise2d", type = "aten::_conv_depthwise2d", ns = 2e6,
                                efficiency = 0.1 } } } },
    { name = "good", framework = "pytorch", format = "kineto", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { roofline = { { op = "aten::_conv_depthwise2d", type = "aten::_conv_depthwise2d", ns = 2e6,
                                efficiency = 0.6 } } } },
  },
}
