"""Answers of TensorFlow's profiler: bytes of its messages, whose fields can be read by name.

Types and numbers of fields: tensorflow/core/profiler/tfprof_output.proto.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple, Type

from ._wire import fields, signed


class Message(bytes):
    """The message as TensorFlow's library would return it: `GraphNodeProto.FromString(answer)` of
    tensorflow.core.profiler.tfprof_output_pb2 takes it, and so does anything that writes bytes."""

    _number: Dict[str, int] = {}    # of an int64
    _text: Dict[str, int] = {}
    _texts: Dict[str, int] = {}     # repeated
    _bytes: Dict[str, int] = {}     # a message that is left as it is
    _messages: Dict[str, Tuple[int, Type["Message"]]] = {}  # repeated
    _maps: Dict[str, Tuple[int, bool, Type["Message"]]] = {}  # by text (True) or by number

    def SerializeToString(self) -> bytes:
        return bytes(self)

    def _found(self, number: int) -> List[Any]:
        return [value for found, value in fields(self) if found == number]

    def __getattr__(self, name: str) -> Any:
        if name in self._number:
            found = self._found(self._number[name])
            return signed(found[-1]) if found else 0
        if name in self._text:
            found = self._found(self._text[name])
            return found[-1].decode("utf-8", "replace") if found else ""
        if name in self._texts:
            return [value.decode("utf-8", "replace") for value in self._found(self._texts[name])]
        if name in self._bytes:
            return b"".join(self._found(self._bytes[name]))
        if name in self._messages:
            number, kind = self._messages[name]
            return [kind(value) for value in self._found(number)]
        if name in self._maps:
            return self._map(*self._maps[name])
        raise AttributeError("%s has no field %r" % (type(self).__name__, name))

    def _map(self, number: int, is_text: bool, kind: Type["Message"]) -> Dict[Any, "Message"]:
        made = {}
        for value in self._found(number):
            pair = dict(fields(value))
            key = pair.get(1, b"" if is_text else 0)
            made[key.decode("utf-8", "replace") if isinstance(key, bytes) else signed(key)] = kind(pair.get(2, b""))
        return made

    def __repr__(self) -> str:
        return "<%s of %d bytes>" % (type(self).__name__, len(self))


class Dim(Message):
    _number = {"size": 1}


class TensorShapeProto(Message):
    _messages = {"dim": (2, Dim)}
    _number = {"unknown_rank": 3}


class GraphNodeProto(Message):
    """A name scope (scope) or a node (graph), and what is below it."""

    _text = {"name": 1}
    _number = {
        "exec_micros": 2, "requested_bytes": 3, "parameters": 4, "total_exec_micros": 6, "total_requested_bytes": 7,
        "total_parameters": 8, "float_ops": 13, "total_float_ops": 14, "accelerator_exec_micros": 17, "cpu_exec_micros": 18,
        "total_accelerator_exec_micros": 19, "total_cpu_exec_micros": 20, "run_count": 21, "total_run_count": 22,
        "total_definition_count": 23, "peak_bytes": 24, "residual_bytes": 25, "output_bytes": 26, "total_peak_bytes": 27,
        "total_residual_bytes": 28, "total_output_bytes": 29,
    }
    _texts = {"devices": 10}
    _bytes = {"tensor_value": 15}
    _maps = {"input_shapes": (16, False, TensorShapeProto)}


GraphNodeProto._messages = {"shapes": (11, TensorShapeProto), "children": (12, GraphNodeProto)}


class MultiGraphNodeProto(Message):
    """A type of ops (op) or a line of the program (code), its nodes, and what is below it."""

    _text = {"name": 1}
    _number = {
        "exec_micros": 2, "requested_bytes": 3, "parameters": 4, "float_ops": 5, "total_exec_micros": 6,
        "total_requested_bytes": 7, "total_parameters": 8, "total_float_ops": 9, "accelerator_exec_micros": 12,
        "cpu_exec_micros": 13, "total_accelerator_exec_micros": 14, "total_cpu_exec_micros": 15, "peak_bytes": 16,
        "residual_bytes": 17, "output_bytes": 18, "total_peak_bytes": 19, "total_residual_bytes": 20, "total_output_bytes": 21,
    }


MultiGraphNodeProto._messages = {"graph_nodes": (10, GraphNodeProto), "children": (11, MultiGraphNodeProto)}


class Checker(Message):
    _texts = {"reports": 2}


class AdviceProto(Message):
    """`checkers`: by name, each with its reports."""

    _maps = {"checkers": (1, True, Checker)}
