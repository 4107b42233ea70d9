-- A product with one-hot vectors stands for looking rows up.

-- Ledger: products with masks of compiled programs, and what they drop of what was made for all.
local function of_compiled(p, cfg)
  return p:in_excess {
    flaw = "masked-work", min_share = cfg.min_share, time = "elements that a one-hot mask makes zero",
    title = "Work on rows that a one-hot mask then drops: %s of each step",
    severity = p:table("excess"):where { flaw = "masked-work" }:sum("share") >= cfg.min_loud_share
      and "warn" or "info",
    remedy = { text = "Pick the rows by their numbers before the work: take or gather for look-ups, segment_sum for "
                 .. "sums by group, and for experts the tokens of each, sorted and filled up to a capacity.",
               code = "h = table[ids]   # instead of jax.nn.one_hot(ids, n) @ table" },
    confidence = "medium",
  }
end

-- TensorFlow: one-hot vectors that the next op of their scope adds up or takes the largest of, which is where a loop
-- asks what it has seen, or a bag is made. In a layer a product takes them.
local function of_reduced(p, cfg)
  local ops, step_ns, best = p:table("ops"), p.fact["step.ns"], nil
  for row in ops:where { type = { class = "one-hot" } }:each() do
    local scope = row.name:match("^(.*/)[^/]+$") or ""
    local own = ops:where { name = { like = "^\\Q" .. scope .. "\\E[^/]+$" } }
    local reduced = own:where { type = { like = "^(Max|Sum|Any|Mean)$" }, calls = { min = row.calls, max = row.calls } }
      :top("self_ns", 1):rows()[1]
    if reduced and reduced.self_ns >= cfg.min_reduced * row.self_ns
        and own:where { type = { class = "product" } }:count() == 0
        and (not best or row.self_ns > best.made.self_ns) then
      best = { made = row, reduced = reduced }
    end
  end
  if not best then return nil end
  -- One after the other, and what asks for the result waits for both.
  local ns = math.min(best.made.self_ns + best.reduced.self_ns, step_ns)
  if ns < cfg.min_reduced_share * step_ns then return nil end
  return finding {
    title = ("One-hot vectors are made only to be reduced: %s of each step"):format(fmt.ms(ns)),
    severity = "info", subject = { op = best.made.name },
    evidence = { { "making and reducing them a step", ns, "ns", share = ns / step_ns },
                 { best.made.name, best.made.self_ns, "ns" }, { best.reduced.name, best.reduced.self_ns, "ns" },
                 { "times a step", best.made.calls, "count" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_reduced_share)),
    remedy = {
      text = "Set ones at their places in an array of zeros, and in a loop carry that array along: only what is new is "
        .. "set. Counts are a bincount; to pick by a one-hot vector is a gather.",
      code = "seen = tf.tensor_scatter_nd_update(seen, tf.stack([rows, token], 1), ones)   "
        .. "# not tf.reduce_max(tf.one_hot(tokens, n), 1)" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "onehot-matmul", api = 1, version = "1.0.0",
  title = "A one-hot product stands for a lookup",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "formula.onehot-product", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_loud_share = { default = 0.2, min = 0, max = 1, unit = "share",
      doc = "compiled programs: share of the step from which it is a warning" },
    min_reduced = { default = 0.3, min = 0, max = 10, unit = "ratio",
      doc = "TensorFlow: time of what reduces one-hot vectors over that of making them, from which it reads them all" },
    min_reduced_share = { default = 0.1, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: share of the step that both take, from which this is said" },
  },
  doc = [[
One-hot vectors are as wide as the table is long, nearly all of them zeros, and the product reads the whole table. A
lookup reads the rows it needs. Priced as nearly all of it. In compiled programs of JAX, masks that come of comparing
numbers are followed through products: back to what is made for all of which they keep one, and on to what then
multiplies zeros. In TensorFlow on a host, one-hot vectors that an op of their scope reduces, where no product is, are
priced with it, as eight tenths to all. Silent below min_share.]],

  check = function(p, cfg)
    if p.framework == "tensorflow" then
      return p:has("ops") and not p:has("device.idle_share") and of_reduced(p, cfg) or nil
    end
    if p.format == "xspace" then return p:has("excess") and of_compiled(p, cfg) or nil end
    if not p:has("eager_idioms") then return nil end
    return p:spelled_out {
      idiom = "onehot-product", min_share = cfg.min_share, title = "A one-hot product takes",
      price = function(row)
        return 0.9 * row.ns, 0.98 * row.ns -- ids and the rows they name stay
      end,
      remedy = { text = "Look the rows up instead of multiplying with zeros.",
          code = "y = F.embedding(ids, weight)   # instead of F.one_hot(ids).float() @ weight" },
      confidence = "medium",
    }
  end,

  examples = {
    -- 3 ms: 0.9 of it.
    { name = "what was seen, asked in each round", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 2.7e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "while/one_hot", type = "OneHot", calls = 20, self_ns = 2e6 },
                         { name = "while/Max", type = "Max", calls = 20, self_ns = 1e6 },
                         { name = "while/head/MatMul", type = "MatMul", calls = 20, self_ns = 7e6 } } } },
    { name = "much other work", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 4e7 },
      tables = { ops = { { name = "while/one_hot", type = "OneHot", calls = 20, self_ns = 2e6 },
                         { name = "while/Max", type = "Max", calls = 20, self_ns = 1e6 },
                         { name = "while/head/MatMul", type = "MatMul", calls = 20, self_ns = 3.7e7 } } } },
    { name = "a product beside them", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "one_hot", type = "OneHot", calls = 1, self_ns = 2e6 },
                         { name = "Max", type = "Max", calls = 1, self_ns = 1e6 },
                         { name = "MatMul", type = "MatMul", calls = 1, self_ns = 7e6 } } } },
    { name = "a sum that is called more often", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "while/one_hot", type = "OneHot", calls = 20, self_ns = 2e6 },
                         { name = "while/Max", type = "Max", calls = 40, self_ns = 1e6 } } } },
    { name = "spelled out", framework = "pytorch", finding = true, impact_ns = 4.7e7,
        facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "onehot-product", first_op = "aten::mul", ns = 5e7, count = 1, calls = 3,
          product_ns = 3e7, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "all experts for all tokens", framework = "jax", format = "xspace", finding = true, replay = { 7e6 },
      severity = "warn", facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "masked-work", op = "fusion", ns = 7e6, share = 0.7,
                              factor = 0.2 } } } },
    { name = "sums by group", framework = "jax", format = "xspace", finding = true, replay = { 1e6 },
      severity = "info", facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "masked-work", op = "dot", ns = 1e6, share = 0.1, factor = 0.1 } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "onehot-product", first_op = "aten::mul", ns = 1e6, count = 8, calls = 64,
          product_ns = 0, pivot_ns = 0, longest_ns = 0, last_dim = 512, elements = 200000.0 } } } },
    { name = "another formula", framework = "pytorch", finding = false, facts = { ["step.ns"] = 1e8 },
      tables = { eager_idioms = { { idiom = "other", count = 8, calls = 60, ns = 5e7, pivot_ns = 1e7, product_ns = 0,
          longest_ns = 1e7, last_dim = 640, elements = 1e6 } } } },
  },
}
