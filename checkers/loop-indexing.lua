-- A Python loop takes a tensor apart, row by row, or runs the same layers again and again.
local function multiplies_whole(row) -- and takes nothing apart
  return (row.slices or 1) == 0 and (row.picks or 0) == 0 and row.products >= row.repeats
end

local READ_AT_ONCE = {
  text = "Read the tensor once and loop over the list, or do it for all rows at once: each x[i] is a tensor that is "
    .. "made, and each read of it a call.",
  code = "sizes = ptr.diff().tolist()   # instead of [int(ptr[i + 1] - ptr[i]) for i in range(n)]",
}

local WRITE_AT_ONCE = {
  text = "Numbers are written into a tensor one by one: calculate them for all places at once, and where they stay the "
    .. "same, as encodings of places or masks, once before the loop.",
  code = "angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, width, 2) / width)\n"
    .. "table = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)   # not table[i, j] = math.sin(...)",
}

-- Rows of each class, found by comparing all labels with it.
local BY_LABEL = {
  text = "Do it for all classes at once: sums by index_add, counts by bincount, the largest by scatter_reduce.",
  code = "sums = rows.new_zeros(classes, width).index_add(0, labels, rows)\n"
    .. "means = sums / torch.bincount(labels, minlength=classes).clamp(min=1)[:, None]   "
    .. "# not rows[labels == c].mean(0)",
}

-- What calls take beyond their start, the backward pass in proportion: work on rows, of which all or none stays where
-- they come at once. An accelerator does it beside the calls. Recording slows what is between calls and their starts,
-- but not the work, whose share of a round is larger without it.
local function work_ns(row, cfg)
  if row.view_ns <= 0 or row.span_ns <= 0 then return 0 end
  local share = math.min(row.calls * math.max(0, row.call_ns - cfg.start_views * row.view_ns) / row.span_ns, 1)
  return share == 0 and 0 or row.ns * share / (share + (1 - cfg.recorder_share) * (1 - share))
end

return rule {
  id = "loop-indexing", api = 1, version = "1.0.0",
  title = "A Python loop indexes a tensor row by row",
  category = "host", severity = "error",
  formats = { "kineto" },
  needs = { "step.ns", "eager_loops" },
  cause = "loop", tags = { "ops", "python" },
  more_specific_than = { "many-small-gemms", "repeated-op-sequence", "tiny-ops", "tiny-kernels", "kernel-launch-bound",
      "graph-capture-candidate", "small-grid", "host-bound", "hot-op",
      "elementwise-chain", "unvectorised-loop", "gather-scatter-bound", "embedding-bound" },
  params = {
    min_share = { default = 0.06, min = 0, max = 1, unit = "share",
      doc = "time of the loop over the step from which this is said" },
    min_repeats = { default = 10, min = 2, max = 1e7, unit = "count",
      doc = "repeats a step: below it are often a few tensors of one shape, as columns" },
    min_runs = { default = 4, min = 2, max = 1e6, unit = "count",
      doc = "runs a step, without products, from which they may be layers" },
    min_rounds = { default = 12, min = 2, max = 1e6, unit = "count", doc = "rounds of one that make it a loop" },
    max_steps = { default = 16, min = 0, max = 1e6, unit = "count",
      doc = "fewer rounds that fill a recording without steps may be its steps" },
    max_call_ns = { default = 50e3, min = 0, max = 1e9, unit = "ns",
      doc = "typical call, above which the calls do enough work each" },
    max_elements = { default = 1e6, min = 0, max = 1e12, unit = "count",
      doc = "with an accelerator: mean elements that a call works on, above which each does enough" },
    max_views = { default = 15, min = 0, max = 1e6, unit = "ratio",
      doc = "the same on a slow machine: typical call over one that only makes a view" },
    most_reading = { default = 4, min = 1, max = 100, unit = "count",
      doc = "calls of a round that only reads or writes a number" },
    start_views = { default = 4, min = 0, max = 1e6, unit = "ratio",
      doc = "start of a call that makes a result over one that only makes a view" },
    recorder_share = { default = 0.5, min = 0, max = 1, unit = "share",
      doc = "of what rounds take beside the work of calls, what is the recorder's" },
  },
  doc = [[
Each round pays Python, the dispatcher and the autograd engine some microseconds an op for a few numbers. Over all
rows at once the same work is a handful of calls. Priced as all rounds but one, and less of it: without an accelerator
what calls take beyond their start may stay. Silent where the calls do long work, where each round works on all that
came before, gathers by what the last one picked or leaves nothing but what the next one takes or writes its state
down, a few slices come together in each of several places, as layers fill caches, and for recurrent cells, those
without gates too, and growing concatenations, which have their own rules, and where rounds only put parts together,
as layers do. A note only where each round's products have other rows, as those of experts: one product takes all only
if they are padded or grouped; and where no shapes tell whether they have. With an accelerator said where it waits for
the host and the calls are over few elements, or where slices have gradients as large as what they are cut of, and of
rounds that multiply only where more products are trained than weights: others are layers. Rounds that take nothing
apart and multiply are said to run the same layers: with other rows, or with weights of their own.]],

  check = function(p, cfg)
    local has_device = p:has("device.idle_share")
    local function price(row)
      local ns = row.ns - row.conversion_ns
      -- A few slices each time, layer by layer, are written out in what a layer does, as caches are filled.
      local is_written_out = row.products == 0 and (row.runs or 1) >= cfg.min_runs
        and row.repeats < cfg.min_rounds * row.runs
      local is_loop = row.repeats >= cfg.min_repeats and not is_written_out and
          -- Starting a call takes as long whatever an accelerator does for it.
          (has_device and row.elements <= cfg.max_elements or
            not has_device and row.call_ns <= math.max(cfg.max_call_ns, cfg.max_views * row.view_ns)) and
          -- A cell that picks what the next one takes is no layer; taken apart row by row it is a loop.
          (row.gates < 0.9 * row.repeats or
            math.min(row.picks or 0, row.slices or 0) >= 0.9 * row.repeats) and
          not (row.is_growing and row.concats >= 0.9 * row.repeats) and
          -- Concatenations come again where nothing is taken apart: layers put halves together.
          not (row.anchor:find("^(cat|concat|stack)$") and (row.slices or 1) == 0 and (row.picks or 0) == 0) and
          not row.is_history and not row.is_fed_back and not row.is_handed_on and
          -- Where no steps are known, a few rounds that fill the recording are them.
          not (p:has("step.source") and p.fact["step.source"] == "whole-trace" and row.repeats < cfg.max_steps
            and ns > 0.5 * p.fact["step.ns"]) and
          -- Without shapes growth does not show; a network that picks what it takes next decodes.
          not (not row.shapes and (row.picks or 0) >= cfg.min_repeats and row.products >= row.picks)
      local saved_ns = ns - math.max(row.kept_ns, ns / row.repeats)
      local stays_ns = has_device and 0 or work_ns(row, cfg)
      if is_loop then return ns, math.min(0.9 * saved_ns, saved_ns - stays_ns), saved_ns end
    end
    return p:in_loop {
      price = price, min_share = cfg.min_share,
      severity = function(row)
        local is_unknown = row.is_ragged or not row.shapes
        return is_unknown and row.products >= (row.is_ragged and 1 or 0.5) * row.repeats and "info" or nil
      end,
      title = function(row)
        return multiplies_whole(row) and "A loop runs the same layers %s times a step: %s"
          or "A loop takes slices of a tensor %s times a step: %s"
      end,
      remedy = function(row)
        if multiplies_whole(row) then
          return { text = "Run the layers once for all rounds: over the rows of all, or, where each round has weights "
                     .. "of its own, with these stacked, by torch.bmm or torch.vmap.",
                   code = "y = model(x.repeat(n, 1)).view(n, len(x), -1)   # or, with weights of each:\n"
                     .. "y = torch.baddbmm(biases, x.expand(n, -1, -1), weights)" }
        end
        local is_short = row.products == 0 and row.calls <= cfg.most_reading * row.repeats
        if is_short and (row.readbacks or 0) >= 0.3 * row.repeats then return READ_AT_ONCE end
        if is_short and (row.ops or ""):find("\\bfill\\b") then return WRITE_AT_ONCE end
        if row.products == 0 and (row.ops or ""):find("\\beq\\b") then return BY_LABEL end
        -- A network whose result Python reads in each round.
        local is_asked = (row.readbacks or 0) >= 0.3 * row.repeats and row.products >= 0.5 * row.repeats
        return { text = "Do it for all rows at once: broadcast, gather with an index tensor, torch.bmm or torch.vmap."
                   .. (is_asked and " Where a round needs what the one before gave, as a search or a game does, play "
                     .. "several side by side, and let one call answer for all that wait." or ""),
                 code = is_asked and "values = net(torch.stack(leaves))   # of all searches, instead of net(leaf[None])"
                        or row.products >= 0.9 * row.repeats and
                        "y = torch.baddbmm(bias.unsqueeze(1), x, weight)   # all products in one" or
                        "d = torch.cdist(x, x); loss = F.relu(d[a, p] - d[a, n] + margin).mean()   "
                        .. "# instead of for i in range(n): x[i]" }
      end,
    }
  end,

  examples = {
    { name = "loop", framework = "pytorch", finding = true, impact_ns = 1.1e7, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    -- 8 % of the step: 63 of 64 rounds of 1.6 ms.
    { name = "a short loop", framework = "pytorch", finding = true, impact_ns = 1.5e6, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.6e6, repeats = 64, body = 2, calls = 128,
          span_ns = 1.6e6, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1000,
          is_growing = false } } } },
    -- 320 calls of 20 us, of which four views' time of 2 us is their start: 3.84 of 9 ms are work, without recording,
    -- half of the rest, 3.84 of 6.42 ms. So 7.18 of 12 ms stay or not, of 63 of 64 rounds: 4.63 to 11.8 ms.
    { name = "calls that work on rows", framework = "pytorch", finding = true, impact_ns = 8.22e6,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320, span_ns = 9e6,
          backward_ns = 3e6, call_ns = 2e4, view_ns = 2e3, products = 0, gates = 0, concats = 0, concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1000, is_growing = false } } } },
    -- A device that has enough to do: at least 0.9 of 63 of 64 parts of 8 ms, at most the rounds: 7.1 to 11.8 ms.
    { name = "each slice's gradient is one of the whole", framework = "pytorch", finding = true, impact_ns = 9.45e6,
      facts = { ["step.ns"] = 2e7, ["device.idle_share"] = 0.1, ["torch.sliced_gradients_ns"] = 8e6,
                ["torch.accumulated_gradients"] = 2, ["part.compute_ns"] = 1.8e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1e6, elements = 1000,
          is_growing = false } } } },
    -- Eight slices of a cache in each of sixteen layers.
    { name = "caches of keys that layers fill", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 128, runs = 16, body = 4, calls = 512,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1000,
          is_growing = false } } } },
    { name = "a device that has enough to do", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 2e7, ["device.idle_share"] = 0.1, ["torch.sliced_gradients_ns"] = 5e5,
                ["torch.accumulated_gradients"] = 2, ["part.compute_ns"] = 1.8e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1e6, elements = 1000,
          is_growing = false } } } },
    { name = "beams one by one", framework = "pytorch", finding = true, impact_ns = 1.1e7,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "slice", ns = 1.2e7, repeats = 64, body = 9, calls = 576,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 64, gates = 64, concats = 0,
          concat_ns = 0,
          readbacks = 0, picks = 64, slices = 192, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false, shapes = "[24,64]" } } } },
    -- 638 of 639 rounds of 8 ms, nine tenths of them at least.
    { name = "numbers that are read one by one", framework = "pytorch", finding = true, impact_ns = 7.6e6,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 8e6, repeats = 639, body = 3, calls = 1533, span_ns = 8e6,
          backward_ns = 0, call_ns = 1e3, view_ns = 1e3, products = 0, gates = 0, concats = 0, concat_ns = 0,
          readbacks = 639, picks = 0, slices = 1200, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 0,
          is_growing = false } } } },
    -- 39 of 40 rounds of 2.4 ms.
    { name = "means of classes", framework = "pytorch", finding = true, impact_ns = 2.22e6,
      facts = { ["step.ns"] = 6e6 },
      tables = { eager_loops = { { anchor = "index", ns = 2.4e6, repeats = 40, body = 3, calls = 120, span_ns = 2.4e6,
          backward_ns = 0, call_ns = 4e3, view_ns = 1e3, products = 0, gates = 0, concats = 0, concat_ns = 0,
          readbacks = 0, picks = 0, slices = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 25600,
          is_growing = false, shapes = "[400,64]", ops = "index > mean > eq" } } } },
    { name = "layers that put halves together", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "cat", ns = 1.2e7, repeats = 12, body = 11, calls = 132,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 1e4, view_ns = 2e3, products = 0, gates = 0, concats = 12,
          concat_ns = 1e6, readbacks = 0, picks = 0, slices = 0, conversion_ns = 0, kept_ns = 0, flops = 0,
          elements = 8000, is_growing = false, shapes = "[1,80,24]x[1,80,24]" } } } },
    { name = "decoding", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "gru_cell", ns = 1.2e7, repeats = 64, body = 9, calls = 576,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 64, gates = 64, concats = 0,
          concat_ns = 0,
          readbacks = 0, picks = 64, slices = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "decoding, shapes unknown", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 528, body = 2, calls = 1070,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 4e3, view_ns = 2e3, products = 118, gates = 0, concats = 0,
          concat_ns = 0,
          readbacks = 0, picks = 23, slices = 620, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 0,
          is_growing = false } } } },
    -- Boxes of each image and class: 80 ms of 512 rounds, 511 of which go, 0.95 of them at least: 75.9 to 79.8.
    { name = "calls that wait for an accelerator", framework = "pytorch", finding = true, impact_ns = 7.78e7,
      facts = { ["step.ns"] = 9e7, ["device.idle_share"] = 0.7, ["part.compute_ns"] = 1e7 },
      tables = { eager_loops = { { anchor = "index", ns = 8e7, repeats = 512, body = 3, calls = 1536,
          span_ns = 8e7, backward_ns = 0, call_ns = 5.1e4, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 650,
          is_growing = false, shapes = "[600,4]" } } } },
    { name = "calls over a whole graph's edges", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 2e7, ["device.idle_share"] = 0.6, ["part.compute_ns"] = 8e6 },
      tables = { eager_loops = { { anchor = "index", ns = 1.2e7, repeats = 13, body = 10, calls = 134,
          span_ns = 1e7, backward_ns = 2e6, call_ns = 4.9e4, view_ns = 5e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1e7,
          is_growing = false } } } },
    { name = "long calls", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e5, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "a cell", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 64, gates = 64, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false } } } },
    { name = "decoding token by token", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "slice", ns = 1.2e7, repeats = 64, body = 8, calls = 512,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e4, view_ns = 2e3, products = 192, gates = 0, concats = 0,
          concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1e6, elements = 1000, is_growing = false,
          is_history = true } } } },
    { name = "farthest points", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "slice", ns = 1.2e7, repeats = 64, body = 9, calls = 576,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 1e4, view_ns = 2e3, products = 0, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, picks = 64, slices = 128, conversion_ns = 0, kept_ns = 0, flops = 0,
          elements = 1000, is_growing = false, is_history = false, is_fed_back = true, shapes = "[4,64]" } } } },
    { name = "a forward algorithm over words", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1.2e7, repeats = 64, body = 5, calls = 320, span_ns = 1.2e7,
          backward_ns = 0, call_ns = 1e4, view_ns = 2e3, products = 0, gates = 0, concats = 0, concat_ns = 0,
          readbacks = 0, picks = 0, slices = 64, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1000,
          is_growing = false, is_history = false, is_handed_on = true, shapes = "[32,64,11]" } } } },
    { name = "experts", framework = "pytorch", finding = true, severity = "info", impact_ns = 1.1e7,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "index", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 128, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000,
          is_growing = false, is_ragged = true } } } },
    { name = "experts, shapes unknown", framework = "pytorch", finding = true, severity = "info", impact_ns = 1.1e7,
      facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "index", ns = 1.2e7, repeats = 64, body = 5, calls = 320,
          span_ns = 1.2e7, backward_ns = 0, call_ns = 2e3, view_ns = 2e3, products = 64, gates = 0, concats = 0,
          concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 0,
          is_growing = false, is_ragged = false } } } },
    { name = "slices of three steps that nothing marks", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.source"] = "whole-trace" },
      tables = { eager_loops = { { anchor = "select", ns = 9e6, repeats = 9, body = 12, calls = 108, span_ns = 9e6,
          backward_ns = 0, call_ns = 1e4, view_ns = 2e3, products = 0, gates = 0, concats = 0, concat_ns = 0,
          readbacks = 0, conversion_ns = 0, kept_ns = 0, flops = 0, elements = 1000, is_growing = false } } } },
    { name = "small", framework = "pytorch", finding = false, facts = { ["step.ns"] = 2e7 },
      tables = { eager_loops = { { anchor = "select", ns = 1e6, repeats = 64, body = 5, calls = 320, span_ns = 1e6,
          backward_ns = 0, call_ns = 10000.0, view_ns = 2e3, products = 0, gates = 0, concats = 0, concat_ns = 0,
          readbacks = 0,
          conversion_ns = 0, kept_ns = 0, flops = 1000000.0, elements = 1000, is_growing = false } } } },
  },
}
