-- A step is cut by the edge of the recording.
return rule {
  id = "incomplete-step-used", api = 1, version = "1.0.0",
  title = "A step is cut by the edge of the recording",
  category = "validity", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.used", "steps" },
  tags = { "validity" },
  params = {
    enough = { default = 5, min = 1, max = 1e6, unit = "count",
               doc = "whole steps from which leaving one out needs no mention" },
    max_wait = { default = 0.01, min = 0, max = 1, unit = "share",
                 doc = "of the recording, in which it waits for work from before it" },
  },
  doc = [[
The last marker has no successor, or a pause follows a step: how long the step really took is not known, so it is left
out of averages. Nor is a wait for work that was launched before the recording began a cost of a step. Silent where
enough whole steps remain.]],

  check = function(p, cfg)
    local wait_ns, wait = p.fact["validity.earlier_wait_ns"] or 0, p.fact["validity.earlier_wait_share"] or 0
    if wait >= cfg.max_wait then
      return finding {
        title = ("The recording begins in the middle of work: a wait of %s for it is left out"):format(fmt.ms(wait_ns)),
        evidence = { { "waits for work launched before the recording", wait_ns, "ns" },
                     { "of the recording", wait, "share" }, { "what holds", "what is told of the step" } },
        condition = ("such waits take %s of the recording, %s accepted"):format(fmt.pct(wait), fmt.pct(cfg.max_wait)),
        remedy = { text = "Synchronise before the recording begins." },
        impact = impact.none(),
        confidence = "high",
      }
    end
    local cut = p:table("steps"):where { left_out = { like = "^(cut by|a pause)" } }
    local used = p.fact["step.used"]
    if cut:count() == 0 or used > cfg.enough then return nil end
    return finding {
      title = ("%d of %d steps %s cut and left out"):format(
        cut:count(), cut:count() + used, cut:count() == 1 and "is" or "are"),
      evidence = { { "steps cut", cut:count(), "count" }, { "whole steps", used, "count" },
                   { "why", cut:rows()[1].left_out } },
      condition = ("%d cut, only %d whole steps, %d wanted"):format(cut:count(), used, cfg.enough + 1),
      remedy = { text = "Record a few steps more." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "the last of three", finding = true, facts = { ["step.used"] = 2 },
      tables = { steps = { { number = 1, used = true }, { number = 2, used = true },
                           { number = 3, used = false, left_out = "cut by the end of the capture" } } } },
    { name = "it begins in the middle of work", finding = true,
      facts = { ["step.used"] = 1, ["validity.earlier_wait_ns"] = 4e8, ["validity.earlier_wait_share"] = 0.9 },
      tables = { steps = { { number = 1, used = true } } } },
    { name = "hardly a wait", finding = false,
      facts = { ["step.used"] = 1, ["validity.earlier_wait_ns"] = 4e5, ["validity.earlier_wait_share"] = 0.004 },
      tables = { steps = { { number = 1, used = true } } } },
    { name = "whole steps", finding = false, facts = { ["step.used"] = 2 },
      tables = { steps = { { number = 1, used = true }, { number = 2, used = true } } } },
  },
}
