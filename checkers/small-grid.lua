-- A kernel has fewer blocks than the device has multiprocessors.
return rule {
  id = "small-grid", api = 1, version = "1.0.0",
  title = "A kernel uses part of the multiprocessors",
  category = "kernels", severity = "warn",
  needs = { "step.ns", "device.idle_share", "kernels" },
  cause = "compute.kernel", tags = { "kernels" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "the kernel's time over the step" },
    max_use = { default = 0.75, min = 0, max = 1, unit = "share",
                doc = "blocks over multiprocessors below which it is said" },
  },
  doc = [[
Each block runs on one multiprocessor: fewer blocks leave the others idle. Priced as the share of the
device that is idle, at half: a larger grid needs more work or another algorithm. Silent for
collectives, which use few on purpose, and for libraries' products, which size their grid to the device.]],

  check = function(p, cfg)
    return p:in_kernels {
      min_share = cfg.min_share, where = { grid_blocks = { min = 1 }, sm_count = { min = 1 } },
      looked_at = 20, most = 3,
      find = function(row)
        local use = row.grid_blocks / row.sm_count
        local time_ns = (row.grid_share or 1) * row.total_ns -- in launches of this grid
        local ns = time_ns * (1 - use)
        if use >= cfg.max_use or time_ns < cfg.min_share * p.fact["step.ns"] or row.category == "collective" then
          return nil
        end
        return {
          title = ("%s runs %s on %d multiprocessors, %s a step"):format(
            row.family or row.name, fmt.many(row.grid_blocks, "block", "blocks"), row.sm_count, fmt.ms(time_ns)),
          locations = row.source_file and row.source_file ~= ""
            and { { file = row.source_file, line = row.source_line } } or {},
          evidence = { { "blocks", row.grid_blocks, "count" },
                       { "multiprocessors", row.sm_count, "count" }, { "calls a step", row.calls or 1, "count" } },
          condition = ("%s of the multiprocessors, %s wanted"):format(fmt.pct(use), fmt.pct(cfg.max_use)),
          remedy = { text = "Give one launch more work: a larger batch, split the reduction, join calls; "
                       .. "or run it beside others on a stream of its own." },
          impact = impact.exposed { ns = ns, low = 0.25 * ns, high = 0.75 * ns },
        }
      end,
    }
  end,

  examples = {
    { name = "eight blocks", finding = true, impact_ns = 4e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "softmax<float>", family = "softmax", category = "softmax", grid_blocks = 8,
                               sm_count = 80, total_ns = 1e6, op = "" } } } },
    { name = "a collective", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "nccl", category = "collective", grid_blocks = 8, sm_count = 80,
                               total_ns = 1e6 } } } },
    { name = "a full grid", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { kernels = { { name = "softmax", category = "softmax", grid_blocks = 800, sm_count = 80,
                               total_ns = 1e6 } } } },
  },
}
