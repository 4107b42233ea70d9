-- Some launches take far longer than the others although nothing is queued.
return rule {
  id = "launch-latency-outliers", api = 1, version = "1.0.0",
  title = "Some launches take far longer than the others",
  category = "host", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "launch.linked_count", "launch.slow_share", "launch.slow_count", "launch.slow_excess_ns",
            "launch.slow_worst_ns", "launch.latency_median_ns" },
  cause = "host", tags = { "launch" },
  params = {
    min_launches = { default = 100, min = 1, max = 1e9, unit = "count", doc = "launches needed to tell an outlier" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "of the launches, slow ones" },
    max_share = { default = 0.25, min = 0, max = 1, unit = "share",
                  doc = "above it they are the rule and no outliers" },
    min_cost = { default = 0.005, min = 0, max = 1, unit = "share", doc = "their excess over the step" },
  },
  doc = [[
A launch call of over 50 µs, or a kernel that starts over 100 µs after its call on an idle device, points at locks,
loading of code or memory calls in between. Priced as what is above the median launch while the device was idle. Silent
where work was queued, for then waiting is free, and below 5 % of the launches.]],

  check = function(p, cfg)
    local step_ns, share = p.fact["step.ns"], p.fact["launch.slow_share"]
    local ns = math.min(p.fact["launch.slow_excess_ns"], step_ns)
    if p.fact["launch.linked_count"] < cfg.min_launches or share < cfg.min_share or share > cfg.max_share then
      return nil
    end
    if ns < cfg.min_cost * step_ns then return nil end
    return finding {
      title = ("%s of launches are slow: %s of idle device a step"):format(fmt.pct(share), fmt.ms(ns)),
      evidence = { { "idle during slow launches a step, above the median", ns, "ns", share = ns / step_ns },
                   { "slow launches a step", p.fact["launch.slow_count"], "count" },
                   { "longest from call to kernel", p.fact["launch.slow_worst_ns"], "ns" },
                   { "median from call to kernel", p.fact["launch.latency_median_ns"], "ns" } },
      condition = ("%s of the launches, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Pin the launching thread to a core, keep allocations and first uses of kernels out of the "
                   .. "step.",
                 flags = "CUDA_MODULE_LOADING=EAGER" },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "host", "idle.launch" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", format = "kineto", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["launch.linked_count"] = 1000, ["launch.slow_share"] = 0.1,
                ["launch.slow_count"] = 10, ["launch.slow_excess_ns"] = 5e5, ["launch.slow_worst_ns"] = 4e5,
                ["launch.latency_median_ns"] = 8e3 } },
    { name = "all of them", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["launch.linked_count"] = 1000, ["launch.slow_share"] = 0.9,
                ["launch.slow_count"] = 90, ["launch.slow_excess_ns"] = 5e5, ["launch.slow_worst_ns"] = 4e5,
                ["launch.latency_median_ns"] = 1e5 } },
    { name = "few", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["launch.linked_count"] = 1000, ["launch.slow_share"] = 0.01,
                ["launch.slow_count"] = 1, ["launch.slow_excess_ns"] = 5e5, ["launch.slow_worst_ns"] = 4e5,
                ["launch.latency_median_ns"] = 8e3 } },
  },
}
