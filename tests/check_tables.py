#!/usr/bin/env python3
"""Holds `tfprof table` of recordings, one a format, against its schema, and its formats against each other.
usage: check_tables.py TFPROF SCHEMA RECORDING..."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

tfprof, schema_path, recordings = sys.argv[1], sys.argv[2], [pathlib.Path(path) for path in sys.argv[3:]]
schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
failures = []


def table(name, path, *options):
    return subprocess.run([tfprof, "table", name, path, "--threads=1", *options], capture_output=True, check=False)


def names():
    listed = subprocess.run([tfprof, "table"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line and not line.startswith("tfprof")]


def as_csv(row, column):
    value = row.get(column["name"], "")
    if column["unit"] == "bool" and value != "":
        return float(value)
    return value if isinstance(value, str) else float(value)


def check(name, path, got):
    """The same cells in both formats, numbers to the last bit; what is of all steps is not told by step."""
    try:
        data = json.loads(got.stdout)
        jsonschema.validate(data, schema)
    except (ValueError, jsonschema.ValidationError) as error:
        failures.append(f"{path.name} {name}: {error}")
        return
    rows = list(csv.reader(io.StringIO(table(name, path, "--format=csv").stdout.decode("utf-8", "replace"))))
    if rows[0] != [column["name"] for column in data["columns"]] or len(rows) != len(data["rows"]) + 1:
        failures.append(f"{path.name} {name}: CSV has other rows or columns than JSON")
        return
    if name == "path" and any("#" in row.get("name", "") for row in data["rows"] if row["kind"] == "step"):
        failures.append(f"{path.name} {name}: each mark of a step has a row of its own")
    for cells, row in zip(rows[1:], data["rows"]):
        for cell, column in zip(cells, data["columns"]):
            want = as_csv(row, column)
            if isinstance(want, str):
                same = cell == want or cell == "'" + want or not want.isprintable()
            else:
                same = cell != "" and float(cell) == want
            if not same:
                failures.append(f"{path.name} {name}.{column['name']}: CSV {cell!r}, JSON {want!r}")


def rows_of(name, path, *options):
    """Rows by their texts and lines; and the help that heads them."""
    data = json.loads(table(name, path, "--format=json", *options).stdout)
    keys = [column["name"] for column in data["columns"] if column["unit"] == "name" or column["name"] in ("source_line", "line")]
    rows = {}
    for row in data["rows"]:
        rows.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    return rows, data


def check_hosts(path):
    """--all-hosts: what is counted is the sum over ranks, the longest the longest of them, a mean that of all calls."""
    for name, summed, most in (("ops", ("calls", "total_ns", "self_ns"), None), ("collectives", ("count", "ns"), "max_ns"),
                               ("activities", ("events", "total_ns"), "max_ns")):
        parts, (whole, data) = [rows_of(name, path, "--host", rank)[0] for rank in "01"], rows_of(name, path, "--all-hosts")
        if set(whole) != set(parts[0]) | set(parts[1]):
            failures.append(f"{name}: rows of all ranks are others than those of each")
        for key, rows in whole.items():
            all_of = [row for part in parts for row in part.get(key, [])]
            for column in summed:
                want = sum(row.get(column, 0) for row in all_of)
                if len(rows) != 1 or abs(rows[0][column] - want) > 1e-5 * abs(want):
                    failures.append(f"{name}, {key}: {column} {rows[0].get(column)}, of all ranks {want}")
            if most and rows[0].get(most) != max((row[most] for row in all_of if most in row), default=None):
                failures.append(f"{name}, {key}: {most}")
            if name == "ops" and abs(rows[0]["mean_ns"] * rows[0]["calls"] - rows[0]["total_ns"]) > 1e-5 * rows[0]["total_ns"]:
                failures.append(f"{name}, {key}: mean_ns")
    told = table("ops", path).stdout.decode()
    if "of rank 1, --all-hosts sums over all" not in told:
        failures.append("a table does not say of which rank it is")
    if table("ops", path, "--all-hosts", "--host", "1").returncode != 2:
        failures.append("one host of all is no error")


def check_devices():
    """Two devices that each run a kernel of 100 microseconds a step: the table is the mean of both, and says so; that of one is its own."""
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": 1000 * step, "dur": 900}
              for step in range(6)]
    for step in range(6):
        for device in (0, 1):
            launch = 10 * step + device + 1
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1000 * step + 20 + 20 * device,
                           "dur": 10, "args": {"correlation": launch}})
            events.append({"ph": "X", "cat": "kernel", "name": "work", "pid": device, "tid": 7, "ts": 1000 * step + 100, "dur": 100,
                           "args": {"device": device, "stream": 7, "correlation": launch}})
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        both, one = json.loads(table("kernels", trace, "--format=json").stdout), table("kernels", trace, "--device", "GPU 1")
        told = table("kernels", trace).stdout.decode().splitlines()[0]
    if told != "kernels: kernels by time; the mean of 2 devices" or b"devices" in one.stdout.splitlines()[0]:
        failures.append(f"devices: {told}, {one.stdout.splitlines()[:1]}")
    if [(row["calls"], row["total_ns"]) for row in both["rows"]] != [(1, 100000)]:
        failures.append(f"devices: {both['rows']}")


checked = 0
check_devices()
for path in recordings:
    if path.parent.name == "torch-ddp-straggler":
        check_hosts(path)
for recording in recordings:
    for name in names():
        got = table(name, recording, "--format=json")
        if got.returncode == 4:
            continue  # the recording has no such table; the message says why
        if got.returncode != 0:
            failures.append(f"{recording.name} {name}: exit {got.returncode}: {got.stderr.decode()}")
            continue
        check(name, recording, got)
        checked += 1
print("\n".join(failures[:50]))
print(f"{checked} tables, {len(failures)} differences")
sys.exit(1 if failures or checked == 0 else 0)
