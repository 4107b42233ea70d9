-- The step waits for batches whose making is not in the recording.
return rule {
  id = "input-uninstrumented", api = 1, version = "1.0.0",
  title = "Batches are made where the recording does not look",
  category = "input", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "input.wait_ns", "input.wait_share", "input.cpu_share", "activities" },
  cause = "input", tags = { "input" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    max_work_share = { default = 0.02, min = 0, max = 1, unit = "share",
                       doc = "of the cores' time, work for input that is recorded" },
  },
  doc = [[
The step waits for input, but no thread in the recording reads or prepares it: worker processes do, or code that leaves
no events. A fact without a price; it says why no rule names the slow part. Silent where stages or work of the input are
recorded.]],

  check = function(p, cfg)
    local step_ns, wait_ns = p.fact["step.ns"], p.fact["input.wait_ns"]
    if p.fact["input.wait_share"] < cfg.min_wait_share or p:has("iterators") or
       p.fact["input.cpu_share"] > cfg.max_work_share then
      return nil
    end
    local activities = p:table("activities")
    local work_ns = activities:where { kind = { like = "^input-(stage|work)$" } }:sum("self_ns")
    if work_ns > cfg.max_work_share * step_ns then return nil end

    -- A loader in this process leaves its work inside the wait.
    if activities:where { kind = "input-wait", name = { like = "SingleProcess" } }:count() > 0 then return nil end
    local evidence = {
      { "input wait a step", wait_ns, "ns", share = p.fact["input.wait_share"] },
      { "recorded work for input a step", work_ns, "ns" },
    }
    for _, wait in ipairs(activities:where { kind = "input-wait" }:top("path_ns", 1):rows()) do
      evidence[#evidence + 1] = { "waiting in", wait.name }
    end
    local code = {
      pytorch = "with torch.profiler.record_function('decode'): ...",
      jax = "with jax.profiler.TraceAnnotation('decode'): ...",
      tensorflow = "with tf.profiler.experimental.Trace('decode'): ...",
    }
    return finding {
      title = ("The step waits %s for batches that are made out of sight"):format(fmt.ms(wait_ns)),
      evidence = evidence,
      condition = ("the step waits %s for input, %s accepted, and no work for it is recorded"):format(
        fmt.pct(p.fact["input.wait_share"]), fmt.pct(cfg.min_wait_share)),
      remedy = { text = "Mark reading, decoding and collating in the loader, or record a worker, and look again.",
                 code = code[p.framework] },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "worker processes", format = "kineto", framework = "pytorch", finding = true,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 4e6, ["input.wait_share"] = 0.4, ["input.cpu_share"] = 0 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  kind = "input-wait", self_ns = 4e6, path_ns = 4e6 } } } },
    { name = "decoding is recorded", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 4e6, ["input.wait_share"] = 0.4, ["input.cpu_share"] = 0.3 },
      tables = { activities = { { name = "PrefetchDatasetIterator.__next__", kind = "input-stage", self_ns = 4e6,
                                  path_ns = 4e6 } } } },
  },
}
