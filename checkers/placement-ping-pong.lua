-- A tensor leaves the device for an op on the CPU and comes back.
-- An eager program downloads, works with the CPU or NumPy, and uploads the result before it launches again.
local function of_pytorch(p, cfg)
  if not p:has("torch.detours") then return skip { reason = "no accelerator of a PyTorch program is recorded" } end
  -- Tokens that were sampled come to the host, and the next batch goes up: serving works so.
  if p:has("serving.trains") and not p.fact["serving.trains"] then return nil end
  local step_ns, count, host_ns = p.fact["step.ns"], p.fact["torch.detours"], p.fact["torch.detour_ns"]
  local returns = p.fact["torch.detour_returns"]
  if returns < cfg.min_returns or returns < 0.5 * count then return nil end
  local edits = { { "omit", name = p:names("aten_copy"), kinds = { "sync" } },
                  { "subtract", parts = { "host" }, ns = host_ns } }
  local saved_ns, claims = p:without_calls(edits)
  if not saved_ns or saved_ns < cfg.min_share * step_ns then return nil end
  local gap = p:has("gaps") and p:table("gaps"):where { cause = { like = "host-late|sync" } }:top("ns", 1):rows()[1]
  local did = gap and gap.host_activity ~= "" and gap.host_activity
  return finding {
    title = ("%s leave the device and come back in each step; meanwhile it waits for the CPU"):format(
      fmt.bytes(p.fact["torch.detour_bytes"])),
    subject = { op = did or nil },
    evidence = { { "from the download to the next launch, a step", host_ns, "ns",
                   share = math.min(1, host_ns / step_ns) }, { "times a step", count, "count" },
                 { "in the longest pause of the device the host ran", did or "what no event shows" } },
    locations = p:has("copies") and p:table("copies"):where { direction = "d2h" }:places() or nil,
    condition = ("%s of %s downloads come back, %s accepted"):format(fmt.count(returns),
      fmt.count(count), fmt.count(cfg.min_returns)),
    remedy = { text = "Do it on the device: torch has topk, sort, argsort, unique, nonzero, searchsorted and more.",
               code = "index = score.topk(k, dim=1).indices   # instead of numpy's argsort" },
    impact = impact.replay { edits[1], edits[2], fallback = impact.exposed { ns = math.min(host_ns, step_ns) } },
    claims = claims and { { parts = { "host", "copy", "idle.launch", "idle.sync", "idle.other" } } } or nil,
    confidence = "medium",
  }
end

return rule {
  id = "placement-ping-pong", api = 1, version = "1.0.0",
  title = "A tensor leaves the device and comes back",
  category = "copies", severity = "warn",
  formats = { "profile", "graph", "kineto" },
  needs = { "step.ns" },
  cause = "placement", tags = { "copies" },
  more_specific_than = { "h2d-share", "d2h-share", "pageable-async-memcpy", "blocking-sync-in-step", "long-gpu-gap",
                         "host-bound", "tiny-kernels", "kernel-launch-bound", "graph-capture-candidate" },
  params = {
    min_bytes = { default = 65536, min = 1, max = 1e12, unit = "bytes", doc = "bytes that cross both ways a step" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "share of the step that copies and op take" },
    min_returns = { default = 0.5, min = 0, max = 1e9, unit = "count",
                    doc = "PyTorch: downloads a step whose result comes back before the next launch" },
    link = { default = 12e9, min = 1e8, max = 1e12, unit = "bytes_per_s", doc = "rate of the link to the device" },
  },
  doc = [[
An op on the CPU takes a device's result, and the device waits for what comes back. Priced as the bytes of both ways
over the link's rate and the op's own time. In PyTorch it is code of Python or NumPy between a download and an upload:
priced by replay without the copies and what the host does in between. Silent while a model is served, without a
device, for strings, files, shapes and other work that belongs on the host, below 64 KiB, and below half a per cent of
the step.]],

  check = function(p, cfg)
    if p.format == "kineto" then return of_pytorch(p, cfg) end
    if not p:has("graph_patterns") then return skip { reason = "no graph is recorded" } end
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns, findings = p.fact["step.ns"], {}
    for _, row in ipairs(
        p:table("graph_patterns"):where { pattern = "ping-pong",
                                          bytes = { min = cfg.min_bytes } }:top("bytes", 3):rows()) do
      local ns = math.min(row.bytes / cfg.link * 1e9 + row.ns, step_ns)
      if ns >= cfg.min_share * step_ns then
        findings[#findings + 1] = finding {
          title = ("%s cross the bus and back for %s on the CPU"):format(fmt.bytes(row.bytes), row.op),
          subject = { op = row.op, device = row.device },
          evidence = { { "bytes both ways a step", row.bytes, "bytes" }, { "time of the op a step", row.ns, "ns" },
                       { "both a step", ns, "ns", share = ns / step_ns }, { "type", row.type } },
          condition = ("%s a step, %s accepted"):format(fmt.bytes(row.bytes), fmt.bytes(cfg.min_bytes)),
          remedy = { text = "Place the op on the device; cast to a type that has a kernel there.",
                     code = "with tf.device('/GPU:0'):" },
          impact = impact.exposed { ns = ns },
          confidence = "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "a unique in the middle", format = "graph", framework = "tensorflow", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "ping-pong", op = "a/Unique", type = "Unique", device = "/device:CPU:0",
                                      bytes = 1.2e7, ns = 1e5, count = 1 } } } },
    { name = "indices that numpy sorts", format = "kineto", framework = "pytorch", finding = true,
      replay = { 1e6, 2e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["torch.detours"] = 1, ["torch.detour_ns"] = 1e6,
                ["torch.detour_bytes"] = 5e5, ["torch.detour_returns"] = 1 } },
    { name = "tokens of a server", format = "kineto", framework = "pytorch", finding = false,
      replay = { 1e6, 2e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["torch.detours"] = 1, ["torch.detour_ns"] = 1e6,
                ["torch.detour_bytes"] = 5e5, ["torch.detour_returns"] = 1, ["serving.trains"] = false } },
    { name = "metrics that stay", format = "kineto", framework = "pytorch", finding = false,
      replay = { 1e6, 2e6, 2e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.2, ["torch.detours"] = 1, ["torch.detour_ns"] = 1e6,
                ["torch.detour_bytes"] = 5e5, ["torch.detour_returns"] = 0 } },
    { name = "few bytes", format = "graph", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "ping-pong", op = "a/Neg", type = "Neg", device = "/device:CPU:0",
                                      bytes = 8, ns = 1e5, count = 1 } } } },
    { name = "CPU only", format = "profile", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
