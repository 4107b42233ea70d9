#!/usr/bin/env python3
"""Results reach where they go whole, harm nothing that was there, and carry nothing that steers who reads them.
    usage: check_writing.py TFPROF FAULT_LIBRARY"""
import csv
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

from synthetic import HEAD, TFPROF, body, expect, finish, pack, read, run, synth, write

FAULT = os.path.realpath(sys.argv[2])
NAMES = ["\x1b[2J\x1b[31mRED", "##[group]owned", "::error::owned", '=HYPERLINK("http://x")', "+1+1|cmd", "-2", "@a", "a\rb",
         "a\u202eb", "a\u2066b", "a\u009bm", "a\u2028b", "a\x07b", "a\n::warning::b", "@everyone", "std::sort"]
CLEAN = ["op", "scope", "graph", "scope --format csv", "op --format csv", "op --format json", "diff", "diff --format json",
         "advise --format classic", "advise", "advise --format json", "info", "baseline -o -", "advise --format csv",
         "advise --format markdown", "advise --format github", "table ops", "table ops --format csv"]
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def check_names():
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000}]
    events += [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10.0 * i, "dur": 9.0}
               for i, name in enumerate(NAMES)]
    write("names.json", json.dumps({"traceEvents": events}))
    for command in CLEAN:
        arguments = command.split() + ["names.json"] * (2 if command.startswith("diff") else 1)
        status, out, err = run(*arguments)
        expect(status in (0, 1), f"{command}: status {status} {err}")
        if not re.search("json|baseline|github", command):
            expect(not STEERING.search(out + err), f"{command}: {STEERING.findall(out)}")
            expect(not re.search(r"^\s*(##\[|::)", out, re.M), f"{command}: a line begins like a command of a CI runner")
            expect("##[" not in out, f"{command}: an older command of a CI runner")
    rows = list(csv.DictReader(io.StringIO(run("op", "--format", "csv", "names.json")[1])))
    expect(any(row["name"].startswith("'=HYPER") for row in rows), "a formula is a text in CSV")
    expect(not [row for row in rows if row["name"][:1] in "=+-@"], "no cell of CSV begins like a formula")
    os.remove("names.json")


def check_inputs_stay():
    before = read("g.json")
    for arguments in (["baseline", "g.json", "-o", "g.json"], ["op", "--output=file:outfile=g.json", "g.json"],
                      ["gate", "g.json", "--baseline", "g.tfbase", "-o", "g.tfbase"], ["advise", "g.json", "-o", "hard.json"],
                      ["advise", "g.json", "-o", "link.json"]):
        status, _, err = run(*arguments)
        expect(status == 2 and "was read" in err, f"{arguments}: status {status} {err!r}")
        expect(read("g.json") == before, f"{arguments}: the recording is as it was")
    os.chmod("kept.txt", 0o444)
    status, _, err = run("advise", "g.json", "-o", "kept.txt")
    expect(status == 3 and read("kept.txt") == b"kept", f"a file that may not be written stays: {status} {err!r}")
    os.symlink("there.txt", "to.txt")
    expect(run("advise", "g.json", "-o", "to.txt")[0] in (0, 1) and os.path.islink("to.txt"), "a link stays one")
    expect(os.path.getsize("there.txt") > 0, "and what it names is written")
    os.symlink("none/there.txt", "nowhere.txt")
    expect(run("advise", "g.json", "-o", "nowhere.txt")[0] == 3 and os.path.islink("nowhere.txt"), "a link into nothing")


def check_ended():
    """Ended while it writes: nothing stays."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.makedirs("ended", exist_ok=True)
        with subprocess.Popen([TFPROF, "baseline", "g.json", "-o", "ended/a.tfbase"],
                              env={**os.environ, "LD_PRELOAD": FAULT, "FAULT_SLEEP": "20",
                                   "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}) as process:
            for _ in range(200):
                if os.listdir("ended"):
                    break
                time.sleep(0.05)
            names = os.listdir("ended")
            expect(names and all(name.startswith(".") for name in names), f"hidden while it is written: {names}")
            process.send_signal(number)
            expect(process.wait(10) == -number, f"{number}: ended by it")
        expect(os.listdir("ended") == [], f"{number}: nothing stays: {os.listdir('ended')}")
    for call in ("write", "fsync", "rename"):
        status, _, err = run("baseline", "g.json", "-o", "ended/a.tfbase",
                             env={"LD_PRELOAD": FAULT, "FAULT": call, "FAULT_N": "1"})
        expect(status == 3 and "a.tfbase" in err and os.listdir("ended") == [], f"{call} fails: {status} {err!r}")


def check_full():
    for arguments, text in ((["op", "g.json"], ""), (["prompt", "g.json"], "op\n"), (["repl", "g.json", "--rule", "return 1"], ""),
                            (["repl", "g.json"], "p\n"), (["advise", "g.json"], ""), (["help"], ""), (["baseline", "g.json"], "")):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TFPROF, *arguments], stdout=full, stderr=subprocess.PIPE, input=text, text=True, check=False)
        expect(done.returncode == 3 and "cannot be written" in done.stderr, f"{arguments}: {done.returncode} {done.stderr!r}")


def check_bombs():
    """What is found or read beside a profile is bounded."""
    os.makedirs("bomb")
    for name, first in (("bomb/tfprof.toml", b"#"), ("bomb/b.tfbase", b"{"), ("bomb/s.synth", b"#")):
        with gzip.open(name, "wb", 1) as file:
            file.write(first)
            for _ in range(80):
                file.write(b" " * (1 << 20))
    os.chdir("bomb")
    for arguments in (["advise", "../g.json"], ["gate", "--config", "none", "--baseline", "b.tfbase", "../g.json"],
                      ["synth", "s.synth", "-o", "s.json"]):
        status, _, err = run(*arguments)
        expect(status == 3 and "holds more than" in err, f"{arguments}: {status} {err!r}")
    os.chdir("..")
    write("g.pbtxt", 'node { name: "a" op: "NoOp" }\n')
    write("zeros.gz", gzip.compress(bytes(1 << 20)))
    for arguments in (["advise", "/dev/zero"], ["gate", "g.json", "--baseline", "/dev/zero"],
                      ["advise", "g.json", "--config", "/dev/zero"], ["advise", "--graph_path=g.pbtxt", "--op_log_path=/dev/zero"],
                      ["advise", "--graph_path=g.pbtxt", "--op_log_path=zeros.gz"]):
        status, _, err = run(*arguments, timeout=30)
        expect(status == 3, f"{arguments}: {status} {err!r}")


def check_empty():
    """A wrong folder is not taken for success."""
    os.makedirs("empty/below")
    pack("good", "")
    for arguments in (["empty"], ["good", "empty"]):
        status, out, err = run("rules", "test", *arguments)
        expect(status == 2 and "empty" in err and "nothing to test" in err and "0 rules" not in out, f"{arguments}: {status} {err!r}")
    expect(run("rules", "test", "good")[0] != 2, "a folder of rules is tested")
    status, _, err = run("history", "empty")
    expect(status == 3 and "no measurement" in err, f"history of an empty folder: {status} {err!r}")


def check_damaged_baselines():
    """In a series they are named and left out; the others are measured."""
    os.makedirs("series")
    whole = read("g.tfbase")
    for i in range(4):
        write(f"series/{i}.tfbase", whole)
    write("series/half.tfbase", whole[: len(whole) // 2])
    write("series/zeros.tfbase", bytes(100))
    write("series/notes.txt", "notes")
    status, out, err = run("history", "series")
    expect(status == 0 and "4 measurements" in out, f"history: {status} {out!r}")
    for name in ("half", "zeros"):
        expect(f"series/{name}.tfbase" in err, f"history names {name}: {err!r}")
    expect(err.count("left out") == 2, f"history says what it leaves out, and of no other file: {err!r}")
    expect(run("history", "series", "--strict")[0] == 3, "with --strict a damaged one ends it")


def history_of(folder):
    status, out, err = run("history", folder, "--format", "json")
    expect(status == 0, f"history of {folder}: {status} {err!r}")
    return [(change["index"], change["before"], change["after"])
            for change in (json.loads(out)["metrics"][0]["changes"] if status == 0 else [])]


def check_recordings_in_a_row():
    """Recordings are a series as their baselines are: ten of 40 kernels of 30 us a step, then six of 80."""
    for folder in ("recordings", "baselines"):
        os.makedirs(folder)
    for i in range(16):
        synth(f"recordings/{i:02}.json", HEAD + "step x12\n" + body(40 if i < 10 else 80))
        run("baseline", f"recordings/{i:02}.json", "-o", f"baselines/{i:02}.tfbase")
    changes = history_of("recordings")
    expect(len(changes) == 1 and changes[0][0] == 10 and 1.2 < changes[0][1] < 1.3 and 2.4 < changes[0][2] < 2.5,
           f"history of recordings: {changes}")
    expect(history_of("baselines") == changes, "their baselines say the same")


def main():
    synth("g.json", HEAD + "step x12\n" + body(20))
    run("baseline", "g.json", "-o", "g.tfbase")
    os.link("g.json", "hard.json")
    os.symlink("g.json", "link.json")
    write("kept.txt", "kept")
    check_names()
    check_inputs_stay()
    check_ended()
    check_full()
    check_bombs()
    check_empty()
    check_damaged_baselines()
    check_recordings_in_a_row()


finish(main)
