-- The compiled program calls back into Python.
return rule {
  id = "host-callback-in-step", api = 1, version = "1.0.0",
  title = "The compiled program calls the host",
  category = "host", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "callback.count", "callback.path_ns", "callback.steps_share" },
  cause = "callback", tags = { "jax", "host" },
  more_specific_than = { "long-gpu-gap", "host-bound", "blocking-sync-in-step", "block-until-ready-each-step" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                  doc = "share of the step inside callbacks from which this is said" },
    min_given = { default = 4, min = 1, max = 1e6, unit = "count", doc = "callbacks a step that give nothing back" },
    left = { default = 0.1, min = 0, max = 1, unit = "ratio", doc = "part of the host's time around them that stays" },
    min_steps_share = { default = 0.3, min = 0, max = 1, unit = "share",
                        doc = "share of the steps with a callback" },
  },
  doc = [[
pure_callback, io_callback and debug callbacks stop the program while Python computes under its
lock, and move their arguments to the host. Priced as the step's time inside them, and nine
tenths of the host's around several that give nothing back; with an accelerator the rest of the host's runs beside it.
Silent where the program does not wait for them.]],

  check = function(p, cfg)
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
    if given >= cfg.min_given and given >= p.fact["callback.count"] - 0.5 then
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
    { name = "on an accelerator", framework = "jax", finding = true, replay = { 3e6, 3.4e6 },
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 1, ["callback.path_ns"] = 3e6, ["device.idle_share"] = 0.35,
                ["callback.steps_share"] = 1 } },
    { name = "none", finding = false,
      facts = { ["step.ns"] = 1e7, ["callback.count"] = 0, ["callback.path_ns"] = 0,
                ["callback.steps_share"] = 0 } },
  },
}
