"""Keeps the advice of a recording in a run of Weights & Biases: the page, the findings as a table, an artifact, and numbers.

    with wandb.init(project="mine"):
        train()
        tfprof.wandb.log("logdir")
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any, Optional

import wandb

from . import Advice, Path
from ._tracking import ADVICE, COLUMNS, REPORT, collect, rows

__all__ = ["log"]


def log(*recording: Path, run: Optional["wandb.sdk.wandb_run.Run"] = None, name: str = "tfprof", **how: Any) -> Advice:
    """Into the active run, or `run`. Other options are those of `tfprof.advise`."""
    run = run or wandb.run
    if run is None:
        raise wandb.Error("no run is active: call wandb.init() first, or name one with run=")
    with tempfile.TemporaryDirectory() as folder:
        advice, numbers = collect(pathlib.Path(folder), recording, how)
        artifact = wandb.Artifact("%s-%s" % (name, run.id), type="tfprof", description=advice.verdict.text)
        artifact.add_file(str(pathlib.Path(folder, REPORT)))
        artifact.add_file(str(pathlib.Path(folder, ADVICE)))
        run.log_artifact(artifact)
        run.log({**{"%s/%s" % (name, number): value for number, value in numbers.items()},
                 name + "/report": wandb.Html(pathlib.Path(folder, REPORT).read_text(encoding="utf-8"), inject=False),
                 name + "/findings": wandb.Table(columns=COLUMNS, data=rows(advice))})
    return advice
