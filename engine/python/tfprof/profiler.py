"""TensorFlow's profiler for programs, `tf.compat.v1.profiler`, without importing TensorFlow.

    from tfprof import profiler
    answer = profiler.profile(graph, run_meta, cmd="op", options=profiler.ProfileOptionBuilder.time_and_memory())
    print(answer.total_exec_micros)

Graphs, run metadata and op logs are bytes (of a GraphDef also as text), messages (anything with SerializeToString), or, for graphs, a
tf.Graph: then trainable variables, lines of code and shapes come from it, as in TensorFlow. Answers are the messages that
TensorFlow's library returns, as bytes with their fields (docs/python.md).
"""

from __future__ import annotations

import copy
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import threading
import weakref
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple, Union

from ._classic_messages import AdviceProto, GraphNodeProto, Message, MultiGraphNodeProto
from ._library import Words, answer_bytes, lib
from ._profile_proto import profile_proto
from ._wire import field, fields, scalar, serialized

__all__ = [
    "ALL_ADVICE", "AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "ProfileContext", "ProfileOptionBuilder", "Profiler",
    "advise", "profile", "write_op_log",
]
TRAINABLE_VARIABLES = "_trainable_variables"
ALL_ADVICE: Dict[str, Dict[str, str]] = {
    "ExpensiveOperationChecker": {}, "AcceleratorUtilizationChecker": {}, "JobChecker": {}, "OperationChecker": {},
}
Options = Mapping[str, Any]
_ANSWERS = {"scope": GraphNodeProto, "graph": GraphNodeProto, "op": MultiGraphNodeProto, "code": MultiGraphNodeProto}


class ProfileOptionBuilder:
    """Options of a view, step by step, or one of the three that are ready: their names and values are TensorFlow's."""

    def __init__(self, options: Optional[Options] = None):
        self._options = copy.deepcopy(dict(options)) if options is not None else _options(max_depth=100, select=["micros"])

    @staticmethod
    def trainable_variables_parameter() -> Dict[str, Any]:
        return _options(account_type_regexes=[TRAINABLE_VARIABLES], account_displayed_op_only=True, select=["params"])

    @staticmethod
    def float_operation() -> Dict[str, Any]:
        return _options(min_float_ops=1, order_by="float_ops", account_displayed_op_only=True, select=["float_ops"])

    @staticmethod
    def time_and_memory(min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0, min_cpu_micros: int = 0,
                        min_peak_bytes: int = 0, min_residual_bytes: int = 0, min_output_bytes: int = 0) -> Dict[str, Any]:
        return _options(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                        min_output_bytes=min_output_bytes, min_micros=min_micros, min_accelerator_micros=min_accelerator_micros,
                        min_cpu_micros=min_cpu_micros, order_by="micros", account_displayed_op_only=True,
                        select=["micros", "bytes"])

    def build(self) -> Dict[str, Any]:
        return copy.deepcopy(self._options)

    def _with(self, **options: Any) -> "ProfileOptionBuilder":
        self._options.update({name: copy.copy(value) for name, value in options.items()})
        return self

    def with_max_depth(self, max_depth: int) -> "ProfileOptionBuilder":
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0,
                        min_output_bytes: int = 0) -> "ProfileOptionBuilder":
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                          min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros: int = 0, min_accelerator_micros: int = 0,
                                min_cpu_micros: int = 0) -> "ProfileOptionBuilder":
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> "ProfileOptionBuilder":
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> "ProfileOptionBuilder":
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> "ProfileOptionBuilder":
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Sequence[str]) -> "ProfileOptionBuilder":
        return self._with(account_type_regexes=account_type_regexes)

    def with_node_names(self, start_name_regexes: Optional[Sequence[str]] = None, show_name_regexes: Optional[Sequence[str]] = None,
                        hide_name_regexes: Optional[Sequence[str]] = None,
                        trim_name_regexes: Optional[Sequence[str]] = None) -> "ProfileOptionBuilder":
        given = {"start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
                 "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._with(**{name: value for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true: bool) -> "ProfileOptionBuilder":
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> "ProfileOptionBuilder":
        return self._with(output="none")

    def with_stdout_output(self) -> "ProfileOptionBuilder":
        return self._with(output="stdout")

    def with_file_output(self, outfile: str) -> "ProfileOptionBuilder":
        return self._with(output="file:outfile=%s" % outfile)

    def with_timeline_output(self, timeline_file: str) -> "ProfileOptionBuilder":
        return self._with(output="timeline:outfile=%s" % timeline_file)

    def with_pprof_output(self, pprof_file: str) -> "ProfileOptionBuilder":
        return self._with(output="pprof:outfile=%s" % pprof_file)

    def order_by(self, attribute: str) -> "ProfileOptionBuilder":
        return self._with(order_by=attribute)

    def select(self, attributes: Sequence[str]) -> "ProfileOptionBuilder":
        return self._with(select=attributes)

    def with_step(self, step: int) -> "ProfileOptionBuilder":
        return self._with(step=step)


def _options(**given: Any) -> Dict[str, Any]:
    """All keys that TensorFlow's ready options have."""
    return {"max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
            "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
            "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False, "select": ["micros"],
            "step": -1, "output": "stdout", **given}


_NUMBERS = ("min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes", "min_micros", "min_accelerator_micros",
            "min_cpu_micros", "min_params", "min_float_ops", "min_occurrence")
_LISTS = ("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes", "select")


def _listed(name: str, value: str) -> str:
    """An item of a list as an option, where commas divide."""
    if re.search(r"\{\d*,\d*\}", value):
        raise ValueError("%s: %r: a repeat of several lengths, as {1,3}, has no place here" % (name, value))
    return "%s=%s" % (name, value.replace(",", r"\x2c"))


def _words(options: Options) -> List[str]:
    """As TensorFlow takes them: what is left out is 0 and nothing."""
    words = ["compat", "max_depth=%d" % options.get("max_depth", 10), "step=%d" % options.get("step", -1),
             "order_by=%s" % options.get("order_by", "name")]
    words += ["%s=%d" % (name, options.get(name, 0)) for name in _NUMBERS]
    for name in _LISTS:
        words += [_listed(name, item) for item in options.get(name, [])] or ["%s=," % name]
    if options.get("account_displayed_op_only"):
        words.append("account_displayed_op_only")
    if options.get("dump_to_file"):
        words.append("dump_to_file=%s" % options["dump_to_file"])
    return words


def _tensorflow() -> Any:
    """Where the program has imported it; it is never imported here."""
    return getattr(getattr(sys.modules.get("tensorflow"), "compat", None), "v1", None)


def _graph(graph: Any) -> Any:
    """The default graph where there is one and none is given, as in TensorFlow."""
    if graph is None and _tensorflow() is not None and not _tensorflow().executing_eagerly():
        return _tensorflow().get_default_graph()
    return graph


def _graph_bytes(graph: Any) -> bytes:
    if hasattr(graph, "as_graph_def"):
        graph = graph.as_graph_def(add_shapes=True)
    return serialized(graph, "a graph")


def _trace(frames: Iterable[Any]) -> bytes:
    return b"".join(field(1, scalar(1, frame.filename or "none") + field(2, frame.lineno or -1) + scalar(3, frame.name or "none") +
                          scalar(4, frame.line or "none") + field(5, -1)) for frame in frames)


def _told_by(graph: Any, add_trace: bool) -> bytes:
    """OpLogProto of what a tf.Graph knows and its bytes do not: trainable variables, and lines of code."""
    if not hasattr(graph, "get_operations"):
        return b""
    trainable = {variable.op.name for variable in graph.get_collection("trainable_variables")}
    log = b""
    for op in graph.get_operations():
        entry = field(3, TRAINABLE_VARIABLES) if op.name in trainable else b""
        if add_trace and op.traceback:
            entry += field(4, _trace(op.traceback))
        if entry:
            log += field(1, field(1, op.name) + entry)
    return log


def _has_float_ops(log: bytes) -> bool:
    return any(dict(fields(value)).get(2) for number, value in fields(log) if number == 1 and isinstance(value, bytes))


class _Files:
    """A graph, op logs and runs, where the library reads them: run_meta_<step> is a step's."""

    def __init__(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tfprof-"))
        self.close = weakref.finalize(self, shutil.rmtree, str(self.folder), True)

    def add(self, name: str, data: bytes) -> None:
        """Behind what is there: messages one behind the other are one."""
        if data:
            with (self.folder / name).open("ab") as file:
                file.write(data)

    def replace(self, name: str, data: bytes) -> None:
        (self.folder / name).unlink(missing_ok=True)
        self.add(name, data)

    def read(self, name: str) -> bytes:
        path = self.folder / name
        return path.read_bytes() if path.exists() else b""

    def ask(self, function: str, *arguments: Any, options: Sequence[str]) -> bytes:
        where, words = Words([str(self.folder)]), Words(options)
        made, warnings = answer_bytes("tfprof_" + function, where.array, where.count, *arguments, words)
        sys.stderr.write(warnings)
        return made

    def set_log(self, given: bytes, graph: Any, add_trace: bool) -> None:
        """What is given, what a tf.Graph knows, and float operations by the formulas of TensorFlow: always for a tf.Graph, as
        there, and for bytes where the log, which may be one of TensorFlow's, has none."""
        self.replace("tfprof_log", given + _told_by(graph, add_trace))
        if self.read("graph") and (hasattr(graph, "get_operations") or not _has_float_ops(given)):
            self.replace("tfprof_log", self.ask("oplog", options=["registered"]))


def _view(files: _Files, cmd: str, options: Options) -> Message:
    if cmd not in _ANSWERS:
        raise ValueError("unknown cmd: %s" % cmd)
    words, output = _words(options), options.get("output", "stdout")
    if not any(files.folder.iterdir()):
        return _ANSWERS[cmd]()
    if output != "none":
        shown = files.ask("view", cmd.encode(), options=words + ["format=text", "output=%s" % output])
        sys.stdout.write(shown.decode("utf-8", "replace"))
    return _ANSWERS[cmd](files.ask("view", cmd.encode(), options=words + ["format=proto", "output=stdout"]))


def _advise(files: _Files, options: Optional[Mapping[str, Any]]) -> AdviceProto:
    only = ["only=%s" % name for name in options or {}]
    if options == {} or not any(files.folder.iterdir()):
        return AdviceProto()
    sys.stdout.write(files.ask("classic_advice", options=only + ["format=text"]).decode("utf-8", "replace"))
    return AdviceProto(files.ask("classic_advice", options=only + ["format=proto"]))


def _read(graph: Any, run_meta: Any, op_log: Any, add_trace: bool) -> _Files:
    graph = _graph(graph)
    files = _Files()
    files.add("graph", _graph_bytes(graph))
    files.add("run_meta_0", serialized(run_meta, "run metadata"))
    files.set_log(serialized(op_log, "an op log"), graph, add_trace)
    return files


def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = "scope",
            options: Union[Options, int] = 0) -> Union[GraphNodeProto, MultiGraphNodeProto]:
    """`cmd`: "scope", "graph" (GraphNodeProto), "op", "code" (MultiGraphNodeProto). options["output"] says where its text goes."""
    chosen = ProfileOptionBuilder.trainable_variables_parameter() if isinstance(options, int) else options
    files = _read(graph, run_meta, op_log, cmd == "code")
    try:
        return _view(files, cmd, chosen)  # type: ignore[return-value]
    finally:
        files.close()


def advise(graph: Any = None, run_meta: Any = None, options: Union[Mapping[str, Any], int] = 0) -> AdviceProto:
    """What TensorFlow's profiler advises; `tfprof.advise` says more. `options`: checkers by name."""
    files = _read(graph, run_meta, None, True)
    try:
        return _advise(files, ALL_ADVICE if isinstance(options, int) else options)
    finally:
        files.close()


def write_op_log(graph: Any, log_dir: Union[str, "os.PathLike[str]"], op_log: Any = None, run_meta: Any = None,
                 add_trace: bool = True) -> None:
    """Writes log_dir/tfprof_log: what `op_log` says and what is known of the graph's ops."""
    files = _read(graph, run_meta, op_log, add_trace)
    try:
        (pathlib.Path(log_dir) / "tfprof_log").write_bytes(files.read("tfprof_log"))
    finally:
        files.close()


class Profiler:
    """Several steps of one program; as many as one likes at a time."""

    def __init__(self, graph: Any = None, op_log: Any = None):
        self._graph = _graph(graph)
        self._files = _Files()
        self._log = serialized(op_log, "an op log")
        self._known: Set[bytes] = set()
        self._steps: List[int] = []
        self._is_current = False
        self._add_graph()

    def _add_graph(self) -> None:
        """Of a graph that has grown, its new nodes: what a node is told to be at first, it is."""
        data = _graph_bytes(self._graph)
        if not self._known and not hasattr(self._graph, "as_graph_def"):
            self._files.add("graph", data)
            return
        for number, value in fields(data):
            name = dict(fields(value)).get(1, b"") if number == 1 and isinstance(value, bytes) else None
            if name is None and self._known or name in self._known:
                continue
            if name is not None:
                self._known.add(bytes(name))
            self._files.add("graph", field(number, value))

    def add_step(self, step: int, run_meta: Any) -> None:
        """Several of one step are put together."""
        if step < 0:
            raise ValueError("a step's number is 0 or more, not %d" % step)
        if hasattr(self._graph, "as_graph_def"):
            self._add_graph()
        self._files.add("run_meta_%d" % step, serialized(run_meta, "run metadata"))
        self._steps = sorted({*self._steps, step})
        self._is_current = False

    def _current(self) -> _Files:
        if not self._is_current:
            self._files.set_log(self._log, self._graph, True)
            self._is_current = True
        return self._files

    def profile_python(self, options: Options) -> MultiGraphNodeProto:
        return _view(self._current(), "code", options)  # type: ignore[return-value]

    def profile_operations(self, options: Options) -> MultiGraphNodeProto:
        return _view(self._current(), "op", options)  # type: ignore[return-value]

    def profile_name_scope(self, options: Options) -> GraphNodeProto:
        return _view(self._current(), "scope", options)  # type: ignore[return-value]

    def profile_graph(self, options: Options) -> GraphNodeProto:
        return _view(self._current(), "graph", options)  # type: ignore[return-value]

    def advise(self, options: Optional[Mapping[str, Any]] = None) -> AdviceProto:
        """`options`: checkers by name, as ALL_ADVICE; None: all of them."""
        return _advise(self._current(), options)

    def serialize_to_string(self) -> bytes:
        """A ProfileProto, which tfprof and TensorFlow's profiler read as a file profile_<step>."""
        files = self._current()
        runs = [(step, files.read("run_meta_%d" % step)) for step in self._steps]
        return profile_proto(files.read("graph"), runs, files.read("tfprof_log"))


_MOST_TRACED, _WARM_UP = 100, 10
_VIEWS = {"graph": "profile_graph", "scope": "profile_name_scope", "op": "profile_operations", "code": "profile_python"}


class ProfileContext:
    """Records runs of TensorFlow's sessions while it is entered, and writes profile_<step> files, as tf.contrib.tfprof's did.

    A step is a run of a session. Those of `trace_steps` are recorded; without it, behind ten, runs that fetch what was not
    recorded before, and now and then another. `dump_steps` are those behind which a file is written, 100 without it.
    """

    def __init__(self, profile_dir: Union[str, "os.PathLike[str]"], trace_steps: Optional[Iterable[int]] = None,
                 dump_steps: Optional[Iterable[int]] = None, enabled: bool = True, debug: bool = False):
        if enabled and not profile_dir:
            raise ValueError("a profile needs a directory")
        self._enabled, self._debug, self._folder = enabled, debug, pathlib.Path(profile_dir or ".")
        self._trace_steps = set(trace_steps) if trace_steps is not None else set()
        self._is_automatic = trace_steps is None
        if len(self._trace_steps) > _MOST_TRACED:
            raise ValueError("at most %d steps are traced" % _MOST_TRACED)
        self._dump_steps = set(dump_steps) if dump_steps is not None else {_MOST_TRACED}
        self._traces_next = self._dumps_next = False
        self._step = self._traced = 0
        self._fetched: Set[str] = set()
        self._chance = random.Random(111)
        self._asked: List[Tuple[str, Options, Set[int]]] = []
        self._answers: Dict[str, Dict[int, Message]] = {}
        self._profiler: Optional[Profiler] = None
        self._lock = threading.Lock()
        self._run: Any = None

    @property
    def profiler(self) -> Optional[Profiler]:
        if self._enabled and self._profiler is None:
            self._profiler = Profiler()
        return self._profiler

    def trace_next_step(self) -> None:
        self._traces_next = True

    def dump_next_step(self) -> None:
        self._dumps_next = True

    def add_auto_profiling(self, cmd: str, options: Options, profile_steps: Iterable[int]) -> None:
        """Behind these steps, which are traced, the view is made; get_profiles gives it."""
        steps = set(profile_steps)
        self._asked.append((cmd, options, steps))
        self._trace_steps |= steps

    def get_profiles(self, cmd: str) -> Dict[int, Message]:
        """By step."""
        if cmd not in self._answers:
            raise ValueError("no view %r was asked for, or its steps have not run" % cmd)
        return self._answers[cmd]

    def _traces(self, step: int, fetches: Any) -> bool:
        if self._traced > _MOST_TRACED:
            return False
        if step in self._trace_steps or self._traces_next:
            return True
        if not self._is_automatic or step <= _WARM_UP:
            return False
        name = repr(fetches)
        if name not in self._fetched:
            self._fetched.add(name)
            return True
        return self._chance.randint(0, _MOST_TRACED) < 1

    def _trace(self, run: Any, session: Any, step: int, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        tensorflow = _tensorflow()
        options = options or tensorflow.RunOptions()
        run_metadata = run_metadata or tensorflow.RunMetadata()
        before, options.trace_level = options.trace_level, tensorflow.RunOptions.FULL_TRACE
        try:
            result = run(session, fetches, feed_dict, options, run_metadata)
        finally:
            options.trace_level = before
        self._traces_next = False
        self._traced += 1
        if self._debug:
            (self._folder / ("run_meta_%d" % step)).write_bytes(run_metadata.SerializeToString())
        if self._profiler is None:
            self._profiler = Profiler(session.graph)
        self._profiler._graph = session.graph
        self._profiler.add_step(step, run_metadata)
        return result

    def _settle(self, step: int) -> None:
        """What is to be done behind a step."""
        if self._profiler is None:
            return
        if step in self._dump_steps or self._dumps_next:
            self._dumps_next = False
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ("profile_%d" % step)).write_bytes(self._profiler.serialize_to_string())
        for cmd, options, steps in self._asked:
            if step in steps:
                self._answers.setdefault(cmd, {})[step] = getattr(self._profiler, _VIEWS[cmd])(options)

    def _step_of(self, run: Any, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any) -> Any:
        with self._lock:
            step, self._step = self._step, self._step + 1
            if not self._traces(step, fetches):
                result = run(session, fetches, feed_dict, options, run_metadata)
            else:
                result = self._trace(run, session, step, fetches, feed_dict, options, run_metadata)
            self._settle(step)
            return result

    def __enter__(self) -> "ProfileContext":
        if not self._enabled:
            return self
        if _tensorflow() is None:
            raise RuntimeError("ProfileContext records runs of TensorFlow's sessions, and TensorFlow has not been imported")
        base = sys.modules["tensorflow.python.client.session"].BaseSession
        run, self._run = base.run, base.run

        def traced(session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
            return self._step_of(run, session, fetches, feed_dict, options, run_metadata)

        base.run = traced
        return self

    def __exit__(self, *_: Any) -> None:
        if self._run is not None:
            sys.modules["tensorflow.python.client.session"].BaseSession.run = self._run
            self._run = None
