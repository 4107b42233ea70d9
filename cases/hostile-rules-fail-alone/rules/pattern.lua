-- Attacks.
return rule { id = "evil/pattern", api = 1, version = "1.0.0", title = "t", category = "evil",
  severity = "error", check = function(p, cfg)
    return (("a"):rep(40) .. "b"):match("^(a+)+$")
  end }
