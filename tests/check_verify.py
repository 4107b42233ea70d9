#!/usr/bin/python3
"""verify on a recorded pair: as text, as JSON by its schema, and as lines of a ledger that calibrate reads.
    usage: check_verify.py TFPROF PAIRS_DIR"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

TFPROF, PAIRS = sys.argv[1], pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).parent
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def run(*arguments):
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=False, env=ENVIRONMENT)


def verify(before, after, *options):
    return run(TFPROF, "verify", PAIRS / before, PAIRS / after, "--config", "none", *options)


def check_pair(ledger):
    """The cache that the fixed twin has saves two thirds of the step, which a half to four fifths were promised of."""
    pair = "tf2-input-no-cache"
    done = verify(f"{pair}/slow", f"{pair}/fixed", "--claimed", "tfdata-cache", "--ledger", ledger)
    assert done.returncode == 0 and done.stdout.startswith("Achieved: "), done.stdout + done.stderr
    done = verify(f"{pair}/slow", f"{pair}/slow", "--claimed", "tfdata-cache", "--ledger", ledger)
    assert done.returncode == 1 and done.stdout.startswith("Missed: "), done.stdout + done.stderr
    done = verify(f"{pair}/slow", f"{pair}/fixed", "--claimed", "tfdata-cache", "--format", "json")
    report = json.loads(done.stdout)
    jsonschema.validate(report, json.loads((HERE.parent / "docs" / "verify.schema.json").read_text(encoding="utf-8")))
    assert abs(report["before_ms"] - report["after_ms"] - report["achieved"]["mid_ms"]) < 0.01, report
    assert report["is_gone"] and report["same_work"] and report["promised"]["low_ms"] <= report["achieved"]["mid_ms"], report


def check_others(ledger):
    """Another program, with other parameters, or none that is said; nothing of it is told."""
    done = verify("tf2-input-no-cache/slow", "torch-float64/fixed", "--claimed", "tfdata-cache", "--ledger", ledger)
    assert done.returncode == 4 and "same work no: " in " ".join(done.stdout.split()), done.stdout + done.stderr
    done = verify("tf2-input-no-cache/slow", "tf2-input-no-cache/fixed")
    assert done.returncode == 2 and "--claimed" in done.stderr, done.stderr
    done = verify("tf2-input-no-cache/slow", "tf2-input-no-cache/fixed", "--claimed", "fp64-on-device")
    assert done.returncode == 2 and "these promise time: tfdata-cache" in done.stderr, done.stderr
    done = verify("tf2-input-no-cache/slow", "tf2-input-no-cache/fixed", "--claimed", "1", "--ledger", "/no/such/folder")
    assert done.returncode != 0 and "cannot append" in done.stderr, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        ledger = pathlib.Path(folder) / "ledger.jsonl"
        check_pair(ledger)
        check_others(ledger)
        lines = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]
        schema = jsonschema.Draft202012Validator(json.loads((HERE.parent / "docs" / "ledger.schema.json").read_text(encoding="utf-8")))
        assert not [fault.message for line in lines for fault in schema.iter_errors(line)]
        assert not schema.is_valid({**lines[0], "outcome": "better"}) and not schema.is_valid({"schema": "tfprof.ledger/1"})
        assert [line["outcome"] for line in lines] == ["achieved", "missed", "untold"], lines
        done = run(HERE / "bench" / "calibrate", TFPROF, "--ledger", ledger)
        assert done.returncode == 0 and done.stdout.startswith("2 pairs: tensorflow 2."), done.stdout + done.stderr
    print("verify: right")


main()
