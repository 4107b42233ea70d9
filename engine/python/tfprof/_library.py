"""The C library behind the module: where it is, its functions, and its errors as exceptions."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
from typing import Any, Callable, Iterable, Iterator, Mapping, NoReturn, Optional, Tuple, Union

import cffi

Path = Union[str, "os.PathLike[str]"]
Progress = Callable[[str], Any]
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
    """A list of C strings that lives as long as this, and whom a call with it tells of its progress."""

    def __init__(self, words: Iterable[str], progress: Optional[Progress] = None):
        self._kept = [ffi.new("char[]", word.encode()) for word in words]
        self.array = ffi.new("char *[]", [*self._kept, ffi.NULL])
        self.count = len(self._kept)
        self.progress = progress


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
    return Words((word for name, value in given.items() if name != "progress" for word in _values(name, value)), given.get("progress"))


def paths(given: Iterable[Path]) -> Words:
    return Words(os.fspath(path) for path in given)


class _Listener:
    """Calls a function with each stage of a call of the library, and keeps what it raises for behind the call."""

    def __init__(self, tell: Progress):
        self._tell = tell
        self.raised: Optional[BaseException] = None

    def hear(self, stage: str) -> None:
        try:
            if self.raised is None:
                self._tell(stage)
        except BaseException as error:  # C is between here and whoever called
            self.raised = error


@ffi.callback("void(void *, const char *)")
def _hear(context: Any, stage: Any) -> None:
    ffi.from_handle(context).hear(text(stage))


@contextlib.contextmanager
def progress_told(*given: Words) -> Iterator[None]:
    """Calls of the library within it tell of their progress whoever one of these words names."""
    tell = next((words.progress for words in given if words.progress), None)
    if tell is None:
        yield
        return
    listener = _Listener(tell)
    handle = ffi.new_handle(listener)
    lib.tfprof_progress(_hear, handle)
    try:
        yield
    finally:
        lib.tfprof_progress(ffi.NULL, ffi.NULL)
    if listener.raised is not None:
        raise listener.raised


class Text(str):
    """An answer: a text, the command's exit status and its warnings."""

    status: int
    warnings: str


def _asked(function: str, arguments: Any) -> Any:
    """Words among the arguments are handed over as lists."""
    error, words = ffi.new("tfprof_error **"), [given for given in arguments if isinstance(given, Words)]
    with progress_told(*words):
        given = getattr(lib, function)(*[given.array if isinstance(given, Words) else given for given in arguments], error)
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
