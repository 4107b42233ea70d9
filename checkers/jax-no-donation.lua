-- A training step writes its new state beside the old one instead of over it.
-- An array that may not be overwritten is copied as a whole before a part of it changes.
local function copies(p, cfg)
  if p.framework ~= "jax" or not p:has("ops") or not p:has("step.ns") or
     p.fact["program.donated_bytes"] >= p.fact["program.state_bytes"] then return nil end
  -- What only copies is jnp.array or jnp.copy, and no step.
  if p:table("ops"):where { module = p.fact["program.name"], type = { like = "^(?!copy$)" } }:count() == 0
      and p:table("ops"):where { module = { like = "." }, type = { like = "^(?!copy$)" } }:count() > 0 then
    return nil
  end
  local step_ns, kept = p.fact["step.ns"], p.fact["program.state_bytes"] - p.fact["program.donated_bytes"]
  -- What the step waits for includes pages of new memory that a copy touches first, and which its own time may lack.
  local has_work = p:has("work")
  -- What loops of random numbers carry is no state, nor what is larger than all that is not donated: a copy reads and
  -- writes its array.
  local rows = p:table(has_work and "work" or "ops"):where { module = p.fact["program.name"], type = "copy",
    class = has_work and "copy" or nil,
    bytes = { min = cfg.min_copy_bytes, max = 2 * kept }, shapes = { like = "^(\\[[0-9,]+\\])->\\1$" } }
  local time = has_work and "ns" or "self_ns"
  local ns = math.min(rows:sum(time), step_ns)
  if ns < cfg.min_copied * step_ns then return nil end
  local worst = rows:top(time, 1):rows()[1]
  -- The new array's memory is touched for the first time, which shows as time of the run outside of its ops.
  local outside_ns = p:has("runs.total_ns") and p.fact["runs.total_ns"] - p:table("ops"):sum("self_ns") or 0
  local high_ns = math.min(ns + math.max(outside_ns, 0), step_ns)
  return finding {
    title = ("%s copies %s of state to change a part of it: %s a step"):format(p.fact["program.name"],
      fmt.bytes(rows:max("bytes") / 2), fmt.ms(ns)),
    severity = "warn",
    subject = { op = p.fact["program.name"] },
    evidence = { { "copies of whole arrays a step", ns, "ns", share = ns / step_ns },
                 { (worst.name or worst.type) .. " " .. worst.shapes, worst[time], "ns" },
                 { "state that is not donated", p.fact["program.state_bytes"] - p.fact["program.donated_bytes"],
                   "bytes" } },
    condition = ("copies of arrays that may not be overwritten take %s of the step, %s accepted"):format(
      fmt.pct(ns / step_ns), fmt.pct(cfg.min_copied)),
    remedy = { text = "Donate the state that the step replaces.", code = "step = jax.jit(step, donate_argnums=(0,))" },
    -- An accelerator's memory is there already, and its copies are all that goes.
    impact = p:has("device.idle_share") and impact.exposed { ns = ns, low = 0.95 * ns, high = ns } or
             impact.exposed { ns = high_ns, low = 0.8 * ns + 0.7 * (high_ns - ns), high = high_ns },
    confidence = "medium",
  }
end

-- On a host the new version lies in memory that the last step gave back: the system hands it out page by page, each
-- zeroed when it is first written.
local function of_new_pages(p, cfg, kept)
  if p:has("device.idle_share") or not p:has("step.ns") or not p:has("part.compute_ns") then return nil end
  local pages, most_ns = kept / 4096, cfg.max_paged * p.fact["part.compute_ns"]
  local low_ns, high_ns = math.min(pages * cfg.page_low_ns, most_ns), math.min(pages * cfg.page_high_ns, most_ns)
  if low_ns < cfg.min_paged * p.fact["step.ns"] then return nil end
  return impact.exposed { ns = high_ns, low = low_ns, high = high_ns }
end

return rule {
  id = "jax-no-donation", api = 1, version = "1.0.0",
  title = "The step's state is not donated",
  category = "memory", severity = "info",
  formats = { "xspace" },
  needs = { "program.name", "program.time_share", "program.parameter_bytes", "program.state_bytes",
            "program.state_count", "program.donated_bytes" },
  cause = "compute.copy", tags = { "jax", "memory" },
  more_specific_than = { "hot-op" },
  params = {
    min_bytes = { default = 16777216, min = 0, max = 1e13, unit = "bytes",
                  doc = "state that is not donated, from which this is said" },
    min_copy_bytes = { default = 1048576, min = 0, max = 1e13, unit = "bytes",
                       doc = "traffic of a copy of such an array, from which it counts" },
    min_arrays = { default = 4, min = 1, max = 1e6, unit = "count", doc = "arrays in it" },
    min_share = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of what the program takes in, its state" },
    min_copied = { default = 0.10, min = 0, max = 1, unit = "share",
                   doc = "copies of whole arrays over the step, from which they are priced" },
    page_low_ns = { default = 180, min = 0, max = 1e6, unit = "ns",
                    doc = "without an accelerator: writing to a new page of 4 KiB first, at least" },
    page_high_ns = { default = 500, min = 0, max = 1e6, unit = "ns", doc = "the same, at most" },
    max_paged = { default = 0.4, min = 0, max = 1, unit = "ratio", doc = "of computing, what that may be" },
    min_paged = { default = 0.02, min = 0, max = 1, unit = "share",
                  doc = "of the step, what that is at least, from which it is priced" },
    min_time = { default = 0.5, min = 0, max = 1, unit = "share", doc = "of the time of compiled ops, this program's" },
  },
  doc = [[
Parameters and optimizer state go into a jitted step and come out again in the same shapes. Unless they are donated,
both versions are in memory at once, and each step allocates one anew. Read from the program's own list of what may be
overwritten. On an accelerator it saves memory rather than time, so there is no price; on a host the system hands out
the new version's memory page by page, priced as the first write to each. Where the program copies such an array as a
whole to change a part of it, it is priced as those copies and, on a host, most of the run's time outside of its ops,
which goes into memory that is new in each step. Copies of arrays that are larger than all state that is not donated are
no copies of it. Silent where the state is donated, for programs whose results do not look like their inputs
(inference), and below 16 MiB, which no machine is short of. Do not donate what is used again.]],

  check = function(p, cfg)
    local copied = copies(p, cfg)
    if copied then return copied end
    local kept = p.fact["program.state_bytes"] - p.fact["program.donated_bytes"]
    if p.framework ~= "jax" or p.fact["program.time_share"] < cfg.min_time or kept < cfg.min_bytes or
       p.fact["program.state_count"] < cfg.min_arrays or
       p.fact["program.state_bytes"] < cfg.min_share * p.fact["program.parameter_bytes"] then
      return nil
    end
    local price = of_new_pages(p, cfg, kept)
    return finding {
      title = ("%s keeps two versions of its state: %s more than needed"):format(
        p.fact["program.name"], fmt.bytes(kept)),
      subject = { op = p.fact["program.name"] },
      evidence = { { "state that is not donated", kept, "bytes" },
                   { "all of the state", p.fact["program.state_bytes"], "bytes" },
                   { "arrays in it", p.fact["program.state_count"], "count" },
                   { "what the program takes in", p.fact["program.parameter_bytes"], "bytes" } },
      condition = ("%s of state may not be overwritten, %s accepted"):format(fmt.bytes(kept), fmt.bytes(cfg.min_bytes)),
      remedy = { text = "Donate the state that the step replaces.",
                 code = "step = jax.jit(step, donate_argnums=(0,))" },
      impact = price or impact.none(),
      confidence = price and "low" or "high",
    }
  end,

  examples = {
    { name = "parameters and moments", framework = "jax", format = "xspace", finding = true,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e8,
                ["program.state_bytes"] = 1.2e8, ["program.state_count"] = 27, ["program.donated_bytes"] = 0 } },
    -- 29297 pages of 180 to 500 ns.
    { name = "parameters and moments on a host", framework = "jax", format = "xspace", finding = true,
      impact_ns = 9.96e6,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e8,
                ["program.state_bytes"] = 1.2e8, ["program.state_count"] = 27, ["program.donated_bytes"] = 0,
                ["step.ns"] = 5e7, ["part.compute_ns"] = 4.5e7 } },
    -- 4883 pages are less than the step shows; what an accelerator's memory holds is there already.
    { name = "a long step on a host", framework = "jax", format = "xspace", finding = true,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 2.1e7,
                ["program.state_bytes"] = 2e7, ["program.state_count"] = 27, ["program.donated_bytes"] = 0,
                ["step.ns"] = 1e8, ["part.compute_ns"] = 9e7 } },
    { name = "a small model", framework = "jax", format = "xspace", finding = false,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e7,
                ["program.state_bytes"] = 1.2e7, ["program.state_count"] = 27, ["program.donated_bytes"] = 0 } },
    { name = "the path waits for the copy and its new pages", framework = "jax", format = "xspace", finding = true,
      impact_ns = 7.2e6,
      facts = { ["step.ns"] = 1e7, ["program.name"] = "jit_token", ["program.time_share"] = 0.99,
                ["program.parameter_bytes"] = 3.4e7, ["program.state_bytes"] = 3.36e7, ["program.state_count"] = 2,
                ["program.donated_bytes"] = 0 },
      tables = { ops = { { name = "copy.1", type = "copy", module = "jit_token", shapes = "[4096,8,256]->[4096,8,256]",
                           bytes = 6.7e7, self_ns = 9e5 } },
                 work = { { class = "copy", type = "copy", module = "jit_token", shapes = "[4096,8,256]->[4096,8,256]",
                            bytes = 6.7e7, ns = 8e6 } } } },
    { name = "a cache that is copied", framework = "jax", format = "xspace", finding = true, impact_ns = 8.1e6,
      facts = { ["step.ns"] = 1e7, ["program.name"] = "jit_token", ["program.time_share"] = 0.99,
                ["program.parameter_bytes"] = 3.4e7, ["program.state_bytes"] = 3.36e7, ["program.state_count"] = 2,
                ["program.donated_bytes"] = 0 },
      tables = { ops = { { name = "copy.1", type = "copy", module = "jit_token", shapes = "[4096,8,256]->[4096,8,256]",
                           bytes = 6.7e7, self_ns = 9e6 } } } },
    -- Of 9 ms of copies on an accelerator 0.95 to all go, though the host's runs take longer.
    { name = "a cache that is copied on an accelerator", framework = "jax", format = "xspace", finding = true,
      impact_ns = 8.775e6,
      facts = { ["step.ns"] = 1.2e7, ["program.name"] = "jit_token", ["program.time_share"] = 0.99,
                ["program.parameter_bytes"] = 3.4e7, ["program.state_bytes"] = 3.36e7, ["program.state_count"] = 2,
                ["program.donated_bytes"] = 0, ["device.idle_share"] = 0.05, ["runs.total_ns"] = 1.15e7 },
      tables = { ops = { { name = "copy.1", type = "copy", module = "jit_token", shapes = "[4096,8,256]->[4096,8,256]",
                           bytes = 6.7e7, self_ns = 9e6 } } } },
    { name = "what a loop of random numbers carries", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["program.name"] = "jit_step", ["program.time_share"] = 0.99,
                ["program.parameter_bytes"] = 1.3e7, ["program.state_bytes"] = 1.2e7, ["program.state_count"] = 2,
                ["program.donated_bytes"] = 0 },
      tables = { ops = { { name = "copy.1", type = "copy", module = "jit_step", shapes = "[96,4481]->[96,4481]",
                           bytes = 3.4e6, self_ns = 2e6 } },
                 work = { { class = "random", type = "copy", module = "jit_step", shapes = "[96,4481]->[96,4481]",
                            bytes = 3.4e6, ns = 2e6 } } } },
    -- All but a key is donated: what is copied is an array inside.
    { name = "a copy of what is no state", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["program.name"] = "jit_generation", ["program.time_share"] = 0.99,
                ["program.parameter_bytes"] = 5.4e4, ["program.state_bytes"] = 5.4e4, ["program.state_count"] = 4,
                ["program.donated_bytes"] = 5.3992e4 },
      tables = { ops = { { name = "copy.62", type = "copy", module = "jit_generation", shapes = "[96,4481]->[96,4481]",
                           bytes = 3.4e6, self_ns = 5e6 } } } },
    { name = "a short copy", framework = "jax", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["program.name"] = "jit_token", ["program.time_share"] = 0.99,
                ["program.parameter_bytes"] = 3.4e7, ["program.state_bytes"] = 3.36e7, ["program.state_count"] = 2,
                ["program.donated_bytes"] = 0 },
      tables = { ops = { { name = "copy.1", type = "copy", module = "jit_token", shapes = "[4096,8,256]->[4096,8,256]",
                           bytes = 6.7e7, self_ns = 9e5 } } } },
    { name = "donated", framework = "jax", format = "xspace", finding = false,
      facts = { ["program.name"] = "jit_train_step", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e7,
                ["program.state_bytes"] = 1.2e7, ["program.state_count"] = 27, ["program.donated_bytes"] = 1.2e7 } },
    { name = "inference", framework = "jax", format = "xspace", finding = false,
      facts = { ["program.name"] = "jit_mlp", ["program.time_share"] = 0.99, ["program.parameter_bytes"] = 1.3e7,
                ["program.state_bytes"] = 4e3, ["program.state_count"] = 1, ["program.donated_bytes"] = 0 } },
  },
}
