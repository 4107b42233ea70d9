"""Tables of a recording: Arrow's columns, handed over without copying."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from ._library import answer, fail, ffi, lib, options

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
_in_capsules: Dict[int, Any] = {}


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _end_capsule(capsule: int) -> None:
    """Whoever took the struct over has set its release to NULL."""
    struct = _in_capsules.pop(_capsule_pointer(capsule, _capsule_name(capsule)), None)
    if struct is not None and struct.release != ffi.NULL:
        struct.release(struct)


_NAMES = {"struct ArrowSchema": b"arrow_schema", "struct ArrowArray": b"arrow_array"}


def _capsule(struct: Any, kind: str) -> Any:
    address = int(ffi.cast("uintptr_t", struct))
    _in_capsules[address] = struct
    return _capsule_new(address, _NAMES[kind], ctypes.cast(_end_capsule, ctypes.c_void_p))


class Table:
    """Rows of one table. `pyarrow.record_batch(table)`, `polars.DataFrame(table)` and whatever else knows the Arrow PyCapsule
    interface take it; numbers are in the units that `units` tells, and a cell without a value is null."""

    def __init__(self, profile: Any, name: str, given: Mapping[str, Any]):
        self.name = name
        self._profile, self._given = profile, dict(given)
        schema, _ = self._ask()  # what is wrong is said here
        schema.release(schema)
        _.release(_)

    def _ask(self) -> Tuple[Any, Any]:
        schema, array, error = ffi.new("struct ArrowSchema *"), ffi.new("struct ArrowArray *"), ffi.new("tfprof_error **")
        words = options(self._given)
        if not lib.tfprof_table(self._profile._handle, self.name.encode(), words.array, schema, array, error):
            fail(error)
        return schema, array

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        schema, array = self._ask()
        return _capsule(schema, "struct ArrowSchema"), _capsule(array, "struct ArrowArray")

    def __arrow_c_schema__(self) -> Any:
        schema, array = self._ask()
        array.release(array)
        return _capsule(schema, "struct ArrowSchema")

    def to_arrow(self) -> Any:
        import pyarrow

        return pyarrow.record_batch(self)

    def to_pandas(self) -> Any:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        import polars

        return polars.DataFrame(self)

    def _json(self) -> Mapping[str, Any]:
        words = options(self._given)
        return json.loads(answer("tfprof_table_text", self._profile._handle, self.name.encode(), words))

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """Rows as dictionaries, without any other package."""
        return self._json()["rows"]

    @property
    def units(self) -> Dict[str, str]:
        return {column["name"]: column["unit"] for column in self._json()["columns"]}

    @property
    def columns(self) -> Sequence[str]:
        return list(self.units)

    def __repr__(self) -> str:
        return "<tfprof.Table %s: %s>" % (self.name, ", ".join(self.columns))
