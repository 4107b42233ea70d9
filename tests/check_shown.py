#!/usr/bin/env python3
"""Each rule is shown by something: the table of docs/rules.md names it, and this asks it.

    check_shown.py TFPROF ROOT              what the table says holds, and no rule is without a row
    check_shown.py TFPROF ROOT --renew      prints the table anew; takes a minute or two

A row names a recording below ROOT, a sketch (as it is written out; of several ranks also their summaries), or "published:" and
which kind of recording, for rules that only recordings show that may not be copied. Rows of that kind stay until something
here shows the rule."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TFPROF, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
PAGE = ROOT / "docs/rules.md"
HEADING = "## What shows each rule"
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (.*?) \|$", re.M)
# Where recordings lie, one a folder at that depth; smaller ones first are cheaper to ask.
PLACES = ["checkers/shows/*.synth", "checkers/fixtures/*.synth", "tests/programs/*/*", "cases/pairs/*/*",
          "cases/recordings/*", "cases/*/*.synth"]
KEEP_QUIET = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}


def run(*arguments):
    done = subprocess.run([TFPROF, *map(str, arguments)], capture_output=True, text=True, check=False, env=KEEP_QUIET)
    return done.stdout if done.returncode in (0, 1) else ""


def said(path):
    """Rules that speak of a recording, those that another finding hides too."""
    out = run("advise", "--preset", "all", "--min-impact", "0", "--format", "json", path)
    return {finding["rule"] for finding in json.loads(out)["findings"]} if out else set()


def shown_by(path):
    if path.suffix != ".synth":
        files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else []
        return said(files[0] if len(files) == 1 else path)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        is_kineto = re.search(r"^format kineto$", path.read_text(encoding="utf-8"), re.M)
        profile = re.search(r"^profile (\S+)$", path.read_text(encoding="utf-8"), re.M)
        if profile:
            return shown_by(path.parent / profile[1])
        (folder / "run").mkdir()
        run("synth", path, "-o", folder / "run" / ("run.json" if is_kineto else "run.xplane.pb"))
        ranks = sorted((folder / "run").iterdir())
        rules = said(ranks[0] if len(ranks) == 1 else folder / "run")
        if len(ranks) > 1:
            (folder / "ranks").mkdir()
            for rank in ranks:
                run("summarize", rank, "-o", folder / "ranks" / (rank.name.split(".")[0] + ".ranks"))
            rules |= said(folder / "ranks")
        return rules


def all_shown(paths):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(paths, pool.map(shown_by, paths)))


def size(path):
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.rglob("*"))


def renew(rules, old):
    paths = [path for place in PLACES for path in sorted(ROOT.glob(place)) if path.name != "case.json"]
    shown, rows = all_shown(paths), {}
    # What shows most of the rules that are left, small ones first: few recordings are asked. A sketch of the rule's own name stays its row.
    for rule in rules:
        own = ROOT / "checkers/shows" / f"{rule}.synth"
        if own in shown and rule in shown[own]:
            rows[rule] = own
    left = set(rules) - set(rows)
    while left:
        best = max(paths, key=lambda path: (len(shown[path] & left), -size(path)))
        if not shown[best] & left:
            break
        rows |= dict.fromkeys(shown[best] & left, best)
        left -= shown[best]
    print("| rule | shown by |\n|---|---|")
    for rule in rules:
        kept = old.get(rule, "nothing")
        print(f"| `{rule}` | {rows[rule].relative_to(ROOT) if rule in rows else kept if kept.startswith('published:') else 'nothing'} |")


def main():
    rules = sorted(re.search(r'\bid = "([^"]+)"', file.read_text(encoding="utf-8"))[1] for file in (ROOT / "checkers").glob("*.lua"))
    rows = dict(ROW.findall(PAGE.read_text(encoding="utf-8").partition(HEADING)[2]))
    if "--renew" in sys.argv:
        renew(rules, rows)
        return
    wrong = [f"docs/rules.md does not say what shows {rule}" for rule in rules if rule not in rows]
    wrong += [f"docs/rules.md has a row for {rule}, which is no rule" for rule in rows if rule not in rules]
    shown = all_shown({ROOT / row for row in rows.values() if not row.startswith("published: ")})
    wrong += [f"{row} does not show {rule}" for rule, row in rows.items()
              if not row.startswith("published: ") and rule not in shown[ROOT / row]]
    print(f"{len(rules)} rules, {len(shown)} recordings asked")
    sys.exit("\n".join(wrong) or 0)


main()
