-- Finds lines of the program.
return rule {
  id = "api1/places", api = 1, version = "1.0.0", title = "Lines of the program",
  category = "host", severity = "warn", needs = { "step.median_ns", "ops" },

  check = function(p, cfg)
    local places = p:table("ops"):places()
    if #places == 0 then return nil end
    return finding { condition = "a line", locations = places, evidence = { { "lines", #places } },
                     remedy = { text = "Look." }, impact = impact.none() }
  end,

  examples = {
    { name = "one", finding = true, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { source_file = "train.py", source_line = 3 } } } },
    { name = "none", finding = false, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { source_line = 3 } } } },
  },
}
