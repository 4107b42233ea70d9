-- Values are checked for NaN as they are made.
-- tf.debugging.enable_check_numerics puts a count of what is no number, and a check of it, behind each op; a dump for
-- TensorBoard's debugger puts what writes it there.
local debug_ops = "DebugNumericSummary(V2)?|DebugIdentity(V[23])?|CheckNumerics(V2)?"
local function of_tensorflow(p, cfg)
  if not p:has("ops") then return skip { reason = "no ops are recorded", capture = "a timeline of ops" } end
  local ops, step_ns = p:table("ops"), p.fact["step.ns"]
  local checks = ops:where { type = { like = "^(" .. debug_ops .. ")$" } }
  local calls, all_calls = checks:sum("calls"), ops:sum("calls")
  local part = checks:sum("self_ns") / math.max(ops:sum("self_ns"), 1)
  -- Behind each op, or few of arrays so large that a pass over them takes long.
  local is_all = calls >= cfg.min_checks and calls >= cfg.min_ratio * (all_calls - calls)
  if not is_all and part < cfg.min_part then return nil end
  -- Of computing they take their part of what ops take, of executors that of how many run.
  local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
  local host_ns = p:has("part.host_ns") and p.fact["part.host_ns"] or 0
  local ns = math.min(step_ns, part * compute_ns + calls / all_calls * host_ns)
  local dumps = checks:where { type = { like = "^DebugIdentity" } }:count() > 0
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = is_all and ("Results of ops are %s %s times a step"):format(
        dumps and "summed up and dumped for a debugger" or "checked for NaN", fmt.whole(calls))
      or ("Looking for NaN takes %s of each step"):format(fmt.ms(ns)),
    subject = { op = checks:top("self_ns", 1):rows()[1].name },
    evidence = { { "checks and what starts them, a step", ns, "ns", share = ns / step_ns },
                 { "ops that only check, a step", calls, "count" }, { "all ops a step", all_calls, "count" } },
    condition = ("%s of %s ops a step check for NaN, with %s of the time of ops"):format(fmt.whole(calls),
      fmt.whole(all_calls), fmt.pct(part)),
    remedy = is_all
      and dumps and { text = "Leave the debugger's dump out; turn it on only to look for a NaN, for a few steps.",
                      code = "tf.debugging.experimental.disable_dump_debug_info()   # or drop "
                        .. "enable_dump_debug_info(...) before functions are traced" }
      or is_all and { text = "Turn the checks off; turn them on only to look for a NaN.",
            code = "tf.debugging.disable_check_numerics()   # before functions are traced" }
      or { text = "Check the data once when it is made, and in a step the loss at most: a NaN in between reaches it.",
           code = "loss = tf.debugging.check_numerics(loss, 'loss')   # not assert_all_finite(inputs, 'inputs')" },
    -- Without them ops are fused that cannot be with a check between.
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = math.min(1.5 * ns, step_ns) },
    confidence = "medium",
  }
end

-- Arguments and results are checked all over the step, by a library of distributions or by the program itself.
local function of_values(p, cfg)
  return p:in_excess {
    flaw = "checked-values", min_share = cfg.min_checked_share, time = "checking and reading the answers",
    title = "Arguments and values are checked in Python all over the step: %s of it", severity = "warn",
    remedy = { text = "Turn the checks off where the program runs: validation of distributions once the model stands, "
                 .. "asserts about tensors outside of the loop, or one check: of the loss, or of the norm that "
                 .. "clipping gives.",
               code = "torch.distributions.Distribution.set_default_validate_args(False)\n"
                 .. "pyro.enable_validation(False)   # of a model in Pyro" },
    confidence = "medium",
  }
end

-- Compiled programs that ask of each result whether it is a number.
local function of_compiled(p, cfg)
  return p:has("excess") and p:in_excess {
    flaw = "nan-checks", min_share = cfg.min_compiled_share, time = "comparing and summing up the answers",
    title = "A compiled program looks for NaN in results all over the step: %s of it", loud_share = 0.15,
    remedy = { text = "Check results only to look for a NaN, or those of the loss alone: results that are looked at "
                 .. "are written out, too, where a kernel could have gone on with them.",
               code = "step = jax.jit(step)   # not jax.jit(checkify.checkify(step, errors=checkify.all_checks))" },
    confidence = "medium",
  }
end

-- isnan(gradient).any().item(), in the words of some versions.
local checks_of_pytorch = "aten::isnan|aten::_is_any_true|aten::is_nonzero|aten::any|aten::item"

return rule {
  id = "anomaly-mode-on", api = 1, version = "1.1.0",
  title = "Anomaly detection is on",
  category = "host", severity = "error",
  formats = { "kineto", "xspace", "graph", "profile" },
  needs = { "step.ns" },
  cause = "anomaly", tags = { "ops" },
  more_specific_than = { "tiny-ops", "python-in-step", "hot-op", "tiny-kernels", "graph-capture-candidate",
                         "repeated-op-sequence", "memcpy-storm", "summary-every-step", "output-bound",
                         "host-bound", "elementwise-chain", "kernel-launch-bound", "scalar-readback",
                         "blocking-sync-in-step", "power-user-sync-storm", "long-gpu-gap", "logging-in-step" },
  params = {
    usual_call_ns = { default = 5e3, min = 0, max = 1e9, unit = "ns",
                      doc = "a short recorded call without a traceback" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_checks = { default = 4, min = 1, max = 1e7, unit = "count",
      doc = "checks a step" },
    min_part = { default = 0.1, min = 0, max = 1, unit = "share",
      doc = "TensorFlow: the time of all ops that few checks take, from which they are said" },
    min_ratio = { default = 0.2, min = 0, max = 10, unit = "ratio",
      doc = "checks over backward nodes" },
    min_compiled_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step in such questions of a compiled program from which these are told" },
    min_checked_share = { default = 0.10, min = 0, max = 1, unit = "share",
      doc = "share of the step in checks of values of many shapes from which these are told" },
  },
  doc = [[
Anomaly detection keeps a Python traceback for each op of the forward pass and tests each gradient of the backward pass.
Priced as the tests and as what the shortest recorded calls take more than usual, for each node; with an accelerator by
replay without both. Without one, checks of values of many shapes, whose answers Python reads at once, are told too, as
validation of distributions makes them: priced as their ops and the Python between. So are arrays that a compiled
program compares with themselves, as a checker of all results does: priced as that alone. Silent without either.
TensorFlow's checks are ops of a graph: priced as their part of computing and of the executors' time.]],

  check = function(p, cfg)
    if p.framework == "tensorflow" then return of_tensorflow(p, cfg) end
    if not p:has("torch.gradient_checks") or not p:has("torch.backward_nodes") then
      return of_values(p, cfg) or of_compiled(p, cfg) or skip { reason = "no backward pass of PyTorch is recorded" }
    end
    local step_ns = p.fact["step.ns"]
    local checks, ns, nodes = p.fact["torch.gradient_checks"], p.fact["torch.gradient_checks_ns"],
        p.fact["torch.backward_nodes"]
    if checks < cfg.min_checks or checks < cfg.min_ratio * nodes or ns < cfg.min_share * step_ns then
      return of_values(p, cfg)
    end
    -- Each recorded node keeps a traceback; without it the short ones take a few microseconds.
    -- Launching kernels takes some microseconds more.
    local usual_ns = cfg.usual_call_ns * (p:has("device.idle_share") and 4 or 1)
    local excess_ns = math.max((p.fact["torch.recorded_short_ns"] or 0) - usual_ns, 0) * nodes
    local forward_ns = p.fact["torch.forward_ns"] or 0
    local low_ns = ns + math.min(0.8 * excess_ns, 0.8 * forward_ns)
    local high_ns = ns + math.max(math.min(excess_ns, 0.9 * forward_ns), 0.3 * forward_ns)
    local title = ("Anomaly detection tests %s gradients a step"):format(fmt.whole(checks))
    local evidence = { { "tests a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "how many a step", checks,
        "count" },
                       { "backward nodes a step", nodes, "count" } }
    local price = impact.exposed { ns = high_ns, low = low_ns, high = high_ns }
    if p:has("device.idle_share") then
      -- The device waits for the tests and the tracebacks: without them the host runs ahead.
      price = impact.replay { { "omit", name = checks_of_pytorch, kinds = { "launch", "sync" } },
                              { "subtract", parts = { "host" }, ns = excess_ns }, fallback = price }
    end
    local condition = ("%s tests for NaN inside the backward pass, %s accepted"):format(
      fmt.whole(checks), fmt.count(cfg.min_checks - 1))

    return finding {
      title = title,
      locations = p:lines_of("torch.gradient_checks_ns"),
      evidence = evidence,
      condition = condition,
      remedy = { text = "Turn anomaly detection off; turn it on only to look for a NaN.",
                 code = "torch.autograd.set_detect_anomaly(False)" },
      impact = price,
      claims = p:has("device.idle_share") and { { parts = { "host", "idle.launch", "idle.sync" } } } or nil,
      confidence = "medium",
    }
  end,

  examples = {
    { name = "on", framework = "pytorch", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 1e7, ["torch.gradient_checks"] = 40, ["torch.gradient_checks_ns"] = 2e6,
          ["torch.backward_nodes"] = 40, ["torch.forward_ns"] = 2e6 } },
    -- A quarter of 100 calls takes no longer than 0.12 ms: 0.1 more than usual for each node.
    { name = "on, and a device waits", framework = "pytorch", finding = true, replay = { 3e6, 7e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.8, ["torch.gradient_checks"] = 40,
                ["torch.gradient_checks_ns"] = 1e6, ["torch.backward_nodes"] = 40, ["torch.forward_ns"] = 1e6,
                ["torch.recorded_short_ns"] = 1.2e5 } },
    { name = "checks in a graph", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 2.5e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["part.host_ns"] = 1e6 },
      tables = { ops = { { name = "a/Debug", type = "DebugNumericSummaryV2", calls = 25, self_ns = 2e6 },
                         { name = "a/CheckNumericsV2", type = "CheckNumericsV2", calls = 25, self_ns = 0 },
                         { name = "a", type = "Mul", calls = 50, self_ns = 6e6 } } } },
    -- 40 of 90 calls and 2 of 8 ms of ops: 2 and 0.44 ms.
    { name = "a debugger's dump", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 2.81e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 8e6, ["part.host_ns"] = 1e6 },
      tables = { ops = { { name = "a/DebugNumericSummaryV2", type = "DebugNumericSummaryV2", calls = 20,
                           self_ns = 1.5e6 },
                         { name = "a/DebugIdentityV2", type = "DebugIdentityV2", calls = 20, self_ns = 5e5 },
                         { name = "a", type = "Mul", calls = 50, self_ns = 6e6 } } } },
    { name = "a check of all that is fed", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 3.45e6, facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 1e7, ["part.host_ns"] = 0 },
      tables = { ops = { { name = "VerifyFinite/CheckNumerics", type = "CheckNumerics", calls = 1, self_ns = 3e6 },
                         { name = "a", type = "MatMul", calls = 50, self_ns = 7e6 } } } },
    { name = "a checker of all results", framework = "jax", format = "xspace", finding = true, severity = "warn",
      replay = { 3e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 0, flaw = "nan-checks", region = "jit(checked_fun)/ne", ns = 3e6,
                              share = 0.3 } } } },
    { name = "a few questions of a program", framework = "jax", format = "xspace", skipped = true,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 0, flaw = "nan-checks", region = "jit(f)/ne", ns = 3e5, share = 0.03 } } } },
    { name = "a check of the loss", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 1e7, ["part.host_ns"] = 0 },
      tables = { ops = { { name = "loss/CheckNumerics", type = "CheckNumerics", calls = 1, self_ns = 1e4 },
                         { name = "a", type = "MatMul", calls = 50, self_ns = 7e6 } } } },
    { name = "distributions that are validated", framework = "pytorch", format = "kineto", finding = true,
      severity = "warn", replay = { 2e6, 2.5e6 },
      facts = { ["step.ns"] = 1e7, ["torch.gradient_checks"] = 0, ["torch.gradient_checks_ns"] = 0,
          ["torch.backward_nodes"] = 40 },
      tables = { excess = { { cell = 1, flaw = "checked-values", cause = "unused", ns = 2e6, share = 0.2,
                              factor = 0, region = "model.py:20" } } } },
    { name = "a few checks", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.gradient_checks"] = 0, ["torch.gradient_checks_ns"] = 0,
          ["torch.backward_nodes"] = 40 },
      tables = { excess = { { cell = 1, flaw = "checked-values", cause = "unused", ns = 8e5, share = 0.08,
                              factor = 0, region = "model.py:20" } } } },
    { name = "off", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.gradient_checks"] = 0, ["torch.gradient_checks_ns"] = 0,
          ["torch.backward_nodes"] = 40 } },
  },
}
