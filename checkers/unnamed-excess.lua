-- Time that the step's work does not need, and that no other rule knows by name.
local named = "small-runs|run-again|metrics|model-built|side-product|worker-start|"
  .. "unused-gradients|recompute|second-pass|forward-again|evaluation|growing-prefix|thrown-rows|derived-weight|"
  .. "repeated-block|gathered-items|long-pause|costly-class|own-python|batch-of-items|fixed-work|gathered-rows|"
  .. "both-branches|calls-at-line|state-copied|evaluation-calls|growing-graph|fed-back|single-inputs|repeated-run|"
  .. "whole-copies|saving-run|read-back|text-in-step|single-items|larger-pass|paired-calls|deep-copies|fixed-matrix|"
  .. "made-constants|dense-jacobian|traced-jacobian|product-order|repeated-rows|frozen-work|frozen-teacher|"
  .. "traced-hessian|forward-gradient|"
  .. "stepped-cells|frozen-layers|batch-work|shifted-rounds|"
  .. "cut-results|long-transform|slow-transform|complex-of-real|outer-sums|outer-matrix|redrawn-rounds|"
  .. "uncached-call|remade-keys|masked-work|masked-write|unread-rounds|unfilled-rounds|separate-rounds|remade-rows|"
  .. "side-by-side|shared-factor|iterator-made|"
  .. "fetched-variables|row-jacobian|called-again|whole-history|same-input|pipeline-bubble|"
  .. "wide-loss|handed-on|idle-experts|gathered-windows|gathered-weights|teacher-again|trained-again|trained-pair|"
  .. "network-prefix|"
  .. "unpicked-rows|loop-fixed|separate-tables|padded-batches|dataset-pass|untrained-results|unfilled-cache|"
  .. "same-for-all|summed-rounds|fixed-targets|picked-parts|kept-diagonal|shuffled-rows|gathered-matrix|"
  .. "unreached-nodes|unfolded-convolution|formed-inverse|fresh-arrays|same-counts|square-diagonal|"
  .. "power-rounds|kept-window|kept-graph|weights-alone|unfused-region|turned-cache"
  .. "|closure-fixed|idle-branches|detached-rounds|held-arguments|zero-filled|compiled-again|summed-products"
  .. "|penalised-weights|checked-values|unread-direction|enlarged-pictures|rows-apart|nan-checks"
  .. "|wide-windows|pair-vectors|moves-with-gradients"
  .. "|listed-matrix|moved-rows|lock-waits"
local ways = {
  ["wait.input"] = { "waits for data",
                     "Make the next batch beside the step: workers, prefetch, fewer and larger reads." },
  ["wait.rank"] = { "waits for others",
                    "Give all ranks equal work, and start collectives before their results are needed." },
  ["wait.sync"] = { "waits for a device", "Read results once every fifty steps, and start the next work before." },
  ["wait.io"] = { "waits for files", "Write less often, from another thread, or less at a time." },
  ["python"] = { "is in Python",
                 "Move it out of the step: to every hundredth step, to another process, or into tensor ops." },
  ["dispatch"] = { "starts small calls", "Do them for the whole batch at once, or compile the loop around them." },
  ["repeat"] = { "does work again", "Keep the first result where its inputs do not change." },
  ["unused"] = { "makes results that nothing reads", "Leave them out, or cut to what is read before they are made." },
  ["rare"] = { "does what need not be in each step", "Do it once in fifty steps." },
  ["shape"] = { "works on elements that are not needed", "Cut or pack the data to what is needed before the work." },
  ["bytes"] = { "moves more data than its results need", "Fuse the passes, keep one layout and one type." },
  ["precision"] = { "computes in a wider type than needed", "Use float32 or less from the data on." },
  ["compile"] = { "traces and compiles", "Keep shapes and Python values that the program depends on the same." },
}

return rule {
  id = "unnamed-excess", api = 1, version = "1.0.0",
  title = "Part of the step is in excess",
  category = "host", severity = "warn",
  needs = { "step.ns", "excess" },
  cause = "excess", tags = { "ops" },
  more_specific_than = { "hot-op", "host-bound" },
  params = {
    min_share = { default = 0.1, min = 0, max = 1, unit = "share",
                  doc = "share of the step from which a cell is said" },
    most = { default = 3, min = 1, max = 10, unit = "count", doc = "cells that are said" },
  },
  doc = [[
The ledger of excess explains each step by what its work needs, and what is left over by cause and place (the table
`excess`). Cells that a rule of their own knows are said by it; this one says the rest, in the words of their cause. A
cell of grade C rests on names alone: a note, and an upper bound.]],

  check = function(p, cfg)
    local list = {}
    local cells = p:table("excess"):where { flaw = { like = "^(?!(" .. named .. ")$)" },
                                            share = { min = cfg.min_share } }
    for _, row in ipairs(cells:top("ns", cfg.most):rows()) do
      -- What a library does has a rule, but for evaluation of one.
      local detail = row.flaw == "library-range" and row.detail or ""
      if detail:find("^metrics") or detail:find("^objects") or detail:find("^loading") then goto next end
      local way = ways[row.cause] or { "is in excess", "Look at what it does there." }
      list[#list + 1] = finding {
        title = ("The step %s for %s"):format(way[1], fmt.ms(row.ns)),
        severity = row.grade == "C" and "info" or "warn",
        subject = { op = row.op, scope = row.region },
        locations = row.source_file and { { file = row.source_file, line = row.source_line } } or nil,
        evidence = { { "in excess a step", row.ns, "ns", share = math.min(row.share, 1) },
                     { "where", row.region or "the step" }, { "seen by", row.detail or row.flaw } },
        condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(row.share), fmt.pct(cfg.min_share)),
        remedy = { text = way[2] },
        impact = row.grade == "C" and impact.share { ns = row.ns } or impact.cells(cells:where { cell = row.cell }),
        claims = { cell = row.cell },
        confidence = row.grade == "A" and "medium" or "low",
      }
      ::next::
    end
    return list
  end,

  examples = {
    { name = "a structure without a rule", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 4, flaw = "odd-work", cause = "repeat", grade = "B", ns = 3e6, share = 0.3,
                              factor = 0 } } } },
    { name = "one that has a rule", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 4, flaw = "thrown-rows", cause = "unused", grade = "A", ns = 3e6, share = 0.3,
                              factor = 0 },
                            { cell = 5, flaw = "iterator-made", cause = "wait.input", grade = "A", ns = 3e6,
                              share = 0.3, factor = 0 } } } },
    { name = "a little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 4, flaw = "odd-work", cause = "repeat", grade = "B", ns = 5e5, share = 0.05,
                              factor = 0 } } } },
  },
}
