-- Each new token runs all tokens before it again.

-- Ledger: a loop of a compiled program writes one row a round, and products of weights take all rows.
local function of_compiled(p, cfg)
  return p:in_excess {
    flaw = "remade-rows", min_share = cfg.min_share, time = "rows that no round changed",
    title = "Each round of a loop changes one row and works on all of them again: %s of each step",
    remedy = { text = "Carry keys and values of earlier rows through the loop, and run the new row alone.",
               code = "keys = jax.lax.dynamic_update_slice_in_dim(keys, key, t, axis=1)   # in the loop's state" },
    confidence = "high",
  }
end

-- Ledger: calls of a function that make a word each, and what they make of the words before anew.
local function of_token_calls(p, cfg)
  return p:in_excess {
    flaw = "remade-keys", min_share = cfg.min_share, time = "keys and values that stay the same",
    title = "Keys and values of an encoder's output are made again for each token: %s a step",
    remedy = { text = "Project the encoder's output once a text and hand keys and values to each call.",
               code = "memory = [(block.key(frames), block.value(frames)) for block in decoder.blocks]   # once" },
    confidence = "medium",
  } or p:in_excess {
    flaw = "uncached-call", min_share = cfg.min_share, severity = "info", time = "running all words again",
    title = "Calls that pick one word each keep nothing of those before: %s a step",
    remedy = { text = "Where each call goes on with the text of the one before, keep keys and values between calls, "
                 .. "and run the new token alone.",
               code = "logits, cache = decode(tokens[:, t:t + 1], cache)   # cache comes back in the next call" },
    confidence = "low",
  }
end

-- The longest row of rounds whose products of the same weights have as many rows more each than the one before:
-- { count, rows of the first, on average, and more in each }. weights: of each the list of { rows, calls }. At most
-- `missing` rounds lie between two, as steps that are left out.
local function longest_growth(weights, missing, cfg)
  local best
  for _, rounds in sorted_pairs(weights) do
    table.sort(rounds, function(a, b) return a.rows < b.rows end)
    local last, from, sum = #rounds, #rounds, rounds[#rounds].rows
    local step = last > 1 and rounds[last].rows - rounds[last - 1].rows or 0
    while from > 1 and step > 0 and math.abs(rounds[from - 1].calls - rounds[last].calls) < 0.5 do
      local more = rounds[from].rows - rounds[from - 1].rows
      if more % step ~= 0 or more > (missing + 1) * step then break end
      from, sum = from - 1, sum + rounds[from - 1].rows
    end
    local count, rows = last - from + 1, rounds[from].rows
    if count >= cfg.min_rounds and rounds[last].rows + step <= 2 * rows and (not best or count > best.count) then
      best = { count = count, step = step, rows = rows, mean = sum / count, places = { rounds[last].place } }
    end
  end
  return best
end

local function in_rounds(p, cfg, best, share, remedy)
  local computing_ns = p.fact["part.compute_ns"]
  if share * computing_ns < cfg.min_share * p.fact["step.ns"] then return nil end
  return finding {
    title = ("Running the same prefix again for each token takes %s a step"):format(fmt.ms(share * computing_ns)),
    locations = best.places,
    evidence = { { "computing a step", computing_ns, "ns", share = computing_ns / p.fact["step.ns"] },
                 { best.what, best.count, "count" }, { "rows of the first one's products", best.rows, "count" },
                 { "rows more in each", best.step, "count" } },
    condition = ("products of the same weights grow by as many rows in %s rounds, %s wanted"):format(
      fmt.whole(best.count), fmt.whole(cfg.min_rounds)),
    remedy = remedy,
    impact = impact.exposed { ns = share * computing_ns },
    confidence = "medium",
  }
end

-- PyTorch where a device waits for the host: rows that are computed again make no op's own time longer than starting
-- it, so that the ledger has nothing to claim. Products of the same weights with a few rows more from round to round,
-- as often each.
local function grown(p, cfg)
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or 0
  if p.format ~= "kineto" or not p:has("device.idle_share") or not p:has("ops") or computing_ns <= 0
      or (p.fact["torch.backward_ns"] or 0) > 0 then
    return nil
  end
  local weights = {}
  for row in p:table("ops"):where { type = { like = "^aten::(addmm|mm)$" } }:each() do
    local rows, key = (row.shapes or ""):match("(?:^|x)\\[(\\d+),\\d+\\]x(\\[\\d+,\\d+\\])$")
    if rows then
      weights[key] = weights[key] or {}
      table.insert(weights[key], { rows = tonumber(rows), calls = row.calls })
    end
  end
  local best = longest_growth(weights, 0, cfg)
  if not best then return nil end
  best.what = "rounds a step"
  return in_rounds(p, cfg, best, (best.count - 1) / best.count * (1 - best.step / best.rows), {
    text = "Keep keys and values of earlier tokens, and run the new ones alone.",
    code = "out = model(ids[:, -1:], past_key_values=cache, use_cache=True)   # generate(use_cache=True)" })
end

-- JAX: each step runs a program of its own, compiled for one token more, in which every token attends to all.
local function grown_programs(p, cfg)
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or 0
  if p.framework ~= "jax" or not p:has("ops") or computing_ns <= 0
      or p:has("op_stats.trains") and p.fact["op_stats.trains"] then
    return nil
  end
  local products, squares = p:table("ops"):where { shapes = { like = "->\\[[\\d,]+\\]$" } }, {}
  for row in products:each() do
    local side = row.shapes:match("->\\[(?:\\d+,)+(\\d+),\\1\\]$")
    if side then squares[tonumber(side)] = true end
  end
  local weights, seen = {}, {}
  for row in products:each() do
    local rows, key = row.shapes:match("^\\[(\\d+),\\d+\\]x(\\[\\d+,\\d+\\])->\\[\\1,\\d+\\]$")
    rows = tonumber(rows)
    local attends = false
    for side in sorted_pairs(squares) do attends = attends or rows and rows % side == 0 end
    key = key and row.module .. " " .. key
    if attends and not seen[key .. " " .. rows] then
      seen[key .. " " .. rows] = true
      weights[key] = weights[key] or {}
      table.insert(weights[key], { rows = rows, calls = row.calls, place = (row.source_file or "") ~= ""
                                     and { file = row.source_file, line = row.source_line } or nil })
    end
  end
  local best = longest_growth(weights, cfg.missing, cfg)
  if not best then return nil end
  best.what = "programs that run in turn"
  return in_rounds(p, cfg, best, 1 - best.step / best.mean, {
    text = "Keep keys and values of earlier tokens in arrays as long as the longest text, and run the new token "
      .. "alone: one program for all lengths, too.",
    code = "keys = jax.lax.dynamic_update_slice_in_dim(keys, key, t, axis=1)   # logits, cache = step(params, token, "
      .. "cache, t)" })
end

-- A run that picks one word, for its decoder looks up next to nothing, and whose encoder looks up a whole text. Scopes
-- tell which is which.
local function encoded_again(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("ops") then return nil end
  local ops, sides, picks = p:table("ops"), {}, false
  if ops:where { name = { like = "gradient" } }:count() > 0 then return nil end
  local all_ns = ops:sum("self_ns")
  for row in ops:each() do
    local side = row.name:find("(?i)(^|/)\\w*encoder\\w*/") and "encoder"
      or row.name:find("(?i)(^|/)\\w*decoder\\w*/") and "decoder"
    if side then
      local of = sides[side] or { ns = 0, lookup_ns = 0, calls = 0 }
      sides[side] = of
      of.ns = of.ns + row.self_ns
      if row.type:find("Gather(V2)?$") then
        of.lookup_ns, of.calls = of.lookup_ns + row.self_ns, math.max(of.calls, row.calls)
      end
      picks = picks or side == "decoder" and row.type:find("^(ArgMax|Multinomial|TopKV2)$") ~= nil
    end
  end
  local encoder, decoder = sides.encoder, sides.decoder
  if not encoder or not decoder or not picks or decoder.lookup_ns <= 0 or
     decoder.lookup_ns * cfg.min_words > encoder.lookup_ns or encoder.calls < 0.9 * decoder.calls then return nil end
  local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or p.fact["step.ns"]
  local ns = encoder.ns / all_ns * math.min(computing_ns, p.fact["step.ns"])
  if ns < cfg.min_encoder_share * p.fact["step.ns"] then return nil end
  return finding {
    title = ("A run that picks one word encodes the whole text again: %s a step"):format(fmt.ms(ns)),
    severity = "info",
    evidence = { { "the encoder a step", ns, "ns", share = ns / p.fact["step.ns"] },
                 { "looking up its words", encoder.lookup_ns, "ns" },
                 { "looking up the decoder's", decoder.lookup_ns, "ns" } },
    condition = ("the encoder's words take %s times as long to look up as the decoder's, %s accepted"):format(
      fmt.whole(encoder.lookup_ns / decoder.lookup_ns), fmt.whole(cfg.min_words)),
    remedy = { text = "Where several runs go on with one text, encode it once, and feed what came of it to each.",
               code = "memory = session.run(encoded, {text: words})              # once a text\n"
                 .. "word = session.run(next_word, {encoded: memory, last: word})   # each word" },
    impact = impact.exposed { ns = ns, low = 0.6 * ns, high = ns },
    confidence = "low",
  }
end

return rule {
  id = "kv-cache-missing", api = 1, version = "1.0.0",
  title = "Each new token runs all tokens before it again",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "excess" },
  cause = "forward.prefix", tags = { "ops" },
  more_specific_than = { "hot-op", "repeated-op-sequence", "duplicate-compute", "host-bound", "tiny-ops",
                         "step-outliers", "step-bimodal" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
    min_rounds = { default = 4, min = 3, max = 1e6, unit = "count",
                   doc = "rounds whose products have as many rows more than the one before" },
    missing = { default = 3, min = 0, max = 1e6, unit = "count",
                doc = "JAX: programs in a row that may not be among the steps that are looked at" },
    min_words = { default = 8, min = 1, max = 1e6, unit = "ratio",
                  doc = "time of an encoder's lookups over a decoder's, from which the decoder gets a word a run" },
    min_encoder_share = { default = 0.2, min = 0, max = 1, unit = "share",
                          doc = "share of the step in such an encoder" },
  },
  doc = [[
Products of the same weights get a few rows more in each round and all rows of the round before again: a generation
that keeps no keys and values. What is needed are the new rows; the first round is the prompt and counts as needed. A
window of the last words that goes through the network again for each new one counts the same. What the host takes to
start the ops of an accelerator stays. In recordings of PyTorch without shapes, calls of attention in rounds that look
words up, pick one and join it to the others, and join or write nothing else: with a cache an op is still started for
the new word. In TensorFlow, calls of a graph function that run more ops from call to call and then begin again with
few: a loop over the whole text so far. What the first of them runs is needed. Its calls that look words up, attend and
pick one, and neither join nor write anything, have no cache (a low confidence: texts that are told apart one by one
look like it); where they do, products before the last attention that take many times what others do are an encoder's
keys and values. Runs of TensorFlow in which an encoder looks many words up and a decoder next to none, and picks one,
encode the text again for each. Silent where gradients are computed. Where a device waits for the host, rows tell that
grow by as many from round to round, and what it computes is the time; so where JAX runs a program for each length,
in which all tokens attend to all. In compiled programs of JAX, a loop that writes
one row of an array it carries, while products of weights that it does not change take all rows.]],

  check = function(p, cfg)
    return of_compiled(p, cfg) or of_token_calls(p, cfg) or p:in_excess {
      flaw = "growing-prefix", min_share = cfg.min_share,
      title = "Running the same prefix again for each token takes %s a step",
      time = "what earlier rounds did already",
      remedy = p.framework == "tensorflow" and {
        text = "Keep the state, or keys and values, of earlier tokens between calls, and run the new one alone.",
        code = "output, state = cell(token, state)   # state comes back in the next call" } or {
                 text = "Keep keys and values of earlier tokens, and run the new ones alone.",
                 code = "out = model(ids[:, -1:], past_key_values=cache, use_cache=True)   "
                   .. "# generate(use_cache=True)" },
      confidence = "high",
    } or grown(p, cfg) or grown_programs(p, cfg) or encoded_again(p, cfg)
  end,

  examples = {
    { name = "a loop over tokens", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-prefix", op = "aten::linear", ns = 3e6, share = 0.3,
                              factor = 0.1,
        region = "train.py(12): step", detail = "256, 260, 264 rows" } } } },
    { name = "a compiled loop over tokens", framework = "jax", format = "xspace", finding = true, replay = { 9e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "remade-rows", op = "fusion", ns = 9e6, share = 0.9, factor = 0.02,
                              source_file = "generate.py", source_line = 27 } } } },
    { name = "a loop over the text so far", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 7e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-prefix", op = "MatMul", ns = 7e6, share = 0.7, factor = 0.3,
                              detail = "a function runs more ops from call to call" } } } },
    { name = "an encoder's keys", framework = "tensorflow", format = "xspace", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "remade-keys", op = "MatMul", ns = 5e6, share = 0.5,
                              factor = 0.05 } } } },
    { name = "calls without a cache", framework = "tensorflow", format = "xspace", finding = true, severity = "info",
      replay = { 4e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "uncached-call", op = "BatchMatMulV2", ns = 4e6, share = 0.4,
                              factor = 0.4 } } } },
    -- Of four rounds of 8 ms in all three go, but for 8 of 4096 rows: 5.99 ms.
    { name = "four words of eight texts on a device", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 5.99e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["device.idle_share"] = 0.2 },
      tables = { excess = {}, ops = {
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[4096,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[4104,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[4112,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[4120,1024]x[1024,3072]" } } } },
    -- Programs for 16, 18, 20 and 22 rows, two texts: on average 2 of 19 rows are new, 17 / 19 of 8 ms go.
    { name = "a program for each length", framework = "jax", format = "xspace", finding = true, impact_ns = 7.158e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { excess = {}, ops = {
        { name = "dot.1", type = "dot", module = "jit_model", calls = 0.25, self_ns = 2e6,
          shapes = "[16,512]x[512,128]->[16,128]" },
        { name = "dot.1", type = "dot", module = "jit_model", calls = 0.25, self_ns = 2e6,
          shapes = "[18,512]x[512,128]->[18,128]" },
        { name = "dot.1", type = "dot", module = "jit_model", calls = 0.25, self_ns = 2e6,
          shapes = "[20,512]x[512,128]->[20,128]" },
        { name = "dot.1", type = "dot", module = "jit_model", calls = 0.25, self_ns = 2e6,
          shapes = "[22,512]x[512,128]->[22,128]" },
        { name = "dot.2", type = "dot", module = "jit_model", calls = 0.25, self_ns = 1e5,
          shapes = "[2,8,128]x[2,8,128]->[2,8,8]" },
        { name = "dot.2", type = "dot", module = "jit_model", calls = 0.25, self_ns = 1e5,
          shapes = "[2,9,128]x[2,9,128]->[2,9,9]" },
        { name = "dot.2", type = "dot", module = "jit_model", calls = 0.25, self_ns = 1e5,
          shapes = "[2,10,128]x[2,10,128]->[2,10,10]" },
        { name = "dot.2", type = "dot", module = "jit_model", calls = 0.25, self_ns = 1e5,
          shapes = "[2,11,128]x[2,11,128]->[2,11,11]" } } } },
    { name = "longer batches from program to program", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { excess = {}, ops = {
        { name = "dot.1", type = "dot", module = "jit_f", calls = 0.25, shapes = "[16,512]x[512,128]->[16,128]" },
        { name = "dot.1", type = "dot", module = "jit_f", calls = 0.25, shapes = "[18,512]x[512,128]->[18,128]" },
        { name = "dot.1", type = "dot", module = "jit_f", calls = 0.25, shapes = "[20,512]x[512,128]->[20,128]" },
        { name = "dot.1", type = "dot", module = "jit_f", calls = 0.25,
          shapes = "[22,512]x[512,128]->[22,128]" } } } },
    { name = "a prompt, and words behind it", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["device.idle_share"] = 0.2 },
      tables = { excess = {}, ops = {
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[8,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[4096,1024]x[1024,3072]" } } } },
    { name = "batches of many lengths", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["device.idle_share"] = 0.2 },
      tables = { excess = {}, ops = {
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[1024,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[2048,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[3072,1024]x[1024,3072]" },
        { name = "aten::addmm", type = "aten::addmm", calls = 8, shapes = "[3072]x[4096,1024]x[1024,3072]" } } } },
    -- The encoder takes 6 of 8.02 ms of ops, and as much of 8 ms computing: 5.985 ms, of which 0.6 to all go.
    { name = "a text encoded for each word", framework = "tensorflow", format = "xspace", finding = true,
      severity = "info", impact_ns = 4.79e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { excess = {}, ops = {
        { name = "encoder/embedding_lookup", type = "ResourceGather", calls = 1, self_ns = 1e6 },
        { name = "encoder/conv1d", type = "Conv2D", calls = 1, self_ns = 5e6 },
        { name = "decoder/embedding_lookup", type = "ResourceGather", calls = 1, self_ns = 1e4 },
        { name = "decoder/MatMul", type = "MatMul", calls = 1, self_ns = 2e6 },
        { name = "decoder/ArgMax", type = "ArgMax", calls = 1, self_ns = 1e4 } } } },
    { name = "a sentence that is scored", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { excess = {}, ops = {
        { name = "encoder/embedding_lookup", type = "ResourceGather", calls = 1, self_ns = 1e6 },
        { name = "encoder/conv1d", type = "Conv2D", calls = 1, self_ns = 5e6 },
        { name = "decoder/embedding_lookup", type = "ResourceGather", calls = 1, self_ns = 5e5 },
        { name = "decoder/MatMul", type = "MatMul", calls = 1, self_ns = 2e6 },
        { name = "decoder/ArgMax", type = "ArgMax", calls = 1, self_ns = 1e4 } } } },
    { name = "a text encoded once for ten words", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6 },
      tables = { excess = {}, ops = {
        { name = "encoder/embedding_lookup", type = "ResourceGather", calls = 0.1, self_ns = 1e6 },
        { name = "encoder/conv1d", type = "Conv2D", calls = 1, self_ns = 5e6 },
        { name = "decoder/embedding_lookup", type = "ResourceGather", calls = 1, self_ns = 1e4 },
        { name = "decoder/MatMul", type = "MatMul", calls = 1, self_ns = 2e6 },
        { name = "decoder/ArgMax", type = "ArgMax", calls = 1, self_ns = 1e4 } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "growing-prefix", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
