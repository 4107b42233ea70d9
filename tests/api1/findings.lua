-- Fills every field of a rule, a parameter and a finding, with every kind of price.
local edits = { { "scale", parts = { "input" }, factor = 0.5 } }

local function prices(ns)
  return {
    impact.replay { edits[1], fallback = impact.exposed { ns = ns } },
    impact.exposed { ns = ns, low = 0.1 * ns, high = ns },
    impact.roofline { ns = ns, floor_ns = 0.5 * ns },
    impact.amdahl { ns = ns, speedup = 2 },
    impact.share { ns = ns },
    impact.none(),
  }
end

return rule {
  id = "api1/findings", api = 1, version = "1.0.0", title = "Findings of all kinds",
  category = "kernels", severity = "error", preset = "strict",
  formats = { "profile", "graph", "xspace", "kineto" },
  needs = { "step.median_ns" }, cause = "compute.api1", tags = { "api1" },
  more_specific_than = { "hot-op" },
  params = {
    min_share = { default = 0.5, strict = 0.25, min = 0, max = 1, unit = "share", doc = "a share" },
    is_loud = { default = true, doc = "a choice" },
    word = { default = "loud", doc = "a text" },
  },
  doc = [[Fires for long steps.]],

  check = function(p, cfg)
    local ns = cfg.min_share * p.fact["step.median_ns"]
    if ns < 1e6 or not cfg.is_loud then return nil end
    local list = {}
    for i, price in ipairs(prices(ns)) do
      assert(price.method)
      list[i] = finding {
        title = ("%s %d"):format(cfg.word, i), severity = "warn", category = "memory",
        subject = { op = "conv", kernel = "sgemm", device = "GPU 0", host = "a", scope = "net/",
                    rank = 0, step = 4 },
        locations = { { file = "train.py", line = 12, func = "step" } },
        evidence = {
          { "none", 1, "none" }, { "ns", 1, "ns", share = 0.1 }, { "count", 1, "count" },
          { "bytes", 1, "bytes" }, { "share", 0.1, "share" }, { "ratio", 2, "ratio" },
          { "flops", 1, "flops" }, { "flops_per_s", 1, "flops_per_s" },
          { "bytes_per_s", 1, "bytes_per_s" }, { "hz", 1, "hz" }, { "bool", 1, "bool" },
          { "text", "a name" },
        },
        condition = "the step is long", confidence = ({ "high", "medium", "low" })[i % 3 + 1],
        remedy = { text = "Shorten it.", code = "step()", flags = "--short" },
        impact = price, claims = { parts = "compute" },
        resource = i == 5 and "memory" or nil,
      }
    end
    return list
  end,

  examples = {
    { name = "long", format = "kineto", framework = "pytorch", finding = true, impact_ns = 4.5e6,
      facts = { ["step.median_ns"] = 1e7 }, tables = {}, absent = { "memory." },
      replay = { 5e6 }, selected_ns = 1e7 },
    { name = "short", finding = false, skipped = false, facts = { ["step.median_ns"] = 1e5 } },
  },
}
