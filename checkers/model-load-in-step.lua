-- A model is made, and its weights are filled or read, inside the step.

-- TensorFlow reads a checkpoint in most steps: the op that reads, and those of its scope that hand the values on.
local function restored(p, cfg)
  local step_ns, all = p.fact["step.ns"], p:table("activities")
  local read = all:where { type = { like = "^Restore(V2|Slice)?$" }, steps_share = { min = cfg.min_steps_share } }
    :top("path_ns", 1):rows()[1]
  if not read then return nil end
  local scope = read.name:match("^(.*/)[^/]*$")
  local ns = scope and all:where { kind = "op", name = { like = "^\\Q" .. scope .. "\\E" } }:sum("path_self_ns")
    or read.path_self_ns
  if ns < cfg.min_share * step_ns then return nil end
  ns = math.min(ns, step_ns)
  return finding {
    title = ("A checkpoint is read in each step: %s"):format(fmt.ms(ns)),
    subject = { op = read.name },
    evidence = { { "reading it and filling variables a step", ns, "ns", share = ns / step_ns },
                 { "of the steps, those that read", read.steps_share, "share" }, { "by", read.name } },
    condition = ("it takes %s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
    remedy = { text = "Read it once, when the process starts, and again only when there is a new one.",
               code = "newest = tf.train.latest_checkpoint(folder)\n"
                 .. "if newest != loaded: saver.restore(session, newest); loaded = newest" },
    -- What the runtime does around these ops goes with them.
    impact = impact.exposed { ns = ns, low = 0.9 * ns, high = math.min(1.3 * ns, step_ns) },
    confidence = "high",
  }
end

-- JAX's libraries that keep weights are known by their frames, on the leading thread or where it waits for theirs.
local function loaded(p, cfg)
  return p:in_excess {
    flaw = "library-range", detail = { like = "^loading" }, min_share = cfg.min_share,
    title = "Reading weights takes %s of each step",
    time = "reading them",
    remedy = { text = "Read them once, when the process starts, and again only when there are new ones.",
               code = "params = checkpointer.restore(path, like)   # once, when the process starts" },
    confidence = "high",
  }
end

return rule {
  id = "model-load-in-step", api = 1, version = "1.0.0",
  title = "A model is built inside the step",
  category = "host", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "excess" },
  cause = "host.model", tags = { "host" },
  more_specific_than = { "hot-op", "host-bound", "python-in-step" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share",
                        doc = "TensorFlow: share of the steps that read a checkpoint" },
  },
  doc = [[
Before its first product a step fills four matrices or more of the shapes that the products then take, with numbers as
initialisers draw them or from storage that was read, or packs weights for quantised layers: a model is made for each
request or step. Everything from the first such matrix to the first product counts, files that are read between
included. In TensorFlow, a checkpoint that most steps read, with the ops of its scope that fill variables. In JAX, calls
of a library of checkpoints that read, as `restore` of orbax is, by the frames of Python. A model that is made once,
before the recording, is silent.]],

  check = function(p, cfg)
    if p.format == "xspace" then
      if p.framework ~= "tensorflow" then return loaded(p, cfg) end
      return p:has("activities") and restored(p, cfg) or nil
    end
    return p:in_excess {
      flaw = "model-built", min_share = cfg.min_share,
      title = "Building a model and loading its weights takes %s of each step",
      time = "making and loading it",
      remedy = { text = "Build and load it once, when the process starts, and keep it.",
                 code = "model.load_state_dict(torch.load(path))   # once, when the process starts" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a model for each request", framework = "pytorch", format = "kineto", finding = true, replay = { 7e5 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "model-built", op = "aten::normal_", ns = 7e5, share = 0.07, factor = 0,
        detail = "12 matrices are filled, read or packed before the first product takes one" } } } },
    { name = "a checkpoint for each batch", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 5.5e6, -- from 0.9 to 1.3 of 5 ms
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = {}, activities = {
        { name = "save/RestoreV2:RestoreV2", kind = "op", type = "RestoreV2", steps_share = 1, path_ns = 4e6,
          path_self_ns = 4e6 },
        { name = "save/Assign_2:Assign", kind = "op", type = "Assign", steps_share = 1, path_ns = 1e6,
          path_self_ns = 1e6 },
        { name = "MatMul:MatMul", kind = "op", type = "MatMul", steps_share = 1, path_ns = 3e6,
          path_self_ns = 3e6 } } } },
    { name = "weights restored for each request", framework = "jax", format = "xspace", finding = true,
      replay = { 8e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "library-range", cause = "rare", grade = "A", ns = 8e6, share = 0.8,
        factor = 0.02, detail = "loading: $standard_checkpointer.py:128 restore" } } } },
    { name = "weights saved, not read", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "library-range", cause = "rare", grade = "A", ns = 8e6, share = 0.8,
        factor = 0.02, detail = "saving: $checkpointer.py:304 save" } } } },
    { name = "a checkpoint once", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = {}, activities = {
        { name = "save/RestoreV2:RestoreV2", kind = "op", type = "RestoreV2", steps_share = 0.1, path_ns = 4e6,
          path_self_ns = 4e6 } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "model-built", ns = 4e5, share = 0.04, factor = 0 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
