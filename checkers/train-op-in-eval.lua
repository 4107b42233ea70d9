-- Inference records its ops for a backward pass that never comes.
-- So does a backward pass with create_graph=True whose gradients nothing differentiates.
local function kept_graph(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "kept-graph", min_share = cfg.min_share,
    title = "The backward pass is recorded for another one that never comes: %s a step",
    time = "recording it, and formulas spelled out for it",
    remedy = { text = "Ask for the graph of gradients only where they are differentiated: in training, not in "
                 .. "validation or simulation.",
               code = "forces = -torch.autograd.grad(energy.sum(), places, create_graph=model.training)[0]" },
    confidence = "medium",
  } or nil
end

-- Of a single pass it is not known whether it is inference, or a training step cut short.
local function one_pass(calls, recorded)
  return finding {
    title = "A forward pass alone, recorded for a backward pass that the recording does not hold",
    severity = "info",
    evidence = { { "calls", calls, "count" }, { "of them recorded", recorded, "count" } },
    condition = ("%s of the calls recorded; no backward node, no update"):format(fmt.pct(recorded / calls)),
    remedy = { text = "Inference needs neither gradients nor, for batch norm and dropout, the mode of training; of "
                 .. "training record whole steps.",
               code = "model.eval()\nwith torch.inference_mode():\n    y = model(x)" },
    impact = impact.none(),
    confidence = "medium",
  }
end

return rule {
  id = "train-op-in-eval", api = 1, version = "1.0.0",
  title = "Inference records gradients",
  category = "host", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "torch.forward_ns", "torch.forward_calls", "torch.recorded_calls",
      "torch.backward_nodes", "torch.forward_gap_ns" },
  cause = "autograd", tags = { "ops" },
  params = {
    min_recorded = { default = 0.5, min = 0, max = 1, unit = "share",
      doc = "calls that are recorded for a backward pass" },
    min_calls = { default = 10, min = 1, max = 1e7, unit = "count",
      doc = "calls a step" },
    min_models = { default = 3, min = 1, max = 1e7, unit = "count",
      doc = "calls of one model from which a recording without steps is no half of a training step" },
    gain = { default = 0.15, min = 0, max = 1, unit = "share",
      doc = "time of the forward pass that recording costs at most, where calls are long" },
    call_ns = { default = 4e3, min = 0, max = 1e6, unit = "ns",
      doc = "what recording a call and freeing what it kept cost, however short it is" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step in recording a backward pass, from which that is said" },
    max_gain = { default = 0.35, min = 0, max = 1, unit = "share",
      doc = "time of the forward pass that it costs at most, where calls are short" },
  },
  doc = [[
Each op is recorded with its inputs for a backward pass, and its results are kept until the last one is done, but no
backward pass and no optimizer runs in any step; where no steps are marked, stacks of Python show a model that is called
several times, or the same ops come several times; a single pass, which may be half of a training step, is a note
without a price. Priced as a part of the forward pass, more of it where calls are
short: each makes a node and keeps its inputs. Silent where an accelerator computes: recording is the host's work. Where
backward nodes ran, ops below them that are recorded themselves, as create_graph=True asks for, while no node of the
recording goes back through one of them: four microseconds each, and of activations all but one pass, for their
gradients are spelled out in ops that can be differentiated.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local calls, recorded = p.fact["torch.forward_calls"], p.fact["torch.recorded_calls"]
    if p.fact["torch.backward_nodes"] > 0 then return kept_graph(p, cfg) end
    if (p.fact["torch.update_calls"] or 0) > 0 then return nil end
    -- Half a training step looks alike, but calls a model once or twice.
    local models = math.max(p:has("torch.model_calls") and p.fact["torch.model_calls"] or 0,
                            p:has("step.rounds") and p.fact["step.rounds"] or 0)
    if calls < cfg.min_calls or recorded < cfg.min_recorded * calls then return nil end
    if p.fact["step.source"] == "whole-trace" and models < cfg.min_models then return one_pass(calls, recorded) end
    local forward_ns = p.fact["torch.forward_ns"] + (p.fact["torch.forward_gap_ns"] or 0)
    local calls_ns = math.min(recorded * cfg.call_ns, cfg.max_gain * forward_ns)
    local high_ns = math.min(math.max(cfg.gain * forward_ns, calls_ns), step_ns)
    local low_ns = high_ns / 3
    local title = ("%s of the calls are recorded for a backward pass that never comes"):format(
      fmt.pct(recorded / calls))
    local evidence = { { "calls a step", calls, "count" }, { "of them recorded", recorded, "count" },
        { "forward pass a step", forward_ns, "ns" } }
    local condition = ("%s of the calls recorded, %s accepted; no backward node in any step"):format(
      fmt.pct(recorded / calls), fmt.pct(cfg.min_recorded))

    return finding {
      title = title,
      locations = p:lines_of("torch.forward_ns"),
      evidence = evidence,
      condition = condition,
      remedy = { text = "Run inference without recording: results are not kept and memory is given back at once.",
                 code = "with torch.inference_mode():\n    y = model(x)" },
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "no backward pass", framework = "pytorch", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 9e6, ["torch.forward_calls"] = 100,
          ["torch.forward_gap_ns"] = 0, ["torch.recorded_calls"] = 95, ["torch.backward_nodes"] = 0 } },
    -- 500 calls of 4 us are more than 0.15 of 9 ms, 1.35 ms: 2 ms.
    { name = "short calls", framework = "pytorch", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 6e6, ["torch.forward_calls"] = 500,
          ["torch.forward_gap_ns"] = 3e6, ["torch.recorded_calls"] = 500, ["torch.backward_nodes"] = 0 } },
    { name = "requests that nothing marks", framework = "pytorch", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["torch.model_calls"] = 6,
          ["torch.forward_ns"] = 9e6, ["torch.forward_calls"] = 100, ["torch.forward_gap_ns"] = 0,
          ["torch.recorded_calls"] = 95, ["torch.backward_nodes"] = 0 } },
    { name = "rounds that nothing marks", framework = "pytorch", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["step.rounds"] = 10, ["torch.forward_ns"] = 9e6,
          ["torch.forward_calls"] = 100, ["torch.forward_gap_ns"] = 0, ["torch.recorded_calls"] = 95,
          ["torch.backward_nodes"] = 0 } },
    { name = "half a step", framework = "pytorch", finding = true, severity = "info",
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["torch.model_calls"] = 1,
          ["torch.forward_ns"] = 9e6, ["torch.forward_calls"] = 100, ["torch.forward_gap_ns"] = 0,
          ["torch.recorded_calls"] = 95, ["torch.backward_nodes"] = 0 } },
    { name = "trains", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 4e6, ["torch.forward_calls"] = 100,
          ["torch.forward_gap_ns"] = 0, ["torch.recorded_calls"] = 95, ["torch.backward_nodes"] = 90 } },
    { name = "a graph of forces", framework = "pytorch", format = "kineto", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 4e6, ["torch.forward_calls"] = 100,
          ["torch.forward_gap_ns"] = 0, ["torch.recorded_calls"] = 95, ["torch.backward_nodes"] = 90 },
      tables = { excess = { { cell = 1, flaw = "kept-graph", op = "aten::mul", ns = 2e6, share = 0.2,
                              factor = 0.3, detail = "120 ops of the backward pass are recorded" } } } },
    { name = "does not record", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.forward_ns"] = 9e6, ["torch.forward_calls"] = 100,
          ["torch.forward_gap_ns"] = 0, ["torch.recorded_calls"] = 0, ["torch.backward_nodes"] = 0 } },
  },
}
