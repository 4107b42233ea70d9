-- Work runs in double precision.
return rule {
  id = "fp64-on-device", api = 1, version = "1.0.0",
  title = "Work runs in double precision",
  category = "precision", severity = "warn",
  needs = { "step.median_ns", "ops" },
  cause = "precision", tags = { "precision" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "self time of double-precision ops over the step from which this is said" },
    speedup = { default = 2, min = 1, max = 64, unit = "ratio",
                doc = "how much faster the same op is in single precision" },
  },
  doc = [[
Double precision moves twice the bytes and computes at half the rate or, on consumer GPUs, at a
sixty-fourth. Usually a numpy default or a Python scalar brought it in. Priced as Amdahl's law has
it, with the speed-up of the parameter. Silent below min_share.]],

  check = function(p, cfg)
    local doubles = p:table("ops"):where { dtype = { like = "^(float64|double|complex128)$" } }
    local self_ns, step_ns = doubles:sum("self_ns"), p.fact["step.median_ns"]
    local share = self_ns / step_ns
    if share < cfg.min_share then return nil end

    local evidence = { { "double-precision ops a step", self_ns, "ns", share = math.min(share, 1) },
                       { "different ops", doubles:count(), "count" } }
    local locations = {}
    for i, row in ipairs(doubles:top("self_ns", 3):rows()) do
      evidence[#evidence + 1] = { row.name or row.type or "op", row.self_ns, "ns" }
      if row.source_file and row.source_file ~= "" then
        locations[#locations + 1] = { file = row.source_file, line = row.source_line }
      end
    end
    local code = { jax = "x = x.astype(jnp.float32)  # and leave jax_enable_x64 off",
                   tensorflow = "x = tf.cast(x, tf.float32)  # numpy arrays are float64",
                   pytorch = "x = x.float()  # numpy arrays are float64" }
    return finding {
      title = ("Double precision takes %s of op time a step"):format(fmt.ms(self_ns)),
      evidence = evidence, locations = locations,
      condition = ("double-precision ops take %s of the step, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Convert to single precision where data enter the program.", code = code[p.framework] },
      impact = impact.amdahl { ns = self_ns, speedup = cfg.speedup },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a tenth in double", framework = "jax", finding = true, impact_ns = 4e5,
      facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { name = "dot.1", type = "dot", dtype = "float64", self_ns = 1e6 },
                         { name = "dot.2", type = "dot", dtype = "float32", self_ns = 1e6 } } } },
    { name = "single", finding = false, facts = { ["step.median_ns"] = 1e7 },
      tables = { ops = { { name = "dot.2", type = "dot", dtype = "float32", self_ns = 1e6 } } } },
  },
}
