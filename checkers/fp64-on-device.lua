-- Work runs in double precision.
-- On a host, of what these ops take: starting them, which no type makes shorter. Other frameworks record kernels alone.
local function starts_ns(p, ops)
  if p.framework ~= "pytorch" or p:has("device.count") or not p:has("excess.start_ns") then return 0 end
  local start_ns, ns = p.fact["excess.start_ns"], 0
  for row in ops:each() do
    if row.self_ns and row.calls then ns = ns + math.min(row.calls * start_ns, row.self_ns) end
  end
  return ns
end

-- Where ops do not say their line, frames of Python around them may.
local function lines_of_doubles(p)
  local work = p:has("work") and p:table("work"):where { dtype = { like = "^(float64|double|complex128)$" } }
  return work and work:top("ns", 3):places() or nil
end

-- A model that converts what it is fed, as Keras' layers do, computes in its own type.
local function converts_inputs(ops, products)
  for cast in ops:where { type = "Cast" }:each() do
    local scope = (cast.name or ""):match("^(.+)/Cast(?:_\\d+)?$")
    for product in products:each() do
      if scope and (product.name or ""):sub(1, #scope + 1) == scope .. "/" then return true end
    end
  end
  return false
end

return rule {
  id = "fp64-on-device", api = 1, version = "1.0.0",
  title = "Work runs in double precision",
  category = "precision", severity = "warn",
  needs = { "step.ns", "ops" },
  cause = "precision", tags = { "precision" },
  params = {
    min_share = { default = 0.005, min = 0, max = 1, unit = "share",
                  doc = "self time of double-precision ops over the step from which this is said" },
    max_cast_share = { default = 0.9, min = 0, max = 1, unit = "share",
                       doc = "of the time of double-precision ops in conversions, from which another rule speaks" },
    device_speedup = { default = 6, min = 1, max = 64, unit = "ratio",
      doc = "how much faster an accelerator computes in single precision, where its peaks are not known" },
    of_peaks = { default = 0.8, min = 0.1, max = 2, unit = "ratio",
                 doc = "the same, over what its peaks differ by" },
    min_speedup = { default = 2, min = 1, max = 64, unit = "ratio",
                    doc = "the same at least, for half the bytes move" },
    max_speedup = { default = 16, min = 1, max = 64, unit = "ratio",
                    doc = "the same at most, for memory bounds it beyond" },
    conv_speedup = { default = 10, min = 1, max = 64, unit = "ratio",
                     doc = "the same for convolutions on a host, but TensorFlow's" },
    speedup = { default = 3, min = 1, max = 64, unit = "ratio",
                doc = "how much faster the same op is in single precision" },
  },
  doc = [[
Double precision moves twice the bytes and computes at half the rate or, on consumer GPUs, at a
sixty-fourth; on CPUs the fastest libraries have no double kernels either. Usually a numpy default or
a Python scalar brought it in. Priced as Amdahl's law has it, with the speed-up of the parameters, or of this
device's peaks, over the double-precision share of the computation, less what starting PyTorch's ops takes on
a host. Where the trace has no dtypes, double inputs of the pipeline together with matrix products outside the vendor
library stand for them; such products alone do not, for the library is off on many machines, nor do doubles that the
model converts at its entrance. Silent below min_share.]],

  check = function(p, cfg)
    local ops = p:table("ops")
    -- What an op took on the host is not what its kernels, which nobody recorded, took.
    if p:has("coverage.device_ops") and p.fact["coverage.device_ops"] > 0 and p.fact["coverage.kernels"] == 0 then
      return nil
    end
    local doubles = ops:where { dtype = { like = "^(float64|double|complex128)$" } }
    local self_ns, step_ns = doubles:sum("self_ns"), p.fact["step.ns"]
    local all_ns, guessed = ops:sum("self_ns"), false
    if self_ns == 0 and p.framework == "tensorflow" and p:has("iterators") then
      -- oneDNN's products (_Mkl...) take no doubles: a pipeline of doubles and plain products.
      local fed = p:table("iterators"):where { dtypes = { like = "double" } }:count() > 0
      local plain = ops:where { type = { class = "product|convolution" } }
      local vendor = ops:where { type = { like = "^_Mkl" } }
      if fed and vendor:count() == 0 and plain:count() > 0 and not converts_inputs(ops, plain) then
        doubles, self_ns, guessed = ops, all_ns, true
      end
    end
    -- What only converts doubles to another type is not work in double precision.
    local casts = doubles:where { type = { like = "^aten::(to|_to_copy|copy_|type_as|empty.*)$" } }
    if p.framework == "pytorch" and self_ns > 0 and casts:sum("self_ns") >= cfg.max_cast_share * self_ns then
      return nil
    end
    if p:has("device.count") and p:has("precision.f64_ns") then
      -- Ops of an accelerator take scalars in double precision for single-precision work: ask its kernels. Where the
      -- host runs ahead, its ops lie outside the steps of the device, and their own time says nothing.
      local f64_ns = p.fact["precision.f64_ns"] / p.fact["device.count"]
      self_ns = p.framework == "pytorch" and f64_ns or math.min(self_ns, f64_ns)
      all_ns = math.max(all_ns, self_ns)
    end
    if self_ns == 0 then return nil end
    -- Ops that hand their work to a pool take longer than their own time: weigh by the path.
    local compute_ns = p:has("part.compute_ns") and p.fact["part.compute_ns"] or 0
    local ns = p:has("device.count") and self_ns or math.max(self_ns, compute_ns * self_ns / all_ns)
    local share = math.min(ns / step_ns, 1)
    if compute_ns > 0 then ns = math.min(ns, compute_ns) end
    if share < cfg.min_share then return nil end

    -- On hosts the vendors' convolutions take single precision alone; others go element by element. TensorFlow's are
    -- products over patches in any type: eight shapes gain 1.5 to 7 times, 3 in the middle, as other ops do.
    local speedup = p:has("device.count") and cfg.device_speedup or cfg.speedup
    if p:has("device.count") and p:has("device.f32_of_f64") then
      speedup = math.max(cfg.min_speedup, math.min(cfg.max_speedup, cfg.of_peaks * p.fact["device.f32_of_f64"]))
    end
    if not p:has("device.count") and p.framework ~= "tensorflow" and all_ns > 0 then
      local convs = math.min(
        1, doubles:where { type = { class = "convolution" } }:sum("self_ns") /
           math.max(doubles:sum("self_ns"), 1))
      speedup = 1 / (convs / math.max(cfg.conv_speedup, speedup) + (1 - convs) / speedup)
    end
    local evidence = { { "computing in double precision a step", ns, "ns", share = math.min(ns / step_ns, 1) },
                       { "double-precision ops a step, own time", self_ns, "ns" } }
    -- On an accelerator it is kernels that were asked, and they have names where no op has the type.
    local column, what, rows = "self_ns", "ops", doubles
    if p:has("device.count") and p:has("kernels") then
      local kernels = p:table("kernels"):where { dtype = { like = "^(float64|double|complex128)$" } }
      if kernels:count() > 0 then column, what, rows = "total_ns", "kernels", kernels end
    end
    if rows:count() > 0 then evidence[#evidence + 1] = { "different " .. what, rows:count(), "count" } end
    local worst = rows:top(column, 3)
    for row in worst:each() do
      evidence[#evidence + 1] = { row.name or row.type or "op", row[column], "ns" }
    end
    local code = { jax = "x = x.astype(jnp.float32)  # and leave jax_enable_x64 off",
                   tensorflow = "x = tf.cast(x, tf.float32)  # numpy arrays are float64",
                   pytorch = "x = x.float()  # numpy arrays are float64" }
    return finding {
      title = ("Double precision takes %s of each step"):format(fmt.ms(ns)),
      evidence = evidence, locations = #worst:places() > 0 and worst:places() or lines_of_doubles(p),
      condition = ("double-precision ops take %s of the step, %s accepted"):format(
        fmt.pct(share), fmt.pct(cfg.min_share)),
      remedy = { text = "Convert to single precision where data enter the program.", code = code[p.framework] },
      impact = impact.amdahl { ns = math.max(ns - starts_ns(p, doubles), 0), speedup = speedup },
      confidence = guessed and "low" or "high",
    }
  end,

  examples = {
    { name = "a tenth in double", framework = "jax", finding = true, impact_ns = 6e5,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.1", type = "dot", dtype = "float64", self_ns = 1e6 },
                         { name = "dot.2", type = "dot", dtype = "float32", self_ns = 1e6 } } } },
    -- (5 ms - 1000 * 2 us) * (1 - 1 / 3)
    { name = "many small ops in double", framework = "pytorch", format = "kineto", finding = true, impact_ns = 2e6,
      facts = { ["step.ns"] = 1e7, ["excess.start_ns"] = 2000 },
      tables = { ops = { { name = "aten::mul", type = "aten::mul", dtype = "double", calls = 1000,
                           self_ns = 5e6 } } } },
    { name = "double convolutions on a host", framework = "jax", finding = true, impact_ns = 8.8e6,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "convolution.1", type = "convolution", dtype = "float64", self_ns = 1e7 } } } },
    -- 9 ms of 10 compute, of which 1 - 1 / 3 go.
    { name = "double convolutions of TensorFlow on a host", framework = "tensorflow", format = "xspace",
      finding = true, impact_ns = 6e6, facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", dtypes = "double double" } },
                 ops = { { name = "conv", type = "Conv2D", self_ns = 9e6 } } } },
    { name = "only the host of an accelerator", framework = "pytorch", finding = false,
      facts = { ["step.ns"] = 1e7, ["coverage.device_ops"] = 3, ["coverage.kernels"] = 0 },
      tables = { ops = { { name = "aten::mul", type = "aten::mul", dtype = "double", self_ns = 1e6 } } } },
    { name = "doubles that the model converts", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", dtypes = "double double" } },
                 ops = { { name = "functional_1/Cast", type = "Cast", self_ns = 1e5 },
                         { name = "functional_1/lstm_1/MatMul", type = "MatMul", self_ns = 9e6 } } } },
    { name = "doubles that the loss alone converts", framework = "tensorflow", format = "xspace", finding = true,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", dtypes = "double double" } },
                 ops = { { name = "compile_loss/mse/Cast", type = "Cast", self_ns = 1e5 },
                         { name = "functional_1/lstm_1/MatMul", type = "MatMul", self_ns = 9e6 } } } },
    { name = "doubles from the pipeline", framework = "tensorflow", format = "xspace", finding = true,
      impact_ns = 6e6,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", dtypes = "double int64" } },
                 ops = { { name = "matmul", type = "MatMul", self_ns = 9e6 } } } },
    { name = "a library that is off", framework = "tensorflow", format = "xspace", finding = false,
      facts = { ["step.ns"] = 1e7, ["part.compute_ns"] = 9e6 },
      tables = { iterators = { { name = "Iterator::Root", type = "Root", dtypes = "float int64" } },
                 ops = { { name = "matmul", type = "MatMul", self_ns = 3e6 },
                         { name = "matmul_1", type = "MatMul", self_ns = 3e6 },
                         { name = "gradient_tape/matmul_1/MatMul", type = "MatMul", self_ns = 3e6 } } } },
    { name = "a double scalar for single-precision kernels", finding = false,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 1, ["precision.f64_ns"] = 0 },
      tables = { ops = { { name = "aten::mul", type = "aten::mul", dtype = "float64", self_ns = 1e6 } } } },
    { name = "kernels of a host that runs ahead", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 4.74e6,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 1, ["precision.f64_ns"] = 6e6 },
      tables = { ops = { { name = "aten::mm", type = "aten::mm", dtype = "float32", self_ns = 1e3 } } } },
    { name = "kernels that no op tells the type of", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 4.74e6,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 1, ["precision.f64_ns"] = 6e6, ["kernels.total_ns"] = 6e6 },
      tables = { ops = { { name = "aten::mm", type = "aten::mm", dtype = "float32", self_ns = 1e3 } },
                 kernels = { { name = "dgemm_64x64", dtype = "float64", total_ns = 6e6 } } } },
    -- A V100 computes twice as fast in float32: 6 ms * (1 - 1 / (1 + 0.75 * (2 - 1))), see impact.amdahl.
    { name = "on a device of half the rate", framework = "pytorch", format = "kineto", finding = true,
      impact_ns = 2.571e6,
      facts = { ["step.ns"] = 1e7, ["device.count"] = 1, ["precision.f64_ns"] = 6e6, ["device.f32_of_f64"] = 2 },
      tables = { ops = { { name = "aten::mm", type = "aten::mm", dtype = "float32", self_ns = 1e3 } } } },
    { name = "parameters converted at each use", framework = "pytorch", format = "kineto", finding = false,
      facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "aten::copy_", type = "aten::copy_", dtype = "float64", self_ns = 4e6 },
                         { name = "aten::mm", type = "aten::mm", dtype = "float32", self_ns = 5e6 } } } },
    { name = "single", finding = false, facts = { ["step.ns"] = 1e7 },
      tables = { ops = { { name = "dot.2", type = "dot", dtype = "float32", self_ns = 1e6 } } } },
  },
}
