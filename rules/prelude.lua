-- What every rule finds around it, above the functions that C gives. Runs once in each new state,
-- before the rule, and returns nothing. `host` is the C side; it is not visible to rules.
local host = ...
local tag = {}           -- [table] = what a builder made it: "rule", "finding", "skip", "impact"

function sorted_pairs(t)
  if getmetatable(t) ~= nil then error("pairs takes plain tables", 2) end
  local keys = {}
  for key in host.next, t do keys[#keys + 1] = key end
  host.sort(keys, function(a, b)
    local x, y = type(a), type(b)
    if x ~= y then return x < y end
    if x == "number" or x == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  local at = 0
  return function()
    at = at + 1
    local key = keys[at]
    if key ~= nil then return key, t[key] end
  end
end
pairs = sorted_pairs

local function plain(t, name)
  if type(t) ~= "table" or getmetatable(t) ~= nil then
    error(name .. " takes a plain table", 3)
  end
end

table = { unpack = table.unpack, pack = table.pack }
function table.insert(t, at, value)
  plain(t, "table.insert")
  if value == nil then
    t[#t + 1] = at
    return
  end
  for i = #t, at, -1 do t[i + 1] = t[i] end
  t[at] = value
end
function table.remove(t, at)
  plain(t, "table.remove")
  local count = #t
  at = at or count
  local value = t[at]
  for i = at, count do t[i] = t[i + 1] end
  return value
end
function table.sort(t, less)
  plain(t, "table.sort")
  return host.sort(t, less or host.less)
end
local concat = host.concat
function table.concat(t, separator, from, to)
  plain(t, "table.concat")
  return concat(t, separator, from or 1, to or #t)
end

local function builder(kind)
  return function(t)
    if type(t) ~= "table" then error(kind .. " takes a table", 2) end
    t[tag] = kind
    return t
  end
end
rule = builder("rule")
finding = builder("finding")
skip = builder("skip")
host.tag = tag

impact = {}
for _, method in ipairs { "replay", "exposed", "share", "amdahl", "roofline", "none" } do
  impact[method] = function(t)
    t = t or {}
    if type(t) ~= "table" then error("impact." .. method .. " takes a table", 2) end
    t.method = method
    t[tag] = "impact"
    return t
  end
end

-- What the step saves without the excess of some cells: a query over rows of the table `excess`.
function impact.cells(query)
  local edits, ns = {}, 0
  for _, row in ipairs(query:top("ns", 64):rows()) do
    edits[#edits + 1] = { "scale", cell = row.cell, factor = row.factor }
    ns = ns + row.ns
  end
  edits.fallback = impact.exposed { ns = ns }
  return impact.replay(edits)
end

fmt = {}
for _, unit in ipairs { "ns", "share", "bytes", "count", "flops", "ratio" } do
  fmt[unit] = function(value) return host.format_unit(value, unit) end
end
function fmt.whole(count) return fmt.count(math.floor(count + 0.5)) end
function fmt.many(count, one, many)
  count = math.floor(count + 0.5)
  return fmt.count(count) .. " " .. (count == 1 and one or many)
end
fmt.ms = fmt.ns          -- "61.2 ms": the unit that fits
fmt.pct = fmt.share      -- "28.8 %"

-- A kernel's name as people say it: without what it returns, the types it was made for and what it takes. Those of
-- products by Tensile tell the tile first and much else behind it.
function fmt.kernel(name)
  local tile = name:match("^Cijk_\\w*?_MT\\d+x\\d+x\\d+") or
    name:match("^(?:void )?cutlass::(?:Kernel2?|device_kernel)<(?:\\w+::enable_\\w+<)?([\\w:]+)")
  name = name:gsub("^std::enable_if<.*?>::type (?=\\w+::)", "")
  local short = tile or name:gsub("\\(anonymous namespace\\)::|^void ", ""):gsub("<([^<>]|(?R))*>|\\(.*$", "")
  if short == "" then short = name end
  return #short > 64 and short:sub(1, 60) .. "…" or short
end

-- Whether a formula works on tensors of a size worth it: by its shapes, or where none were recorded by the time of its
-- longest op, products aside, since a few numbers take no longer than starting the op.
local LARGE_NS = 2e4
local function is_large(row, size, least)
  if size > 0 then return size >= least end
  return row.longest_ns >= LARGE_NS * row.count
end

-- What the rows of eager_idioms that a formula is about take a step, and what writing it as one op saves.
local function sum_idioms(p, formula)
  local sum = { ns = 0, low_ns = 0, high_ns = 0, count = 0, calls = 0 }
  for row in p:table("eager_idioms"):where { idiom = formula.idiom }:each() do
    local low, high = formula.price(row)
    if low then
      sum.ns, sum.low_ns, sum.high_ns = sum.ns + row.ns, sum.low_ns + math.max(low, 0), sum.high_ns + math.max(high, 0)
      sum.count, sum.calls = sum.count + row.count, sum.calls + row.calls
      if not sum.biggest or row.ns > sum.biggest.ns then sum.biggest = row end
    end
  end
  return sum
end

-- Formulas that compiling makes one pass of each, and what they are called.
local passes = { { key = "norm", idiom = "norm", word = "normalisation by hand" },
                 { key = "gelu", idiom = { like = "^gelu-(tanh|erf)$" }, word = "GELU by hand" },
                 { key = "glu", idiom = "glu", word = "gates by hand" },
                 { key = "rope", idiom = "rope", word = "rotary embedding by hand" },
                 { key = "chain", idiom = "chain", word = "other chains of elementwise ops" } }
local LARGE_TENSOR = 16384

-- An accelerator's memory holds each pass, whatever it computes: one op takes as long as about one of them.
local function price_passes(row)
  local calls = row.calls / math.max(row.count, 1)
  if calls < 2 or not is_large(row, row.elements, LARGE_TENSOR) then return nil end
  return math.max(1 - 1.5 / calls, 0) * row.ns, (1 - 0.5 / calls) * row.ns
end

-- What all such formulas take on an accelerator: one remedy mends them, so they are one finding, of the rule whose own
-- take most. { ns, low_ns, high_ns, calls, first: key of that one, evidence: a row each, by key: sums }.
local function sum_passes(p)
  local all = { ns = 0, low_ns = 0, high_ns = 0, calls = 0, evidence = {}, by_key = {} }
  for _, formula in ipairs(passes) do
    local sum = sum_idioms(p, { idiom = formula.idiom, price = price_passes })
    all.by_key[formula.key] = sum
    if sum.biggest then
      all.ns, all.calls = all.ns + sum.ns, all.calls + sum.calls
      all.low_ns, all.high_ns = all.low_ns + sum.low_ns, all.high_ns + sum.high_ns
      all.evidence[#all.evidence + 1] = { formula.word, sum.ns, "ns" }
      if not all.first or sum.ns > all.by_key[all.first].ns then all.first = formula.key end
    end
  end
  return all
end

-- Compiled code that ran op by op: its formulas are what the compiler made of the program's ops, and elementwise-chain
-- says what is wrong with all of them.
local LEAST_UNFUSED = 0.05
local function runs_op_by_op(p)
  return p:has("excess") and p:table("excess"):where { flaw = "unfused-region" }:sum("share") >= LEAST_UNFUSED
end

local function spelled_out(p, formula)
  local step_ns, sum = p.fact["step.ns"], sum_idioms(p, formula)
  if formula.passes and runs_op_by_op(p) then return nil end
  local all = formula.passes and p:has("device.idle_share") and sum_passes(p)
  if all then sum = all.by_key[formula.passes] end
  local ns, biggest = sum.ns, sum.biggest
  if not biggest or ns < formula.min_share * step_ns then return nil end
  local title = ("%s %s a step in %s calls"):format(formula.title, fmt.ms(ns), fmt.whole(sum.calls))
  local evidence = { { "time a step, backward included", ns, "ns", share = math.min(ns / step_ns, 1) },
                     { "times a step", sum.count, "count" },
                     { "calls of ops in it a step", sum.calls, "count" },
                     { "shapes", biggest.shapes or "unknown" } }
  local price = impact.exposed { ns = ns, low = sum.low_ns, high = sum.high_ns }
  if all and all.first ~= formula.passes then
    price = impact.none() -- it is part of the other finding's
  elseif all and #all.evidence > 1 then
    title = ("%s, with other formulas %s in %s calls"):format(title, fmt.ms(all.ns), fmt.whole(all.calls))
    for _, row in ipairs(all.evidence) do evidence[#evidence + 1] = row end
    price = impact.exposed { ns = all.ns, low = all.low_ns, high = all.high_ns }
  end
  return finding {
    title = title,
    severity = all and all.first ~= formula.passes and "info" or nil,
    subject = { op = biggest.first_op },
    locations = biggest.source_file and { { file = biggest.source_file, line = biggest.source_line } } or nil,
    evidence = evidence,
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(formula.min_share)),
    remedy = formula.remedy,
    impact = price,
    confidence = all and "medium" or formula.confidence,
  }
end

-- The lines of the user's program at which most of the time lies that a fact about PyTorch's steps counts, as a
-- finding's locations; nil where none is known.
local LINES_OF_A_FACT = 2
local function lines_of(p, fact)
  for _, name in ipairs { "eager_step_lines", "eager_waste_lines" } do
    local rows = p:has(name) and p:table(name):where { fact = fact }
    if rows and rows:count() > 0 then return rows:top("ns", LINES_OF_A_FACT):places() end
  end
  return nil
end

local function in_excess(p, kind)
  if not p:has("excess") then return nil end
  local cells = p:table("excess"):where { flaw = kind.flaw, cause = kind.cause, detail = kind.detail }
  local ns, share, worst = cells:sum("ns"), cells:sum("share"), cells:top("ns", 1):rows()[1]
  if not worst or share < kind.min_share then return nil end
  local title = (kind.titles or {})[worst.flaw] or kind.title
  return finding {
    title = title:format(fmt.ms(ns)),
    severity = kind.loud_share and (share >= kind.loud_share and "warn" or "info") or kind.severity,
    subject = { op = worst.op, scope = worst.region }, locations = cells:places(),
    evidence = { { kind.time .. " a step", ns, "ns", share = math.min(share, 1) },
                 { "seen by", worst.detail or "structure" }, { "where", worst.region or "the step" } },
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(kind.min_share)),
    remedy = type(kind.remedy) == "function" and kind.remedy(worst) or kind.remedy,
    impact = impact.cells(cells),
    confidence = kind.confidence,
  }
end

-- How much an accelerator waits for launches, without what recording takes of the host where steps are scheduled again.
local FEW_BUSY, SHORT_WAIT, LEAST_WAIT = 0.25, 2e6, 0.3
local function host_limit(p)
  if not p:has("device.idle_share") then return nil end
  local is_bare = p:has("replay.idle_share") and p:has("replay.without_recorder_ns")
  local step_ns = is_bare and p.fact["replay.without_recorder_ns"] or p.fact["step.ns"]
  local idle = is_bare and p.fact["replay.idle_share"] or p.fact["device.idle_share"]
  -- Every program pays for its launches. It is a flaw where they are nearly all that a step consists of.
  local is_flaw = 1 - idle < FEW_BUSY and idle * step_ns >= SHORT_WAIT
  return { busy = 1 - idle, waits = idle >= LEAST_WAIT, severity = is_flaw and "warn" or "info" }
end

-- How many times as fast something gets by what the device's peaks differ by, and at most as is usual.
local function faster_by(p, peaks, usual, of_peaks)
  return p:has(peaks) and math.max(1, math.min(usual, of_peaks * p.fact[peaks])) or usual
end

-- How products are computed in 16 bits. Before Ampere matrix units take float16 alone, whose gradients need a scaler.
local function in_16_bits(p)
  local name = p:has("device.half_type") and p.fact["device.half_type"] or "bfloat16"
  local code = name == "float16"
    and { pytorch = "with torch.autocast('cuda', torch.float16):   # and a torch.amp.GradScaler('cuda') in training",
          tensorflow = "tf.keras.mixed_precision.set_global_policy('mixed_float16')",
          jax = "x, params = jax.tree.map(lambda a: a.astype(jnp.float16), (x, params))" } or
               { pytorch = "with torch.autocast('cuda', torch.bfloat16):",
                 tensorflow = "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')",
                 jax = "x, params = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (x, params))" }
  return { dtype = name, code = code[p.framework] }
end

-- Host work a step that a few slow steps alone do beyond what the others do: no step's launches are slow for it.
local function stalled_ns(p)
  if not p.fact["step.is_uneven"] or not p:has("slow.part") or p.fact["slow.part"] ~= "host" then return 0 end
  return p.fact["slow.part_ns"] * p.fact["slow.count"] / p.fact["step.used"]
end

-- Layers slice and multiply as rounds of a loop do, in kernels as short; but each multiplies by weights of its own.
-- Where nothing is trained nobody knows how many there are.
local function may_be_layers(p, row)
  local weights = p:has("torch.accumulated_gradients") and p.fact["torch.accumulated_gradients"] or 0
  return row.products >= 0.5 * row.repeats and (weights == 0 or row.products < 2 * weights)
end

-- The costliest loop of the eager program that a kind of loops is about: price tells its time a step and what it saves.
-- An accelerator that does not wait for the host loses by it where each slice has a gradient of the whole tensor.
local function in_loop(p, kind)
  local step_ns, worst = p.fact["step.ns"], nil
  local limit = host_limit(p)
  local sliced_ns = limit and not limit.waits and (p:has("torch.sliced_gradients_ns")
    and p.fact["torch.sliced_gradients_ns"] or 0) or nil
  if sliced_ns and sliced_ns < kind.min_share * step_ns then return nil end
  for row in p:table("eager_loops"):each() do
    local ns, low, high = kind.price(row)
    local is_loop = ns and not (limit and may_be_layers(p, row)) and ns >= kind.min_share * step_ns
    if is_loop and (not worst or ns > worst.ns) then
      worst = { row = row, ns = ns, low = low, high = high }
    end
  end
  if not worst then return nil end
  local row, ns, rounds = worst.row, worst.ns, fmt.whole(worst.row.repeats)
  if sliced_ns then
    ns, worst.low = math.max(ns, sliced_ns), 0.9 * (1 - 1 / row.repeats) * sliced_ns
  elseif limit then -- Launches go with their rounds; on a host larger calls take longer, too.
    worst.low = math.max(worst.low, 0.95 * worst.high)
  end
  return finding {
    title = (type(kind.title) == "function" and kind.title(row) or kind.title):format(rounds, fmt.ms(ns)),
    -- Without shapes nobody knows whether the rounds take rows of one tensor, or each what the one before left.
    severity = kind.severity and kind.severity(row) or not row.shapes and "info" or nil,
    subject = { op = row.anchor },
    locations = row.source_file and { { file = row.source_file, line = row.source_line } } or nil,
    evidence = { { "time a step, backward and pauses included", ns, "ns", share = math.min(ns / step_ns, 1) },
                 { "repeats a step", row.repeats, "count" },
                 { "calls a step", row.calls, "count" },
                 { "typical call", row.call_ns, "ns" },
                 { "a round", row.ops or "unknown" },
                 { "shapes", row.shapes or "unknown" },
                 sliced_ns and { "gradients of its slices, each as large as the whole", sliced_ns, "ns",
                                 share = math.min(sliced_ns / step_ns, 1) } or nil },
    condition = ("%s rounds take %s of the step, %s accepted"):format(rounds, fmt.pct(ns / step_ns),
      fmt.pct(kind.min_share)),
    remedy = kind.remedy(row),
    impact = impact.exposed { ns = ns, low = math.max(math.min(worst.low, ns), 0), high = math.min(worst.high, ns) },
    -- What the rounds start on an accelerator goes with them.
    claims = limit and { { parts = { "host", "idle.launch" } }, { parts = { "compute" } } } or nil,
    confidence = "medium",
  }
end

-- Kernels that take much of a step: `find` gives what a row's finding says, but for what is the same of all kernels.
local function in_kernels(p, kind)
  local step_ns, findings = p.fact["step.ns"], {}
  local where = { total_ns = { min = kind.min_share * step_ns } }
  for column, condition in pairs(kind.where) do where[column] = condition end
  for _, row in ipairs(p:table("kernels"):where(where):top("total_ns", kind.looked_at):rows()) do
    local said = #findings < kind.most and kind.find(row)
    if said then
      said.subject = { kernel = row.name, op = row.op ~= "" and row.op or nil }
      table.insert(said.evidence, 1,
        { "its time a step", row.total_ns, "ns", share = math.min(1, row.total_ns / step_ns) })
      said.claims = { { parts = { "compute" }, name = row.name:gsub("[^A-Za-z0-9_]", ".") } }
      said.confidence = "low"
      findings[#findings + 1] = finding(said)
    end
  end
  return findings
end

-- Copies of one direction that nothing hides. The facts sum over devices that copy side by side; the step waits for
-- one of them.
local function exposed_copies(p, kind)
  local of = "copies." .. kind.direction
  local ns = math.min(p.fact[of .. "_exposed_ns"], p.fact["part.copy_ns"])
  local share = math.min(1, ns / p.fact["step.ns"])
  if share < kind.min_share then return nil end
  return finding {
    title = ("%s take %s (%s) of each step"):format(kind.title, fmt.ms(ns), fmt.pct(share)),
    severity = kind.severity and kind.severity(share),
    evidence = { { kind.title:gsub("^C", "c") .. " that nothing hides, a step", ns, "ns", share = share },
                 { "all of them a step", p.fact[of .. "_ns"], "ns" },
                 { "copies a step", p.fact[of .. "_count"], "count" },
                 { "bytes a step", p.fact[of .. "_bytes"], "bytes" } },
    locations = p:table("copies"):where { direction = kind.direction }:top("exposed_ns", 3):places(),
    condition = ("uncovered copies take %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(kind.min_share)),
    remedy = kind.remedy,
    impact = impact.replay { { "overlap", parts = { "copy" }, name = kind.name },
                             fallback = impact.exposed { ns = ns } },
    confidence = "medium",
  }
end

-- What the step saves where edits take calls away that the device waits for, and what a finding of that claims: a host
-- that waited comes late for all that it launches behind, so that where a host that is faster besides hardly saves
-- more, all that the device waits for has this one cause.
local function without_calls(p, edits)
  if not p:has("device.idle_share") then return nil end
  local step_ns, saved_ns = p:whatif(edits)
  if not step_ns then return nil end
  local more = { table.unpack(edits) }
  more[#more + 1] = { "scale", parts = { "host" }, factor = 0.4 }
  local faster_ns, all_ns = p:whatif(more)
  local is_cause = faster_ns and all_ns <= 2.5 * saved_ns
  return saved_ns, is_cause and { { parts = { "host", "idle.launch", "idle.sync", "idle.other" } } } or nil
end

-- One of the device's two limits, arithmetic and memory bandwidth, is mostly used, and the other is not.
local function at_limit(p, kind)
  local memory = p.fact["flops.bytes_per_step"] / (p.fact["flops.memory_peak_per_s"] * p.fact["step.ns"] / 1e9)
  local compute = p.fact["flops.mfu"]
  local use, other = compute, memory
  if kind.limit == "memory" then use, other = memory, compute end
  if p.fact["flops.known_share"] < kind.min_known or use < kind.min_use or use > 1.05 or other >= kind.max_other then
    return nil
  end
  return finding {
    title = kind.title:format(fmt.pct(math.min(1, use)), fmt.pct(other)),
    evidence = { { "memory bandwidth used", math.min(1, memory), "share" }, { "arithmetic used", compute, "share" },
                 { "traffic a step", p.fact["flops.bytes_per_step"], "bytes" } },
    condition = ("%s used, %s of the other"):format(fmt.pct(use), fmt.pct(other)),
    remedy = kind.remedy,
    impact = impact.none(),
    confidence = "medium",
  }
end

-- The profile as a rule sees it.
function host.profile(format, framework)
  local p = { format = format, framework = framework }
  p.fact = setmetatable({}, {
    __index = function(_, name) return host.fact(name) end,
    __call = function(_, _, name) return host.fact(name) end,
    __newindex = function() error("facts cannot be changed", 2) end,
  })
  function p:has(name) return host.has(name) end
  function p:table(name) return host.table(name) end
  function p:whatif(edits) return host.whatif(edits) end
  function p:class_of(op) return host.op_class(op) end
  function p:names(list) return host.names(list) end
  function p:spelled_out(formula) return spelled_out(p, formula) end
  function p:is_large(row, size, least) return is_large(row, size, least) end
  function p:lines_of(fact) return lines_of(p, fact) end
  function p:in_excess(kind) return in_excess(p, kind) end
  function p:host_limit() return host_limit(p) end
  function p:stalled_ns() return stalled_ns(p) end
  function p:faster_by(peaks, usual, of_peaks) return faster_by(p, peaks, usual, of_peaks) end
  function p:in_16_bits() return in_16_bits(p) end
  function p:in_loop(kind) return in_loop(p, kind) end
  function p:in_kernels(kind) return in_kernels(p, kind) end
  function p:exposed_copies(kind) return exposed_copies(p, kind) end
  function p:without_calls(edits) return without_calls(p, edits) end
  function p:at_limit(kind) return at_limit(p, kind) end
  return p
end
