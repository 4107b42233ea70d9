-- Runs the steps again with every edit and every select.
local parts = { "input", "compute", "communication", "copy", "compile", "host", "idle.launch",
                "idle.sync", "idle.dependency", "idle.other", "output", "unknown" }
local kinds = { "other", "step", "op", "kernel", "memcpy", "memset", "launch", "sync", "alloc",
                "compile", "tracing", "dispatch", "run", "executor", "input-wait", "input-stage",
                "input-buffer", "input-work", "transfer", "python", "callback", "collective",
                "output", "gc", "overhead", "annotation", "wait" }

return rule {
  id = "api1/edits", api = 1, version = "1.0.0", title = "Edits of all kinds",
  category = "input", severity = "info", needs = { "step.median_ns" },

  check = function(p, cfg)
    local step_ns, saved_ns, selected_ns = p:whatif {
      { "scale", parts = parts, kinds = kinds, name = ".*conv.*", factor = 0.5 },
      { "subtract", kinds = "kernel", op_type = "MatMul,Conv2D", ns = 1e3 },
      { "overlap", parts = "communication", host = 0 },
      { "prefetch" },
      { "stage_parallel", stage = ".*::Map", factor = 8 },
      { "stage_scale", stage = ".*::Shuffle", factor = 0.1 },
      { "omit", name = "aten::item", kinds = "sync" },
      { "unblock", name = "cudaLaunchKernel", ns = 5e3 },
      { "step", ns = 1e3 },
      { "scale", cell = 1, factor = 0.5 },
    }
    if not step_ns then return skip { reason = saved_ns } end
    if saved_ns < 1e6 then return nil end
    return finding {
      condition = "it is faster", evidence = { { "selected", selected_ns, "ns" } },
      claims = { { parts = parts, factor = 0.5 }, { kinds = kinds } },
      remedy = { text = "Do so." }, impact = p:has("excess") and impact.cells(p:table("excess")) or impact.exposed { ns = saved_ns },
    }
  end,

  examples = {
    { name = "saves much", finding = true, facts = { ["step.median_ns"] = 1e7 }, replay = { 2e6 } },
    { name = "saves little", finding = false, facts = { ["step.median_ns"] = 1e7 }, replay = { 1e3 } },
    { name = "cannot be told", skipped = true, facts = { ["step.median_ns"] = 1e7 } },
  },
}
