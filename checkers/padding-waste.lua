-- All batches are as long as each other, and attention is told with a mask which of it counts.

-- Of examples: attention of 16 samples over so many elements, with a mask for so many samples.
local function attention(length, masks, calls, heads, queries)
  return { class = "attention", phase = "forward", calls = calls, ns = 1.1e6 * calls,
           shapes = ("[16,4,%d,24]x[16,4,%d,24]x[16,4,%d,24]x[%d,%d,%d,%d]"):format(
             length, length, length, masks, heads or 1, queries or length, length) }
end

-- Calls of attention; on a device what the path waits for is not all of them, and kernels take the mask as expanded to
-- all heads and queries.
local function attention_of(p)
  local called = p:has("device.idle_share") and p:has("ops")
    and p:table("ops"):where { type = "aten::scaled_dot_product_attention" }
  return called and called:count() > 0 and called or p:table("work"):where { class = "attention", phase = "forward" }
end

-- The length that all attention with a mask of its own for each sample has; nil where lengths differ or there is none.
local function common_length(p)
  local length, calls
  for row in attention_of(p):each() do
    local batch, keys, masks, heads, queries, masked_keys = (row.shapes or ""):match(
      "^\\[(\\d+),\\d+,\\d+,\\d+\\]x\\[\\d+,\\d+,(\\d+),\\d+\\]x\\[[\\d,]+\\]" ..
      "x\\[(\\d+),(\\d+),(\\d+),(\\d+)\\]")
    -- What differs from head to head and from query to query is a bias of positions, and no mask.
    if not batch or (heads ~= "1" and queries ~= "1") then return nil end
    -- One mask for all samples is the model's own, a causal one say.
    if batch ~= masks or batch == "1" or keys ~= masked_keys then return nil end
    if length and length ~= keys then return nil end
    length, calls = keys, (calls or 0) + (row.calls or 0)
  end
  return tonumber(length), calls
end

-- Fourier transforms of padded data, several times as long as a convolution needs.
local function long_transforms(p, cfg)
  local cells = p:has("excess") and p:table("excess"):where { flaw = "long-transform" }
  return cells and p:in_excess {
    flaw = "long-transform", min_share = cfg.min_long_share, time = "transforms beyond twice the data",
    title = "Fourier transforms are far longer than their data: %s a step too much",
    severity = cells:sum("share") >= cfg.min_loud_share and "warn" or "info",
    remedy = { text = "A linear convolution needs a transform as long as signal and kernel together, rounded up to a "
                 .. "product of small primes.",
               code = "n = signal.shape[-1] + kernel.shape[-1]\nspectrum = jnp.fft.rfft(signal, n=n)" },
    confidence = "medium",
  }
end

-- TensorFlow: a pipeline that pads batches of mixed lengths.
local function mixed_lengths(p, cfg)
  return p:in_excess {
    flaw = "padded-batches", min_share = cfg.min_share, time = "work on padding, where lengths differ as in texts",
    title = "Batches of mixed lengths are padded to their longest example: %s", severity = "info",
    remedy = { text = "Put examples of like length into a batch.",
               code = "ds = ds.bucket_by_sequence_length(lambda x, y: tf.shape(x)[0], [16, 32, 64, 128], [32] * 5)" },
    confidence = "low",
  }
end

-- A server in JAX that reads all prompts by one program, for as many tokens as the longest has.
local function one_bucket(p, cfg)
  local phases = p.framework == "jax" and p:has("engine_phases") and p:table("engine_phases") or nil
  local prefill = phases and phases:where { phase = "prefill" }:rows()[1]
  if not prefill or prefill.steps < cfg.min_prompts or phases:where { phase = "decode" }:count() == 0 then
    return nil
  end
  local length, all_ns, prompt_ns = prefill.tokens or 0, 0, 0
  if length < cfg.min_prompt then return nil end
  for row in p:table("engine_steps"):each() do
    local ns = row.device_ns + (row.gap_ns or 0)
    all_ns, prompt_ns = all_ns + ns, prompt_ns + (row.phase == "prefill" and ns or 0)
    if row.phase == "prefill" and row.tokens ~= length then return nil end
  end
  local ns = prompt_ns / all_ns * p.fact["step.ns"]
  if ns < cfg.min_share * p.fact["step.ns"] then return nil end
  return finding {
    title = ("All prompts are read by a program for %d tokens: %s a step"):format(length, fmt.ms(ns)),
    evidence = { { "reading prompts a step", ns, "ns", share = ns / p.fact["step.ns"] },
                 { "prompts", prefill.steps, "count" }, { "tokens that each is read as", length, "count" } },
    condition = ("%s prompts of one length, %s wanted"):format(fmt.whole(prefill.steps), fmt.whole(cfg.min_prompts)),
    remedy = { text = "Compile the program for a few lengths, and pad each prompt to the next of them; or read prompts "
                 .. "in chunks, beside those that decode.",
               code = "size = next(b for b in (128, 256, 512, 1024, 2048) if b >= len(prompt))\n"
                 .. "prefill(params, np.pad(prompt, (0, size - len(prompt))), len(prompt))" },
    impact = impact.share { ns = cfg.padded * (1 - cfg.short_prompt / length) * ns, high = ns },
    confidence = "low",
  }
end

-- PyTorch: a cache of keys and values with room for many times what is written.
local function unfilled_cache(p, cfg)
  local cells = p:has("excess") and p:table("excess"):where { flaw = "unfilled-cache" }
  return cells and p:in_excess {
    flaw = "unfilled-cache", min_share = cfg.min_cache_share, time = "making the rest, and attention over it",
    title = "A cache of keys and values has room for many times what is written: %s a step too much",
    severity = cells:sum("share") >= cfg.min_loud_cache and "warn" or "info",
    remedy = { text = "Give the cache as many positions as prompt and answer have, let it grow, or keep one and reset "
                 .. "it; attend over those that are filled.",
               code = "cache = StaticCache(config, max_cache_len=prompt + new)   # or DynamicCache(config=config)" },
    confidence = "medium",
  }
end

return rule {
  id = "padding-waste", api = 1, version = "1.0.0",
  title = "Batches are padded to a fixed length",
  category = "model", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "work" },
  cause = "model.padding", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count", doc = "steps that have to have one length" },
    round_to = { default = 32, min = 1, max = 1e6, unit = "count", doc = "a length that was set is a multiple of it" },
    decimal = { default = 50, min = 1, max = 1e6, unit = "count", doc = "or of this" },
    min_share = { default = 0.2, min = 0, max = 1, unit = "share", doc = "share of the step in the network" },
    padded = { default = 0.85, min = 0, max = 1, unit = "share",
      doc = "of what the network takes, expected to be padding where a length was set: it holds the longest texts" },
    min_prompts = { default = 4, min = 2, max = 1e6, unit = "count", doc = "JAX: prompts read, all of one length" },
    min_prompt = { default = 1024, min = 2, max = 1e9, unit = "count", doc = "JAX: tokens of that length" },
    short_prompt = { default = 256, min = 1, max = 1e9, unit = "count",
                     doc = "JAX: tokens below which a prompt takes no less: its products wait for weights" },
    min_long_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "JAX: share of the step that transforms take beyond their need" },
    min_loud_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "JAX: the same for a warning" },
    min_cache_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "PyTorch: share of the step that goes to positions of a cache that nothing is written to" },
    min_loud_cache = { default = 0.15, min = 0, max = 1, unit = "share", doc = "PyTorch: the same for a warning" },
  },
  doc = [[
Attention has a mask of its own for each sample, as libraries make it where a batch holds padding, and all steps
have one length, a multiple of 32 or 50: batches are padded to a length that was set, not to their longest sample.
How long samples are no recording tells, so that the price is a bound, what the network takes, with most of it
expected. Silent where lengths differ from step to step, and without such masks. A cache of keys and values that is
made or emptied in a step, with room for four times the rows that are written in it or more, is such padding, too.
In compiled programs of JAX, Fourier transforms of padded data, or of which a part is kept, that are more than twice
as long as the data. Servers in JAX that read all prompts by one program for a thousand tokens or more: how long
they are no recording tells, and chunks of one long prompt look the same. In TensorFlow, pipelines that pad batches
and group nothing by length, where steps take unlike time: half of the ops' time, as the longest of a batch is about
twice the mean.]],

  check = function(p, cfg)
    if p.format == "xspace" then return long_transforms(p, cfg) or one_bucket(p, cfg) or mixed_lengths(p, cfg) end
    local cache = unfilled_cache(p, cfg)
    if cache then return cache end
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local work, step_ns = p:table("work"), p.fact["step.ns"]
    local length, calls = common_length(p)
    if not length or (length % cfg.round_to ~= 0 and length % cfg.decimal ~= 0) then return nil end
    local network = work:where { class = { like = "." }, phase = { like = "^(forward|backward)$" } }
    local ns = math.min(math.max(network:sum("ns"), p:has("device.idle_share") and p:has("part.compute_ns")
      and p.fact["part.compute_ns"] or 0), step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("All batches are padded to %d elements"):format(length),
      evidence = { { "the network, forward and backward, a step", ns, "ns", share = ns / step_ns },
                   { "length of all masked sequences", length, "count" },
                   { "attention with a mask for each sample, a step", calls, "count" } },
      condition = ("%d steps of one length, a multiple of %d or %d, with masks of padding"):format(p.fact["step.used"],
        cfg.round_to, cfg.decimal),
      remedy = { text = "Pad each batch to its longest sample, and put samples of like length together; or pack them.",
                 code = "tokenizer(texts, padding=\"longest\", truncation=True)   # not padding=\"max_length\"" },
      impact = impact.share { ns = cfg.padded * ns, high = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "96 in all steps", framework = "pytorch", format = "kineto", finding = true, impact_ns = 8.4e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = { attention(96, 16, 2),
        { class = "product", phase = "backward", calls = 20, ns = 6e5, shapes = "[16,96,96]x[96,96]" } } } },
    { name = "200 in all steps, one mask for all queries of a sample", framework = "pytorch", format = "kineto",
      finding = true, impact_ns = 6.6e5, facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = { attention(200, 16, 2, 4, 1) } } },
    -- A third or so of what the device computes.
    { name = "2048 on a device", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2.4e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["device.idle_share"] = 0.1, ["part.compute_ns"] = 8e6 },
      tables = { work = { { class = "attention", phase = "forward", calls = 3, ns = 2e4,
                            shapes = "[8,2048,16,64]x[8,2048,16,64]x[8,2048,16,64]x[8,16,2048,2048]" } },
                 ops = { { name = "aten::scaled_dot_product_attention", type = "aten::scaled_dot_product_attention",
                           calls = 8, shapes = "[8,16,2048,64]x[8,16,2048,64]x[8,16,2048,64]x[8,1,2048,2048]" } } } },
    { name = "a cache of 4096 for 32", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      replay = { 6e6 }, facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = {}, excess = { { cell = 1, flaw = "unfilled-cache", ns = 6e6, share = 0.6, factor = 0.01,
                                         detail = "32 rows of 4096 are written" } } } },
    { name = "8192 for 512", framework = "jax", format = "xspace", finding = true, severity = "warn", replay = { 6e6 },
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = {}, excess = { { cell = 1, flaw = "long-transform", ns = 6e6, share = 0.6, factor = 0.1 } } } },
    { name = "padded_batch of utterances", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", replay = { 4e6 }, facts = { ["step.ns"] = 1e7, ["step.used"] = 6 },
      tables = { work = {}, excess = { { cell = 1, flaw = "padded-batches", ns = 4e6, share = 0.4, factor = 0.5 } } } },
    { name = "a little too long", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 1e6 }, facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = {}, excess = { { cell = 1, flaw = "long-transform", ns = 1e6, share = 0.1, factor = 0.5 } } } },
    -- Four fifths of 10 ms read prompts: 8 ms, of which 0.85 * (1 - 256 / 2048) are expected to be padding.
    { name = "prompts for the longest", framework = "jax", format = "xspace", finding = true, severity = "info",
      impact_ns = 5.95e6, facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { engine_steps = { { phase = "prefill", tokens = 2048, device_ns = 4e6 },
                                  { phase = "decode", tokens = 16, device_ns = 1e6 } },
                 engine_phases = { { phase = "prefill", steps = 8, tokens = 2048 },
                                   { phase = "decode", steps = 8, tokens = 16 } }, work = {} } },
    { name = "prompts of two lengths", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { engine_steps = { { phase = "prefill", tokens = 2048, device_ns = 4e6 },
                                  { phase = "prefill", tokens = 1024, device_ns = 2e6 },
                                  { phase = "decode", tokens = 16, device_ns = 1e6 } },
                 engine_phases = { { phase = "prefill", steps = 8, tokens = 1536 },
                                   { phase = "decode", steps = 8, tokens = 16 } }, work = {} } },
    { name = "no transforms", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = {}, excess = { { cell = 1, flaw = "other", ns = 6e6, share = 0.6, factor = 0.1 } } } },
    { name = "little of the step", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(96, 16, 1) } } },
    { name = "one mask for all samples", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(96, 1, 3) } } },
    { name = "a bias of its own for each head", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(96, 16, 3, 4) } } },
    { name = "lengths differ", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 },
      tables = { work = { attention(96, 16, 3), attention(128, 16, 3) } } },
    { name = "a length that nobody sets", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3 }, tables = { work = { attention(48, 16, 3) } } },
  },
}
