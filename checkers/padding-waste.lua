-- All batches are as long as each other, and attention is told with a mask which of it counts.

-- Of examples: attention of 16 samples over so many elements, with a mask for so many samples.
local function attention(length, masks, calls)
  return { class = "attention", phase = "forward", calls = calls, ns = 1.1e6 * calls,
           shapes = ("[16,4,%d,24]x[16,4,%d,24]x[16,4,%d,24]x[%d,1,%d,%d]"):format(
             length, length, length, masks, length, length) }
end

-- The length that all attention with a mask of its own for each sample has; nil where lengths differ or there is none.
local function common_length(work)
  local length, calls
  for row in work:where { class = "attention", phase = "forward" }:each() do
    local batch, keys, masks, masked_keys = (row.shapes or ""):match(
      "^\\[(\\d+),\\d+,\\d+,\\d+\\]x\\[\\d+,\\d+,(\\d+),\\d+\\]x\\[[\\d,]+\\]" ..
      "x\\[(\\d+),\\d+,\\d+,(\\d+)\\]")
    if not batch then return nil end
    -- One mask for all samples is the model's own, a causal one say.
    if batch ~= masks or batch == "1" or keys ~= masked_keys then return nil end
    if length and length ~= keys then return nil end
    length, calls = keys, (calls or 0) + (row.calls or 0)
  end
  return tonumber(length), calls
end

return rule {
  id = "padding-waste", api = 1, version = "1.0.0",
  title = "Batches are padded to a fixed length",
  category = "model", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "step.used", "work" },
  cause = "model.padding", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count", doc = "steps that have to have one length" },
    round_to = { default = 32, min = 1, max = 1e6, unit = "count", doc = "a length that was set is a multiple of it" },
    min_share = { default = 0.2, min = 0, max = 1, unit = "share", doc = "share of the step in the network" },
  },
  doc = [[
Attention has a mask of its own for each sample, as libraries make it where a batch holds padding, and all steps have
one length, a multiple of 32: batches are padded to a length that was set, not to their longest sample. How long samples
are no recording tells, so that the price is a bound: what the network takes. Silent where lengths differ from step to
step, and without such masks.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local work, step_ns = p:table("work"), p.fact["step.ns"]
    local length, calls = common_length(work)
    if not length or length % cfg.round_to ~= 0 then return nil end
    local network = work:where { class = { like = "." }, phase = { like = "^(forward|backward)$" } }
    local ns = math.min(network:sum("ns"), step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("All batches are padded to %d elements"):format(length),
      evidence = { { "the network, forward and backward, a step", ns, "ns", share = ns / step_ns },
                   { "length of all masked sequences", length, "count" },
                   { "attention with a mask for each sample, a step", calls, "count" } },
      condition = ("%d steps of one length, a multiple of %d, with masks of padding"):format(p.fact["step.used"],
        cfg.round_to),
      remedy = { text = "Pad each batch to its longest sample, and put samples of like length together; or pack them.",
                 code = "tokenizer(texts, padding=\"longest\", truncation=True)   # not padding=\"max_length\"" },
      impact = impact.share { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "96 in all steps", framework = "pytorch", format = "kineto", finding = true, impact_ns = 8.4e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = { attention(96, 16, 2),
        { class = "product", phase = "backward", calls = 20, ns = 6e5, shapes = "[16,96,96]x[96,96]" } } } },
    { name = "little of the step", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(96, 16, 1) } } },
    { name = "one mask for all samples", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(96, 1, 3) } } },
    { name = "lengths differ", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = { attention(96, 16, 3), attention(128, 16, 3) } } },
    { name = "a length that nobody sets", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(48, 16, 3) } } },
  },
}
