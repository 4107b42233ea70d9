#!/usr/bin/env python3
"""Cuts recordings short and holds every command to saying so: on standard error, in every format, and in what it decides.
    usage: check_damage.py TFPROF CASES_DIR
No number of a cut recording is told without a word; `baseline` refuses it, a gate does not pass on it."""
import json
import os
import subprocess
import sys
import tempfile

TFPROF, CASES = (os.path.realpath(path) for path in sys.argv[1:3])
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT", what)


def run(*arguments, text=""):
    done = subprocess.run([TFPROF, *arguments], capture_output=True, text=True, check=False, input=text,
                          errors="replace", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    return done.returncode, done.stdout, done.stderr


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


HEAD = 'format kineto\ngpu "NVIDIA A100" memory 40GB sms 108 compute 8.0\n'
BODY = "  op aten::add x20\n    kernel k 30us\n  sync\n"


def synth(name, sketch):
    write(name + ".synth", sketch.encode())
    status, _, err = run("synth", name + ".synth", "-o", name + ".json")
    expect(status == 0, f"{name} is made: {err}")
    return read(name + ".json")


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


def main():
    whole = synth("whole", HEAD + "step x12\n" + BODY)
    check_quiet("whole.json")
    write("cut.json", whole[: len(whole) * 7 // 10])
    check_said("cut.json", "ends early")
    hole = whole.index(b'"name"', len(whole) // 2)
    write("hole.json", whole[:hole] + b"\0" * 400 + whole[hole + 400:])
    check_said("hole.json", "no JSON")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
print(len(faults), "faults")
sys.exit(bool(faults))
