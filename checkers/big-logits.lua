-- One tensor of logits holds a good part of the peak memory.
return rule {
  id = "big-logits", api = 1, version = "1.0.0",
  title = "Logits hold a good part of the memory",
  category = "memory", severity = "warn",
  formats = { "kineto" },
  needs = { "memory.peak_bytes", "ops" },
  tags = { "memory" },
  params = {
    min_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "of the peak from which this is said" },
    min_classes = { default = 8192, min = 2, max = 1e9, unit = "count", doc = "classes, the last dimension" },
    min_bytes = { default = 268435456, min = 0, max = 1e13, unit = "bytes", doc = "size of one such tensor" },
  },
  doc = [[
Softmax over a large vocabulary makes several tensors of tokens times classes: logits, their logarithms, their gradient.
This saves memory rather than time, so there is no price. Silent below 15 % of the peak and 256 MiB.]],

  check = function(p, cfg)
    local sizes = { float64 = 8, float32 = 4, float16 = 2, bfloat16 = 2 }
    local peak, worst = p.fact["memory.peak_bytes"]
    local losses = "^aten::(_?log_softmax|_softmax|cross_entropy_loss|nll_loss|_log_softmax_backward_data)$"
    for row in p:table("ops"):where { type = { like = losses } }:each() do
      local dims = (row.shapes or ""):match("\\[([\\d,]+)\\]")
      local elements, last = 1, 0
      for dim in (dims or ""):gmatch("\\d+") do
        last = tonumber(dim)
        elements = elements * last
      end
      local bytes = elements * (sizes[row.dtype] or 4)
      if dims and last >= cfg.min_classes and elements > last and (not worst or bytes > worst.bytes) then
        worst = { bytes = bytes, classes = last, rows = elements / last, row = row }
      end
    end
    if not worst or worst.bytes < cfg.min_bytes or worst.bytes < cfg.min_share * peak then return nil end
    return finding {
      title = ("Logits of %s classes take %s, %s of the peak"):format(
        fmt.count(worst.classes), fmt.bytes(worst.bytes), fmt.pct(math.min(1, worst.bytes / peak))),
      subject = { op = worst.row.type },
      evidence = { { "one tensor of logits", worst.bytes, "bytes", share = math.min(1, worst.bytes / peak) },
                   { "peak", peak, "bytes" }, { "rows", worst.rows, "count" }, { "classes", worst.classes, "count" },
                   { "shapes", worst.row.shapes } },
      condition = ("%s of the peak, %s accepted"):format(
        fmt.pct(math.min(1, worst.bytes / peak)), fmt.pct(cfg.min_share)),
      remedy = { text = "Compute the loss in chunks of rows, or with an op that joins the product and the loss.",
                 code = "from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss   "
                   .. "# or chunk the rows yourself" },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a language model", framework = "pytorch", format = "kineto", finding = true,
      facts = { ["memory.peak_bytes"] = 8e9 },
      tables = { ops = { { type = "aten::_log_softmax", dtype = "float32",
                           shapes = "[16384,50304]->[16384,50304]" } } } },
    { name = "a thousand classes", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["memory.peak_bytes"] = 8e9 },
      tables = { ops = { { type = "aten::_log_softmax", dtype = "float32", shapes = "[256,1000]->[256,1000]" } } } },
  },
}
