-- A training step writes its new state beside the old one instead of over it.
return rule {
  id = "jax-no-donation", api = 1, version = "1.0.0",
  title = "The step's state is not donated",
  category = "memory", severity = "info",
  formats = { "xspace" },
  needs = { "program.name", "program.time_share", "program.parameter_bytes", "program.state_bytes", "program.state_count", "program.donated_bytes" },
  tags = { "jax", "memory" },
  params = {
    min_bytes = { default = 1048576, min = 0, max = 1e13, unit = "bytes", doc = "state that is not donated, from which this is said" },
    min_arrays = { default = 4, min = 1, max = 1e6, unit = "count", doc = "arrays in it" },
    min_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of what the program takes in, its state" },
    min_time = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the time of compiled ops, this program's" },
  },
  doc = [[
Parameters and optimizer state go into a jitted step and come out again in the same shapes. Unless they are donated, both
versions are in memory at once, and each step allocates one anew. Read from the program's own list of what may be
overwritten. It saves memory rather than time, so there is no price. Silent where the state is donated, for programs
whose results do not look like their inputs (inference), and below 1 MiB. Do not donate what is used again later.]],

  check = function(p, cfg)
    local kept = p.fact["program.state_bytes"] - p.fact["program.donated_bytes"]
    if p.framework ~= "jax" or p.fact["program.time_share"] < cfg.min_time or kept < cfg.min_bytes or
       p.fact["program.state_count"] < cfg.min_arrays or
       p.fact["program.state_bytes"] < cfg.min_share * p.fact["program.parameter_bytes"] then
      return nil
    end
    return finding {
      title = ("%s keeps two versions of its state: %s more than needed"):format(p.fact["program.name"], fmt.bytes(kept)),
      subject = { op = p.fact["program.name"] },
      evidence = { { "state that is not donated", kept, "bytes" },
                   { "all of the state", p.fact["program.state_bytes"], "bytes" },
                   { "arrays in it", p.fact["program.state_count"], "count" },
                   { "what the program takes in", p.fact["program.parameter_bytes"], "bytes" } },
      condition = ("%s of state may not be overwritten, %s accepted"):format(fmt.bytes(kept), fmt.bytes(cfg.min_bytes)),
      remedy = { text = "Donate the state that the step replaces.", code = "step = jax.jit(step, donate_argnums=(0,))" },
      impact = impact.none(),
      confidence = "high",
    }
  end,

  examples = {
    { name = "parameters and moments", framework = "jax", format = "xspace", finding = true,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e7,
                ["program.state_bytes"] = 1.2e7, ["program.state_count"] = 27, ["program.donated_bytes"] = 0 } },
    { name = "donated", framework = "jax", format = "xspace", finding = false,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e7,
                ["program.state_bytes"] = 1.2e7, ["program.state_count"] = 27, ["program.donated_bytes"] = 1.2e7 } },
    { name = "inference", framework = "jax", format = "xspace", finding = false,
      facts = { ["program.name"] = "jit_mlp", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e7,
                ["program.state_bytes"] = 4e3, ["program.state_count"] = 1, ["program.donated_bytes"] = 0 } },
  },
}
