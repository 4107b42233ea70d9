-- The first step compiles for more than a minute.
return rule {
  id = "long-first-compile", api = 1, version = "1.0.0",
  title = "The first step compiles for a long time",
  category = "compile", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.warmup_ns" },
  tags = { "compile" },
  params = {
    min_ns = { default = 6e10, min = 0, max = 1e14, unit = "ns", doc = "first step from which this is said" },
    min_ratio = { default = 10, min = 1, max = 1e9, unit = "ratio", doc = "first step over the median" },
  },
  doc = [[
Compiled programs can be kept between runs. This is time once a run and not a step, so there is no price. Silent below a
minute.]],

  check = function(p, cfg)
    local first_ns, step_ns = p.fact["step.warmup_ns"], p.fact["step.ns"]
    if first_ns < cfg.min_ns or first_ns < cfg.min_ratio * step_ns then return nil end
    local code = { jax = "jax.config.update('jax_compilation_cache_dir', '/var/cache/jax')",
                   pytorch = "TORCHINDUCTOR_CACHE_DIR=/var/cache/inductor TORCHINDUCTOR_FX_GRAPH_CACHE=1 python "
                     .. "train.py",
                   tensorflow = "TF_XLA_FLAGS=--tf_xla_persistent_cache_directory=/var/cache/xla python train.py" }
    return finding {
      title = ("The first step took %s, the others %s"):format(fmt.ms(first_ns), fmt.ms(step_ns)),
      evidence = { { "first step", first_ns, "ns" }, { "median step", step_ns, "ns" } },
      condition = ("%s, %s accepted"):format(fmt.ms(first_ns), fmt.ms(cfg.min_ns)),
      remedy = { text = "Keep compiled programs on disk between runs.", code = code[p.framework] },
      impact = impact.none(),
      confidence = "low",
    }
  end,

  examples = {
    { name = "three minutes", framework = "jax", format = "xspace", finding = true,
      facts = { ["step.ns"] = 1e8, ["step.warmup_ns"] = 1.8e11 } },
    { name = "two seconds", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e8, ["step.warmup_ns"] = 2e9 } },
  },
}
