-- Finds lines of the program.
return rule {
  id = "api1/places", api = 1, version = "1.0.0", title = "Lines of the program",
  category = "host", severity = "warn", needs = { "step.median_ns", "ops" },

  check = function(p, cfg)
    local places = p:table("ops"):places()
    if #places == 0 then places = p:lines_of("torch.forward_ns") or {} end
    if #places == 0 then return nil end
    assert(places[1].file == "train.py" and places[1].line == 3)
    return finding { condition = "a line", locations = places, evidence = { { "lines", #places } },
                     remedy = { text = "Look." }, impact = impact.none() }
  end,

  examples = {
    { name = "one", finding = true, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { source_file = "train.py", source_line = 3 } } } },
    { name = "of a fact, that with most time first", finding = true, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { source_line = 3 } },
                 eager_step_lines = { { fact = "torch.forward_ns", source_file = "net.py", source_line = 9, ns = 1e6 },
                                      { fact = "torch.forward_ns", source_file = "train.py", source_line = 3,
                                        ns = 2e6 },
                                      { fact = "torch.clear_ns", source_file = "net.py", source_line = 9, ns = 9e6 } } } },
    { name = "none", finding = false, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { source_line = 3 } } } },
  },
}
