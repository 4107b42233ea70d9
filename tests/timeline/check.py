"""Holds `tfprof timeline` of recordings: Perfetto's classes read it, slices nest on their tracks, both formats hold the
same slices, flows and counters, and those of PyTorch's traces are the trace's own.
usage: check.py TFPROF PROFILE..."""
import collections
import csv
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

tfprof, recordings = sys.argv[1], sys.argv[2:]
BEGIN, END, COUNTER = (perfetto.TrackEvent.Type.Value("TYPE_" + name) for name in ("SLICE_BEGIN", "SLICE_END", "COUNTER"))
failures = []


def write(path, target, *options):
    done = subprocess.run([tfprof, "timeline", path, "-o", target, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        failures.append(f"{path}: {' '.join(options)} exit {done.returncode}: {done.stderr}")
    return done.returncode == 0


def unknown_fields(message):
    """Fields that Perfetto's classes do not know would be lost on its readers."""
    return message.SerializeToString() != perfetto.Trace.FromString(message.SerializeToString()).SerializeToString()


def read_perfetto(where, data):
    """[(track names, name, start, duration)], flows from and to, {counter: samples}; with faults of the format."""
    trace = perfetto.Trace.FromString(data)
    tracks, names, notes = {}, {}, {}
    events, slices, samples = collections.defaultdict(list), [], collections.defaultdict(list)
    begins, ends = collections.Counter(), collections.Counter()
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        for entry in packet.interned_data.event_names:
            names[entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_names:
            notes[entry.iid] = entry.name
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        begins.update(event.flow_ids)
        ends.update(event.terminating_flow_ids)
        if any(note.name_iid not in notes for note in event.debug_annotations):
            failures.append(f"{where}: an argument without a name")
        if event.track_uuid not in tracks or not tracks[event.track_uuid].parent_uuid in tracks:
            failures.append(f"{where}: an event on no track of a process")
        elif event.type == COUNTER:
            samples[tracks[event.track_uuid].name].append((packet.timestamp, event.double_counter_value))
        else:
            events[event.track_uuid].append((packet.timestamp, event.type, names.get(event.name_iid)))
    for track, listed in events.items():
        slices += nest(where, tracks, track, sorted(listed, key=lambda event: event[0]))  # stable, as Perfetto sorts
    return slices, begins, ends, samples


def nest(where, tracks, track, events):
    names = (tracks[tracks[track].parent_uuid].process.process_name, tracks[track].name)
    open_ones, found = [], []
    for time, kind, name in events:
        if kind == BEGIN:
            open_ones.append((time, name))
        elif not open_ones:
            failures.append(f"{where}: {names}: an end without a begin")
        else:
            start, name = open_ones.pop()
            found.append((names, name, start, time - start))
    if open_ones:
        failures.append(f"{where}: {names}: {len(open_ones)} slices do not end")
    return found


def read_chrome(data):
    ns = lambda us: round(us * 1000)
    processes, threads, slices, samples = {}, {}, [], collections.defaultdict(list)
    flows = {"s": collections.Counter(), "f": collections.Counter()}
    events = json.loads(data)["traceEvents"]
    for event in events:
        if event["ph"] == "M" and event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
        elif event["ph"] == "M" and event["name"] == "thread_name":
            threads[event["pid"], event["tid"]] = event["args"]["name"]
    for event in events:
        if event["ph"] == "X":
            names = processes[event["pid"]], threads[event["pid"], event["tid"]]
            slices.append((names, event["name"], ns(event["ts"]), ns(event["dur"])))
        elif event["ph"] == "C":
            samples[event["name"]].append((ns(event["ts"]), event["args"]["value"]))
        elif event["ph"] in flows:
            flows[event["ph"]][event["id"]] += 1
    return slices, flows["s"], flows["f"], samples


def read_csv(path):
    """Slices as CSV has them; a guard before what a spreadsheet would run is no part of the name."""
    with open(path, encoding="utf-8", newline="") as file:
        return collections.Counter(
            (row["process"], re.sub(r"^'(?=[=+@\t-])", "", row["name"]), int(row["start_ns"]), int(row["duration_ns"]))
            for row in csv.DictReader(file) if row["category"] != "counter")


def compare(where, what, got, want):
    if got != want:
        failures.append(f"{where}: {what} differ: {str(list((got - want).items())[:3])} {str(list((want - got).items())[:3])}"
                        if isinstance(got, collections.Counter) else f"{where}: {what} differ")


def check_own_events(where, path, slices):
    """Ops and kernels of a PyTorch trace: name and duration in ns, each as often as in the trace."""
    files = [file for file in pathlib.Path(path).rglob("*") if ".json" in file.name] if pathlib.Path(path).is_dir() else [pathlib.Path(path)]
    want = collections.Counter()
    for file in files:
        text = gzip.open(file).read() if file.suffix == ".gz" else file.read_bytes()
        for event in json.loads(text)["traceEvents"]:
            if event.get("ph") == "X" and event.get("cat") in ("cpu_op", "kernel"):
                start = int(event["ts"] * 1000 + 1e-4)
                want[event["name"], int((event["ts"] + event["dur"]) * 1000 + 1e-4) - start] += 1
    got = collections.Counter((name, duration) for names, name, _, duration in slices if names[0] != "tfprof")
    missing = collections.Counter({key: count - near(got, key) for key, count in want.items() if near(got, key) < count})
    if missing:
        failures.append(f"{where}: slices of the trace are missing: {missing.most_common(3)}")
    return sum(want.values())


def near(got, key):
    """A double holds microseconds of years to a few hundred ns; both ends are rounded."""
    name, duration = key
    return sum(got[name, duration + off] for off in range(-1, 2))


def check_cut(where, path, folder, options):
    """A part holds slices of the whole alone, and something."""
    target = f"{folder}/part.json"
    if write(path, target, *options):
        part = read_chrome(pathlib.Path(target).read_text(encoding="utf-8"))[0]
        if not part:
            failures.append(f"{where}: {options}: nothing is in it")
        return part
    return []


total = own = 0
with tempfile.TemporaryDirectory() as folder:
    for path in recordings:
        where = pathlib.Path(path).parent.name + "/" + pathlib.Path(path).name
        if not write(path, f"{folder}/a.pftrace") or not write(path, f"{folder}/a.json.gz"):
            continue
        left = read_perfetto(where, pathlib.Path(f"{folder}/a.pftrace").read_bytes())
        right = read_chrome(gzip.open(f"{folder}/a.json.gz").read())
        for what, got, want in zip(("slices", "flows that begin", "flows that end"), left, right):
            compare(where, what, collections.Counter(got), collections.Counter(want))
        compare(where, "counters", left[3], right[3])
        if write(path, f"{folder}/a.csv"):
            compare(where, "slices of CSV", read_csv(f"{folder}/a.csv"), collections.Counter(
                (names[0], name, start, duration) for names, name, start, duration in right[0]))
        if set(left[1].values()) - {1} or left[1] != left[2]:
            failures.append(f"{where}: a flow does not begin and end once")
        if not left[0]:
            failures.append(f"{where}: no slices")
        total += len(left[0])
        if ".json" in path or any(".json" in file.name for file in pathlib.Path(path).rglob("*")):
            own += check_own_events(where, path, left[0])
        whole = {(name, duration) for names, name, _, duration in left[0]}
        for options in (["--finding", "1"], ["--around", "step:slowest"]) if "tf1" not in path else ():
            part = check_cut(where, path, folder, options)
            if len(part) >= len(left[0]) + 100 or not {(n, d) for names, n, _, d in part if names[0] != "tfprof"} <= whole:
                failures.append(f"{where}: {options}: slices that the whole does not have")
print("\n".join(failures[:40]))
print(f"{len(recordings)} recordings, {total} slices, {own} checked against their traces, {len(failures)} faults")
sys.exit(1 if failures or not total or not own else 0)
