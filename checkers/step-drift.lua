-- Steps get longer over the recording.
return rule {
  id = "step-drift", api = 1, version = "1.0.0",
  title = "Steps get longer over the recording",
  category = "variance", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.used", "step.drift_share", "steps" },
  cause = "variance", tags = { "variance" },
  params = {
    min_steps = { default = 10, min = 5, max = 1e6, unit = "count", doc = "steps needed to judge" },
    min_share = { default = 0.03, min = 0, max = 10, unit = "share",
                  doc = "growth over the recording from which this is said" },
    sure_steps = { default = 20, min = 5, max = 1e6, unit = "count",
                   doc = "steps from which the growth is a price; before, it may end soon" },
    sure_ns = { default = 5e6, min = 0, max = 1e12, unit = "ns",
                doc = "a step from which this is a price: another program holds a shorter one up as long as it takes" },
    min_z = { default = 2.58, min = 0, max = 100, unit = "none",
              doc = "Mann-Kendall statistic; 2.58 leaves one per cent to chance" },
  },
  doc = [[
The slope is Theil and Sen's, the significance Mann and Kendall's: both look at pairs of steps, so that single slow
steps do not make a trend. Growing lists, leaks, fragmentation, heat and growing input do. Priced as half of the growth,
in a short recording without a price. Silent where chance can do it.]],

  check = function(p, cfg)
    local step_ns, drift = p.fact["step.ns"], p.fact["step.drift_share"]
    if p.fact["step.used"] < cfg.min_steps or drift < cfg.min_share then return nil end

    local host = p:table("steps"):where { used = true }:group("host", "duration_ns")
    local rows = {}
    local name = #host > 0 and host[1].key or nil
    for step in p:table("steps"):where { used = true }:each() do
      if step.host == name and #rows < 500 then rows[#rows + 1] = step end
    end
    local n = #rows
    if n < cfg.min_steps then return nil end
    table.sort(rows, function(a, b) return a.start_ns < b.start_ns end)
    local s = 0
    for i = 1, n do
      for j = i + 1, n do
        local d = rows[j].duration_ns - rows[i].duration_ns
        s = s + (d > 0 and 1 or d < 0 and -1 or 0)
      end
    end
    local z = (s - 1) / math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    if z < cfg.min_z then return nil end
    local growth_ns = drift * step_ns
    local is_sure = n >= cfg.sure_steps and step_ns >= cfg.sure_ns
    return finding {
      title = ("Steps get %s slower over the recording"):format(fmt.pct(drift)),
      evidence = {
        { "growth over the recording", growth_ns, "ns", share = math.min(1, drift) },
        { "steps", n, "count" },
        { "Mann-Kendall statistic", z, "none" },
      },
      condition = ("growth of %s, %s accepted, at a statistic of %.1f, %.2f accepted"):format(
        fmt.pct(drift), fmt.pct(cfg.min_share), z, cfg.min_z),
      remedy = { text = "Look for what grows: lists that keep tensors, metrics kept on the device, longer inputs, "
                   .. "memory; and for clocks that fall with heat." },
      severity = is_sure and "warn" or "info",
      impact = is_sure and impact.exposed { ns = growth_ns / 2 } or impact.none(),
      confidence = "low",
    }
  end,

  examples = {
    { name = "each step a little longer", finding = true,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.drift_share"] = 0.1 },
      tables = { steps = {
        { host = "h", start_ns = 0, duration_ns = 9.5e6, used = true },
        { host = "h", start_ns = 1e7, duration_ns = 9.6e6, used = true },
        { host = "h", start_ns = 2e7, duration_ns = 9.7e6, used = true },
        { host = "h", start_ns = 3e7, duration_ns = 9.8e6, used = true },
        { host = "h", start_ns = 4e7, duration_ns = 9.9e6, used = true },
        { host = "h", start_ns = 5e7, duration_ns = 1e7, used = true },
        { host = "h", start_ns = 6e7, duration_ns = 1.01e7, used = true },
        { host = "h", start_ns = 7e7, duration_ns = 1.02e7, used = true },
        { host = "h", start_ns = 8e7, duration_ns = 1.03e7, used = true },
        { host = "h", start_ns = 9e7, duration_ns = 1.04e7, used = true } } } },
    { name = "up and down", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["step.drift_share"] = 0.05 },
      tables = { steps = {
        { host = "h", start_ns = 0, duration_ns = 9.5e6, used = true },
        { host = "h", start_ns = 1e7, duration_ns = 1.1e7, used = true },
        { host = "h", start_ns = 2e7, duration_ns = 9.7e6, used = true },
        { host = "h", start_ns = 3e7, duration_ns = 1.08e7, used = true },
        { host = "h", start_ns = 4e7, duration_ns = 9.9e6, used = true },
        { host = "h", start_ns = 5e7, duration_ns = 1e7, used = true },
        { host = "h", start_ns = 6e7, duration_ns = 9.1e6, used = true },
        { host = "h", start_ns = 7e7, duration_ns = 1.12e7, used = true },
        { host = "h", start_ns = 8e7, duration_ns = 9.3e6, used = true },
        { host = "h", start_ns = 9e7, duration_ns = 1.04e7, used = true } } } },
  },
}
