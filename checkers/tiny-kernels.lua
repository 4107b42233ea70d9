-- Many kernels are shorter than it takes to start them.
-- A compiled loop whose rounds the host starts one by one, with a few short kernels in each.
local function of_loop(p, cfg, gap_ns)
  if p.framework ~= "jax" or not p:has("ops") then return nil end
  local rounds, count, ns, names, has_products = 0, 0, 0, {}, false
  local inside = p:table("ops"):where { kind = "kernel", scope = { like = "/while/body/" }, mean_ns = { max = 1e4 },
                                        calls = { min = cfg.min_rounds } }
  for row in inside:each() do
    rounds, count, ns = math.max(rounds, row.calls), count + row.calls, ns + row.self_ns
    names[#names + 1] = "\\Q" .. row.name .. "\\E"
    has_products = has_products or row.name:find("gemm|dot|custom-call|conv") ~= nil
  end
  if count < cfg.min_share * p.fact["kernels.count_per_step"] then return nil end
  -- Rounds of elementwise work become one kernel; products stay what they are, one after the other.
  local unroll = has_products and cfg.unroll or 4 * cfg.unroll
  local kept = has_products and cfg.kept_products or cfg.kept_in_loop
  local in_loop = { "scale", parts = { "host" }, name = "while(\\.\\d+)?", factor = 1 / unroll }
  local _, _, host_ns = p:whatif { in_loop }
  if type(host_ns) ~= "number" or host_ns < 0.5 * gap_ns then return nil end
  return finding {
    title = ("A loop of %s rounds starts a few kernels below 10 µs in each; the device waits %s for them"):format(
      fmt.whole(rounds), fmt.ms(gap_ns)),
    locations = inside:top("self_ns", 2):places(),
    evidence = { { "rounds a step", rounds, "count" },
                 { "kernels a round", count / rounds, "count" },
                 { "their time a step", ns, "ns" },
                 { "the host between them a step", host_ns, "ns", share = math.min(1, host_ns / p.fact["step.ns"]) } },
    condition = ("%s rounds a step, %s accepted; pauses longer than these kernels"):format(fmt.count(rounds),
      fmt.count(cfg.min_rounds)),
    remedy = { text = "Do all rounds at once where they allow it: associative_scan for a linear recurrence, vmap for "
                 .. "rounds that need nothing of each other; else put several into one.",
               code = "jax.lax.associative_scan(combine, (decay, x), axis=1)\n"
                 .. "jax.lax.scan(f, h, xs, unroll=16)   # else" },
    impact = impact.replay { in_loop, { "scale", parts = { "idle.launch" }, factor = 1 / unroll },
                             { "scale", parts = { "compute", "copy" },
                               name = table.concat(names, "|") .. "|MemcpyD2D", factor = kept } },
    confidence = "medium",
  }
end

-- As many of each kernel in every step, and nothing in it that waits for the device or for other ranks: all of it can
-- be one graph.
local function can_be_captured(p)
  if p:has("part.communication_ns") and p.fact["part.communication_ns"] > 0 then return false end
  if not p:has("kernels") or not p:has("activities") or not p:has("sync.count_per_step") or
      not p:has("step.source") or p.fact["step.source"] == "whole-trace" or p.fact["sync.count_per_step"] > 0 or
      p:table("activities"):where { name = { like = "GraphLaunch" } }:count() > 0 then return false end
  local alike, all = 0, 0
  for row in p:table("kernels"):each() do
    local calls = row.calls or 0
    all = all + calls
    if calls >= 1 and math.abs(calls - math.floor(calls + 0.5)) < 0.01 then alike = alike + calls end
  end
  return all > 0 and alike / all >= 0.95
end

-- Ops of a session that take long on the host themselves, as lookups and those without a kernel: no launch.
local function long_ops_ns(p, cfg)
  if p.format ~= "graph" or not p:has("ops") then return 0 end
  return p:table("ops"):where { kind = "op", mean_ns = { min = cfg.max_launch_ns },
                                type = { like = "^(?!IteratorGetNext|Queue\\w*Dequeue)" } }:sum("self_ns")
end

return rule {
  id = "tiny-kernels", api = 1, version = "1.0.0",
  title = "Many kernels are shorter than it takes to start them",
  category = "host", severity = "warn",
  needs = { "step.ns", "device.idle_ns", "device.idle_launch_ns", "device.idle_host_late_ns", "device.idle_share",
            "kernels.count_per_step", "kernels.tiny_count", "kernels.tiny_share", "kernels.tiny_ns" },
  cause = "host", tags = { "launch", "kernels" },
  more_specific_than = { "kernel-launch-bound", "host-bound", "small-grid" },
  params = {
    min_share = { default = 0.25, min = 0, max = 1, unit = "share", doc = "share of kernels below 10 µs" },
    min_count = { default = 50, min = 1, max = 1e9, unit = "count", doc = "such kernels a step" },
    min_gap_share = { default = 0.03, min = 0, max = 1, unit = "share",
                      doc = "idle time before kernels over the step" },
    min_beside_recorder = { default = 0.6, min = 0, max = 10, unit = "ratio",
                            doc = "the same over what recording takes of the step: less may be its error" },
    left = { default = 0.4, min = 0, max = 1, unit = "share",
             doc = "of what the device waits for, what a compiled or captured step still costs" },
    left_captured = { default = 0.05, min = 0, max = 1, unit = "share",
                      doc = "the same where PyTorch's step is alike each time and waits for nothing: one graph" },
    min_launched = { default = 0.25, min = 0, max = 1, unit = "share",
                     doc = "where graphs are launched: of the kernels, those with a launch of their own" },
    max_launch_ns = { default = 2e5, min = 0, max = 1e12, unit = "ns",
                      doc = "runs of a session: an op that takes as long on the host does not only launch" },
    min_rounds = { default = 32, min = 2, max = 1e9, unit = "count", doc = "JAX: rounds of a compiled loop, a step" },
    unroll = { default = 16, min = 1, max = 1e6, unit = "count",
               doc = "rounds of it that may become one, four times as many where nothing is multiplied" },
    kept_in_loop = { default = 0.1, min = 0, max = 1, unit = "ratio",
                     doc = "what is left of the time of elementwise kernels in it, which become one" },
    kept_products = { default = 0.8, min = 0, max = 1, unit = "ratio",
                      doc = "what is left of the time of kernels where it multiplies" },
    max_queue = { default = 16, min = 0, max = 1e6, unit = "count",
                  doc = "launches waiting from which the host is ahead and their cost is hidden" },
  },
  doc = [[
A kernel below 10 µs is over before the next one is there, so the device waits for the host between them. Priced by
replay with two fifths of the host's part of the step and of starting kernels, as a step costs that is compiled, and
with a twentieth in PyTorch where the steps are alike and can be captured as a graph. A note in PyTorch, as any eager
program pays that, and where the device works for a quarter of the step or waits less than two milliseconds. What a
few slow steps alone wait for the host is left out. In runs of a session what ops take that are long on the host
themselves is no pause. In a compiled loop of JAX whose rounds the host starts, priced as if sixteen rounds were one,
with most of their kernels' time; where none multiplies, as if four times as many were one kernel. Silent where the
pauses are shorter than the kernels, where most of them are launched together as captured graphs, and where the host
is well ahead.]],

  check = function(p, cfg)
    local step_ns, share = p.fact["step.ns"], p.fact["kernels.tiny_share"]
    local gap_ns = p.fact["device.idle_launch_ns"] + p.fact["device.idle_host_late_ns"]
    -- What recording took of a host that the device waits for is no pause of the program's.
    local bare_ns = p:has("replay.without_recorder_ns") and p.fact["replay.without_recorder_ns"] or step_ns
    local recorder_ns = math.max(0, step_ns - bare_ns)
    local long_ns = long_ops_ns(p, cfg)
    -- Nor is a pause that a few slow steps alone make: their launches are as many as the others'.
    local stalled_ns = p:stalled_ns()
    gap_ns = math.max(0, gap_ns - recorder_ns - long_ns - stalled_ns)
    -- That is an estimate: little beside it may be no pause at all.
    if gap_ns < cfg.min_beside_recorder * recorder_ns then return nil end
    local depth = p:has("launch.queue_depth_median") and p.fact["launch.queue_depth_median"]
    if share < cfg.min_share or p.fact["kernels.tiny_count"] < cfg.min_count then return nil end
    if gap_ns < p.fact["kernels.tiny_ns"] or gap_ns * share / bare_ns < cfg.min_gap_share then return nil end
    if depth and depth >= cfg.max_queue then return nil end
    local loop = of_loop(p, cfg, gap_ns)
    if loop then return loop end
    -- Kernels of captured graphs and command buffers are launched together: the device waits for something else.
    local launches = p:has("activities") and p:table("activities"):where { kind = "launch" }
    if launches and launches:where { name = { like = "GraphLaunch" } }:sum("events") > 0 and
       launches:where { name = { like = p:names("driver_launches") } }:sum("events") <
         cfg.min_launched * p.fact["kernels.count_per_step"] then
      return nil
    end
    local limit = p:host_limit()
    local left = p.framework == "pytorch" and can_be_captured(p) and cfg.left_captured or cfg.left
    -- Where a step is few programs it is compiled already.
    local is_compiled = p.framework == "jax" and p:has("runs.count") and p.fact["runs.count"] <= 3
    local code = { pytorch = "model = torch.compile(model, mode=\"reduce-overhead\")",
                   jax = not is_compiled and "step = jax.jit(step)" or nil,
                   tensorflow = "@tf.function(jit_compile=True)" }
    return finding {
      title = ("%s of %s kernels a step run below 10 µs; the device waits %s between kernels"):format(fmt.pct(share),
        fmt.whole(p.fact["kernels.count_per_step"]), fmt.ms(gap_ns)),
      -- What any eager program pays is no flaw of this one; how idle the device is, device-idle-high tells.
      severity = p.framework == "pytorch" and "info" or limit and limit.severity,
      evidence = { { "kernels below 10 µs a step", p.fact["kernels.tiny_count"], "count" },
                   { "all kernels a step", p.fact["kernels.count_per_step"], "count" },
                   { "their time a step", p.fact["kernels.tiny_ns"], "ns" },
                   { "idle before kernels a step, for late launches", p.fact["device.idle_host_late_ns"], "ns" },
                   long_ns > 0 and { "ops that take long on the host, left out", long_ns, "ns" } or nil,
                   stalled_ns > 0 and { "what slow steps alone wait for the host, left out", stalled_ns, "ns" } or nil,
                   { "idle before kernels a step, launched in time", p.fact["device.idle_launch_ns"], "ns" } },
      condition = ("%s of kernels below 10 µs, %s accepted; pauses longer than these kernels"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = p:has("serving.trains") and not p.fact["serving.trains"]
                   and "Capture the step as a graph for each size of batch, compile it, use fused layers, batch more."
                   or "Fuse: compile the step, capture it as a graph, use fused optimisers, or batch more.",
                 code = code[p.framework] },
      impact = long_ns + stalled_ns > 0 and
          impact.exposed { ns = (1 - left) * gap_ns, low = (1 - left) * gap_ns / 2, high = gap_ns }
        or impact.replay { { "scale", parts = { "host" }, factor = left },
                               { "scale", parts = { "idle.launch" }, factor = cfg.left } },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "half of a thousand", framework = "pytorch", finding = true, replay = { 3e6, 3.5e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 6e6, ["device.idle_share"] = 0.6,
                ["device.idle_launch_ns"] = 1e6, ["device.idle_host_late_ns"] = 5e6, ["kernels.count_per_step"] = 1000,
                ["kernels.tiny_count"] = 500,
                ["kernels.tiny_share"] = 0.5, ["kernels.tiny_ns"] = 2e6 } },
    { name = "a recurrence round by round", framework = "jax", format = "xspace", finding = true,
      replay = { 6e6, 6e6, 6e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 8e6, ["device.idle_share"] = 0.8,
                ["device.idle_launch_ns"] = 1e6, ["device.idle_host_late_ns"] = 7e6, ["kernels.count_per_step"] = 520,
                ["kernels.tiny_count"] = 514, ["kernels.tiny_share"] = 0.99, ["kernels.tiny_ns"] = 8e5 },
      tables = { ops = { { name = "loop_add_fusion", kind = "kernel", scope = "jit(f)/while/body/add", mean_ns = 2e3,
                           calls = 256, self_ns = 5e5 },
                         { name = "loop_add_fusion.1", kind = "kernel", scope = "jit(f)/while/body/add", mean_ns = 1e3,
                           calls = 256, self_ns = 3e5 } } } },
    { name = "a device that works for half of the step", framework = "pytorch", finding = true, severity = "info",
      replay = { 3e6, 3.5e6 },
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 5e6, ["device.idle_share"] = 0.5,
                ["device.idle_launch_ns"] = 1e6, ["device.idle_host_late_ns"] = 4e6, ["kernels.count_per_step"] = 1000,
                ["kernels.tiny_count"] = 500, ["part.compute_ns"] = 5e6,
                ["kernels.tiny_share"] = 0.5, ["kernels.tiny_ns"] = 2e6 } },
    { name = "kernels of one command buffer", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 8e6, ["device.idle_share"] = 0.8,
                ["device.idle_launch_ns"] = 1e6, ["device.idle_host_late_ns"] = 7e6, ["kernels.count_per_step"] = 232,
                ["kernels.tiny_count"] = 140, ["kernels.tiny_share"] = 0.6, ["kernels.tiny_ns"] = 5e5 },
      tables = { activities = { { name = "cuGraphLaunch (CudaGraph:1)", kind = "launch", events = 1 },
                                { name = "cuLaunchHostFunc", kind = "launch", events = 80 } } } },
    -- One step of ten waits 30 ms more, 3 of its 8 ms of gaps on average: three fifths of the other 5.
    { name = "a pause of one slow step", finding = true, impact_ns = 3e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 8e6, ["device.idle_share"] = 0.8,
                ["device.idle_launch_ns"] = 0, ["device.idle_host_late_ns"] = 8e6, ["kernels.count_per_step"] = 200,
                ["kernels.tiny_count"] = 150, ["kernels.tiny_share"] = 0.75, ["kernels.tiny_ns"] = 5e5,
                ["step.is_uneven"] = true, ["step.used"] = 10, ["slow.part"] = "host", ["slow.part_ns"] = 3e7,
                ["slow.count"] = 1 } },
    { name = "hidden behind large ones", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 1e5, ["device.idle_share"] = 0.01,
                ["device.idle_launch_ns"] = 1e5, ["device.idle_host_late_ns"] = 0, ["kernels.count_per_step"] = 1000,
                ["kernels.tiny_count"] = 500,
                ["kernels.tiny_share"] = 0.5, ["kernels.tiny_ns"] = 2e6 } },
    -- Of 8 ms before kernels a lookup takes 5 itself: three fifths of the other 3.
    { name = "a session with a long lookup", framework = "tensorflow", format = "graph", finding = true,
      impact_ns = 1.8e6,
      facts = { ["step.ns"] = 1e7, ["device.idle_ns"] = 8e6, ["device.idle_share"] = 0.8,
                ["device.idle_launch_ns"] = 0, ["device.idle_host_late_ns"] = 8e6, ["kernels.count_per_step"] = 200,
                ["kernels.tiny_count"] = 150, ["kernels.tiny_share"] = 0.75, ["kernels.tiny_ns"] = 5e5 },
      tables = { ops = { { name = "table", type = "LookupTableFindV2", kind = "op", mean_ns = 5e6, calls = 1,
                           self_ns = 5e6 },
                         { name = "x", type = "MatMul", kind = "op", mean_ns = 3e4, calls = 1, self_ns = 3e4 },
                         { name = "next", type = "IteratorGetNext", kind = "op", mean_ns = 3e6, calls = 1,
                           self_ns = 3e6 } } } },
    { name = "a CPU program", skipped = true, facts = { ["step.ns"] = 1e7 } },
  },
}
