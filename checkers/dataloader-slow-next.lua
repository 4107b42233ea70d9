-- The data loader's workers do not keep up with the training loop.

local REBUILDS = "torch/multiprocessing/reductions[.]py.*: rebuild_storage_"

-- How many steps were recorded, where one of them alone waits, and others behind it do not: a chance, the start of an
-- epoch or one of several workers, too little to tell that they are slower than the loop.
local function waits_once(p, least_ns)
  local steps, late, last = 0, 0, nil
  if not p:has("step_parts") then return nil end
  for row in p:table("step_parts"):each() do
    if last and row.number ~= last + 1 then return nil end -- a sample
    last, steps = row.number, steps + 1
    if row.input_ns >= least_ns then late = late + 1 end
  end
  return steps >= 3 and late == 1 and steps or nil
end

-- Workers put each tensor of a batch into shared memory of its own, and the loop opens one after the other. nil where
-- that is not most of the wait, or no stacks tell.
local function opens_tensors(activities, wait_ns, cfg)
  local opened = activities:where { kind = "python", on_leader = true, name = { like = REBUILDS } }
  local ns, count = opened:sum("path_ns"), opened:sum("events")
  if count < cfg.min_tensors or ns < 0.5 * wait_ns then return nil end
  return math.min(ns, wait_ns), count
end

local function of_tensors(top, step_ns, wait_ns, ns, count)
  return finding {
    title = ("A batch comes as %s tensors, which are opened one by one: %s a step"):format(fmt.whole(count),
      fmt.ms(ns)),
    severity = ns >= 0.2 * step_ns and "error" or "warn",
    subject = { op = top.name },
    evidence = { { "opening shared memory a step", ns, "ns", share = ns / step_ns },
                 { "in the loader a step", wait_ns, "ns", share = wait_ns / step_ns },
                 { "tensors with memory of their own a step", count, "count" } },
    condition = ("opening takes %s of the %s that the loop is in the loader"):format(fmt.pct(ns / wait_ns),
      fmt.ms(wait_ns)),
    remedy = { text = "Let workers join the samples, so that a batch is a few tensors: by a collate function that "
                 .. "stacks or concatenates, for graphs by torch_geometric.loader.DataLoader.",
               code = "DataLoader(ds, batch_size=64, num_workers=2, collate_fn=torch.utils.data.default_collate)" },
    impact = impact.exposed { ns = ns },
    claims = { { parts = { "input" } } },
    confidence = "medium",
  }
end

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
    min_tensors = { default = 16, min = 1, max = 1e9, unit = "count",
                    doc = "tensors of a batch, opened one by one, that are more than joined samples have" },
  },
  doc = [[
Workers make batches ahead of the loop; a wait for them means that all of them together are slower than the step.
Priced as the waiting on the path. A note where one alone of three steps or more waits: more of them would tell. Where
stacks show that opening many tensors is most of the wait, workers have done their part, and it is that which is said
and priced. Silent for waits below 10 ms, which are handing over and pinning, and for loaders without workers, which
have a rule of their own.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local top = p:table("activities"):where { name = { like = "_MultiProcessingDataLoaderIter" }, on_leader = true }
      :top("path_ns", 1):rows()[1]
    if not top or top.path_ns < cfg.min_share * step_ns or top.max_ns < cfg.min_wait_ns then return nil end

    local ns = math.min(top.path_ns, step_ns)
    local opening_ns, tensors = opens_tensors(p:table("activities"), ns, cfg)
    if opening_ns then return of_tensors(top, step_ns, ns, opening_ns, tensors) end
    local once_of = waits_once(p, math.max(cfg.min_wait_ns, cfg.min_share * step_ns))
    return finding {
      title = once_of and ("One of %d steps waits %s for the loader's workers"):format(once_of, fmt.ms(top.max_ns))
        or ("The loop waits %s a step for the loader's workers"):format(fmt.ms(ns)),
      severity = once_of and "info" or ns >= 0.2 * step_ns and "error" or "warn",
      subject = { op = top.name },
      evidence = { { "waiting for a batch a step", ns, "ns", share = ns / step_ns },
                   { "longest wait", top.max_ns, "ns" },
                   { "batches a step", top.events, "count" } },
      condition = ("waiting for workers takes %s of the step, %s accepted, at worst %s"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share), fmt.ms(top.max_ns)),
      remedy = { text = (once_of and "Record more steps, to see whether it comes again. Then: less" or "Less")
                   .. " work for each batch: faster storage, smaller images, precomputed parts; or more workers, "
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
    -- 24 tensors are opened for 20 of the 25 ms in the loader; seven for 20 ms are a batch of few.
    { name = "a list of samples", framework = "pytorch", format = "kineto", finding = true, severity = "error",
      impact_ns = 1.6e7, facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.25 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 2.5e7, events = 1, max_ns = 6e7 },
                                { name = "torch/multiprocessing/reductions.py(542): rebuild_storage_fd",
                                  kind = "python", on_leader = true, path_ns = 2e7, events = 24 } } } },
    { name = "a few large tensors", framework = "pytorch", format = "kineto", finding = true, severity = "error",
      impact_ns = 2e7, facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.25 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 2.5e7, events = 1, max_ns = 6e7 },
                                { name = "torch/multiprocessing/reductions.py(542): rebuild_storage_fd",
                                  kind = "python", on_leader = true, path_ns = 2e7, events = 7 } } } },
    { name = "two of three steps wait", framework = "pytorch", format = "kineto", finding = true, severity = "error",
      impact_ns = 2e7, facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.25 },
      tables = { step_parts = { { number = 1, input_ns = 6e7 }, { number = 2, input_ns = 1.3e7 },
                                { number = 3, input_ns = 2e6 } },
                 activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 2.5e7, events = 1, max_ns = 6e7 } } } },
    { name = "one of three steps waits", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      impact_ns = 2e7, facts = { ["step.ns"] = 1e8, ["input.wait_share"] = 0.25 },
      tables = { step_parts = { { number = 1, input_ns = 7e7 }, { number = 2, input_ns = 3e6 },
                                { number = 3, input_ns = 2e6 } },
                 activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 2.5e7, events = 1, max_ns = 7e7 } } } },
    { name = "hands over", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.08 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 8e5, events = 1, max_ns = 2e6 } } } },
  },
}
