"""ProfileProto: what TensorFlow's profiler writes of a graph and its steps, for its own and other tools.

Rules and names of fields: tensorflow/core/profiler/internal/tfprof_node.cc, tfprof_stats.cc, tfprof_log.proto.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Tuple

from ._wire import entry, field, fields, packed, scalar, signed

_CANONICAL = re.compile(r".*/(device:gpu|gpu|device:cpu|cpu):\d+")


def _all(message: bytes) -> Dict[int, List[Any]]:
    found: Dict[int, List[Any]] = {}
    for number, value in fields(message):
        found.setdefault(number, []).append(value)
    return found


def _last(found: Dict[int, List[Any]], number: int, otherwise: Any = 0) -> Any:
    value = found[number][-1] if number in found else otherwise
    return signed(value) if isinstance(value, int) else value


def _dims(shape: bytes) -> List[int]:
    """TensorShapeProto; a scalar is [1]."""
    found = _all(shape)
    if _last(found, 3):
        return []
    return [_last(_all(dim), 1) for dim in found.get(2, [])] or [1]


def _tuple(values: Iterable[int]) -> bytes:
    return packed(1, values)


class _Exec:
    """A node in a step: ExecProfile."""

    def __init__(self) -> None:
        self.start = self.end = self.runs = 0
        self.times: Dict[Tuple[bool, str], List[bytes]] = {}
        self.memory: List[bytes] = []
        self.allocations: List[bytes] = []
        self.devices: Dict[str, None] = {}

    def add(self, device: str, stats: Dict[int, List[Any]]) -> None:
        start, length = _last(stats, 2), _last(stats, 4)
        self.devices[device] = None
        if start > 0:
            self._add_time(device, start, length or 1)
            if _CANONICAL.fullmatch(device):
                self.memory.append(self._memory(device, stats, start + length))

    def _add_time(self, device: str, start: int, length: int) -> None:
        self.start = min(self.start or start, start)
        self.end = max(self.end, start + length)
        is_accelerator = "stream:all" in device
        if is_accelerator or _CANONICAL.fullmatch(device):
            self.times.setdefault((is_accelerator, device), []).append(field(1, _tuple([start, length])))
            self.runs += not is_accelerator

    def _memory(self, device: str, stats: Dict[int, List[Any]], time: int) -> bytes:
        total = peak = live = in_use = output = 0
        for memory in map(_all, stats.get(6, [])):
            total, peak, live = total + _last(memory, 2), peak + _last(memory, 3), live + _last(memory, 4)
            if b"GPU" in _last(memory, 1, b""):
                in_use = max(in_use, _last(memory, 5))
                self.allocations += [field(11, record) for record in memory.get(6, [])]
        results = b""
        for made in map(_all, stats.get(7, [])):
            told = _all(_last(made, 3, b"")).get(4)
            if told:
                given = _all(told[-1])
                size = max(_last(given, 1), _last(given, 2))
                output += size
                results += entry(11, _last(made, 1), scalar(1, size) + scalar(2, _last(given, 6)))
        kept = _all(_last(stats, 12, b""))
        temporary, persistent = _last(kept, 1), _last(kept, 3)
        own = (2, 3) if "cpu" in device else (4, 5)  # ops on accelerators allocate there alone
        return field(7, scalar(1, time) + scalar(own[0], temporary) + scalar(own[1], persistent) +
                     scalar(6, total + persistent + temporary) + scalar(7, peak + persistent + temporary) +
                     scalar(8, live + persistent) + scalar(9, output) + scalar(10, in_use) + results)

    def message(self) -> bytes:
        times = {number: b"".join(entry(number, device, b"".join(runs))
                                  for (is_accelerator, device), runs in sorted(self.times.items())
                                  if (number == 4) == is_accelerator) for number in (4, 5)}
        return (scalar(1, self.runs) + scalar(2, self.start) + scalar(3, self.end) + times[4] + times[5] +
                b"".join(field(6, device) for device in sorted(self.devices)) + b"".join(self.memory) +
                b"".join(self.allocations))


class _Node:
    def __init__(self, number: int, name: str, kind: str):
        self.number, self.name, self.kind = number, name, kind
        self.inputs: List[str] = []
        self.attributes = b""
        self.shape: List[int] = []
        self.outputs: List[List[int]] = []
        self.types = {kind}
        self.device = ""
        self.float_ops = 0
        self.trace = b""
        self.execs: Dict[int, _Exec] = {}

    def read(self, definition: Dict[int, List[Any]]) -> None:
        self.inputs = [told.decode().partition(":")[0].lstrip("^") for told in definition.get(3, [])]
        for attribute in definition.get(5, []):
            found = _all(attribute)
            name, value = _last(found, 1, b""), _all(_last(found, 2, b""))
            self.attributes += field(11, attribute)
            if name == b"shape" and 7 in value:
                self.shape = _dims(_last(value, 7))
            elif name == b"_output_shapes" and 1 in value:
                self.outputs = [_dims(shape) for shape in _all(_last(value, 1)).get(7, [])]

    def run(self, step: int, device: str, stats: Dict[int, List[Any]]) -> None:
        if _CANONICAL.fullmatch(device):
            if self.device and self.device != device:  # a node is on one device, the first
                return
            self.device = device
            self.types.add(device)
        self.execs.setdefault(step, _Exec()).add(device, stats)

    def message(self, nodes: Dict[str, "_Node"]) -> bytes:
        """src_output_index is 0 whichever result is taken, as TensorFlow writes it."""
        known = [(index, nodes[name].number) for index, name in enumerate(self.inputs) if name in nodes]
        return (field(1, self.name) + b"".join(entry(2, index, number) for index, number in known) + packed(4, self.shape) +
                b"".join(field(5, kind) for kind in sorted(self.types)) + scalar(6, self.device) +
                scalar(7, re.sub(r"gpu:\d+", "cpu:0", self.device)) +
                scalar(8, self.float_ops) + field(9, self.kind) + (field(10, self.trace) if self.trace else b"") +
                self.attributes + b"".join(entry(12, step, run.message()) for step, run in sorted(self.execs.items())) +
                scalar(13, self.number) + b"".join(entry(14, number, 0) for number in dict.fromkeys(number for _, number in known)) +
                b"".join(entry(15, slot, _tuple(shape)) for slot, shape in enumerate(self.outputs)))


class _Texts:
    """id_to_string: 0 is "none"."""

    def __init__(self) -> None:
        self.ids = {b"none": 0}
        self.known: Dict[int, bytes] = {}  # of the log that is read

    def id(self, text: bytes) -> int:
        return self.ids.setdefault(text or b"none", len(self.ids))

    def trace(self, told: bytes) -> bytes:
        """A line with its texts as ids."""
        found = _all(told)
        texts = [self.id(_last(found, number, b"") or self.known.get(_last(found, by_id), b""))
                 for number, by_id in ((1, 6), (3, 7), (4, 8))]
        return field(1, field(2, _last(found, 2)) + scalar(5, _last(found, 5, -1)) + scalar(6, texts[0]) + scalar(7, texts[1]) +
                     scalar(8, texts[2]))

    def message(self) -> bytes:
        return b"".join(entry(4, number, text) for text, number in self.ids.items())


def _add_graph(nodes: Dict[str, _Node], graph: bytes) -> None:
    for number, value in fields(graph):
        if number != 1 or not isinstance(value, bytes):
            continue
        found = _all(value)
        name = _last(found, 1, b"").decode()
        if name not in nodes:
            nodes[name] = _Node(len(nodes), name, _last(found, 2, b"").decode())
            nodes[name].read(found)


def _add_log(nodes: Dict[str, _Node], log: bytes, texts: _Texts) -> bool:
    """Whether it has lines of code. Lines have texts, or ids of them."""
    has_code = False
    texts.known = {_last(pair, 1): _last(pair, 2, b"") for pair in map(_all, _all(log).get(2, []))}
    for told in (_all(value) for number, value in fields(log) if number == 1 and isinstance(value, bytes)):
        node = nodes.get(_last(told, 1, b"").decode())
        if node is None:
            continue
        node.types.update(kind.decode() for kind in told.get(3, []))
        node.float_ops = _last(told, 2) or node.float_ops
        if 4 in told:
            has_code = True
            node.trace = b"".join(texts.trace(trace) for trace in _all(_last(told, 4)).get(1, []))
    return has_code


def _is_node(name: str) -> bool:
    """Of what ran and is in no graph; these run on several devices."""
    return name not in ("RecvTensor", "_SOURCE") and "MEMCPY" not in name


def _add_run(nodes: Dict[str, _Node], step: int, run: bytes) -> Tuple[bool, bool]:
    """Whether an accelerator ran, and whether its streams were recorded."""
    has_accelerator = has_streams = False
    devices = [_all(told) for stats in _all(run).get(1, []) for told in _all(stats).get(1, [])]
    for told in devices:
        device = _last(told, 1, b"").decode().lower()
        has_accelerator |= "gpu" in device
        has_streams |= "stream:all" in device
        for stats in map(_all, told.get(2, [])):
            name = _last(stats, 1, b"").decode().partition(":")[0]
            if name not in nodes and _is_node(name):
                nodes[name] = _Node(len(nodes), name, name)
            if name in nodes:
                nodes[name].run(step, device, stats)
    return has_accelerator, has_streams


def profile_proto(graph: bytes, runs: Iterable[Tuple[int, bytes]], log: bytes) -> bytes:
    """GraphDef, RunMetadata by step, and an OpLogProto of the library. ValueError: the graph is none in bytes."""
    nodes: Dict[str, _Node] = {}
    texts, steps = _Texts(), []
    misses_streams = False
    _add_graph(nodes, graph)
    has_code = _add_log(nodes, log, texts)
    for step, run in runs:
        has_accelerator, has_streams = _add_run(nodes, step, run)
        misses_streams |= has_accelerator and not has_streams
        steps.append(step)
    return (b"".join(entry(1, node.number, node.message(nodes)) for node in nodes.values()) + scalar(2, int(has_code)) +
            packed(3, sorted(steps)) + texts.message() + scalar(5, int(misses_streams)))
