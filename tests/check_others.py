#!/usr/bin/env python3
"""Holds tfprof's figures of public recordings against those of other tools.

    check_others.py                    the table of docs/measuring.md is that of beside_others.csv, each difference has a reason
    check_others.py BINARY FOLDER      … and tfprof gives the figures, within 1 %, of the recordings in FOLDER
    check_others.py --table            prints the table

beside_others.csv: what HTA 0.6.1 and TraceLens 0.1.0 print, and what follows from the events themselves (unions of
intervals, counts and medians), by recording and figure. FOLDER/NAME or FOLDER/fetched-NAME holds a recording's file; its
origin is in docs/measuring.md.
"""
import csv, json, re, subprocess, sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TITLES = {
    "a100-alexnet-sync": "AlexNet, A100, 2 streams",
    "a100-ddp-nccl-args": "DDP vision, A100, 3 steps",
    "a100-event-sync-streams": "event waits, A100",
    "mi210-gpu-only": "training, MI210, no host ops",
    "mi250-minitoy": "two steps, MI250",
    "mi300-compiled-triton": "compiled region, MI300X",
    "mi300-ddp-resnet18": "ResNet-18, MI300X",
    "resnet50-loader/slow": "ResNet-50, V100, workers 0",
    "resnet50-loader/fixed": "ResNet-50, V100, workers 4",
    "sglang-decode-graph": "decode by one graph, MI300X",
    "v100-resnet-ns": "DDP ResNet, V100, 5 steps",
    "vllm-piecewise": "prefill by graphs, MI300X",
}
# What tfprof info calls the figure; times of a step are added up over the steps.
A_STEP = {
    "compute": "device.compute_ns", "busy": "device.busy_ns", "idle": "device.idle_ns",
    "exposed communication": "comm.exposed_ns", "kernels, ms": "kernels.total_ns",
    "kernels, count": "kernels.count_per_step", "launch calls, count": "launch.count_per_step",
}
AS_IT_IS = {
    "overlap, %": ("comm.overlap", 100), "launch call, median us": ("launch.median_ns", 1000),
    "launch to work, median us": ("launch.latency_median_ns", 1000), "queue, median": ("launch.queue_depth_median", 1),
}


def near(a, b):
    return abs(a - b) <= 0.01 * max(abs(a), abs(b)) or abs(a - b) < 1e-3


def figure(facts, name):
    """tfprof's value, or None."""
    if name in A_STEP:
        value = facts.get(A_STEP[name])
        return None if value is None else value * facts["step.used"]
    if name in AS_IT_IS:
        fact, scale = AS_IT_IS[name]
        return None if facts.get(fact) is None else facts[fact] * scale
    if name == "idle, host late, %":
        # the other tools do not tell apart what the host does meanwhile: waiting for input, compiling, loading
        names = "device.idle_host_late_ns", "device.idle_input_ns", "device.idle_compile_ns", "device.idle_ns"
        *late, idle = (facts.get(fact) for fact in names)
        return None if None in (*late, idle) else 100 * sum(late) / idle
    part = re.match(r"critical path, (\w+), %", name).group(1)
    bound = facts.get("replay.%s_bound_ns" % {"host": "host", "compute": "device"}[part])
    return None if bound is None else 100 * bound / facts["step.ns"]


def short(text):
    if text == "":
        return ""
    value = float(text)
    return "%d" % round(value) if value == round(value) and abs(value) < 1e6 else ("%.2f" if abs(value) >= 100 else "%.3f") % value


def table(rows):
    lines = ["| recording | figure | HTA | TraceLens | events | |", "|---|---|---|---|---|---|"]
    before = None
    for row in rows:
        title = TITLES[row["recording"]]
        lines.append("| %s | %s | %s | %s | %s | %s |" % (title if title != before else "", row["figure"].replace(" us", " µs"),
                     short(row["hta"]), short(row["tracelens"]), short(row["events"]), row["why"]))
        before = title
    return "\n".join(lines) + "\n"


def check_reasons(rows):
    """Where another tool is further off the events than 1 % there must be a reason."""
    wrong = 0
    for row in rows:
        for tool in ("hta", "tracelens"):
            if row[tool] and row["events"] and not near(float(row[tool]), float(row["events"])) and not row["why"]:
                print("%s, %s: %s says %s, the events %s, and no reason is given" % (
                    row["recording"], row["figure"], tool, row[tool], row["events"]))
                wrong += 1
    return wrong


def find(folder, name):
    for place in (folder / ("fetched-" + name), folder / name, folder / ("fetched-" + name.split("/")[0]) / name.split("/")[-1]):
        files = sorted(place.rglob("*.json.gz")) if place.is_dir() else []
        files = [f for f in files if "expect" not in f.parts]
        if files:
            return files[0]
    return None


def check_figures(rows, binary, folder):
    wrong = checked = 0
    for name in TITLES:
        path = find(folder, name)
        if not path:
            print("%s: no file below %s" % (name, folder))
            wrong += 1
            continue
        facts = json.loads(subprocess.run([binary, "info", "--format", "json", str(path)], capture_output=True, check=True).stdout)["facts"]
        if "step.ns" not in facts:  # it refuses to take start-up or a few pieces of work for a step: the other tools do
            print("%s: tfprof knows no step there, and gives no figures of one" % name)
            continue
        for row in rows:
            if row["recording"] != name:
                continue
            value = figure(facts, row["figure"])
            expected = [row["events"]] if row["events"] else [row[t] for t in ("hta", "tracelens") if row[t] and not row["why"]]
            checked += 1
            if value is None or any(not near(value, float(e)) for e in expected):
                print("%s, %s: %s instead of %s" % (name, row["figure"], value, expected))
                wrong += 1
    print("%d figures of %d recordings checked, %d wrong" % (checked, len(TITLES), wrong))
    return wrong


def main():
    rows = list(csv.DictReader(open(ROOT / "tests/beside_others.csv")))
    if sys.argv[1:] == ["--table"]:
        print(table(rows), end="")
        return 0
    wrong = check_reasons(rows)
    if table(rows) not in (ROOT / "docs/measuring.md").read_text():
        print("docs/measuring.md: the table is not that of tests/check_others.py --table")
        wrong += 1
    if len(sys.argv) == 3:
        wrong += check_figures(rows, sys.argv[1], Path(sys.argv[2]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
