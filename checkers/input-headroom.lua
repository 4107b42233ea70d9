-- How fast the input pipeline could go at best, with all cores.
return rule {
  id = "input-headroom", api = 1, version = "1.0.0",
  title = "All cores together do not make batches fast enough",
  category = "input", severity = "info",
  formats = { "xspace" },
  needs = { "step.median_ns", "input.wait_ns", "input.wait_share", "iterators", "host.cores" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
  },
  doc = [[
Compares the processor time that a batch costs, over all cores, with the step without waiting for input. Where a batch
costs more, no setting of the pipeline suffices: there must be less work (cache, prepare once, cheaper stages) or more
machines. A fact without a price. Silent where tuning the pipeline can suffice.]],

  check = function(p, cfg)
    local step_ns, cores = p.fact["step.median_ns"], p.fact["host.cores"]
    if p.fact["input.wait_share"] < cfg.min_wait_share then return nil end

    local stages = p:table("iterators")
    local work_ns = 0
    for stage in stages:each() do work_ns = work_ns + math.max(stage.self_ns or 0, stage.cpu_ns or 0) end
    local best_ns, needed_ns = work_ns / cores, step_ns - p.fact["input.wait_ns"]
    if best_ns <= needed_ns then return nil end

    local worst = stages:top("cpu_ns", 1):rows()[1]
    return finding {
      title = ("A batch costs %s on all cores, the rest of the step only %s"):format(fmt.ms(best_ns), fmt.ms(needed_ns)),
      subject = { op = worst and worst.name },
      evidence = {
        { "processor time of a batch", work_ns, "ns" },
        { "that over the cores", best_ns, "ns" },
        { "step without waiting for input", needed_ns, "ns" },
        { "cores", cores, "count" },
        { "stage with most of it", worst and worst.name or "" },
      },
      condition = ("a batch takes %s on all cores, %s are there"):format(fmt.ms(best_ns), fmt.ms(needed_ns)),
      remedy = { text = "Do less for each batch: cache, store prepared data, cheaper or smaller decoding; else prepare on "
                   .. "more machines.",
                 code = "ds = ds.cache()" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "more work than cores", framework = "tensorflow", finding = true,
      facts = { ["step.median_ns"] = 1.2e7, ["input.wait_ns"] = 4e6, ["input.wait_share"] = 0.33, ["host.cores"] = 2 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::ParallelMapV2", type = "ParallelMapV2", self_ns = 1e5,
                                 cpu_ns = 1.9e7 } } } },
    { name = "cores enough", finding = false,
      facts = { ["step.median_ns"] = 1.2e7, ["input.wait_ns"] = 4e6, ["input.wait_share"] = 0.33, ["host.cores"] = 16 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::Map", type = "Map", self_ns = 1.9e7, cpu_ns = 1.9e7 } } } },
  },
}
