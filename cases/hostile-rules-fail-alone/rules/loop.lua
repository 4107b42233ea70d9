-- Attacks.
return rule { id = "evil/loop", api = 1, version = "1.0.0", title = "t", category = "evil",
  severity = "error", check = function(p, cfg)
    while true do pcall(function() while true do end end) end
  end }
