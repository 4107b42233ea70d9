-- An op needs much temporary memory.
return rule {
  id = "temp-workspace-high", api = 1, version = "1.0.0",
  title = "An op needs much temporary memory",
  category = "memory", severity = "info",
  needs = { "memory_owners" },
  tags = { "memory" },
  params = {
    min_bytes = { default = 1073741824, min = 0, max = 1e15, unit = "bytes",
                  doc = "temporary bytes of one op, or of the region at the peak" },
    min_share = { default = 0.40, min = 0, max = 1, unit = "share", doc = "of the peak, the region of temporaries" },
  },
  doc = [[
Workspaces of convolutions and buffers of fused programs are gone after the op, but count at the peak.
A fact without a price. Silent below a gigabyte.]],

  check = function(p, cfg)
    local owners = p:table("memory_owners")
    local top = owners:where { temporary_bytes = { min = cfg.min_bytes } }:top("temporary_bytes", 1):rows()[1]
    local region = owners:where { region = { like = "(?i)^temp" } }
    local share, bytes = region:sum("share"), region:sum("bytes")
    if not top and (share < cfg.min_share or bytes < cfg.min_bytes) then return nil end
    local name = top and top.owner or region:top("bytes", 1):rows()[1].owner or "temporaries"
    return finding {
      title = top and ("%s needs %s of temporary memory"):format(name, fmt.bytes(top.temporary_bytes)) or
              ("Temporaries hold %s of memory at the peak"):format(fmt.pct(math.min(1, share))),
      subject = { op = name },
      evidence = { { "temporary bytes", top and top.temporary_bytes or bytes, "bytes" },
                   { "of the peak, temporaries", math.min(1, share), "share" } },
      condition = ("more than %s"):format(fmt.bytes(cfg.min_bytes)),
      remedy = { text = "Limit the workspace of convolutions, or recompute smaller pieces.",
                 flags = p.framework == "tensorflow" and "TF_CUDNN_WORKSPACE_LIMIT_IN_MB=512" or nil },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a workspace", framework = "tensorflow", finding = true,
      tables = { memory_owners = { { owner = "conv1", temporary_bytes = 2e9, bytes = 3e9 } } } },
    { name = "a program's buffers", framework = "jax", finding = true,
      tables = { memory_owners = { { owner = "fusion", region = "temp", bytes = 5e9, share = 0.6 } } } },
    { name = "small", finding = false,
      tables = { memory_owners = { { owner = "conv1", temporary_bytes = 8704, bytes = 14592 } } } },
  },
}
