#!/usr/bin/env python3
"""Reads the pages of bundled recordings as a browser would, without one: what `tfprof report` writes is held
against `tfprof advise`, `tfprof table` and, for Kineto traces, against the trace itself.
usage: check_page.py TFPROF RECORDINGS"""
import base64
import collections
import gzip
import hashlib
import html.parser
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

tfprof, recordings = sys.argv[1], pathlib.Path(sys.argv[2])
failures, sliders = [], collections.Counter()


def run(*arguments):
    return subprocess.run([tfprof, *map(str, arguments)], capture_output=True, check=True).stdout


class Page(html.parser.HTMLParser):
    """Content of each element, by name or id, as HTML's own rules delimit it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.parts, self.open, self.tags, self.policy = collections.defaultdict(str), None, [], ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append(tag)
        self.open = attributes.get("id", tag)
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.parts[self.open] += data


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def slices_of(about, packed):
    """(track name, start, duration, slice name) of each slice; by slice what was recorded with it; arrows (from, to)."""
    data, at = zlib.decompress(base64.b64decode(packed), -15), 0
    names = []
    for _ in range(about["names"]):
        _, at = varint(data, at)
        length, at = varint(data, at)
        names.append(data[at:at + length].decode("utf-8", "replace"))
        at += length
    tracks, starts = [], []
    for track in about["tracks"]:
        for count in track["depths"]:
            start = 0
            for _ in range(count):
                delta, at = varint(data, at)
                start += delta
                starts.append(start)
                tracks.append(track["name"])
    durations, ids = [], []
    for column in (durations, ids):
        for _ in starts:
            value, at = varint(data, at)
            column.append(value)
    texts, notes, links, link = [""], [], [], [0, 0]
    for _ in range(about["texts"]):
        length, at = varint(data, at)
        texts.append(data[at:at + length].decode())
        at += length
    for _ in starts:
        value, at = varint(data, at)
        notes.append(texts[value])
    for _ in range(about["links"]):
        ahead, at = varint(data, at)
        away, at = varint(data, at)
        link = [link[0] + ahead, link[1] + (-(away + 1) // 2 if away % 2 else away // 2)]
        links.append(tuple(link))
    if at != len(data):
        failures.append(f"{len(data) - at} bytes behind the slices")
    return [(t, s, d, names[i]) for t, s, d, i in zip(tracks, starts, durations, ids)], notes, links


def check_trace(recording, slices):
    """Every complete event of a Kineto trace is a slice of its name with its length, to the nanosecond."""
    path = next(iter([*recording.rglob("*.json.gz"), *recording.rglob("*.json")]), None)
    if path is None or path.name == "case.json":
        return False
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X" and e.get("cat") == "cpu_op"]
    want = collections.Counter((e["name"], round(e["dur"] * 1000)) for e in events)
    got = collections.Counter((name, duration) for _, _, duration, name in slices)
    missing = want - got
    if sum(missing.values()):
        failures.append(f"{recording}: {sum(missing.values())} of {len(events)} ops are no slices, as {list(missing)[:3]}")
    return True


def check(recording):
    text = run("report", recording, "-o", "-", "--slices=1000000").decode("utf-8", "replace")
    page = Page(text)
    script = page.parts["script"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    if f"'sha256-{digest}'" not in page.policy or "default-src 'none'" not in page.policy:
        failures.append(f"{recording}: the policy does not name the script")
    if collections.Counter(page.tags)["script"] != 3 or set(page.tags) - {
            "html", "head", "meta", "title", "link", "style", "body", "main", "p", "script"}:
        failures.append(f"{recording}: elements that are not the page's: {set(page.tags)}")
    if re.search(r"""(src|href)=["'](?!data:,)""", text.split("<style>")[0]):
        failures.append(f"{recording}: the page loads something")
    data = json.loads(page.parts["data"])
    advice = json.loads(run("advise", recording, "--format=json"))
    for files in (advice["profile"]["files"], data["advice"]["profile"]["files"]):
        for file in files:
            file["name"] = pathlib.Path(file["name"]).name
    for row, each in zip(next((t["rows"] for t in data["tables"] if t["name"] == "step_parts"), []), advice["steps"]["each"]):
        if each["step"] != row[0] or abs(each["wall_ms"] - sum(value or 0 for value in row[1:]) / 1e6) > 1e-3 * each["wall_ms"]:
            failures.append(f"{recording}: step {each['step']}: {each} is not {row}")
    if data["advice"] != advice:
        failures.append(f"{recording}: other advice than tfprof advise gives")
    for sweep in data["sweeps"][:2]:
        whatif = json.loads(run("whatif", recording, "--sweep", sweep["what"], "--format=json"))
        if sweep["selected_ms"] != whatif["selected_ms"] or sweep["step_ms"] != [point["step_ms"] for point in whatif["points"]]:
            failures.append(f"{recording}: less of {sweep['what']} is other than tfprof whatif says")
        sliders[sweep["what"]] += 1
    for table in data["tables"][::5]:
        alone = json.loads(run("table", table["name"], recording, "--format=json", "--top=1000"))
        rows = [[row.get(column["name"]) for column in table["columns"]] for row in alone["rows"]]
        if rows != table["rows"]:
            failures.append(f"{recording}: table {table['name']} differs from tfprof table")
    return check_trace(recording, slices_of(data["slices"], page.parts["slices"])[0]) if "slices" in data else False


def check_seen(recording):
    """Events that a finding is said to be about are there, begin in its span, and are of its op."""
    page = Page(run("report", recording, "-o", "-", "--slices=1000000").decode())
    data = json.loads(page.parts["data"])
    slices = {(start + data["slices"]["origin_ns"], duration): name
              for _, start, duration, name in slices_of(data["slices"], page.parts["slices"])[0]}
    count = 0
    for finding in data["advice"]["findings"]:
        seen, op = finding.get("seen"), finding.get("subject", {}).get("op")
        for start, duration in seen["events"] if seen and finding["rule"] == "hot-op" else []:
            count += 1
            if not seen["start_ns"] <= start < seen["end_ns"] or op not in slices.get((start, duration), ""):
                failures.append(f"{recording}: {finding['rule']}: {start}, {duration} is {slices.get((start, duration))}, not {op}")
    if not count:
        failures.append(f"{recording}: no finding shows where its op is")


def check_arrows():
    """Two launches and their kernels, whose places in the file are mixed: each arrow joins those of one correlation, and the
    kernel's launch configuration stands with it."""
    events = [{"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "device 0"}}]
    for step in range(3):
        at = step * 1000
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 900})
        for i, name in ((1, "second"), (0, "first")):
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 300 + 100 * i, "dur": 50,
                           "args": {"device": 0, "stream": 7, "correlation": 10 * step + i + 1, "grid": [i + 2, 1, 1], "block": [32, 1, 1]}})
        for i in (0, 1):
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 100 + 50 * i,
                           "dur": 10, "args": {"correlation": 10 * step + i + 1}})
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        page = Page(run("report", trace, "-o", "-").decode())
    slices, notes, links = slices_of(json.loads(page.parts["data"])["slices"], page.parts["slices"])
    arrows = sorted((slices[a][3], slices[b][3], slices[b][1] - slices[a][1]) for a, b in links)
    # From 100 to 300 and from 150 to 400 microseconds, three times.
    if arrows != 3 * [("cudaLaunchKernel", "first", 200000)] + 3 * [("cudaLaunchKernel", "second", 250000)]:
        failures.append(f"arrows: {arrows}")
    for i, name in ((0, "first"), (1, "second")):
        if not all(f"grid {i + 2},1,1" in note and "block 32,1,1" in note for one, note in zip(slices, notes) if one[3] == name):
            failures.append(f"arrows: the grid of {name}: {set(notes)}")


def check_change(before, after):
    """Beside another recording the page holds what tfprof diff says, and names no folder of either."""
    page = Page(run("report", after, "--against", before, "-o", "-", "--slices=0").decode())
    change = json.loads(page.parts["data"])["change"]
    diff = json.loads(run("diff", before, after, "--format=json"))
    for side in ("before", "after"):
        for file in diff[side]["profile"]["files"]:
            file["name"] = pathlib.Path(file["name"]).name
    if change != diff:
        failures.append(f"{after}: another change than tfprof diff gives")
    if sum(row["change_ns"] for row in change["parts"]) != change["step"]["change_ns"]:
        failures.append(f"{after}: parts of the change do not sum to it")


def parts(folder):
    return [folder / name for name in ("slow", "fixed", "profile") if (folder / name).is_dir()] or [folder]


checked = [check(part) for folder in sorted(recordings.iterdir()) if folder.is_dir() for part in parts(folder)]
pairs = [folder for folder in sorted((recordings.parent / "pairs").iterdir()) if (folder / "slow").is_dir() and (folder / "fixed").is_dir()]
for folder in pairs[:3]:
    check_change(folder / "slow", folder / "fixed")
check_seen(recordings / "tf2-input-sequential-map")
check_arrows()
if not pairs:
    failures.append("no pair to compare")
if not sliders:
    failures.append("no recording has a slider")
print("\n".join(failures[:30]))
print(f"{len(checked)} pages, {sum(checked)} against their traces, {len(failures)} differences")
sys.exit(1 if failures or not any(checked) else 0)
