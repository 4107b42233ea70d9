-- Kernels follow each other for which a library has one.
return rule {
  id = "fused-kernels", api = 1, version = "1.0.0",
  title = "Kernels follow each other for which a library has one",
  category = "kernels", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "fusions" },
  cause = "kernels.fused", tags = { "kernels", "serving" },
  params = {
    min_share = { default = 0.01, min = 0, max = 1, unit = "share",
                  doc = "the shorter ones of such pairs over the step, from which this is said" },
  },
  doc = [[
One kernel writes what the next one reads: norms behind all-reduces, rotations before what is written to the cache,
values that are quantised. Libraries have one kernel for some of these pairs. The table names each with the version of
the library whose documentation was read. Priced as the shorter ones of the pairs, which is the most that a fusion
saves; what that is depends on sizes. Silent for programs that train, whose gradients these kernels do not have.]],

  check = function(p, cfg)
    if p:has("serving.trains") and p.fact["serving.trains"] then return nil end
    local step_ns, rows = p.fact["step.ns"], p:table("fusions")
    local saved_ns, worst = rows:sum("saved_ns"), rows:top("saved_ns", 3):rows()
    local share = saved_ns / step_ns
    if #worst == 0 or share < cfg.min_share then return nil end
    local evidence = { { "the shorter ones of such pairs a step", saved_ns, "ns", share = math.min(1, share) },
                       { "such pairs a step", rows:sum("count"), "count" } }
    -- What starts one engine says nothing to those who run another; SGLang runs kernels of vLLM, too.
    local function is_there(name)
      return p:has("kernels") and p:table("kernels"):where { name = { like = name } }:count() > 0
    end
    local is_vllm = is_there("vllm") and not is_there("sgl_|sglang")
    local code = {}
    for _, row in ipairs(worst) do
      evidence[#evidence + 1] = { row.fusion, row.saved_ns, "ns" }
      evidence[#evidence + 1] = { "has it", ("%s (version %s: %s)"):format(row.by, row.version, row.documentation) }
      if is_vllm or not row.by:find("^vLLM") then code[#code + 1] = row.code end
    end
    return finding {
      title = ("%s kernels a step follow one that a library fuses them with: %s"):format(
        fmt.whole(rows:sum("count")), worst[1].fusion),
      subject = { kernel = worst[1].second },
      evidence = evidence,
      condition = ("they take %s of the step, %s accepted"):format(fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Ask for the kernel that does both, and compare: what it saves depends on sizes and hardware.",
                 code = #code > 0 and table.concat(code, "\n") or nil },
      impact = impact.exposed { ns = math.min(saved_ns, step_ns), low = 0, high = math.min(saved_ns, step_ns) },
      claims = { { parts = { "compute" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "norms behind all-reduces", framework = "pytorch", format = "kineto", finding = true, impact_ns = 1.5e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { fusions = { { fusion = "all-reduce and norm", count = 64, ns = 9e5, saved_ns = 3e5, by = "vLLM",
                               version = "0.18.2", documentation = "docs.vllm.ai", code = "vllm serve",
                               first = "cross_device_reduce_1stage", second = "rms_norm_kernel" } } } },
    { name = "another engine with a kernel of vLLM", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 1.5e5, facts = { ["step.ns"] = 1e7 },
      tables = { kernels = { { name = "paged_attention<vllm::Fp8KVCacheDataType>" }, { name = "_ZN7sgl_hip10act" } },
                 fusions = { { fusion = "all-reduce and norm", count = 64, ns = 9e5, saved_ns = 3e5, by = "vLLM",
                               version = "0.18.2", documentation = "docs.vllm.ai", code = "vllm serve",
                               first = "cross_device_reduce_1stage", second = "rms_norm_kernel" } } } },
    { name = "hardly any time", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { fusions = { { fusion = "all-reduce and norm", count = 2, ns = 9e4, saved_ns = 3e4, by = "vLLM",
                               version = "0.18.2", documentation = "docs.vllm.ai", code = "vllm serve",
                               first = "cross_device_reduce_1stage", second = "rms_norm_kernel" } } } },
    { name = "a program that trains", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["serving.trains"] = true },
      tables = { fusions = { { fusion = "residual sum and norm", count = 64, ns = 9e5, saved_ns = 3e5,
                               by = "FlashInfer", version = "not told", documentation = "docs.flashinfer.ai", code = "",
                               first = "add", second = "rms_norm_kernel" } } } },
  },
}
