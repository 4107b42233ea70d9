-- What one device sends another goes through the host's memory.
return rule {
  id = "p2p-fallback", api = 1, version = "1.0.0",
  title = "Copies between devices go through the host",
  category = "copies", severity = "info",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "copies" },
  cause = "copies", tags = { "copies" },
  more_specific_than = { "placement-ping-pong" },
  params = {
    min_bytes = { default = 1048576, min = 0, max = 1e15, unit = "bytes", doc = "bytes of such a copy" },
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "uncovered time of the copies over the step" },
  },
  doc = [[
Without peer access a copy between two devices of one process becomes one to the host and one from it, of equal size and
as often. Priced as half to all of their uncovered time less what one copy needs. Silent with one device, and where as
much comes up from elsewhere.]],

  check = function(p, cfg)
    local step_ns, ns, best, pair = p.fact["step.ns"], 0, 0, nil
    local downs = p:table("copies"):where { direction = "d2h", mean_bytes = { min = cfg.min_bytes } }
    local ups = p:table("copies"):where { direction = "h2d", mean_bytes = { min = cfg.min_bytes } }
    for down in downs:each() do
      for up in ups:each() do
        local is_pair = down.where ~= up.where and down.where ~= "" and up.where ~= ""
          and down.mean_bytes == up.mean_bytes and
                        math.abs(down.count - up.count) <= 0.1 * up.count
        if is_pair then
          local exposed = math.min(down.exposed_ns or 0, up.exposed_ns or 0)
          ns = ns + exposed
          if not pair or exposed > best then best, pair = exposed, { down, up } end
        end
      end
    end
    ns = math.min(ns, step_ns)
    if not pair or ns < cfg.min_share * step_ns then return nil end
    local down, up = pair[1], pair[2]
    return finding {
      title = ("Copies from %s to %s go through the host"):format(down.where, up.where),
      subject = { device = up.where },
      evidence = { { "bytes of a copy", up.mean_bytes, "bytes" }, { "such copies a step", up.count, "count" },
                   { "uncovered, of the shorter half, a step", ns, "ns", share = ns / step_ns } },
      condition = (
        "as many copies of equal size to the host as from it, on two devices, uncovered for %s of the step, %s "
        .. "accepted"):format(
        fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "See whether the devices have peer access (nvidia-smi topo -m, "
                   .. "torch.cuda.can_device_access_peer(0, 1)); ACS or an IOMMU may forbid it.",
                   flags = "NCCL_P2P_LEVEL=SYS" },
      impact = impact.exposed { ns = ns },
      claims = { { parts = { "copy" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "half down, half up", framework = "pytorch", format = "kineto", finding = true, impact_ns = 7.5e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { copies = { { direction = "d2h", where = "GPU 0", mean_bytes = 4194304, count = 8, exposed_ns = 1e6 },
                            { direction = "h2d", where = "GPU 1", mean_bytes = 4194304, count = 8,
                              exposed_ns = 1.2e6 } } } },
    { name = "the same device", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { copies = { { direction = "d2h", where = "GPU 0", mean_bytes = 4194304, count = 8, exposed_ns = 1e6 },
                            { direction = "h2d", where = "GPU 0", mean_bytes = 4194304, count = 8,
                              exposed_ns = 1.2e6 } } } },
    { name = "other sizes", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { copies = { { direction = "d2h", where = "GPU 0", mean_bytes = 2097152, count = 8, exposed_ns = 1e6 },
                            { direction = "h2d", where = "GPU 1", mean_bytes = 4194304, count = 8,
                              exposed_ns = 1.2e6 } } } },
  },
}
