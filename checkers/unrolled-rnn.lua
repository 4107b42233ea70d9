-- A recurrent cell is called step by step from Python, or stands in the graph once for each time step.
local function written_out(p, cfg)
  local step_ns, ns, count, worst = p.fact["step.ns"], 0, 0, nil
  -- Training multiplies a cell's gradient twice, by its input and by its weights.
  local products = p:has("op_stats.trains") and p.fact["op_stats.trains"] and 3 or 1
  -- What is masked or turned round by lengths ends before the last copy: then copies that do enough work each are as
  -- needless as small ones.
  local ends_early = p:has("ops") and (p:table("ops"):where { type = { like = "^ReverseSequence" } }:count() > 0 or
    p:table("ops"):where { name = { like = "(^|/)SequenceMask(_[0-9]+)?/" } }:count() > 0)
  for row in p:table("graph_patterns"):where { pattern = "unrolled-cell", count = { min = cfg.min_cells } }:each() do
    if ends_early or row.ns / row.count <= products * cfg.max_call_ns then
      ns, count = ns + row.ns, count + row.count
      if not worst or row.ns > worst.ns then worst = row end
    end
  end
  ns = math.min(ns, step_ns)
  if not worst or ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("%s copies of %scells run in sequence: %s of each step"):format(
      fmt.count(count), ends_early and "" or "small ", fmt.ms(ns)),
    severity = "warn",
    subject = { op = worst.op },
    evidence = { { "their products and gradients a step", ns, "ns", share = ns / step_ns },
                 { "copies that wait for each other", worst.count, "count" },
                 { "a copy", worst.ns / worst.count, "ns" },
                 ends_early and { "sequences have", "lengths of their own" } or nil },
    condition = ("%s copies in sequence, %s accepted"):format(fmt.count(worst.count), fmt.count(cfg.min_cells)),
    remedy = { text = "Use a recurrent layer with a fused kernel and its default activations, or a loop that ends with "
                 .. "the longest sequence of the batch: a graph that is written out runs all its steps for each batch.",
               code = "outputs = tf.keras.layers.LSTM(units, return_sequences=True)(inputs)\n"
                 .. "# TF1: outputs, _ = tf1.nn.dynamic_rnn(cell, x[:, :tf.reduce_max(lengths)], lengths, "
                 .. "dtype=tf.float32)" },
    impact = impact.share { ns = ns },
    confidence = "low",
  }
end

-- A cell takes the next reading in each round. What takes none goes on from its own state, as a solver's steps do.
local function takes_readings(row)
  return (row.ops or row.anchor):find("select|slice|narrow|unbind|split|chunk|index|embedding|cat|_cell") ~= nil
end

return rule {
  id = "unrolled-rnn", api = 1, version = "1.0.0",
  title = "A recurrent cell runs in a Python loop",
  category = "host", severity = "error",
  formats = { "kineto", "profile", "graph" },
  needs = { "step.ns" },
  cause = "loop", tags = { "ops", "python" },
  more_specific_than = { "many-small-gemms", "repeated-op-sequence", "tiny-ops", "tiny-kernels", "kernel-launch-bound",
      "graph-capture-candidate", "small-grid", "host-bound", "hot-op",
      "elementwise-chain", "batch-too-small", "unvectorised-loop", "gather-scatter-bound",
      "embedding-bound", "loop-indexing" },
  params = {
    min_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "time of the loop over the step from which this is said" },
    lstm_gates = { default = 4, min = 1, max = 64, unit = "count",
      doc = "sigmoids and tangents a round, from which it is an LSTM by hand" },
    low_other = { default = 0.1, min = 0, max = 1, unit = "ratio",
      doc = "part of the loop that the layer of another cell saves, at least" },
    high_other = { default = 0.6, min = 0, max = 1, unit = "ratio", doc = "at most" },
    min_repeats = { default = 16, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step" },
    min_cells = { default = 32, min = 2, max = 1e7, unit = "count",
      doc = "copies of a cell in a graph" },
    max_call_ns = { default = 200e3, min = 0, max = 1e9, unit = "ns",
      doc = "typical call, above which the calls do enough work each" },
    max_views = { default = 60, min = 0, max = 1e6, unit = "ratio",
      doc = "the same on a slow machine: typical call over one that only makes a view" },
  },
  doc = [[
Each time step pays Python, the dispatcher and the autograd engine for a dozen small ops. A recurrent layer multiplies
the inputs of all time steps at once and runs the rest in one op. Priced as all rounds but one, and less of it.
In a graph, matrix products of one name that each wait for the one before are such a cell written out.
The same holds for a recurrent layer that gets one time step a call in training, of inputs that nothing has to be
computed for first. Silent for few time steps, for decoding, where each step picks the next one's input, and for cells
that are large enough to hide this, unless a graph masks or reverses sequences by their lengths: then its last copies
work on padding.]],

  check = function(p, cfg)
    if p:has("graph_patterns") then return written_out(p, cfg) end
    if not p:has("eager_loops") then
      return skip { reason = "neither a graph of ops with their times nor a timeline of PyTorch ops is recorded",
                    capture = "run metadata beside the graph" }
    end
    local function price(row)
      local ns = row.ns - row.conversion_ns
      if row.repeats < cfg.min_repeats or row.gates < 0.9 * row.repeats or row.products < 0.9 * row.repeats or
          -- What a cell gives decides what the next one takes: no layer knows that beforehand.
          (row.picks or 0) >= 0.9 * row.repeats or
          row.call_ns > math.max(cfg.max_call_ns, cfg.max_views * row.view_ns) then return nil end
      -- Layers of other cells than the LSTM loop over time inside: they save Python and its dispatching.
      local is_lstm = (row.ops or row.anchor):find("lstm_cell") or row.gates >= cfg.lstm_gates * row.repeats
      local saved_ns = ns - math.max(row.kept_ns, ns / row.repeats)
      return ns, (is_lstm and 0.9 or cfg.low_other) * saved_ns, (is_lstm and 1 or cfg.high_other) * saved_ns
    end
    return p:has("excess") and p:in_excess {
      flaw = "stepped-cells", min_share = cfg.min_share,
      title = "A recurrent layer gets one time step a call, though all are known: %s of each step",
      time = "calls step by step, both ways",
      remedy = { text = "Give it the whole sequence, and all it makes to the layers and the loss behind.",
                 code = "y, h = gru(table(ids), h); loss = F.cross_entropy(head(y).flatten(0, 1), targets.flatten())" },
      confidence = "medium",
    } or p:in_loop {
      price = price, min_share = cfg.min_share,
      title = function(row)
        return takes_readings(row) and "A recurrent cell is called from Python %s times a step: %s"
          or "Rounds that go on from the one before are called from Python %s times a step: %s"
      end,
      severity = function(row) return row.shapes and not takes_readings(row) and "warn" or nil end,
      remedy = function(row)
        if not takes_readings(row) then
          return { text = "Compile a round, take fewer of them, as a solver of higher order or with steps of its own "
                     .. "choice does, or more rows in each. A cell has a layer that takes the whole sequence.",
                   code = "round = torch.compile(round)   # then: for t in times: y = round(t, y)" }
        end
        return { text = "Give the whole sequence to one recurrent layer, or compile the loop.",
                 code = "y, state = nn.LSTM(features, hidden)(x)   # instead of nn.LSTMCell in a loop over time" }
      end,
    }
  end,

  examples = {
    { name = "a layer for each word", framework = "pytorch", format = "kineto", finding = true, replay = { 6e6 },
      severity = "error", facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = {}, excess = { { cell = 1, flaw = "stepped-cells", ns = 6e6, share = 0.3,
        op = "aten::gru", factor = 0.5, detail = "one time step a call, 16 calls" } } } },
    { name = "loop", framework = "pytorch", finding = true, impact_ns = 1.5e7, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.6e7, backward_ns = 0, call_ns = 4e4, view_ns = 2e3, products = 64, gates = 320, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "steps of a solver", framework = "pytorch", finding = true, impact_ns = 5.5e6, severity = "warn",
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "linear", ns = 1.6e7, repeats = 64, body = 5, calls = 320,
          ops = "linear > tanh > linear > mul > add > pow > …", shapes = "[64,2]x[128,2]x[128]",
          span_ns = 1.6e7, backward_ns = 0, call_ns = 4e4, view_ns = 2e3, products = 64, gates = 64, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "another cell", framework = "pytorch", finding = true, impact_ns = 5.5e6,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.6e7, backward_ns = 0, call_ns = 4e4, view_ns = 2e3, products = 64, gates = 64, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "decoding", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.6e7, backward_ns = 0, call_ns = 4e4, view_ns = 2e3, products = 64, gates = 320, concats = 0,
          concat_ns = 0,
          readbacks = 0, picks = 64, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "no cell", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.6e7, backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "long calls", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.6e7, backward_ns = 0, call_ns = 1e6, view_ns = 2e3, products = 64, gates = 64, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "few", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e7, repeats = 8, body = 5, calls = 320, span_ns = 1.6e7,
          backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 8, gates = 8, concats = 0, concat_ns = 0,
          readbacks = 0,
          conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000, is_growing = false } } } },
    { name = "cells in a graph", format = "graph", framework = "tensorflow", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 2e7 },
      tables = { graph_patterns = { { pattern = "unrolled-cell", op = "rnn/cell/MatMul", ns = 5e6, count = 64 } } } },
    -- Two layers of 64 copies, of 0.3 ms each with both products of their gradients; a third has few.
    { name = "layers that are trained", format = "graph", framework = "tensorflow", finding = true, impact_ns = 1.152e7,
      facts = { ["step.ns"] = 4e7, ["op_stats.trains"] = true },
      tables = { graph_patterns = { { pattern = "unrolled-cell", op = "rnn/cell_0/MatMul", ns = 1.92e7, count = 64 },
                                    { pattern = "unrolled-cell", op = "rnn/cell_1/MatMul", ns = 1.92e7, count = 64 },
                                    { pattern = "unrolled-cell", op = "head/MatMul", ns = 1e6, count = 10 } } } },
    -- 0.9 ms a copy.
    { name = "large cells of sequences with lengths", format = "graph", framework = "tensorflow", finding = true,
      impact_ns = 1.62e7, facts = { ["step.ns"] = 6e7, ["op_stats.trains"] = true },
      tables = { graph_patterns = { { pattern = "unrolled-cell", op = "rnn/cell/MatMul", ns = 5.4e7, count = 60 } },
                 ops = { { name = "rnn/cell/MatMul", type = "MatMul", self_ns = 5.4e7 },
                         { name = "SequenceMask_1/Less", type = "Less", self_ns = 1e4 } } } },
    { name = "large cells", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 6e7, ["op_stats.trains"] = true },
      tables = { graph_patterns = { { pattern = "unrolled-cell", op = "rnn/cell/MatMul", ns = 5.4e7, count = 60 } },
                 ops = { { name = "rnn/cell/MatMul", type = "MatMul", self_ns = 5.4e7 } } } },
    { name = "few cells in a graph", format = "graph", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { graph_patterns = { { pattern = "unrolled-cell", op = "rnn/cell/MatMul", ns = 5e6, count = 10 } } } },
    { name = "nothing to look at", format = "graph", skipped = true, facts = { ["step.ns"] = 2e7 } },
  },
}
