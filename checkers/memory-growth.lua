-- Memory grows from step to step.
return rule {
  id = "memory-growth", api = 1, version = "1.0.0",
  title = "Memory grows from step to step",
  category = "memory", severity = "error",
  formats = { "kineto" },
  needs = { "step.ns", "memory.is_growing", "memory.peak_bytes" },
  cause = "memory", tags = { "memory" },
  params = {
    min_growth = { default = 0.01, min = 0, max = 1, unit = "share",
      doc = "growth a step over the peak from which this is said" },
    min_bytes = { default = 1048576, min = 0, max = 1e15, unit = "bytes",
      doc = "growth a step from which this is said" },
  },
  doc = [[
More bytes are in use at the end of each step than of the one before. A list of losses that keeps each step's graph, and
with it all its activations, is the usual cause. It ends in running out of memory and has no price in time. Silent
where memory is given back in any step, and for growth that is small beside the peak.]],

  check = function(p, cfg)
    local growth = p.fact["memory.growth_bytes_per_step"] or p.fact["memory.host_growth_bytes_per_step"]
    local peak = p.fact["memory.peak_bytes"]
    if not p.fact["memory.is_growing"] or not growth or growth < cfg.min_bytes or growth < cfg.min_growth * peak then
      return nil
    end
    local title = ("Memory grows by %s in each step"):format(fmt.bytes(growth))
    local evidence = { { "growth a step", growth, "bytes" }, { "peak", peak, "bytes" }, { "steps",
        p.fact["step.used"] or 0, "count" } }
    local owner = p.fact["memory.top_owner"]
    if owner then evidence[#evidence + 1] = { "who holds most at the peak", owner } end
    local condition = ("%s more at the end of each step, %s accepted"):format(fmt.bytes(growth),
        fmt.bytes(cfg.min_bytes))

    return finding {
      title = title,
      evidence = evidence,
      condition = condition,
      remedy = { text = "Keep numbers, not tensors with their graph: detach what is stored, empty lists, remove hooks.",
                 code = "history.append(loss.detach())   # or loss.item() every 100 steps" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "graphs are kept", framework = "pytorch", finding = true,
      facts = { ["step.ns"] = 1e7, ["memory.is_growing"] = true, ["memory.peak_bytes"] = 1e8,
          ["memory.host_growth_bytes_per_step"] = 8e6 } },
    { name = "gives back", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["memory.is_growing"] = false, ["memory.peak_bytes"] = 1e8,
          ["memory.host_growth_bytes_per_step"] = 8e6 } },
    { name = "little", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["memory.is_growing"] = true, ["memory.peak_bytes"] = 1e8,
          ["memory.host_growth_bytes_per_step"] = 8e4 } },
  },
}
