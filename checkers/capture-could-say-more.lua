-- One more option of the profiler would let more rules look.
return rule {
  id = "capture-could-say-more", api = 1, version = "1.0.0",
  title = "One more option of the profiler would tell more",
  category = "validity", severity = "info",
  formats = { "kineto" },
  needs = { "coverage.events", "coverage.has_shapes", "coverage.has_stacks", "coverage.memory_events",
            "coverage.collectives", "coverage.hosts", "coverage.ops" },
  tags = { "validity" },
  doc = [[
Names the one option that rules miss most: tensor shapes, then the other ranks of a distributed job, then Python stacks,
then memory. Silent where all were recorded.]],

  check = function(p)
    local has_ops = p.fact["coverage.ops"] > 0
    local option, code, why
    if has_ops and not p.fact["coverage.has_shapes"] then
      option, code, why = "tensor shapes", "record_shapes=True", "rules about products, layouts, padding and small work"
    elseif p.fact["coverage.collectives"] > 0 and p.fact["coverage.hosts"] < 2 and
        not (p:has("coverage.world_size") and p.fact["coverage.world_size"] == 1) then
      option, code, why = "another rank", nil, "rules about stragglers and skew"
    elseif has_ops and not p.fact["coverage.has_stacks"] then
      option, code, why = "Python stacks", "with_stack=True",
      "rules about the loader, synchronisation and logging, and source lines"
    elseif has_ops and p.fact["coverage.memory_events"] == 0 then
      option, code, why = "memory events", "profile_memory=True", "rules about memory"
    end
    if not option then return nil end
    return finding {
      title = ("Recording %s as well would let %s look"):format(option, why),
      evidence = { { "not recorded", option }, { "events", p.fact["coverage.events"], "count" } },
      condition = ("not recorded: %s"):format(option),
      remedy = { text = ("Record %s the next time; a short window keeps the overhead small."):format(option),
                 code = code and ("torch.profiler.profile(%s)"):format(code) or nil },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "no shapes", format = "kineto", framework = "pytorch", finding = true,
      facts = { ["coverage.events"] = 1e4, ["coverage.ops"] = 100, ["coverage.has_shapes"] = false,
                ["coverage.has_stacks"] = true, ["coverage.memory_events"] = 10, ["coverage.collectives"] = 0,
                ["coverage.hosts"] = 1 } },
    { name = "the job has one rank", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["coverage.events"] = 1e4, ["coverage.ops"] = 100, ["coverage.has_shapes"] = true,
                ["coverage.has_stacks"] = true, ["coverage.memory_events"] = 10, ["coverage.collectives"] = 6,
                ["coverage.hosts"] = 1, ["coverage.world_size"] = 1 } },
    { name = "everything", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["coverage.events"] = 1e4, ["coverage.ops"] = 100, ["coverage.has_shapes"] = true,
                ["coverage.has_stacks"] = true, ["coverage.memory_events"] = 10, ["coverage.collectives"] = 0,
                ["coverage.hosts"] = 1 } },
  },
}
