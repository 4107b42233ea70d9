-- Rules see what rules/api.def lists; sandboxes have no other globals.
std = "lua54"
read_globals = { "fmt", "impact", "finding", "rule", "skip", "sorted_pairs" }
max_line_length = 120
-- What rules find around them is made here.
files["rules/prelude.lua"] = { ignore = { "1", "212/self" } }
