-- The last wave of a kernel's blocks leaves much of the device idle.
return rule {
  id = "tail-wave", api = 1, version = "1.0.0",
  title = "The last wave of a kernel's blocks is nearly empty",
  category = "kernels", severity = "info",
  needs = { "step.ns", "device.idle_share", "kernels.waves_known_share", "kernels" },
  cause = "compute.kernel", tags = { "kernels" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "the kernel's time over the step" },
    min_waste = { default = 0.2, min = 0, max = 1, unit = "share", doc = "of the kernel's time, its last wave" },
    max_fill = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the device, what the last wave fills" },
  },
  doc = [[
Blocks run in waves of as many as the device holds. A kernel of one full wave and a few blocks takes
as long as two. Priced up to the last wave's part of the kernel, half of it in the middle. Silent for
kernels of many waves, and for full last ones.]],

  check = function(p, cfg)
    return p:in_kernels {
      min_share = cfg.min_share, where = { waves = { min = 1.001, max = 1 / cfg.min_waste } },
      looked_at = 20, most = 3,
      find = function(row)
        local full = math.floor(row.waves)
        local fill, waste = row.waves - full, 1 / (full + 1)
        local ns = waste * (row.grid_share or 1) * row.total_ns
        if fill <= 0.001 or fill >= cfg.max_fill or waste < cfg.min_waste or row.category == "collective" then
          return nil
        end
        return {
          title = ("%s runs in %.2f waves: the last is %s full"):format(
            row.family or row.name, row.waves, fmt.pct(fill)),
          evidence = { { "waves", row.waves, "none" },
                       { "blocks", row.grid_blocks or 0, "count" }, { "of the time, the last wave", waste, "share" } },
          condition = ("the last wave takes %s of the kernel, %s accepted"):format(
            fmt.pct(waste), fmt.pct(cfg.min_waste)),
          remedy = { text = "Choose a batch that fills whole waves, or another tile." },
          impact = impact.exposed { ns = ns, low = 0, high = ns },
        }
      end,
    }
  end,

  examples = {
    { name = "one wave and a tenth", finding = true, impact_ns = 2.5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["kernels.waves_known_share"] = 1 },
      tables = { kernels = { { name = "dgrad", family = "dgrad", category = "conv", waves = 1.1, grid_blocks = 896,
                               total_ns = 1e6, op = "" } } } },
    { name = "many waves", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["kernels.waves_known_share"] = 1 },
      tables = { kernels = { { name = "dgrad", category = "conv", waves = 39.2, grid_blocks = 50000,
                               total_ns = 1e6 } } } },
  },
}
