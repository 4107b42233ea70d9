-- Now and then a step takes far longer because it saves a checkpoint.

-- The slow steps are those that save: what they take longer for is saving, whether the file is being written, the
-- graph is put into words beside it or old files are deleted.
local function in_slow_steps(p, cfg)
  local step_ns, used = p.fact["step.ns"], p.fact["step.used"]
  local slow, excess_ns = p.fact["step.slow_count"] or 0, p.fact["step.slow_excess_ns"] or 0
  if slow < 1 or used < cfg.min_steps or excess_ns < cfg.min_share * step_ns then return nil end
  local top = p:table("activities"):where {
    name = { like = p:names("saves") }, steps_share = { max = cfg.max_steps_share } }:top("path_ns", 1):rows()[1]
  if not top or top.path_ns <= 0 or math.abs(top.steps_share * used - slow) > 0.5 then return nil end
  return top, excess_ns
end
return rule {
  id = "checkpoint-spike", api = 1, version = "1.0.0",
  title = "Saving makes single steps far longer",
  category = "output", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "step.max_ns", "step.used", "activities" },
  cause = "output", tags = { "output" },
  more_specific_than = { "step-outliers", "step-bimodal", "logging-in-step", "unnamed-excess" },
  params = {
    min_steps = { default = 5, min = 3, max = 1e6, unit = "count", doc = "steps needed to tell one that is longer" },
    max_steps_share = { default = 0.34, min = 0, max = 1, unit = "share",
                        doc = "of the steps, those that save at most" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "what slow steps that save take longer, spread over all steps, from which this is said" },
    loud_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "the same, from which it is a warning" },
    min_ratio = { default = 0.5, min = 0, max = 1e6, unit = "ratio", doc = "a save over the median step" },
  },
  doc = [[
A checkpoint written by the training thread holds one step for its whole length. Where the slow steps are those that
save, priced as what they take longer, since a saver also writes the graph and deletes old files; else as the saving
time spread over the recorded steps. How often it happens outside the recording is not known. Silent where each step
saves (that is another rule) and where saving is short, or hardly more than waiting for what is computed.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local save, excess_ns = in_slow_steps(p, cfg)
    if save then
      return finding {
        title = ("The slow steps are those that save: %s a step"):format(fmt.ms(excess_ns)),
        severity = excess_ns >= cfg.loud_share * step_ns and "warn" or "info",
        subject = { op = save.name },
        evidence = { { "what slow steps take longer, spread over the steps", excess_ns, "ns",
                       share = math.min(1, excess_ns / step_ns) },
                     { "slow steps", p.fact["step.slow_count"], "count" },
                     { "of the steps, those that save", save.steps_share, "share" },
                     { "longest write", save.max_ns, "ns" } },
        condition = ("slow steps take %s of all time longer, %s accepted, and each of them saves"):format(
          fmt.pct(math.min(1, excess_ns / step_ns)), fmt.pct(cfg.min_share)),
        remedy = { text = "Save every thousand steps or every ten minutes, and let a thread write.",
                   code = p.framework == "tensorflow"
                     and "tf.compat.v1.train.MonitoredTrainingSession(..., save_checkpoint_secs=600)"
                         .. "   # or manager.save() every thousand steps"
                     or "if step % 1000 == 0: save(state)" },
        impact = impact.exposed { ns = excess_ns, low = 0.8 * excess_ns, high = excess_ns },
        confidence = "medium",
      }
    end
    if p.fact["step.used"] < cfg.min_steps or p.fact["step.max_ns"] < (1 + cfg.min_ratio) * step_ns then return nil end
    local saves =
      p:table("activities"):where {
        name = { like = p:names("saves") },
        steps_share = { max = cfg.max_steps_share },
        max_ns = { min = cfg.min_ratio * step_ns } }
    local most = saves:top("path_ns", 1)
    local top = most:rows()[1]
    if not top or top.path_ns <= 0 then return nil end
    -- Arrays that are saved may be on their way: what is computed meanwhile is no saving.
    local computing_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or 0
    local ns = math.min(top.path_ns, step_ns - computing_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = ("Saving takes %s in single steps of %s"):format(fmt.ms(top.max_ns), fmt.ms(step_ns)),
      subject = { op = top.name }, locations = most:places(),
      evidence = { { "longest save", top.max_ns, "ns" },
                   { "saving spread over the steps", top.path_ns, "ns", share = math.min(1, top.path_ns / step_ns) },
                   ns < top.path_ns and { "of that at most while nothing computes", ns, "ns", share = ns / step_ns }
                     or nil,
                   { "of the steps, those that save", top.steps_share, "share" } },
      condition = ("a save takes %s median steps, %s accepted"):format(
        fmt.ratio(top.max_ns / step_ns), fmt.ratio(cfg.min_ratio)),
      remedy = { text = "Copy the state and write it beside the steps that follow.",
                 code = p.framework == "pytorch"
                   and "torch.distributed.checkpoint.async_save(state, checkpoint_id=path)"
                        or p.framework == "jax" and "ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())"
                        or "tf.train.CheckpointOptions(enable_async=True)" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "one in ten", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["step.max_ns"] = 5e7, ["step.used"] = 10 },
      tables = { activities = { { name = "SaveV2", steps_share = 0.1, max_ns = 4e7, path_ns = 4e6 } } } },
    { name = "two slow steps that save, the graph in Python", framework = "tensorflow", format = "xspace",
      finding = true, impact_ns = 7.2e6, -- 0.9 of 8 ms
      facts = { ["step.ns"] = 1.2e7, ["step.max_ns"] = 4.7e7, ["step.used"] = 10, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 8e6 },
      tables = { activities = { { name = "SaveV2", steps_share = 0.2, max_ns = 2.7e6, path_ns = 5e5 } } } },
    { name = "slow steps that do not save", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1.2e7, ["step.max_ns"] = 4.7e7, ["step.used"] = 10, ["step.slow_count"] = 2,
                ["step.slow_excess_ns"] = 8e6 },
      tables = { activities = { { name = "SaveV2", steps_share = 0.1, max_ns = 2.7e6, path_ns = 5e5 } } } },
    -- Of 10 ms 9.4 are computed, and waited for by who saves: 0.6 ms can be saving.
    { name = "a save that waits for steps that still compute", framework = "jax", format = "xspace", finding = true,
      impact_ns = 6e5, facts = { ["step.ns"] = 1e7, ["step.max_ns"] = 5e7, ["step.used"] = 10,
                                 ["part.compute_ns"] = 9.4e6 },
      tables = { activities = { { name = "$checkpoint_manager.py:1334 save", steps_share = 0.1, max_ns = 4e7,
                                  path_ns = 4e6 } } } },
    { name = "each step", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 5e7, ["step.max_ns"] = 5.2e7, ["step.used"] = 10 },
      tables = { activities = { { name = "SaveV2", steps_share = 1, max_ns = 4e7, path_ns = 4e7 } } } },
  },
}
