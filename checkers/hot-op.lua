-- One type of op takes most of the time of all ops.
-- Classes of ops of which a program rarely needs much, what they do, and what is done instead.
local classes = {
  decomposition = { "Decomposing matrices takes", "Compute it once where its matrix does not change, outside of the step; "
    .. "or solve by a few iterations." },
  sort = { "Sorting takes", "Take what is needed: argmax, top_k with the k that is read, a threshold, a histogram." },
  random = { "Drawing random numbers takes", "One key and one draw of the whole shape; fewer bits; or numbers drawn ahead of the step." },
  scan = { "Running sums take", "One pass over the axis (associative_scan, cumsum of a smaller array), or a product with a constant." },
  ["one-hot"] = { "One-hot arrays take", "Look rows up by their numbers." },
  copy = { "Copying arrays takes", "Keep one layout, update in place (donated arguments), carry less through loops." },
  transpose = { "Changing the order of axes takes", "Keep one order of axes from the data on." },
  cast = { "Converting types takes", "Keep one type from the data on." },
  concat = { "Putting arrays together takes", "Write into one array of the final size, or compute on the parts." },
  slice = { "Cutting arrays takes", "Compute on the whole array, or carry a smaller one." },
  gather = { "Gathering elements takes", "Look up whole rows, sorted or once for all uses." },
  scatter = { "Scattering elements takes", "Update only rows that are touched, or sum by sorted segments." },
  control = { "Starting rounds of loops takes", "More work a round: unroll the loop, or do it for the whole batch." },
}
local passes = { "Passes over memory take", "Fewer passes over smaller arrays: cut to what is needed first, fuse, use a smaller type." }

local function costly(p, cfg)
  local list = {}
  local cells = p:has("excess") and p:table("excess"):where { flaw = "costly-class", share = { min = cfg.min_step_share } }
  for _, row in ipairs(cells and cells:top("ns", cfg.most):rows() or {}) do
    local class = classes[row.detail] or passes
    local all_ns = row.ns / math.max(1 - row.factor, 0.01)
    local place = row.source_file and ("%s:%d"):format(row.source_file:match("[^/]*$"), row.source_line or 0)
    list[#list + 1] = finding {
      title = ("%s %s of each step"):format(class[1], fmt.ms(all_ns)) .. (place and " at " .. place or ""),
      severity = "info",
      subject = { op = row.op, scope = row.region },
      locations = row.source_file and { { file = row.source_file, line = row.source_line } } or nil,
      evidence = { { "what it takes a step", all_ns, "ns", share = math.min(1, all_ns / p.fact["step.ns"]) },
                   { "kind of work", row.detail or "passes" }, { "mostly", row.region or row.op or "ops" } },
      condition = ("more than programs usually need takes %s of the step, %s accepted"):format(fmt.pct(row.share),
        fmt.pct(cfg.min_step_share)),
      remedy = { text = class[2] },
      impact = impact.cells(cells:where { cell = row.cell }),
      confidence = "low",
    }
  end
  return list
end

return rule {
  id = "hot-op", api = 1, version = "1.0.0",
  title = "One type of op takes most of the time",
  category = "kernels", severity = "info",
  needs = { "step.ns", "op_types" },
  cause = "compute", tags = { "ops" },
  params = {
    most = { default = 2, min = 1, max = 10, unit = "count", doc = "places that are said" },
    min_share = { default = 0.30, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops from which a type is worth a mention" },
    high_share = { default = 0.50, min = 0, max = 1, unit = "share",
                   doc = "share from which it is a warning" },
    min_step_share = { default = 0.10, min = 0, max = 1, unit = "share",
                       doc = "its self time over the step, below which it is not worth a look" },
  },
  doc = [[
Names what a look at the program should begin with. Rules that know why an op is slow say more. On a host, a kind of work
of which programs rarely need much (sorting, random numbers, decompositions, copies, passes over memory far beyond the
products) is named with its line; its price, what it takes less a usual need, is an upper bound. Elsewhere the type of op
that takes most is a fact without a price. Silent when time is spread, or when ops are a small part of the step.]],

  check = function(p, cfg)
    local places = costly(p, cfg)
    if #places > 0 then return places end
    local types, top = p:table("op_types"), {}
    local total_ns = types:sum("self_ns")
    for row in types:top("self_ns", 1e6):each() do -- collectives mostly wait for other ranks
      if row.kind ~= "collective" and #top < 3 then top[#top + 1] = row end
    end
    if total_ns <= 0 or #top == 0 then return nil end
    local share = top[1].self_ns / total_ns
    if share < cfg.min_share or top[1].self_ns < cfg.min_step_share * p.fact["step.ns"] then
      return nil
    end

    local evidence = {}
    for i, row in ipairs(top) do
      evidence[i] = { row.type .. ", self time a step", row.self_ns, "ns" }
    end
    -- A fusion says nothing by its type: name the largest ones and what they were made from.
    local subject, locations = top[1].type, {}
    if p:has("ops") then
      for i, row in ipairs(p:table("ops"):where { type = top[1].type }:top("self_ns", 3):rows()) do
        if i == 1 and subject == "fusion" then subject = row.name end
        local from = row.scope and row.scope ~= "" and " from " .. row.scope or ""
        -- Profiles without names of ops call each by its type.
        if row.name .. from ~= top[1].type then
          evidence[#evidence + 1] = { row.name .. from, row.self_ns, "ns" }
        end
        if row.source_file and row.source_file ~= "" then
          locations[#locations + 1] = { file = row.source_file, line = row.source_line }
        end
      end
    end
    local is_host = p.format == "xspace" and not p:has("device.idle_share")
    return finding {
      title = ("%s takes %s of the time of all ops"):format(top[1].type, fmt.pct(share)),
      severity = not is_host and share >= cfg.high_share and "warn" or "info",
      subject = { op = subject }, locations = locations,
      evidence = evidence,
      condition = ("%s of the self time of ops, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = ("Begin with %s: fewer or smaller calls, lower precision, a fused form."):format(subject) },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a costly kind of work", framework = "jax", format = "xspace", finding = true, severity = "info", replay = { 4.5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "fusion", self_ns = 6e6 } },
                 excess = { { cell = 1, flaw = "costly-class", cause = "repeat", grade = "C", ns = 4.5e6, share = 0.45, factor = 0.1,
                              detail = "decomposition", op = "custom-call", source_file = "train.py", source_line = 7 } } } },
    { name = "one type dominates", finding = true, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "MatMul", self_ns = 6e6 }, { type = "Relu", self_ns = 2e6 } } } },
    { name = "waiting for other ranks is no op", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "CollectiveReduceV2", kind = "collective", self_ns = 6e6 }, { type = "MatMul", kind = "op", self_ns = 2e5 },
                              { type = "Relu", kind = "op", self_ns = 2e5 } } } },
    { name = "spread", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "MatMul", self_ns = 1e6 }, { type = "Relu", self_ns = 1e6 },
                              { type = "Conv2D", self_ns = 1e6 }, { type = "Add", self_ns = 1e6 } } } },
  },
}
