-- An op between device ops runs on the CPU.
-- A model that is served downloads, computes with the CPU and uploads before it launches again. Tokens that were
-- sampled come and go in the same way, without much computing; of programs that train placement-ping-pong tells it.
local function of_pytorch(p, cfg)
  if not p:has("torch.detours") or not p:has("serving.trains") or p.fact["serving.trains"] then return nil end
  local step_ns, ops_ns, host_ns = p.fact["step.ns"], p.fact["torch.detour_ops_ns"], p.fact["torch.detour_ns"]
  local count, returns = p.fact["torch.detours"], p.fact["torch.detour_returns"]
  if ops_ns < cfg.min_ops * step_ns or ops_ns < 0.5 * host_ns or returns < 0.5 * count then return nil end
  local edits = { { "omit", name = p:names("aten_copy"), kinds = { "sync" } },
                  { "subtract", parts = { "host" }, ns = host_ns } }
  local saved_ns, claims = p:without_calls(edits)
  if not saved_ns then return nil end
  local gap = p:has("gaps") and p:table("gaps"):where { cause = { like = "host-late|sync" } }:top("ns", 1):rows()[1]
  local did = gap and gap.host_activity ~= "" and gap.host_activity or nil
  return finding {
    title = ("Ops run on the CPU between a download and an upload for %s of each step; the device waits"):format(
      fmt.ms(host_ns)),
    subject = { op = did },
    evidence = { { "from the download to the next launch, a step", host_ns, "ns",
                   share = math.min(1, host_ns / step_ns) },
                 { "of that ops on the CPU", ops_ns, "ns", share = math.min(1, ops_ns / step_ns) },
                 { "times a step", count, "count" }, { "bytes down a step", p.fact["torch.detour_bytes"], "bytes" },
                 { "in the longest pause of the device the host ran", did or "what no event shows" } },
    locations = p:has("copies") and p:table("copies"):where { direction = "d2h" }:places() or nil,
    condition = ("ops on the CPU in between take %s of the step, %s accepted"):format(fmt.pct(ops_ns / step_ns),
      fmt.pct(cfg.min_ops)),
    remedy = { text = "Do it on the device; where what it reads is kept in the host's memory for want of room, let the "
                 .. "device work on other requests meanwhile." },
    impact = impact.replay { edits[1], edits[2], fallback = impact.exposed { ns = math.min(host_ns, step_ns) } },
    claims = claims and { { parts = { "host", "copy", "idle.launch", "idle.sync", "idle.other" } } } or nil,
    confidence = "medium",
  }
end

-- The machine has an accelerator that did nothing recorded, and ops are too long for what only hands work over.
local function unused(p, cfg)
  if not p:has("ops") or not p:has("coverage.idle_accelerators") or p.fact["coverage.idle_accelerators"] == 0 or
      p:has("device.idle_share") or p.fact["coverage.lacks_device"] then
    return skip { reason = "the recording names no accelerator that did nothing" }
  end
  local step_ns, ns, worst = p.fact["step.ns"], 0, nil
  -- PyTorch's calls of a runtime are recorded, so that ops are known to run on the host however short they are.
  local least_ns = p.format == "kineto" and 0 or cfg.min_op_ns
  local rows = p:table("ops"):where { type = { class = "product|convolution" }, mean_ns = { min = least_ns } }
  for row in rows:each() do
    ns = ns + row.self_ns
    if not worst or row.self_ns > worst.self_ns then worst = row end
  end
  ns = math.min(ns, step_ns)
  if ns < cfg.min_ops * step_ns then return nil end
  return finding {
    title = ("All ops run on the CPU: %s of each step; the accelerator that is there does nothing"):format(fmt.ms(ns)),
    severity = "warn",
    subject = { op = worst.name },
    evidence = { { "accelerators that did nothing", p.fact["coverage.idle_accelerators"], "count" },
                 { "products and convolutions on the host, a step", ns, "ns", share = ns / step_ns },
                 { worst.name .. ", one run", worst.mean_ns, "ns" } },
    condition = ("they take %s of the step on the host, %s accepted"):format(fmt.pct(ns / step_ns),
      fmt.pct(cfg.min_ops)),
    remedy = { text = p.framework == "pytorch" and "Move the model and its batches to it; where the program is meant "
                 .. "for the CPU, hide the accelerator (CUDA_VISIBLE_DEVICES='')."
                 or "See why the framework places nothing on it: a build without support for it, a driver or library "
                 .. "that does not load, devices hidden by the environment.",
               code = p.framework == "pytorch" and "model = model.to('cuda'); x = x.to('cuda', non_blocking=True)"
                 or p.framework == "tensorflow" and "tf.config.list_physical_devices('GPU')\n"
                 .. "tf.debugging.set_log_device_placement(True)"
                 or p.framework == "jax" and "jax.devices()" or nil },
    impact = impact.none(),
    confidence = "high",
  }
end

return rule {
  id = "cpu-fallback-op", api = 1, version = "1.0.0",
  title = "An op between device ops runs on the CPU",
  category = "copies", severity = "error",
  formats = { "profile", "graph", "kineto", "xspace" },
  needs = { "step.ns" },
  cause = "placement", tags = { "ops" },
  more_specific_than = { "hot-op", "d2h-share", "h2d-share", "blocking-sync-in-step", "long-gpu-gap", "host-bound",
                         "tiny-kernels", "kernel-launch-bound", "graph-capture-candidate", "pageable-async-memcpy" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "time of the op over the step from which this is said" },
    min_ops = { default = 0.1, min = 0, max = 1, unit = "share",
                doc = "PyTorch: ops on the CPU between a download and an upload, over the step; and products on the "
                  .. "host beside an accelerator that did nothing" },
    min_op_ns = { default = 5e5, min = 0, max = 1e12, unit = "ns",
                  doc = "beside an accelerator that did nothing: an op that computes on the host itself" },
    speedup = { default = 10, min = 1, max = 1e4, unit = "ratio", doc = "how much faster the device is taken to be" },
  },
  doc = [[
Its neighbours are on an accelerator: inputs come from there or results go back, and the device waits. Priced as the op
at a tenth of its time; copies are not counted. Silent where the program has no accelerator, for strings, files,
lookups, shapes, random numbers, variables and checkpoints, which belong on the host, and below 2 % of the step. In
PyTorch said of models that are served and compute a tenth of the step on the CPU between a download and an upload,
priced by replay without that and the copies. Where the recording names an accelerator that did nothing and products
and convolutions (XSpace: of half a millisecond and more) run on the host, all of it is meant, without a price.]],

  check = function(p, cfg)
    if p.format == "kineto" then
      local is_unused = p:has("coverage.idle_accelerators") and p.fact["coverage.idle_accelerators"] > 0
      return is_unused and unused(p, cfg) or of_pytorch(p, cfg)
    end
    if p.format == "xspace" then return unused(p, cfg) end
    if not p:has("graph_patterns") then return skip { reason = "no graph is recorded" } end
    if p.fact["graph_patterns.accelerators"] == 0 then
      return skip { reason = "the program ran on the CPU: there is no accelerator" }
    end
    local step_ns, findings = p.fact["step.ns"], {}
    local ops = p:table("graph_patterns"):where { pattern = "cpu-fallback", ns = { min = cfg.min_share * step_ns } }
    for i, row in ipairs(ops:top("ns", 3):rows()) do
      local ns = math.min(row.ns, step_ns)
      findings[i] = finding {
        title = ("%s runs on the CPU between device ops: %s of each step"):format(row.op, fmt.ms(ns)),
        subject = { op = row.op, device = row.device },
        evidence = { { "time of the op a step", ns, "ns", share = ns / step_ns },
                     { "its results", row.bytes, "bytes" },
                     { "type", row.type } },
        condition = ("%s of the step on the CPU, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
        remedy = { text = "Place it on the device; cast int64 or double to a type that has a kernel there, and read "
                     .. "the placement log.",
                   code = "with tf.device('/GPU:0'):" },
        impact = impact.amdahl { ns = ns, speedup = cfg.speedup },
        confidence = "low",
      }
    end
    return findings
  end,

  examples = {
    { name = "a loss", format = "graph", framework = "tensorflow", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "cpu-fallback", op = "loss/xent",
                                      type = "SoftmaxCrossEntropyWithLogits", device = "/device:CPU:0", ns = 3.6e6,
                                      count = 1, bytes = 4e5 } } } },
    { name = "a short one", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 1 },
      tables = { graph_patterns = { { pattern = "cpu-fallback", op = "a/Mul", type = "Mul", device = "/device:CPU:0",
                                      ns = 1e4, count = 1, bytes = 4 } } } },
    { name = "attention of a server", format = "kineto", framework = "pytorch", finding = true,
      replay = { 3e6, 4e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.9, ["torch.detours"] = 1, ["torch.detour_ns"] = 4e6,
                ["torch.detour_bytes"] = 4096, ["torch.detour_ops_ns"] = 2.5e6, ["torch.detour_returns"] = 1,
                ["serving.trains"] = false } },
    { name = "tokens of a server", format = "kineto", framework = "pytorch", finding = false,
      replay = { 3e6, 4e6, 4e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.9, ["torch.detours"] = 1, ["torch.detour_ns"] = 4e6,
                ["torch.detour_bytes"] = 4096, ["torch.detour_ops_ns"] = 2e5, ["torch.detour_returns"] = 1,
                ["serving.trains"] = false } },
    { name = "a GPU that is not used", format = "xspace", framework = "tensorflow", finding = true, severity = "warn",
      facts = { ["step.ns"] = 1e7, ["coverage.idle_accelerators"] = 1, ["coverage.lacks_device"] = false },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", self_ns = 6e6, mean_ns = 6e6 } } } },
    { name = "a GPU beside a model that was not moved to it", format = "kineto", framework = "pytorch", finding = true,
      severity = "warn",
      facts = { ["step.ns"] = 1e7, ["coverage.idle_accelerators"] = 1, ["coverage.lacks_device"] = false },
      tables = { ops = { { name = "aten::addmm", type = "aten::addmm", self_ns = 6e6, mean_ns = 2e5 } } } },
    { name = "short ops beside such a GPU", format = "xspace", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["coverage.idle_accelerators"] = 1, ["coverage.lacks_device"] = false },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", self_ns = 6e6, mean_ns = 6e4 } } } },
    { name = "a machine without one", format = "xspace", framework = "tensorflow", skipped = true,
      facts = { ["step.ns"] = 1e7, ["coverage.idle_accelerators"] = 0, ["coverage.lacks_device"] = false },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", self_ns = 6e6, mean_ns = 6e6 } } } },
    { name = "CPU only", format = "profile", skipped = true,
      facts = { ["step.ns"] = 1e7, ["graph_patterns.accelerators"] = 0 }, tables = { graph_patterns = {} } },
  },
}
