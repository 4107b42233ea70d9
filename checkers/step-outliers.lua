-- Some steps take much longer than the others.
local classes = { input = "waiting for input", host = "host work", output = "output", copy = "copies" }

local function median(values)
  table.sort(values)
  return #values > 0 and values[(#values + 1) // 2] or 0
end

-- The class that nearly all of each slow step's excess is of: something that the program does in these steps. What the
-- machine does beside it holds up whatever runs.
local function same_class(p, slow, cfg)
  if slow < cfg.sure_slow or not p:has("step_parts") then return nil end
  local rows, totals, parts = p:table("step_parts"):rows(), {}, {}
  for _, row in ipairs(rows) do
    row.total = 0
    for class in sorted_pairs(classes) do
      parts[class] = parts[class] or {}
      table.insert(parts[class], row[class .. "_ns"] or 0)
    end
    for name, value in pairs(row) do
      if name:find("_ns$") then row.total = row.total + value end
    end
    table.insert(totals, row.total)
  end
  local usual = median(totals)
  table.sort(rows, function(a, b) return a.total > b.total end)
  for class, values in sorted_pairs(parts) do
    local usual_part, is_all = median(values), #rows > 2 * slow
    for i = 1, math.min(slow, #rows) do
      local excess = rows[i].total - usual
      is_all = is_all and (rows[i][class .. "_ns"] or 0) - usual_part >= cfg.same_share * excess and excess > 0
    end
    if is_all then return class end
  end
end

return rule {
  id = "step-outliers", api = 1, version = "1.0.0",
  title = "Some steps take much longer than the others",
  category = "variance", severity = "warn",
  needs = { "step.ns", "step.used" },
  cause = "variance", tags = { "variance" },
  params = {
    min_steps = { default = 5, min = 3, max = 1000, unit = "count",
                  doc = "steps needed to judge" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "excess over the median, spread over all steps, from which this is said" },
    sure_slow = { default = 2, min = 1, max = 1e6, unit = "count",
                  doc = "slow steps from which this is a warning: one alone may be chance" },
    sure_steps = { default = 20, min = 5, max = 1e6, unit = "count",
                   doc = "steps from which the excess is a price; before, it may be chance" },
    same_share = { default = 0.8, min = 0, max = 1, unit = "share",
                   doc = "of the excess of each slow step, from which it is of one class in all of them" },
    sure_ns = { default = 5e6, min = 0, max = 1e12, unit = "ns",
                doc = "a step from which this is a price: another program holds a shorter one up as long as it takes" },
  },
  doc = [[
A step is slow when its modified z score, 0.6745 times its distance from the median over the median
absolute deviation, exceeds 3.5. What slow steps cost is their time above the median, spread over
all steps. In a short recording, or where steps take less than what another program may hold them up for,
that may be chance: then it is a fact without a price. Where the excess of several slow steps is all of one class
that is not computing, as of host work behind every tenth step, it is priced all the same, as a note. Silent with
fewer than min_steps steps.]],

  check = function(p, cfg)
    local step_ns, used = p.fact["step.ns"], p.fact["step.used"]
    local slow, excess_ns = p.fact["step.slow_count"], p.fact["step.slow_excess_ns"]
    if used < cfg.min_steps or not slow or not excess_ns then
      return skip { reason = ("only %d steps"):format(used), capture = "at least 10 steps" }
    end
    local share = excess_ns / step_ns
    if slow == 0 or share < cfg.min_share then return nil end

    local evidence = {
      { "slow steps", slow, "count" },
      { "steps", used, "count" },
      { "excess a step", excess_ns, "ns", share = share },
    }
    local longest_ns = p.fact["step.max_ns"]
    if longest_ns then evidence[#evidence + 1] = { "longest step", longest_ns, "ns" } end
    local is_sure = used >= cfg.sure_steps and step_ns >= cfg.sure_ns
    local class = step_ns >= cfg.sure_ns and same_class(p, slow, cfg) or nil
    if class then evidence[#evidence + 1] = { "what they take longer for", classes[class] } end
    return finding {
      title = ("%d of %d steps %s slow, %s a step on average"):format(
        slow, used, slow == 1 and "is" or "are", fmt.ms(excess_ns)),
      evidence = evidence,
      condition = ("%s with a modified z over 3.5; their excess is %s of the step, %s accepted")
        :format(fmt.many(slow, "step", "steps"), fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Look at what the slow steps do besides: logging, checkpoints, evaluation, "
                   .. "other input, garbage collection; move it off the step or do it less often." },
      -- What happened once may have come from outside the program.
      severity = is_sure and slow >= cfg.sure_slow and "warn" or "info",
      impact = (is_sure or class) and impact.exposed { ns = excess_ns } or impact.none(),
      confidence = "low",
    }
  end,

  examples = {
    { name = "two slow steps of forty", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 40, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 2e6 } },
    { name = "once in twenty", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["step.used"] = 20, ["step.slow_count"] = 1,
                ["step.slow_excess_ns"] = 2e6 } },
    { name = "forty short steps", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e6, ["step.used"] = 40, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 2e5 } },
    { name = "two of ten may be chance", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 2e6 } },
    -- Two of six steps do 8 and 6 ms of host work more than the others' 1 ms beside 9 of computing.
    { name = "host work behind some", finding = true, severity = "info", impact_ns = 1.75e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 6, ["step.slow_count"] = 2, ["step.slow_excess_ns"] = 2.333e6 },
      tables = { step_parts = { { number = 1, compute_ns = 9e6, host_ns = 1e6 },
        { number = 2, compute_ns = 9e6, host_ns = 9e6 }, { number = 3, compute_ns = 9e6, host_ns = 1e6 },
        { number = 4, compute_ns = 9e6, host_ns = 7e6 }, { number = 5, compute_ns = 9e6, host_ns = 1e6 },
        { number = 6, compute_ns = 9e6, host_ns = 1e6 } } } },
    { name = "held up while computing", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["step.used"] = 6, ["step.slow_count"] = 2, ["step.slow_excess_ns"] = 2.333e6 },
      tables = { step_parts = { { number = 1, compute_ns = 9e6, host_ns = 1e6 },
        { number = 2, compute_ns = 17e6, host_ns = 1e6 }, { number = 3, compute_ns = 9e6, host_ns = 1e6 },
        { number = 4, compute_ns = 9e6, host_ns = 7e6 }, { number = 5, compute_ns = 9e6, host_ns = 1e6 },
        { number = 6, compute_ns = 9e6, host_ns = 1e6 } } } },
    { name = "even steps", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.slow_count"] = 0,
                ["step.slow_excess_ns"] = 0 } },
    { name = "too few", skipped = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["step.slow_count"] = 1,
                ["step.slow_excess_ns"] = 2e6 } },
  },
}
