#!/usr/bin/env python3
"""tfprof bisect on repositories made here, whose programs write recordings with steps of known length.

    check_bisect.py TFPROF [--trials N]

Without --trials: each way a search can end. With it, how often the planted revision is found, and with how many
recordings, at several noises; a slow-down of 10 %.
"""
import argparse, json, os, pathlib, random, subprocess, sys, tempfile

import jsonschema

parser = argparse.ArgumentParser()
parser.add_argument("tfprof", type=lambda path: pathlib.Path(path).resolve())
parser.add_argument("--trials", type=int)
options = parser.parse_args()
faults = checks = 0
HERE = pathlib.Path(__file__).resolve().parent

# Eight steps of a length that the revision and chance give; one op, and from the planted revision on another.
PROGRAM = '''
import json, os, pathlib, random, sys
here = pathlib.Path(__file__).parent
say = json.loads((here / "settings.json").read_text())
if say.get("breaks"):
    sys.exit(say["breaks"])
count = pathlib.Path(os.environ["COUNT_FILE"])
run = int(count.read_text()) if count.exists() else 0
count.write_text(str(run + 1))
ms = say["ms"] * random.Random(f"{os.environ.get('SEED', 0)}/{run}").gauss(1, float(os.environ.get("NOISE", 0)))
step, events = ms * 1000, []
def add(name, cat, at, dur):
    events.append({"ph": "X", "name": name, "cat": cat, "pid": 1, "tid": 1, "ts": at, "dur": dur})
for i in range(8):
    at = 1000 + i * step
    add(f"ProfilerStep#{i}", "user_annotation", at, step)
    add("aten::mm", "cpu_op", at, 0.9 * say["base"] * 1000)
    if ms > 0.95 * say["base"] and say["ms"] > say["base"]:
        add("aten::sort", "cpu_op", at + 0.9 * say["base"] * 1000, (say["ms"] - say["base"]) * 1000)
target = pathlib.Path(os.environ["TFPROF_RECORDING"])
if say.get("silent"):
    sys.exit(0)
target.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events, "deviceProperties": []}))
'''


def expect(is_right, what):
    global faults, checks
    checks += 1
    if not is_right:
        faults += 1
        print(what)


def git(folder, *arguments):
    return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", folder, *arguments], check=True,
                          capture_output=True, text=True).stdout.strip()


def make_repository(folder, settings):
    """A commit a row of settings; their short names."""
    git(folder, "init", "-q")
    (folder / "program.py").write_text(PROGRAM)
    names = []
    for number, row in enumerate(settings):
        (folder / "settings.json").write_text(json.dumps({"base": 10, "number": number, **row}))
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", f"Change number {number}")
        names.append(git(folder, "rev-parse", "--short", "HEAD"))
    return names


def bisect(folder, good, *arguments, **environment):
    count = folder.parent / "count"
    count.unlink(missing_ok=True)
    command = [options.tfprof, "bisect", "--repository", folder, "--good", good, "--record",
               f"{sys.executable} program.py", *arguments]
    # pylint: disable-next=subprocess-run-check
    return subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "TMPDIR": str(folder.parent), "COUNT_FILE": str(count), **environment})


def with_repository(settings, use):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place, "repository")
        folder.mkdir()
        names = make_repository(folder, settings)
        before = git(folder, "status", "--porcelain", "--branch"), git(folder, "worktree", "list")
        use(folder, names)
        expect((git(folder, "status", "--porcelain", "--branch"), git(folder, "worktree", "list")) == before,
               "the repository is not as it was")
        left = sorted(path.name for path in pathlib.Path(place).iterdir())
        expect(left in (["count", "repository"], ["repository"]), f"left behind: {left}")


def rows(count, planted, **more):
    return [{"ms": 10 if i < planted else 15, **more} for i in range(count)]


def check_found():
    """16 revisions without noise: the ends twice each, then half of what is left each time: 4 + log2(15) rounded up."""
    def use(folder, names):
        done = bisect(folder, names[0], "--format", "json")
        expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
        report = json.loads(done.stdout)
        jsonschema.validate(report, json.loads((HERE.parent / "docs" / "bisect.schema.json").read_text(encoding="utf-8")))
        expect(report["revision"] == names[11] and report["outcome"] == "found", f"found {report}")
        expect(sum(len(row["values"]) for row in report["revisions"]) <= 8, "needed more runs than halving does")
        expect((report["good"], report["bad"], report["unit"]) == (10e6, 15e6, "ns"), f"{report['good']}, {report['bad']}")
        expect(any("aten::sort" in piece["title"] for piece in report["changed"]), f"changed: {report['changed']}")
        told = bisect(folder, names[0], "--bad", "HEAD")
        expect(f"{names[11]} is the first: Change number 11" in told.stdout and "+50.0 %" in told.stdout, told.stdout)
    with_repository(rows(16, 11), use)


def check_passed_over():
    """Of four revisions that cannot be recorded the first is the planted one: five are left, from it to the one behind them."""
    settings = rows(12, 5)
    for number in range(5, 9):
        settings[number]["breaks"] = 125
    def use(folder, names):
        done = bisect(folder, names[0], "--format", "json")
        report = json.loads(done.stdout)
        expect(done.returncode == 4 and (report["first"], report["last"]) == (names[5], names[9]), f"{done.returncode}: {report}")
    with_repository(settings, use)


def check_alike():
    def use(folder, names):
        done = bisect(folder, names[0])
        expect(done.returncode == 4 and "differs by no more" in done.stdout, f"{done.returncode}: {done.stdout}{done.stderr}")
    with_repository(rows(4, 9), use)


def check_failures():
    def use(folder, names):
        expect((done := bisect(folder, "HEAD")).returncode == 2 and "one revision" in done.stderr, done.stderr)
        expect((done := bisect(folder, names[2], "--bad", names[0])).returncode == 2 and "does not come before" in done.stderr,
               done.stderr)
        expect((done := bisect(folder, "nosuch")).returncode == 3 and "git: " in done.stderr, f"{done.returncode} {done.stderr}")
        expect((done := bisect(folder, names[0])).returncode == 3 and "ends with status 7" in done.stderr,
               f"{done.returncode} {done.stderr}")
        expect((done := bisect(folder, names[0], "--bad", names[1])).returncode == 3 and "wrote no recording" in done.stderr,
               f"{done.returncode} {done.stderr}")
    with_repository([{"ms": 10}, {"ms": 15, "silent": True}, {"ms": 15, "breaks": 7}], use)


def try_often(trials):
    chance = random.Random(7)
    print("noise  found  wrong  unsure  runs, mean")
    for noise in (0, 0.01, 0.02, 0.05):
        found = wrong = runs = 0
        for trial in range(trials):
            planted = chance.randrange(1, 32)
            settings = [{"ms": 10 if i < planted else 11} for i in range(32)]
            def use(folder, names, planted=planted, trial=trial):
                nonlocal found, wrong, runs
                report = json.loads(bisect(folder, names[0], "--format", "json", NOISE=str(noise), SEED=str(trial)).stdout)
                found += report["outcome"] == "found" and report["revision"] == names[planted]
                wrong += report["outcome"] == "found" and report["revision"] != names[planted]
                runs += sum(len(row["values"]) for row in report["revisions"])
            with_repository(settings, use)
        print(f"{noise:4.0%}  {found:5d}  {wrong:5d}  {trials - found - wrong:6d}  {runs / trials:.1f}")


if options.trials:
    try_often(options.trials)
else:
    for check in (check_found, check_passed_over, check_alike, check_failures):
        check()
    print(f"{checks} checks, {faults} faults")
sys.exit(faults > 0)
