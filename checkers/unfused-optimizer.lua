-- The optimizer updates parameter by parameter.
local FUSED = {
  Adagrad = "optimizer = torch.optim.Adagrad(model.parameters(), lr=1e-2, fused=True)",
  Adam = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)",
  AdamW = "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)",
  SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, fused=True)",
}

-- What lets one op do all parameters, for the optimizer that is recorded: four have the argument. On a host, lists save
-- the others nothing, for each op over a list goes through it there; compiled steps of them are three to five times
-- as fast.
local function one_op(p)
  local worst = p:has("activities") and
    p:table("activities"):where { name = { like = "^Optimizer\\.step#\\w+\\.step$" } }:top("total_ns", 1):rows()[1]
  local name = worst and worst.name:match("#(\\w+)\\.step$")
  local code = FUSED[name or "AdamW"]
  if code then return { text = "Let one op update all parameters.", code = code } end
  return { text = ("%s has no fused form: compile its step, with the rate in a tensor so that a schedule does not "
                   .. "compile it anew."):format(name),
           code = "# lr=torch.tensor(1e-3)\nstep = torch.compile(optimizer.step)   # once; then step() in the loop" }
end

-- A loop over the parameters that no optimizer's range is around: updates, averages of weights.
local function by_hand(p, cfg)
  local step_ns, ns = p.fact["step.ns"], p.fact["torch.by_hand_ns"] or 0
  local calls, writes = p.fact["torch.by_hand_calls"] or 0, p.fact["torch.by_hand_writes"] or 0
  local limit = p:host_limit()
  -- Clipping one by one writes as often; it has a rule of its own.
  if limit and not limit.waits or calls < cfg.min_calls or (p.fact["torch.clip_norms"] or 0) >= cfg.clip_norms or
     (p.fact["torch.by_hand_call_ns"] or 0) > cfg.max_call_ns then return nil end
  -- With an accelerator that waits they are launches.
  if limit then ns = p.fact["torch.by_hand_host_ns"] or 0 end
  -- What copy.deepcopy goes through is no update: checkpoint-every-step tells it.
  ns = ns - (p:has("excess") and p:table("excess"):where { flaw = "deep-copies" }:sum("ns") or 0)
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("A loop over the parameters calls %s ops a step: %s"):format(fmt.whole(calls), fmt.ms(ns)),
    locations = p:lines_of("torch.by_hand_ns"),
    evidence = { { "the loop a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "ops it calls a step", calls, "count" }, { "of them, those that write", writes, "count" } },
    condition = ("%s ops a step behind the backward pass, none over many parameters"):format(fmt.whole(calls)),
    remedy = { text = "Let one op do all parameters.",
               code = "torch._foreach_lerp_(averages, parameters, 0.01)   "
                 .. "# or optimizer = torch.optim.SGD(…, foreach=True)" },
    impact = limit and impact.exposed { ns = ns, low = (1 - 2 * cfg.left) * ns, high = ns }
      or impact.exposed { ns = 0.7 * ns, low = 0.2 * ns, high = 0.7 * ns },
    claims = limit and { { parts = { "host", "idle.launch" } }, { parts = { "compute" } } } or nil,
    confidence = "medium",
  }
end

-- An accelerator that waits for the host: the step of the optimizer is its launches.
local function of_launches(p, cfg)
  local limit = p:host_limit()
  if not limit or not limit.waits then return nil end
  local ns, calls = p.fact["torch.update_host_ns"] or 0, p.fact["torch.update_calls"]
  if ns < cfg.min_share * p.fact["step.ns"] then return nil end
  return finding {
    title = ("The optimizer launches %s ops a step one by one: %s"):format(fmt.whole(calls), fmt.ms(ns)),
    locations = p:lines_of("torch.update_ns"),
    evidence = { { "optimizer on the host a step", ns, "ns", share = math.min(1, ns / p.fact["step.ns"]) },
                 { "its kernels a step", p.fact["torch.update_ns"], "ns" },
                 { "ops it calls a step", calls, "count" },
                 { "gradients a step", p.fact["torch.accumulated_gradients"] or 0, "count" } },
    condition = ("%s ops a step, none over many parameters"):format(fmt.whole(calls)),
    remedy = one_op(p),
    impact = impact.exposed { ns = ns, low = (1 - 2 * cfg.left) * ns, high = ns },
    claims = { { parts = { "host", "idle.launch" } }, { parts = { "compute" } } },
    confidence = "medium",
  }
end

-- TensorFlow without compiling: each of an optimizer's formulas is a pass over all of a weight.
local function of_passes(p, cfg)
  local step_ns, ns, calls, worst = p.fact["step.ns"], 0, 0, nil
  -- Where work of the host holds the step, other threads run them beside it.
  if p.fact["part.compute_ns"] < cfg.min_compute * step_ns then return nil end
  local scope = "(?i)^(.*/)?(adam|adamw|adamax|nadam|adadelta|adafactor|adagrad|rmsprop|sgd|lion|lamb|ftrl)"
    .. "(_[0-9]+)?/"
  for row in p:table("ops"):where { name = { like = scope } }:each() do
    local class = p:class_of(row.type or "")
    if row.self_ns >= cfg.min_pass_ns * row.calls and (class == "elementwise" or row.type:find("^Assign")) then
      ns, calls = ns + row.self_ns, calls + row.calls
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  if not worst or calls < cfg.min_passes or ns < cfg.min_pass_share * step_ns then return nil end
  ns = math.min(ns, p.fact["part.compute_ns"])
  return finding {
    title = ("The optimizer passes over its weights %s times a step: %s"):format(fmt.whole(calls), fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.name },
    evidence = { { "passes of the optimizer a step", ns, "ns", share = ns / step_ns },
                 { worst.name .. " (" .. worst.type .. ")", worst.self_ns, "ns" } },
    condition = ("%s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_pass_share)),
    remedy = { text = "Compile the step: one pass then updates a weight. Where a layer holds most weights, as a dense "
                 .. "one behind Flatten, make it smaller, by pooling first.",
               code = "model.compile(optimizer, loss, jit_compile=True)   # or GlobalAveragePooling2D()" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

return rule {
  id = "unfused-optimizer", api = 1, version = "1.0.0",
  title = "The optimizer runs parameter by parameter",
  category = "host", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "optimizer", tags = { "ops" },
  more_specific_than = { "tiny-ops", "repeated-op-sequence", "host-bound", "tiny-kernels", "kernel-launch-bound",
      "graph-capture-candidate", "small-grid" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_calls = { default = 64, min = 2, max = 1e7, unit = "count",
      doc = "ops called by the optimizer a step" },
    clip_norms = { default = 16, min = 2, max = 1e7, unit = "count",
      doc = "norms of gradients a step, from which a loop behind the backward pass clips" },
    min_list_calls = { default = 1.5, min = 1, max = 100, unit = "ratio",
      doc = "calls of ops over lists for each gradient, from which each list holds one parameter" },
    min_passes = { default = 6, min = 1, max = 1e7, unit = "count",
      doc = "TensorFlow's passes of an optimizer over weights a step, from which this is said" },
    min_pass_ns = { default = 50e3, min = 0, max = 1e9, unit = "ns", doc = "shorter ones are over few weights" },
    min_compute = { default = 0.75, min = 0, max = 1, unit = "share",
      doc = "of the step, that computes, from which they are looked at" },
    min_pass_share = { default = 0.3, min = 0, max = 1, unit = "share",
      doc = "of the step, that they take; PyTorch's where few ops are called" },
    min_weight_passes = { default = 8, min = 1, max = 1000, unit = "ratio",
      doc = "ops of PyTorch's optimizer a gradient, from which a few large weights are enough: Adam calls ten" },
    left = { default = 0.07, min = 0, max = 1, unit = "share",
      doc = "of what an accelerator waits for in the optimizer, what one op over all parameters costs" },
    max_call_ns = { default = 50e3, min = 0, max = 1e9, unit = "ns",
      doc = "outside the optimizer, what nine of ten ops take with their pause, above which they do enough work each" },
  },
  doc = [[
Each parameter costs the optimizer five to ten small ops, each with Python and the dispatcher before it. The fused form,
which four optimizers have, does all parameters in one, and compiling the step does the same for the others. Priced as
half to most of the optimizer's time; where an accelerator waits for the host, as nearly all of what the host takes for
it. A few large weights are enough where their passes take much of the step.
Silent where ops over many parameters are used already, unless each parameter is a group of its own, with few ops and
below min_share. The same is said of loops that write as many tensors as there are parameters behind the backward pass,
with an accelerator where it waits: updates and averages of weights by hand. In TensorFlow, where a step that is not
compiled spells an optimizer out, the time of its passes over large weights is a bound.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.format == "xspace" then
      if p.framework ~= "tensorflow" or not p:has("ops") or not p:has("part.compute_ns") then
        return skip { reason = "no ops of TensorFlow are recorded in steps" }
      end
      return of_passes(p, cfg)
    end
    if not p:has("torch.update_ns") or not p:has("torch.update_calls") then
      return skip { reason = "no timeline of PyTorch ops is recorded", capture = "a timeline of ops" }
    end
    local update_ns, calls = p.fact["torch.update_ns"], p.fact["torch.update_calls"]
    local fused, gradients = p.fact["torch.update_fused_calls"] or 0, p.fact["torch.accumulated_gradients"] or 0
    local updates = math.max(p.fact["torch.updates"] or 1, 1)
    -- Groups of one parameter each: what takes lists is called with one of one.
    local is_grouped = gradients > 0 and fused >= cfg.min_calls * updates and fused >= cfg.min_list_calls * gradients
    if is_grouped then fused = 0 end
    local launches = calls >= cfg.min_calls and fused == 0 and of_launches(p, cfg)
    if launches then return launches end
    -- A few large weights: each op is a pass over a weight, its gradient or its averages.
    local passes = gradients > 0 and calls >= cfg.min_weight_passes * gradients and
      update_ns >= cfg.min_pass_share * step_ns
    if calls < cfg.min_calls and not passes or fused > 0 or update_ns < cfg.min_share * step_ns then
      return by_hand(p, cfg)
    end
    local low_ns, high_ns = 0.5 * update_ns, 0.85 * update_ns
    local title = ("The optimizer calls %s ops a step: %s"):format(fmt.whole(calls), fmt.ms(update_ns))
    local evidence = { { "optimizer a step", update_ns, "ns", share = math.min(1, update_ns / step_ns) },
                       { "ops it calls a step", calls, "count" },
                       { "gradients a step", p.fact["torch.accumulated_gradients"] or 0, "count" } }
    local condition = ("%s ops a step, none over many parameters"):format(fmt.whole(calls))

    if is_grouped then
      return finding {
        title = title, locations = p:lines_of("torch.update_ns"), evidence = evidence, condition = condition,
        remedy = { text = "Put parameters of the same rate and decay into one group: lists are updated group by group.",
                   code = 'optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, '
                     .. '{"params": biases, "weight_decay": 0.0}], fused=True)' },
        impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
        confidence = "medium",
      }
    end
    return finding {
      title = title,
      locations = p:lines_of("torch.update_ns"),
      evidence = evidence,
      condition = condition,
      remedy = one_op(p),
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      claims = { name = "Optimizer\\.step#.*" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "op by op", framework = "pytorch", finding = true, impact_ns = 2.7e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 600,
          ["torch.update_fused_calls"] = 0 } },
    { name = "an optimizer without a fused form", framework = "pytorch", finding = true, impact_ns = 2.7e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 600,
          ["torch.update_fused_calls"] = 0 },
      tables = { activities = { { name = "Optimizer.step#RMSprop.step", total_ns = 4e6 } } } },
    -- As above: nine ops for each of six large weights.
    { name = "few large weights", framework = "pytorch", finding = true, impact_ns = 2.7e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 54,
          ["torch.update_fused_calls"] = 0, ["torch.accumulated_gradients"] = 6 } },
    { name = "few large weights, one op each", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 18,
          ["torch.update_fused_calls"] = 0, ["torch.accumulated_gradients"] = 6 } },
    { name = "few small weights", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 2e6, ["torch.update_calls"] = 54,
          ["torch.update_fused_calls"] = 0, ["torch.accumulated_gradients"] = 6 } },
    { name = "launched op by op", framework = "pytorch", finding = true, impact_ns = 3.72e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 8e5, ["torch.update_calls"] = 600,
          ["torch.update_fused_calls"] = 0, ["torch.update_host_ns"] = 4e6, ["device.idle_share"] = 0.7,
          ["part.compute_ns"] = 3e6 } },
    { name = "launched ahead of a busy device", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 8e5, ["torch.update_calls"] = 600,
          ["torch.update_fused_calls"] = 0, ["torch.update_host_ns"] = 4e6, ["device.idle_share"] = 0.1,
          ["part.compute_ns"] = 9e6 } },
    { name = "over lists", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 600,
          ["torch.update_fused_calls"] = 8 } },
    -- 0.5 to 0.85 of 4 ms: two calls for each of 142 gradients.
    { name = "a group for each parameter", framework = "pytorch", finding = true, impact_ns = 2.7e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 284,
          ["torch.update_fused_calls"] = 284, ["torch.accumulated_gradients"] = 142, ["torch.updates"] = 1 } },
    { name = "small updates, many a step", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e6, ["torch.update_calls"] = 140,
          ["torch.update_fused_calls"] = 140, ["torch.accumulated_gradients"] = 60, ["torch.updates"] = 10 } },
    { name = "by hand", framework = "pytorch", finding = true, impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 0, ["torch.update_calls"] = 0,
          ["torch.by_hand_ns"] = 4e6, ["torch.by_hand_calls"] = 260, ["torch.by_hand_writes"] = 65,
          ["torch.by_hand_call_ns"] = 15e3 } },
    { name = "a state that is copied deeply", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 0, ["torch.update_calls"] = 0,
          ["torch.by_hand_ns"] = 4e6, ["torch.by_hand_calls"] = 260, ["torch.by_hand_writes"] = 65,
          ["torch.by_hand_call_ns"] = 15e3 },
      tables = { excess = { { cell = 1, flaw = "deep-copies", cause = "rare", ns = 3.5e6, share = 0.35 } } } },
    -- 0.86 to 1 of 3 ms of launches.
    { name = "clipping by hand", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 0, ["torch.update_calls"] = 0, ["torch.clip_norms"] = 65,
          ["torch.by_hand_ns"] = 4e6, ["torch.by_hand_calls"] = 260, ["torch.by_hand_writes"] = 65,
          ["torch.by_hand_call_ns"] = 15e3 } },
    { name = "by hand, an accelerator waits", framework = "pytorch", finding = true, impact_ns = 2.79e6,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 0, ["torch.update_calls"] = 0, ["device.idle_share"] = 0.7,
          ["part.compute_ns"] = 3e6, ["torch.by_hand_ns"] = 5e5, ["torch.by_hand_host_ns"] = 3e6,
          ["torch.by_hand_calls"] = 260, ["torch.by_hand_writes"] = 65, ["torch.by_hand_call_ns"] = 5e3 } },
    { name = "by hand, ahead of a busy accelerator", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 0, ["torch.update_calls"] = 0, ["device.idle_share"] = 0.1,
          ["part.compute_ns"] = 9e6, ["torch.by_hand_ns"] = 5e5, ["torch.by_hand_host_ns"] = 3e6,
          ["torch.by_hand_calls"] = 260, ["torch.by_hand_writes"] = 65, ["torch.by_hand_call_ns"] = 5e3 } },
    { name = "large parameters by hand", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e8, ["torch.update_ns"] = 0, ["torch.update_calls"] = 0,
          ["torch.by_hand_ns"] = 4e7, ["torch.by_hand_calls"] = 260, ["torch.by_hand_writes"] = 65,
          ["torch.by_hand_call_ns"] = 6e5 } },
    { name = "a program of JAX", framework = "jax", format = "xspace", skipped = true, facts = { ["step.ns"] = 1e7 } },
    { name = "passes over a dense layer", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 4.8e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { ops = { { name = "adam/Sub_19", type = "Sub", self_ns = 2e6, calls = 1 },
                         { name = "adam/Mul_3", type = "Mul", self_ns = 2e6, calls = 4 },
                         { name = "adam/AssignAddVariableOp", type = "AssignAddVariableOp", self_ns = 8e5, calls = 1 },
                         { name = "adam/Mul_1", type = "Mul", self_ns = 4e5, calls = 40 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 3e6, calls = 1 } } } },
    { name = "beside Python", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 5e6 },
      tables = { ops = { { name = "adam/Sub_19", type = "Sub", self_ns = 4e6, calls = 8 } } } },
    { name = "few weights", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { ops = { { name = "adam/Mul_1", type = "Mul", self_ns = 4e6, calls = 400 },
                         { name = "dense/MatMul", type = "MatMul", self_ns = 3e6, calls = 1 } } } },
    { name = "small", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.update_ns"] = 4e5, ["torch.update_calls"] = 600 } },
  },
}
