-- One range of the program makes much of the communication.
return rule {
  id = "layer-comm-hotspot", api = 1, version = "1.0.0",
  title = "One part of the program makes most of the communication",
  category = "communication", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "comm.share", "comm.exposed_ns", "comm_regions" },
  cause = "communication", tags = { "communication" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "collectives over the step" },
    min_part = { default = 0.4, min = 0, max = 1, unit = "share",
                 doc = "of the time of all collectives, those of the range" },
    min_ratio = { default = 2, min = 1, max = 1e6, unit = "ratio",
                  doc = "its collectives over those of the range with the next most" },
  },
  doc = [[
Sums the time of collectives by the range of the program (`record_function`) that calls them, the innermost one; ranges
that PyTorch makes are looked through. It is a fact, not a fault: it tells where to look first, and rules that know
why communication is slow have a price. Silent where only one range has collectives, where another has nearly as
many, and where communication is little of the step.]],

  check = function(p, cfg)
    local share = p.fact["comm.share"]
    local top = p:table("comm_regions"):top("ns", 3):rows()
    if share < cfg.min_share or #top < 2 then return nil end
    if top[1].share < cfg.min_part or top[1].ns < cfg.min_ratio * top[2].ns then return nil end
    local evidence = {}
    for i, row in ipairs(top) do
      evidence[i] = { row.region .. ", collectives a step", row.ns, "ns",
                      share = math.min(1, row.ns / p.fact["step.ns"]) }
    end
    evidence[#evidence + 1] = { "uncovered communication a step, of all", p.fact["comm.exposed_ns"], "ns" }
    return finding {
      title = ("%s makes %s of the time of all collectives"):format(top[1].region, fmt.pct(top[1].share)),
      subject = { scope = top[1].region },
      evidence = evidence,
      condition = ("%s of the time of collectives, %s accepted; %s times the next range"):format(fmt.pct(top[1].share),
        fmt.pct(cfg.min_part), fmt.count(math.floor(top[1].ns / math.max(top[2].ns, 1)))),
      remedy = { text = (
        "Look at the collectives of %s first: which ones, how large, and what computes meanwhile."):format(
          top[1].region) },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "experts", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.ns"] = 1e7, ["comm.share"] = 0.3, ["comm.exposed_ns"] = 1e6 },
      tables = { comm_regions = { { region = "experts", count = 8, ns = 2e6, share = 0.67 },
                                  { region = "attention", count = 4, ns = 5e5, share = 0.17 } } } },
    { name = "two alike", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.share"] = 0.3, ["comm.exposed_ns"] = 1e6 },
      tables = { comm_regions = { { region = "encoder", count = 8, ns = 1.6e6, share = 0.53 },
                                  { region = "decoder", count = 8, ns = 1.4e6, share = 0.47 } } } },
    { name = "one range around all", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.share"] = 0.3, ["comm.exposed_ns"] = 1e6 },
      tables = { comm_regions = { { region = "train", count = 12, ns = 3e6, share = 1 } } } },
    { name = "little communication", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.share"] = 0.04, ["comm.exposed_ns"] = 1e5 },
      tables = { comm_regions = { { region = "experts", count = 8, ns = 1.5e5, share = 0.75 },
                                  { region = "attention", count = 4, ns = 5e4, share = 0.25 } } } },
    { name = "no ranges", framework = "pytorch", format = "kineto", skipped = true,
      facts = { ["step.ns"] = 1e7, ["comm.share"] = 0.3, ["comm.exposed_ns"] = 1e6 } },
  },
}
