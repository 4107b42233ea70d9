-- How fast the input pipeline could go at best, with all cores.
-- What a cache in memory still takes from below it is made in the first epoch alone.
local FILLS = "::MemoryCache(Impl)?(\\[\\d+\\])?::"

local function work_of(stage)
  return math.max(stage.self_ns or 0, stage.cpu_ns or 0)
end

-- The stages that work in each epoch, and their part of the work of all.
local function lasting(p)
  local all, ns, all_ns = p:table("iterators"), 0, 0
  local stages = all:where { name = { like = "^(?!.*" .. FILLS .. ").*" } }
  for stage in all:each() do all_ns = all_ns + work_of(stage) end
  for stage in stages:each() do ns = ns + work_of(stage) end
  return stages, all_ns > 0 and ns / all_ns or 1
end

-- On a host that computes too, a pipeline that runs ahead of the step still takes the cores that the step needs.
local function contends(p, cfg)
  local step_ns, cores = p.fact["step.ns"], p.fact["host.cores"]
  local stages, part = lasting(p)
  local share = part * (p:has("input.cpu_share") and p.fact["input.cpu_share"] or 0)
  local used = p:has("host.cpu_ns") and p.fact["host.cpu_ns"] / cores / step_ns or 0
  -- A short recording begins with batches that were made before its steps, which then show too little of what each
  -- costs. Work on pool threads counts waiting for a core, too, and is asked only where the steps do not tell.
  if share < cfg.min_cpu_share then
    local ahead = math.max(0, (stages:sum("cpu_ns") or 0) / cores / step_ns - share)
    share, used = share + ahead, used + ahead
  end
  if p:has("device.count") or p.fact["input.wait_share"] > cfg.max_wait_share or share < cfg.min_cpu_share or
     used < cfg.min_used then return nil end
  local worst = stages:top("cpu_ns", 1):rows()[1]
  return finding {
    title = ("The input pipeline keeps all cores busy for %s of each step, beside the step's own work"):format(
      fmt.ms(share * step_ns)),
    subject = { op = worst and worst.name },
    evidence = { { "processor time of the pipeline, over the cores", share * step_ns, "ns",
                   share = math.min(1, share) },
                 { "all processor time, over the cores", used, "share" }, { "cores", cores, "count" },
                 { "stage with most of it", worst and worst.name or "" } },
    condition = ("the pipeline takes %s of all cores, %s accepted, of which %s are busy"):format(fmt.pct(share),
      fmt.pct(cfg.min_cpu_share), fmt.pct(math.min(1, used))),
    remedy = { text = "Do less for each batch: cache what never changes before random augmentation, decode only what "
                 .. "is used, call maps for whole batches, prepare data once; else prepare on other machines.",
               code = "ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().repeat().map(augment)" },
    -- With all cores busy, what the pipeline no longer takes comes back whole; half of its work may have to stay.
    impact = impact.exposed { ns = share * step_ns, low = 0.5 * share * step_ns, high = share * step_ns },
    confidence = "low",
  }
end

return rule {
  id = "input-headroom", api = 1, version = "1.0.0",
  title = "All cores together do not make batches fast enough",
  category = "input", severity = "info",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_ns", "input.wait_share", "iterators", "host.cores" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  params = {
    max_wait_share = { default = 0.2, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input, up to which cores are what it takes from the "
                         .. "step" },
    min_cpu_share = { default = 0.15, min = 0, max = 1, unit = "share",
                      doc = "of the time of all cores, the pipeline's, then" },
    min_used = { default = 0.9, min = 0, max = 2, unit = "share",
                 doc = "of the time of all cores, everything's, then" },
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
  },
  doc = [[
Compares the processor time that a batch costs, over all cores, with the step without waiting for input. Where a batch
costs more, no setting of the pipeline suffices: there must be less work (cache, prepare once, cheaper stages) or more
machines. A fact without a price. Where the program computes on the same cores and they are all busy, a pipeline that
runs ahead slows the step as well: priced as half to all of its processor time over the cores. Silent where tuning the
pipeline can suffice, and about stages below a cache in memory, which fill it in the first epoch.]],

  check = function(p, cfg)
    local step_ns, cores = p.fact["step.ns"], p.fact["host.cores"]
    local contended = contends(p, cfg)
    if contended then return contended end
    if p.fact["input.wait_share"] < cfg.min_wait_share then return nil end

    local stages = lasting(p)
    local work_ns = 0
    for stage in stages:each() do work_ns = work_ns + work_of(stage) end
    local best_ns, needed_ns = work_ns / cores, step_ns - p.fact["input.wait_ns"]
    if best_ns <= needed_ns then return nil end

    local worst = stages:top("cpu_ns", 1):rows()[1]
    return finding {
      title = ("A batch costs %s on all cores, the rest of the step only %s"):format(
        fmt.ms(best_ns), fmt.ms(needed_ns)),
      subject = { op = worst and worst.name },
      evidence = {
        { "processor time of a batch", work_ns, "ns" },
        { "that over the cores", best_ns, "ns" },
        { "step without waiting for input", needed_ns, "ns" },
        { "cores", cores, "count" },
        { "stage with most of it", worst and worst.name or "" },
      },
      condition = ("a batch takes %s on all cores, %s are there"):format(fmt.ms(best_ns), fmt.ms(needed_ns)),
      remedy = { text = "Do less for each batch: cache, store prepared data, cheaper or smaller decoding; "
                   .. "else prepare on more machines.",
                 code = "ds = ds.cache()" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "more work than cores", framework = "tensorflow", finding = true,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_ns"] = 4e6, ["input.wait_share"] = 0.33, ["host.cores"] = 2 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::ParallelMapV2", type = "ParallelMapV2",
                                 self_ns = 1e5, cpu_ns = 1.9e7 } } } },
    { name = "cores that the step needs", framework = "tensorflow", finding = true, impact_ns = 4.77e6,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_ns"] = 1.2e6, ["input.wait_share"] = 0.1, ["host.cores"] = 2,
                ["input.cpu_share"] = 0.53, ["host.cpu_ns"] = 2.25e7 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::ParallelMapV2", type = "ParallelMapV2",
                                 self_ns = 1e5, cpu_ns = 1.2e7 } } } },
    -- 4.8 ms of two cores' 24 ms are 20 %, of 12 ms 2.4, priced halfway between 0.5 and 1 of it; the steps show 10 %
    -- for input and 83 % in all, which makes 93 %.
    { name = "batches that were made before the steps", framework = "tensorflow", finding = true, impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_ns"] = 1e5, ["input.wait_share"] = 0.01, ["host.cores"] = 2,
                ["input.cpu_share"] = 0.1, ["host.cpu_ns"] = 2e7 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::ParallelMapV2", type = "ParallelMapV2",
                                 self_ns = 1e5, cpu_ns = 4.8e6 } } } },
    { name = "a cache that is filled", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_ns"] = 1.2e6, ["input.wait_share"] = 0.1, ["host.cores"] = 2,
                ["input.cpu_share"] = 0.53, ["host.cpu_ns"] = 2.25e7 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::MemoryCacheImpl", type = "MemoryCacheImpl",
                                 self_ns = 1e5, cpu_ns = 1e5 },
                               { name = "Iterator::Root::Prefetch::MemoryCacheImpl::ParallelMapV2",
                                 type = "ParallelMapV2", self_ns = 1e5, cpu_ns = 1.2e7 } } } },
    { name = "cores enough", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["input.wait_ns"] = 4e6, ["input.wait_share"] = 0.33, ["host.cores"] = 16 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::Map", type = "Map", self_ns = 1.9e7,
                                 cpu_ns = 1.9e7 } } } },
  },
}
