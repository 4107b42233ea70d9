-- Cores of a TPU, or processes, wait for each other in barriers.
local function of_processes(p, cfg)
  local step_ns, barriers = p.fact["step.ns"], p:table("collectives"):where { type = "barrier" }
  local count, ns = barriers:sum("count"), math.min(barriers:sum("exposed_ns"), step_ns)
  if count < cfg.min_barriers or ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("%s it up for %s"):format(fmt.many(count, "barrier a step holds", "barriers a step hold"), fmt.ms(ns)),
    evidence = { { "barriers that nothing covers, a step", ns, "ns", share = ns / step_ns },
                 { "how many", count, "count" } },
    condition = ("barriers take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Leave barriers out of the step: collectives wait for each other by themselves.",
               code = "if step % 1000 == 0: dist.barrier()" },
    impact = impact.exposed { ns = ns, low = 0.7 * ns, high = ns },
    claims = { { parts = { "communication" } } },
    confidence = "medium",
  }
end

return rule {
  id = "barrier-bound", api = 1, version = "1.0.0",
  title = "Cores wait for each other in barriers",
  category = "communication", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ops" },
  cause = "communication", tags = { "communication", "tpu" },
  params = {
    min_barriers = { default = 1, min = 0, max = 1e6, unit = "count", doc = "PyTorch: barriers a step" },
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
                  doc = "mean time of a core in barriers over the step" },
  },
  doc = [[
A core enters the barrier when it has finished and leaves when the last one has: what is long on one is short on the one
the others wait for. Priced as the mean over cores less the shortest. Silent for a single core. Processes of PyTorch
that call barriers in the step are priced by what of them nothing covers.]],

  check = function(p, cfg)
    if p.format == "kineto" then
      if not p:has("collectives") then return skip { reason = "no collective is in the recorded steps" } end
      return of_processes(p, cfg)
    end
    if not p:has("device.idle_share") then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns, by_device, names = p.fact["step.ns"], {}, {}
    for row in p:table("ops"):where { name = { like = "^barrier-cores" } }:each() do
      if row.device then
        if not by_device[row.device] then names[#names + 1] = row.device end
        by_device[row.device] = (by_device[row.device] or 0) + row.self_ns
      end
    end
    if #names < 2 then return nil end
    local sum, least, first = 0, nil, nil
    for _, name in ipairs(names) do
      local ns = by_device[name]
      sum = sum + ns
      if not least or ns < least then least, first = ns, name end
    end
    local mean = sum / #names
    if mean < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Cores wait %s a step in barriers, the shortest %s"):format(fmt.ms(mean), fmt.ms(least)),
      subject = { device = first },
      evidence = { { "mean time of a core in barriers, a step", mean, "ns", share = math.min(1, mean / step_ns) },
                   { "shortest, on " .. first, least, "ns" }, { "cores", #names, "count" } },
      condition = ("barriers take %s of the step, %s accepted"):format(
        fmt.pct(math.min(1, mean / step_ns)), fmt.pct(cfg.min_share)),
      remedy = { text = "Look at what the core that comes last does: its input, or an uneven share of the work." },
      impact = impact.exposed { ns = math.min(mean - least, step_ns) },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "barriers in each step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.7e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::mm", self_ns = 1e6 } },
                 collectives = { { type = "barrier", count = 6, exposed_ns = 2e6 } } } },
    { name = "a barrier now and then", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::mm", self_ns = 1e6 } },
                 collectives = { { type = "barrier", count = 0.1, exposed_ns = 2e6 } } } },
    { name = "one process", framework = "pytorch", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::mm", self_ns = 1e6 } } } },
    { name = "no accelerator", framework = "jax", format = "xspace", skipped = true, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.1", self_ns = 1e6 } } } },
    { name = "one late core", framework = "jax", format = "xspace", finding = true, impact_ns = 1.2e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { ops = { { name = "barrier-cores", device = "TPU 0", self_ns = 2e6 },
                         { name = "barrier-cores", device = "TPU 1", self_ns = 2.4e6 },
                         { name = "barrier-cores", device = "TPU 2", self_ns = 1e5 } } } },
    { name = "short", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1 },
      tables = { ops = { { name = "barrier-cores", device = "TPU 0", self_ns = 2e4 },
                         { name = "barrier-cores", device = "TPU 1", self_ns = 2e4 } } } },
  },
}
