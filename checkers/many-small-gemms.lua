-- The same small product or update runs over and over within a step.
-- Two operands of more than one number: sums over one array are named like products, but are none.
local function multiplies(shapes)
  local count = 0
  for _ in (shapes:match("^(.*)->") or ""):gmatch("\\[[0-9]") do count = count + 1 end
  return count >= 2
end

-- A Python loop inside a compiled function leaves one product of the same shapes for each round.
local function unrolled(p, cfg)
  local groups, worst = {}, nil
  for row in p:table("ops"):where { calls = { min = 0.5, max = 2 }, flops = { min = 1, max = cfg.max_unrolled_flops },
                                    name = { class = "product|convolution" } }:each() do
    if multiplies(row.shapes or "") then
      local key = (row.module or "") .. " " .. (row.shapes or "")
      local group = groups[key]
      if not group then
        group = { count = 0, ns = 0, row = row }
        groups[key] = group
      end
      group.count, group.ns = group.count + 1, group.ns + row.self_ns
      if not worst or group.count > worst.count then worst = group end
    end
  end
  if not worst or worst.count < cfg.min_calls then return nil end
  local step_ns, row = p.fact["step.ns"], worst.row
  local ns = math.min(p:table("ops"):where { module = row.module }:sum("self_ns"), step_ns)
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("A compiled function holds %s products of the same shapes, %s operations each"):format(
      fmt.count(worst.count), fmt.count(row.flops)),
    subject = { op = row.module },
    locations = row.source_file and row.source_file ~= "" and { { file = row.source_file, line = row.source_line } }
      or nil,
    evidence = { { "the function a step", ns, "ns", share = ns / step_ns }, { "such products", worst.count, "count" },
                 { "their time a step", worst.ns, "ns" }, { "shapes", row.shapes } },
    condition = ("%s products of one shape, %s accepted"):format(fmt.count(worst.count), fmt.count(cfg.min_calls)),
    remedy = { text = "Stack the operands and do all rounds at once; where one needs the last, use lax.scan.",
               code = "y = jax.vmap(f)(x, w)   "
                 .. "# or jnp.einsum('nbi,nij->nbj', x, w), instead of [f(x[k], w[k]) for k in range(n)]" },
    impact = impact.exposed { ns = ns, low = 0.5 * ns, high = 0.9 * ns },
    confidence = "low",
  }
end

-- By name of op: fusions may hold one.
local function products_of(p)
  local names = {}
  for row in p:table("ops"):where { name = { class = "product|convolution" } }:each() do
    names[row.name] = multiplies(row.shapes or "")
  end
  return names
end

-- A Python loop inside a compiled function: as many products that need nothing of each other, each too short to fill
-- the device, or to be worth its start. Gradients of a deep network's weights are such too, beside the products of
-- its layers, which wait for each other.
local function side_products(p, cfg)
  local is_host = not p:has("device.idle_share")
  local step_ns, ns, free_ns, products_ns, worst = p.fact["step.ns"], 0, 0, 0, nil
  local of_class = is_host and products_of(p)
  for row in p:table("ops"):where { kind = is_host and "op" or "kernel" }:each() do
    local is_product = of_class and of_class[row.name] or not of_class and (row.type == "dot"
      or row.type == "custom-call" and (row.flops or 0) > 0 or row.name:find("gemm|dot") ~= nil)
    -- On a host others hold one up now and then.
    local is_short = is_host and (row.median_ns or row.mean_ns) <= cfg.max_short_host_ns
      or not is_host and row.mean_ns <= cfg.max_short_ns
    local is_free = (row.siblings or 0) >= cfg.min_siblings and is_short
    if is_product then products_ns = products_ns + row.self_ns end
    if is_free then ns = ns + row.self_ns end
    if is_free and is_product then
      free_ns = free_ns + row.self_ns
      if not worst or row.siblings > worst.siblings then worst = row end
    end
  end
  local min_free = is_host and cfg.min_free_host or cfg.min_free
  if not worst or free_ns < min_free * products_ns or ns < cfg.min_share * step_ns then return nil end
  -- What takes the rounds apart and puts their results together again reads all of them to make each number.
  local joins_ns, peak = 0, not is_host and p:has("flops.memory_peak_per_s") and p.fact["flops.memory_peak_per_s"]
  for row in p:table("ops"):where { kind = "kernel", module = worst.module, bytes = { min = 1 } }:each() do
    local joins = (row.shapes or ""):find("x\\.\\.\\.->") and row.type == "fusion" and not row.siblings
    if peak and joins then
      joins_ns = joins_ns + math.max(0, row.self_ns - cfg.max_join * row.calls * row.bytes / peak * 1e9)
    end
  end
  ns = math.min(ns + joins_ns, step_ns)
  return finding {
    title = ("A compiled function holds %s products of one shape that need nothing of each other, %s each"):format(
      fmt.whole(worst.siblings), fmt.ns(is_host and worst.median_ns or worst.mean_ns)),
    severity = "warn", subject = { op = worst.module },
    locations = worst.source_file and worst.source_file ~= ""
      and { { file = worst.source_file, line = worst.source_line } } or nil,
    evidence = { { "instructions that stand there as often a step", ns, "ns", share = ns / step_ns },
                 { "of it where the rounds' results are put together, beyond what their bytes take", joins_ns, "ns" },
                 { "of it products", free_ns, "ns" }, { "all products a step", products_ns, "ns" },
                 { "such products", worst.siblings, "count" }, { "shapes", worst.shapes or "" } },
    condition = ("%s products of one shape, %s accepted"):format(fmt.count(worst.siblings),
      fmt.count(cfg.min_siblings)),
    remedy = { text = "Stack the operands and do all rounds at once: one batched product "
                 .. (is_host and "is started once." or "fills the device."),
               code = "y = jnp.einsum('nbi,nij->nbj', x, w)   # or jax.vmap(f)(x, w), not [f(x[k], w[k]) for k in …]" },
    -- A host computes what it computes; of a device most stood idle.
    impact = impact.exposed { ns = ns, low = (is_host and 0.5 or 0.7) * ns, high = (is_host and 0.9 or 0.95) * ns },
    confidence = "medium",
  }
end

-- Ledger: parts of a network that are modules of their own and whose results are joined.
local function side_by_side(p, cfg)
  return p.framework == "pytorch" and p:has("excess") and p:in_excess {
    flaw = "side-by-side", min_share = cfg.min_part_share, time = "starting the same small ops for each part",
    title = "Parts of a layer run one after the other with small products each: %s of each step too much",
    remedy = { text = "Keep the parts' weights in one tensor and do all parts at once: one projection whose result is "
                 .. "viewed as heads, or torch.bmm.",
               code = "q, k, v = self.qkv(x).view(b, t, 3, heads, -1).permute(2, 0, 3, 1, 4)   "
                 .. "# instead of [head(x) for head in self.heads]" },
    confidence = "medium",
  }
end

-- Ledger: products of a loop's round that take the same array, gates of a cell for the most.
local function joinable(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "shared-factor", min_share = cfg.min_part_share, time = "starting each of the products that take one array",
    title = "In each round of a loop small products take the same array, one after the other: %s of each step too much",
    remedy = { text = "Put their other operands side by side: one product gives all of their results, which are cut "
                 .. "apart. Cells that do so: flax's OptimizedLSTMCell, haiku's and equinox's LSTM and GRU.",
               code = "gates = h @ w_all   # and cut apart, not h @ w_i, h @ w_f, h @ w_g, h @ w_o" },
    confidence = "medium",
  }
end

-- Operands that are neither single numbers nor of the result's shape: what an outer product is made from.
local function factors(shapes, result)
  local count = 0
  for dims in shapes:match("^(.*)->"):gmatch("\\[[0-9,]+\\]") do
    if dims ~= result then count = count + 1 end
  end
  return count
end

-- Rounds a step of eager loops in which what comes out is picked or drawn, and taken in the next one: their products
-- wait for each other.
local function picking_rounds(p)
  local most = 1
  if p.framework ~= "pytorch" or not p:has("eager_loops") then return most end
  for row in p:table("eager_loops"):each() do most = math.max(most, row.picks or 0) end
  return most
end

-- Layers of an eager network follow each other, whatever their shapes: only products of a loop go together.
local function is_loose(p, row)
  if p.framework ~= "pytorch" or p:has("device.idle_share") or not p:has("eager_loops") then return true end
  for loop in p:table("eager_loops"):each() do
    local is_free = not loop.is_handed_on and not loop.is_history
    if is_free and (loop.products or 0) >= 0.5 * row.calls then return true end
  end
  return false
end

-- For the examples: kernels of a loop that was written out for an accelerator, beside other products.
local function kernels(siblings, others_ns)
  local rows = { { name = "gemm_fusion_dot.99", type = "fusion", kind = "kernel", calls = 1, mean_ns = others_ns,
                   self_ns = others_ns } }
  for i = 1, siblings do
    rows[#rows + 1] = { name = "gemm_fusion_dot." .. i, type = "fusion", kind = "kernel", calls = 1, mean_ns = 5e3,
                        self_ns = 5e3, siblings = siblings, module = "jit_f" }
  end
  return rows
end

-- For the examples: the same without an accelerator; other programs held the first one up.
local function on_host(siblings, others_ns)
  local rows = kernels(siblings, others_ns)
  for i, row in ipairs(rows) do
    row.kind, row.name, row.type, row.median_ns = "op", "dot." .. i, "dot", row.mean_ns
    row.shapes = "[256,64]x[64,32]->[256,32]"
    if i == 2 then row.mean_ns = 1e6 end
  end
  return rows
end

-- For the examples: beside these, a fusion of very many operands.
local function joined(rows, ns, bytes)
  rows[#rows + 1] = { name = "loop_subtract_fusion", type = "fusion", kind = "kernel", calls = 1, mean_ns = ns,
                      self_ns = ns, bytes = bytes, module = "jit_f",
                      shapes = "[64,8]x[4,8]x[4,8]x[4,8]x[4,8]x[4,8]x[4,8]x[4,8]x...->[64,8]" }
  return rows
end

-- For the examples: as many products of one shape.
local function products(count, shapes)
  local rows = {}
  for i = 1, count do
    rows[i] = { name = "dot." .. i, type = "dot", module = "jit_f", calls = 1, flops = 7e4, bytes = 1.5e4,
                shapes = shapes or "[16,48]x[48,48]->[16,48]", self_ns = 1e4 }
  end
  return rows
end

return rule {
  id = "many-small-gemms", api = 1, version = "1.0.0",
  title = "The same small product runs many times a step",
  category = "kernels", severity = "warn",
  formats = { "xspace", "kineto", "graph" },
  needs = { "step.ns", "ops" },
  cause = "compute.gemm", tags = { "kernels" },
  more_specific_than = { "hot-op", "roofline-gap", "tiny-ops", "tiny-kernels", "small-grid", "kernel-launch-bound" },
  params = {
    min_calls = { default = 64, min = 2, max = 1e7, unit = "count", doc = "runs a step of one op with one shape" },
    max_intensity = { default = 2, min = 0, max = 1e3, unit = "ratio",
                      doc = "operations for each byte: less is bound by memory" },
    max_flops = { default = 20e6, min = 0, max = 1e15, unit = "flops", doc = "operations a run that count as small" },
    max_unrolled_flops = { default = 500e3, min = 0, max = 1e15, unit = "flops",
                           doc = "operations a run that count as small in a loop that was written out" },
    min_siblings = { default = 16, min = 2, max = 1e7, unit = "count",
                     doc = "products of one shape in a function that need nothing of each other" },
    max_short_ns = { default = 2e4, min = 0, max = 1e12, unit = "ns", doc = "time of one, up to which it is short" },
    max_short_host_ns = { default = 2e5, min = 0, max = 1e12, unit = "ns", doc = "the same on a host" },
    min_free = { default = 0.6, min = 0, max = 1, unit = "share", doc = "of the time of all products, theirs" },
    min_free_host = { default = 0.75, min = 0, max = 1, unit = "share", doc = "the same on a host" },
    max_join = { default = 2, min = 1, max = 1e3, unit = "ratio",
                 doc = "accelerators: what joins their results may take, over its bytes at the memory's peak" },
    min_part_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that parts side by side, or products of one array, cost too much" },
    min_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "share of the time of all ops" },
    kept = { default = 0.15, min = 0, max = 1, unit = "ratio", doc = "part of the time that one product needs" },
  },
  doc = [[
A loop of products with a small inner dimension reads and writes its result in every turn. One product over all turns
reads the operands once. An op counts when it runs often with one shape, is a product or an accumulation into its own
shape, and does few operations for each byte. Priced as its time, of which one large product keeps a seventh. A loop
that the compiler wrote out shows as many products of the same shapes in one function; priced as a part of the function.
Products of one shape of which none needs another, and which are most of the products, may be larger: on a host priced
as seven tenths of their time and of what stands there as often; on accelerators, where only these count, as nearly all
of it, and of what joining their results takes beyond moving their bytes twice. In PyTorch also
said of parts of a layer that are modules of their own (heads of attention in a list) and whose results are joined, with
what starting them one by one costs; in compiled programs of JAX of three and more products in a loop's round that take
one array, as the gates of a cell. Silent for few runs and small shares; in PyTorch on a host for products outside of
loops, which are layers, and for as few for each word or sample that is picked of what came out, since the next one
waits for it.]],

  check = function(p, cfg)
    local ops = p:table("ops")
    local side = p.format == "xspace" and side_products(p, cfg)
    if side then return side end
    local all_ns = ops:sum("self_ns")
    local best
    local min_calls = cfg.min_calls * picking_rounds(p)
    for _, row in ipairs(ops:where { calls = { min = min_calls } }:top("self_ns", 10):rows()) do
      local flops, bytes = row.flops or 0, row.bytes or 0
      local shapes = row.shapes or ""
      local class = p:class_of(row.type or "")
      local is_product = class == "product" or class == "convolution"
      -- Accumulating outer products: the result has the shape of an operand with two dimensions.
      local result = shapes:match("->(\\[[0-9]+,[0-9]+\\])$")
      local accumulates = result and shapes:find("^\\Q" .. result .. "\\Ex") and factors(shapes, result) >= 2
      if flops > 0 and bytes > 0 and flops <= cfg.max_flops and flops / bytes <= cfg.max_intensity and
         (is_product or accumulates) and row.self_ns / all_ns >= cfg.min_share and is_loose(p, row) then
        best = best or row
      end
    end
    if not best then
      return p.format == "xspace" and (unrolled(p, cfg) or joinable(p, cfg)) or side_by_side(p, cfg) or nil
    end
    local step_ns = p.fact["step.ns"]
    local locations = {}
    if best.source_file and best.source_file ~= "" then
      locations[1] = { file = best.source_file, line = best.source_line }
    end
    return finding {
      title = ("%s runs %s times a step on %s operations each"):format(best.name,
        fmt.whole(best.calls), fmt.count(best.flops)),
      subject = { op = best.name }, locations = locations,
      evidence = { { "its time a step", best.self_ns, "ns", share = math.min(best.self_ns / step_ns, 1) },
                   { "runs a step", best.calls, "count" }, { "operations a run", best.flops, "flops" },
                   { "bytes a run", best.bytes, "bytes" }, { "shapes", best.shapes } },
      condition = ("%s runs a step, %s accepted; %.2f operations a byte, %.0f accepted"):format(
        fmt.count(best.calls), fmt.count(min_calls), best.flops / best.bytes, cfg.max_intensity),
      remedy = { text = "Do all turns as one product: stack the operands and contract over the loop's dimension.",
                 code = p.framework == "jax"
                   and "w = w + jnp.einsum('ki,kj->ij', a, b)   # instead of a scan of outer products" or
                        p.framework == "pytorch" and "w += a.T @ b   # or torch.bmm over the stacked operands"
                          or "w += tf.einsum('ki,kj->ij', a, b)" },
      impact = impact.replay { { "scale", name = "\\Q" .. best.name:gsub(",", ".") .. "\\E", factor = cfg.kept },
                               fallback = impact.share { ns = best.self_ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a scan of outer products", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "multiply_add_fusion", type = "fusion", calls = 256, flops = 1.18e6, bytes = 6.3e6,
                           shapes = "[768,768]x[256,768]x[]x[256,768]->[768,768]", self_ns = 9e6 } } } },
    { name = "a loop written out", framework = "jax", format = "xspace", finding = true, impact_ns = 4.9e5,
      facts = { ["step.ns"] = 1e6 }, tables = { ops = products(70) } },
    { name = "a loop written out on an accelerator", framework = "jax", format = "xspace", finding = true,
      impact_ns = 2.64e5, facts = { ["step.ns"] = 5e5, ["device.idle_share"] = 0.1 },
      tables = { ops = kernels(64, 1e4) } },
    -- 64 products of 5 us and 10 us of others; joining moves 1 MB, 1 us at 1 TB/s, and takes 400 of which 398 count.
    { name = "and its results are joined one by one", framework = "jax", format = "xspace", finding = true,
      impact_ns = 6.1e5, facts = { ["step.ns"] = 1e6, ["device.idle_share"] = 0.1, ["flops.memory_peak_per_s"] = 1e12 },
      tables = { ops = joined(kernels(64, 1e4), 4e5, 1e6) } },
    { name = "gradients of a deep network", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e6, ["device.idle_share"] = 0.1 }, tables = { ops = kernels(64, 6.4e5) } },
    { name = "heads in a list", framework = "pytorch", format = "kineto", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "side-by-side", ns = 2e6, share = 0.2, factor = 0 } } } },
    { name = "gates of a cell", framework = "jax", format = "xspace", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "shared-factor", ns = 2e6, share = 0.2, factor = 0 } } } },
    { name = "layers of a network that draws sample after sample", framework = "pytorch", format = "kineto",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::mkldnn_convolution", type = "aten::mkldnn_convolution", calls = 84,
                           flops = 7e4, bytes = 6e4, shapes = "[4,48,2]x[96,48,2]->[4,96,1]", self_ns = 9e6 } },
                 eager_loops = { { anchor = "cat", repeats = 84, ns = 9e6, picks = 12 } } } },
    { name = "a loop of such products in PyTorch", framework = "pytorch", format = "kineto", finding = true,
      replay = { 9e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::mkldnn_convolution", type = "aten::mkldnn_convolution", calls = 84,
                           flops = 7e4, bytes = 6e4, shapes = "[4,48,2]x[96,48,2]->[4,96,1]", self_ns = 9e6 } },
                 eager_loops = { { anchor = "select", repeats = 84, ns = 9e6, picks = 0, products = 84 } } } },
    { name = "a deep network of one width", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::addmm", type = "aten::addmm", calls = 120, flops = 3.7e4, bytes = 2.1e4,
                           shapes = "[96]x[4,48]x[48,96]->[4,96]", self_ns = 9e6 } },
                 eager_loops = {} } },
    { name = "sums of many arrays", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e6 }, tables = { ops = products(70, "[64,64]x[]->[64]") } },
    { name = "layers of a deep network", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e6 }, tables = { ops = products(48) } },
    -- 48 * 5 us are 0.24 of 0.31 ms in products, and 0.17 ms are seven tenths of it; of 0.34 ms they are too few.
    { name = "networks of each feature on a host", framework = "jax", format = "xspace", finding = true,
      severity = "warn", impact_ns = 1.68e5, facts = { ["step.ns"] = 1e6 }, tables = { ops = on_host(48, 7e4) } },
    { name = "few of a host's products are alike", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e6 }, tables = { ops = on_host(48, 1e5) } },
    { name = "a few heads on a host", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e5 }, tables = { ops = on_host(8, 1e3) } },
    { name = "layers in a scan", framework = "jax", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "tanh_add_fusion", type = "fusion", calls = 256, flops = 4096, bytes = 24576,
                           shapes = "[32,64]x[32,64]->[32,64]", self_ns = 9e6 } } } },
    { name = "large products", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.1", type = "dot", calls = 100, flops = 1e9, bytes = 1e7,
                           shapes = "[512,1024]x[1024,1024]->[512,1024]", self_ns = 9e6 } } } },
  },
}
