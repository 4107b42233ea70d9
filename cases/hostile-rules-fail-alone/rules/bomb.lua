-- Attacks.
return rule { id = "evil/bomb", api = 1, version = "1.0.0", title = "t", category = "evil",
  severity = "error", check = function(p, cfg)
    local s = "a" while true do s = s .. s end
  end }
