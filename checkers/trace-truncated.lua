-- The recording is cut or damaged.
return rule {
  id = "trace-truncated", api = 1, version = "1.0.0",
  title = "The recording is cut or damaged",
  category = "validity", severity = "warn",
  needs = { "notes" },
  tags = { "validity" },
  params = {
    max_missing = { default = 0.01, min = 0, max = 1, unit = "share",
                    doc = "launches of kernels whose work on the device was not recorded" },
    min_missing = { default = 10, min = 1, max = 1e9, unit = "count", doc = "fewer such launches tell nothing" },
    max_unlaunched = { default = 0.05, min = 0, max = 1, unit = "share",
                       doc = "device work whose launch was not recorded" },
    veto_share = { default = 0.10, min = 0, max = 1, unit = "share",
                   doc = "share from which idle time and shares of the step mean nothing" },
  },
  doc = [[
The file ends early, or parts of it are damaged, or events were dropped while recording. What is whole is used, but
counts and sums can be too low. Launches whose kernels are not there, before others whose kernels are, tell of events
that were dropped: the device then only seems idle. Launches that a graph's capture takes note of run nothing and do not
count. Silent for sound files.]],

  check = function(p, cfg)
    local missing = p:has("validity.missing_share") and p.fact["validity.missing_share"] or 0
    local count = p:has("validity.missing_launches") and p.fact["validity.missing_launches"] or 0
    if missing >= cfg.max_missing and count >= cfg.min_missing then
      return finding {
        title = ("The work of %s of launches was not recorded: the device only seems idle"):format(fmt.pct(missing)),
        severity = missing >= cfg.veto_share and "veto" or "warn",
        evidence = { { "launches without their kernel", count, "count" },
                     { "of the launches", missing, "share" },
                     { "what holds", "lengths of the kernels that are there; no idle time, no share of the step" } },
        condition = ("%s of launches, %s accepted"):format(fmt.pct(missing), fmt.pct(cfg.max_missing)),
        remedy = { text = "Record fewer steps, or give the profiler larger buffers, so that no event is dropped." },
        impact = impact.none(),
        confidence = "high",
      }
    end
    local unlaunched = p:has("validity.unlaunched_share") and p.fact["validity.unlaunched_share"] or 0
    local notes =
      p:table("notes"):where { what = { like = "cut or damaged|ends early|damaged, read|is damaged|dropped|truncated|"
      .. "syntax|cannot be read|not valid" } }
    if notes:count() == 0 and unlaunched >= cfg.max_unlaunched then
      return finding {
        title = ("The launch of %s of the device's work was not recorded"):format(fmt.pct(unlaunched)),
        severity = "info",
        evidence = { { "of kernels, those without their launch", unlaunched, "share" },
                     { "what holds", "all but why the device was idle before them" } },
        condition = ("%s of kernels, %s accepted"):format(fmt.pct(unlaunched), fmt.pct(cfg.max_unlaunched)),
        remedy = { text = "Record the host, too, and from before the work that counts." },
        impact = impact.none(),
        confidence = "high",
      }
    end
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
    { name = "a fifth of the kernels is missing", finding = true, severity = "veto",
      facts = { ["validity.missing_share"] = 0.2, ["validity.missing_launches"] = 200 }, tables = { notes = {} } },
    { name = "a fiftieth", finding = true, severity = "warn",
      facts = { ["validity.missing_share"] = 0.02, ["validity.missing_launches"] = 20 }, tables = { notes = {} } },
    { name = "one of many", finding = false,
      facts = { ["validity.missing_share"] = 0.001, ["validity.missing_launches"] = 10 }, tables = { notes = {} } },
    { name = "a tenth of the kernels without a launch", finding = true, severity = "info",
      facts = { ["validity.unlaunched_share"] = 0.1 }, tables = { notes = {} } },
    { name = "hardly a kernel without one", finding = false,
      facts = { ["validity.unlaunched_share"] = 0.01 }, tables = { notes = {} } },
    { name = "two of a few", finding = false,
      facts = { ["validity.missing_share"] = 0.1, ["validity.missing_launches"] = 2 }, tables = { notes = {} } },
    { name = "sound", finding = false, tables = { notes = {} } },
  },
}
