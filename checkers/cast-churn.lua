-- The same tensors are converted to another element type again and again.
return rule {
  id = "cast-churn", api = 1, version = "1.0.0",
  title = "Tensors are converted again and again",
  category = "precision", severity = "warn",
  formats = { "kineto" },
  needs = { "step.median_ns", "eager_casts" },
  cause = "casts", tags = { "ops" },
  more_specific_than = { "unrolled-rnn", "loop-indexing", "many-small-gemms", "hot-op", "elementwise-chain",
      "tiny-ops", "batch-too-small" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_repeats = { default = 4, min = 2, max = 1e7, unit = "count",
      doc = "conversions of one shape a step" },
    min_share_of_one = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "their time over the step, below which a shape does not count" },
  },
  doc = [[
A conversion reads the tensor, writes it in another type and computes nothing. The same shape converted many times a
step is mostly a parameter converted at each use, or a value sent back and forth. Priced as all conversions of a shape but
one, and as six tenths of them. Silent for conversions made once a step and below min_share.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.median_ns"]
    local ns, high_ns, count, biggest = 0, 0, 0, nil
    for row in p:table("eager_casts"):each() do
      if row.count >= cfg.min_repeats and row.ns >= cfg.min_share_of_one * step_ns then
        ns, count, high_ns = ns + row.ns, count + row.count, high_ns + row.ns * (1 - 1 / row.count)
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or high_ns < cfg.min_share * step_ns then return nil end
    local low_ns = 0.6 * high_ns
    local title = ("%s conversions a step take %s"):format(fmt.count(math.floor(count + 0.5)), fmt.ms(ns))
    local evidence = { { "conversions a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "how many a step",
        count, "count" },
                       { "most often", (biggest.from or "") .. " " .. (biggest.shapes or "") } }
    local condition = ("%s conversions of the same shapes take %s of the step, %s accepted"):format(
      fmt.count(math.floor(count + 0.5)), fmt.pct(ns / step_ns), fmt.pct(cfg.min_share))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Convert once, outside the loop, and keep parameters in the type that products use.",
                 code = "w = w.float()   # once, before the loop" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a weight in a loop", framework = "pytorch", finding = true, impact_ns = 3e6,
      facts = { ["step.median_ns"] = 1e7,  },
      tables = { eager_casts = { { count = 40, ns = 4e6, from = "bfloat16", shapes = "[512,512]" } } } },
    { name = "once", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7,  },
      tables = { eager_casts = { { count = 1, ns = 4e6, from = "bfloat16", shapes = "[512,512]" } } } },
    { name = "short", framework = "pytorch", finding = false,
      facts = { ["step.median_ns"] = 1e7,  },
      tables = { eager_casts = { { count = 40, ns = 4e4, from = "bfloat16", shapes = "[8]" } } } },
  },
}
