-- The accelerator is idle where one step ends and the next begins.
return rule {
  id = "step-boundary-gap", api = 1, version = "1.0.0",
  title = "The accelerator is idle from one step to the next",
  category = "idle", severity = "warn",
  needs = { "step.ns", "step.used", "device.idle_boundary_ns", "gaps" },
  cause = "host", tags = { "device", "idle" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                  doc = "idle time over the ends of steps, over the step" },
    min_steps = { default = 3, min = 1, max = 1e6, unit = "count", doc = "steps, to tell a habit from a chance" },
    min_gaps_share = { default = 0.8, min = 0, max = 1, unit = "share",
                       doc = "of the steps, those that end in such a pause" },
  },
  doc = [[
What runs between steps runs alone: logging, metrics, schedulers, checkpoints, fetching the next
batch. Priced as this idle time at half: some of it is launching the next step. Silent where fewer
than four in five steps show it, and where JAX's steps are told from calls that the host made late.]],

  check = function(p, cfg)
    local step_ns, ns = p.fact["step.ns"], p.fact["device.idle_boundary_ns"]
    local steps = p.fact["step.used"]
    if ns / step_ns < cfg.min_share or steps < cfg.min_steps then return nil end
    -- Where a step is a call of a compiled program, calling it late is what the host does, and is told as that.
    local is_call = p.framework == "jax" and p:has("step.source") and p.fact["step.source"] == "inferred"
    local causes = is_call and "other" or "host-late|sync|other"
    local gaps = p:table("gaps"):where { is_boundary = true, cause = { like = causes } }
    if gaps:count() < cfg.min_gaps_share * math.min(steps, 10) then return nil end
    local top = gaps:group("host_activity", "ns")[1] or { first = gaps:top("ns", 1):rows()[1] }
    local is_served = p:has("serving.trains") and not p.fact["serving.trains"]
    local did = top.key and top.key ~= "" and top.key or "nothing that was recorded"
    return finding {
      title = ("The device is idle %s from step to step, while the host runs %s"):format(fmt.ms(ns), did),
      subject = { device = top.first.device, op = did },
      evidence = { { "idle over the ends of steps, a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "long pauses over ends of steps", gaps:count(), "count" }, { "steps", steps, "count" } },
      condition = ("idle over ends of steps takes %s, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = is_served and "Schedule the next step and prepare its inputs while this one runs; read tokens "
                   .. "of the step before, and turn them into text in another process." or
                   "Log and read metrics every 100 steps or from another thread; "
                   .. "fetch the next batch before the step ends." },
      impact = impact.exposed { ns = ns, low = 0.25 * ns, high = 0.75 * ns },
      claims = { { parts = { "host", "idle.sync" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "metrics after each step", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 4, ["device.idle_boundary_ns"] = 1e6 },
      tables = { gaps = { { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true,
                            host_activity = "log" },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true,
                            host_activity = "log" },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true,
                            host_activity = "log" },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true,
                            host_activity = "log" } } } },
    { name = "a call that comes late", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["device.idle_boundary_ns"] = 1e6,
                ["step.source"] = "inferred" },
      tables = { gaps = { { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true } } } },
    { name = "a batch that comes late", framework = "pytorch", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["device.idle_boundary_ns"] = 1e6,
                ["step.source"] = "inferred" },
      tables = { gaps = { { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true },
                          { device = "GPU 0", cause = "host-late", ns = 1e6, is_boundary = true } } } },
    { name = "the host was not recorded", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 3, ["device.idle_boundary_ns"] = 1e6 },
      tables = { gaps = { { device = "TPU 0", cause = "other", ns = 1e6, is_boundary = true },
                          { device = "TPU 0", cause = "other", ns = 1e6, is_boundary = true },
                          { device = "TPU 0", cause = "other", ns = 1e6, is_boundary = true } } } },
    { name = "steps follow on", finding = false,
      facts = { ["step.ns"] = 1e7, ["step.used"] = 4, ["device.idle_boundary_ns"] = 1e5 }, tables = { gaps = {} } },
  },
}
