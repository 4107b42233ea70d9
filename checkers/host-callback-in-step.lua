-- The compiled program calls back into Python.
-- Sessions' recordings: ops that call Python take cores from those beside them. Their share of all that cores do goes.
local function of_sessions(p, cfg)
  local calls = p:table("ops"):where { type = { like = "^(Eager)?PyFunc(Stateless)?$" } }
  local step_ns, path_ns = p.fact["step.ns"], p.fact["callback.path_ns"]
  local ns, all_ns = calls:sum("self_ns"), p:table("ops"):sum("self_ns")
  if all_ns <= 0 then return nil end
  ns = math.max(math.min(ns, path_ns), math.min(1, ns / all_ns) * math.min(step_ns, all_ns))
  if ns < cfg.min_share * step_ns then return nil end
  local top = calls:top("self_ns", 1):rows()[1]
  return finding {
    title = ("Ops that call Python take %s of each step"):format(fmt.ms(ns)),
    subject = { op = top.name },
    evidence = { { "their part of the step", ns, "ns", share = ns / step_ns },
                 { "of it alone on the step's path", path_ns, "ns" }, { "all ops a step", all_ns, "ns" },
                 { "such ops a step", calls:sum("calls"), "count" } },
    condition = ("they take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Compute it by ops of the graph, ahead of the loop, or only in each hundredth run." },
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "host-callback-in-step", api = 1, version = "1.0.0",
  title = "The compiled program calls the host",
  category = "host", severity = "warn",
  formats = { "xspace", "graph", "profile" },
  needs = { "step.ns", "callback.count", "callback.path_ns", "callback.steps_share" },
  cause = "callback", tags = { "jax", "host" },
  more_specific_than = { "long-gpu-gap", "host-bound", "blocking-sync-in-step", "block-until-ready-each-step" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                  doc = "share of the step inside callbacks from which this is said" },
    min_given = { default = 4, min = 1, max = 1e6, unit = "count", doc = "callbacks a step that give nothing back" },
    left = { default = 0.1, min = 0, max = 1, unit = "ratio", doc = "part of the host's time around them that stays" },
    max_programs = { default = 15, min = 1, max = 1e6, unit = "count",
                     doc = "different programs a step, from which the host's time around callbacks is for those" },
    min_steps_share = { default = 0.3, min = 0, max = 1, unit = "share",
                        doc = "share of the steps with a callback" },
  },
  doc = [[
pure_callback, io_callback and debug callbacks stop the program while Python computes under its
lock, and move their arguments to the host. Priced as the step's time inside them, and nine
tenths of the host's around several that give nothing back, unless it dispatches many other programs there; with an
accelerator the rest of the host's runs beside it.
In recordings of sessions priced as their share of what all ops take, since they hold cores that others would use.
Silent where the program does not wait for them.]],

  check = function(p, cfg)
    if p.format == "graph" or p.format == "profile" then return p:has("ops") and of_sessions(p, cfg) or nil end
    local path_ns = p.fact["callback.path_ns"]
    local share = path_ns / p.fact["step.ns"]
    if share < cfg.min_share or p.fact["callback.steps_share"] < cfg.min_steps_share then return nil end

    local evidence = { { "time a step inside callbacks", path_ns, "ns", share = math.min(share, 1) },
                       { "callbacks a step", p.fact["callback.count"], "count" } }
    if p:has("activities") then
      for _, row in ipairs(p:table("activities"):where { kind = "callback" }:top("path_ns", 3):rows()) do
        evidence[#evidence + 1] = { row.name, row.path_ns, "ns" }
      end
    end
    -- A callback that gives nothing back leaves no work behind: what the host does around several of them goes with it.
    local edits = { { "scale", kinds = { "callback" }, factor = 0 } }
    local given = p:has("activities") and
      p:table("activities"):where { kind = "callback", name = { like = "^(io|debug)_callback" } }:sum("events") or 0
    -- A host that waits in no callback runs ahead of an accelerator: what it launches is there in time.
    if p:has("device.idle_share") then edits[2] = { "overlap", parts = { "host" } } end
    if given >= cfg.min_given and given >= p.fact["callback.count"] - 0.5
        and (p.fact["runs.programs"] or 0) < cfg.max_programs then
      edits[2] = { "scale", parts = { "host" }, factor = cfg.left }
    end
    return finding {
      title = ("Callbacks hold the program %s of each step"):format(fmt.ms(path_ns)),
      evidence = evidence,
      condition = ("callbacks take %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Compute it in the program, or call back every N steps with less data.",
                 code = p.framework == "jax" and
                   "jax.lax.cond(step % 100 == 0, lambda: io_callback(log, None, stats), lambda: None)" or nil },
      impact = impact.replay(edits),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a third", framework = "jax", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 6, ["callback.path_ns"] = 3e6,
                ["callback.steps_share"] = 1 } },
    -- 2 of 8 ms of ops, in a step of 5 ms, are a quarter of it: 0.9 of 1.25 ms.
    { name = "Python beside other ops of a session", framework = "tensorflow", format = "profile", finding = true,
      impact_ns = 1.125e6,
      facts = { ["step.ns"] = 5e6, ["callback.count"] = 2, ["callback.path_ns"] = 5e5, ["callback.steps_share"] = 1 },
      tables = { ops = { { name = "EagerPyFunc", type = "EagerPyFunc", calls = 1, self_ns = 2e6 },
                         { name = "Conv2D", type = "Conv2D", calls = 1, self_ns = 6e6 } } } },
    { name = "on an accelerator", framework = "jax", finding = true, replay = { 3e6, 3.4e6 },
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 1, ["callback.path_ns"] = 3e6, ["device.idle_share"] = 0.35,
                ["callback.steps_share"] = 1 } },
    { name = "many that give nothing back", framework = "jax", finding = true, replay = { 2e6, 6.5e6 },
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 64, ["callback.path_ns"] = 2e6, ["runs.programs"] = 1,
                ["callback.steps_share"] = 1 },
      tables = { activities = { { name = "io_callback", kind = "callback", events = 64, path_ns = 2e6 } } } },
    { name = "beside many small programs", framework = "jax", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 64, ["callback.path_ns"] = 2e6, ["runs.programs"] = 37,
                ["callback.steps_share"] = 1 },
      tables = { activities = { { name = "io_callback", kind = "callback", events = 64, path_ns = 2e6 } } } },
    { name = "none", finding = false,
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 0, ["callback.path_ns"] = 0,
                ["callback.steps_share"] = 0 } },
  },
}
