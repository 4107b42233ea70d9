-- Convolutions with one filter a channel run far below what memory allows.
-- Sides of a filter for each channel of pictures, and whether such convolutions are that: "[16,3,96,96]x[3,1,23,23]".
local function filter_of(shapes)
  local channels, filters, height, width =
    shapes:match("^\\[\\d+,(\\d+),\\d+,\\d+\\]x\\[(\\d+),1,(\\d+),(\\d+)\\]")
  if not channels or tonumber(channels) < 2 or tonumber(filters) % tonumber(channels) ~= 0 then return nil end
  return tonumber(height), tonumber(width)
end

-- Products of a large filter at each place and channel. A filter that no gradient is made of is fixed, and the usual
-- ones, Gaussians and boxes, are products of a row and a column.
local function large_filters(p, cfg)
  if p.framework ~= "pytorch" or not p:has("work") then return nil end
  local step_ns, best, trained = p.fact["step.ns"], nil, {}
  for row in p:table("work"):where { class = "convolution", phase = "backward" }:each() do
    for filter in (row.shapes or ""):gmatch("x\\[\\d+,1,\\d+,\\d+\\]") do trained[filter] = true end
  end
  for row in p:table("work"):where { class = "convolution", phase = "forward" }:each() do
    local height, width = filter_of(row.shapes or "")
    if height and math.min(height, width) >= cfg.min_side and
        not trained[row.shapes:match("x\\[\\d+,1,\\d+,\\d+\\]")] and (not best or row.ns > best.row.ns) then
      best = { row = row, height = height, width = width }
    end
  end
  if not best then return nil end
  local kept = (best.height + best.width) / (best.height * best.width)
  local ns = math.min(best.row.ns, step_ns)
  if (1 - kept) * ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("A filter of %.0f x %.0f that is not trained slides over each channel: %s of each step"):format(
      best.height, best.width, fmt.ms(ns)),
    severity = "warn",
    subject = { op = best.row.type },
    locations = best.row.source_file and best.row.source_file ~= ""
      and { { file = best.row.source_file, line = best.row.source_line } } or nil,
    evidence = { { "it takes a step", ns, "ns", share = ns / step_ns }, { "shapes", best.row.shapes },
                 { "numbers of a row and a column, over all", kept, "share" } },
    condition = ("sides of %.0f and %.0f, %.0f accepted"):format(best.height, best.width, cfg.min_side - 1),
    remedy = { text = "Two passes, of a row and of a column, where the filter is a product of both, as a Gaussian is; "
                 .. "else by FFT, or on a smaller picture.",
               code = "y = F.conv2d(F.conv2d(x, row, padding=(0, k // 2), groups=c), column, padding=(k // 2, 0), "
                 .. "groups=c)" },
    impact = impact.exposed { ns = (1 - kept) * ns, low = 0.5 * (1 - kept) * ns, high = (1 - kept / 2) * ns },
    confidence = "medium",
  }
end

return rule {
  id = "depthwise-conv-slow", api = 1, version = "1.0.0",
  title = "Depthwise convolutions run far below the memory's rate",
  category = "kernels", severity = "info",
  formats = { "kineto", "profile", "graph" },
  needs = { "step.ns" },
  cause = "layout", tags = { "ops", "kernels" },
  more_specific_than = { "hot-op", "roofline-gap" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "their time over the step" },
    min_side = { default = 9, min = 2, max = 1e4, unit = "count",
                 doc = "PyTorch: shorter side of a filter that is large" },
    max_efficiency = { default = 0.2, min = 0, max = 1, unit = "share", doc = "of what the device could do" },
  },
  doc = [[
A filter a channel is little arithmetic for each byte: memory is the limit, and generic kernels reach a fraction of it.
Priced as the gap to the roofline. Silent where the device's rates are not known. In PyTorch also said of a large filter
that slides over each channel and is not trained, as a blur: a row and a column in its place need few of its products.
Priced as the products that these do not have.]],

  check = function(p, cfg)
    local found = large_filters(p, cfg)
    if found then return found end
    if not p:has("roofline") then
      return not p:has("work") and skip { reason = "what the device can do is not known",
                                          capture = "shapes and the device's model" } or nil
    end
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
    -- 46 of 529 products are left: 8 ms less 0.696 ms.
    { name = "a blur", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      impact_ns = 7.304e6, facts = { ["step.ns"] = 1e7 },
      tables = { work = { { class = "convolution", type = "aten::conv2d", phase = "forward", ns = 8e6,
                            shapes = "[16,3,96,96]x[3,1,23,23]" } } } },
    { name = "a large filter that is trained", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { work = { { class = "convolution", type = "aten::conv2d", phase = "forward", ns = 4e6,
                            shapes = "[16,48,96,96]x[48,1,31,31]" },
                          { class = "convolution", type = "aten::convolution_backward", phase = "backward", ns = 4e6,
                            shapes = "[16,48,96,96]x[16,48,96,96]x[48,1,31,31]" } } } },
    { name = "layers of small filters", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { work = { { class = "convolution", type = "aten::conv2d", phase = "forward", ns = 8e6,
                            shapes = "[16,48,96,96]x[48,1,7,7]" } } } },
    { name = "good", framework = "pytorch", format = "kineto", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { roofline = { { op = "aten::_conv_depthwise2d", type = "aten::_conv_depthwise2d", ns = 2e6,
                                efficiency = 0.6 } } } },
  },
}
