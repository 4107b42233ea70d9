-- All kernels slow down by one factor over the recording.
return rule {
  id = "clock-drop-suspected", api = 1, version = "1.0.0",
  title = "All kernels slow down by one factor",
  category = "variance", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "kernels.slowdown", "kernels.slowdown_alike", "kernels.slowdown_kernels", "step.used" },
  tags = { "variance" },
  params = {
    min_slowdown = { default = 1.05, min = 1, max = 100, unit = "ratio", doc = "late over early durations" },
    min_alike = { default = 0.8, min = 0, max = 1, unit = "share",
                  doc = "of the kernels' time, those that slow down alike" },
  },
  doc = [[
Longer inputs or contention slow some kernels; a lower clock slows all by the same factor. Compares each kernel, for the
same op and shapes, in the first and last third of the steps. A fact without a price: telemetry has to confirm it, and
comparisons with other recordings are off meanwhile. Silent where kernels differ.]],

  check = function(p, cfg)
    local factor, alike = p.fact["kernels.slowdown"], p.fact["kernels.slowdown_alike"]
    if factor < cfg.min_slowdown or alike < cfg.min_alike then return nil end
    return finding {
      title = ("All kernels take %s as long at the end as at the beginning"):format(fmt.ratio(factor)),
      evidence = { { "late over early durations", factor, "ratio" },
                   { "of the kernels' time, slower alike", alike, "share" },
                   { "different kernels", p.fact["kernels.slowdown_kernels"], "count" },
                   { "steps", p.fact["step.used"], "count" } },
      condition = ("%s, %s accepted, in %s of their time"):format(
        fmt.ratio(factor), fmt.ratio(cfg.min_slowdown), fmt.pct(alike)),
      remedy = { text = "Look at clocks, power and temperature while it runs.",
                 code = "nvidia-smi --query-gpu=clocks.sm,power.draw,temperature.gpu,clocks_throttle_reasons.active "
                   .. "--format=csv -l 1" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["kernels.slowdown"] = 1.1, ["kernels.slowdown_alike"] = 0.95, ["kernels.slowdown_kernels"] = 30,
                ["step.used"] = 12 } },
    { name = "one kernel", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["kernels.slowdown"] = 1.0, ["kernels.slowdown_alike"] = 0.9, ["kernels.slowdown_kernels"] = 30,
                ["step.used"] = 12 } },
    { name = "each in its own way", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["kernels.slowdown"] = 1.1, ["kernels.slowdown_alike"] = 0.3, ["kernels.slowdown_kernels"] = 30,
                ["step.used"] = 12 } },
  },
}
