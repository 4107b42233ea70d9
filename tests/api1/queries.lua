-- Asks a table in every way.
local function same(a, b, what)
  if a ~= b then error(what .. ": " .. tostring(a) .. " is not " .. tostring(b), 2) end
end

return rule {
  id = "api1/queries", api = 1, version = "1.0.0", title = "A table can be asked",
  category = "input", severity = "warn", formats = { "xspace" }, preset = "recommended",
  needs = { "step.median_ns", "iterators" },

  check = function(p, cfg)
    same(p.format, "xspace", "format")
    same(p.framework, "jax", "framework")
    same(p:has("iterators"), true, "has")
    same(p:has("memory.peak_bytes"), false, "has not")
    same(p.fact["memory.peak_bytes"], nil, "an absent fact")
    same(p:table("op_types"), nil, "an absent table")
    local all = p:table("iterators")
    same(all:count(), 3, "count")
    same(all:sum("self_ns"), 6e6, "sum")
    same(all:max("self_ns"), 3e6, "max")
    same(all:min("self_ns"), 1e6, "min")
    same(all:top("self_ns", 2):sum("self_ns"), 5e6, "top")
    same(all:where { type = "Map" }:count(), 2, "where a text")
    same(all:where { self_ns = { min = 2e6, max = 2e6 } }:count(), 1, "where a range")
    same(all:where { name = { like = "Shuf" } }:rows()[1].type, "Shuffle", "where a pattern")
    same(all:where { type = { class = "other|product" } }:count(), 3, "where a class")
    same(all:where { type = { class = "product" } }:count(), 0, "where a class that none is of")
    same(pcall(function() return all:where { type = { class = "stage" } } end), false, "where a class that is none")
    same(p:class_of("aten::addmm") .. " " .. p:class_of("dot_general"), "product product", "classes of ops")
    same(p:class_of("_MklNativeConv2DBackpropInput"), "convolution", "the class of an op")
    same(("MapAndBatch"):find(p:names("tf_buffered_stage")), 1, "a name of a list")
    same(("Map"):find(p:names("tf_buffered_stage")), nil, "a name of none")
    same(pcall(function() return p:names("tf_stages") end), false, "a list that is none")
    local groups = all:group("type", "self_ns")
    same(groups[1].key, "Map", "key")
    same(groups[1].sum, 4e6, "sum of a group")
    same(groups[1].count, 2, "count of a group")
    same(groups[1].first.type, "Map", "first of a group")
    local sum = 0
    for row in all:each() do sum = sum + row.self_ns end
    same(sum, 6e6, "each")
    if p.fact["step.median_ns"] < 1e7 then return skip { reason = "short", capture = "longer steps" } end
    return finding { condition = "it is long", evidence = { { "rows", all:count() } },
                     remedy = { text = "None." }, impact = impact.none() }
  end,

  examples = {
    { name = "long", finding = true, format = "xspace", framework = "jax",
      facts = { ["step.median_ns"] = 2e7 },
      tables = { iterators = {
        { name = "Iterator::Map", type = "Map", self_ns = 1e6 },
        { name = "Iterator::Shuffle", type = "Shuffle", self_ns = 2e6 },
        { name = "Iterator::Map2", type = "Map", self_ns = 3e6 } } } },
    { name = "short", skipped = true, format = "xspace", framework = "jax",
      facts = { ["step.median_ns"] = 1e6 },
      tables = { iterators = {
        { name = "Iterator::Map", type = "Map", self_ns = 1e6 },
        { name = "Iterator::Shuffle", type = "Shuffle", self_ns = 2e6 },
        { name = "Iterator::Map2", type = "Map", self_ns = 3e6 } } } },
  },
}
