#!/usr/bin/env python3
"""One answer about steps over all commands.

    check_commands.py TFPROF FOLDER... [--known LIST] [--schema diff.schema.json]

Runs advise, info, whatif, why, diff, gate and op on every recording below the folders (a case has them as
slow/ and fixed/, or profile/), and compares what they say of the step: which steps count, how long one is,
what it is made of, how many ops it runs. Differences that are known and have a reason stand in LIST, one
"recording check" a line below a comment with the reason. A difference that is not listed fails, and so does
a line of LIST whose difference is gone: the list only gets shorter.
"""
import argparse, json, pathlib, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

NEAR = 1.1e-5            # six digits are printed
GRAIN = 1e-4             # gate rounds a step to five digits or 0.01 %


class Silent(Exception):
    """A command that gave no answer."""


def step_ms(advice):
    """What a step takes: the median, or the mean where steps are uneven."""
    return advice["steps"]["wall_ms"]["mean" if advice["steps"].get("is_uneven") else "median"]


def run(tfprof, *arguments):
    done = subprocess.run([tfprof, *map(str, arguments)], capture_output=True, text=True)
    if not done.stdout.strip():
        raise Silent("%s: exit %d: %s" % (arguments[0], done.returncode, done.stderr.strip()[-200:]))
    return done.stdout


def answer(tfprof, *arguments):
    return json.loads(run(tfprof, *arguments, "--format=json"))


def is_near(a, b, tolerance=NEAR):
    return abs(a - b) <= tolerance * max(abs(a), abs(b)) + 1.1e-6


def parts_of(advice):
    return {row["part"]: row["ms"] for row in advice["composition"]}


def check_info(advice, info, wall_ms):
    steps = advice["steps"]
    if (info["steps"]["count"], info["steps"]["used"]) != (steps["count"], steps["used"]):
        yield "info-steps", "info counts %s, advise %s steps" % (info["steps"]["used"], steps["used"])
    if not is_near(info["steps"]["median_ms"], steps["wall_ms"]["median"]):
        yield "info-time", "info's median %g, advise's %g ms" % (
            info["steps"]["median_ms"], steps["wall_ms"]["median"])
    if info["fact_units"]["step.ns"] != "ms" or not is_near(info["facts"]["step.ns"], wall_ms):
        yield "info-fact", "step.ns %g %s, advise %g ms" % (
            info["facts"]["step.ns"], info["fact_units"]["step.ns"], wall_ms)


def check_composition(advice, wall_ms):
    total = sum(parts_of(advice).values())
    if parts_of(advice) and not is_near(total, wall_ms, 5 * NEAR):
        yield "advise-sum", "parts sum to %g of %g ms" % (total, wall_ms)


HOST = ("host", "idle.launch", "idle.sync", "output")       # what waits for the host and its calls


def by_cause(parts):
    return {**{part: ms for part, ms in parts.items() if part not in HOST}, "host": sum(parts.get(part, 0) for part in HOST)}


def check_whatif(advice, whatif, wall_ms):
    """Steps are scheduled without what recording takes of the host, which is told apart."""
    recording_ms = whatif.get("recording_ms", 0)
    if not is_near(whatif["step_ms"] + recording_ms, wall_ms):
        yield "whatif-time", "whatif's step %g, %g of the recorder, advise's %g ms" % (
            whatif["step_ms"], recording_ms, wall_ms)
    parts, told = by_cause(whatif["parts_ms"]), by_cause(parts_of(advice))
    parts["host"] = parts.get("host", 0) + recording_ms
    for part in sorted(set(parts) | set(told)):
        if not is_near(parts.get(part, 0), told.get(part, 0), 5 * NEAR):
            yield "whatif-parts", "%s %g, advise %g ms" % (part, parts.get(part, 0), told.get(part, 0))


def check_why(advice, why):
    steps = advice["steps"]
    if not steps.get("first", why["step"]) <= why["step"] <= steps.get("last", why["step"]):
        yield "why-step", "why looks at step %d of %s to %s" % (why["step"], steps.get("first"), steps.get("last"))
    if not is_near(why["duration_ms"], steps["wall_ms"]["max"], 1e-4):
        yield "why-time", "why's slowest %g, advise's %g ms" % (why["duration_ms"], steps["wall_ms"]["max"])
    total = sum(cause["ms"] for cause in why["causes"])
    if not is_near(total, why["duration_ms"], 1e-4):
        yield "why-sum", "causes sum to %g of %g ms" % (total, why["duration_ms"])
    if steps["used"] > 1:
        return
    parts = parts_of(advice)
    for part in parts:
        ms = sum(cause["ms"] for cause in why["causes"] if cause["class"] == part)
        if abs(ms - parts[part]) > 1e-4 * why["duration_ms"]:
            yield "why-parts", "%s %g, advise %g ms" % (part, ms, parts[part])


def check_lists(diff):
    for side in ("before_ns", "after_ns", "change_ns"):
        step = diff["step"][side]
        if sum(row[side] for row in diff["parts"]) != step:
            yield "diff-sum", "parts sum to another %s" % side
        for kind in ("type", "scope", "line"):
            if diff["lists_sum_to_step"] and sum(row[side] for row in diff[kind]) != step:
                yield "diff-sum", "%s sums to another %s" % (kind, side)
    for row in diff["parts"] + diff["type"] + diff["scope"] + diff["line"]:
        if min(row["before_ns"], row["after_ns"]) < 0:
            yield "diff-negative", "%s is negative" % row.get("name", row["part"])


def check_diff(diff, advices):
    """advices: of the side before and the side after."""
    yield from check_lists(diff)
    for side, advice in zip(("before", "after"), advices):
        scale = diff[side].get("batches_per_step", 1) if diff.get("per") == "batch" else 1
        wall_ms = step_ms(advice) / scale
        if not is_near(diff["step"][side + "_ns"] / 1e6, wall_ms):
            yield "diff-time", "diff's step %g, advise's %g ms" % (diff["step"][side + "_ns"] / 1e6, wall_ms)
        if diff[side]["steps"] != advice["steps"]["used"]:
            yield "diff-steps", "diff uses %d, advise %d steps" % (diff[side]["steps"], advice["steps"]["used"])
        parts = parts_of(advice)
        for row in diff["parts"]:
            ms = row[side + "_ns"] / 1e6
            if parts and not is_near(ms, parts.get(row["part"], 0) / scale, 5 * NEAR):
                yield "diff-parts", "%s %g, advise %g ms" % (row["part"], ms, parts.get(row["part"], 0))


def check_gate(tfprof, recording, advice, diff, info, wall_ms):
    with tempfile.TemporaryDirectory() as folder:
        baseline = folder + "/baseline.json"
        run_quietly(tfprof, "baseline", recording, "-o", baseline)
        gate = answer(tfprof, "gate", recording, "--baseline", baseline)
    step = gate.get("step", {})
    if "before_ms" in step and not is_near(step["before_ms"], wall_ms, GRAIN):
        yield "gate-time", "gate's step %g, advise's %g ms" % (step["before_ms"], wall_ms)
    ops = [check["after"] for check in gate["checks"] if check["id"] == "count/ops"]
    told = info["facts"].get("ops.count_per_step")
    runs = sum(row["before_runs"] for row in diff["type"] if row["part"] != "communication")
    if runs:    # diff lists the ops that call the host beside the others
        table = answer(tfprof, "table", "ops", recording, "--columns=calls", "--where=kind=callback")
        runs -= sum(row["calls"] for row in table["rows"])
    if ops and told is not None and not is_near(ops[0], told, 0.02):
        yield "gate-ops", "gate counts %g, info %g ops a step" % (ops[0], told)
    if told and abs(runs - told) > 1e-3 * told + 0.01:
        yield "diff-ops", "diff counts %g, info %g ops a step" % (runs, told)


def check_view(advice, info, view):
    """Ops are rows of the view of types, the largest first."""
    told = info["facts"].get("ops.count_per_step", 0)
    if told and not view["rows"]:
        yield "op-empty", "info counts %g ops a step, the view of types has no rows" % told
    sizes = [row["self_micros"] for row in view["rows"]]
    if advice["profile"]["format"] in ("xspace", "kineto") and sizes != sorted(sizes, reverse=True):
        yield "op-order", "types are not in the order of their times"


def run_quietly(tfprof, *arguments):
    done = subprocess.run([tfprof, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise Silent("%s: exit %d: %s" % (arguments[0], done.returncode, done.stderr.strip()[-200:]))


def differences(tfprof, recording, validator):
    """(check, sentence) of each difference on one recording."""
    advice = answer(tfprof, "advise", recording)
    if not advice["steps"].get("wall_ms"):
        return [], advice
    wall_ms = step_ms(advice)
    found = list(check_composition(advice, wall_ms))
    info = answer(tfprof, "info", recording)
    try:
        diff = answer(tfprof, "diff", recording, recording)
    except Silent as silence:
        return [] if "no step to compare" in str(silence) else [("diff-silent", str(silence))], advice
    if validator:
        found += [("diff-schema", fault.message) for fault in validator.iter_errors(diff)]
    found += check_info(advice, info, wall_ms)
    found += check_diff(diff, (advice, advice))
    asked = [(check_gate, (tfprof, recording, advice, diff, info, wall_ms))]
    for command, arguments, check in (
            ("whatif", ["--scale=host=1"], lambda result: check_whatif(advice, result, wall_ms)),
            ("why", ["step:slowest"], lambda result: check_why(advice, result)),
            ("op", [], lambda result: check_view(advice, info, result))):
        try:
            found += check(answer(tfprof, command, recording, *arguments))
        except Silent as silence:
            found.append((command + "-silent", str(silence)))
    for check, arguments in asked:
        try:
            found += check(*arguments)
        except Silent as silence:
            found.append(("gate-silent", str(silence)))
    return found, advice


def look(tfprof, name, path, validator):
    try:
        found, advice = differences(tfprof, path, validator)
    except Silent as silence:
        return name, [("advise-silent", str(silence))], None
    return name, found, advice


def recordings_below(folders):
    for folder in map(pathlib.Path, folders):
        for case in sorted(path for path in folder.iterdir() if path.is_dir()):
            sides = [case / side for side in ("slow", "fixed", "profile") if (case / side).exists()]
            for side in sides or [case]:
                yield "%s/%s" % (case.name, side.name) if sides else case.name, side


def pairs_of(looked):
    for name in looked:
        if name.endswith("/slow") and looked.get(name[:-4] + "fixed"):
            yield name[:-5], name, name[:-4] + "fixed"


def read_known(path):
    lines = pathlib.Path(path).read_text().splitlines() if path else []
    return {tuple(line.split()[:2]) for line in lines if line.strip() and not line.startswith("#")}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("tfprof")
    options.add_argument("folders", nargs="+")
    options.add_argument("--known")
    options.add_argument("--schema")
    options.add_argument("--jobs", type=int, default=2)
    options = options.parse_args()
    validator = None
    if options.schema:
        import jsonschema
        validator = jsonschema.Draft202012Validator(json.loads(pathlib.Path(options.schema).read_text()))
    paths = dict(recordings_below(options.folders))
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda item: look(options.tfprof, *item, validator), paths.items()))
    seen, looked = {}, {name: advice for name, _, advice in results}
    for name, found, _ in results:
        for check, sentence in found:
            seen.setdefault((name, check), sentence)
    for case, before, after in pairs_of(looked):
        if all(looked[side]["steps"].get("wall_ms") for side in (before, after)):
            diff = answer(options.tfprof, "diff", paths[before], paths[after])
            for check, sentence in check_diff(diff, (looked[before], looked[after])):
                seen.setdefault((case, check), sentence)
    known = {row for row in read_known(options.known)
             if row[0] in paths or any(name.startswith(row[0] + "/") for name in paths)}
    for (name, check), sentence in sorted(seen.items()):
        if (name, check) not in known:
            print("%s %s: %s" % (name, check, sentence))
    for name, check in sorted(known - set(seen)):
        print("%s %s: is the same now; take it off the list" % (name, check))
    new, gone = set(seen) - known, known - set(seen)
    print("%d recordings, %d differences known, %d new, %d gone" % (len(paths), len(known), len(new), len(gone)))
    sys.exit(1 if new or gone or not paths else 0)


main()
