"""Keeps the advice of a recording in a run of MLflow: the page and the advice as artifacts, its numbers as metrics.

    with mlflow.start_run():
        train()
        tfprof.mlflow.log("logdir")
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any, Optional

import mlflow

from . import Advice, Path
from ._tracking import collect

__all__ = ["log"]


def log(*recording: Path, artifact_path: str = "tfprof", step: Optional[int] = None, run_id: Optional[str] = None, **how: Any) -> Advice:
    """Into the active run, or the one of `run_id`. Other options are those of `tfprof.advise`."""
    with tempfile.TemporaryDirectory() as folder:
        advice, numbers = collect(pathlib.Path(folder), recording, how)
        mlflow.log_artifacts(folder, artifact_path, run_id=run_id)
    # Names of metrics may hold no other signs.
    named = {"tfprof/" + "".join(c if c.isalnum() or c in "_-. /" else "_" for c in name): value for name, value in numbers.items()}
    mlflow.log_metrics(named, step=step, run_id=run_id)
    return advice
