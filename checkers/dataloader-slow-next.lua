-- The data loader's workers do not keep up with the training loop.
return rule {
  id = "dataloader-slow-next", api = 1, version = "1.0.0",
  title = "The loader's workers do not keep up",
  category = "input", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "input.wait_share", "activities" },
  cause = "input", tags = { "input" },
  more_specific_than = { "input-bound-step", "host-bound", "long-gpu-gap" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step waiting for workers from which this is said" },
    min_wait_ns = { default = 1e7, min = 0, max = 1e12, unit = "ns", doc = "longest wait from which this is said" },
  },
  doc = [[
Workers make batches ahead of the loop; a wait for them means that all of them together are slower than the step.
Priced as the waiting on the path. Silent for waits below 10 ms, which are handing over and pinning, and for loaders
without workers, which have a rule of their own.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local top = p:table("activities"):where { name = { like = "_MultiProcessingDataLoaderIter" }, on_leader = true }
      :top("path_ns", 1):rows()[1]
    if not top or top.path_ns < cfg.min_share * step_ns or top.max_ns < cfg.min_wait_ns then return nil end

    local ns = math.min(top.path_ns, step_ns)
    return finding {
      title = ("The loop waits %s a step for the loader's workers"):format(fmt.ms(ns)),
      severity = ns >= 0.2 * step_ns and "error" or "warn",
      subject = { op = top.name },
      evidence = { { "waiting for a batch a step", ns, "ns", share = ns / step_ns },
                   { "longest wait", top.max_ns, "ns" },
                   { "batches a step", top.events, "count" } },
      condition = ("waiting for workers takes %s of the step, %s accepted, at worst %s"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share), fmt.ms(top.max_ns)),
      remedy = { text = "Less work for each batch: faster storage, smaller images, precomputed parts; or more workers, "
                   .. "where cores are free.",
                 code = "DataLoader(ds, num_workers=os.cpu_count(), persistent_workers=True, prefetch_factor=4)" },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "input" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "waits for a quarter", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2e7,
      facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.25 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 2.5e7, events = 1, max_ns = 6e7 } } } },
    { name = "hands over", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.08 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 8e5, events = 1, max_ns = 2e6 } } } },
  },
}
