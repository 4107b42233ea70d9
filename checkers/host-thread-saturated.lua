-- One thread feeds the device and cannot do more, while cores are free.
local CODE = "tf.config.threading.set_inter_op_parallelism_threads(0)\n"
  .. "tf.config.threading.set_intra_op_parallelism_threads(0)  # both before the first op"

-- TensorFlow on a host: ops that are long enough to be shared among threads, and no thread of the pool took a part.
local function of_ops(p, cfg)
  if not p:has("host.pool_threads") or p.fact["host.pool_threads"] > 0 or not p:has("ops") then return nil end
  local step_ns, ns, count, worst = p.fact["step.ns"], 0, 0, nil
  for row in p:table("ops"):where { type = { class = "product|convolution" } }:each() do
    if (row.mean_ns or 0) >= cfg.min_op_ns then
      ns, count = ns + row.self_ns, count + 1
      if not worst or row.self_ns > worst.self_ns then worst = row end
    end
  end
  if count < cfg.min_ops or ns < cfg.min_ops_share * step_ns then return nil end
  local cores = p:has("host.cores") and p.fact["host.cores"] or 2
  if cores < 2 then return nil end
  ns = math.min(ns, step_ns)
  return finding {
    title = ("Ops that take %s of each step run on one thread each"):format(fmt.ms(ns)),
    subject = { op = worst.name },
    evidence = { { "products and convolutions of a millisecond and more, a step", ns, "ns", share = ns / step_ns },
                 { "how many", count, "count" }, { "threads that took a part of one", 0, "count" },
                 { worst.name, worst.self_ns, "ns" } },
    condition = ("such ops take %s of the step, %s accepted, and no thread of the pool worked"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_ops_share)),
    remedy = { text = "Where the machine is this program's alone, do not limit the threads of an op: 0 is one a core.",
               code = CODE },
    impact = impact.share { ns = ns * (1 - 1 / cores) },
    confidence = "low",
  }
end

return rule {
  id = "host-thread-saturated", api = 1, version = "1.0.0",
  title = "One thread is busy all the time while the device waits",
  category = "host", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns" },
  cause = "host", tags = { "host", "idle" },
  more_specific_than = { "hot-op" },
  params = {
    min_busy = { default = 0.9, min = 0, max = 1, unit = "share", doc = "work of the leading thread over the step" },
    min_idle = { default = 0.15, min = 0, max = 1, unit = "share", doc = "idle time of the device over the step" },
    min_op_ns = { default = 1e6, min = 0, max = 1e12, unit = "ns",
                  doc = "TensorFlow on a host: an op that is long enough to be shared" },
    min_ops = { default = 3, min = 1, max = 1e6, unit = "count", doc = "such ops a step" },
    min_ops_share = { default = 0.3, min = 0, max = 1, unit = "share", doc = "share of the step that they take" },
    min_cores = { default = 4, min = 2, max = 1e6, unit = "count", doc = "cores of the host" },
    max_use = { default = 0.5, min = 0, max = 1, unit = "share",
                doc = "use of all cores, above which there is no room" },
  },
  doc = [[
The thread that leads the steps works nearly all the time, the device waits for it, and other cores have nothing to do:
more threads could share the work. Without a price: what the thread does has findings of its own. Where TensorFlow
computes on a host of several cores: products and convolutions of a millisecond and more that no thread of its pool
takes a part of. Silent where the thread only waits.]],

  check = function(p, cfg)
    if not p:has("device.idle_share") then
      if p:has("host.pool_threads") then return of_ops(p, cfg) end
      return skip { reason = "there is no accelerator" }
    end
    if not p:has("host.lead_ns") or not p:has("host.cpu_ns") or not p:has("host.cores") then
      return skip { reason = "what the threads of the host did is not recorded" }
    end
    local step_ns, busy = p.fact["step.ns"], p.fact["host.lead_ns"] / p.fact["step.ns"]
    local cores, idle = p.fact["host.cores"], p.fact["device.idle_share"]
    local use = p.fact["host.cpu_ns"] / (step_ns * math.max(cores, 1))
    if busy < cfg.min_busy or idle < cfg.min_idle or cores < cfg.min_cores or use > cfg.max_use then return nil end
    return finding {
      title = ("One thread works %s of the step, and the device idles %s of it"):format(
        fmt.pct(math.min(1, busy)), fmt.pct(idle)),
      evidence = { { "work of the leading thread over the step", math.min(1, busy), "share" },
                   { "idle time of the device over the step", idle, "share" },
                   { "cores", cores, "count" }, { "use of all cores", use, "share" } },
      condition = ("%s busy, %s accepted, at %s use of %s cores"):format(
        fmt.pct(math.min(1, busy)), fmt.pct(cfg.min_busy), fmt.pct(use), fmt.count(cores)),
      remedy = { text = "Give input, logging and preparation to other threads or processes, or the loop to a "
                   .. "compiler." .. (p.framework == "tensorflow" and " Ops that need nothing of each other run beside "
                   .. "each other where the program did not limit their threads: 0 is one a core." or ""),
                 code = p.framework == "tensorflow" and CODE or nil },
      impact = impact.none(),
      confidence = "medium",
    }
  end,

  examples = {
    { name = "one of sixteen cores", framework = "tensorflow", finding = true,
      facts = { ["step.ns"] = 1e7, ["host.lead_ns"] = 9.7e6, ["host.cpu_ns"] = 2e7, ["host.cores"] = 16,
                ["device.idle_share"] = 0.4 } },
    { name = "all cores are busy", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.lead_ns"] = 9.7e6, ["host.cpu_ns"] = 1.5e8, ["host.cores"] = 16,
                ["device.idle_share"] = 0.4 } },
    { name = "long ops on one thread", framework = "tensorflow", format = "xspace", finding = true, impact_ns = 1.2e6,
      facts = { ["step.ns"] = 1e7, ["host.pool_threads"] = 0, ["host.cores"] = 2 },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", calls = 1, self_ns = 3e6, mean_ns = 3e6 },
                         { name = "b/Conv2D", type = "Conv2D", calls = 1, self_ns = 3e6, mean_ns = 3e6 },
                         { name = "c/Conv2D", type = "Conv2D", calls = 1, self_ns = 2e6, mean_ns = 2e6 } } } },
    { name = "long ops that threads share", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.pool_threads"] = 2, ["host.cores"] = 2 },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", calls = 3, self_ns = 9e6, mean_ns = 3e6 } } } },
    { name = "long ops on the only core", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.pool_threads"] = 0, ["host.cores"] = 1 },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", calls = 1, self_ns = 3e6, mean_ns = 3e6 },
                         { name = "b/Conv2D", type = "Conv2D", calls = 1, self_ns = 3e6, mean_ns = 3e6 },
                         { name = "c/Conv2D", type = "Conv2D", calls = 1, self_ns = 2e6, mean_ns = 2e6 } } } },
    { name = "short ops", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.pool_threads"] = 0, ["host.cores"] = 2 },
      tables = { ops = { { name = "a/Conv2D", type = "Conv2D", calls = 9, self_ns = 5e6, mean_ns = 5e5 } } } },
    { name = "the device is busy", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.lead_ns"] = 9.7e6, ["host.cpu_ns"] = 2e7, ["host.cores"] = 16,
                ["device.idle_share"] = 0.02 } },
  },
}
