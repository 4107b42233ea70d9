-- Moving data around takes more of the step than computing.
-- Of compiled programs whose instructions are known: what is left of these kernels at the rate that a pass over the
-- same arrays has, and the lines of their ops. A scatter by atomic additions is far from it, sums over sorted rows or
-- a product are not.
local function at_limit(p, cfg, kernels)
  if p.format ~= "xspace" or not p:has("roofline") then return nil end
  local known, ns, floor_ns, places = {}, 0, 0, {}
  for row in p:table("roofline"):where { efficiency = { min = 0.0001, max = 1 } }:each() do known[row.op] = row end
  for row in kernels:each() do
    local op = known[row.op or ""]
    if op then
      ns, floor_ns = ns + row.total_ns, floor_ns + row.total_ns * math.min(1, op.efficiency / cfg.reached)
      if op.source_file and op.source_file ~= "" and #places < 3 then
        places[#places + 1] = { file = op.source_file, line = op.source_line }
      end
    end
  end
  return { ns = ns, floor_ns = floor_ns, places = places }
end

-- Passes over arrays as large as those that PyTorch sorts: what is selected from them would be small. Conversions come
-- before the sort.
local function behind_sorts(sorts, kernels)
  local sizes, ns = {}, 0
  for row in sorts:each() do sizes[(row.shapes or ""):match("^\\[[0-9,]+\\]") or "-"] = true end
  for row in kernels:where { category = { like = "^(elementwise|softmax|scan|reduce|random|sampling)$" } }:each() do
    if sizes[(row.shapes or ""):match("^\\[[0-9,]+\\]") or ""] then ns = ns + row.total_ns end
  end
  return ns
end

-- Where rows that were sorted are added up along and drawn from, as for a nucleus, that is done for all that was
-- sorted, too: a selection leaves few. Drawing from many is an exponential variate for each.
local function sampling_of_all(ops)
  local draws = ops:where { type = { like = "^aten::multinomial$" } }:count() > 0
      and ops:where { type = { like = "^aten::cumsum$" } }:count() > 0
  return ops:where { type = { like = draws and "^aten::(cumsum|multinomial|exponential_)$" or "^$" } }
end

-- TensorFlow's gathers along an inner axis go element by element: their shapes say so, or that what their gradients
-- add up is turned round first. A pattern of their names and their gradients'; what is turned round.
local function of_inner_axis(ops)
  local turned = ops:where { type = { like = "^(_Mkl)?Transpose$" },
                             name = { like = "^gradients.*Gather[^/]*_grad/" } }
  local inner = ops:where { type = { like = "^GatherV2$" }, shapes = {
    like = "^\\[((?:[0-9]+,)+)[0-9]+\\]x\\[([0-9]+)\\].*->\\[\\1\\2\\]$" } }
  local names = {}
  for _, row in ipairs(inner:top("self_ns", 20):rows()) do names[#names + 1] = "\\Q" .. row.name .. "\\E" end
  for _, row in ipairs(turned:top("self_ns", 40):rows()) do
    names[#names + 1] = "\\Q" .. row.name:match("^gradients[^/]*/(.*)_grad/") .. "\\E"
  end
  return #names > 0 and "^(gradients[^/]*/)?(" .. table.concat(names, "|") .. ")(_grad/.*)?$" or "^$", turned
end

-- TensorFlow: rows that are written into a copy of a tensor, which is then assigned to the variable that it was read
-- from. Both move all of it, as often.
local function of_copies(p, cfg, ops)
  local function longest(pattern)
    return ops:where { type = { like = pattern }, mean_ns = { min = cfg.min_copy_ns } }:top("self_ns", 1):rows()[1]
  end
  local scatter, assign = longest("^TensorScatter(Update|Add|Sub|Max|Min)$"), longest("^Assign(VariableOp)?$")
  if not scatter or not assign or assign.is_eager or scatter.is_eager or assign.calls ~= scatter.calls
      or scatter.mean_ns > 3 * assign.mean_ns or assign.mean_ns > 3 * scatter.mean_ns then return nil end
  local step_ns, ns = p.fact["step.ns"], scatter.self_ns + assign.self_ns
  if ns < cfg.min_copied * step_ns then return nil end
  return finding {
    title = ("A whole variable is copied and assigned to change some of its rows: %s a step"):format(fmt.ms(ns)),
    severity = ns >= 0.15 * step_ns and "warn" or "info",
    subject = { op = scatter.name },
    evidence = { { "writing rows into a copy a step", scatter.self_ns, "ns",
                   share = math.min(1, scatter.self_ns / step_ns) },
                 { "assigning the copy a step", assign.self_ns, "ns" } },
    condition = ("the copies take %s of the step, %s accepted"):format(
      fmt.pct(math.min(1, ns / step_ns)), fmt.pct(cfg.min_copied)),
    remedy = { text = "Write the rows into the variable itself.",
               code = "table.scatter_update(tf.IndexedSlices(rows, ids))   # TF1: tf.scatter_update(table, ids, rows); "
                 .. "not table.assign(tf.tensor_scatter_nd_update(table, ids[:, None], rows))" },
    impact = impact.exposed { ns = math.min(ns, step_ns), low = 0.6 * ns, high = math.min(ns, step_ns) },
    confidence = "medium",
  }
end

-- PyTorch's masks of a matrix's elements: the places of those that stay are counted and listed, a number for each axis,
-- then picked by, and the gradient is put back by the same list. Masks of rows choose less work for later; these put
-- the same elements into another array. Their time, and the work's rows.
local function of_masks(p, cfg)
  local listed, is_any, ns, rows = {}, false, 0, {}
  for row in p:table("ops"):where { type = "aten::nonzero" }:each() do
    local shape = (row.shapes or ""):match("^\\[[0-9,]+\\]") or ""
    local axes, elements = 0, 1
    for n in shape:gmatch("[0-9]+") do axes, elements = axes + 1, elements * tonumber(n) end
    if axes >= 2 and elements >= cfg.min_masked then listed[shape], is_any = true, true end
  end
  if not is_any then return 0, rows end
  for row in p:table("work"):where { type = { like = "^aten::_?index(_put_impl)?_?$" } }:top("ns", 40):each() do
    if listed[(row.shapes or ""):match("^\\[[0-9,]+\\]") or ""] then ns, rows[#rows + 1] = ns + row.ns, row end
  end
  return ns, rows
end

local function say_masks(p, cfg, ns, rows)
  local step_ns, evidence, places = p.fact["step.ns"], {}, {}
  evidence[1] = { "picking by masks and putting back a step", ns, "ns", share = math.min(1, ns / step_ns) }
  for i = 1, math.min(3, #rows) do
    evidence[#evidence + 1] = { rows[i].type .. " " .. rows[i].shapes, rows[i].ns, "ns" }
    if (rows[i].source_file or "") ~= "" then
      places[#places + 1] = { file = rows[i].source_file, line = rows[i].source_line }
    end
  end
  return finding {
    title = ("Elements are picked out of matrices by boolean masks: %s a step"):format(fmt.ms(ns)),
    severity = ns >= cfg.min_loud_masks * step_ns and "warn" or "info",
    subject = { op = rows[1].type }, locations = places, evidence = evidence,
    condition = ("they take %s of the step, %s accepted"):format(
      fmt.pct(math.min(1, ns / step_ns)), fmt.pct(cfg.min_masks)),
    remedy = { text = "Keep the matrix as it is and fill what the mask drops with a number that does not count: "
                 .. "one pass, where a mask as an index lists the place of each element that stays.",
               code = "logits = sim.fill_diagonal_(float(\"-inf\"))   # or masked_fill(mask, value), torch.where; "
                 .. "not sim[~mask].view(n, -1)" },
    impact = impact.exposed { ns = math.min(ns, step_ns), low = math.min((1 - cfg.kept_masks) * ns, step_ns),
                              high = math.min(ns, step_ns) },
    confidence = "medium",
  }
end

-- TensorFlow: an op in a branch of tf.cond, or of an if that AutoGraph turned into one, that each recorded step took.
local function is_branch_taken(p, row)
  return p.framework == "tensorflow" and row ~= nil and (row.calls or 0) >= 0.95
    and ("/" .. (row.name or "")):find("/(then|else)/_\\d+/") ~= nil
end

-- PyTorch's sorts are all of conversions into rows of a sparse matrix, as the gradient of a product with one makes in
-- each backward pass of the matrix turned round.
local function are_of_sparse(ops, sorts)
  local converted = ops:where { type = { like = "^aten::_to_sparse_cs[rc]$" } }:sum("calls")
  local longest = sorts:top("self_ns", 1):rows()[1] -- one of its forms calls another
  return converted > 0 and longest and longest.self_ns >= 0.5 * sorts:sum("self_ns") and converted >= longest.calls
end

-- TensorFlow: what an optimizer adds up of the rows that a step gathered, in the scope that assigns variables, and its
-- longest pass over a variable. Where adding up takes far longer, rows are gathered many times more often than the
-- variable has any. Squares of the rows themselves are no such pass.
local function added_up(ops)
  local scopes, sums, ns, pass_ns = {}, {}, 0, 0
  local function scope_of(row) return (row.name or ""):match("^([^/]+)/[^/]+$") or "" end
  for row in ops:where { type = { like = "^Assign(Sub|Add)?VariableOp$" } }:each() do scopes[scope_of(row)] = true end
  for row in ops:where { type = { like = "^(UnsortedSegmentSum|Square|Sqrt|RealDiv|Mul|AddV2|Assign\\w*)$" } }:each() do
    local is_sum = row.type == "UnsortedSegmentSum"
    if scopes[scope_of(row)] and (is_sum or row.type == "Square") then sums[#sums + 1] = row end
    if scopes[scope_of(row)] and is_sum then ns = ns + row.self_ns end
    if scopes[scope_of(row)] and not is_sum and row.type ~= "Square" then pass_ns = math.max(pass_ns, row.self_ns) end
  end
  return sums, ns, pass_ns
end

-- Matrices that are gathered for each row and multiplied with that row alone, and what their gradients take: products
-- of a batch in the scope of a gather, or in one of that scope's own ops.
local function gathered_matrices(ops)
  local gathers, found, multiplied_ns, is_trained = {}, {}, 0, false
  local gathered = ops:where { type = { like = "^Gather(V2|Nd)?$" }, name = { like = "^(?!gradient).*/" } }
  for row in gathered:each() do gathers[row.name:match("^(.*)/[^/]+$")] = {} end
  for row in ops:where { type = { like = "^(_Mkl)?(Einsum|BatchMatMul(V2)?)$" } }:each() do
    local name = row.name:gsub("^gradient_tape/", "")
    local scope = name:match("^(.*)/[^/]+$") or ""
    local list = gathers[scope] or gathers[scope:match("^(.*)/[^/]+$") or ""]
    if list then
      list.is_multiplied, multiplied_ns = true, multiplied_ns + row.self_ns
      is_trained, found[#found + 1] = is_trained or name ~= row.name, row
    end
  end
  for row in gathered:each() do
    if gathers[row.name:match("^(.*)/[^/]+$")].is_multiplied then found[#found + 1] = row end
  end
  return is_trained and found or {}, multiplied_ns
end

local function of_matrices(p, cfg, ops)
  local all_ns, step_ns = ops:sum("self_ns"), p.fact["step.ns"]
  local sums, sums_ns, pass_ns = added_up(ops)
  if all_ns <= 0 or sums_ns < 0.5 * cfg.min_matrices * all_ns or sums_ns < cfg.again * pass_ns then return nil end
  local found, multiplied_ns = gathered_matrices(ops)
  -- A product of rows with one matrix for all has little to do with what is added up.
  if #found == 0 or multiplied_ns > 3 * sums_ns or multiplied_ns < sums_ns / 3 then return nil end
  local ns, worst, names, longest_ns = 0, found[1], {}, 0
  for _, row in ipairs(sums) do longest_ns = math.max(longest_ns, row.self_ns) end
  for _, row in ipairs(sums) do
    if row.self_ns >= 0.3 * longest_ns then found[#found + 1] = row end
  end
  for _, row in ipairs(found) do
    ns, worst = ns + row.self_ns, row.self_ns > worst.self_ns and row or worst
    names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
  end
  if ns < cfg.min_matrices * all_ns then return nil end
  local spared_ns = (1 - cfg.kept_matrices) * math.min(1, ns / all_ns) * step_ns
  return finding {
    title = ("Matrices are gathered for each row, multiplied and added up again: %s of op time"):format(
      fmt.pct(ns / all_ns)),
    subject = { op = worst.name },
    evidence = { { "gathering, multiplying and adding up a step", ns, "ns" },
                 { "of it, multiplying", multiplied_ns, "ns" },
                 { "of it, the optimizer adding up rows", sums_ns, "ns" },
                 { "its longest pass over a variable", pass_ns, "ns" }, { worst.name, worst.self_ns, "ns" } },
    condition = ("%s of op time, %s accepted; adding up takes %s of a pass over a variable, %s accepted"):format(
      fmt.pct(ns / all_ns), fmt.pct(cfg.min_matrices), fmt.ratio(sums_ns / math.max(1, pass_ns)),
      fmt.ratio(cfg.again)),
    remedy = { text = "The variable is small beside what is gathered of it. Multiply with all of its matrices at once, "
                 .. "and gather rows of the results: one product, whose gradient is dense.",
               code = "every = tf.einsum(\"nd,rdk->nrk\", x, w)   # then tf.gather(tf.reshape(every, [-1, k]), "
                 .. "row * r + kind); not tf.einsum(\"ed,edk->ek\", tf.gather(x, row), tf.gather(w, kind))" },
    impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = cfg.kept_matrices },
                             fallback = impact.exposed { ns = spared_ns, low = 0.7 * spared_ns, high = spared_ns } },
    confidence = "medium",
  }
end

-- PyTorch's graphs: rows of nodes are picked along more edges than there are nodes, and as many are added up to them,
-- with no product on the edges between: each edge's row is its node's, weighted at most.
local function passes_along_edges(p, ops)
  local picked = {}
  if p.framework ~= "pytorch" then return false end
  for row in ops:where { type = { like = "^aten::(index_select|index)$" } }:each() do
    local nodes, width, edges = (row.shapes or ""):match("^\\[([0-9]+),([0-9]+)\\]x\\[([0-9]+)\\]")
    if edges and tonumber(edges) > tonumber(nodes) then picked[nodes .. "," .. width .. "," .. edges] = edges end
  end
  -- Attention adds up stacks of rows, which no sparse product does.
  for row in ops:where { type = { like = "^aten::(scatter|index)_(add|reduce)_?$" } }:top("self_ns", 1):each() do
    local nodes, width, edges = (row.shapes or ""):match("^\\[([0-9]+),([0-9]+)\\]x\\[([0-9]+)[],]")
    if edges and picked[nodes .. "," .. width .. "," .. edges] then
      return ops:where { type = { like = "^aten::(mm|addmm|bmm|baddbmm)$" },
                         shapes = { like = "\\[" .. edges .. "," } }:count() == 0
    end
  end
  return false
end

-- The layers that take rows as wide as those that are passed make them far narrower: a sum over neighbours is linear,
-- and so are they, so that either may come first. How many rows, what one has, and what is left of it; nil: a layer of
-- that width keeps more.
local function narrowed_behind(ops, cfg)
  local row = ops:where { type = { like = "^aten::(index_select|index)$" } }:top("self_ns", 1):rows()[1]
  local nodes, width = (row and row.shapes or ""):match("^\\[([0-9]+),([0-9]+)\\]x\\[[0-9]+\\]")
  if not nodes then return nil end
  local most = 0
  for layer in ops:where { type = { like = "^aten::(mm|addmm|linear)$" },
                           shapes = { like = ("\\[%s,%s\\]x\\[%s,"):format(nodes, width, width) } }:each() do
    most = math.max(most, tonumber(layer.shapes:match(("\\[%s,([0-9]+)\\]$"):format(width)) or width))
  end
  if most == 0 or most * cfg.far_narrower > tonumber(width) then return nil end
  return nodes, tonumber(width), most
end

-- Compiled programs on a host, of which an axis is known to be looked up whose numbers lie side by side.
local function of_rows_apart(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "rows-apart", min_share = cfg.min_apart, time = "reaching numbers that lie apart", confidence = "medium",
    title = "Rows are looked up along a table's last axis, where their numbers lie apart: %s of each step",
    loud_share = 0.15,
    remedy = { text = "Keep the axis that is looked up first and a row's numbers last, side by side: a row is a few "
                 .. "lines of memory then, instead of one for each number, and so is what its gradient adds.",
               code = "v = table[ids]        # table: [rows, channels]; not table[:, ids] of [channels, rows]" },
  }
end

-- What a search carries along for each candidate, though it is the same for all of them.
local function of_moved_rows(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "moved-rows", min_share = cfg.min_moved, time = "moving rows", severity = "info", confidence = "medium",
    title = "Rows of arrays that never change are put into another order in each call: %s a step",
    remedy = { text = "What is the same for all candidates of a row, as keys and values of its source, leave where it "
                 .. "is, once for each row, and let its candidates share it. What differs, as parameters of each "
                 .. "particle, has to follow: keep it small.",
               code = "own = jax.tree.map(lambda a: a[rows], own)   # not source: scores of q [batch, beams, ...] "
                 .. "and keys [batch, ...]" },
  }
end

-- A matrix that is given entry by entry, in a sparse format or as edges of a graph, though many of its entries are.
local function of_listed_matrix(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "listed-matrix", min_share = cfg.min_listed, time = "looking up and adding up rows for its entries",
    title = "A matrix that is well filled is multiplied entry by entry: %s of each step",
    loud_share = 0.15, confidence = "medium",
    remedy = { text = "Multiply by the whole matrix, zeros and all: a sparse format, or a sum over edges, pays where a "
                 .. "few in a hundred entries or less are not zero.",
               code = "y = dense @ x   # dense = sparse.todense(), once; or jnp.zeros((n, m)).at[dst, src].add(w), "
                 .. "not segment_sum(w[:, None] * x[src], dst, n)" },
  }
end

-- XLA sorts rows of a few numbers by calling a comparison for each pair of them, as for the median of a window. The
-- rows lie along an axis of the array, which shapes do not tell: the last one, as for jnp.median's of a stack.
local SORTED_FEW = {
  text = "Rows of a few numbers are sorted by as many comparisons, each by itself. A median, or a few of the least, "
    .. "comes from minima and maxima of whole arrays, which fuse: nineteen pairs for the median of nine.",
  code = "for a, b in pairs: v[a], v[b] = jnp.minimum(v[a], v[b]), jnp.maximum(v[a], v[b])   # v: one array a place of "
    .. "the window; not jnp.median(jnp.stack(v, -1), -1)",
}
local function sorts_few(row, cfg)
  local dims = row and (row.shapes or ""):match("^\\[([0-9,]+)\\]") or ""
  local last = tonumber(dims:match("([0-9]+)$") or "")
  return last ~= nil and dims:find(",") ~= nil and last <= cfg.max_few
end

-- On an accelerator kernels say what ops only enqueue.
local function of_device(p, cfg)
  local kernels = p:table("kernels")
  local all_ns = kernels:sum("total_ns")
  -- Compiled programs tell no op of their own: their sort may be a top-k just as well.
  local sorts = p.format == "kineto" and kernels:where { category = "sort", op = { like = "^aten::(sort|argsort)$" } }
      or kernels:where { category = "sort", name = { like = "(?i)(?!.*topk).*sort" } }
  local sort_ns = sorts:sum("total_ns")
  -- Indexing sorts its indices first; a top-k is what a sort should be.
  local moved = kernels:where { category = "sort", op = { like = "^aten::(?!(sort|argsort|topk|kthvalue)$)" } }
  local gathered = kernels:where { category = "gather" }
  local move_ns = moved:sum("total_ns") + gathered:sum("total_ns")
  local ns, step_ns = sort_ns + move_ns, p.fact["step.ns"]
  if all_ns <= 0 or ns / all_ns < cfg.min_share then return nil end
  local sorting = sort_ns > move_ns
  local limit = not sorting and at_limit(p, cfg, gathered) or nil
  local is_known = limit and limit.ns >= 0.5 * ns
  local top = (sorting and sorts or gathered):top("total_ns", 1):rows()[1]
  local behind_ns = sorting and p.format == "kineto" and behind_sorts(sorts, kernels) or 0
  local low_ns = 0.7 * (1 - cfg.kept_sort) * sort_ns + 0.5 * (1 - cfg.kept_other) * move_ns + 0.5 * behind_ns
  local high_ns = (1 - cfg.kept_sort) * (sort_ns + behind_ns) + (1 - cfg.kept_other) * move_ns
  return finding {
    title = ("%s takes %s of the kernels' time"):format(
      sorting and "Sorting" or is_known and "Gathering and scattering rows" or "Moving data", fmt.pct(ns / all_ns)),
    severity = (sorting or p.format ~= "kineto") and "warn" or "info", -- graphs of nodes live of gathers
    subject = { kernel = top and top.name, op = top and top.op },
    locations = limit and limit.places or nil,
    evidence = { { "sorting and moving data a step", ns, "ns", share = math.min(ns / step_ns, 1) },
                 { "of it, sorting", sort_ns, "ns" }, { "longest kernel", top and top.name or "" },
                 behind_ns > 0 and { "passes over what was sorted", behind_ns, "ns" } or
                 is_known and { "a pass over the same arrays", limit.floor_ns, "ns" } or nil },
    condition = ("kernels that only move data take %s of all kernels' time, %s accepted"):format(fmt.pct(ns / all_ns),
        fmt.pct(cfg.min_share)),
    remedy = sorting and { text = "Select instead of sorting: argmax, top-k, or a partial sort.",
                           code = p.framework == "jax" and "best = jnp.argmax(x, axis=-1)   # or jax.lax.top_k(x, k)" or
                                  p.framework == "tensorflow"
                                    and "best = tf.argmax(x, -1)   # or tf.math.top_k(x, k)" or
                                  "best = x.argmax(-1)   # or x.topk(k)" }
                     or is_known and { text = "Sort the rows by where they go, once, and say so; where the groups are "
                                         .. "small and dense, multiply by their matrices instead.",
                                       code = "y = jax.ops.segment_sum(x, group, n, indices_are_sorted=True)   "
                                         .. "# or adjacency @ x.reshape(groups, nodes, -1)" }
                     or { text = "Batch the indices, sort them once, keep minor dimensions aligned." },
    impact = is_known and impact.roofline { ns = math.min(limit.ns, step_ns), floor_ns = limit.floor_ns,
                                            low = 0.85 * (limit.ns - limit.floor_ns),
                                            high = limit.ns - limit.floor_ns } or
             impact.exposed { ns = math.min(ns, step_ns), low = math.min(low_ns, step_ns),
                              high = math.min(high_ns, step_ns) },
    claims = { { parts = { "compute" } } },
    confidence = "medium",
  }
end

-- TensorFlow: several states that each round of a loop gathers, as those of the beams that were chosen.
local function gathers_states(p, top)
  local body = p.framework == "tensorflow" and top and (top.name or ""):match("^(.*\\bbody/[^/]*/?)[^/]*$")
  if not body then return false end
  return p:table("ops"):where { type = top.type, name = { like = "^\\Q" .. body .. "\\E[^/]*$" },
                                calls = { min = top.calls, max = top.calls },
                                self_ns = { min = 0.5 * top.self_ns } }:count() >= 3
end

return rule {
  id = "gather-scatter-bound", api = 1, version = "1.0.0",
  title = "Sorting, gathering or scattering data takes much of the step",
  category = "kernels", severity = "warn",
  formats = { "xspace", "kineto", "graph", "profile" },
  needs = { "step.ns", "ops" },
  cause = "compute.shuffle", tags = { "kernels" },
  more_specific_than = { "hot-op", "roofline-gap" },
  params = {
    far_narrower = { default = 4, min = 1, max = 1e6, unit = "ratio",
                     doc = "PyTorch's graphs: times as wide as a layer's results, from which rows are better passed "
                       .. "behind it" },
    min_share = { default = 0.30, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops from which this is said" },
    kept_sort = { default = 0.05, min = 0, max = 1, unit = "ratio",
                  doc = "part of a full sort's time that a selection needs" },
    reached = { default = 0.6, min = 0, max = 1, unit = "share",
                doc = "of its memory limit, what a pass over the arrays of a scatter reaches" },
    kept_other = { default = 0.5, min = 0, max = 1, unit = "ratio", doc = "part of other shuffles that stays" },
    max_few = { default = 32, min = 2, max = 1e6, unit = "count",
                doc = "JAX: numbers of a row that is sorted, up to which minima and maxima do it" },
    min_copied = { default = 0.08, min = 0, max = 1, unit = "share",
                   doc = "of the step, copies of a whole variable from which this is said" },
    min_copy_ns = { default = 1e5, min = 0, max = 1e12, unit = "ns", doc = "one such copy, on average" },
    min_apart = { default = 0.08, min = 0, max = 1, unit = "share",
                  doc = "of the step, rows whose numbers lie apart from which this is said" },
    min_moved = { default = 0.08, min = 0, max = 1, unit = "share",
                  doc = "of the step, moving rows that never change from which this is said" },
    min_listed = { default = 0.08, min = 0, max = 1, unit = "share",
                   doc = "of the step, products with a listed matrix that is well filled from which this is said" },
    min_masks = { default = 0.08, min = 0, max = 1, unit = "share",
                  doc = "of the step, picking elements of matrices by masks from which this is said" },
    min_loud_masks = { default = 0.15, min = 0, max = 1, unit = "share",
                       doc = "of the step, from which that is a warning" },
    min_masked = { default = 65536, min = 1, max = 1e12, unit = "count", doc = "elements of such a mask" },
    kept_masks = { default = 0.3, min = 0, max = 1, unit = "ratio",
                   doc = "most of that time that filling what is dropped takes" },
    min_matrices = { default = 0.25, min = 0, max = 1, unit = "share",
                     doc = "TensorFlow: of the time of all ops, gathering a matrix for each row, multiplying and "
                       .. "adding up" },
    again = { default = 4, min = 1, max = 1e6, unit = "ratio",
              doc = "what an optimizer takes to add up gathered rows, over its longest pass over a variable" },
    kept_matrices = { default = 0.1, min = 0, max = 1, unit = "ratio",
                      doc = "part of that time that a product with all matrices, and its gradient, takes" },
    kept_inner = { default = 0.3, min = 0, max = 1, unit = "ratio",
                   doc = "part of TensorFlow's gathers along an inner axis, and of what their gradients turn round, "
                     .. "that slices or a transpose of whole blocks take" },
  },
  doc = [[
Sorts, gathers, scatters and layout changes compute nothing. A full sort whose first element alone is used is an
argmax or a top-k in disguise; a permutation is a sort, too. What PyTorch adds up along the sorted rows and draws from
them goes with the sort. Shuffles inside fusions count where the fusion holds nothing else. Kernels of compiled
programs whose arrays are known are priced as what they take more than a pass over these arrays. Priced as the time of
sorts, of which a selection keeps a twentieth, and half of the other shuffles, of TensorFlow's gathers along an inner
axis, which copy element by element, seven tenths with what their gradients turn round; with PyTorch's kernels also
passes over what was sorted, at half to all of them. Without a sort, indexing is worth a note only: models of graphs
consist of it. Rows that are written into a copy of a variable, which is assigned back, are priced as both copies.
Matrices of a small variable that are gathered for each row, multiplied with that row and trained are priced as nine
tenths of their products, their gathers and what the optimizer does on their rows. In PyTorch on a processor, large
masks of single elements of matrices are priced as seven tenths to all of what picking by them and putting gradients
back takes. Rows along a large table's last axis, in compiled programs on a processor, are priced as six tenths of their
gathers and scatters; products with a matrix that is listed entry by entry, though a twelfth of it or more is, as all
but what a whole matrix takes; rows of arrays that come back in another order and else unchanged as all of that.
Silent below min_share, and of sorts inside of embedding bags.]],

  check = function(p, cfg)
    local on_device = p.format == "kineto" or (p.format == "xspace" and p:has("device.idle_share"))
    if on_device and p:has("kernels") then return of_device(p, cfg) end
    local ops = p:table("ops")
    local special = p.framework == "tensorflow" and (of_copies(p, cfg, ops) or of_matrices(p, cfg, ops))
      or of_listed_matrix(p, cfg) or of_moved_rows(p, cfg)
      or of_rows_apart(p, cfg)
    if special then return special end
    if p.format == "kineto" and p:has("work") then
      local masks_ns, rows = of_masks(p, cfg)
      if masks_ns >= cfg.min_masks * p.fact["step.ns"] then return say_masks(p, cfg, masks_ns, rows) end
    end
    local all_ns = ops:sum("self_ns")
    -- TensorFlow sorts with a top-k of all: only the name that the program sees tells the two apart.
    local sorts = ops:where { type = { like = p:names("sorting") },
                              name = { like = "(?i)sort" } }
    -- Or its shapes: as many values come out as go in.
    local whole = ops:where { type = { like = "^TopKV?2?$" }, name = { like = "^(?!.*(?i)sort)" },
                              shapes = { like = "^\\[(?:[0-9]+,)*([0-9]+)\\].*->\\[(?:[0-9]+,)*\\1\\]" } }
    local moves = ops:where { type = { like = p:names("moving_rows") } }
    -- Fusions that hold a single op and nothing that computes.
    local wrapped = ops:where { type = "fusion",
                                name = { like =
                                           "^wrapped_(gather|scatter|dynamic-slice|dynamic-update-slice)([.].*)?$" } }
    -- An embedding bag's backward pass sorts the ids that it was given, and nothing selects.
    local work = p.format == "kineto" and p:has("work") and p:table("work")
    if work and work:where { class = "sort" }:count() == 0 and
        work:where { class = "embedding", type = { like = "bag" } }:sum("ns") >= sorts:sum("self_ns") then
      sorts = sorts:where { type = "" }
    end
    local sort_ns, move_ns = sorts:sum("self_ns") + whole:sum("self_ns"), moves:sum("self_ns") + wrapped:sum("self_ns")
    local inner, turned = of_inner_axis(ops)
    move_ns = move_ns + turned:sum("self_ns")
    local ns = sort_ns + move_ns
    if all_ns <= 0 or ns / all_ns < cfg.min_share then return nil end

    local top = ops:where {
      type = { like = p:names("sorting") .. "|" .. p:names("moving_rows") } }:top("self_ns", 3):rows()
    if wrapped:sum("self_ns") > 0.5 * ns then top = wrapped:top("self_ns", 3):rows() end
    local evidence = { { "moving data a step", ns, "ns", share = math.min(ns / p.fact["step.ns"], 1) },
                       { "share of all op time", ns / all_ns, "share" } }
    local locations = {}
    for _, row in ipairs(top) do
      evidence[#evidence + 1] = { row.name .. " " .. (row.shapes or ""), row.self_ns, "ns" }
      if row.source_file and row.source_file ~= "" then
        locations[#locations + 1] = { file = row.source_file, line = row.source_line }
      end
    end
    local sorting = sort_ns > move_ns
    local inner_ns = moves:where { name = { like = inner } }:sum("self_ns") + turned:sum("self_ns")
    local edges = not sorting and passes_along_edges(p, ops)
    local nodes, width, out
    if edges then nodes, width, out = narrowed_behind(ops, cfg) end
    local kept_other = cfg.kept_other
    if out then
      local wide_ns = moves:where { shapes = { like = ("^\\[%s,%d\\]x"):format(nodes, width) } }:sum("self_ns")
      kept_other = math.min(kept_other, 1 - (1 - out / width) * wide_ns / math.max(1, move_ns))
      evidence[#evidence + 1] = { "numbers of a row that is passed", width, "count" }
      evidence[#evidence + 1] = { "of it, what a layer leaves", out, "count" }
    end
    local edits = {}
    local function add(query, kept)
      local list = {}
      for _, row in ipairs(query:top("self_ns", 20):rows()) do
        list[#list + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
      end
      if #list > 0 then edits[#edits + 1] = { "scale", name = table.concat(list, "|"), factor = kept } end
    end
    add(sorts, cfg.kept_sort)
    add(whole, cfg.kept_sort)
    add(moves:where { name = { like = inner } }, cfg.kept_inner)
    add(turned, cfg.kept_inner)
    add(moves:where { name = { like = "(?!" .. inner .. ").*" } }, kept_other)
    add(wrapped, cfg.kept_other)
    local sampling = sorting and p.framework == "pytorch" and sampling_of_all(ops)
    if sampling and sampling:count() > 0 then
      add(sampling, cfg.kept_sort)
      evidence[#evidence + 1] = { "passes over what was sorted", sampling:sum("self_ns"), "ns" }
    end
    local spared_ns = (1 - cfg.kept_sort) * sort_ns
    edits.fallback = sorting and impact.exposed { ns = spared_ns, low = 0.7 * spared_ns, high = spared_ns } or
        impact.share { ns = ns }
    return finding {
      title = ("%s takes %s of op time"):format(sorting and "Sorting" or "Moving data", fmt.pct(ns / all_ns)),
      severity = sorting and "warn" or "info", -- graphs of nodes live of gathers
      subject = { op = top[1] and top[1].name },
      evidence = evidence, locations = locations,
      condition = ("ops that only move data take %s of op time, %s accepted"):format(
        fmt.pct(ns / all_ns), fmt.pct(cfg.min_share)),
      -- JAX shuffles by sorting numbers that it draws, a few times over.
      remedy = sorting and (top[1].scope or ""):find("\\(_shuffle\\)") and
               { text = "These sorts shuffle. Draw a few indices, where a repeated one does no harm, instead of "
                   .. "permuting all for a few; permute whole data sets once an epoch, outside of the step.",
                 code = "rows = jax.random.randint(key, (k,), 0, n)   # not jax.random.choice(key, n, (k,), "
                   .. "replace=False) or permutation(key, n)[:k]" } or
               sorting and p.framework == "jax" and (top[1].scope or ""):find("top_k$") and
               { text = "On a processor XLA sorts the whole array for a top-k of which the program reads a single "
                   .. "value: the selection is lost with the others. Use all k of them.",
                 code = "kth = jax.lax.top_k(x, k)[0].min(-1, keepdims=True)   # not jax.lax.top_k(x, k)[0][..., -1:]" }
               or
               sorting and p.framework == "pytorch" and are_of_sparse(ops, sorts) and
               { text = "These sorts turn a sparse matrix round for its gradient in each backward pass. Keep the "
                   .. "turned one where the matrix stays.",
                 code = "at = a.t().to_sparse_csr()   # once; then, in a torch.autograd.Function: "
                   .. "forward returns a @ x, backward at @ grad" }
               or
               sorting and is_branch_taken(p, top[1]) and
               { text = "This sort stands in a branch of tf.cond that each recorded step took: if its condition was "
                   .. "meant to be rare, as a threshold that every hundredth step renews, see why it always holds. "
                   .. "Else select instead of sorting: argmax, top-k, or a partial sort.",
                 code = "tf.cond(step % 100 == 0, renew_threshold, lambda: threshold)   # keep it in a variable" }
               or
               sorting and p.framework == "jax" and sorts_few(top[1], cfg) and SORTED_FEW or
               sorting and { text = "Select instead of sorting: argmax, top-k, or a partial sort.",
                             code = p.framework == "jax"
                               and "best = jnp.argmax(x, axis=-1)   # or jax.lax.top_k(x, k)" or
                                    p.framework == "pytorch" and "best = x.argmax(-1)   # or x.topk(k)"
                                      or "best = tf.argmax(x, -1)   # or tf.math.top_k(x, k)" }
                       or inner_ns > 0.5 * ns and {
                 text = "Gather along the first axis, where whole rows are copied; where the indices never change, a "
                   .. "reshape and transpose, slices or a reversed axis do the same without any.",
                 code = "x = tf.reshape(tf.transpose(tf.reshape(x, [n, h, w, g, c // g]), [0, 1, 2, 4, 3]), "
                   .. "[n, h, w, c])   # not tf.gather(x, order, axis=3)" }
                       or out and {
                 text = "Rows are passed along edges and added up before a layer makes them narrower. Both are linear: "
                   .. "apply the layer first and pass what it leaves, in the mean or sum over neighbours the same.",
                 code = "h = self.propagate(edge_index, x=self.lin_neighbours(x)) + self.lin_self(x)   "
                   .. "# not self.lin_neighbours(self.propagate(edge_index, x=x))" }
                       or edges and {
                 text = "Each edge's row is made, kept for the gradient and added up. A product with the sparse "
                   .. "adjacency does that in one pass, weights and all; where the graph stays, make it once, and let "
                   .. "GCNConv keep its weights of edges (cached=True).",
                 code = "adj_t = T.ToSparseTensor(layout=torch.sparse_csr)(data).adj_t   # torch_geometric.transforms\n"
                   .. "x = conv(x, adj_t)   # not conv(x, edge_index); by hand: adj_t @ x" }
                       or gathers_states(p, top[1]) and {
                 text = "Each round gathers states whole, as those of the beams that it chose. Gather only what "
                   .. "differs between beams: keys and values of the source are the same for all beams of one text, "
                   .. "and need neither copies for each nor to be carried through the loop. Of the rest gather only "
                   .. "rows that are filled so far.",
                 code = "attend(q, source_keys, source_values)   # from outside of tf.while_loop, not of the cache\n"
                   .. "cache = tf.nest.map_structure(lambda x: tf.gather(x, beam, batch_dims=1), cache)" }
                       or { text = "Batch the indices, sort them once, keep minor dimensions aligned." },
      impact = impact.replay(edits),
      confidence = "medium",
    }
  end,

  examples = {
    -- 4 of 10 ms pick out of [1024,1024] and put back: 0.7 to all of it, in the middle 0.85. The rest is not masked.
    { name = "elements by masks", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3.4e6,
      severity = "warn", facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::nonzero", type = "aten::nonzero", shapes = "[1024,1024]", self_ns = 2e6 },
                         { name = "aten::mm", type = "aten::mm", shapes = "[64,64]x[64,64]", self_ns = 6e6 } },
                 work = { { class = "gather", type = "aten::index", shapes = "[1024,1024]", ns = 3e6 },
                          { class = "scatter", type = "aten::_index_put_impl_", shapes = "[1024,1024]x[1047552]",
                            ns = 1e6 },
                          { class = "gather", type = "aten::index", shapes = "[5000,8]x[300]", ns = 1e6 } } } },
    { name = "rows by a mask", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::nonzero", type = "aten::nonzero", shapes = "[100000]", self_ns = 2e6 },
                         { name = "aten::mm", type = "aten::mm", shapes = "[64,64]x[64,64]", self_ns = 6e6 } },
                 work = { { class = "gather", type = "aten::index", shapes = "[100000,3]", ns = 4e6 } } } },
    { name = "rows along a table's last axis", framework = "jax", format = "xspace", finding = true,
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "wrapped_gather", type = "fusion", self_ns = 5e6 } },
                 excess = { { cell = 0, flaw = "rows-apart", region = "jit(f)/gather", ns = 3e6, share = 0.3 } } } },
    { name = "few rows along the last axis", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "wrapped_gather", type = "fusion", self_ns = 1e6 },
                         { name = "dot", type = "dot", self_ns = 8e6 } },
                 excess = { { cell = 0, flaw = "rows-apart", region = "jit(f)/gather", ns = 6e5, share = 0.06 } } } },
    { name = "a matrix half full that is listed", framework = "jax", format = "xspace", finding = true,
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "wrapped_scatter", type = "fusion", self_ns = 5e6 } },
                 excess = { { cell = 0, flaw = "listed-matrix", region = "jit(f)/scatter-add", ns = 5e6,
                              share = 0.5 } } } },
    { name = "a small matrix that is listed", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "wrapped_scatter", type = "fusion", self_ns = 1e6 },
                         { name = "dot", type = "dot", self_ns = 8e6 } },
                 excess = { { cell = 0, flaw = "listed-matrix", region = "jit(f)/scatter-add", ns = 6e5,
                              share = 0.06 } } } },
    { name = "beams that carry their source", framework = "jax", format = "xspace", finding = true,
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather_fusion", type = "fusion", self_ns = 3e6 } },
                 excess = { { cell = 0, flaw = "moved-rows", region = "jit(f)/gather", ns = 3e6, share = 0.3 } } } },
    { name = "a few rows that are moved", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather_fusion", type = "fusion", self_ns = 1e6 },
                         { name = "dot", type = "dot", self_ns = 8e6 } },
                 excess = { { cell = 0, flaw = "moved-rows", region = "jit(f)/gather", ns = 6e5, share = 0.06 } } } },
    -- 5 ms of picking along edges and adding up, of which 4 ms are rows of 1200: of these 64 are left.
    { name = "wide messages before a layer", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", replay = { 3.787e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "aten::index_select", type = "aten::index_select", shapes = "[300,1200]x[1800]", self_ns = 2.5e6 },
        { name = "aten::scatter_add_", type = "aten::scatter_add_", shapes = "[300,1200]x[1800,1200]x[1800,1200]",
          self_ns = 1.5e6 },
        { name = "aten::scatter_add_", type = "aten::scatter_add_", shapes = "[300,64]x[1800,64]x[1800,64]",
          self_ns = 1e6 },
        { name = "aten::addmm", type = "aten::addmm", shapes = "[64]x[300,1200]x[1200,64]", self_ns = 3e6 } } } },
    { name = "messages before a layer that keeps half, and one that does not", framework = "pytorch",
      format = "kineto", finding = true, severity = "info", replay = { 2e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "aten::index_select", type = "aten::index_select", shapes = "[300,128]x[1800]", self_ns = 2.5e6 },
        { name = "aten::scatter_add_", type = "aten::scatter_add_", shapes = "[300,128]x[1800,128]x[1800,128]",
          self_ns = 1.5e6 },
        { name = "aten::addmm", type = "aten::addmm", shapes = "[64]x[300,128]x[128,64]", self_ns = 3e6 },
        { name = "aten::addmm", type = "aten::addmm", shapes = "[5]x[300,128]x[128,5]", self_ns = 1e5 } } } },
    -- 5 of 10 ms sort nine numbers of each pixel, of which a twentieth stays.
    { name = "medians of small windows", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 4.75e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "sort.1", type = "sort", scope = "jit(f)/jit(median)/sort", shapes = "[8,64,64,9]->[8,64,64,9]",
          self_ns = 5e6 },
        { name = "dot", type = "dot", self_ns = 5e6 } } } },
    { name = "a sort of long rows", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 4.75e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "sort.1", type = "sort", scope = "jit(f)/sort", shapes = "[64,8192]->[64,8192]", self_ns = 5e6 },
        { name = "dot", type = "dot", self_ns = 5e6 } } } },
    -- Half of 5 ms of picking along edges and adding up.
    { name = "messages along edges", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      replay = { 2.5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "aten::index_select", type = "aten::index_select", shapes = "[9000,64]x[70000]", self_ns = 2e6 },
        { name = "aten::scatter_add_", type = "aten::scatter_add_", shapes = "[9000,64]x[70000,64]x[70000,64]",
          self_ns = 3e6 },
        { name = "aten::mm", type = "aten::mm", shapes = "[9000,64]x[64,64]", self_ns = 5e6 } } } },
    { name = "a small mask", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::nonzero", type = "aten::nonzero", shapes = "[64,64]", self_ns = 2e6 },
                         { name = "aten::mm", type = "aten::mm", shapes = "[64,64]x[64,64]", self_ns = 6e6 } },
                 work = { { class = "gather", type = "aten::index", shapes = "[64,64]", ns = 4e6 } } } },
    -- 5 ms of sorting and 2 of passes over as much, 3 of products: 0.7 · 0.95 · 5 + 1 to 0.95 · 7 ms.
    { name = "sampling from all that was sorted", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 5.4875e6, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0 },
      tables = { ops = {}, kernels = {
        { name = "DeviceSegmentedRadixSortKernel", op = "aten::sort", category = "sort", shapes = "[512,131072]",
          total_ns = 5e6 },
        { name = "SoftMaxForward", op = "aten::_softmax", category = "softmax", shapes = "[512,131072]",
          total_ns = 2e6 },
        { name = "gemm", op = "aten::mm", category = "gemm", shapes = "[512,4096]x[4096,131072]",
          total_ns = 3e6 } } } },
    { name = "a sort on an accelerator", format = "kineto", framework = "pytorch", finding = true, impact_ns = 7e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::sort", type = "aten::sort", self_ns = 1e4 } },
                 kernels = { { name = "DeviceRadixSort", category = "sort", op = "aten::sort", total_ns = 8e6 },
                             { name = "gemm", category = "gemm", op = "aten::mm", total_ns = 2e6 } } } },
    { name = "a top-k on an accelerator", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::topk", type = "aten::topk", self_ns = 1e4 } },
                 kernels = { { name = "gatherTopK", category = "sort", op = "aten::topk", total_ns = 8e6 },
                             { name = "gemm", category = "gemm", op = "aten::mm", total_ns = 2e6 } } } },
    { name = "a program of scatters on an accelerator", format = "xspace", framework = "jax", finding = true,
      impact_ns = 3.5e6, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { ops = { { name = "fusion.1", type = "fusion", self_ns = 8e6 } },
                 kernels = { { name = "wrapped_scatter", category = "gather", total_ns = 8e6 },
                             { name = "gemm", category = "gemm", total_ns = 2e6 } } } },
    -- 8 ms at 3 % of the limit, where 60 % are reached: 7.6 ms more than a pass, of which 0.85 to all are expected.
    { name = "a scatter of known arrays on an accelerator", format = "xspace", framework = "jax", finding = true,
      impact_ns = 7.03e6, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.02 },
      tables = { ops = { { name = "fusion.1", type = "fusion", self_ns = 8e6 } },
                 roofline = { { op = "fusion.1", efficiency = 0.03, bound = "memory", source_file = "a.py",
                                source_line = 3 } },
                 kernels = { { name = "input_scatter_fusion", op = "fusion.1", category = "gather", total_ns = 8e6 },
                             { name = "gemm", category = "gemm", total_ns = 2e6 } } } },
    { name = "a sort inside of an embedding bag", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::sort", type = "aten::sort", self_ns = 4e6 },
                         { name = "aten::mm", type = "aten::mm", self_ns = 4e6 } },
                 work = { { class = "embedding", type = "aten::_embedding_bag_backward", ns = 5e6 } } } },
    { name = "a sort in a branch that each step takes", framework = "tensorflow", finding = true, severity = "warn",
      replay = { 8e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "cond/then/_0/cond/sort/TopKV2", type = "TopKV2", calls = 1, self_ns = 9e6 },
                         { name = "MatMul", type = "_MklMatMul", calls = 1, self_ns = 1e6 } } } },
    { name = "a full sort", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "sort.0", type = "sort", shapes = "[6,32000]->[]", self_ns = 9e6 },
                         { name = "dot.1", type = "dot", self_ns = 1e6 } } } },
    -- 0.95 of 6 ms of sorting, 1 ms of sums along it and 2 ms of drawing.
    { name = "a nucleus of all words", framework = "pytorch", format = "kineto", finding = true, replay = { 8.55e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::sort", type = "aten::sort", self_ns = 6e6 },
                         { name = "aten::cumsum", type = "aten::cumsum", self_ns = 1e6 },
                         { name = "aten::multinomial", type = "aten::multinomial", self_ns = 0 },
                         { name = "aten::exponential_", type = "aten::exponential_", self_ns = 2e6 },
                         { name = "aten::mm", type = "aten::mm", self_ns = 1e6 } } } },
    { name = "a sort beside a sum", framework = "pytorch", format = "kineto", finding = true, replay = { 5.7e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::sort", type = "aten::sort", self_ns = 6e6 },
                         { name = "aten::cumsum", type = "aten::cumsum", self_ns = 1e6 },
                         { name = "aten::mm", type = "aten::mm", self_ns = 3e6 } } } },
    { name = "a graph that is turned round for its gradient", framework = "pytorch", format = "kineto", finding = true,
      replay = { 5.7e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::sort", type = "aten::sort", calls = 2, self_ns = 6e6 },
                         { name = "aten::_to_sparse_csr", type = "aten::_to_sparse_csr", calls = 2, self_ns = 1e6 },
                         { name = "aten::mm", type = "aten::mm", self_ns = 3e6 } } } },
    { name = "a top-k of which one value is read", framework = "jax", finding = true, replay = { 7.6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "sort", type = "sort", scope = "jit(sample)/top_k", shapes = "[16,4000]->[16,4000]",
                           self_ns = 8e6 },
                         { name = "dot.1", type = "dot", self_ns = 1e6 } } } },
    { name = "a permutation for a few rows", framework = "jax", finding = true, replay = { 7.6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "sort.2", type = "sort", scope = "jit(train_step)/jit(_shuffle)/sort",
                           shapes = "[60000]x[60000]->[]", self_ns = 8e6 },
                         { name = "dot.1", type = "dot", self_ns = 1e6 } } } },
    { name = "a top-k of all", framework = "tensorflow", format = "graph", finding = true, replay = { 7.6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "TopKV2", type = "TopKV2", shapes = "[24,8732]x[]->[24,8732],[24,8732]",
                           self_ns = 8e6 },
                         { name = "MatMul", type = "MatMul", self_ns = 2e6 } } } },
    { name = "a top-k of a few", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "TopKV2", type = "TopKV2", shapes = "[24,8732]x[]->[24,96],[24,96]", self_ns = 8e6 },
                         { name = "MatMul", type = "MatMul", self_ns = 2e6 } } } },
    -- 1.4 ms of copies: from 0.6 to all of it is expected, 0.8 in the middle.
    { name = "rows written into a copy of a variable", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 1.12e6, facts = { ["step.ns"] = 4e6 },
      tables = { ops = { { name = "TensorScatterUpdate", type = "TensorScatterUpdate", calls = 1, mean_ns = 7e5,
                           self_ns = 7e5 },
                         { name = "Assign", type = "Assign", calls = 1, mean_ns = 7e5, self_ns = 7e5 },
                         { name = "MatMul", type = "MatMul", calls = 8, mean_ns = 2e5, self_ns = 1.6e6 } } } },
    { name = "rows written where nothing else is", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 4e6 },
      tables = { ops = { { name = "TensorScatterUpdate", type = "TensorScatterUpdate", calls = 1, mean_ns = 7e5,
                           self_ns = 7e5 },
                         { name = "Assign", type = "Assign", calls = 1, mean_ns = 9e4, self_ns = 9e4 },
                         { name = "MatMul", type = "MatMul", calls = 8, mean_ns = 2e5, self_ns = 1.6e6 } } } },
    { name = "channels that are put in another order", framework = "tensorflow", format = "graph", finding = true,
      replay = { 3.5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "mix/GatherV2", type = "GatherV2", shapes = "[24,16,16,64]x[64]x[]->[24,16,16,64]",
                           self_ns = 1.5e6 },
                         { name = "gradients/mix/GatherV2_grad/UnsortedSegmentSum", type = "UnsortedSegmentSum",
                           shapes = "[64,24,16,16]x[64]x[]->[64,24,16,16]", self_ns = 1e6 },
                         { name = "gradients/mix/GatherV2_grad/transpose_1", type = "Transpose",
                           shapes = "[64,24,16,16]x[4]->[24,16,16,64]", self_ns = 2.5e6 },
                         { name = "Conv2D", type = "Conv2D", self_ns = 5e6 } } } },
    { name = "as few without what is turned round", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "mix/GatherV2", type = "GatherV2", shapes = "[?]x[64]x[]->[24,16,16,64]",
                           self_ns = 1.5e6 },
                         { name = "gradients/mix/GatherV2_grad/UnsortedSegmentSum", type = "UnsortedSegmentSum",
                           self_ns = 1e6 },
                         { name = "gradients/mix/transpose_grad/transpose_1", type = "Transpose", self_ns = 2.5e6 },
                         { name = "Conv2D", type = "Conv2D", self_ns = 5e6 } } } },
    -- Gathered 1 ms, multiplied 3, squared 1 and added up 2 of 10 ms; nine tenths of them go.
    { name = "a matrix for each edge", framework = "tensorflow", format = "xspace", finding = true, replay = { 6.3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "layer/GatherV2", type = "GatherV2", self_ns = 1e6 },
        { name = "layer/einsum/Einsum", type = "_MklEinsum", self_ns = 1e6 },
        { name = "gradient_tape/layer/einsum/Einsum_1", type = "_MklEinsum", self_ns = 2e6 },
        { name = "adam/UnsortedSegmentSum", type = "UnsortedSegmentSum", self_ns = 2e6 },
        { name = "adam/Square", type = "Square", self_ns = 1e6 },
        { name = "adam/Square_1", type = "Square", self_ns = 1e5 },
        { name = "adam/AssignAddVariableOp", type = "AssignAddVariableOp", self_ns = 2e5 },
        { name = "head/MatMul", type = "MatMul", self_ns = 2.7e6 } } } },
    { name = "rows of a large table", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "layer/GatherV2", type = "GatherV2", self_ns = 4e5 },
        { name = "layer/einsum/Einsum", type = "_MklEinsum", self_ns = 6e5 },
        { name = "gradient_tape/layer/einsum/Einsum_1", type = "_MklEinsum", self_ns = 1e6 },
        { name = "adam/UnsortedSegmentSum", type = "UnsortedSegmentSum", self_ns = 1.5e6 },
        { name = "adam/AssignAddVariableOp", type = "AssignAddVariableOp", self_ns = 5e5 },
        { name = "head/MatMul", type = "MatMul", self_ns = 4e6 } } } },
    { name = "a small embedding beside a layer's product", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {
        { name = "embedding/GatherV2", type = "GatherV2", self_ns = 4e5 },
        { name = "layer/einsum/Einsum", type = "_MklEinsum", self_ns = 6e5 },
        { name = "gradient_tape/layer/einsum/Einsum_1", type = "_MklEinsum", self_ns = 1e6 },
        { name = "adam/UnsortedSegmentSum", type = "UnsortedSegmentSum", self_ns = 2e6 },
        { name = "adam/AssignAddVariableOp", type = "AssignAddVariableOp", self_ns = 2e5 },
        { name = "head/MatMul", type = "MatMul", self_ns = 5e6 } } } },
    { name = "computing", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "gather.1", type = "gather", self_ns = 1e5 },
                         { name = "dot.1", type = "dot", self_ns = 9e6 } } } },
  },
}
