"""Protocol buffers without their library: fields of messages, and messages of fields."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Tuple, Union

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
Value = Union[int, bytes]


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def fields(message: bytes) -> Iterator[Tuple[int, Value]]:
    """Numbers and values in their order; numbers are unsigned. ValueError: this is no message."""
    at, end = 0, len(message)
    try:
        while at < end:
            key, at = _varint(message, at)
            kind = key & 7
            if kind == VARINT:
                value, at = _varint(message, at)
                yield key >> 3, value
                continue
            if kind == BYTES:
                size, at = _varint(message, at)
            elif kind in (FIXED64, FIXED32):
                size = 8 if kind == FIXED64 else 4
            else:
                raise ValueError("a field of an unknown kind")
            if at + size > end:
                raise ValueError("a field that ends behind its message")
            yield key >> 3, bytes(message[at:at + size])
            at += size
    except IndexError:
        raise ValueError("a number that ends behind its message") from None


def signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _number(value: int) -> bytes:
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def field(number: int, value: Union[int, str, bytes]) -> bytes:
    """One field: a varint or bytes."""
    if isinstance(value, int):
        return _number(number << 3 | VARINT) + _number(value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | BYTES) + _number(len(data)) + data


def scalar(number: int, value: Any) -> bytes:
    """One field where it is not the default."""
    return field(number, value) if value else b""


def packed(number: int, values: Iterable[int]) -> bytes:
    """A repeated number."""
    data = b"".join(_number(value) for value in values)
    return field(number, data) if data else b""


def entry(number: int, key: Union[int, str], value: Union[int, str, bytes]) -> bytes:
    """An entry of a map."""
    return field(number, field(1, key) + field(2, value))


def numbers(value: Value) -> Iterator[int]:
    """A repeated number, packed or not."""
    if isinstance(value, int):
        yield signed(value)
        return
    at = 0
    while at < len(value):
        number, at = _varint(value, at)
        yield signed(number)


def serialized(message: Any, what: str) -> bytes:
    """Bytes, or whatever can be made some."""
    if message is None:
        return b""
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message)
    if hasattr(message, "SerializeToString"):
        return message.SerializeToString()
    raise TypeError("%s is neither bytes nor a message: %r" % (what, type(message).__name__))
