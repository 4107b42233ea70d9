-- Printing and logging happen in every step.
-- Printing a tensor of PyTorch formats it in ops: which elements are finite, how many digits they need,
-- then one value after the other.
local function printed_ns(p)
  local formatted_ns = p:has("torch.formatted_ns") and not p:has("device.idle_share") and p.fact["torch.formatted_ns"]
    or 0
  if formatted_ns > 0 then return formatted_ns, 1 end
  if p.format ~= "kineto" or not p:has("eager_loops") or not p:has("ops") then return 0 end
  local ops = p:table("ops")
  for _, type in ipairs { "isfinite", "masked_select", "ceil", "is_nonzero" } do
    if (ops:where { type = { like = "^aten::" .. type .. "$" } }:max("calls") or 0) < 1 then return 0 end
  end
  local ns = 0
  for row in p:table("eager_loops"):each() do
    if row.readbacks >= 0.3 * row.repeats and row.products == 0 then ns = ns + row.ns end
  end
  return ns, 1.6
end

-- Means, norms and histograms of activations and gradients that Python reads.
local function statistics(p, cfg)
  if not p:has("torch.statistics_reads") or p:has("device.idle_share") then return nil end
  local reads, ns = p.fact["torch.statistics_reads"], math.min(p.fact["torch.statistics_ns"], p.fact["step.ns"])
  local share = ns / p.fact["step.ns"]
  if reads < cfg.min_reads or share < cfg.min_share then return nil end
  return finding {
    title = ("%s statistics of tensors are taken and read in each step: %s"):format(fmt.whole(reads), fmt.ms(ns)),
    locations = p:lines_of("torch.statistics_ns"),
    evidence = { { "taking and reading them a step", ns, "ns", share = share },
                 { "values read a step", reads, "count" } },
    condition = ("%s values are read, %s accepted; they take %s of the step"):format(fmt.whole(reads),
      fmt.count(cfg.min_reads - 1), fmt.pct(share)),
    remedy = { text = "Take statistics every 100 steps; in hooks too.",
               code = "if step % 100 == 0: log({n: p.grad.norm().item() for n, p in model.named_parameters()})" },
    impact = impact.exposed { ns = ns, low = 0.85 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "logging-in-step", api = 1, version = "1.0.0",
  title = "Every step writes logs",
  category = "output", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "activities", "output.path_ns", "output.steps_share" },
  cause = "output", tags = { "output" },
  more_specific_than = { "python-in-step", "host-bound", "tiny-ops", "unnamed-excess" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "share of the step spent writing" },
    min_reads = { default = 8, min = 1, max = 1e7, unit = "count",
      doc = "statistics of tensors that are read a step; a loss and its accuracy are fewer" },
    min_steps_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "share of the steps that write" },
  },
  doc = [[
Printing, plots, histograms and images format data and wait for files. Once every hundred steps is
usually enough, and so it is for statistics of tensors that Python reads. Priced as the step's time inside such calls,
less one step in a hundred; where PyTorch formats whole tensors and no stacks tell, as the loops that read their values.
Silent for checkpoints and TensorFlow summaries, which have rules of their own, and below min_share.]],

  check = function(p, cfg)
    local logs = p:table("activities"):where { kind = "output", name = {
      like = "(?i)^(?!.*(summary|checkpoint|save(z|_))).*(print|log|savefig|imwrite|"
        .. "add_(scalar|histogram|image|text|figure)|write|flush|histc)" } }:top("path_ns", 5)
    -- What is printed while JAX computes it is waited for, which nothing but the computing makes shorter.
    local waits = p.framework == "jax" and p:has("part.output_ns")
    local ns, evidence, names = 0, {}, {}
    for row in logs:each() do
      ns = math.max(ns, row.path_ns)
      evidence[#evidence + 1] = { row.name .. (waits and ", with what it waits for" or ""), row.path_ns, "ns" }
      names[#names + 1] = "\\Q" .. row.name:gsub(",", ".") .. "\\E"
    end
    if waits then ns = math.min(ns, p.fact["part.output_ns"]) end
    local share = ns / p.fact["step.ns"]
    local print_ns, most = 0, 1
    if #names == 0 then print_ns, most = printed_ns(p) end
    if print_ns >= cfg.min_share * p.fact["step.ns"] then
      share = print_ns / p.fact["step.ns"]
      return finding {
        title = ("Tensors are formatted for printing: %s of each step"):format(fmt.ms(print_ns)),
        locations = p:lines_of("torch.formatted_ns"),
        evidence = { { "reading values one by one a step", print_ns, "ns", share = math.min(share, 1) } },
        condition = ("formatting takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
        remedy = { text = "Print every 100 steps, and scalars instead of whole tensors.",
                   code = "if step % 100 == 0: print(loss.item())" },
        impact = impact.exposed { ns = print_ns, low = 0.8 * print_ns,
                                  high = math.min(most * print_ns, 0.95 * p.fact["step.ns"]) },
        confidence = "medium",
      }
    end
    if #names == 0 or share < cfg.min_share or p.fact["output.steps_share"] < cfg.min_steps_share then
      return statistics(p, cfg)
    end

    table.insert(evidence, 1, { "writing logs a step", ns, "ns", share = math.min(share, 1) })
    return finding {
      title = ("Writing logs takes %s of each step"):format(fmt.ms(ns)),
      evidence = evidence, locations = logs:places(),
      condition = ("writing takes %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Write every 100 steps, or hand the data to a thread that writes.",
                 code = "if step % 100 == 0: log(...)" },
      impact = impact.replay { { "scale", parts = waits and { "output" } or nil, name = table.concat(names, "|"),
                                 factor = 0.01 } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "means read in hooks", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2.775e6,
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 0, ["output.steps_share"] = 0,
                ["torch.statistics_reads"] = 100, ["torch.statistics_ns"] = 3e6 },
      tables = { activities = { { name = "aten::mm", kind = "op", path_ns = 1e6 } } } },
    -- Of 9 ms that a result is printed in, 8.2 are waited for what computes it.
    { name = "a loss that is printed while it is computed", framework = "jax", format = "xspace", finding = true,
      severity = "warn", replay = { 7.92e5 },
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 9e6, ["output.steps_share"] = 1, ["part.output_ns"] = 8e5 },
      tables = { activities = { { name = "$builtins print", kind = "output", path_ns = 9e6 } } } },
    { name = "a loss whose computing is all that printing waits for", framework = "jax", format = "xspace",
      finding = false,
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 9e6, ["output.steps_share"] = 1, ["part.output_ns"] = 2e5 },
      tables = { activities = { { name = "$builtins print", kind = "output", path_ns = 9e6 } } } },
    { name = "a loss and an accuracy", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 0, ["output.steps_share"] = 0,
                ["torch.statistics_reads"] = 2, ["torch.statistics_ns"] = 3e6 },
      tables = { activities = { { name = "aten::mm", kind = "op", path_ns = 1e6 } } } },
    { name = "prints each step", finding = true, replay = { 2e6 },
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 2e6, ["output.steps_share"] = 1 },
      tables = { activities = { { name = "$<unknown> print", kind = "output", path_ns = 2e6 } } } },
    { name = "whole tensors", format = "kineto", framework = "pytorch", finding = true, impact_ns = 3.6e6,
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 0, ["output.steps_share"] = 0 },
      tables = { activities = { { name = "aten::mm", kind = "op", path_ns = 1e6 } },
                 ops = { { type = "aten::isfinite", calls = 2 }, { type = "aten::masked_select", calls = 2 },
                         { type = "aten::ceil", calls = 2 }, { type = "aten::is_nonzero", calls = 60 } },
                 eager_loops = { { anchor = "select", repeats = 60, readbacks = 120, products = 0, ns = 3e6 } } } },
    { name = "now and then", finding = false,
      facts = { ["step.ns"] = 1e7, ["output.path_ns"] = 2e6, ["output.steps_share"] = 0.1 },
      tables = { activities = { { name = "$<unknown> print", kind = "output", path_ns = 2e6 } } } },
  },
}
