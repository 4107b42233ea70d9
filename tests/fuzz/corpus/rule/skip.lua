return rule { id = "fuzz", api = 1, version = "1", title = "t", category = "c", severity = "info",
  tags = "a", cause = "b", check = function(p)
    local t = {} for word in ("a b c"):gmatch("[a-z]") do table.insert(t, 1, word) end
    table.sort(t) table.remove(t)
    if pcall(error, "x") or p:has("step.median_ns") then return end
    return skip { reason = table.concat(t, ",") .. ("x"):gsub("(x)", "%1%0"), capture = "more" } end }
