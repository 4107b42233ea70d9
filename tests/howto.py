#!/usr/bin/env python3
"""The recipes of docs/recording.md, run as they stand there inside of the real frameworks: each leaves a recording of marked
steps in which `tfprof advise` finds as many as were recorded; programs that listen, or ask a daemon, are recorded while they run.

    howto.py TFPROF [NAME]...      NAME of `tfprof howto`

Runs those whose framework is there, or fails where one is named that is not. Takes minutes, so tests/run does not run it.
"""
import importlib.util
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

# What a recipe takes for granted: the user's own program.
TORCH = """
import torch
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [torch.randn(32, 64) for _ in range(60)]
def train_step(batch):
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
"""
DDP = """
import os, torch
torch.distributed.init_process_group("gloo")
""" + TORCH.replace("optimizer = ", "model = torch.nn.parallel.DistributedDataParallel(model)\noptimizer = ")
LIGHTNING = """
import lightning, torch
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)
    def training_step(self, batch, _):
        return self.layer(batch).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
model, loader = Model(), torch.utils.data.DataLoader(torch.randn(32 * 60, 64), batch_size=32)
"""
HUGGINGFACE = """
import torch, transformers
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 120
    def __getitem__(self, index):
        return {"input_ids": torch.arange(8) + index % 50, "labels": torch.arange(8)}
model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=100, n_positions=16, n_embd=16, n_layer=1, n_head=2))
trainer = transformers.Trainer(model, transformers.TrainingArguments(
    "out", max_steps=60, per_device_train_batch_size=4, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True),
    train_dataset=Rows())
"""
TENSORFLOW = """
import tensorflow as tf
weights = tf.Variable(tf.ones((64, 64)))
@tf.function
def train_step(batch):
    weights.assign_sub(0.001 * (batch @ weights))
batches = iter(tf.data.Dataset.from_tensors(tf.ones((64, 64))).repeat())
train_step(next(batches))
"""
KERAS = """
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
dataset = tf.data.Dataset.from_tensors((tf.ones((32, 64)), tf.ones((32, 1)))).repeat()
"""
TF1 = """
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
weights = tf.Variable(tf.ones((64, 64)))
train_op = tf.assign_sub(weights, 0.001 * tf.matmul(weights, weights))
session = tf.Session()
session.run(tf.global_variables_initializer())
"""
JAX = """
import jax
@jax.jit
def step(state, batch):
    state = state - 0.001 * (batch @ state)
    return state, state.sum()
train_step = step
def endless():
    while True:
        yield jax.numpy.ones((64, 64))
batches = endless()
state, loss = train_step(jax.numpy.ones((64, 64)), next(batches))
"""
SERVER = {"tensorflow": TENSORFLOW + """
for number in range(100000):
    with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
        train_step(next(batches))
    import time; time.sleep(0.002)
""", "jax": JAX + """
for number in range(100000):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        state, loss = train_step(state, next(batches))
        loss.block_until_ready()
    import time; time.sleep(0.002)
"""}
DAEMON = TORCH + """
import time
end = time.time() + 120
while time.time() < end:
    train_step(loader[0])
    time.sleep(0.002)
"""
# Package, the program before the recipe, and the steps that it records (those that count may be one less).
RECIPES = {"torch": ("torch", TORCH, 10), "ddp": ("torch", DDP, 5), "lightning": ("lightning", LIGHTNING, 10),
           "huggingface": ("transformers", HUGGINGFACE, 10), "tensorflow": ("tensorflow", TENSORFLOW, 10),
           "keras": ("tensorflow", KERAS, 10), "tf1": ("tensorflow", TF1, 10), "jax": ("jax", JAX, 10)}
LIVE = {"server": ("tensorflow", "jax"), "daemon": ("torch",)}
TFPROF = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = {**os.environ, "PATH": f"{TFPROF.parent}:{os.environ['PATH']}", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def is_there(package):
    return importlib.util.find_spec(package) is not None


def recipe(name):
    """Its Python, and its commands."""
    text = subprocess.run([TFPROF, "howto", name], capture_output=True, text=True, check=True).stdout
    blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.S)
    return "".join(code for language, code in blocks if language == "python"), [code for language, code in blocks if language == "sh"]


def run(folder, *command, **more):
    done = subprocess.run(command, cwd=folder, env={**ENVIRONMENT, **more}, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
    return done.stdout


def advise(folder, command):
    """`tfprof advise PLACE` of the recipe, as JSON."""
    (place,) = re.findall(r"^tfprof advise (\S+)", command, re.M)
    return json.loads(run(folder, str(TFPROF), "advise", place, "--format", "json"))


def check_recipe(name, folder):
    _, program, steps = RECIPES[name]
    python, commands = recipe(name)
    (folder / "program.py").write_text(program + python, encoding="utf-8")
    if name == "ddp":
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        ranks = [subprocess.Popen([sys.executable, "program.py"], cwd=folder, stderr=subprocess.PIPE, text=True,
                                  env={**ENVIRONMENT, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                                       "MASTER_PORT": port}) for rank in range(2)]
        for rank in ranks:
            _, said = rank.communicate(timeout=300)
            assert rank.returncode == 0, said[-3000:]
    else:
        run(folder, sys.executable, "program.py")
    advice = advise(folder, commands[0])
    assert name == "tf1" or advice["steps"]["source"] == "marker", advice["steps"]
    assert steps - 1 <= advice["steps"]["count"] <= steps + 1, advice["steps"]
    assert advice["profile"]["hosts"] == (2 if name == "ddp" else 1), advice["profile"]
    if name == "tf1":  # the rest of its commands, but for what they print
        for command in commands[1:]:
            (folder / "types.sh").write_text(command.replace("encoder = model/encoder/.*", "encoder = .*"), encoding="utf-8")
            run(folder, "sh", "-eu", "types.sh")
        run(folder, "sh", "-euc", re.findall(r"^tfprof scope.*", commands[0], re.M)[0])


def check_server(framework, folder):
    python, commands = recipe("server")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    if framework == "jax":  # the recipe tells JAX's call beside TensorFlow's
        python = "import jax\n" + re.search(r"JAX: (\S+\))", python)[1]
    (folder / "program.py").write_text(python.replace("6009", port) + "\n" + SERVER[framework], encoding="utf-8")
    with subprocess.Popen([sys.executable, "program.py"], cwd=folder, env=ENVIRONMENT, stderr=subprocess.DEVNULL) as program:
        try:
            run(folder, "sh", "-euc", commands[0].split("tfprof advise")[0].replace("6009", port))
        finally:
            program.kill()
    advice = advise(folder, commands[0])
    assert advice["steps"]["source"] == "marker" and advice["steps"]["count"] > 5, advice["steps"]


def check_daemon(folder):
    """PyTorch without an accelerator records little but calls of Python this way, so those are asked for."""
    _, commands = recipe("daemon")
    (folder / "train.py").write_text(DAEMON, encoding="utf-8")
    capture = re.findall(r"^tfprof capture.*", commands[0], re.M)[0]
    with subprocess.Popen([sys.executable, "train.py"], cwd=folder, env={**ENVIRONMENT, "KINETO_USE_DAEMON": "1"},
                          stderr=subprocess.DEVNULL) as program:
        try:
            time.sleep(1)
            out = run(folder, "sh", "-euc", f"{capture} --python")
        finally:
            program.kill()
    assert out.strip().endswith(f"_{program.pid}.json"), out
    advice = advise(folder, commands[0])
    assert advice["profile"]["format"] == "kineto" and advice["profile"]["hosts"] == 1, advice["profile"]


def main(*names):
    checks = [(name, [package], lambda folder, name=name: check_recipe(name, folder)) for name, (package, _, _) in RECIPES.items()]
    checks += [("server", [framework], lambda folder, framework=framework: check_server(framework, folder))
               for framework in LIVE["server"]]
    checks += [("daemon", list(LIVE["daemon"]), check_daemon)]
    done, faults = [], 0
    for name, packages, check in checks:
        if names and name not in names or not all(map(is_there, packages)):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            try:
                check(pathlib.Path(temporary))
                print(f"{name} ({packages[0]}): ok", flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                faults += 1
                print(f"{name} ({packages[0]}): {error}", flush=True)
        done.append(name)
    missing = set(names) - set(done)
    assert not missing, f"no such recipe, or its framework is not installed: {', '.join(sorted(missing))}"
    return faults > 0


sys.exit(main(*sys.argv[2:]))
