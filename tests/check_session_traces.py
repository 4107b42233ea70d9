#!/usr/bin/env python3
"""Traces that TensorFlow's timeline module makes of session runs are read as the runs they are.
    usage: check_session_traces.py TFPROF
The traces are made here in the module's shape; what is expected of them is calculated beside them."""
import gzip
import json

from synthetic import expect, finish, run, write

CPU, GPU = "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"
ALL, STREAM, COPIES = "/device:GPU:0/stream:all", "/device:GPU:0/stream:13", "/device:GPU:0/memcpy"
START = 1_500_000_000_000_000


def trace(records, pids=None):
    """Chrome trace of (row, start in µs, µs, name, type, inputs). Each row has a process for its ops and one for its
    tensors behind that of the allocators."""
    rows = list(dict.fromkeys(record[0] for record in records))
    pids = pids or {row: 2 * i + 1 for i, row in enumerate(rows)}
    events = [{"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "Allocators"}}]
    for row in rows:
        for more, what in enumerate(("Compute", "Tensors")):
            events.append({"name": "process_name", "ph": "M", "pid": pids[row] + more, "args": {"name": f"{row} {what}"}})
    for row, start, micros, name, kind, *inputs in records:
        args = {"name": name, "op": kind, **{f"input{i}": text for i, text in enumerate(inputs)}}
        events.append({"ph": "X", "cat": "Op", "name": kind, "pid": pids[row], "tid": 0, "ts": START + start, "dur": micros,
                       "args": args})
        events.append({"ph": "s", "cat": "DataFlow", "name": name, "pid": pids[row], "tid": 0, "ts": START + start, "id": 0})
    return {"traceEvents": events}


def on_streams(start, micros, name, kind):
    return [(ALL, start, micros, name, kind), (STREAM, start, micros, name, kind)]


# Input until 60 ms, its copy until 62, a product until 82, a lookup on the host until 95, a product until 99.
STEP = [(CPU, 0, 10, "_SOURCE", "NoOp"), (GPU, 5, 10, "_SOURCE", "NoOp"), (CPU, 20, 59_980, "next", "IteratorGetNext"),
        (COPIES, 60_000, 2_000, "edge_7_next", "MEMCPYHtoD"),
        ("/device:GPU:0/stream:14", 60_000, 2_000, "edge_7_next", "MEMCPYHtoD"),
        (GPU, 61_900, 100, "a/MatMul", "MatMul", "next:1", "a/weights"), *on_streams(62_000, 20_000, "a/MatMul", "MatMul"),
        (CPU, 81_900, 13_000, "b/Lookup", "LookupTableFindV2", "a/MatMul"),
        (GPU, 94_900, 100, "c/MatMul", "MatMul", "b/Lookup"), *on_streams(95_000, 4_000, "c/MatMul", "MatMul")]


def info(path):
    status, out, err = run("info", "--format", "json", path)
    expect(status == 0, f"{path} is read: {err}")
    return json.loads(out)


def advice(path):
    status, out, err = run("advise", "--format", "json", path)
    expect(status == 0, f"{path} is advised on: {err}")
    return json.loads(out)


def near(value, expected, what):
    expect(abs(value - expected) <= 0.1, f"{what}: {value}, expected {expected}")


def check_step(path):
    told = info(path)
    expect(told["profile"]["format"] == "graph", f"{path}: format {told['profile']['format']}")
    kinds = [device["kind"] for device in told["profile"]["devices"]]
    expect(sorted(kinds) == ["cpu", "gpu"], f"{path}: devices {kinds}")
    found = advice(path)
    near(found["steps"]["wall_ms"]["median"], 99.0, "the step in ms")
    parts = {part["part"]: part["ms"] for part in found["composition"]}
    for part, expected in {"input": 60.0, "copy": 2.0, "compute": 24.0, "host": 13.0}.items():
        near(parts.get(part, 0), expected, f"{path}: {part} in ms")
    expect(found["verdict"]["class"] == "input-bound", f"{path}: {found['verdict']['text']}")
    rules = [finding["rule"] for finding in found["findings"]]
    expect(rules[0] == "input-bound-step", f"{path}: findings {rules}")
    expect("duplicate-compute" not in rules, f"{path}: an op and its kernel are no work done twice")
    idle = next(finding for finding in found["findings"] if finding["rule"] == "device-idle-high")
    expect("waits for input" in idle["title"], f"{path}: {idle['title']}")


def check_merged():
    """Three runs, a second apart, that a program merged: their tensors come once, each is a step."""
    runs = [(row, start + 1_000_000 * k, *rest) for k in range(3) for row, start, *rest in STEP]
    write("merged.json", json.dumps(trace(runs)))
    found = advice("merged.json")
    expect(found["steps"]["count"] == 3, f"merged: {found['steps']['count']} steps")
    # The second trace had other numbers for its processes: what merged them kept the names of the first.
    swapped = {CPU: GPU, GPU: CPU}
    more = STEP + [(GPU, 95_000 + k, 1, f"n{k}", "NoOp") for k in range(8)]
    mixed = more + [(swapped.get(row, row), start + 1_000_000, *rest) for row, start, *rest in more]
    write("mixed.json", json.dumps(trace(mixed)))
    found = advice("mixed.json")
    expect(found["steps"]["count"] == 2, f"merged by other numbers: {found['steps']['count']} steps")
    # A function that an op calls begins with a node of that name, too.
    called = STEP + [(CPU, 82_000, 1, "_SOURCE", "NoOp"), (CPU, 83_000, 1, "f/MatMul", "MatMul")]
    write("called.json", json.dumps(trace(called)))
    expect(advice("called.json")["steps"]["count"] == 1, "a function that is called begins no run")


def check_start_up():
    """437 ms in which the host chooses how to convolve, beside 20 ms of work, are no step's."""
    first = [(CPU, 0, 10, "_SOURCE", "NoOp")]
    for i in range(12):
        first += [(GPU, 100 + 100 * i, 90, f"a{i}", "Relu"), *on_streams(200 + 100 * i, 80, f"a{i}", "Relu")]
    first += [(GPU, 1_400, 437_000, "conv", "Conv2D"), *on_streams(438_000, 20_000, "conv", "Conv2D")]
    write("first.json", json.dumps(trace(first)))
    found = advice("first.json")
    expect("start-up" in found["verdict"]["text"], f"first run: {found['verdict']['text']}")
    priced = [finding["rule"] for finding in found["findings"] if finding["impact"].get("mid_ms", 0) > 30]
    expect(not priced, f"first run: {priced} price what is paid once")


def check_tasks():
    """Of 8 ms a worker waits 5 for what the parameter server sends, and multiplies for 3."""
    worker = "/job:worker/replica:0/task:0/device:CPU:0"
    rows = [(worker, 0, 1, "_SOURCE", "NoOp"), (worker, 1, 4_999, "RecvTensor", "RecvTensor"),
            (worker, 5_000, 3_000, "y/MatMul", "MatMul", "x_S3", "w_S5")]
    write("tasks.json", json.dumps(trace(rows)))
    parts = {part["part"]: part["ms"] for part in advice("tasks.json")["composition"]}
    near(parts.get("communication", 0), 5.0, "what the other task sends, in ms")
    near(parts.get("compute", 0), 3.0, "the product beside it, in ms")


def main():
    write("step.json", json.dumps(trace(STEP)))
    write("indented.json", json.dumps(trace(STEP), indent=4))
    write("step.json.gz", gzip.compress(json.dumps(trace(STEP)).encode()))
    for path in ("step.json", "indented.json", "step.json.gz"):
        check_step(path)
    check_merged()
    check_start_up()
    check_tasks()
    whole = json.dumps(trace(STEP))
    write("cut.json", whole[:int(0.9 * len(whole))])
    status, _, err = run("info", "cut.json")
    expect(status == 0 and "cut or damaged" in err, f"cut: status {status}, {err!r}")


finish(main)
