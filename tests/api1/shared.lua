-- Findings that rules of one kind share, and none where too little is found.
return rule {
  id = "api1/shared", api = 1, version = "1.0.0", title = "What rules share",
  category = "kernels", severity = "info",
  needs = { "step.ns", "excess", "eager_idioms" },

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
    local norm, evaluating = formula(0.1), work(0.1)
    -- The second row, of 1 ms, belongs to a tensor that is too small to count.
    assert(norm.title == "A norm by hand takes 2.00 ms a step in 16 calls", norm.title)
    assert(norm.impact.low == 1e6 and norm.impact.high == 2e6)
    assert(evaluating.title == "Evaluating takes 4.00 ms", evaluating.title)
    return { norm, evaluating }
  end,

  examples = {
    { name = "both", finding = true, replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "evaluation", cause = "repeat", grade = "A", ns = 4e6, share = 0.4,
                              factor = 0 } },
                 eager_idioms = { { idiom = "norm", first_op = "aten::mul", ns = 2e6, count = 2, calls = 15.7,
                                    elements = 1e6 },
                                  { idiom = "norm", first_op = "aten::mul", ns = 1e6, count = 2, calls = 16,
                                    elements = 10 } } } },
    { name = "nothing recorded", finding = false, skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
