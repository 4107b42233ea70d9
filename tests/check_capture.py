#!/usr/bin/env python3
"""tfprof capture against profiler services that are played here, frame by frame, and against PyTorch programs that are: what
they are asked, and what becomes of what they answer.

    check_capture.py TFPROF RECORDING      RECORDING: an xplane.pb of more bytes than HTTP/2 sends without being asked on
"""
import ctypes, os, pathlib, re, socket, ssl, struct, subprocess, sys, tempfile, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "opinion"))
import wire

tfprof, recording = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).read_bytes()
DATA, HEADERS, SETTINGS, WINDOW_UPDATE = 0, 1, 4, 8  # RFC 9113, 6
END_STREAM, ACK, END_HEADERS = 1, 1, 4
WINDOW, MOST_FRAME = 65535, 16384
OK, ALREADY_EXISTS, UNIMPLEMENTED = 0, 6, 12  # statuses of gRPC
failures = []


def expect(is_so, what):
    if not is_so:
        failures.append(what)


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header(name, value):
    """A literal header that is never indexed (RFC 7541, 6.2.3)."""
    return b"\x10" + bytes([len(name)]) + name + bytes([len(value)]) + value


def message(number, payload):
    """A field of bytes in a protocol buffer."""
    length, size = len(payload), b""
    while length > 0x7F:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + payload


def framed(body):
    """gRPC's prefix: not compressed, and how long it is."""
    return b"\0" + struct.pack(">I", len(body)) + body


def unpacked(block):
    """{name: value} of a block of headers (RFC 7541), by nghttp2."""
    class Header(ctypes.Structure):
        _fields_ = [("name", ctypes.c_void_p), ("value", ctypes.c_void_p), ("name_len", ctypes.c_size_t),
                    ("value_len", ctypes.c_size_t), ("flags", ctypes.c_uint8)]
    http2 = ctypes.CDLL("libnghttp2.so.14")
    inflater, found = ctypes.c_void_p(), {}
    http2.nghttp2_hd_inflate_hd2.restype = ctypes.c_ssize_t
    assert http2.nghttp2_hd_inflate_new(ctypes.byref(inflater)) == 0
    while True:
        header, flags = Header(), ctypes.c_int(0)
        taken = http2.nghttp2_hd_inflate_hd2(inflater, ctypes.byref(header), ctypes.byref(flags), block,
                                             ctypes.c_size_t(len(block)), 1)
        assert taken >= 0
        block = block[taken:]
        if flags.value & 2:  # NGHTTP2_HD_INFLATE_EMIT
            found[ctypes.string_at(header.name, header.name_len)] = ctypes.string_at(header.value, header.value_len)
        if flags.value & 1:  # NGHTTP2_HD_INFLATE_FINAL
            break
    http2.nghttp2_hd_inflate_del(inflater)
    return found


class Http2:
    """The server's side of one connection with one request."""

    def __init__(self, connection):
        self.connection, self.credit, self.stream, self.body, self.is_asked = connection, {0: WINDOW}, 0, b"", False
        self.head = b""
        expect(self.take(24) == b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no preface of HTTP/2")
        connection.sendall(frame(SETTINGS, 0, 0))
        while not self.is_asked:
            self.read()
        expect(self.body[:1] == b"\0" and struct.unpack(">I", self.body[1:5])[0] == len(self.body) - 5,
               "the request is in no frame of gRPC")

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise ConnectionError("the client is gone")
            data += part
        return data

    def read(self):
        head = self.take(9)
        kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
        payload = self.take(struct.unpack(">I", b"\0" + head[:3])[0])
        if kind == SETTINGS and not flags & ACK:
            self.connection.sendall(frame(SETTINGS, ACK, 0))
        elif kind == HEADERS:
            self.stream, self.credit[stream], self.head = stream, WINDOW, payload
        elif kind == DATA:
            self.body += payload
        elif kind == WINDOW_UPDATE:
            self.credit[stream] = self.credit.get(stream, WINDOW) + struct.unpack(">I", payload)[0]
        self.is_asked = self.is_asked or kind in (DATA, HEADERS) and bool(flags & END_STREAM)

    def begin(self):
        self.connection.sendall(frame(HEADERS, END_HEADERS, self.stream,
                                      b"\x88" + header(b"content-type", b"application/grpc")))

    def send(self, data):
        """As much at once as the client allows."""
        while data:
            part = data[:min(MOST_FRAME, self.credit[0], self.credit[self.stream])]
            if not part:
                self.read()
                continue
            self.connection.sendall(frame(DATA, 0, self.stream, part))
            self.credit[0] -= len(part)
            self.credit[self.stream] -= len(part)
            data = data[len(part):]

    def end(self, status, words=b""):
        block = header(b"grpc-status", str(status).encode()) + (header(b"grpc-message", words) if words else b"")
        self.connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, self.stream, block))

    def answer(self, body=b"", status=OK, words=b""):
        self.begin()
        if status == OK:
            self.send(framed(body))
        self.end(status, words)


class Service:
    """Listens, and plays its part with each connection: play(service, connection), the how-manieth in `calls`."""

    def __init__(self, play, tls=None):
        self.tls, self.heads = tls, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.name = f"localhost:{self.listener.getsockname()[1]}"
        self.play, self.calls, self.requests, self.begun = play, 0, [], []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            self.calls += 1
            self.begun.append(time.monotonic())
            with connection:
                try:
                    if self.tls:
                        connection = self.tls.wrap_socket(connection, server_side=True)
                    self.play(self, connection)
                    connection.settimeout(5)
                    while connection.recv(4096):  # what it still says, so that closing resets nothing
                        pass
                except OSError:
                    pass

    def ask(self, connection):
        http = Http2(connection)
        self.requests.append(http.body[5:])
        self.heads.append(unpacked(http.head))
        return http


def capture(*arguments, folder=None):
    began = time.monotonic()
    done = subprocess.run([tfprof, "capture", *arguments], capture_output=True, text=True, check=False, cwd=folder, timeout=60)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


def fields(data):
    """{number: value or bytes} of a message whose fields come once each."""
    found = {}
    for number, kind, value in wire.fields(data):
        expect(number not in found, f"field {number} comes twice")
        found[number] = data[value[0]:value[1]] if kind == 2 else value
    return found


def send_recording(service, connection):
    service.ask(connection).answer(message(8, recording))


def refuse(status, words=b""):
    return lambda service, connection: service.ask(connection).answer(status=status, words=words)


def written(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def fails(play, *options, code=3, says=""):
    """One line that says why, that exit code, and nothing written."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(play)
        status, out, said, took = capture(service.name, "-o", folder, "--duration=1", *(options or ["--timeout=20"]))
        what = f"{says!r}: {status} {out!r} {said!r}"
        expect(status == code and out == "" and re.fullmatch(r"tfprof: [^\n]*\n", said), what)
        expect(service.name in said and says in said, what)
        expect(not written(pathlib.Path(folder)), f"{what} wrote {written(pathlib.Path(folder))}")
        return service, took


def check_request():
    """Numbers of fields as profiler_service.proto and profiler_options.proto have them; fields of 0 are left out (proto3)."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(send_recording)
        before = time.time_ns()
        status, out, said, _ = capture(service.name, "--output=logs", "--duration=250", "--host-level=3", "--device-level=0",
                                       "--python", folder=folder)
        after, logs = time.time_ns(), pathlib.Path(folder).resolve() / "logs"
        expect(status == 0 and said == "", f"a recording: {status} {out} {said}")
        asked = fields(service.requests[0])
        options = fields(asked.pop(4))
        run = asked.get(6, b"").decode()
        expect(re.fullmatch(r"\d{4}(_\d\d){5}", run), f"a run called {run}")
        expect(asked == {1: 250, 2: 1000000, 3: b"xplane.pb", 5: str(logs / "plugins/profile").encode(), 6: run.encode(),
                         7: service.name.encode(), 9: 1}, f"asked for {asked}")
        expect(before <= options.pop(8, 0) <= after, "begins some other time")
        expect(options == {1: 1, 2: 3, 4: 1, 5: 1, 7: 1, 9: 250, 10: str(logs).encode()}, f"with options {options}")
        path = logs / "plugins/profile" / run / f"{service.name.replace(':', '_')}.xplane.pb"
        expect(out == f"{path}\n" and written(logs) == [path], f"wrote {written(logs)}, said {out}")
        expect(path.is_file() and path.read_bytes() == recording, "wrote other bytes than were sent")
        advice = subprocess.run([tfprof, "advise", str(logs)], capture_output=True, text=True, check=False)
        expect(advice.returncode == 0 and "step" in advice.stdout, f"no advice: {advice.stderr}")


def check_presets():
    with tempfile.TemporaryDirectory() as folder:
        service = Service(send_recording)
        expect(capture(f"grpc://{service.name}", "-o", folder)[0] == 0, "not with grpc://")
        asked = fields(service.requests[0])
        options = fields(asked[4])
        expect((asked[1], asked[7], options[2], options[3], options.get(4, 0)) == (1000, service.name.encode(), 2, 1, 0),
               f"presets: {asked} {options}")


def check_questions():
    """Fields of MonitorRequest, MonitorResponse and ProfilerServiceMonitorResult as profiler_service.proto has them."""
    double = lambda number, value: bytes([number << 3 | 1]) + struct.pack("<d", value)
    result = b"\x08\x03" + double(2, 12.5) + double(4, 250) + double(5, 240.25)
    paths = []

    def play(body):
        def answer(service, connection):
            service.ask(connection).answer(body)
            paths.append(service.heads[-1][b":path"].decode().rpartition("/")[2])
        return answer

    def ask(question, body, *options):
        service = Service(play(body))
        return service, *capture(service.name, "--ask", question, *options)
    service, status, out, said, _ = ask("monitor", message(1, b"Timestamp: 09:00\n") + message(10, result), "--duration=7")
    expect((status, said) == (0, "") and out.split("\n") == ["Timestamp: 09:00", "device idle, %: 12.5", "step, mean ms: 250",
                                                            "step, least ms: 240", ""], f"monitor: {status} {out!r} {said}")
    expect(fields(service.requests[0]) == {1: 7, 2: 2, 3: 1}, f"monitor asks {service.requests}")
    with tempfile.TemporaryDirectory() as folder:
        service, status, out, said, _ = ask("begin", b"", "-o", folder)
        expect((status, out, said) == (0, "", "") and fields(service.requests[0])[2] == 1000000, f"begin: {status} {out} {said}")
        service, status, out, said, _ = ask("snapshot", message(8, recording), "-o", folder)
        expect((status, said) == (0, "") and pathlib.Path(out.strip()).read_bytes() == recording, f"snapshot: {status} {said}")
        expect(ask("snapshot", b"")[1] == 2, "a snapshot needs a place")
    service, status, out, said, _ = ask("end", b"")
    expect((status, out, said, service.requests) == (0, "", "", [b""]), f"end: {status} {out} {said}")
    expect(paths == ["Monitor", "StartContinuousProfiling", "GetSnapshot", "StopContinuousProfiling"], f"asked {paths}")


def check_own_disk():
    """Services of released TensorFlow write the recording themselves, where they are told; their answer is empty."""
    def write(service, connection):
        http = service.ask(connection)
        asked = fields(service.requests[-1])
        run = pathlib.Path(asked[5].decode()) / asked[6].decode()
        run.mkdir(parents=True)
        (run / f"{asked[7].decode().replace(':', '_')}.xplane.pb").write_bytes(recording)
        http.answer()

    with tempfile.TemporaryDirectory() as folder:
        status, out, said, _ = capture(Service(write).name, "-o", folder)
        expect((status, out, said) == (0, f"{written(pathlib.Path(folder))[0]}\n", ""), f"written there: {status} {out} {said}")
    with tempfile.TemporaryDirectory() as folder:
        service = Service(lambda service, connection: service.ask(connection).answer())
        status, out, said, _ = capture(service.name, "-o", folder)
        told = re.escape(f"{folder}/plugins/profile/") + r"[\d_]+/" + service.name.replace(":", "_") + r"\.xplane\.pb"
        expect(status == 0 and out == "" and not written(pathlib.Path(folder)), f"on its own disk: {status} {out}")
        expect(re.fullmatch(rf"tfprof: {service.name} wrote its recording on its own disk, as {told}; copy it here\n", said),
               f"on its own disk: {said}")


def check_retries():
    def busy_twice(service, connection):
        if service.calls <= 2:
            return refuse(ALREADY_EXISTS, b"Another profiler is running.")(service, connection)
        return send_recording(service, connection)

    with tempfile.TemporaryDirectory() as folder:
        service = Service(busy_twice)
        status, out, said, _ = capture(service.name, "-o", folder)
        expect((status, service.calls, said) == (0, 3, ""), f"busy twice: {status} {service.calls} {said}")
    service, took = fails(refuse(ALREADY_EXISTS, b"busy"), "--timeout=1", says="another recording is being made")
    expect(service.calls > 1 and took < 10, f"busy for ever: {service.calls} calls in {took} s")
    with socket.create_server(("127.0.0.1", 0)) as free:
        name = f"127.0.0.1:{free.getsockname()[1]}"
    status, out, said, took = capture(name, "-o", "/nowhere", "--timeout=1")
    expect(status == 3 and 1 <= took < 10 and "Connection refused; start the profiler's service" in said and
           said.count("\n") == 1, f"nobody listens: {status} {said} {took} s")


def check_failures():
    service, _ = fails(refuse(UNIMPLEMENTED), says="gRPC status 12; is that the port of a profiler's service, and one")
    expect(service.calls == 1, "asks again where nobody knows the call")
    fails(refuse(2, b"100%25 %0a%E2%9C%93 % 5%zz"), says=r"gRPC status 2: 100% \x0A✓ % 5%zz; see the log of that program")
    fails(refuse(2, b"a line\n"), says="gRPC status 2; see the log")  # no value of a header
    fails(lambda service, connection: service.ask(connection).answer(b"\x38\x01"), says="nothing happened")
    _, took = fails(lambda service, connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\nNo."), says="HTTP/2")
    expect(took < 10, f"waits {took} s for what speaks no HTTP/2")
    fails(lambda service, connection: connection.shutdown(socket.SHUT_RDWR), says="hung up")
    _, took = fails(lambda service, connection: time.sleep(5), "--timeout=1", says="no answer in 1001 ms")
    expect(1 <= took < 4, f"a silent one is waited for {took} s")


def check_damage():
    whole = message(8, recording)

    def hang_up(service, connection):
        http = service.ask(connection)
        http.begin()
        http.send(framed(whole)[:1000])
        connection.shutdown(socket.SHUT_WR)

    def say(body, status=OK):
        def play(service, connection):
            http = service.ask(connection)
            http.begin()
            http.send(body)
            http.end(status)
        return play

    def no_status(service, connection):
        http = service.ask(connection)
        http.begin()
        connection.sendall(frame(DATA, END_STREAM, http.stream, framed(b"")))

    def no_http_status(service, connection):
        http = service.ask(connection)  # 0x8d: ":status" 404 (RFC 7541, appendix A)
        connection.sendall(frame(HEADERS, END_HEADERS | END_STREAM, http.stream, b"\x8d"))

    fails(hang_up, says="hung up")
    fails(say(framed(whole)[:1000]), says="1000 bytes that are no message of gRPC")
    fails(say(b"\1" + framed(whole)[1:]), says="no message of gRPC")
    fails(say(b""), says="0 bytes that are no message of gRPC")
    fails(say(framed(whole[:1000])), says="no ProfileResponse")
    fails(no_status, says="not as gRPC does (HTTP status 200")
    fails(no_http_status, says="not as gRPC does (HTTP status 404")


def check_workers():
    def slowly(service, connection):
        http = service.ask(connection)
        time.sleep(1)
        http.answer(message(8, recording))

    with tempfile.TemporaryDirectory() as folder:
        two = [Service(slowly), Service(slowly)]
        status, out, said, _ = capture(*(one.name for one in two), "-o", folder)
        runs = {path.parent for path in written(pathlib.Path(folder))}
        expect(status == 0 and out.splitlines() == [f"{next(iter(runs))}/{one.name.replace(':', '_')}.xplane.pb" for one in two]
               and len(runs) == 1 and said == "", f"two workers: {status} {out} {said}")
        expect(abs(two[0].begun[0] - two[1].begun[0]) < 0.9, "asked one after the other")
    with tempfile.TemporaryDirectory() as folder:
        one, other = Service(refuse(UNIMPLEMENTED)), Service(send_recording)
        status, out, said, _ = capture(one.name, other.name, "-o", folder)
        expect(status == 3 and out == f"{written(pathlib.Path(folder))[0]}\n" and other.name.replace(":", "_") in out and
               said.count("\n") == 1 and one.name in said, f"one of two: {status} {out} {said}")
        status, out, said, _ = capture(one.name, one.name.replace("localhost", "127.0.0.1"), "-o", folder)
        expect(status == 3 and out == "" and said.count("\n") == 2 and said.count("tfprof: ") == 2, f"none of two: {status} {said}")


def check_usage():
    for worker in "localhost", "localhost:", ":6009", "localhost:x", "localhost:99999", "a/b:6009", "grpc://", "-1:2:":
        status, out, said, _ = capture("-o", "/nowhere", "--", worker)
        expect(status == 2 and out == "" and said == f"tfprof: {worker} is no HOST:PORT; as in localhost:6009\n",
               f"{worker}: {status} {said}")
    for arguments in (["-o", "x"], ["localhost:1"], ["localhost:1", "-o", "x", "--duration=0"],
                      ["localhost:1", "-o", "x", "--timeout=0"], ["localhost:1", "-o", "x", "--host-level=4"],
                      ["localhost:1", "-o", "x", "--device-level=2"], ["localhost:1", "-o", "x", "--nonsense"]):
        status, out, said, _ = capture(*arguments)
        expect(status == 2 and out == "" and said.startswith("tfprof: "), f"{arguments}: {status} {said}")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "file"
        file.write_text("kept", "utf-8")
        status, out, said, _ = capture(Service(send_recording).name, "-o", str(file))
        expect(status == 3 and "it is no directory" in said and said.count("\n") == 1 and file.read_text("utf-8") == "kept",
               f"a file for a folder: {status} {said}")


def check_headers():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "token").write_text("Bearer secret\n", "utf-8")
        service = Service(send_recording)
        status, _, said, _ = capture(service.name, "-o", str(folder / "logs"), "--header", f"authorization: @{folder / 'token'}",
                                     "--header=x-job:a, b")
        expect(status == 0 and said == "", f"with headers: {status} {said}")
        head = service.heads[0]
        expect((head[b"authorization"], head[b"x-job"], head[b":scheme"], head[b":path"]) ==
               (b"Bearer secret", b"a, b", b"http", b"/tensorflow.ProfilerService/Profile"), f"headers {head}")
        for wrong in "X-Job:a", "x-job", ":path:/", "grpc-timeout:1S", "a b:c", "x:\u00e9", "x:a\nb":
            status, _, said, _ = capture(service.name, "-o", str(folder / "logs"), "--header", wrong)
            expect(status == 2 and said.count("\n") == 1, f"a header {wrong!r}: {status} {said}")
        expect(service.calls == 1, "calls with wrong headers")


def certificate(folder, name, host):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
                    f"subjectAltName={host}", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"],
                   check=True, capture_output=True)
    return folder / f"{name}.pem", folder / f"{name}.key"


def check_encrypted():
    """A service is trusted by its certificate for its name; one that asks for ours gets it."""
    def serve(mine, authority=None, protocols=("h2",)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*mine)
        context.set_alpn_protocols(list(protocols))
        if authority:
            context.load_verify_locations(authority)
            context.verify_mode = ssl.CERT_REQUIRED
        return Service(send_recording, context)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        here, other = certificate(folder, "here", "DNS:localhost"), certificate(folder, "other", "DNS:elsewhere")
        ours = certificate(folder, "ours", "DNS:ours")

        def ask(service, *options, host="localhost"):
            worker = f"grpcs://{service.name.replace('localhost', host)}"
            status, out, said, _ = capture(worker, "-o", str(folder / "logs"), "--timeout=5", *options)
            return status, out, said
        service = serve(here)
        status, out, said = ask(service, "--ca", str(here[0]))
        expect(status == 0 and said == "" and pathlib.Path(out.strip()).read_bytes() == recording, f"encrypted: {status} {said}")
        expect(service.heads[0][b":scheme"] == b"https", f"headers {service.heads}")
        for options, host, words in (([], "localhost", "not trusted: self"), (["--ca", str(other[0])], "localhost", "not trusted"),
                                     (["--ca", str(here[0])], "127.0.0.1", "IP address mismatch")):
            status, out, said = ask(service, *options, host=host)
            expect(status == 3 and not out and words in said and said.count("\n") == 1, f"{options} {host}: {status} {said}")
        status, _, said = ask(serve(other), "--ca", str(other[0]))
        expect(status == 3 and "ostname mismatch" in said, f"another name: {status} {said}")
        status, _, said = ask(serve(other), "--insecure")
        expect(status == 0 and said == "", f"any certificate: {status} {said}")
        expect(len(service.requests) == 1, "a service that is not trusted was asked")
        strict = serve(here, authority=ours[0])
        status, _, said = ask(strict, "--ca", str(here[0]), "--cert", str(ours[0]), "--key", str(ours[1]))
        expect(status == 0 and said == "", f"with a certificate of our own: {status} {said}")
        status, _, said = ask(strict, "--ca", str(here[0]))
        expect(status == 3 and said.count("\n") == 1, f"without one: {status} {said}")
        status, _, said = ask(serve(here, protocols=("http/1.1",)), "--ca", str(here[0]))
        expect(status == 3 and "HTTP/2" in said, f"of another protocol: {status} {said}")
        status, _, said = ask(Service(lambda service, connection: connection.recv(9)), "--ca", str(here[0]))
        expect(status == 3 and said.count("\n") == 1, f"where nothing is encrypted: {status} {said}")
        status, _, said = ask(service, "--ca", str(folder / "none.pem"))
        expect(status == 3 and "none.pem" in said, f"no such file: {status} {said}")


class Program:
    """What Kineto does in a PyTorch program: asks the daemon every 0.2 s (there: every 5), and records as it is told."""

    def __init__(self, folder, process, parents=(), kinds=2):
        self.folder, self.process, self.answers = folder, process, []
        self.request = struct.pack(f"<iiq{1 + len(parents)}i", kinds, 1 + len(parents), 0, process, *parents)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(folder / f"dynoconfigclient{process}"))
        self.socket.settimeout(0.2)
        threading.Thread(target=self.run, daemon=True).start()

    def say(self, kind, body, size=None):
        head = struct.pack("<Q32s", len(body) if size is None else size, kind)
        try:
            self.socket.sendto(head + body, str(self.folder / "dynolog"))
            answer = self.socket.recv(65536)
        except OSError:
            return None
        expect(answer[8:40].rstrip(b"\0") == kind and struct.unpack("<Q", answer[:8])[0] == len(answer) - 40,
               f"an answer of another shape: {answer[:60]}")
        return answer[40:]

    def run(self):
        for _ in range(100):
            answer = self.say(b"req", self.request)
            if answer:
                self.answers.append(dict(line.split("=", 1) for line in answer.decode().splitlines()))
                self.record(self.answers[-1])
            time.sleep(0.2)

    def record(self, told):
        path = pathlib.Path(told["ACTIVITIES_LOG_FILE"])
        time.sleep(max(0, int(told["PROFILE_START_TIME"]) / 1000 + int(told["ACTIVITIES_DURATION_MSECS"]) / 1000 - time.time()))
        event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": self.process, "tid": 1, "ts": 0, "dur": 1000}
        path.with_name(f"{path.stem}_{self.process}.json").write_text(
            '{"schemaVersion": 1, "traceEvents": [%s]}' % str(event).replace("'", '"'), "utf-8")


def pytorch(folder, *arguments):
    began = time.monotonic()
    done = subprocess.run([tfprof, "capture", *arguments], capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "KINETO_IPC_SOCKET_DIR": str(folder)})
    (folder / "dynolog").unlink(missing_ok=True)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - began


def check_pytorch():
    """Two programs of a job record the same time; one that is no child of the chosen process does not."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first, second = Program(folder, 101, (100, 1)), Program(folder, 102, (100, 1))
        other, only_counters = Program(folder, 103, (99, 1)), Program(folder, 104, (100, 1), kinds=1)
        odd = Program(folder, 105, (100, 1))
        odd.request = struct.pack("<iiqi", 2, 400, 0, 100)  # more parents than it sends
        status, out, said, _ = pytorch(folder, "pytorch:100", "-o", str(folder / "logs"), "--duration=300", "--timeout=20",
                                       "--python")
        paths = [pathlib.Path(line) for line in out.splitlines()]
        expect(status == 0 and said == "" and sorted(path.name for path in paths) == ["host_101.json", "host_102.json"],
               f"two programs: {status} {out} {said}")
        expect(written(folder / "logs") == sorted(paths) and len({path.parent for path in paths}) == 1, "in one run")
        expect(len(first.answers) == len(second.answers) == 1 and first.answers == second.answers,
               f"told {first.answers} and {second.answers}")
        told = first.answers[0]
        expect((told["ACTIVITIES_DURATION_MSECS"], told["PROFILE_WITH_STACK"], told["PROFILE_REPORT_INPUT_SHAPES"]) ==
               ("300", "true", "true"), f"told {told}")
        expect(not other.answers and not only_counters.answers and not odd.answers, "others were told to record")
        advice = subprocess.run([tfprof, "advise", str(folder / "logs")], capture_output=True, text=True, check=False)
        expect(advice.returncode == 0 and "2 hosts" in advice.stdout, f"no advice: {advice.stdout} {advice.stderr}")


def check_pytorch_failures():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        status, out, said, took = pytorch(folder, "pytorch", "-o", str(folder / "logs"), "--timeout=1")
        expect(status == 3 and not out and "KINETO_USE_DAEMON=1" in said and said.count("\n") == 1 and took < 5, f"nobody: {said}")
        expect(not list((folder / "logs").iterdir()), "leaves a folder")
        taken = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        taken.bind(str(folder / "dynolog"))
        status, out, said, took = pytorch(folder, "pytorch", "-o", str(folder / "logs"), "--timeout=9")
        expect(status == 3 and "another daemon" in said and took < 5, f"a daemon is there: {said}")
        for arguments in (["pytorch:x"], ["pytorch:-1"], ["pytorch", "localhost:1"], ["pytorch:1", "pytorch:2"]):
            status, out, said, _ = pytorch(folder, *arguments, "-o", str(folder / "logs"))
            expect(status == 2 and said.count("\n") == 1, f"{arguments}: {status} {said}")


expect(len(recording) > WINDOW, "the recording is too small to need flow control")
checks = [check_request, check_presets, check_questions, check_own_disk, check_retries, check_failures, check_damage, check_workers, check_usage,
          check_headers, check_encrypted, check_pytorch, check_pytorch_failures]
for check in checks:
    check()
print("\n".join(failures))
print(f"{len(checks)} checks, {len(failures)} faults")
sys.exit(1 if failures else 0)
