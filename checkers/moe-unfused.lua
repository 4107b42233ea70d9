-- Products of experts run one after the other.
-- Rounds of a loop whose products have rows of their own, launched one by one for a device that waits.
local function in_python(p, cfg)
  if not p:has("eager_loops") or not p:host_limit() then return nil end
  return p:in_loop {
    price = function(row)
      local rounds = row.products >= cfg.min_experts and row.is_ragged and row.products >= 0.5 * row.repeats
      local saved_ns = row.ns - math.max(row.kept_ns, row.ns / row.repeats)
      if rounds then return row.ns, saved_ns, saved_ns end
    end,
    min_share = cfg.min_loop_share,
    title = "A loop of %s rounds multiplies the rows of one expert after the other: %s",
    severity = function() return "warn" end,
    remedy = function()
      return { text = "Sort the rows by expert and do all experts in one grouped product.",
               code = "order = expert.argsort(); y = torch._grouped_mm(x[order], w1, offs=offsets)   "
                 .. "# or groups of one capacity and torch.bmm" }
    end,
  }
end

return rule {
  id = "moe-unfused", api = 1, version = "1.0.0",
  title = "Products of experts run one after the other",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "kernels", "ops" },
  cause = "kernels", tags = { "kernels", "launch" },
  more_specific_than = { "many-small-gemms", "tiny-kernels", "loop-indexing", "host-bound", "kernel-launch-bound",
      "repeated-op-sequence", "graph-capture-candidate", "hot-op" },
  params = {
    min_experts = { default = 4, min = 2, max = 1e6, unit = "count", doc = "such products in one call of the op" },
    min_share = { default = 0.02, min = 0, max = 1, unit = "share", doc = "their time over the step" },
    min_loop_share = { default = 0.1, min = 0, max = 1, unit = "share",
                       doc = "share of the step that a loop over experts takes in PyTorch" },
  },
  doc = [[
A mixture of experts computes two products for each expert. Kernels named for the first and the second product that one
call of the op launches several times mean one launch an expert, where one grouped product does all. Priced as a share
of their time. A loop of PyTorch that an accelerator waits for, or in which each slice of the experts' weights has a
gradient of all of them, and that multiplies other numbers of rows in each round is priced as all rounds but one. Says
nothing of how evenly tokens are spread, which a recording does not tell. Silent with one launch a call.]],

  check = function(p, cfg)
    local step_ns, first, second = p.fact["step.ns"], nil, nil
    local ns = 0
    for row in p:table("kernels"):where { name = { like = "(?i)(^|_)gemm[12](_|$)" } }:each() do
      local calls = p:table("ops"):where { type = row.op }:sum("calls")
      if row.op ~= "" and calls > 0 and row.calls / calls >= cfg.min_experts then
        ns = ns + row.total_ns
        if row.name:find("(?i)gemm1") then first = row else second = row end
      end
    end
    ns = math.min(ns, step_ns)
    if not first or not second or ns < cfg.min_share * step_ns then return in_python(p, cfg) end
    return finding {
      title = ("%s expert products run in sequence"):format(fmt.whole(first.calls + second.calls)),
      subject = { kernel = first.name, op = first.op },
      evidence = { { "products of experts a step", ns, "ns", share = ns / step_ns },
                   { "first ones a step", first.calls, "count" },
                   { "second ones a step", second.calls, "count" } },
      condition = ("%s products and more in each call of %s"):format(fmt.count(cfg.min_experts), first.op),
      remedy = { text = "Use a grouped product over all experts.",
                 code = "torch._grouped_mm(x, w1, offs=offsets)   # or the fused MoE kernel of the serving library" },
      impact = impact.share { ns = ns },
      claims = { { parts = { "compute" },
                   name = ("\\Q%s\\E|\\Q%s\\E"):format(first.name:gsub(",", "."), second.name:gsub(",", ".")) } },
      confidence = "low",
    }
  end,

  examples = {
    -- 31 of 32 rounds of 8 ms.
    { name = "a loop over experts", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      impact_ns = 7.75e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_share"] = 0.7, ["part.compute_ns"] = 3e6,
                ["torch.accumulated_gradients"] = 3 },
      tables = { ops = {}, kernels = {},
                 eager_loops = { { anchor = "nonzero", ns = 8e6, repeats = 32, body = 12, calls = 384, span_ns = 3e6,
                                   backward_ns = 5e6, call_ns = 1e4, view_ns = 2e3, products = 64, gates = 0,
                                   concats = 0, concat_ns = 0, readbacks = 0, conversion_ns = 0, kept_ns = 1e5,
                                   flops = 1e9, elements = 1000, is_growing = false, is_ragged = true } } } },
    { name = "eight experts one by one", framework = "pytorch", format = "kineto", finding = true, impact_ns = 9e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { type = "moe::experts", calls = 4 } },
                 kernels = { { name = "expert_gemm1_bf16", op = "moe::experts", calls = 32, total_ns = 1.5e6 },
                             { name = "expert_gemm2_bf16", op = "moe::experts", calls = 32, total_ns = 1.5e6 } } } },
    { name = "one grouped kernel a call", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { type = "aiter::fused_moe", calls = 32 } },
                 kernels = { { name = "ck_moe_gemm1_stage", op = "aiter::fused_moe", calls = 32, total_ns = 1.5e6 },
                             { name = "ck_moe_gemm2_stage", op = "aiter::fused_moe", calls = 32,
                               total_ns = 1.5e6 } } } },
  },
}
