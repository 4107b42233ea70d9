-- A collective once took many times as long as usual.
return rule {
  id = "collective-outlier", api = 1, version = "1.0.0",
  title = "A collective once took many times as long as usual",
  category = "communication", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "comm.exposed_ns", "collectives" },
  cause = "communication", tags = { "communication" },
  params = {
    min_ratio = { default = 10, min = 2, max = 1e6, unit = "ratio", doc = "longest over the median" },
    min_count = { default = 5, min = 3, max = 1e6, unit = "count", doc = "of its kind in all steps" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "its excess over all steps" },
  },
  doc = [[
Payload and group are the same, but one call takes ten times the median: a link error, a retransmission, or one rank
that came late once. Priced as the excess spread over the steps. Silent for fewer than five of a kind, and where
payloads differ or were not recorded.]],

  check = function(p, cfg)
    local step_ns, steps, findings = p.fact["step.ns"], p.fact["step.used"], {}
    for _, row in ipairs(p:table("collectives"):top("max_ns", 5):rows()) do
      local excess_ns = (row.max_ns - row.median_ns) / steps
      if row.same_bytes and row.median_ns > 0 and row.count * steps >= cfg.min_count
          and row.max_ns >= cfg.min_ratio * row.median_ns and
         excess_ns >= cfg.min_share * step_ns then
        local ns = math.min(excess_ns, p.fact["comm.exposed_ns"], step_ns)
        findings[#findings + 1] = finding {
          severity = not p:has("device.idle_share") and "info" or nil, -- hosts have other work to run
          title = ("One %s took %s, usually %s"):format(row.type, fmt.ms(row.max_ns), fmt.ms(row.median_ns)),
          subject = { kernel = row.name },
          evidence = { { "longest", row.max_ns, "ns" }, { "median", row.median_ns, "ns" },
                       { "a step", row.count, "count" },
                       { "its excess over the steps", excess_ns, "ns", share = math.min(1, excess_ns / step_ns) } },
          condition = ("%s of the median, %s accepted"):format(
            fmt.ratio(row.max_ns / row.median_ns), fmt.ratio(cfg.min_ratio)),
          remedy = { text = "Look at link errors and retransmissions at that time, and at what the other ranks did "
                       .. "before it." },
          impact = impact.exposed { ns = ns, low = 0.25 * ns, high = ns },
          claims = { { parts = { "communication" } } },
          confidence = "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "once in forty", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["comm.exposed_ns"] = 3e6 },
      tables = { collectives = { { type = "all-reduce", name = "nccl", same_bytes = true, count = 4, max_ns = 2e7,
                                   median_ns = 5e5 } } } },
    { name = "alike", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["comm.exposed_ns"] = 3e6 },
      tables = { collectives = { { type = "all-reduce", name = "nccl", same_bytes = true, count = 4, max_ns = 8e5,
                                   median_ns = 5e5 } } } },
    { name = "payloads differ", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 10, ["comm.exposed_ns"] = 3e6 },
      tables = { collectives = { { type = "send-recv", name = "nccl", same_bytes = false, count = 4, max_ns = 2e7,
                                   median_ns = 5e5 } } } },
  },
}
