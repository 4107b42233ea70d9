-- Tensors are printed from inside the step.
-- Graphs that ran in sessions tell their ops alone: what prints blocks the step that it is in.
local function of_graph(p, cfg)
  local prints = p:table("ops"):where { type = { like = p:names("prints") } }
  local ns, step_ns = math.min(prints:sum("self_ns"), p.fact["step.ns"]), p.fact["step.ns"]
  if ns < cfg.min_share * step_ns then return nil end
  local evidence = { { "prints a step", prints:sum("calls"), "count" } }
  for _, row in ipairs(prints:top("self_ns", 3):rows()) do evidence[#evidence + 1] = { row.name, row.self_ns, "ns" } end
  return finding {
    title = ("Printing tensors takes %s of each step"):format(fmt.ms(ns)),
    evidence = evidence, locations = prints:places(),
    condition = ("prints inside the step take %s of it, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Remove the print, or fetch the values in one step of fifty and print them in Python.",
               code = "if step % 50 == 0: print(session.run(loss))   # instead of loss = tf.Print(loss, [...])" },
    impact = impact.exposed { ns = ns, low = 0.9 * ns, high = ns },
    confidence = "high",
  }
end

return rule {
  id = "debug-print-in-step", api = 1, version = "1.0.0",
  title = "Tensors are printed from inside the step",
  category = "output", severity = "warn",
  formats = { "xspace", "graph", "profile" },
  needs = { "step.ns", "ops" },
  cause = "callback", tags = { "jax", "tensorflow", "output", "host" },
  more_specific_than = { "host-callback-in-step", "summary-every-step", "output-bound", "logging-in-step",
                         "python-in-step", "host-bound", "block-until-ready-each-step", "tiny-ops" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share", doc = "share of the step inside prints" },
    min_many = { default = 4, min = 1, max = 1e6, unit = "count",
                 doc = "prints a step in a compiled program, from which the host's time around them goes too; "
                   .. "beside an accelerator twice as many" },
    kept = { default = 0.02, min = 0, max = 1, unit = "ratio",
             doc = "part of the time that one print in fifty steps keeps" },
  },
  doc = [[
jax.debug.print, jax.debug.callback and tf.print stop the compiled step, move the tensors to the host and format them
there. Priced as the step's time inside them, less one step in fifty. Silent below min_share.]],

  check = function(p, cfg)
    if p.format ~= "xspace" then return of_graph(p, cfg) end
    if not p:has("activities") then return skip { reason = "no timeline of events is recorded" } end
    local step_ns, ns, count, evidence = p.fact["step.ns"], 0, 0, {}
    local prints = p:table("activities"):where {
      kind = { like = "^(callback|output)$" },
      name = { like = p:names("prints") } }
    for _, row in ipairs(prints:top("path_ns", 20):rows()) do
      ns, count = ns + row.path_self_ns, count + row.events
      if #evidence < 3 then evidence[#evidence + 1] = { row.name, row.path_ns, "ns" } end
    end
    ns = math.min(ns, step_ns)
    -- The executor works for prints as for what computes.
    local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or step_ns
    if ns < cfg.min_share * step_ns then return nil end
    -- Beside an accelerator the host has other work, which it does meanwhile.
    local many = p:has("device.idle_share") and 2 * cfg.min_many or cfg.min_many

    table.insert(evidence, 1, { "prints a step", count, "count" })
    return finding {
      title = ("Printing tensors takes %s of each step"):format(fmt.ms(ns)),
      evidence = evidence,
      condition = ("prints inside the step take %s of it, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Remove the print, or print one step in fifty and a few values instead of whole tensors.",
                 code = p.framework == "jax" and
                        "jax.lax.cond(step % 50 == 0, lambda: jax.debug.print('{}', loss), lambda: None)" or
                        "if step % 50 == 0: tf.print(loss)" },
      impact = impact.replay { { "scale", name = p:names("prints"),
                                 factor = cfg.kept },
                               -- In a compiled program what the host does around several prints goes with them.
                               p.framework == "jax" and count >= many
                                 and { "scale", parts = { "host" }, factor = 0.1 } or
                               { "scale", parts = { "host" }, kinds = { "executor" },
                                 factor = 1 - 0.9 * ns / (ns + compute_ns) },
                               fallback = impact.exposed { ns = ns } },
      confidence = "high",
    }
  end,

  examples = {
    { name = "tf.Print", framework = "tensorflow", format = "graph", finding = true, impact_ns = 4.5e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "Print", type = "Print", calls = 1, self_ns = 5e6 },
                         { name = "MatMul", type = "MatMul", calls = 1, self_ns = 4e6 } } } },
    { name = "a small print", framework = "tensorflow", format = "graph", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "Print", type = "Print", calls = 1, self_ns = 2e5 } } } },
    { name = "three prints", framework = "jax", format = "xspace", finding = true, impact_ns = 3e6, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 activities =
                   { { name = "debug_print.4", kind = "callback", events = 1, path_ns = 3e6, path_self_ns = 3e6 } } } },
    -- 3 ms of prints keep a fiftieth, and 4 ms of the host's around four of them a tenth: 0.98 * 3 + 0.9 * 4.
    { name = "four callbacks", framework = "jax", format = "xspace", finding = true, replay = { 2.94e6, 6.54e6 },
      impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 activities =
                   { { name = "debug_callback.4", kind = "callback", events = 4, path_ns = 3e6,
                       path_self_ns = 3e6 } } } },
    { name = "another callback", framework = "jax", format = "xspace", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = {},
                 activities =
                   { { name = "pure_callback.4", kind = "callback", events = 1, path_ns = 3e6,
                       path_self_ns = 3e6 } } } },
  },
}
