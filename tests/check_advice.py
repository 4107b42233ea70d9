#!/usr/bin/python3
"""Holds the JSON of `tfprof advise` against its contract, over recorded profiles.

usage: tests/check_advice.py TFPROF SCHEMA RECORDINGS

RECORDINGS is a folder with a folder a recording, or that folder's slow/, fixed/ or profile/.

Checked: docs/advice.schema.json, the order of the top keys, that parts of the step sum to it, that
priced findings come before others and ranks count up, that coverage adds up, that the other formats
say the same, and that a second run prints the same bytes.
"""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

KEYS = ["schema", "tool", "profile", "steps", "composition", "verdict", "findings", "together",
        "coverage"]
# "1 copies a step wait": one thing in the plural
MANY_FOR_ONE = re.compile(r"(?<![\d.,])(?<!ank )(?<!GPU )\b1 (?!of )(?:[a-z]+ ){0,2}?(?:copies|calls|values|events|steps|"
                          r"kernels|conversions|allocations|collectives|pauses|barriers|times|ranks)\b")


def faults_of(advice):
    """Sentences about what the schema cannot say."""
    if list(advice) != KEYS:
        yield f"top keys are {list(advice)}"
    step_ms = advice["steps"]["wall_ms"]["mean" if advice["steps"].get("is_uneven") else "median"]
    parts_ms = sum(part["ms"] for part in advice["composition"])
    if advice["composition"] and abs(parts_ms - step_ms) > 1e-4 * step_ms:
        yield f"parts sum to {parts_ms} ms of {step_ms} ms"
    findings = advice["findings"]
    if [finding["rank"] for finding in findings] != list(range(1, len(findings) + 1)):
        yield "ranks do not count up from 1"
    priced = [finding["impact"]["method"] != "none" for finding in findings]
    if priced != sorted(priced, reverse=True):
        yield "an unpriced finding stands before a priced one"
    for finding in findings:
        impact = finding["impact"]
        for words in (finding["title"], finding["condition"]):
            if MANY_FOR_ONE.search(words) or "(null)" in words:
                yield f"{finding['rule']}: {words}"
        if "mid_ms" in impact and not impact["low_ms"] <= impact["mid_ms"] <= impact["high_ms"]:
            yield f"{finding['rule']}: low, mid and high are out of order"
    coverage = advice["coverage"]
    counted = (coverage["found"] + coverage["quiet"] + len(coverage["skipped"])
               + len(coverage["failed"]))
    if counted != coverage["rules"]:
        yield f"coverage counts {counted} of {coverage['rules']} rules"
    if coverage["failed"]:
        yield f"rules failed: {coverage['failed']}"


def faults_of_formats(tfprof, recording, advice):
    """Other formats hold what the JSON holds: as many visible findings, by rule, in the same order."""
    def run(name):
        return subprocess.run([tfprof, "advise", f"--format={name}", recording], capture_output=True,
                              check=True).stdout.decode()

    rules = [finding["rule"] for finding in advice["findings"] if "hidden_by" not in finding]
    sarif = json.loads(run("sarif"))
    schema = json.loads((pathlib.Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text("utf-8"))
    for error in jsonschema.Draft4Validator(schema).iter_errors(sarif):
        yield f"SARIF: {error.message}"
    if [result["ruleId"] for result in sarif["runs"][0]["results"]] != rules:
        yield "SARIF has other results"
    rows = list(csv.DictReader(io.StringIO(run("csv"))))
    if [(row["rule"], row["title"]) for row in rows] != [(finding["rule"], finding["title"])
                                                         for finding in advice["findings"]]:
        yield "CSV has other findings"
    for row, finding in zip(rows, advice["findings"]):
        if "mid_ms" in finding["impact"] and row["mid_ns"]:
            if abs(float(row["mid_ns"]) / 1e6 - finding["impact"]["mid_ms"]) > 1e-5 * finding["impact"]["mid_ms"]:
                yield f"CSV: {finding['rule']} saves {row['mid_ns']} ns"
    annotations = [line for line in run("github").splitlines() if line.startswith("::")]
    if len(annotations) != len(rules) + 1:
        yield f"{len(annotations)} annotations for {len(rules)} findings"
    visible = [finding for finding in advice["findings"] if "hidden_by" not in finding]
    for line, finding in zip(annotations[1:], visible):
        is_priced = finding["impact"]["method"] != "none" and "mid_ms" in finding["impact"] and "resource" not in finding["impact"]
        if ("; fixing it saves " in line or "; fixing it may save up to " in line) != is_priced:
            yield f"annotation of {finding['rule']}: {line}"
    if advice.get("together") and f"({advice['together'][-1]['speedup']:.2f} times as fast)" not in run("markdown"):
        yield "Markdown lacks what the first fixes give together"
    headings = [line for line in run("markdown").splitlines() if line.startswith("#### ")]
    if len(headings) > len(rules):
        yield f"{len(headings)} headings in Markdown for {len(rules)} findings"


def main():
    tfprof, schema_path, folder = sys.argv[1:]
    recordings = sorted(pathlib.Path(folder).iterdir())
    recordings = [part for recording in recordings
                  for part in [recording / name for name in ("slow", "fixed", "profile")
                               if (recording / name).is_dir()] or [recording]]
    with open(schema_path, encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    fault_count = 0
    for recording in recordings:
        command = [tfprof, "advise", "--format=json", recording]
        printed = [subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
                   for _ in range(2)]
        faults = []
        try:
            advice = json.loads(printed[0])
            faults += [f"{error.json_path}: {error.message}" for error in
                       validator.iter_errors(advice)]
            faults = faults or [*faults_of(advice), *faults_of_formats(tfprof, recording, advice)]
        except ValueError as error:
            faults.append(f"no JSON: {error}")
        if printed[0] != printed[1]:
            faults.append("a second run printed other bytes")
        for fault in faults:
            print(f"{recording}: {fault}")
        fault_count += len(faults)
    return fault_count > 0


if __name__ == "__main__":
    sys.exit(main())
