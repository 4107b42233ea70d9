-- Tensors are copied into another layout.
local function elements(dims)
  local count = 1
  for size in dims:gmatch("\\d+") do count = count * tonumber(size) end
  return count
end

-- A compiled concatenation of which one operand is nearly all of the result.
local function of_compiled(p, cfg)
  local step_ns, ns, copies_ns, worst, wholes = p.fact["step.ns"], 0, 0, nil, {}
  local joined = p:table("ops"):where { name = { like = "concatenate|concat" },
                                        type = { like = "^(fusion|concatenate)$" } }
  for _, row in ipairs(joined:top("self_ns", 8):rows()) do
    local before, after = (row.shapes or ""):match("^(.*)->\\[([0-9,]+)\\]$")
    local whole, rest, longest = after and elements(after) or 0, 0, 0
    for dims in (before or ""):gmatch("\\[([0-9,]*)\\]") do
      rest, longest = rest + elements(dims), math.max(longest, elements(dims))
    end
    -- The long operand may lose as much at its other end.
    if whole > 0 and longest >= 0.93 * whole and (rest - longest) * 16 <= whole and rest > longest then
      ns, worst = ns + row.self_ns, worst or row
      wholes[after] = row.calls
    end
  end
  -- What is handed on from round to round so is copied whole, too; written in place it is not.
  for after, calls in pairs(wholes) do
    local like = "^\\[" .. after .. "\\]->\\[" .. after .. "\\]"
    for row in p:table("ops"):where { type = "copy", shapes = { like = like } }:each() do
      if (row.calls or 0) >= 0.5 * (calls or 0) then copies_ns = copies_ns + row.self_ns end
    end
  end
  ns = math.min(ns + copies_ns, step_ns)
  if not worst or ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Concatenations copy a long array to add a little to it: %s a step"):format(fmt.ms(ns)),
    subject = { op = worst.name },
    locations = worst.source_file and worst.source_file ~= ""
      and { { file = worst.source_file, line = worst.source_line } } or nil,
    evidence = { { "such concatenations, and copies of what they make, a step", ns, "ns", share = ns / step_ns },
                 { "shapes", worst.shapes } },
    condition = "what is added is at most a sixteenth of the result",
    remedy = { text = "Keep the whole array, donate it and write the new part in place.",
               code = "cache = jax.lax.dynamic_update_slice(cache, new, (0, t, 0))   # with donate_argnums" },
    impact = impact.exposed { ns = ns, low = 0.85 * ns, high = ns },
    confidence = "medium",
  }
end

-- "[n,c,h,w]" in numbers, nil for others.
local function sizes(dims)
  local n, c, h, w = (dims or ""):match("^\\[(\\d+),(\\d+),(\\d+),(\\d+)\\]")
  if n then return tonumber(n), tonumber(c), tonumber(h), tonumber(w) end
end

-- Pictures that get a border of as many zeros as the next convolution's odd filter loses: it can add them itself.
local function borders(p, cfg)
  if not p:has("work") or not p:has("op_types")
      or p:table("op_types"):where { type = "aten::constant_pad_nd" }:count() == 0
      or p:table("op_types"):where { type = { like = "(reflection|replication)_pad" } }:count() > 0 then return nil end
  local step_ns, taken, ns, count, worst = p.fact["step.ns"], {}, 0, 0, nil
  for row in p:table("work"):where { class = "convolution", phase = "forward" }:each() do
    local n, c, h, w = sizes(row.shapes)
    local _, _, height, width = sizes((row.shapes or ""):match("x(\\[[0-9,]+\\])"))
    if n and height and height % 2 == 1 and width % 2 == 1 then
      taken[("[%d,%d,%d,%d]"):format(n, c, h - height + 1, w - width + 1)] = true
    end
  end
  for row in p:table("work"):where { type = { like = "^aten::(pad|constant_pad_nd)$" }, phase = "forward" }:each() do
    if taken[row.shapes or ""] then
      ns, count = ns + row.ns, count + row.calls
      if not worst or row.ns > worst.ns then worst = row end
    end
  end
  if not worst or ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Pictures are copied to put zeros around them before %s convolutions: %s a step"):format(
      fmt.whole(count), fmt.ms(ns)),
    severity = "warn",
    subject = { op = worst.type },
    locations = worst.source_file and worst.source_file ~= ""
      and { { file = worst.source_file, line = worst.source_line } } or nil,
    evidence = { { "such copies a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "how many", count, "count" }, { "shapes", worst.shapes } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Let the convolution add them: it reads zeros without storing them.",
               code = "nn.Conv2d(c, c, 3, padding=1)   # instead of F.pad(x, (1, 1, 1, 1)) and padding=0" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = math.min(1.3 * ns, step_ns) },
    confidence = "medium",
  }
end

-- A layer whose result is copied into another layout gets a gradient in that layout, and copies it back before it
-- multiplies: copies a step, and their time.
local function copied_back(p)
  local count, ns, copied = 0, 0, {}
  if not p:has("work") then return 0, 0 end
  for row in p:table("work"):where { type = { like = "^aten::(contiguous|clone)$" }, phase = "forward" }:each() do
    if row.class == "copy" then copied[elements(row.shapes or "")] = row.calls end
  end
  local back = p:table("work"):where { type = { like = "^aten::(reshape|contiguous|clone)$" }, phase = "backward" }
  for row in back:each() do
    local calls = copied[elements(row.shapes or "")]
    if calls then
      local share = math.min(1, calls / row.calls)
      count, ns = count + share * row.calls, ns + share * row.ns
    end
  end
  return count, ns
end

return rule {
  id = "contiguous-copies", api = 1, version = "1.0.0",
  title = "Tensors are copied into another layout",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "ops" },
  cause = "layout", tags = { "ops" },
  more_specific_than = { "hot-op", "elementwise-chain" },
  params = {
    min_share = { default = 0.08, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_copies = { default = 2, min = 1, max = 1e7, unit = "count",
      doc = "copies a step" },
  },
  doc = [[
A copy into another layout reads and writes the whole tensor and computes nothing. Priced as half to all of the copies
that the forward pass asks for, their gradients, and copies of gradients of the same size back into a layer's layout.
In compiled programs concatenations that add a little to a long array count, with the copies that hand it on. In PyTorch
also said of pictures that get a border of zeros before a convolution that could add it: priced as these copies. Silent
below min_share; a copy that makes a following product faster is worth keeping.]],

  check = function(p, cfg)
    if p.format == "xspace" then return of_compiled(p, cfg) end
    if not p:has("torch.copies_ns") then
      return skip { reason = "no timeline of PyTorch ops is recorded", capture = "a timeline of ops" }
    end
    local found = borders(p, cfg)
    if found then return found end
    local step_ns = p.fact["step.ns"]
    local count, high_ns = p.fact["torch.copies"], p.fact["torch.copies_ns"]
    local back_count, back_ns = copied_back(p)
    count, high_ns = count + back_count, high_ns + back_ns
    -- A state that is kept is copied as it is.
    if p:has("excess") then
      high_ns = math.max(0, high_ns - p:table("excess"):where { flaw = "deep-copies" }:sum("ns"))
    end
    -- Copies that are spread out over all pairs and summed at once belong to that sum.
    local pairs_ns = p:has("eager_idioms") and p:table("eager_idioms"):where { idiom = "outer" }:sum("ns") or 0
    if pairs_ns > high_ns then return nil end
    if count < cfg.min_copies or high_ns < cfg.min_share * step_ns then return nil end
    local low_ns = 0.5 * high_ns
    local title = ("%s copies into another layout take %s a step"):format(fmt.whole(count), fmt.ms(high_ns))
    local evidence = { { "copies a step", high_ns, "ns", share = math.min(1, high_ns / step_ns) }, { "how many",
        count, "count" } }
    local condition = ("copies take %s of the step, %s accepted"):format(fmt.pct(high_ns / step_ns),
        fmt.pct(cfg.min_share))

    return finding {
      title = title,
      locations = p:lines_of("torch.copies_ns"),
      evidence = evidence,
      condition = condition,
      remedy = { text = "Leave out what only reorders: most ops take strided tensors; "
                   .. "keep one layout through the model.",
                 code = "y = x.transpose(1, 2) @ w   # without .contiguous() or .clone()" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    -- 3 ms, 8 tenths to 13 tenths of it.
    { name = "zeros around pictures", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      impact_ns = 3.15e6, facts = { ["step.ns"] = 1e7, ["torch.copies_ns"] = 0, ["torch.copies"] = 0 },
      tables = { ops = {}, op_types = { { type = "aten::constant_pad_nd", self_ns = 1e5 } },
                 work = { { class = "convolution", type = "aten::conv2d", phase = "forward", calls = 8, ns = 5e6,
                            shapes = "[8,48,50,50]x[48,1,3,3]" },
                          { class = "concat", type = "aten::pad", phase = "forward", calls = 8, ns = 3e6,
                            shapes = "[8,48,48,48]" } } } },
    { name = "pictures in a mirror", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.copies_ns"] = 0, ["torch.copies"] = 0 },
      tables = { ops = {}, op_types = { { type = "aten::reflection_pad2d", self_ns = 1e5 } },
                 work = { { class = "convolution", type = "aten::conv2d", phase = "forward", calls = 8, ns = 5e6,
                            shapes = "[8,48,50,50]x[48,1,3,3]" },
                          { class = "concat", type = "aten::pad", phase = "forward", calls = 8, ns = 3e6,
                            shapes = "[8,48,48,48]" } } } },
    { name = "zeros on one side", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.copies_ns"] = 0, ["torch.copies"] = 0 },
      tables = { ops = {}, op_types = { { type = "aten::constant_pad_nd", self_ns = 1e5 } },
                 work = { { class = "convolution", type = "aten::conv2d", phase = "forward", calls = 8, ns = 5e6,
                            shapes = "[8,48,49,49]x[48,1,3,3]" },
                          { class = "concat", type = "aten::pad", phase = "forward", calls = 8, ns = 3e6,
                            shapes = "[8,48,48,48]" } } } },
    { name = "a window that moves on", framework = "jax", format = "xspace", finding = true, impact_ns = 8.3e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "bitcast_concatenate_fusion", type = "fusion", self_ns = 9e6,
                           shapes = "[16,128]x[16,1024,128]->[16,1024,128]" } } } },
    { name = "and is handed on", framework = "jax", format = "xspace", finding = true, impact_ns = 8.3e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "bitcast_concatenate_fusion", type = "fusion", self_ns = 6e6, calls = 96,
                           shapes = "[1]x[128,1]x[1024,128]->[1024,128]" },
                         { name = "copy.8", type = "copy", self_ns = 3e6, calls = 96,
                           shapes = "[1024,128]->[1024,128]" },
                         { name = "copy.9", type = "copy", self_ns = 1e6, calls = 1,
                           shapes = "[1024,128]->[1024,128]" } } } },
    { name = "two halves", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "concatenate_fusion", type = "fusion", self_ns = 9e6,
                           shapes = "[16,512,128]x[16,512,128]->[16,1024,128]" } } } },
    { name = "without ops of PyTorch", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::mm", self_ns = 9e6 } } } },
    { name = "each layer", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["torch.copies"] = 24, ["torch.copies_ns"] = 2e6 },
      tables = { ops = { { name = "aten::copy_", self_ns = 1e6 } } } },
    -- 1 ms and 1.2 ms, half to all of it.
    { name = "logits in another order", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.65e6,
      facts = { ["step.ns"] = 1e7, ["torch.copies"] = 1, ["torch.copies_ns"] = 1e6 },
      tables = { ops = { { name = "aten::copy_", self_ns = 1e6 } },
                 work = { { class = "copy", type = "aten::contiguous", phase = "forward", calls = 1, ns = 1e6,
                            shapes = "[16,4000,32]" },
                          { class = "view", type = "aten::reshape", phase = "backward", calls = 1, ns = 1.2e6,
                            shapes = "[16,32,4000]" },
                          { class = "view", type = "aten::reshape", phase = "backward", calls = 9, ns = 1e5,
                            shapes = "[16,32,96]" } } } },
    { name = "part of sums over all pairs", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.copies"] = 2, ["torch.copies_ns"] = 2e6 },
      tables = { ops = { { name = "aten::copy_", self_ns = 1e6 } },
                 eager_idioms = { { idiom = "outer", ns = 8e6 } } } },
    { name = "none", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.copies"] = 0, ["torch.copies_ns"] = 0 },
      tables = { ops = { { name = "aten::copy_", self_ns = 1e6 } } } },
    { name = "small", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.copies"] = 24, ["torch.copies_ns"] = 2e5 },
      tables = { ops = { { name = "aten::copy_", self_ns = 1e6 } } } },
  },
}
