-- Uses every function of Lua that rules have.
local function same(a, b, what)
  if a ~= b then error(what .. ": " .. tostring(a) .. " is not " .. tostring(b), 2) end
end

local function globals()
  local keys = {}
  for key in pairs { b = 1, a = 2, c = 3 } do table.insert(keys, key) end
  same(table.concat(keys), "abc", "pairs")
  keys = {}
  for key, value in sorted_pairs { z = 1, y = 2 } do keys[#keys + 1] = key .. value end
  same(table.concat(keys, ","), "y2,z1", "sorted_pairs")
  local sum = 0
  for i, value in ipairs { 10, 20, 30 } do sum = sum + i * value end
  same(sum, 140, "ipairs")
  same(assert(5, "five"), 5, "assert")
  local ok, message = pcall(error, "gone", 0)
  same(ok, false, "pcall")
  same(message, "gone", "error")
  same(select("#", 1, nil, 3), 3, "select")
  same(select(2, "a", "b"), "b", "select")
  same(tonumber("ff", 16), 255, "tonumber")
  same(tostring(true), "true", "tostring")
  same(tostring({}), "table", "tostring of a table")
  same(type(nil), "nil", "type")
  local t = setmetatable({}, { __index = function(_, key) return key .. "!" end })
  same(t.a, "a!", "setmetatable")
  same(type(getmetatable(t).__index), "function", "getmetatable")
  same(rawget(t, "a"), nil, "rawget")
  rawset(t, "a", 1)
  same(t.a, 1, "rawset")
  same(rawequal(t, t), true, "rawequal")
  same(rawlen { 1, 2 }, 2, "rawlen")
end

local function texts()
  same(("step 12"):find("\\d+"), 6, "find")
  same(select(2, string.find("a.b", ".", 1, true)), 2, "find a plain text")
  same(string.match("conv2d/BiasAdd", "([a-z]+)(\\d)"), "conv", "match")
  local words = {}
  for word in string.gmatch("one two", "\\w+") do words[#words + 1] = word end
  same(#words, 2, "gmatch")
  same(string.gsub("a-b", "(\\w)-(\\w)", "%2-%1 %0"), "b-a a-b", "gsub")
  same(string.format("%d %s %.1f", 1, "x", 0.25), "1 x 0.2", "format")
  same(string.rep("ab", 2), "abab", "rep")
  same(string.sub("kernel", 2, -2), "erne", "sub")
  same(string.byte("A"), 65, "byte")
  same(string.char(72, 105), "Hi", "char")
  same(string.len("four"), 4, "len")
  same(string.lower("GPU") .. string.upper("cpu"), "gpuCPU", "lower and upper")
  same(string.reverse("abc"), "cba", "reverse")
end

local function lists()
  local t = { 3, 1 }
  table.insert(t, 2)
  table.insert(t, 1, 9)
  same(table.remove(t, 1), 9, "remove")
  table.sort(t)
  same(table.concat(t, " ", 1, 3), "1 2 3", "sort")
  table.sort(t, function(a, b) return a > b end)
  same(t[1], 3, "sort downwards")
  same(table.pack(1, nil, 3).n, 3, "pack")
  same(select(2, table.unpack({ 7, 8 }, 1, 2)), 8, "unpack")
end

local function numbers()
  same(math.abs(-2), 2, "abs")
  same(math.ceil(1.2), 2, "ceil")
  same(math.floor(1.8), 1, "floor")
  same(math.exp(0), 1.0, "exp")
  same(math.log(8, 2), 3.0, "log")
  same(math.sqrt(9), 3.0, "sqrt")
  same(math.fmod(7, 4), 3, "fmod")
  same(select(1, math.modf(3.5)), 3.0, "modf")
  same(math.max(1, 5, 3), 5, "max")
  same(math.min(4, 2), 2, "min")
  same(math.tointeger(4.0), 4, "tointeger")
  same(math.type(1), "integer", "math.type")
  same(math.huge > math.maxinteger, true, "huge")
  same(math.mininteger < 0, true, "mininteger")
  same(math.floor(math.pi), 3, "pi")
end

local function units()
  same(fmt.ns(61.2e6), "61.2 ms", "fmt.ns")
  same(fmt.ms(61.2e6), fmt.ns(61.2e6), "fmt.ms")
  same(fmt.share(0.288), "28.8 %", "fmt.share")
  same(fmt.pct(0.288), "28.8 %", "fmt.pct")
  same(fmt.bytes(1.53e9), "1.53 GB", "fmt.bytes")
  same(fmt.kernel("void at::native::f<float>(int)"), "at::native::f", "fmt.kernel")
  same(fmt.kernel("void cutlass::Kernel2<cutlass_80_gemm_tn_align8>(cutlass_80_gemm_tn_align8::Params)"),
       "cutlass_80_gemm_tn_align8", "fmt.kernel of what CUTLASS runs")
  same(type(fmt.count(1234)), "string", "fmt.count")
  same(type(fmt.flops(1e9)), "string", "fmt.flops")
  same(type(fmt.ratio(1.5)), "string", "fmt.ratio")
  same(fmt.whole(1233.6), fmt.count(1234), "fmt.whole")
  same(fmt.many(1.2, "copy", "copies"), "1 copy", "fmt.many")
  same(fmt.many(3, "copy waits", "copies wait"), "3 copies wait", "fmt.many")
end

return rule {
  id = "api1/language", api = 1, version = "1.0.0", title = "All of Lua that there is",
  category = "host", severity = "info", formats = { "xspace", "kineto", "profile", "graph" },
  needs = { "step.median_ns" },

  check = function(p, cfg)
    globals()
    texts()
    lists()
    numbers()
    units()
    if p.fact["step.median_ns"] < 1e6 then return nil end
    return finding { condition = "all of it works", evidence = { { "one", 1 } },
                     remedy = { text = "None." }, impact = impact.none() }
  end,

  examples = {
    { name = "works", finding = true, facts = { ["step.median_ns"] = 1e7 } },
    { name = "is quiet", finding = false, facts = { ["step.median_ns"] = 1e5 } },
  },
}
