-- One thread feeds the device and cannot do more, while cores are free.
return rule {
  id = "host-thread-saturated", api = 1, version = "1.0.0",
  title = "One thread is busy all the time while the device waits",
  category = "host", severity = "info",
  formats = { "xspace", "kineto" },
  needs = { "step.ns", "host.lead_ns", "host.cpu_ns", "host.cores", "device.idle_share" },
  cause = "host", tags = { "host", "idle" },
  params = {
    min_busy = { default = 0.9, min = 0, max = 1, unit = "share", doc = "work of the leading thread over the step" },
    min_idle = { default = 0.15, min = 0, max = 1, unit = "share", doc = "idle time of the device over the step" },
    min_cores = { default = 4, min = 2, max = 1e6, unit = "count", doc = "cores of the host" },
    max_use = { default = 0.5, min = 0, max = 1, unit = "share",
                doc = "use of all cores, above which there is no room" },
  },
  doc = [[
The thread that leads the steps works nearly all the time, the device waits for it, and other cores have nothing to do:
more threads could share the work. Without a price: what the thread does has findings of its own. Silent where it only
waits.]],

  check = function(p, cfg)
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
                 code = p.framework == "tensorflow" and "tf.config.threading.set_inter_op_parallelism_threads(0)\n"
                   .. "tf.config.threading.set_intra_op_parallelism_threads(0)  # both before the first op" or nil },
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
    { name = "the device is busy", framework = "tensorflow", finding = false,
      facts = { ["step.ns"] = 1e7, ["host.lead_ns"] = 9.7e6, ["host.cpu_ns"] = 2e7, ["host.cores"] = 16,
                ["device.idle_share"] = 0.02 } },
  },
}
