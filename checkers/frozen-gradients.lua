-- Gradients are computed that no update takes.
return rule {
  id = "frozen-gradients", api = 1, version = "1.0.0",
  title = "Gradients are computed that no update takes",
  category = "kernels", severity = "warn",
  formats = { "kineto", "xspace" },
  needs = { "step.ns", "excess" },
  cause = "backward.unused", tags = { "ops" },
  more_specific_than = { "hot-op", "python-in-step", "channels-last-missing" },
  params = {
    min_share = { default = 0.05, min = 0, max = 1, unit = "share",
      doc = "share of the step from which this is said" },
  },
  doc = [[
The backward pass hands gradients to parameters that no update takes: their shapes stand in no op of an update (they
are frozen, or were never given to the optimizer), or they are cleared before the update that would take them, as
those of a generator in the discriminator's pass. All of that backward pass behind the last gradient that is used is
for nothing, and before it what makes only the gradients of such weights: of a discriminator on the way to its
generator, of a network whose input is attacked. Parameters that share their shape with an updated one count as
updated, unless the optimizer's lists tell that it takes the same part of every shape, as of a student and its
teacher. In a function of TensorFlow, more gradients of weights than updates, with the norm of all of them: the layers
farthest from the loss are not updated. In a program that XLA compiled, gradients of weights that it gives back as
they came, which a norm alone takes: others it would not make. Gradients that are added up over several passes count as
taken. An input that was made to require gradients has the pass go on through frozen layers below the last trained
weights, down to it: four products and 15 % of the pass at least, with four gradients before it.]],

  check = function(p, cfg)
    return p:in_excess {
      flaw = "unused-gradients", min_share = cfg.min_share,
      title = "Gradients that no update takes cost %s a step",
      time = "the part of the backward pass that makes them",
      remedy = { text = "Freeze what is not trained, or run it without gradients; detach what only hands data on; "
                     .. "and let no input require gradients that nothing takes.",
                 code = p.framework == "tensorflow" and "gradients = tape.gradient(loss, head.trainable_variables)   "
                     .. "# not of model.trainable_variables; or: backbone.trainable = False"
                   or p.framework == "jax" and
                   "trained = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))   # its norm alone\n"
                     .. "tx = optax.multi_transform({\"head\": trained, \"frozen\": optax.set_to_zero()}, labels)"
                   or "for q in backbone.parameters(): q.requires_grad_(False)   # or: with torch.no_grad(): "
                   .. "h = backbone(x); or: loss = d(g(z).detach())\n# inputs: no x.requires_grad_(), and "
                   .. "model.enable_input_require_grads() only with checkpointing" },
      confidence = "high",
    }
  end,

  examples = {
    { name = "a frozen backbone", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unused-gradients", op = "aten::linear", ns = 3e6, share = 0.3,
                              factor = 0.1,
        region = "train.py(12): step", detail = "60 of 62 gradients" } } } },
    { name = "down to the input", framework = "pytorch", format = "kineto", finding = true, replay = { 3e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unused-gradients", op = "aten::mm", ns = 3e6, share = 0.3, factor = 0.1,
                              detail = "behind the last gradient of weights, 9 products go on to an input's" } } } },
    { name = "clipped by the norm of all", framework = "tensorflow", format = "xspace", finding = true,
      replay = { 5e6 }, facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unused-gradients", op = "Conv2DBackpropFilter", ns = 5e6, share = 0.5,
                              factor = 0 } } } },
    { name = "clipped before the mask", framework = "jax", format = "xspace", finding = true, replay = { 6e6 },
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unused-gradients", op = "fusion", ns = 6e6, share = 0.6,
                              factor = 0.1 } } } },
    { name = "too little", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "unused-gradients", ns = 2e5, share = 0.02, factor = 0.1 } } } },
    { name = "another flaw", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { excess = { { cell = 1, flaw = "other", ns = 3e6, share = 0.3, factor = 0.1 } } } },
  },
}
