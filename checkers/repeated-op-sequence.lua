-- The same short sequence of ops runs many times a step.
-- For the examples: a slice and a convolution a round, and one op of 2 ms beside them.
local function example_rounds(count, self_ns)
  local rows = { { name = "dense/MatMul", type = "MatMul", self_ns = 2e6 } }
  for i = 1, count do
    rows[#rows + 1] = { name = "strided_slice_" .. i, type = "StridedSlice", self_ns = 1e3 }
    rows[#rows + 1] = { name = "Conv2D_" .. i, type = "Conv2D", self_ns = self_ns }
  end
  return rows
end

-- Gradients of slices of one array, and one op of 2 ms beside them.
local function example_slices(count, self_ns)
  local rows = { { name = "dense/MatMul", type = "MatMul", self_ns = 2e6 } }
  for i = 1, count do
    rows[#rows + 1] = { name = ("gradient_tape/strided_slice_%d/StridedSliceGrad"):format(i), type = "StridedSliceGrad",
                        self_ns = self_ns }
  end
  return rows
end

-- The gradients of a loop: each a product of 0.2 ms that is named after an op of its round, and numbered by itself.
local function example_gradients(count)
  local rows = example_rounds(count, 0)
  for i = 1, count do
    rows[#rows + 1] = { name = ("gradient_tape/soft_dice_%d/MatMul_%d"):format(i, 2 * i), type = "MatMul",
                        self_ns = 2e5 }
  end
  return rows
end

-- A model of two small products, called again and again in one graph, and noise of 0.5 ms.
local function example_models(count, self_ns)
  local rows = { { name = "random_normal", type = "RandomStandardNormal", self_ns = 5e5 } }
  for i = 1, count do
    rows[#rows + 1] = { name = ("net_%d/dense/MatMul"):format(i), type = "MatMul", self_ns = self_ns }
    rows[#rows + 1] = { name = ("net_%d/dense_1_2/MatMul"):format(i), type = "MatMul", self_ns = self_ns }
  end
  return rows
end

-- A model of one convolution for each slice: a scope each.
local function example_scopes(count, self_ns)
  local rows = { { name = "dense/MatMul", type = "MatMul", self_ns = 2e6 } }
  for i = 1, count do
    rows[#rows + 1] = { name = "strided_slice_" .. i, type = "StridedSlice", self_ns = 1e3 }
    rows[#rows + 1] = { name = ("encoder_%d/conv1d_1/Relu"):format(i), type = "Conv2D", self_ns = self_ns }
  end
  rows[#rows + 1] = { name = "gradient_tape/encoder_1/conv1d_1/Tanh", type = "TanhGrad", self_ns = 0 }
  return rows
end

-- Ten calls of a model of two convolutions of 0.4 ms, for a slice each; or ten models.
local function example_calls(count, is_one)
  local rows = { { name = "dense/MatMul", type = "MatMul", self_ns = 2e6 },
                 { name = "stack", type = "Pack", self_ns = 1e4 } }
  for i = 1, count do
    rows[#rows + 1] = { name = "strided_slice_" .. i - 1, type = "StridedSlice", self_ns = 1e3 }
    for layer = 1, 2 do
      rows[#rows + 1] = { name = ("sequential_%d/conv2d_%d/Relu"):format(2 * i, is_one and layer or 2 * i + layer),
                          type = "Conv2D", self_ns = 4e5 }
    end
  end
  return rows
end

-- A recurrent cell written out: a slice of the inputs, a product with the state, a sum and two gates a round,
-- and a loss where it has one.
local function example_cell(count, product_ns, loss_ns)
  local rows = {}
  for i = 1, count do
    rows[#rows + 1] = { name = "strided_slice_" .. i, type = "StridedSlice", self_ns = 1e4 }
    rows[#rows + 1] = { name = "MatMul_" .. i, type = "MatMul", self_ns = product_ns }
    rows[#rows + 1] = { name = "add_" .. i, type = "AddV2", self_ns = 1e4 }
    rows[#rows + 1] = { name = "Sigmoid_" .. i, type = "Sigmoid", self_ns = 1.5e4 }
    rows[#rows + 1] = { name = "Tanh_" .. i, type = "Tanh", self_ns = 1.5e4 }
    if loss_ns then
      rows[#rows + 1] = { name = "loss_" .. i, type = "SparseSoftmaxCrossEntropyWithLogits", self_ns = loss_ns }
    end
  end
  return rows
end

-- A batch that is split for eight calls of a model of two convolutions of 0.4 ms, and an update of some variables.
local function example_split(variables)
  local rows = { { name = "split", type = "Split", self_ns = 1e4 },
                 { name = "sgd/AssignSubVariableOp_" .. variables - 1, type = "AssignSubVariableOp", self_ns = 1e3 } }
  for i = 1, 8 do
    for layer = 1, 2 do
      rows[#rows + 1] = { name = ("sequential_%d/conv2d_%d/Relu"):format(2 * i, layer), type = "Conv2D", self_ns = 4e5 }
    end
  end
  return rows
end

-- A session's graph: a convolution of 0.4 ms for each of twelve parts, with a weight each or one for all.
local function example_parts(shares)
  local rows = { { name = "unstack", type = "Unpack", shapes = "[?]->" .. ("[8,9],"):rep(7) .. "[8,9]", self_ns = 1e4 },
                 { name = "dense/MatMul", type = "MatMul", shapes = "[8,64]x[64,9]->[8,9]", self_ns = 2e6 } }
  for i = 1, 12 do
    rows[#rows + 1] = { name = "Conv2D_" .. i, type = "Conv2D", shapes = "[8,9,9,3]x[3,3,3,16]->[8,9,9,16]",
                        self_ns = 4e5 }
    if not shares or i == 1 then
      rows[#rows + 1] = { name = "gradients/AddN_" .. i, type = "AddN", self_ns = 0, shapes =
        ("[?]x"):rep(8) .. "...->[3,3,3,16]" }
    end
  end
  return rows
end

-- A session's graph: a convolution of 0.4 ms for each of 24 channels that are taken apart, and put together where
-- `joins`.
local function example_channels(joins)
  local rows = { { name = "dw/split", type = "Split", self_ns = 1e4,
                   shapes = "[?]x[8,9,9,24]->" .. ("[8,9,9,1],"):rep(7) .. "[8,9,9,1]" },
                 { name = "dense/MatMul", type = "MatMul", shapes = "[8,64]x[64,9]->[8,9]", self_ns = 4e5 } }
  for i = 1, 24 do
    rows[#rows + 1] = { name = "dw/Conv2D_" .. i, type = "Conv2D", shapes = "[8,9,9,1]x[3,3,1,1]->[8,9,9,1]",
                        self_ns = 4e5 }
  end
  if joins then
    rows[#rows + 1] = { name = "dw/concat", type = "ConcatV2", self_ns = 1e4,
                        shapes = ("[8,9,9,1]x"):rep(8) .. "...->[8,9,9,24]" }
  end
  return rows
end

-- A layer that calls a convolution of 0.4 ms for each frame, and puts the results together where `joins`.
local function example_frames(count, joins)
  local rows = { { name = "dense/MatMul", type = "MatMul", self_ns = 2e6 } }
  for i = 1, count do
    rows[#rows + 1] = { name = "model/frames/strided_slice_" .. i - 1, type = "StridedSlice", self_ns = 1e3 }
    rows[#rows + 1] = { name = ("model/frames/conv2d_%d/Conv2D"):format(2 * i), type = "Conv2D", self_ns = 4e5 }
  end
  if joins then rows[#rows + 1] = { name = "model/frames/stack", type = "Pack", self_ns = 1e4 } end
  return rows
end

-- The name without the number that tells rounds apart: the last one, that of the op whose gradient it is, or that of
-- a scope which a tape has gradients of.
local function stem_of(name, taped)
  local of, inner = name:match("^(gradient_tape/\\w+?)_\\d+/(.*?)(?:_\\d+)?$")
  if of then return of, inner end
  of, inner = name:match("^(gradients\\w*/.*?)_\\d+_grad/(.*?)(?:_\\d+)?$")
  if of then return of, inner end
  of, inner = name:match("^(\\w+?)_\\d+/(.*?)(?:_\\d+)?$")
  if of and taped[of] then return of, inner end
  return name:match("^(.*)_\\d+$") or name
end

-- A model that is called again has a numbered scope for each call, with several products inside: the name that has most
-- of them, and how many. Layers, too, are numbered, but fewer, with one product, or with longer ones.
local function calls_of_model(p, cfg)
  local scopes = {}
  for row in p:table("ops"):where { type = { class = "product|convolution" } }:each() do
    local outer = row.name:match("^(\\w+?)(?:_\\d+)?/")
    if outer and outer ~= "gradient_tape" then
      local scope = scopes[outer] or { calls = {}, count = 0, ops = 0, ns = 0 }
      scopes[outer] = scope
      local call = row.name:match("^([^/]+)/")
      if not scope.calls[call] then scope.calls[call], scope.count = true, scope.count + 1 end
      scope.ops, scope.ns = scope.ops + 1, scope.ns + row.self_ns
    end
  end
  local best
  for outer, scope in sorted_pairs(scopes) do
    if scope.count >= cfg.min_called and scope.ops >= 2 * scope.count and scope.ns / scope.ops <= cfg.max_op_ns
        and (not best or scope.count > best.count) then best = { outer = outer, count = scope.count } end
  end
  return best
end

-- The ops of its calls and their gradients, by the name inside.
local function of_model(p, outer)
  local groups = {}
  for row in p:table("ops"):each() do
    local name, inner = row.name:match("^(?:gradient_tape/)?(\\w+?)(?:_\\d+)?/(.+)$")
    if name == outer then
      local key = inner:gsub("_[0-9]+", "")
      local group = groups[key] or { count = 0, ns = 0, row = row }
      groups[key] = group
      group.count, group.ns = group.count + 1, group.ns + row.self_ns
    end
  end
  return groups
end

-- Ops that bear one name but for numbers, and how many rounds their slices tell.
local function numbered(ops, cfg)
  local groups, rounds = {}, 0
  -- A slice that only points into its array is too short to be recorded, its gradient is not.
  if ops:where { type = { like = "^(StridedSlice|StridedSliceGrad|Slice|GatherV2|ResourceGather|Split|SplitV|Unpack)$" }
    }:count() < cfg.min_rounds then
    return groups, rounds
  end
  local taped = {}
  for row in ops:where { name = { like = "^gradient_tape/" } }:each() do
    local of = row.name:match("^gradient_tape/(\\w+?)_\\d+/")
    if of then taped[of] = true end
  end
  for row in ops:each() do
    local stem, inner = stem_of(row.name, taped)
    local key = row.type .. " " .. stem .. (inner and "/" .. inner or "")
    local group = groups[key] or { count = 0, ns = 0, row = row }
    groups[key] = group
    group.count, group.ns = group.count + 1, group.ns + row.self_ns
  end
  for key, group in sorted_pairs(groups) do
    if key:find(
        "^(StridedSlice|Slice|GatherV2|ResourceGather|Split|SplitV|Unpack) "
        .. "(strided_slice|Slice|Gather|GatherV2|split|unstack)$") or
      key:find("^StridedSliceGrad gradient\\w*/strided_slice/StridedSliceGrad$") then
      rounds = math.max(rounds, group.count)
    end
  end
  return groups, rounds
end

local ALL_AT_ONCE = {
  text = "Do all rounds at once over another dimension: a batched product, one gather, a grouped convolution.",
  code = "y = tf.einsum('bni,nio->bno', x, w)   # instead of [x[:, k] @ w[k] for k in range(n)]",
}
local BY_CHANNEL = {
  text = "One depthwise convolution does all channels: it takes their kernels in one array, as before the split.",
  code = "y = tf.nn.depthwise_conv2d(x, kernels, strides, 'SAME')   # kernels: [3, 3, channels, 1]",
}
local AS_LAYER = {
  text = "Rounds with gates take what the one before made: use a recurrent layer, which multiplies all inputs at once "
    .. "and runs the rest in one op or a loop.",
  code = "outputs = tf.keras.layers.LSTM(units, return_sequences=True)(inputs)",
}

local BEHIND_CELL = {
  text = "What no other round takes, as a product with the vocabulary and its loss, do once for all rounds: stack the "
    .. "cell's outputs first.",
  code = "logits = tf.tensordot(tf.stack(outputs, 1), w, 1) + b   # then one loss for all positions",
}

-- More products with weights than variables that the step updates: some weights are used again and again. Updates of
-- small variables may be too short to be recorded, but their numbers go on.
local function shares_weights(p)
  local products, variables, applied = 0, 0, 0
  for row in p:table("ops"):each() do
    local class, type = p:class_of(row.type), row.type
    if (class == "product" or class == "convolution") and not row.name:find("(^|/)gradient") and
        not type:find("Backprop") and not type:find("BatchMatMul") then products = products + 1 end
    local number = row.name:match("^[a-z]+(?:_[0-9]+)?/AssignSubVariableOp(?:_([0-9]+))?$")
    if number then variables = math.max(variables, 1 + (tonumber(number) or 0)) end
    if type:find("^(Resource)?(Sparse)?Apply[A-Z]") then applied = applied + 1 end
  end
  variables = math.max(variables, applied)
  return variables > 0 and products >= 1.5 * variables
end

-- Scopes that slice what they take again and again and put parts together, the whole function's among them as "": how
-- many slices.
local function sliced_scopes(p)
  local ops, scopes = p:table("ops"), {}
  local function at(scope)
    scopes[scope] = scopes[scope] or { slices = 0 }
    return scopes[scope]
  end
  -- An array that is taken apart by one op has as many parts as calls where these share their weights.
  if ops:where { type = { like = "^(Split|SplitV|Unpack)$" }, name = { like = "^(split|unstack)(_[0-9]+)?$" } }
    :count() > 0 and shares_weights(p) then
    at("").slices, at("").joins = math.huge, true
  end
  for row in ops:where { name = { like = "(^|/)(strided_slice|stack|concat)(_[0-9]+)?(/|$)" } }:each() do
    local name = row.name:gsub("^gradient_tape/", "")
    local scope, number = name:match("^(.+/|)strided_slice(?:_([0-9]+))?(?:/.*)?$")
    if scope then at(scope).slices = math.max(at(scope).slices, 1 + (tonumber(number) or 0)) end
    local joined = name:match("^(.+/|)(?:stack|concat)(?:_[0-9]+)?(?:/[^/]*)?$")
    if joined then at(joined).joins = true end
  end
  return scopes
end

-- Ops of what each of these scopes calls, and their gradients, by name without the numbers of calls: in a layer all
-- numbers count calls, in a function those of the model's name, within which layers keep theirs. And the most products
-- of one name. Read once for all scopes: a graph has many.
local function calls_in(p, scopes)
  local found = {}
  for scope in sorted_pairs(scopes) do found[scope] = { groups = {}, calls = 0 } end
  local function add(scope, inner, row)
    local outer = inner:match("^(\\w+?)(?:_[0-9_]+)?/")
    if not outer or scope == "" and inner:find("^gradient_tape/") then return end
    local key = row.type .. " " ..
      (scope ~= "" and inner:gsub("_[0-9]+", "") or inner:gsub("(?<![^/])" .. outer .. "_[0-9_]+/", outer .. "/"))
    local of, class = found[scope], p:class_of(row.type)
    local group = of.groups[key] or { count = 0, ns = 0, row = row }
    of.groups[key] = group
    group.count, group.ns = group.count + 1, group.ns + row.self_ns
    if class == "product" or class == "convolution" then of.calls = math.max(of.calls, group.count) end
  end
  for row in p:table("ops"):each() do
    local name, at = row.name:gsub("^gradient_tape/", ""), 0
    while at do
      local scope = name:sub(1, at)
      if found[scope] then add(scope, name:sub(at + 1), row) end
      at = name:find("/", at + 1, true)
    end
  end
  return found
end

-- Squashed sums in each round are gates of a cell, whose rounds take what the one before made. And whether rounds have
-- a loss each, which no other round takes.
local function has_gates(groups, rounds)
  local has, losses = {}, 0
  for _, group in sorted_pairs(groups) do
    if group.count >= 0.9 * rounds then has[group.row.type] = true end
    if group.row.type:find("SoftmaxCrossEntropy") then losses = losses + group.count end
  end
  -- Layers and gates may have several slices a round.
  return has.Sigmoid and has.Tanh, losses >= 0.4 * rounds
end

-- A loop of Python in a function or layer of TensorFlow that calls a model or what is wrapped for each slice: as many
-- products or convolutions as slices, with one name but for numbers, and parts put together. What a recurrence repeats
-- takes the round before.
local function in_layer(p, cfg)
  local sliced, is_any, best = {}, false, nil
  for scope, info in sorted_pairs(sliced_scopes(p)) do
    if info.joins and info.slices >= cfg.min_sliced and not scope:find("(?i)(lstm|gru|rnn|cell)[^/]*/$") then
      sliced[scope], is_any = info, true
    end
  end
  if not is_any then return nil end
  for scope, of in sorted_pairs(calls_in(p, sliced)) do
    local slices, calls = sliced[scope].slices, of.calls
    local fits = calls >= 0.9 * slices or scope == "" and slices >= 0.9 * calls
    if fits and calls >= cfg.min_sliced and (not best or calls > best.calls) and not has_gates(of.groups, calls) then
      best = { rounds = math.min(slices, calls), calls = calls, groups = of.groups }
    end
  end
  return best
end

-- Weights whose gradients come from many calls: how many sums of eight gradients or more have each shape.
local function summed_gradients(ops)
  local sums = {}
  for row in ops:where { type = "AddN", name = { like = "^gradient.*" } }:each() do
    local shape = (row.shapes or ""):match("^(?:\\[[^\\]]*\\]x){7,}.*->(\\[[0-9,]+\\])$")
    if shape then sums[shape] = (sums[shape] or 0) + 1 end
  end
  return sums
end

-- Whether there are as many parts as rounds: an array that is taken apart, or slices of one.
local function is_sliced(ops, rounds)
  if ops:where { type = { like = "^(StridedSlice|Slice|GatherV2)$" } }:count() >= 0.9 * rounds then return true end
  for row in ops:where { type = { like = "^(Unpack|Split|SplitV)$" } }:each() do
    -- Of long lists the first eight are kept.
    if (row.shapes or ""):find("->(?:\\[[^\\]]*\\],){7,}\\[") then return true end
  end
  return false
end

-- Calls of one layer in a graph whose shapes are known, one for each part of an array: as many products or convolutions
-- of the same shapes, whose weight gets the sum of all their gradients. Layers have weights of their own.
local function of_weights(p, cfg)
  local ops, groups, rounds = p:table("ops"), {}, 0
  local sums = summed_gradients(ops)
  for row in ops:each() do
    local key = row.type .. " " .. (row.shapes or "")
    local group = groups[key] or { count = 0, ns = 0, row = row }
    groups[key] = group
    group.count, group.ns = group.count + 1, group.ns + row.self_ns
  end
  for _, group in sorted_pairs(groups) do
    local class, shapes = p:class_of(group.row.type), group.row.shapes or ""
    local sharing = sums[shapes:match("x(\\[[0-9,]+\\])->") or ""]
    if sharing and (class == "product" or class == "convolution") and group.count >= cfg.min_sliced * sharing then
      rounds = math.max(rounds, group.count // sharing)
    end
  end
  if rounds < cfg.min_sliced or not is_sliced(ops, rounds) or has_gates(groups, rounds) then return nil end
  return { rounds = rounds, groups = groups }
end

-- Lists of shapes of which a graph keeps the first eight: the shape of them all.
local function shape_of_parts(list)
  local first = list:match("^(\\[[0-9,]+\\])(?:[x,]\\[[0-9,]+\\]){7}")
  if not first then return nil end
  for shape in list:gmatch("\\[[^\\]]*\\]") do
    if shape ~= first then return nil end
  end
  return first
end

-- Shapes of the parts that arrays are taken apart into, and of those that are put together.
local function shapes_of_parts(ops)
  local cut, joined = {}, {}
  for row in ops:where { type = { like = "^(Split|SplitV|Unpack|ConcatV2|Pack)$" } }:each() do
    local from, to = (row.shapes or ""):match("^(.*?)(?:x\\.\\.\\.)?->(.*)$")
    local of_cut, of_join = shape_of_parts(to or ""), shape_of_parts((from or ""):gsub("x\\[\\]$", ""))
    if row.type:find("^(Split|Unpack)") then
      if of_cut then cut[of_cut] = true end
    elseif of_join then
      joined[of_join] = true
    end
  end
  return cut, joined
end

-- An array is taken apart, each part has a product of its own, and the results are put together: with weights of its
-- own, as channels or heads in a list. By shapes, where a graph has them.
local function of_parts(p, cfg)
  local ops, groups, rounds = p:table("ops"), {}, nil
  local cut, joined = shapes_of_parts(ops)
  for row in ops:each() do
    local key = row.type .. " " .. (row.shapes or "")
    local group = groups[key] or { count = 0, ns = 0, row = row }
    groups[key] = group
    group.count, group.ns = group.count + 1, group.ns + row.self_ns
  end
  local are_single, are_convolved = true, true
  for _, group in sorted_pairs(groups) do
    local class = p:class_of(group.row.type)
    local part, result = (group.row.shapes or ""):match("^(\\[[0-9,]+\\])x\\[[0-9,]+\\]->(\\[[0-9,]+\\])$")
    if part and cut[part] and joined[result] and group.count >= cfg.min_rounds and
        (class == "product" or class == "convolution") then
      rounds = math.min(rounds or group.count, group.count)
      are_single = are_single and part:find(",1\\]$") ~= nil
      are_convolved = are_convolved and are_single and class == "convolution"
    end
  end
  if not rounds then return nil end
  return { rounds = rounds, groups = groups, are_single = are_single, are_convolved = are_convolved }
end

-- Ops that one larger op would spend as long on: products, and what is long by itself.
local function is_work(p, group, cfg)
  local class = p:class_of(group.row.type)
  return class == "product" or class == "convolution" or group.ns > cfg.max_op_ns * group.count
end

-- What one larger op for all rounds spares of their ops, and of starting them.
local function of_rounds(layer, worst, ops_ns, dispatch_ns, cfg)
  -- A single channel leaves an op nothing to work on side by side, however long it takes.
  if layer and layer.are_single then
    return impact.exposed { ns = ops_ns + dispatch_ns, low = 0.75 * ops_ns + dispatch_ns,
                            high = 0.95 * ops_ns + dispatch_ns }
  end
  -- Ops that are long each are mostly work, which one larger op has, too.
  local is_long = layer and worst.ns / worst.count > cfg.long_op_ns
  return impact.exposed { ns = ops_ns + dispatch_ns, low = (is_long and 0.3 or 0.5) * ops_ns + dispatch_ns,
                          high = (is_long and 0.7 or 1 - cfg.kept) * ops_ns + dispatch_ns }
end

-- A Python loop inside a tf.function leaves each round's ops in the graph, numbered: slices of what it walks over and
-- the rest.
local function written_out(p, cfg)
  local step_ns, all_ns = p.fact["step.ns"], p:table("ops"):sum("self_ns")
  local groups, rounds = numbered(p:table("ops"), cfg)
  local called = rounds < cfg.min_rounds and calls_of_model(p, cfg) or nil
  if called then rounds, groups = called.count, of_model(p, called.outer) end
  local layer = rounds < cfg.min_rounds and (in_layer(p, cfg) or of_weights(p, cfg) or of_parts(p, cfg)) or nil
  if layer then rounds, groups = layer.rounds, layer.groups end
  if not layer and rounds < cfg.min_rounds then return nil end
  -- Whatever runs a recurrence multiplies by the state in each round: only small ops around that go.
  local has_cell, has_loss = has_gates(groups, rounds)
  local is_cell = has_cell and not has_loss and not layer and not called
  local count, ns, worst = 0, 0, nil
  for _, group in sorted_pairs(groups) do
    local is_round = called or group.count >= 0.9 * rounds or not layer and group.count >= cfg.min_rounds
    if is_round and not (is_cell and is_work(p, group, cfg)) then
      count, ns = count + group.count, ns + group.ns
      if not worst or group.ns > worst.ns then worst = group end
    end
  end
  if not worst or ns < cfg.min_written_share * all_ns then return nil end
  local executor_ns = p:has("host.executor_ns") and p.fact["host.executor_ns"] or 0
  -- What a session's run does between ops is no part of its own, and stands with what passes between runs.
  if p.format ~= "xspace" then
    executor_ns = math.min(p:has("part.idle_other_ns") and p.fact["part.idle_other_ns"] or 0, cfg.usual_op_ns * count)
  end
  local ops = p:has("ops.count_per_step") and p.fact["ops.count_per_step"] or count
  local part = math.min(1, count / math.max(ops, 1))
  local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or math.min(all_ns, step_ns)
  local ops_ns, dispatch_ns = compute_ns * ns / all_ns, 0.9 * part * executor_ns
  return finding {
    title = ("The graph holds the same few ops %s times, as a Python loop writes them"):format(fmt.count(rounds)),
    subject = { op = worst.row.name },
    evidence = { { "those ops a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "rounds", rounds, "count" },
         { "ops in them", count, "count" }, { "executor a step", executor_ns, "ns" },
         { "longest of them, " .. worst.row.type, worst.ns, "ns" } },
    condition = ("%s rounds, %s accepted, and %s of the time of all ops"):format(
      fmt.count(rounds), fmt.count(cfg.min_rounds), fmt.pct(ns / all_ns)),
    remedy = has_cell and (has_loss and BEHIND_CELL or AS_LAYER) or layer and layer.are_convolved and BY_CHANNEL
      or ALL_AT_ONCE,
    impact = is_cell and impact.share { ns = (1 - cfg.kept) * ops_ns + dispatch_ns }
      or of_rounds(layer, worst, ops_ns, dispatch_ns, cfg),
    claims = { parts = { "compute" } },
    confidence = "low",
  }
end

local function place_of(row)
  return row.source_file and row.source_file ~= "" and { { file = row.source_file, line = row.source_line } } or nil
end

local function evidence_of(row, step_ns)
  return { { "time a step", row.total_ns, "ns", share = math.min(1, row.total_ns / step_ns) },
           { "of it pauses between its ops", row.gap_ns or 0, "ns" },
           { "repeats a step", row.repeats, "count" }, { "mean op", row.mean_op_ns, "ns" } }
end

-- A loader's rounds are items of a batch: numbers that it reads are said with the loader.
local ROWS_AT_ONCE = {
  text = "The loader makes tensors item by item and stacks them: take a batch's rows at once.",
  code = "rows = torch.randperm(len(x))[:batch]; batch = x[rows], y[rows]   # without a DataLoader, or with\n"
    .. "DataLoader(ds, sampler=BatchSampler(RandomSampler(ds), batch, False), batch_size=None)",
}
local function is_of_loader(row) return (row.input_share or 0) >= 0.5 end

-- Whether the rounds multiply: layers of a network do.
local function has_product(p, ops)
  for op in ops:gmatch("[\\w:]+") do
    local class = p:class_of(op)
    if class == "product" or class == "convolution" or class == "attention" or class == "cell" or
        class == "normalisation" or class == "embedding" then return true end
  end
  return false
end

-- A value is read each time, as layers of a network do not: of each parameter, class or box. Computed and read
-- together, the pauses go, and most of what small ops cost; read every so many steps, ops that serve nothing else go,
-- too.
local function of_reads(p, cfg)
  -- What an accelerator waits for is the read, not the loop around it: scalar-readback.
  if p:has("device.idle_share") then return nil end
  local step_ns, worst = p.fact["step.ns"], nil
  for row in p:table("sequences"):each() do
    if row.ops:find("aten::item") and row.repeats >= cfg.min_reads and not is_of_loader(row) and
        (not worst or row.total_ns > worst.total_ns) then worst = row end
  end
  if not worst or worst.total_ns < cfg.min_read_share * step_ns then return nil end
  local count, are_small = fmt.whole(worst.repeats), worst.mean_op_ns <= cfg.max_op_ns
  local low_ns = (are_small and 0.3 or 0) * worst.total_ns
  local sure_ns = are_small and (1 - cfg.kept) * worst.total_ns or math.min(worst.gap_ns or 0, worst.total_ns)
  if sure_ns < cfg.min_read_share * step_ns then return nil end
  -- A product is there for more than a value.
  local high_ns = has_product(p, worst.ops) and sure_ns or (1 - cfg.kept) * worst.total_ns
  return finding {
    title = ("%s values are computed and read one by one: %s a step"):format(count, fmt.ms(worst.total_ns)),
    severity = "warn", locations = place_of(worst),
    evidence = { { "each time", worst.ops }, table.unpack(evidence_of(worst, step_ns)) },
    condition = ("%s reads take %s of the step, %s accepted"):format(count,
      fmt.pct(worst.total_ns / step_ns), fmt.pct(cfg.min_read_share)),
    remedy = { text = "Compute them in one call, read them with one, and only every so many steps.",
               code = "norms = torch.stack(torch._foreach_norm(grads))   # one call for all\n"
                 .. "if step % 100 == 0: log(norms.tolist())          # one read" },
    impact = impact.exposed { ns = high_ns, low = math.max(low_ns, 0.5 * sure_ns),
                              high = math.max(high_ns, sure_ns) },
    confidence = "medium",
  }
end

-- A normalisation and a product a round: layers of a network, which take each other's results.
local function are_layers(p, ops)
  local multiplies, normalises = false, false
  for op in ops:gmatch("[\\w:]+") do
    local class = p:class_of(op)
    multiplies = multiplies or class == "product" or class == "convolution"
    normalises = normalises or class == "normalisation"
  end
  return multiplies and normalises
end

-- More rounds than a network has layers, of ops that hardly do more than start: whatever they are for, a loop of the
-- program runs them, and one call for all takes next to nothing of their time. An optimizer's have a rule of their own,
-- and an accelerator may have enough to do meanwhile.
local function is_of_many(p, row, cfg)
  return row.repeats >= cfg.min_many and row.mean_op_ns <= cfg.max_tiny_ns and not has_product(p, row.ops)
    and not row.ops:find("addcmul_|addcdiv_|lerp_|AccumulateGrad") and not p:has("device.idle_share")
end

-- Layers of a network go one after the other, and so do their nodes: they are no loop of the program.
local function longest_loop(p, cfg)
  local longest
  for row in p:table("sequences"):each() do
    local min_share = is_of_many(p, row, cfg) and cfg.min_many_share or cfg.min_share
    if row.repeats >= cfg.min_repeats and not row.ops:find("Backward") and row.mean_op_ns <= cfg.max_op_ns and
        not are_layers(p, row.ops) and row.total_ns >= min_share * p.fact["step.ns"] and
        (not longest or row.total_ns > longest.total_ns) then longest = row end
  end
  return longest
end

-- What measures the weights of a penalty.
local NORMS = "aten::(pow|square|norm|linalg_\\w*norm|abs|dot|mul > aten::sum)\\b"
local ALL_ROWS = {
  text = "Do all rounds in one call: over groups of rows of different sizes scatter_reduce, index_add or "
    .. "segment_reduce takes the number of each row's group; groups of one size are a dimension more.",
  code = "largest = rows.new_full((groups, width), -torch.inf).scatter_reduce(\n"
    .. "    0, group[:, None].expand_as(rows), rows, \"amax\")   # not [part.max(0) for part in rows.split(sizes)]",
}
local PENALTY = {
  text = "Do all rounds in one call; a penalty on the weights is the optimizer's weight_decay, or one norm over all "
    .. "parameters.",
  code = "penalty = torch.stack(torch._foreach_norm(list(model.parameters()))).square().sum()\n"
    .. "# or torch.optim.AdamW(…, weight_decay=1e-5)",
}
-- Rounds that subtract: weights less those of a server, an earlier task or a teacher.
local AGAINST_OTHERS = {
  text = "Do all rounds in one call. Of a penalty that holds weights near other weights the gradient is known, their "
    .. "difference: add it to the gradients behind the backward pass, instead of going back through a loss for each "
    .. "weight.",
  code = "loss.backward()   # without the penalty c / 2 * ((w - w0) ** 2).sum()\n"
    .. "torch._foreach_add_([w.grad for w in weights], torch._foreach_sub(weights, anchors), alpha=c)",
}

-- A few small ops without any product, with as many rounds of nodes in the backward pass: a loop of the program over
-- parameters, classes or items that takes part in the loss.
local function both_ways(p, cfg)
  local step_ns, forward, back = p.fact["step.ns"], nil, nil
  for row in p:table("sequences"):each() do
    if row.repeats >= cfg.min_repeats and row.mean_op_ns <= cfg.max_op_ns and not row.ops:find("Backward") and
        row.ops:find(" > ") and not has_product(p, row.ops) and (not forward or row.total_ns > forward.total_ns) then
      forward = row
    end
  end
  if not forward then return nil end
  for row in p:table("sequences"):each() do
    if row.ops:find("Backward") and math.abs(row.repeats - forward.repeats) <= 0.1 * forward.repeats and
        not row.ops:find("[Mm]mBackward") and not row.ops:find("ConvolutionBackward") and
        (not back or row.total_ns > back.total_ns) then back = row end
  end
  local all_ns = forward.total_ns + (back and back.total_ns or 0)
  if not back or all_ns < cfg.min_read_share * step_ns then return nil end
  return finding {
    title = ("%s runs %s times a step, and its gradients as often: %s"):format(
      forward.ops, fmt.whole(forward.repeats), fmt.ms(all_ns)),
    severity = "warn", locations = place_of(forward),
    evidence = { { "forward a step", forward.total_ns, "ns", share = math.min(1, forward.total_ns / step_ns) },
                 { "backward a step", back.total_ns, "ns", share = math.min(1, back.total_ns / step_ns) },
                 { "rounds a step", forward.repeats, "count" }, { "mean op", forward.mean_op_ns, "ns" } },
    condition = ("%s rounds without a product take %s of the step both ways, %s accepted"):format(
      fmt.whole(forward.repeats), fmt.pct(all_ns / step_ns), fmt.pct(cfg.min_read_share)),
    remedy = not forward.ops:find(NORMS) and ALL_ROWS
      or forward.ops:find("aten::sub") and AGAINST_OTHERS or PENALTY,
    impact = impact.exposed { ns = (1 - cfg.kept) * all_ns, low = 0.6 * all_ns, high = all_ns },
    confidence = "medium",
  }
end

-- Rounds that normalise again and again, on arrays large enough that their ops do work: logarithms of sums, or sums
-- that are divided by. Slices, products of layers, losses and sums of parts have nodes of their own.
local NORMALISES = { "Logsumexp", "SoftmaxBackward", "DivBackward.*(Sum|Mv|Mm|Bmm)Backward",
                     "(Sum|Mv|Mm|Bmm)Backward.*DivBackward", "ReciprocalBackward.*(Sum|Mv|Mm|Bmm)Backward",
                     "(Sum|Mv|Mm|Bmm)Backward.*ReciprocalBackward" }
local function is_settling(ops)
  for node in ops:gmatch("(\\w+)Backward\\d*") do
    if not node:find("^(Logsumexp|Log|Exp|Softmax|LogSoftmax|Sum|Mv|Mm|Bmm|Div|Reciprocal|Mul|Add|Sub|Neg|"
        .. "Unsqueeze|Squeeze|View|UnsafeView|Expand|T|Transpose|Permute|Clamp|ClampMin|Alias|ReshapeAlias)$") then
      return false
    end
  end
  if ops:find("AccumulateGrad") then return false end
  for _, pattern in ipairs(NORMALISES) do if ops:find(pattern) then return true end end
  return false
end

-- The way back goes through rounds of the program that each normalise what the one before gave: as a rule such rounds
-- come to rest, and what they come to has a gradient of its own.
local function of_settling(p, cfg)
  local step_ns, back, forward = p.fact["step.ns"], nil, nil
  for row in p:table("sequences"):each() do
    if row.repeats >= cfg.min_repeats and row.mean_op_ns >= cfg.min_settling_ns and is_settling(row.ops)
        and (not back or row.total_ns > back.total_ns) then back = row end
  end
  if not back or back.total_ns < cfg.min_read_share * step_ns then return nil end
  for row in p:table("sequences"):each() do
    if not row.ops:find("Backward") and math.abs(row.repeats - back.repeats) <= 0.1 * back.repeats
        and (not forward or row.total_ns > forward.total_ns) then forward = row end
  end
  if not forward then return nil end
  return finding {
    title = ("The way back goes through %s rounds that normalise: %s of each step"):format(fmt.whole(back.repeats),
      fmt.ms(back.total_ns)),
    severity = "info", locations = place_of(forward),
    evidence = { { "backward a step", back.total_ns, "ns", share = math.min(1, back.total_ns / step_ns) },
                 { "forward a step", forward.total_ns, "ns", share = math.min(1, forward.total_ns / step_ns) },
                 { "rounds a step", back.repeats, "count" }, { "a round", forward.ops } },
    condition = ("going back through %s rounds takes %s of the step, %s accepted"):format(fmt.whole(back.repeats),
      fmt.pct(back.total_ns / step_ns), fmt.pct(cfg.min_read_share)),
    remedy = { text = "Do the rounds come to rest, as Sinkhorn's and other fixed points do? Then run them without "
                 .. "gradients and differentiate what they came to: the plan is the gradient of a transport's cost, "
                 .. "and a fixed point takes one more round with gradients. End them when little changes. Rounds over "
                 .. "the places of a sequence are needed.",
               code = "with torch.no_grad():\n    for _ in range(rounds):\n        f, g = update(f, g, cost.detach())\n"
                 .. "    plan = torch.exp(f[:, None] + g - cost / eps)\nloss = (plan * cost).sum()" },
    -- Without gradients the way there keeps nothing, and writes where the last op's result lay.
    impact = impact.exposed { ns = back.total_ns + 0.25 * forward.total_ns, low = 0.5 * back.total_ns,
                              high = math.min(back.total_ns + 0.5 * forward.total_ns, step_ns) },
    confidence = "low",
  }
end

-- Ledger: a whole network is called again and again; its ops are no short sequence.
local function of_calls(p, cfg)
  return p:in_excess {
    flaw = "called-again", min_share = cfg.min_share,
    title = "The same network is called again and again: %s of each step",
    time = "what one call for all would not take",
    remedy = { text = "Where no call takes the result of the one before it, put what they are for into one batch; "
                 .. "where what they take is the same, call once and keep the result. An array that is split for "
                 .. "them is to be split into larger parts, as large as memory allows.",
               code = "y = model(torch.stack(inputs))   # instead of [model(x[None]) for x in inputs]" },
    confidence = "low",
  }
end

return rule {
  id = "repeated-op-sequence", api = 1, version = "1.0.0",
  title = "A short sequence of ops runs many times a step",
  category = "kernels", severity = "info",
  formats = { "kineto", "xspace", "graph", "profile" },
  needs = { "step.ns" },
  cause = "sequence", tags = { "ops" },
  more_specific_than = { "hot-op", "cast-churn" },
  params = {
    min_share = { default = 0.25, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_repeats = { default = 16, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step" },
    min_read_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "time over the step of a sequence that reads a value, from which this is said" },
    min_reads = { default = 8, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step of a sequence that reads a value, which layers of a network do not" },
    min_rounds = { default = 16, min = 2, max = 1e7, unit = "count",
                   doc = "rounds of a loop that a TensorFlow graph holds" },
    min_sliced = { default = 8, min = 2, max = 1e6, unit = "count",
                   doc = "slices a step in the scope of a TensorFlow layer that calls what it wraps for each" },
    long_op_ns = { default = 1e5, min = 0, max = 1e9, unit = "ns",
                   doc = "mean op of such a layer, above which a third to two thirds are expected to go" },
    min_called = { default = 24, min = 2, max = 1e7, unit = "count",
                   doc = "calls a step of a model of small products that a TensorFlow graph holds" },
    min_written_share = { default = 0.25, min = 0, max = 1, unit = "share",
                          doc = "their ops' share of the time of all ops" },
    usual_op_ns = { default = 2e3, min = 0, max = 1e9, unit = "ns",
                    doc = "what the executor of a session takes for an op, where it is not recorded" },
    kept = { default = 0.1, min = 0, max = 1, unit = "ratio",
             doc = "part of their time that one larger op needs at least" },
    max_op_ns = { default = 20e3, min = 0, max = 1e9, unit = "ns",
      doc = "mean op, above which the ops do enough work each" },
    min_settling_ns = { default = 8e3, min = 0, max = 1e9, unit = "ns",
      doc = "mean op of rounds that normalise, from which their arrays are larger than the tags of a sequence" },
    min_many = { default = 100, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step without a product, more than networks have layers" },
    max_tiny_ns = { default = 5e3, min = 0, max = 1e9, unit = "ns",
      doc = "mean op of so many, up to which it hardly does more than start" },
    min_many_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "time of so many over the step from which this is said" },
  },
  doc = [[
Hundreds of small ops in a repeating pattern pay more for dispatch than for arithmetic, whatever loop makes them.
Priced as a part of the ops' time, and on processors most of the pauses between rounds without a product, with low
confidence. A sequence that ends in reading a value (`.item()`, `float()`) is a loop of the program over parameters,
classes or boxes: priced as half of its pauses up to most of it, and where its ops are long and multiply, as its
pauses; with an accelerator scalar-readback says it. A network that is called again and again without gradients, where
nothing shows that a call takes what the one before made, is priced as its small ops, and half of its large ones, of
all calls but one; of calls for the parts that an array is split into, starts alone, as all parts are worked on.
In TensorFlow a Python loop over slices leaves its rounds in the graph, numbered: priced as the
executor's time for them and half to nine tenths of their own (three to seven tenths of long ones in a layer that
calls what it wraps for each slice; of a cell with gates its small ops without products, as a bound); so is a model that
a graph holds many times, in numbered scopes, from eight calls on where slices, or more products than variables that are
updated, tell that it is one; so are products or convolutions of the parts that a graph with shapes takes an array apart
into, a channel each or a head, and joins again (three quarters to 0.95 of the ops for single channels, which use a lane
of many). Rounds of
small ops without any product, with as many rounds of their nodes in the backward pass, are a loop over parameters or
items in the loss: priced as most of both. Longer ones that only normalise, as Sinkhorn's, are asked whether they come
to rest, and priced as their way back and what it keeps. Silent where a rule knows the loop, for long ops, for rounds of
a normalisation and a product, which are layers, and below min_share, or below min_many_share where more rounds than a
network has layers are of ops that hardly do more than start: nine tenths of these ops go.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.format ~= "kineto" and p.framework == "tensorflow" and p:has("ops") then return written_out(p, cfg) end
    if not p:has("sequences") or not p:has("torch.forward_ns") then
      return skip { reason = "neither the ops of a graph nor those of eager PyTorch are recorded",
                    capture = "a host timeline" }
    end
    local found = of_calls(p, cfg) or of_reads(p, cfg) or both_ways(p, cfg) or of_settling(p, cfg)
    if found then return found end
    local worst = longest_loop(p, cfg)
    if not worst then return nil end
    local are_many = is_of_many(p, worst, cfg)
    -- One call for all pauses once. What an accelerator has to do meanwhile hides pauses of the host; rounds that
    -- multiply may be layers, which keep them.
    local gap_ns = (p:has("device.idle_share") or has_product(p, worst.ops)) and 0
      or math.min(worst.gap_ns or 0, worst.total_ns)
    local ops_ns = worst.total_ns - gap_ns
    local high_ns = (are_many and 1 - cfg.kept or 0.7) * ops_ns + (1 - 1 / worst.repeats) * gap_ns
    return finding {
      title = ("The sequence %s runs %s times a step"):format(worst.ops, fmt.whole(worst.repeats)),
      locations = place_of(worst),
      evidence = evidence_of(worst, step_ns),
      condition = ("%s repeats take %s of the step, %s accepted"):format(
        fmt.whole(worst.repeats), fmt.pct(worst.total_ns / step_ns),
        fmt.pct(are_many and cfg.min_many_share or cfg.min_share)),
      remedy = is_of_loader(worst) and ROWS_AT_ONCE or
               { text = "Do it once over a longer dimension, or compile the part that repeats.",
                 code = "fn = torch.compile(fn)   # or torch.vmap, bmm, foreach" },
      impact = impact.exposed { ns = high_ns, low = 0.3 * ops_ns + 0.7 * gap_ns, high = high_ns },
      -- The optimizer's ops have other names, for the most part: its time is not that of such a loop.
      claims = are_many and { op_type = (worst.ops:gsub(" > ", ",")) } or nil,
      confidence = are_many and "medium" or "low",
    }
  end,

  examples = {
    -- Half to nine tenths of 3.2 ms, and 0.9 * 0.4 of the executor.
    { name = "slices whose gradients alone are recorded", format = "xspace", framework = "tensorflow", finding = true,
      impact_ns = 2.384e6, facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 4e5, ["ops.count_per_step"] = 100 },
      tables = { ops = example_slices(40, 8e4) } },
    { name = "a loop over channels", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 5.89e6,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 4e5, ["ops.count_per_step"] = 100 },
      tables = { ops = example_rounds(40, 2e5) } },
    -- 20 slices and products take 4.02 of 6.02 ms: half to nine tenths of that, and 0.9 * 0.6 of the executor.
    { name = "its gradients", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 3.03e6,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 4e5, ["ops.count_per_step"] = 100 },
      tables = { ops = example_gradients(20) } },
    -- A cell's products stay, whatever runs it: nine tenths of 20 slices, sums and gates of 10, 10, 15 and 15 us, which
    -- are half of all ops.
    { name = "an unrolled cell", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_cell(20, 5e4) } },
    -- With a loss of 0.1 ms a round that may go for most: half to nine tenths of all 4 ms.
    { name = "a loss for each round of a cell", format = "xspace", framework = "tensorflow", finding = true,
      impact_ns = 2.8e6, facts = { ["step.ns"] = 1e7 }, tables = { ops = example_cell(20, 5e4, 1e5) } },
    { name = "an unrolled cell of large products", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_cell(20, 5e5) } },
    -- Three to seven tenths of twelve convolutions of 0.4 ms.
    { name = "a network for each frame", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 2.4e6,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_frames(12, true) } },
    { name = "a session's network for each part", format = "graph", framework = "tensorflow", finding = true,
      impact_ns = 2.4e6, facts = { ["step.ns"] = 1e7 }, tables = { ops = example_parts(true) } },
    { name = "layers with a weight each", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_parts(false) } },
    -- Three quarters to 0.95 of 24 convolutions of 0.4 ms: single channels leave even a long op nothing to share out.
    { name = "a convolution for each channel", framework = "tensorflow", format = "profile", finding = true,
      impact_ns = 8.16e6, facts = { ["step.ns"] = 2e7 }, tables = { ops = example_channels(true) } },
    { name = "channels that nothing puts together", framework = "tensorflow", format = "profile", finding = false,
      facts = { ["step.ns"] = 2e7 }, tables = { ops = example_channels(false) } },
    -- The same with two convolutions of a model for each of ten frames: three to seven tenths of 8 ms.
    { name = "a model for each frame", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 1.2e7 }, tables = { ops = example_calls(10, true) } },
    -- Three to seven tenths of 6.4 ms.
    { name = "micro-batches in one graph", format = "xspace", framework = "tensorflow", finding = true,
      impact_ns = 3.2e6, facts = { ["step.ns"] = 1e7 }, tables = { ops = example_split(4) } },
    { name = "blocks with weights of their own", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_split(16) } },
    { name = "models with layers of their own", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1.2e7 }, tables = { ops = example_calls(10, false) } },
    { name = "frames that nothing puts together", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_frames(12, false) } },
    { name = "few frames", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = example_frames(5, true) } },
    -- 40 slices and products, 1 and 100 us: half to nine tenths of 4.04 ms, and 0.9 of 80 turns of 2 us.
    { name = "a loop of a session's graph", format = "profile", framework = "tensorflow", finding = true,
      impact_ns = 2.97e6, facts = { ["step.ns"] = 1e7, ["part.idle_other_ns"] = 3e6, ["ops.count_per_step"] = 80,
                                    ["part.compute_ns"] = 6.04e6 },
      tables = { ops = example_rounds(40, 1e5) } },
    -- 96 products take 0.96 of 1.46 ms of ops, and as much of 3 ms computing, half to nine tenths of which may go, and
    -- 0.9 of 96 / 120 of the executor: 1.973 * 0.5 + 0.72 and 1.973 * 0.9 + 0.72, the middle between.
    { name = "a tape for each row", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 2.101e6,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 1e6, ["ops.count_per_step"] = 120,
                ["part.compute_ns"] = 3e6 },
      tables = { ops = example_models(48, 1e4) } },
    { name = "layers of a deep network", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 1e6, ["ops.count_per_step"] = 120 },
      tables = { ops = example_models(48, 1e5) } },
    -- 20 slices and convolutions of one scope a round take 20 * 1 us and 20 * 200 us of 6.02 ms: half to nine tenths,
    -- and 0.9 * 0.4 of the executor.
    { name = "a model for each slice", format = "xspace", framework = "tensorflow", finding = true, impact_ns = 2.958e6,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 4e5, ["ops.count_per_step"] = 100 },
      tables = { ops = example_scopes(20, 2e5) } },
    { name = "a loop over a few", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 4e5, ["ops.count_per_step"] = 100 },
      tables = { ops = example_rounds(12, 2e5) } },
    { name = "a loop that takes little", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.executor_ns"] = 4e5, ["ops.count_per_step"] = 100 },
      tables = { ops = example_rounds(40, 1e4) } },
    { name = "a network once for each crop", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", replay = { 6e6 }, facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = {},
                 excess = { { cell = 1, flaw = "called-again", cause = "dispatch", ns = 6e6, share = 0.6, factor = 0.2,
                              detail = "the same 61 ops, 12 of them products, 12 times in a row" } } } },
    { name = "small ops", framework = "pytorch", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::a > aten::b", repeats = 80, total_ns = 5e6, mean_op_ns = 3e3 } } } },
    -- Of 1 ms of ops 0.3 to 0.7, of 4 ms of pauses 0.7 to 79/80: 3.1 to 4.65, the middle between.
    { name = "small ops with pauses", framework = "pytorch", finding = true, impact_ns = 3.875e6,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::a > aten::b", repeats = 80, total_ns = 5e6, gap_ns = 4e6,
                                 mean_op_ns = 3e3 } } } },
    -- 12 % of the step: of 0.5 ms of ops 0.3 to 0.9, of 0.7 ms of pauses 0.7 to 399/400: 0.64 to 1.148.
    { name = "moments that each row of a batch is added to", framework = "pytorch", finding = true,
      impact_ns = 8.94125e5, facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::sub > aten::div > aten::add > aten::sub > aten::mul > aten::add",
                                 repeats = 400, total_ns = 1.2e6, gap_ns = 7e5, mean_op_ns = 1e3 } } } },
    { name = "a loop that an accelerator may hide", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6, ["device.idle_share"] = 0.1 },
      tables = { sequences = { { ops = "aten::sub > aten::div > aten::add > aten::sub > aten::mul > aten::add",
                                 repeats = 400, total_ns = 1.2e6, gap_ns = 7e5, mean_op_ns = 1e3 } } } },
    { name = "an optimizer that goes over many small weights", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::lerp_ > aten::mul_ > aten::addcmul_ > aten::sqrt > aten::addcdiv_",
                                 repeats = 200, total_ns = 2e6, gap_ns = 7e5, mean_op_ns = 2e3 } } } },
    { name = "rounds that multiply, as layers do", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::linear > aten::add > aten::relu", repeats = 120, total_ns = 2e6,
                                 gap_ns = 7e5, mean_op_ns = 4e3 } } } },
    -- Half of 2 ms of pauses, up to nine tenths of all 3.
    { name = "norms of large gradients, logged one by one", framework = "pytorch", finding = true, severity = "warn",
      impact_ns = 1.85e6, facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::linalg_vector_norm > aten::item", repeats = 88, total_ns = 3e6,
                                 gap_ns = 2e6, mean_op_ns = 8e4 } } } },
    -- Nine tenths of 2 and 4 ms.
    { name = "a norm of each weight in the loss", framework = "pytorch", finding = true, severity = "warn",
      impact_ns = 5.4e6, facts = { ["step.ns"] = 2e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::linalg_vector_norm > aten::pow > aten::mul > aten::add", repeats = 89, total_ns = 2e6,
          mean_op_ns = 4e3 },
        { ops = "AddBackward0 > MulBackward0 > PowBackward0 > LinalgVectorNormBackward0", repeats = 89,
          total_ns = 4e6, mean_op_ns = 8e3 } } } },
    -- 6 ms, and a quarter of 4.
    { name = "the way back through rounds that normalise", framework = "pytorch", finding = true, severity = "info",
      impact_ns = 7e6, facts = { ["step.ns"] = 2e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::unsqueeze > aten::sub > aten::logsumexp > aten::neg", repeats = 60, total_ns = 4e6,
          mean_op_ns = 25e3 },
        { ops = "NegBackward0 > LogsumexpBackward0 > SubBackward0 > aten::sum > UnsqueezeBackward0", repeats = 59,
          total_ns = 6e6, mean_op_ns = 20e3 } } } },
    { name = "rounds that normalise a part of a sequence each", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 2e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::select > aten::add > aten::logsumexp > aten::neg", repeats = 60, total_ns = 4e6,
          mean_op_ns = 25e3 },
        { ops = "NegBackward0 > LogsumexpBackward0 > AddBackward0 > aten::sum > SelectBackward0", repeats = 59,
          total_ns = 6e6, mean_op_ns = 20e3 } } } },
    { name = "rounds that normalise, and are not gone back through", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 2e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::unsqueeze > aten::sub > aten::logsumexp > aten::neg", repeats = 60, total_ns = 4e6,
          mean_op_ns = 25e3 } } } },
    -- Nine tenths of 1 and 2 ms.
    { name = "the largest of each group of rows", framework = "pytorch", finding = true, severity = "warn",
      impact_ns = 2.7e6, facts = { ["step.ns"] = 2e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::max > aten::max", repeats = 32, total_ns = 1e6, mean_op_ns = 1e4 },
        { ops = "MaxBackward0 > MaxBackward0", repeats = 32, total_ns = 2e6, mean_op_ns = 2e4 } } } },
    -- No warning of values that are read: what is left of 2.4 ms is nine tenths of 0.4, and pauses, or 0.3 and 0.7.
    { name = "labels that a loader reads", framework = "pytorch", finding = true, severity = "info",
      impact_ns = 1.936e6,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::select > aten::item", repeats = 256, total_ns = 2.4e6, gap_ns = 2e6,
                                 mean_op_ns = 2e3, input_share = 1 } } } },
    { name = "norms that an accelerator waits for", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6, ["device.idle_share"] = 0.3 },
      tables = { sequences = { { ops = "aten::linalg_vector_norm > aten::item", repeats = 88, total_ns = 2.4e6,
                                 gap_ns = 2e6, mean_op_ns = 8e4 } } } },
    { name = "layers of a deep network", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 2e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::linear > aten::mul > aten::add", repeats = 40, total_ns = 2e6, mean_op_ns = 4e3 },
        { ops = "AddBackward0 > MulBackward0 > AddmmBackward0", repeats = 40, total_ns = 2e6,
          mean_op_ns = 8e3 } } } },
    -- As many copies of batches as there are layers, which is no loop that both passes have.
    { name = "batches that are copied", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 5e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = {
        { ops = "aten::select > aten::copy_", repeats = 40, total_ns = 1.3e6, mean_op_ns = 1.3e4 },
        { ops = "AddmmBackward0 > aten::sum > aten::view > torch::autograd::AccumulateGrad", repeats = 40,
          total_ns = 9e6, mean_op_ns = 2.8e4 } } } },
    { name = "long ops whose values are read", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::mm > aten::item", repeats = 10, total_ns = 5e6, gap_ns = 4e5,
                                 mean_op_ns = 3e5 } } } },
    { name = "layers that are normalised", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 9e6 },
      tables = { sequences = { { ops = "aten::layer_norm > aten::linear > aten::tanh > aten::mul > aten::add",
                                 repeats = 120, total_ns = 5e6, mean_op_ns = 8e3 } } } },
    { name = "a value of each parameter", framework = "pytorch", finding = true, impact_ns = 3.375e6,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::abs > aten::max > aten::item", repeats = 10, total_ns = 5e6,
                                 mean_op_ns = 3e3 } } } },
    { name = "a deep network's backward pass", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "AddmmBackward0 > aten::sum", repeats = 100, total_ns = 5e6,
                                 mean_op_ns = 3e3 } } } },
    { name = "long ops", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 5e6 },
      tables = { sequences = { { ops = "aten::a > aten::b", repeats = 100, total_ns = 5e6, mean_op_ns = 3e5 } } } },
  },
}
