-- A forward pass runs again whose results no backward pass needs, or a backward pass runs twice.
local function second_forward(p, fact, ns, products, severity)
  local trains = severity == "warn"
  return finding {
    title = ("A second forward pass takes %s a step, and no backward pass uses it"):format(fmt.ms(ns)),
    severity = severity, locations = p:lines_of(fact),
    evidence = { { "second forward pass a step", ns, "ns", share = math.min(1, ns / p.fact["step.ns"]) },
                 { "products in it a step", products, "count" } },
    condition = ("%s products repeat trained ones and no backward node belongs to them"):format(fmt.count(products)),
    remedy = { text = trains and "Keep the results of the first pass for metrics and logging. Where it is an "
                   .. "evaluation in another mode (model.eval() beside dropout), evaluate every tenth step." or
                   "If it is the same model on the same batch, keep the results of the first pass. What a "
                   .. "frozen copy, a reference or a teacher, says of data that stays the same is kept with the data. "
                   .. "What a generator made serves both losses: fake.detach() for the discriminator's.",
               code = "logits = model(x); loss = F.cross_entropy(logits, y); "
                 .. "accuracy = (logits.detach().argmax(-1) == y).float().mean()" },
    impact = impact.exposed { ns = ns, low = 0.9 * ns, high = ns },
    confidence = trains and "medium" or "low",
  }
end

-- times: how often where it is six and more, else 0.
local function twice_backward(p, ns, nodes, times)
  return finding {
    title = ("The backward pass runs %s over the same calls: %s a step"):format(
      times > 0 and fmt.whole(times) .. " times" or "twice", fmt.ms(ns)),
    severity = "warn", locations = p:lines_of("torch.backward_again_ns"),
    evidence = { { "backward nodes that ran before, a step", ns, "ns", share = math.min(1, ns / p.fact["step.ns"]) },
                 { "such nodes a step", nodes, "count" } },
    condition = ("%s nodes of the backward pass run again for the same forward call"):format(fmt.whole(nodes)),
    remedy = { text = "Add up the losses and go back once. A state that is carried from one window to the next is "
                 .. "detached where gradients need not reach further back. Gradients of each loss by itself come from "
                 .. "one pass with is_grads_batched=True or torch.func.",
               code = "(loss_a + loss_b).backward()   # instead of retain_graph=True" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

-- Passes that hand gradients to parameters each time add them up there: losses that could be added up first. Rows of a
-- Jacobian are asked for by themselves, and hand on nothing.
local function adds_up(p, times)
  local passes = p.fact["torch.backward_passes"] or 0
  return times > 0 and passes >= times and (p.fact["torch.accumulated_gradients"] or 0) >= passes
end

-- A Jacobian row by row, or one task's gradient after the other: one pass can carry all directions.
local function walked_again(p, ns, times)
  local share = math.min(1, ns / p.fact["step.ns"])
  -- Python starts each pass and takes what it gives: its time goes with them.
  local high_ns = ns + share * (p:has("part.host_ns") and p.fact["part.host_ns"] or 0)
  return finding {
    title = ("Backward passes go over the same calls %s times a step: %s too much"):format(fmt.whole(times),
      fmt.ms(ns)),
    severity = share >= 0.25 and "warn" or "info", locations = p:lines_of("torch.walked_ns"),
    evidence = { { "nodes beyond two a call, and for what they made, a step", ns, "ns", share = share },
                 { "times a step", times, "count" } },
    condition = ("%s nodes of one call in a step, 5 accepted"):format(fmt.whole(times)),
    remedy = { text = "Where the sum of a Jacobian's diagonal or of its squares is wanted, estimate it with a random "
                 .. "vector. Else ask for all rows in one pass: is_grads_batched=True, or torch.func.jacrev.",
               code = "v = torch.randn_like(y)\n"
                 .. "trace = (torch.autograd.grad(y, x, v, create_graph=True)[0] * v).sum(1)" },
    impact = impact.exposed { ns = high_ns, low = 0.9 * ns, high = high_ns },
    confidence = "high",
  }
end

-- Work of one step that is the same each time: built once, it serves all.
local again = {
  { fact = "torch.validation_ns", count = "torch.validation_products", min_count = 1, low = 0.9, high = 1,
    title = "The model runs without gradients behind the update, in each step: %s",
    what = "the pass behind the update a step", counted = "products in it a step",
    text = "Validate every few hundred steps, on part of the data.",
    code = "if step % 500 == 0: validate(model)" },
  { fact = "torch.weights_again_ns", count = "torch.weights_again", min_count = 3, low = 0.85, high = 1,
    title = "A weight is derived from the same parameters for each use: %s a step",
    what = "deriving it again a step, both ways", counted = "times a step",
    text = "Derive the weight once a step, in front of the loop.",
    code = "with torch.nn.utils.parametrize.cached(): loss = model(x)   # or w = g * v / v.norm() once" },
  { fact = "torch.constants_again_ns", count = "torch.constants_again", min_count = 1, low = 0.85, high = 1,
    title = "The same constant is built again and again: %s a step",
    what = "building it again a step", counted = "times a step",
    text = "Build the mask or the positions once and keep them.",
    code = 'self.register_buffer("mask", build_mask(length), persistent=False)' },
}
local function built_again(p, least_ns)
  local step_ns, worst, ns = p.fact["step.ns"], nil, 0
  for _, kind in ipairs(again) do
    local own_ns = p:has(kind.fact) and math.min(p.fact[kind.fact], step_ns) or 0
    if own_ns >= math.max(least_ns, ns) and own_ns > 0 and p.fact[kind.count] >= kind.min_count then
      worst, ns = kind, own_ns
    end
  end
  if not worst then return nil end
  return finding {
    title = worst.title:format(fmt.ms(ns)),
    severity = "warn", locations = p:lines_of(worst.fact),
    evidence = { { worst.what, ns, "ns", share = ns / step_ns }, { worst.counted, p.fact[worst.count], "count" } },
    condition = ("what need not run takes %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(least_ns / step_ns)),
    remedy = { text = worst.text, code = worst.code },
    impact = impact.exposed { ns = worst.high * ns, low = worst.low * ns, high = worst.high * ns },
    confidence = "medium",
  }
end

-- Several gradients through the same forward call: each pass names its ops after the forward op, with a number behind
-- those of passes before it. A product of matrices has two in one pass.
local function is_gradient(p, type)
  return p:class_of(type) == "product" or type:find("Backprop(Filter|Input)|Grad(V\\d)?$")
end
-- Gradients of gradients, as a differential equation or a penalty on them takes, go through each layer several times.
local function is_of_higher_order(p)
  return p:table("ops"):where {
    name = { like = "^(gradient_tape/gradient_tape/|gradients(_\\d+)?/gradients(_\\d+)?/)" },
    type = { class = "product|convolution" } }:count() > 0
end
local function passes_back(p, cfg)
  local step_ns, by_name, list = p.fact["step.ns"], {}, {}
  if is_of_higher_order(p) then return nil end
  -- An op that a device works on has rows of its kernels too, which may be several a run: the time is theirs.
  local rows, kernel_ns = p:table("ops"):where { name = { like = "^(gradient_tape|gradients(_\\d+)?)/" } }, {}
  for row in rows:each() do
    if row.kind == "kernel" then kernel_ns[row.name] = (kernel_ns[row.name] or 0) + row.self_ns end
  end
  -- Each call of tf.gradients in a session's graph has a scope of its own.
  for row in rows:each() do
    if row.kind == "kernel" or not is_gradient(p, row.type or "") then goto next end
    local name = row.name:gsub("^gradients_\\d+/", "gradients/"):gsub("_\\d+$", "")
    local group = by_name[name]
    if not group then
      group = { name = name, ns = 0, calls = 0, row = row, one_pass = row.type:find("MatMul") and 2 or 1 }
      by_name[name], list[#list + 1] = group, group
    end
    group.ns, group.calls = group.ns + (kernel_ns[row.name] or row.self_ns), group.calls + row.calls
    group.least = math.min(group.least or row.calls, row.calls)
    ::next::
  end
  local ns, count, passes, worst = 0, 0, 0, nil
  for _, group in ipairs(list) do
    local here = group.calls / (group.one_pass * group.least)
    -- Two losses may need the gradient of one input; that of weights, one is enough for.
    local is_of_weights = group.row.type:find("BackpropFilter") and here >= 1.5 or group.one_pass == 2 and here >= 1.9
    if group.least > 0 and here >= 1.5 then ns = ns + group.ns * (1 - 1 / here) end
    if group.least > 0 and is_of_weights then
      count, passes = count + 1, math.max(passes, here)
      if not worst or group.ns > worst.ns then worst = group end
    end
  end
  -- Threads work side by side: of the step it takes a share of what all ops take.
  ns = ns / math.max(1, p:has("ops.self_share") and p.fact["ops.self_share"] or 1)
  if count < cfg.min_passed or ns < cfg.min_share * step_ns then return nil end
  ns = math.min(ns, step_ns)
  return finding {
    title = ("The backward pass runs %s times through the same layers: %s a step too much"):format(
      fmt.whole(passes), fmt.ms(ns)),
    severity = "warn",
    subject = { op = worst.name },
    evidence = { { "gradient ops beyond one pass a step", ns, "ns", share = ns / step_ns },
                 { "layers with several", count, "count" },
                 { worst.name .. ", all passes", worst.ns, "ns" } },
    condition = ("gradients of %s forward ops are made more than once"):format(fmt.count(count)),
    remedy = { text = "Add up the losses, weighted, and take one gradient of the sum.",
               code = p.format == "xspace" and "with tf.GradientTape() as tape:\n    loss = a * loss_a + b * loss_b\n"
                 .. "gradients = tape.gradient(loss, variables)"
                 or "gradients = tf.gradients(a * loss_a + b * loss_b, variables)" },
    impact = impact.exposed { ns = ns, low = 0.7 * ns, high = math.min(1.15 * ns, step_ns) },
    confidence = "medium",
  }
end

-- TensorFlow names the ops of a gradient after those that it is for.
local function of_tensorflow(p, cfg)
  local step_ns, trained = p.fact["step.ns"], {}
  local products = p:table("ops"):where { type = { class = "product|convolution", like = "^(?!.*Backprop)" } }
  for row in products:where { name = { like = "^gradient_tape/" } }:each() do
    local of = row.name:match("^gradient_tape/(.*)/[^/]+$")
    while of do
      trained[of] = math.max(trained[of] or 0, row.calls)
      of = of:match("^(.*)/[^/]+$")
    end
  end
  local ns, count, worst = 0, 0, nil
  for row in products:where { name = { like = "^(?!gradient_tape/)" } }:each() do
    local calls = trained[row.name] or trained[row.name:match("^(.*)/[^/]+$") or ""]
    -- Where not every step has the gradient, what runs in the others is no second run: acting between updates, or a
    -- generator that makes what a critic learns from.
    local extra = calls and math.min(row.calls - calls, calls < 1 and calls or row.calls) or 0
    if calls and extra >= cfg.min_extra then
      ns, count = ns + row.self_ns * extra / row.calls, count + 1
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  if count < 2 or ns < cfg.min_share * step_ns then return nil end
  ns = math.min(ns, step_ns)
  -- Gradients without an update are of inputs, as an explanation's or an attack's, and may be of other rows.
  local is_trained = p:table("ops"):where { type = { class = "update" } }:count() > 0
    or p:table("ops"):where { type = { like = "^(Assign.*|Resource.*Apply.*)$" } }:count() > 0
  return finding {
    title = (is_trained and "%s products of the trained forward pass run once more: %s a step"
      or "%s products of the forward pass that gradients are of run once more: %s a step"):format(fmt.count(count),
        fmt.ms(ns)),
    severity = is_trained and "warn" or "info",
    subject = { op = worst.name },
    evidence = { { "products that run again a step", ns, "ns", share = ns / step_ns }, { "how many", count, "count" },
                 { worst.name, worst.self_ns, "ns" }, { "its calls a step", worst.calls, "count" } },
    condition = ("%s products run more often than their gradients"):format(fmt.count(count)),
    remedy = is_trained and {
      text = "Return what metrics need from the training function, and validate every few hundred steps.",
      code = "loss, logits = train_step(x, y)   # instead of train_step(x, y) and then model(x)" } or {
      text = "Return the result together with its gradients, where both are for the same rows.",
      code = "scores, gradients = explain(x)   # instead of model(x) and then explain(x)" },
    -- The run beside them may be of fewer rows.
    impact = impact.exposed { ns = math.min(1.15 * ns, step_ns), low = is_trained and 0.9 * ns or 0,
                              high = math.min(1.15 * ns, step_ns) },
    confidence = is_trained and "medium" or "low",
  }
end

-- A function that gives a result, and another that gives its gradient: nearly all that gradients are not made of runs
-- twice where they run once. A line search asks for more results than gradients, which is its way.
local function result_apart(p, cfg)
  local ops, step_ns = p:table("ops"):where { kind = "op" }, p.fact["step.ns"]
  local passes, gradients = math.huge, 0
  for row in ops:where { name = { like = "^gradient_tape/" } }:each() do
    passes, gradients = math.min(passes, row.calls), gradients + 1
  end
  if gradients < cfg.min_gradients or passes <= 0 then return nil end
  local ns, count, all, worst = 0, 0, 0, nil
  for row in ops:where { name = { like = "^(?!gradient_tape/|_)" } }:each() do
    local class = p:class_of(row.type or "")
    if class ~= "update" and class ~= "variable" then
      all = all + 1
      if row.calls >= 1.8 * passes and row.calls <= 2.2 * passes then
        ns, count = ns + row.self_ns * (1 - passes / row.calls), count + 1
        if not worst or row.self_ns > worst.self_ns then worst = row end
      end
    end
  end
  if count < cfg.min_gradients or count < 0.8 * all then return nil end
  -- Threads work side by side: of the step it takes a share of what all ops take.
  ns = math.min(step_ns, ns / math.max(1, p:has("ops.self_share") and p.fact["ops.self_share"] or 1))
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("What gradients are taken of is computed once more by itself: %s a step"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.name },
    evidence = { { "ops that run twice for one pass of gradients, the second time", ns, "ns", share = ns / step_ns },
                 { "how many", count, "count" }, { "ops beside gradients", all, "count" },
                 { worst.name, worst.self_ns, "ns" } },
    condition = ("%s of %s ops run twice for each pass of gradients"):format(fmt.whole(count), fmt.whole(all)),
    remedy = { text = "Return the result together with its gradient, where both are for the same point: optimizers of "
                 .. "scipy take both from one function.",
               code = "minimize(loss_and_gradient, x, jac=True)   # instead of jac=gradient" },
    -- The call and what its ops wait for go as well.
    impact = impact.exposed { ns = math.min(1.15 * ns, step_ns), low = 0.7 * ns, high = math.min(1.5 * ns, step_ns) },
    confidence = "medium",
  }
end

-- A model of Keras that is called several times in a function, and gradients are made of each call: a call has the
-- model's name with numbers behind it, layers keep theirs. Whether calls are given the same is not recorded.
local function trained_calls(p)
  local calls, layers, list = {}, {}, {}
  for row in p:table("ops"):where { name = { like = "^(gradient_tape/)?(sequential|functional|model)[_0-9]*/.+/" } }
      :each() do
    local back, name, layer = row.name:match("^(gradient_tape/)?([^/]+)/([^/]+)/")
    local call, class = calls[name] or { ns = 0, forward_ns = 0, name = name }, p:class_of(row.type or "")
    calls[name], call.ns = call, call.ns + row.self_ns
    if class == "product" or class == "convolution" then
      local at = layers[layer] or { count = 0, calls = {}, has = {} }
      if not layers[layer] then layers[layer], list[#list + 1] = at, at end
      local way = back and back ~= "" and "back" or "forward"
      at.has[name] = at.has[name] or {}
      if not at.has[name][way] then
        at.has[name][way] = true
        if at.has[name].back and at.has[name].forward then
          at.count = at.count + 1
          at.calls[at.count] = call
        end
      end
      if way == "forward" then call.forward_ns = call.forward_ns + row.self_ns end
    end
  end
  return list
end
local function several_calls(p, cfg)
  local step_ns, most, others = p.fact["step.ns"], nil, 0
  local list = trained_calls(p)
  for _, layer in ipairs(list) do
    if layer.count >= 2 and (not most or layer.count > most.count) then most = layer end
  end
  for _, layer in ipairs(most and list or {}) do
    if layer ~= most and layer.count == most.count and layer.calls[1] == most.calls[1] then others = others + 1 end
  end
  if others == 0 then return nil end
  local ns, least_ns, most_ns = 0, math.huge, 0
  for _, call in ipairs(most.calls) do
    ns, least_ns, most_ns = ns + call.ns, math.min(least_ns, call.forward_ns), math.max(most_ns, call.forward_ns)
  end
  ns = math.min(step_ns, ns / math.max(1, p:has("ops.self_share") and p.fact["ops.self_share"] or 1))
  local high_ns = ns * (1 - 1 / most.count)
  if most_ns > cfg.most_unlike * least_ns or high_ns < cfg.min_calls_share * step_ns then return nil end
  return finding {
    title = ("A model runs %s times in each step, there and back"):format(fmt.whole(most.count)),
    severity = "info",
    subject = { scope = most.calls[1].name },
    evidence = { { "all its calls a step", ns, "ns", share = ns / step_ns }, { "calls", most.count, "count" },
                 { "layers of a call, with the first", others + 1, "count" } },
    condition = ("all calls but one take %s of the step, %s accepted"):format(
      fmt.pct(high_ns / step_ns), fmt.pct(cfg.min_calls_share)),
    remedy = { text = "What goes in twice, as an anchor that is compared with two others or states that two losses "
                 .. "look at, let it run once for, and take one gradient of all losses. Other inputs of one shape put "
                 .. "together into one batch.",
               code = "a, p, n = tf.split(encoder(tf.concat([anchor, positive, negative], 0)), 3)" },
    -- As a rule each input comes twice.
    impact = impact.share { ns = ns / 2 },
    confidence = "low",
  }
end

-- A model of Keras that runs a few times in a step that is marked and trains nothing. Whether it is given the same each
-- time is not recorded.
local function asked_again(p, cfg)
  local ops = p:table("ops")
  if not p:has("step.source") or p.fact["step.source"] ~= "marker" or
      ops:where { name = { like = "^gradient_tape/" } }:count() > 0 then return nil end
  local calls, count, products_ns, ns, worst = math.huge, 0, 0, 0, nil
  for row in ops:where { name = { like = "^(sequential|functional|model)[_0-9]*/.+/" } }:each() do
    local class = p:class_of(row.type or "")
    if class == "product" or class == "convolution" then
      count, calls, products_ns = count + 1, math.min(calls, row.calls), products_ns + row.self_ns
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
    ns = ns + row.self_ns
  end
  if count < 2 or calls < 2 or calls > cfg.most_calls or products_ns < 0.5 * ns then return nil end
  -- Threads work side by side: of the step it takes a share of what all ops take.
  ns = ns / math.max(1, p:has("ops.self_share") and p.fact["ops.self_share"] or 1) * (1 - 1 / calls)
  if ns < cfg.min_asked_share * p.fact["step.ns"] then return nil end
  ns = math.min(ns, p.fact["step.ns"])
  return finding {
    title = ("A model runs %s times in each step"):format(fmt.whole(calls)),
    severity = "info",
    subject = { op = worst.name },
    evidence = { { "all its runs but one a step", ns, "ns", share = ns / p.fact["step.ns"] },
                 { "runs", calls, "count" }, { "its products", count, "count" } },
    condition = ("all runs but one take %s of the step, %s accepted"):format(
      fmt.pct(ns / p.fact["step.ns"]), fmt.pct(cfg.min_asked_share)),
    remedy = { text = "If all runs are given the same, run it once and take all that is asked for from its outputs. "
                 .. "Other inputs of one shape put together into one batch.",
               code = "p = model(x); best, sure = tf.argmax(p, -1), tf.reduce_max(p, -1)" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- Networks by the scope that the graph has them in: how many products of each type, and whether gradients go through.
local function networks(p)
  local nets = {}
  for row in p:table("ops"):where { type = { class = "product|convolution" } }:each() do
    local back, name = row.name:match("^(gradient_tape/)?([^/]+)/.+")
    if name then
      local net = nets[name] or { types = {}, count = 0, ns = 0, calls = math.huge }
      nets[name] = net
      if back and back ~= "" then
        net.updates = math.max(net.updates or 0, row.calls)
      else
        net.types[row.type], net.count = (net.types[row.type] or 0) + 1, net.count + 1
        net.ns, net.calls = net.ns + row.self_ns, math.min(net.calls, row.calls)
        if not net.row or row.self_ns > net.row.self_ns then net.row = row end
      end
    end
  end
  for _, net in sorted_pairs(nets) do
    local parts = {}
    for type, count in sorted_pairs(net.types) do parts[#parts + 1] = type .. "*" .. fmt.whole(count) end
    net.shape = table.concat(parts, " ")
  end
  return nets
end

-- Variables that are written less often than the updates of a step: into a copy of a network, once a step. Eager
-- writes, as of set_weights, have one row for all variables.
local function written_once(p, net)
  local count = 0
  for row in p:table("ops"):where { type = "AssignVariableOp" }:each() do
    local most = row.is_eager and net.calls * net.count or net.calls
    if row.calls < most then count = count + (row.is_eager and row.calls or 1) end
  end
  return count
end

-- Copies of trained networks, as of an older policy, that are made once in a marked step, and run beside each of its
-- several updates. Whether examples come again in it is not recorded; a target network is copied in few of the steps,
-- or follows each update.
local function untrained_copies(p, cfg)
  if not p:has("step.source") or p.fact["step.source"] ~= "marker" then return nil end
  local nets, updates = networks(p), {}
  for _, net in sorted_pairs(nets) do
    if net.updates then updates[net.shape] = math.max(updates[net.shape] or 0, net.updates) end
  end
  local ns, count, worst = 0, 0, nil
  for _, net in sorted_pairs(nets) do
    local beside = not net.updates and net.count >= cfg.min_layers and updates[net.shape] or 0
    if beside >= 2 and net.calls == beside and written_once(p, net) >= net.count then
      ns, count = ns + net.ns, count + 1
      if not worst or net.ns > worst.ns then worst = net end
    end
  end
  -- Threads work side by side: of the step it takes a share of what all ops take.
  ns = math.min(p.fact["step.ns"], ns / math.max(1, p:has("ops.self_share") and p.fact["ops.self_share"] or 1))
  if not worst or ns < cfg.min_asked_share * p.fact["step.ns"] then return nil end
  return finding {
    title = ("Networks that nothing trains run beside each of %s updates a step: %s"):format(
      fmt.whole(worst.calls), fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.row.name },
    evidence = { { "their products a step", ns, "ns", share = ns / p.fact["step.ns"] },
                 { "networks", count, "count" }, { "updates a step", worst.calls, "count" },
                 { "variables written once a step", written_once(p, worst), "count" } },
    condition = ("copies of trained networks take %s of the step, %s accepted"):format(
      fmt.pct(ns / p.fact["step.ns"]), fmt.pct(cfg.min_asked_share)),
    remedy = { text = "What an older policy says of examples was known when they were drawn, and is the same in each "
                 .. "epoch over them: keep its log-probabilities and values with them. A target network whose examples "
                 .. "are new in each update is needed.",
               code = "actions, logp, value = act(obs)   # kept with obs\n"
                 .. "loss = train_step(obs, actions, logp, value)   # not old_actor(obs) in each" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- Rows that a graph tiles and joins with others before a product.
local function tiled_rows(p, cfg)
  local rows = p:has("graph_patterns") and p:table("graph_patterns"):where { pattern = "tiled-rows" }
  local ns, worst = rows and rows:sum("ns") or 0, rows and rows:top("ns", 1):rows()[1]
  local step_ns = p.fact["step.ns"]
  if not worst or ns < cfg.min_tiled_share * step_ns then return nil end
  ns = math.min(ns, step_ns)
  return finding {
    title = ("Copies of the same rows are joined with others and multiplied: %s of each step"):format(fmt.ms(ns)),
    severity = "info",
    subject = { op = worst.op },
    evidence = { { "making copies, and their part of the product, both ways a step", ns, "ns", share = ns / step_ns },
                 { "copies", worst.bytes, "bytes" } },
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_tiled_share)),
    remedy = { text = "Multiply each part by its rows of the weight, and add: the product of a row is then made once, "
                 .. "and its result is broadcast.",
               code = "h = tf.tensordot(history, w_h, 1) + tf.matmul(item, w_i)[:, None]   # not of tf.concat("
                 .. "[history, tf.tile(item, ...)], -1)" },
    impact = impact.exposed { ns = ns, low = 0.6 * ns, high = math.min(1.3 * ns, step_ns) },
    confidence = "medium",
  }
end

-- What the ledger of excess shows of calls; the first that there is says enough.
local structures = {
  -- A block of layers that runs several times a step on ids that do not change.
  { flaw = "repeated-block", time = "all runs but the first", confidence = "medium", severity = "warn",
    title = "The same layers run on the same ids again and again: %s a step",
    remedy = { text = "Run it once before the loop and keep the result, if the ids do not change between rounds.",
               code = "text = encoder(ids)   # before: for t in timesteps: unet(x, t, text)" } },
  { flaw = "second-pass", time = "the call that nothing is trained by", confidence = "medium",
    title = "The function that trains calls its model twice, once for a metric alone: %s a step",
    remedy = { text = "Give the metric the results of the call that is trained.",
               code = "logits = self(x, training=True)   # for the loss and for the metric" } },
  { flaw = "larger-pass", time = "the pass over all rows", confidence = "medium",
    title = "A pass without gradients goes over more rows than are trained, and a few are picked of it: %s a step",
    remedy = { text = "Score the whole buffer once, before its parts are trained, and keep the results; or "
                 .. "score only the rows of this part.",
               code = "with torch.no_grad(): old_scores = policy(buffer)   # once, before the loop over its parts" } },
  { flaw = "same-input", time = "all rounds but the first", confidence = "medium", severity = "warn",
    title = "Layers run in each round of a loop on what no round changes: %s a step",
    remedy = { text = "Run them once before the loop and keep the result.",
               code = "hint = encoder(picture)   # before: for t in timesteps: x = step(x, t, hint)" } },
  { flaw = "kept-window", time = "frames that went through it before", confidence = "medium", severity = "warn",
    title = "Frames of a stream go through the network again for each answer: %s a step",
    remedy = { text = "Let each frame go through the network once, when it comes, and keep its features for the "
                 .. "answers that follow.",
               code = "recent.append(encoder(frame[None])[0])   # recent = collections.deque(maxlen=length)\n"
                 .. "answer = head(torch.stack(list(recent)))" } },
  { flaw = "teacher-again", time = "calls on what another call has seen", confidence = "medium", severity = "warn",
    title = "A network without gradients runs again on what it has seen in the same step: %s a step",
    remedy = { text = "Run it once for each input, before the loop that compares with it, and keep the results.",
               code = "with torch.no_grad(): targets = [teacher(view) for view in views]   "
                 .. "# before: for crop in crops: ..." } },
  -- Where each call has one row, one call for both is worth saying first, and another rule does.
  { flaw = "paired-calls", time = "the second of two calls", confidence = "low", unless = "single-items",
    title = "The same network runs twice in a row on inputs of one shape: the second call takes %s a step",
    remedy = { text = "Leave out a call whose result is multiplied by zero, as of a guidance scale of 1. If both "
                 .. "are needed, make them one call with a batch of both.",
               code = "both = model(torch.cat([x, x]), torch.cat([text, empty]))   # instead of two calls" } },
  { flaw = "trained-again", time = "the second of two calls, there and back", confidence = "medium", severity = "warn",
    title = "The model runs twice on the same batch, there and back: the second call takes %s a step",
    remedy = { text = "Call it once and hand its outputs to everything that is computed of them.",
               code = "out = model(**batch); loss = out.loss + extra(out.logits)   # not model(**batch) again" } },
  { flaw = "network-prefix", time = "runs that begin as a deeper one does, there and back", confidence = "medium",
    severity = "warn", title = "A network runs anew for each depth at which its features are taken: %s a step",
    remedy = { text = "Run it once and keep what comes out at each depth.",
               code = "features, h = [], x\nfor i, layer in enumerate(net):   # not net[:k](x) for each k\n"
                 .. "    h = layer(h)\n    if i in depths: features.append(h)" } },
  { flaw = "trained-pair", time = "the second of two calls, there and back", confidence = "low", severity = "info",
    title = "The same network runs twice in a row, there and back: the second call takes %s a step",
    remedy = { text = "If both calls are given the same batch, keep the outputs of the first. Two inputs of one shape "
                 .. "put together into one batch.",
               code = "a, b = net(torch.cat([first, second])).chunk(2)   # not net(first), net(second)" } },
}
-- What the graph of a loop shows.
local in_loops = {
  { flaw = "loop-fixed", time = "all rounds but one", confidence = "high", severity = "warn",
    title = "The rounds of a loop make the same of what no round changes: %s a step",
    remedy = { text = "Make it once before the loop and hand it to the body, which then also sums its gradients first.",
               code = "keys = tf.tensordot(memory, w_k, 1)   # before tf.while_loop(...), not in its body" } },
  { flaw = "fixed-targets", time = "making it again", severity = "info",
    confidence = "low", -- whether the same is fed each time is not recorded
    title = "Each run of the session makes the same of what no run changes: %s a step",
    remedy = { text = "Run it once before the loop, and feed the results, or keep them in variables.",
               code = "targets = session.run(gram_matrices, {style: picture})   # once\n"
                 .. "session.run(train_op, {target_grams: targets})           # in each step" } },
}
-- What the instructions of compiled programs show.
local compiled = {
  { flaw = "whole-copies",
    title = "Every device computes all of the same: %s of each step",
    text = "Shard the batch over the devices: what is put with PartitionSpec() goes to each of them whole.",
    code = "batch = jax.device_put(batch, NamedSharding(mesh, PartitionSpec(\"data\")))" },
  { flaw = "gathered-rows",
    title = "Every device gathers a result and works on all of it: %s of each step",
    text = "Keep it sharded: each device needs its own rows for loss and metrics, and sums of a few numbers are "
      .. "enough to share. Look for a sharding constraint, an out_sharding or a device_get that replicates it.",
    code = "sums = jax.tree.map(lambda m: m.sum(), metrics)   "
      .. "# on sharded rows, instead of replicating the rows themselves" },
  { flaw = "gathered-weights",
    title = "Weights are copied for each row that is multiplied with them: %s of each step",
    text = "Put the rows together that need the same matrix (a batch a task, or rows sorted by task or expert) and "
      .. "multiply the matrix with all of them at once: nothing is copied, and each matrix is read once.",
    code = "order = jnp.argsort(task); y = jax.lax.ragged_dot(x[order], w, jnp.bincount(task, length=len(w)))   "
      .. "# not w[task]; or a batch of one task: x @ w[t]" },
  { flaw = "gathered-windows",
    title = "Windows that overlap are made and reduced one by one: %s of each step",
    text = "A sum over each window is the difference of two running sums; jax.lax.reduce_window takes maxima and "
      .. "other reductions over windows without making them.",
    code = "total = jnp.cumsum(jnp.pad(x, ((1, 0), (0, 0))), 0)\nmean = (total[w:] - total[:-w]) / w   "
      .. "# not x[starts[:, None] + jnp.arange(w)].mean(1)" },
  { flaw = "gathered-matrix",
    title = "A matrix is made of copies of a few numbers, to be multiplied: %s of each step",
    text = "A matrix whose diagonals are each one number is a convolution: jax.lax.conv_general_dilated takes the "
      .. "numbers as they are, and for long filters a product of Fourier transforms does.",
    code = "n = len(x) + len(w)\ny = jnp.fft.irfft(jnp.fft.rfft(x, n) * jnp.fft.rfft(w, n), n)[:len(x)]   "
      .. "# not w[i[:, None] - i] @ x" },
  { flaw = "summed-rounds",
    title = "Each round of a loop does for its own gradient what its sum needs once: %s of each step",
    text = "Make what the rounds share of the parameters (an inverse, a normalised or orthogonal weight, a product of "
      .. "weights) before the loop and hand it over. The way back then adds up the gradients of all rounds first and "
      .. "goes through it once.",
    code = "w = orthogonal(params)   # before the scan, not in its body\n"
      .. "h, ys = jax.lax.scan(lambda h, x: cell(w, h, x), h, xs)" },
  { flaw = "fixed-work",
    title = "Matrices that the step does not change are decomposed in each step: %s",
    text = "Decompose them once, before the loop or when the data is made, and hand the result over.",
    code = "basis = decompose(matrix)   # once, before the loop; then train_step(state, batch, basis)" },
  { flaw = "batch-work",
    least_share = 0.15, warn_share = 2, confidence = "low", -- whether the same data come again is not recorded
    title = "What is made of the batch alone takes %s of each step",
    text = "Where examples come again, make it of each once, before the loop or when the data is made, and keep it "
      .. "beside them: no weight and no random number goes into it, as neighbours of points, distances, transforms.",
    code = "near = jax.vmap(neighbours)(points)   # once; then train_step(state, points[i], near[i])" },
  { flaw = "frozen-work",
    title = "Features are made of weights that no step changes, in each step: %s",
    text = "Where examples come again, as in several epochs over a data set, make the features of each once, keep "
      .. "them and train on them. Where every batch is new (a replay buffer, fresh augmentation) they are needed.",
    code = "features = jax.jit(backbone)(frozen, images)   # once, before the loop; "
      .. "then train_step(head, features, y)" },
  { flaw = "frozen-teacher",
    least_share = 0.15, warn_share = 2, confidence = "low", -- whether the same data come again is not recorded
    title = "A network that no step changes gives targets in each step: %s",
    text = "Where examples come again as they were, keep its outputs of each and train on them. Where every batch is "
      .. "new, as with fresh augmentation, they are needed; let it see only what the loss takes.",
    code = "targets = jax.jit(teacher)(frozen, images)   # once, before the loop" },
  { flaw = "frozen-layers",
    least_share = 0.15, warn_share = 2, confidence = "low", -- whether the same data come again is not recorded
    title = "Layers that no gradient goes through run in each step: %s",
    text = "Where examples come again, as in several epochs over a data set, make the features of each once, keep "
      .. "them and train on them. Where every batch is new (a replay buffer, fresh augmentation) they are needed.",
    code = "features = backbone.predict(images)   # once; then head.fit(features, labels)",
    torch_code = "with torch.no_grad(): latents = torch.cat([encoder(x) for x in batches])   # once, before the loop\n"
      .. "loss = train_step(latents[rows])   # in it" },
  { flaw = "outer-matrix",
    title = "A matrix of all products of two others is made to be multiplied: %s of each step",
    text = "A Kronecker product is never needed as a matrix: multiply with one factor from the left and with the other "
      .. "from the right.",
    code = "y = a @ x @ b.T   # instead of jnp.kron(a, b) @ x.ravel()" },
  { flaw = "redrawn-rounds",
    warn_share = 2, -- adaptive steps and gradients that are solved backwards need such a tree
    title = "Each round of a loop draws the same random numbers again, on the way to one: %s of each step",
    text = "A tree of halves is gone down from its root for each increment. Where steps are fixed and no gradient is "
      .. "solved backwards, draw once a round from a key of its own, or all before the loop.",
    code = "path = diffrax.UnsafeBrownianPath(shape, key)   # instead of VirtualBrownianTree; for gradients with "
      .. "adjoint=diffrax.DirectAdjoint()" },
  { flaw = "repeated-rows",
    least_share = 0.15, -- where rows are looked up a few times each it is a way to write a program
    title = "The same rows are worked on again for each of their copies: %s of each step",
    text = "Multiply or decompose first, then repeat or look up the results: f(table)[index] is f(table[index]). Of "
      .. "rows that are joined with others before a product, multiply each part by its rows of the weight and add.",
    code = "h = x @ w_x + (context @ w_c)[:, None]   # instead of joining x with the context for each time" },
  { flaw = "same-for-all",
    least_share = 0.1,
    title = "What is equal for all of a batch is worked out for each of it: %s of each step",
    text = "It begins as one array that is tiled or broadcast over the batch, and meets nothing that differs in it. "
      .. "Leave it out of the batch (in_axes=None of vmap, a loop of its own) and spread the result.",
    code = "gains = covariances(params)   # once; then jax.vmap(means, in_axes=(None, 0))(gains, series)" },
  { flaw = "both-branches",
    warn_share = 0.5, -- below that the rare side is cheap, and most of it is picking what was made ahead
    title = "A condition that is mapped over a batch computes all sides for all: %s of each step",
    text = "Mapped, lax.cond and lax.switch compute every side for every row. Sort rows by what they need and call "
      .. "each function for its own; make a rare side ahead and pick one (a pool of states, say); or take the "
      .. "condition out of vmap: lax.cond(jnp.any(done), reset_all, keep).",
    code = "state = jax.lax.cond(done.any(), reset_all, keep, state)   "
      .. "# outside of vmap; or pick from a pool made once" },
}
for _, kind in ipairs(compiled) do
  kind.time, kind.confidence = "such work", kind.confidence or "medium"
  kind.remedy = { text = kind.text, code = kind.code }
  kind.torch_remedy = kind.torch_code and { text = kind.text, code = kind.torch_code }
end

-- The kind as PyTorch says it, where that is another way.
local function said_in(framework, kind)
  if framework ~= "pytorch" or not kind.torch_remedy then return kind end
  local said = {}
  for field, value in pairs(kind) do said[field] = value end
  said.remedy = kind.torch_remedy
  return said
end

-- A finding of each kind of work that the step has enough of.
local function in_excess(p, cfg, kinds)
  local list = {}
  for _, kind in ipairs(kinds) do
    kind.min_share = kind.least_share or cfg.min_built_share
    if kinds == compiled then kind.loud_share = kind.warn_share or cfg.min_loud_share end
    local other = kind.unless and p:has("excess") and p:table("excess"):where { flaw = kind.unless }
    if not other or other:sum("share") < cfg.min_other_share then
      list[#list + 1] = p:in_excess(said_in(p.framework, kind))
    end
  end
  return list
end

-- Examples, of a step of 10 ms: a cell of the ledger that takes a share of it, facts of PyTorch, ops of one type.
local function in_cell(name, framework, flaw, share, says)
  return { name = name, framework = framework, format = framework == "pytorch" and "kineto" or "xspace", finding = true,
           severity = says.severity, impact_ns = says.impact_ns, replay = { share * 1e7 },
           facts = { ["step.ns"] = 1e7 },
           tables = { ops = {}, excess = { { cell = 1, flaw = flaw, ns = share * 1e7, share = share,
                                             factor = says.factor or 0, detail = says.detail } } } }
end
local function in_torch(name, impact_ns, facts)
  local all = { ["step.ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0 }
  for fact, value in pairs(facts) do all[fact] = value end
  return { name = name, framework = "pytorch", format = "kineto", finding = impact_ns ~= nil, impact_ns = impact_ns,
           facts = all, tables = { ops = { { name = "aten::mm", type = "aten::mm", self_ns = 1e6 } } } }
end
local function ops(type, calls, self_ns, names, kind)
  local rows = {}
  for _, name in ipairs(names) do
    rows[#rows + 1] = { name = name, type = type, calls = calls, self_ns = self_ns, kind = kind }
  end
  return rows
end
-- The gradients of three products.
local of_three = { "gradients/a/MatMul_grad/MatMul", "gradients/a/MatMul_grad/MatMul_1",
                   "gradients/b/MatMul_grad/MatMul", "gradients/b/MatMul_grad/MatMul_1",
                   "gradients/c/MatMul_grad/MatMul", "gradients/c/MatMul_grad/MatMul_1" }
local function joined(first, second)
  for _, row in ipairs(second) do first[#first + 1] = row end
  return first
end

-- Four products of 0.5 ms for the gradients of each layer, as two passes take.
local function of_layers(count)
  local names = {}
  for layer = 1, count do
    for pass = 1, 4 do names[#names + 1] = ("gradient_tape/MatMul_%d/MatMul_%d"):format(layer, pass) end
  end
  return ops("_MklMatMul", 1, 5e5, names)
end

-- Ten ops of 0.2 ms a run of which gradients are made, and those, 0.1 ms each: some of the ten run `calls` times.
local function of_points(calls, count)
  local own, twice, back = {}, {}, {}
  for op = 1, 10 do
    local list = op <= count and twice or own
    list[#list + 1], back[op] = ("FFT2D_%d"):format(op), ("gradient_tape/IFFT2D_%d"):format(op)
  end
  return joined(joined(ops("FFT2D", calls, 2e5 * calls, twice, "op"), ops("FFT2D", 1, 2e5, own, "op")),
    ops("IFFT2D", 1, 1e5, back, "op"))
end

-- Two updates a step of a network of three layers, a product of 0.2 ms each way, and an older copy of it that is
-- written so often.
local function of_policies(old_layers, old_calls, written)
  local rows = {}
  for layer = 1, 3 do
    rows = joined(rows, ops("AssignVariableOp", written, 1e3, { "AssignVariableOp_" .. layer }))
  end
  for layer = 1, 3 do
    rows = joined(rows, ops("MatMul", 2, 4e5, { ("actor_1/dense_%d/MatMul"):format(layer) }))
    rows = joined(rows, ops("MatMul", 2, 4e5, { ("gradient_tape/actor_1/dense_%d/MatMul/MatMul_1"):format(layer) }))
  end
  for layer = 4, 3 + old_layers do
    rows = joined(rows, ops("MatMul", old_calls, 4e5, { ("old_1/dense_%d/MatMul"):format(layer) }))
  end
  return rows
end

local function written_eagerly(calls)
  local rows = ops("AssignVariableOp", calls, 1e4, { "AssignVariableOp" })
  rows[1].is_eager = true
  return rows
end

return rule {
  id = "duplicate-compute", api = 1, version = "1.0.0",
  title = "The same work runs twice",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace", "graph", "profile" },
  needs = { "step.ns", "ops" },
  cause = "forward", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_other_share = { default = 0.15, min = 0, max = 1, unit = "share",
      doc = "of calls with one row each over the step, from which another rule speaks of both" },
    min_built_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "PyTorch: the same for validation in each step, derived weights and constants" },
    min_loud_share = { default = 0.25, min = 0, max = 1, unit = "share",
                       doc = "JAX: share of the step from which it is a warning" },
    min_passed = { default = 3, min = 1, max = 1e6, unit = "count",
      doc = "TensorFlow: layers whose weights get several gradients, from which passes count" },
    min_tiled_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "TensorFlow's graphs: share of the step in copies of rows and in their part of products" },
    min_calls_share = { default = 0.15, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: share of the step in all calls of a model but one, each with gradients" },
    min_asked_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: share of the step in all runs of a model but one, without gradients" },
    min_layers = { default = 3, min = 1, max = 1e6, unit = "count",
      doc = "TensorFlow: products of a network that nothing trains, from which it is a copy of one that is trained" },
    most_calls = { default = 4, min = 2, max = 1e6, unit = "count", doc = "TensorFlow: most such runs a step" },
    most_unlike = { default = 3, min = 1, max = 1e6, unit = "ratio", doc = "TensorFlow: times the shortest such call" },
    min_extra = { default = 0.75, min = 0, max = 1e6, unit = "count",
      doc = "TensorFlow: runs a step of a product beyond those of its gradient" },
    min_gradients = { default = 8, min = 1, max = 1e6, unit = "count",
      doc = "TensorFlow: ops of gradients, and as many beside them, from which a result is told from its gradient" },
  },
  doc = [[
In a step that trains, products of the same shapes and in the same order as the trained ones run again, and no
backward node belongs to them: typically metrics that call the model once more. Priced as that time. Silent where the
shapes differ (validation data, a smaller teacher). Where that pass is without gradients it may be another model of
the same shapes, a teacher or a target network: a fact then. Nodes of a backward pass that run again for the same
forward call are losses that go back one by one; six and more for one call are a Jacobian row by row, unless each
pass hands gradients to parameters. Also said of
products of rows that were looked up in a table of far fewer (a layer on both ends of each edge), where the trained
products run without gradients behind the update (validation in each step), where a weight is derived from the same
parameters for each use, and where a constant is built again, and where a network runs twice in a row there and back
with the same weights: a warning where the step makes one input for both, or where both end in a loss of which one is
used, else a fact, since the second may be for another input, as of siamese networks; and where convolutions run anew
for each depth at which their features are taken, as for a loss that compares features. Without training, layers that
each round of a sampler's or a text's loop runs on a tensor that, by sizes, nothing in a round can have made, and
frames of a stream that are joined to a window and go through a network one a row, where by sizes at most half of them
can have come since the window before. In TensorFlow, products that run more often than the gradients named after
them, or nearly all of a function without its gradients, as for an optimizer that asks for both apart, and layers
whose weights get several gradients for one forward call; and a model of Keras that is called several times with
gradients of each call, where inputs may be the same: half of its calls at most, a fact; or a few times without
gradients in a marked step, a bound; and networks with the products of trained ones that are written once in a marked
step and run beside each of its several updates, without gradients, a bound. Gradients of gradients are no second
pass. In graphs, rows that are tiled and joined with others before a product, priced as the copies' part of it, and
what is made of variables that nothing assigns, or of what is fed where it meets what is trained in no layer. In
compiled programs of JAX, decompositions of matrices that come from arguments and not from what the program gives
back, programs whose devices all get the same arguments and exchange nothing, what only a mapped condition takes, the
other side of which was there before, what the graph of a loop makes in each round of what no round changes, results
that every device gathers from the others and then works on as a whole, overlapping windows of a series that are made
and reduced one by one, products of rows that are copies of a few, or of what is equal for all of a batch, matrices
that are copied for each row that is multiplied with them, and in a program with gradients products of arguments alone
that it does not give back.]],

  check = function(p, cfg)
    if p.format == "graph" or p.format == "profile" then
      return in_excess(p, cfg, in_loops)[1] or passes_back(p, cfg) or tiled_rows(p, cfg)
    end
    if p.framework == "tensorflow" then
      local found = of_tensorflow(p, cfg) or result_apart(p, cfg) or passes_back(p, cfg)
        or in_excess(p, cfg, structures)[1]
      local cells = found and {} or in_excess(p, cfg, compiled)
      return found or #cells > 0 and cells or several_calls(p, cfg) or untrained_copies(p, cfg)
        or asked_again(p, cfg)
    end
    local block = p.framework == "pytorch" and in_excess(p, cfg, structures)[1]
    if block then return block end
    local structural = in_excess(p, cfg, compiled)
    if p.framework == "jax" or #structural > 0 then return structural end
    if not p:has("torch.repeated_forward_ns") then
      return skip { reason = "neither PyTorch nor TensorFlow ops with gradients are recorded",
                    capture = "a timeline of ops" }
    end
    local step_ns = p.fact["step.ns"]
    local least_ns = cfg.min_share * step_ns
    local ns, products = p.fact["torch.repeated_forward_ns"], p.fact["torch.repeated_products"]
    local again_ns, nodes = p.fact["torch.backward_again_ns"] or 0, p.fact["torch.backward_again_nodes"] or 0
    local untrained_ns = p.fact["torch.untrained_forward_ns"] or 0
    local walked_ns = p:has("torch.walked_ns") and math.min(p.fact["torch.walked_ns"], step_ns) or 0
    local times = p:has("torch.walks") and p.fact["torch.walks"] or 0
    if walked_ns >= math.max(cfg.min_built_share * step_ns, ns, 1) and not (again_ns > 0 and adds_up(p, times)) then
      return walked_again(p, walked_ns, p.fact["torch.walks"])
    end
    if nodes > 1 and again_ns >= least_ns and again_ns > ns then
      return twice_backward(p, math.min(again_ns, step_ns), nodes, times)
    end
    local built = built_again(p, math.max(cfg.min_built_share * step_ns, 1.25 * ns, 1))
    if built then return built end
    if products == 0 or ns < least_ns then
      if untrained_ns < least_ns then return nil end
      -- Without gradients it may be another model: a teacher, a target network.
      return second_forward(p, "torch.untrained_forward_ns", untrained_ns, p.fact["torch.untrained_products"], "info")
    end
    return second_forward(p, "torch.repeated_forward_ns", ns, products, "warn")
  end,

  examples = {
    in_cell("a batch that is not sharded", "jax", "whole-copies", 0.7,
      { impact_ns = 6.65e6, factor = 0.25, detail = "4 devices run it, each with all of its arguments" }),
    in_cell("weights of its own for each row", "jax", "gathered-weights", 0.6,
      { severity = "warn", factor = 0.05, detail = "a matrix copied for each row that is multiplied with it" }),
    in_cell("a layer behind a lookup", "pytorch", "repeated-rows", 0.5,
      { factor = 0.05, detail = "a product of 24000 rows" }),
    in_cell("a Toeplitz matrix", "jax", "gathered-matrix", 0.7,
      { severity = "warn", factor = 0.01, detail = "a matrix of copies of a few numbers, in a counted order" }),
    in_cell("a solve for each round's gradient", "jax", "summed-rounds", 0.4,
      { severity = "warn", factor = 0.02, detail = "rounds add up what is linear in what each of them makes" }),
    { name = "targets of a style", framework = "tensorflow", format = "profile", finding = true, severity = "info",
      replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "fixed-targets", ns = 4e6, share = 0.4, factor = 0,
                                        detail = "of what is fed" } } } },
    { name = "keys made in each round", framework = "tensorflow", format = "graph", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "loop-fixed", ns = 4e6, share = 0.4, factor = 0.05,
                                        op = "_MklMatMul", detail = "20 rounds of a loop make it of the same" } } } },
    in_cell("a call for the metric", "tensorflow", "second-pass", 0.2,
      { detail = "model_2 has the layers of a call that trains" }),
    -- Three products of 0.4 ms.
    { name = "an old policy beside each update", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 1.2e6, facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" },
      tables = { ops = of_policies(3, 2, 1) } },
    { name = "a target that follows each update", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" }, tables = { ops = of_policies(3, 2, 2) } },
    { name = "an old policy that set_weights makes", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 1.2e6, facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" },
      tables = { ops = joined(of_policies(3, 2, 2), written_eagerly(5)) } },
    { name = "a target that set_weights makes in each update", framework = "tensorflow", format = "xspace",
      finding = false, facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" },
      tables = { ops = joined(of_policies(3, 2, 2), written_eagerly(12)) } },
    { name = "another network beside each update", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" }, tables = { ops = of_policies(4, 2, 1) } },
    { name = "a copy that runs once a step", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" }, tables = { ops = of_policies(3, 1, 1) } },
    in_cell("features of frozen weights", "jax", "frozen-work", 0.7, { impact_ns = 6.65e6 }),
    in_cell("a teacher's targets", "jax", "frozen-teacher", 0.4, { severity = "info" }),
    { name = "tf.gradients for each of two losses", framework = "tensorflow", format = "graph", finding = true,
      severity = "warn", impact_ns = 3.33e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = ops("MatMul", 1, 6e5, {
          "gradients/a/MatMul_grad/MatMul", "gradients/a/MatMul_grad/MatMul_1", "gradients/b/MatMul_grad/MatMul",
          "gradients/b/MatMul_grad/MatMul_1", "gradients/c/MatMul_grad/MatMul", "gradients/c/MatMul_grad/MatMul_1",
          "gradients_1/a/MatMul_grad/MatMul", "gradients_1/a/MatMul_grad/MatMul_1",
          "gradients_1/b/MatMul_grad/MatMul", "gradients_1/b/MatMul_grad/MatMul_1",
          "gradients_1/c/MatMul_grad/MatMul", "gradients_1/c/MatMul_grad/MatMul_1" }) } },
    { name = "ops whose kernels have rows of their own", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("MatMul", 1, 1e5, of_three), ops("MatMul", 1, 1e6, of_three, "kernel")) } },
    { name = "gradients of a network's two halves", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = ops("MatMul", 1, 1e6, {
          "gradients/a/MatMul_grad/MatMul", "gradients/a/MatMul_grad/MatMul_1", "gradients_1/b/MatMul_grad/MatMul",
          "gradients_1/b/MatMul_grad/MatMul_1" }) } },
    { name = "an item tiled over a history", framework = "tensorflow", format = "graph", finding = true,
      severity = "info", impact_ns = 2.375e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, graph_patterns = { { pattern = "tiled-rows", op = "attention/MatMul", ns = 2.5e6, count = 1,
                                                bytes = 1.6e6 } } } },
    in_cell("a frozen backbone", "tensorflow", "frozen-layers", 0.7, { severity = "info" }),
    in_cell("a frozen encoder of pictures", "pytorch", "frozen-layers", 0.25, { severity = "info" }),
    in_cell("a Kronecker product", "jax", "outer-matrix", 0.9, { severity = "warn", factor = 0.02 }),
    in_cell("increments of a tree", "jax", "redrawn-rounds", 0.6, { severity = "info", factor = 0.13 }),
    in_cell("covariances for each of a batch", "jax", "same-for-all", 0.8, { severity = "warn", factor = 0.02 }),
    in_cell("a context for each time", "jax", "repeated-rows", 0.2, { severity = "info", factor = 0.3 }),
    -- Each of two layers runs for the critic in five of five steps and for its own gradient in one more of five.
    { name = "a generator that a critic learns from, trained in every fifth step", framework = "tensorflow",
      format = "xspace", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("MatMul", 1.2, 2e6, { "net/a/MatMul", "net/b/MatMul" }),
        ops("MatMul", 0.2, 4e5, { "gradient_tape/net/a/MatMul/MatMul", "gradient_tape/net/b/MatMul/MatMul" })) } },
    { name = "a call of its own for metrics in each step", framework = "tensorflow", format = "xspace",
      finding = true, impact_ns = 2.3e6, facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("MatMul", 2, 2e6, { "net/a/MatMul", "net/b/MatMul" }),
        ops("MatMul", 1, 4e5, { "gradient_tape/net/a/MatMul/MatMul", "gradient_tape/net/b/MatMul/MatMul" })) } },
    { name = "a gradient for each of three losses", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 3.33e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = ops("Conv2DBackpropFilter", 1, 6e5, {
          "gradient_tape/net/a/convolution/Conv2DBackpropFilter",
          "gradient_tape/net/a/convolution/Conv2DBackpropFilter_1",
          "gradient_tape/net/a/convolution/Conv2DBackpropFilter_2",
          "gradient_tape/net/b/convolution/Conv2DBackpropFilter",
          "gradient_tape/net/b/convolution/Conv2DBackpropFilter_1",
          "gradient_tape/net/b/convolution/Conv2DBackpropFilter_2",
          "gradient_tape/net/c/convolution/Conv2DBackpropFilter",
          "gradient_tape/net/c/convolution/Conv2DBackpropFilter_1",
          "gradient_tape/net/c/convolution/Conv2DBackpropFilter_2" }) } },
    { name = "two losses through one forward pass, for other weights each", framework = "tensorflow", format = "xspace",
      finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("Conv2DBackpropFilter", 1, 6e5, {
          "gradient_tape/net/a/convolution/Conv2DBackpropFilter",
          "gradient_tape/net/b/convolution/Conv2DBackpropFilter",
          "gradient_tape/net/c/convolution/Conv2DBackpropFilter" }),
        ops("Conv2DBackpropInput", 1, 6e5, {
          "gradient_tape/net/a/convolution/Conv2DBackpropInput",
          "gradient_tape/net/a/convolution/Conv2DBackpropInput_1",
          "gradient_tape/net/b/convolution/Conv2DBackpropInput",
          "gradient_tape/net/b/convolution/Conv2DBackpropInput_1",
          "gradient_tape/net/c/convolution/Conv2DBackpropInput",
          "gradient_tape/net/c/convolution/Conv2DBackpropInput_1" })) } },
    { name = "the model called again", framework = "tensorflow", format = "xspace", finding = true,
      severity = "warn", impact_ns = 2.05e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(joined(ops("_MklNativeFusedMatMul", 2, 2e6, {
          "model/dense/Relu", "model/head/BiasAdd" }),
        ops("_MklMatMul", 1, 1e6, {
          "gradient_tape/model/dense/MatMul/MatMul_1", "gradient_tape/model/head/MatMul/MatMul" })),
        ops("AssignSubVariableOp", 1, 1e4, { "adam/AssignSubVariableOp" })) } },
    { name = "scores beside the gradients that explain them", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", impact_ns = 1.15e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("_MklNativeFusedMatMul", 2, 2e6, {
          "model/dense/Relu", "model/head/BiasAdd" }),
        ops("_MklMatMul", 1, 1e6, {
          "gradient_tape/model/dense/MatMul/MatMul_1", "gradient_tape/model/head/MatMul/MatMul" })) } },
    { name = "two losses with a pass each", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", impact_ns = 4e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("_MklNativeFusedMatMul", 1, 1e6, {
          "sequential_1/dense_1/Tanh", "sequential_1/dense_2/Tanh", "sequential_3/dense_1/Tanh",
          "sequential_3/dense_2/Tanh" }),
        ops("_MklMatMul", 1, 1e6, {
          "gradient_tape/sequential_1/dense_1/MatMul/MatMul", "gradient_tape/sequential_1/dense_2/MatMul/MatMul",
          "gradient_tape/sequential_3/dense_1/MatMul/MatMul",
          "gradient_tape/sequential_3/dense_2/MatMul/MatMul" })) } },
    { name = "two models", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("_MklNativeFusedMatMul", 1, 1e6, {
          "sequential_1/dense_1/Tanh", "sequential_1/dense_2/Tanh", "sequential_3/dense_4/Tanh",
          "sequential_3/dense_5/Tanh" }),
        ops("_MklMatMul", 1, 1e6, {
          "gradient_tape/sequential_1/dense_1/MatMul/MatMul", "gradient_tape/sequential_1/dense_2/MatMul/MatMul",
          "gradient_tape/sequential_3/dense_4/MatMul/MatMul",
          "gradient_tape/sequential_3/dense_5/MatMul/MatMul" })) } },
    -- The second run of 4 ms of ops.
    { name = "a class and its probability by two functions", framework = "tensorflow", format = "xspace",
      finding = true, severity = "info", impact_ns = 1e6, facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" },
      tables = { ops = ops("_MklNativeFusedMatMul", 2, 2e6, {
          "sequential_1/dense_1/Relu", "sequential_1/dense_2/Softmax" }) } },
    { name = "one run a request", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "marker" },
      tables = { ops = ops("_MklNativeFusedMatMul", 1, 2e6, {
          "sequential_1/dense_1/Relu", "sequential_1/dense_2/Softmax" }) } },
    { name = "gradients of four layers, twice", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 3.7e6, facts = { ["step.ns"] = 1e7 }, tables = { ops = of_layers(4) } },
    { name = "gradients of gradients", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(of_layers(4), ops("_MklMatMul", 1, 1e5, {
          "gradient_tape/gradient_tape/MatMul_1/MatMul_5" })) } },
    { name = "as often as its gradient", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = joined(ops("_MklNativeFusedMatMul", 4, 2e6, {
          "model/dense/Relu", "model/head/BiasAdd" }),
        ops("_MklMatMul", 4, 1e6, {
          "gradient_tape/model/dense/MatMul/MatMul_1", "gradient_tape/model/head/MatMul/MatMul" })) } },
    -- Nine of ten ops run a second time.
    { name = "a loss and its gradient by two functions", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 1.15 * 1.8e6, facts = { ["step.ns"] = 1e7 }, tables = { ops = of_points(2, 9) } },
    { name = "a loss with its gradient", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = of_points(1, 9) } },
    { name = "a line search", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = of_points(5, 9) } },
    { name = "a part of what has gradients", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = of_points(2, 7) } },
    { name = "a compiled program", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 }, tables = { ops = { { name = "dot.1", type = "dot", self_ns = 1e6 } } } },
    in_cell("a Laplacian that stays", "jax", "fixed-work", 0.8,
      { severity = "warn", detail = "made of arguments alone" }),
    in_cell("neighbours of points that stay", "jax", "batch-work", 0.4,
      { severity = "info", detail = "made of the batch alone, before any weight is taken" }),
    in_cell("logits on all devices", "jax", "gathered-rows", 0.4,
      { severity = "warn", factor = 0.3, detail = "each of 4 devices has all of all-gather.1" }),
    in_cell("a small side of a condition", "jax", "both-branches", 0.1,
      { severity = "info", detail = "a mapped condition takes it" }),
    in_torch("for accuracy", 2.9e6, { ["torch.repeated_forward_ns"] = 3e6, ["torch.repeated_products"] = 3 }),
    in_torch("a target network", 2.9e6, { ["torch.untrained_forward_ns"] = 3e6, ["torch.untrained_products"] = 3 }),
    in_torch("two losses", 2.7e6, { ["torch.backward_again_ns"] = 3e6, ["torch.backward_again_nodes"] = 12 }),
    -- 6 ms, and of 2 ms of Python six tenths.
    in_torch("a Jacobian row by row, with Python between", 6.9e6,
      { ["torch.walked_ns"] = 6e6, ["torch.walks"] = 17, ["part.host_ns"] = 2e6 }),
    in_torch("a Jacobian row by row", 5.7e6, { ["torch.walked_ns"] = 6e6, ["torch.walks"] = 17 }),
    in_torch("nodes that run many times ran before", 5.7e6,
      { ["torch.walked_ns"] = 6e6, ["torch.walks"] = 12, ["torch.backward_again_ns"] = 7e6,
        ["torch.backward_again_nodes"] = 143 }),
    in_torch("losses that go back one by one through what they share", 6.3e6,
      { ["torch.walked_ns"] = 5e6, ["torch.walks"] = 8, ["torch.backward_again_ns"] = 7e6,
        ["torch.backward_again_nodes"] = 143, ["torch.backward_passes"] = 8, ["torch.accumulated_gradients"] = 96 }),
    in_torch("few rows", nil, { ["torch.walked_ns"] = 1e5, ["torch.walks"] = 6 }),
    in_torch("one node again", nil, { ["torch.backward_again_ns"] = 1e5, ["torch.backward_again_nodes"] = 1 }),
    in_torch("validation in each step", 2.85e6,
      { ["torch.validation_ns"] = 3e6, ["torch.validation_products"] = 12, ["torch.constants_again_ns"] = 1e6,
        ["torch.constants_again"] = 5 }),
    in_torch("a normed weight for each step of time", 2.775e6,
      { ["torch.weights_again_ns"] = 3e6, ["torch.weights_again"] = 39 }),
    in_cell("an encoder in each round", "pytorch", "repeated-block", 0.6, { detail = "5 times" }),
    in_cell("an encoder of pictures in each round", "pytorch", "same-input", 0.6,
      { severity = "warn", detail = "layers on what no round of a loop makes, 8 times a step" }),
    in_cell("a window of a stream", "pytorch", "kept-window", 0.4,
      { severity = "warn", impact_ns = 4e6 }),
    in_cell("a teacher for each crop", "pytorch", "teacher-again", 0.4,
      { severity = "warn", detail = "a network without gradients runs 8 times, and the step makes 2 inputs for it" }),
    in_cell("a whole buffer", "pytorch", "larger-pass", 0.4,
      { factor = 0.1, detail = "512 rows pass without gradients, and 64 are trained" }),
    in_cell("both halves of a guidance", "pytorch", "paired-calls", 0.4,
      { detail = "221 ops, and the same again right behind" }),
    { name = "both halves of a guidance, a row each", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.repeated_forward_ns"] = 0, ["torch.repeated_products"] = 0 },
      tables = { ops = {}, excess = {
        { cell = 1, flaw = "paired-calls", ns = 4e6, share = 0.4, factor = 0, detail = "221 ops" },
        { cell = 2, flaw = "single-items", ns = 2e6, share = 0.2, factor = 0.3, detail = "221 ops 8 times" } } } },
    in_cell("the model called again for its logits", "pytorch", "trained-again", 0.4,
      { severity = "warn", detail = "67 ops, and the same again right behind" }),
    in_cell("two inputs of one network", "pytorch", "trained-pair", 0.4,
      { severity = "info", detail = "67 ops, and the same again right behind" }),
    in_cell("features at three depths", "pytorch", "network-prefix", 0.4,
      { severity = "warn", detail = "2 layers, and the same again in a run of 8" }),
    in_torch("a small mask", nil, { ["torch.constants_again_ns"] = 1e5, ["torch.constants_again"] = 5 }),
    in_torch("once", nil, {}),
  },
}
