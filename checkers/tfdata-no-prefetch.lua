-- The input pipeline makes a batch only after the step asks for it.
return rule {
  id = "tfdata-no-prefetch", api = 1, version = "1.0.0",
  title = "A batch is made only after the step asks for it",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "input.wait_share", "input.wait_ns", "input.inline_ns", "iterators" },
  cause = "input", tags = { "tensorflow", "tfdata", "input" },
  more_specific_than = { "input-bound-step", "input-host-processing-bound", "tfdata-slow-iterator",
                         "tfdata-read-on-demand", "tfdata-cache" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step that stages in the consumer take" },
  },
  doc = [[
Without prefetch at its end, the last stages run in the thread that asks for the batch, while the
model waits, and the model runs while they wait. Priced by replay: batches are made beside the step,
of which the longer of the two remains, with the cores there are. Silent where the stages in the
consumer take little, as behind a prefetch, or in a pipeline whose data is in memory.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local inline = p:table("iterators"):where { section = "" }
    -- The root only hands over what the stage behind it gives: its own time is the thread's, held up by others.
    local makes = inline:where { type = { like = "^(?!Root$)" } }
    local inline_ns = math.min(p.fact["input.inline_ns"], makes:sum("self_ns"))
    local share = math.min(1, inline_ns / step_ns)
    if share < cfg.min_share or p.fact["input.wait_share"] < cfg.min_share then return nil end

    local worst = makes:top("self_ns", 1):rows()[1]
    local evidence = {
      { "stages in the consumer a step", inline_ns, "ns", share = share },
      { "input wait a step", p.fact["input.wait_ns"], "ns", share = p.fact["input.wait_share"] },
    }
    if worst then evidence[#evidence + 1] = { "most of it", worst.name } end
    return finding {
      title = ("The pipeline makes a batch only when asked: %s of each step"):format(fmt.ms(inline_ns)),
      subject = { op = worst and worst.name },
      evidence = evidence,
      condition = ("stages that no buffer parts from the consumer take %s of the step, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "End the pipeline with prefetch, so that the next batch is made while the step runs.",
                 code = "ds = ds.prefetch(tf.data.AUTOTUNE)" },
      impact = impact.replay { { "prefetch" }, fallback = impact.exposed { ns = inline_ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "map in the consumer", framework = "tensorflow", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 7e6, ["input.wait_share"] = 0.44, ["input.wait_ns"] = 3.1e6,
                ["input.inline_ns"] = 3e6 },
      tables = { iterators = { { name = "Iterator::Root::Map", type = "Map", section = "", calls = 1,
                                 self_ns = 3e6 } } },
      replay = { 3e6 }, selected_ns = 3.1e6 },
    { name = "behind a prefetch", finding = false,
      facts = { ["step.ns"] = 7e6, ["input.wait_share"] = 0.44, ["input.wait_ns"] = 3.1e6,
                ["input.inline_ns"] = 1e4 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", section = "", calls = 1, self_ns = 1e4 } } } },
    { name = "a prefetch that the thread comes late to", finding = false,
      facts = { ["step.ns"] = 7e6, ["input.wait_share"] = 0.2, ["input.wait_ns"] = 1.4e6,
                ["input.inline_ns"] = 1.2e6 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", section = "", calls = 1, self_ns = 1.2e6 },
                               { name = "Iterator::Root::Prefetch", type = "Prefetch", section = "1", calls = 1,
                                 self_ns = 1e5 } } } },
  },
}
