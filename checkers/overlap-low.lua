-- Little of the communication runs beside computation.
return rule {
  id = "overlap-low", api = 1, version = "1.0.0",
  title = "Little of the communication runs beside computation",
  category = "communication", severity = "info",
  needs = { "step.ns", "device.idle_share", "comm.ns", "comm.share", "comm.overlap", "comm.exposed_ns" },
  cause = "communication", tags = { "communication" },
  params = {
    max_overlap = { default = 0.70, min = 0, max = 1, unit = "share",
                    doc = "share of collective time that kernels should hide" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share", doc = "collectives over the step" },
    min_ns = { default = 1e5, min = 0, max = 1e12, unit = "ns", doc = "collectives a step" },
  },
  doc = [[
Tells how much of the communication is hidden. The price stands with exposed-comm, which this is a
part of. Silent for little communication.]],

  check = function(p, cfg)
    local overlap, share, ns = p.fact["comm.overlap"], p.fact["comm.share"], p.fact["comm.ns"]
    if overlap >= cfg.max_overlap or share < cfg.min_share or ns < cfg.min_ns then return nil end
    return finding {
      title = ("%s of communication runs beside computation"):format(fmt.pct(overlap)),
      evidence = { { "share of collective time that kernels hide", overlap, "share" },
                   { "collectives a step", ns, "ns" },
                   { "of that, hidden by no kernel", p.fact["comm.exposed_ns"], "ns" } },
      condition = ("%s hidden, %s wanted"):format(fmt.pct(overlap), fmt.pct(cfg.max_overlap)),
      remedy = { text = "Start each collective as soon as its data are there, on a stream of its own." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "half", finding = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.ns"] = 3e6, ["comm.share"] = 0.3,
                ["comm.overlap"] = 0.46, ["comm.exposed_ns"] = 1.6e6 } },
    { name = "most", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["comm.ns"] = 3e6, ["comm.share"] = 0.3,
                ["comm.overlap"] = 0.9, ["comm.exposed_ns"] = 3e5 } },
  },
}
