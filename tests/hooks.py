#!/usr/bin/env python3
"""The module's hooks inside of the real frameworks: each records steps that are written here and must say what was written.

    hooks.py LIBRARY [torch|lightning|huggingface|jax|tensorflow|keras|pytest|tensorboard|mlflow|wandb]...
        LIBRARY: libtfprof.so.1 of a build

Runs those whose package is there and tells the others, or fails where one is named that is not; status 77 where none is. Takes
minutes with frameworks.
"""
import base64, contextlib, hashlib, importlib.util, json, os, pathlib, re, shutil, socket, subprocess, sys, tempfile
import urllib.error, urllib.parse, urllib.request

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


RECORDING = ROOT / "cases/recordings/tf2-input-sequential-map"


def shown(advice):
    return [finding for finding in advice if not finding.hidden_by]


@contextlib.contextmanager
def tensorboard_on(logdir, folder):
    """TensorBoard as a user starts it, with the entry point that pyproject.toml declares; gives its address."""
    entry = re.search(r'tensorboard_plugins\]\ntfprof = "(.*)"', (ROOT / "pyproject.toml").read_text())[1]
    about = folder / "site/tfprof-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tfprof\nVersion: 0\n")
    (about / "entry_points.txt").write_text("[tensorboard_plugins]\ntfprof = %s\n" % entry)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    paths = os.pathsep.join([str(folder / "site"), os.environ["PYTHONPATH"]])
    server = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", logdir, "--port", str(port)],
                              env=dict(os.environ, PYTHONPATH=paths), stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:  # ends where it does not start
            if "Press CTRL+C" in line:
                break
        yield "http://127.0.0.1:%d" % port
    finally:
        server.terminate()
        server.communicate()


def hook_tensorboard(folder):
    logs = folder / "logs"
    shutil.copytree(RECORDING, logs / "train")
    shutil.copy(ROOT / "cases/recordings/torch-ddp-straggler/slow/rank0.pt.trace.json.gz", logs / "w.pt.trace.json.gz")
    (logs / "bad.pt.trace.json").write_text("{")
    with tensorboard_on(logs, folder) as address:
        def get(path, **question):
            with urllib.request.urlopen("%s/data/%s?%s" % (address, path, urllib.parse.urlencode(question))) as answer:
                return answer.read().decode(), answer.headers
        listing = json.loads(get("plugins_listing")[0])["tfprof"]
        assert listing["enabled"] and listing["loading_mechanism"]["module_path"].endswith("/tfprof/index.js"), listing
        assert "export async function render" in get("plugin/tfprof/index.js")[0]
        names = json.loads(get("plugin/tfprof/recordings")[0])
        run = next((logs / "train").glob("**/plugins/profile/*"))
        assert names == sorted(["w.pt.trace.json.gz", "bad.pt.trace.json", str(run.relative_to(logs))], reverse=True), names
        page, headers = get("plugin/tfprof/page", recording=str(run.relative_to(logs)))
        assert page == tfprof.report(run)
        # A browser runs the page's script, and no other.
        script = re.findall(r"<script>(.*?)</script>", page, re.S)[-1]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert "script-src" in headers["Content-Security-Policy"] and "'sha256-%s'" % digest in headers["Content-Security-Policy"]
        for wrong, status in ("../secret", 404), (str(run), 404), ("bad.pt.trace.json", 422):
            try:
                get("plugin/tfprof/page", recording=wrong)
            except urllib.error.HTTPError as error:
                assert error.code == status, (wrong, error.code)
            else:
                raise AssertionError("%s has a page" % wrong)
        browser = shutil.which("chromium")
        if browser:
            inside = "%s/data/plugin/tfprof/page?recording=%s" % (address, urllib.parse.quote(str(run.relative_to(logs))))
            seen = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom", inside],
                                  capture_output=True, text=True, timeout=120).stdout
            seen = re.sub("<script.*?</script>", "", seen, flags=re.S).replace("&nbsp;", " ")
            assert shown(tfprof.advise(run))[0].title in seen, "the page did not start"


def hook_mlflow(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # newer ones want to be asked for stores without a database
    import mlflow
    import tfprof.mlflow
    mlflow.set_tracking_uri("file://%s/mlruns" % folder)
    with mlflow.start_run() as run:
        advice = tfprof.mlflow.log(RECORDING, step=3)
    client = mlflow.tracking.MlflowClient()
    assert sorted(item.path for item in client.list_artifacts(run.info.run_id, "tfprof")) == ["tfprof/advice.json", "tfprof/report.html"]
    place = pathlib.Path(client.download_artifacts(run.info.run_id, "tfprof", str(folder)))
    assert (place / "report.html").read_text() == tfprof.report(RECORDING)
    assert json.loads((place / "advice.json").read_text()) == advice.json
    metrics = client.get_run(run.info.run_id).data.metrics
    assert metrics["tfprof/step_ms"] == advice.step_ms and metrics["tfprof/findings"] == len(shown(advice))
    first = shown(advice)[0]
    assert metrics["tfprof/saves_ms/%s" % first.rule] == first.impact.mid_ms
    assert abs(sum(value for name, value in metrics.items() if name.startswith("tfprof/part_ms/")) - sum(
        part["ms"] for part in advice.json["composition"])) < 1e-6
    assert client.get_metric_history(run.info.run_id, "tfprof/step_ms")[0].step == 3
    # A run that is over, by its id; a recording that is none.
    tfprof.mlflow.log(RECORDING, run_id=run.info.run_id, artifact_path="again")
    assert client.list_artifacts(run.info.run_id, "again")
    try:
        tfprof.mlflow.log("nowhere", run_id=run.info.run_id)
    except tfprof.InputError:
        pass


def hook_wandb(folder):
    os.environ["WANDB_MODE"], os.environ["WANDB_SILENT"] = "offline", "true"
    os.environ["WANDB_DIR"] = os.environ["WANDB_DATA_DIR"] = os.environ["WANDB_CACHE_DIR"] = str(folder)
    import wandb
    import tfprof.wandb
    try:
        tfprof.wandb.log(RECORDING)
    except wandb.Error as error:
        assert "no run is active" in str(error)
    else:
        raise AssertionError("logs without a run")
    with wandb.init(project="tfprof", dir=str(folder)) as run:
        advice = tfprof.wandb.log(RECORDING)
        place, summary = pathlib.Path(run.dir), dict(run.summary)
    assert summary["tfprof/step_ms"] == advice.step_ms and summary["tfprof/findings"] is not None
    first = shown(advice)[0]
    assert summary["tfprof/saves_ms/%s" % first.rule] == first.impact.mid_ms
    page = next(place.glob("media/html/tfprof/report_*.html"))
    assert page.read_text() == tfprof.report(RECORDING)
    table = json.loads(next(place.glob("media/table/tfprof/findings_*.table.json")).read_text())
    assert [row[1] for row in table["data"]] == [finding.rule for finding in shown(advice)] and table["columns"][1] == "rule"
    # What is sent when the run is synchronised names the artifact and both files.
    log = b"".join(path.read_bytes() for path in folder.rglob("run-*.wandb"))
    assert all(word in log for word in (b"tfprof-" + run.id.encode(), b"report.html", b"advice.json"))


PACKAGES = {"torch": "torch", "lightning": "torch lightning", "huggingface": "torch transformers", "jax": "jax",
            "tensorflow": "tensorflow", "keras": "keras", "pytest": "pytest", "tensorboard": "tensorboard",
            "mlflow": "mlflow", "wandb": "wandb"}
done = []
for name in sys.argv[2:] or PACKAGES:
    missing = [package for package in PACKAGES[name].split() if importlib.util.find_spec(package) is None]
    if missing and not sys.argv[2:]:
        print("skipped: %s, no package %s" % (name, missing[0]))
        continue
    with tempfile.TemporaryDirectory() as work:
        globals()["hook_" + name](pathlib.Path(work))
    done.append(name)
print("hooks: " + ", ".join(done))
sys.exit(0 if done else 77)
