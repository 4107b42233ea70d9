-- A whole embedding table is updated although a step looks up few rows.
local SPARSE = "emb = nn.Embedding(rows, dim, sparse=True); optimizer = torch.optim.SparseAdam(emb.parameters())"
local PASSES = "^aten::(add_|mul_|div_|lerp_|sqrt|addcmul_|addcdiv_|linalg_vector_norm|copy_|"
  .. "_fused_(adamw?|sgd|adagrad)_)$"

-- Without shapes: what makes the gradient mostly fills it with zeros, for few rows are added to it. An op of the update
-- or of clipping whose longest call takes about as long passes over the table, too.
local function of_zeros(p, cfg)
  if not p:has("activities") then return nil end
  local made = p:table("activities"):where { name = { like = "^aten::_?embedding(_bag)?_dense_backward$" } }
  local gradient_ns, calls = made:sum("total_ns"), made:sum("events")
  local filling_ns = gradient_ns - made:sum("self_ns")
  if gradient_ns <= 0 or filling_ns < cfg.min_filled * gradient_ns then return nil end
  local pass_ns = made:max("max_ns") * filling_ns / gradient_ns
  local passes_ns, worst = 0, nil
  for row in p:table("activities"):where { name = { like = PASSES } }:each() do
    if row.max_ns >= cfg.min_of_filling * pass_ns and row.max_ns <= cfg.max_of_filling * pass_ns then
      passes_ns = passes_ns + math.min(row.total_ns, calls * row.max_ns)
      if not worst or row.max_ns > worst.max_ns then worst = row end
    end
  end
  passes_ns = math.min(passes_ns, (p.fact["torch.update_ns"] or 0) + (p.fact["torch.clear_ns"] or 0)
    + (p.fact["torch.clip_ns"] or 0) + (p.fact["torch.accumulated_ns"] or 0))
  local all_ns = gradient_ns + passes_ns
  if all_ns < cfg.min_step_share * p.fact["step.ns"] then return nil end
  return finding {
    title = ("The gradient of a table is mostly zeros: making it and passing over it takes %s a step"):format(
      fmt.ms(all_ns)),
    locations = p:lines_of("torch.embedding_gradient_ns"),
    evidence = { { "making the gradient a step", gradient_ns, "ns",
                   share = math.min(1, gradient_ns / p.fact["step.ns"]) },
                 { "of that, filling it with zeros", filling_ns, "ns" },
                 { "ops that take about as long, in clipping and update", passes_ns, "ns" },
                 worst and { worst.name .. ", its longest call", worst.max_ns, "ns" } or nil },
    condition = ("zeros take %s of the gradient's time, %s accepted"):format(
      fmt.pct(filling_ns / gradient_ns), fmt.pct(cfg.min_filled)),
    remedy = { text = "Make the gradient sparse, so that only the rows looked up are written and updated.",
               code = SPARSE },
    impact = impact.exposed { ns = all_ns, low = 0.8 * gradient_ns, high = all_ns },
    confidence = "low",
  }
end

local function of_pytorch(p, cfg)
  local step_ns = p.fact["step.ns"]
  -- On an accelerator embedding-bound says it.
  if not p:has("torch.embedding_rows") or not p:has("torch.forward_gap_ns") then return nil end
  if p.fact["torch.embedding_rows"] == 0 then return of_zeros(p, cfg) end
  local rows, lookups, gradient_ns = p.fact["torch.embedding_rows"], p.fact["torch.embedding_lookups"],
      p.fact["torch.embedding_gradient_ns"]
  if gradient_ns <= 0 or lookups <= 0 or rows < cfg.min_ratio * lookups or rows < cfg.min_rows then
    return nil
  end
  local elements, all = p.fact["torch.embedding_elements"] or 0, p.fact["torch.accumulated_elements"] or 0
  local share = all > 0 and math.min(1, elements / all) or 0
  local update_ns = (p.fact["torch.update_ns"] or 0) + (p.fact["torch.clear_ns"] or 0)
    + (p.fact["torch.accumulated_ns"] or 0)
  local high_ns = gradient_ns + share * update_ns
  if high_ns < cfg.min_step_share * step_ns then return nil end
  local low_ns = 0.8 * high_ns
  local title = ("All %s rows of a table are updated for at most %s lookups"):format(fmt.count(rows),
      fmt.count(lookups))
  local evidence = { { "gradient and update of the table a step", high_ns, "ns", share = math.min(1,
      high_ns / step_ns) },
                     { "rows", rows, "count" }, { "lookups a step", lookups, "count" },
                     { "share of such tables in all gradients", share, "share" } }
  local condition = ("%s rows for %s lookups, %s times as many accepted"):format(fmt.count(rows), fmt.count(lookups),
      fmt.count(cfg.min_ratio))

  return finding {
    title = title,
    locations = p:lines_of("torch.embedding_gradient_ns"),
    evidence = evidence,
    condition = condition,
    remedy = { text = "Make the gradient sparse, so that only the rows looked up are written and updated. Where the "
                 .. "words stay the same, as in fine-tuning by adapters, leave the table frozen.",
               code = SPARSE },
    impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
    confidence = "medium",
  }
end

local function product(dims)
  local n = 1
  for d in dims:gmatch("[0-9]+") do n = n * tonumber(d) end
  return n
end

-- What a gather gives, or a scatter puts in: its axes.
local function axes_moved(name, shapes)
  return name:find("(?i)scatter") and shapes:match("^\\[[0-9,]+\\]x\\[[0-9,]+\\]x\\[([0-9,]+)\\]")
    or shapes:match("->\\[([0-9,]+)\\]$")
end

-- How many rows as wide as those of an array these are.
local function rows_moved(dims, count, width)
  if not dims or dims == count .. "," .. width or dims:match(",([0-9]+)$") ~= width then return 0 end
  return product(dims) / tonumber(width)
end

-- A table of [width, rows], whose columns are moved.
local function has_columns(dims, first, last, cfg)
  return tonumber(first) < cfg.min_rows and tonumber(last) >= cfg.min_rows and dims
    and dims ~= first .. "," .. last and ("," .. dims .. ","):find("," .. first .. ",(1,)?$")
end

-- Collectives that add up the table's gradient over devices: name, and which part of their elements is the table's.
local function exchanged(rows, shape)
  for _, row in ipairs(rows) do
    local result = (row.shapes or ""):match("->(.*)$") or ""
    local own, all = 0, 0
    for dims in result:gmatch("\\[[0-9,]*\\]") do
      all = all + product(dims)
      if dims == shape then own = own + product(dims) end
    end
    if (row.type or ""):find("^all-reduce") and own > 0 then return row, own / all end
  end
end

-- Variables that TensorFlow handles by reference have no shape where their rows are taken or updated: how many, and how
-- wide, stands there. What is as wide and far longer is the table they are of.
local function by_reference(rows, cfg, tables)
  local ids_by_width = {}
  for _, row in ipairs(rows) do
    local type, shapes = row.type or "", row.shapes or ""
    local dims = type:find("^Resource(Scatter|SparseApply)") and shapes:match("x\\[([0-9,]+)\\]$")
      or type == "ResourceGather" and shapes:match("->\\[([0-9,]+)\\]$")
    local width = dims and dims:match(",([0-9]+)$")
    if width then
      ids_by_width[width] = math.max(ids_by_width[width] or 0, product(dims) / tonumber(width))
    end
  end
  for _, row in ipairs(rows) do
    local count, width = (row.shapes or ""):match("->\\[([0-9]+),([0-9]+)\\]$")
    local ids = width and ids_by_width[width]
    if ids and tonumber(count) >= cfg.min_rows and ids <= cfg.max_touched * tonumber(count) then
      tables["[" .. count .. "," .. width .. "]"] = { rows = tonumber(count), ids = ids }
    end
  end
end

-- Keras's optimizers with moments pass over all rows of these, whatever the gradient is.
local WITH_MOMENTS = "^(adam|adamw|nadam|adamax|adagrad|adadelta|rmsprop|lion|ftrl|adafactor)(_[0-9]+)?/"

-- What is left of ops on a table: of those in the scope of such an optimizer, `moments`, of others `kept`.
local function edits_of(names, kept, moments, scopes)
  local lists, edits = { {}, {} }, {}
  for i, name in ipairs(names) do
    local is_of_moments = name:gsub("^\\\\Q", ""):find(WITH_MOMENTS) or (scopes and scopes[i] or ""):find(WITH_MOMENTS)
    local list = lists[is_of_moments and 2 or 1]
    list[#list + 1] = name
  end
  for i, factor in ipairs { kept, math.max(kept, moments) } do
    if #lists[i] > 0 then
      edits[#edits + 1] = { "scale", name = table.concat(lists[i], "|"), factor = factor }
    end
  end
  return edits, #lists[2] > 0
end

local function scope_of(row) return (row.name or ""):match("^([^/]+)/") or "" end

-- The scope's ops on whole variables without shapes: those of `types` that take `least` of its longest one and more.
local function beside(rows, longest, least, types)
  local found = { shape = "unknown shape", ns = 0, top = longest, names = {} }
  for _, row in ipairs(rows) do
    if row.self_ns >= least * longest.self_ns and scope_of(row) == scope_of(longest) and
        (row.type or ""):find(types) then
      found.ns = found.ns + row.self_ns
      found.names[#found.names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
    end
  end
  return found
end

-- TensorFlow without shapes: a step that updates rows, and passes over whole variables that take longer than all
-- products. Weights that products use are passed over faster than they are multiplied: these are a table's.
local function passed_over(p, cfg, rows, all_ns)
  local products_ns, scopes = 0, {}
  for _, row in ipairs(rows) do
    local class, scope = p:class_of(row.type or ""), scope_of(row)
    if class == "product" or class == "convolution" then products_ns = products_ns + row.self_ns end
    if scope ~= "" and (row.type or ""):find("^Resource(Scatter(Sub|Add|Update)|SparseApply\\w+)$") then
      scopes[scope] = true
    end
  end
  local longest
  for _, row in ipairs(rows) do
    if (row.type or ""):find("^Assign(Sub|Add)?VariableOp$") and scopes[scope_of(row)] and
        (not longest or row.self_ns > longest.self_ns) then longest = row end
  end
  if not longest or longest.self_ns < 0.5 * cfg.min_share * all_ns or longest.self_ns < cfg.passes * products_ns then
    return nil
  end
  return beside(rows, longest, 0.3, "^(Assign(Sub|Add)?VariableOp|ReadVariableOp|Mul|Sub|AddV2)$")
end

-- TensorFlow without shapes: an optimizer that writes rows of a variable, and reads another of its variables whole,
-- which copies it, as Keras's Adagrad does for the root of what it added up. Weights without rows are read without a
-- copy; of many small tables most of the time is starting ops, which embedding-bound says.
local function state_read(p, cfg, rows)
  local scopes, longest = {}, nil
  if p:has("device.idle_share") then return nil end
  if p:has("excess") and p:table("excess"):where { flaw = "separate-tables" }:count() > 0 then return nil end
  for _, row in ipairs(rows) do
    if (row.type or ""):find("^ResourceScatter(Sub|Add|Update)$") then
      scopes[scope_of(row)] = true
    end
  end
  for _, row in ipairs(rows) do
    if row.type == "ReadVariableOp" and row.is_eager == false and scopes[scope_of(row)] and
        row.name:find(WITH_MOMENTS) and (row.mean_ns or 0) >= cfg.min_copy_ns and
        (not longest or row.self_ns > longest.self_ns) then longest = row end
  end
  if not longest then return nil end
  local found = beside(rows, longest, 0.1,
    "^(ReadVariableOp|AddV2|Sqrt|Rsqrt|IsNan|Equal|LogicalOr|Any|Mul|Sub|RealDiv)$")
  found.is_state = true
  return found
end

-- The op that a densified gradient is for, by the name of the sum: TensorFlow names the tensor that it makes of slices
-- after the input that takes it, as in .../StridedSliceGrad/dy.
local function taker_of(rows, sum)
  local taker = (sum.name or ""):match("^(.+)/[^/]+$")
  for _, row in ipairs(rows) do
    if row.name == taker and (row.type or ""):find("^(StridedSliceGrad|Slice|Split|SplitV|Pad|PadV2|Mul|Cast)$") then
      return row
    end
  end
end

-- TensorFlow without shapes: slices summed into a dense table.
local function summed(p, cfg, ops, rows, all_ns)
  local sums = ops:where { type = { like = "^UnsortedSegmentSum$" } }
  local gathers = ops:where { type = { like = p:names("tf_row_lookup") } }
  -- An optimizer goes over the table some fifteen times: a sum far below that part of the least share is no matter.
  if sums:count() == 0 or gathers:count() == 0 or sums:max("self_ns") < cfg.min_share / 15 * all_ns then return nil end
  local row = sums:top("self_ns", 1):rows()[1]
  -- Where the table was cut or joined before the lookups, its gradient passes through that as a whole.
  local taker = taker_of(rows, row)
  if taker and taker.self_ns < row.self_ns then taker = nil end
  if row.self_ns <= 4 * gathers:sum("self_ns") and not taker then return nil end
  local found = { shape = "unknown shape", ns = 0, top = row, names = {} }
  -- Passes over a table of that size take about as long as the dense sum, and run as often: what a loop adds up in each
  -- of its rounds is of its own weights.
  for _, other in ipairs(rows) do
    local type = other.type or ""
    local is_pass = other.self_ns >= 0.3 * row.self_ns and other.self_ns <= 4 * row.self_ns and
      (other.calls or 1) <= 2 * (row.calls or 1) and
      (type:find(p:names("tf_table_update")) or taker and type:find("^(ConcatV2|PadV?2?)$"))
    if is_pass or other == taker then
      found.ns = found.ns + other.self_ns
      found.names[#found.names + 1] = "\\Q" .. other.name:gsub(",", ".") .. "\\E"
      if other.self_ns > found.top.self_ns then found.top = other end
    end
  end
  return found
end

return rule {
  id = "dense-embedding-gradient", api = 1, version = "1.0.0",
  title = "A whole embedding table is updated for a few rows",
  category = "kernels", severity = "warn",
  formats = { "xspace", "kineto", "graph", "profile" },
  needs = { "step.ns", "ops" },
  cause = "compute.embedding", tags = { "embedding", "kernels" },
  more_specific_than = { "hot-op", "gather-scatter-bound", "roofline-gap", "unfused-optimizer" },
  params = {
    min_step_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that gradient and update take, for PyTorch" },
    min_ratio = { default = 10, min = 1, max = 1e9, unit = "ratio", doc = "rows over lookups, for PyTorch" },
    min_filled = { default = 0.5, min = 0, max = 1, unit = "share",
      doc = "PyTorch without shapes: of making the gradient, what fills it with zeros" },
    min_of_filling = { default = 0.4, min = 0, max = 100, unit = "ratio",
      doc = "longest call of an op over filling a gradient, from which it passes over the table" },
    max_of_filling = { default = 5, min = 0, max = 100, unit = "ratio", doc = "above, it does something else" },
    min_share = { default = 0.15, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops that updates the table" },
    min_rows = { default = 4096, min = 2, max = 1e12, unit = "count", doc = "smaller tables are cheap to update" },
    passes = { default = 2, min = 0, max = 1e6, unit = "ratio",
               doc = "without shapes: a pass over a variable, beside updated rows, over the time of products" },
    min_copy_ns = { default = 5e4, min = 0, max = 1e12, unit = "ns",
                    doc = "TensorFlow without shapes: a read that takes this long copies the variable" },
    kept_moments = { default = 0.5, min = 0, max = 1, unit = "ratio",
                     doc = "part of what a Keras optimizer with moments does on the table that stays, whatever the "
                       .. "gradient is" },
    max_touched = { default = 0.05, min = 0, max = 1, unit = "share",
        doc = "share of the rows that a step looks up" },
  },
  doc = [[
A lookup touches the rows of its ids; a dense gradient and its optimizer touch all of them. Seen as a gather from a
table [rows, width], or an update of a few rows that are as wide, beside ops whose result is the whole table. Priced
as those ops, of which the touched share stays, and half of what a Keras optimizer with moments does, which passes
over all rows whatever the gradient is; and of an all-reduce that adds the gradient up over devices what goes for rows
alone. Silent for small tables, many ids, arrays of which another op moves as many rows as they have, and where shapes
are unknown and neither zeros take most of the time that PyTorch takes to make the gradient, nor a segment sum of
TensorFlow's densified gradients shows, longer than the lookups or on its way through what cut the table before them,
nor, in the scope that updates rows, an assignment that takes longer than the products, as weight decay of the whole
table does. A note where an optimizer of Keras reads what it keeps of all rows though it writes few.]],

  check = function(p, cfg)
    if p.format == "kineto" then return of_pytorch(p, cfg) end
    local ops = p:table("ops")
    local all_ns = ops:sum("self_ns")
    if all_ns <= 0 then return nil end
    local rows = ops:top("self_ns", 400):rows()
    -- Where an op moves as many rows as an array has, as for edges that join points, updating those alone spares none.
    local tables, used = {}, {}
    for _, row in ipairs(rows) do
      local name = (row.name or "") .. " " .. (row.type or "")
      local shapes = row.shapes or ""
      local count, width = shapes:match("^\\[([0-9]+),([0-9]+)\\]x")
      local shape = count and ("[" .. count .. "," .. width .. "]")
      local is_move = count and name:find("(?i)gather|scatter|embedding|index_select")
      local dims = is_move and axes_moved(name, shapes)
      if dims and has_columns(dims, count, width, cfg) then
        dims, count, width = dims:gsub(",1$", ""), width, count
      end
      if is_move and tonumber(count) >= cfg.min_rows then
        local ids = shapes:match("^\\[[0-9,]+\\]x\\[([0-9,]+)\\]")
        -- XLA knows no number of rows that differ: what an optimizer adds up by row it writes in as many as there are.
        local is_padded = p.framework == "tensorflow" and (row.scope or ""):find("/ResourceScatter(Sub|Add|Update)")
        if rows_moved(dims, count, width) >= tonumber(count) and not is_padded then used[shape] = true end
        if ids and product(ids) <= cfg.max_touched * tonumber(count) then
          tables[shape] = { rows = tonumber(count), ids = product(ids) }
        end
      end
    end
    if p.framework == "tensorflow" then by_reference(rows, cfg, tables) end
    local best
    for shape in sorted_pairs(used) do tables[shape] = nil end
    for shape, info in sorted_pairs(tables) do
      local ns, names, top, scopes = 0, {}, nil, {}
      for _, row in ipairs(rows) do
        local name = (row.name or "") .. " " .. (row.type or "")
        local result = (row.shapes or ""):match("->(.*)$") or ""
        -- What is assigned by reference gives nothing back.
        if (row.type or ""):find("^Assign\\w*VariableOp$") then
          result = (row.shapes or ""):match("x(\\[[0-9,]+\\])$") or ""
        end
        -- A copy of the table before a part of it changes is there because the table may not be overwritten.
        local is_copy = row.type == "copy" and p:has("program.state_bytes") and
          p.fact["program.donated_bytes"] < p.fact["program.state_bytes"]
        -- Sparse updates hand on the table and touch the rows of their ids.
        local is_sparse = (row.type or ""):find("^(Resource)?(SparseApply|Scatter)")
        -- A product makes the gradient of a layer as large as the table, which needs all of it.
        local is_product = (row.type or ""):find("MatMul")
        local is_exchange = (row.type or ""):find("^all-reduce") -- comes on top
        if result == shape and not (is_exchange or is_copy or is_sparse or is_product or name:find("(?i)gather")) then
          ns, top = ns + row.self_ns, top or row
          names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
          scopes[#names] = row.scope
        end
      end
      if top and (not best or ns > best.ns) then best = { shape = shape, info = info, ns = ns, names = names,
          top = top, scopes = scopes } end
    end
    best = best or summed(p, cfg, ops, rows, all_ns)
    best = best or passed_over(p, cfg, rows, all_ns)
    best = best or p.framework == "tensorflow" and state_read(p, cfg, rows) or nil
    if not best or best.ns / all_ns < cfg.min_share then return nil end

    -- Ops of several threads overlap: of computing they take what they are of all ops.
    local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or p.fact["step.ns"]
    local table_ns = math.min(best.ns, best.ns / all_ns * computing_ns)
    local evidence = { { "updating the table a step", table_ns, "ns", share = table_ns / p.fact["step.ns"] },
                       { "table", best.shape }, { "longest op", best.top.name } }
    local kept = 0.1
    if best.info then
      evidence[#evidence + 1] = { "rows", best.info.rows, "count" }
      evidence[#evidence + 1] = { "rows looked up a step", best.info.ids, "count" }
      kept = math.max(best.info.ids / best.info.rows, 0.02)
    end
    local edits, has_moments = edits_of(best.names, kept, cfg.kept_moments, best.scopes)
    local exchange, part = exchanged(rows, best.shape)
    if exchange and p:has("comm.ns") and p.fact["comm.ns"] > 0 then
      -- Every device sends its rows to all; until the last one has come, less data help nothing.
      local devices = math.max(p:table("collectives"):max("group_size") or 1, 1)
      local moving = 1 - math.min((p.fact["comm.wait_ns"] or 0) / p.fact["comm.ns"], 1)
      edits[#edits + 1] = { "scale", name = "\\Q" .. exchange.name .. "\\E",
                            factor = 1 - part * moving * math.max(1 - devices * kept, 0) }
      evidence[#evidence + 1] = { "of " .. exchange.name .. " the table's", part, "share" }
    end
    local spared_ns = (1 - kept) * table_ns
    edits.fallback = impact.exposed { ns = spared_ns, low = 0.7 * spared_ns, high = spared_ns }
    local is_compiled = p.framework == "tensorflow" and best.top.type == "fusion"
    return finding {
      title = ("Updating all of an embedding table takes %s of op time"):format(fmt.pct(best.ns / all_ns)),
      severity = best.is_state and "info" or nil,
      subject = { op = best.top.name }, evidence = evidence,
      condition = ("ops on the whole table take %s of op time, %s accepted"):format(fmt.pct(best.ns / all_ns),
          fmt.pct(cfg.min_share)),
      remedy = { text = "Keep the gradient sparse and update only the rows that were looked up." .. (is_compiled and
                   " What XLA compiles adds rows up in an array as large as the table." or "") .. (has_moments and
                   " Keras's optimizers with moments pass over all rows even so: give the table one without, or "
                   .. "moments of the rows looked up." or ""),
                 code = p.framework == "pytorch" and "nn.Embedding(n, d, sparse=True)   # with SparseAdam or SGD" or
                        p.framework == "jax" and
                            "table = table.at[ids].add(-lr * grad_rows)   # no dense optimizer state on the table" or
                        is_compiled and "model.compile(optimizer, loss, jit_compile=False)" or
                        has_moments and "keras.optimizers.SGD(0.5).apply([table_gradient], [table])   "
                        .. "# updates the rows looked up; Adam for the rest" or
                        "opt.apply_gradients(...)   "
                        .. "# tf.IndexedSlices: no regulariser or clipping that densifies them" },
      impact = impact.replay(edits),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "dense update of a large table", framework = "jax", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather.1", type = "gather", shapes = "[100000,64]x[256]->[256,64]",
          self_ns = 1e5 },
                         { name = "multiply_subtract_fusion", type = "fusion",
                             shapes = "[100000,64]x[100000,64]->[100000,64]", self_ns = 7e6 } } } },
    -- XLA pads the rows that Adagrad adds up to as many as the table has. Of 3 ms 3072 rows of 120000 stay, of 4 ms in
    -- the optimizer's scope half.
    { name = "sparse rows that XLA makes as many as the table has", framework = "tensorflow", format = "xspace",
      finding = true, replay = { 2.9232e6, 4.9232e6 }, impact_ns = 4.9232e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather_fusion", type = "fusion", shapes = "[120000,48]x[48,64]->[48,64,48]",
                           self_ns = 1e5 },
                         { name = "wrapped_scatter", type = "fusion", scope = "adagrad/ResourceScatterAdd",
                           shapes = "[120000,48]x[120000,1]x[120000,1,48]->[120000,48]", self_ns = 3e5 },
                         { name = "divide_pad_fusion", type = "fusion", self_ns = 3e6,
                           shapes = "[3072,48]x[120000,48]x[3072]->[120000,48]" },
                         { name = "add_sqrt_fusion", type = "fusion", scope = "adagrad/Sqrt",
                           shapes = "[120000,48]->[120000,48]", self_ns = 4e6 } } } },
    { name = "rows that are added up in as many as there are", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather_fusion", type = "fusion", shapes = "[120000,48]x[48,64]->[48,64,48]",
                           self_ns = 1e5 },
                         { name = "wrapped_scatter", type = "fusion", scope = "points/UnsortedSegmentSum",
                           shapes = "[120000,48]x[120000,1]x[120000,1,48]->[120000,48]", self_ns = 3e5 },
                         { name = "add_sqrt_fusion", type = "fusion", scope = "points/Sqrt",
                           shapes = "[120000,48]->[120000,48]", self_ns = 4e6 } } } },
    { name = "a dense gradient that devices add up", framework = "jax", format = "xspace", finding = true,
      replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["comm.ns"] = 4e6, ["comm.wait_ns"] = 1e6 },
      tables = { collectives = { { name = "all-reduce", type = "all-reduce", group_size = 4 } },
                 ops = { { name = "gather.1", type = "gather", shapes = "[100000,64]x[256]->[256,64]", self_ns = 1e5 },
                         { name = "all-reduce", type = "all-reduce", shapes = "[100000,64]x[64]->[100000,64],[64]",
                           self_ns = 4e6 },
                         { name = "subtract_fusion", type = "fusion",
                           shapes = "[100000,64]x[100000,64]->[100000,64]", self_ns = 3e6 } } } },
    { name = "a table of which columns are looked up", framework = "jax", format = "xspace", finding = true,
      replay = { 6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather.1", type = "gather", shapes = "[64,100000]x[256,4]->[256,4,64]",
          self_ns = 1e5 },
                         { name = "wrapped_scatter", type = "fusion", self_ns = 2e5,
                           shapes = "[64,100000]x[1024,1]x[1024,64,1]->[64,100000]" },
                         { name = "multiply_subtract_fusion", type = "fusion",
                             shapes = "[64,100000]x[64,100000]->[64,100000]", self_ns = 7e6 } } } },
    -- Passes of 4.5 ms over [50000,32], of which 2 in a hundred rows are touched: 98 % go.
    { name = "moving averages of a table of which rows are updated", framework = "tensorflow", format = "graph",
      finding = true, replay = { 4.41e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "update/ResourceScatterAdd", type = "ResourceScatterAdd",
                           shapes = "[]x[1000]x[1000,32]", self_ns = 2e5 },
                         { name = "average/sub", type = "Sub", shapes = "[50000,32]x[50000,32]->[50000,32]",
                           self_ns = 3e6 },
                         { name = "average/AssignSub", type = "AssignSubVariableOp", shapes = "[]x[50000,32]",
                           self_ns = 1.5e6 },
                         { name = "MatMul", type = "MatMul", shapes = "[128,256]x[256,64]->[128,64]",
                           self_ns = 1e6 } } } },
    { name = "a sparse update", framework = "tensorflow", format = "profile", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "embedding_lookup", type = "GatherV2", shapes = "[100000,64]x[256]x[]->[256,64]",
                           self_ns = 1e5 },
                         { name = "update", type = "SparseApplyAdagrad",
                           shapes = "[100000,64]x[100000,64]x[]x[256,64]x[?]->[100000,64]", self_ns = 7e6 } } } },
    { name = "a layer over all classes, as large as the table", framework = "tensorflow", format = "profile",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "embedding_lookup", type = "GatherV2", shapes = "[30000,64]x[32,20]x[]->[32,20,64]",
                           self_ns = 1e5 },
                         { name = "gradients/MatMul_grad/MatMul_1", type = "MatMul",
                           shapes = "[32,30000]x[32,64]->[30000,64]", self_ns = 4e6 },
                         { name = "loss", type = "SparseSoftmaxCrossEntropyWithLogits",
                           shapes = "[32,30000]x[32]->[32],[32,30000]", self_ns = 5e6 } } } },
    { name = "a few slices summed beside long products", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "adam/UnsortedSegmentSum", type = "UnsortedSegmentSum", self_ns = 2e4 },
                         { name = "GatherV2", type = "GatherV2", self_ns = 1e3 },
                         { name = "unet/Mul", type = "Mul", self_ns = 3e6 },
                         { name = "unet/Conv2D", type = "Conv2D", self_ns = 6e6 } } } },
    { name = "passes of an optimizer over a table", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "adam/UnsortedSegmentSum", type = "UnsortedSegmentSum", self_ns = 1e6 },
                         { name = "GatherV2", type = "GatherV2", self_ns = 1e3 },
                         { name = "adam/Mul", type = "Mul", self_ns = 2e6 },
                         { name = "adam/Sqrt", type = "Sqrt", self_ns = 1e6 },
                         { name = "MatMul", type = "MatMul", self_ns = 5e6 } } } },
    { name = "gradients that a recurrent layer adds up in its rounds", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "adam/UnsortedSegmentSum", type = "UnsortedSegmentSum", calls = 1, self_ns = 1e6 },
                         { name = "GatherV2", type = "GatherV2", calls = 1, self_ns = 1e3 },
                         { name = "gradient_tape/lstm/while_grad/body/AddN", type = "AddN", calls = 200,
                           self_ns = 3e6 },
                         { name = "MatMul", type = "MatMul", calls = 1, self_ns = 5e6 } } } },
    -- 1 + 6 + 2 + 1 ms are of the table, of which a tenth stays; the gathers take too long for the sum alone to tell.
    { name = "a table that is cut and joined before the lookups", framework = "tensorflow", format = "xspace",
      finding = true, replay = { 9e6 }, facts = { ["step.ns"] = 1.6e7 },
      tables = { ops = { { name = "gradients/strided_slice_grad/StridedSliceGrad", type = "StridedSliceGrad",
                           self_ns = 6e6 },
                         { name = "gradients/strided_slice_grad/StridedSliceGrad/dy", type = "UnsortedSegmentSum",
                           self_ns = 1e6 },
                         { name = "concat", type = "ConcatV2", self_ns = 1e6 },
                         { name = "Adagrad/update/ResourceApplyAdagrad", type = "ResourceApplyAdagrad", self_ns = 2e6 },
                         { name = "embedding_lookup", type = "GatherV2", self_ns = 5e5 },
                         { name = "MatMul", type = "MatMul", self_ns = 4e6 } } } },
    { name = "a sum of slices for a short cut", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.6e7 },
      tables = { ops = { { name = "gradients/strided_slice_grad/StridedSliceGrad", type = "StridedSliceGrad",
                           self_ns = 6e5 },
                         { name = "gradients/strided_slice_grad/StridedSliceGrad/dy", type = "UnsortedSegmentSum",
                           self_ns = 1e6 },
                         { name = "Adagrad/update/ResourceApplyAdagrad", type = "ResourceApplyAdagrad", self_ns = 2e6 },
                         { name = "embedding_lookup", type = "GatherV2", self_ns = 5e5 },
                         { name = "MatMul", type = "MatMul", self_ns = 4e6 } } } },
    -- The decay reads, multiplies and assigns: 4 of 5 ms of ops, of which a tenth stays; the gather is no part of it.
    { name = "weight decay of a table whose rows are updated", framework = "tensorflow", format = "xspace",
      finding = true, replay = { 3.6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "sgd/ResourceScatterSub", type = "ResourceScatterSub", self_ns = 4e5 },
                         { name = "sgd/AssignSubVariableOp", type = "AssignSubVariableOp", self_ns = 2e6 },
                         { name = "sgd/mul_1", type = "Mul", self_ns = 1e6 },
                         { name = "sgd/ReadVariableOp", type = "ReadVariableOp", self_ns = 1e6 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 6e5 } } } },
    -- 2 + 0.5 + 0.3 ms of 4 ms, of which half stays; the lookups' read is not the optimizer's.
    { name = "what Adagrad added up is read whole", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", replay = { 1.4e6 }, impact_ns = 1.4e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "adagrad/ResourceScatterAdd", type = "ResourceScatterAdd", self_ns = 1e5 },
                         { name = "adagrad/Add/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           mean_ns = 2e6, self_ns = 2e6 },
                         { name = "adagrad/Sqrt", type = "Sqrt", self_ns = 5e5 },
                         { name = "adagrad/IsNan", type = "IsNan", self_ns = 3e5 },
                         { name = "m/embedding/GatherV2/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           mean_ns = 1e6, self_ns = 1e6 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 1e5 } } } },
    { name = "reads of many small tables", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "adagrad/ResourceScatterAdd", type = "ResourceScatterAdd", self_ns = 1e5 },
                         { name = "adagrad/Add/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           mean_ns = 2e6, self_ns = 2e6 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 1e5 } },
                 excess = { { cell = 1, flaw = "separate-tables", ns = 2e6, share = 0.2, factor = 0.03 } } } },
    { name = "a read of what Adagrad added up for dense weights", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "adagrad/Add/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           mean_ns = 2e6, self_ns = 2e6 },
                         { name = "adagrad/Sqrt", type = "Sqrt", self_ns = 5e5 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 1e5 } } } },
    { name = "an update of weights that products use", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "sgd/ResourceScatterSub", type = "ResourceScatterSub", self_ns = 4e5 },
                         { name = "sgd/AssignSubVariableOp", type = "AssignSubVariableOp", self_ns = 2e6 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 1.1e6 } } } },
    -- 22 of 6144 points are held, but 36066 edges add to both of their ends: no table of rows that are looked up.
    { name = "forces of edges added up at points", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather.1", type = "gather", shapes = "[6144,3]x[22,1]->[22,3]", self_ns = 1e4 },
                         { name = "gather.2", type = "gather", shapes = "[6144,3]x[36066]->[36066,1,3]",
                           self_ns = 1e6 },
                         { name = "wrapped_scatter", type = "scatter",
                           shapes = "[6144,3]x[36066,1]x[36066,1,3]->[6144,3]", self_ns = 4e6 } } } },
    { name = "small table", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather.1", type = "gather", shapes = "[2048,64]x[1024]->[1024,64]",
          self_ns = 1e5 },
                         { name = "multiply_subtract_fusion", type = "fusion",
                             shapes = "[2048,64]x[2048,64]->[2048,64]", self_ns = 7e6 } } } },
    { name = "large table", format = "kineto", framework = "pytorch", finding = true, impact_ns = 5e6,
      facts = { ["step.ns"] = 1e7, ["torch.embedding_gradient_ns"] = 2e6, ["torch.forward_gap_ns"] = 0,
                ["torch.embedding_rows"] = 1e6,
          ["torch.embedding_lookups"] = 512, ["torch.embedding_elements"] = 9e7, ["torch.accumulated_elements"] = 1e8,
          ["torch.update_ns"] = 4e6 },
      tables = { ops = { { name = "aten::embedding_dense_backward", self_ns = 1e6 } } } },
    { name = "small table", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.embedding_gradient_ns"] = 2e6, ["torch.forward_gap_ns"] = 0,
                ["torch.embedding_rows"] = 1000,
          ["torch.embedding_lookups"] = 512 },
      tables = { ops = { { name = "aten::embedding_dense_backward", self_ns = 1e6 } } } },
    { name = "few rows, though many more than lookups", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 4e6, ["torch.embedding_gradient_ns"] = 2e5, ["torch.forward_gap_ns"] = 0,
                ["torch.embedding_rows"] = 1500,
          ["torch.embedding_lookups"] = 128, ["torch.embedding_elements"] = 4.8e4,
          ["torch.accumulated_elements"] = 3.4e5,
          ["torch.update_ns"] = 8e5 },
      tables = { ops = { { name = "aten::embedding_dense_backward", self_ns = 2e5 } } } },
    -- 3 ms of gradient, of which zeros are 2.4 ms, and passes of 2 and 1.4 ms: 2.4 to 6.4 ms.
    { name = "a large table without shapes", format = "kineto", framework = "pytorch", finding = true,
      impact_ns = 4.4e6,
      facts = { ["step.ns"] = 1e7, ["torch.embedding_rows"] = 0, ["torch.embedding_lookups"] = 0,
          ["torch.forward_gap_ns"] = 0, ["torch.embedding_gradient_ns"] = 3e6, ["torch.update_ns"] = 2.5e6,
          ["torch.clip_ns"] = 1.8e6 },
      tables = { ops = {}, activities = {
        { name = "aten::_embedding_bag_dense_backward", total_ns = 3e6, self_ns = 6e5, max_ns = 3e6, events = 1 },
        { name = "aten::add_", total_ns = 2.2e6, max_ns = 2e6, events = 4 },
        { name = "aten::linalg_vector_norm", total_ns = 1.5e6, max_ns = 1.4e6, events = 4 },
        { name = "aten::copy_", total_ns = 2e7, max_ns = 2e7, events = 1 },
        { name = "aten::mul_", total_ns = 1e6, max_ns = 5e5, events = 4 } } } },
    { name = "as many lookups as rows, without shapes", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.embedding_rows"] = 0, ["torch.embedding_lookups"] = 0,
          ["torch.forward_gap_ns"] = 0, ["torch.embedding_gradient_ns"] = 3e6, ["torch.update_ns"] = 2.5e6 },
      tables = { ops = {}, activities = {
        { name = "aten::embedding_dense_backward", total_ns = 3e6, self_ns = 2e6, max_ns = 3e6, events = 1 } } } },
    { name = "sparse", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.embedding_gradient_ns"] = 0, ["torch.forward_gap_ns"] = 0,
                ["torch.embedding_rows"] = 1e6,
          ["torch.embedding_lookups"] = 512 },
      tables = { ops = { { name = "aten::embedding_dense_backward", self_ns = 1e6 } } } },
  },
}
