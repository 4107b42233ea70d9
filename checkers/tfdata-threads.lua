-- A parallel stage of the input pipeline has one thread.
return rule {
  id = "tfdata-threads", api = 1, version = "1.0.0",
  title = "A parallel stage of the input pipeline has one thread",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators", "host.cores" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "input-headroom", "tfdata-slow-iterator",
                         "tfdata-slow-source", "tfdata-cache" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.03, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for this stage" },
    min_element_ns = { default = 20000, min = 0, max = 1e9, unit = "ns",
                       doc = "time of one element below which threads would only add overhead" },
    max_python_share = { default = 0.5, min = 0, max = 1, unit = "share",
                         doc = "of the stage's time in Python, which one lock serialises anyway" },
  },
  doc = [[
A map or interleave that was made parallel runs its elements one after the other: the pipeline has a private pool of one
thread, num_parallel_calls is 1, or determinism was switched on for the whole program. Priced by replay: the stage on
all cores, with what else they have to do. Silent where the step does not wait for the stage, and where it runs
Python.]],

  check = function(p, cfg)
    local step_ns, cores = p.fact["step.ns"], p.fact["host.cores"]
    if p.fact["input.keeps_up"] or p.fact["input.wait_share"] < cfg.min_wait_share or cores < 2 then return nil end
    local found = {}
    local stages = p:table("iterators"):where { type = { like = "^(ParallelMap|MapAndBatch|ParallelInterleave)" },
                                                calls = { min = 0.2 }, parallelism = 1,
                                                path_ns = { min = cfg.min_path_share * step_ns } }
    for _, stage in ipairs(stages:top("path_ns", 2):rows()) do
      local work_ns = math.max(stage.self_ns, stage.cpu_ns)
      -- Fused with the batch, a call is a batch of elements.
      local elements = math.max(stage.calls, p:table("iterators"):where { parent = stage.name }:max("calls") or 0)
      if elements >= 2 and work_ns / elements >= cfg.min_element_ns
          and (stage.python_ns or 0) <= cfg.max_python_share * work_ns then
        found[#found + 1] = finding {
          title = ("%s has one thread; the step waits %s for it"):format(stage.type, fmt.ms(stage.path_ns)),
          subject = { op = stage.name },
          evidence = {
            { "stage", stage.name },
            { "its time on the path a step", stage.path_ns, "ns", share = math.min(1, stage.path_ns / step_ns) },
            { "elements a step", elements, "count" }, { "time of one", work_ns / elements, "ns" },
            { "cores", cores, "count" },
          },
          condition = (
            "the step waits %s for a parallel stage in which one element is made at a time, %s accepted"):format(
            fmt.pct(stage.path_ns / step_ns), fmt.pct(cfg.min_path_share)),
          remedy = { text = "Give it threads: remove private_threadpool_size = 1, num_parallel_calls = 1, and "
                       .. "enable_op_determinism where it is not needed.",
                     code = "options = tf.data.Options()\n"
                       .. "options.threading.private_threadpool_size = 0   # one a core\n"
                       .. "ds = ds.with_options(options)" },
          impact = impact.replay {
            { "stage_parallel", stage = "\\Q" .. stage.name .. "\\E", factor = 0 },
            fallback = impact.exposed { ns = stage.path_ns * (1 - 1 / math.min(cores, 8)) },
          },
          confidence = "high",
        }
      end
    end
    return found
  end,

  examples = {
    { name = "one parallel call is none", framework = "tensorflow", finding = true, impact_ns = 5e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = {
        { name = "Iterator::Root::MapAndBatch", type = "MapAndBatch", calls = 1, parallelism = 1,
          self_ns = 5e5, cpu_ns = 9e6, python_ns = 0, path_ns = 6e6 },
        { name = "Iterator::Root::MapAndBatch::TensorSlice", type = "TensorSlice",
          parent = "Iterator::Root::MapAndBatch", calls = 32, self_ns = 1e5, cpu_ns = 0, python_ns = 0,
          path_ns = 0 } } },
      replay = { 5e6 } },
    { name = "eight threads", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::ParallelMapV2", type = "ParallelMapV2", calls = 32,
                                 parallelism = 8, self_ns = 9e6, cpu_ns = 9e6, python_ns = 0, path_ns = 6e6 } } } },
    { name = "a plain map", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.6, ["host.cores"] = 8 },
      tables = { iterators = { { name = "Iterator::Root::Map", type = "Map", calls = 32, parallelism = 1,
                                 self_ns = 9e6, cpu_ns = 9e6, python_ns = 0, path_ns = 6e6 } } } },
  },
}
