#!/usr/bin/env python3
"""Every command has a man page with examples, and every example is a command line that the program takes.
    usage: check_examples.py TFPROF"""
import glob
import os
import re
import shlex
import subprocess

from synthetic import TFPROF, expect, finish, run

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"]
TAKEN = {0, 3}          # done, or what the example reads is not there; 2 is a line that nobody can run
LONG = 5                # seconds after which one that waits, as for a program to record, has been taken
PORT_OF_NOBODY = "localhost:1"


def commands():
    """Names in the list that `tfprof help` prints."""
    return re.findall(r"^  ([a-z]+)\s", run("help")[1], re.MULTILINE)


def check_pages():
    os.mkdir("man")
    expect(run("--generate", "man", "man")[0] == 0, "pages are written")
    names = commands()
    expect(len(names) > 30, f"commands: {names}")
    pages = {os.path.basename(path)[:-2] for path in glob.glob("man/*.1")}
    expect(pages == {"tfprof"} | {f"tfprof-{name}" for name in names}, f"pages: {pages ^ set(names)}")
    for path in glob.glob("man/*.1"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
        expect(all(section in found for section in SECTIONS), f"{path}: {found}")
        page = text.partition(".SH EXAMPLES\n")[2]
        expect(page.startswith(".TP\ntfprof "), f"{path}: {page[:60]!r}")


def check_environment():
    """What is read of the environment is told, on the page of all commands and on those of the ones that look at it."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    read = {"TFPROF_RECORDING"}
    for path in glob.glob(f"{root}/engine/*/*.c") + glob.glob(f"{root}/engine/*/*/*.c"):
        if "/engine/mpi/" not in path:
            with open(path, encoding="utf-8") as file:
                read |= set(re.findall(r'getenv\("(\w+)"\)', file.read()))
    told = {}
    for path in glob.glob("man/*.1"):
        with open(path, encoding="utf-8") as file:
            told[os.path.basename(path)] = set(re.findall(r"^\.TP\n([A-Z_]+)$", file.read().partition(".SH ENVIRONMENT")[2], re.MULTILINE))
    expect(told["tfprof.1"] == read - {"HOME", "PATH", "TERM"}, f"variables: {told['tfprof.1'] ^ read}")
    expect({"TMPDIR", "TFPROF_RECORDING", "NO_COLOR"} <= told["tfprof-bisect.1"], told["tfprof-bisect.1"])
    expect("TMPDIR" not in told["tfprof-info.1"], told["tfprof-info.1"])


def check_lines():
    for name in commands():
        lines = re.findall(r"^  (tfprof .*)$", run(name, "--help")[1].partition("\nExamples:\n")[2], re.MULTILINE)
        expect(lines, f"{name} has an example")
        for line in lines:
            words = shlex.split(line.replace("localhost:6009", PORT_OF_NOBODY))[1:]
            expect(words[0] == name, f"{line}: of {name}")
            try:
                status = subprocess.run([TFPROF, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG,
                                        check=False).returncode
            except subprocess.TimeoutExpired:
                continue
            expect(status in TAKEN, f"{line}: {status}")


def main():
    check_pages()
    check_environment()
    check_lines()


finish(main)
