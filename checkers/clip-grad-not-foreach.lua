-- Gradients are clipped parameter by parameter.
local REMEDY = { text = "Clip all gradients in one call; never read a norm in Python.",
                 code = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)" }

-- An accelerator that waits for the host: clipping is its launches.
local function of_launches(p, cfg)
  local limit = p:host_limit()
  if not limit or not limit.waits or not p:has("torch.clip_host_ns") then return nil end
  local step_ns, ns = p.fact["step.ns"], p.fact["torch.clip_host_ns"]
  local norms = p.fact["torch.clip_norms"]
  if ns < cfg.min_share * step_ns then return nil end
  return finding {
    title = ("Clipping launches %s norms one by one: %s a step"):format(fmt.whole(norms), fmt.ms(ns)),
    locations = p:lines_of("torch.clip_ns"),
    evidence = { { "clipping on the host a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "its kernels a step", p.fact["torch.clip_ns"], "ns" },
                 { "norms a step", norms, "count" },
                 { "calls a step", p.fact["torch.clip_calls"] or norms, "count" } },
    condition = ("%s norms a step, %s accepted"):format(fmt.whole(norms), fmt.count(cfg.min_norms - 1)),
    remedy = REMEDY,
    impact = impact.exposed { ns = ns, low = 0.8 * ns, high = ns },
    claims = { { parts = { "host", "idle.launch" } }, { parts = { "compute" } } },
    confidence = "medium",
  }
end

return rule {
  id = "clip-grad-not-foreach", api = 1, version = "1.0.0",
  title = "Gradients are clipped one parameter at a time",
  category = "host", severity = "warn",
  formats = { "kineto" },
  needs = { "step.ns", "torch.clip_ns", "torch.clip_norms" },
  cause = "clip", tags = { "ops" },
  more_specific_than = { "tiny-ops", "repeated-op-sequence", "python-in-step", "host-bound",
                         "logging-in-step", "tiny-kernels", "kernel-launch-bound", "graph-capture-candidate" },
  params = {
    min_share = { default = 0.03, min = 0, max = 1, unit = "share",
      doc = "time it costs over the step from which this is said" },
    min_norms = { default = 16, min = 2, max = 1e7, unit = "count",
      doc = "norms taken a step" },
  },
  doc = [[
A norm, a comparison and a product for each parameter are thousands of tiny ops a step, and reading each norm in Python
waits for it. One call over all parameters stacks the norms. Priced as most of the time between the backward pass and
the optimizer, where an accelerator waits for the host of what the host takes for it. Silent where few norms are taken
there.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local norms, clip_ns = p.fact["torch.clip_norms"], p.fact["torch.clip_ns"]
    if norms < cfg.min_norms then return nil end
    local launches = of_launches(p, cfg)
    if launches then return launches end
    if clip_ns < cfg.min_share * step_ns then return nil end
    local low_ns, high_ns = 0.7 * clip_ns, 0.95 * clip_ns
    local title = ("Clipping takes %s norms one by one: %s a step"):format(fmt.whole(norms), fmt.ms(clip_ns))
    local evidence = { { "between backward pass and optimizer a step", clip_ns, "ns", share = math.min(1,
        clip_ns / step_ns) },
                       { "norms a step", norms, "count" },
                       { "calls a step", p.fact["torch.clip_calls"] or norms, "count" } }
    local condition = ("%s norms a step, %s accepted"):format(fmt.whole(norms), fmt.count(cfg.min_norms - 1))

    return finding {
      title = title,
      locations = p:lines_of("torch.clip_ns"),
      evidence = evidence,
      condition = condition,
      remedy = REMEDY,
      impact = impact.exposed { ns = high_ns, low = low_ns, high = high_ns },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "each by itself", framework = "pytorch", finding = true, impact_ns = 3.3e6,
      facts = { ["step.ns"] = 1e7, ["torch.clip_ns"] = 4e6, ["torch.clip_norms"] = 240,
          ["torch.clip_calls"] = 1440 } },
    -- 0.8 to 1 of 4 ms.
    { name = "launched one by one", framework = "pytorch", finding = true, impact_ns = 3.6e6,
      facts = { ["step.ns"] = 1e7, ["torch.clip_ns"] = 2e5, ["torch.clip_host_ns"] = 4e6, ["torch.clip_norms"] = 240,
          ["torch.clip_calls"] = 480, ["device.idle_share"] = 0.7, ["part.compute_ns"] = 3e6 } },
    { name = "launched ahead of a busy device", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.clip_ns"] = 2e5, ["torch.clip_host_ns"] = 4e6, ["torch.clip_norms"] = 240,
          ["torch.clip_calls"] = 480, ["device.idle_share"] = 0.1, ["part.compute_ns"] = 9e6 } },
    { name = "one norm", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.clip_ns"] = 4e6, ["torch.clip_norms"] = 1 } },
    { name = "short", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["torch.clip_ns"] = 1e5, ["torch.clip_norms"] = 240 } },
  },
}
