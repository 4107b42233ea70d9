-- The step waits for results going out: outfeed, summaries, checkpoints.
return rule {
  id = "output-bound", api = 1, version = "1.0.0",
  title = "The step waits for results going out",
  category = "output", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "part.output_ns", "part.output_share" },
  cause = "output", tags = { "output" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step from which this is a problem" },
    high_share = { default = 0.20, min = 0, max = 1, unit = "share", doc = "share from which it is an error" },
  },
  doc = [[
Writing summaries, logs and checkpoints, and the outfeed, while the step waits. Priced by replay: one step in a hundred
does it. Silent where writing hides behind the step. Rules that say what is written take its place.]],

  check = function(p, cfg)
    local share, output_ns = p.fact["part.output_share"], p.fact["part.output_ns"]
    if share < cfg.min_share then return nil end
    local evidence = { { "output a step", output_ns, "ns", share = share } }
    local activities = p:table("activities")
    local busiest = activities and activities:where { kind = "output" }:top("path_ns", 1):rows()[1]
    if busiest then evidence[#evidence + 1] = { "most of it", busiest.name } end
    return finding {
      title = ("The step waits %s (%s) for output"):format(fmt.ms(output_ns), fmt.pct(share)),
      severity = share >= cfg.high_share and "error" or "warn",
      evidence = evidence,
      condition = ("output takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Write every 100 steps, keep metrics on the device until then, and write in another thread." },
      impact = impact.replay { { "scale", parts = { "output" }, factor = 0.01 },
                               fallback = impact.exposed { ns = output_ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a third of the step", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["part.output_ns"] = 3e6, ["part.output_share"] = 0.3 }, replay = { 3e6 } },
    { name = "little", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.output_ns"] = 1e5, ["part.output_share"] = 0.01 } },
  },
}
