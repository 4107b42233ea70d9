"""The C library behind the module: where it is, its functions, and its errors as exceptions."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any, Iterable, Mapping, NoReturn, Tuple, Union

import cffi

Path = Union[str, "os.PathLike[str]"]
_HERE = pathlib.Path(__file__).resolve().parent


class Error(Exception):
    """What went wrong, where, and what to do about it, in one line."""


class UsageError(Error, ValueError):
    """An option, a name or a configuration is wrong."""


class InputError(Error, OSError):
    """A file is missing or cannot be read."""


class FormatError(Error, ValueError):
    """Bytes that break their format's rules."""


class LimitError(Error, MemoryError):
    """The option `memory` is too little."""


class OutputError(Error, OSError):
    """Something could not be written."""


class RuleError(Error, RuntimeError):
    """A rule failed, with rule_errors="fail"."""


class InconclusiveError(Error, LookupError):
    """The recording does not have what was asked for."""


_KINDS = [Error, UsageError, InputError, FormatError, LimitError, OutputError, RuleError, InconclusiveError]


def _declarations(header: str) -> str:
    """The header as cffi takes it: without C++, guards and flags."""
    header = re.sub(r"(?ms)^#ifdef __cplusplus$.*?^#endif$", "", header)
    return re.sub(r"(?m)^#.*$", "", header)


def _find() -> str:
    """Beside the module in a wheel; else where TFPROF_LIBRARY or the system says."""
    beside = _HERE / "libtfprof.so.1"
    return os.environ.get("TFPROF_LIBRARY") or (str(beside) if beside.exists() else "libtfprof.so.1")


def _header() -> str:
    for path in (_HERE / "tfprof.h", _HERE.parent.parent / "lib" / "tfprof.h"):
        if path.exists():
            return path.read_text()
    raise ImportError("tfprof.h is not beside the module")


ffi = cffi.FFI()
ffi.cdef(_declarations(_header()))
lib: Any = ffi.dlopen(_find())


def text(pointer: Any) -> str:
    return ffi.string(pointer).decode("utf-8", "replace")


def fail(error: Any) -> NoReturn:
    """Raises what a tfprof_error ** holds."""
    kind, message = lib.tfprof_error_kind(error[0]), text(lib.tfprof_error_message(error[0]))
    lib.tfprof_error_free(error[0])
    raise (_KINDS[kind] if 0 < kind < len(_KINDS) else Error)(message)


class Words:
    """A list of C strings that lives as long as this."""

    def __init__(self, words: Iterable[str]):
        self._kept = [ffi.new("char[]", word.encode()) for word in words]
        self.array = ffi.new("char *[]", [*self._kept, ffi.NULL])
        self.count = len(self._kept)


def _values(name: str, value: Any) -> Iterable[str]:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return
    if value is True:
        yield name
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield "%s=%s" % (name, item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield "%s=%s=%s" % (name, key, item)
    else:
        yield "%s=%s" % (name, os.fspath(value) if isinstance(value, os.PathLike) else value)


def options(given: Mapping[str, Any]) -> Words:
    """`min_impact="1%"`, `only=["input"]`, `scale={"kernel:gemm": 0.5}`, `strict=True` as the library's options."""
    return Words(word for name, value in given.items() for word in _values(name, value))


def paths(given: Iterable[Path]) -> Words:
    return Words(os.fspath(path) for path in given)


class Text(str):
    """An answer: a text, the command's exit status and its warnings."""

    status: int
    warnings: str


def _asked(function: str, arguments: Any) -> Any:
    error = ffi.new("tfprof_error **")
    given = getattr(lib, function)(*arguments, error)
    if given == ffi.NULL:
        fail(error)
    return ffi.gc(given, lib.tfprof_answer_free)


def _bytes(given: Any) -> bytes:
    return bytes(ffi.buffer(lib.tfprof_answer_text(given), lib.tfprof_answer_bytes(given)))


def answer(function: str, *arguments: Any) -> Text:
    given = _asked(function, arguments)
    made = Text(_bytes(given).decode("utf-8", "replace"))
    made.status = lib.tfprof_answer_status(given)
    made.warnings = text(lib.tfprof_answer_warnings(given))
    return made


def answer_bytes(function: str, *arguments: Any) -> Tuple[bytes, str]:
    """The answer as it is, and its warnings."""
    given = _asked(function, arguments)
    return _bytes(given), text(lib.tfprof_answer_warnings(given))
