#!/usr/bin/env python3
"""tfprof watch on folders into which recordings are written here, in pieces too.

    check_watch.py TFPROF CASES
"""
import json, os, pathlib, shutil, subprocess, sys, tempfile, time

TFPROF, RECORDINGS = sys.argv[1], pathlib.Path(sys.argv[2], "recordings")
RUN = next((RECORDINGS / "tf2-input-sequential-map").glob("plugins/profile/*/*.xplane.pb"))
TRACE = next((RECORDINGS / "torch-loop-index").rglob("*.json*"))
faults = checks = 0


def expect(is_right, what):
    global faults, checks
    checks += 1
    if not is_right:
        faults += 1
        print(what)


def start(folder, *arguments):
    return subprocess.Popen([TFPROF, "watch", folder, "--interval", "0.2", *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def end(process):
    out, said = process.communicate(timeout=60)
    return process.returncode, out, said


def check_log_directory(place):
    """A run that is there is passed over; one that grows is read when it is whole, once; what advise says is said."""
    old = place / "plugins/profile/2020_01_01"
    old.mkdir(parents=True)
    shutil.copy(RUN, old / "h.xplane.pb")
    process = start(place, "--count", "1", "--format", "json", "--metrics", place / "m.prom", "--exec", "echo took $TFPROF_RECORDING")
    time.sleep(1)
    new = place / "plugins/profile/2021_01_01"
    new.mkdir()
    whole = RUN.read_bytes()
    with open(new / "h.xplane.pb", "wb") as file:
        for part in range(8):
            file.write(whole[part * len(whole) // 8:(part + 1) * len(whole) // 8])
            file.flush()
            time.sleep(0.1)
    status, out, said = end(process)
    lines = out.splitlines()
    expect((status, said, len(lines)) == (0, "", 2), f"{status}: {out}{said}")
    told = json.loads(lines[0])
    advice = json.loads(subprocess.run([TFPROF, "advise", "--format", "json", new], capture_output=True, text=True, check=True).stdout)
    expect(told["run"] == "2021_01_01" and abs(told["step_ms"] - advice["steps"]["wall_ms"]["median"]) < 1e-3, f"told {told}")
    expect(told["finding"]["rule"] == advice["findings"][0]["rule"], f"told {told['finding']}")
    expect(lines[1] == f"took {new / 'h.xplane.pb'}", lines[1])
    metrics = (place / "m.prom").read_text()
    expect(f'tfprof_step_seconds{{run="2021_01_01"}} {told["step_ms"] / 1e3:.4f}' in metrics and metrics.endswith("# EOF\n"), metrics)


def check_folder(place):
    """Traces of a folder are recordings of their own; what cannot be read says so, and watching goes on."""
    process = start(place, "--count", "2")
    time.sleep(0.5)
    (place / "a.json").write_text('{"traceEvents": [{"ph": "X", ')
    time.sleep(1)
    shutil.copy(TRACE, place / ("b" + "".join(TRACE.suffixes)))
    status, out, said = end(process)
    lines = out.splitlines()
    expect(status == 0 and len(lines) == 2 and "a.json" in lines[0] and "/b." in lines[1], f"{status}: {out}{said}")
    process = start(place, "--count", "2", "--old")
    expect(sorted(end(process)[1].splitlines()) == sorted(lines), "other lines of the same with --old")


def check_usage(place):
    expect(end(start(place / "none"))[0] == 3, "a folder that is not there")
    expect(end(start(place, place))[0] == 2, "two folders")
    expect(end(start(place, "--interval", "0"))[0] == 2, "an interval of nothing")


for check in (check_log_directory, check_folder, check_usage):
    with tempfile.TemporaryDirectory() as folder:
        check(pathlib.Path(os.path.realpath(folder)))
print(f"{checks} checks, {faults} faults")
sys.exit(faults > 0)
