-- The compiler splits a model into several regions with Python between them.
return rule {
  id = "graph-breaks", api = 1, version = "1.0.0",
  title = "A compiled model runs as several regions",
  category = "compile", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_host_late_ns", "activities" },
  cause = "host", tags = { "compile", "host" },
  more_specific_than = { "host-bound", "kernel-launch-bound" },
  params = {
    min_regions = { default = 2, min = 2, max = 1e4, unit = "count", doc = "different regions a step" },
    min_share = { default = 0.03, min = 0, max = 1, unit = "share", doc = "idle time for late launches over the step" },
  },
  doc = [[
Code that torch.compile cannot follow ends a region; the rest becomes the next one, and Python runs between the two.
Regions are told apart by their number in "Torch-Compiled Region: n/m". Priced as up to half of the device's idle time
for late launches. Silent where the host is fast enough, and for one region that runs several times. Several models
compiled apart look the same: then nothing is wrong.]],

  check = function(p, cfg)
    local step_ns, ns = p.fact["step.ns"], math.min(p.fact["device.idle_host_late_ns"], p.fact["step.ns"])
    if ns < cfg.min_share * step_ns then return nil end
    local seen, regions, calls, names = {}, 0, 0, {}
    for row in p:table("activities"):where { name = { like = "^Torch-Compiled Region: \\d+" } }:each() do
      local id = row.name:match("Region: (\\d+)")
      calls = calls + row.events
      if not seen[id] and row.events >= 0.9 then
        seen[id], regions = true, regions + 1
        if #names < 4 then names[#names + 1] = row.name:match("Region: (\\S+)") end
      end
    end
    if regions < cfg.min_regions then return nil end
    return finding {
      title = ("Compiled code runs as %s regions a step; the device waits %s for the host"):format(
        fmt.count(regions), fmt.ms(ns)),
      evidence = { { "idle for late launches a step", ns, "ns", share = ns / step_ns },
                   { "different regions a step", regions, "count" },
                   { "calls of regions a step", calls, "count" },
                   { "regions", table.concat(names, ", ") } },
      condition = ("%s regions, and late launches take %s of the step, %s accepted"):format(
        fmt.count(regions), fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Find what breaks the graph, and move it out or make it traceable.",
                 code = "TORCH_LOGS=graph_breaks python program.py\n"
                   .. "model = torch.compile(model, fullgraph=True)   # names the first break" },
      impact = impact.exposed { ns = ns, low = 0.1 * ns, high = 0.5 * ns },
      claims = { { parts = { "host", "idle.launch" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "five regions", framework = "pytorch", format = "kineto", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 1 },
                                { name = "Torch-Compiled Region: 1/0", events = 1 },
                                { name = "Torch-Compiled Region: 2/0", events = 3 } } } },
    { name = "one region, four calls", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 4 } } } },
    { name = "the host is ahead", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e4 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 1 },
                                { name = "Torch-Compiled Region: 1/0", events = 1 } } } },
  },
}
