-- An op is far from what the device can do.
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
  },
  doc = [[
Compares the rate of ops of known cost with what the device can do at their intensity: its peak, or its
memory bandwidth; passes over memory by their traffic alone. It says what is slow and not why; a warning
only below half of what is wanted, or where the op takes most of the step. An efficiency over 110 % means that the cost
or the peak is wrong: silent. At most the three dearest are told. Priced from a part of the way to what is usual to all
of the way to the best kernels.]],

  check = function(p, cfg)
    local step_ns, findings = p.fact["step.ns"], {}
    local ops = p:table("roofline"):where { efficiency = { min = 0.0001, max = 0.99 },
                                            ns = { min = cfg.min_share * step_ns } }
    for _, row in ipairs(ops:top("ns", 20):rows()) do
      local type = row.type or row.op
      local class = p:class_of(type)
      local is_attention, is_conv, is_product = class == "attention", class == "convolution", class == "product"
      local floor = row.bound == "memory" and cfg.floor_other or is_attention and cfg.floor_attention
        or is_conv and cfg.floor_conv or
                    is_product and cfg.floor_product or cfg.floor_other
      local best = row.bound == "memory" and cfg.best_other or is_attention and cfg.best_attention or cfg.best_product
      if row.efficiency < floor and #findings < 3 then
        local gap_ns, best_ns = row.ns * (1 - row.efficiency / floor), row.ns * (1 - row.efficiency / best)
        local remedies = { compute = "Other sizes, types or library: larger batches, 16 bits, multiples of 64.",
                           memory = "Move less: fuse it with its neighbours, 16 bit activations, a layout the kernel "
                             .. "likes." }
        findings[#findings + 1] = finding {
          title = ("%s reaches %s of its %s limit and takes %s a step"):format(
            type, fmt.pct(row.efficiency), row.bound, fmt.ms(row.ns)),
          severity = (row.efficiency < floor / 2 or row.ns > 0.5 * step_ns) and "warn" or "info",
          subject = { op = row.op },
          locations = row.source_file and row.source_file ~= ""
            and { { file = row.source_file, line = row.source_line } } or {},
          evidence = { { "its time a step", row.ns, "ns", share = math.min(1, row.ns / step_ns) },
                       { "share of its limit", row.efficiency, "share" },
                       { "rate", row.flops_per_s or 0, "flops_per_s" },
                       { "traffic", row.bytes_per_s or 0, "bytes_per_s" },
                       { "operands and result", row.shapes or "" } },
          condition = ("%s of the limit, %s wanted"):format(fmt.pct(row.efficiency), fmt.pct(floor)),
          remedy = { text = remedies[row.bound] or remedies.memory },
          impact = impact.roofline { ns = row.ns, floor_ns = row.ns * row.efficiency / floor, low = cfg.low * gap_ns,
                                     high = best_ns },
          claims = { { parts = { "compute" } } },
          confidence = "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "a slow product", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "[64,64]x[64,64]", ns = 2e6,
                                efficiency = 0.3, bound = "compute", flops_per_s = 3e12 } } } },
    { name = "an impossible one", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "", ns = 2e6, efficiency = 1.5,
                                bound = "compute" } } } },
    { name = "near the limit", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { roofline = { { op = "aten::mm", type = "aten::mm", shapes = "", ns = 2e6, efficiency = 0.8,
                                bound = "compute" } } } },
  },
}
