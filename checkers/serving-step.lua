-- What a step of an engine that serves a language model does.
-- Rows that most of the products' time works on: graphs are captured for some sizes of batch, smaller ones are padded.
local function rows_of_products(p)
  local ns_of, all_ns = {}, 0
  if not p:has("kernels") then return nil end
  for row in p:table("kernels"):where { category = "gemm" }:each() do
    local rows = (row.shapes or ""):match("(?:^|x)\\[(\\d+),\\d+\\]x\\[\\d+,\\d+\\]$")
    if rows then
      ns_of[rows], all_ns = (ns_of[rows] or 0) + row.total_ns, all_ns + row.total_ns
    end
  end
  for rows, ns in pairs(ns_of) do
    if ns > 0.5 * all_ns then return tonumber(rows) end
  end
end

local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

-- What steps that read prompts beside decoding take more than steps that decode alone, for as many requests or up to
-- twice as many; nil where one of the two is not recorded.
local function held_up(p)
  if not p:has("engine_steps") then return nil end
  local mixed, alone, all_ns, usual_ns = {}, {}, 0, {}
  for row in p:table("engine_steps"):each() do
    all_ns = all_ns + row.device_ns + (row.gap_ns or 0)
    if row.phase == "mixed" and (row.decodes or 0) > 0 then mixed[#mixed + 1] = row end
    if row.phase == "decode" and (row.decodes or 0) > 0 then alone[#alone + 1] = row end
  end
  local function alone_ns(decodes)
    local list = {}
    for _, row in ipairs(alone) do
      if row.decodes >= decodes and row.decodes <= 2 * decodes then list[#list + 1] = row.device_ns end
    end
    return #list > 0 and median(list) or false
  end
  local sum = { mixed = 0, mixed_ns = 0, alone = #alone, alone_ns = 0 }
  for _, row in ipairs(mixed) do
    if usual_ns[row.decodes] == nil then usual_ns[row.decodes] = alone_ns(row.decodes) end
    if usual_ns[row.decodes] then
      sum.mixed, sum.mixed_ns = sum.mixed + 1, sum.mixed_ns + row.device_ns
      sum.alone_ns = sum.alone_ns + usual_ns[row.decodes]
    end
  end
  if sum.mixed == 0 then return nil end
  sum.share = (sum.mixed_ns - sum.alone_ns) / all_ns
  return sum
end

-- Steps that read prompts while the next one decodes without any; nil where there are none. Together in one step they
-- read the weights once, and are launched once: no more than the shorter of the two can go.
local function alone(p)
  if not p:has("engine_steps") then return nil end
  local sum, all_ns, before = { steps = 0, ns = 0, most_ns = 0 }, 0, nil
  for row in p:table("engine_steps"):each() do
    local ns = row.device_ns + (row.gap_ns or 0)
    all_ns = all_ns + ns
    if before and before.phase == "prefill" and row.phase == "decode" then
      sum.steps, sum.ns, sum.most_ns = sum.steps + 1, sum.ns + before.ns, sum.most_ns + math.min(before.ns, ns)
    end
    before = { phase = row.phase, ns = ns }
  end
  if sum.steps < 2 then return nil end
  sum.share, sum.wait_share = sum.most_ns / all_ns, sum.ns / all_ns
  return sum
end

-- Of prompts beside decoding, none of it to all, a third expected: prompts must be read somewhere, and where is the
-- server's choice. Of prompts alone half: what attention reads of each request's past is read in either way.
local function price(p, held, lone)
  if (not held and not lone) or not p:has("step.ns") then return impact.none() end
  local most = (held and held.share or 0) + (lone and lone.share or 0)
  local mid = (held and held.share or 0) / 3 + (lone and lone.share or 0) / 2
  return impact.share { ns = mid * p.fact["step.ns"], high = most * p.fact["step.ns"] }
end

return rule {
  id = "serving-step", api = 1, version = "1.0.0",
  title = "What a step of the serving engine does",
  category = "kernels", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "serving.steps", "serving.phase", "serving.step_ns" },
  tags = { "serving" },
  params = {
    min_graph = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "kernels of a decoding step in replayed graphs, from which it is captured" },
    max_padding = { default = 0.2, min = 0, max = 1, unit = "share",
                    doc = "rows of a decoding step's products that are no request's, from which it is told" },
    max_gap = { default = 0.1, min = 0, max = 10, unit = "ratio",
                doc = "pause between steps over a step, from which the scheduler holds it up" },
    min_held_up = { default = 0.02, min = 0, max = 1, unit = "share",
                    doc = "of the steps' time, what prompts add to steps that decode, from which it has a price" },
  },
  doc = [[
Engines mark their steps with the requests and tokens in them, or are seen by the functions that they call once a step:
then graphs that are replayed for as much work again and again are taken for decoding. Servers of one's own are seen by
ranges and, in JAX, by compiled programs whose names say prefill and decode. Says what most of the time goes
to, how long a step takes on the device, and how many new tokens a second that is. A decoding step reads all weights for
one token of each request: it gains from more requests, narrower weights and replayed graphs. Reading prompts (prefill)
is arithmetic. Where shapes tell more rows than there are requests, as with graphs for few sizes of batch, the rest is
padding. A fact without a price, unless some steps read prompts beside decoding and others decode alone for as many
requests: what the former take more is the most that decoding gains where prompts are read elsewhere; or steps read
prompts while all others wait, and the next one decodes: read in one step, at most the shorter of the two goes.]],

  check = function(p, cfg)
    local phase, step_ns = p.fact["serving.phase"], p.fact["serving.step_ns"]
    local requests = p:has("serving.requests") and p.fact["serving.requests"] or nil
    local graph = p:has("serving.graph_share") and p.fact["serving.graph_share"] or nil
    local gap_ns = p:has("serving.gap_ns") and p.fact["serving.gap_ns"] or 0
    local names = { decode = "Decoding for", prefill = "Reading the prompts of", mixed = "Prompts and decoding of",
                    unknown = "Work of" }
    local evidence = { { "steps", p.fact["serving.steps"], "count" },
                       requests and { "requests a step", requests, "count" } or
                         { "for how many requests", "not told: no range of the engine has them" },
                       { "a step on the device", step_ns, "ns" } }
    if graph then evidence[#evidence + 1] = { "kernels in replayed graphs", graph, "share" } end
    if p:has("serving.tokens") then
      evidence[#evidence + 1] = { "tokens through the model a step", p.fact["serving.tokens"], "count" }
    end
    if p:has("serving.kv_tokens") then
      evidence[#evidence + 1] = { "tokens that attention looks back at", p.fact["serving.kv_tokens"], "count" }
    end
    if gap_ns > 0 then evidence[#evidence + 1] = { "pause between steps", gap_ns, "ns" } end
    local more = { { "bandwidth_share", "of the memory's bandwidth, where bytes are known", "share" },
                   { "between_ns", "ops and calls of the host between two steps", "ns" },
                   { "sampling_ns", "of the host, choosing tokens, a step", "ns" },
                   { "read_backs", "copies to the host a step", "count" } }
    local row = p:has("engine_phases") and p:table("engine_phases"):where { phase = phase }:rows()[1] or {}
    for _, column in ipairs(more) do
      local value = row[column[1]] or 0
      if value > 0 then evidence[#evidence + 1] = { column[2], value, column[3] } end
    end
    local held = held_up(p)
    held = held and held.share >= cfg.min_held_up and held or nil
    if held then
      for _, item in ipairs { { "steps that read prompts beside decoding", held.mixed, "count" },
                              { "such a step on the device, mean", held.mixed_ns / held.mixed, "ns" },
                              { "steps that decode alone", held.alone, "count" },
                              { "one of as many requests, or up to twice as many", held.alone_ns / held.mixed, "ns" },
                              { "of all steps' time, what prompts add", held.share, "share" } } do
        evidence[#evidence + 1] = item
      end
    end
    local lone = alone(p)
    lone = lone and lone.share >= cfg.min_held_up and lone or nil
    if lone then
      for _, item in ipairs { { "steps that read prompts while the next one decodes", lone.steps, "count" },
                              { "such a step, with the pause before it, mean", lone.ns / lone.steps, "ns" },
                              { "of all steps' time, decoding waits for them", lone.wait_share, "share" },
                              { "of it, what one step for both can save at most", lone.share, "share" } } do
        evidence[#evidence + 1] = item
      end
    end
    local text =
      { decode = "More requests a step, as weights are read once for all of them; "
          .. "8 bits for weights and for what attention looks back at.",
        prefill = "Prompts are arithmetic: products in 8 bits, longer chunks, shared beginnings read once.",
        mixed = "Prompts hold up those that decode: read them in smaller chunks, or on other devices.",
        unknown = "Mark steps with the requests in them." }
    local remedy = text[phase]
    if held and phase ~= "mixed" then remedy = text.mixed .. " " .. remedy end
    if lone then
      remedy = "Read prompts in the steps that decode, in chunks (chunked prefill), padded to the nearest of a few "
        .. "lengths. " .. remedy
    end
    if phase == "decode" and graph and graph < cfg.min_graph and p.format == "kineto" then
      remedy = "Capture the decoding step as a graph for each size of batch. " .. remedy
    end
    local tokens = p:has("serving.tokens") and p.fact["serving.tokens"] or requests
    local rows = phase == "decode" and tokens and tokens >= 1 and rows_of_products(p) or nil
    -- Far more rows are other work.
    if rows and rows <= 8 * tokens and 1 - tokens / rows > cfg.max_padding then
      evidence[#evidence + 1] = { "rows of its products that are padding", 1 - tokens / rows, "share" }
      remedy = "Capture graphs for more sizes of batch: this one is padded. " .. remedy
    end
    if gap_ns > cfg.max_gap * step_ns then remedy = "Schedule the next step while this one runs. " .. remedy end
    return finding {
      title = requests and ("%s %s takes %s a step: %s new tokens a second"):format(
          names[phase] or "Work of", fmt.many(requests, "request", "requests"),
          fmt.ms(step_ns), fmt.whole(p.fact["serving.tokens_per_s"]))
        or ("%s takes %s a step"):format(phase == "decode" and "Decoding" or
                                         phase == "prefill" and "Reading prompts" or "The engine's work",
                                         fmt.ms(step_ns)),
      evidence = evidence,
      condition = graph and ("%s of kernels in replayed graphs, %s wanted where a step decodes"):format(
        fmt.pct(graph), fmt.pct(cfg.min_graph)) or "steps of a server are in the recording",
      remedy = { text = remedy },
      impact = price(p, held, lone),
      confidence = (held or lone) and "low" or "high",
    }
  end,

  examples = {
    { name = "decoding in a graph", format = "kineto", finding = true,
      facts = { ["serving.steps"] = 1, ["serving.phase"] = "decode", ["serving.requests"] = 32,
                ["serving.step_ns"] = 1.03e7, ["serving.tokens_per_s"] = 3107, ["serving.graph_share"] = 0.98 },
      tables = { engine_phases = { { phase = "decode", steps = 1, sampling_ns = 6e4, read_backs = 1 } } } },
    { name = "decoding launch by launch", format = "kineto", finding = true,
      facts = { ["serving.steps"] = 9, ["serving.phase"] = "decode", ["serving.requests"] = 2,
                ["serving.step_ns"] = 1.03e7, ["serving.gap_ns"] = 4e6,
                ["serving.tokens_per_s"] = 140, ["serving.graph_share"] = 0 } },
    { name = "steps by the engine's calls", format = "kineto", finding = true,
      facts = { ["serving.steps"] = 10, ["serving.phase"] = "decode", ["serving.step_ns"] = 1.66e7,
                ["serving.graph_share"] = 0.7 } },
    -- Two steps of 30 ms, where decoding alone takes 10 ms for as many: 40 of 2 x 30 + 4 x 10 ms. Those of 4 requests
    -- are too few to compare with. Of a step of 10 ms at most 4 ms, a third expected.
    { name = "prompts beside decoding", format = "kineto", finding = true, impact_ns = 1.33e6,
      facts = { ["step.ns"] = 1e7, ["serving.steps"] = 6, ["serving.phase"] = "mixed", ["serving.requests"] = 40,
                ["serving.step_ns"] = 3e7, ["serving.tokens_per_s"] = 1600, ["serving.graph_share"] = 0.9 },
      tables = { engine_steps = { { phase = "mixed", prefills = 3, decodes = 37, device_ns = 3e7, gap_ns = 0 },
                                  { phase = "mixed", prefills = 1, decodes = 40, device_ns = 3e7, gap_ns = 0 },
                                  { phase = "decode", prefills = 0, decodes = 40, device_ns = 1e7, gap_ns = 0 },
                                  { phase = "decode", prefills = 0, decodes = 41, device_ns = 1e7, gap_ns = 0 },
                                  { phase = "decode", prefills = 0, decodes = 4, device_ns = 5e6, gap_ns = 5e6 },
                                  { phase = "decode", prefills = 0, decodes = 4, device_ns = 5e6, gap_ns = 5e6 } } } },
    -- Twice 4 ms of prompts, each before 2 ms of decoding: of 16 ms at most 2 x 2 go, half of it expected, of 8 ms a
    -- step 1. The other two decode after decoding.
    { name = "prompts alone", framework = "jax", format = "xspace", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 8e6, ["serving.steps"] = 6, ["serving.phase"] = "prefill", ["serving.step_ns"] = 4e6 },
      tables = { engine_steps = { { phase = "prefill", device_ns = 4e6 }, { phase = "decode", device_ns = 2e6 },
                                  { phase = "decode", device_ns = 2e6 }, { phase = "prefill", device_ns = 4e6 },
                                  { phase = "decode", device_ns = 2e6 }, { phase = "decode", device_ns = 2e6 } } } },
    -- Nothing waits for a prompt that nobody decodes behind.
    { name = "prompts first, answers then", framework = "jax", format = "xspace", finding = true,
      facts = { ["step.ns"] = 8e6, ["serving.steps"] = 4, ["serving.phase"] = "decode", ["serving.step_ns"] = 2e6 },
      tables = { engine_steps = { { phase = "prefill", device_ns = 4e6 }, { phase = "decode", device_ns = 2e6 },
                                  { phase = "decode", device_ns = 2e6 }, { phase = "decode", device_ns = 2e6 } } } },
    { name = "no engine", format = "kineto", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
