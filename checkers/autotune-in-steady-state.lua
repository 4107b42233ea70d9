-- A library still tries algorithms in steady steps.
-- cuDNN's benchmark leaves no range. A convolution that runs for the first time in a size launches kernels by many
-- names, where one or two do the work, and waits for each that it measures: nothing else waits inside of a convolution.
local function of_convolutions(p, cfg)
  if p.framework ~= "pytorch" or not p:has("kernels") or not p:has("ops") then return nil end
  local tried = p:table("kernels"):where { op_type = { like = "^aten::(cudnn_|miopen_)?convolution" } }
  local step_ns, names, distinct = p.fact["step.ns"], {}, 0
  for row in tried:each() do
    if not names[row.name] then names[row.name], distinct = true, distinct + 1 end
  end
  local function calls_of(type) return p:table("ops"):where { type = { like = type } }:sum("calls") end
  local calls = math.max(calls_of("^aten::(cudnn|miopen)_convolution$"), calls_of("^aten::convolution$"))
    + calls_of("^aten::convolution_backward$")
  local waits = p:has("syncs") and
    p:table("syncs"):where { owner = { like = "^aten::(cudnn_|miopen_)?convolution" } }:sum("count") or 0
  local launches, ns = tried:sum("calls"), tried:sum("total_ns")
  if calls <= 0 or distinct < cfg.min_kernels or
      launches < cfg.min_kernels * calls and waits < cfg.min_waits then return nil end
  ns = math.min((1 - math.min(1, 2 * calls / launches)) * ns, step_ns)
  -- It waits for each kernel that it measures: the device is idle meanwhile, and the host is inside of the convolution,
  -- which else only launches one.
  local inside_ns = 0
  for row in p:table("ops"):where { type = { like = "^aten::(cudnn_|miopen_)?convolution(_backward)?$" },
                                    kind = "op" }:each() do
    inside_ns = inside_ns + math.max(0, row.self_ns - row.calls * cfg.max_call_ns)
  end
  ns = math.max(ns, math.min(inside_ns, p.fact["device.idle_share"] * step_ns))
  local most_ns = math.min(ns + p.fact["device.idle_share"] * step_ns, step_ns)
  if most_ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("%s convolutions launch %s kernels a step: each size is tried out anew"):format(
      fmt.whole(calls), fmt.whole(launches)),
    subject = { op = "aten::convolution" },
    evidence = { { "trying, a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "the host inside of convolutions, a step", inside_ns, "ns",
                   share = math.min(1, inside_ns / step_ns) },
                 { "kernels a convolution", launches / calls, "count" }, { "different kernels", distinct, "count" },
                 { "waits inside of convolutions a step", waits, "count" } },
    condition = ("%s kernels a convolution, %s accepted, or %s waits inside of them"):format(
      fmt.whole(launches / calls), fmt.whole(cfg.min_kernels), fmt.whole(cfg.min_waits)),
    remedy = { text = "Bring inputs to a few sizes, by resizing or padding; or leave the search off where sizes vary.",
               code = "torch.backends.cudnn.benchmark = False   # with shapes that vary" },
    impact = impact.exposed { ns = ns, low = ns, high = most_ns },
    confidence = "medium",
  }
end

-- Of examples: kernels of so many names, each called and taking as much.
local function tried_kernels(names, calls, total_ns)
  local rows = {}
  for i = 1, names do
    rows[i] = { name = "implicit_gemm_" .. i, op_type = "aten::cudnn_convolution", calls = calls, total_ns = total_ns,
                category = "conv" }
  end
  return rows
end

return rule {
  id = "autotune-in-steady-state", api = 1, version = "1.0.0",
  title = "A library still tries algorithms in steady steps",
  category = "compile", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "step.used", "device.idle_share", "activities" },
  cause = "compile", tags = { "compile" },
  more_specific_than = { "hot-op", "roofline-gap", "host-bound", "tiny-kernels", "graph-capture-candidate",
      "kernel-launch-bound", "long-gpu-gap", "layout-transposes", "blocking-sync-in-step", "allocator-churn" },
  params = {
    min_steps = { default = 3, min = 2, max = 1e6, unit = "count", doc = "steps, to tell steady ones from the first" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the steps, those that try" },
    min_kernels = { default = 8, min = 2, max = 1e4, unit = "count",
                    doc = "PyTorch: kernels a convolution, and different ones, from which it is tried out" },
    min_waits = { default = 8, min = 1, max = 1e6, unit = "count",
                  doc = "PyTorch: waits inside of convolutions a step that tell the same" },
    max_call_ns = { default = 5e5, min = 0, max = 1e12, unit = "ns",
                    doc = "PyTorch: what the host takes for a convolution whose algorithm is known" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share", doc = "its time over the step" },
  },
  doc = [[
cuDNN's search, XLA's and Triton's autotuners measure several algorithms once a shape. In each step it means that shapes
keep changing or that the result is not kept. Priced as its time, as the step waits for what is measured. PyTorch's
search by cuDNN shows as many kernels for each convolution, or as waits inside of them where layers share a size:
priced as all kernels but two a convolution, or as what the host takes inside of convolutions while the device waits,
at most with the device's idle time. Silent in the first steps.]],

  check = function(p, cfg)
    if p.fact["step.used"] < cfg.min_steps then return nil end
    local step_ns = p.fact["step.ns"]
    local convolutions = of_convolutions(p, cfg)
    if convolutions then return convolutions end
    local tries = p:table("activities"):where { name = { like = p:names("tries_algorithms") },
                                                steps_share = { min = cfg.min_steps_share } }
    -- The host waits for what it measures: all of it holds the step up, though the path then runs through kernels.
    local ns = math.min(tries:max("total_ns") or 0, step_ns)
    if tries:count() == 0 or ns < cfg.min_share * step_ns then return nil end
    local top = tries:top("total_ns", 1):rows()[1]
    return finding {
      title = ("Trying algorithms takes %s of each step"):format(fmt.ms(ns)),
      subject = { op = top.name },
      evidence = { { "trying, a step", ns, "ns", share = ns / step_ns },
                   { "of the steps, those that try", top.steps_share, "share" },
                   { "times a step", top.events, "count" } },
      condition = ("%s of the steps try algorithms, %s accepted"):format(
        fmt.pct(top.steps_share), fmt.pct(cfg.min_steps_share)),
      remedy = { text = "Keep shapes fixed, warm each up once, and keep the results.",
                 code = p.framework == "pytorch" and "torch.backends.cudnn.benchmark = False   # with shapes that vary"
                        or p.framework == "jax" and "XLA_FLAGS=--xla_gpu_load_autotune_results_from=autotune.txt"
                        or nil },
      impact = impact.exposed { ns = ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each step", framework = "pytorch", format = "kineto", finding = true, impact_ns = 8e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.3 },
      tables = { activities = { { name = "cudnnFindConvolutionForwardAlgorithmEx", steps_share = 1, events = 2,
                                  total_ns = 1e6 } } } },
    -- 40 kernels a convolution: 38 of 40 parts of 6 ms, at most with 2 ms of idle time: 5.7 to 7.7 ms.
    { name = "each picture has a size of its own", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 6.7e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = {},
                 ops = { { type = "aten::cudnn_convolution", name = "aten::cudnn_convolution", calls = 2,
                           self_ns = 1e4 } },
                 kernels = tried_kernels(8, 10, 7.5e5) } },
    -- Eight layers of two sizes, 26 kernels: all but 16 only try, 10/26 of 5.2 ms, at most with 2 ms of idle time:
    -- 2 to 4 ms.
    { name = "layers share a size", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = {},
                 syncs = { { name = "cudaEventSynchronize", owner = "aten::cudnn_convolution", count = 16,
                             wait_ns = 2e6 } },
                 ops = { { type = "aten::convolution", name = "aten::convolution", calls = 8, self_ns = 1e4 },
                         { type = "aten::cudnn_convolution", name = "aten::cudnn_convolution", calls = 8,
                           self_ns = 1e4 } },
                 kernels = tried_kernels(13, 2, 4e5) } },
    -- Two convolutions hold the host for 6 ms less 1 that it may take, and the device is idle for 7: 5 ms, at most all.
    { name = "the host measures for most of the step", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 7e6,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.7 },
      tables = { activities = {},
                 ops = { { type = "aten::cudnn_convolution", name = "aten::cudnn_convolution", kind = "op", calls = 2,
                           self_ns = 6e6 } },
                 kernels = tried_kernels(8, 10, 2e5) } },
    { name = "a wait or two for memory", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = {},
                 syncs = { { name = "cudaEventSynchronize", owner = "aten::cudnn_convolution", count = 4,
                             wait_ns = 2e6 } },
                 ops = { { type = "aten::convolution", name = "aten::convolution", calls = 8, self_ns = 1e4 },
                         { type = "aten::cudnn_convolution", name = "aten::cudnn_convolution", calls = 8,
                           self_ns = 1e4 } },
                 kernels = tried_kernels(13, 2, 4e5) } },
    { name = "convolutions of eight sizes", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.2 },
      tables = { activities = {},
                 ops = { { type = "aten::cudnn_convolution", name = "aten::cudnn_convolution", calls = 8,
                           self_ns = 1e4 } },
                 kernels = { { name = "implicit_gemm_1", op_type = "aten::cudnn_convolution", calls = 16,
                               total_ns = 6e6, category = "conv" } } } },
    { name = "the first step", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 5, ["device.idle_share"] = 0.3 },
      tables = { activities = { { name = "cudnnFindConvolutionForwardAlgorithmEx", steps_share = 0.2, events = 0.2,
                                  total_ns = 1e6 } } } },
  },
}
