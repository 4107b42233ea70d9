-- Attacks.
return rule { id = "evil/flood", api = 1, version = "1.0.0", title = "t", category = "evil",
  severity = "error", check = function(p, cfg)
    local l = {} for i = 1, 51 do l[i] = finding {} end return l
  end }
