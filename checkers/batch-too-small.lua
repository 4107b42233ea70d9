-- One program runs many times a step on small inputs.
local primitives = "add|subtract|multiply|true_divide|divide|power|integer_pow|square|sqrt|rsqrt|exp|log|tanh|sign|abs|"
  .. "negative|maximum|minimum|where|select|greater|less|equal|matmul|dot|dot_general|transpose|reshape|squeeze|"
  .. "broadcast_in_dim|broadcast_to|convert_element_type|concatenate|mean|sum|max|reduce_sum|reduce_max|take|gather|"
  .. "scatter_add|scatter|dynamic_slice|dynamic_update_slice|iota|pad|log_softmax|softmax|take_along_axis|copy|clip"

return rule {
  id = "batch-too-small", api = 1, version = "1.0.0",
  title = "Items are run one by one instead of as a batch",
  category = "model", severity = "warn",
  formats = { "xspace" },
  needs = { "step.median_ns", "runs.count", "runs.programs", "runs.main_count", "runs.main_median_ns",
            "runs.main_program" },
  cause = "batch", tags = { "inference", "model" },
  more_specific_than = { "xla-cluster-fragmentation", "host-bound", "block-until-ready-each-step" },
  params = {
    min_runs = { default = 8, min = 2, max = 1e6, unit = "count", doc = "runs a step of the same program" },
    min_share = { default = 0.4, min = 0, max = 1, unit = "share",
                  doc = "share of all runs that are runs of that program" },
    max_run_ns = { default = 5e6, min = 0, max = 1e12, unit = "ns", doc = "a longer run has work enough" },
  },
  doc = [[
The same compiled program runs n times a step: each run reads all weights again and pays its own
launch. As one batch the weights are read once. Priced as if a batch of n cost as much as the square
root of n single runs, between one (weights dominate) and n (arithmetic does). Silent when a run
takes long by itself.]],

  check = function(p, cfg)
    local runs, all = p.fact["runs.main_count"], p.fact["runs.count"]
    local run_ns = p.fact["runs.main_median_ns"]
    if runs < cfg.min_runs or runs / all < cfg.min_share or run_ns > cfg.max_run_ns then return nil end

    local name = p.fact["runs.main_program"]
    -- jnp operations that nobody compiled are programs too: their loop is over operations, not over items.
    if name:find("^jit__?(" .. primitives .. ")$") then return nil end
    return finding {
      title = ("%s runs %s times a step, each for one small input"):format(name, fmt.count(math.floor(runs + 0.5))),
      subject = { op = name },
      evidence = { { "runs a step", runs, "count" }, { "median run", run_ns, "ns" },
                   { "program", name }, { "all program runs a step", all, "count" } },
      condition = ("%s runs a step of one program, %s accepted; a run takes %s"):format(fmt.count(runs),
        fmt.count(cfg.min_runs), fmt.ns(run_ns)),
      remedy = { text = "Collect the items and run them as one batch.",
                 code = p.framework == "jax" and "y = f(jnp.stack(requests))   # or jax.vmap(f)" or
                        "y = model(tf.stack(requests))" },
      impact = impact.replay { { "scale", parts = { "host", "compute", "copy", "idle.sync", "idle.other" },
                                 factor = 1 / math.sqrt(runs) } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "one by one", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.median_ns"] = 1e7, ["runs.count"] = 32, ["runs.programs"] = 1, ["runs.main_count"] = 32,
                ["runs.main_median_ns"] = 3e5, ["runs.main_program"] = "jit_f" } },
    { name = "an optimiser op by op", framework = "jax", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["runs.count"] = 320, ["runs.programs"] = 6, ["runs.main_count"] = 160,
                ["runs.main_median_ns"] = 3e3, ["runs.main_program"] = "jit_multiply" } },
    { name = "one batch", finding = false,
      facts = { ["step.median_ns"] = 1e7, ["runs.count"] = 1, ["runs.programs"] = 1, ["runs.main_count"] = 1,
                ["runs.main_median_ns"] = 9e6, ["runs.main_program"] = "jit_f" } },
  },
}
