-- Two streams compute one after the other although nothing orders them.
return rule {
  id = "serial-streams", api = 1, version = "1.0.0",
  title = "Two streams never run side by side",
  category = "kernels", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "streams.waits_per_step", "sync.count_per_step", "stream_pairs" },
  cause = "streams", tags = { "idle", "kernels" },
  more_specific_than = { "small-grid", "hot-op", "roofline-gap", "blocking-sync-in-step" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "computing of each of the two over the step" },
    max_overlap = { default = 0.05, min = 0, max = 1, unit = "share",
                    doc = "of the shorter one's time, side by side with the other" },
    max_waits = { default = 0.25, min = 0, max = 1, unit = "ratio",
                  doc = "waits for events a kernel of the shorter one: up to that they part and meet" },
    min_small = { default = 0.5, min = 0, max = 1, unit = "share",
                  doc = "of the shorter one's time, kernels that leave multiprocessors free" },
    all_small = { default = 0.9, min = 0, max = 1, unit = "share", doc = "the same, from which it is said as likely" },
  },
  doc = [[
Work goes onto several streams to run at once. Where it never does although neither stream waits for the other, the host
launches one after the other, or a default stream stands between them. Priced as half to all of the shorter one's time
in kernels that leave room. Silent where kernels fill the device anyway or their launch is not recorded, where events
order the streams by more than a wait for every fourth kernel, and where the host waits inside the step.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    if p.fact["sync.count_per_step"] > 1 then return nil end
    local waits = p.fact["streams.waits_per_step"]
    local pairs_of = p:table("stream_pairs"):where { b_ns = { min = cfg.min_share * step_ns },
                                                     small_share = { min = cfg.min_small } }
    local worst
    for row in pairs_of:each() do
      -- A wait or two where streams part and meet again leave what is between them free.
      local is_free = waits == 0 or waits <= cfg.max_waits * (row.b_kernels or 0)
      if is_free and row.overlap_ns < cfg.max_overlap * row.b_ns and (not worst or row.b_ns > worst.b_ns) then
        worst = row
      end
    end
    if not worst then return nil end
    local ns = math.min(worst.b_ns - worst.overlap_ns, step_ns)
    return finding {
      title = ("%s and %s never run side by side: %s a step"):format(worst.a, worst.b, fmt.ms(ns)),
      subject = { device = worst.device },
      evidence = { { "computing on " .. worst.a .. " a step", worst.a_ns, "ns" },
                   { "computing on " .. worst.b .. " a step", worst.b_ns, "ns",
                     share = math.min(1, worst.b_ns / step_ns) },
                   { "of that, side by side", worst.overlap_ns, "ns" },
                   { "of it, kernels that leave room", worst.small_share, "share" } },
      condition = ("%s of the shorter stream's time side by side, %s waits for events"):format(
        fmt.pct(worst.overlap_ns / worst.b_ns), fmt.whole(waits)),
      remedy = { text = "Launch the second stream's work first or from another thread, and keep both off the default "
                   .. "stream." },
      -- What leaves room runs beside the other as fast as alone, unless both wait for memory.
      impact = impact.exposed { ns = ns, low = 0.5 * worst.small_share * ns, high = worst.small_share * ns },
      claims = { { parts = { "compute" } } },
      confidence = worst.small_share >= cfg.all_small and "medium" or "low",
    }
  end,

  examples = {
    { name = "two branches", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["streams.waits_per_step"] = 0, ["sync.count_per_step"] = 1 },
      tables = { stream_pairs = { { device = "GPU 0", a = "stream 20", b = "stream 24", a_ns = 5e6, b_ns = 2e6,
                                    overlap_ns = 0, small_share = 0.9 } } } },
    { name = "two chains that meet at the end", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["streams.waits_per_step"] = 2, ["sync.count_per_step"] = 0 },
      tables = { stream_pairs = { { device = "GPU 0", a = "stream 20", b = "stream 24", a_ns = 5e6, b_ns = 2e6,
                                    overlap_ns = 0, small_share = 0.9, b_kernels = 12 } } } },
    { name = "kernels that fill the device", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["streams.waits_per_step"] = 0, ["sync.count_per_step"] = 1 },
      tables = { stream_pairs = { { device = "GPU 0", a = "stream 20", b = "stream 24", a_ns = 5e6, b_ns = 2e6,
                                    overlap_ns = 0, small_share = 0 } } } },
    { name = "events order them", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["streams.waits_per_step"] = 4, ["sync.count_per_step"] = 1 },
      tables = { stream_pairs = { { device = "GPU 0", a = "stream 20", b = "stream 24", a_ns = 5e6, b_ns = 2e6,
                                    overlap_ns = 0, small_share = 0.9, b_kernels = 8 } } } },
    { name = "side by side", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["streams.waits_per_step"] = 0, ["sync.count_per_step"] = 1 },
      tables = { stream_pairs = { { device = "GPU 0", a = "stream 20", b = "stream 24", a_ns = 5e6, b_ns = 2e6,
                                    overlap_ns = 1.5e6, small_share = 0.9 } } } },
  },
}
