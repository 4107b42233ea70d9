#!/usr/bin/python3
"""Runs what docs/ci.md tells people to copy, without the services: snippets parse, and their commands gate a recorded
program as the page says.
    usage: check_ci.py TFPROF CASES_DIR"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

TFPROF, CASES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "ci.md")
PAIR = os.path.join(CASES, "pairs", "tf2-onehot-embedding")


def strings(value):
    """All strings in a parsed YAML document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def commands(language, block):
    """The shell commands of a snippet that record or gate."""
    if language == "yaml":
        found = list(strings(yaml.safe_load(block)))
    elif language == "groovy":
        found = re.findall(r"sh '([^']+)'", block)
    else:
        found = [block]
    return [text for text in found if "tfprof " in text]


def run(command, side):
    """Exit status of a command in a project whose recording is one side of the pair, and the files it left."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/perf")
        os.mkdir(f"{folder}/runs")
        os.mkdir(f"{folder}/bin")
        os.symlink(TFPROF, f"{folder}/bin/tfprof")
        with open(f"{folder}/record.sh", "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nrm -rf "$1"; cp -R "{PAIR}/{side}" "$1"\n')
        os.chmod(f"{folder}/record.sh", 0o755)
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "ASAN_OPTIONS": "detect_leaks=0"}
        shutil.copytree(f"{PAIR}/{side}", f"{folder}/logdir")
        subprocess.run([TFPROF, "baseline", f"{PAIR}/fixed", "-o", f"{folder}/perf/base.tfbase", "--config", "none"],
                       check=True, env=environment)
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                              check=False)
        missing = [path for path in re.findall(r"--report \w+=(\S+)", command) if not os.path.exists(f"{folder}/{path}")]
        return done.returncode, missing, done.stderr


def main():
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```(\w+)\n(.*?)```", file.read(), re.S)
    faults, ran = 0, 0
    for language, block in blocks:
        for command in commands(language, block):
            if "git bisect" in command:
                continue
            gates = "tfprof gate" in command
            for side, expected in (("slow", 1 if gates else 0), ("fixed", 0)):
                status, missing, stderr = run(command, side)
                ran += 1
                if status != expected or missing:
                    faults += 1
                    print(f"FAULT {side}: status {status}, expected {expected}; missing {missing}\n{command}\n{stderr}")
    print(f"{len(blocks)} snippets, {ran} commands run, {faults} faults")
    return 1 if faults or ran < 10 else 0


sys.exit(main())
