-- A 16 bit product has a dimension that its units cannot use well.
return rule {
  id = "gemm-dim-misaligned", api = 1, version = "1.0.0",
  title = "A product's dimension is no multiple of 8",
  category = "precision", severity = "warn",
  needs = { "step.median_ns", "device.idle_share", "roofline" },
  cause = "compute.gemm", tags = { "kernels", "precision" },
  params = {
    multiple = { default = 8, min = 2, max = 256, unit = "count", doc = "what dimensions of 16 bit products should be multiples of" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "the product's time over the step" },
  },
  doc = [[
Tensor cores take 16 bit products in pieces of 8. Other dimensions are padded, or the product leaves
the tensor cores. Priced between the padding and half of the time. Dimensions below the multiple are
left alone: they are vectors or small batches. Silent for small products.]],

  check = function(p, cfg)
    local step_ns, m = p.fact["step.median_ns"], cfg.multiple
    local findings = {}
    local products = p:table("roofline"):where { dtype = { like = "^(float16|bfloat16)$" }, type = { like = "^aten::(mm|bmm|addmm|baddbmm|matmul|linear)$|MatMul|^dot" },
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
      if bad then
        findings[#findings + 1] = finding {
          title = ("%s with a dimension of %d, no multiple of %d, takes %s a step"):format(row.type, bad, m, fmt.ms(row.ns)),
          subject = { op = row.op },
          locations = row.source_file and row.source_file ~= "" and { { file = row.source_file, line = row.source_line } } or {},
          evidence = { { "its time a step", row.ns, "ns", share = math.min(1, row.ns / step_ns) }, { "operands and result", row.shapes },
                       { "dimension", bad, "count" }, { "work lost to padding", 1 - waste, "share" } },
          condition = ("%d is no multiple of %d"):format(bad, m),
          remedy = { text = "Pad the dimension: a vocabulary to a multiple of 64, heads to 64 or 128.",
                     code = ("size = %d   # was %d"):format(math.ceil(bad / 64) * 64, bad) },
          impact = impact.exposed { ns = 0.5 * row.ns, low = (1 - waste) * row.ns, high = 0.5 * row.ns },
          confidence = "low",
        }
      end
      if #findings == 3 then break end
    end
    return findings
  end,

  examples = {
    { name = "GPT-2's vocabulary", finding = true, impact_ns = 2e5, facts = { ["step.median_ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16", shapes = "[4096,768]x[768,50257]", ns = 1e6 } } } },
    { name = "padded", finding = false, facts = { ["step.median_ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", dtype = "bfloat16", shapes = "[4096,768]x[768,50304]", ns = 1e6 } } } },
  },
}
