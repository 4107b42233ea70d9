-- Waiting for input takes much of each step.
-- The line above says in one sentence what the rule sees.
return rule {
  id = "acme/waits",
  api = 1, version = "0.1.0",
  title = "Waiting for input takes much of each step",
  category = "input", severity = "warn",
  -- Facts and tables it looks at; docs/facts.md lists them. A profile that lacks one skips
  -- the rule and says why.
  needs = { "step.median_ns", "part.input_ns" },
  params = {
    min_share = { default = 0.1, min = 0, max = 1, unit = "share",
                  doc = "share of the step from which this is a problem" },
  },
  doc = [[
Why it matters, how the price comes about, and when the rule keeps silent.]],

  check = function(p, cfg)
    local step_ns, input_ns = p.fact["step.median_ns"], p.fact["part.input_ns"]
    local share = input_ns / step_ns
    if share < cfg.min_share then return nil end

    return finding {
      title = ("Waiting for input takes %s of each step"):format(fmt.ms(input_ns)),
      evidence = { { "waiting for input a step", input_ns, "ns", share = share } },
      condition = ("%s of the step, %s accepted"):format(fmt.pct(share),
                                                          fmt.pct(cfg.min_share)),
      remedy = { text = "Say what to do, and show it.", code = "ds = ds.prefetch(2)" },
      -- The engine replays the step with this edit and takes the difference.
      impact = impact.replay {
        { "scale", parts = { "input" }, factor = 0 },
        fallback = impact.exposed { ns = input_ns },
      },
      confidence = "medium",
    }
  end,

  -- `tfprof rules test` runs these, and changes their numbers to see that one notices.
  examples = {
    { name = "just above the threshold", finding = true, impact_ns = 1.1e6,
      facts = { ["step.median_ns"] = 1e7, ["part.input_ns"] = 1.2e6 },
      replay = { 1.2e6 } },
    { name = "just below it", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["part.input_ns"] = 0.8e6 } },
  },
}
