#!/usr/bin/python3
"""Holds the JSON of `tfprof advise` against its contract, over recorded profiles.

usage: tests/check_advice.py TFPROF SCHEMA RECORDINGS

RECORDINGS is a folder with a folder a recording, or that folder's slow/, fixed/ or profile/.

Checked: docs/advice.schema.json, the order of the top keys, that parts of the step sum to it, that
priced findings come before others and ranks count up, that coverage adds up, and that a second run
prints the same bytes.
"""
import json
import pathlib
import subprocess
import sys

import jsonschema

KEYS = ["schema", "tool", "profile", "steps", "composition", "verdict", "findings", "together",
        "coverage"]


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
        if "mid_ms" in impact and not impact["low_ms"] <= impact["mid_ms"] <= impact["high_ms"]:
            yield f"{finding['rule']}: low, mid and high are out of order"
    coverage = advice["coverage"]
    counted = (coverage["found"] + coverage["quiet"] + len(coverage["skipped"])
               + len(coverage["failed"]))
    if counted != coverage["rules"]:
        yield f"coverage counts {counted} of {coverage['rules']} rules"
    if coverage["failed"]:
        yield f"rules failed: {coverage['failed']}"


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
            faults = faults or list(faults_of(advice))
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
