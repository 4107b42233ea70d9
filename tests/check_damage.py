#!/usr/bin/env python3
"""Cuts recordings short and holds every command to saying so: on standard error, in every format, and in what it decides.
    usage: check_damage.py TFPROF
No number of a cut recording is told without a word; `baseline` refuses it, a gate does not pass on it."""
import json
import os

from synthetic import HEAD, body, expect, finish, read, run, synth, write

GATE_FORMATS = ["text", "json", "markdown", "github", "sarif", "junit", "gitlab", "openmetrics", "tap"]


def commands(path):
    """Every command that reads a profile, but for those that decide."""
    edit, what = "--drop=op:aten::add", "op:aten::add"
    rows = [[view, path] for view in ("op", "scope", "graph")]
    rows += [["op", "--format", form, path] for form in ("csv", "json")]
    rows += [["advise", path], ["advise", "--format", "json", path], ["advise", "--format", "classic", path],
             ["info", path], ["info", "--format", "json", path], ["explain", "trace-truncated", path],
             ["diff", "whole.json", path], ["diff", path, "whole.json"],
             ["diff", "--format", "json", "whole.json", path], ["op", "--against", path, "whole.json"],
             ["whatif", edit, path], ["whatif", edit, "--format", "json", path],
             ["why", path, what], ["why", "--format", "json", path, what],
             ["rules", "bench", path], ["repl", path, "--rule", "return 1"]]
    return rows


def notes_of(result):
    sides = [side["profile"] for side in (result.get("before"), result.get("after")) if side]
    return [note for side in sides or [result.get("profile", result)] for note in side["notes"]]


def check_said(path, needle):
    for arguments in commands(path):
        name = " ".join(arguments)
        status, out, err = run(*arguments)
        if arguments[0] == "rules":
            expect(needle in err, f"{name}: damage on standard error ({err})")
            continue
        expect(status in (0, 1), f"{name}: status {status}: {err}")
        expect(needle in err and "damaged" in err, f"{name}: damage on standard error ({err!r})")
        if "json" in arguments:
            notes = notes_of(json.loads(out))
            expect(any(note["damage"] and needle in note["what"] for note in notes), f"{name}: a note in JSON ({notes})")
        status, out, err = run(*arguments, "--strict") if arguments[0] != "rules" else (3, "", "")
        expect(status == 3 and out == "", f"{name} --strict: status {status}")
    status, _, err = run("prompt", path, text="op\nscope\n")
    expect(status == 0 and err.count(needle) == 1, f"prompt: said once ({err!r})")
    os.makedirs("history", exist_ok=True)
    write("history/1.json", read(path))
    status, _, err = run("history", "history")
    expect(status == 0 and needle in err, f"history: said ({err!r})")


def check_quiet(path):
    for arguments in commands(path):
        status, _, err = run(*arguments)
        expect("damaged" not in err, f"{' '.join(arguments)}: whole, and nothing is said ({err!r})")


def check_checkpoint():
    """One that is not there or damaged is not passed over where nothing would show it."""
    write("graph.pbtxt", 'node { name: "a" op: "NoOp" }\n')
    write("bad.index", "no table")
    for command in ("advise", "info", "scope"):
        for path in ("none", "bad"):
            status, _, err = run(command, "--graph_path=graph.pbtxt", f"--checkpoint_path={path}")
            expect(status == 3 and path in err, f"{command} with a checkpoint '{path}': {status} {err!r}")


def check_gate(path, needle):
    """Inconclusive whatever the numbers say, in every format; accepted, it is a warning."""
    status, out, _ = run("gate", path, "--baseline", "whole.tfbase")
    expect(status == 4 and out.startswith("Inconclusive: the recording is damaged"), f"gate {path}: {status} {out}")
    for form in GATE_FORMATS:
        status, out, err = run("gate", path, "--budget", "step_ms.p50 <= 100", "--format", form)
        expect(status == 4 and needle in err, f"gate {path} as {form}: status {status}, {err!r}")
        expect("damaged" in out or form == "openmetrics", f"gate {path} as {form} says so: {out}")
    status, out, _ = run("gate", path, "--budget", "step_ms.p50 <= 100", "--damage", "accept")
    expect(status == 0 and "Passed with a warning: the recording is damaged" in out, f"gate {path}, accepted: {out}")
    write("tfprof.toml", '[gate]\ndamage = "accept"\n')
    expect(run("gate", path, "--budget", "step_ms.p50 <= 100")[0] == 0, f"gate {path}, accepted by the project")
    os.remove("tfprof.toml")
    status, out, _ = run("gate", path, "--baseline", "whole.tfbase", "--format", "json")
    notes = json.loads(out)["notes"]
    expect(any(note["damage"] and note["side"] == "after" and needle in note["what"] for note in notes), f"{notes}")


def check_baseline(path, needle):
    status, _, err = run("baseline", path, "-o", "bad.tfbase")
    expect(status == 3 and needle in err and not os.path.exists("bad.tfbase"), f"baseline {path}: {status} {err!r}")
    status, _, err = run("baseline", path, "-o", "bad.tfbase", "--damage", "accept")
    expect(status == 0 and needle in err, f"baseline {path}, accepted: {status} {err!r}")
    status, out, _ = run("gate", "whole.json", "--baseline", "bad.tfbase")
    expect(status == 4 and "the baseline's recording is damaged" in out.replace("\n", " "), f"gate with it: {status} {out}")
    os.remove("bad.tfbase")


def main():
    whole = synth("whole.json", HEAD + "step x12\n" + body(20))
    # The second half is six times as slow: what a cut hides.
    slow = synth("slow.json", HEAD + "step x6\n" + body(20) + "step x6\n" + body(20) + "  op aten::cat 3ms\n")
    check_quiet("whole.json")
    check_checkpoint()
    expect(run("baseline", "whole.json", "-o", "whole.tfbase")[0] == 0, "a whole recording is a baseline")
    expect(run("gate", "whole.json", "--baseline", "whole.tfbase")[0] == 0, "a whole recording passes")
    expect(run("gate", "slow.json", "--baseline", "whole.tfbase")[0] in (1, 4), "a slower one does not")
    write("cut.json", whole[: len(whole) * 7 // 10])
    write("half.json", slow[: len(slow) // 2])
    hole = whole.index(b'"name"', len(whole) // 2)
    write("hole.json", whole[:hole] + b"\0" * 400 + whole[hole + 400:])
    # From inside one name to inside another: what was between has become part of a name.
    begin = whole.index(b'"name":"', len(whole) // 2) + 9
    end = whole.index(b'"name":"', begin + 1000) + 9
    write("zeros.json", whole[:begin] + b"\0" * (end - begin) + whole[end:])
    for path, needle in (("cut.json", "ends early"), ("hole.json", "no JSON"), ("zeros.json", "zero bytes")):
        check_said(path, needle)
    # A name that holds a zero byte as JSON writes it is a name: rules say it with a sign in the byte's place.
    write("odd.json", whole.replace(b'"aten::add"', b'"aten::\\u0000add"'))
    status, out, _ = run("advise", "odd.json", "--only", "hot-op", "--min-impact", "0")
    expect(status == 0 and "aten::?add" in out and "failed" not in out, f"a zero byte in a name: {status} {out}")
    for path, needle in (("cut.json", "ends early"), ("hole.json", "no JSON"), ("half.json", "ends early")):
        check_gate(path, needle)
        check_baseline(path, needle)


finish(main)
