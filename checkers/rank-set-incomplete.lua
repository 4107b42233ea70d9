-- Files of some ranks of the job are missing, or several ranks are in one file.
-- What was put together from files of several ranks counts all of them for one.
local function in_one_file(count, hosts)
  return finding {
    title = ("%s that launch work are in %s: they count as one"):format(
      fmt.many(count, "process", "processes"), fmt.many(hosts, "file", "files")),
    severity = "veto",
    evidence = { { "processes that launch work", count, "count" }, { "files", hosts, "count" },
                 { "what holds", "kernels, each for itself; nothing that is told a step" } },
    condition = ("%s in %s"):format(fmt.many(count, "process", "processes"), fmt.many(hosts, "file", "files")),
    remedy = { text = "Give the files of the ranks as they were written, in one folder.",
               code = "tfprof advise traces/" },
    impact = impact.none(),
    confidence = "high",
  }
end

return rule {
  id = "rank-set-incomplete", api = 1, version = "1.0.0",
  title = "Files of some ranks are missing",
  category = "validity", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "coverage.hosts" },
  tags = { "validity", "ranks" },
  doc = [[
The recording tells how many ranks the job had, and fewer were given. What is said across ranks holds for those only; a
missing rank is not an idle one. Where a file was put together from those of several ranks, which tells by processes
that launch work, prices a step mean nothing: a veto. Silent when all are there.]],

  check = function(p)
    local processes = p:has("coverage.processes") and p.fact["coverage.processes"] or 0
    if processes > p.fact["coverage.hosts"] then return in_one_file(processes, p.fact["coverage.hosts"]) end
    if not p:has("coverage.world_size") then
      return skip { reason = "the recording does not say how many ranks the job had" }
    end
    local wanted, given = p.fact["coverage.world_size"], p.fact["coverage.hosts"]
    if given >= wanted then return nil end
    return finding {
      title = ("%d of %d ranks %s given"):format(given, wanted, given == 1 and "was" or "were"),
      evidence = { { "ranks given", given, "count" }, { "ranks of the job", wanted, "count" } },
      condition = ("%s given, the job had %d"):format(fmt.many(given, "rank", "ranks"), wanted),
      remedy = { text = "Give the whole directory with the files of all ranks.", code = "tfprof advise traces/" },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "one of two", finding = true, facts = { ["coverage.world_size"] = 2, ["coverage.hosts"] = 1 } },
    { name = "two ranks in one file", finding = true, severity = "veto",
      facts = { ["coverage.hosts"] = 1, ["coverage.processes"] = 2 } },
    { name = "a file a rank", finding = false,
      facts = { ["coverage.world_size"] = 2, ["coverage.hosts"] = 2, ["coverage.processes"] = 2 } },
    { name = "all", finding = false, facts = { ["coverage.world_size"] = 2, ["coverage.hosts"] = 2 } },
    { name = "not told", skipped = true, facts = { ["coverage.hosts"] = 1 } },
  },
}
