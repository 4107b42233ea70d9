-- Dropout runs although nothing is trained.
-- What TensorFlow's ops are named after that draw masks and apply them, and that take a batch's own statistics.
local DROPS = "(?i)^(.*/)?\\w*dropout\\w*/.+$"
local MOMENTS = "(?i)^(.*/)?\\w*(batch_?norm|bn)\\w*/(.*/)?moments/.+$"

-- A program of TensorFlow without any gradient in which layers draw masks.
local function of_tensorflow(p, cfg)
  local step_ns, ops = p.fact["step.ns"], p:table("ops")
  local drops = ops:where { name = { like = DROPS } }
  local draws = drops:where { type = { like = "^(Stateless)?RandomUniform(V2)?$" } }
  if draws:count() == 0 or ops:where { name = { like = "^gradient.*" } }:count() > 0 or
     ops:where { type = { like = "^.*(Grad|Backprop(Input|Filter)?\\w*)$" } }:count() > 0 then return nil end
  local moments = ops:where { name = { like = MOMENTS } }
  -- Ops run at once, so they take their share of what the step computes.
  local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  local part = math.min(1, compute_ns / math.max(ops:sum("self_ns"), 1))
  local drop_ns, moment_ns = part * drops:sum("self_ns"), part * moments:sum("self_ns")
  local ns = drop_ns + moment_ns
  if ns < cfg.min_graph_share * step_ns then return nil end
  return finding {
    title = ("Dropout takes %s of each step, and nothing is trained"):format(fmt.ms(drop_ns)),
    severity = "info", -- some draw on purpose, to see how answers differ
    subject = { op = draws:top("self_ns", 1):rows()[1].name },
    evidence = { { "dropout a step", drop_ns, "ns", share = math.min(1, drop_ns / step_ns) },
                 { "of it, drawing masks", part * draws:sum("self_ns"), "ns" },
                 moment_ns > 0 and { "the batch's own statistics for batch norm", moment_ns, "ns" } or nil },
    condition = ("it takes %s of the step, %s accepted; no gradient in any step"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_graph_share)),
    remedy = { text = "Score in inference mode; in a graph of sessions, build one without dropout. Where masks are "
                 .. "drawn on purpose, only the layers behind the first of them need to run again for each draw.",
               code = "y = model(x, training=False)" },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    claims = { parts = { "compute" } },
    confidence = "medium",
  }
end

return rule {
  id = "inference-with-dropout", api = 1, version = "1.0.0",
  title = "Dropout runs without training",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace", "graph", "profile" },
  needs = { "step.ns" },
  cause = "dropout", tags = { "ops" },
  more_specific_than = { "hot-op", "elementwise-chain" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_rounds = { default = 3, min = 2, max = 1e6, unit = "count",
      doc = "rounds of the same ops, from which a recording without steps is no half of a training step" },
    min_graph_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "the same with TensorFlow" },
  },
  doc = [[
Dropout draws random numbers and drops values, which makes inference slower and its answers worse. Priced as its time;
on the host, attention that drops cannot use its one kernel, and all of it but its products counts. In the same mode
PyTorch's batch norms take the statistics of each batch, which is three passes instead of one. In a
program of TensorFlow without gradients the ops of layers that draw masks count, and with them the statistics that
batch norm takes of each batch in the same mode. Silent where a backward pass runs, and where dropout hands its input
on.]],

  check = function(p, cfg)
    if p.framework == "tensorflow" and p:has("ops") then return of_tensorflow(p, cfg) end
    if not p:has("torch.dropout_ns") or not p:has("torch.backward_nodes") then
      return skip { reason = "neither eager PyTorch nor ops of TensorFlow are recorded",
                    capture = "a host timeline" }
    end
    local step_ns, drop_ns = p.fact["step.ns"], p.fact["torch.dropout_ns"]
    -- With running statistics a batch norm is one pass instead of three. Of a recording without steps, which may be
    -- half of a training step, nothing is known before the same work came several times.
    local norm_ns = (p.fact["torch.own_statistics_ns"] or 0)
    if p.fact["step.source"] == "whole-trace" and (p.fact["step.rounds"] or 0) < cfg.min_rounds then norm_ns = 0 end
    local ns = drop_ns + norm_ns
    if p.fact["torch.backward_nodes"] > 0 or ns < cfg.min_share * step_ns then return nil end
    local low_ns, high_ns = 0.8 * drop_ns + 0.5 * norm_ns, drop_ns + 0.9 * norm_ns
    local evidence = {}
    if drop_ns > 0 then
      evidence[1] = { "dropout a step", drop_ns, "ns", share = math.min(1, drop_ns / step_ns) }
    end
    if norm_ns > 0 then
      evidence[#evidence + 1] = { "batch norms by the batch's own statistics a step", norm_ns, "ns",
                                  share = math.min(1, norm_ns / step_ns) }
    end
    return finding {
      title = ("%s %s of each step, and nothing is trained"):format(
        drop_ns >= norm_ns and "Dropout takes" or "Statistics of batches for batch norm take",
        fmt.ms(math.max(drop_ns, norm_ns))),
      locations = p:lines_of(drop_ns >= norm_ns and "torch.dropout_ns" or "torch.own_statistics_ns"),
      evidence = evidence,
      condition = ("%s of the step, %s accepted; no backward node in any step"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Switch the model to evaluation: its answers then do not depend on what else is in the batch."
                   .. (norm_ns > drop_ns and " Batch norms behind convolutions can then be folded into those." or ""),
                 code = "model.eval()" },
      impact = impact.exposed { ns = math.min(ns, step_ns), low = math.min(low_ns, step_ns),
                                high = math.min(high_ns, step_ns) },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "still training mode", framework = "pytorch", finding = true, impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1e7, ["torch.dropout_ns"] = 2e6, ["torch.backward_nodes"] = 0 } },
    -- Half to nine tenths of 2 ms.
    { name = "batch norms of ten forward passes", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 1.4e6,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["step.rounds"] = 10, ["torch.dropout_ns"] = 0,
                ["torch.own_statistics_ns"] = 2e6, ["torch.backward_nodes"] = 0 } },
    { name = "batch norms of one forward pass", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace", ["torch.dropout_ns"] = 0,
                ["torch.own_statistics_ns"] = 2e6, ["torch.backward_nodes"] = 0 } },
    -- 6 of 8 ms of ops, which take 4 ms of the step: 3 ms, of which 0.8 to all are expected.
    { name = "scores in training mode", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 2.7e6,
      facts = { ["step.ns"] = 5e6, ["part.compute_ns"] = 4e6 },
      tables = { ops = {
        { name = "net/dropout_1/stateless_dropout/random/StatelessRandomUniformV2", type = "StatelessRandomUniformV2",
          self_ns = 4e6 },
        { name = "net/dropout_1/stateless_dropout/SelectV2", type = "SelectV2", self_ns = 1e6 },
        { name = "net/batch_normalization_1/moments/variance", type = "Mean", self_ns = 1e6 },
        { name = "net/dense/MatMul", type = "MatMul", self_ns = 2e6 } } } },
    { name = "trains with TensorFlow", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 5e6, ["part.compute_ns"] = 4e6 },
      tables = { ops = {
        { name = "net/dropout_1/random_uniform/RandomUniform", type = "RandomUniform", self_ns = 4e6 },
        { name = "gradient_tape/net/dense/MatMul", type = "MatMul", self_ns = 2e6 } } } },
    { name = "trains", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.dropout_ns"] = 2e6, ["torch.backward_nodes"] = 50 } },
    { name = "hands on", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.dropout_ns"] = 2e3, ["torch.backward_nodes"] = 0 } },
  },
}
