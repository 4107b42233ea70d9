#!/usr/bin/env python3
"""Asks the classic views what they must refuse, and how they say it.

    usage: tests/check_views.py TFPROF RECORDINGS
"""
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PLAIN = "".join(f'node {{ name: "{"a" * 60}{i}" op: "NoOp" }}\n' for i in range(20))


class Checks:
    def __init__(self, tfprof, recordings, folder):
        self.tfprof, self.folder, self.failed = tfprof, folder, 0
        self.softmax = recordings / "tf1-mnist-softmax" / "profile"
        self.profile, self.graph = self.softmax / "profile_11", self.softmax / "graph.pbtxt"

    def run(self, *arguments, text=None):
        return subprocess.run([self.tfprof, *map(str, arguments)], input=text, cwd=self.folder,
                              capture_output=True, timeout=60, check=False, text=True)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def message(self, name, kind, text):
        """A file with a message of tests/profiles.proto."""
        here = pathlib.Path(__file__).resolve().parent
        done = subprocess.run(["protoc", f"--proto_path={here}", f"--encode=profiles.{kind}",
                               "profiles.proto"], input=text.encode(), capture_output=True,
                              check=True)
        return self.file(name, done.stdout)

    def expect(self, done, status, *parts, absent=()):
        """Exit status, and what stands or does not stand in the two outputs."""
        said = done.stdout + done.stderr
        wrong = [f"exit {done.returncode}, not {status}"] if done.returncode != status else []
        wrong += [f"lacks {part!r}" for part in parts if part not in said]
        wrong += [f"has {part!r}" for part in absent if part in said]
        if wrong:
            self.failed += 1
            print(" ".join(map(str, done.args)), "|", "; ".join(wrong), "|", said[:600])

    def rows(self, *arguments):
        """The rows below the head of a report."""
        done = self.run(*arguments)
        self.expect(done, 0)
        return done.stdout.split("node name | ", 1)[-1].splitlines()[1:]

    def same(self, got, wanted, what):
        if got != wanted:
            self.failed += 1
            print(what, "|", got, "is not", wanted)


def patterns(check):
    plain = check.file("plain.pbtxt", PLAIN)
    bad = "-show_name_regexes: bad pattern '[a'"
    check.expect(check.run("scope", "-show_name_regexes", "[a", check.profile), 2, bad,
                 absent=["node name"])
    check.expect(check.run("prompt", check.profile, text="op -show_name_regexes [a\n"), 0,
                 "E: byte 2: " + bad, absent=["node name"])
    # The original finds no row to start from.
    check.same(check.rows("op", "--compat", "-start_name_regexes", "[a", check.profile), [],
               "no start")
    # 2 to the power of 60 ways, were they all tried; the last digit is 7 in two names.
    check.same(len(check.rows("scope", "-show_name_regexes", "(a+)+$|.*7", plain)), 3, "costly")
    check.expect(check.run("scope", "-show_name_regexes", r"(a*)*\1[bc]", plain), 2,
                 r"the pattern '(a*)*\1[bc]' is too costly for the name 'aaaa")
    check.run("scope", "-show_name_regexes", r"(a*)*\1[bc]", "-output", "file:outfile=none", plain)
    check.same(os.path.exists(check.folder / "none"), False, "a file without an answer")
    letters = check.file("letters.pbtxt", "".join(
        f'node {{ name: "{name}" op: "NoOp" }}\n' for name in ("é", "模型", "x")))
    check.same([row.split()[0] for row in check.rows("scope", "-show_name_regexes", r".|\pL\pL",
                                                     letters)][1:], ["x", "é", "模型"], "letters")


def named_files(check):
    """A file that an option names must be what the option says."""
    run, log = check.softmax / "run_meta_0", check.softmax / "tfprof_log"
    wrong = {check.file("random", bytes(i * i * 37 % 251 for i in range(5000))): "is not RunMetadata",
             check.file("empty", b""): "is empty",
             check.file("cut", run.read_bytes()[:3000]): "claims 22604 bytes where 2996 are left",
             check.graph: "is a GraphDef, and --run_meta_path takes RunMetadata",
             log: "is an OpLogProto, and", check.profile: "is a ProfileProto, and"}
    for path, words in wrong.items():
        for last in ([], ["--strict"], ["--compat"]):
            check.expect(check.run("scope", "--graph_path", check.graph, "--run_meta_path", path,
                                   *last), 3, f"{path}: ", words, absent=["node name"])
    text = check.file("log.txt", 'log_entries { name: "MatMul" types: "mine" }')
    for path in (text, run, check.folder / "random"):
        check.expect(check.run("scope", "--graph_path", check.graph, "--run_meta_path", run,
                               "--op_log_path", path), 3, "--op_log_path takes")
    check.expect(check.run("scope", "--profile_path", check.profile, "--graph_path", check.graph), 2,
                 "--profile_path is set, do not set --graph_path or --run_meta_path")
    check.expect(check.run("scope", "--profile_path", check.profile, "--op_log_path", log), 2,
                 "has no place beside", absent=["node name"])
    check.expect(check.run("scope", check.profile, "--graph_path", check.graph), 2,
                 "graph.pbtxt: --graph_path has no place beside")


def steps(check):
    """The four steps take 199, 208, 185 and 179 us in all, as each alone has it: a mean of 192.75,
    deviations of 6.25, 15.25, -7.75 and -13.75, so a standard deviation of 11.41."""
    def numbers(*options):
        done = check.run("scope", "-max_depth", "1", "--format", "csv", *options, check.profile)
        check.expect(done, 0)
        names, values = (line.split(",") for line in done.stdout.splitlines())
        return {name.removeprefix("total_micros_"): float(value)
                for name, value in zip(names, values) if name.startswith("total_micros")}

    check.same(numbers("-step", "2,3,4,5"),
               {"step_2": 199, "step_3": 208, "step_4": 185, "step_5": 179}, "steps")
    check.same(numbers("-step", "2:5"), numbers("-step", "2,3,4,5"), "a range")
    check.same(list(numbers("-step", "9:")), ["step_9", "step_10", "step_11"], "an open range")
    check.same(numbers("-step", "2:5", "--stats=steps,mean,median,sd,min,max"),
               {"mean": 192.75, "median": 192, "sd": 11.41, "min": 179, "max": 208, "steps": 4},
               "statistics of steps")
    check.same(numbers("-step", "3", "--stats=mean,sd"), {"mean": 208, "sd": 0}, "of one")
    check.same(len(numbers("--stats")), 6, "statistics without a choice")
    for words, said in {
            "-step 99": "-step 99: no such step was recorded; there are steps 0 to 11",
            "-step 50:60": "-step 50:60: no such step was recorded",
            "-step 3-5": "-step takes numbers of steps, not '3-5'; one as 3, several as 3,7 or 3:9",
            "--stats --format proto": "--stats has no place beside --format proto",
            "--stats -output timeline:outfile=t": "--stats has no place beside -output timeline",
            f"--stats --against {check.profile}": "--against has no place beside --stats",
            "-step 1,2 --format proto": "has no place beside --format proto",
            "--stats=mode": "--stats is one of mean,",
            "-select foo": "-select has no 'foo'; it has bytes,",
            "-select micro": "-select has no 'micro'; did you mean 'micros'?",
            "-output foo": "-output is stdout, none, file, timeline, pprof or folded, not 'foo'"}.items():
        check.expect(check.run("scope", *words.split(), check.profile), 2, said)
    other = check.message("profile_7", "ProfileProto", "".join(
        f'nodes {{ key: {i} value {{ name: "n{i}" op: "NoOp" }} }} ' for i in range(3)) +
        "steps: 7")
    check.expect(check.run("scope", check.profile, other), 2, "profile_7: is of another program: "
                 "it has 3 nodes, 3 of them are new", absent=["node name"])
    check.expect(check.run("scope", check.profile, check.profile), 0)
    # Two jobs of one program count their steps from 0; later profiles of one job repeat its steps.
    def job(name, **starts):
        return check.message(name, "ProfileProto", 'nodes { key: 1 value { name: "n" op: "NoOp" ' + " ".join(
            f"execs {{ key: {step[1:]} value {{ run_count: 1 all_start_micros: {start} }} }}"
            for step, start in starts.items()) + " } }")

    first, later, other = job("job_0", s3=100), job("job_1", s3=100, s4=150), job("job_2", s3=700, s4=750)
    said = check.run("scope", "-step", "4", "-select", "occurrence", first, later)
    check.expect(said, 0, "n (1/1|1/1)")
    for command in (["op"], ["advise"], ["info"]):
        check.expect(check.run(*command, first, other), 2, "job_2: is of another run: its step 3 began at "
                     "another time; --against and tfprof diff set two runs side by side")
    # Of step 99 the profile says that it was run, of no op that it ran in it.
    nothing = check.message("profile_99", "ProfileProto", 'nodes { key: 1 value { name: "n" '
                            'op: "NoOp" } } steps: [2, 99]')
    check.same(check.rows("scope", "-step", "99", nothing)[0],
               "_TFProfRoot (--/0us, --/0us, --/0us)", "a step without ops")
    check.expect(check.run("graph", "-step", "1,2", "-output", "timeline:outfile=t",
                           check.profile), 0)
    check.same(sorted(path.name for path in check.folder.glob("t_*")), ["t_1", "t_2"], "timelines")
    check.run("scope", "-output", "timeline:outfile=named.json", check.profile)
    check.same((check.folder / "named_-1.json").exists(), True, "the ending stays")
    check.expect(check.run("scope", "-output", "timeline:outfile=/nonexistent/x", check.profile), 3,
                 "/nonexistent/x_-1: cannot be created")


def labels(check):
    """Ten letters of three bytes; 17 bytes are kept, which are five letters and two thirds."""
    graph = check.file("one.pbtxt", 'node { name: "n" op: "NoOp" }')
    log = check.message("one.log", "OpLogProto",
                        'log_entries { name: "n" code_def { traces { file: "m.py" lineno: 3 '
                        f'function: "{"层" * 10}" line: "{"x" * 30}" }} }} }}')
    files = ["--graph_path", graph, "--op_log_path", log]
    (check.folder / "src").mkdir()
    (check.folder / "src" / "m.py").write_text("# one\n\n    y = cell(x)\n")
    plain = check.message("plain.log", "OpLogProto", 'log_entries { name: "n" code_def { traces { '
                          'file: "m.py" lineno: 3 function: "build" } } }')
    row = check.rows("code", "-line_text", "--source", "src", "--graph_path", graph,
                     "--op_log_path", plain)[1]
    check.same(row.split(" (0us")[0].strip(), "m.py:3:build:y = cell(x)", "the text of the line")
    short = "m.py:3:" + "层" * 5 + "..."
    check.same(check.rows("code", *files)[1].split(" (")[0].strip(), short, "a cut label")
    done = subprocess.run([check.tfprof, "code", "--format", "csv", *files], cwd=check.folder,
                          capture_output=True, check=False)
    check.same(short in done.stdout.decode(), True, "CSV of whole letters")
    for compat in ([], ["--compat"]):
        check.run("code", *files, "-output", "timeline:outfile=label", *compat)
        json.loads((check.folder / "label_-1").read_bytes())


def names(check):
    """A name that begins with a slash stands below a part without a name, as in the original."""
    graph = check.file("lead.pbtxt", "".join(f'node {{ name: "{name}" op: "NoOp" }}\n'
                                             for name in ("/lead", "/lead/b", "x")))
    rows = check.rows("scope", "-select", "occurrence", graph)
    check.same([row.split("(")[0].rstrip() for row in rows],
               ["_TFProfRoot", "", "    /lead", "      /lead/b", "  x"], "a leading slash")
    check.expect(check.run("scope", "-select", "tensor_value", graph), 0,
                 "tensor_value: Values of variables in the checkpoint.")
    check.expect(check.run("scope", "--compat", "-select", "tensor_value", graph), 0,
                 "tensor_value: Not supported now.")


def hidden(check):
    """Three ops stand below `a`, one of them below a scope that is no op; of the types in order Add,
    Mul, NoOp and Sub, which have 1, 1, 2 and 1 ops, Mul alone is shown: one op before, three behind."""
    graph = check.file("hidden.pbtxt", "".join(f'node {{ name: "{name}" op: "{kind}" }}\n' for name, kind in (
        ("a", "NoOp"), ("a/b", "Mul"), ("a/c", "NoOp"), ("a/d/e", "Add"), ("f", "Sub"))))

    def told(view, *options):
        done = check.run(view, "-select", "num_hidden_ops", "--format", "csv", *options, graph)
        check.expect(done, 0)
        return [(row.split(",")[0], int(row.split(",")[-1])) for row in done.stdout.splitlines()[1:]]

    check.same(told("scope", "-max_depth", "2"), [("_TFProfRoot", 0), ("a", 3), ("f", 0)], "below")
    check.same(told("scope", "-hide_name_regexes", "a/d/e,f"),
               [("_TFProfRoot", 1), ("a", 0), ("a/b", 0), ("a/c", 0), ("a/d", 1)], "hidden by name")
    check.same(told("scope", "-account_type_regexes", "NoOp", "-max_depth", "2"),
               [("_TFProfRoot", 0), ("a", 1)], "what does not count is not hidden")
    check.same(told("op", "-show_name_regexes", "Mul"), [("Mul", 4)], "types")
    check.same(check.rows("scope", "-select", "num_hidden_ops", "-max_depth", "2", graph)[1],
               "  a (+3 hidden)", "text")
    check.expect(check.run("scope", "--compat", "-select", "num_hidden_ops", graph), 0,
                 "Unknown select: num_hidden_ops")


def halves(check):
    """A checkpoint of the first format as TensorFlow wrote it, with `full` = [2, 0.25] in 32 bits and
    `half` = [1, -0.5] in 16. TensorFlow's own reader of it refuses the second: "Data type not supported"."""
    checkpoint = check.file("half-v1", base64.b64decode(
        "AAAuCiwKEgoEZnVsbBIEEgIIAhgBIgIKAAoSCgRoYWxmEgQSAggCGBMiAgoAEgIIAQALGABmdWxsAAEBAYB/EhYKBGZ1bGwS"
        "AgoAGgoqCAAAAEAAAIA+AQoVaGFsZgABAQGAfxITCgRoYWxmEgIKABoHagWAeIDwAgAAAAABAAAAAGNk/OkAAAAAAQAAAADA"
        "8qGwAAEDAQCBAQAAAAABAAAAAHS/zyyGAQiTAQ8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAV/uAiyR1R9s="))
    graph = check.file("half.pbtxt", "".join(f'node {{ name: "{name}" op: "VariableV2" }}\n'
                                             for name in ("full", "half")))
    here = pathlib.Path(__file__).resolve().parent
    asked = [check.tfprof, "scope", "--format", "proto", "-select", "tensor_value", graph,
             "--checkpoint_path", checkpoint]
    for compat, wanted in ((["--compat"], ["2 0.25"]), ([], ["2 0.25", "1 -0.5"])):
        got = subprocess.run([*asked, *compat], capture_output=True, check=True).stdout
        told = subprocess.run(["protoc", f"--proto_path={here}", "--decode=tfprof_results.GraphNodeProto",
                               "tfprof_results.proto"], input=got, capture_output=True, check=True)
        tensors = told.stdout.decode().split("tensor_value")[1:]
        check.same([" ".join(re.findall(r"value_double: (\S+)", tensor)) for tensor in tensors], wanted,
                   f"values {compat}")


def open_shapes(check):
    """Sums of [-1, 10] numbers of 32 bits: 4000 bytes are 100 rows, of which each number is an operation."""
    def node(at, name, shape, *runs):
        """runs: bytes that were asked for, bytes of the result, a step each."""
        steps = "".join(f"execs {{ key: {step} value {{ run_count: 1 memory_execs {{ requested_bytes: {asked} "
                        f"output_memory {{ key: 0 value {{ bytes: {size} }} }} }} }} }} "
                        for step, (asked, size) in enumerate(runs))
        return (f'nodes {{ key: {at} value {{ name: "{name}" op: "AddV2" attrs {{ key: "T" value {{ type: 1 }} }} '
                f'output_shapes {{ key: 0 value {{ int64_values: {shape} }} }} {steps} }} }} ')

    path = check.message("open", "ProfileProto", node(1, "told", [-1, 10], (4000, 4000), (4000, 4000)) +
                         node(2, "several", [-1, 10], (4000, 4000), (2000, 2000)) +
                         node(3, "part", [-1, 10], (0, 4000)) + node(4, "two", [-1, -1], (4000, 4000)) +
                         node(5, "odd", [-1, 10], (4001, 4001)) + node(6, "known", [5, 10], (4000, 4000)))
    rows = check.rows("scope", "-select", "float_ops", path)
    check.same(dict(row.strip().rstrip(" flops)").split(" (") for row in rows[1:]),
               {"told": "1.00k/1.00k", "several": "?/?", "part": "?/?", "two": "?/?", "odd": "?/?",
                "known": "50/50"}, "open shapes")
    rows = check.rows("scope", "-select", "float_ops", "-max_depth", "1", check.profile)
    check.same(rows, ["_TFProfRoot (--/>=3.16m flops)"], "as the files of that run")


def own_types(check):
    """Types from lines of text are those that an op log with them gives."""
    graph = check.file("typed.pbtxt", "".join(f'node {{ name: "{name}" op: "NoOp" }}\n' for name in (
        "enc/a", "enc/b", "dec/a", "x")))
    types = check.file("types.txt", "# parts\nencoder = enc/.*\n\n  first=.*/a \nunused = enc\n")
    log = check.message("types.log", "OpLogProto", """
        log_entries { name: "enc/a" types: "encoder" types: "first" }
        log_entries { name: "enc/b" types: "encoder" }
        log_entries { name: "dec/a" types: "first" }""")
    for view in ("scope", "graph", "op"):
        for asked in (["-select", "op_types,occurrence"], ["-select", "op_types", "--format", "csv"],
                      ["-account_type_regexes", "encoder", "-select", "occurrence"],
                      ["--compat", "-account_type_regexes", "first,encoder", "-select", "occurrence"]):
            told = check.run(view, *asked, "-op_types", types, graph)
            check.expect(told, 0, f"{types}:5: no op has a name as 'unused' wants it")
            logged = check.run(view, *asked, "--graph_path", graph, "--op_log_path", log)
            check.same(told.stdout, logged.stdout, f"{view} {asked}")
    check.expect(check.run("prompt", graph, text=f"set -op_types {types}\nscope -select op_types\n"), 0,
                 "enc/a (NoOp|encoder|first)")
    for text, words in (("= a", "bad.txt:1:3: expected TYPE = REGEX"), ("a", "bad.txt:1:2: expected TYPE"),
                        ("\nx = [a", "bad.txt:2:5: bad pattern '[a'"), ("x = (a*)*\\1[bc]", "")):
        bad = check.file("bad.txt", text)
        check.expect(check.run("scope", "-op_types", bad, graph), 2 if words else 0, words)
    check.expect(check.run("scope", "-op_types", "none.txt", graph), 3, "none.txt: ")

    check.expect(check.run("oplog", graph, "--op_types", types, "-o", "made.log"), 0, "made.log: 3 of 4 ops")
    check.same((check.folder / "made.log").read_bytes() != b"", True, "a log")
    check.same(decoded(check, "made.log"), decoded(check, log), "the log")
    check.expect(check.run("oplog", graph, "-o", "none.log"), 3, "nothing is known of any op")
    check.expect(check.run("oplog", graph), 2, "--output says where to")
    # What a log told comes back: lines, types but those that every op has; and the product of 100x784
    # and 784x10 takes 2 * 100 * 784 * 10 float operations.
    check.expect(check.run("oplog", "--graph_path", check.graph, "--run_meta_path",
                           check.softmax / "run_meta_1", "-o", "whole.log"), 0)
    product = entry_of(decoded(check, "whole.log"), "MatMul")
    check.same("float_ops: 1568000" in product and "types:" not in product, True, product)
    check.expect(check.run("oplog", check.profile, "-o", "whole.log"), 0)
    product = entry_of(decoded(check, "whole.log"), "MatMul")
    check.same(("lineno: 188" in product, "types:" in product), (True, False), product)
    check.same('types: "_trainable_variables"' in entry_of(decoded(check, "whole.log"), "Variable"), True,
               "types of a log")


def entry_of(log, name):
    return [entry for entry in log.split("log_entries") if f'name: "{name}"' in entry][0]


def decoded(check, path):
    here = pathlib.Path(__file__).resolve().parent
    done = subprocess.run(["protoc", f"--proto_path={here}", "--decode=profiles.OpLogProto",
                           "profiles.proto"], input=(check.folder / path).read_bytes(),
                          capture_output=True, check=True)
    entries = done.stdout.decode().split("log_entries")[1:]
    return "log_entries".join(sorted(entries))


def prompt(check):
    def ask(*lines, inputs=(check.profile,)):
        return check.run("prompt", *inputs, text="\n".join(lines) + "\n")

    def options(done):
        return dict(line.split(None, 1) if " " in line.strip() else (line.strip(), "")
                    for line in done.stdout.splitlines() if line.startswith("-"))

    # The same advice as outside, of files that views read in part, and once more.
    for path in (check.profile, check.softmax):
        advice = check.run("advise", path).stdout
        check.same(ask("advise", "advise", inputs=[path]).stdout, advice * 2, f"advice on {path}")
    first = options(ask("set"))
    check.same(first["-max_depth"].strip(), "10", "set alone lists")
    check.same(options(ask("set -max_depth 2 -step 3", "reset", "")), first, "reset")
    kept = options(ask("set -max_depth 2 -step 3", "reset -step", ""))
    check.same((kept["-max_depth"].strip(), kept["-step"].strip()), ("2", "-1"), "reset of one")
    for line, said in {"set -step 99": "E: -step 99: no such step was recorded",
                       "reset -foo": "E: '-foo' is no option",
                       "help foo": "E: there is no help on 'foo'",
                       "op > file": "-output file:outfile=NAME writes to a file",
                       "op -max_depth 1; scope": "E: a line is one command",
                       "exit now": "E: exit takes nothing behind it"}.items():
        check.expect(ask(line, "help -step"), 0, said, "3,7 or 3:9")
    check.expect(ask("help scope"), 0, "scope: The nodes in the model graph", "-max_depth ")


def main():
    tfprof, recordings = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        check = Checks(tfprof, recordings, pathlib.Path(folder))
        patterns(check)
        named_files(check)
        steps(check)
        labels(check)
        names(check)
        hidden(check)
        own_types(check)
        halves(check)
        open_shapes(check)
        prompt(check)
    print("failed:", check.failed)
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
