-- A 16 bit product has a dimension that its units cannot use well.
return rule {
  id = "gemm-dim-misaligned", api = 1, version = "1.0.0",
  title = "A product's dimension is no multiple of 8",
  category = "precision", severity = "warn",
  needs = { "step.ns", "device.idle_share", "roofline" },
  cause = "compute.gemm", tags = { "kernels", "precision" },
  more_specific_than = { "roofline-gap", "hot-op" },
  params = {
    odd_low = { default = 0.35, min = 0, max = 1, unit = "share",
                doc = "of a product with an odd dimension, what padding saves at least" },
    odd_high = { default = 0.7, min = 0, max = 1, unit = "share", doc = "at most" },
    aligned_low = { default = 0.45, min = 0.05, max = 1, unit = "share",
                    doc = "share of the device's peak that the same product reaches at least with padded sizes" },
    aligned_high = { default = 0.85, min = 0.05, max = 1, unit = "share", doc = "at most" },
    multiple = { default = 8, min = 2, max = 256, unit = "count",
                 doc = "what dimensions of 16 bit products should be multiples of" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "the product's time over the step" },
  },
  doc = [[
Tensor cores take 16 bit products in pieces of 8. Other dimensions are padded, or the product leaves
the tensor cores. Where the device's peak is known, priced as what the same products take beyond what they would
with padded sizes, which reach aligned_low to aligned_high of it; products that reach as much as they are do not
count. Elsewhere between the padding and half of the time, and more where the dimension is odd, over all products
that have it. Dimensions below the multiple are left alone: they are vectors or small batches. Silent for small
products.]],

  check = function(p, cfg)
    local step_ns, m = p.fact["step.ns"], cfg.multiple
    local findings, by_dim, order = {}, {}, {}
    local products = p:table("roofline"):where { dtype = { like = "^(float16|bfloat16)$" },
                                                 type = { class = "product" },
                                                 ns = { min = cfg.min_share * step_ns } }
    for _, row in ipairs(products:top("ns", 20):rows()) do
      local waste, bad = 1, nil
      for shape in (row.shapes or ""):gmatch("\\[([0-9,]+)\\]") do
        local dims = {}
        for d in shape:gmatch("\\d+") do dims[#dims + 1] = tonumber(d) end
        for i = math.max(1, #dims - 1), #dims do
          local d = dims[i]
          if d and #dims >= 2 and d > m and d % m ~= 0 and d ~= bad then
            waste, bad = waste * d / (math.ceil(d / m) * m), d
          end
        end
      end
      local reached = row.bound == "compute" and row.efficiency or nil
      if bad and (reached or 0) < cfg.aligned_low then
        if not by_dim[bad] then
          by_dim[bad] = { row = row, ns = 0, count = 0, waste = waste, low = 0, high = 0 }
          order[#order + 1] = bad
        end
        local all = by_dim[bad]
        -- Operands whose rows begin at odd elements leave the wide loads altogether.
        local low, high = bad % 2 == 1 and cfg.odd_low or 1 - waste, bad % 2 == 1 and cfg.odd_high or 0.5
        if reached then low, high = 1 - reached / cfg.aligned_low, 1 - reached / cfg.aligned_high end
        all.ns, all.count = all.ns + row.ns, all.count + 1
        all.low, all.high = all.low + low * row.ns, all.high + high * row.ns
      end
    end
    for i = 1, math.min(#order, 3) do
      local bad, all = order[i], by_dim[order[i]]
      local row, ns = all.row, math.min(all.ns, step_ns)
      local fits = ns / all.ns
      findings[#findings + 1] = finding {
        title = all.count == 1
          and ("%s with a dimension of %d, no multiple of %d, takes %s a step"):format(row.type, bad, m, fmt.ms(ns)) or
            ("Products with a dimension of %d, no multiple of %d, take %s a step"):format(bad, m, fmt.ms(ns)),
        subject = { op = row.op },
        locations = row.source_file and row.source_file ~= "" and { { file = row.source_file, line = row.source_line } }
          or {},
        evidence = { { "their time a step", ns, "ns", share = math.min(1, ns / step_ns) },
                     { "operands and result", row.shapes },
                     { "dimension", bad, "count" }, { "different products", all.count, "count" },
                     { "work lost to padding", 1 - all.waste, "share" } },
        condition = ("%d is no multiple of %d"):format(bad, m),
        remedy = { text = "Pad the dimension: a vocabulary to a multiple of 64, heads to 64 or 128.",
                   code = ("size = %d   # was %d"):format(math.ceil(bad / 64) * 64, bad) },
        impact = impact.exposed { ns = fits * all.high, low = fits * all.low, high = fits * all.high },
        confidence = row.efficiency and "medium" or "low",
      }
    end
    return findings
  end,

  examples = {
    { name = "GPT-2's vocabulary", finding = true, impact_ns = 5.25e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16",
                                shapes = "[4096,768]x[768,50257]", ns = 1e6 } } } },
    { name = "both ways, even", finding = true, impact_ns = 4.5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16",
                                shapes = "[4096,1000]x[1000,2756]", ns = 1e6 },
                              { op = "aten::mm", type = "aten::mm", dtype = "bfloat16",
                                shapes = "[4096,2756]x[2756,1000]", ns = 8e5 } } } },
    -- At a tenth of the peak instead of 0.45 to 0.85 of it, 8 ms take 1.78 to 0.94: 6.22 to 7.06 less.
    { name = "far from a known peak", finding = true, impact_ns = 6.64e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16", efficiency = 0.1,
                                bound = "compute", shapes = "[16384,2048]x[2048,5461]", ns = 8e6 } } } },
    { name = "odd, and fast all the same", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16", efficiency = 0.6,
                                bound = "compute", shapes = "[16381,2048]x[2048,2048]", ns = 8e6 } } } },
    { name = "padded", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16",
                                shapes = "[4096,768]x[768,50304]", ns = 1e6 } } } },
  },
}
