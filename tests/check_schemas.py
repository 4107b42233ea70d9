#!/usr/bin/env python3
"""Every command's JSON has a schema in docs/, and is as it says, for recordings of all formats.

    check_schemas.py TFPROF DOCS RECORDINGS
"""
import json, pathlib, re, subprocess, sys, tempfile

import jsonschema

tfprof, docs, recordings = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
# Of these other tests hold what is said against the schema of the same name.
ELSEWHERE = {"advice", "baseline", "bisect", "diff", "gate", "hlo", "ledger", "sweep", "table", "tool", "verify"}
validators, checked, failed = {}, {}, 0
for path in sorted(docs.glob("*.schema.json")):
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[path.name.split(".")[0]] = jsonschema.Draft202012Validator(schema)


def wrong(*what):
    global failed
    failed += 1
    print(*what)


def check(name, value, asked):
    checked[name] = checked.get(name, 0) + 1
    for fault in list(validators[name].iter_errors(value))[:3]:
        wrong(asked, name + ".schema.json", list(fault.path)[:6], fault.message[:200])


def ask(name, *arguments, statuses=(0,), lines=False):
    done = subprocess.run([tfprof, *map(str, arguments), "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode not in statuses:
        wrong(arguments, "exit status", done.returncode, done.stderr)
    elif done.stdout:
        for value in map(json.loads, done.stdout.splitlines() if lines else [done.stdout]):
            check(name, value, arguments)
            yield value


def check_recording(path):
    list(ask("info", "info", path))
    list(ask("why", "why", path, statuses=(0, 4)))
    list(ask("why", "why", path, "gap", statuses=(0, 4)))
    list(ask("whatif", "whatif", path, "--scale", "host=0.5", statuses=(0, 4)))
    list(ask("efficiency", "whatif", path, "--efficiency", statuses=(0, 4)))
    for rule in "input-bound-step", "hot-op", "tensor-cores-unused", "straggler-rank":
        list(ask("explanation", "explain", rule, path, "--config", "none"))
    for view in "scope", "graph", "op", "code":
        list(ask("view", view, path, "-select", "micros,bytes,device,op_types,num_hidden_ops,occurrence", "-max_rows", "20",
                 statuses=(0, 3)))
    list(ask("view", "op", path, "--stats", "-max_rows", "5"))


def check_rest(paths):
    list(ask("rules", "rules", "--config", "none"))
    list(ask("explanation", "explain", "hot-op", "--config", "none"))
    with tempfile.TemporaryDirectory() as folder:
        runs = pathlib.Path(folder)
        for i in range(3):
            subprocess.run([tfprof, "baseline", paths[0], "--config", "none", "-o", runs / ("%d.tfbase" % i)], check=True)
        list(ask("history", "history", folder, "--metric", "step_ms.p50", "--metric", "findings.total"))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "broken").mkdir()
        (pathlib.Path(folder) / "broken/trace.json").write_text('{"traceEvents": [')
        (pathlib.Path(folder) / "whole").symlink_to(paths[0].resolve())
        given = list(ask("runs", "advise", "--all", folder, "--config", "none", statuses=(0, 3), lines=True))
        if not any("error" not in line for line in given):
            wrong("advise --all read no run", given)


def check_closed():
    """Each schema that says so of itself is refused by what is not it: a member too many, one too few."""
    [value] = ask("info", "info", recordings / "tf2-input-sequential-map")
    for changed in ({**value, "more": 1}, {key: item for key, item in value.items() if key != "steps"},
                    {**value, "steps": {**value["steps"], "count": "3"}}):
        if validators["info"].is_valid(changed):
            wrong("info.schema.json takes anything")


def check_complete():
    """No "schema": "tfprof.NAME/1" is written that has no page."""
    root = docs.parent
    written = {name for path in [*root.glob("engine/**/*.c"), *root.glob("rules/**/*.c")]
               for name in re.findall(r'"tfprof\.([a-z]+)/\d"', path.read_text(encoding="utf-8"))}
    lacking = {name for name in written if name not in validators}
    if lacking:
        wrong("no schema in docs for", sorted(lacking))


places = [recordings / name for name in ("tf2-input-sequential-map", "tf1-mnist-softmax/profile", "torch-ddp-straggler/slow",
                                         "jax-sync-every-step/slow", "torch-cast-each-step/slow")]
for place in places:
    check_recording(place)
check_rest(places)
check_closed()
check_complete()
for name in validators.keys() - ELSEWHERE - checked.keys():
    wrong(name + ".schema.json was not used")
print(", ".join("%s %d" % item for item in sorted(checked.items())))
sys.exit(1 if failed else 0)
