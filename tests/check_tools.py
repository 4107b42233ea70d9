#!/usr/bin/env python3
"""Holds the tools' pages (overview, input, ops ...) of recordings against their schema, and each number on them
against what `tfprof info` and `tfprof table` say: the same thing has one number everywhere.
usage: check_tools.py TFPROF DOCS RECORDING..."""
import json
import pathlib
import subprocess
import sys

import jsonschema

tfprof, docs, recordings = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
schema = json.loads((docs / "tool.schema.json").read_text(encoding="utf-8"))
validator = jsonschema.Draft202012Validator(schema)
TOOLS = ("overview", "input", "ops", "kernels", "memory", "pod", "datasets", "roofline")
failures, checked = [], 0


def run(*arguments):
    return subprocess.run([tfprof, *arguments, "--threads=1"], capture_output=True, text=True, check=False)


def differ(where, what, got, want):
    if got != want:
        failures.append(f"{where}: {what}: {got!r}, elsewhere {want!r}")


def check_facts(where, section, facts, units):
    for fact in section["facts"]:
        want = facts.get(fact["name"])
        if units.get(fact["name"]) == "ms" and fact["unit"] == "ns":
            want *= 1e6
        if isinstance(want, float) and isinstance(fact["value"], (int, float)):  # info prints six digits
            same = abs(fact["value"] - want) <= 1e-5 * abs(want) + 1e-12
        else:
            same = fact["value"] == want
        if not same:
            failures.append(f"{where}: {fact['name']} is {fact['value']!r}, info says {want!r}")
    for name in (entry["name"] for entry in section["absent"]):
        differ(where, f"{name} is absent, though info has it", name in facts, False)


def check_rows(where, section, path):
    name = section["table"]
    got = run("table", name, path, "--format=json", *(["--where", section["where"]] if "where" in section else []))
    differ(where, f"{name} is there", "rows" in section, got.returncode == 0)
    if "rows" not in section or got.returncode:
        return
    table = json.loads(got.stdout)
    shown = {column["name"] for column in section["columns"]}
    want = sorted(json.dumps({key: value for key, value in row.items() if key in shown}, sort_keys=True)
                  for row in table["rows"])
    differ(where, f"rows of {name}", sorted(json.dumps(row, sort_keys=True) for row in section["rows"]), want)


def check_advice(path):
    """Pages of the input end with what advise says of it."""
    advice = json.loads(run("advise", path, "--only", "input", "--config", "none", "--format=json").stdout)
    titles = [finding["title"] for finding in advice["findings"] if finding["category"] == "input" and not finding.get("hidden_by")]
    for tool in ("input", "datasets"):
        said = " ".join(run(tool, path).stdout.partition("What to change")[2].split())
        differ(f"{tool} {pathlib.Path(path).name}", "what to change", [title for title in titles if title in said], titles)


for path in recordings:
    check_advice(path)
    info = json.loads(run("info", path, "--format=json").stdout)
    facts, units = info["facts"], info["fact_units"]
    for tool in TOOLS:
        where = f"{tool} {pathlib.Path(path).name}"
        got, text = run(tool, path, "--format=json"), run(tool, path)
        if got.returncode or text.returncode:
            failures.append(f"{where}: exit {got.returncode} and {text.returncode}: {got.stderr}{text.stderr}")
            continue
        page, unwrapped = json.loads(got.stdout), " ".join(text.stdout.split())
        for error in validator.iter_errors(page):
            failures.append(f"{where}: {error.message[:200]}")
        for section in page["sections"]:
            differ(where, f"the title '{section['title']}' in text", section["title"] in unwrapped, True)
            if "facts" in section:
                check_facts(where, section, facts, units)
            else:
                check_rows(where, section, path)
            checked += 1
print("\n".join(failures[:50]))
print(f"{checked} sections, {len(failures)} differences")
sys.exit(1 if failures or checked == 0 else 0)
