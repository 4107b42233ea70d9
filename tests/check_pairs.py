#!/usr/bin/env python3
"""Advice on recorded pairs: a program with a planted flaw and the same program without it.

    check_pairs.py TFPROF PAIRS_DIR

Each folder holds case.json (program, flaw or null, rules that name it, rules that would be wrong, measured
milliseconds a step of both) and the recordings slow/ and fixed/, or profile/ of a clean program.
What must hold: a rule that names the flaw comes first among the priced findings; its saving is within
30 points of the measured one; none of the wrong rules appears; fixed and clean recordings raise no
warning worth a twentieth of the step from a rule that names the flaw (clean: from any rule). The ranges
of the savings hold the measured ones in seven of ten pairs.
"""
import json, pathlib, subprocess, sys

LOUD_SHARE = 0.05
PRICE_POINTS = 0.30
RANGES_HOLD = 0.7
MEMORY_RATIO = 0.9      # a fix that saves less time than this is about something else


def advise(binary, folder):
    done = subprocess.run([binary, "advise", "--format", "json", str(folder)], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit("%s: exit %d: %s" % (folder, done.returncode, done.stderr.strip()))
    return json.loads(done.stdout)["findings"]


def priced(findings):
    return [f for f in findings if "mid_ms" in f["impact"]]


def loud(findings):
    return [f["rule"] for f in priced(findings)
            if f["severity"] in ("warn", "error") and f["impact"].get("share", 0) >= LOUD_SHARE]


def flaws_of(case, folder, binary, ranges):
    """What is wrong with the advice on one pair, as sentences. Adds to `ranges` whether its range holds the truth."""
    findings = advise(binary, folder / "slow")
    ranked = priced(findings)
    is_time = case["fixed_ms"] <= MEMORY_RATIO * case["slow_ms"]
    names = [f["rule"] for f in (ranked if is_time else findings)]
    if not names or names[0] not in case["accept"] and is_time or not set(names) & set(case["accept"]):
        yield "slow: expected one of %s first, found %s" % (case["accept"], names[:3])
    first = next((f for f in ranked if f["rule"] in case["accept"]), None)
    saved = 1 - case["fixed_ms"] / case["slow_ms"]
    if is_time and first and abs(first["impact"]["share"] - saved) > PRICE_POINTS:
        yield "slow: %s saves %.0f %%, measured %.0f %%" % (first["rule"], 100 * first["impact"]["share"], 100 * saved)
    if is_time and first:
        impact = first["impact"]
        step = impact["mid_ms"] / impact["share"]
        ranges.append(impact["low_ms"] <= saved * step <= impact["high_ms"])
    fixed = advise(binary, folder / "fixed")
    for rule in set(loud(fixed)) & set(case["accept"]):
        yield "fixed: still warns of " + rule
    for rule in {f["rule"] for f in findings + fixed} & set(case["must_not"]):
        yield "wrong rule " + rule


def main():
    binary, pairs = sys.argv[1], pathlib.Path(sys.argv[2])
    broken, ranges = 0, []
    folders = sorted(path.parent for path in pairs.glob("*/case.json"))
    for folder in folders:
        case = json.loads((folder / "case.json").read_text())
        if case["flaw"]:
            problems = list(flaws_of(case, folder, binary, ranges))
        else:
            findings = advise(binary, folder / "profile")
            problems = ["clean: warns of " + rule for rule in loud(findings)]
            problems += ["wrong rule " + f["rule"] for f in findings if f["rule"] in case["must_not"]]
        broken += bool(problems)
        for problem in problems:
            print("%s: %s" % (folder.name, problem))
    print("%d of %d pairs right" % (len(folders) - broken, len(folders)))
    print("the range holds what was saved in %d of %d" % (sum(ranges), len(ranges)))
    sys.exit(1 if broken or not folders or sum(ranges) < RANGES_HOLD * len(ranges) else 0)


main()
