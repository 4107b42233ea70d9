#!/usr/bin/env python3
"""Whether anyone can check what a finding was priced by.

    check_edits.py TFPROF FOLDER...

For each finding that says its edits, `tfprof whatif` with them must give the saving that the finding's model has;
more where the finding is limited by the time it is about, never less.
"""
import json, pathlib, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

NEAR = 1.1e-5  # six digits are printed


def answer(*arguments):
    done = subprocess.run([*map(str, arguments), "--format=json"], capture_output=True, text=True)
    return json.loads(done.stdout)


def check(tfprof, recording):
    wrong, equal, limited = [], 0, 0
    for finding in answer(tfprof, "advise", recording, "--preset=all", "--config=none")["findings"]:
        if "edits" not in finding or "model_ms" not in finding["impact"]:
            continue
        said = answer(tfprof, "whatif", recording, *["--edit=" + edit for edit in finding["edits"]])["together"]
        model_ms, saved_ms = finding["impact"]["model_ms"], said["saved_ms"]
        if abs(model_ms - saved_ms) <= NEAR * max(model_ms, saved_ms) + 1.1e-6:
            equal += 1
        elif model_ms < saved_ms:
            limited += 1
        else:
            wrong.append("%s %s: the finding's model saves %g ms, its edits %g ms" % (
                recording, finding["rule"], model_ms, saved_ms))
    return wrong, equal, limited


def main():
    tfprof, folders = sys.argv[1], map(pathlib.Path, sys.argv[2:])
    recordings = sorted(path for folder in folders for path in folder.rglob("*")
                        if path.is_dir() and path.name in ("slow", "fixed"))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda path: check(tfprof, path), recordings))
    wrong = [line for result in results for line in result[0]]
    equal, limited = sum(result[1] for result in results), sum(result[2] for result in results)
    print("\n".join(wrong))
    print("%d findings say what whatif says of their edits, %d are limited to less" % (equal, limited))
    sys.exit(bool(wrong) or not equal)


if __name__ == "__main__":
    main()
