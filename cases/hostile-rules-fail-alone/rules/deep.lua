-- Attacks.
return rule { id = "evil/deep", api = 1, version = "1.0.0", title = "t", category = "evil",
  severity = "error", check = function(p, cfg)
    local function f() return 1 + f() end return f()
  end }
