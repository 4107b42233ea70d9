-- A checkpoint is written in every step.
-- Saves of a library by its frames, or arrays that are copied out before nothing runs for long.
local function of_cells(p, cfg)
  -- Where no program gives other versions of what it takes in, there is no state, and results are read.
  local has_state = not p:has("programs") or p:table("programs"):where { state = { min = 1 } }:count() > 0
  return p:in_excess {
    flaw = { like = ("^(%slibrary-range|saving-run|read-back|deep-copies)$"):format(
      has_state and "state-copied|" or "") },
    cause = { like = "^(wait.io|rare)$" }, detail = { like = "^saving|copied" },
    min_share = cfg.min_share, time = "saving", title = "Saving takes %s of each step",
    titles = {
      ["state-copied"] = "The state is copied out and %s of each step follow in which nothing runs: a checkpoint",
      ["deep-copies"] = "The state is copied tensor by tensor, as copy.deepcopy or clone() do: %s of each step",
      ["read-back"] = "Variables are read back to Python one by one: %s of each step, as a backup takes",
    },
    remedy = function(worst)
      return worst.flaw == "deep-copies"
        and { text = "Keep a copy where there is something to keep, as once an epoch or where the loss is best, and "
                .. "copy into tensors that are there.",
              code = "torch._foreach_copy_(kept, list(model.parameters()))   # if step % 100 == 0" }
        or { text = "Save every thousand steps or every ten minutes, and let a thread write.",
             code = "if step % 1000 == 0: save(state)" }
    end,
    confidence = "medium",
  }
end

-- Few steps save, and it is those that take the time: checkpoint-spike.
local function now_and_then(p, cfg)
  return p:table("activities"):where { name = { like = p:names("saves") }, steps_share = { max = cfg.min_steps_share },
    path_ns = { min = cfg.min_share * p.fact["step.ns"] } }:count() > 0
end

return rule {
  id = "checkpoint-every-step", api = 1, version = "1.0.0",
  title = "A checkpoint is written in every step",
  category = "output", severity = "error",
  formats = { "xspace", "kineto", "graph" },
  needs = { "step.ns", "activities", "output.steps_share" },
  cause = "output", tags = { "output" },
  more_specific_than = { "logging-in-step", "summary-every-step", "eager-heavy", "output-bound", "host-bound",
                         "python-in-step", "unnamed-excess" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step spent saving" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "share of the steps that save" },
  },
  doc = [[
Saving writes all variables and waits for the disk. Priced as the step's time inside saving, less one
step in a hundred, and the eager ops around it where there are such. Silent where few steps save.]],

  check = function(p, cfg)
    -- Runs of a session are known as a whole.
    if p.format == "graph" then return of_cells(p, cfg) end
    local saves = p:table("activities"):where { kind = "output", name = { like = p:names("saves") } }
    local rows = saves:top("path_ns", 5):rows()
    local ns, steps_share, names, evidence = 0, 0, {}, {}
    for _, row in ipairs(rows) do
      ns, steps_share = math.max(ns, row.path_ns), math.max(steps_share, row.steps_share or 1)
      names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
      evidence[#evidence + 1] = { row.name, row.path_ns, "ns" }
    end
    local share = ns / p.fact["step.ns"]
    if #names > 0 and steps_share < cfg.min_steps_share then return nil end -- now and then: checkpoint-spike
    if #names == 0 or share < cfg.min_share then return not now_and_then(p, cfg) and of_cells(p, cfg) or nil end

    local edits = { { "scale", name = table.concat(names, "|"), factor = 0.01 } }
    if p:has("eager.ops") and p.fact["eager.ops"] > 20 then
      -- The host work around the writes: collecting variables, naming files, tidying up.
      edits[2] = { "scale", parts = { "host", "output" }, factor = 0.15 }
      evidence[#evidence + 1] = { "eager ops a step around it", p.fact["eager.ops"], "count" }
    end
    table.insert(evidence, 1, { "saving a step", ns, "ns", share = math.min(share, 1) })
    return finding {
      title = ("Saving takes %s of each step"):format(fmt.ms(ns)),
      evidence = evidence,
      condition = ("%s of the steps save, %s accepted; %s of the step"):format(fmt.pct(steps_share),
        fmt.pct(cfg.min_steps_share), fmt.pct(share)),
      remedy = { text = "Save every thousand steps or every ten minutes, asynchronously.",
                 code = p.framework == "tensorflow"
                   and "manager.save(checkpoint_number=step, options=tf.train.CheckpointOptions(enable_async=True))  "
                       .. "# if step % 1000 == 0"
                        or "if step % 1000 == 0: save(state)" },
      impact = impact.replay(edits),
      confidence = "high",
    }
  end,

  examples = {
    { name = "a copy to go back to", framework = "pytorch", format = "kineto", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 0 },
      tables = { activities = {},
                 excess = { { cell = 1, flaw = "deep-copies", cause = "rare", grade = "A", ns = 4e6, share = 0.4,
                              factor = 0.02, detail = "234 tensors of the state are copied in a row" } } } },
    { name = "arrays are copied out", framework = "jax", format = "xspace", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 0 },
      tables = { activities = {},
                 excess = { { cell = 1, flaw = "state-copied", cause = "wait.io", grade = "B", ns = 4e6, share = 0.4,
                              factor = 0, detail = "3 arrays are copied out, and nothing runs behind that" } } } },
    { name = "results of a request are read", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 0 },
      tables = { activities = {}, programs = { { program = "jit_predict", results = 2, state = 0 } },
                 excess = { { cell = 1, flaw = "state-copied", cause = "wait.io", grade = "B", ns = 4e6, share = 0.4,
                              factor = 0, detail = "2 arrays are copied out, and nothing runs behind that" } } } },
    { name = "a session run that saves", framework = "tensorflow", format = "graph", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 1 },
      tables = { activities = {}, excess = { { cell = 1, flaw = "saving-run", cause = "wait.io", grade = "A", ns = 8e6,
                                               share = 0.8, factor = 0,
                                               detail = "saving: a run of 15 ops writes the variables" } } } },
    { name = "variables are read back", framework = "tensorflow", format = "xspace", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 0 },
      tables = { activities = {}, excess = { { cell = 1, flaw = "read-back", cause = "rare", grade = "B", ns = 4e6,
                                               share = 0.4, factor = 0.02,
                                               detail = "saving: 25 variables are read one by one, 0 written" } } } },
    { name = "every step", framework = "tensorflow", finding = true, replay = { 4e6 },
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 1 },
      tables = { activities = { { name = "EagerLocalExecute: SaveV2", kind = "output", path_ns = 4e6,
                                  steps_share = 1 } } } },
    { name = "a range around it, one step in five", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 0 },
      tables = { activities = { { name = "save_checkpoint", kind = "annotation", path_ns = 4e6, steps_share = 0.2 } },
                 excess = { { cell = 1, flaw = "library-range", cause = "wait.io", grade = "B", ns = 4e6, share = 0.4,
                              factor = 0, detail = "saving" } } } },
    { name = "one step in ten", finding = false, facts = { ["step.ns"] = 1e7, ["output.steps_share"] = 0.1 },
      tables = { activities = { { name = "EagerLocalExecute: SaveV2", kind = "output", path_ns = 4e6,
                                  steps_share = 0.1 } } } },
    { name = "one step in nine, and it is long", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 2.7e7, ["output.steps_share"] = 0.11 },
      tables = { activities = { { name = "torch/serialization.py(945): save", kind = "output", path_ns = 2.7e6,
                                  steps_share = 0.11 } },
                 excess = { { cell = 1, flaw = "library-range", cause = "wait.io", grade = "A", ns = 2.7e6, share = 0.1,
                              factor = 0, detail = "saving: torch/serialization.py(945): save" } } } },
  },
}
