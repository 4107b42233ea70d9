-- Compiled code consists of very many short kernels.
return rule {
  id = "compile-fragmented", api = 1, version = "1.0.0",
  title = "Compiled code consists of many short kernels",
  category = "compile", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "device.idle_host_late_ns", "device.idle_launch_ns", "kernels" },
  cause = "host", tags = { "compile", "launch" },
  more_specific_than = { "tiny-kernels", "kernel-launch-bound" },
  params = {
    min_kernels = { default = 200, min = 1, max = 1e6, unit = "count", doc = "kernels of the compiler a step" },
    max_mean_ns = { default = 1e4, min = 0, max = 1e9, unit = "ns", doc = "their mean duration at most" },
    min_share = { default = 0.03, min = 0, max = 1, unit = "share", doc = "idle time around launches over the step" },
  },
  doc = [[
Inductor names its kernels triton_…; hundreds of them of a few microseconds mean that graph breaks or unsupported ops
cut fusions short. Priced as up to half of the idle time around launches. Silent where launches are ahead of the
device.]],

  check = function(p, cfg)
    local step_ns = p.fact["step.ns"]
    local kernels = p:table("kernels"):where { name = { like = "^triton_" } }
    local count, total_ns = kernels:sum("calls"), kernels:sum("total_ns")
    local idle_ns = math.min(p.fact["device.idle_host_late_ns"] + p.fact["device.idle_launch_ns"], step_ns)
    if count < cfg.min_kernels or total_ns / count > cfg.max_mean_ns or idle_ns < cfg.min_share * step_ns then
      return nil
    end
    local replays = p:has("activities")
      and p:table("activities"):where { name = { like = "GraphLaunch" } }:count() > 0
    return finding {
      title = ("Compiled code runs %s kernels a step of %s each"):format(fmt.whole(count), fmt.ms(total_ns / count)),
      subject = { kernel = kernels:top("calls", 1):rows()[1].name },
      evidence = { { "kernels of the compiler a step", count, "count" },
                   { "their mean duration", total_ns / count, "ns" },
                   { "idle around launches a step", idle_ns, "ns", share = idle_ns / step_ns } },
      condition = ("%s kernels, fewer than %s accepted, and launches leave the device idle %s of the step"):format(
        fmt.whole(count), fmt.count(cfg.min_kernels), fmt.pct(idle_ns / step_ns)),
      remedy = { text = replays and "Graphs are replayed in pieces, with ops between them: capture the whole step "
                   .. "where its shapes are fixed, as they are when a server decodes." or
                   "Look for graph breaks and custom ops between them; replay what is left as one graph.",
                 code = not replays and "TORCH_LOGS=graph_breaks,fusion python program.py\n"
                   .. "model = torch.compile(model, mode='reduce-overhead')" or nil },
      impact = impact.exposed { ns = idle_ns, low = 0.1 * idle_ns, high = 0.5 * idle_ns },
      claims = { { parts = { "host", "idle.launch" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "four hundred", framework = "pytorch", format = "kineto", finding = true, impact_ns = 6e5,
      facts = { ["step.ns"] = 1e7, ["device.idle_host_late_ns"] = 2e6, ["device.idle_launch_ns"] = 1e6 },
      tables = { kernels = { { name = "triton_poi_fused_add_0", calls = 400, total_ns = 1.6e6 } } } },
    { name = "long ones", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e8, ["device.idle_host_late_ns"] = 2e7, ["device.idle_launch_ns"] = 1e6 },
      tables = { kernels = { { name = "triton_red_fused_mean_1", calls = 400, total_ns = 4e7 } } } },
  },
}
