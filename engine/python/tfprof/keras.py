"""A callback of Keras that records a few steps of `fit` and says what to change.

    model.fit(data, callbacks=[tfprof.keras.Advise("logdir")])
"""

from __future__ import annotations

from typing import Any, Callable, Optional

import keras

from . import Advice, record

__all__ = ["Advise"]
_RECORDERS = {"tensorflow": record.tensorflow, "jax": record.jax, "torch": record.torch}


class Advise(keras.callbacks.Callback):
    """Steps `first` to `first + count - 1` of all that are trained. `advice` is there behind them."""

    def __init__(self, directory: record.Directory, first: int = 10, count: int = 10, tell: Callable[[Advice], Any] = print):
        super().__init__()
        self._steps = record.Steps(_RECORDERS[keras.backend.backend()], directory, first, count, tell)

    @property
    def advice(self) -> Optional[Advice]:
        return self._steps.advice

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._steps.begin()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._steps.end()

    def on_train_end(self, logs: Any = None) -> None:
        self._steps.finish()
