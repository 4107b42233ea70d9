#!/usr/bin/env python3
"""The ledger of excess on recorded pairs: a program with a planted flaw and the same program without it.

    check_excess.py TFPROF PAIRS_DIR

What must hold on each recording: what is needed and all cells add up to the step, and so do the rows of the table of
work. What must hold over all of them: of 100 pairs 95 fixed programs lose the slow one's first cell (its time falls to
half, or below a twentieth of the step), and cells of grade A or B claim no more than 6 % of a fixed program in the median.
"""
import csv, io, json, pathlib, statistics, subprocess, sys

LOST_RATE = 0.95
LEAST_CELL = 0.05       # of the step: smaller cells are no advice
LEFT = 0.5              # of the slow one's time
MOST_CLAIM = 0.06


def table(binary, name, folder):
    done = subprocess.run([binary, "table", name, "--format", "csv", "--top", "0", str(folder)], capture_output=True, text=True)
    if done.returncode == 4:        # no whole step was recorded
        return []
    if done.returncode:
        raise SystemExit("%s %s: exit %d: %s" % (name, folder, done.returncode, done.stderr.strip()))
    return list(csv.DictReader(io.StringIO(done.stdout)))


def number(row, column):
    return float(row[column] or 0)


def ledger(binary, folder):
    """Cells, and the step that they and the needed rest add up to."""
    cells, work = table(binary, "excess", folder), table(binary, "work", folder)
    step_ns = sum(number(row, "ns") for row in work)
    needed_ns = sum(number(row, "necessary_ns") for row in work)
    claimed_ns = sum(number(row, "ns") for row in cells)
    wrong = abs(needed_ns + claimed_ns - step_ns) > 1e-6 * step_ns + 1
    return cells, step_ns, wrong


def loses(first, slow_ns, fixed, fixed_ns):
    """The same cause for the same reason takes half of the time, or little of the step."""
    left_ns = sum(number(c, "ns") for c in fixed if (c["flaw"], c["cause"]) == (first["flaw"], first["cause"]))
    before_ns = number(first, "ns")
    return left_ns <= LEFT * before_ns or left_ns < LEAST_CELL * fixed_ns


def main():
    binary, pairs = sys.argv[1], pathlib.Path(sys.argv[2])
    broken, lost, kept, claims = 0, 0, [], []
    for path in sorted(pairs.glob("*/case.json")):
        folder, sides = path.parent, {}
        for side in ("slow", "fixed"):
            if (folder / side).exists() and not folder.name.startswith("fetched"):
                sides[side] = ledger(binary, folder / side)
                if sides[side][2]:
                    broken += 1
                    print("%s/%s: cells and what is needed do not add up to the step" % (folder.name, side))
        if "fixed" not in sides:
            continue
        cells, step_ns, _ = sides["slow"]
        fixed, fixed_ns, _ = sides["fixed"]
        if fixed_ns:
            claims.append(sum(number(c, "ns") for c in fixed if c["grade"] in "AB") / fixed_ns)
        first = max(cells, key=lambda c: number(c, "ns"), default=None)
        if first and number(first, "ns") >= LEAST_CELL * step_ns:
            lost += loses(first, step_ns, fixed, fixed_ns)
            if not loses(first, step_ns, fixed, fixed_ns):
                kept.append("%s: %s" % (folder.name, first["flaw"]))
    rate, claim = lost / max(lost + len(kept), 1), statistics.median(claims or [0])
    print("%d of %d fixed programs lose the slow one's first cell%s" % (lost, lost + len(kept), "".join("\n  not " + k for k in kept)))
    print("cells of grade A or B claim %.1f %% of a fixed program in the median" % (100 * claim))
    sys.exit(bool(broken) or rate < LOST_RATE or claim > MOST_CLAIM)


main()
