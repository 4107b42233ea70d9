#!/usr/bin/env python3
"""A gate passes nothing that it could not judge: rules that failed, and baselines that lost what they held.
    usage: check_gate_trust.py TFPROF"""
import copy
import json

from synthetic import HEAD, body, expect, finish, pack, read, run, synth, write

FORMATS = ["text", "json", "markdown", "github", "sarif", "junit", "gitlab", "tap"]


def check_rules():
    pack("bad", 'error("broke")')
    held = ("gate", "g.json", "--rules", "bad", "--only", "bad")
    for form in FORMATS:
        status, out, err = run(*held, "--budget", "findings.error == 0", "--format", form)
        expect(status == 4 and "bad/r" in out and "broke" in out, f"as {form}: status {status}: {out}")
        expect("rule failed: bad/r" in err, f"as {form}: on standard error: {err!r}")
    expect(run(*held, "--budget", "findings.bad/r == 0")[0] == 4, "a budget of that rule")
    expect(run(*held, "--budget", "findings.error == 0", "--rule-errors", "fail")[0] == 5, "--rule-errors fail")
    status, out, _ = run(*held, "--budget", "step_ms.p50 <= 100")
    expect(status == 0 and "1 rule failed" in out, f"what does not count findings passes with a warning: {status} {out}")
    status, out, _ = run("gate", "g.json", "--rules", "bad", "--fail-on", "error", "--baseline", "g.tfbase")
    expect(status == 4 and "1 rule failed" in out, f"--fail-on: {status} {out}")
    status, _, err = run("baseline", "g.json", "--rules", "bad", "-o", "failed.tfbase")
    expect(status == 0 and "rule failed: bad/r" in err, f"a baseline says it: {status} {err}")
    expect(run("baseline", "g.json", "--rules", "bad", "-o", "-", "--rule-errors", "fail")[0] == 5, "or fails")
    status, out, _ = run("gate", "g.json", "--fail-on", "error", "--baseline", "failed.tfbase")
    expect(status == 4 and "when the baseline was written" in out.replace("\n", " "), f"and a gate knows: {status} {out}")


def changed(path, *keys, value=None, name=None):
    """The baseline with one member set, renamed or, without either, taken away."""
    baseline = json.loads(read(path))
    place = baseline
    for key in keys[:-1]:
        place = place[key]
    old = place.pop(keys[-1])
    if value is not None:
        if isinstance(place, list):
            place.insert(keys[-1], value)
        else:
            place[keys[-1]] = value
    elif name:
        place[name] = old
    return json.dumps(baseline)


def check_baseline():
    status, out, _ = run("gate", "more.json", "--baseline", "g.tfbase")
    expect(status == 1, f"one launch more fails: {status} {out}")
    baseline = json.loads(read("g.tfbase"))
    counts = baseline["runs"][0]["counts"]
    launches = next(i for i, count in enumerate(counts) if count["name"] == "kernels")
    one = ("runs", 0, "counts", launches)
    damaged = [changed("g.tfbase", key) for key in ("identity", "runs", "facts", "items", "findings")]
    damaged += [changed("g.tfbase", "runs", 0, key) for key in ("name", "step_ms", "counts")]
    damaged += [changed("g.tfbase", "identity", key) for key in ("format", "devices", "step_source", "work")]
    damaged += [changed("g.tfbase", "items", key) for key in ("path", "ops", "kernels", "syncs")]
    damaged += [changed("g.tfbase", *one, "value"), changed("g.tfbase", *one, "value", name="valu")]
    damaged += [changed("g.tfbase", *one, "value", value=value) for value in ([], "20", 1e308, -1, True)]
    damaged += [changed("g.tfbase", *one, value={**counts[launches], "low": -1e9, "high": 1e9}),
                changed("g.tfbase", *one, value={**counts[launches], "low": 21, "high": 22}),
                changed("g.tfbase", "runs", 0, "step_ms", value=[1, None]),
                changed("g.tfbase", "runs", 0, "step_ms", value={}),
                changed("g.tfbase", "facts", "step.count", value=[1, 2]),
                read("g.tfbase").decode() * 2, read("g.tfbase").decode() + "x",
                read("g.tfbase").decode().rstrip()[:-1] + ', "runs": []}']
    for i, text in enumerate(damaged):
        write("damaged.tfbase", text)
        status, out, err = run("gate", "more.json", "--baseline", "damaged.tfbase")
        expect(status == 3 and "damaged.tfbase:" in err, f"damaged baseline {i}: status {status}: {out}{err}")
    kept = copy.deepcopy(baseline)
    kept["new_member"] = kept["runs"][0]["new_member"] = {"a": [1, "b"]}
    write("newer.tfbase", json.dumps(kept))
    expect(run("gate", "g.json", "--baseline", "newer.tfbase")[0] == 0, "members that are not known are passed over")
    kept["runs"][0]["counts"] = []
    write("countless.tfbase", json.dumps(kept))
    status, out, _ = run("gate", "g.json", "--baseline", "countless.tfbase")
    expect("kernels a step: 20, not in the baseline" in out and "with a warning" in out, f"counts it lacks: {out}")


def main():
    synth("g.json", HEAD + "step x12\n" + body(20))
    synth("more.json", HEAD + "step x12\n" + body(21))
    run("baseline", "g.json", "-o", "g.tfbase")
    check_rules()
    check_baseline()


finish(main)
