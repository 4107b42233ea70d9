-- Findings that rules of one kind share, and none where too little is found.
return rule {
  id = "api1/shared", api = 1, version = "1.0.0", title = "What rules share",
  category = "kernels", severity = "info",
  needs = { "step.ns", "excess", "eager_idioms", "eager_loops" },

  check = function(p)
    local function formula(min_share)
      return p:spelled_out {
        idiom = "norm", min_share = min_share, title = "A norm by hand takes", confidence = "medium",
        price = function(row)
          if row.elements >= 1000 then return 0.5 * row.ns, row.ns end
        end,
        remedy = { text = "Use one op." },
      }
    end
    local function work(min_share)
      return p:in_excess {
        flaw = "evaluation", min_share = min_share, title = "Evaluating takes %s", time = "evaluating",
        remedy = { text = "Do it less often." }, confidence = "high",
      }
    end
    assert(formula(0.5) == nil and work(0.5) == nil)
    -- By its size; by the time of its longest op, 20 us each time, where none is known.
    assert(p:is_large({}, 1000, 1000) and not p:is_large({}, 999, 1000))
    assert(p:is_large({ count = 8, longest_ns = 1.6e5 }, 0, 1000))
    assert(not p:is_large({ count = 8, longest_ns = 1.5e5 }, 0, 1000))
    local norm, evaluating = formula(0.1), work(0.1)
    -- The second row, of 1 ms, belongs to a tensor that is too small to count.
    assert(norm.title == "A norm by hand takes 2.00 ms a step in 16 calls", norm.title)
    assert(norm.impact.low == 1e6 and norm.impact.high == 2e6)
    assert(evaluating.title == "Evaluating takes 4.00 ms", evaluating.title)
    -- Of two loops the costlier one; the third has too few rounds to count.
    local loop = p:in_loop {
      min_share = 0.1, title = "A loop of %s rounds takes %s",
      price = function(row)
        if row.repeats >= 8 then return row.ns, 0.5 * row.ns, 2 * row.ns end
      end,
      remedy = function(row) return { text = "Do " .. row.anchor .. " at once." } end,
    }
    assert(loop.title == "A loop of 16 rounds takes 3.00 ms" and loop.remedy.text == "Do slice at once.", loop.title)
    assert(loop.impact.low == 1.5e6 and loop.impact.high == 3e6)
    return { norm, evaluating, loop }
  end,

  examples = {
    { name = "both", finding = true, replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation", cause = "repeat", grade = "A", ns = 4e6, share = 0.4,
                              factor = 0 } },
                 eager_idioms = { { idiom = "norm", first_op = "aten::mul", ns = 2e6, count = 2, calls = 15.7,
                                    elements = 1e6 },
                                  { idiom = "norm", first_op = "aten::mul", ns = 1e6, count = 2, calls = 16,
                                    elements = 10 } },
                 eager_loops = { { anchor = "select", ns = 2e6, repeats = 9, calls = 9, call_ns = 2e5 },
                                 { anchor = "slice", ns = 3e6, repeats = 15.8, calls = 32, call_ns = 1e5 },
                                 { anchor = "cat", ns = 4e6, repeats = 2, calls = 2, call_ns = 2e6 } } } },
    { name = "nothing recorded", finding = false, skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
