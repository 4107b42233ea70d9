-- The data loader has no workers: the training process prepares each batch itself.
local ITEM_BY_ITEM = " Tensors are made item by item: where the data lie in memory take a batch's rows of them at once "
  .. "(__getitems__, or indices of a sampler without DataLoader), and transform the whole batch."

-- A worker would save little more than handing its batch over costs.
local IN_MEMORY = {
  text = "Are these rows of tensors in memory? Index them a batch at a time: a loader takes each row by itself "
    .. "and stacks them again. Else load batches in worker processes ahead of the step.",
  code = "for rows in torch.randperm(len(x)).split(64): loss = train_step(x[rows], y[rows])\n"
    .. "# else DataLoader(ds, num_workers=2, persistent_workers=True)",
}

-- Ops that the loader runs for each item, as often as there are items: what one op a batch would do.
local function item_by_item(p, cfg)
  local rows = p:has("sequences") and p:table("sequences"):where { repeats = { min = cfg.min_items } }
  for row in rows and rows:top("total_ns", 40):each() or function() end do
    if (row.input_share or 0) >= 0.5 then return row end
  end
  return nil
end

-- A long order of rows is drawn as often as batches are fetched.
local BEGUN_ANEW = {
  text = "Keep the iterator until it ends: next(iter(loader)) for each batch draws an order of all rows and makes a "
    .. "list of it, for one batch. Where an epoch is no more than that, draw rows with replacement.",
  code = "for batch in loader: train(batch)   # not batch = next(iter(loader)) in each step\n"
    .. "rows = torch.randint(len(data), (size,))   # or RandomSampler(data, replacement=True, num_samples=size)",
}
local function begins_anew(p, cfg, calls, ns)
  local orders = p:has("ops") and p:table("ops"):where { type = "aten::randperm" }
  local row = orders and orders:top("total_ns", 1):rows()[1]
  return row and row.calls >= 0.9 * calls and row.total_ns >= cfg.min_order_ns * row.calls
    and row.total_ns >= cfg.min_order_share * ns
end

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
    most_workers = { default = 8, min = 1, max = 1024, unit = "count",
                     doc = "worker processes that a host has cores for" },
    min_items = { default = 16, min = 2, max = 1e7, unit = "count",
                  doc = "items a step that the loader runs the same ops for, from which this is said" },
    min_order_ns = { default = 5e5, min = 0, max = 1e9, unit = "ns",
                     doc = "drawing an order of rows, from which it is one of many rows" },
    min_order_share = { default = 0.1, min = 0, max = 1, unit = "share",
                        doc = "of the loader's time, what drawing it takes, from which this is said" },
    handover_ns = { default = 0.8e6, min = 0, max = 1e9, unit = "ns",
                    doc = "what taking a small batch from a worker costs the training process" },
    quick_ns = { default = 2e6, min = 0, max = 1e9, unit = "ns",
                 doc = "time of a batch below which its rows are likely in memory, and need no loader" },
  },
  doc = [[
With num_workers=0 reading, decoding and collating run between two steps, on the thread that trains. The profiler names
that loader _SingleProcessDataLoaderIter. Priced by replay: batches are made beside the step. Where making one takes
longer than the rest of the step, by as many workers as keep up with it, at most `most_workers`; the same is saved where
each item costs as much less. Where a batch takes less than `quick_ns`, its rows likely lie in memory, and indexing
whole batches is advised first. An order of many rows that is drawn as often as batches are fetched tells a loader
that is begun anew for each. What a worker hands over has to be taken (`handover_ns`). Silent
for loaders with workers, and where fetching a batch takes little more than that, as with tensors in memory.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local calls = p:table("activities"):where { name = { like = "_SingleProcessDataLoaderIter" }, on_leader = true }
    local top = calls:top("path_ns", 1):rows()[1]
    if not top or top.path_ns < cfg.min_share * step_ns then return nil end

    local ns = math.min(top.path_ns, step_ns)
    local rest_ns = math.max(step_ns - ns, 1)
    local workers = math.min(math.ceil(ns / rest_ns), cfg.most_workers)
    -- Workers share the batches, and the rest of the step hides what each takes.
    local left_ns = math.max(ns / workers - rest_ns, cfg.handover_ns * (top.events or 1))
    local saved_ns = ns - left_ns
    if saved_ns < cfg.min_share * step_ns then return nil end
    local evidence = { { "the step's time in the loader", ns, "ns", share = ns / step_ns },
                       { "batches a step", top.events, "count" }, { "longest batch", top.max_ns, "ns" },
                       { "loader", top.name } }
    local items, is_quick = item_by_item(p, cfg), ns < cfg.quick_ns * (top.events or 1)
    if items then
      evidence[#evidence + 1] = { "for each of its items", items.ops }
      evidence[#evidence + 1] = { "as often a step", items.repeats, "count" }
    end
    local is_anew = begins_anew(p, cfg, top.events or 1, ns)
    return finding {
      title = (is_anew and "The loader begins anew for each batch: %s of each step"
        or "Batches are prepared in the training process: %s of each step"):format(fmt.ms(ns)),
      severity = saved_ns >= cfg.high_share * step_ns and "error" or "warn",
      subject = { op = top.name },
      evidence = evidence,
      condition = ("the loader takes %s of the step on the training thread, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = is_anew and BEGUN_ANEW or is_quick and IN_MEMORY
        or { text = "Load batches in worker processes ahead of the step." .. (workers == 1 and "" or
                   " And make items cheaper: what each epoch does again once, smaller files, whole batches at a time.")
                   .. (items and ITEM_BY_ITEM or ""),
                 code = ("DataLoader(ds, num_workers=%d, persistent_workers=True, prefetch_factor=4)"):format(
                   math.max(workers, 2)) },
      impact = impact.replay { { "scale", parts = { "input" }, factor = left_ns / ns },
                               fallback = impact.exposed { ns = saved_ns } },
      confidence = workers == 1 and "high" or "medium",
    }
  end,

  examples = {
    { name = "decodes images", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.3 }, replay = { 3e6 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 3e6, events = 1, max_ns = 4e6 } } } },
    -- 2 ms beside 8: four workers keep up.
    { name = "decodes large images", framework = "pytorch", format = "kineto", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.8 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 8e6, events = 1, max_ns = 9e6 } } } },
    { name = "rows one by one", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.3 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 3e6, events = 1, max_ns = 4e6 } },
                 sequences = { { ops = "aten::select > aten::div", repeats = 64, total_ns = 2e6,
                                 input_share = 1 } } } },
    -- Two workers would hide it; an iterator that is kept does not do it.
    { name = "an order of all rows for each batch", framework = "pytorch", format = "kineto", finding = true,
      replay = { 8e6 }, facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.8 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 8e6, events = 1, max_ns = 9e6 } },
                 ops = { { name = "aten::randperm", type = "aten::randperm", calls = 2, total_ns = 6e6 } } } },
    { name = "tensors in memory", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.001 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 1e4, events = 1, max_ns = 2e4 } } } },
    -- Of 1.2 ms a step 0.4 could be spared.
    { name = "tensors that are quickly made", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 4e5 },
      facts = { ["step.ns"] = 4e6, ["input.wait_share"] = 0.3 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 1.2e6, events = 1, max_ns = 2e6 } } } },
    { name = "less than a worker's batch costs", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 3e5, ["input.wait_share"] = 0.3 },
      tables = { activities = { { name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 7e4, events = 1, max_ns = 2e5 } } } },
    { name = "workers", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.3 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                                  on_leader = true, path_ns = 3e6, events = 1, max_ns = 4e6 } } } },
  },
}
