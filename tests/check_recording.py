#!/usr/bin/env python3
"""Holds docs/recording.md against `tfprof howto`: every recipe is printed, its Python is Python, and the commands that it
ends with exist.
usage: check_recording.py TFPROF PAGE"""
import ast
import pathlib
import re
import subprocess
import sys

tfprof, page = sys.argv[1], pathlib.Path(sys.argv[2]).read_text("utf-8")
failures = []


def howto(*arguments):
    return subprocess.run([tfprof, "howto", *arguments], capture_output=True, text=True, check=False)


sections = dict(part.split("\n", 1) for part in page.split("\n## ")[1:])
listed = [line.split()[2] for line in howto().stdout.splitlines()]
if listed != [*sections, "agent"]:
    failures.append(f"howto lists {listed}, the page has {list(sections)}")
if howto("agent").stdout != (pathlib.Path(sys.argv[2]).parent / "agent.md").read_text("utf-8"):
    failures.append("howto agent prints something else than docs/agent.md")
commands = subprocess.run([tfprof, "help"], capture_output=True, text=True, check=True).stdout
for name, body in sections.items():
    if howto(name).stdout != body.strip() + "\n":
        failures.append(f"howto {name} prints something else")
    blocks = re.findall(r"```(\w+)\n(.*?)```", body, re.S)
    for language, code in blocks:
        if language == "python":
            try:
                ast.parse(code)
            except SyntaxError as error:
                failures.append(f"{name}: {error}")
        for command in re.findall(r"^tfprof (\w+)", code if language == "sh" else "", re.M):
            if not re.search(rf"^ +{command} ", commands, re.M):
                failures.append(f"{name}: there is no tfprof {command}")
    if not any("tfprof advise" in code for _, code in blocks):
        failures.append(f"{name} does not end in advice")
for said, name in (("pytorch", "torch"), ("tf", "tensorflow"), ("hf", "huggingface")):
    if howto(said).stdout != howto(name).stdout:
        failures.append(f"howto {said} is not howto {name}")
wrong = howto("torhc")
if wrong.returncode != 2 or "did you mean torch" not in wrong.stderr:
    failures.append(f"a misspelled name: {wrong.returncode} {wrong.stderr}")
print("\n".join(failures))
print(f"{len(sections)} recipes, {len(failures)} faults")
sys.exit(1 if failures or not sections else 0)
