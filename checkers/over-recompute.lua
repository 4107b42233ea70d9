-- Activations are computed twice although memory would hold them.
local function of_pytorch(p, cfg)
  local step_ns, ns, calls = p.fact["step.ns"], p.fact["torch.recomputed_ns"], p.fact["torch.recomputed_calls"]
  if not ns or calls < 2 then return nil end
  local cells = p:has("excess") and p:table("excess"):where { flaw = "recompute" }
  ns = math.max(ns, cells and cells:sum("ns") or 0)
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Layers that run again in the backward pass take %s a step"):format(fmt.ms(ns)),
    locations = p:lines_of("torch.recomputed_ns"),
    evidence = { { "recomputing a step", ns, "ns", share = math.min(ns / step_ns, 1) },
                 { "layers run again a step", calls, "count" } },
    condition = ("recomputed layers take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns),
        fmt.pct(cfg.min_share)),
    remedy = { text = "Drop checkpointing where memory allows, or checkpoint fewer and cheaper layers. A loss that "
                 .. "encodes its batch in parts, and again for their gradients, is for batches that do not fit in one.",
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

-- Loops of equinox and diffrax keep some of their states and go forward again from these. Once is what a loop's
-- backward pass needs; what runs more often than the same ops of the loop itself is recomputed.
local function of_loops(p, cfg, ops)
  local calls = {} -- by shapes: of the loop itself
  local ns, spared_ns, names, evidence = 0, 0, {}, {}
  for row in ops:where { scope = { like = "(^|/)checkpointed-fwd/" } }:each() do
    if not row.scope:find("checkpointed-bwd", 1, true) then
      calls[row.shapes or ""] = math.max(calls[row.shapes or ""] or 0, row.calls or 0)
    end
  end
  for row in ops:where { scope = { like = "checkpointed-bwd/.*checkpointed-fwd" } }:top("self_ns", 200):each() do
    local once = calls[row.shapes or ""] or 0
    if once > 0 and row.calls > once and #names < 40 then
      ns, spared_ns = ns + row.self_ns, spared_ns + row.self_ns * (1 - once / row.calls)
      names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
      if #names <= 3 then
        evidence[#evidence + 1] = { ("%s %s, %s calls where the loop has %s"):format(row.name, row.shapes or "",
          fmt.whole(row.calls), fmt.whole(once)), row.self_ns, "ns" }
      end
    end
  end
  local share = spared_ns / p.fact["step.ns"]
  if share < cfg.min_share then return nil end
  table.insert(evidence, 1, { "recomputing more than once a step", spared_ns, "ns", share = math.min(share, 1) })
  return finding {
    title = ("A loop goes forward again and again for its backward pass: %s of each step"):format(fmt.ms(spared_ns)),
    evidence = evidence,
    condition = ("ops that run more often than in the loop itself take %s of the step, %s accepted"):format(
      fmt.pct(share), fmt.pct(cfg.min_share)),
    remedy = { text = "Keep more states of the loop: as many checkpoints as it has steps, where memory allows.",
               code = "adjoint = diffrax.RecursiveCheckpointAdjoint(checkpoints=max_steps)" },
    impact = impact.replay { { "scale", name = table.concat(names, "|"), factor = 1 - spared_ns / ns },
                             fallback = impact.share { ns = spared_ns } },
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
gives such instructions, in PyTorch by layers of the forward pass inside the backward one; of checkpointed loops of
equinox and diffrax what runs again more than once. Priced as their time. Silent when the device's memory is nearly
full.]],

  check = function(p, cfg)
    if p.format == "kineto" then return of_pytorch(p, cfg) end
    if p.framework == "tensorflow" then return of_tensorflow(p, cfg) end
    local ops = p:table("ops")
    local again = ops:where { scope = { like = "rematted_computation|(^|/)remat(_[a-z]+)?(/|$)|checkpoint/rematted" } }
    local ns, all_ns = again:sum("self_ns"), ops:sum("self_ns")
    if all_ns <= 0 then return nil end
    if ns / all_ns < cfg.min_share then return of_loops(p, cfg, ops) end
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
    -- 100 of 124 calls: 5 ms * 100 / 124.
    { name = "a loop with few checkpoints", framework = "jax", finding = true, replay = { 5e6 * 100 / 124 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.9", type = "dot", shapes = "[8,8]x[8,8]->[8,8]", calls = 124, self_ns = 5e6,
                           scope = "jit(f)/transpose(jvp())/checkpointed-bwd/while/body/jvp(checkpointed-fwd)/dot" },
                         { name = "dot.1", type = "dot", shapes = "[8,8]x[8,8]->[8,8]", calls = 24, self_ns = 1e6,
                           scope = "jit(f)/jvp()/checkpointed-fwd/while/body/dot" } } } },
    { name = "a loop that goes forward again once", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.9", type = "dot", shapes = "[8,8]x[8,8]->[8,8]", calls = 24, self_ns = 5e6,
                           scope = "jit(f)/transpose(jvp())/checkpointed-bwd/while/body/jvp(checkpointed-fwd)/dot" },
                         { name = "dot.1", type = "dot", shapes = "[8,8]x[8,8]->[8,8]", calls = 24, self_ns = 1e6,
                           scope = "jit(f)/jvp()/checkpointed-fwd/while/body/dot" } } } },
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
