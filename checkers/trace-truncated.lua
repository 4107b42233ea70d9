-- The recording is cut or damaged.
return rule {
  id = "trace-truncated", api = 1, version = "1.0.0",
  title = "The recording is cut or damaged",
  category = "validity", severity = "warn",
  needs = { "notes" },
  tags = { "validity" },
  doc = [[
The file ends early, or parts of it are damaged, or events were dropped while recording. What is whole is used, but
counts and sums can be too low. Silent for sound files.]],

  check = function(p)
    local notes =
      p:table("notes"):where { what = { like = "cut or damaged|ends early|damaged, read|is damaged|dropped|truncated|"
      .. "syntax|cannot be read|not valid" } }
    if notes:count() == 0 then return nil end
    local evidence = {}
    for _, note in ipairs(notes:top("count", 5):rows()) do
      evidence[#evidence + 1] = { note.what, note.count, "count" }
    end
    local first = notes:rows()[1]
    return finding {
      title = ("The recording is damaged: %s"):format(first.what),
      evidence = evidence,
      condition = ("%s met while reading"):format(
        fmt.many(notes:count(), "kind of damage was", "kinds of damage were")),
      remedy = { text = "Record fewer steps, let the profiler finish writing, copy the file in binary mode." },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "cut", finding = true,
      tables = { notes = { { what = "the trace ends early, at byte 77 (a value was expected); what was whole is used",
                             where = "rank0.json", count = 1 } } } },
    { name = "sound", finding = false, tables = { notes = {} } },
  },
}
