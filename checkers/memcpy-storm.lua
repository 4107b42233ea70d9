-- Very many copies between host and device.
return rule {
  id = "memcpy-storm", api = 1, version = "1.0.0",
  title = "Very many copies between host and device",
  category = "copies", severity = "warn",
  needs = { "step.ns", "device.idle_share", "copies" },
  cause = "copy", tags = { "copies" },
  more_specific_than = { "h2d-share", "d2h-share", "host-bound", "tiny-kernels", "kernel-launch-bound",
                         "graph-capture-candidate", "blocking-sync-in-step", "power-user-sync-storm", "long-gpu-gap" },
  params = {
    min_count = { default = 100, min = 1, max = 1e9, unit = "count", doc = "copies a step between host and device" },
    max_bytes = { default = 65536, min = 1, max = 1e12, unit = "bytes", doc = "mean copy that counts as small" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "their uncovered time over the step" },
    call_ns = { default = 8000, min = 0, max = 1e6, unit = "ns", doc = "what a copy costs however small it is" },
  },
  doc = [[
A copy costs some microseconds however small it is, and most wait. In PyTorch priced by replay without the copying ops,
whose one copy in their place hardly shows; else as these costs for all copies but one in
ten, no more than the uncovered copying and the idle device allow. Silent for few copies, and for large
ones that take less than min_share.]],

  check = function(p, cfg)
    local copies = p:table("copies"):where { direction = { like = "^(h2d|d2h)$" }, where = { like = "." } }
    local count, bytes, ns = copies:sum("count"), copies:sum("bytes"), copies:sum("exposed_ns")
    local step_ns = p.fact["step.ns"]
    local is_small = count > 0 and bytes / count < cfg.max_bytes
    if not (count > cfg.min_count and is_small or is_small and count >= 10 and ns / step_ns >= cfg.min_share) then
      return nil
    end
    local ceiling_ns = ns + p.fact["device.idle_share"] * step_ns
    local cost_ns = math.min(0.9 * count * cfg.call_ns, ceiling_ns)
    local edits = { { "omit", name = p:names("aten_copy") .. "|aten::to|aten::_to_copy", kinds = { "transfer" } } }
    local saved_ns, claims
    if p.framework == "pytorch" then saved_ns, claims = p:without_calls(edits) end
    return finding {
      title = ("%s copies of %s on average between host and device in each step"):format(
        fmt.whole(count), fmt.bytes(bytes / count)),
      evidence = { { "copies a step", count, "count" }, { "bytes a step", bytes, "bytes" },
                   { "uncovered copying a step", ns, "ns", share = math.min(1, ns / step_ns) } },
      condition = ("%s small copies a step, %s accepted"):format(fmt.whole(count), fmt.count(cfg.min_count)),
      remedy = { text = "Pack small tensors into one buffer and copy once; keep constants and results on the device." },
      impact = saved_ns and impact.replay { edits[1], fallback = impact.exposed { ns = cost_ns } }
        or impact.exposed { ns = cost_ns },
      claims = claims or { { parts = { "copy" } }, { parts = { "host" }, kinds = { "launch", "transfer", "memcpy" } } },
      confidence = saved_ns and "medium" or "low",
    }
  end,

  examples = {
    { name = "four hundred", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { copies = { { direction = "h2d", where = "GPU 0", count = 400, bytes = 4e5, exposed_ns = 4e5 } } } },
    { name = "as many copying ops", framework = "pytorch", finding = true, replay = { 5e6, 6e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.7 },
      tables = { copies = { { direction = "h2d", where = "GPU 0", count = 400, bytes = 4e5, exposed_ns = 4e5 } } } },
    { name = "two large ones", finding = false, facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.3 },
      tables = { copies = { { direction = "h2d", where = "GPU 0", count = 2, bytes = 4e7, exposed_ns = 4e5 } } } },
  },
}
