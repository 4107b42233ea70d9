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

return rule {
  id = "onehot-matmul", api = 1, version = "1.0.0",
  title = "A one-hot product stands for a lookup",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "formula.onehot-product", tags = { "ops" },
  more_specific_than = { "elementwise-chain", "repeated-op-sequence", "tiny-ops", "host-bound", "hot-op",
       },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time of the formula over the step from which this is said" },
    min_loud_share = { default = 0.2, min = 0, max = 1, unit = "share",
      doc = "compiled programs: share of the step from which it is a warning" },
  },
  doc = [[
One-hot vectors are as wide as the table is long, nearly all of them zeros, and the product reads the whole table. A
lookup reads the rows it needs. Priced as nearly all of it. In compiled programs of JAX, masks that come of comparing
numbers are followed through products: back to what is made for all of which they keep one, and on to what then
multiplies zeros. Silent below min_share.]],

  check = function(p, cfg)
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
