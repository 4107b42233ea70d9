-- Embedding lookups cost far more than the rows they read.
local function of_pytorch(p, cfg)
  local step_ns, rows = p.fact["step.ns"], p.fact["torch.embedding_rows"]
  local lookups, gradient_ns = p.fact["torch.embedding_lookups"], p.fact["torch.embedding_gradient_ns"]
  if gradient_ns <= 0 or lookups <= 0 or rows < cfg.min_ratio * lookups then return nil end
  local elements, all = p.fact["torch.embedding_elements"] or 0, p.fact["torch.accumulated_elements"] or 0
  local share = all > 0 and math.min(1, elements / all) or 0
  local update_ns = (p.fact["torch.update_ns"] or 0) + (p.fact["torch.clear_ns"] or 0)
  local ns = math.min(gradient_ns + share * update_ns, step_ns)
  if ns < cfg.min_step_share * step_ns then return nil end
  return finding {
    title = ("The dense gradient of a table of %s rows and its update take %s a step"):format(
      fmt.count(rows), fmt.ms(ns)),
    locations = p:lines_of("torch.embedding_gradient_ns"),
    evidence = { { "gradient and update of the table a step", ns, "ns", share = ns / step_ns },
                 { "rows", rows, "count" }, { "lookups a step", lookups, "count" },
                 { "share of such tables in all gradients", share, "share" } },
    condition = ("%s rows for %s lookups, %s times as many accepted"):format(fmt.count(rows), fmt.count(lookups),
        fmt.count(cfg.min_ratio)),
    remedy = { text = "Make the gradient sparse, so that only the rows looked up are written and updated.",
               code = "emb = nn.Embedding(rows, dim, sparse=True); optimizer = "
                 .. "torch.optim.SparseAdam(emb.parameters())" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

-- Ledger: a table a field, and a lookup, a gradient and an update a table.
local function separate_tables(p, cfg)
  if not p:has("excess") then return nil end
  return p:in_excess {
    flaw = "separate-tables", min_share = cfg.min_separate_share, severity = "info",
    time = "starting the same small ops for each table",
    title = "Each field of the input has a table of its own, and each table its lookup, gradient and update: %s",
    remedy = { text = "Put tables of one width into one, with an offset a field: one lookup, one gradient, one "
                 .. "update.",
               code = "offsets = numpy.cumsum([0] + sizes[:-1])\n"
                 .. "rows = Embedding(sum(sizes), width)(fields + offsets)" },
    confidence = "medium",
  }
end

-- Ledger: vectors of distances for all pairs of places.
local function of_pairs(p, cfg)
  if p.framework ~= "pytorch" or not p:has("excess") then return nil end
  return p:in_excess {
    flaw = "pair-vectors", min_share = cfg.min_pairs_share, severity = "info",
    time = "looking the vectors up and adding up their gradients",
    title = "A vector is looked up for each pair of places: %s of each step",
    remedy = { text = "Multiply the queries with the vectors of all distances first, and let each pair take its score: "
                 .. "by a gather, or, for distances one row further each, by a pad and a reshape (skewing, as the "
                 .. "Music Transformer does). No vectors of pairs are made then, nor their gradients added up row "
                 .. "after row.",
               code = "s = F.pad(q @ distances.weight.mT, (1, 0))   # not torch.einsum('bhld,lrd->bhlr', q, "
                 .. "distances(i - j))\ns = s.reshape(*s.shape[:2], n + 1, n)[:, :, 1:]   # causal: s[l, r] is of the "
                 .. "distance l - r" },
    confidence = "medium",
  }
end

-- Vectors that an op beside them reduces, and no product there takes, are made for that op, if both cost more than any
-- product.
local function is_reduced(ops, product, cfg)
  local vector = ops:where { type = { class = "one-hot" } }:top("self_ns", 1):rows()[1]
  if not vector then return false end
  local beside = ops:where { name = { like = "^\\Q" .. (vector.name:match("^(.*/)[^/]+$") or "") .. "\\E[^/]+$" } }
  local ns = beside:where { type = { like = "^(Max|Sum|Any|Mean)$" },
                            calls = { min = vector.calls, max = vector.calls } }:sum("self_ns") or 0
  return ns >= cfg.min_reduced * vector.self_ns and vector.self_ns + ns > product.self_ns
    and beside:where { type = { class = "product" } }:count() == 0
end

-- A mask of all classes is no lookup: elementwise ops of its scope, where no product is, each take about as long as
-- making it does, as `hot * a + (1 - hot) * b` of logits.
local function is_mask(p, ops, cfg)
  local vector = ops:where { type = { class = "one-hot" } }:top("self_ns", 1):rows()[1]
  if not vector or p.framework ~= "tensorflow" then return false end
  local prefix = "^\\Q" .. (vector.name:match("^(.*/)[^/]+$") or "") .. "\\E"
  local beside = ops:where { name = { like = prefix .. "[^/]+$" }, calls = { min = vector.calls, max = vector.calls } }
  return beside:where { type = { like = "^(Mul|Sub|AddV2|Select(V2)?)$" },
                        self_ns = { min = cfg.min_masked * vector.self_ns } }:count() >= 2
    and beside:where { type = { class = "product" } }:count() == 0
end

-- Keras 3 looks rows up in the value of a variable. Once rows were written to it, TensorFlow copies it at each read.
local function of_copies(p, cfg, ops, all_ns)
  if p.framework ~= "tensorflow" or p:has("device.idle_share") then return nil end
  local writes = ops:where { type = { like = "^Resource(Scatter(Sub|Add|Update)|SparseApply\\w+)$" } }
  if writes:count() == 0 then return nil end
  local reads = ops:where { type = "ReadVariableOp", name = { like = "/GatherV2(_[0-9]+)?/ReadVariableOp(_[0-9]+)?$" },
                            is_eager = false, mean_ns = { min = cfg.min_copy_ns } }
  local ns, names, evidence = reads:sum("self_ns"), {}, {}
  if reads:count() == 0 or ns < cfg.min_copied_share * all_ns then return nil end
  for i, row in ipairs(reads:top("self_ns", 40):rows()) do
    names[i] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
    if i <= 3 then evidence[i] = { row.name, row.self_ns, "ns" } end
  end
  table.insert(evidence, 1, { "reading tables a step", ns, "ns", share = math.min(1, ns / p.fact["step.ns"]) })
  return finding {
    title = ("Tables are copied before rows are looked up in them: %s a step"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = evidence[2][1] }, evidence = evidence,
    condition = ("reading tables takes %s of op time, %s accepted"):format(fmt.pct(ns / all_ns),
        fmt.pct(cfg.min_copied_share)),
    remedy = { text = "Look the rows up in the variable itself, not in its value: TensorFlow copies a variable whole "
                 .. "at each read once an optimizer has written rows of it, and Keras 3's Embedding reads its table.",
               code = "class Table(keras.layers.Embedding):\n"
                 .. "    def call(self, ids):\n"
                 .. "        return tf.nn.embedding_lookup(self.embeddings.value, ids)" },
    impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = cfg.kept },
                             fallback = impact.share { ns = ns } },
    confidence = "medium",
  }
end

return rule {
  id = "embedding-bound", api = 1, version = "1.0.0",
  title = "Embedding lookups take much of the step",
  category = "kernels", severity = "warn",
  formats = { "xspace", "kineto", "graph", "profile" },
  needs = { "step.ns", "ops" },
  cause = "compute.embedding", tags = { "kernels", "embedding" },
  more_specific_than = { "hot-op", "host-bound", "tiny-ops", "unnamed-excess", "roofline-gap",
                         "onehot-matmul" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops from which this is said" },
    min_separate_share = { default = 0.1, min = 0, max = 1, unit = "share",
                           doc = "share of the step that starting the ops of each table takes" },
    min_pairs_share = { default = 0.05, min = 0, max = 1, unit = "share",
                        doc = "PyTorch: share of the step that vectors of pairs take, there and back" },
    min_classes = { default = 64, min = 2, max = 1e9, unit = "count",
                    doc = "smaller tables are cheap as a product" },
    min_step_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that a dense gradient and its update take, for PyTorch on an "
                         .. "accelerator" },
    min_ratio = { default = 10, min = 1, max = 1e9, unit = "ratio", doc = "rows over lookups, for the same" },
    min_reduced = { default = 0.3, min = 0, max = 10, unit = "ratio",
                    doc = "TensorFlow: time of what reduces one-hot vectors over that of making them, from which no "
                      .. "product is taken for their reader" },
    min_masked = { default = 0.3, min = 0, max = 10, unit = "ratio",
                   doc = "TensorFlow: time of an elementwise op over that of making one-hot vectors, from which two "
                     .. "such ops beside them say that these are a mask" },
    min_copied_share = { default = 0.1, min = 0, max = 1, unit = "share",
                         doc = "TensorFlow: share of the time of all ops that reading tables takes" },
    min_copy_ns = { default = 5e4, min = 0, max = 1e12, unit = "ns",
                    doc = "TensorFlow: a read that takes this long copies the variable" },
    kept = { default = 0.02, min = 0, max = 1, unit = "ratio", doc = "part of the time that a gather needs" },
  },
  doc = [[
A lookup reads a few rows of a table. Written as a product with one-hot vectors it reads all of it, multiplies
mostly by zero, and its gradient writes all of it. One-hot vectors are recognised by ops that widen integers to rows
of classes (OneHot, SparseToDense, the counting of Keras's encoding layers, or a fusion from n integers to n x
classes), the product by an operand of that shape and a table of as many rows. Priced as the time of those ops, less
what a gather costs. PyTorch on an accelerator: a table's dense gradient and its share of the update, priced as
their time. A dozen tables and more that are looked up and updated one by one in a graph of TensorFlow: what
starting their small ops takes. Tables of TensorFlow whose rows were written, which each read copies: those reads.
PyTorch: vectors of distances that are looked up for each pair of places and multiplied with queries, which give
fewer scores than the vectors have numbers: the lookups, there and back. Silent for small tables, small shares,
masks that elementwise ops take and what counts for histograms of summaries.]],

  check = function(p, cfg)
    local pairs_found = of_pairs(p, cfg)
    if pairs_found then return pairs_found end
    -- Only where an accelerator computes: on a host dense-embedding-gradient says it.
    if p:has("torch.embedding_rows") and not p:has("torch.forward_gap_ns") then
      local dense = of_pytorch(p, cfg)
      if dense then return dense end
    end
    local ops = p:table("ops")
    local all_ns = ops:sum("self_ns")
    if all_ns <= 0 then return nil end

    -- Shapes of one-hot matrices: [n,classes] made from n integers.
    local wide, names, ns, found, tables = {}, {}, 0, {}, {}
    local rows = ops:top("self_ns", 300):rows()
    -- A lookup's product multiplies by the table or gives its gradient: two dimensions, one of them the classes.
    local function has_table(shapes, classes, one_hot)
      for first, second in shapes:gmatch("\\[([0-9]+),([0-9]+)\\]") do
        if (first == classes or second == classes) and not one_hot["[" .. first .. "," .. second .. "]"] then
          return true
        end
      end
      return false
    end
    local function count_of(dims)
      local product = 1
      for n in dims:gmatch("[0-9]+") do product = product * tonumber(n) end
      return product
    end
    local has_one_hot, is_sparse = false, false
    -- A histogram for a summary counts by vectors of its own: under its scope, or op by op beside it.
    local writes = ops:where { type = { like = "^Write(Histogram)?Summary$" } }:count() > 0
    local function is_summary(row)
      return writes and row.is_eager or row.name:find("write_summary/|histogram_summary/")
    end
    -- Layers of Keras count what a row holds: as many columns as there are kinds.
    local function is_counted(row)
      return row.type == "DenseBincount"
        and row.name:find("(category_encoding|_lookup|text_vectorization|hashing)\\w*/")
    end
    local function is_one_hot(row)
      return (row.type == "OneHot" or row.type == "aten::one_hot" or row.type == "SparseToDense" or is_counted(row)) and
        not is_summary(row)
    end
    for _, row in ipairs(rows) do
      if is_one_hot(row) then
        has_one_hot = true
        names[row.name], ns = true, ns + row.self_ns
      end
      local inputs, outer, classes = (row.shapes or ""):match("^([^>]*)->\\[([0-9,]+),([0-9]+)\\]$")
      inputs = inputs and inputs:gsub("x\\[\\]", "") -- depth, and the values for on and off
      -- A number a row that is repeated looks the same: where it is that, or may be, the comparison must show.
      local is_flat = inputs and not outer:find(",")
      if inputs and tonumber(classes) >= cfg.min_classes and inputs ~= "" and
         (is_flat and not row.name:find("broadcast") or row.name:find("compare|one_hot|eq_")) then
        -- Several vectors of indices make one such matrix too, as dispatching to experts does; an identity matrix is
        -- none.
        local one = inputs:match("^(\\[[0-9,]+\\])(x\\1)*-?$")
        if one and count_of(one) == count_of(outer) and count_of(outer) ~= tonumber(classes) then
          wide["[" .. outer .. "," .. classes .. "]"] = classes
          if not is_flat then wide["[" .. count_of(outer) .. "," .. classes .. "]"] = classes end
          names[row.name], ns = true, ns + row.self_ns
        end
      end
    end
    -- Logits have the shape of one-hot labels: a product makes them, or a gradient leaves them for what they were made
    -- of, as no lookup's does. There a product on the way to the loss must take the shape.
    local made, taken = {}, {}
    for _, row in ipairs(rows) do
      local inputs, result = (row.shapes or ""):match("^(.*)->(\\[[0-9,]+\\])$")
      local multiplies = inputs and (row.type == "fusion" or p:class_of(row.type or "") == "product")
      local goes_back = (row.name .. (row.scope or "")):find("gradient|_grad/|transpose\\(")
      if multiplies and wide[result] and has_table(inputs, wide[result], wide) then made[result] = true end
      for shape, classes in sorted_pairs(multiplies and wide or {}) do
        if inputs:find(shape, 1, true) and has_table(row.shapes, classes, wide) then
          if not goes_back then taken[shape] = true
          elseif not result:find("\\b" .. classes .. "\\b") then made[shape] = true end
        end
      end
    end
    for shape in sorted_pairs(made) do
      if not taken[shape] then wide[shape], has_one_hot = nil, false end
    end
    for _, row in ipairs(rows) do
      local shapes = row.shapes or ""
      if not names[row.name] and shapes ~= "" and row.type ~= "custom-call" and row.type ~= "while" then
        for shape, classes in sorted_pairs(wide) do
          if shapes:find("\\Q" .. shape .. "\\E.*->") and has_table(shapes, classes, wide) then
            names[row.name], ns = true, ns + row.self_ns
            found[#found + 1] = row
            tables[shapes:match("->(\\[" .. classes .. ",[0-9]+\\])$") or ""] = true
            break
          end
        end
      end
    end
    -- The gradient of a lookup names its rows: an update that has no state of all rows then leaves the others alone.
    for _, row in ipairs(rows) do
      local result = (row.shapes or ""):match("->(\\[[0-9,]+\\])$")
      if not names[row.name] and result and tables[result] and row.type:find("Apply(GradientDescent|Adagrad)") then
        names[row.name], ns = true, ns + row.self_ns
      end
    end
    if #found == 0 and has_one_hot then
      -- Without shapes: the products that dominate beside OneHot, and their gradients.
      local products = ops:where { type = { class = "product" } }:top("self_ns", 1):rows()
      local first = products[1]
      local one_hot_ns = 0
      for row in ops:where { type = { class = "one-hot" } }:each() do
        one_hot_ns = one_hot_ns + (is_summary(row) and 0 or row.self_ns)
      end
      for row in ops:where { type = "DenseBincount" }:each() do
        one_hot_ns = one_hot_ns + (is_counted(row) and row.self_ns or 0)
      end
      is_sparse = ops:where { type = "SparseToDense" }:sum("self_ns") > 0.5 * one_hot_ns
      if first and one_hot_ns / all_ns >= 0.02 and not is_reduced(ops, first, cfg) and not is_mask(p, ops, cfg) then
        local stem = first.name:match("^gradient_tape/(.*?)/MatMul") or first.name:match("^gradients/(.*)_grad/MatMul")
          or first.name
        for _, row in ipairs(
            ops:where { type = { like = "MatMul" }, name = { like = "\\Q" .. stem .. "\\E" } }:rows()) do
          names[row.name], ns = true, ns + row.self_ns
          found[#found + 1] = row
        end
        -- A product that was fused with what follows bears the name of that: its weight's gradient takes as long.
        local other = not stem:find("MatMul") and ops:where { type = { class = "product" },
          name = { like = "^gradient.*" } }:top("self_ns", 1):rows()[1]
        if other and not names[other.name] and other.self_ns >= 0.3 * first.self_ns then
          names[other.name], ns = true, ns + other.self_ns
          found[#found + 1] = other
        end
      end
    end
    local share = ns / all_ns
    if #found == 0 or share < cfg.min_share then
      return separate_tables(p, cfg) or of_copies(p, cfg, ops, all_ns)
    end

    table.sort(found, function(a, b) return a.self_ns > b.self_ns end)
    local evidence =
      { { "one-hot vectors and their products a step", ns, "ns", share = math.min(ns / p.fact["step.ns"], 1) },
        { "their share of all op time", share, "share" } }
    for i = 1, math.min(#found, 3) do
      evidence[#evidence + 1] = { found[i].name .. " " .. (found[i].shapes or ""), found[i].self_ns, "ns" }
    end
    local list = {}
    for name in sorted_pairs(names) do list[#list + 1] = "\\Q" .. name:gsub(",", ".") .. "\\E" end
    local code = { jax = "x = table[ids]            # or jnp.take(table, ids, axis=0)",
                   tensorflow = "x = tf.gather(table, ids)",
                   pytorch = "x = torch.nn.functional.embedding(ids, table)" }
    return finding {
      title = (is_sparse and "Sparse rows are made dense and multiplied by a table: %s of op time" or
               "One-hot products stand for lookups: %s of op time"):format(fmt.pct(share)),
      subject = { op = found[1].name },
      evidence = evidence,
      condition = ("one-hot vectors and their products take %s of op time, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = is_sparse and "Keep them sparse: read and add up the rows that they name." or
                     "Look the rows up instead of multiplying by one-hot vectors; sums of the rows of a group are "
                     .. "segment sums.",
                 code = is_sparse
                   and "y = tf.sparse.sparse_dense_matmul(bags, table)   # or tf.nn.embedding_lookup_sparse" or
                     code[p.framework] },
      impact = impact.replay { { "scale", name = table.concat(list, "|"), factor = cfg.kept },
              fallback = impact.share { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "vectors of distances for each pair of places", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", impact_ns = 2e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::embedding_dense_backward", type = "aten::embedding_dense_backward",
                           self_ns = 2e6 } },
                 excess = { { cell = 1, flaw = "pair-vectors", cause = "bytes", grade = "A", ns = 2e6, share = 0.2,
                              op = "aten::embedding", detail = "vectors that are looked up for pairs" } } } },
    { name = "a dense gradient on an accelerator", format = "kineto", framework = "pytorch", finding = true,
      impact_ns = 5.4e6,
      facts = { ["step.ns"] = 1e7, ["torch.embedding_rows"] = 1e6, ["torch.embedding_lookups"] = 4096,
                ["torch.embedding_gradient_ns"] = 2e6, ["torch.embedding_elements"] = 1e8,
                ["torch.accumulated_elements"] = 1e8, ["torch.update_ns"] = 4e6 },
      tables = { ops = { { name = "aten::mm", type = "aten::mm", self_ns = 1e6 } } } },
    { name = "histograms of a summary", framework = "tensorflow", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "OneHot", type = "OneHot", self_ns = 2e6, is_eager = true },
                         { name = "w/write_summary/summary_cond/buckets/one_hot", type = "OneHot", self_ns = 2e6 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 5e6 },
                         { name = "WriteSummary", type = "WriteSummary", self_ns = 1e5, is_eager = true } } } },
    -- All of 4.5 ms but a fiftieth: counting, a product with the activation fused, and the gradient of its weight.
    { name = "bags of words as counts", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 4.41e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "model/category_encoding/bincount/DenseBincount", type = "DenseBincount",
                           self_ns = 5e5 },
                         { name = "model/re_lu/Relu", type = "_MklNativeFusedMatMul", self_ns = 2e6 },
                         { name = "gradient_tape/model/dense/MatMul/MatMul", type = "_MklMatMul", self_ns = 2e6 },
                         { name = "model/dense_1/Relu", type = "_MklNativeFusedMatMul", self_ns = 1e6 } } } },
    { name = "a histogram that counts", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "bincount/DenseBincount", type = "DenseBincount", self_ns = 5e5 },
                         { name = "model/re_lu/Relu", type = "_MklNativeFusedMatMul", self_ns = 2e6 } } } },
    { name = "one-hot matmul with shapes", framework = "jax", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "convert_fusion", type = "fusion", shapes = "[128,8]->[1024,2048]", self_ns = 1e6 },
                         { name = "dot.1", type = "dot", shapes = "[1024,2048]x[2048,64]->[1024,64]", self_ns = 5e6 },
                         { name = "dot.2", type = "dot", shapes = "[128,64]x[64,64]->[128,64]", self_ns = 1e6 } } } },
    { name = "one-hot vectors of sequences", framework = "jax", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "compare_convert_fusion", type = "fusion", shapes = "[16,32]->[16,32,8000]",
                           self_ns = 1e6 },
                         { name = "ynn_fusion", type = "fusion", shapes = "[64,64]x[8000,64]x[16,32,8000]->[]",
                           self_ns = 5e6 },
                         { name = "dot.2", type = "dot", shapes = "[128,64]x[64,64]->[128,64]", self_ns = 1e6 } } } },
    { name = "a table a field", framework = "tensorflow", format = "xspace", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "model/embedding_3/GatherV2", type = "GatherV2", self_ns = 1e5 } },
                 excess = { { cell = 1, flaw = "separate-tables", ns = 2e6, share = 0.2, factor = 0.03,
                              op = "GatherV2", detail = "rows of 26 tables are updated apart" } } } },
    { name = "a table a field, but long ops", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "model/embedding_3/GatherV2", type = "GatherV2", self_ns = 1e5 } },
                 excess = { { cell = 1, flaw = "separate-tables", ns = 2e5, share = 0.02, factor = 0.9 } } } },
    { name = "a mean broadcast over features", framework = "jax", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "broadcast_fusion", type = "fusion", shapes = "[16,32]->[16,32,512]", self_ns = 1e6 },
                         { name = "subtract_fusion", type = "fusion", shapes = "[16,32,512]x[16,32,512]->[16,32,512]",
                           self_ns = 5e6 } } } },
    { name = "a number a row, widened, then work on rows", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "broadcast_fusion", type = "fusion", shapes = "[64]->[64,128]", self_ns = 1e6 },
                         { name = "copy_fusion", type = "fusion", shapes = "[64,128]x[64,128]x[128]->[64,128,128]",
                           self_ns = 5e6 } } } },
    { name = "a mean of each row, repeated, beside square weights", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "wrapped_broadcast.11", type = "fusion", shapes = "[64]->[64,96]", self_ns = 1e5 },
                         { name = "ynn_fusion", type = "fusion", shapes = "[64,96]x[96,96]->[64,96]",
                           self_ns = 5e6 } } } },
    { name = "bags made dense", framework = "tensorflow", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "SparseToDense", type = "SparseToDense", self_ns = 5e5 },
                         { name = "model/MatMul", type = "_MklMatMul", self_ns = 4e6 },
                         { name = "gradient_tape/model/MatMul/MatMul", type = "_MklMatMul", self_ns = 2e6 } } } },
    { name = "a session's OneHot", format = "profile", framework = "tensorflow", finding = true, replay = { 7.6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "one_hot", type = "OneHot", shapes = "[64]x[]x[]x[]->[64,9000]", self_ns = 5e5 },
                         { name = "MatMul", type = "MatMul", shapes = "[64,9000]x[9000,32]->[64,32]", self_ns = 3e6 },
                         { name = "gradients/MatMul_grad/MatMul_1", type = "MatMul",
                           shapes = "[64,9000]x[64,32]->[9000,32]", self_ns = 4e6 },
                         { name = "update_table/ApplyGradientDescent", type = "ApplyGradientDescent",
                           shapes = "[9000,32]x[]x[9000,32]->[9000,32]", self_ns = 5e5 },
                         { name = "update_other/ApplyGradientDescent", type = "ApplyGradientDescent",
                           shapes = "[900,32]x[]x[900,32]->[900,32]", self_ns = 2e6 } } } },
    { name = "one-hot labels of a session's logits", format = "profile", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "one_hot", type = "OneHot", shapes = "[64]x[]x[]x[]->[64,9000]", self_ns = 5e5 },
                         { name = "add", type = "AddV2", shapes = "[64,9000]x[9000]->[64,9000]", self_ns = 3e6 },
                         { name = "gradients/MatMul_grad/MatMul_1", type = "MatMul",
                           shapes = "[64,32]x[64,9000]->[32,9000]", self_ns = 4e6 },
                         { name = "gradients/MatMul_grad/MatMul", type = "MatMul",
                           shapes = "[64,9000]x[32,9000]->[64,32]", self_ns = 4e6 } } } },
    { name = "OneHot that is reduced", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "while/one_hot", type = "OneHot", calls = 20, self_ns = 3e6 },
                         { name = "while/Max", type = "Max", calls = 20, self_ns = 1.5e6 },
                         { name = "while/head/MatMul", type = "MatMul", calls = 20, self_ns = 4e6 } } } },
    -- As long as the vectors: a mask and its complement, multiplied with logits that a layer's product makes.
    { name = "a mask of all classes", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "one_hot", type = "OneHot", calls = 1, self_ns = 1e6 },
                         { name = "sub", type = "Sub", calls = 1, self_ns = 1e6 },
                         { name = "mul", type = "Mul", calls = 1, self_ns = 8e5 },
                         { name = "head/MatMul", type = "MatMul", calls = 1, self_ns = 2e6 },
                         { name = "gradient_tape/head/MatMul/MatMul", type = "MatMul", calls = 1, self_ns = 3e6 } } } },
    -- 3 of 3.1 ms are read for looking up, of which a fiftieth stays.
    { name = "a table that is copied for its lookups", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", replay = { 2.94e6 }, impact_ns = 2.94e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "m/embedding/GatherV2/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           calls = 1, mean_ns = 3e6, self_ns = 3e6 },
                         { name = "m/dense/Cast/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           calls = 1, mean_ns = 4e3, self_ns = 4e3 },
                         { name = "sgd/ResourceScatterSub", type = "ResourceScatterSub", self_ns = 1e5 },
                         { name = "m/dense/MatMul", type = "MatMul", self_ns = 4e6 } } } },
    { name = "reads of a table whose rows nothing writes", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "m/embedding/GatherV2/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           calls = 1, mean_ns = 3e6, self_ns = 3e6 },
                         { name = "m/dense/MatMul", type = "MatMul", self_ns = 4e6 } } } },
    { name = "short reads of many small tables", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "m/embedding/GatherV2/ReadVariableOp", type = "ReadVariableOp", is_eager = false,
                           calls = 100, mean_ns = 3e4, self_ns = 3e6 },
                         { name = "sgd/ResourceScatterSub", type = "ResourceScatterSub", self_ns = 1e5 },
                         { name = "m/dense/MatMul", type = "MatMul", self_ns = 4e6 } } } },
    { name = "OneHot without shapes", framework = "tensorflow", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "one_hot", type = "OneHot", self_ns = 5e5 },
                         { name = "Tensordot/MatMul", type = "_MklMatMul", self_ns = 3e6 },
                         { name = "gradient_tape/Tensordot/MatMul/MatMul", type = "_MklMatMul", self_ns = 3e6 },
                         { name = "Relu", type = "Relu", self_ns = 1e6 } } } },
    { name = "labels only", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "one_hot", type = "OneHot", self_ns = 1e3 },
                         { name = "dense/MatMul", type = "_MklMatMul", self_ns = 8e6 } } } },
  },
}
