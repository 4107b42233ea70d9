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

-- A filter that throws away most of what a costly map made for it.
local function wasted(p, cfg)
  local step_ns, stages = p.fact["step.ns"], p:table("iterators")
  local map = stages:where { type = { like = "^(?!Prefetch|Root)" } }:top("path_ns", 1):rows()[1]
  if not map or not map.type:find("^(Map|ParallelMap)") or map.path_ns < cfg.min_path_share * step_ns or
     (map.python_ns or 0) > cfg.max_python_share * math.max(map.self_ns, map.cpu_ns) then return nil end
  local filter = map.parent and map.parent ~= "" and stages:where { name = map.parent }:rows()[1]
  if filter and filter.type:find("^(Prefetch|Shuffle)") then
    filter = stages:where { name = filter.parent }:rows()[1]
  end
  if not filter or not filter.type:find("^Filter") or filter.calls > cfg.max_kept * map.calls then return nil end
  local kept = math.max(filter.calls, 1e-3) / map.calls
  return finding {
    title = ("A filter keeps %s of what %s makes for it; the step waits %s"):format(
      fmt.pct(kept), map.type, fmt.ms(map.path_ns)),
    subject = { op = filter.name },
    evidence = { { "filter", filter.name }, { "elements it takes a step", map.calls, "count" },
                 { "elements it hands on a step", filter.calls, "count" },
                 { "the map's time on the path a step", map.path_ns, "ns",
                   share = math.min(1, map.path_ns / step_ns) } },
    condition = ("the filter keeps %s of the elements, %s accepted"):format(fmt.pct(kept), fmt.pct(cfg.max_kept)),
    remedy = { text = "Filter before the costly map, on what the record holds already.",
               code = "ds = ds.filter(keep).map(decode, num_parallel_calls=tf.data.AUTOTUNE)" },
    -- The filter's own thread waits for the map, and both do less.
    impact = impact.exposed { ns = (1 - kept) * (map.path_ns + filter.path_ns),
                              low = 0.7 * (1 - kept) * (map.path_ns + filter.path_ns),
                              high = math.min((1 - kept) * (map.path_ns + filter.path_ns), step_ns) },
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
    left = { default = 0.5, min = 0, max = 1, unit = "ratio",
             doc = "part of another stage's time that is left when it is split over two copies" },
  },
  doc = [[
Filter, batch, unbatch and scan run one element at a time in the thread of their consumer and take no
num_parallel_calls (batch does). A filter that decodes or computes to decide can mostly decide from what the
record holds already, before the costly work; one behind a costly map wastes it on what is thrown away. Priced by replay
with a tenth of the filter's time left, half for other stages. Silent where another stage holds the step longer.]],

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
        { "stage_scale", stage = "\\Q" .. stage.name .. "\\E" .. (stage == windows and "(::.*)?" or ""),
          factor = (is_filter or stage == windows) and cfg.filter_left or cfg.left },
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
