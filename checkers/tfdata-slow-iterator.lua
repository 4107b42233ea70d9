-- One stage or branch of the input pipeline holds up the others.
-- The loop makes a dataset or an iterator itself in every step or every few.
local function made_again(p, cfg)
  local step_ns = p.fact["step.ns"]
  if not p:has("activities") or not p:has("part.host_ns") then return nil end
  local activities = p:table("activities")
  local made = activities:where { name = { like = p:names("tf_makes_iterator") } }
  local builds = made:max("events") or 0
  local waiting_ns = p.fact["input.wait_ns"] + (p.fact["compile.path_ns"] or 0)
  if builds < cfg.min_made or builds > cfg.max_made or waiting_ns < cfg.min_made_share * step_ns or
    activities:where { name = { like = p:names("keras_function") } }:count() > 0 then -- Keras
    return nil
  end
  return finding {
    title = ("An iterator is made %s times a step; the step waits %s for it"):format(
      fmt.count(builds), fmt.ms(waiting_ns)),
    evidence = { { "input wait and tracing of its functions a step", waiting_ns, "ns",
                   share = math.min(1, waiting_ns / step_ns) },
                 { "iterators made a step", builds, "count" },
                 { "making them a step", made:max("path_ns"), "ns" },
                 { "host code a step", p.fact["part.host_ns"], "ns", share = p.fact["part.host_ns"] / step_ns } },
    condition = ("%s iterators a step, %s accepted; the step waits %s"):format(
      fmt.count(builds), fmt.count(cfg.min_made), fmt.pct(waiting_ns / step_ns)),
    remedy = { text = "Make the dataset and its iterator once, repeat it, and take the next batch from it.",
               code = "it = iter(ds.repeat().prefetch(tf.data.AUTOTUNE))   "
                 .. "# before the loop; in it: batch = next(it)" },
    impact = impact.replay { { "scale", parts = { "input", "compile", "host" }, factor = cfg.left } },
    confidence = "high",
  }
end

-- Steps that were recorded live on batches from before, and new ones take longer than steps.
local function runs_dry(p, cfg)
  local step_ns, refill_ns = p.fact["step.ns"], p:has("input.refill_ns") and p.fact["input.refill_ns"] or 0
  if refill_ns < cfg.min_refill * step_ns then return nil end
  local worst
  for stage in p:table("iterators"):where { type = { like = "^(?!Prefetch|Root)" } }:each() do
    if not worst or math.max(stage.self_ns, stage.cpu_ns) > math.max(worst.self_ns, worst.cpu_ns) then worst = stage end
  end
  if not worst or worst.python_ns > cfg.max_python_share * math.max(worst.self_ns, worst.cpu_ns) then return nil end
  local share = 1 - (step_ns - p.fact["input.wait_ns"]) / refill_ns
  return finding {
    title = ("A batch takes %s to make and steps take %s: they live on a buffer that runs dry"):format(
      fmt.ms(refill_ns), fmt.ms(step_ns)),
    subject = { op = worst.name },
    evidence = { { "stage with most work", worst.name },
                 { "its work a step, all threads", math.max(worst.self_ns, worst.cpu_ns), "ns" },
                 { "making what a step takes, on one thread", refill_ns, "ns" },
                 { "share of the time that steps will wait", share, "share" } },
    condition = ("a batch takes %s, a step %s while the buffer lasts"):format(fmt.ms(refill_ns), fmt.ms(step_ns)),
    remedy = { text = "Give the stage all cores or make it cheaper: what never changes is prepared once and cached. "
                 .. "Record longer to see the steps wait.",
               code = "ds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE).cache()" },
    impact = impact.exposed { ns = share * step_ns, low = 0.5 * share * step_ns, high = share * step_ns },
    confidence = "medium",
  }
end

return rule {
  id = "tfdata-slow-iterator", api = 1, version = "1.0.0",
  title = "One stage or branch of the input pipeline holds up the others",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "input.wait_ns", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-cache" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for the stage" },
    min_call_ns = { default = 50000, min = 0, max = 1e9, unit = "ns",
                    doc = "time of a call of the pipeline that is slow" },
    min_made = { default = 0.3, min = 0, max = 1e6, unit = "count",
                 doc = "iterators made a step, from which that is the matter" },
    max_made = { default = 3, min = 0, max = 1e6, unit = "count", doc = "up to which they are the loop's own" },
    min_made_share = { default = 0.3, min = 0, max = 1, unit = "share", doc = "share of the step that waits for them" },
    left = { default = 0.1, min = 0, max = 1, unit = "ratio",
             doc = "part of the time outside of ops that stays with one iterator" },
    min_refill = { default = 1.15, min = 1, max = 100, unit = "ratio",
                   doc = "making a step's input over the step, from which a buffer will run dry" },
    max_python_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "of the stage's time in Python, from which another rule speaks" },
  },
  doc = [[
Where branches are zipped or sampled, the pipeline is as slow as its slowest branch: this names it. It also names a
slow stage of a kind that no other rule is about. Priced by replay: the stage and what feeds it prepared beforehand,
or costing a tenth where it draws random numbers. Where the loop makes an iterator in every step or every few, that is
said instead: priced as nine tenths of the step outside of ops. Where the step does not wait, but one thread takes
longer than a step to make its input, the recorded steps live on batches that lay ready: priced as the share of the
time that steps will wait. Silent where a call of the pipeline returns within 50 us and it keeps up.]],

  check = function(p, cfg)
    local again = made_again(p, cfg)
    if again then return again end
    local step_ns = p.fact["step.ns"]
    if p.fact["input.wait_share"] < cfg.min_wait_share then return runs_dry(p, cfg) end
    if p.fact["input.keeps_up"] then return nil end

    local stages = p:table("iterators")
    local root_ns = stages:where { depth = 0 }:max("call_ns") or p.fact["input.wait_ns"]
    local worst = stages:where { type = { like = "^(?!Prefetch|Root)" },
                                 path_ns = { min = cfg.min_path_share * step_ns } }:top("path_ns", 1):rows()[1]
    if not worst or root_ns < cfg.min_call_ns then return nil end
    if worst.python_ns > cfg.max_python_share * math.max(worst.self_ns, worst.cpu_ns) then return nil end

    local zip, branch, above = nil, worst.name, worst
    while above and above.parent and above.parent ~= "" do
      local parent = stages:where { name = above.parent }:rows()[1]
      if parent and parent.type:find(p:names("tf_joining_stage")) then
        zip, branch = parent, above.name
        break
      end
      above = parent
    end
    local has_own_rule = worst.type:find(p:names("tf_function_stage")) or worst.type:find(p:names("tf_file_reader")) or
      worst.type:find(p:names("tf_one_thread_stage"))
    if not zip and has_own_rule then return nil end

    local evidence = {
      { "slowest stage", worst.name },
      { "its time on the path a step", worst.path_ns, "ns", share = math.min(1, worst.path_ns / step_ns) },
      { "its work a step, all threads", math.max(worst.self_ns, worst.cpu_ns), "ns" },
      { "a call of the pipeline", root_ns, "ns" },
    }
    if zip then
      for sibling in stages:where { parent = zip.name }:each() do
        if sibling.name ~= branch then
          local below = stages:where { name = { like = "^\\Q" .. sibling.name .. "\\E(::|$)" } }
          evidence[#evidence + 1] = { "work of the other branch " .. sibling.type,
                                      below:sum("self_ns") + below:sum("cpu_ns"), "ns" }
        end
      end
    end
    if worst.top_op and worst.top_op ~= "" then evidence[#evidence + 1] = { "mostly", worst.top_op } end
    local edit = "\\Q" .. (zip and branch or worst.name) .. "\\E(::.*)?"
    return finding {
      title = zip and ("One branch of %s holds the others up; the step waits %s for its %s"):format(
          zip.type, fmt.ms(worst.path_ns), worst.type)
        or ("The step waits %s for %s"):format(fmt.ms(worst.path_ns), worst.type),
      subject = { op = worst.name },
      evidence = evidence,
      condition = ("the step waits %s for one stage, %s accepted"):format(
        fmt.pct(worst.path_ns / step_ns), fmt.pct(cfg.min_path_share)),
      remedy = worst.random_below and {
        text = "Make this stage cheaper or give it all cores; prefetch its branch so that it runs beside the others.",
        code = "slow = slow.map(f, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)" } or {
        text = "Its result is the same in every epoch: prepare it once and cache it. "
          .. "Else make it cheaper and give it all cores.",
        code = "slow = slow.map(f, num_parallel_calls=tf.data.AUTOTUNE).cache()" },
      impact = impact.replay {
        { "stage_scale", stage = edit, factor = worst.random_below and 0.1 or 0 },
        fallback = impact.exposed { ns = worst.path_ns },
      },
      confidence = "high",
    }
  end,

  examples = {
    { name = "one branch of a zip", framework = "tensorflow", finding = true, impact_ns = 4e6,
      facts = { ["step.ns"] = 7e6, ["input.wait_share"] = 0.4, ["input.wait_ns"] = 3e6 },
      tables = { iterators = {
        { name = "Iterator::Root", type = "Root", depth = 0, call_ns = 3e6, path_ns = 0 },
        { name = "Iterator::Root::Zip", type = "Zip", parent = "Iterator::Root", depth = 1, path_ns = 0 },
        { name = "Iterator::Root::Zip::ParallelMapV2", type = "ParallelMapV2", parent = "Iterator::Root::Zip",
          depth = 2, self_ns = 1e5, cpu_ns = 1.2e7, python_ns = 0, path_ns = 2.8e6, random_below = false },
        { name = "Iterator::Root::Zip::TensorSlice", type = "TensorSlice", parent = "Iterator::Root::Zip", depth = 2,
          self_ns = 1e4, cpu_ns = 0, python_ns = 0, path_ns = 0, random_below = false } } },
      replay = { 4e6 } },
    -- 14 ms for a batch, steps of 8 ms that wait 0.4: later 7.6 of 14 ms are the step's own, 45.7 % of the time is a
    -- wait, of 8 ms 3.66; half of it and all of it: 2.74 in the middle.
    { name = "a buffer that runs dry", framework = "tensorflow", finding = true, impact_ns = 2.743e6,
      facts = { ["step.ns"] = 8e6, ["input.wait_share"] = 0.04, ["input.wait_ns"] = 4e5, ["input.refill_ns"] = 1.4e7 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::Map", type = "Map", self_ns = 8e6, cpu_ns = 0,
                                 python_ns = 0, path_ns = 4e5 } } } },
    { name = "a buffer that is filled in time", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 8e6, ["input.wait_share"] = 0.04, ["input.wait_ns"] = 4e5, ["input.refill_ns"] = 8e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::Map", type = "Map", self_ns = 8e6, cpu_ns = 0,
                                 python_ns = 0, path_ns = 4e5 } } } },
    { name = "a stage with a rule of its own", finding = false,
      facts = { ["step.ns"] = 7e6, ["input.wait_share"] = 0.4, ["input.wait_ns"] = 3e6 },
      tables = { iterators = {
        { name = "Iterator::Root", type = "Root", depth = 0, call_ns = 3e6, path_ns = 0 },
        { name = "Iterator::Root::Map", type = "Map", parent = "Iterator::Root", depth = 1, self_ns = 3e6, cpu_ns = 0,
          python_ns = 0, path_ns = 2.8e6, random_below = false } } } },
  },
}
