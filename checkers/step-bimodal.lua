-- Steps fall into two groups of different length.
-- A server reads prompts in some of its steps: they are longer for that, which the rule about its steps says.
local function serves_both(p)
  local phases = p:has("engine_phases") and p:table("engine_phases")
  return phases and phases:where { phase = "decode" }:count() > 0
    and phases:where { phase = { like = "^(prefill|mixed)$" } }:count() > 0
end

return rule {
  id = "step-bimodal", api = 1, version = "1.0.0",
  title = "Steps fall into two groups",
  category = "variance", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.used", "steps" },
  cause = "variance", tags = { "variance" },
  params = {
    min_steps = { default = 10, min = 6, max = 1e6, unit = "count", doc = "steps needed to judge" },
    min_distance = { default = 0.15, min = 0, max = 10, unit = "ratio",
                     doc = "distance of the groups' means over the faster one" },
    min_members = { default = 3, min = 2, max = 1e6, unit = "count", doc = "steps in the smaller group" },
    sure_steps = { default = 30, min = 10, max = 1e6, unit = "count",
                   doc = "steps from which the excess is a price; before, it may be chance" },
    min_gap = { default = 3, min = 0, max = 100, unit = "ratio",
                doc = "gap between the groups over the deviation inside them" },
  },
  doc = [[
Sorted step times are cut at the place that leaves least variance inside two groups. The groups count when a wide gap
parts them. Then some steps do work that others do not: an evaluation, a checkpoint, logging, a longer batch. Priced as
the slow group's excess over all steps, with low confidence: it may be work that must be done; in a short recording it
is a fact without a price. Silent for a smooth spread, and for servers that read prompts in some steps.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps or serves_both(p) then return nil end
    local used = p:table("steps"):where { used = true }
    local hosts = used:group("host", "duration_ns")
    local name = #hosts > 0 and hosts[1].key or nil
    local times = {}
    for step in used:each() do
      if step.host == name and #times < 1000 then times[#times + 1] = step.duration_ns end
    end
    local n = #times
    if n < cfg.min_steps then return nil end
    table.sort(times)

    local sum, square = { [0] = 0 }, { [0] = 0 }
    for i = 1, n do
      sum[i], square[i] = sum[i - 1] + times[i], square[i - 1] + times[i] * times[i]
    end
    local function spread(from, to)
      local count, total = to - from + 1, sum[to] - sum[from - 1]
      return math.max(square[to] - square[from - 1] - total * total / count, 0)
    end
    local cut, least = nil, math.huge
    for i = cfg.min_members, n - cfg.min_members do
      local both = spread(1, i) + spread(i + 1, n)
      if both < least then cut, least = i, both end
    end
    if not cut then return nil end
    local fast_ns, slow_ns = sum[cut] / cut, (sum[n] - sum[cut]) / (n - cut)
    local inside_ns = math.sqrt(least / n)
    local gap_ns = times[cut + 1] - times[cut]
    if slow_ns - fast_ns < cfg.min_distance * fast_ns or gap_ns < cfg.min_gap * inside_ns then return nil end

    local excess_ns = (slow_ns - fast_ns) * (n - cut) / n
    return finding {
      title = ("%d of %d steps take %s, the others %s"):format(n - cut, n, fmt.ms(slow_ns), fmt.ms(fast_ns)),
      evidence = {
        { "mean of the fast steps", fast_ns, "ns" },
        { "mean of the slow steps", slow_ns, "ns" },
        { "slow steps", n - cut, "count" },
        { "gap between the groups", gap_ns, "ns" },
        { "deviation inside them", inside_ns, "ns" },
      },
      condition = ("two groups of steps, %s apart, %s accepted, with a gap of %s deviations"):format(
        fmt.pct((slow_ns - fast_ns) / fast_ns), fmt.pct(cfg.min_distance), fmt.ratio(gap_ns / math.max(inside_ns, 1))),
      remedy = { text = "Find what the slow steps do besides (logging, saving, evaluation, longer batches); "
                   .. "do it less often, beside the step, or level the batches." },
      impact = n >= cfg.sure_steps and impact.exposed { ns = excess_ns } or impact.none(),
      confidence = "low",
    }
  end,

  examples = {
    { name = "every third step logs", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10 },
      tables = { steps = {
        { host = "h", duration_ns = 1e7, used = true }, { host = "h", duration_ns = 1.01e7, used = true },
        { host = "h", duration_ns = 1.7e7, used = true }, { host = "h", duration_ns = 1.02e7, used = true },
        { host = "h", duration_ns = 9.9e6, used = true }, { host = "h", duration_ns = 1.71e7, used = true },
        { host = "h", duration_ns = 1e7, used = true }, { host = "h", duration_ns = 1.01e7, used = true },
        { host = "h", duration_ns = 1.69e7, used = true }, { host = "h", duration_ns = 1e7, used = true } } } },
    { name = "prompts every third step", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10 },
      tables = { engine_phases = { { phase = "prefill", steps = 3 }, { phase = "decode", steps = 10 } }, steps = {
        { host = "h", duration_ns = 1e7, used = true }, { host = "h", duration_ns = 1.01e7, used = true },
        { host = "h", duration_ns = 1.7e7, used = true }, { host = "h", duration_ns = 1.02e7, used = true },
        { host = "h", duration_ns = 9.9e6, used = true }, { host = "h", duration_ns = 1.71e7, used = true },
        { host = "h", duration_ns = 1e7, used = true }, { host = "h", duration_ns = 1.01e7, used = true },
        { host = "h", duration_ns = 1.69e7, used = true }, { host = "h", duration_ns = 1e7, used = true } } } },
    { name = "a smooth spread", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10 },
      tables = { steps = {
        { host = "h", duration_ns = 1e7, used = true }, { host = "h", duration_ns = 1.03e7, used = true },
        { host = "h", duration_ns = 1.06e7, used = true }, { host = "h", duration_ns = 1.09e7, used = true },
        { host = "h", duration_ns = 1.12e7, used = true }, { host = "h", duration_ns = 1.15e7, used = true },
        { host = "h", duration_ns = 1.18e7, used = true }, { host = "h", duration_ns = 1.21e7, used = true },
        { host = "h", duration_ns = 1.24e7, used = true }, { host = "h", duration_ns = 1.27e7, used = true } } } },
  },
}
