-- Attacks.
return rule { id = "evil/escape", api = 1, version = "1.0.0", title = "t", category = "evil",
  severity = "error", check = function(p, cfg)
    return os.execute("touch was-here")
  end }
