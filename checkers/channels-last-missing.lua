-- Convolutions run on tensors with channels before pixels.
-- Copies of pictures into the other order of axes and back, as around a normalisation over channels: of arrays that
-- convolutions give too.
local function reorders(p)
  if not p:has("work") then return 0 end
  local ns, made = 0, {}
  for row in p:table("work"):where { class = "convolution" }:each() do
    for dims in (row.shapes or ""):gmatch("\\[\\d+,\\d+,\\d+,\\d+\\]") do made[dims] = true end
  end
  for row in p:table("work"):where { type = { like = "::(contiguous|clone)$" } }:each() do
    local n, a, b, c = (row.shapes or ""):match("^\\[(\\d+),(\\d+),(\\d+),(\\d+)\\]$")
    if n and (made[row.shapes] or made[("[%s,%s,%s,%s]"):format(n, c, a, b)]) then ns = ns + row.ns end
  end
  return ns
end

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
Priced by the parameters' shares, at worst a third of them, and by copies of their results into another order of axes,
which a permutation makes for free then. Silent where the recording has no strides, and on
accelerators, which show the transposes themselves.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local first_ns, all_ns = p.fact["torch.conv_channels_first_ns"], p.fact["torch.conv_ns"]
    if first_ns < cfg.min_share * step_ns then return nil end
    local depthwise_ns = p.fact["torch.conv_channels_first_depthwise_ns"] or 0
    local high_ns = cfg.depthwise_gain * depthwise_ns + cfg.dense_gain * (first_ns - depthwise_ns)
    local reorder_ns = math.min(reorders(p), step_ns - first_ns)
    local low_ns = high_ns / 3 + 0.5 * reorder_ns
    high_ns = high_ns + reorder_ns
    local severity = depthwise_ns > cfg.min_share * first_ns and "warn" or "info" -- dense ones gain little
    local title = ("Convolutions with channels first take %s a step"):format(fmt.ms(first_ns))
    local evidence = { { "convolutions with channels first a step", first_ns, "ns", share = math.min(1,
        first_ns / step_ns) },
                       { "of them, with one filter a channel", depthwise_ns, "ns" },
                       { "all convolutions a step", all_ns, "ns" } }
    if reorder_ns > 0 then
      evidence[#evidence + 1] = { "copies into another order of axes a step", reorder_ns, "ns" }
    end
    local condition = ("they take %s of the step, %s accepted"):format(fmt.pct(first_ns / step_ns),
        fmt.pct(cfg.min_share))

    return finding {
      title = title, severity = severity,
      subject = { op = "aten::conv2d" },
      locations = p:lines_of("torch.conv_channels_first_ns"),
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
    -- 0.2 of 4 ms, and 3 ms of copies; those of other arrays stay.
    { name = "a norm over channels copies", framework = "pytorch", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["torch.conv_ns"] = 4e6, ["torch.forward_gap_ns"] = 0,
                ["torch.conv_channels_first_ns"] = 4e6, ["torch.conv_channels_first_depthwise_ns"] = 0 },
      impact_ns = 2.783e6,
      tables = { work = {
        { class = "convolution", type = "aten::conv2d", shapes = "[8,32,48,48]x[32,32,3,3]x[32]", ns = 4e6 },
        { class = "copy", type = "aten::contiguous", shapes = "[8,32,48,48]", ns = 2e6 },
        { class = "copy", type = "aten::contiguous", shapes = "[8,48,48,32]", ns = 1e6 },
        { class = "copy", type = "aten::contiguous", shapes = "[8,12,64,16]", ns = 1e6 } } } },
    { name = "channels last", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.conv_ns"] = 8e6, ["torch.forward_gap_ns"] = 0,
                ["torch.conv_channels_first_ns"] = 0 } },
  },
}
