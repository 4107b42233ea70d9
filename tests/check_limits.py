#!/usr/bin/env python3
"""Files that shrink are one line and status 3; patterns that cost too much are an error; more of something takes more work in
proportion. (Too little memory: check_scarcity.py.)
    usage: check_limits.py TFPROF FAULT_LIBRARY RECORDINGS_DIR [limits|growth]"""
import json
import os
import resource
import shutil
import sys

from synthetic import HEAD, body, expect, finish, pack, read, run, synth, write

FAULT, RECORDINGS = (os.path.realpath(path) for path in sys.argv[2:4])


def shrinking_files():
    for path in ("big.json", "tiny.xplane.pb", "profile.pb"):
        for command in ("advise", "op", "baseline"):
            shutil.copy(path, "shrinks")
            answer = run(command, "shrinks", env={"LD_PRELOAD": FAULT, "FAULT": "shrink", "FAULT_N": "1"})
            expect(os.path.getsize("shrinks") < os.path.getsize(path), f"{command} {path}: it has shrunk")
            expect(answer[0] == 3 and "shrinks" in answer[2], f"{command} {path} that shrinks: {answer[0]} {answer[2]!r}")


def costly_patterns():
    """Names that could not be told are an error, never "no such name"."""
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": i * 1000.0, "dur": 999.0}
              for i in range(3)]
    events += [{"ph": "X", "cat": "cpu_op", "name": "a" * 60 + f"b{i}", "pid": 1, "tid": 1, "ts": i * 3.0, "dur": 2.0} for i in range(20)]
    write("names.json", json.dumps({"traceEvents": events}))
    pattern = r"^(a|\1a)+(a+)+b7x|(a+)+\2\2!"
    for arguments in (["whatif", "--drop", f"op:{pattern}", "names.json"], ["why", "names.json", f"op:{pattern}"],
                      ["scope", "-show_name_regexes", f".*({pattern})", "names.json"]):
        status, _, err = run(*arguments)
        expect(status == 2 and "too costly" in err, f"{arguments}: {status} {err!r}")


def growing_inputs():
    """Twice as much of something takes about twice the work, whatever it is."""
    def shapes(count):
        events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": i * count / 5,
                   "dur": count / 5 - 0.5} for i in range(10)]
        events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": i * 2.0, "dur": 1.0,
                    "args": {"Input Dims": [[i, i + 1], [i + 1, 3]], "Input type": ["float", "float"]}} for i in range(count)]
        write("many.json", json.dumps({"traceEvents": events}))
        return ["baseline", "many.json"]

    def suppressions(count):
        write("many.toml", "".join(f'[[suppress]]\nrule = "r{i}"\nreason = "r"\n' for i in range(count)))
        return ["advise", "--config", "many.toml", "g.json"]

    def many(last, events, *arguments):
        """Events of n microseconds in ten steps of the thread 1."""
        steps = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": i * last / 10,
                  "dur": last / 10 - 0.5} for i in range(10)]
        write("many.json", json.dumps({"traceEvents": steps + events}))
        return [*arguments, "many.json"]

    def op(i, **more):
        return {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": i * 2.0, "dur": 1.0, **more}

    def kernel(i, device, stream):
        return {"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": stream, "ts": i * 2.0, "dur": 1.0,
                "args": {"stream": stream, "device": device, "correlation": i}}

    def threads(count):
        return many(2 * count, [op(i, tid=2 + i) for i in range(count)], "advise")

    def processes(count):
        return many(2 * count, [op(i, pid=2 + i) for i in range(count)], "info")

    def streams(count):
        return many(2 * count, [kernel(i, 0, 7 + i) for i in range(count)], "advise")

    def devices(count):
        """As many allocations on more devices."""
        return many(200000, [{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": i,
                              "args": {"Total Allocated": 100, "Bytes": 100, "Addr": i, "Device Type": 1,
                                       "Device Id": i % count}} for i in range(100000)] + [op(0)], "info")

    def nested_ops(count):
        return many(2 * count, [op(0, name=f"op{i % 50}", ts=i, dur=2 * (count - i)) for i in range(count)], "advise")

    def nested_frames(count):
        return many(2 * count, [{"ph": "X", "cat": "python_function", "name": f"f{i}.py({i}): g", "pid": 1, "tid": 1, "ts": i,
                                 "dur": 2 * (count - i), "args": {"Python id": i, "Python parent id": i - 1}}
                                for i in range(count)], "advise")

    def work_once(arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def works_of(few, many_of_them, most, rounds=9):
        """The least of some rounds each, asked in turn: what else the machine does only adds to it. More than "most" times
        as much is asked again, until it is sure."""
        one = two = float("inf")
        for i in range(rounds):
            one, two = min(one, work_once(few())), min(two, work_once(many_of_them()))
            if i >= 2 and two < most * one:
                break
        return one, two

    # Of four times as much: between 4 (in proportion) and 16 (its square), far from both.
    most = 8
    for make, few, many_of_them in ((shapes, 5000, 20000), (suppressions, 2000, 8000), (threads, 16000, 64000),
                                    (processes, 16000, 64000), (streams, 4000, 16000), (devices, 1000, 16000),
                                    (nested_ops, 5000, 20000), (nested_frames, 5000, 20000)):
        one, two = works_of(lambda: make(few), lambda: make(many_of_them), most)
        expect(two < most * one, f"{make.__name__}: {one:.2f} s of work for {few}, {two:.2f} s for {many_of_them}")


def main():
    only = sys.argv[4] if len(sys.argv) > 4 else None
    synth("g.json", HEAD + "step x12\n" + body(20))
    if only != "limits":
        growing_inputs()
    if only == "growth":
        return
    shutil.copy(os.path.join(RECORDINGS, "tf1-mnist-softmax", "profile", "profile_11"), "profile.pb")
    synth("big.json", HEAD + "step x10\n" + body(200))
    # Launches that the device waits for: many findings, and so much text.
    synth("tiny.xplane.pb", HEAD.rstrip("\n") + "\nlaunch 8us\nstep x10\n  op aten::add x100\n    kernel k 3us\n    gap 5us\n  sync\n")
    shrinking_files()
    costly_patterns()


finish(main)
