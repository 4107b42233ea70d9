-- Data enters the graph through feeds, copied before each run.
-- One run fetches a batch from the pipeline, the next is fed it.
local function fed_back(p, cfg)
  return p:in_excess {
    flaw = "fed-back", min_share = cfg.min_pause_share, time = "between fetching and feeding",
    title = "Each batch is fetched to Python and fed back: %s a step",
    remedy = { text = "Connect the model to the iterator's output: one run then takes the batch and trains on it.",
               code = "x, y = iterator.get_next(); loss = model(x, y)   # instead of session.run(x) and feed_dict" },
    confidence = "medium",
  }
end

-- Bytes of the first operand, where its shape is known and elements take four bytes.
local function operand_bytes(shapes)
  local dims = shapes:match("^\\[([0-9,]+)\\]x")
  local bytes = dims and 4 or 0
  for size in (dims or ""):gmatch("\\d+") do bytes = bytes * tonumber(size) end
  return bytes
end

-- A whole data set is fed in each step, and the graph takes the rows of a batch from it.
local function whole_set(p, cfg)
  local bytes = p.fact["graph_patterns.feed_bytes"] or 0
  if bytes < cfg.min_bytes then return nil end
  local read_ns, reader = 0, nil
  for row in p:table("ops"):where { type = { class = "gather|slice|embedding" } }:each() do
    local operand = operand_bytes(row.shapes or "")
    if operand <= bytes and operand >= cfg.min_part * bytes then reader = row end
    if operand <= bytes and operand >= cfg.min_bytes / 100 then read_ns = read_ns + row.self_ns end
  end
  local step_ns = p.fact["step.ns"]
  local ns = math.min(step_ns, read_ns + bytes / cfg.bytes_per_s * 1e9)
  if not reader or ns < cfg.min_set_share * step_ns then return nil end
  return finding {
    title = ("%s are fed in each step, of which it reads a few rows"):format(fmt.bytes(bytes)),
    subject = { op = reader.name },
    locations = reader.source_file and { { file = reader.source_file, line = reader.source_line } } or nil,
    evidence = { { "fed a step", bytes, "bytes" }, { "rows are taken from it by", reader.name },
                 { "its operands and results", reader.shapes },
                 { "taking rows, and copying at 1 GB/s, a step", ns, "ns", share = ns / step_ns } },
    condition = ("%s a step through feeds, %s accepted where rows are taken from them"):format(fmt.bytes(bytes),
      fmt.bytes(cfg.min_bytes)),
    remedy = { text = "Feed the rows of the batch, or keep the set in a variable that is loaded once and feed indices.",
               code = "session.run(train_op, {x: data[rows], y: targets[rows]})   # not {x: data, index: rows}" },
    impact = impact.exposed { ns = ns },
    confidence = "medium",
  }
end

-- A host's recording tells no shapes and no feeds. Rows of a variable are read by an op of its own type; a lookup by
-- the one for arrays, which no gradient is for, in a program whose variables are of that kind, reads what is no
-- variable, and where much passes between runs, what is fed with each.
local function table_fed(p, cfg)
  local sessions = p:has("activities") and p:table("activities"):where { name = "SessionRun" }:count() or 0
  if p.framework ~= "tensorflow" or sessions == 0 or not p:has("host.python_before_ns") then return nil end
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local lookup = ops:where { type = "GatherV2", name = { like = "^(?!gradients).*embedding_lookup\\w*$" } }
    :top("self_ns", 1):rows()[1]
  if not lookup or ops:where { type = { like = "^Resource" } }:count() == 0 or
     ops:where { name = { like = "^gradients\\w*/\\Q" .. lookup.name .. "\\E_grad" } }:count() > 0 then
    return nil
  end
  local ns = math.max(p.fact["python.path_ns"] - p.fact["host.python_before_ns"], 0)
  if ns < cfg.min_table_share * step_ns then return nil end
  return finding {
    title = ("A table that rows are looked up in is no variable: feeding and Python take %s of each step"):format(
      fmt.ms(ns)),
    severity = "info", subject = { op = lookup.name },
    evidence = { { "between runs of the session a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "rows are read by", lookup.name }, { "which takes", lookup.self_ns, "ns" },
                 { "its type", "GatherV2; of a variable ResourceGather" } },
    condition = ("%s of the step passes between runs, %s accepted"):format(fmt.pct(ns / step_ns),
      fmt.pct(cfg.min_table_share)),
    remedy = { text = "Where it is fed, keep it in a variable that is loaded once, and feed the numbers of rows alone.",
               code = "table = tf.compat.v1.get_variable('vectors', initializer=vectors, trainable=False)\n"
                 .. "rows = tf.nn.embedding_lookup(table, ids)   # instead of feed_dict={table: vectors, …}" },
    impact = impact.exposed { ns = ns },
    confidence = "medium",
  }
end

return rule {
  id = "feed-dict-input", api = 1, version = "1.0.0",
  title = "Data enters the graph through feeds",
  category = "input", severity = "warn",
  formats = { "graph", "profile", "xspace" },
  needs = { "step.ns", "ops" },
  cause = "input", tags = { "tensorflow", "input" },
  more_specific_than = { "input-bound-step", "input-transfer-bound", "h2d-share", "gather-scatter-bound",
                         "hot-op", "python-in-step", "host-bound" },
  params = {
    min_pause_share = { default = 0.05, min = 0, max = 1, unit = "share",
                        doc = "share of the step between fetching and feeding" },
    min_part = { default = 0.5, min = 0, max = 1, unit = "share",
                 doc = "of what is fed, in one array that rows are taken from" },
    min_set_share = { default = 0.1, min = 0, max = 1, unit = "share",
                      doc = "share of the step that feeding such an array takes" },
    min_table_share = { default = 0.2, min = 0, max = 1, unit = "share",
                        doc = "share of the step between runs, from which a table counts as fed that is no variable" },
    bytes_per_s = { default = 1e9, min = 1e6, max = 1e15, unit = "bytes_per_s",
                    doc = "at which a fed array is copied, into pages that are new" },
    min_bytes = { default = 1e6, min = 0, max = 1e15, unit = "bytes", doc = "copied to the device a step" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "share of the step in copies that nothing hides" },
  },
  doc = [[
Placeholders are filled by session.run before the graph runs: one thread copies the batch while the device waits. An
input pipeline makes and copies the next batch beside the step. Priced as the copies that no kernel hides; the time the
program takes to make the feed is not in the recording and comes on top. Silent where the graph has an iterator.
Where the graph takes rows from most of what is fed, a data set is fed as a whole each time: priced as taking them, and
copying the set. A host's recording tells no feeds: there a lookup of rows from what is no variable, while much of the
step passes between runs of the session, says that the table is fed.]],

  check = function(p, cfg)
    if p.format == "xspace" then return table_fed(p, cfg) end
    local known = fed_back(p, cfg) or whole_set(p, cfg)
    if known then return known end
    if not p:has("copies.h2d_bytes") or not p:has("copies.h2d_exposed_ns") then
      return skip { reason = "no copies to an accelerator are recorded" }
    end
    local ops, step_ns = p:table("ops"), p.fact["step.ns"]
    local feeds = ops:where { type = { like = "^(Placeholder|PlaceholderV2|_Arg|_Feed|_Recv_feed)$" } }
    local bytes, copy_ns = p.fact["copies.h2d_bytes"], p.fact["copies.h2d_exposed_ns"]
    if feeds:count() == 0 or ops:where { type = { like = "Iterator|DequeueMany|QueueDequeue" } }:count() > 0 or
       bytes < cfg.min_bytes or copy_ns < cfg.min_share * step_ns then
      return nil
    end
    return finding {
      title = ("%s enter each step through feeds"):format(fmt.bytes(bytes)),
      subject = { op = feeds:rows()[1].name },
      evidence = {
        { "copied to the device a step", bytes, "bytes" },
        { "copies that nothing hides a step", copy_ns, "ns", share = math.min(1, copy_ns / step_ns) },
        { "fed ops", feeds:count(), "count" },
      },
      condition = ("%s a step through feeds, %s accepted, no iterator in the graph"):format(
        fmt.bytes(bytes), fmt.bytes(cfg.min_bytes)),
      remedy = { text = "Feed the graph from tf.data, with prefetch to the device.",
                 code = "batch = tf.compat.v1.data.make_one_shot_iterator(ds.prefetch(2)).get_next()" },
      impact = impact.exposed { ns = copy_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "fetched and fed back", format = "graph", framework = "tensorflow", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 excess = { { cell = 1, flaw = "fed-back", ns = 4e6, share = 0.4, factor = 0,
                              detail = "a run of 3 ops" } } } },
    { name = "a short way round", format = "graph", framework = "tensorflow", skipped = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {}, excess = { { cell = 1, flaw = "fed-back", ns = 1e5, share = 0.01, factor = 0 } } } },
    { name = "a whole set is fed", format = "profile", framework = "tensorflow", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.feed_bytes"] = 6.2e6 },
      tables = { ops = { { name = "GatherV2", type = "GatherV2", shapes = "[24000,64]x[?]x[]->[?,64]",
                           self_ns = 2e5 } } } },
    { name = "a table of vectors is fed", format = "xspace", framework = "tensorflow", finding = true,
      impact_ns = 1.65e6,
      facts = { ["step.ns"] = 4.5e6, ["python.path_ns"] = 2.3e6, ["host.python_before_ns"] = 1e5 },
      tables = { activities = { { name = "SessionRun", kind = "run" } },
                 ops = { { name = "embedding_lookup", type = "GatherV2", self_ns = 4e5 },
                         { name = "Adam/update_w/ResourceApplyAdam", type = "ResourceApplyAdam", self_ns = 1e4 } } } },
    { name = "an embedding that is trained", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 4.5e6, ["python.path_ns"] = 2.3e6, ["host.python_before_ns"] = 1e5 },
      tables = { activities = { { name = "SessionRun", kind = "run" } },
                 ops = { { name = "embedding_lookup", type = "GatherV2", self_ns = 4e5 },
                         { name = "gradients/embedding_lookup_grad/Reshape", type = "Reshape", self_ns = 1e3 },
                         { name = "Adam/update_w/ResourceApplyAdam", type = "ResourceApplyAdam", self_ns = 1e4 } } } },
    { name = "rows of a variable", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 4.5e6, ["python.path_ns"] = 2.3e6, ["host.python_before_ns"] = 1e5 },
      tables = { activities = { { name = "SessionRun", kind = "run" } },
                 ops = { { name = "embedding_lookup", type = "ResourceGather", self_ns = 4e5 } } } },
    { name = "a constant, and little between runs", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 4.5e6, ["python.path_ns"] = 8e5, ["host.python_before_ns"] = 1e5 },
      tables = { activities = { { name = "SessionRun", kind = "run" } },
                 ops = { { name = "embedding_lookup", type = "GatherV2", self_ns = 4e5 },
                         { name = "Adam/update_w/ResourceApplyAdam", type = "ResourceApplyAdam", self_ns = 1e4 } } } },
    { name = "rows of a table", format = "profile", framework = "tensorflow", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.feed_bytes"] = 6.2e6 },
      tables = { ops = { { name = "GatherV2", type = "GatherV2", shapes = "[240000,64]x[?]x[]->[?,64]",
                           self_ns = 2e5 } } } },
    { name = "images are fed", format = "graph", framework = "tensorflow", finding = true, impact_ns = 1.5e6,
      facts = { ["step.ns"] = 1e7, ["copies.h2d_bytes"] = 2e7, ["copies.h2d_exposed_ns"] = 2e6 },
      tables = { ops = { { name = "x", type = "Placeholder" }, { name = "m", type = "MatMul" } } } },
    { name = "an iterator", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["copies.h2d_bytes"] = 2e7, ["copies.h2d_exposed_ns"] = 2e6 },
      tables = { ops = { { name = "x", type = "Placeholder" }, { name = "next", type = "IteratorGetNext" } } } },
  },
}
