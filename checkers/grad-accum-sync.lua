-- Gradients are reduced in each micro-step although the optimizer runs every few.
-- Several backward passes in a step, and as many bytes reduced as gradients were handed over in all of them.
local function within_steps(p, cfg)
  local passes, elements = p.fact["torch.backward_passes"] or 0, p.fact["torch.accumulated_elements"] or 0
  local reduces = p:table("collectives"):where { type = "all-reduce" }
  local bytes, step_ns = reduces:sum("bytes"), p.fact["step.ns"]
  passes = math.floor(passes + 0.5)
  -- Two bytes an element at least; with one reduction in all it would be no more than four for one pass.
  if passes < 2 or elements <= 0 or bytes < cfg.min_reduced * elements * (passes > 2 and 2 or 4) then return nil end
  local ns = math.min(reduces:sum("exposed_ns"), p.fact["comm.exposed_ns"], step_ns)
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Gradients are reduced in each of %s backward passes a step"):format(fmt.count(passes)),
    evidence = { { "all-reduces that nothing covers, a step", ns, "ns", share = ns / step_ns },
                 { "backward passes a step", passes, "count" }, { "reduced a step", bytes, "bytes" },
                 { "elements of gradients a step, all passes", elements, "count" } },
    condition = ("%s reduced for %s elements of gradients in all passes"):format(fmt.bytes(bytes), fmt.count(elements)),
    remedy = { text = "Skip the reduction in all but the last pass.",
               code = "with model.no_sync() if (i + 1) % k else contextlib.nullcontext():\n    loss.backward()" },
    impact = impact.exposed { ns = ns * (1 - 1 / passes), low = 0.7 * ns * (1 - 1 / passes),
                              high = ns * (1 - 1 / passes) },
    claims = { { parts = { "communication" } } },
    confidence = "medium",
  }
end

return rule {
  id = "grad-accum-sync", api = 1, version = "1.0.0",
  title = "Gradients are reduced in each micro-step",
  category = "communication", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "step.used", "comm.exposed_ns", "activities", "collectives" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm", "overlap-low", "small-collectives" },
  params = {
    min_steps = { default = 4, min = 2, max = 1e6, unit = "count",
                  doc = "steps needed to see the rhythm, where each is one pass" },
    min_reduced = { default = 0.8, min = 0, max = 1, unit = "ratio",
                    doc = "within a step: reduced elements over those of the gradients of all passes" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "uncovered reductions over the step" },
  },
  doc = [[
With gradients accumulated over k micro-steps only the last one needs to reduce them. Seen where steps run the backward
pass and all-reduce, and only every k-th runs the optimizer. Priced as the uncovered reductions of the others. Where a
step holds all passes, as many bytes are reduced as gradients come out of all of them. Silent where each step runs the
optimizer after one pass. Sharded parameters reduce each time on purpose.]],

  check = function(p, cfg)
    local step_ns, activities = p.fact["step.ns"], p:table("activities")
    local updates = activities:where { name = { like = "^Optimizer\\.step#" } }
    local share = updates:max("steps_share") or 0
    local forward = activities:where { name = "DistributedDataParallel.forward", steps_share = { min = 0.9 } }
    if share > 0.55 and forward:count() > 0 then return within_steps(p, cfg) end
    if p.fact["step.used"] < cfg.min_steps or share <= 0 or forward:count() == 0 then return nil end
    local reduces = p:table("collectives"):where { type = "all-reduce" }
    local every = activities:where { name = { like = "(?i)allreduce|all_reduce" }, steps_share = { min = 0.9 } }
    local ns = math.min(reduces:sum("exposed_ns"), p.fact["comm.exposed_ns"], step_ns)
    if every:count() == 0 or ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Gradients are reduced in every micro-step, the optimizer runs in %s of them"):format(fmt.pct(share)),
      evidence = { { "all-reduces that nothing covers, a micro-step", ns, "ns", share = ns / step_ns },
                   { "of the steps, those with an update", share, "share" },
                   { "all-reduces a step", reduces:sum("count"), "count" } },
      condition = ("updates in %s of the steps, reductions in all of them"):format(fmt.pct(share)),
      remedy = { text = "Skip the reduction in all but the last micro-step.",
                 code = "with model.no_sync() if (i + 1) % k else contextlib.nullcontext():\n    loss.backward()" },
      impact = impact.exposed { ns = ns * (1 - share) },
      claims = { { parts = { "communication" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "four passes a step", framework = "pytorch", finding = true, impact_ns = 1.27e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["comm.exposed_ns"] = 2e6, ["torch.backward_passes"] = 4,
                ["torch.accumulated_elements"] = 4e6 },
      tables = { activities = { { name = "Optimizer.step#SGD.step", steps_share = 1 },
                                { name = "DistributedDataParallel.forward", steps_share = 1 } },
                 collectives = { { type = "all-reduce", count = 8, exposed_ns = 2e6, bytes = 1.6e7 } } } },
    { name = "four passes and one reduction", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 8, ["comm.exposed_ns"] = 2e6, ["torch.backward_passes"] = 4,
                ["torch.accumulated_elements"] = 4e6 },
      tables = { activities = { { name = "Optimizer.step#SGD.step", steps_share = 1 },
                                { name = "DistributedDataParallel.forward", steps_share = 1 } },
                 collectives = { { type = "all-reduce", count = 2, exposed_ns = 2e6, bytes = 4e6 } } } },
    { name = "every fourth", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.2e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 8, ["comm.exposed_ns"] = 2e6 },
      tables = { activities = { { name = "Optimizer.step#AdamW.step", steps_share = 0.25 },
                                { name = "DistributedDataParallel.forward", steps_share = 1 },
                                { name = "nccl:all_reduce", steps_share = 1 } },
                 collectives = { { type = "all-reduce", count = 8, exposed_ns = 2e6 } } } },
    { name = "each step", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 8, ["comm.exposed_ns"] = 2e6 },
      tables = { activities = { { name = "Optimizer.step#AdamW.step", steps_share = 1 },
                                { name = "DistributedDataParallel.forward", steps_share = 1 },
                                { name = "nccl:all_reduce", steps_share = 1 } },
                 collectives = { { type = "all-reduce", count = 8, exposed_ns = 2e6 } } } },
  },
}
