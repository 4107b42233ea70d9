-- The same kernel takes very different times.
return rule {
  id = "kernel-variance", api = 1, version = "1.0.0",
  title = "The same kernel takes very different times",
  category = "variance", severity = "info",
  needs = { "step.ns", "device.idle_share", "kernels" },
  tags = { "kernels", "variance" },
  params = {
    min_ratio = { default = 5, min = 1, max = 1000, unit = "ratio", doc = "longest over mean" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "of the kernel time" },
    min_alike = { default = 0.95, min = 0, max = 1, unit = "share",
                  doc = "of its time, launches of one grid: other sizes take other times" },
    min_calls = { default = 10, min = 2, max = 1e9, unit = "count", doc = "calls a step" },
  },
  doc = [[
Calls of one kernel with one grid that differ this much wait for something: memory, other streams, the
clock. Collectives wait for ranks and are left out. A fact without a price. Silent for few calls.]],

  check = function(p, cfg)
    local findings = {}
    for _, row in ipairs(
        p:table("kernels"):where { share = { min = cfg.min_share },
                                   calls = { min = cfg.min_calls } }:top("total_ns", 10):rows()) do
      if row.category ~= "collective" and row.max_ns > cfg.min_ratio * row.mean_ns and #findings < 1 and row.grid_blocks
          and (row.grid_share or 1) >= cfg.min_alike then
        findings[#findings + 1] = finding {
          title = ("%s takes %s on average, but up to %s"):format(
            row.family or row.name, fmt.ns(row.mean_ns), fmt.ns(row.max_ns)),
          subject = { kernel = row.name },
          evidence = { { "mean of one call", row.mean_ns, "ns" }, { "longest call", row.max_ns, "ns" },
                       { "shortest call", row.min_ns or 0, "ns" },
                       { "calls a step", row.calls, "count" }, { "of the kernel time", row.share, "share" } },
          condition = ("the longest call takes %.1f times the mean, %.1f accepted"):format(
            row.max_ns / row.mean_ns, cfg.min_ratio),
          remedy = { text = "Look at its sizes first; then at what runs beside it, and at the device's clock." },
          impact = impact.none(),
          confidence = "medium",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "seven times", finding = true, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "gemm", category = "gemm", grid_blocks = 100, calls = 40, mean_ns = 1e5,
                               max_ns = 7e5, min_ns = 5e4, share = 0.4, total_ns = 4e6 } } } },
    { name = "other sizes", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "gemm", category = "gemm", grid_blocks = 100, grid_share = 0.6, calls = 40,
                               mean_ns = 1e5, max_ns = 7e5, min_ns = 5e4, share = 0.4, total_ns = 4e6 } } } },
    { name = "alike", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "gemm", category = "gemm", grid_blocks = 100, calls = 40, mean_ns = 1e5,
                               max_ns = 1.2e5, share = 0.4, total_ns = 4e6 } } } },
  },
}
