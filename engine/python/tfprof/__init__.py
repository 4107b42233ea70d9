"""What to change in a machine-learning program, from a recording of its run.

    import tfprof
    advice = tfprof.advise("trace.json.gz")
    for finding in advice:
        print(finding.price, finding.title)

docs/python.md is the guide. Options are those of the command of the same name, with underscores: `min_impact="1%"`.
Calls give up the GIL while they work; any thread may use any profile. `progress=` names a function that is called with each stage
of a call: "reading", "analysing", "running rules".
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

from ._advice import Advice, Evidence, Finding, Impact, Location, Verdict, parse
from ._library import (
    Error,
    FormatError,
    InconclusiveError,
    InputError,
    LimitError,
    OutputError,
    Path,
    Progress,
    RuleError,
    Text,
    UsageError,
    Words,
    answer,
    answer_bytes,
    fail,
    ffi,
    lib,
    options,
    paths,
    progress_told,
    text,
)
from ._table import Table

__all__ = [
    "Advice", "Bisection", "Error", "Evidence", "Fact", "Finding", "FormatError", "GateResult", "Impact", "InconclusiveError",
    "InputError", "LimitError", "Location", "OutputError", "Profile", "RuleError", "Table", "UsageError", "Verdict", "Verification",
    "advise", "baseline", "bisect", "diff", "explain", "gate", "history", "open", "report", "rules", "summarize", "timeline", "verify", "view",
    "why", "whatif",
]
__version__ = text(lib.tfprof_version())
Json = Dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Fact:
    name: str
    value: Union[float, str]
    unit: str
    help: str


@dataclasses.dataclass(frozen=True)
class GateResult:
    """`status`: 0 passed, 1 failed, 4 cannot be told. `json` holds the checks and what changed."""

    status: int
    headline: str
    json: Mapping[str, Any] = dataclasses.field(repr=False)
    warnings: str = dataclasses.field(default="", repr=False)

    @property
    def passed(self) -> bool:
        return self.status == 0

    def __bool__(self) -> bool:
        return self.passed


@dataclasses.dataclass(frozen=True)
class Verification:
    """`status`: 0 at least the low end of what was promised, 1 surely less, 4 cannot be told."""

    status: int
    json: Mapping[str, Any] = dataclasses.field(repr=False)

    def __bool__(self) -> bool:
        return self.status == 0


@dataclasses.dataclass(frozen=True)
class Bisection:
    """`status`: 0 found, 4 not sure. `json` holds the revisions and what changed."""

    status: int
    json: Mapping[str, Any] = dataclasses.field(repr=False)

    def __bool__(self) -> bool:
        return self.status == 0


class Facts(Mapping[str, Fact]):
    def __init__(self, profile: "Profile"):
        self._profile = profile

    @staticmethod
    def _made(fact: Any) -> Fact:
        value = text(fact.text) if fact.text != ffi.NULL else fact.number
        return Fact(text(fact.name), value, text(fact.unit), text(fact.help))

    def __len__(self) -> int:
        return lib.tfprof_fact_count(self._profile._handle)

    def __iter__(self) -> Iterator[str]:
        fact = ffi.new("tfprof_fact *")
        for index in range(len(self)):
            lib.tfprof_fact_at(self._profile._handle, index, fact)
            yield text(fact.name)

    def __getitem__(self, name: str) -> Fact:
        fact = ffi.new("tfprof_fact *")
        if not lib.tfprof_fact_find(self._profile._handle, name.encode(), fact):
            raise KeyError(name)
        return self._made(fact)


class Profile:
    """A recording that was read and analysed. Several paths are the hosts or ranks of one job."""

    def __init__(self, *given: Path, progress: Optional[Progress] = None, **how: Any):
        error = ffi.new("tfprof_error **")
        files, words = paths(given), options({"progress": progress, **how})
        self._progress = progress
        self._held: Any = None
        with progress_told(words):
            handle = lib.tfprof_open(files.array, files.count, words.array, error)
            if handle == ffi.NULL:
                fail(error)
            self._held = ffi.gc(handle, lib.tfprof_close)

    @property
    def _handle(self) -> Any:
        if self._held is None:
            raise UsageError("the profile is closed")
        return self._held

    def _words(self, how: Mapping[str, Any]) -> Words:
        return options({"progress": self._progress, **how})

    def _ask(self, function: str, *arguments: Any, **how: Any) -> Text:
        return answer("tfprof_" + function, self._handle, *arguments, self._words(how))

    def advise(self, **how: Any) -> Advice:
        as_json = self._ask("advise", **how)
        return parse(as_json, as_json.warnings)

    def info(self, **how: Any) -> Json:
        return json.loads(self._ask("info", **how))

    def whatif(self, *edits: str, **how: Any) -> Json:
        """What a step would take: `profile.whatif(scale={"kernel:gemm": 0.5})`, or edits of findings."""
        return json.loads(self._ask("whatif", **how, **({"edit": list(edits)} if edits else {})))

    def why(self, what: Optional[str] = None, **how: Any) -> Json:
        return json.loads(self._ask("why", what.encode() if what else ffi.NULL, **how))

    def explain(self, rule: str, **how: Any) -> Json:
        return json.loads(self._ask("explain", rule.encode(), **how))

    def tool(self, name: str, **how: Any) -> Json:
        return json.loads(self._ask("tool", name.encode(), **how))

    def hlo(self, **how: Any) -> Json:
        """Compiled programs; `module="NAME"` or `op="NAME"`: their instructions."""
        return json.loads(self._ask("hlo", **how))

    def report(self, path: Optional[Path] = None, **how: Any) -> str:
        """The page as HTML, also written to `path`."""
        page = str(self._ask("report", **how))
        if path is not None:
            pathlib.Path(path).write_text(page, encoding="utf-8")
        return page

    def timeline(self, path: Optional[Path] = None, **how: Any) -> bytes:
        """A trace for Perfetto, or by `format="chrome"` or "csv"; also written to `path`."""
        data, _ = answer_bytes("tfprof_timeline", self._handle, self._words(how))
        if path is not None:
            pathlib.Path(path).write_bytes(data)
        return data

    @property
    def facts(self) -> Facts:
        return Facts(self)

    @property
    def tables(self) -> List[str]:
        count = lib.tfprof_table_count(self._handle)
        return [text(lib.tfprof_table_name(self._handle, index)) for index in range(count)]

    def table(self, name: str, **how: Any) -> Table:
        """`columns=["name"]`, `where=["total_ns>1ms"]`, `sort="calls"`, `top=10`."""
        if isinstance(how.get("columns"), (list, tuple)):
            how["columns"] = ",".join(how["columns"])
        return Table(self, name, how)

    def close(self) -> None:
        """Gives its memory back, behind calls of other threads that still look into it; nothing can be asked of it any more."""
        self._held = None

    def __enter__(self) -> "Profile":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


# Options of reading, which are said when a recording is opened.
_READING = ("input_format", "run", "host", "device", "accelerator", "capture", "steps", "strict", "memory", "threads", "profile_path",
            "graph_path", "run_meta_path", "op_log_path", "run_log_path", "checkpoint_path", "progress")


def _split(how: Mapping[str, Any]) -> "tuple[Json, Json]":
    """Options of reading, and those of the question."""
    return ({name: value for name, value in how.items() if name in _READING},
            {name: value for name, value in how.items() if name not in _READING})


def open(*given: Path, **how: Any) -> Profile:
    return Profile(*given, **how)


def advise(*given: Path, **how: Any) -> Advice:
    reading, asking = _split(how)
    with Profile(*given, **reading) as profile:
        return profile.advise(**asking)


def whatif(path: Path, *edits: str, **how: Any) -> Json:
    reading, asking = _split(how)
    with Profile(path, **reading) as profile:
        return profile.whatif(*edits, **asking)


def why(path: Path, what: Optional[str] = None, **how: Any) -> Json:
    reading, asking = _split(how)
    with Profile(path, **reading) as profile:
        return profile.why(what, **asking)


def report(path: Path, output: Optional[Path] = None, **how: Any) -> str:
    """The page as HTML, also written to `output`."""
    reading, asking = _split(how)
    with Profile(path, **reading) as profile:
        return profile.report(output, **asking)


def timeline(path: Path, output: Optional[Path] = None, **how: Any) -> bytes:
    reading, asking = _split(how)
    with Profile(path, **reading) as profile:
        return profile.timeline(output, **asking)


def summarize(*given: Path, output: Optional[Path] = None, **how: Any) -> bytes:
    """What all ranks are judged by together, of recordings, each file a rank, and of summaries; also written to `output`."""
    files, words = paths(given), options(how)
    data, _ = answer_bytes("tfprof_summarize", files.array, files.count, words)
    if output is not None:
        pathlib.Path(output).write_bytes(data)
    return data


def bisect(good: str, record: str, **how: Any) -> Bisection:
    """The revision of a git repository that made a program slower: `bisect("v1.4", "python train.py", repository=".")`."""
    words = options({"good": good, "record": record, **how})
    given = answer("tfprof_bisect", words)
    return Bisection(given.status, json.loads(given))


def explain(rule: str, **how: Any) -> Json:
    words = options(how)
    return json.loads(answer("tfprof_explain", ffi.NULL, rule.encode(), words))


def rules() -> Json:
    """All rules: what each looks for, needs and can be set to."""
    return json.loads(answer("tfprof_rules", options({})))


def diff(before: Union[Path, Profile], after: Union[Path, Profile], **how: Any) -> Json:
    reading, asking = _split(how)
    sides = [side if isinstance(side, Profile) else Profile(side, **reading) for side in (before, after)]
    words = options(asking)
    return json.loads(answer("tfprof_diff", sides[0]._handle, sides[1]._handle, words))


def gate(*runs: Path, **how: Any) -> GateResult:
    """Each path is a run of its own: `gate("trace.json.gz", baseline="base.tfbase", budget=["step_ms.p50 <= 210"])`."""
    files, words = paths(runs), options(how)
    given = answer("tfprof_gate", files.array, files.count, words)
    data = json.loads(given)
    return GateResult(given.status, data["headline"], data, given.warnings)


def baseline(*runs: Path, output: Optional[Path] = None, **how: Any) -> bytes:
    """What gates compare with, also written to `output`; each path is a run of its own."""
    files, words = paths(runs), options(how)
    data, _ = answer_bytes("tfprof_baseline", files.array, files.count, words)
    if output is not None:
        pathlib.Path(output).write_bytes(data)
    return data


def verify(before: Path, after: Path, claimed: Union[str, int], **how: Any) -> Verification:
    """`claimed`: the finding of `before` that was fixed, by its rule or its number in the advice."""
    sides, words = paths([before, after]), options({"claimed": claimed, **how})
    given = answer("tfprof_verify", sides.array[0], sides.array[1], words)
    return Verification(given.status, json.loads(given))


def history(directory: Path, **how: Any) -> Json:
    """When numbers of the baselines or recordings in a directory changed: `metric=["step_ms.p50"]`."""
    place, words = paths([directory]), options(how)
    return json.loads(answer("tfprof_history", place.array[0], words))


def view(name: str, *given: Path, **how: Any) -> Any:
    """Rows of a classic view, "scope", "graph", "op" or "code". tfprof.profiler gives TensorFlow's messages."""
    files, words = paths(given), options(how)
    return json.loads(answer("tfprof_view", files.array, files.count, name.encode(), words))
