-- Reading the files of the input pipeline makes the step wait.
return rule {
  id = "tfdata-slow-source", api = 1, version = "1.0.0",
  title = "Reading files makes the step wait",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-slow-iterator",
                         "tfdata-read-on-demand", "tfdata-cache", "tfdata-sequential-map" },
  params = {
    min_wait_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step spent waiting for input from which this is looked for" },
    min_path_share = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "share of the step that waits for sources and what opens them" },
    max_records_a_file = { default = 16, min = 1, max = 1e6, unit = "count",
                           doc = "records a file up to which files count as small" },
    small_left = { default = 0.1, min = 0, max = 1, unit = "ratio",
                   doc = "part of the time that is left with few large files" },
    threads = { default = 16, min = 1, max = 1024, unit = "count",
                doc = "files read at once after the change" },
  },
  doc = [[
Time of the stages that read files, and of the interleave or flat map that opens them. Where each file
holds few records, opening dominates: a record costs an open, a reader and an end of file. Priced by replay:
a tenth is left with large files, else the files are read in parallel. Silent where data is in memory,
where the source is Python, or where later stages hold the step longer.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.fact["input.keeps_up"] or p.fact["input.wait_share"] < cfg.min_wait_share then return nil end

    local stages = p:table("iterators")
    local sources = stages:where { type = { like = p:names("tf_file_reader") .. "|" .. p:names("tf_file_list") } }
    local source = sources:top("self_ns", 1):rows()[1]
    if not source then return nil end

    local edits, path_ns, opener = {}, 0, nil
    local is_ours, is_parallel = {}, false
    local function take(stage)
      if is_ours[stage.name] then return end
      is_ours[stage.name] = true
      path_ns = path_ns + (stage.path_ns or 0)
      edits[#edits + 1] = { "stage_scale", stage = "\\Q" .. stage.name .. "\\E", factor = cfg.small_left }
    end
    local name = source.name
    take(source)
    for _ = 1, 3 do
      local above = stages:where { name = name }:rows()[1]
      above = above and above.parent and stages:where { name = above.parent }:rows()[1]
      if not above or not above.type:find("Interleave|^FlatMap") then break end
      take(above)
      opener, name = above, above.name
      is_parallel = is_parallel or above.type:find("^Parallel|^LegacyParallel") ~= nil
    end
    local other_ns = 0
    for stage in stages:where { path_ns = { min = 1 } }:each() do
      if not is_ours[stage.name] and not stage.type:find("^(Prefetch|ParallelMap|MapAndBatch)") then
        other_ns = math.max(other_ns, stage.path_ns)
      end
    end
    local share = path_ns / step_ns
    if share < cfg.min_path_share or other_ns > path_ns then return nil end

    -- The last call of each file only finds its end.
    local files = opener and math.max(0, source.calls - opener.calls) or 0
    local is_small = opener and files > 0 and opener.calls / files <= cfg.max_records_a_file
    if not is_small then
      for _, edit in ipairs(edits) do
        if is_parallel then edit.factor = 0.5 else edit[1], edit.factor = "stage_parallel", cfg.threads end
      end
    end
    edits.fallback = impact.exposed { ns = path_ns }
    local evidence = {
      { "source", source.name },
      { "reading and opening on the path a step", path_ns, "ns", share = math.min(1, share) },
      { "calls of the source a step", source.calls, "count" },
      { "mean time of a call", source.self_ns / math.max(source.calls, 1), "ns" },
    }
    if files > 0 then evidence[#evidence + 1] = { "files that end a step", files, "count" } end
    return finding {
      title = is_small
        and ("Files of few records: the step waits %s for opening and reading them"):format(fmt.ms(path_ns))
        or ("The step waits %s for reading files"):format(fmt.ms(path_ns)),
      subject = { op = source.name },
      evidence = evidence,
      condition = ("sources and what opens them take %s of the step's path, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_path_share)),
      remedy = is_small and { text = "Store many records a file (100 MB or more), and read several files at once.",
                              code = "ds = files.interleave(tf.data.TFRecordDataset, cycle_length=16, "
                                .. "num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)" }
        or is_parallel and { text = "The files are read in parallel already: read from nearer storage, with a larger "
                               .. "buffer, or prefetch more.",
                             code = "tf.data.TFRecordDataset(f, buffer_size=8 << 20)" }
        or { text = "Read several files at once, with a larger buffer.",
             code = "ds = files.interleave(tf.data.TFRecordDataset, cycle_length=16, "
               .. "num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)" },
      impact = impact.replay(edits),
      confidence = is_parallel and "medium" or "high",
    }
  end,

  examples = {
    { name = "one record a file", framework = "tensorflow", finding = true, impact_ns = 9e6,
      facts = { ["step.ns"] = 1.6e7, ["input.wait_share"] = 0.6 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::Interleave", type = "Interleave", calls = 64, self_ns = 8e6,
          path_ns = 2.5e6 },
        { name = "Iterator::Root::Prefetch::Interleave::TFRecord", type = "TFRecord", calls = 128, self_ns = 6e6,
          parent = "Iterator::Root::Prefetch::Interleave", path_ns = 4e6 } } },
      replay = { 4e6, 9e6 } },
    { name = "one large file after the other", framework = "tensorflow", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.5 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::FlatMap", type = "FlatMap", calls = 64, self_ns = 1e5, path_ns = 1e5 },
        { name = "Iterator::Root::Prefetch::FlatMap::TFRecord", type = "TFRecord", calls = 64, self_ns = 8e6,
          parent = "Iterator::Root::Prefetch::FlatMap", path_ns = 4e6 } } },
      replay = { 3e6 } },
    { name = "decoding is slower", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.5 },
      tables = { iterators = {
        { name = "Iterator::Root::Prefetch::Map", type = "Map", calls = 64, self_ns = 8e6, path_ns = 4e6 },
        { name = "Iterator::Root::Prefetch::Map::TFRecord", type = "TFRecord", calls = 64, self_ns = 1e6,
          parent = "Iterator::Root::Prefetch::Map", path_ns = 6e5 } } } },
  },
}
