-- One type of op takes most of the time of all ops.
return rule {
  id = "hot-op", api = 1, version = "1.0.0",
  title = "One type of op takes most of the time",
  category = "kernels", severity = "info",
  needs = { "step.ns", "op_types" },
  cause = "compute", tags = { "ops" },
  params = {
    min_share = { default = 0.30, min = 0, max = 1, unit = "share",
                  doc = "share of the time of all ops from which a type is worth a mention" },
    max_product = { default = 0.3, min = 0, max = 1, unit = "share",
                    doc = "of that type's time on a host, products of matrices, up to which it has a price" },
    high_share = { default = 0.50, min = 0, max = 1, unit = "share",
                   doc = "share from which it is a warning" },
    min_step_share = { default = 0.10, min = 0, max = 1, unit = "share",
                       doc = "its self time over the step, below which it is not worth a look" },
  },
  doc = [[
Names the type of op that a look at the program should begin with. It is a fact, not a fault: rules that know why
an op is slow have a price. On a host, ops that are no products of matrices get the price of an unknown share, behind
all findings of such rules. Silent when time is spread, or when ops are
a small part of the step.]],

  check = function(p, cfg)
    local types, top = p:table("op_types"), {}
    local total_ns = types:sum("self_ns")
    for row in types:top("self_ns", 1e6):each() do -- collectives mostly wait for other ranks
      if row.kind ~= "collective" and #top < 3 then top[#top + 1] = row end
    end
    if total_ns <= 0 or #top == 0 then return nil end
    local share = top[1].self_ns / total_ns
    if share < cfg.min_share or top[1].self_ns < cfg.min_step_share * p.fact["step.ns"] then
      return nil
    end

    local evidence = {}
    for i, row in ipairs(top) do
      evidence[i] = { row.type .. ", self time a step", row.self_ns, "ns" }
    end
    -- A fusion says nothing by its type: name the largest ones and what they were made from.
    local subject, locations = top[1].type, {}
    if p:has("ops") then
      for i, row in ipairs(p:table("ops"):where { type = top[1].type }:top("self_ns", 3):rows()) do
        if i == 1 and subject == "fusion" then subject = row.name end
        local from = row.scope and row.scope ~= "" and " from " .. row.scope or ""
        -- Profiles without names of ops call each by its type.
        if row.name .. from ~= top[1].type then
          evidence[#evidence + 1] = { row.name .. from, row.self_ns, "ns" }
        end
        if row.source_file and row.source_file ~= "" then
          locations[#locations + 1] = { file = row.source_file, line = row.source_line }
        end
      end
    end
    -- Products are what a program is for; other ops that take this long can often be had for less.
    local product = "(?i)matmul|gemm|^dot|conv|einsum|^while$|^call$|custom-call|aten::(mm|bmm|addmm|linear|baddbmm)|softmax|attention"
    local product_ns = top[1].type:find(product) and top[1].self_ns or 0
    if top[1].type == "fusion" and p:has("ops") then
      product_ns = p:table("ops"):where { type = "fusion", name = { like = "^(ynn_|dot|conv|gemm|fusion)" } }:sum("self_ns")
    end
    local is_priced = p.format == "xspace" and not p:has("device.idle_share") and product_ns < cfg.max_product * top[1].self_ns
    return finding {
      title = ("%s takes %s of the time of all ops"):format(top[1].type, fmt.pct(share)),
      severity = not is_priced and share >= cfg.high_share and "warn" or "info",
      subject = { op = subject }, locations = locations,
      evidence = evidence,
      condition = ("%s of the self time of ops, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = ("Begin with %s: fewer or smaller calls, lower precision, a fused form."):format(subject) },
      impact = is_priced and impact.share { ns = math.min(top[1].self_ns, p.fact["step.ns"]) } or impact.none(),
      claims = is_priced and { parts = { "compute" } } or nil,
      confidence = is_priced and "low" or "high",
    }
  end,

  examples = {
    { name = "one type dominates", finding = true, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "MatMul", self_ns = 6e6 }, { type = "Relu", self_ns = 2e6 } } } },
    { name = "waiting for other ranks is no op", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "CollectiveReduceV2", kind = "collective", self_ns = 6e6 }, { type = "MatMul", kind = "op", self_ns = 2e5 },
                              { type = "Relu", kind = "op", self_ns = 2e5 } } } },
    { name = "spread", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { op_types = { { type = "MatMul", self_ns = 1e6 }, { type = "Relu", self_ns = 1e6 },
                              { type = "Conv2D", self_ns = 1e6 }, { type = "Add", self_ns = 1e6 } } } },
  },
}
