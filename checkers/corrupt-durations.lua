-- Events with impossible times are in the recording.
return rule {
  id = "corrupt-durations", api = 1, version = "1.0.0",
  title = "Events have impossible times",
  category = "validity", severity = "warn",
  needs = { "notes", "coverage.events" },
  tags = { "validity" },
  params = {
    min_count = { default = 5, min = 1, max = 1e12, unit = "count", doc = "events from which this is said" },
    min_share = { default = 0.0001, min = 0, max = 1, unit = "share", doc = "of all events, from which this is said" },
  },
  doc = [[
Negative durations, ends before starts and times out of range come from exporters with faults. Such events were dropped
or count as instants. Silent for a handful among many.]],

  check = function(p, cfg)
    local notes =
      p:table("notes"):where { what = { like = "duration|negative|out of range|usable start|no start and length" } }
    local count, events = notes:sum("count"), math.max(p.fact["coverage.events"], 1)
    if count < cfg.min_count and count / events < cfg.min_share or count == 0 then return nil end
    local evidence = { { "events", count, "count" }, { "of all events", math.min(1, count / events), "share" } }
    for _, note in ipairs(notes:top("count", 3):rows()) do
      evidence[#evidence + 1] = { note.what, note.count, "count" }
    end
    return finding {
      title = fmt.many(count, "event has impossible times", "events have impossible times"),
      evidence = evidence,
      condition = ("%s with impossible times, %s accepted"):format(
        fmt.many(count, "event", "events"), fmt.count(cfg.min_count)),
      remedy = { text = "Upgrade the profiler that wrote the file, and report the event to its makers." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "negative durations", finding = true, facts = { ["coverage.events"] = 1e4 },
      tables = { notes = { { what = "events with a negative duration count as instants", where = "", count = 40 } } } },
    { name = "sound", finding = false, facts = { ["coverage.events"] = 1e4 }, tables = { notes = {} } },
  },
}
