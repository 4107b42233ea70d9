-- A progress bar reads a value of the device in each step.
return rule {
  id = "tqdm-sync", api = 1, version = "1.0.0",
  title = "A progress bar waits for the device in each step",
  category = "idle", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "activities", "sync.bubble_ns", "sync.count_per_step" },
  cause = "sync", tags = { "sync" },
  more_specific_than = { "scalar-readback", "blocking-sync-in-step", "logging-in-step" },
  params = {
    min_steps_share = { default = 0.9, min = 0, max = 1, unit = "share",
                        doc = "of the steps, those in which the bar is written" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "idle time of the device behind waits, over the step" },
  },
  doc = [[
pbar.set_postfix(loss=loss) formats a tensor of the device, and so waits for it. Seen where frames of a progress bar and
of a tensor's formatting or .item() are in nearly each step. Priced as the idle time of the device behind the waits,
shared out over all of them. Silent without Python stacks, and where the value is on the host already.]],

  check = function(p, cfg)
    local step_ns, activities = p.fact["step.ns"], p:table("activities")
    local often = { min = cfg.min_steps_share }
    local bar = activities:where { kind = "python",
                                   name = { like =
                                              "(?i)(tqdm|progress).*(set_postfix|set_description|update|refresh)" },
                                   steps_share = often }
    local reads = activities:where { kind = "python",
                                     name = { like = "_tensor\\.py.*(__format__|__repr__)|method (item|__format__) of "
                                                .. "Tensor" }, steps_share = often }
    if bar:count() == 0 or reads:count() == 0 then return nil end
    local count = reads:max("events") or 0
    local bubble_ns = p.fact["sync.bubble_ns"]
    if p:has("part.compute_ns") and p:has("python.path_ns") then -- Python behind a wait is no part of it
      bubble_ns = math.max(0, math.min(bubble_ns, step_ns - p.fact["part.compute_ns"] - p.fact["python.path_ns"]))
    end
    local ns = math.min(bubble_ns * math.min(1, count / math.max(p.fact["sync.count_per_step"], 1e-9)), step_ns)
    if ns < cfg.min_share * step_ns then return nil end
    return finding {
      title = "The progress bar reads a value of the device in each step",
      evidence = { { "device idle behind such reads a step", ns, "ns", share = ns / step_ns },
                   { "reads a step", count, "count" },
                   { "blocking calls a step", p.fact["sync.count_per_step"], "count" } },
      condition = ("a progress bar and reads in %s of the steps and more"):format(fmt.pct(cfg.min_steps_share)),
      remedy = { text = "Give the bar a value every 50 steps.",
                 code = "if step % 50 == 0: pbar.set_postfix(value=value.item())" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "loss in the bar", framework = "pytorch", format = "kineto", finding = true, impact_ns = 3.75e5,
      facts = { ["step.ns"] = 1e7, ["sync.bubble_ns"] = 5e5, ["sync.count_per_step"] = 1 },
      tables = { activities = { { kind = "python", name = "tqdm/std.py(1428): set_postfix", steps_share = 1,
                                  events = 1 },
                                { kind = "python", name = "torch/_tensor.py(991): __format__", steps_share = 1,
                                  events = 1 } } } },
    { name = "a bar without values", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["sync.bubble_ns"] = 5e5, ["sync.count_per_step"] = 1 },
      tables = { activities = { { kind = "python", name = "tqdm/std.py(1325): update", steps_share = 1,
                                  events = 1 } } } },
    { name = "now and then", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["sync.bubble_ns"] = 5e5, ["sync.count_per_step"] = 1 },
      tables = { activities = { { kind = "python", name = "tqdm/std.py(1428): set_postfix", steps_share = 0.1,
                                  events = 0.1 },
                                { kind = "python", name = "torch/_tensor.py(991): __format__", steps_share = 0.1,
                                  events = 0.1 } } } },
  },
}
