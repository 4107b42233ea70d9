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

-- The thing that most of the slow steps' excess lies in, by table slow_steps: { row, count of them, ns, is_only in all,
-- whether the other steps, too, are mostly made of it }.
local function besides(p)
  if not p:has("slow_steps") then return nil end
  local groups, best = {}, nil
  for row in p:table("slow_steps"):each() do
    if row.kind then
      local key = ("%s %s %s"):format(row.kind, row.name or "", row.file or "")
      local group = groups[key] or { row = row, count = 0, ns = 0, is_only = true, steps = {} }
      groups[key] = group
      group.count, group.ns = group.count + 1, group.ns + row.extra_ns
      group.is_only = group.is_only and row.is_only
      group.steps[#group.steps + 1] = row
    end
  end
  for _, group in sorted_pairs(groups) do
    if not best or group.ns > best.ns then best = group end
  end
  return best
end

local function place_of(row)
  local file = row.file and row.file:match("[^/]*$")
  return file and (row.line or 0) > 0 and ("%s:%d"):format(file, row.line) or file
end

-- What kind of thing it is, and what to do about it.
local function kind_of(p, row)
  local name = row.name or ""
  local function is(list) return name:find(p:names(list)) or (row.file or ""):find(p:names(list)) end
  if row.kind == "pause" then return nil end
  if is("saves") then
    return "saving", "Copy the state and write it beside the steps that follow, or save less often."
  end
  if row.kind == "output" then return "logging", "Log less often, or from another thread." end
  if row.kind == "gc" then return "garbage collection", "Call gc.freeze() behind the set-up, or collect less often." end
  if row.kind == "compile" or row.kind == "tracing" then
    return "compiling", "Keep shapes, types and arguments of compiled functions the same; pad to a few sizes."
  end
  if row.kind:find("^input") then return "waiting for input", "Prepare batches beside the step, further ahead." end
  if is("evaluation") and row.is_only then
    return "evaluation", "Evaluate less often, on fewer batches, or in a program of its own."
  end
end

-- "3, 7, 11": every fourth.
local function rhythm(rows)
  local numbers, apart = {}, #rows > 1 and rows[2].number - rows[1].number or nil
  for i, row in ipairs(rows) do
    numbers[i] = fmt.whole(row.number)
    if i > 1 and row.number - rows[i - 1].number ~= apart then apart = nil end
  end
  return table.concat(numbers, ", ") .. (apart and apart > 1 and #rows > 2 and (", every %d"):format(apart) or "")
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
    usual_share = { default = 0.5, min = 0, max = 1, unit = "share",
                    doc = "of the median step, from which what slow steps take longer in is what all steps do" },
    min_compiled = { default = 0.5, min = 0, max = 1, unit = "share",
                     doc = "excess over the step, from which what slow steps compile is a bound of what can be saved" },
    most_told = { default = 4, min = 1, max = 100, unit = "count", doc = "slow steps that are told one by one" },
    sure_ns = { default = 5e6, min = 0, max = 1e12, unit = "ns",
                doc = "a step from which this is a price: another program holds a shorter one up as long as it takes" },
  },
  doc = [[
A step is slow when its modified z score, 0.6745 times its distance from the median over the median absolute
deviation, exceeds 3.5. What slow steps cost is their time above the median, spread over all steps. In a short
recording, or where steps take less than what another program may hold them up for, that may be chance: then it is a
fact without a price. Where the excess of several slow steps is all of one class that is not computing, as of host
work behind every tenth step, or of one call that the other steps do not have, it is priced all the same, as a note;
not where the other steps, too, are mostly made of it. What the leading thread does in each slow step for most of its
excess is named, with the program's line: the outermost call that the others do not have (saving, evaluation), else a
pause in which nothing was recorded, what it waits for, or what takes far longer. Silent with fewer than min_steps
steps.]],

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
    local what = besides(p)
    local is_shared = what and what.is_only and what.count >= math.max(slow, cfg.sure_slow)
      and step_ns >= cfg.sure_ns
    -- All steps are mostly made of it: these have more of what each has.
    local is_usual = what and what.row.usual_ns >= cfg.usual_share * p.fact["step.median_ns"]
    local title = ("%d of %d steps %s slow, %s a step on average"):format(
        slow, used, slow == 1 and "is" or "are", fmt.ms(excess_ns))
    local is_compiled = false
    local remedy, named = "Look at what the slow steps do besides: logging, checkpoints, evaluation, "
                   .. "other input, garbage collection; move it off the step or do it less often.", nil
    if what then
      local row, place = what.row, place_of(what.row)
      local kind, cure = kind_of(p, row)
      is_compiled = kind == "compiling" and share >= cfg.min_compiled
      local name = row.kind == "pause" and (row.name and "a pause behind " .. row.name or "a pause") or row.name
      named = { subject = row.kind ~= "pause" and { op = row.name } or nil,
                locations = row.file and { { file = row.file, line = row.line } } or nil }
      title = ("%s: %s%s"):format(title, kind or name, place and " at " .. place or "")
      remedy = cure or is_usual and "Look at why the same takes longer in some steps: longer inputs, other programs."
        or remedy
      if row.kind == "pause" then
        remedy = remedy .. " Recording Python's functions shows which they are."
      end
      evidence[#evidence + 1] = { not row.is_only and "what they take longer in"
        or row.usual_ns > 0 and "what the others hardly do" or "what only they do", name }
      evidence[#evidence + 1] = { "its time in the other steps", row.usual_ns, "ns" }
      evidence[#evidence + 1] = { "slow steps by number", rhythm(what.steps) }
      for i = 1, math.min(#what.steps, cfg.most_told) do
        local one = what.steps[i]
        evidence[#evidence + 1] = { ("step %d above the median, %s of it in that"):format(one.number,
          fmt.pct(math.min(1, one.extra_ns / one.excess_ns))), one.excess_ns, "ns" }
      end
    end
    local is_priced = is_sure or class and not is_usual or is_shared
    return finding {
      title = title, subject = named and named.subject, locations = named and named.locations,
      evidence = evidence,
      condition = ("%s with a modified z over 3.5; their excess is %s of the step, %s accepted")
        :format(fmt.many(slow, "step", "steps"), fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = remedy },
      -- What happened once may have come from outside the program.
      severity = is_sure and slow >= cfg.sure_slow and "warn" or "info",
      -- What compiling took may come again, with the next size, or not: a bound.
      impact = is_priced and impact.exposed { ns = excess_ns } or is_compiled and impact.share { ns = excess_ns }
        or impact.none(),
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
    -- Saving for 20 and 18 ms behind two of ten steps of 10 ms: (20 + 18) / 10 a step.
    { name = "saves behind some", framework = "pytorch", format = "kineto", finding = true, severity = "info",
      impact_ns = 3.8e6,
      facts = { ["step.ns"] = 1e7, ["step.median_ns"] = 1e7, ["step.used"] = 10, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 3.8e6 },
      tables = { slow_steps = {
        { number = 4, ns = 3e7, excess_ns = 2e7, name = "torch.save", kind = "python", file = "/home/me/train.py",
          line = 40, extra_ns = 2e7, usual_ns = 0, is_only = true },
        { number = 9, ns = 2.8e7, excess_ns = 1.8e7, name = "torch.save", kind = "python", file = "/home/me/train.py",
          line = 40, extra_ns = 1.8e7, usual_ns = 0, is_only = true } } } },
    -- 6 of each 10 ms are the pause that takes 20 ms longer in two steps: that is what the program does, not besides.
    { name = "more of what each step does", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["step.median_ns"] = 1e7, ["step.used"] = 6, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 6.667e6 },
      tables = { step_parts = { { number = 1, compute_ns = 2e6, host_ns = 8e6 },
        { number = 2, compute_ns = 2e6, host_ns = 28e6 }, { number = 3, compute_ns = 2e6, host_ns = 8e6 },
        { number = 4, compute_ns = 2e6, host_ns = 28e6 }, { number = 5, compute_ns = 2e6, host_ns = 8e6 },
        { number = 6, compute_ns = 2e6, host_ns = 8e6 } },
        slow_steps = {
        { number = 2, ns = 3e7, excess_ns = 2e7, name = "call", kind = "pause", extra_ns = 2e7, usual_ns = 6e6,
          is_only = false },
        { number = 4, ns = 3e7, excess_ns = 2e7, name = "call", kind = "pause", extra_ns = 2e7, usual_ns = 6e6,
          is_only = false } } } },
    -- One of five steps compiles for 40 ms: 8 ms of a mean step of 10.
    { name = "a step that compiles", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["step.median_ns"] = 2e6, ["step.used"] = 5, ["step.slow_count"] = 1,
                ["step.slow_excess_ns"] = 8e6 },
      tables = { slow_steps = {
        { number = 2, ns = 4.2e7, excess_ns = 4e7, name = "dynamo", kind = "compile", extra_ns = 4e7, usual_ns = 0,
          is_only = true } } } },
    { name = "even steps", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.slow_count"] = 0,
                ["step.slow_excess_ns"] = 0 } },
    { name = "too few", skipped = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["step.slow_count"] = 1,
                ["step.slow_excess_ns"] = 2e6 } },
  },
}
