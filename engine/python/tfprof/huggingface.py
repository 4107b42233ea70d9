"""A callback of Hugging Face's Trainer that records a few steps and says what to change.

    Trainer(..., callbacks=[tfprof.huggingface.Advise("logdir")])
"""

from __future__ import annotations

from typing import Any, Callable, Optional

from transformers import TrainerCallback

from . import Advice, record

__all__ = ["Advise"]


class Advise(TrainerCallback):
    """Steps `first` to `first + count - 1` of all that are trained. `advice` is there behind them."""

    def __init__(self, directory: record.Directory, first: int = 10, count: int = 10, tell: Callable[[Advice], Any] = print):
        self._steps = record.Steps(record.torch, directory, first, count, tell)

    @property
    def advice(self) -> Optional[Advice]:
        return self._steps.advice

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._steps.begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._steps.end()

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._steps.finish()
