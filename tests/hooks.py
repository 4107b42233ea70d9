#!/usr/bin/env python3
"""The module's hooks inside of the real frameworks: each records steps that are written here and must say what was written.

    hooks.py LIBRARY [torch|lightning|huggingface|jax|tensorflow|keras|pytest]...      LIBRARY: libtfprof.so.1 of a build

Runs those whose package is there, or fails where one is named that is not. Takes minutes, so tests/run does not run it.
"""
import importlib.util, os, pathlib, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ["TFPROF_LIBRARY"] = str(pathlib.Path(sys.argv[1]).resolve())
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "engine/python"), os.environ.get("PYTHONPATH")]))
sys.path.insert(0, str(ROOT / "engine/python"))
import tfprof
from tfprof import record

STEPS = 6


def check(advice, told):
    """As many steps as were asked for, marked by the framework; and they were told once."""
    assert told == [advice], told
    assert advice.json["steps"]["source"] == "marker", advice.json["steps"]
    assert advice.json["steps"]["count"] in (STEPS, STEPS - 1), advice.json["steps"]
    assert advice.step_ms > 0 and advice.verdict.text


def numbers(torch):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(160, 32), torch.randn(160, 1)), batch_size=8)


def hook_torch(folder):
    import torch
    model = torch.nn.Linear(512, 512)
    with record.torch(folder) as recording:
        for _ in range(STEPS):
            with recording.step():
                model(torch.randn(64, 512)).sum().backward()
    advice = recording.advise()
    check(advice, [advice])
    assert any("mm" in row["name"] for row in tfprof.open(recording.path).table("ops").rows)


def hook_lightning(folder):
    import lightning.pytorch as pl, torch
    import tfprof.lightning

    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(32, 1)

        def training_step(self, batch, _):
            return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)
    told = []
    callback = tfprof.lightning.Advise(folder, first=3, count=STEPS, tell=told.append)
    pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
               enable_model_summary=False, callbacks=[callback]).fit(Model(), numbers(torch))
    check(callback.advice, told)


def hook_huggingface(folder):
    import torch, transformers
    import tfprof.huggingface

    class Rows(torch.utils.data.Dataset):
        def __len__(self):
            return 120

        def __getitem__(self, index):
            return {"input_ids": torch.arange(8) + index % 50, "labels": torch.arange(8)}
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=100, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    told = []
    callback = tfprof.huggingface.Advise(folder / "trace", first=3, count=STEPS, tell=told.append)
    transformers.Trainer(model, transformers.TrainingArguments(
        str(folder / "out"), max_steps=12, per_device_train_batch_size=4, report_to=[], save_strategy="no", use_cpu=True,
        disable_tqdm=True), train_dataset=Rows(), callbacks=[callback]).train()
    check(callback.advice, told)


def hook_jax(folder):
    import jax
    step = jax.jit(lambda x: (x @ x).sum())
    x = jax.numpy.ones((256, 256))
    step(x).block_until_ready()
    with record.jax(folder) as recording:
        for _ in range(STEPS):
            with recording.step():
                step(x).block_until_ready()
    advice = recording.advise()
    check(advice, [advice])


def hook_tensorflow(folder):
    import tensorflow as tf
    step = tf.function(lambda x: tf.reduce_sum(x @ x))
    step(tf.ones((256, 256)))
    with record.tensorflow(folder) as recording:
        for _ in range(STEPS):
            with recording.step():
                step(tf.ones((256, 256))).numpy()
    advice = recording.advise()
    check(advice, [advice])


def hook_keras(folder):
    import keras, numpy
    import tfprof.keras
    model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    told = []
    callback = tfprof.keras.Advise(folder, first=3, count=STEPS, tell=told.append)
    model.fit(numpy.ones((160, 32), "float32"), numpy.ones((160, 1), "float32"), batch_size=8, verbose=0, callbacks=[callback])
    check(callback.advice, told)
    # Training that ends before the steps do is told of, too.
    short = tfprof.keras.Advise(folder / "short", first=18, count=STEPS, tell=told.append)
    model.fit(numpy.ones((160, 32), "float32"), numpy.ones((160, 1), "float32"), batch_size=8, verbose=0, callbacks=[short])
    assert told[1:] == [short.advice] and short.advice.json["steps"]["count"] <= 2


def hook_pytest(folder):
    (folder / "test_gate.py").write_text("""
RECORDING = %r
def test_holds(tfprof_gate):
    assert tfprof_gate(RECORDING, budget=["step_ms.p50 <= 1000"]).passed
def test_fails(tfprof_gate):
    tfprof_gate(RECORDING, budget=["step_ms.p50 <= 1"])
""" % str(ROOT / "cases/recordings/tf2-input-sequential-map"))
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "tfprof.pytest_plugin", "-p", "no:cacheprovider", "-q", folder],
                          capture_output=True, text=True)
    assert "1 failed, 1 passed" in done.stdout and "fail: step_ms.p50 is 13.1 ms, budget <= 1.00 ms" in done.stdout, done.stdout


PACKAGES = {"torch": "torch", "lightning": "lightning", "huggingface": "transformers", "jax": "jax", "tensorflow": "tensorflow",
            "keras": "keras", "pytest": "pytest"}
done = []
for name in sys.argv[2:] or PACKAGES:
    if not sys.argv[2:] and importlib.util.find_spec(PACKAGES[name]) is None:
        continue
    with tempfile.TemporaryDirectory() as work:
        globals()["hook_" + name](pathlib.Path(work))
    done.append(name)
assert done, "none of the packages is there"
print("hooks: " + ", ".join(done))
