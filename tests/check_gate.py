#!/usr/bin/python3
"""Gates recorded pairs of programs, and holds every output format against its published schema or a consumer of it.
    usage: check_gate.py TFPROF CASES_DIR
A slow program gated with its fixed one as the baseline fails and says so first in every format, and never passes; a
program gated with itself passes, and one half of a recording with the other never fails: where it looks slower, the gate
says how many steps or runs would settle it."""
import json
import os
import re
import subprocess
import sys
import tempfile

import jsonschema
from prometheus_client.openmetrics.parser import text_string_to_metric_families

TFPROF, CASES = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
DOCS = os.path.join(HERE, "..", "docs")
# One of each kind in every format: more ops, more allocations, retracing, wider types, a slower step alone, a leak.
PAIRS = ["torch-metrics-second-forward", "tf2-onehot-embedding", "tf2-retrace-python-scalar", "torch-float64",
         "tf2-input-no-prefetch", "torch-loss-history-leak"]
# Slow programs that no gate can fail: too few steps, steps that vary by more than the difference.
UNTOLD = {"tf2-keras-fit-overhead": "Inconclusive: too few steps",
          "tf1-score-one-by-one": "Inconclusive: too few steps",
          "jax-device-put-in-loop": "Inconclusive: step not surely slower"}
FORMATS = ["text", "json", "html", "markdown", "github", "sarif", "junit", "gitlab", "openmetrics", "tap"]
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT", what)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def run(*arguments):
    done = subprocess.run([TFPROF, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    return done.returncode, done.stdout, done.stderr


def gate(profile, baseline, *options):
    return run("gate", profile, "--baseline", baseline, "--config", "none", *options)


def consume(command, text, suffix):
    """Whether a program that reads the format takes the text."""
    with tempfile.NamedTemporaryFile("w", suffix=suffix, encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return subprocess.run([*command, file.name], capture_output=True, text=True, check=False)


def check_text(name, text, headline):
    expect(text.replace("\n", " ").startswith(headline), f"{name}: text starts with its headline")
    expect(all(len(line) <= 80 or " " not in line.strip() for line in text.splitlines()), f"{name}: text is 80 wide")


def check_json(name, text, headline):
    report = json.loads(text)
    jsonschema.validate(report, load(f"{DOCS}/gate.schema.json"))
    expect(report["headline"] == headline, f"{name}: JSON has the headline")
    if report["parts"]:
        parts = sum(round(part["change_ms"] * 1e6) for part in report["parts"])
        step = round((report["step"]["after_ms"] - report["step"]["before_ms"]) * 1e6)
        expect(parts == step, f"{name}: parts sum to {parts} ns, the step changed by {step} ns")
    if report["pieces"]:
        pieces = sum(round(piece["change_ms"] * 1e6) for piece in report["pieces"]) + round(report["rest_ms"] * 1e6)
        step = round((report["step"]["after_ms"] - report["step"]["before_ms"]) * 1e6)
        expect(pieces == step, f"{name}: pieces sum to {pieces} ns, the step changed by {step} ns")
        sizes = [abs(piece["change_ms"]) for piece in report["pieces"]]
        expect(sizes == sorted(sizes, reverse=True), f"{name}: the largest piece comes first")
        said = [piece[key].split(":")[0] for piece in report["pieces"] for key in ("was", "is") if key in piece]
        again = [change["title"] for change in report["changes"]
                 if not change.get("rule") and change["what"] in ("op", "kernel") and change["name"].split(":")[0] in said]
        expect(not again, f"{name}: said twice: {again}")


def check_markdown(name, text, headline):
    expect(len(text) < 65000, f"{name}: a comment of {len(text)} characters")
    expect(text.startswith("### tfprof gate: " + headline.split(":")[0]), f"{name}: Markdown starts with the headline")


def check_github(name, text, headline):
    for line in text.splitlines():
        expect(re.fullmatch(r"::(error|warning|notice) (file=[^,]+,line=\d+,)?title=[^:,]*::.+", line),
               f"{name}: a workflow command: {line}")
    expect(text.split("\n")[0].split("::")[2] == headline.replace("%", "%25"), f"{name}: GitHub sees the headline first")


def check_html(name, text, headline):
    """The page holds the result as data, in which no name can end the element."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1]
    result = json.loads(data)["gate"]
    jsonschema.validate(result, load(f"{DOCS}/gate.schema.json"))
    expect(result["headline"] == headline and "<" not in data, f"{name}: the page's headline is {result['headline']}")
    expect("default-src 'none'" in text and "http" not in re.sub(r"http-equiv|http://www.w3.org/2000/svg", "", text),
           f"{name}: the page asks for nothing")


def check_sarif(name, text, headline):
    report = json.loads(text)
    jsonschema.validate(report, load(f"{HERE}/schemas/sarif-2.1.0.json"), cls=jsonschema.Draft4Validator)
    sarif_run = report["runs"][0]
    known = {rule["id"] for rule in sarif_run["tool"]["driver"]["rules"]}
    for result in sarif_run["results"]:
        expect(result["ruleId"] in known, f"{name}: SARIF knows the rule {result['ruleId']}")
    expect(sarif_run["properties"]["headline"] == headline, f"{name}: SARIF has the headline")
    expect(sarif_run["results"][0]["message"]["text"] in headline, f"{name}: SARIF has the first check first")


def check_junit(name, text, headline):
    done = consume(["xmllint", "--noout", "--schema", f"{HERE}/schemas/junit-10.xsd"], text, ".xml")
    expect(done.returncode == 0, f"{name}: JUnit: {done.stderr}")
    expect("<failure " in text and "<system-out>" in text and headline.split(":")[0] in text,
           f"{name}: JUnit tells the failure")


def check_gitlab(name, text, headline):
    report = json.loads(text)
    for issue in report:
        expect(issue["severity"] in ("info", "minor", "major", "critical", "blocker"), f"{name}: {issue}")
        expect(issue["location"]["lines"]["begin"] >= 1 and issue["location"]["path"], f"{name}: {issue}")
        expect(issue["description"] and issue["check_name"] and issue["fingerprint"], f"{name}: {issue}")
    expect(report[0]["description"] in headline, f"{name}: GitLab sees the first check first")


def check_openmetrics(name, text, headline):
    families = {family.name: family for family in text_string_to_metric_families(text)}
    failed = [sample.value for sample in families["tfprof_gate_checks"].samples if sample.labels["outcome"] == "fail"]
    expect(failed[0] >= 1, f"{name}: OpenMetrics counts {failed} failed checks: {headline}")


def check_tap(name, text, headline):
    done = consume(["prove", "-e", "cat"], text, ".tap")
    expect(done.returncode == 1 and "Parse errors" not in done.stdout, f"{name}: TAP: {done.stdout}")
    expect("# " + headline in text, f"{name}: TAP has the headline")


def check_pair(name, folder):
    fixed, slow = (os.path.join(CASES, "pairs", name, side) for side in ("fixed", "slow"))
    baseline = os.path.join(folder, name + ".tfbase")
    status, _, stderr = run("baseline", fixed, "-o", baseline, "--config", "none")
    expect(status == 0, f"{name}: baseline: {stderr}")
    jsonschema.validate(load(baseline), load(f"{DOCS}/baseline.schema.json"))
    expect(not any(run["name"].startswith("/") for run in load(baseline)["runs"]), f"{name}: a baseline names its run, not its folder")
    expect(os.path.getsize(baseline) <= 100 << 10, f"{name}: a baseline of {os.path.getsize(baseline)} bytes")
    status, stdout, _ = gate(fixed, baseline)
    expect(status == 0, f"{name}: a program is as fast as itself: {stdout}")
    headline = json.loads(gate(slow, baseline, "--format", "json")[1])["headline"]
    for form in FORMATS:
        status, stdout, stderr = gate(slow, baseline, "--format", form)
        expect(status == 1, f"{name} {form}: status {status} {stderr}")
        globals()["check_" + form](name, stdout, headline)
    expect(gate(slow, baseline)[1] == gate(slow, baseline)[1], f"{name}: the same again gives the same again")


def check_untold(name, folder):
    """Slow against fixed in one format: fails, or says why it cannot."""
    fixed, slow = (os.path.join(CASES, "pairs", name, side) for side in ("fixed", "slow"))
    if not os.path.isdir(slow) or not os.path.isdir(fixed):
        return 0
    baseline = os.path.join(folder, name + ".tfbase")
    run("baseline", fixed, "-o", baseline, "--config", "none")
    status, stdout, _ = gate(slow, baseline)
    expect(status in (1, 4), f"{name}: slow against fixed passes: {stdout}")
    status, stdout, _ = gate(slow, baseline, "--counts", "strict")
    first = stdout.replace("\n", " ")
    expect(first.startswith(UNTOLD[name]) if name in UNTOLD else status == 1, f"{name}: slow against fixed: {stdout}")
    status, stdout, _ = gate(fixed, baseline)
    expect(status == 0 or "too few steps" in stdout, f"{name}: fixed against itself: {stdout}")
    return 1


def multiply(rows, times):
    """As many rows with long names that hold what markup and formats give a meaning to."""
    return [{**row, "name": f"{row.get('name', '')}|<b>`{number}\u00e9" + "|*_[x](y)" * 40} for row in rows
            for number in range(times)]


def check_huge(folder):
    """A difference in everything stays within what services take, in every format."""
    fixed, slow = (os.path.join(CASES, "pairs", "tf2-onehot-embedding", side) for side in ("fixed", "slow"))
    baseline = os.path.join(folder, "huge.tfbase")
    run("baseline", fixed, "-o", baseline, "--config", "none")
    text = load(baseline)
    for items in text["items"].values():
        items["rows"] = multiply(items["rows"], 200)[:2000]
    text["findings"] = []
    with open(baseline, "w", encoding="utf-8") as file:
        json.dump(text, file)
    budgets = [option for number in range(900) for option in ("--budget", f"step_ms.p50 <= {number + 1}ns")]
    headline = json.loads(gate(slow, baseline, "--format", "json", *budgets)[1])["headline"]
    for form in FORMATS:
        status, stdout, stderr = gate(slow, baseline, "--format", form, *budgets)
        expect(status == 1, f"huge {form}: status {status} {stderr}")
        globals()["check_" + form]("huge", stdout, headline)
    comment = gate(slow, baseline, "--format", "markdown", *budgets)[1]
    expect("more" in comment.split("<details>")[0].split("\n\n")[2], "huge: the comment says how many checks it leaves out")
    done = consume(["cmark-gfm", "-e", "table", "--to", "xml"], comment, ".md")
    expect(done.returncode == 0 and "<table>" in done.stdout.replace("table_header", ""), "huge: Markdown has its table")


def fingerprints(profile, baseline, *options):
    """Of each result in SARIF and GitLab, by rule and place."""
    sarif = json.loads(gate(profile, baseline, "--format", "sarif", *options)[1])["runs"][0]["results"]
    gitlab = json.loads(gate(profile, baseline, "--format", "gitlab", *options)[1])
    found = {}
    for result in sarif:
        place = json.dumps(result["locations"][0]["physicalLocation"], sort_keys=True)
        found.setdefault((result["ruleId"], place), set()).update(result["partialFingerprints"].values())
    for issue in gitlab:
        found.setdefault((issue["check_name"], str(issue["location"])), set()).add(issue["fingerprint"])
    every = [print_ for result in sarif for print_ in result["partialFingerprints"].values()]
    expect(len(set(every)) == len(every), f"{profile}: two results in SARIF have one fingerprint")
    return found


def check_fingerprints(name, folder):
    """The same alerts for another stretch of the recording, whose numbers are others."""
    profile, baseline = os.path.join(CASES, "pairs", name, "slow"), os.path.join(folder, name + ".tfbase")
    steps = json.loads(run("advise", profile, "--format", "json", "--config", "none", "--only", "too-few-steps")[1])["steps"]
    whole = fingerprints(profile, baseline)
    part = fingerprints(profile, baseline, "--steps", f"{steps['first']}:{steps['last'] - 2}")
    both = [key for key in whole if key in part]
    expect(both, f"{name}: no alert twice")
    for key in both:
        expect(whole[key] & part[key], f"{name}: the fingerprint of {key} changed: {whole[key]} {part[key]}")


def halves(profile):
    """Step ranges of the first and the second half of the used steps, or None."""
    report = json.loads(run("advise", profile, "--format", "json", "--config", "none", "--only", "too-few-steps")[1])
    steps = report["steps"]
    if steps["used"] < 12 or steps["last"] - steps["first"] + 1 != steps["used"]:
        return None
    middle = (steps["first"] + steps["last"]) // 2
    return f"{steps['first']}:{middle}", f"{middle + 1}:{steps['last']}"


def check_halves(name, side, folder):
    profile, baseline = os.path.join(CASES, "pairs", name, side), os.path.join(folder, "half.tfbase")
    ranges = os.path.isdir(profile) and halves(profile)
    if not ranges:
        return 0
    for before, after in (ranges, ranges[::-1]):
        run("baseline", profile, "--steps", before, "-o", baseline, "--config", "none")
        status, stdout, _ = gate(profile, baseline, "--steps", after)
        words = " ".join(stdout.split())
        expect(status == 0 or (status == 4 and any(reason in words for reason in (
                   "drifts within a recording", "would settle it", "rather than the code"))),
               f"{name} {side}: steps {after} are as fast as {before}: {stdout}")
    return 2


def main():
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in PAIRS:
            check_pair(name, folder)
            check_fingerprints(name, folder)
        check_huge(folder)
        every = sorted(os.listdir(os.path.join(CASES, "pairs")))
        pairs = sum(check_untold(name, folder) for name in every)
        for name in every:
            compared += sum(check_halves(name, side, folder) for side in ("slow", "fixed"))
    expect(pairs >= 25 and compared >= 10, f"{pairs} pairs, {compared} halves")
    print(f"{len(PAIRS)} pairs in {len(FORMATS)} formats, {pairs} in one, {compared} halves of recordings, "
          f"{len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
