-- The accelerator stands still for a long time at once.
return rule {
  id = "long-gpu-gap", api = 1, version = "1.0.0",
  title = "The accelerator stands still for a long time at once",
  category = "idle", severity = "warn",
  needs = { "step.ns", "device.idle_share", "path.steps", "step.source", "gaps" },
  cause = "host", tags = { "device", "idle" },
  params = {
    min_ns = { default = 1e6, min = 0, max = 1e12, unit = "ns", doc = "length of a pause from which it is long" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "… and over the step" },
    min_count = { default = 3, min = 1, max = 1e6, unit = "count", doc = "pauses of one kind, or one a step" },
    min_idle = { default = 0.15, min = 0, max = 1, unit = "share",
                 doc = "idle time over the step, below which it is only told" },
  },
  doc = [[
Of the longest pauses in the recording, those of a host that comes late, grouped by what it did. A
pause for input is the business of the input rules. Priced as their time a step, at half. Without
steps there is no price, for a start-up may be in the recording. Silent
for short pauses and for single ones among many steps.]],

  check = function(p, cfg)
    local step_ns, steps = p.fact["step.ns"], math.max(1, p.fact["path.steps"])
    local gaps = p:table("gaps"):where { cause = { like = "host-late|sync|compile" },
                                         ns = { min = math.max(cfg.min_ns, cfg.min_share * step_ns) } }
    local top = gaps:group("host_activity", "ns")[1]
    if not top or top.count < math.min(cfg.min_count, math.max(steps, 2)) then return nil end
    local ns, gap = math.min(top.sum / steps, step_ns), top.first
    local did = top.key and top.key ~= "" and top.key or "Python outside any event"
    local is_whole = p.fact["step.source"] == "whole-trace" -- a start-up may be in it
    local locations = {}
    if gap.source_file and gap.source_file ~= "" then
      locations[1] = { file = gap.source_file, line = gap.source_line }
    end
    return finding {
      title = ("%s of the device, the longest %s, while the host ran %s"):format(
        fmt.many(top.count, "long pause", "long pauses"), fmt.ms(gap.ns), did),
      severity = p.fact["device.idle_share"] >= cfg.min_idle and "warn" or "info",
      subject = { device = gap.device, op = did },
      locations = locations,
      evidence = { { "longest pause", gap.ns, "ns" }, { "pauses of this kind", top.count, "count" },
                   { "their time a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "before it ran", gap.before or "nothing" }, { "after it ran", gap.after or "nothing" } },
      condition = ("pauses over %s and %s of the step"):format(fmt.ms(cfg.min_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Move this work off the thread that launches, do it less often, or queue more before it." },
      impact = is_whole and impact.none() or impact.exposed { ns = ns, low = 0.25 * ns, high = 0.75 * ns },
      claims = { { parts = { "host", "idle.sync", "compile" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "logging between steps", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["path.steps"] = 3, ["step.source"] = "marker" },
      tables = { gaps = { { device = "GPU 0", cause = "host-late", ns = 2e6, host_activity = "log_metrics" },
                          { device = "GPU 0", cause = "host-late", ns = 2e6, host_activity = "log_metrics" },
                          { device = "GPU 0", cause = "host-late", ns = 2e6, host_activity = "log_metrics" } } } },
    { name = "short ones", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3, ["path.steps"] = 3, ["step.source"] = "marker" },
      tables = { gaps = { { device = "GPU 0", cause = "host-late", ns = 2e5, host_activity = "f" } } } },
  },
}
