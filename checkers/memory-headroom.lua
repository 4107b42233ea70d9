-- Much memory is free while the device waits for launches.
return rule {
  id = "memory-headroom", api = 1, version = "1.0.0",
  title = "Much memory is free while the device waits for the host",
  category = "memory", severity = "info",
  needs = { "device.idle_share", "device.idle_launch_share", "device.idle_host_late_share", "memory.peak_bytes",
            "memory.capacity_bytes", "memory.peak_share" },
  tags = { "memory", "batch" },
  params = {
    max_share = { default = 0.50, min = 0, max = 1, unit = "share",
                  doc = "peak over capacity below which there is room" },
    min_idle = { default = 0.15, min = 0, max = 1, unit = "share",
                 doc = "share of the step in which the device waits for launches" },
  },
  doc = [[
A larger batch gives each launch more work and the host as many launches as before. No price: the gain
is in samples a second, not in the step, and the batch is a parameter of training. Four times as much is promised
at most: parameters do not grow. Silent where the device is busy or memory is used.]],

  check = function(p, cfg)
    local share = p.fact["memory.peak_share"]
    local idle = p.fact["device.idle_launch_share"] + p.fact["device.idle_host_late_share"]
    if share <= 0 or share >= cfg.max_share or idle < cfg.min_idle then return nil end
    -- Parameters do not grow with the batch, and workspace of libraries grows in steps: more is not sure to fit.
    local times = math.max(2, math.min(4, math.floor(0.8 / share)))
    local is_served = p:has("serving.trains") and not p.fact["serving.trains"]
    local takes_all = p.framework == "tensorflow" and p:has("memory.allocator")
      and p.fact["memory.allocator"]:find("^GPU_%d+_bfc$") ~= nil
    return finding {
      title = ("%s of memory is free while the device waits for the host %s of the step"):format(
        fmt.pct(1 - share), fmt.pct(idle)),
      evidence = { { "peak in use", p.fact["memory.peak_bytes"], "bytes" },
                   { "capacity", p.fact["memory.capacity_bytes"], "bytes" },
                   { "share of the step in which the device waits for launches", idle, "share" } },
      condition = ("%s in use, %s accepted; waits %s, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.max_share), fmt.pct(idle), fmt.pct(cfg.min_idle)),
      remedy = { text = (is_served and "Let more requests in at once: %d times as many should fit." or
                   "Raise the batch where training allows it: %d times as large should fit."):format(times)
                   .. (takes_all and " TensorFlow takes the whole memory when it starts; where others need what is "
                   .. "free, have it take what it uses." or ""),
                 code = takes_all and "for gpu in tf.config.list_physical_devices(\"GPU\"):\n"
                   .. "    tf.config.experimental.set_memory_growth(gpu, True)" or nil },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a fifth used", finding = true,
      facts = { ["device.idle_share"] = 0.4, ["device.idle_launch_share"] = 0.05,
                ["device.idle_host_late_share"] = 0.35, ["memory.peak_bytes"] = 8e9, ["memory.capacity_bytes"] = 40e9,
                ["memory.peak_share"] = 0.2 } },
    { name = "TensorFlow's allocator has all of it", framework = "tensorflow", finding = true,
      facts = { ["device.idle_share"] = 0.4, ["device.idle_launch_share"] = 0.05,
                ["device.idle_host_late_share"] = 0.35, ["memory.peak_bytes"] = 8e9, ["memory.capacity_bytes"] = 40e9,
                ["memory.peak_share"] = 0.2, ["memory.allocator"] = "GPU_0_bfc" } },
    { name = "the device is busy", finding = false,
      facts = { ["device.idle_share"] = 0.02, ["device.idle_launch_share"] = 0.01,
                ["device.idle_host_late_share"] = 0.01, ["memory.peak_bytes"] = 8e9, ["memory.capacity_bytes"] = 40e9,
                ["memory.peak_share"] = 0.2 } },
  },
}
