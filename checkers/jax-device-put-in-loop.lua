-- The training thread prepares each batch and puts it on the device before the step.
-- A line that starts a program for each small array of the batch.
local function of_items(p, cfg)
  return p:in_excess {
    flaw = "batch-of-items", min_share = cfg.min_share, time = "putting it together",
    title = "A batch is put together from small arrays one by one: %s of each step",
    remedy = { text = "Keep the items in NumPy, in one array of the whole batch, and put that on the device once.",
               code = "batch = jax.device_put(np.stack(items))   # items: NumPy arrays, or rows of one buffer" },
    confidence = "medium",
  }
end

-- A host that runs ahead waits for no transfer; its programs do, for what they are called with. Accelerators copy
-- for other reasons, too, of which other rules speak.
local function of_arguments(p, cfg)
  local copy_ns, step_ns = p.fact["part.copy_ns"], p.fact["step.ns"]
  if p.fact["device.idle_share"] or copy_ns < cfg.min_argument_share * step_ns or
     p.fact["transfer.path_ns"] > 0.5 * copy_ns then
    return nil
  end
  return finding {
    title = ("The step waits %s for its arguments to be copied"):format(fmt.ms(copy_ns)),
    evidence = { { "copies that a step waits for", copy_ns, "ns", share = math.min(1, copy_ns / step_ns) },
                 { "computation a step", p.fact["part.compute_ns"], "ns" } },
    condition = ("programs wait for copies for %s of the step, %s accepted"):format(fmt.pct(copy_ns / step_ns),
      fmt.pct(cfg.min_argument_share)),
    remedy = { text = "Put arrays that stay the same, such as a whole table of which a step takes rows, on the device "
                 .. "once; a NumPy argument is copied in each call.",
               code = "table = jax.device_put(table)   # before the loop; in it step(params, table, rows)" },
    impact = impact.replay { { "subtract", parts = { "copy" }, ns = copy_ns },
                             fallback = impact.exposed { ns = copy_ns } },
    confidence = "medium",
  }
end

-- Programs of nothing but a copy are jnp.array and jnp.copy of whole arrays outside of a compiled function: what their
-- copies take, and the longest.
local function of_copied(p, cfg)
  if not p:has("ops") or p.fact["device.idle_share"] then return nil end
  local ops, step_ns, computes = p:table("ops"), p.fact["step.ns"], {}
  for row in ops:where { type = { like = "^(?!copy$)" } }:each() do computes[row.module or ""] = true end
  -- What the step waits for includes the new memory's pages, which a copy touches first and its own time may lack.
  local time = p:has("work") and "ns" or "self_ns"
  local ns, bytes, count, worst = 0, 0, 0, nil
  for row in (time == "ns" and p:table("work") or ops):where {
    type = "copy", shapes = { like = "^(\\[[0-9,]+\\])->\\1$" } }:each() do
    if (row.module or "") ~= "" and not computes[row.module] then
      ns, bytes, count = ns + row[time], bytes + (row.bytes or 0) * row.calls / 2, count + row.calls
      worst = (not worst or row[time] > worst[time]) and row or worst
    end
  end
  if not worst or ns < cfg.min_copied * step_ns then return nil end
  return finding {
    title = ("Whole arrays are copied by themselves in each step: %s, %s"):format(fmt.bytes(bytes), fmt.ms(ns)),
    severity = ns >= cfg.min_copied_warn * step_ns and "warn" or "info",
    subject = { op = worst.module },
    evidence = { { "copies a step", ns, "ns", share = math.min(1, ns / step_ns) }, { "arrays", count, "count" },
                 { "copy " .. worst.shapes, worst[time], "ns" } },
    condition = ("programs of nothing but a copy take %s of the step, %s accepted"):format(fmt.pct(ns / step_ns),
      fmt.pct(cfg.min_copied)),
    remedy = { text = "Put weights and tables on the device once, before the loop, and hand the same arrays on: an "
                 .. "array of JAX never changes, so no copy keeps it. jnp.array and jnp.copy copy each time.",
               code = "weights = jax.device_put(weights)   # once; jnp.asarray(x) copies nothing that is there "
                 .. "already" },
    impact = impact.exposed { ns = ns, low = 0.85 * ns, high = math.min(step_ns, 1.3 * ns) },
    confidence = "medium",
  }
end

-- Of the host's time, what the program's own functions work in Python without starting anything: who makes a batch
-- that way has that to change, whoever then puts it on the device.
local function own_python_ns(p)
  if not p:has("excess") then return 0 end
  local cells = p:table("excess"):where { flaw = "own-python", source_file = { like = "." } }
  return cells:sum("ns") or 0
end

-- The user's own line in which Python takes most beside the computation: the frames below it may be a library's.
local function own_line(p)
  if not p:has("excess") then return nil end
  local cells = p:table("excess"):where { flaw = { like = "^(own-python|long-pause)$" } }
  for _, cell in ipairs(cells:top("ns", 3):rows()) do
    if cell.source_file and cell.source_file ~= "" then return { file = cell.source_file, line = cell.source_line } end
  end
end

-- Python in which equinox or flax.nnx takes modules apart for a compiled call, and puts them together behind it
-- (equinox/_jit.py, flax/nnx/extract.py): no part of a batch.
local function modules_ns(activities)
  return activities and activities:where { kind = "python", on_leader = true, name = {
    like = "^\\$(_jit[.]py:[0-9]+ _(pre|post)process|extract[.]py:[0-9]+ (to|from)_tree)$" } }:sum("path_ns") or 0
end

return rule {
  id = "jax-device-put-in-loop", api = 1, version = "1.1.0",
  title = "The training loop puts each batch on the device itself",
  category = "input", severity = "warn",
  formats = { "xspace" },
  needs = { "step.ns", "transfer.count", "transfer.path_ns", "transfer.before_ns", "host.lead_ns",
            "part.copy_ns", "part.compute_ns", "runs.count" },
  cause = "input", tags = { "jax", "input", "copy" },
  more_specific_than = { "block-until-ready-each-step", "input-bound-step", "input-transfer-bound", "h2d-share",
                         "maybe-input-bound-other", "python-in-step", "host-bound" },
  params = {
    min_transfer_share = { default = 0.005, min = 0, max = 1, unit = "share",
                           doc = "share of the step in transfers of the leading thread" },
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
                  doc = "share of the step in transfers and host work that could run beside the device's" },
    handoff_ns = { default = 100e3, min = 0, max = 1e9, unit = "ns",
                   doc = "what taking a batch from another thread costs a step, which is not saved" },
    min_most = { default = 0.5, min = 0, max = 1, unit = "share",
                 doc = "share of the host's time in the batch, from which all of it hides behind the computation" },
    min_long_lead = { default = 4, min = 1, max = 1e6, unit = "ratio",
                      doc = "host work over computation, from which it must become cheaper rather than run beside it" },
    min_calls = { default = 1000, min = 1, max = 1e9, unit = "count",
                  doc = "recorded Python calls a step, from which they are what takes that long" },
    min_beside_readback = { default = 0.02, min = 0, max = 1, unit = "share",
                            doc = "the same where the loop also reads a result in each step" },
    min_waiting = { default = 0.8, min = 0, max = 1, unit = "share",
                    doc = "of the steps, those with a wait for the accelerator, from which that is what to change" },
    min_argument_share = { default = 0.2, min = 0, max = 1, unit = "share",
                           doc = "share of the step in which programs wait for copies, of a host that runs ahead" },
    min_copied = { default = 0.1, min = 0, max = 1, unit = "share",
                   doc = "on a host: share of the step in programs of nothing but a copy, from which this is said" },
    min_copied_warn = { default = 0.15, min = 0, max = 1, unit = "share", doc = "the same, for a warning" },
    min_own_share = { default = 0.1, min = 0, max = 1, unit = "share",
                      doc = "share of the step in Python of the program's functions, from which that is the cause" },
    min_own_most = { default = 0.5, min = 0, max = 10, unit = "ratio",
                     doc = "such Python over the host's work for a batch, from which that is the cause" },
    min_many = { default = 16, min = 2, max = 1e6, unit = "count",
                 doc = "transfers a step, from which their number is what costs" },
    max_runs = { default = 3, min = 1, max = 1e6, unit = "count",
                 doc = "program runs a step, from which the loop is about something else" },
  },
  doc = [[
The thread that runs the steps makes the batch, converts it and hands it to the device; only then can the step begin.
A thread that keeps two batches ahead does that beside the step. Priced by replay: transfers and what the thread works
before them run beside the computation, less what handing a batch over costs; calls of programs are no part of a batch.
Where the batch is most of the host's work, all of that hides. Where making the batch takes many times the computation,
hiding it is not enough: priced as that work. Where the host runs ahead and the programs wait for copies, whole arrays
are arguments of each call: priced as those copies; so are programs that only copy a whole array, on a host, with up to
three tenths of what lies around them. Silent where the program's own functions make the batch in Python,
or a library takes modules apart there (python-in-step names them), where transfers are short or run in another thread,
where a step is many programs or calls back to the host, and where the loop waits for an accelerator in each step.]],

  check = function(p, cfg)
    if p.framework ~= "jax" then return nil end
    local items = of_items(p, cfg)
    if items then return items end
    local arguments = of_copied(p, cfg) or of_arguments(p, cfg)
    if arguments then return arguments end
    local step_ns = p.fact["step.ns"]
    -- For an accelerator threads of the runtime copy what the leading one hands over, which waits for them.
    local beside_ns = p:has("transfer.beside_ns") and p.fact["transfer.beside_ns"] or 0
    local transfer_ns = p.fact["transfer.path_ns"] + beside_ns
    -- Many arrays cost a call's host work too; of one batch only what comes before its transfer is making it.
    local is_many = p.fact["transfer.count"] >= cfg.min_many
    local lead_ns = is_many and p.fact["host.lead_ns"] or p.fact["transfer.before_ns"]
    local hidden_ns = math.min(lead_ns + beside_ns + p.fact["part.copy_ns"], p.fact["part.compute_ns"])
    if not is_many then hidden_ns = math.max(hidden_ns - cfg.handoff_ns, 0) end
    local is_long = lead_ns > 0.5 * step_ns and lead_ns > cfg.min_long_lead * p.fact["part.compute_ns"]
    if p.fact["transfer.count"] < 0.5 or
       (not is_long and (transfer_ns < cfg.min_transfer_share * step_ns or hidden_ns < cfg.min_share * step_ns))
         or p.fact["runs.count"] > cfg.max_runs or
       (p.fact["callback.count"] or 0) > 0 then
      return nil
    end
    -- A loop that waits for each step's result could make the next batch meanwhile: another rule says so.
    if not is_long and (p.fact["sync.unseen_steps_share"] or 0) >= cfg.min_waiting then return nil end
    local activities = p:table("activities")
    if modules_ns(activities) >= cfg.min_own_most * lead_ns then return nil end
    local reads = activities and activities:where { kind = "sync", on_leader = true, events = { min = 0.8 },
      name = { like = "asarray|_value|__float__|__array__|__int__|item" } }:count() or 0
    if reads > 0 and transfer_ns < cfg.min_beside_readback * step_ns then return nil end
    -- Another rule names the functions.
    local own_ns = (is_many or p.fact["device.idle_share"]) and 0 or own_python_ns(p)
    if own_ns >= cfg.min_own_share * step_ns and own_ns >= cfg.min_own_most * (lead_ns + transfer_ns) then
      return nil
    end
    local evidence = {
      { "transfers of the leading thread a step", p.fact["transfer.count"], "count" },
      { "time in them", transfer_ns, "ns", share = math.min(1, transfer_ns / step_ns) },
      { is_many and "its work before it waits" or "its work before them", lead_ns, "ns",
        share = math.min(1, lead_ns / step_ns) },
      { "computation a step", p.fact["part.compute_ns"], "ns" },
    }
    if beside_ns > 0 then
      evidence[#evidence + 1] = { "the runtime's threads copy it for the device", beside_ns, "ns",
                                  share = math.min(1, beside_ns / step_ns) }
      if p:has("transfer.beside_count") then
        evidence[#evidence + 1] = { "such copies a step", p.fact["transfer.beside_count"], "count" }
      end
    end
    local locations = {}
    local busiest = activities
      and activities:where { kind = "python", on_leader = true }:top("path_self_ns", 1):rows()[1]
    if busiest and busiest.path_self_ns > 0 then
      evidence[#evidence + 1] = { "most of that", busiest.name }
    end
    locations[1] = own_line(p)
    -- Where the batch is most of what the host does, a step begins while the device still works at the last one, and
    -- the rest of the host's work hides with it.
    local host_ns = (p.fact["part.host_ns"] or 0) + p.fact["part.copy_ns"] + (p.fact["part.input_ns"] or 0)
    local is_most = hidden_ns > cfg.min_most * host_ns
    local edits = { is_most and { "overlap", parts = { "host", "copy", "input" } } or
                    { "subtract", parts = { "host", "copy", "input" }, ns = hidden_ns },
                    fallback = impact.exposed { ns = hidden_ns } }
    -- Many arrays cost the host a call each, here and in the call that takes them; packed they are one.
    if is_many then
      edits = { { "scale", parts = { "host", "copy", "input" }, factor = 2 / p.fact["transfer.count"] } }
      edits.fallback = impact.exposed { ns = hidden_ns }
      evidence[#evidence + 1] = { "each", transfer_ns / p.fact["transfer.count"], "ns" }
    end
    if is_long then
      local calls = activities and activities:where { kind = "python", on_leader = true }:sum("events") or 0
      return finding {
        title = ("Making the batch takes %s of each %s step"):format(fmt.ms(lead_ns), fmt.ms(step_ns)),
        evidence = evidence, locations = locations,
        condition = ("host work before the step takes %s, %s times its computation accepted"):format(fmt.ms(lead_ns),
          fmt.count(cfg.min_long_lead)),
        remedy = { text = "Make it cheaper first: whole arrays instead of Python values, once instead of each step; "
                     .. "then put batches ahead from threads or processes.",
                   code = "batch = np.asarray(rows, np.float32)   # once; in the loop jax.device_put(batch[i:i + n])" },
        -- Threads cannot run many small Python calls beside each other; other work they may, as far as cores allow.
        impact = impact.exposed { ns = lead_ns, low = calls >= cfg.min_calls and 0.9 * lead_ns or hidden_ns,
                                  high = lead_ns },
        confidence = "medium",
      }
    end
    return finding {
      title = is_many and ("%s arrays are put on the device one by one in each step, which takes %s"):format(
          fmt.whole(p.fact["transfer.count"]), fmt.ms(math.min(lead_ns + transfer_ns, step_ns)))
        or ("Batches are made and put on the device inside the step loop: %s of each step"):format(fmt.ms(hidden_ns)),
      evidence = evidence,
      locations = locations,
      condition = ("the leading thread transfers and prepares for %s of the step, %s accepted"):format(
        fmt.pct(hidden_ns / step_ns), fmt.pct(cfg.min_share)),
      remedy = is_many and
          { text = "Pack the arrays into one on the host, and take it apart in the compiled function.",
            code = "x = jax.device_put(np.stack(columns, axis=1))" } or
          { text = "Let a thread convert and put two batches ahead on the device; send small types and cast there.",
                 code = "def ahead(batches, n=2):\n    queue = queue_of(n)          # queue.Queue(maxsize=n)\n"
                   .. "    threading.Thread(target=lambda: [queue.put(jax.device_put(b)) for b in batches]).start()" },
      impact = impact.replay(edits),
      confidence = "medium",
    }
  end,

  examples = {
    -- 3 of 10 ms copy weights; up to 3.9 with what starts them.
    { name = "weights that are copied for each request", framework = "jax", finding = true, impact_ns = 3.225e6,
      severity = "warn",
      facts = { ["step.ns"] = 1e7, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 0,
                ["transfer.before_ns"] = 0, ["part.copy_ns"] = 0, ["part.compute_ns"] = 8e6, ["runs.count"] = 5 },
      tables = { ops = { { name = "copy", type = "copy", module = "jit_copy", shapes = "[1024,1024]->[1024,1024]",
                           calls = 4, bytes = 8.4e6, self_ns = 3e6 },
                         { name = "dot", type = "dot", module = "jit_answer", shapes = "[8,1024]x[1024,1024]->[8,1024]",
                           calls = 4, self_ns = 5e6 } } } },
    -- A copy beside what computes is the program's.
    { name = "a program that copies before it computes", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 0,
                ["transfer.before_ns"] = 0, ["part.copy_ns"] = 0, ["part.compute_ns"] = 8e6, ["runs.count"] = 1 },
      tables = { ops = { { name = "copy", type = "copy", module = "jit_answer", shapes = "[1024,1024]->[1024,1024]",
                           calls = 4, bytes = 8.4e6, self_ns = 3e6 },
                         { name = "dot", type = "dot", module = "jit_answer", shapes = "[8,1024]x[1024,1024]->[8,1024]",
                           calls = 4, self_ns = 5e6 } } } },
    { name = "a list of device arrays", framework = "jax", finding = true, replay = { 8e6 },
      facts = { ["step.ns"] = 1e7, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 0,
                ["transfer.before_ns"] = 0, ["part.copy_ns"] = 0, ["part.compute_ns"] = 1e6, ["runs.count"] = 277 },
      tables = { excess = { { cell = 1, flaw = "batch-of-items", cause = "bytes", grade = "A", ns = 8e6, share = 0.8,
                              factor = 0.01, region = "$train.py:9 step", detail = "276 programs started a step",
                              source_file = "train.py",
                              source_line = 9 } } } },
    { name = "made in the loop", framework = "jax", finding = true, impact_ns = 3e7,
      facts = { ["step.ns"] = 1.36e8, ["transfer.count"] = 1, ["transfer.path_ns"] = 3e6, ["host.lead_ns"] = 2.7e7,
                ["transfer.before_ns"] = 2.7e7, ["part.copy_ns"] = 3e6, ["part.compute_ns"] = 1e8, ["runs.count"] = 1 },
      replay = { 3e7 }, selected_ns = 3e7 },
    { name = "a whole table in each call", framework = "jax", finding = true, replay = { 1.75e7 },
      facts = { ["step.ns"] = 1.92e7, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 2e4,
                ["transfer.before_ns"] = 0, ["part.copy_ns"] = 1.75e7, ["part.compute_ns"] = 9e5,
                ["runs.count"] = 1 } },
    { name = "an accelerator copies", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1.92e7, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 2e4,
                ["transfer.before_ns"] = 0, ["part.copy_ns"] = 1.75e7, ["part.compute_ns"] = 9e5, ["runs.count"] = 1,
                ["device.idle_share"] = 0 } },
    { name = "rows of it copied beside the computation", framework = "jax", finding = false,
      facts = { ["step.ns"] = 2e6, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 2e4,
                ["transfer.before_ns"] = 0, ["part.copy_ns"] = 1e5, ["part.compute_ns"] = 1.8e6, ["runs.count"] = 1 } },
    { name = "from lists of Python numbers", framework = "jax", finding = true, impact_ns = 6.65e7,
      tables = { activities = { { name = "$dtypes.py:7 dtype", kind = "python", on_leader = true, events = 30000,
                                  path_self_ns = 5e7 } } },
      facts = { ["step.ns"] = 7.2e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 6e4, ["host.lead_ns"] = 7e7,
                ["transfer.before_ns"] = 7e7, ["part.copy_ns"] = 6e4, ["part.compute_ns"] = 1.5e6,
                ["runs.count"] = 2 } },
    { name = "a long loader", framework = "jax", finding = true, impact_ns = 3.575e7,
      facts = { ["step.ns"] = 7.2e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 6e4, ["host.lead_ns"] = 7e7,
                ["transfer.before_ns"] = 7e7, ["part.copy_ns"] = 6e4, ["part.compute_ns"] = 1.5e6,
                ["runs.count"] = 2 } },
    { name = "column by column", framework = "jax", finding = true, impact_ns = 6.5e6,
      facts = { ["step.ns"] = 1.1e7, ["transfer.count"] = 256, ["transfer.path_ns"] = 4e6, ["host.lead_ns"] = 5e6,
                ["transfer.before_ns"] = 5e6, ["part.copy_ns"] = 4e6, ["part.compute_ns"] = 1.5e6, ["runs.count"] = 1 },
      replay = { 7.6e6 }, selected_ns = 7.6e6 },
    { name = "a large array as an argument, on an accelerator", framework = "jax", finding = true, impact_ns = 1.6e7,
      facts = { ["step.ns"] = 6e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 2e5, ["host.lead_ns"] = 3e5,
                ["transfer.before_ns"] = 1e5, ["part.copy_ns"] = 4e6, ["part.compute_ns"] = 4e7, ["runs.count"] = 1,
                ["transfer.beside_ns"] = 1.2e7, ["device.idle_share"] = 0.3 },
      replay = { 1.6e7 }, selected_ns = 1.6e7 },
    -- 2.5 ms of Python in the program's functions are 83 % of the 3 ms before the step.
    { name = "made by the program's own functions", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 2e5, ["host.lead_ns"] = 2.8e6,
                ["transfer.before_ns"] = 2.8e6, ["part.copy_ns"] = 2e5, ["part.compute_ns"] = 6e6, ["runs.count"] = 1 },
      tables = { excess = { { cell = 1, flaw = "own-python", cause = "wait.input", grade = "A", ns = 2.5e6,
                              share = 0.25, source_file = "train.py", source_line = 9 } } } },
    { name = "an accelerator waits for it", framework = "jax", finding = true, impact_ns = 2.9e6,
      facts = { ["step.ns"] = 1e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 2e5, ["host.lead_ns"] = 2.8e6,
                ["transfer.before_ns"] = 2.8e6, ["part.copy_ns"] = 2e5, ["part.compute_ns"] = 6e6, ["runs.count"] = 1,
                ["device.idle_share"] = 0.3 },
      tables = { excess = { { cell = 1, flaw = "own-python", cause = "wait.input", grade = "A", ns = 2.5e6,
                              share = 0.25, source_file = "train.py", source_line = 9 } } },
      replay = { 2.9e6 }, selected_ns = 2.9e6 },
    { name = "put ahead by a thread", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1.07e8, ["transfer.count"] = 0, ["transfer.path_ns"] = 0, ["host.lead_ns"] = 5e4,
                ["transfer.before_ns"] = 5e4, ["part.copy_ns"] = 1e3, ["part.compute_ns"] = 1e8, ["runs.count"] = 1 } },
    { name = "a result is read in each step", framework = "jax", finding = false,
      facts = { ["step.ns"] = 5e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 4e5, ["host.lead_ns"] = 1.8e7,
                ["transfer.before_ns"] = 1.8e7, ["part.copy_ns"] = 4e5, ["part.compute_ns"] = 3e7, ["runs.count"] = 1 },
      tables = { activities = { { name = "np.asarray(jax.Array)", kind = "sync", on_leader = true, events = 1 } } } },
    { name = "a number handed over, then calls of programs", framework = "jax", finding = false,
      facts = { ["step.ns"] = 8.7e6, ["transfer.count"] = 1, ["transfer.path_ns"] = 5e4, ["host.lead_ns"] = 1.5e6,
                ["transfer.before_ns"] = 2.5e5, ["part.copy_ns"] = 5e4, ["part.compute_ns"] = 7e6,
                ["runs.count"] = 3 } },
    { name = "the loop waits for the accelerator in each step", framework = "jax", finding = false,
      facts = { ["step.ns"] = 2.4e7, ["transfer.count"] = 1, ["transfer.path_ns"] = 2e5, ["host.lead_ns"] = 1.1e7,
                ["transfer.before_ns"] = 7.8e6, ["part.copy_ns"] = 1e5, ["part.compute_ns"] = 1.2e7, ["runs.count"] = 1,
                ["device.idle_share"] = 0.5, ["sync.unseen_steps_share"] = 0.9 } },
    { name = "too short to hand over", framework = "jax", finding = false,
      facts = { ["step.ns"] = 1.9e6, ["transfer.count"] = 4, ["transfer.path_ns"] = 7e4, ["host.lead_ns"] = 3.5e5,
                ["transfer.before_ns"] = 1.25e5, ["part.copy_ns"] = 4.5e4, ["part.compute_ns"] = 1e6,
                ["runs.count"] = 1 } },
    { name = "many programs a step", framework = "jax", finding = false,
      facts = { ["step.ns"] = 2e7, ["transfer.count"] = 16, ["transfer.path_ns"] = 3e5, ["host.lead_ns"] = 9e6,
                ["transfer.before_ns"] = 9e6, ["part.copy_ns"] = 3e5, ["part.compute_ns"] = 5e6,
                ["runs.count"] = 40 } },
  },
}
