-- Every k-th batch is late.
return rule {
  id = "dataloader-periodic-stall", api = 1, version = "1.0.0",
  title = "Every k-th batch is late",
  category = "input", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "step_parts", "activities" },
  cause = "input", tags = { "input", "variance" },
  more_specific_than = { "dataloader-slow-next", "input-bound-step", "step-outliers", "step-bimodal" },
  params = {
    min_periods = { default = 3, min = 2, max = 1e6, unit = "count", doc = "late batches needed to see a rhythm" },
    min_factor = { default = 3, min = 1, max = 1e6, unit = "ratio",
                   doc = "wait for a late batch over the median wait" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "what late batches cost a step on average, over the step" },
  },
  doc = [[
With k workers the batches come in turns, and a worker that is slower, or that reads a longer sample, is late every k-th
time; at the end of an epoch workers start anew. Seen where waits for input at every k-th step are several times the
others'. Priced as what these waits are longer than the median one. Silent with fewer than three periods, and without
workers.]],

  check = function(p, cfg)
    local step_ns, waits, numbers = p.fact["step.ns"], {}, {}
    if p:table("activities"):where { name = { like = "DataLoader" } }:count() == 0 then return nil end
    for row in p:table("step_parts"):each() do
      if #numbers > 0 and row.number ~= numbers[#numbers] + 1 then return nil end -- a sample: no rhythm to see
      numbers[#numbers + 1], waits[#waits + 1] = row.number, row.input_ns
    end
    local n, order = #waits, {}
    for i = 1, n do order[i] = waits[i] end
    table.sort(order)
    local median = n > 0 and order[math.floor((n + 1) / 2)] or 0
    local floor_ns = math.max(cfg.min_factor * median, cfg.min_share * step_ns)
    local first, last, count, period
    for i = 1, n do
      if waits[i] >= floor_ns then
        if last then
          if period and i - last ~= period then return nil end
          period = i - last
        end
        first, last, count = first or i, i, (count or 0) + 1
      end
    end
    if not period or period < 2 or count < cfg.min_periods then return nil end
    -- None is missing ahead of the first one or behind the last one.
    if first > period or n - last >= period then return nil end
    local excess_ns = 0
    for i = first, n, period do excess_ns = excess_ns + waits[i] - median end
    local ns = math.min(excess_ns / n, step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("One batch in %d is late by %s"):format(period, fmt.ms(excess_ns / count)),
      evidence = { { "late batches, on average a step", ns, "ns", share = ns / step_ns },
                   { "wait for a late one", excess_ns / count + median, "ns" },
                   { "median wait", median, "ns" }, { "late batches seen", count, "count" } },
      condition = ("%s late batches, each %d steps behind the one before, of %s the median wait and more"):format(
        fmt.count(count), period, fmt.ratio(cfg.min_factor)),
      remedy = { text = (
        "If %d is the number of workers, one of them is slow or gets the costly samples: prefetch more, sort or "
        .. "bucket by cost. If it is the length of an epoch, keep the workers."):format(period),
                 code = "DataLoader(ds, num_workers=os.cpu_count(), persistent_workers=True, prefetch_factor=8)" },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "input" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "every fourth", framework = "pytorch", format = "kineto", finding = true, impact_ns = 6.75e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" } },
                 step_parts = {
        { number = 1, input_ns = 1e5 }, { number = 2, input_ns = 1e5 }, { number = 3, input_ns = 1e5 },
        { number = 4, input_ns = 3.7e6 },
        { number = 5, input_ns = 1e5 }, { number = 6, input_ns = 1e5 }, { number = 7, input_ns = 1e5 },
        { number = 8, input_ns = 3.7e6 },
        { number = 9, input_ns = 1e5 }, { number = 10, input_ns = 1e5 }, { number = 11, input_ns = 1e5 },
        { number = 12, input_ns = 3.7e6 } } } },
    { name = "without a rhythm", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" } },
                 step_parts = {
        { number = 1, input_ns = 1e5 }, { number = 2, input_ns = 3.7e6 }, { number = 3, input_ns = 1e5 },
        { number = 4, input_ns = 3.7e6 },
        { number = 5, input_ns = 1e5 }, { number = 6, input_ns = 1e5 }, { number = 7, input_ns = 1e5 },
        { number = 8, input_ns = 3.7e6 } } } },
    { name = "every step waits", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { activities = { { name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__" } },
                 step_parts = {
        { number = 1, input_ns = 3e6 }, { number = 2, input_ns = 3e6 }, { number = 3, input_ns = 3e6 },
        { number = 4, input_ns = 3e6 },
        { number = 5, input_ns = 3e6 }, { number = 6, input_ns = 3e6 } } } },
  },
}
