-- Copies inside the device take much of the step.
-- Concatenations of a long tensor and a little more are copies by kernels.
local function of_appends(p, cfg)
  local step_ns, ns = p.fact["step.ns"], p:has("torch.appends_ns") and p.fact["torch.appends_ns"] or 0
  if ns / step_ns < cfg.min_share then return nil end
  return finding {
    title = ("%s a long tensor inside the device to add a little to it: %s a step"):format(
      fmt.many(p.fact["torch.appends"], "concatenation copies", "concatenations copy"), fmt.ms(ns)),
    severity = "warn",
    subject = { op = "aten::cat" },
    evidence = { { "such concatenations a step", ns, "ns", share = math.min(1, ns / step_ns) },
                 { "how many", p.fact["torch.appends"], "count" } },
    condition = "what is added is at most a sixteenth of the result",
    remedy = { text = "Allocate the whole tensor once and write the new part in place.",
               code = "cache = torch.empty(batch, heads, longest, dim, device=x.device); cache[:, :, t] = new" },
    impact = impact.exposed { ns = ns, low = 0.9 * ns, high = ns },
    confidence = "medium",
  }
end

return rule {
  id = "d2d-copies", api = 1, version = "1.0.0",
  title = "Copies inside the device take much of the step",
  category = "copies", severity = "info",
  needs = { "step.ns", "device.idle_share", "device.model" },
  cause = "copy", tags = { "copies" },
  more_specific_than = { "hot-op", "roofline-gap" },
  params = { min_share = { default = 0.03, min = 0, max = 1, unit = "share",
                           doc = "share of the step in uncovered copies inside the device" } },
  doc = [[
clone, contiguous, cat and assignments move bytes without computing. Priced at half of their uncovered
time: some copies are needed. Concatenations that add a little to a long tensor, as a cache of keys and values, copy all
of it again: priced as their time. Silent below min_share and on TPUs, whose copies the compiler schedules.]],

  check = function(p, cfg)
    local appends = of_appends(p, cfg)
    if appends then return appends end
    if not p:has("copies.d2d_ns") or not p:has("part.copy_ns") then
      return skip { reason = "no copy between memories is in the recorded steps" }
    end
    local ns, step_ns = math.min(p.fact["copies.d2d_exposed_ns"], p.fact["part.copy_ns"]), p.fact["step.ns"]
    if p.fact["device.model"]:find("TPU") then return nil end -- its copies between memories are the compiler's
    if ns / step_ns < cfg.min_share then return nil end
    return finding {
      title = ("%s %s a step"):format(
        fmt.many(p.fact["copies.d2d_count"], "copy inside the device takes", "copies inside the device take"),
        fmt.ms(ns)),
      evidence = { { "uncovered copies inside the device a step", ns, "ns", share = math.min(1, ns / step_ns) },
                   { "copies a step", p.fact["copies.d2d_count"], "count" },
                   { "bytes a step", p.fact["copies.d2d_bytes"], "bytes" } },
      condition = ("copies inside the device take %s of the step, %s accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Drop clone and contiguous where a view does; write results where they are needed; "
                   .. "compile so that copies fuse.",
                 code = p.framework == "pytorch" and "torch.mm(a, b, out=buffer[i])   # instead of buffer[i] = a @ b"
                   or nil },
      impact = impact.exposed { ns = ns, low = 0.25 * ns, high = 0.75 * ns },
      claims = { { parts = { "copy" }, name = "(?i)(?!.*(HtoD|DtoH|H2D|D2H)).*" } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a tenth", framework = "pytorch", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.model"] = "NVIDIA A100",
                ["part.copy_ns"] = 1e6, ["copies.d2d_ns"] = 1e6, ["copies.d2d_exposed_ns"] = 1e6,
                ["copies.d2d_bytes"] = 1e8, ["copies.d2d_count"] = 40 } },
    { name = "a cache that grows by concatenation", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 4.75e6, -- the middle of 0.9 and all of 5 ms
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.model"] = "NVIDIA A100",
                ["torch.appends"] = 4, ["torch.appends_ns"] = 5e6 } },
    { name = "no copies", skipped = true,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.model"] = "NVIDIA A100" } },
    { name = "little", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.1, ["device.model"] = "NVIDIA A100",
                ["part.copy_ns"] = 1e6, ["copies.d2d_ns"] = 1e5, ["copies.d2d_exposed_ns"] = 1e5,
                ["copies.d2d_bytes"] = 1e7, ["copies.d2d_count"] = 40 } },
  },
}
