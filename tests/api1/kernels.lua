-- Findings about single kernels, the costliest first, and none where they are short.
return rule {
  id = "api1/kernels", api = 1, version = "1.0.0", title = "A kernel of few blocks",
  category = "kernels", severity = "info",
  needs = { "step.ns", "kernels" },

  check = function(p)
    local function small(min_share, most)
      return p:in_kernels {
        min_share = min_share, where = { grid_blocks = { max = 8 } }, looked_at = 20, most = most,
        find = function(row)
          if row.category == "collective" then return nil end
          return { title = ("%s runs %d blocks"):format(row.name, row.grid_blocks),
                   evidence = { { "blocks", row.grid_blocks, "count" } }, condition = "few blocks",
                   remedy = { text = "Launch more." }, impact = impact.exposed { ns = row.total_ns } }
        end,
      }
    end
    assert(#small(0.5, 3) == 0 and #small(0.05, 1) == 1)
    local found = small(0.05, 3)
    assert(#found == 2 and found[1].title == "scan runs 8 blocks" and found[2].title == "sum runs 4 blocks")
    -- 2e6 of 1e7 ns.
    assert(found[1].evidence[1][2] == 2e6 and found[1].evidence[1].share == 0.2 and found[1].subject.kernel == "scan")
    return found
  end,

  examples = {
    { name = "two of five", finding = true, facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "sum", category = "reduce", grid_blocks = 4, total_ns = 1e6, op = "" },
                             { name = "scan", category = "scan", grid_blocks = 8, total_ns = 2e6, op = "" },
                             { name = "wide", category = "other", grid_blocks = 80, total_ns = 2e6, op = "" },
                             { name = "short", category = "other", grid_blocks = 1, total_ns = 1e4, op = "" },
                             { name = "all", category = "collective", grid_blocks = 8, total_ns = 2e6, op = "" } } } },
    { name = "nothing recorded", finding = false, skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
