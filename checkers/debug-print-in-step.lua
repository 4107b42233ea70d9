-- A compiled program prints from inside the step.
return rule {
  id = "debug-print-in-step", api = 1, version = "1.0.0",
  title = "The program prints for debugging in each step",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.median_ns", "activities" },
  cause = "callback", tags = { "jax", "host" },
  more_specific_than = { "host-callback-in-step", "logging-in-step" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step in it from which this is a problem" },
    min_steps_share = { default = 0.3, min = 0, max = 1, unit = "share", doc = "of the steps, those that print" },
  },
  doc = [[
jax.debug.print and tf.print bring values to the host and write them while the program waits. Priced by replay: the calls
disappear. Silent below 5 % of the step and where few steps print.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.median_ns"]
    local prints = p:table("activities"):where { name = { like = "debug_print|debug_callback|^PrintV2$|:PrintV2$" },
                                                 steps_share = { min = cfg.min_steps_share } }
    local ns = math.min(prints:max("path_ns") or 0, step_ns)
    if prints:count() == 0 or ns < cfg.min_share * step_ns then return nil end
    local top = prints:top("path_ns", 1):rows()[1]
    return finding {
      title = ("Printing for debugging takes %s of each step"):format(fmt.ms(ns)),
      subject = { op = top.name },
      evidence = { { "printing on the path, a step", ns, "ns", share = ns / step_ns },
                   { "prints a step", top.events, "count" } },
      condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Delete it, or print every thousandth step.",
                 code = p.framework == "jax" and "jax.lax.cond(step % 1000 == 0, lambda: jax.debug.print('{}', loss), lambda: None)" or nil },
      impact = impact.replay { { "scale", name = ".*(debug_print|debug_callback|PrintV2).*", factor = 0 },
                               fallback = impact.exposed { ns = ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "each step", framework = "jax", format = "xspace", finding = true, impact_ns = 1e6, replay = { 1e6 }, selected_ns = 1e6,
      facts = { ["step.median_ns"] = 1e7 },
      tables = { activities = { { name = "debug_callback", steps_share = 1, events = 1, path_ns = 1e6 } } } },
    { name = "now and then", framework = "jax", format = "xspace", finding = false, facts = { ["step.median_ns"] = 1e7 },
      tables = { activities = { { name = "debug_callback", steps_share = 0.1, events = 0.1, path_ns = 1e6 } } } },
  },
}
