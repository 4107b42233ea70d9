#!/usr/bin/env python3
"""tests/bench/calibrate on numbers small enough to calculate by hand, then on recorded pairs.

    check_calibrate.py TFPROF PAIRS_DIR
"""
import importlib.machinery, importlib.util, math, pathlib, subprocess, sys

SCRIPT = pathlib.Path(__file__).parent / "bench" / "calibrate"


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("calibrate", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("calibrate", loader))
    loader.exec_module(module)
    return module


def row(method, residual, framework="jax", model=0.5, wild=False, where="host"):
    return {"where": where, "wild": wild, "method": method, "confidence": "high", "residual": residual, "framework": framework, "model": model,
            "truth": 1 / (1 + math.exp(-residual))}


def is_near(value, expected):
    return abs(value - expected) < 1e-9


def check_numbers(calibrate):
    # Weights 1, 1, 2 have their middles at 1/8, 3/8 and 3/4 of the whole: 1/2 is a third of the way from 2 to 3.
    assert is_near(calibrate.quantile([(3, 2), (1, 1), (2, 1)], 0.5), 2 + 1 / 3)
    assert calibrate.quantile([(3, 2), (1, 1), (2, 1)], 0.9) == 3
    # Eleven residuals of one cell, nothing to borrow: middles at 1/22, 3/22, …, 0.11, 1.21/11, is 0.71 of the way from -0.5 to -0.4.
    rows = [row("replay", i / 10) for i in range(-5, 6)]
    shift, low, high, count = calibrate.fit(rows)["host", "replay", "high"]
    assert is_near(shift, 0) and is_near(low, -0.429) and is_near(high, 0.429) and count == 11
    # A method with one pair leans on the eleven, which lend it ten: the middle of the seventh is at 6.5 * 10/11 of 11,
    # that of the sixth at 5.5 * 10/11 = 5; 5.5 is 0.55 of the way.
    table = calibrate.fit(rows + [row("amdahl", 5.0)])
    assert is_near(table["host", "amdahl", "high"][0], 0.055) and table["host", "amdahl", "high"][3] == 1
    # -0.429 to 0.429 hold nine of the eleven; the share is the widest around one half.
    held, width, near, plain = calibrate.judge(rows, lambda r: calibrate.fit(rows))
    assert is_near(held, 9 / 11) and is_near(width, 1 - 2 / (1 + math.exp(0.429)))
    assert near == plain == 1.0     # 0.5 is within 15 points of log odds of +-0.5, which are 38 and 62 %
    # Eleven wild ones at 2.0 are half of all: the range reaches them, the middle stays that of the others. Of a method that
    # only wild ones have they are the middle: eleven at 1.0, and ten of the others, whose middles lie below.
    table = calibrate.fit(rows + [row("replay", 2.0, wild=True)] * 11)
    assert is_near(table["host", "replay", "high"][0], 0) and table["host", "replay", "high"][2] == 2.0
    table = calibrate.fit(rows + [row("share", 1.0, wild=True)] * 11)
    assert table["host", "share", "high"][0] > 0.5 and is_near(table["host", "replay", "high"][0], 0)
    # The range of a bound begins at nothing and ends at 0.78: the middles of 0, 1, … 10 are at 0.5/11, 1.5/11, …, so
    # that 0.78, 8.58/11, is 8.08. What is expected is never more than the time that it names.
    table = calibrate.fit([row("share", float(i)) for i in range(11)])
    assert is_near(table["host", "share", "high"][2], 8.08)
    for method, expected in ("share", (0.5, 0, 0.9)), ("replay", (0.75, 0.5, 0.9)):     # odds of 1, 3 and 9
        said = calibrate.said(row(method, 0.0), {("host", method, "high"): (math.log(3), 0.0, math.log(9), 1)})
        assert all(map(is_near, said, expected))
    # Wild ones in the middle make no range narrower.
    table = calibrate.fit(rows + [row("replay", 0.0, wild=True)] * 11)
    assert is_near(table["host", "replay", "high"][1], -0.429) and is_near(table["host", "replay", "high"][2], 0.429)
    # With an accelerator the cells are those of such pairs, and without one those of all.
    table = calibrate.fit(rows + [row("replay", 3.0, where="device")] * 3)
    assert is_near(table["host", "replay", "high"][0], 0) and table["device", "replay", "high"][0] == 3.0
    assert is_near(calibrate.fit(rows)["device", "replay", "high"][0], 0)
    # What another flaw of the program saves is not this one's.
    assert calibrate.names("pack/cast-churn", ["cast-churn"]) and not calibrate.names("cast-churn", ["cast"])


def check_ledger(calibrate):
    """A half of the step by the method, two thirds achieved: ln(2) more in log odds. What could not be told is left out."""
    entry = {"rule": "r", "framework": "jax", "method": "replay", "confidence": "high", "outcome": "achieved", "same_work": True,
             "model_share": 0.5, "achieved_share": 2 / 3}
    assert is_near(calibrate.residual_of(entry)["residual"], math.log(2))
    assert calibrate.residual_of({**entry, "achieved_share": -0.2})["truth"] == 0
    assert calibrate.residual_of({**entry, "outcome": "untold"}) is None
    assert calibrate.residual_of({**entry, "same_work": False}) is None


def main():
    check_numbers(load())
    check_ledger(load())
    done = subprocess.run([SCRIPT, sys.argv[1], sys.argv[2]], capture_output=True, text=True)
    assert done.returncode == 0 and "its framework left out" in done.stdout, done.stdout + done.stderr
    none = subprocess.run([SCRIPT, sys.argv[1], pathlib.Path(sys.argv[2]) / "nowhere"], capture_output=True, text=True)
    assert none.returncode == 1 and "has a price" in none.stderr
    print("calibrate: right")


main()
