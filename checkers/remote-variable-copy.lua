-- A whole table comes from another task for a few of its rows.
return rule {
  id = "remote-variable-copy", api = 1, version = "1.0.0",
  title = "A whole table comes from another task for a few rows",
  category = "communication", severity = "warn",
  formats = { "graph", "profile" },
  needs = { "step.ns", "graph_patterns" },
  cause = "communication", tags = { "tensorflow", "communication" },
  params = {
    max_used = { default = 0.5, min = 0, max = 1, unit = "share",
                 doc = "rows looked up over rows of the table, at most" },
    min_share = { default = 0.01, min = 0, max = 1, unit = "share", doc = "share of the step that the copy takes" },
    network = { default = 1.25e9, min = 1e6, max = 1e12, unit = "bytes_per_s",
                doc = "rate between the tasks; 1.25 GB/s is 10 Gbit/s" },
  },
  doc = [[
A lookup that stands on the worker makes the parameter server send the whole variable; on the server it sends the rows.
Priced as the bytes of rows that are not looked up over the network's rate. Silent where most rows are used, where both
are in one task, and where the table is small.]],

  check = function(p, cfg)
    local step_ns, findings = p.fact["step.ns"], {}
    for _, row in ipairs(p:table("graph_patterns"):where { pattern = "remote-table" }:top("bytes", 3):rows()) do
      local used = math.min(1, row.elements / row.count)
      local ns = math.min(row.bytes * (1 - used) / cfg.network * 1e9, step_ns)
      if used <= cfg.max_used and ns >= cfg.min_share * step_ns then
        findings[#findings + 1] = finding {
          title = ("%s of %s come from %s for %s rows"):format(
            fmt.bytes(row.bytes), row.op, row.device, fmt.count(row.elements)),
          subject = { op = row.op, device = row.device },
          evidence = { { "the variable", row.bytes, "bytes" }, { "rows looked up a step", row.elements, "count" },
                       { "rows", row.count, "count" },
                       { "sending the others a step", ns, "ns", share = ns / step_ns } },
          condition = ("%s of the rows are used, less than %s accepted"):format(fmt.pct(used), fmt.pct(cfg.max_used)),
          remedy = { text = "Look rows up where the variable is.",
                     code = "with tf.compat.v1.colocate_with(table):\n    rows = tf.gather(table, ids)" },
          impact = impact.exposed { ns = ns },
          confidence = "low",
        }
      end
    end
    return findings
  end,

  examples = {
    { name = "an embedding", format = "graph", framework = "tensorflow", finding = true, impact_ns = 3e7,
      facts = { ["step.ns"] = 5e7 },
      tables = { graph_patterns = { { pattern = "remote-table", op = "table",
                                      device = "/job:ps/replica:0/task:0/device:CPU:0", bytes = 4e7,
                                      count = 1e5, elements = 256, ns = 0 } } } },
    { name = "most rows", format = "graph", framework = "tensorflow", finding = false, facts = { ["step.ns"] = 5e7 },
      tables = { graph_patterns = { { pattern = "remote-table", op = "table",
                                      device = "/job:ps/replica:0/task:0/device:CPU:0", bytes = 4e7,
                                      count = 100, elements = 256, ns = 0 } } } },
  },
}
