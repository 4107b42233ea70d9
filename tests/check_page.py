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
    """(track name, start, duration, slice name) of each slice."""
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
    if at != len(data):
        failures.append(f"{len(data) - at} bytes behind the slices")
    return [(t, s, d, names[i]) for t, s, d, i in zip(tracks, starts, durations, ids)]


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
    return check_trace(recording, slices_of(data["slices"], page.parts["slices"])) if "slices" in data else False


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
if not pairs:
    failures.append("no pair to compare")
if not sliders:
    failures.append("no recording has a slider")
print("\n".join(failures[:30]))
print(f"{len(checked)} pages, {sum(checked)} against their traces, {len(failures)} differences")
sys.exit(1 if failures or not any(checked) else 0)
