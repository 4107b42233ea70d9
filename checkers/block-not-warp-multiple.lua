-- A kernel's blocks leave lanes of their last warp idle.
return rule {
  id = "block-not-warp-multiple", api = 1, version = "1.0.0",
  title = "A kernel's block size is no multiple of the warp",
  category = "kernels", severity = "info",
  needs = { "step.ns", "device.idle_share", "device.model", "kernels" },
  cause = "compute.kernel", tags = { "kernels" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "the kernel's time over the step" },
    warp = { default = 0, min = 0, max = 128, unit = "count",
             doc = "threads in a warp; 0: 64 on AMD's Instinct, else 32" },
  },
  doc = [[
A block runs in warps of 32 threads (64 on AMD's Instinct); the rest of the last one does nothing.
Priced as that part of the kernel's time. Silent for kernels of libraries.]],

  check = function(p, cfg)
    local warp = cfg.warp > 0 and cfg.warp or p.fact["device.model"]:find("MI\\d|Instinct") and 64 or 32
    return p:in_kernels {
      min_share = cfg.min_share, where = { block_threads = { min = 1 } }, looked_at = 50, most = 3,
      find = function(row)
        local rest = row.block_threads % warp
        if rest == 0 or (row.library or "") ~= "" or row.category == "collective" then return nil end
        local warps = math.ceil(row.block_threads / warp)
        local waste = (1 - rest / warp) / warps
        return {
          title = ("%s has blocks of %d threads, %d to a warp"):format(row.family or row.name, row.block_threads, warp),
          evidence = { { "threads a block", row.block_threads, "count" },
                       { "lanes without work", waste, "share" } },
          condition = ("%d is no multiple of %d"):format(row.block_threads, warp),
          remedy = { text = ("Launch it with blocks of %d threads."):format(warps * warp) },
          impact = impact.exposed { ns = waste * row.total_ns },
        }
      end,
    }
  end,

  examples = {
    { name = "a hundred threads", finding = true, impact_ns = 2e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.model"] = "NVIDIA A100" },
      tables = { kernels = { { name = "mine", library = "", category = "other", block_threads = 100, total_ns = 1e6,
                               op = "" } } } },
    { name = "four warps", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.model"] = "NVIDIA A100" },
      tables = { kernels = { { name = "mine", library = "", category = "other", block_threads = 128,
                               total_ns = 1e6 } } } },
  },
}
