-- Deterministic algorithms take a good part of the step.
return rule {
  id = "deterministic-algorithms", api = 1, version = "1.0.0",
  title = "Deterministic algorithms take time",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "torch.filled_ns", "torch.filled_count", "torch.sorted_ns", "torch.sorted_scatters" },
  cause = "determinism", tags = { "kernels", "ops" },
  more_specific_than = { "hot-op", "tiny-kernels", "gather-scatter-bound", "roofline-gap" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share", doc = "their excess over the step" },
    sort_excess = { default = 0.5, min = 0, max = 1, unit = "share",
                    doc = "of a sorted scatter, what the usual one does not need" },
  },
  doc = [[
torch.use_deterministic_algorithms fills memory that was asked for empty, and turns additions by index into sorted
writes. Seen by those calls. Priced as the fills and half of the sorted writes. Silent below 5 % of the step; where
results must repeat to the last bit, this is their cost.]],

  check = function(p, cfg)
    local step_ns, fill_ns, sort_ns = p.fact["step.ns"], p.fact["torch.filled_ns"], p.fact["torch.sorted_ns"]
    local ns = math.min(fill_ns + cfg.sort_excess * sort_ns, step_ns)
    if p.fact["torch.filled_count"] + p.fact["torch.sorted_scatters"] == 0 or ns < cfg.min_share * step_ns then
      return nil
    end
    return finding {
      title = ("Deterministic algorithms cost about %s of each step"):format(fmt.ms(ns)),
      severity = ns >= 0.15 * step_ns and "warn" or "info",
      evidence = { { "their excess a step", ns, "ns", share = ns / step_ns },
                   { "filling memory asked for empty, a step", fill_ns, "ns" },
                   { "such tensors a step", p.fact["torch.filled_count"], "count" },
                   { "sorted writes a step", sort_ns, "ns" },
                   { "such scatters a step", p.fact["torch.sorted_scatters"], "count" } },
      condition = ("%s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Ask for determinism only where it is needed; keep the fills off in any case.",
                 code = "torch.use_deterministic_algorithms(False)\n"
                   .. "torch.utils.deterministic.fill_uninitialized_memory = False" },
      impact = impact.exposed { ns = ns },
      confidence = "low",
    }
  end,

  examples = {
    { name = "scatters by sorting", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7, ["torch.filled_ns"] = 2e5, ["torch.filled_count"] = 80, ["torch.sorted_ns"] = 2e6,
                ["torch.sorted_scatters"] = 4 } },
    { name = "off", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.filled_ns"] = 0, ["torch.filled_count"] = 0, ["torch.sorted_ns"] = 0,
                ["torch.sorted_scatters"] = 0 } },
    { name = "cheap", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.filled_ns"] = 2e4, ["torch.filled_count"] = 80, ["torch.sorted_ns"] = 0,
                ["torch.sorted_scatters"] = 0 } },
  },
}
