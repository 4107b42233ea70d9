#!/usr/bin/env python3
"""The programs of docs/scale.md for Dask and Ray, run as they stand there on clusters of this machine: they write what
`tfprof merge` writes, and name the late rank.

    clusters.py TFPROF LIBRARY [dask|ray]...      LIBRARY: libtfprof.so.1 of a build

Runs those whose package is there, or fails where one is named that is not. Takes minutes, so tests/run does not run it.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from ranks_job import record

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = {"dask": "distributed", "ray": "ray"}


def program(name):
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    section = page.split(f"\n## {name.capitalize()}\n")[1].split("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", section, re.S)
    return code


def check(name, tfprof, library):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        record(tfprof, folder / "traces")
        (folder / "job.py").write_text(program(name), encoding="utf-8")
        path = [str(tfprof.parent), os.environ["PATH"]]
        modules = [str(ROOT / "engine" / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run([sys.executable, "job.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=500,
                              env={**os.environ, "PATH": os.pathsep.join(path), "PYTHONPATH": os.pathsep.join(modules),
                                   "TFPROF_LIBRARY": str(library)})
        assert done.returncode == 0, done.stderr[-4000:]
        alone = subprocess.run([tfprof, "summarize", folder / "traces"], capture_output=True, check=True).stdout
        assert (folder / "job.ranks").read_bytes() == alone
        assert re.search(r"[Rr]ank 3\b", done.stdout), done.stdout


def main(tfprof, library, *names):
    for name in names or [name for name in PACKAGES if importlib.util.find_spec(PACKAGES[name])]:
        check(name, pathlib.Path(tfprof).resolve(), pathlib.Path(library).resolve())
        print(f"{name}: ok", flush=True)
    missing = [name for name in PACKAGES if not importlib.util.find_spec(PACKAGES[name])]
    if missing:
        print(f"not installed: {', '.join(missing)} (pip install dask distributed ray)")


main(*sys.argv[1:])
