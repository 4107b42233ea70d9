-- Printing and logging happen in every step.
return rule {
  id = "logging-in-step", api = 1, version = "1.0.0",
  title = "Every step writes logs",
  category = "output", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.median_ns", "activities", "output.path_ns", "output.steps_share" },
  cause = "output", tags = { "output" },
  more_specific_than = { "python-in-step", "host-bound" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step spent writing" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "share of the steps that write" },
  },
  doc = [[
Printing, plots, histograms and images format data and wait for files. Once every hundred steps is
usually enough. Priced as the step's time inside such calls, less one step in a hundred. Silent for
checkpoints and TensorFlow summaries, which have rules of their own, and below min_share.]],

  check = function(p, cfg)
    local logs = p:table("activities"):where { kind = "output", name = {
      like = "(?i)print|log|savefig|imwrite|add_(scalar|histogram|image|text|figure)|write|flush|histc" } }
    local rows = logs:top("path_ns", 5):rows()
    local ns, evidence, names, locations = 0, {}, {}, {}
    for _, row in ipairs(rows) do
      if not row.name:find("(?i)summary|checkpoint|save(z|_)") then
        ns = math.max(ns, row.path_ns)
        evidence[#evidence + 1] = { row.name, row.path_ns, "ns" }
        names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
        if row.file and row.file ~= "" then locations[#locations + 1] = { file = row.file, line = row.line } end
      end
    end
    local share = ns / p.fact["step.median_ns"]
    if #names == 0 or share < cfg.min_share or p.fact["output.steps_share"] < cfg.min_steps_share then return nil end

    table.insert(evidence, 1, { "writing logs a step", ns, "ns", share = math.min(share, 1) })
    return finding {
      title = ("Writing logs takes %s of each step"):format(fmt.ms(ns)),
      evidence = evidence, locations = locations,
      condition = ("writing takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Write every 100 steps, or hand the data to a thread that writes.",
                 code = "if step % 100 == 0: log(...)" },
      impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = 0.01 } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "prints each step", finding = true, replay = { 2e6 },
      facts = { ["step.median_ns"] = 1e7, ["output.path_ns"] = 2e6, ["output.steps_share"] = 1 },
      tables = { activities = { { name = "$<unknown> print", kind = "output", path_ns = 2e6 } } } },
    { name = "now and then", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["output.path_ns"] = 2e6, ["output.steps_share"] = 0.1 },
      tables = { activities = { { name = "$<unknown> print", kind = "output", path_ns = 2e6 } } } },
  },
}
