-- Getting work under way takes longer than the work.
-- No rule knows what the host does: where it goes, and a bound.
local function of_host(p, cfg)
  local host_ns, share = p.fact["part.host_ns"], p.fact["part.host_share"]
  if share < cfg.min_share then return nil end
  local evidence = { { "host code a step", host_ns, "ns", share = share } }
  for _, part in ipairs { { "host.python_ns", "of it Python outside any recorded event" },
                          { "host.dispatch_ns", "of it getting ops and programs under way" },
                          { "host.executor_ns", "of it graph executors around ops" } } do
    if p:has(part[1]) and p.fact[part[1]] > 0 then evidence[#evidence + 1] = { part[2], p.fact[part[1]], "ns" } end
  end
  local remedy = { text = "Give the runtime more work a call: one call for the whole batch, loops inside compiled "
                     .. "functions, Python out of the step." }
  -- Mostly a loop of small ops in a graph: each starts by itself, compiled they are one program.
  if p.framework == "tensorflow" and 2 * (p.fact["host.executor_ns"] or 0) > host_ns then
    local refused = p:has("ops") and p:table("ops"):where {
      type = { like = "PyFunc|LookupTable|Unicode|String|Regex" } }:count() > 0
    remedy = { text = "The executor starts op by op, as in loops over time: compile the function"
                 .. (refused and " but for what calls Python or works on strings and tables, which XLA refuses" or "")
                 .. ", give its loops fewer rounds, of shorter sequences or of more rows each, and let one call do "
                 .. "what follows each other in Python, as the words of a text, in a loop of its own.",
               code = "model.compile(optimizer, loss, jit_compile=True)   # or @tf.function(jit_compile=True)" }
  end
  return finding {
    title = ("Host code around the computation takes %s of each step"):format(fmt.ms(host_ns)),
    severity = "info",
    evidence = evidence,
    condition = ("host code takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
    remedy = remedy,
    impact = impact.share { ns = host_ns },
    confidence = "low",
  }
end

-- Ops whose libraries try out which kernel is fastest, for as long as computing takes.
local tries = { product = true, convolution = true }

-- What the host did for longest while the device waited, and how long ops took that compute on the CPU: one that only
-- launches takes some microseconds, unless it tries out which kernel is fastest.
local function host_work(p, cfg, host_ns)
  local by_name, list, computing_ns, first = {}, {}, 0, nil
  if not p:has("activities") then return list, 0, nil end
  local rows = p:table("activities"):where { kind = { like = "^(op|python|annotation|executor|output|compile)$" } }
  for row in rows:top("path_self_ns", 30):each() do
    local each_ns = (row.self_ns or 0) / math.max(1, row.events or 1)
    if not by_name[row.name] then
      by_name[row.name] = { "of it in " .. row.name, 0, "ns" }
      list[#list + 1] = by_name[row.name]
    end
    by_name[row.name][2] = by_name[row.name][2] + (row.path_self_ns or 0)
    if row.kind == "op" and each_ns >= cfg.min_computing_ns and not tries[p:class_of(row.name)] then
      computing_ns, first = computing_ns + (row.path_self_ns or 0), first or row.name
    end
  end
  table.sort(list, function(x, y) return x[2] > y[2] or x[2] == y[2] and x[1] < y[1] end)
  local named = {}
  for i = 1, math.min(3, #list) do
    if list[i][2] >= cfg.min_named * host_ns then named[#named + 1] = list[i] end
  end
  return named, computing_ns, first
end

return rule {
  id = "host-bound", api = 1, version = "1.0.0",
  title = "The host is the limit",
  category = "host", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "host.dispatch_ns", "part.host_ns", "part.host_share" },
  cause = "host", tags = { "host" },
  params = {
    min_share = { default = 0.25, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent dispatching from which this is said" },
    min_idle = { default = 0.30, min = 0, max = 1, unit = "share",
                 doc = "with an accelerator: its idle time over the step" },
    min_launch = { default = 0.10, min = 0, max = 10, unit = "ratio",
                   doc = "with an accelerator: time in launch calls over the step" },
    max_compiled_calls = { default = 32, min = 0, max = 1e6, unit = "count",
                           doc = "without one: calls a step up to which the step counts as compiled, and this as a "
                             .. "fact" },
    min_waiting = { default = 0.8, min = 0, max = 1, unit = "share",
                    doc = "with an accelerator: of the steps, those that wait for it though no event shows that" },
    max_launches = { default = 4, min = 0, max = 1e6, unit = "count",
                     doc = "launches a step up to which it is compiled or captured whole" },
    max_call_ns = { default = 500e3, min = 0, max = 1e12, unit = "ns",
                    doc = "host work of such a step, up to which it is the call itself, and this a fact" },
    max_stalled = { default = 0.5, min = 0, max = 1, unit = "share",
                    doc = "with an accelerator: of the host's part, what a few slow steps alone do" },
    min_named = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "with an accelerator: of the host's part, what something takes to be named" },
    min_computing_ns = { default = 500e3, min = 0, max = 1e12, unit = "ns",
                         doc = "with an accelerator: an op that takes so long itself computes on the CPU" },
    max_busy = { default = 0.60, min = 0, max = 1, unit = "share",
                 doc = "with an accelerator: its busy time over the step" },
  },
  doc = [[
The leading thread spends the step dispatching ops and programs while processors wait for it. Priced
as the dispatch time. With an accelerator it needs two of three signs: the device is idle, launch calls
take long, the device is seldom busy; priced as three fifths of the host's part of the step. Rules that
say what is dispatched so often take its place. Of a short step that is compiled or captured whole it is only told, and
so it is where the device works for a quarter of the step, or waits less than two milliseconds. On a host alone, where
dispatch is little of a large host part, what may go is not known: its price is a bound. Silent where dispatch hides
behind computation, and beside an accelerator where a few slow steps alone are most of the host's part.]],

  check = function(p, cfg)
    local dispatch_ns, step_ns = p.fact["host.dispatch_ns"], p.fact["step.ns"]
    if p:has("device.idle_share") then
      -- A host that waits for the device in each step does not run ahead of it: that is another rule's.
      if (p.fact["sync.unseen_steps_share"] or 0) >= cfg.min_waiting then return nil end
      local idle, busy, host_share = p.fact["device.idle_share"], p.fact["device.busy_share"] or 0,
        p.fact["part.host_share"]
      -- Recording makes a host slower that the device waits for: without that it may be hardly idle.
      if p:has("replay.idle_share") and p.fact["replay.idle_share"] < idle then
        local bare_ns = p.fact["replay.without_recorder_ns"]
        idle, busy = p.fact["replay.idle_share"], 1 - p.fact["replay.idle_share"]
        host_share = math.max(0, p.fact["part.host_ns"] - (step_ns - bare_ns)) / bare_ns
      end
      local launch = (p:has("launch.ns_per_step") and p.fact["launch.ns_per_step"] or 0) / step_ns
      local signs = (idle > cfg.min_idle and 1 or 0) + (launch > cfg.min_launch and 1 or 0)
        + (busy < cfg.max_busy and 1 or 0)
      if signs < 2 or host_share < cfg.min_share then return nil end
      local host_ns = p.fact["part.host_ns"]
      -- What a few slow steps stood still for is no slow launching: step-outliers tells it.
      if p:stalled_ns() > cfg.max_stalled * host_ns then return nil end
      local launches = p:has("launch.count_per_step") and p.fact["launch.count_per_step"] or math.huge
      -- A step that is one compiled program or captured graph, and so short that calling it takes as long.
      local is_one = launches <= cfg.max_launches and host_ns <= cfg.max_call_ns
      local is_jitted = p:has("runs.count") and p.fact["runs.count"] <= 3
      local code = { jax = not is_jitted and "step = jax.jit(step)" or nil, pytorch = "model = torch.compile(model)",
                     tensorflow = "@tf.function(jit_compile=True)" }
      local did, computing_ns, computes = host_work(p, cfg, host_ns)
      local evidence = { { "host work that the device waits for, a step", host_ns, "ns", share = host_share } }
      for _, row in ipairs(did) do evidence[#evidence + 1] = row end
      for _, row in ipairs { { "device idle", idle, "share" }, { "device busy", busy, "share" },
                             { "launch calls over the step", launch, "ratio" } } do
        evidence[#evidence + 1] = row
      end
      return finding {
        title = ("The device waits for the host for %s of each step"):format(fmt.ms(host_ns)),
        severity = (is_one or p:host_limit().severity == "info") and "info" or "error",
        evidence = evidence,
        condition = ("%d of 3 signs: idle %s, launch calls %s of the step, busy %s"):format(
          signs, fmt.pct(idle), fmt.pct(launch), fmt.pct(busy)),
        remedy = is_one and { text = "Each step is a few launches of short work: give a call more, a larger batch or "
                                .. "several steps.",
                              code = p.framework == "jax" and
                                "run = jax.jit(lambda s, xs: jax.lax.scan(step, s, xs)[0])" or nil } or
          computing_ns >= 0.5 * host_ns and { text = ("Compute on the device what runs on the CPU, %s first, or before "
            .. "the step."):format(computes) } or
          { text = "Compile or capture the step, move host work off the thread that launches, or batch more.",
            code = code[p.framework] },
        impact = impact.replay { { "scale", parts = { "host" }, factor = 0.4 } },
        confidence = "medium",
      }
    end
    if p.format == "kineto" then return nil end
    if dispatch_ns / step_ns < cfg.min_share then return of_host(p, cfg) end
    -- A few calls a step are what a compiled program is: it can only put several steps into a call.
    local calls = (p.fact["eager.function_calls"] or 0) + (p.fact["eager.ops"] or 0)
    if p:has("runs.count") then calls = math.max(calls, p.fact["runs.count"]) end
    local is_compiled = calls <= cfg.max_compiled_calls
    return finding {
      title = ("Dispatching takes %s of each step"):format(fmt.ms(dispatch_ns)),
      severity = is_compiled and "info" or "warn",
      evidence = { { "dispatching a step", dispatch_ns, "ns", share = math.min(dispatch_ns / step_ns, 1) },
                   { "host code a step", p.fact["part.host_ns"], "ns", share = p.fact["part.host_share"] } },
      condition = ("dispatching takes %s of the step, %s accepted"):format(
        fmt.pct(dispatch_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Give the runtime more work a call: compile larger functions, batch, vectorise loops.",
                 code = p.framework == "jax" and "step = jax.jit(step)" or p.framework == "pytorch" and
                        "model = torch.compile(model)" or "@tf.function" },
      impact = impact.share { ns = dispatch_ns },
      claims = { parts = { "host" }, kinds = { "dispatch", "launch" } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a few calls", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 4e6,
      replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 5e6, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6,
                ["eager.function_calls"] = 5, ["eager.ops"] = 8 } },
    { name = "half the step", framework = "jax", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 5e6, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 } },
    { name = "many eager calls", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 4e6,
      replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 5e6, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6,
                ["eager.function_calls"] = 64, ["eager.ops"] = 4 } },
    { name = "a device that waits", framework = "pytorch", format = "kineto", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e6, ["part.host_ns"] = 7e6, ["part.host_share"] = 0.7,
                ["device.idle_share"] = 0.75, ["device.busy_share"] = 0.25, ["launch.ns_per_step"] = 5e5 } },
    -- One step of eight waits 48 ms longer for the host: 6 of 7 ms a step.
    { name = "a device that waits in one step of eight", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e6, ["part.host_ns"] = 7e6, ["part.host_share"] = 0.7,
                ["device.idle_share"] = 0.75, ["device.busy_share"] = 0.25, ["launch.ns_per_step"] = 5e5,
                ["step.is_uneven"] = true, ["step.used"] = 8, ["slow.count"] = 1, ["slow.part"] = "host",
                ["slow.part_ns"] = 4.8e7 } },
    { name = "a device that works for a third of the step", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e6, ["part.host_ns"] = 6.5e6, ["part.host_share"] = 0.65,
                ["device.idle_share"] = 0.65, ["device.busy_share"] = 0.35, ["launch.ns_per_step"] = 5e5,
                ["part.compute_ns"] = 3.5e6 } },
    { name = "a device that waits for ops on the CPU", framework = "pytorch", format = "kineto", finding = true,
      severity = "info", replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e6, ["part.host_ns"] = 6.5e6, ["part.host_share"] = 0.65,
                ["device.idle_share"] = 0.65, ["device.busy_share"] = 0.35, ["launch.ns_per_step"] = 5e5,
                ["part.compute_ns"] = 3.5e6 },
      tables = { activities = { { name = "aten::tril", kind = "op", events = 2, self_ns = 5e6, path_self_ns = 5e6 },
                                { name = "aten::add", kind = "op", events = 50, self_ns = 1e6,
                                  path_self_ns = 5e5 } } } },
    { name = "one short program a step", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 1.2e5 },
      facts = { ["step.ns"] = 3e5, ["host.dispatch_ns"] = 1e5, ["part.host_ns"] = 2e5, ["part.host_share"] = 0.66,
                ["device.idle_share"] = 0.7, ["device.busy_share"] = 0.3, ["launch.ns_per_step"] = 5e4,
                ["launch.count_per_step"] = 1 } },
    { name = "a loop that waits for the device", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e6, ["part.host_ns"] = 7e6, ["part.host_share"] = 0.7,
                ["device.idle_share"] = 0.75, ["device.busy_share"] = 0.25, ["launch.ns_per_step"] = 5e5,
                ["sync.unseen_steps_share"] = 1 } },
    { name = "a busy device", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e6, ["part.host_ns"] = 1e5, ["part.host_share"] = 0.01,
                ["device.idle_share"] = 0.05, ["device.busy_share"] = 0.95, ["launch.ns_per_step"] = 5e6 } },
    { name = "host code that nothing names", format = "xspace", framework = "tensorflow", finding = true,
      severity = "info", impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e5, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 } },
    { name = "hidden", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.dispatch_ns"] = 1e5, ["part.host_ns"] = 6e5, ["part.host_share"] = 0.06 } },
  },
}
