"""A job of six ranks for tests: rank 3 computes 8 ms a step where the others take 5."""
import pathlib
import subprocess

LATE, RANKS = 3, 6
SKETCH = """format kineto
gpu "NVIDIA A100" memory 40GB sms 108 compute 8.0
ranks 6
step x12
  op aten::mm
    kernel sgemm 5ms
  rank 3
    op aten::slow
      kernel slow 3ms
  rank 0 to 2
    collective all-reduce 4ms 400MB stream 20 late 5ms group 6
  rank 4 to 5
    collective all-reduce 4ms 400MB stream 20 late 5ms group 6
  rank 3
    collective all-reduce 1ms 400MB stream 20 late 8ms group 6
  sync
"""


def record(tfprof, folder, broken=None, sketch=SKETCH):
    """Writes a file a rank into `folder`; that of rank `broken` is none."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    (folder / "job.synth").write_text(sketch, encoding="utf-8")
    subprocess.run([tfprof, "synth", folder / "job.synth", "-o", folder / "run.json"], check=True)
    (folder / "job.synth").unlink()
    paths = sorted(folder.glob("run-*.json"))
    if broken is not None:
        paths[broken].write_text("no recording", encoding="utf-8")
    return paths
