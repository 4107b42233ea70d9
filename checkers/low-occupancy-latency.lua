-- A kernel keeps few warps on each multiprocessor.
return rule {
  id = "low-occupancy-latency", api = 1, version = "1.0.0",
  title = "A kernel keeps few warps on each multiprocessor",
  category = "kernels", severity = "info",
  needs = { "step.ns", "device.idle_share", "kernels.occupancy_known_share", "kernels" },
  cause = "compute.kernel", tags = { "kernels" },
  params = {
    max_occupancy = { default = 0.25, min = 0, max = 1, unit = "share", doc = "estimated occupancy" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "the kernel's time over the step" },
  },
  doc = [[
Few warps cannot hide the time of memory accesses. Products and attention keep few on purpose, and a
grid smaller than the device is small-grid's business: both are left out, as are kernels of vendors'
libraries. Priced as a share of the
kernel's time, at low confidence.]],

  check = function(p, cfg)
    return p:in_kernels {
      min_share = cfg.min_share, where = { occupancy = { min = 0.001, max = cfg.max_occupancy } },
      looked_at = 20, most = 2,
      find = function(row)
        local is_deep = row.tensor_core == "yes" or (row.category or ""):find("gemm|conv|attention|collective")
        local is_vendor = (row.library or ""):find("cudnn|cublas|cutlass|cask|rocblas|miopen|hipblas|nccl|rccl") or
                          (row.family or row.name):find("cudnn|gemm|cask")
        local is_full = row.grid_blocks and row.sm_count and row.grid_blocks >= row.sm_count
        if is_deep or is_vendor or not is_full then return nil end
        return {
          title = ("%s runs at %s occupancy, %s a step"):format(
            row.family or row.name, fmt.pct(row.occupancy), fmt.ms(row.total_ns)),
          evidence = { { "estimated occupancy", row.occupancy, "share" },
                       { "registers a thread", row.registers or 0, "count" },
                       { "threads a block", row.block_threads or 0, "count" } },
          condition = ("%s occupancy, %s accepted"):format(fmt.pct(row.occupancy), fmt.pct(cfg.max_occupancy)),
          remedy = { text = "Fewer registers or less shared memory a block; for kernels of your own, launch bounds." },
          impact = impact.share { ns = math.min(row.total_ns, p.fact["step.ns"]) },
        }
      end,
    }
  end,

  examples = {
    { name = "a scan", finding = true, impact_ns = 3e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["kernels.occupancy_known_share"] = 1 },
      tables = { kernels = { { name = "scan", category = "scan", tensor_core = "unknown", occupancy = 0.1,
                               grid_blocks = 800, sm_count = 80, total_ns = 1e6, op = "" } } } },
    { name = "a product", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["kernels.occupancy_known_share"] = 1 },
      tables = { kernels = { { name = "gemm", category = "gemm", tensor_core = "yes", occupancy = 0.1,
                               grid_blocks = 800, sm_count = 80, total_ns = 1e6 } } } },
  },
}
