-- The data loader has no workers: the training process prepares each batch itself.
return rule {
  id = "dataloader-single-process", api = 1, version = "1.0.0",
  title = "Batches are prepared in the training process",
  category = "input", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "input.wait_share", "activities" },
  cause = "input", tags = { "input", "host" },
  more_specific_than = { "input-bound-step", "host-bound", "long-gpu-gap", "hot-op" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "share of the step inside the loader from which this is said" },
    high_share = { default = 0.20, min = 0, max = 1, unit = "share",
                   doc = "share of the step from which it is an error" },
  },
  doc = [[
With num_workers=0 reading, decoding and collating run between two steps, on the thread that trains. The profiler names
that loader _SingleProcessDataLoaderIter. Priced by replay: batches are made beside the step. Silent for loaders with
workers, and where fetching a batch takes next to nothing, as with tensors in memory.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local calls = p:table("activities"):where { name = { like = "_SingleProcessDataLoaderIter" }, on_leader = true }
    local top = calls:top("path_ns", 1):rows()[1]
    if not top or top.path_ns < cfg.min_share * step_ns then return nil end

    local ns = math.min(top.path_ns, step_ns)
    return finding {
      title = ("Batches are prepared in the training process: %s of each step"):format(fmt.ms(ns)),
      severity = ns >= cfg.high_share * step_ns and "error" or "warn",
      subject = { op = top.name },
      evidence = { { "the step's time in the loader", ns, "ns", share = ns / step_ns },
                   { "batches a step", top.events, "count" },
                   { "longest batch", top.max_ns, "ns" },
                   { "loader", top.name } },
      condition = ("the loader takes %s of the step on the training thread, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Load batches in worker processes ahead of the step.",
                 code = "DataLoader(ds, num_workers=8, persistent_workers=True, pin_memory=True, prefetch_factor=4)" },
      impact = impact.replay { { "prefetch" }, fallback = impact.exposed { ns = ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "decodes images", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.3 }, replay = { 3e6 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 3e6, events = 1, max_ns = 4e6 } } } },
    { name = "tensors in memory", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.001 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 1e4, events = 1, max_ns = 2e4 } } } },
    { name = "workers", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.3 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 3e6, events = 1, max_ns = 4e6 } } } },
  },
}
