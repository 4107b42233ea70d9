-- An op is far from what the device can do.
-- What an op is, which share of its limit is wanted of such ops, and which the best of them reach.
local function kind_of(p, row, cfg)
  local class = p:class_of(row.type or row.op)
  local is_attention, is_product = class == "attention", class == "product"
  local is_conv = class == "convolution"
  local floor = is_attention and cfg.floor_attention or is_conv and cfg.floor_conv or is_product and cfg.floor_product
  if row.bound == "memory" and not is_attention then floor = nil end
  local best = not floor and (row.bound == "memory" and cfg.best_other or cfg.best_product)
    or is_attention and cfg.best_attention or cfg.best_product
  return { name = is_attention and "Attention" or is_conv and "Convolutions" or is_product and "Products" or
             "Passes over memory", floor = floor or cfg.floor_other, best = best }
end

-- Instructions of compiled programs that say only who does them: what their kernels do.
local function name_calls(p, rows)
  local words = { gemm = "dot", conv = "convolution", attention = "attention" }
  for _, row in ipairs(rows) do
    local kernel = (row.type == "custom-call" or row.type == "fusion") and p:has("kernels")
      and p:table("kernels"):where { op = row.op }:top("total_ns", 1):rows()[1]
    if kernel and words[kernel.category] then row.type = words[kernel.category] end
  end
  return rows
end

local function evidence_of(slow, efficiency, step_ns)
  local first = slow.first
  local evidence = { { "its time a step", slow.ns, "ns", share = math.min(1, slow.ns / step_ns) },
                     { "share of its limit", efficiency, "share" },
                     { "traffic", first.bytes_per_s or 0, "bytes_per_s" },
                     { "operands and result", first.shapes or "" } }
  if (first.flops_per_s or 0) > 0 then
    table.insert(evidence, 3, { "rate", first.flops_per_s, "flops_per_s" })
  end
  for i = 2, math.min(4, #slow.rows) do
    local row = slow.rows[i]
    evidence[#evidence + 1] = { ("%s %s, %s of its limit"):format(row.type or row.op, row.shapes or "",
                                  fmt.pct(row.efficiency)), row.ns, "ns" }
  end
  return evidence
end

-- A product whose result is a few tiles of 128 by 128, each of a long sum: few multiprocessors have something to do.
local function has_few_tiles(shapes)
  local m, k, n = (shapes or ""):match("^\\[(\\d+),(\\d+)\\]x\\[\\d+,(\\d+)\\]$")
  m, k, n = tonumber(m), tonumber(k), tonumber(n)
  local FEW_TILES, LONG = 64, 8
  return m ~= nil and math.ceil(m / 128) * math.ceil(n / 128) < FEW_TILES and k >= LONG * math.max(m, n)
end

local function is_of_amd(p)
  return p:has("device.model") and p.fact["device.model"]:find("AMD|Instinct|\\bMI\\d") ~= nil
end

-- What to change of products: only what they are not yet, with the library of this hardware.
local LARGE, MULTIPLE = 4096, 64
local function for_products(p, first)
  local count, is_odd, is_large, is_amd = 0, false, false, is_of_amd(p)
  for size in (first.shapes or ""):gmatch("\\d+") do
    local n = tonumber(size)
    count, is_odd, is_large = count + 1, is_odd or n > 1 and n % MULTIPLE ~= 0, is_large or n >= LARGE
  end
  local text = {}
  if is_odd or count == 0 then text[#text + 1] = "sizes in multiples of 64" end
  if not is_large then text[#text + 1] = "larger batches, or several products at once" end
  if not (first.dtype or ""):find("16|8") then text[#text + 1] = "16 bits" end
  text[#text + 1] = is_amd and "tune the library for these sizes (hipBLASLt, by TunableOp)"
    or "let the compiler or the library search for another kernel"
  text = table.concat(text, "; ")
  return { text = text:sub(1, 1):upper() .. text:sub(2) .. ".",
           code = p.framework == "pytorch" and (is_amd and "torch.cuda.tunable.enable()" or
             "model = torch.compile(model, mode='max-autotune')") or nil }
end

-- Which libraries have attention for this hardware.
local function for_attention(p)
  local is_amd = is_of_amd(p)
  return { text = ("Another kernel for it: %s; longer sequences or more heads a call."):format(
             is_amd and "Composable Kernel's instead of AOTriton's, or the other way round"
             or "cuDNN's, or FlashAttention of the device's generation"),
           code = is_amd and p.framework == "pytorch" and "torch.backends.cuda.preferred_rocm_fa_library('ck')" or nil }
end

-- All experts of a layer in one op: few tokens leave reading their weights, many the products themselves.
local function for_experts(p, first)
  if first.bound == "memory" then
    return { text = "The experts' weights are what it reads: more tokens a call, or weights of fewer bits." }
  end
  local file = ": engines read them from a file for each device and shape (vLLM's benchmarks/kernels/benchmark_moe.py "
    .. "writes one)"
  return { text = ("Tune its tiles for these sizes%s; and see how evenly tokens go to the experts: the fullest one is "
             .. "waited for."):format(is_of_amd(p) and "" or file) }
end

local MOST = 0.5

-- One finding for what has the same limit: ops of one kind are mended in one way.
local function told(p, slow, step_ns, cfg)
  local first, kind = slow.first, slow.kind
  local efficiency = slow.reached_ns / slow.ns
  local gap_ns, best_ns = slow.ns * (1 - efficiency / kind.floor), slow.ns * (1 - efficiency / kind.best)
  local is_many = #slow.rows > 1 and kind.name ~= "Attention"
  local passes = "Move less: fuse it with its neighbours, 16 bit activations, a layout the kernel likes."
  local few_tiles = "Let more of the device take part: its result has few tiles, so split the inner dimension "
    .. "over multiprocessors (split-K or stream-K kernels, another library, its tuning), or do several such products "
    .. "at once."
  -- Passes over memory of whole tensors hardly get so slow by how they are written.
  local is_far = kind.name == "Passes over memory" and #slow.rows > 2 and efficiency < cfg.far
  local far = "Look first where these tensors are: in the host's memory, as where the device's is full or managed, "
    .. "they come through the bus; and at the device's clock. Then move less: fuse neighbours, 16 bit activations."
  -- Nor does a program make a library's passes faster: it may leave some out, and mostly needs them. Where they are
  -- most of the step, faster ones are all there is.
  local is_most = slow.ns > MOST * step_ns
  local is_needed = kind.name == "Passes over memory" and not is_far and not is_most
  return finding {
    title = (is_many and "%s reach %s of their %s limit and take %s a step" or
             "%s reaches %s of its %s limit and takes %s a step"):format(
      #slow.rows > 1 and kind.name or first.type or first.op, fmt.pct(efficiency), first.bound, fmt.ms(slow.ns)),
    severity = (efficiency < kind.floor / 2 or is_most) and "warn" or "info",
    subject = { op = first.op },
    locations = first.source_file and first.source_file ~= ""
      and { { file = first.source_file, line = first.source_line } } or {},
    evidence = evidence_of(slow, efficiency, step_ns),
    condition = ("%s of the limit, %s wanted"):format(fmt.pct(efficiency), fmt.pct(kind.floor)),
    -- Traffic and products of attention take about as long at best, and which kernel does it decides.
    remedy = is_far and { text = far } or kind.name == "Attention" and for_attention(p)
      or (first.type or ""):find(p:names("fused_experts")) and for_experts(p, first)
      or has_few_tiles(first.shapes) and { text = few_tiles } or first.bound == "compute" and for_products(p, first)
      or { text = passes },
    impact = impact.roofline { ns = slow.ns, floor_ns = slow.ns * efficiency / kind.floor,
                               low = is_needed and 0 or cfg.low * gap_ns, high = is_needed and gap_ns or best_ns },
    claims = { { parts = { "compute" } } },
    confidence = "low",
  }
end

return rule {
  id = "roofline-gap", api = 1, version = "1.0.0",
  title = "An op is far from what the device can do",
  category = "kernels", severity = "warn",
  needs = { "step.ns", "device.idle_share", "roofline" },
  cause = "compute.kernel", tags = { "kernels", "roofline" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "the op's time over the step" },
    floor_product = { default = 0.6, min = 0, max = 1, unit = "share",
                      doc = "efficiency of products below which it is said" },
    floor_conv = { default = 0.5, min = 0, max = 1, unit = "share", doc = "… of convolutions" },
    floor_attention = { default = 0.5, min = 0, max = 1, unit = "share", doc = "… of attention" },
    floor_other = { default = 0.6, min = 0, max = 1, unit = "share",
                    doc = "… of elementwise ops, norms, reductions" },
    best_product = { default = 0.85, min = 0, max = 1, unit = "share",
                     doc = "efficiency that the best kernels reach: products and convolutions" },
    best_attention = { default = 0.75, min = 0, max = 1, unit = "share", doc = "… attention" },
    best_other = { default = 0.9, min = 0, max = 1, unit = "share", doc = "… what memory holds" },
    low = { default = 0.3, min = 0, max = 1, unit = "share",
            doc = "of the way to what is wanted: the least that is expected" },
    far = { default = 0.08, min = 0, max = 1, unit = "share",
            doc = "efficiency of passes over memory below which their tensors may be elsewhere" },
  },
  doc = [[
Compares the rate of ops of known cost with what the device can do at their intensity: its peak, or its
memory bandwidth; passes over memory by their traffic alone. It says what is slow and not why; a warning
only below half of what is wanted, or where the op takes most of the step. An efficiency over 110 % means that the cost
or the peak is wrong: silent. Ops of one kind with the same limit are one finding; at most the three dearest are told.
Priced from a part of the way to what is usual to all of the way to the best kernels; passes over memory, which a
program can only leave out, at up to the way to what is usual, unless they are most of the step.]],

  check = function(p, cfg)
    local step_ns, kinds, findings = p.fact["step.ns"], {}, {}
    local ops = p:table("roofline"):where { efficiency = { min = 0.0001, max = 0.99 },
                                            ns = { min = cfg.min_share * step_ns } }
    for _, row in ipairs(name_calls(p, ops:top("ns", 20):rows())) do
      local kind = kind_of(p, row, cfg)
      if row.efficiency < kind.floor then
        local key = kind.name .. row.bound
        local slow = kinds[key] or { kind = kind, first = row, rows = {}, ns = 0, reached_ns = 0 }
        if not kinds[key] then kinds[key], kinds[#kinds + 1] = slow, slow end
        slow.rows[#slow.rows + 1], slow.ns = row, slow.ns + row.ns
        slow.reached_ns = slow.reached_ns + row.ns * row.efficiency
      end
    end
    for i = 1, math.min(3, #kinds) do findings[i] = told(p, kinds[i], step_ns, cfg) end
    return findings
  end,

  examples = {
    { name = "a slow product", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[64,64]x[64,64]", ns = 2e6,
                                efficiency = 0.3, bound = "compute", flops_per_s = 3e12 } } } },
    { name = "two slow products", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[64,64]x[64,64]", ns = 2e6,
                                efficiency = 0.3, bound = "compute", flops_per_s = 3e12 },
                              { op = "aten::addmm", type = "aten::addmm", shapes = "[64]x[64,64]x[64,64]", ns = 2e6,
                                efficiency = 0.3, bound = "compute", flops_per_s = 3e12 } } } },
    -- At 27 % of its limit, half wanted: 2 ms * (1 - 0.27 / 0.75), what the best reach, is 1.28 at most, and 0.3 of
    -- 2 ms * (1 - 0.27 / 0.5) = 0.92 at least 0.276: 0.778 between.
    { name = "attention that memory limits", framework = "pytorch", finding = true, impact_ns = 7.78e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::_flash_attention_forward", type = "aten::_flash_attention_forward",
                                shapes = "[64,512,16,64]", ns = 2e6, efficiency = 0.27, bound = "memory",
                                flops_per_s = 2.3e14 } } } },
    -- A product at 0.55 of its limit, 0.6 wanted, and a call that passes over memory at as much of 0.6: another kind.
    { name = "a slow call of a library", format = "xspace", finding = true, impact_ns = 3.5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "custom-call.1", type = "custom-call", shapes = "[64,64]x[64,64]", ns = 2e6,
                                efficiency = 0.55, bound = "compute", flops_per_s = 3e12 } },
                 kernels = { { name = "nvjet", op = "custom-call.1", category = "gemm", total_ns = 2e6 } } } },
    -- At 36 % of its limit: the best reach 90 %, 8 ms * (1 - 0.36 / 0.9) = 4.8; 0.3 of the way to the 60 % that are
    -- wanted, 0.3 * 8 ms * (1 - 0.36 / 0.6) = 0.96; 2.88 between. Beside other work up to 4 ms * (1 - 0.36 / 0.6).
    { name = "a pass that is most of the step", finding = true, severity = "warn", impact_ns = 2.88e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::add", type = "aten::add", shapes = "[8192,8192]x[8192,8192]", ns = 8e6,
                                efficiency = 0.36, bound = "memory", bytes_per_s = 1.9e12 } } } },
    { name = "a pass beside other work", finding = true, severity = "info", impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::add", type = "aten::add", shapes = "[8192,8192]x[8192,8192]", ns = 4e6,
                                efficiency = 0.36, bound = "memory", bytes_per_s = 1.9e12 } } } },
    { name = "experts of few tokens", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "vllm::inplace_fused_experts", type = "vllm::inplace_fused_experts",
                                shapes = "[4,4096]x[64,2048,4096]x[64,4096,1024]x[4,8]", ns = 4e6,
                                efficiency = 0.36, bound = "memory", bytes_per_s = 1.9e12 } } } },
    { name = "an impossible one", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "", ns = 2e6, efficiency = 1.5,
                                bound = "compute" } } } },
    { name = "near the limit", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "", ns = 2e6, efficiency = 0.8,
                                bound = "compute" } } } },
  },
}
