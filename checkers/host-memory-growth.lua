-- Host memory grows from step to step beside a device.
return rule {
  id = "host-memory-growth", api = 1, version = "1.0.0",
  title = "Host memory grows from step to step",
  category = "memory", severity = "warn",
  formats = { "kineto" },
  needs = { "step.used", "device.idle_share", "allocators" },
  tags = { "memory" },
  params = {
    min_steps = { default = 5, min = 3, max = 1e6, unit = "count", doc = "steps that must not fall" },
    min_growth = { default = 0.005, min = 0, max = 10, unit = "ratio", doc = "growth a step over the peak" },
    min_bytes = { default = 65536, min = 0, max = 1e12, unit = "bytes", doc = "growth a step" },
  },
  doc = [[
What is kept on the host in each step (results in a list, batches in a closure) ends in the loss of the process hours
later. It costs memory, not step time, so there is no price. Silent with fewer than five steps, and where host memory
falls once.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local worst
    for row in p:table("allocators"):where { is_growing = true }:each() do
      if (not row.device or row.device == "") and (row.peak_bytes or 0) > 0 and
         (not worst or row.growth_bytes_per_step > worst.growth_bytes_per_step) then
        worst = row
      end
    end
    if not worst or worst.growth_bytes_per_step < cfg.min_bytes then return nil end
    local ratio = worst.growth_bytes_per_step / worst.peak_bytes
    if ratio < cfg.min_growth then return nil end
    return finding {
      title = ("Host memory grows by %s a step"):format(fmt.bytes(worst.growth_bytes_per_step)),
      subject = { op = worst.allocator },
      evidence = { { "growth a step", worst.growth_bytes_per_step, "bytes" },
                   { "peak while recording", worst.peak_bytes, "bytes" },
                   { "steps", p.fact["step.used"], "count" } },
      condition = ("it never falls over %s steps and grows by %s of its peak a step, %s accepted"):format(
        fmt.count(p.fact["step.used"]), fmt.pct(math.min(1, ratio)), fmt.pct(cfg.min_growth)),
      remedy = { text = "Keep numbers instead of tensors, and clear lists that the loop appends to.",
                 code = "history.append(loss.item())   # every 100 steps, instead of the tensor" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a list of results", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["step.used"] = 8, ["device.idle_share"] = 0.1 },
      tables = { allocators = { { allocator = "cpu", is_growing = true, growth_bytes_per_step = 1e6,
                                  peak_bytes = 5e7 } } } },
    { name = "steady", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.used"] = 8, ["device.idle_share"] = 0.1 },
      tables = { allocators = { { allocator = "cpu", is_growing = false, growth_bytes_per_step = 1e6,
                                  peak_bytes = 5e7 } } } },
    { name = "that of the device", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.used"] = 8, ["device.idle_share"] = 0.1 },
      tables = { allocators = { { allocator = "GPU 0", device = "GPU 0", is_growing = true, growth_bytes_per_step = 1e6,
                                  peak_bytes = 5e7 } } } },
  },
}
