-- Getting work under way takes longer than the work.
return rule {
  id = "host-bound", api = 1, version = "1.0.0",
  title = "The host is the limit",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.median_ns", "host.dispatch_ns", "part.host_ns", "part.host_share" },
  cause = "host", tags = { "host" },
  params = {
    min_share = { default = 0.25, min = 0, max = 1, unit = "share",
                  doc = "share of the step spent dispatching from which this is said" },
  },
  doc = [[
The leading thread spends the step dispatching ops and programs while processors wait for it. Priced
as the dispatch time. Rules that say what is dispatched so often take its place. Silent where
dispatch hides behind computation.]],

  check = function(p, cfg)
    local dispatch_ns, step_ns = p.fact["host.dispatch_ns"], p.fact["step.median_ns"]
    if dispatch_ns / step_ns < cfg.min_share then return nil end
    return finding {
      title = ("Dispatching takes %s of each step"):format(fmt.ms(dispatch_ns)),
      evidence = { { "dispatching a step", dispatch_ns, "ns", share = math.min(dispatch_ns / step_ns, 1) },
                   { "host code a step", p.fact["part.host_ns"], "ns", share = p.fact["part.host_share"] } },
      condition = ("dispatching takes %s of the step, %s accepted"):format(fmt.pct(dispatch_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Give the runtime more work a call: compile larger functions, batch, vectorise loops.",
                 code = p.framework == "jax" and "step = jax.jit(step)" or p.framework == "pytorch" and
                        "model = torch.compile(model)" or "@tf.function" },
      impact = impact.replay { { "scale", parts = { "host" }, kinds = { "dispatch", "launch" }, factor = 0.1 } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "half the step", framework = "jax", finding = true, replay = { 4e6 },
      facts = { ["step.median_ns"] = 1e7, ["host.dispatch_ns"] = 5e6, ["part.host_ns"] = 6e6, ["part.host_share"] = 0.6 } },
    { name = "hidden", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["host.dispatch_ns"] = 1e5, ["part.host_ns"] = 6e5, ["part.host_share"] = 0.06 } },
  },
}
