-- The step waits for its input.
-- Python in which a thread waits for a network, as both formats name functions that are written in C.
local NETWORK = { like = "( recv(_into)?$)|(<method 'recv(_into)?' of '_socket)" }

-- Threads that wait need no core: many may ask at once, far ahead.
local ASK_AHEAD = {
  jax = { text = "Most of this is waiting for a network: ask for many records at once, in threads, ahead of the step.",
          code = "grain.ReadOptions(num_threads=16, prefetch_buffer_size=64)   # or a ThreadPoolExecutor's map" },
  tensorflow = { text = "Most of this is waiting for a network: ask for many records at once, ahead of the step.",
                 code = "ds = ds.map(fetch, num_parallel_calls=16, deterministic=False).batch(b).prefetch(2)" },
  pytorch = { text = "Most of this is waiting for a network: ask for many records at once, ahead of the step.",
              code = "DataLoader(ds, num_workers=8, prefetch_factor=4, persistent_workers=True)" },
}

-- TensorFlow's records of numbers: what the pipeline's threads take to parse them, if it is most of what ops take
-- there. A list of integers is unpacked one by one, bytes are copied; many small records cost most by their number.
local function of_parsing(p, cfg)
  if p.framework ~= "tensorflow" or not p:has("ops") then return nil end
  local all_ns = p:table("ops"):sum("input_ns")
  local parsing = p:table("ops"):where { type = { like = "^Parse(Single)?(Sequence)?Example(V2)?$" } }
  local ns, calls = parsing:sum("input_ns"), parsing:sum("calls")
  if calls <= 0 or ns < cfg.min_parsing * all_ns or ns < cfg.min_parsing_share * p.fact["step.ns"] then return nil end
  local is_long = ns >= cfg.long_record_ns * calls
  return ns, is_long, is_long and {
    text = "Most of this is parsing records of many numbers: an int64_list is unpacked number by number, and takes 8 "
      .. "bytes for each to convert. Store arrays as bytes, and read only the features that are used.",
    code = "image = tf.reshape(tf.io.decode_raw(example[\"image\"], tf.uint8), shape)   # written by image.tobytes(); "
      .. "not FixedLenFeature(shape, tf.int64)",
  } or {
    text = "Most of this is parsing records one by one: parse a whole batch in one call, and read only the features "
      .. "that are used.",
    code = "ds = ds.batch(b).map(lambda records: tf.io.parse_example(records, spec), "
      .. "num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)",
  }
end

return rule {
  id = "input-bound-step", api = 1, version = "1.0.0",
  title = "The step waits for its input",
  category = "input", severity = "warn",
  formats = { "xspace", "kineto", "graph" },
  needs = { "step.ns", "input.wait_ns", "input.wait_share" },
  cause = "input", tags = { "input" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent waiting from which this is a problem" },
    max_setup_share = { default = 0.5, min = 0, max = 1, unit = "share",
                        doc = "of the wait, making pipelines anew" },
    max_ahead = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of the wait, what making batches ahead saves, below which they must be made in less time" },
    min_ahead_share = { default = 0.25, min = 0, max = 1, unit = "share",
                        doc = "the same where a graph's pipeline runs ahead on several threads: less may be the wait "
                          .. "for a core" },
    min_network = { default = 0.5, min = 0, max = 1, unit = "share",
                    doc = "of the wait, Python waiting for a network, from which threads that ask ahead take it away" },
    min_parsing = { default = 0.5, min = 0, max = 1, unit = "share",
                    doc = "TensorFlow: of the time of the pipeline's ops, parsing records from which it is named" },
    min_parsing_share = { default = 0.1, min = 0, max = 10, unit = "share",
                          doc = "the same over the step, on all threads" },
    long_record_ns = { default = 2e5, min = 0, max = 1e12, unit = "ns",
                       doc = "parsing one record, from which it holds many numbers" },
    lighter = { default = 0.3, min = 0, max = 1, unit = "ratio",
                doc = "of its work, what a batch takes that is made in less time" },
    high_share = { default = 0.20, min = 0, max = 1, unit = "share",
                   doc = "share of the step from which it is an error" },
    handover_ns = { default = 0.4e6, min = 0, max = 1e9, unit = "ns",
                    doc = "PyTorch: a wait that taking a batch from a worker would need, too" },
  },
  doc = [[
The consumer asks for a batch and the batch is not ready. Only waiting that nothing else hides counts: a pipeline that
keeps up behind the step costs nothing. Priced by replay: batches are made beside the step; where that gives back less
than half of the wait, they have to take less work: priced as what saving most of it gives, freed cores included, and
where no stages are known as the wait. Silent below min_share, where a wait of less than half a step is for batches
that are made ahead in less than half a step (what is left is handing them over), and where the wait is for making
pipelines anew. Threads that fill a queue work beside the step already: priced as what a cache of their results gives.
Graphs that were recorded run by run show no pace: there a pipeline that is made ahead and in parallel counts from
min_ahead_share on. A rule that names the stage at fault takes the place of this one.]],

  check = function(p, cfg)
    local share, wait_ns = p.fact["input.wait_share"], p.fact["input.wait_ns"]
    if share < cfg.min_share or (p.format == "kineto" and wait_ns < cfg.handover_ns) then return nil end
    if p.fact["input.keeps_up"] then return nil end
    local is_ahead = p.format == "graph" and p.fact["input.is_prefetched"]
    if is_ahead and share < cfg.min_ahead_share then return nil end
    local activities = p:table("activities")
    local setup_ns = activities and
      activities:where { kind = "input-work", name = { like = "^MakeIterator" } }:sum("path_self_ns") or 0
    if setup_ns > cfg.max_setup_share * wait_ns then return nil end

    local evidence = { { "input wait a step", wait_ns, "ns", share = share } }
    local stage = p.fact["input.bottleneck"]
    if stage then
      evidence[#evidence + 1] = { "slowest stage", stage }
      local stage_ns = p.fact["input.bottleneck_ns"]
      if stage_ns then evidence[#evidence + 1] = { "its time on the path a step", stage_ns, "ns" } end
    end

    local made_lighter = "ds = ds.map(decode).cache().shuffle(n).batch(b).map(augment_batch).prefetch(2)"
    local remedy = {
      tensorflow = { text = "Produce the next batch while the step runs, and in parallel.",
                     code = "ds = ds.map(f, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)" },
      jax = { text = "Produce and copy the next batch in a background thread while the step runs." },
      -- Workers share a processor's cores with the step, and pinned memory is for copies to a device.
      pytorch = { text = "Load batches in worker processes ahead of the step.",
                  code = p:has("device.count") and "DataLoader(ds, num_workers=min(8, os.cpu_count()), "
                    .. "pin_memory=True, persistent_workers=True)"
                    or "DataLoader(ds, num_workers=2, persistent_workers=True)" },
    }
    if activities and activities:where { name = { like = "_MultiProcessingDataLoaderIter" } }:count() > 0 then
      remedy.pytorch = { text = "Make less work of each batch, for the loader has workers and the step still waits: "
                           .. "take whole ones out of arrays, hand over large tensors instead of many small ones.",
                         code = "def __getitems__(self, rows):   # a batch at once, nothing to collate\n"
                           .. "    return self.x[rows], self.y[rows]" }
    end
    if is_ahead or p.fact["input.is_prefetched"] then
      remedy.tensorflow = { text = "Batches are made ahead already: make less work of each. Cache what does not "
                              .. "change, work on whole batches and in parallel, decode smaller inputs.",
                            code = made_lighter }
    end
    -- Its pipelines make batches ahead, in threads and on the device, which no PyTorch recording shows.
    local is_dali = stage and stage:find("::DALI$") ~= nil or activities ~= nil
      and activities:where { kind = "input-wait", name = { like = "nvidia/dali/" } }:count() > 0
    local price = impact.replay { { "prefetch" }, fallback = impact.exposed { ns = wait_ns } }
    local all_of_it = impact.exposed { ns = wait_ns, low = wait_ns, high = wait_ns }
    local _, ahead_ns = p:whatif { { "prefetch" } }
    local is_slow = type(ahead_ns) == "number" and ahead_ns < cfg.max_ahead * wait_ns and not p:has("input.fills_queue")
    if is_slow then
      -- Making a batch takes longer than the step: making it ahead is not enough, it has to take less. What makes it
      -- so, smaller pictures or a cache, seldom leaves a wait, and frees cores that the step shares with it. What other
      -- threads compute behind the wait is then waited for itself: it is no more than the step without the wait.
      evidence[#evidence + 1] = { "making it beside the step saves", ahead_ns, "ns" }
      price = impact.replay { { "scale", parts = { "input" }, factor = 0 }, fallback = all_of_it }
      -- Where the stages are known, what the step gains by freed cores shows as well.
      if p:has("iterators") then
        price = impact.replay { { "stage_scale", stage = ".*", factor = cfg.lighter }, fallback = all_of_it }
      end
      remedy.tensorflow.text = "Making a batch takes longer than the step: make less work of each. Cache what does not "
        .. "change, work on whole batches and in parallel, decode smaller inputs."
      remedy.tensorflow.code = made_lighter
      remedy.jax.text = "Making a batch takes longer than the step: make less work of each, on whole arrays, and make "
        .. "it in a background thread."
      remedy.pytorch = { text = "Making a batch takes longer than the step, beside it too: take whole batches out of "
                           .. "arrays, keep what does not change, decode smaller inputs.",
                         code = "def __getitems__(self, rows):   # a batch at once, nothing to collate\n"
                           .. "    return self.x[rows], self.y[rows]" }
    end
    local parsing_ns, is_long, parsing = of_parsing(p, cfg)
    if parsing then
      evidence[#evidence + 1] = { is_long and "parsing records of many numbers, all threads" or
                                    "parsing records one by one, all threads", parsing_ns, "ns" }
      remedy.tensorflow = parsing
    end
    local network_ns = p:has("path") and p:table("path"):where { part = "input", name = NETWORK }:sum("ns") or 0
    local is_network = network_ns > cfg.min_network * wait_ns
    if is_network then
      evidence[#evidence + 1] = { "of it waiting for a network", network_ns, "ns",
                                  share = network_ns / p.fact["step.ns"] }
      remedy[p.framework] = ASK_AHEAD[p.framework]
    end
    if is_dali then
      evidence[#evidence + 1] = { "who makes it", "a pipeline of NVIDIA DALI" }
      remedy[p.framework] = {
        text = "The pipeline makes batches ahead and does not keep up: give it threads, decode and augment on the "
          .. "device, and cache what is decoded.",
        code = "pipe = pipeline(batch_size=b, num_threads=8, device_id=0, prefetch_queue_depth=3)\n"
          .. "images = fn.decoders.image(files, device=\"mixed\")   # in the pipeline",
      }
      price = all_of_it
    end
    if p:has("input.fills_queue") then
      evidence[#evidence + 1] = { "who makes it", "threads that fill a queue by runs of the session" }
      remedy.tensorflow = { text = "Read by tf.data, in parallel, and cache what is the same in each epoch; with "
                              .. "queues, let more threads fill them.",
                            code = "ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().repeat()"
                              .. ".batch(b).prefetch(2)" }
      price = all_of_it
    end
    return finding {
      title = ("The step waits %s (%s) for its input"):format(fmt.ms(wait_ns), fmt.pct(share)),
      -- How much less work a batch may be, nobody knows; waits for a network go beside each other.
      severity = is_slow and not is_network and "info" or share >= cfg.high_share and "error" or "warn",
      evidence = evidence,
      condition = ("input wait %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = remedy[p.framework] or { text = "Produce the next batch while the step runs." },
      impact = price,
      confidence = "medium",
    }
  end,

  examples = {
    { name = "less than a worker's batch costs", format = "kineto", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 3e5, ["input.wait_ns"] = 7.5e4, ["input.wait_share"] = 0.25 } },
    { name = "waits for a third", framework = "tensorflow", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 3e6, ["input.wait_share"] = 0.3 }, replay = { 3e6 } },
    { name = "making a batch takes longer than the step", framework = "tensorflow", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6 }, replay = { 2e6 } },
    -- 9 of 10 ms of the pipeline's ops parse, 1 ms a record.
    { name = "records of many integers", framework = "tensorflow", finding = true, impact_ns = 2e6, severity = "info",
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6 }, replay = { 2e6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::ParallelMapV2" } },
                 ops = { { name = "ParseSingleExample/ParseExample/ParseExampleV2", type = "ParseExampleV2", calls = 9,
                           self_ns = 9e6, input_ns = 9e6 },
                         { name = "Cast", type = "Cast", calls = 9, self_ns = 1e6, input_ns = 1e6 } } } },
    { name = "most of it waits for a network", framework = "jax", format = "xspace", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6 },
      tables = { path = { { name = "$<unknown> recv_into", kind = "python", part = "input", ns = 5e6 },
                          { name = "$<unknown> decode", kind = "python", part = "input", ns = 1e6 } } } },
    { name = "the same, nothing to replay", framework = "jax", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6 } },
    { name = "the same, by its stages", framework = "tensorflow", finding = true, impact_ns = 2e6, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::ParallelMapV2" } } } },
    { name = "one thread fills a queue", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6,
                ["input.fills_queue"] = true, ["host.cores"] = 4 } },
    { name = "DALI makes it", format = "kineto", framework = "pytorch", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6 },
      tables = { activities = { { name = "nvidia/dali/plugin/pytorch/__init__.py(168): __next__", kind = "input-wait",
                                  path_self_ns = 6e6 } } } },
    { name = "a stage of DALI makes it", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6,
                ["input.bottleneck"] = "Iterator::Root::Prefetch::DALI" } },
    { name = "a graph's pipeline runs ahead", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 1.5e6, ["input.wait_share"] = 0.15,
                ["input.is_prefetched"] = true } },
    { name = "it runs ahead and is slow", format = "graph", framework = "tensorflow", finding = true, impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e6, ["input.wait_share"] = 0.6,
                ["input.is_prefetched"] = true }, replay = { 6e6 } },
    { name = "batches are ready in time", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 6e5, ["input.wait_share"] = 0.06,
                ["input.keeps_up"] = true } },
    { name = "keeps up", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_ns"] = 1e5, ["input.wait_share"] = 0.01 } },
    { name = "no input seen", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
