-- The last gradients are reduced once the backward pass is over.
return rule {
  id = "ddp-bucket-tail", api = 1, version = "1.0.0",
  title = "The last bucket of gradients is reduced uncovered",
  category = "communication", severity = "info",
  formats = { "kineto" },
  needs = { "step.ns", "comm.exposed_ns", "comm.tail_ns", "activities" },
  cause = "communication", tags = { "communication" },
  more_specific_than = { "exposed-comm", "overlap-low" },
  params = {
    min_share = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "the last all-reduce, uncovered, over the step" },
    max_rest = { default = 0.5, min = 0, max = 1, unit = "share",
                 doc = "of the uncovered communication, what is not of the last all-reduce" },
  },
  doc = [[
DistributedDataParallel reduces gradients in buckets while the backward pass goes on; the last bucket can only start
when it ends, and nothing covers it. A smaller last one ends sooner. Priced as a quarter to three quarters of its
uncovered time. Silent where most communication is uncovered anyway, which is another matter.]],

  check = function(p, cfg)
    local step_ns, exposed_ns = p.fact["step.ns"], p.fact["comm.exposed_ns"]
    local ns = math.min(p.fact["comm.tail_ns"], exposed_ns, step_ns)
    if ns < cfg.min_share * step_ns or exposed_ns - ns > cfg.max_rest * exposed_ns then return nil end
    if p:table("activities"):where { name = { like = "DistributedDataParallel|ddp::reducer" } }:count() == 0 then
      return nil
    end
    local evidence = { { "last all-reduce, uncovered, a step", ns, "ns", share = ns / step_ns },
                       { "uncovered communication a step", exposed_ns, "ns" } }
    if p.fact["comm.tail_bytes"] then
      evidence[#evidence + 1] = { "its payload", p.fact["comm.tail_bytes"], "bytes" }
    end
    return finding {
      title = ("The last bucket of gradients takes %s a step uncovered"):format(fmt.ms(ns)),
      evidence = evidence,
      condition = ("%s of the step, %s accepted"):format(fmt.pct(ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = { text = "Make buckets smaller, so that less is left when the backward pass ends, and let gradients "
                   .. "live in them.",
                 code = "DistributedDataParallel(model, bucket_cap_mb=10, gradient_as_bucket_view=True, "
                   .. "static_graph=True)" },
      impact = impact.exposed { ns = ns, low = 0.25 * ns, high = 0.75 * ns },
      claims = { { parts = { "communication" } } },
      confidence = "low",
    }
  end,

  examples = {
    { name = "a large last bucket", framework = "pytorch", format = "kineto", finding = true, impact_ns = 5e5,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 1.2e6, ["comm.tail_ns"] = 1e6, ["comm.tail_bytes"] = 2.5e7 },
      tables = { activities = { { name = "DistributedDataParallel.forward" } } } },
    { name = "a small one", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 2e5, ["comm.tail_ns"] = 1e5 },
      tables = { activities = { { name = "DistributedDataParallel.forward" } } } },
    { name = "most is uncovered", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 4e6, ["comm.tail_ns"] = 1e6 },
      tables = { activities = { { name = "DistributedDataParallel.forward" } } } },
    { name = "no gradients", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7, ["comm.exposed_ns"] = 1.2e6, ["comm.tail_ns"] = 1e6 },
      tables = { activities = {} } },
  },
}
