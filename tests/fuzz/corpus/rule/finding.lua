-- A finding with every field.
return rule { id = "fuzz", api = 1, version = "1", title = "t", category = "c", severity = "warn",
  params = { a = { default = 1, min = 0, max = 2, unit = "share", doc = "d" } },
  check = function(p, cfg)
    local step_ns = p:whatif { { "scale", parts = { "input" }, name = ".*x", factor = cfg.a } }
    return { finding { title = fmt.ms(step_ns), subject = { op = "x", rank = 1 }, condition = "c",
      locations = { { file = "a.py", line = 3, func = "f" } },
      evidence = { { "w", 1, "ns", share = 0.5 }, { "v", ("abc"):match("b(.)") } },
      remedy = { text = "r", code = "c", flags = "f" }, confidence = "low", claims = { parts = "input" },
      impact = impact.replay { { "step", ns = 5 }, fallback = impact.amdahl { ns = 1, speedup = 2 } } } }
  end }
