#!/usr/bin/env python3
"""Tables as Arrow files, read byte by byte after the format's text, against the same tables as JSON.

    check_arrow.py TFPROF RECORDING...

Columns, units, every value and every missing one must be equal. Where pyarrow is installed it must read the same.
"""
import json, pathlib, struct, subprocess, sys, tempfile

try:
    import pyarrow.ipc
except ImportError:
    pyarrow = None


class Table:
    """A FlatBuffers table: fields by slot."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.slots = at - struct.unpack_from("<i", data, at)[0]
        self.count = (struct.unpack_from("<H", data, self.slots)[0] - 4) // 2

    def place(self, slot):
        offset = struct.unpack_from("<H", self.data, self.slots + 4 + 2 * slot)[0] if slot < self.count else 0
        return self.at + offset if offset else None

    def number(self, slot, form):
        at = self.place(slot)
        if at is None:
            return 0
        assert at % struct.calcsize(form) == 0, "a field is not aligned"
        return struct.unpack_from("<" + form, self.data, at)[0]

    def pointed(self, slot):
        at = self.place(slot)
        return at + struct.unpack_from("<I", self.data, at)[0]

    def table(self, slot):
        return Table(self.data, self.pointed(slot))

    def text(self, slot):
        at = self.pointed(slot)
        length = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + length] == 0
        return self.data[at + 4:at + 4 + length].decode()

    def tables(self, slot):
        at = self.pointed(slot)
        for i in range(struct.unpack_from("<I", self.data, at)[0]):
            item = at + 4 + 4 * i
            yield Table(self.data, item + struct.unpack_from("<I", self.data, item)[0])

    def structs(self, slot, form):
        at = self.pointed(slot)
        count = struct.unpack_from("<I", self.data, at)[0]
        assert not count or (at + 4) % 8 == 0, "structs are not aligned"
        return [struct.unpack_from(form, self.data, at + 4 + struct.calcsize(form) * i) for i in range(count)]


def root(data):
    return Table(data, struct.unpack_from("<I", data, 0)[0])


def message(data, at):
    mark, length = struct.unpack_from("<iI", data, at)
    assert mark == -1 and length % 8 == 0 and at % 8 == 0
    return root(data[at + 8:at + 8 + length]), at + 8 + length


def fields_of(schema):
    kinds = {3: "number", 5: "text", 6: "bool"}
    for field in schema.tables(1):
        kind = kinds[field.number(2, "B")]
        assert kind != "number" or field.table(3).number(0, "h") == 2  # double
        assert field.number(1, "B") == 1 and not list(field.tables(5))
        yield field.text(0), kind, {pair.text(0): pair.text(1) for pair in field.tables(6)}


def bit(data, row):
    return data[row // 8] >> row % 8 & 1


def column(kind, rows, nulls, buffers):
    valid = [bit(buffers[0], row) for row in range(rows)] if buffers[0] else [1] * rows
    assert valid.count(0) == nulls
    if kind == "number":
        values = struct.unpack("<%dd" % rows, buffers[1])
    elif kind == "bool":
        values = [bool(bit(buffers[1], row)) for row in range(rows)]
    else:
        ends = struct.unpack("<%di" % (rows + 1), buffers[1])
        assert ends[0] == 0 and ends[-1] == len(buffers[2])
        values = [buffers[2][ends[i]:ends[i + 1]].decode() for i in range(rows)]
    return [value if known else None for known, value in zip(valid, values)]


def read(data):
    """Columns as (name, kind, metadata) -> values."""
    assert data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1"
    footer_bytes = struct.unpack_from("<i", data, len(data) - 10)[0]
    footer = root(data[len(data) - 10 - footer_bytes:len(data) - 10])
    assert footer.number(0, "h") == 4
    head, at = message(data, 8)
    assert head.number(0, "h") == 4 and head.number(1, "B") == 1 and head.number(3, "q") == 0
    fields = list(fields_of(head.table(2)))
    assert fields == list(fields_of(footer.table(1)))
    [(block, metadata_bytes, body_bytes)] = footer.structs(3, "<qi4xq")
    assert block == at
    batch_message, body = message(data, at)
    assert body - at == metadata_bytes and batch_message.number(3, "q") == body_bytes
    assert batch_message.number(1, "B") == 3
    batch = batch_message.table(2)
    rows = batch.number(0, "q")
    places = batch.structs(2, "<qq")
    assert all(start % 8 == 0 and start + length <= body_bytes for start, length in places)
    buffers = iter([data[body + start:body + start + length] for start, length in places])
    columns = {}
    for (name, kind, metadata), (length, nulls) in zip(fields, batch.structs(1, "<qq"), strict=True):
        assert length == rows
        columns[name] = kind, metadata, column(kind, rows, nulls, [next(buffers) for _ in range(3 if kind == "text" else 2)])
    assert next(buffers, None) is None
    assert data[body + body_bytes:body + body_bytes + 8] == b"\xff\xff\xff\xff\0\0\0\0"
    return columns


def check(tfprof, name, recording, folder):
    run = lambda form, *more: subprocess.run([tfprof, "table", name, recording, "--format", form, *more],
                                             capture_output=True)
    as_json = run("json")
    if as_json.returncode == 4:
        return 0
    wanted = json.loads(as_json.stdout)
    path = folder / "table.arrow"
    assert run("arrow", "-o", str(path)).returncode == 0
    data = path.read_bytes()
    assert run("arrow").stdout == data  # a pipe is no terminal
    columns = read(data)
    assert list(columns) == [item["name"] for item in wanted["columns"]], name
    for item in wanted["columns"]:
        kind, metadata, values = columns[item["name"]]
        assert metadata == {"unit": item["unit"], "help": item["help"]}, (name, item, metadata)
        assert kind == {"name": "text", "bool": "bool"}.get(item["unit"], "number")
        assert values == [row.get(item["name"]) for row in wanted["rows"]], (name, item["name"])
    if pyarrow:
        table = pyarrow.ipc.open_file(str(path)).read_all()
        table.validate(full=True)
        assert {name: (values, metadata) for name, (_, metadata, values) in columns.items()} == {
            field.name: (table[field.name].to_pylist(), {k.decode(): v.decode() for k, v in field.metadata.items()})
            for field in table.schema}
    return 1


def main():
    tfprof, *recordings = sys.argv[1:]
    listing = subprocess.run([tfprof, "table"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listing.split("\n\n")[0].splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        counts = [sum(check(tfprof, name, recording, pathlib.Path(folder)) for name in names) for recording in recordings]
    assert min(counts) > 3, counts
    print("%d tables%s" % (sum(counts), "; pyarrow reads the same" if pyarrow else "; no pyarrow here"))


main()
