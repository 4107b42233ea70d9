-- Activations are computed twice although memory would hold them.
local function of_pytorch(p, cfg)
  local step_ns, ns, calls = p.fact["step.ns"], p.fact["torch.recomputed_ns"], p.fact["torch.recomputed_calls"]
  if not ns or calls < 2 then return nil end
  local cells = p:has("excess") and p:table("excess"):where { flaw = "recompute" }
  ns = math.max(ns, cells and cells:sum("ns") or 0)
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Layers that run again in the backward pass take %s a step"):format(fmt.ms(ns)),
    evidence = { { "recomputing a step", ns, "ns", share = math.min(ns / step_ns, 1) },
                 { "layers run again a step", calls, "count" } },
    condition = ("recomputed layers take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns),
        fmt.pct(cfg.min_share)),
    remedy = { text = "Drop checkpointing where memory allows, or checkpoint fewer and cheaper layers.",
               code = "x = block(x)   # instead of torch.utils.checkpoint.checkpoint(block, x)" },
    impact = cells and cells:count() > 0 and impact.cells(cells) or
        impact.exposed { ns = ns, low = 0.8 * ns, high = math.min(1.2 * ns, step_ns) },
    confidence = "medium",
  }
end

-- Copies of forward ops among the gradients of a TensorFlow graph.
local function of_tensorflow(p, cfg)
  return p:in_excess {
    flaw = "forward-again", min_share = cfg.min_share, time = "running forward again",
    title = "Forward ops that run again among the gradients take %s a step",
    remedy = { text = "Call the layers directly where memory allows, or wrap fewer and cheaper ones.",
               code = "x = block(x)   # instead of tf.recompute_grad(block)(x)" },
    confidence = "medium",
  }
end

return rule {
  id = "over-recompute", api = 1, version = "1.0.0",
  title = "Activations are computed twice",
  category = "memory", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "ops" },
  cause = "compute.recompute", tags = { "memory", "jax" },
  params = {
    min_share = { default = 0.08, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops in recomputation from which this is said" },
    min_free = { default = 0.2, min = 0, max = 1, unit = "share", doc = "share of the device memory that is free" },
  },
  doc = [[
Rematerialisation trades computing for memory: the forward pass runs again inside the backward one.
Where memory is not short the second pass buys nothing. Recognised by the scope that the compiler
gives such instructions, in PyTorch by layers of the forward pass inside the backward one. Priced as their time. Silent
when the device's memory is nearly full.]],

  check = function(p, cfg)
    if p.format == "kineto" then return of_pytorch(p, cfg) end
    if p.framework == "tensorflow" then return of_tensorflow(p, cfg) end
    local ops = p:table("ops")
    local again = ops:where { scope = { like = "rematted_computation|(^|/)remat(_[a-z]+)?(/|$)|checkpoint/rematted" } }
    local ns, all_ns = again:sum("self_ns"), ops:sum("self_ns")
    if all_ns <= 0 or ns / all_ns < cfg.min_share then return nil end
    if p:has("memory.peak_share") and p.fact["memory.peak_share"] > 1 - cfg.min_free then return nil end

    local names, evidence = {}, { { "recomputing a step", ns, "ns", share = math.min(ns / p.fact["step.ns"],
        1) },
                                  { "share of all op time", ns / all_ns, "share" } }
    for i, row in ipairs(again:top("self_ns", 40):rows()) do
      names[i] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
      if i <= 3 then evidence[#evidence + 1] = { row.name .. " " .. (row.shapes or ""), row.self_ns, "ns" } end
    end
    return finding {
      title = ("Recomputing activations takes %s of op time"):format(fmt.pct(ns / all_ns)),
      evidence = evidence,
      condition = ("recomputed ops take %s of op time, %s accepted"):format(fmt.pct(ns / all_ns),
          fmt.pct(cfg.min_share)),
      remedy = { text = "Drop checkpointing, or keep the results that are dear to compute.",
                 code = "jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable)   # or plain f" },
      impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = 0 },
                               fallback = impact.share { ns = ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "recompute_grad", framework = "tensorflow", format = "xspace", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "forward-again", ns = 2e6, share = 0.2, factor = 0 } } } },
    { name = "a name twice", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "forward-again", ns = 2e5, share = 0.02, factor = 0 } } } },
    { name = "a third again", framework = "jax", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.9", type = "dot",
          scope = "jit(f)/jit(main)/transpose(jvp())/rematted_computation/dot_general", self_ns = 3e6 },
                         { name = "dot.1", type = "dot", scope = "jit(f)/jit(main)/jvp()/dot_general",
                             self_ns = 6e6 } } } },
    { name = "no recomputation", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.1", type = "dot", scope = "jit(f)/jit(main)/jvp()/dot_general",
          self_ns = 6e6 } } } },
    { name = "checkpointed blocks", format = "kineto", framework = "pytorch", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["torch.recomputed_ns"] = 3e6, ["torch.recomputed_calls"] = 24 },
      tables = { ops = { { name = "aten::linear", type = "aten::linear", self_ns = 3e6 } } } },
    { name = "no layer runs again", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.recomputed_ns"] = 0, ["torch.recomputed_calls"] = 0 },
      tables = { ops = { { name = "aten::linear", type = "aten::linear", self_ns = 3e6 } } } },
  },
}
