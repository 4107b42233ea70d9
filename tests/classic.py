#!/usr/bin/env python3
"""Compares the classic views with what TensorFlow's profiler printed for the same option sets.

    usage: tests/classic.py TFPROF RECORDING... [--least N] [--show NAME] [--failed] [--way WAY]

A recording's expect/tfprof/NAME.json holds inputs and options, NAME.txt what the original printed,
NAME.file and NAME.timeline_STEP.json what it wrote. Prints how many sets of each view are
identical; fails when there are fewer than N in all. --way: of single files, as recorded; of their
profile (a ProfileProto), where the original answered that the same; at the prompt; proto, which
compares NAME.pb, the message that the original's library returned, with --format=proto; or lines of
the prompt and how it listed its options behind them.
"""
import argparse
import collections
import difflib
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# What the original refuses: nothing but a root comes back.
UNSUPPORTED = re.compile(r"op .*timeline:|(scope|graph|op) .*pprof:|"
                         r"code .*-select (\S*,|device|op_types|occurrence|input_shapes).*pprof:")
TO_FILES = re.compile(r"-output (timeline|pprof|none)")
VIEWS = ["scope", "graph", "op", "code", "advise"]


def stored(path):
    """Bytes of a recorded answer, which may be gzipped; None: there is none."""
    if path.exists():
        return path.read_bytes()
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else None


def absolute(argument, recording):
    name, paths = argument.split("=", 1)
    return name + "=" + ",".join(str(recording / path) for path in paths.split(","))


def run(tfprof, recording, asked, folder, way):
    proto = way == "proto"
    words = [word for word in asked["prompt"].split(" ") if word]
    inputs = [absolute(argument, recording) for argument in asked["inputs"]]
    if way == "profile":
        inputs = ["--profile_path=" + str(next(recording.glob("profile/profile_*")))]
    if way == "prompt":
        return subprocess.run([tfprof, "prompt", "--compat", *inputs], cwd=folder, timeout=60,
                              input=(asked["prompt"] + "\n").encode(), capture_output=True,
                              check=False)
    extra = ["--format=classic"] if words[0] == "advise" else ["--compat"]
    if words[0] == "advise" and len(words) > 1:
        extra, words = extra + ["--only=" + words[1]], words[:1]
    if proto:
        extra = ["--format=adviceproto" if word == "--format=classic" else word for word in extra]
        extra += [] if words[0] == "advise" else ["--format=proto", "-output", "stdout"]
        if "-output" in words:
            at = words.index("-output")
            words = words[:at] + words[at + 2:]
    return subprocess.run([tfprof, *inputs, words[0], *extra, *words[1:]], cwd=folder,
                          capture_output=True, timeout=60, check=False)


def differences(recording, name, asked, done, folder):
    """What is not as recorded, one (name, expected, got) each."""
    answers = recording / "expect" / "tfprof"
    expected = stored(answers / (name + ".txt")) or b""
    if asked["view"] == "advise":  # the original's checkers come in any order
        same = checkers(done.stdout) == checkers(expected)
    else:
        same = done.stdout == expected
    if not same:
        yield "text", expected, done.stdout
    for path in sorted(answers.glob(name + ".file*")) + sorted(answers.glob(name + ".timeline*")):
        name_in_full = path.name.removesuffix(".gz")
        written = folder / name_in_full.removesuffix(".json")
        expected = stored(path.with_name(name_in_full))
        got = written.read_bytes() if written.exists() else b""
        if got != expected:
            yield written.name, expected, got
    for path in answers.glob(name + ".pprof"):
        written = folder / path.name
        if not written.exists() or gzip.decompress(written.read_bytes()) != unpacked(path):
            yield path.name, b"", b""


MESSAGES = {"scope": "GraphNodeProto", "graph": "GraphNodeProto", "op": "MultiGraphNodeProto",
            "code": "MultiGraphNodeProto", "advise": "AdviceProto"}


def decoded(view, message):
    """The message as text, which has the entries of maps in order."""
    here = pathlib.Path(__file__).resolve().parent
    done = subprocess.run(
        ["protoc", f"--proto_path={here}", f"--decode=tfprof_results.{MESSAGES[view]}",
         "tfprof_results.proto"], input=message, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


def proto_differences(recording, name, asked, done):
    expected = stored(recording / "expect" / "tfprof" / (name + ".pb")) or b""
    if expected != done.stdout:
        expected, got = decoded(asked["view"], expected), decoded(asked["view"], done.stdout)
        if expected != got:
            yield "proto", expected, got


def checkers(report):
    return sorted(re.split(rb"\n(?=\w+Checker:\n)", report))


def unpacked(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def prompt_lines(tfprof, recording, rows):
    """Of each line whether the options are listed as by the original behind it, or it is refused."""
    profile = "--profile_path=" + str(next(recording.glob("profile/profile_*")))
    for row in rows:
        first, _, rest = row["line"].partition(" ")
        if first in ("help", "advise"):  # which have no options to list
            continue
        line = "set " + rest if first in [*VIEWS, "set"] else row["line"]
        done = subprocess.run([tfprof, "prompt", "--compat", profile], input=line + "\n\n",
                              capture_output=True, text=True, timeout=60, check=False)
        is_same = "E: " in done.stderr if row["listing"] is None else done.stdout == row["listing"]
        yield row["line"], is_same, done


def is_asked(asked, answers, name, way):
    """Whether the question can be put this way."""
    if way == "profile":
        return asked.get("from_profile") == "same"
    if way == "prompt":  # whose advice is in another order, and which writes no single files
        return asked["view"] != "advise" and not TO_FILES.search(asked["prompt"])
    if way == "proto":
        return any(answers.glob(name + ".pb*")) and not UNSUPPORTED.match(asked["prompt"])
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tfprof", type=pathlib.Path)
    parser.add_argument("recordings", nargs="+", type=pathlib.Path)
    parser.add_argument("--least", type=int, default=0)
    parser.add_argument("--show", help="print the difference of RECORDING/NAME")
    parser.add_argument("--way", default="files",
                        choices=["files", "profile", "prompt", "proto", "lines"])
    parser.add_argument("--failed", action="store_true", help="list what differs")
    options = parser.parse_args()
    same, total = collections.Counter(), collections.Counter()
    for recording in options.recordings:
        recording = recording.resolve()
        for path in sorted((recording / "expect" / "tfprof").glob("*.json")):
            asked = json.loads(path.read_text())
            label = f"{recording.name}/{path.stem}"
            if isinstance(asked, list) and options.way == "lines":
                for line, is_same, done in prompt_lines(options.tfprof.resolve(), recording, asked):
                    total["lines"] += 1
                    same["lines"] += is_same
                    if not is_same and options.failed:
                        print(label, line, "|", done.stdout, done.stderr)
            if (not isinstance(asked, dict) or "view" not in asked or asked["status"] != "ok" or
                    options.way == "lines"):
                continue
            if options.show and options.show != label:
                continue
            if not is_asked(asked, path.parent, path.stem, options.way):
                continue
            with tempfile.TemporaryDirectory() as folder:
                done = run(options.tfprof.resolve(), recording, asked, folder, options.way)
                wrong = list(proto_differences(recording, path.stem, asked, done)
                             if options.way == "proto" else
                             differences(recording, path.stem, asked, done, pathlib.Path(folder)))
            total[asked["view"]] += 1
            same[asked["view"]] += not wrong
            if wrong and (options.failed or options.show):
                print(label, asked["prompt"], "|", ", ".join(name for name, _, _ in wrong),
                      "|", done.stderr.decode(errors="replace")[:200].strip())
            if options.show:
                for name, expected, got in wrong:
                    sys.stdout.writelines(difflib.unified_diff(
                        expected.decode(errors="replace").splitlines(True),
                        got.decode(errors="replace").splitlines(True), name, "ours", n=1))
    for view in VIEWS:
        print(f"{view}: {same[view]} of {total[view]} identical")
    print(f"all: {sum(same.values())} of {sum(total.values())} identical")
    if sum(same.values()) < options.least:
        sys.exit(f"fewer than {options.least}")


if __name__ == "__main__":
    main()
