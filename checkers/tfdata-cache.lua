-- The input pipeline repeats the same costly work in every epoch.
return rule {
  id = "tfdata-cache", api = 1, version = "1.0.0",
  title = "The input pipeline repeats the same work in every epoch",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators", "host.cores" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for the stage" },
    max_python_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "of the stage's time in Python, from which another rule speaks" },
  },
  doc = [[
The stage that holds the step runs in parallel already and its result is the same in every epoch: no random op
in it or below it. The data is read again and again (a repeat, or several epochs in the recording) and nothing caches
it. Priced by replay: the stage and what feeds it cost nothing. The data must fit in memory, or be prepared once on
disk. Silent for random augmentation, and where a stage is merely not parallel.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.fact["input.keeps_up"] or p.fact["input.wait_share"] < cfg.min_wait_share then return nil end

    local stages = p:table("iterators")
    local worst = stages:where { type = { like = "^(?!Prefetch|Root)" },
                                 path_ns = { min = cfg.min_path_share * step_ns } }:top("path_ns", 1):rows()[1]
    if not worst or not worst.type:find(p:names("tf_buffered_stage")) then
      return nil
    end
    if worst.parallelism == 1 or worst.random_below
        or worst.python_ns > cfg.max_python_share * math.max(worst.self_ns, worst.cpu_ns) then
      return nil
    end
    local repeats = stages:where { type = { like = "Repeat" } }:count()
    if repeats == 0 and (stages:max("instances") or 0) < 2 then return nil end

    local evidence = {
      { "stage", worst.name },
      { "its time on the path a step", worst.path_ns, "ns", share = math.min(1, worst.path_ns / step_ns) },
      { "its work a step, all threads", math.max(worst.self_ns, worst.cpu_ns), "ns" },
      { "cores", p.fact["host.cores"], "count" },
    }
    if worst.top_op and worst.top_op ~= "" then evidence[#evidence + 1] = { "mostly", worst.top_op } end
    return finding {
      title = ("%s repeats the same work every epoch; the step waits %s for it"):format(
        worst.type, fmt.ms(worst.path_ns)),
      subject = { op = worst.name },
      evidence = evidence,
      condition = ("the step waits %s for a deterministic stage that repeats and is not cached, %s accepted"):format(
        fmt.pct(worst.path_ns / step_ns), fmt.pct(cfg.min_path_share)),
      remedy = { text = "Cache after the last stage that does the same in every epoch, before shuffling and random "
                   .. "augmentation; where memory does not hold it, cache to a file or prepare the data once.",
                 code = "ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(n).repeat()" },
      impact = impact.replay {
        { "stage_scale", stage = "\\Q" .. worst.name .. "\\E(::.*)?", factor = 0 },
        fallback = impact.exposed { ns = worst.path_ns },
      },
      confidence = "high",
    }
  end,

  examples = {
    { name = "images decoded in each epoch", framework = "tensorflow", finding = true, impact_ns = 7e6,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_share"] = 0.3, ["host.cores"] = 2 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::ShuffleAndRepeat", type = "ShuffleAndRepeat", instances = 1, path_ns = 0 },
        { name = "Iterator::Root::Prefetch::ShuffleAndRepeat::ParallelMapV2", type = "ParallelMapV2", instances = 1,
          self_ns = 1e5, cpu_ns = 1.9e7, python_ns = 0, path_ns = 3.6e6, random_below = false } } },
      replay = { 7e6 } },
    { name = "random augmentation", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_share"] = 0.3, ["host.cores"] = 2 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::ForeverRepeat", type = "ForeverRepeat", instances = 1, path_ns = 0 },
        { name = "Iterator::Root::Prefetch::ForeverRepeat::ParallelMapV2", type = "ParallelMapV2", instances = 1,
          self_ns = 1e5, cpu_ns = 1.9e7, python_ns = 0, path_ns = 3.6e6, random_below = true } } } },
    { name = "the map is not parallel yet", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_share"] = 0.3, ["host.cores"] = 2 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::ForeverRepeat::Map", type = "Map", instances = 3,
          self_ns = 1.9e7, cpu_ns = 0, python_ns = 0, path_ns = 3.6e6, random_below = false } } } },
  },
}
