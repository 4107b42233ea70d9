"""Records a few steps of a program with its framework's own profiler, for advice.

    from tfprof import record
    with record.jax("logdir") as recording:        # or record.torch, record.tensorflow
        for batch in batches:
            with recording.step():
                train_step(batch)
    print(recording.advise())
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from typing import Any, Callable, ContextManager, Iterator, Optional, Union

from . import Advice, advise

__all__ = ["Recording", "Steps", "jax", "tensorflow", "torch"]
Directory = Union[str, "os.PathLike[str]"]


class Recording:
    """Where what was recorded lies, and the mark that a step is put into."""

    def __init__(self, path: Directory, mark: Callable[[int], ContextManager[Any]]):
        self.path = pathlib.Path(path)
        self._mark = mark
        self._number = 0

    def step(self) -> ContextManager[Any]:
        self._number += 1
        return self._mark(self._number)

    def advise(self, **how: Any) -> Advice:
        """When the recording has ended."""
        return advise(self.path, **how)


@contextlib.contextmanager
def torch(directory: Directory, **how: Any) -> Iterator[Recording]:
    """Options are those of torch.profiler.profile. The recording is a Kineto trace in the directory."""
    from torch import profiler

    folder = pathlib.Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tfprof.pt.trace.json.gz"
    # Marks of the profiler itself begin at once and end late: with the next step, or with the recording.
    with profiler.profile(**{"record_shapes": True, **how}) as profile:
        yield Recording(path, lambda number: profiler.record_function("ProfilerStep#%d" % number))
    profile.export_chrome_trace(str(path))


@contextlib.contextmanager
def jax(directory: Directory) -> Iterator[Recording]:
    import jax as framework

    with framework.profiler.trace(os.fspath(directory)):
        yield Recording(directory, lambda number: framework.profiler.StepTraceAnnotation("train", step_num=number))


@contextlib.contextmanager
def tensorflow(directory: Directory) -> Iterator[Recording]:
    from tensorflow import profiler

    profiler.experimental.start(os.fspath(directory))
    try:
        yield Recording(directory, lambda number: profiler.experimental.Trace("train", step_num=number, _r=1))
    finally:
        profiler.experimental.stop()


class Steps:
    """Records `count` steps from the one numbered `first` on, for callbacks: begin and end are called around every step."""

    def __init__(self, recorder: Callable[..., ContextManager[Recording]], directory: Directory, first: int, count: int,
                 tell: Callable[[Advice], Any]):
        if first < 0 or count < 1:
            raise ValueError("first is a step's number from 0 on, count at least 1")
        self._recorder, self._directory, self._first, self._end, self._tell = recorder, directory, first, first + count, tell
        self._number = 0
        self._open: Optional[contextlib.ExitStack] = None
        self._step: Optional[ContextManager[Any]] = None
        self.recording: Optional[Recording] = None
        self.advice: Optional[Advice] = None

    def begin(self) -> None:
        if self._number == self._first and self.recording is None:
            self._open = contextlib.ExitStack()
            self.recording = self._open.enter_context(self._recorder(self._directory))
        if self._open is not None and self._step is None and self.recording is not None:
            self._step = self.recording.step()
            self._step.__enter__()

    def end(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None
        self._number += 1
        if self._number == self._end:
            self.finish()

    def finish(self) -> None:
        """Also where training ends before the last step."""
        if self._open is None or self.recording is None:
            return
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None
        opened, self._open = self._open, None
        opened.close()
        self.advice = self.recording.advise()
        self._tell(self.advice)
