-- A stage of the input pipeline that has no parallel form makes the step wait.
-- The stage that flattens windows, with the time of all below it; nil where nothing is windowed.
local function of_windows(stages)
  local window = stages:where { type = { like = "^(Window|SlidingWindow)" } }:top("path_ns", 1):rows()[1]
  local above = window
  while above and above.type ~= "FlatMap" and above.type ~= "Interleave" do
    above = above.parent and above.parent ~= "" and stages:where { name = above.parent }:rows()[1] or nil
  end
  while above do -- a flattening stage within another is named after it
    local outer = above.parent and above.parent ~= "" and stages:where { name = above.parent }:rows()[1] or nil
    if not outer or outer.type ~= "FlatMap" then break end
    above = outer
  end
  if not above then return nil end
  above.path_ns = stages:where { name = { like = "^\\Q" .. above.name .. "\\E(::|$)" } }:sum("path_ns")
  return above
end

-- What hands on fewer elements than it takes.
local DROPS, JOINS = "^Filter", "Batch"
local function drops(stage) return stage.type:find(DROPS) or stage.type == "ParallelFilter" or stage.type == "Shard" end

-- The first stage above `map`, before a batch is made, that throws elements away.
local function dropping(stages, map)
  local stage = map
  repeat
    stage = stage.parent and stage.parent ~= "" and stages:where { name = stage.parent }:rows()[1] or nil
  until not stage or stage.type:find(JOINS) or drops(stage)
  return stage and drops(stage) and stage or nil
end

-- What the step waits for them, since the filter's own thread waits for the map and both do less; where the cores are
-- busy, their work, which the model then has.
local function saved_by(p, map, filter, kept)
  local cores = p.fact["host.cores"] or 1
  local is_busy = (p.fact["host.cpu_ns"] or 0) >= 0.75 * cores * p.fact["step.ns"]
  return (1 - kept) * math.max(map.path_ns + filter.path_ns, is_busy and map.cpu_ns / cores or 0)
end

-- Elements that a costly map made and a stage behind it throws away.
local function wasted(p, cfg)
  local step_ns, stages = p.fact["step.ns"], p:table("iterators")
  local map = stages:where { type = { like = "^(?!Prefetch|Root)" } }:top("path_ns", 1):rows()[1]
  if not map or not map.type:find("^(Map|ParallelMap)") or map.path_ns < cfg.min_path_share * step_ns or
     (map.python_ns or 0) > cfg.max_python_share * math.max(map.self_ns, map.cpu_ns) then return nil end
  local filter = dropping(stages, map)
  if not filter then return nil end
  -- A shard skips elements without asking the map for each, but the map asks for all of them.
  local taken = math.max(map.calls, stages:where { parent = map.name }:max("calls") or 0)
  local kept = math.max(filter.calls, 1e-3) / taken
  if kept > cfg.max_kept then return nil end
  local is_shard, rejects = filter.type == "Shard", filter.name:find("DirectedInterleave.*::Filter$") ~= nil
  local saved_ns = saved_by(p, map, filter, kept)
  return finding {
    title = ("A %s keeps %s of what %s makes for it; the step waits %s"):format(
      is_shard and "shard" or "filter", fmt.pct(kept), map.type, fmt.ms(map.path_ns)),
    subject = { op = filter.name },
    evidence = { { is_shard and "shard" or "filter", filter.name },
                 { "elements it takes a step", taken, "count" },
                 { "elements it hands on a step", filter.calls, "count" },
                 { "the map's time on the path a step", map.path_ns, "ns",
                   share = math.min(1, map.path_ns / step_ns) } },
    condition = ("the %s keeps %s of the elements, %s accepted"):format(is_shard and "shard" or "filter",
      fmt.pct(kept), fmt.pct(cfg.max_kept)),
    remedy = is_shard and {
      text = "Take the worker's share of files or records first, before anything is read, decoded or shuffled.",
      code = "ds = files.shard(workers, index).map(decode, num_parallel_calls=tf.data.AUTOTUNE)" } or rejects and {
      text = "Balance classes before the costly map, on labels alone; sampling from a repeated dataset of each class "
        .. "throws nothing away.",
      code = "ds = tf.data.Dataset.sample_from_datasets([ones.repeat(), zeros.repeat()], [0.5, 0.5]).map(decode, "
        .. "num_parallel_calls=tf.data.AUTOTUNE)" } or {
      text = "Filter before the costly map, on what the record holds already.",
      code = "ds = ds.filter(keep).map(decode, num_parallel_calls=tf.data.AUTOTUNE)" },
    impact = impact.exposed { ns = saved_ns, low = 0.7 * saved_ns, high = math.min(saved_ns, step_ns) },
    claims = { parts = { "input" } },
    confidence = "medium",
  }
end

return rule {
  id = "tfdata-sequential-op", api = 1, version = "1.0.0",
  title = "A serial stage of the input pipeline makes the step wait",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-slow-iterator",
                         "tfdata-cache" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for this stage" },
    max_python_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "of the stage's time in Python, from which another rule speaks" },
    max_kept = { default = 0.7, min = 0, max = 1, unit = "share",
                 doc = "of the elements of a map, those that a filter behind it keeps, from which the rest is wasted" },
    filter_left = { default = 0.1, min = 0, max = 1, unit = "ratio",
                    doc = "part of a filter's time that is left when it decides before the costly work" },
    threads = { default = 2, min = 1, max = 64, unit = "count",
                doc = "copies that another stage is split over; their work is the same and needs its cores" },
  },
  doc = [[
Filter, batch, unbatch and scan run one element at a time in the thread of their consumer and take no
num_parallel_calls (batch does). A filter that decodes or computes to decide can mostly decide from what the
record holds already, before the costly work; a filter or shard behind a costly map wastes it on what is thrown away,
which is priced by the wait for it or, on busy cores, by its work. Else priced by replay with a
tenth of the filter's time left, or with other stages on two threads: their work stays, so a step is no shorter
than all work over the cores. Silent where another stage holds the step longer.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.fact["input.keeps_up"] or p.fact["input.wait_share"] < cfg.min_wait_share then return nil end

    local waste = wasted(p, cfg)
    if waste then return waste end
    local stages = p:table("iterators")
    local stage = stages:where { type = { like = p:names("tf_one_thread_stage") },
                                 path_ns = { min = cfg.min_path_share * step_ns } }:top("path_ns", 1):rows()[1]
    -- Windows of single elements: the window, what flattens it and its batches are one thing.
    local windows = of_windows(stages)
    if windows and windows.path_ns >= cfg.min_path_share * step_ns then stage = windows end
    local others = stages:where { type = { like = "^(?!Prefetch|Root)" } }:max("path_ns") or 0
    if not stage or others > stage.path_ns then return nil end
    if (stage.python_ns or 0) > cfg.max_python_share * math.max(stage.self_ns, stage.cpu_ns) then return nil end

    local is_filter = stage.type:find("^Filter") ~= nil
    local fed = stages:where { parent = stage.name }:max("calls")
    local evidence = {
      { "stage", stage.name },
      { "its time on the path a step", stage.path_ns, "ns", share = math.min(1, stage.path_ns / step_ns) },
      { "elements it hands on a step", stage.calls, "count" },
    }
    if fed then evidence[#evidence + 1] = { "elements it takes a step", fed, "count" } end
    if stage.top_op and stage.top_op ~= "" then
      evidence[#evidence + 1] = { "mostly", stage.top_op }
      evidence[#evidence + 1] = { "that op a step", stage.top_op_ns, "ns" }
    end
    local is_batch = stage.type:find("Batch") ~= nil and not stage.type:find("^(Un|Re)")
    return finding {
      title = ("%s has no parallel form; the step waits %s for it"):format(stage.type, fmt.ms(stage.path_ns)),
      subject = { op = stage.name },
      evidence = evidence,
      condition = ("the step waits %s for a serial stage, %s accepted"):format(
        fmt.pct(stage.path_ns / step_ns), fmt.pct(cfg.min_path_share)),
      remedy = stage == windows and {
        text = "Cut windows out of whole arrays by index instead of joining single elements to windows again.",
        code = "ds = tf.data.Dataset.range(n).batch(b).map(lambda i: tf.gather(x, i[:, None] + tf.range(w)))" }
        or is_filter and {
        text = "Filter before the costly map, on what the record holds already; "
          .. "keep decoding for the elements that stay.",
        code = "ds = ds.filter(keep).map(decode, num_parallel_calls=tf.data.AUTOTUNE)" }
        or is_batch and {
        text = "Let the batch be copied in parallel, and batch smaller elements: crop or cast before it.",
        code = "ds = ds.batch(n, num_parallel_calls=tf.data.AUTOTUNE)" }
        or {
        text = "Move costly work out of this stage into a parallel map, or interleave copies of the pipeline over "
          .. "shards.",
        code = "ds = tf.data.Dataset.range(k).interleave(shard, num_parallel_calls=tf.data.AUTOTUNE)" },
      impact = impact.replay {
        (is_filter or stage == windows) and { "stage_scale", factor = cfg.filter_left, stage =
          "\\Q" .. stage.name .. "\\E" .. (stage == windows and "(::.*)?" or "") } or
          { "stage_parallel", stage = "\\Q" .. stage.name .. "\\E", factor = cfg.threads },
        fallback = impact.exposed { ns = stage.path_ns / 2 },
      },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a filter behind a costly map", framework = "tensorflow", finding = true, impact_ns = 3.825e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::Filter", type = "Filter", calls = 16, self_ns = 1e5, cpu_ns = 0,
          python_ns = 0, path_ns = 2e5 },
        { name = "Iterator::Root::Prefetch::Filter::ParallelMapV2", type = "ParallelMapV2",
          parent = "Iterator::Root::Prefetch::Filter", calls = 64, self_ns = 2e5, cpu_ns = 1e7, python_ns = 0,
          path_ns = 5.8e6 } } } },
    { name = "a shard behind a costly map, on busy cores", framework = "tensorflow", finding = true,
      impact_ns = 6.375e6, -- 0.85 of three quarters of 20 ms of work on two cores
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.3, ["host.cores"] = 2, ["host.cpu_ns"] = 1.8e7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 0, cpu_ns = 0,
          python_ns = 0, path_ns = 0 },
        { name = "Iterator::Root::Prefetch::BatchV2::Shard", type = "Shard",
          parent = "Iterator::Root::Prefetch::BatchV2", calls = 16, self_ns = 1e5, cpu_ns = 0, python_ns = 0,
          path_ns = 0 },
        { name = "Iterator::Root::Prefetch::BatchV2::Shard::ParallelMapV2", type = "ParallelMapV2",
          parent = "Iterator::Root::Prefetch::BatchV2::Shard", calls = 32, self_ns = 2e5, cpu_ns = 2e7, python_ns = 0,
          path_ns = 3e6 },
        { name = "Iterator::Root::Prefetch::BatchV2::Shard::ParallelMapV2::TensorSlice", type = "TensorSlice",
          parent = "Iterator::Root::Prefetch::BatchV2::Shard::ParallelMapV2", calls = 64, self_ns = 1e5, cpu_ns = 0,
          python_ns = 0, path_ns = 0 } } } },
    { name = "a filter that keeps nearly all", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::Filter", type = "Filter", calls = 60, self_ns = 1e5, cpu_ns = 0,
          python_ns = 0, path_ns = 2e5 },
        { name = "Iterator::Root::Prefetch::Filter::ParallelMapV2", type = "ParallelMapV2",
          parent = "Iterator::Root::Prefetch::Filter", calls = 64, self_ns = 2e5, cpu_ns = 1e7, python_ns = 0,
          path_ns = 5.8e6 } } } },
    { name = "a filter decodes", framework = "tensorflow", finding = true, impact_ns = 1.2e7,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.6 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::Filter", type = "Filter", calls = 16, self_ns = 1.9e7, cpu_ns = 1.8e7,
          python_ns = 0, path_ns = 1.2e7, top_op = "DecodeJpeg", top_op_ns = 1.6e7 },
        { name = "Iterator::Root::Prefetch::Filter::Map", type = "Map", parent = "Iterator::Root::Prefetch::Filter",
          calls = 64, self_ns = 2e5, cpu_ns = 0, python_ns = 0, path_ns = 1e5 } } },
      replay = { 1.2e7 } },
    { name = "windows joined from single elements", framework = "tensorflow", finding = true, impact_ns = 1.2e7,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.7 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch", type = "Prefetch", calls = 1, self_ns = 0, cpu_ns = 0, python_ns = 0,
          path_ns = 7e6 },
        { name = "Iterator::Root::Prefetch::FlatMap", type = "FlatMap", parent = "Iterator::Root::Prefetch", calls = 64,
          self_ns = 1.2e7, cpu_ns = 0, python_ns = 0, path_ns = 3e6 },
        { name = "Iterator::Root::Prefetch::FlatMap::Window", type = "Window",
          parent = "Iterator::Root::Prefetch::FlatMap", calls = 64, self_ns = 3e6, cpu_ns = 0, python_ns = 0,
          path_ns = 2e6 } } },
      replay = { 1.2e7 } },
    { name = "the map below is slower", finding = false,
      facts = { ["step.ns"] = 2e7, ["input.wait_share"] = 0.6 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::BatchV2", type = "BatchV2", calls = 1, self_ns = 2e6, cpu_ns = 0,
          python_ns = 0, path_ns = 1.5e6 },
        { name = "Iterator::Root::Prefetch::BatchV2::Map", type = "Map", calls = 64, self_ns = 1e7, cpu_ns = 0,
          python_ns = 0, path_ns = 1e7 } } } },
  },
}
