-- The compiler splits a model into several regions with Python between them.
-- On a host: values are read between regions, which is what breaks a graph and makes several of one function.
local function on_host(p, cfg)
  local step_ns, regions, reads, frames, seen = p.fact["step.ns"], 0, 0, 0, {}
  for row in p:table("activities"):where { name = { like = "^Torch-Compiled Region: \\d+" } }:each() do
    regions = regions + row.events
    local frame = row.name:match("Region: (\\d+)")
    frames, seen[frame] = frames + (seen[frame] and 0 or 1), true
  end
  -- What follows a break is compiled as a frame of its own.
  if frames < 2 then return nil end
  for row in p:table("activities"):where { name = "aten::item" }:each() do reads = reads + row.events end
  if regions < cfg.min_regions + 1 or reads < 0.5 * (regions - 1) then return nil end
  local host_ns = math.min(p:has("part.host_ns") and p.fact["part.host_ns"] or 0, step_ns) * (1 - 1 / regions)
  if host_ns < cfg.min_host_share * step_ns then return nil end
  return finding {
    title = ("Compiled code runs as %s regions a step, and values are read between them: %s beside it"):format(
      fmt.whole(regions), fmt.ms(host_ns)),
    severity = "warn",
    evidence = { { "host work a step beyond that of one region", host_ns, "ns", share = host_ns / step_ns },
                 { "calls of regions a step", regions, "count" }, { "values read a step", reads, "count" } },
    condition = ("%s regions, and the host's work between takes %s of the step, %s accepted"):format(
      fmt.whole(regions), fmt.pct(host_ns / step_ns), fmt.pct(cfg.min_host_share)),
    remedy = { text = "Keep values in tensors inside of the compiled function, and read them outside, rarely.",
               code = "self.peak.copy_(torch.maximum(self.peak, h.abs().max()))   "
                 .. "# instead of max(self.peak, float(…))\n"
                 .. "model = torch.compile(model, fullgraph=True)   # names the first break" },
    impact = impact.exposed { ns = host_ns, low = 0.4 * host_ns, high = host_ns },
    claims = { parts = { "host" } },
    confidence = "medium",
  }
end

return rule {
  id = "graph-breaks", api = 1, version = "1.0.0",
  title = "A compiled model runs as several regions",
  category = "compile", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "activities" },
  cause = "host", tags = { "compile", "host" },
  more_specific_than = { "host-bound", "kernel-launch-bound" },
  params = {
    min_regions = { default = 2, min = 2, max = 1e4, unit = "count", doc = "different regions a step" },
    min_host_share = { default = 0.10, min = 0, max = 1, unit = "share",
                       doc = "the same without a device: work of the host between regions" },
    min_beside_recorder = { default = 0.6, min = 0, max = 10, unit = "ratio",
                            doc = "the same over what recording takes of the step: less may be its error" },
    min_share = { default = 0.03, min = 0, max = 1, unit = "share", doc = "idle time for late launches over the step" },
  },
  doc = [[
Code that torch.compile cannot follow ends a region; the rest becomes the next one, and Python runs between the two.
Regions are told apart by their number in "Torch-Compiled Region: n/m". Priced as up to half of the device's idle
time for late launches, without what recording takes of the host. Silent where the host is fast enough, and for one
region that runs several times. Several models compiled apart look the same: then nothing is wrong. On a host, where
values are read between regions, priced as most of the host's work outside of ops, but for one region.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if not p:has("device.idle_host_late_ns") then return on_host(p, cfg) end
    -- What recording takes of a host that the device waits for is an estimate: little beside it may be no wait at all.
    local bare_ns = p:has("replay.without_recorder_ns") and p.fact["replay.without_recorder_ns"] or step_ns
    local recorder_ns = math.max(0, step_ns - bare_ns)
    local ns = math.max(0, math.min(p.fact["device.idle_host_late_ns"], step_ns) - recorder_ns)
    if ns < cfg.min_share * bare_ns or ns < cfg.min_beside_recorder * recorder_ns then return nil end
    local seen, regions, calls, names = {}, 0, 0, {}
    for row in p:table("activities"):where { name = { like = "^Torch-Compiled Region: \\d+" } }:each() do
      local id = row.name:match("Region: (\\d+)")
      calls = calls + row.events
      if not seen[id] and row.events >= 0.9 then
        seen[id], regions = true, regions + 1
        names[#names + 1] = id
      end
    end
    if regions < cfg.min_regions then return nil end
    table.sort(names, function(a, b) return tonumber(a) < tonumber(b) end)
    return finding {
      title = ("Compiled code runs as %s regions a step; the device waits %s for the host"):format(
        fmt.count(regions), fmt.ms(ns)),
      evidence = { { "idle for late launches a step", ns, "ns", share = ns / step_ns },
                   { "different regions a step", regions, "count" },
                   { "calls of regions a step", calls, "count" },
                   { "regions", table.concat(names, ", ", 1, math.min(#names, 4)) } },
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
    -- 4 ms of the host, of which one of eight regions keeps its part.
    { name = "a value is read in each layer, on a host", framework = "pytorch", finding = true, severity = "warn",
      impact_ns = 2.45e6, facts = { ["step.ns"] = 1e7, ["part.host_ns"] = 4e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 1/18", events = 4, total_ns = 2e6 },
                                { name = "Torch-Compiled Region: 2/30", events = 4, total_ns = 3e6 },
                                { name = "aten::item", events = 7, total_ns = 1e5 } } } },
    { name = "one region in a loop, on a host", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.host_ns"] = 4e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 1/18", events = 8, total_ns = 5e6 },
                                { name = "aten::item", events = 7 } } } },
    { name = "models compiled apart, on a host", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.host_ns"] = 4e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 1/0", events = 4, total_ns = 5e6 },
                                { name = "Torch-Compiled Region: 2/0", events = 4, total_ns = 5e6 } } } },
    { name = "five regions", framework = "pytorch", format = "kineto", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 1 },
                                { name = "Torch-Compiled Region: 1/0", events = 1 },
                                { name = "Torch-Compiled Region: 2/0", events = 3 } } } },
    -- 1.5 of 10 ms are the recorder's: of 2 ms of idle time half a one is left.
    { name = "the recorder's time", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6, ["replay.without_recorder_ns"] = 8.5e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 1 },
                                { name = "Torch-Compiled Region: 1/0", events = 1 } } } },
    { name = "one region, four calls", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 4 } } } },
    { name = "the host is ahead", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e4 },
      tables = { activities = { { name = "Torch-Compiled Region: 0/0", events = 1 },
                                { name = "Torch-Compiled Region: 1/0", events = 1 } } } },
  },
}
