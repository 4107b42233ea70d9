-- A map is called for each of many small elements, and costs more in calls than in work.
-- Batches that are taken apart, and put together again from single elements: with all stages between.
local function taken_apart(p, cfg)
  local step_ns, stages = p.fact["step.ns"], p:table("iterators")
  local apart = stages:where { type = { like = "^Unbatch" }, calls = { min = cfg.min_unbatched } }
    :top("calls", 1):rows()[1]
  local above, ns, names = apart, apart and apart.self_ns, apart and { "\\Q" .. apart.name .. "\\E" }
  while above and not above.type:find("Batch") do
    above = above.parent and above.parent ~= "" and stages:where { name = above.parent }:rows()[1] or nil
    if above then
      ns = ns + above.self_ns
      names[#names + 1] = "\\Q" .. above.name .. "\\E"
    end
  end
  if not above or ns < cfg.min_apart_share * step_ns then return nil end
  return finding {
    title = ("Batches are taken apart into %s elements a step, and batched again"):format(fmt.whole(apart.calls)),
    subject = { op = apart.name },
    evidence = { { "taking them apart, and all up to the next batch, a step", ns, "ns",
                   share = math.min(1, ns / step_ns) },
                 { "elements a step", apart.calls, "count" }, { "batched again by", above.type } },
    condition = ("%s elements a step, %s accepted; they take %s of the step"):format(fmt.whole(apart.calls),
      fmt.whole(cfg.min_unbatched), fmt.pct(ns / step_ns)),
    remedy = { text = "Keep whole batches: shuffle before the first batch, or permute rows within a batch.",
               code = "ds = ds.shuffle(clips).batch(n).map(windows).map(tf.random.shuffle)   # no unbatch" },
    impact = impact.replay { { "stage_scale", stage = table.concat(names, ","), factor = cfg.left },
                             fallback = impact.exposed { ns = ns } },
    confidence = "high",
  }
end

-- The stage that batches what a map gives, and how many elements a step that maps; nil: it maps whole batches.
-- A map joined with its batch is called once a batch, and its function once for each element below.
local function batched_by(stages, map)
  if map.type:find("Batch") then return map, stages:where { parent = map.name }:max("calls") or map.calls end
  local above = map
  for _ = 1, 32 do
    above = above.parent and above.parent ~= "" and stages:where { name = above.parent }:rows()[1]
    if not above then return nil end
    if above.type:find("Batch") then return above, map.calls end
  end
  return nil
end

-- The step computes on the cores that the pipeline uses, waits little for it, and all are busy.
local function is_busy(p, cfg, min_cpu_share)
  return not p:has("device.count") and p:has("input.cpu_share") and p:has("host.cpu_ns") and p:has("host.cores") and
    p.fact["input.wait_share"] <= cfg.max_wait_share and p.fact["input.cpu_share"] >= min_cpu_share and
    p.fact["host.cpu_ns"] >= cfg.min_used * p.fact["host.cores"] * p.fact["step.ns"]
end

-- Rows are cut one by one out of what lies in memory, of each of its arrays, and put together again: a row of one array
-- takes a microsecond or two, one of many columns that for each of them.
local function rows_beside(p, cfg)
  if not is_busy(p, cfg, cfg.min_rows_share) then return nil end
  local stages = p:table("iterators")
  local rows = stages:where { type = { like = "^TensorSlice" }, calls = { min = cfg.min_unbatched } }
    :top("self_ns", 1):rows()[1]
  if not rows or rows.self_ns < cfg.min_row_ns * rows.calls then return nil end
  local batch, ns = batched_by(stages, rows), rows.self_ns
  if not batch then return nil end
  local step_ns, above = p.fact["step.ns"], rows
  while above.name ~= batch.name do
    above = stages:where { name = above.parent }:rows()[1]
    ns = ns + above.self_ns
  end
  ns = ns / p.fact["host.cores"]
  if ns < cfg.min_rows_share * step_ns then return nil end
  return finding {
    title = ("%s rows of many arrays are cut out of memory one by one, on the cores that the step needs"):format(
      fmt.whole(rows.calls)),
    severity = "info", subject = { op = rows.name },
    evidence = { { "rows a step", rows.calls, "count" }, { "cutting one out", rows.self_ns / rows.calls, "ns" },
                 { "up to the batch, over the cores, a step", ns, "ns", share = math.min(1, ns / step_ns) } },
    condition = ("a row takes %s, %s accepted, and the cores are busy"):format(
      fmt.ms(rows.self_ns / rows.calls), fmt.ms(cfg.min_row_ns)),
    remedy = { text = "Join the columns of one type into one array before the data set, and let layers take it apart; "
                 .. "or shuffle and batch the rows' numbers, and gather a batch of each column at once.",
               code = "ds = tf.data.Dataset.from_tensor_slices((df.to_numpy(), y))   # not dict(df)" },
    impact = impact.exposed { ns = (1 - cfg.left) * ns },
    confidence = "medium",
  }
end

-- A pipeline that runs ahead of a step which computes on the same cores still takes them from it: a map of many small
-- ops is called for each element of a batch.
local function small_ops_beside(p, cfg)
  if not is_busy(p, cfg, cfg.min_cpu_share) then return nil end
  local step_ns, cores, stages = p.fact["step.ns"], p.fact["host.cores"], p:table("iterators")
  local map = stages:where { type = { like = "^(Map|ParallelMap)" } }:top("cpu_ns", 1):rows()[1]
  local batch, elements
  if map then batch, elements = batched_by(stages, map) end
  local small_ns = map and map.cpu_ns - (map.top_op_ns or 0) or 0
  if not batch or elements < cfg.min_elements or map.cpu_ns / elements > cfg.max_busy_ns or
     small_ns < cfg.min_small_share * map.cpu_ns or (map.top_op or ""):find(p:names("tf_media_file")) or
     map.python_ns > cfg.max_python_share * map.cpu_ns then
    return nil
  end
  local ns = small_ns / cores
  return finding {
    title = ("A map of small ops is called %s times a step, on the cores that the step needs"):format(
      fmt.whole(elements)),
    severity = "info", subject = { op = map.name },
    evidence = { { "map", map.name }, { "elements a step", elements, "count" },
                 { "time of one", map.cpu_ns / elements, "ns" },
                 { "of it in its longest op, " .. (map.top_op or ""), (map.top_op_ns or 0) / elements, "ns" },
                 { "its other ops, over the cores, a step", ns, "ns", share = math.min(1, ns / step_ns) } },
    condition = ("%s of an element's time is no op that takes long, %s accepted, and the cores are busy"):format(
      fmt.pct(small_ns / map.cpu_ns), fmt.pct(cfg.min_small_share)),
    remedy = { text = "Batch first, then map over whole batches: small ops cost as much for a batch as for an element.",
               code = "ds = ds.batch(n).map(augment_a_batch, num_parallel_calls=tf.data.AUTOTUNE)" },
    impact = impact.exposed { ns = (1 - cfg.left) * ns },
    confidence = "medium",
  }
end

return rule {
  id = "tfdata-vectorize-map", api = 1, version = "1.0.0",
  title = "A map is called for each of many small elements",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-sequential-map",
                         "tfdata-slow-iterator", "tfdata-cache", "input-headroom", "host-bound" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for this map" },
    max_element_ns = { default = 100000, min = 0, max = 1e9, unit = "ns",
                       doc = "time of one element up to which calling costs more than the work" },
    max_op_ns = { default = 20000, min = 0, max = 1e9, unit = "ns",
                  doc = "time of an element's longest op up to which the same is said of a longer one: calling an op "
                    .. "takes some microseconds, whatever it does" },
    min_unbatched = { default = 64, min = 2, max = 1e9, unit = "count",
                      doc = "elements a step that batches are taken apart into" },
    min_apart_share = { default = 0.2, min = 0, max = 1, unit = "share",
                        doc = "of the step, in the stages from taking apart to the next batch" },
    min_row_ns = { default = 20000, min = 0, max = 1e9, unit = "ns",
                   doc = "cutting a row out of arrays in memory, from which they are many" },
    min_rows_share = { default = 0.15, min = 0, max = 1, unit = "share",
                       doc = "of the step, over the cores, in the stages from there to the batch" },
    min_elements = { default = 8, min = 2, max = 1e9, unit = "count", doc = "elements a step" },
    left = { default = 0.15, min = 0, max = 1, unit = "ratio",
             doc = "part of the map's time that one call for the whole batch needs" },
    min_cpu_share = { default = 0.4, min = 0, max = 1, unit = "share",
                      doc = "of the time of all cores, the pipeline's, from which it slows a step that hardly waits" },
    max_wait_share = { default = 0.2, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input, then" },
    min_used = { default = 0.9, min = 0, max = 2, unit = "share",
                 doc = "of the time of all cores, everything's, then" },
    max_busy_ns = { default = 1000000, min = 0, max = 1e9, unit = "ns",
                    doc = "time of one element, then, and of one whose ops are all short" },
    min_small_share = { default = 0.5, min = 0, max = 1, unit = "share",
                        doc = "of an element's time outside of its longest op, then" },
    max_python_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "of the map's time in Python, from which another rule speaks" },
  },
  doc = [[
Each call of a map function costs tens of microseconds whatever it does. Where the map stands below the batch, that is
paid for each element; above it, once a batch. Batches that are taken apart (unbatch) and made again
pay in each stage between, also where the pipeline keeps up: it takes the cores. Priced by replay with
0.15 of the map's, or of these stages', time left. Where a pipeline keeps up, the step computes on the same cores and
all are busy, a map of which no op takes most is priced as its other ops, over the cores; and so are rows of many arrays
in memory, as the columns of a table, that are cut out one by one. Silent where an element takes
long enough to be work and one of its ops does, where the map stands above the batch, and where it runs Python.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local known = taken_apart(p, cfg) or small_ops_beside(p, cfg) or rows_beside(p, cfg)
    if known then return known end
    if p.fact["input.keeps_up"] or p.fact["input.wait_share"] < cfg.min_wait_share then return nil end

    local stages = p:table("iterators")
    local map = stages:where { type = { like = "^(Map|ParallelMap)" },
                               path_ns = { min = cfg.min_path_share * step_ns } }:top("path_ns", 1):rows()[1]
    if not map then return nil end
    local batch, elements = batched_by(stages, map)
    if not batch then return nil end
    local work_ns = math.max(map.self_ns, map.cpu_ns)
    -- Many ops make an element long though none of them works: then calling them is what it takes.
    local longest_ns = (map.top_op or "") ~= "" and map.top_op_ns or work_ns
    local calls_alone = work_ns / elements <= cfg.max_element_ns or
      longest_ns / elements <= cfg.max_op_ns and work_ns / elements <= cfg.max_busy_ns
    if elements < cfg.min_elements or not calls_alone
       -- Images are decoded one by one.
       or (map.top_op or ""):find(p:names("tf_media_file"))
       or map.python_ns > cfg.max_python_share * work_ns then
      return nil
    end

    return finding {
      title = ("A map is called %s times a step, %s each"):format(fmt.whole(elements), fmt.ns(work_ns / elements)),
      subject = { op = map.name },
      evidence = {
        { "map", map.name },
        { "its time on the path a step", map.path_ns, "ns", share = math.min(1, map.path_ns / step_ns) },
        { "elements a step", elements, "count" },
        { "time of one", work_ns / elements, "ns" },
        work_ns / elements > cfg.max_element_ns and
          { "of it in its longest op, " .. map.top_op, longest_ns / elements, "ns" } or nil,
        { "batched by", batch.type },
      },
      condition = work_ns / elements > cfg.max_element_ns and
        ("the step waits %s for a map whose longest op takes %s an element, %s accepted"):format(
          fmt.pct(map.path_ns / step_ns), fmt.ns(longest_ns / elements), fmt.ns(cfg.max_op_ns)) or
        ("the step waits %s for a map with %s an element, %s accepted"):format(
          fmt.pct(map.path_ns / step_ns), fmt.ns(work_ns / elements), fmt.ns(cfg.max_element_ns)),
      remedy = { text = "Batch first, then map over whole batches.",
                 code = "ds = ds.batch(n).map(f_of_a_batch, num_parallel_calls=tf.data.AUTOTUNE)" },
      impact = impact.replay { { "stage_scale", stage = "\\Q" .. map.name .. "\\E", factor = cfg.left },
                               fallback = impact.exposed { ns = map.path_ns } },
      confidence = "high",
    }
  end,

  examples = {
    -- 12 ms of one core are 6 of two, of which 0.85 go.
    { name = "a table's columns, row by row", framework = "tensorflow", finding = true,
      severity = "info", impact_ns = 5.1e6,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.01, ["input.cpu_share"] = 0.3, ["host.cores"] = 2,
                ["host.cpu_ns"] = 3.8e7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 5e6,
          parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::BatchV2::TensorSlice", type = "TensorSlice", calls = 200, self_ns = 7e6,
          cpu_ns = 7e6, parent = "Iterator::Root::Prefetch::BatchV2" } } } },
    { name = "rows of one array", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.01, ["input.cpu_share"] = 0.3, ["host.cores"] = 2,
                ["host.cpu_ns"] = 3.8e7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 9e6,
          parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::BatchV2::TensorSlice", type = "TensorSlice", calls = 200, self_ns = 1e6,
          cpu_ns = 1e6, parent = "Iterator::Root::Prefetch::BatchV2" } } } },
    { name = "windows of clips", framework = "tensorflow", finding = true, impact_ns = 5e6,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.02, ["input.keeps_up"] = true },
      tables = { iterators = {
        { name = "Iterator::Root::BatchV2", type = "BatchV2", calls = 1, self_ns = 1e7, parent = "Iterator::Root" },
        { name = "Iterator::Root::BatchV2::Unbatch", type = "Unbatch", calls = 1024, self_ns = 2e6,
          parent = "Iterator::Root::BatchV2" } } },
      replay = { 5e6 } },
    { name = "a few clips", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.02, ["input.keeps_up"] = true },
      tables = { iterators = {
        { name = "Iterator::Root::BatchV2", type = "BatchV2", calls = 1, self_ns = 1e6, parent = "Iterator::Root" },
        { name = "Iterator::Root::BatchV2::Unbatch", type = "Unbatch", calls = 1024, self_ns = 5e5,
          parent = "Iterator::Root::BatchV2" } } } },
    { name = "parsing line by line", framework = "tensorflow", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.5 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 2e5, cpu_ns = 0,
          python_ns = 0, path_ns = 1e5, parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::BatchV2::Map", type = "Map", calls = 256, self_ns = 8e6, cpu_ns = 6e6,
          python_ns = 0, path_ns = 5e6, parent = "Iterator::Root::Prefetch::BatchV2" } } },
      replay = { 4e6 } },
    { name = "a map joined with its batch", framework = "tensorflow", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.5 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::MapAndBatch", type = "MapAndBatch", calls = 1, self_ns = 1e5,
          cpu_ns = 5e6, python_ns = 0, path_ns = 4e6, parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::MapAndBatch::TensorSlice", type = "TensorSlice", calls = 512,
          self_ns = 1e5, cpu_ns = 0, python_ns = 0, path_ns = 1e5,
          parent = "Iterator::Root::Prefetch::MapAndBatch" } } },
      replay = { 3e6 } },
    -- 10 ms a step but 3 ms in the longest op: 7 ms on two cores, of which 0.85 go and three quarters are said.
    { name = "small ops on cores that the step needs", framework = "tensorflow", finding = true, impact_ns = 2.23e6,
      facts = { ["step.ns"] = 6.5e6, ["input.wait_share"] = 0.04, ["input.cpu_share"] = 0.58, ["host.cores"] = 2,
                ["host.cpu_ns"] = 1.25e7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::MapAndBatch", type = "MapAndBatch", calls = 1, self_ns = 1e5,
          cpu_ns = 1e7, python_ns = 0, path_ns = 0, top_op = "Warp", top_op_ns = 3e6,
          parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::MapAndBatch::Shuffle", type = "Shuffle", calls = 32, self_ns = 1e5,
          cpu_ns = 0, python_ns = 0, path_ns = 0, parent = "Iterator::Root::Prefetch::MapAndBatch" } } } },
    { name = "cores to spare", finding = false,
      facts = { ["step.ns"] = 6.5e6, ["input.wait_share"] = 0.04, ["input.cpu_share"] = 0.58, ["host.cores"] = 4,
                ["host.cpu_ns"] = 1.25e7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::MapAndBatch", type = "MapAndBatch", calls = 1, self_ns = 1e5,
          cpu_ns = 1e7, python_ns = 0, path_ns = 0, top_op = "Warp", top_op_ns = 3e6,
          parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::MapAndBatch::Shuffle", type = "Shuffle", calls = 32, self_ns = 1e5,
          cpu_ns = 0, python_ns = 0, path_ns = 0, parent = "Iterator::Root::Prefetch::MapAndBatch" } } } },
    { name = "one op that takes long", finding = false,
      facts = { ["step.ns"] = 6.5e6, ["input.wait_share"] = 0.04, ["input.cpu_share"] = 0.58, ["host.cores"] = 2,
                ["host.cpu_ns"] = 1.25e7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 2e5, cpu_ns = 0,
          python_ns = 0, path_ns = 0, parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::BatchV2::ParallelMapV2", type = "ParallelMapV2", calls = 32,
          self_ns = 1e5, cpu_ns = 1e7, python_ns = 0, path_ns = 0, top_op = "Warp", top_op_ns = 8e6,
          parent = "Iterator::Root::Prefetch::BatchV2" } } } },
    -- 160 us an element, of which its longest op takes 6.
    { name = "a dozen columns of arithmetic", framework = "tensorflow", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.8 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::MapAndBatch", type = "MapAndBatch", calls = 1, self_ns = 1e6,
          cpu_ns = 8e7, python_ns = 0, path_ns = 5e7, top_op = "Pack", top_op_ns = 3e6,
          parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::MapAndBatch::Shuffle", type = "Shuffle", calls = 500, self_ns = 1e6,
          cpu_ns = 0, python_ns = 0, path_ns = 0, parent = "Iterator::Root::Prefetch::MapAndBatch" } } },
      replay = { 4e6 } },
    { name = "elements of as long, in one op", finding = false,
      facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.8 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::MapAndBatch", type = "MapAndBatch", calls = 1, self_ns = 1e6,
          cpu_ns = 8e7, python_ns = 0, path_ns = 5e7, top_op = "ResizeBilinear", top_op_ns = 5e7,
          parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::MapAndBatch::Shuffle", type = "Shuffle", calls = 500, self_ns = 1e6,
          cpu_ns = 0, python_ns = 0, path_ns = 0, parent = "Iterator::Root::Prefetch::MapAndBatch" } } } },
    { name = "elements are work", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.5 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 2e5, cpu_ns = 0,
          python_ns = 0, path_ns = 1e5, parent = "Iterator::Root::Prefetch" },
        { name = "Iterator::Root::Prefetch::BatchV2::Map", type = "Map", calls = 32, self_ns = 1e7, cpu_ns = 1e7,
          python_ns = 0, path_ns = 5e6, parent = "Iterator::Root::Prefetch::BatchV2" } } } },
  },
}
