-- The same tensors are converted to another element type again and again.
-- Calls of conversions in the input pipeline, which a map makes for each element: they make the input's type, once for
-- each, and no chain of ops is between them.
local function is_of_elements(stages, row)
  local calls = row.calls or 0
  return stages and calls >= 4 and stages:where { calls = { min = 0.8 * calls, max = 1.25 * calls } }:count() > 0
end

-- Compiled and graph programs name their conversions.
local function of_ops(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local compiled = "^(wrapped_convert|convert|convert_convert|copy_convert|convert_copy|"
    .. "bitcast_convert)(_fusion)?([.].*)?$"
  local casts = p.framework == "jax" and ops:where { name = { like = compiled } } or ops:where { type = "Cast" }
  local stages, ns, count, kinds, worst = p:has("iterators") and p:table("iterators") or nil, 0, 0, 0, nil
  for row in casts:each() do
    if not is_of_elements(stages, row) then
      ns, count, kinds = ns + row.self_ns, count + (row.calls or 1), kinds + 1
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  local all_ns = ops:sum("self_ns")
  -- One conversion of many elements is the input's, not a chain of them.
  if not worst or count < cfg.min_repeats or kinds < cfg.min_repeats or all_ns <= 0
      or ns < cfg.min_of_ops * all_ns or ns < cfg.min_share * step_ns then
    return nil
  end
  ns = math.min(ns, step_ns)
  -- What lies between conversions runs in the other type, which processors compute more slowly: twice as wide, or by
  -- way of a third: at most as much again, say, for which ops these are is not recorded.
  local is_blind = p.framework == "tensorflow" and not p:has("device.idle_share") and (worst.dtype or "") == ""
  local high_ns = is_blind and math.min(cfg.between * ns, step_ns) or ns
  return finding {
    title = ("%s %s"):format(fmt.many(count, "conversion a step takes", "conversions a step take"), fmt.ms(ns)),
    subject = { op = worst.name },
    evidence = { { "conversions a step", ns, "ns", share = ns / step_ns }, { "how many a step", count, "count" },
                 { "of the time of all ops", ns / all_ns, "share" },
                 { worst.name .. " " .. (worst.shapes or ""), worst.self_ns, "ns" } },
    condition = ("conversions take %s of the time of all ops, %s accepted"):format(
      fmt.pct(ns / all_ns), fmt.pct(cfg.min_of_ops)),
    remedy = { text = "Choose one element type for a whole chain of ops, and keep parameters in the type that "
                 .. "products use.",
               code = p.framework == "jax"
                 and "p16 = jax.tree.map(lambda a: a.astype(jnp.bfloat16), p)   # once a step, not at each use" or
                 "x = tf.cast(x, tf.float32)   # once, before the layers" },
    impact = impact.exposed { ns = high_ns, low = 0.6 * ns, high = high_ns },
    claims = { parts = { "compute" } },
    confidence = "medium",
  }
end

return rule {
  id = "cast-churn", api = 1, version = "1.0.0",
  title = "Tensors are converted again and again",
  category = "precision", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "casts", tags = { "ops" },
  more_specific_than = { "unrolled-rnn", "loop-indexing", "many-small-gemms", "hot-op", "elementwise-chain",
      "tiny-ops", "batch-too-small" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_repeats = { default = 4, min = 2, max = 1e7, unit = "count",
      doc = "conversions of one shape a step" },
    min_of_ops = { default = 0.08, min = 0, max = 1, unit = "share",
                   doc = "of the time of all ops, where ops are named" },
    between = { default = 2, min = 1, max = 100, unit = "ratio",
                doc = "TensorFlow on a host: times the conversions, what they and the ops between them may take more" },
    min_share_of_one = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "their time over the step, below which a shape does not count" },
  },
  doc = [[
A conversion reads the tensor, writes it in another type and computes nothing. The same shape converted many times a
step is mostly a parameter converted at each use, or a value sent back and forth. Priced as all conversions of a
shape but one, and as six tenths of them (of TensorFlow on a host as up to twice that, for ops between them run in the
other type, which is not recorded), on an accelerator, which reads and writes them as any other pass, as 85 of
a hundred. Silent for conversions made once a step, for those that a
map of the input pipeline makes once for each element, and below min_share.]],

  check = function(p, cfg)
    if p.format == "xspace" and p:has("ops") and not p:has("device.idle_share") then return of_ops(p, cfg) end
    if not p:has("eager_casts") then
      return skip { reason = "neither PyTorch ops nor ops on a host are recorded", capture = "a timeline of ops" }
    end
    local step_ns = p.fact["step.ns"]
    local ns, high_ns, count, biggest = 0, 0, 0, nil
    for row in p:table("eager_casts"):each() do
      if not row.from then -- perhaps a copy to another device
        return skip { reason = "types of tensors were not recorded", capture = "tensor shapes" }
      end
      if row.count >= cfg.min_repeats and row.ns >= cfg.min_share_of_one * step_ns then
        ns, count, high_ns = ns + row.ns, count + row.count, high_ns + row.ns * (1 - 1 / row.count)
        if not biggest or row.ns > biggest.ns then biggest = row end
      end
    end
    if not biggest or high_ns < cfg.min_share * step_ns then return nil end
    local low_ns = (p:has("device.idle_share") and 0.85 or 0.6) * high_ns
    local title = ("%s %s"):format(fmt.many(count, "conversion a step takes", "conversions a step take"), fmt.ms(ns))
    local evidence = { { "conversions a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "how many a step",
        count, "count" },
                       { "most often", (biggest.from or "") .. " " .. (biggest.shapes or "") } }
    local condition = ("%s conversions of the same shapes take %s of the step, %s accepted"):format(
      fmt.whole(count), fmt.pct(ns / step_ns), fmt.pct(cfg.min_share))

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
    -- Eight conversions of 0.25 ms: between 0.6 and 2 times 2 ms.
    { name = "bfloat16 around each layer on a host", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 2.6e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "Cast", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "Cast_1", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "Cast_2", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "Cast_3", type = "Cast", calls = 2, self_ns = 5e5 },
                         { name = "MatMul", type = "MatMul", calls = 4, self_ns = 6e6 } } } },
    { name = "pictures converted in the input pipeline", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { iterators = { { name = "Iterator::Root::Map", type = "ParallelMapV2", calls = 32, self_ns = 4e6 } },
                 ops = { { name = "convert_image/Cast", type = "Cast", calls = 32, self_ns = 2e6 },
                         { name = "Cast_1", type = "Cast", calls = 1, self_ns = 1e4 },
                         { name = "Cast_2", type = "Cast", calls = 1, self_ns = 1e4 },
                         { name = "Cast_3", type = "Cast", calls = 1, self_ns = 1e4 },
                         { name = "MatMul", type = "MatMul", calls = 4, self_ns = 6e6 } } } },
    { name = "a weight in a loop", framework = "pytorch", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7,  },
      tables = { eager_casts = { { count = 40, ns = 4e6, from = "bfloat16", shapes = "[512,512]" } } } },
    { name = "once", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7,  },
      tables = { eager_casts = { { count = 1, ns = 4e6, from = "bfloat16", shapes = "[512,512]" } } } },
    { name = "types not recorded: perhaps copies to a device", framework = "pytorch", skipped = true,
      facts = { ["step.ns"] = 1e7 }, tables = { eager_casts = { { count = 40, ns = 4e6 } } } },
    { name = "short", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7,  },
      tables = { eager_casts = { { count = 40, ns = 4e4, from = "bfloat16", shapes = "[8]" } } } },
  },
}
