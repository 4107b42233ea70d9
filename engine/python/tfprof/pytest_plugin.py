"""A fixture that fails a test where its recording does not pass a gate; installed with the package.

    def test_step_time(tfprof_gate, tmp_path):
        record_a_few_steps(tmp_path)
        tfprof_gate(tmp_path, baseline="perf/base.tfbase", budget=["step_ms.p50 <= 50"])
"""

from __future__ import annotations

from typing import Any, Callable

import pytest

from . import GateResult, gate

__all__ = ["tfprof_gate"]


@pytest.fixture
def tfprof_gate() -> Callable[..., GateResult]:
    """Runs and options as in tfprof.gate. What cannot be told fails too, unless inconclusive="pass" is given."""

    def check(*runs: Any, **how: Any) -> GateResult:
        result = gate(*runs, **how)
        if not result:
            checks = "\n".join("  %s: %s" % (check["outcome"], check["title"]) for check in result.json["checks"]
                               if check["outcome"] != "pass")
            pytest.fail("\n".join(filter(None, [result.headline, checks, result.warnings])), pytrace=False)
        return result

    return check
