-- Metrics are taken to the host, or computed by a library, in each step.
local function of_library(p, cfg)
  return p:in_excess {
    flaw = "library-range", detail = { like = "^metrics" }, min_share = cfg.min_library_share,
    time = "computing metrics", severity = "warn",
    title = "Metrics of a library take %s of each step",
    remedy = { text = "Update metrics every fifty steps, or only in validation; "
                 .. "keep costly ones such as curves for the end of an epoch.",
               code = "if step % 50 == 0: metrics.update(pred, y)" },
    confidence = "high",
  }
end

-- What is downloaded in each step is worked on with the CPU, and nothing of it comes back: metrics over all logits.
local function of_downloads(p, cfg)
  if not p:has("torch.detours") then return nil end
  local step_ns, count, host_ns = p.fact["step.ns"], p.fact["torch.detours"], p.fact["torch.detour_ns"]
  local ops_ns, bytes = p.fact["torch.detour_ops_ns"], p.fact["torch.detour_bytes"]
  if count < cfg.min_count or p.fact["torch.detour_returns"] > 0.5 * count or ops_ns < cfg.min_ops * host_ns then
    return nil
  end
  local edits = { { "omit", name = p:names("aten_copy"), kinds = { "sync" } },
                  { "subtract", parts = { "host" }, ns = host_ns } }
  local saved_ns, claims = p:without_calls(edits)
  if not saved_ns or saved_ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("%s go to the CPU in each step, and are worked on there: %s"):format(fmt.bytes(bytes), fmt.ms(host_ns)),
    evidence = { { "on the CPU until the next launch, a step", host_ns, "ns", share = math.min(1, host_ns / step_ns) },
                 { "of that ops", ops_ns, "ns" }, { "such downloads a step", count, "count" },
                 { "bytes a step", bytes, "bytes" } },
    locations = p:has("copies") and p:table("copies"):where { direction = "d2h" }:places() or nil,
    condition = ("ops take %s of the time behind downloads, %s accepted"):format(
      fmt.pct(math.min(1, ops_ns / math.max(host_ns, 1))), fmt.pct(cfg.min_ops)),
    remedy = { text = "Compute metrics on the device, add them up there and read them every 50 steps.",
               code = "total += (logits.argmax(-1) == y).sum()   # stays on the device" },
    impact = impact.replay { edits[1], edits[2], fallback = impact.exposed { ns = math.min(host_ns, step_ns) } },
    claims = claims and { { parts = { "host", "copy", "idle.launch", "idle.sync", "idle.other" } } } or nil,
    confidence = "medium",
  }
end

return rule {
  id = "set-to-cpu-metrics", api = 1, version = "1.0.0",
  title = "Metrics are moved to the CPU in each step",
  category = "copies", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "copies", tags = { "copies", "sync" },
  more_specific_than = { "d2h-share", "scalar-readback", "blocking-sync-in-step", "pageable-async-memcpy", "host-bound",
                         "tiny-kernels", "kernel-launch-bound", "graph-capture-candidate", "long-gpu-gap",
                         "step-boundary-gap" },
  params = {
    min_library_share = { default = 0.05, min = 0, max = 1, unit = "share",
                          doc = "share of the step in metrics of a library" },
    min_count = { default = 0.5, min = 0, max = 1e9, unit = "count", doc = "such copies a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "their uncovered time and the idle time behind them, over the step" },
    min_ops = { default = 0.3, min = 0, max = 1, unit = "share",
                doc = "ops on the CPU, of the time from a large download to the next launch" },
  },
  doc = [[
Accuracy, meters and loggers that call .cpu() or .item() make the host wait for the device in each step. Seen where
the line of the program that downloads lies in a file named for metrics or logging. Priced as the uncovered copies and
the idle time behind the waits. Without stacks seen where ops on the CPU follow a download of more than single values,
and nothing comes back: priced by replay without the download and the host's work behind it. Silent otherwise, and
where it happens every few steps. On any hardware, ranges and modules of a library's metrics that take part of a step
that does something else as well.]],

  check = function(p, cfg)
    local library = of_library(p, cfg)
    if library then return library end
    local downloads = of_downloads(p, cfg)
    if downloads then return downloads end
    if not p:has("copies") or not p:has("syncs") or not p:has("coverage.has_stacks") then
      return skip { reason = "no copies to the host with stacks are recorded", capture = "with_stack=True" }
    end
    local step_ns, like = p.fact["step.ns"],
      "(?i)(metric|accurac|meter|logg|callback)[^/]*$|/(metrics?|loggers?|callbacks?)/"
    local copies = p:table("copies"):where { direction = "d2h", source_file = { like = like } }
    local syncs = p:table("syncs"):where { source_file = { like = like } }
    local count = math.max(copies:sum("count"), syncs:sum("count"))
    local ns = math.min(copies:sum("exposed_ns") + syncs:sum("bubble_ns"), step_ns)
    if count < cfg.min_count or ns < cfg.min_share * step_ns then return nil end
    local places = copies:count() > 0 and copies:places() or syncs:places()
    return finding {
      title = ("Metrics are moved to the CPU %s a step"):format(
        count >= 1.5 and ("%s times"):format(fmt.whole(count)) or "once"),
      evidence = { { "uncovered copies and idle behind them a step", ns, "ns", share = ns / step_ns },
                   { "such downloads a step", count, "count" } },
      locations = places,
      condition = ("%s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Add up metrics on the device and read them every 50 steps.",
                 code = "total += (logits.argmax(-1) == y).sum()   # stays on the device" },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "idle.sync", "copy" } } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "metrics of a library", framework = "pytorch", format = "kineto", finding = true, replay = { 5e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "library-range", detail = "metrics: MetricCollection", ns = 5e6,
                              share = 0.5, factor = 0.02 } } } },
    { name = "small metrics", framework = "pytorch", format = "kineto", skipped = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "library-range", detail = "metrics: MetricCollection", ns = 2e5,
                              share = 0.02, factor = 0.02 } } } },
    { name = "a meter that reads", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3.75e5,
      facts = { ["step.ns"] = 1e7, ["coverage.has_stacks"] = true },
      tables = { copies = { { direction = "d2h", source_file = "train/metrics.py", source_line = 12, count = 1,
                              exposed_ns = 1e5 } },
                 syncs = { { source_file = "train/metrics.py", source_line = 12, count = 1, bubble_ns = 4e5 } } } },
    { name = "logits to the CPU", framework = "pytorch", format = "kineto", finding = true, replay = { 5e6, 6e6, 6e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.6, ["torch.detours"] = 1, ["torch.detour_ns"] = 4e6,
                ["torch.detour_ops_ns"] = 3e6, ["torch.detour_bytes"] = 1e8, ["torch.detour_returns"] = 0 } },
    { name = "weights that are saved", framework = "pytorch", format = "kineto", skipped = true,
      replay = { 5e6, 6e6, 6e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.6, ["torch.detours"] = 1, ["torch.detour_ns"] = 4e6,
                ["torch.detour_ops_ns"] = 1e5, ["torch.detour_bytes"] = 1e8, ["torch.detour_returns"] = 0 } },
    { name = "another file", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["coverage.has_stacks"] = true },
      tables = { copies = { { direction = "d2h", source_file = "train/model.py", source_line = 12, count = 1,
                              exposed_ns = 1e5 } },
                 syncs = { { source_file = "train/model.py", source_line = 12, count = 1, bubble_ns = 4e5 } } } },
    { name = "now and then", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["coverage.has_stacks"] = true },
      tables = { copies = { { direction = "d2h", source_file = "train/metrics.py", source_line = 12, count = 0.1,
                              exposed_ns = 1e5 } },
                 syncs = {} } },
  },
}
