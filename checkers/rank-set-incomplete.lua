-- Files of some ranks of the job are missing.
return rule {
  id = "rank-set-incomplete", api = 1, version = "1.0.0",
  title = "Files of some ranks are missing",
  category = "validity", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "coverage.world_size", "coverage.hosts" },
  tags = { "validity", "ranks" },
  doc = [[
The recording tells how many ranks the job had, and fewer were given. What is said across ranks holds for those only; a
missing rank is not an idle one. Silent when all are there.]],

  check = function(p)
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
    { name = "all", finding = false, facts = { ["coverage.world_size"] = 2, ["coverage.hosts"] = 2 } },
    { name = "not told", skipped = true, facts = { ["coverage.hosts"] = 1 } },
  },
}
