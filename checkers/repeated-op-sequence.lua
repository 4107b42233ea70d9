-- The same short sequence of ops runs many times a step.
return rule {
  id = "repeated-op-sequence", api = 1, version = "1.0.0",
  title = "A short sequence of ops runs many times a step",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.median_ns", "sequences", "torch.forward_ns" },
  cause = "sequence", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_share = { default = 0.25, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_repeats = { default = 16, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step" },
    min_reads = { default = 8, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step of a sequence that reads a value, which layers of a network do not" },
    max_op_ns = { default = 20e3, min = 0, max = 1e9, unit = "ns",
      doc = "mean op, above which the ops do enough work each" },
  },
  doc = [[
Hundreds of small ops in a repeating pattern pay more for dispatch than for arithmetic, whatever loop makes them. Priced as
a part of the time with low confidence. Silent where a rule knows the loop, for long ops and below min_share.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.median_ns"]
    local worst
    for row in p:table("sequences"):each() do
      -- Layers of a network go backward one after the other: nodes are no loop of the program.
      local least = row.ops:find("aten::item") and cfg.min_reads or cfg.min_repeats
      if row.repeats >= least and not row.ops:find("Backward") and row.mean_op_ns <= cfg.max_op_ns and
          (not worst or row.total_ns > worst.total_ns) then worst = row end
    end
    if not worst or worst.total_ns < cfg.min_share * step_ns then return nil end
    local low_ns, high_ns = 0.3 * worst.total_ns, 0.7 * worst.total_ns
    local title = ("The sequence %s runs %s times a step"):format(worst.ops,
        fmt.count(math.floor(worst.repeats + 0.5)))
    local evidence = { { "time a step", worst.total_ns, "ns", share = math.min(1, worst.total_ns / step_ns) },
                       { "repeats a step", worst.repeats, "count" }, { "mean op", worst.mean_op_ns, "ns" } }
    local condition = ("%s repeats take %s of the step, %s accepted"):format(fmt.count(math.floor(worst.repeats + 0.5)),
      fmt.pct(worst.total_ns / step_ns), fmt.pct(cfg.min_share))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Do it once over a longer dimension, or compile the part that repeats.",
                 code = "fn = torch.compile(fn)   # or torch.vmap, bmm, foreach" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "small ops", framework = "pytorch", finding = true, impact_ns = 2.5e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::a > aten::b", repeats = 100, total_ns = 5e6, mean_op_ns = 3e3 } } } },
    { name = "a value of each parameter", framework = "pytorch", finding = true, impact_ns = 2.5e6,
      facts = { ["step.median_ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::abs > aten::max > aten::item", repeats = 10, total_ns = 5e6, mean_op_ns = 3e3 } } } },
    { name = "a deep network's backward pass", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "AddmmBackward0 > aten::sum", repeats = 100, total_ns = 5e6, mean_op_ns = 3e3 } } } },
    { name = "long ops", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::a > aten::b", repeats = 100, total_ns = 5e6, mean_op_ns = 3e5 } } } },
  },
}
