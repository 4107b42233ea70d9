-- Requests that wait for their batch longer than the batch takes, and batches that are filled up with padding.
return rule {
  id = "request-batching", api = 1, version = "1.0.0",
  title = "Requests wait for their batch, or batches are mostly padding",
  category = "host", severity = "info",
  formats = { "xspace" },
  needs = { "requests.count", "requests.latency_ns", "requests.wait_ns", "requests.wait_share", "requests.batch_ns",
            "requests.batch_examples" },
  tags = { "serving" },
  params = {
    min_requests = { default = 10, min = 1, max = 1e6, unit = "count",
                     doc = "requests from which their mean tells something" },
    min_wait = { default = 0.5, min = 0, max = 1, unit = "share", doc = "share of the latency in waiting for a batch" },
    min_padding = { default = 0.2, min = 0, max = 1, unit = "share", doc = "share of padding in batches" },
  },
  doc = [[
A batching scheduler lets requests wait until a batch is full or its time is over, and fills batches up to the next size
that is allowed. Says how long requests take and wait, and how much of what is computed is padding. Latencies, not
steps: without a price.]],

  check = function(p, cfg)
    local count, wait, share = p.fact["requests.count"], p.fact["requests.wait_ns"], p.fact["requests.wait_share"]
    local padding = p:has("requests.padding_share") and p.fact["requests.padding_share"] or 0
    if count < cfg.min_requests or (share < cfg.min_wait and padding < cfg.min_padding) then return nil end
    local evidence = { { "requests", count, "count" }, { "latency, mean", p.fact["requests.latency_ns"], "ns" },
                       { "of it, waiting for the batch to begin", wait, "ns", share = share } }
    for _, row in ipairs(p:has("latencies") and p:table("latencies"):rows() or {}) do
      if row.percentile == 99 then
        evidence[#evidence + 1] = { "99 in a hundred take no longer than", row.latency_ns, "ns" }
      end
    end
    evidence[#evidence + 1] = { "a batch, mean", p.fact["requests.batch_ns"], "ns" }
    evidence[#evidence + 1] = { "examples in a batch, mean", p.fact["requests.batch_examples"], "count" }
    evidence[#evidence + 1] = { "padding in batches", padding, "share" }
    local texts, code = {}, {}
    if share >= cfg.min_wait then
      texts[1] = "Let a batch begin sooner: a shorter timeout, or more threads that work batches off."
      code[1] = "batch_timeout_micros=500   # about what a batch takes; num_batch_threads=4"
    end
    if padding >= cfg.min_padding then
      texts[#texts + 1] = "Allow more sizes of batches, so that less is filled up."
      code[#code + 1] = "allowed_batch_sizes=[1, 2, 3, 4, 6, 8]"
    end
    return finding {
      title = share >= cfg.min_wait
        and ("Requests wait %s of their %s for their batch to begin"):format(fmt.ms(wait),
          fmt.ms(p.fact["requests.latency_ns"]))
        or ("%s of what batches compute is padding"):format(fmt.pct(padding)),
      evidence = evidence,
      condition = ("%s of the latency is waiting, %s accepted; %s of batches is padding, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_wait), fmt.pct(padding), fmt.pct(cfg.min_padding)),
      remedy = { text = table.concat(texts, " "), code = table.concat(code, "\n") },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a timeout of 3 ms for batches of half a millisecond", framework = "tensorflow", format = "xspace",
      finding = true,
      facts = { ["requests.count"] = 40, ["requests.latency_ns"] = 3.16e6, ["requests.wait_ns"] = 2.6e6,
                ["requests.wait_share"] = 0.82, ["requests.batch_ns"] = 5.4e5, ["requests.batch_examples"] = 4.1,
                ["requests.padding_share"] = 0.26 },
      tables = { latencies = { { percentile = 99, latency_ns = 4.6e6 } } } },
    { name = "full batches, begun at once", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["requests.count"] = 40, ["requests.latency_ns"] = 1e6, ["requests.wait_ns"] = 2e5,
                ["requests.wait_share"] = 0.2, ["requests.batch_ns"] = 8e5, ["requests.batch_examples"] = 8,
                ["requests.padding_share"] = 0.05 } },
    { name = "few requests", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["requests.count"] = 4, ["requests.latency_ns"] = 3.16e6, ["requests.wait_ns"] = 2.6e6,
                ["requests.wait_share"] = 0.82, ["requests.batch_ns"] = 5.4e5, ["requests.batch_examples"] = 4.1 } },
    { name = "no request", framework = "tensorflow", format = "xspace", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
