-- Files are read in the step, only when the step asks.
return rule {
  id = "tfdata-read-on-demand", api = 1, version = "1.0.0",
  title = "Files are read only when the step asks for a batch",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "tfdata-slow-iterator" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step that reads files in the consumer" },
  },
  doc = [[
Between the stage that reads files and the step there is no buffer, so reading happens while the model waits. Priced by
replay: the reads run beside the step. Silent where a prefetch or a parallel stage reads ahead.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local reads = p:table("iterators"):where { section = "", type = { like = p:names("tf_file_reader") } }
    local path_ns = reads:sum("path_ns")
    if path_ns < cfg.min_share * step_ns then return nil end

    local source = reads:top("path_ns", 1):rows()[1]
    return finding {
      title = ("Each step reads files for %s while it waits"):format(fmt.ms(path_ns)),
      subject = { op = source.name },
      evidence = {
        { "reading on the path a step", path_ns, "ns", share = math.min(1, path_ns / step_ns) },
        { "source", source.name },
        { "calls a step", source.calls, "count" },
      },
      condition = ("reading in the consumer takes %s of the step, %s accepted"):format(
        fmt.pct(path_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Prefetch after the reader, read several files at once, with a larger buffer.",
                 code = "ds = files.interleave(lambda f: tf.data.TFRecordDataset(f, buffer_size=8 << 20), "
                   .. "num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)" },
      impact = impact.replay { { "prefetch", stage = "\\Q" .. source.name .. "\\E" },
                               fallback = impact.exposed { ns = path_ns } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "no prefetch after the reader", framework = "tensorflow", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.4 },
      tables = { iterators = { { name = "Iterator::Root::BatchV2::TFRecord", type = "TFRecord", section = "",
                                 calls = 32, path_ns = 2e6 } } },
      replay = { 2e6 }, selected_ns = 2e6 },
    { name = "read ahead", finding = false,
      facts = { ["step.ns"] = 1e7, ["input.wait_share"] = 0.4 },
      tables = { iterators = { { name = "Iterator::Root::Prefetch::TFRecord", type = "TFRecord",
                                 section = "Iterator::Root::Prefetch", calls = 32, path_ns = 2e6 } } } },
  },
}
