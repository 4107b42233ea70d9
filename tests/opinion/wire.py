"""Protocol buffers as bytes: fields of a message, by number, with nothing but the wire format."""
import struct


def varint(data, at):
    """The number at a place, and the place behind it."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, at + 1
        shift += 7


def fields(data, at=0, end=None):
    """(number, wire type, value) of each field; a nested message or text is (begin, end)."""
    end = len(data) if end is None else end
    while at < end:  # most numbers are one byte: varint() reads the others
        tag = data[at]
        at += 1
        if tag > 0x7F:
            tag, at = varint(data, at - 1)
        kind = tag & 7
        if kind == 0:
            value = data[at]
            at += 1
            if value > 0x7F:
                value, at = varint(data, at - 1)
        elif kind == 2:
            length = data[at]
            at += 1
            if length > 0x7F:
                length, at = varint(data, at - 1)
            value = (at, at + length)
            at += length
        elif kind == 1:
            value = struct.unpack_from('<d', data, at)[0]
            at += 8
        elif kind == 5:
            value = struct.unpack_from('<f', data, at)[0]
            at += 4
        else:
            raise ValueError(f'wire type {kind} at {at}')
        if at > end:
            raise ValueError(f'field {tag >> 3} ends behind its message, at {at}')
        yield tag >> 3, kind, value


def signed(number):
    """int64 out of its two's complement."""
    return number - (1 << 64) if number >> 63 else number
