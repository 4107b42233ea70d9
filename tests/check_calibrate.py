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


def row(method, residual, framework="jax", model=0.5):
    return {"method": method, "confidence": "high", "residual": residual, "framework": framework, "model": model,
            "truth": 1 / (1 + math.exp(-residual))}


def check_numbers(calibrate):
    # Weights 1, 1, 2: half of them is reached by the second value, all by the third.
    assert calibrate.quantile([(3, 2), (1, 1), (2, 1)], 0.5) == 2
    assert calibrate.quantile([(3, 2), (1, 1), (2, 1)], 0.51) == 3
    # Eleven residuals of one cell, nothing to borrow: the 6th in the middle, 1.375 and 9.625 of them at the ends.
    rows = [row("replay", i / 10) for i in range(-5, 6)]
    assert calibrate.fit(rows)["replay", "high"] == (0.0, -0.4, 0.4, 11)
    # A method with one pair leans on the eleven, which lend it ten: 5.5 of eleven are reached by the 7th of them.
    table = calibrate.fit(rows + [row("amdahl", 5.0)])
    assert table["amdahl", "high"][0] == 0.1 and table["amdahl", "high"][3] == 1
    assert table["replay", "high"][0] == 0.0        # 6 of twelve, the 6th
    # -0.4 to 0.4 hold nine of the eleven; the widest share is that of log odds of +-0.4 around one half.
    held, width, near, plain = calibrate.judge(rows, lambda r: calibrate.fit(rows))
    assert abs(held - 9 / 11) < 1e-9 and abs(width - (1 - 2 / (1 + math.exp(0.4)))) < 1e-9
    assert near == plain == 1.0     # 0.5 is within 15 points of log odds of +-0.5, which are 38 and 62 %
    # What another flaw of the program saves is not this one's.
    assert calibrate.names("pack/cast-churn", ["cast-churn"]) and not calibrate.names("cast-churn", ["cast"])


def main():
    check_numbers(load())
    done = subprocess.run([SCRIPT, sys.argv[1], sys.argv[2]], capture_output=True, text=True)
    assert done.returncode == 0 and "its framework left out" in done.stdout, done.stdout + done.stderr
    none = subprocess.run([SCRIPT, sys.argv[1], pathlib.Path(sys.argv[2]) / "nowhere"], capture_output=True, text=True)
    assert none.returncode == 1 and "has a price" in none.stderr
    print("calibrate: right")


main()
