-- Fourier transforms of a length that has large prime factors.
return rule {
  id = "slow-transform", api = 1, version = "1.0.0",
  title = "Fourier transforms have a length that takes several times as long as the next good one",
  category = "kernels", severity = "warn",
  formats = { "xspace", "kineto" },
  needs = { "step.ns" },
  cause = "model.padding", tags = { "ops" },
  more_specific_than = { "hot-op" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step that transforms take beyond those of the next good length" },
    min_loud_share = { default = 0.15, min = 0, max = 1, unit = "share", doc = "the same for a warning" },
  },
  doc = [[
Libraries have code of their own for factors of 2, 3, 5, and a few more. A length with a large prime factor is
transformed by two transforms of twice the length and products (Bluestein), five to ten times the work. In compiled
programs, transforms of padded data, or of which a part is kept: there the length is the program's choice, as with
`signal + kernel - 1` of a convolution; in PyTorch, transforms of a length beyond the data's, and of frames. Priced
as pocketfft guesses the work of both lengths, by their last axis. Silent where data has that length itself: more
points would be other frequencies.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "slow-transform", min_share = cfg.min_share, time = "transforms beyond those of the next good length",
      title = "Fourier transforms of a length with large prime factors: %s a step too much",
      loud_share = cfg.min_loud_share,
      remedy = p.framework == "pytorch"
        and { text = "Take the next length that is a product of 2, 3 and 5, and cut what comes back as before; frames "
                .. "of a sound keep their window, which is padded with zeros.",
              code = "n = scipy.fft.next_fast_len(x.shape[-1] + w.shape[-1] - 1, real=True)   # torch.fft.rfft(x, n)\n"
                .. "spectrum = torch.stft(x, n_fft=576, win_length=551, hop_length=220, window=window, "
                .. "return_complex=True)" }
        or { text = "Pad to the next length that is a product of 2, 3 and 5, and cut what comes back as before.",
                 code = "n = scipy.fft.next_fast_len(x.shape[-1] + w.shape[-1] - 1, real=True)\n"
                   .. "y = jnp.fft.irfft(jnp.fft.rfft(x, n) * jnp.fft.rfft(w, n), n)[..., :x.shape[-1]]" },
      confidence = "medium",
    }
  end,

  examples = {
    { name = "a prime", framework = "jax", format = "xspace", finding = true, severity = "warn", replay = { 6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "slow-transform", ns = 6e6, share = 0.6, factor = 0.1 } } } },
    { name = "frames of 551 points", framework = "pytorch", format = "kineto", finding = true, severity = "warn",
      replay = { 6e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "slow-transform", ns = 6e6, share = 0.6, factor = 0.1 } } } },
    { name = "a little of the step", framework = "jax", format = "xspace", finding = true, severity = "info",
      replay = { 1e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "slow-transform", ns = 1e6, share = 0.1, factor = 0.1 } } } },
    { name = "next to nothing", framework = "jax", format = "xspace", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "slow-transform", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "other transforms", framework = "jax", format = "xspace", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "long-transform", ns = 6e6, share = 0.6, factor = 0.1 } } } },
  },
}
