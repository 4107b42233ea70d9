#!/usr/bin/python3
"""Runs what docs/ci.md tells people to copy, without the services: snippets parse, and their commands gate a recorded
program as the page says.
    usage: check_ci.py TFPROF CASES_DIR"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

TFPROF, CASES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "ci.md")
with open(TFPROF, "rb") as program:
    RELEASE = {"release": f"file://{TFPROF}", "sha256": hashlib.sha256(program.read()).hexdigest()}
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
        # The container's program sees the folder as /data.
        with open(f"{folder}/bin/podman", "w", encoding="utf-8") as tool:
            tool.write('#!/bin/bash\n[ "$1" != build ] || exit 0\n[[ " $* " == *" -v $PWD:/data:ro tfprof "* ]] || exit 125\n'
                       'while [ "$1" != tfprof ]; do shift; done\nexec "${@//\\/data/$PWD}"\n')
        os.chmod(f"{folder}/bin/podman", 0o755)
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


def bisect(block):
    """Runs the recipe in a repository of eight commits: the third records nothing, the fourth is another program,
    the sixth is the first slow one. Says what is wrong with the answer."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "ASAN_OPTIONS": "detect_leaks=0",
                       "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

        def git(*arguments):
            done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
                                  cwd=f"{folder}/tree", env=environment, capture_output=True, text=True, check=True)
            return done.stdout.strip()

        os.makedirs(f"{folder}/bin")
        os.makedirs(f"{folder}/tree/perf")
        os.symlink(TFPROF, f"{folder}/bin/tfprof")
        git("init", "-q")
        subprocess.run([TFPROF, "baseline", f"{PAIR}/fixed", "-o", f"{folder}/tree/perf/base.tfbase", "--config", "none"],
                       check=True, env=environment)
        with open(f"{folder}/tree/.gitignore", "w", encoding="utf-8") as ignored:
            ignored.write("logdir\n")
        copy = f'rm -rf "$1"; cp -R "{PAIR}/%s" "$1"'
        sides = [copy % "fixed", copy % "fixed", "exit 1", copy % "../jax-clean-mlp-scan/profile", copy % "fixed",
                 copy % "slow", copy % "slow", copy % "slow"]
        commits = []
        for number, side in enumerate(sides):
            with open(f"{folder}/tree/record.sh", "w", encoding="utf-8") as script:
                script.write(f"#!/bin/sh\n# commit {number}\n{side}\n")
            os.chmod(f"{folder}/tree/record.sh", 0o755)
            if number == 5:
                os.unlink(f"{folder}/tree/perf/base.tfbase")
            git("add", "-A")
            git("commit", "-q", "-m", f"commit {number}")
            commits.append(git("rev-parse", "HEAD"))
        recipe = block.replace("GOOD", commits[0]).replace("BAD", commits[-1]).replace("/tmp/base", f"{folder}/base")
        done = subprocess.run(["sh", "-c", recipe], cwd=f"{folder}/tree", env=environment, capture_output=True,
                              text=True, check=False)
        if f"{commits[5]} is the first bad commit" in done.stdout:
            return None
        return f"FAULT bisect: not commit 5 of {commits}\n{done.stdout}\n{done.stderr}"


def action(inputs):
    """Runs the gate of action.yml as a runner does; exit status, outputs, summary."""
    with open(os.path.join(os.path.dirname(PAGE), "..", "action.yml"), encoding="utf-8") as file:
        given = yaml.safe_load(file)
    assert all(step.get("shell") == "bash" for step in given["runs"]["steps"] if "run" in step)
    # A value inside of a script would be run as part of it.
    assert not any("${{" in step["run"] for step in given["runs"]["steps"] if "run" in step)
    install, gate = ([step for step in given["runs"]["steps"] if step.get("id") == name][0] for name in ("install", "gate"))
    shell = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TFPROF, "baseline", f"{PAIR}/fixed", "-o", f"{folder}/base.tfbase", "--config", "none"], check=True)
        known = {"runner.temp": folder, **{f"inputs.{name}": inputs.get(name, "") for name in given["inputs"]}}
        known["github.action_path"] = "/nowhere"

        def step(which):
            values = {name: re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda m: known[m[1]], text) for name, text in which["env"].items()}
            values = {name: text.replace("BASE", f"{folder}/base.tfbase") for name, text in values.items()}
            return subprocess.run([*shell, which["run"]], cwd=folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, **values, "GITHUB_OUTPUT": f"{folder}/output",
                                       "GITHUB_STEP_SUMMARY": f"{folder}/summary", "ASAN_OPTIONS": "detect_leaks=0"})
        installed = step(install)
        if installed.returncode:
            return installed.returncode, "", False, installed.stdout + installed.stderr
        done = step(gate)
        outputs = dict(line.split("=", 1) for line in open(f"{folder}/output", encoding="utf-8").read().splitlines())
        has_files = all(os.path.getsize(outputs[name]) > 0 for name in ("sarif", "markdown")) if done.returncode in (0, 1, 4) else False
        return done.returncode, outputs["status"], has_files, done.stdout + done.stderr


def check_action():
    rows = [({"profile": f"{PAIR}/slow", "baseline": "BASE"}, 1, "::error"),
            ({"profile": f"{PAIR}/fixed\n{PAIR}/fixed\n", "baseline": "BASE"}, 0, ""),
            ({"profile": f"{PAIR}/fixed", "budget": "step_ms.p50 <= 1000\nfindings.total >= 0"}, 0, ""),
            ({"profile": f"{PAIR}/fixed", "budget": "step_ms.p50 <= 0.001"}, 1, "step_ms.p50"),
            ({"profile": f"{PAIR}/fixed", "budget": "step_ms.p50 <= 0.001", "options": "--no-such-option"}, 2, "no-such-option"),
            ({"profile": "$(touch broken); `touch broken`", "budget": "step_ms.p50 <= 1"}, 3, "cannot be opened")]
    for inputs, expected, part in rows:
        status, told, has_files, text = action({**RELEASE, **inputs})
        if status != expected or told != str(expected) or part not in text or (expected < 2 and not has_files):
            yield f"FAULT action {inputs}: status {status}, expected {expected}\n{text}"
    for inputs, part in ({**RELEASE, "sha256": "0" * 64}, "FAILED"), ({"release": "file:///nowhere"}, "curl"), ({}, "/nowhere"):
        status, _, _, text = action({"profile": f"{PAIR}/fixed", **inputs})
        if not status or part not in text:
            yield f"FAULT action {inputs}: status {status}, expected {expected}\n{text}"


def template(inputs):
    """Runs the job of templates/tfprof-gate.yml as a runner does, with the program in its cache; exit status and reports."""
    with open(os.path.join(os.path.dirname(PAGE), "..", "templates/tfprof-gate.yml"), encoding="utf-8") as file:
        head, given = yaml.safe_load_all(file)
    values = {name: (row or {}).get("default") for name, row in head["spec"]["inputs"].items()} | inputs
    assert None not in values.values(), values
    [job] = given.values()
    script = [*job["before_script"], *job["script"]]
    # A value inside of a script would be run as part of it.
    assert not any("$[[" in step for step in script)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TFPROF, "baseline", f"{PAIR}/fixed", "-o", f"{folder}/base.tfbase", "--config", "none"], check=True)
        variables = {name: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda m: values[m[1]], text) for name, text in job["variables"].items()}
        done = subprocess.run(["sh", "-e", "-c", "\n".join(script)], cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, **variables, "ASAN_OPTIONS": "detect_leaks=0"})
        reports = [os.path.exists(f"{folder}/{path}") for path in job["artifacts"]["reports"].values()]
        return done.returncode, all(reports), done.stdout + done.stderr, os.path.exists(f"{folder}/broken")


def check_template():
    rows = [({"profile": f"{PAIR}/slow", "baseline": "base.tfbase"}, 1, ""),
            ({"profile": f"{PAIR}/fixed\n{PAIR}/fixed\n", "baseline": "base.tfbase"}, 0, ""),
            ({"profile": f"{PAIR}/fixed", "budget": "step_ms.p50 <= 1000\nfindings.total >= 0"}, 0, ""),
            ({"profile": f"{PAIR}/fixed", "budget": "step_ms.p50 <= 0.001"}, 1, "step_ms.p50"),
            ({"profile": f"{PAIR}/fixed", "budget": "step_ms.p50 <= 0.001", "options": "--no-such-option"}, 2, "no-such-option"),
            ({"profile": "$(touch broken); `touch broken`", "budget": "step_ms.p50 <= 1"}, 3, "cannot be opened"),
            ({"profile": f"{PAIR}/fixed", "sha256": "0" * 64}, 1, "FAILED")]
    for inputs, expected, part in rows:
        status, has_files, text, is_broken = template({**RELEASE, **inputs})
        if status != expected or part not in text or is_broken or (expected < 2 and part != "FAILED" and not has_files):
            yield f"FAULT template {inputs}: status {status}, expected {expected}\n{text}"


def main():
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```(\w+)\n(.*?)```", file.read(), re.S)
    faults, ran = 0, 0
    for language, block in blocks:
        for command in commands(language, block):
            if "git bisect" in command:
                ran += 1
                fault = bisect(block)
                if fault:
                    faults += 1
                    print(fault)
                continue
            gates = "tfprof gate" in command
            for side, expected in (("slow", 1 if gates else 0), ("fixed", 0)):
                status, missing, stderr = run(command, side)
                ran += 1
                if status != expected or missing:
                    faults += 1
                    print(f"FAULT {side}: status {status}, expected {expected}; missing {missing}\n{command}\n{stderr}")
    for fault in [*check_action(), *check_template()]:
        faults += 1
        print(fault)
    print(f"{len(blocks)} snippets, {ran} commands run, {faults} faults")
    return 1 if faults or ran < 10 else 0


sys.exit(main())
