-- The training thread itself prepares the batches, outside any tf.data pipeline, or the model does in each step.
-- Text that the model itself cleans, splits and looks up: the same for an example in every epoch.
local function in_the_model(p, cfg)
  return p:in_excess {
    flaw = "text-in-step", min_share = cfg.min_wait_share, time = "preparing it", severity = "warn",
    title = "The model prepares its input in each training step: %s",
    remedy = { text = "Move the layer into the input pipeline, before cache(): each example is then prepared once, and "
                 .. "beside the step.",
               code = "ds = ds.map(lambda text, y: (vectorize(text), y), "
                 .. "num_parallel_calls=tf.data.AUTOTUNE).cache()" },
    confidence = "high",
  }
end

return rule {
  id = "input-host-processing-bound", api = 1, version = "1.0.0",
  title = "Preparing batches on the host makes the step wait",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_ns", "input.wait_share", "input.cpu_share", "host.cores", "activities" },
  cause = "input", tags = { "input", "host" },
  more_specific_than = { "input-bound-step", "hot-op" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_work_share = { default = 0.5, min = 0, max = 1, unit = "share",
                       doc = "of that wait, what the leading thread works itself" },
  },
  doc = [[
The thread that runs the steps reads, decodes and assembles each batch while the model waits. Read threads or worker
processes do that beside the step. Priced by replay: the batch is made beside the step, so that the longer of the two
remains. Ops on text and on the bytes of files inside of a graph that computes gradients, with their layer, are
preparation too, done again in each epoch. Silent where a tf.data pipeline or other threads make the batches.]],

  check = function(p, cfg)
    local of_model = in_the_model(p, cfg)
    if of_model then return of_model end
    local step_ns, wait_ns = p.fact["step.ns"], p.fact["input.wait_ns"]
    if p.fact["input.wait_share"] < cfg.min_wait_share or p:has("iterators") then return nil end

    local own = p:table("activities"):where { on_leader = true, kind = { like = "^input-(stage|work)$" } }
    local work_ns = own:sum("path_self_ns")
    if work_ns < cfg.min_work_share * wait_ns then return nil end
    -- Where other threads make input too, the leading one only collects it.
    local all_ns = p.fact["input.cpu_share"] * p.fact["host.cores"] * step_ns
    if all_ns > 1.5 * work_ns then return nil end

    local busiest = own:top("path_self_ns", 1):rows()[1]
    return finding {
      title = ("The training thread prepares batches itself for %s of each step"):format(fmt.ms(work_ns)),
      severity = p.fact["input.wait_share"] >= 0.2 and "error" or "warn",
      evidence = {
        { "input wait a step", wait_ns, "ns", share = p.fact["input.wait_share"] },
        { "its own work for input a step", work_ns, "ns", share = math.min(1, work_ns / step_ns) },
        { "most of it", busiest.name },
        { "calls a step", busiest.events, "count" },
        { "cores", p.fact["host.cores"], "count" },
      },
      condition = ("the step waits %s for input, %s accepted, and the leading thread works %s of that"):format(
        fmt.pct(p.fact["input.wait_share"]), fmt.pct(cfg.min_wait_share), fmt.pct(math.min(1, work_ns / wait_ns))),
      remedy = { text = "Read and decode in threads or worker processes with a buffer; "
                   .. "prepare once what never changes.",
                 code = p.framework == "jax" and
                   "dataset.to_iter_dataset(grain.ReadOptions(num_threads=16, prefetch_buffer_size=500))" or nil },
      impact = impact.replay { { "prefetch" }, fallback = impact.exposed { ns = work_ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "text is split by the model", framework = "tensorflow", finding = true, replay = { 1.6e6 },
      facts = { ["step.ns"] = 6e6, ["input.wait_ns"] = 2e4, ["input.wait_share"] = 0.003,
                ["input.cpu_share"] = 0.01, ["host.cores"] = 2 },
      tables = { activities = {},
                 excess = { { cell = 1, flaw = "text-in-step", ns = 1.6e6, share = 0.26, factor = 0,
                              op = "StringSplitV2", detail = "StringSplitV2 and the ops of its layer" } } } },
    { name = "a look-up that takes little", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 6e6, ["input.wait_ns"] = 2e4, ["input.wait_share"] = 0.003,
                ["input.cpu_share"] = 0.01, ["host.cores"] = 2 },
      tables = { activities = {},
                 excess = { { cell = 1, flaw = "text-in-step", ns = 1e5, share = 0.016, factor = 0 } } } },
    { name = "decoding in next()", framework = "jax", finding = true, impact_ns = 4.5e6,
      facts = { ["step.ns"] = 1.9e7, ["input.wait_ns"] = 1.45e7, ["input.wait_share"] = 0.76,
                ["input.cpu_share"] = 0.38, ["host.cores"] = 2 },
      tables = { activities = { { name = "PrefetchDatasetIterator.__next__", kind = "input-stage", on_leader = true,
                                  path_self_ns = 1.4e7, events = 48 } } },
      replay = { 4.5e6 }, selected_ns = 1.45e7 },
    { name = "read threads at work", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1.5e7, ["input.wait_ns"] = 1e7, ["input.wait_share"] = 0.69,
                ["input.cpu_share"] = 0.83, ["host.cores"] = 2 },
      tables = { activities = { { name = "PrefetchDatasetIterator.__next__", kind = "input-stage", on_leader = true,
                                  path_self_ns = 9e6, events = 48 } } } },
  },
}
