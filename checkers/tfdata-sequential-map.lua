-- A map of the input pipeline runs one element at a time.
return rule {
  id = "tfdata-sequential-map", api = 1, version = "1.0.0",
  title = "A map of the input pipeline runs one element at a time",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators", "host.cores" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-slow-iterator" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.03, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for this map" },
    min_element_ns = { default = 20000, min = 0, max = 1e9, unit = "ns",
                       doc = "time of one element below which threads would only add overhead" },
    max_python_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "of the map's time in Python, which one lock serialises anyway" },
  },
  doc = [[
Map without num_parallel_calls calls its function for one element after the other, while other cores
stand by. Priced by replay: the map on all cores, with what else the cores have to do. Silent where
the step does not wait for the map, where it is called once a step (an element is a batch then), where
its elements are too small for threads to pay, where it runs Python, and for the maps inside of rejection_resample.]],

  check = function(p, cfg)
    local step_ns, cores = p.fact["step.ns"], p.fact["host.cores"]
    if p.fact["input.keeps_up"] or p.fact["input.wait_share"] < cfg.min_wait_share or cores < 2 then return nil end

    local found = {}
    local maps = p:table("iterators"):where { type = "Map", path_ns = { min = cfg.min_path_share * step_ns } }
    for _, map in ipairs(maps:top("path_ns", 3):rows()) do
      local work_ns = math.max(map.self_ns, map.cpu_ns)
      -- rejection_resample counts classes in maps of its own, which take no option.
      local is_own = not map.name:find("DirectedInterleave.*::Filter::")
      local is_python = (map.python_ns or 0) > cfg.max_python_share * work_ns
      if is_own and map.calls >= 2 and work_ns / map.calls >= cfg.min_element_ns and not is_python then
        local evidence = {
          { "map", map.name },
          { "its time on the path a step", map.path_ns, "ns", share = math.min(1, map.path_ns / step_ns) },
          { "elements a step", map.calls, "count" },
          { "time of one", work_ns / map.calls, "ns" },
          { "cores", cores, "count" },
        }
        if map.top_op and map.top_op ~= "" then evidence[#evidence + 1] = { "mostly", map.top_op } end
        found[#found + 1] = finding {
          title = ("A map runs one element at a time; the step waits %s for it"):format(fmt.ms(map.path_ns)),
          subject = { op = map.name },
          evidence = evidence,
          condition = ("the step waits %s for a map without parallel calls, %s accepted"):format(
            fmt.pct(map.path_ns / step_ns), fmt.pct(cfg.min_path_share)),
          remedy = { text = "Let the map run on all cores. If its result is the same in every epoch, "
                       .. "cache it as well.",
                     code = "ds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE)" },
          impact = impact.replay {
            { "stage_parallel", stage = "\\Q" .. map.name .. "\\E", factor = 0 },
            fallback = impact.exposed { ns = map.path_ns * (1 - 1 / math.min(cores, 8)) },
          },
          confidence = "high",
        }
      end
    end
    return found
  end,

  examples = {
    { name = "decoding on one of eight cores", framework = "tensorflow", finding = true, impact_ns = 5e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::BatchV2::Map", type = "Map", calls = 32,
                                 self_ns = 9e6, cpu_ns = 9e6, python_ns = 0, path_ns = 6e6 } } },
      replay = { 5e6 } },
    { name = "rejection_resample counts classes", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::BatchV2::DirectedInterleave::ParallelMapV2::Filter::"
                                   .. "Zip::Map", type = "Map", calls = 32, self_ns = 9e6, cpu_ns = 9e6,
                                 python_ns = 0, path_ns = 6e6 } } } },
    { name = "parallel calls", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::ParallelMapV2", type = "ParallelMapV2", calls = 32,
                                 parallelism = 8, self_ns = 9e6, cpu_ns = 9e6, python_ns = 0, path_ns = 6e6 } } } },
    { name = "a map over whole batches", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::Map", type = "Map", calls = 1, self_ns = 6e6,
                                 cpu_ns = 6e6, python_ns = 0, path_ns = 6e6 } } } },
    { name = "behind the step", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.01, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::BatchV2::Map", type = "Map", calls = 32,
                                 self_ns = 9e6, cpu_ns = 9e6, python_ns = 0, path_ns = 1e4 } } } },
  },
}
