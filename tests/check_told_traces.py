#!/usr/bin/env python3
"""Traces made of an XSpace, where that was not kept, are read as the XSpace itself; and what older TensorFlow leaves out of it.
    usage: check_told_traces.py TFPROF
One program is told in three ways: as XSpace, as the Chrome trace of it and as the message of TensorFlow 2.0."""
import gzip
import json

from synthetic import expect, finish, run, write

HOST, MAIN, POOL, STEPS, STEP_MS = "/host:CPU", 11, 12, 4, 10
# Of each step of 10 ms the pool multiplies for 6 and adds for 1; what is left is the host's.
OPS = [("model/dense/MatMul:MatMul", 1, 6), ("model/add:AddV2", 7, 1)]


def events():
    """(thread, name, start in ms, ms, arguments)"""
    rows = []
    for step in range(STEPS):
        at, group = step * STEP_MS, str(step)
        rows.append((MAIN, "train", at, STEP_MS, {"step_num": str(step + 5), "group_id": group, "_r": "1"}))
        rows.append((MAIN, "EagerKernelExecute", at + 0.5, 8, {"group_id": group}))
        rows.append((MAIN, "FunctionRun", at + 0.6, 0.02, {"group_id": group, "id": str(1000 + step)}))
        for name, after, ms in OPS:
            rows.append((POOL, name, at + after, ms, {"group_id": group, "is_eager": "0"}))
    return rows


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def picos(ms):
    return round(ms * 1e9)


def plane_of(plane_name, names, rows):
    """An XPlane: names of its lines by id, and (line, name, start in ms, ms, arguments)."""
    types, stats, plane = {}, {}, data(2, plane_name)
    lines = {line: number(1, line) + data(2, name) for line, name in names.items()}
    for thread, name, start, ms, args in rows:
        event = number(1, types.setdefault(name, len(types) + 1)) + number(2, picos(start)) + number(3, picos(ms))
        for key, value in args.items():
            event += data(4, number(1, stats.setdefault(key, len(stats) + 1)) + number(4, int(value)))
        lines[thread] += data(4, event)
    for line in lines.values():
        plane += data(3, line)
    for field, names in ((4, types), (5, stats)):
        for name, key in names.items():
            plane += data(field, number(1, key) + data(2, number(1, key) + data(2, name)))
    return plane


def as_xspace():
    return data(1, plane_of(HOST, {MAIN: "python3", POOL: "tf_Compute/12"}, events()))


def as_chrome():
    rows = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": HOST}},
            {"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 1}}]
    for thread, name in ((MAIN, "python3"), (POOL, "tf_Compute/12")):
        rows.append({"ph": "M", "pid": 1, "tid": thread, "name": "thread_name", "args": {"name": name}})
    for thread, name, start, ms, args in events():
        shown = {key: value for key, value in args.items() if key != "_r"}
        if ":" in name:
            shown, name = {**shown, "long_name": name}, name.split(":")[1]
        rows.append({"ph": "X", "pid": 1, "tid": thread, "ts": start * 1000, "dur": ms * 1000, "name": name, "args": shown})
    return json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": rows + [{}]})


def as_message():
    threads = b"".join(data(3, number(1, thread) + data(2, data(1, name) + number(2, thread)))
                       for thread, name in ((MAIN, "python3"), (POOL, "tf_Compute/12")))
    trace = data(1, number(1, 1) + data(2, data(1, HOST) + number(2, 1) + threads))
    for thread, name, start, ms, args in events():
        event = number(1, 1) + number(2, thread) + data(3, name) + number(9, picos(start)) + number(10, picos(ms))
        for key, value in args.items():
            event += data(11, data(1, key) + data(2, value))
        trace += data(4, event)
    return trace


def check(path):
    status, out, err = run("advise", "--format", "json", path)
    expect(status == 0, f"{path} is advised on: {err}")
    found = json.loads(out)
    expect(found["profile"]["format"] == "xspace", f"{path}: format {found['profile']['format']}")
    expect(found["steps"]["source"] == "marker", f"{path}: steps by {found['steps']['source']}")
    expect(abs(found["steps"]["wall_ms"]["median"] - STEP_MS) < 0.01, f"{path}: {found['steps']['wall_ms']}")
    parts = {part["part"]: part["ms"] for part in found["composition"]}
    expect(abs(parts.get("compute", 0) - 7) < 0.01, f"{path}: {parts.get('compute')} ms of computing, expected 7")
    expect(abs(parts.get("host", 0) - 3) < 0.01, f"{path}: {parts.get('host')} ms of the host, expected 3")
    expect(found["verdict"]["class"] == "compute-bound", f"{path}: {found['verdict']['text']}")
    notes = [note["what"] for note in found["profile"]["notes"]]
    expect(path.endswith(".pb") or any("trace made of a profile" in note for note in notes), f"{path}: notes {notes}")


def check_oldest():
    """What TensorFlow 2.0 says in other words: names of ops run one by one, long names, and stats in one text."""
    device = data(1, number(1, 1) + data(2, data(1, HOST) + data(3, number(1, MAIN) + data(2, data(1, "python")))))
    rows = [(0, " MatMul", {"label": ""}), (2, "Sub", {"long name": "loss/Sub:Sub", "label": "id=7,device=/job:x/device:CPU:0"})]
    for start, name, args in rows:
        event = number(1, 1) + number(2, MAIN) + data(3, name) + number(9, picos(start)) + number(10, picos(1))
        device += data(4, event + b"".join(data(11, data(1, key) + data(2, value)) for key, value in args.items()))
    write("oldest.trace", device)
    rows = json.loads(run("table", "ops", "--format", "json", "oldest.trace")[1])["rows"]
    expect(sorted((row["name"], row["type"]) for row in rows) == [("MatMul", "MatMul"), ("loss/Sub", "Sub")], f"oldest: {rows}")
    trace = data(1, number(1, 0) + data(2, data(1, "/job:localhost/replica:0/task:0/device:CPU:0") + number(2, 0)))
    trace += data(4, data(3, "x") + number(9, 5) + number(10, 5) + data(11, data(1, "label") + data(2, "x = _Arg()")))
    write("beta.trace", trace)
    status, _, err = run("advise", "beta.trace")
    expect(status == 3 and "before its release" in err, f"beta: status {status}, {err!r}")


def check_unused():
    """A GPU of which nothing was recorded: ops of milliseconds ran on the host; ops of microseconds may have been handed
    over to it, and then nobody knows what it did."""
    name = number(1, 1) + data(2, number(1, 1) + data(2, "core_count"))
    gpu = data(1, data(2, "/device:GPU:0") + data(5, name) + data(6, number(1, 1) + number(4, 48)))
    write("gpu.xplane.pb", as_xspace() + gpu)
    found = json.loads(run("advise", "--format", "json", "gpu.xplane.pb")[1])
    rules = [finding["rule"] for finding in found["findings"]]
    expect(rules[0] == "cpu-fallback-op", f"a GPU that is not used: {rules}")
    expect(found["verdict"]["class"] == "compute-bound", f"a GPU that is not used: {found['verdict']['text']}")
    short = [(thread, name, start, 0.01 if ":" in name else ms, args) for thread, name, start, ms, args in events()]
    write("short.xplane.pb", data(1, plane_of(HOST, {MAIN: "python3", POOL: "tf_Compute/12"}, short)) + gpu)
    found = json.loads(run("advise", "--format", "json", "short.xplane.pb")[1])
    expect(found["verdict"]["class"] == "unknown", f"a GPU that was not recorded: {found['verdict']['text']}")


def check_launches():
    """TensorFlow up to 2.4 gives a launch the name of its kernel: 3 a step, of 20 µs each."""
    host, gpu, kernel = events(), [], "void add_kernel(float*)"
    for step in range(STEPS):
        for i in range(3):
            at, args = step * STEP_MS + 1 + i, {"correlation_id": str(100 * step + i + 1)}
            host.append((POOL, kernel, at, 0.02, args))
            gpu.append((19, kernel, at + 0.03, 0.5, args))
    write("launches.xplane.pb", data(1, plane_of(HOST, {MAIN: "python3", POOL: "tf_Compute/12"}, host)) +
          data(1, plane_of("/device:GPU:0", {19: "Stream #19(Compute)"}, gpu)))
    rows = json.loads(run("table", "activities", "--format", "json", "--top", "0", "launches.xplane.pb")[1])["rows"]
    calls = [row for row in rows if row["name"] == kernel and row["kind"] == "launch"]
    expect(len(calls) == 1 and calls[0]["events"] == 3, f"launches a step: {calls}")


def main():
    write("h.xplane.pb", as_xspace())
    write("h.trace.json", as_chrome())
    write("h.trace.json.gz", gzip.compress(as_chrome().encode()))
    write("local.trace", as_message())
    for path in ("h.xplane.pb", "h.trace.json", "h.trace.json.gz", "local.trace"):
        check(path)
    check_oldest()
    check_unused()
    check_launches()
    status, out, err = run("advise", "--format", "json", "h.trace.json", "h.xplane.pb")
    expect(json.loads(out)["profile"]["files"][0]["name"] == "h.xplane.pb", f"the XSpace itself comes first: {err}")
    write("cut.json", as_chrome()[:-200])
    status, _, err = run("info", "cut.json")
    expect(status == 0 and "cut or damaged" in err, f"cut: status {status}, {err!r}")
    write("empty.json", json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": []}))
    status, _, err = run("info", "empty.json")
    expect(status == 3 and "no event" in err, f"empty: status {status}, {err!r}")


finish(main)
