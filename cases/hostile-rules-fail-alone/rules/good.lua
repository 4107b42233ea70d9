-- Does no harm.
return rule { id = "evil/good", api = 1, version = "1.0.0", title = "It still runs", category = "evil",
  severity = "info", check = function(p, cfg)
    return finding { condition = "always", evidence = { { "rules", 1 } },
                     remedy = { text = "None." }, impact = impact.none() }
  end }
