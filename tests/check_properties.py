#!/usr/bin/env python3
"""What must hold of the model of time whatever was recorded, over folders of recordings.

    check_properties.py TFPROF FOLDER... [--every N] [--jobs N] [--schema sweep.schema.json]

    as-recorded     the steps, scheduled again without a change, take what they took: within 1 % on the mean, 5 % at worst;
                    an edit by the factor 1 saves nothing and leaves each part of the step as it is
    monotone        less work never makes a longer step: factors 1, 0.75, 0.5, 0.25 and 0 of each kind of work
    bounded         taking work to zero saves no more than the step waits for it, nor more than the step; without an
                    accelerator, where it shares cores with other work, no more than it takes
    together        all edits at once save at least what each of them saves
    edits-sum       what the step waits for sums to it, before and after each edit
    parts-sum       the parts of the composition sum to the step
    sweep           a sweep is what single edits give, each bit less saves no more than the one before, and the knee lies inside
    efficiency      the factors of the ideals multiply to the last step over the recorded one, none makes it longer; no rank costs
                    more than all ranks, nor gives back more
    first-rung      the first line of what findings save together is the first finding's
    diff-of-one     a recording has no difference to itself, in no row of no list
    diff-mirrored   the difference of two recordings is that of the two the other way round, with its sign turned
    order-of-events events of a trace in another order: the same answer
    order-of-files  files of a job in another order: the same answer
    gzipped         a trace gzipped, or not: the same answer
    idle-thread     a thread with one short event beside the others: the same composition
    scaled          all times of a trace doubled: a step twice as long, of which each part takes the same share
    renamed         functions and modules of the user's program under other names: the same answer, with those names

Folders hold cases with slow/ and fixed/, or profile/. --every N looks at each Nth of them. Prints a line a failure; exit
status 1: there is one, or nothing to look at.
"""
import argparse, gzip, json, pathlib, random, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

GRAIN = 1.1e-5          # six digits are printed
EPSILON = 0.01          # of the step
WORST = 0.05            # of a single step
FACTORS = (1, 0.75, 0.5, 0.25, 0)
# What whatif can be about, and the part of the step that its time is charged to.
KINDS = {"host": None, "op": None, "kernel": "compute", "copy": "copy", "comm": "communication", "input": "input"}


class Silent(Exception):
    """A command that gave no answer."""


def answer(tfprof, *arguments, cwd=None):
    done = subprocess.run([tfprof, *map(str, arguments), "--format=json"], capture_output=True, text=True, cwd=cwd)
    if not done.stdout.strip():
        raise Silent("%s: exit %d: %s" % (arguments[0], done.returncode, done.stderr.strip()[-200:]))
    return json.loads(done.stdout)


def edits():
    return ["--scale=%s=%g" % (kind, factor) for kind in KINDS for factor in FACTORS]


def series(whatif):
    """{kind: savings by factor}, in the order of FACTORS."""
    saved = [edit["saved_ms"] for edit in whatif["edits"]]
    return {kind: saved[i * len(FACTORS):(i + 1) * len(FACTORS)] for i, kind in enumerate(KINDS)}


def check_as_recorded(whatif, info):
    if whatif["replay_error"] > EPSILON:
        yield "as-recorded", "%.1f %% off on the mean" % (100 * whatif["replay_error"])
    worst = info["facts"].get("replay.worst_error", 0)
    if worst > WORST:
        yield "as-recorded", "the worst step is %.1f %% off" % (100 * worst)
    for kind, edit in zip(KINDS, whatif["edits"][::len(FACTORS)]):
        if edit["saved_ms"] != 0 or edit["parts_ms"] != whatif["parts_ms"]:
            yield "as-recorded", "%s by 1 saves %g ms" % (kind, edit["saved_ms"])


def check_edits(whatif):
    step_ms = whatif["step_ms"]
    taken_ms = dict(zip(KINDS, [edit["selected_ms"] for edit in whatif["edits"][::len(FACTORS)]]))
    for kind, saved in series(whatif).items():
        if any(b < a - EPSILON * step_ms for a, b in zip(saved, saved[1:])):
            yield "monotone", "%s: %s ms by factors %s" % (kind, ", ".join("%g" % s for s in saved), FACTORS)
        limit_ms = whatif["parts_ms"].get(KINDS[kind], 0) if KINDS[kind] else step_ms
        if not whatif["profile"]["devices"]:
            limit_ms = max(limit_ms, taken_ms[kind])
        if saved[-1] > limit_ms + EPSILON * step_ms:
            yield "bounded", "%s: without it %g ms less, of which the step waits for %g" % (kind, saved[-1], limit_ms)
    most = max(edit["saved_ms"] for edit in whatif["edits"])
    if whatif["together"]["saved_ms"] < most - EPSILON * step_ms:
        yield "together", "all save %g ms, one alone %g" % (whatif["together"]["saved_ms"], most)
    for result in [whatif, whatif["together"]] + whatif["edits"]:
        total = sum(result["parts_ms"].values())
        if result["parts_ms"] and abs(total - result["step_ms"]) > 1e-4 * step_ms:
            yield "edits-sum", "%s: parts sum to %g of %g ms" % (result.get("edit", "now"), total, result["step_ms"])


def check_sweep(sweep, whatif, validator):
    """Of all ops, beside the savings of the edits at some of the factors."""
    points, step_ms = sweep["points"], whatif["step_ms"]
    if validator:
        for fault in validator.iter_errors(sweep):
            yield "sweep", fault.message
    saved = {point["factor"]: point["saved_ms"] for point in points}
    if [saved[factor] for factor in FACTORS] != series(whatif)["op"]:
        yield "sweep", "%s, single edits %s" % ([saved[factor] for factor in FACTORS], series(whatif)["op"])
    bits = [b["saved_ms"] - a["saved_ms"] for a, b in zip(points, points[1:])]
    if any(b > a + EPSILON * step_ms for a, b in zip(bits, bits[1:])):
        yield "sweep", "less saves more: %s" % bits


def check_efficiency(result):
    product, before_ms, grain = 1, result["step_ms"], GRAIN * (1 + len(result["ideals"]))
    for ideal in result["ideals"]:
        product *= ideal["efficiency"]
        if ideal["efficiency"] > 1 + EPSILON:
            yield "efficiency", "%s makes a step of %g ms %g ms" % (ideal["edit"], before_ms, ideal["step_ms"])
        before_ms = ideal["step_ms"]
    told = [product, before_ms / result["step_ms"], result["efficiency"]]
    if max(told) - min(told) > grain:
        yield "efficiency", "factors multiply to %g, the step to %g, told is %g" % tuple(told)
    for rank in result["ranks"]:
        if rank["slowdown"] > result["imbalance"] * (1 + EPSILON) or rank["contribution"] > 1 + EPSILON:
            yield "efficiency", "rank %d: %s, all ranks %g" % (rank["rank"], rank, result["imbalance"])


def step_of(advice):
    return advice["steps"]["wall_ms"]["mean" if advice["steps"].get("is_uneven") else "median"]


def check_advice(advice):
    step_ms, parts = step_of(advice), advice["composition"]
    total = sum(row["ms"] for row in parts)
    if parts and abs(total - step_ms) > 5 * GRAIN * step_ms:
        yield "parts-sum", "parts sum to %g of %g ms" % (total, step_ms)
    if advice["together"]:
        rung = advice["together"][0]
        first = next(f for f in advice["findings"] if f["rule"] == rung["fixed"][0])
        saved_ms = step_ms - rung["step_ms"]
        if abs(saved_ms - first["impact"]["mid_ms"]) > 5 * GRAIN * step_ms:
            yield "first-rung", "%s saves %g ms, the first rung %g" % (first["rule"], first["impact"]["mid_ms"], saved_ms)


def rows_of(diff):
    """{(list, what tells a row from others): change in ns}."""
    return {(kind, row["part"], *(str(row.get(key)) for key in ("name", "type", "scope", "file", "line"))): row["change_ns"]
            for kind in ("parts", "type", "scope", "line") for row in diff[kind]}


def check_same(diff):
    apart = [key for key, change in rows_of(diff).items() if change != 0]
    if apart or diff["step"]["change_ns"] != 0:
        yield "diff-of-one", "%d rows differ, as %s" % (len(apart), apart[:1])


def check_mirrored(there, back):
    forth, turned = rows_of(there), rows_of(back)
    apart = [key for key in set(forth) | set(turned) if forth.get(key, 0) != -turned.get(key, 0)]
    if apart or there["step"]["change_ns"] != -back["step"]["change_ns"]:
        yield "diff-mirrored", "%d of %d rows, as %s" % (len(apart), len(forth), sorted(apart)[:1])


def said(tfprof, names, folder):
    """What advise says in a folder, without what names the files."""
    advice = answer(tfprof, "advise", *names, cwd=folder)
    advice.pop("profile", None)
    return advice


def is_trace(path):
    return path.is_file() and path.name.endswith((".json", ".json.gz"))


def read_trace(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def shuffled(trace):
    """The same events in another order; what belongs to one thread and begins at one time keeps its order, which nests it."""
    places, events = {}, trace["traceEvents"]
    for event in events:
        places.setdefault((event.get("pid"), event.get("tid"), event.get("ts"), event.get("ph")), []).append(event)
    keys = sorted(places, key=str)
    random.Random(24).shuffle(keys)
    return {**trace, "traceEvents": [event for key in keys for event in places[key]]}


def with_idle_thread(trace, has_steps):
    """One more thread, with one short event where the recording begins; where nothing marks the first step, where the
    host's work begins, as an earlier one would make it longer."""
    spans = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    of_host = [event for event in spans if event.get("cat") in ("cpu_op", "user_annotation", "python_function")]
    first = min(spans if has_steps else of_host, key=lambda event: float(event["ts"]))
    idle = {"ph": "X", "cat": "cpu_op", "name": "idle", "pid": of_host[0]["pid"], "tid": 987654321, "ts": first["ts"],
            "dur": 0.001}
    return {**trace, "traceEvents": trace["traceEvents"] + [idle]}


def scaled(trace, factor):
    """All times, and none of the rest."""
    def longer(event):
        return {**event, **{key: repr(float(event[key]) * factor) if isinstance(event[key], str) else event[key] * factor
                            for key in ("ts", "dur") if key in event}}
    return {**trace, "traceEvents": [longer(event) for event in trace["traceEvents"]]}


def shares_of(advice):
    return {row["part"]: row["ms"] / step_of(advice) for row in advice["composition"]}


def check_idle(plain, beside, has_steps):
    if has_steps and beside["composition"] != plain["composition"]:
        yield "idle-thread", "the composition is another one"
    before, after = shares_of(plain), shares_of(beside)
    for part in set(before) | set(after):
        if abs(before.get(part, 0) - after.get(part, 0)) > GRAIN:     # inside of the step it takes a nanosecond itself
            yield "idle-thread", "%s: %g of the step, then %g" % (part, before.get(part, 0), after.get(part, 0))


def by_cause(shares):
    """Which of these a short gap counts as goes by how long launches take, which no scale changes."""
    gaps = {part for part in shares if part == "host" or part.startswith("idle.")}
    return {**{part: share for part, share in shares.items() if part not in gaps}, "gaps": sum(shares[part] for part in gaps)}


def check_scaled(plain, longer, factor):
    before_ms, after_ms = step_of(plain), step_of(longer)
    if abs(after_ms - factor * before_ms) > 2 * GRAIN * after_ms:
        yield "scaled", "a step of %g ms takes %g" % (before_ms, after_ms)
    shares = [by_cause(shares_of(advice)) for advice in (plain, longer)]
    for part in set(shares[0]) | set(shares[1]):
        if abs(shares[0].get(part, 0) - shares[1].get(part, 0)) > 5 * GRAIN:
            yield "scaled", "%s: %g of the step, then %g" % (part, shares[0].get(part, 0), shares[1].get(part, 0))


# `file.py(12): function` of a file that no package brought.
OWN_FRAME = re.compile(r"^(?!torch/|.*(?:site-packages|dist-packages|lib/python|<frozen))(\S*\.py\(\d+\): )(?!<)(\w+)$")
OTHER_NAME = "zqx_"


def renamed(trace):
    def other(event):
        name = OWN_FRAME.sub(r"\1" + OTHER_NAME + r"\2", event.get("name") or "")
        return {**event, "name": name} if event.get("cat") == "python_function" else event
    return {**trace, "traceEvents": [other(event) for event in trace["traceEvents"]]}


def named_back(advice):
    """Without fingerprints, which are made of names."""
    findings = [{**finding, "fingerprint": None} for finding in advice["findings"]]
    return json.loads(json.dumps({**advice, "findings": findings}).replace(OTHER_NAME, ""))


def check_trace(tfprof, path):
    trace = read_trace(path)
    if not any(event.get("cat") in ("cpu_op", "user_annotation", "python_function") for event in trace["traceEvents"]):
        return
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)

        def write(name, content):
            (place / name).mkdir()
            (place / name / "trace.json").write_text(json.dumps(content))
            return said(tfprof, ["trace.json"], place / name)

        plain = write("plain", trace)
        if write("shuffled", shuffled(trace)) != plain:
            yield "order-of-events", "the answer is another one"
        if not plain["steps"].get("wall_ms"):
            return
        yield from check_scaled(plain, write("scaled", scaled(trace, 2)), 2)
        if named_back(write("renamed", renamed(trace))) != named_back(plain):
            yield "renamed", "the answer is another one"
        has_steps = plain["steps"]["source"] not in ("whole-trace", "inferred")
        yield from check_idle(plain, write("idle", with_idle_thread(trace, has_steps)), has_steps)
        with gzip.open(place / "plain" / "trace.json.gz", "wb") as out:
            out.write((place / "plain" / "trace.json").read_bytes())
        if said(tfprof, ["trace.json.gz"], place / "plain") != plain:
            yield "gzipped", "the answer is another one"


def check_files(tfprof, folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) < 2 or len({tuple(path.suffixes[-2:]) for path in files}) > 1:
        return      # of several formats the first one named is read, and runs of a session follow in the order named
    try:
        forth, back = said(tfprof, files, None), said(tfprof, files[::-1], None)
    except Silent:
        return      # files that are no recordings by themselves
    if forth != back:
        yield "order-of-files", "the answer is another one"


def failures(tfprof, recording, validator):
    advice = answer(tfprof, "advise", recording)
    if not advice["steps"].get("wall_ms"):
        return []
    found = list(check_advice(advice))
    try:
        whatif = answer(tfprof, "whatif", recording, *edits())
        found += check_as_recorded(whatif, answer(tfprof, "info", recording))
        found += check_edits(whatif)
        found += check_sweep(answer(tfprof, "whatif", recording, "--sweep=op"), whatif, validator)
        found += check_efficiency(answer(tfprof, "whatif", recording, "--efficiency"))
        found += check_same(answer(tfprof, "diff", recording, recording, "--max-rows=0"))
    except Silent:
        pass        # no timeline, or no step: nothing to schedule or to compare
    traces = [path for path in ([recording] if recording.is_file() else sorted(recording.rglob("*"))) if is_trace(path)]
    if len(traces) == 1:
        found += check_trace(tfprof, traces[0])
    if recording.is_dir():
        found += check_files(tfprof, recording)
    return found


def recordings_below(folders, every):
    for folder in map(pathlib.Path, folders):
        for case in sorted(path for path in folder.iterdir() if path.is_dir())[::every]:
            sides = [case / side for side in ("slow", "fixed", "profile") if (case / side).exists()]
            for side in sides or [case]:
                yield "%s/%s" % (case.name, side.name) if sides else case.name, side


def look(tfprof, name, path, validator):
    try:
        return name, failures(tfprof, path, validator)
    except Silent:
        return name, []     # that commands answer is another test's


def look_at_pair(tfprof, case, slow, fixed):
    try:
        return case, list(check_mirrored(answer(tfprof, "diff", slow, fixed, "--max-rows=0"),
                                         answer(tfprof, "diff", fixed, slow, "--max-rows=0")))
    except Silent:
        return case, []


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("tfprof")
    options.add_argument("folders", nargs="+")
    options.add_argument("--every", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--schema")
    options = options.parse_args()
    validator = None
    if options.schema:
        import jsonschema
        validator = jsonschema.Draft202012Validator(json.loads(pathlib.Path(options.schema).read_text()))
    tfprof = str(pathlib.Path(options.tfprof).resolve())
    paths = dict(recordings_below(options.folders, options.every))
    pairs = {name[:-5]: (paths[name], paths[name[:-5] + "/fixed"]) for name in paths
             if name.endswith("/slow") and name[:-5] + "/fixed" in paths}
    with ThreadPoolExecutor(options.jobs) as pool:
        looked = list(pool.map(lambda item: look(tfprof, *item, validator), paths.items()))
        looked += pool.map(lambda item: look_at_pair(tfprof, item[0], *item[1]), pairs.items())
    failed = sorted({(name, check): sentence for name, found in looked for check, sentence in reversed(found)}.items())
    for (name, check), sentence in failed:
        print("%s %s: %s" % (name, check, sentence))
    print("%d recordings, %d pairs, %d failures" % (len(paths), len(pairs), len(failed)))
    sys.exit(1 if failed or not paths else 0)


main()
