#!/usr/bin/python3
"""tfprof-mpi: on as many processes as one likes it writes the bytes that one process writes, and says what it says.
    usage: check_mpi.py TFPROF      beside it tfprof-mpi, and mpirun on PATH"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from ranks_job import LATE, RANKS, record

SKIPPED, FORMAT_ERROR, USAGE = 77, 3, 2
TFPROF = pathlib.Path(sys.argv[1]).resolve()
MPI = TFPROF.parent / "tfprof-mpi"
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def run(*command):
    return subprocess.run(command, capture_output=True, check=False, env=ENVIRONMENT)


def mpi(processes, *arguments):
    return run("mpirun", "-n", str(processes), MPI, *arguments)


def check(folder):
    traces = folder / "traces"
    recordings = record(TFPROF, traces)
    alone = run(TFPROF, "summarize", traces)
    assert alone.returncode == 0, alone.stderr
    for processes in (1, 2, 3, 5, 8):  # more than there are recordings, too
        merged = mpi(processes, "merge", traces)
        assert merged.returncode == 0 and merged.stdout == alone.stdout, (processes, merged.stderr)
    advice = mpi(3, "advise", traces, "--format", "json")
    found = {finding["rule"]: (finding.get("subject") or {}).get("rank") for finding in json.loads(advice.stdout)["findings"]}
    assert found["straggler-rank"] == LATE, found
    # Summaries instead of recordings, and the command's own exit status.
    sums = folder / "sums"
    sums.mkdir()
    for recording in recordings:
        assert run(TFPROF, "summarize", recording, "-o", sums / f"{recording.name}.ranks").returncode == 0
    assert mpi(4, "merge", sums).stdout == alone.stdout
    failing = mpi(2, "advise", traces, "--fail-on", "info")
    assert failing.returncode == 1, (failing.returncode, failing.stderr)
    # A recording that is none costs its own rank.
    recordings[RANKS - 1].write_text("no recording", encoding="utf-8")
    rest = mpi(2, "merge", traces)
    assert rest.returncode == 0 and recordings[RANKS - 1].name in rest.stderr.decode(), rest.stderr
    assert rest.stdout == run(TFPROF, "summarize", *recordings[:-1]).stdout
    # And nothing is no job.
    (folder / "none").mkdir()
    for arguments, status in ((("advise", folder / "none"), None), (("advise",), USAGE)):
        done = mpi(2, *arguments)
        assert done.returncode == status or (status is None and done.returncode), (arguments, done.returncode)
        assert done.stderr and not done.stdout, done


if not MPI.exists():
    print("skipped: no tfprof-mpi was built; on Debian: apt-get install libopenmpi-dev, then configure again")
    raise SystemExit(SKIPPED)
if not shutil.which("mpirun"):
    print("skipped: no mpirun; on Debian: apt-get install openmpi-bin")
    raise SystemExit(SKIPPED)
with tempfile.TemporaryDirectory() as name:
    check(pathlib.Path(name))
