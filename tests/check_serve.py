#!/usr/bin/env python3
"""tfprof serve: a folder's recordings for browsers.

    check_serve.py TFPROF RECORDINGS      RECORDINGS: cases/recordings
"""
import base64, concurrent.futures, html, http.client, json, os, pathlib, re, shutil, signal, socket, subprocess, sys, tempfile, urllib.parse, zlib

tfprof, recordings = sys.argv[1], pathlib.Path(sys.argv[2])
HOSTILE = "<img src=x onerror=alert(1)>&\"'%2f run"
failures = []


def expect(is_so, what):
    if not is_so:
        failures.append(what)


class Server:
    """Of a folder, at a free port of this machine."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([tfprof, "serve", "--port=0", *arguments], stdout=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)/ ", self.line)[1])

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def end(self, how):
        self.process.send_signal(how)
        return self.process.wait(timeout=30)


def record(folder, run, source, age_s):
    """A copy of a bundled recording as a run of a log directory, written `age_s` seconds ago."""
    target = folder / "plugins/profile" / run
    target.mkdir(parents=True)
    for file in source.rglob("*.xplane.pb"):
        shutil.copy(file, target / file.name)
    for file in target.iterdir():
        moment = 1_700_000_000 - age_s
        os.utime(file, (moment, moment))
    return sorted(target.iterdir())


def check_pages(server, folder, files):
    status, headers, body = server.ask("/")
    text = body.decode()
    links = [html.unescape(link) for link in re.findall(r'<td><a href="report\?run=([^"]*)"', text)]
    expect(status == 200 and headers["Content-Type"].startswith("text/html"), "the list is a page")
    expect([urllib.parse.unquote(link) for link in links] == ["newer", "older"], f"newest first: {links}")
    expect("2023-11-14T22:13:20Z" in text, "the newest was written at 1700000000")
    status, headers, body = server.ask("/report?run=older")
    own = subprocess.run([tfprof, "report", "-o", "-", *files["older"]], stdout=subprocess.PIPE).stdout
    expect(status == 200 and body.replace(b"connect-src 'self'; ", b"").replace(b',"served":true', b"") == own,
           "a page is what tfprof report writes, and may ask for more")
    expect(b"connect-src" not in own, "a page of tfprof report asks nobody")
    status, headers, body = server.ask("/advice?run=newer")
    own = subprocess.run([tfprof, "advise", "--format=json", *files["newer"]], stdout=subprocess.PIPE).stdout
    expect(status == 200 and body == own and headers["Content-Type"] == "application/json", "advice as JSON")
    status, headers, body = server.ask("/", method="HEAD")
    expect(status == 200 and body == b"", "HEAD has no body")


def check_rescan(server, folder, source):
    record(folder, HOSTILE, source, -60)
    (folder / "plugins/profile/damaged").mkdir()
    (folder / "plugins/profile/damaged/h.xplane.pb").write_bytes(b"\x0a\xff\xff\xff\xff\x0f nothing of the kind")
    runs = json.loads(server.ask("/runs.json")[2])
    expect({run["run"] for run in runs} == {"newer", "older", HOSTILE, "damaged"}, f"it looks again: {runs}")
    expect(all(run["files"] == 1 and run["bytes"] > 0 for run in runs), "files and bytes of each run")
    text = server.ask("/")[2].decode()
    expect("<img" not in text and html.escape(HOSTILE, quote=False).replace('"', "&quot;") in text, "names are text")
    link = re.search(r'href="(report\?run=%3Cimg[^"]*)"', text)
    expect(link and server.ask("/" + html.unescape(link[1]))[0] == 200, "names of any kind can be asked for")
    status, _, body = server.ask("/report?run=damaged")
    expect(status == 500 and b"damaged/h.xplane.pb" in body, f"what is wrong with a recording is said: {body[-300:]}")
    expect(server.ask("/report?run=older")[0] == 200, "and others are served on")


def varints(data):
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def starts_of(part):
    """Starts of all slices of an answer, by track and depth, as docs/report.md has them."""
    data = zlib.decompress(base64.b64decode(part["block"]), -15)
    at = 0
    for _ in range(part["about"]["names"]):
        at += 1                                                     # a part, below 128
        length = shift = 0
        while True:
            length |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        at += length
    numbers = varints(data[at:])
    rows = []
    for track in part["about"]["tracks"]:
        for count in track["depths"]:
            now, row = part["about"]["origin_ns"], []
            for _ in range(count):
                now += next(numbers)
                row.append(now)
            rows.append(row)
    return rows


def check_more(folder):
    """A span of a recording of 3000 ops a thousand nanoseconds apart, each 600 long."""
    events = [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{i % 7}", "pid": 1, "tid": 1, "ts": i, "dur": 0.6} for i in range(3000)]
    (folder / "ops.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    server = Server(str(folder), "--slices=100", "--rows=3")
    expect(server.ask("/slices?run=ops.json&from=1000500&to=1020100")[0] == 200, "slices of a recording nobody looked at yet")
    part = json.loads(server.ask("/slices?run=ops.json&from=1000500&to=1020100")[2])
    begin = part["about"]["origin_ns"]
    # Of op 1000 the last 100 ns are in it, of op 1020 the first 100.
    expect([start - begin for row in starts_of(part) for start in row] == [i * 1000 for i in range(1000, 1021)],
           f"the ops of a span: {starts_of(part)}")
    expect(part["about"]["summed"] == 0, "in full")
    table = json.loads(server.ask("/table?run=ops.json&name=ops")[2])
    expect(table["matched"] == len(table["rows"]) == 7, f"a table with all rows: {table['matched']}")
    for path in ("/slices?run=ops.json", "/slices?run=ops.json&from=1&to=x", "/slices?run=ops.json&from=2&to=1",
                 "/table?run=ops.json&name=none", "/table?run=ops.json&name=ops%0Apage", "/slices?run=none&from=0&to=1"):
        expect(server.ask(path)[0] == 404, f"{path} is not there")
    (folder / "ops.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events[:30]}))
    part = json.loads(server.ask("/slices?run=ops.json&from=0&to=9000000")[2])
    expect(sum(map(len, starts_of(part))) == 30, "a recording that was written anew is read anew")
    for i in range(4):                                              # more than programs are kept
        shutil.copy(folder / "ops.json", folder / f"ops{i}.json")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: server.ask(f"/slices?run=ops{i % 4}.json&from=0&to=9000000")[2], range(16)))
    expect(len(set(answers)) == 1 and json.loads(answers[0])["about"]["count"] == 30, "many at once")
    expect(server.end(signal.SIGTERM) == 0, "and SIGTERM ends it with its programs")


def check_refusals(server):
    for path in ("/report", "/report?run=none", "/report?run=../newer", "/etc/passwd", "/../x", "/report?run="):
        expect(server.ask(path)[0] == 404, f"{path} is not there")
    expect(server.ask("/", method="POST")[0] == 405, "only GET and HEAD")
    expect(server.ask("/", Host="example.com")[0] == 403, "names of others are refused")
    expect(server.ask("/", Host=f"localhost:{server.port}")[0] == 200, "localhost is this machine")
    raw = socket.create_connection(("127.0.0.1", server.port))
    raw.sendall(b"GET\x00 / nothing\r\n\r\n")
    raw.close()
    taken = subprocess.run([tfprof, "serve", f"--port={server.port}", "."], capture_output=True, text=True)
    expect(taken.returncode == 3 and f"port {server.port}" in taken.stderr and taken.stderr.count("\n") == 1,
           f"a taken port is said: {taken}")


def check_command_line():
    for arguments, status, word in ((["/nowhere"], 3, "no directory"), ([], 2, "one directory"),
                                    (["--port=70000", "."], 2, "65535"), (["--address=here", "."], 2, "IP address")):
        done = subprocess.run([tfprof, "serve", *arguments], capture_output=True, text=True)
        expect(done.returncode == status and word in done.stderr, f"{arguments}: {done}")


def main():
    sources = sorted(path for path in recordings.iterdir() if list(path.rglob("*.xplane.pb")))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = {"older": record(folder, "older", sources[0], 60), "newer": record(folder, "newer", sources[1], 0)}
        server = Server(name)
        expect(name in server.line, "it says what it shows")
        try:
            check_pages(server, folder, files)
            check_rescan(server, folder, sources[2])
            check_refusals(server)
        finally:
            expect(server.end(signal.SIGTERM) == 0, "SIGTERM ends it")
        (folder / "more").mkdir()
        check_more(folder / "more")
        (folder / "empty").mkdir()
        server = Server(str(folder / "empty"))
        expect(b"No recording yet" in server.ask("/")[2], "an empty folder is no error")
        expect(server.end(signal.SIGINT) == 0, "Ctrl-C ends it")
    check_command_line()
    print("\n".join("FAILED: " + failure for failure in failures) or "serve: all as it should be")
    sys.exit(bool(failures))


main()
