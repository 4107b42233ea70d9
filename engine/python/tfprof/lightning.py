"""A callback of Lightning that records a few steps and says what to change.

    Trainer(callbacks=[tfprof.lightning.Advise("logdir")])
"""

from __future__ import annotations

from typing import Any, Callable, Optional

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:  # the package under its former name
    from pytorch_lightning.callbacks import Callback

from . import Advice, record

__all__ = ["Advise"]


class Advise(Callback):
    """Steps `first` to `first + count - 1` of all that are trained. `advice` is there behind them."""

    def __init__(self, directory: record.Directory, first: int = 10, count: int = 10, tell: Callable[[Advice], Any] = print):
        self._steps = record.Steps(record.torch, directory, first, count, tell)

    @property
    def advice(self) -> Optional[Advice]:
        return self._steps.advice

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._steps.begin()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self._steps.end()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._steps.finish()
