#!/usr/bin/env python3
"""Holds `tfprof hlo` against the HLO in the recordings, read here by itself: modules, instructions and operands; JSON
against its schema; text, DOT and neighbourhoods against JSON.
usage: check_hlo.py TFPROF DOCS RECORDING.xplane.pb..."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "opinion"))
import wire

tfprof, docs, recordings = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
validator = jsonschema.Draft202012Validator(json.loads((docs / "hlo.schema.json").read_text(encoding="utf-8")))
failures, checked = [], 0


def hlo(*arguments, status=0):
    done = subprocess.run([tfprof, "hlo", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        failures.append(f"hlo {' '.join(arguments)}: status {done.returncode}: {done.stderr}")
    return done.stdout


def expect(what, condition):
    global checked
    checked += 1
    if not condition:
        failures.append(what)


def fields(data):
    """{field: [values]} of a message; bytes or integers."""
    found = collections.defaultdict(list)
    for number, _, value in wire.fields(data):
        found[number].append(data[value[0]:value[1]] if isinstance(value, tuple) else value)
    return found


def ids(packed):
    """Integers of a repeated field, packed or one by itself."""
    at, found = 0, []
    while isinstance(packed, bytes) and at < len(packed):
        one, at = wire.varint(packed, at)
        found.append(one)
    return found if isinstance(packed, bytes) else [packed]


def modules_of(path):
    """{module: [{instruction: (opcode, [operands])}, ...]}, programs of one name together: XSpace.planes 1, XPlane.name 2, event_metadata 4, XEventMetadata.stats 5,
    XStat.bytes_value 6, HloProto.hlo_module 1, HloModuleProto.name 1, computations 3, HloComputationProto.instructions 2,
    HloInstructionProto.name 1, opcode 2, id 35, operand_ids 36."""
    modules = collections.defaultdict(list)
    for plane in map(fields, fields(pathlib.Path(path).read_bytes())[1]):
        if not plane[2] or plane[2][0] != b"/host:metadata":
            continue
        for entry in plane[4]:
            for stat in (stat for value in fields(entry)[2] for stat in fields(value)[5]):
                for proto in fields(stat)[6]:
                    for module in map(fields, fields(proto)[1]):
                        modules[module[1][0].decode()].append(read_module(module))
    return modules


def read_module(module):
    names, rows = {}, {}
    for computation in module[3]:
        for item in map(fields, fields(computation)[2]):
            name = item[1][0].decode()
            names[item[35][0]] = name
            rows[name] = (item[2][0].decode(), [one for packed in item[36] for one in ids(packed)])
    return {name: (opcode, [names[one] for one in operands]) for name, (opcode, operands) in rows.items()}


def check_module(path, name, module):
    answer = json.loads(hlo(path, "--module", name, "--format", "json"))
    for error in list(validator.iter_errors(answer))[:3]:
        failures.append(f"{path} {name}: schema: {error.message}")
    got = {item["name"]: item for item in answer["instructions"]}
    expect(f"{path} {name}: instructions differ: {sorted(set(got) ^ set(module))[:5]}", set(got) == set(module))
    for item, (opcode, operands) in module.items():
        expect(f"{path} {name}: {item}: {got[item]['opcode']}, not {opcode}", got[item]["opcode"] == opcode)
        lacks = [one for one in operands if one not in got[item]["needs"]]
        expect(f"{path} {name}: {item} lacks {lacks}", not lacks)
    text = hlo(path, "--module", name, "--top", "0").splitlines()[1:]
    expect(f"{path} {name}: {len(text)} lines for {len(module)} instructions", len(text) == len(module))
    check_dot(path, name, answer)
    return got


def check_dot(path, name, answer):
    dot = hlo(path, "--module", name, "--format", "dot")
    names = {item["name"] for item in answer["instructions"]}
    edges = sum(1 for item in answer["instructions"] for one in item["needs"] if one in names)
    expect(f"{path} {name}: DOT has other nodes", len(re.findall(r"^  \d+ \[", dot, re.M)) == len(answer["instructions"]))
    expect(f"{path} {name}: DOT has other edges", len(re.findall(r"^  \d+ -> \d+;$", dot, re.M)) == edges)
    expect(f"{path} {name}: a quote of DOT is open", all(len(re.findall(r'(?<!\\)"', line)) % 2 == 0 for line in dot.splitlines()))


def around(got, centre, depth):
    """{name: distance} by walking needs and needed_by, each way by itself."""
    found = {centre: 0}
    for way, key in ((-1, "needs"), (1, "needed_by")):
        ring = [centre]
        for distance in range(1, depth + 1):
            ring = [one for name in ring for one in got[name][key] if one not in found]
            found.update((name, way * distance) for name in ring)
            ring = list(dict.fromkeys(ring))
    return found


def assignments_of(path):
    """{module: its BufferAssignmentProto}, of names that one program alone has: HloProto.buffer_assignment 3."""
    found = collections.defaultdict(list)
    for plane in map(fields, fields(pathlib.Path(path).read_bytes())[1]):
        if plane[2] and plane[2][0] == b"/host:metadata":
            for stat in (stat for entry in plane[4] for value in fields(entry)[2] for stat in fields(value)[5]):
                for proto in map(fields, fields(stat)[6]):
                    for module in map(fields, proto[1]):
                        found[module[1][0].decode()] += map(fields, proto[3])
    return {name: protos[0] for name, protos in found.items() if len(protos) == 1}


def memory_of(assignment):
    """{space: (bytes by kind, the most that temporaries hold at once)}: LogicalBufferProto.id 1, size 2;
    BufferAllocationProto.size 2, is_thread_local 3, is_entry_computation_parameter 5, maybe_live_out 7, color 8,
    assigned 9 (logical_buffer_id 1), is_constant 12; HeapSimulatorTrace.events 1: kind 1 (0 alloc, 1 free, 2 share with 5), buffer_id 2."""
    def one(message, number):
        return (message[number] or [0])[0]

    sizes = {one(buffer, 1): one(buffer, 2) for buffer in map(fields, assignment[1])}
    kinds, space_of = collections.defaultdict(collections.Counter), {}
    for allocation in map(fields, assignment[3]):
        kind = next((kind for number, kind in ((3, "thread"), (5, "parameter"), (12, "constant"), (7, "output"))
                     if one(allocation, number)), "temporary")
        kinds[one(allocation, 8)][kind] += one(allocation, 2)
        for assigned in map(fields, allocation[9]):
            space_of[one(assigned, 1)] = one(allocation, 8) if kind == "temporary" else None
    place, alive, peaks = {}, collections.Counter(), collections.Counter()
    for event in (fields(event) for trace in map(fields, assignment[4]) for event in trace[1]):
        buffer = one(event, 2)
        if one(event, 1) == 1:
            alive[place[buffer]] -= 1
        else:
            place[buffer] = place[one(event, 5)] if one(event, 1) == 2 else buffer
            alive[place[buffer]] += 1
        for space in kinds:
            in_use = sum(sizes[b] for b, users in alive.items() if users > 0 and space_of.get(b) == space)
            peaks[space] = max(peaks[space], in_use)
    return {space: (kinds[space], peaks[space]) for space in kinds}


def table(name, path):
    done = subprocess.run([tfprof, "table", name, path, "--format=json", "--top=0"], capture_output=True, check=True)
    return json.loads(done.stdout)["rows"]


def check_buffers(path):
    sums, alive, heap = (table(name, path) for name in ("program_memory", "buffers", "program_heap"))
    expect(f"{path}: no memory of programs", sums)
    for name, assignment in assignments_of(path).items():
        want = memory_of(assignment)
        rows = [row for row in sums if row["module"] == name]
        expect(f"{path} {name}: spaces {[row['space'] for row in rows]}", sorted(want) == sorted(row["space"] for row in rows))
        for row in (row for row in rows if row["space"] in want):
            kinds, peak = want[row["space"]]
            here = lambda one: one["module"] == name and one["space"] == row["space"]
            for kind in ("parameter", "output", "constant", "temporary", "thread"):
                expect(f"{path} {name}: {kind} {row[kind + '_bytes']}, not {kinds[kind]}", row[kind + "_bytes"] == kinds[kind])
            expect(f"{path} {name}: total {row['total_bytes']}", row["total_bytes"] == sum(kinds.values()))
            expect(f"{path} {name}: heap of {row.get('heap_peak_bytes')}, not {peak}", (row.get("heap_peak_bytes") or 0) == peak)
            lies = sum(one["bytes"] for one in alive if here(one))
            expect(f"{path} {name}: {lies} bytes lie in {sum(kinds.values())}", lies == sum(kinds.values()))
            most = max((one["in_use_bytes"] for one in heap if here(one)), default=0)
            expect(f"{path} {name}: the heap's course has {most} at most", most == peak)


def check_calls():
    """A trace of PyTorch by hand: twice linear calls t once and addmm twice, and addmm calls mul; what is nested in no op calls nothing. A
    linear of other shapes has less time, and is not the one that is asked for."""
    events = []
    for step, dims in enumerate(([8, 8], [8, 8], [2, 2])):
        at = 1000 * step
        for name, start, length in (("aten::linear", 0, 500 if step < 2 else 20), ("aten::t", 1, 2), ("aten::addmm", 5, 4), ("aten::mul", 6, 1), ("aten::addmm", 11, 4),
                                    ("aten::relu", 600, 10)):
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at + start, "dur": length,
                           "args": {"Input Dims": [dims]}})
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        answer = json.loads(hlo(str(trace), "--module", "calls", "--format", "json"))
        near = json.loads(hlo(str(trace), "--op", "aten::linear", "--depth", "2", "--format", "json"))
        text = hlo(str(trace), "--module", "calls")
        check_dot(str(trace), "calls", answer)
    for error in list(validator.iter_errors(answer))[:3]:
        failures.append(f"calls: schema: {error.message}")
    got = collections.Counter((one["name"], *sorted(one["needs"])) for one in answer["instructions"])
    want = {("aten::linear", "aten::addmm", "aten::t"): 2, ("aten::t",): 2, ("aten::addmm", "aten::mul"): 2, ("aten::mul",): 2, ("aten::relu",): 2}
    expect(f"calls: {got}", got == want)
    expect(f"calls: {text}", re.search(r"^  aten::linear .*\n    aten::(t|addmm) ", text, re.M) and "\n      aten::mul" in text and "\n  aten::relu" in text)
    distances = sorted((one["distance"], one["name"]) for one in near["instructions"])
    expect(f"calls around linear: {distances}", distances == [(-2, "aten::mul"), (-1, "aten::addmm"), (-1, "aten::t"), (0, "aten::linear")])
    longest = next(one for one in near["instructions"] if one["name"] == "aten::linear")
    # Of two thirds of the steps 500 - 2 - 4 - 4 microseconds are its own.
    expect(f"calls: the linear with most time: {longest}", longest["ms"] > 0.1)


check_calls()
for recording in recordings:
    modules = modules_of(recording)
    check_buffers(recording)
    expect(f"{recording}: no HLO found in it", modules)
    listed = json.loads(hlo(recording, "--format", "json"))
    counts = {row["name"]: row["instructions"] for row in listed["modules"]}
    expect(f"{recording}: modules differ: {sorted(set(counts) ^ set(modules))}", set(counts) == set(modules))
    for name, programs in modules.items():
        expect(f"{recording}: {name}: {counts.get(name)} instructions", counts.get(name) == sum(map(len, programs)))
    main = next(row["name"] for row in listed["modules"] if len(modules[row["name"]]) == 1)
    got = check_module(recording, main, modules[main][0])
    for centre in list(got)[:: max(1, len(got) // 7)]:
        near = json.loads(hlo(recording, "--module", main, "--op", centre, "--depth", "2", "--format", "json"))
        want = around(got, centre, 2)
        expect(f"{recording}: around {centre}: {near['instructions']}", {item["name"]: item["distance"] for item in near["instructions"]} == want)
    hlo(recording, "--module", "no module is called so", status=2)
    hlo(recording, "--format", "dot", status=2)
    hlo(recording, "--op", "a", "--depth", "-1", status=2)

for failure in failures:
    print("FAILED", failure[:1000])
print(f"{checked} checks, {len(failures)} failures")
sys.exit(1 if failures or not checked else 0)
