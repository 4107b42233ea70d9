#!/usr/bin/python3
"""Summaries of ranks: they say what the recordings say, in any mix; merging in any order gives the same bytes; damage
and newer versions are told in a line.
    usage: check_ranks.py TFPROF CASES PROGRAMS"""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

from ranks_job import SKETCH, record

TFPROF, CASES, PROGRAMS = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
HERE = pathlib.Path(__file__).parent
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
# What is said of ranks, rather than of the one that stands for the job.
OF_RANKS = {"straggler-rank", "straggler-transient", "rank-variance", "collective-skew", "input-skew-across-hosts",
            "stage-imbalance", "rank-set-incomplete", "slow-link", "rank-pauses"}
# Priced alike: by a formula; what is replayed from recordings has another price without events.
CLOSE = 0.03
FORMAT_ERROR, USAGE, INCONCLUSIVE = 3, 2, 4


def run(*arguments, stdin=None):
    return subprocess.run([TFPROF, *map(str, arguments)], capture_output=True, check=False, env=ENVIRONMENT, input=stdin)


def summarize(folder, recordings):
    names = []
    for i, recording in enumerate(recordings):
        names.append(folder / f"{i}.ranks")
        done = run("summarize", recording, "-o", names[-1])
        assert done.returncode == 0, done.stderr
        size = names[-1].stat().st_size
        assert 2_000 < size < 200_000, (recording, size)
    return names


def findings(done):
    assert done.returncode == 0, done.stderr
    found = {}
    for finding in json.loads(done.stdout)["findings"]:
        subject = finding.get("subject") or {}
        impact = finding.get("impact") or {}
        found[finding["rule"]] = (subject.get("rank"), subject.get("host"), impact.get("method"), impact.get("share"))
    return found


def same(recorded, summed, about):
    assert recorded.keys() == summed.keys(), (about, recorded, summed)
    for rule, (rank, host, method, share) in recorded.items():
        if rule not in OF_RANKS:
            continue
        assert summed[rule][:2] == (rank, host), (about, rule, recorded, summed)
        if method == summed[rule][2] == "exposed" and share is not None:
            assert abs(share - summed[rule][3]) < CLOSE, (about, rule, recorded, summed)


def check_job(folder, recordings):
    """The same of the same ranks, from recordings, summaries, a mix, one merged file, and standard input."""
    folder.mkdir()
    summaries = summarize(folder, recordings)
    recorded = findings(run("advise", "--format", "json", *recordings))
    for inputs in (summaries, [summaries[0], *recordings[1:]], [*recordings[:-1], summaries[-1]], [folder]):
        same(recorded, findings(run("advise", "--format", "json", *inputs)), inputs)
    merged = run("merge", *summaries)
    assert merged.returncode == 0, merged.stderr
    same(recorded, findings(run("advise", "--format", "json", "-", stdin=merged.stdout)), "standard input")
    joined = b"".join(name.read_bytes() for name in summaries)
    same(recorded, findings(run("advise", "--format", "json", "-", stdin=joined)), "one behind the other")
    return recorded


def check_late_rank(folder):
    straggler = CASES / "recordings" / "torch-ddp-straggler" / "slow"
    recorded = check_job(folder / "late", sorted(straggler.glob("*.json.gz")))
    assert recorded["straggler-rank"][0] == 1, recorded  # the rank that sleeps, by the program's source
    for kind in ("slow", "fixed"):
        hosts = CASES / "pairs" / "tf2-multiworker-straggler-input" / kind
        recorded = check_job(folder / kind, sorted(hosts.glob("**/*.xplane.pb*")))
        assert kind == "fixed" or recorded["input-skew-across-hosts"][1] == "worker1", recorded
    for i, program in enumerate(sorted(PROGRAMS.glob("*ddp*"))):
        for kind in ("slow", "fixed", "profile"):
            recordings = sorted((program / kind).glob("*.json.gz"))
            if len(recordings) > 1:
                check_job(folder / f"{i}-{kind}", recordings)


def check_cause(folder):
    """Rank 3 of six computes 8 ms where the others take 5: its own work, and what of it, is named. A step is 9 ms."""
    summaries = summarize(folder, record(TFPROF, folder))
    table = json.loads(run("table", "rank_causes", "--format", "json", *summaries).stdout)
    rows = [dict(zip([column["name"] for column in table["columns"]], row)) if isinstance(row, list) else row
            for row in table["rows"]]
    assert len(rows) == 1, rows
    row = rows[0]
    assert (row["kind"], row["rank"], row["why"], row["cause"], row["ranks"]) == ("rank", 3, "compute", "slow", 1), row
    assert abs(row["own_ns"] - 8e6) < 2e5 and abs(row["usual_ns"] - 5e6) < 2e5 and abs(row["ns"] - 3e6) < 2e5, row
    advice = findings(run("advise", "--format", "json", *summaries))
    assert advice["straggler-rank"][0] == 3, advice
    wall = json.loads(run("advise", "--format", "json", *summaries).stdout)["steps"]["wall_ms"]
    assert 8.9 < wall["min"] <= wall["median"] <= wall["max"] < 9.1, wall
    return summaries


def check_why(folder, summaries):
    """What `why` tells of late ranks from recordings it tells from summaries, and from a mix."""
    recordings = sorted(folder.glob("run-*.json"))
    schema = json.loads((HERE.parent / "docs" / "why.schema.json").read_text(encoding="utf-8"))

    def ask(*arguments):
        done = run("why", *arguments, "--format", "json")
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        jsonschema.validate(answer, schema)
        return answer
    recorded = ask(*recordings, "collective:(?i)reduce")
    for inputs in (summaries, [*recordings[:3], *summaries[3:]]):
        summed = ask(*inputs, "collective:reduce")
        for key, close in (("duration_ms", 0.02), ("start_ms", 0.1)):  # from begins of steps, which differ from rank to rank
            assert abs(summed[key] - recorded[key]) < close, (key, recorded[key], summed[key])
        assert summed["step"] == recorded["step"] and "rank 3 comes later than rank 0" in summed["subject"], summed["subject"]
        cause, same_cause = summed["causes"][0], recorded["causes"][0]
        assert (cause["class"], cause["name"]) == (same_cause["class"], same_cause["name"]) == ("compute", "slow"), cause
        excess = [one["ms"] - one["usual_ms"] for one in (cause, same_cause)]
        assert abs(excess[0] - 3) < 0.02 and abs(excess[1] - 3) < 0.02, excess
        for late, other in zip(summed["late"], recorded["late"], strict=True):
            assert (late["step"], late["rank"]) == (other["step"], other["rank"]) and \
                abs(late["late_ms"] - other["late_ms"]) < 0.02, (late, other)
    step = ask(*summaries, "step:5")
    assert step["subject"].startswith("step 5 on rank ") and abs(step["duration_ms"] - 9) < 0.1, step
    for question in ("gap", "op:mm", "kernel:slow"):
        one_line(run("why", *summaries, question), USAGE, "summaries of ranks hold no events")
    one_line(run("why", *summaries, "collective:nothing"), INCONCLUSIVE, "no such collective")
    one_line(run("why", *summaries, "step:77"), USAGE, "step 77")


def check_whatif(folder, summaries):
    """Five ranks compute 5 ms, rank 3 8 ms, then all reduce for 1 ms: a step of 9 ms. Also from a merged file."""
    merged = folder / "whatif.ranks"
    assert run("merge", *summaries, "-o", merged).returncode == 0

    def ask(*arguments):
        done = run("whatif", *arguments, "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    for inputs in (summaries, [merged]):
        for edits, step in ((["--level"], 6), (["--rank", "3=median"], 6), (["--network", "x2"], 8.5), (["--drop", "comm"], 8),
                            (["--scale", "kernel=0.5"], 5), (["--drop", "kernel:slow"], 6), (["--no-input-wait"], 9),
                            (["--scale", "kernel=0.5", "--on-rank", "3"], 6), (["--scale", "kernel=2", "--on-rank", "0"], 11)):
            answer = ask(*inputs, *edits)
            assert answer["steps"] == 12 and answer["replay_error"] < 0.001, answer
            assert abs(answer["together"]["step_ms"] - step) < 0.05, (edits, step, answer)
            assert abs(sum(answer["together"]["parts_ms"].values()) - answer["together"]["step_ms"]) < 1e-3, answer
        answer = ask(*inputs, "--efficiency")
        assert abs(answer["imbalance"] - 1.5) < 0.01, answer  # 9 over 6
        row = answer["ranks"][0]
        assert row["rank"] == 3 and abs(row["contribution"] - 1) < 0.01 and abs(row["slowdown"] - 1.5) < 0.01, answer
        facts = json.loads(run("table", "rank_delays", *inputs, "--format", "json").stdout)
        assert [one["rank"] for one in facts["rows"]][0] == 3, facts
    one_line(run("whatif", merged, "--drop", "kernel:nothing"), USAGE, "selects nothing")
    one_line(run("whatif", merged, "--rank", "77=median"), USAGE, "rank 77")


def check_merge(folder, summaries):
    """Any order, any tree, again and again: the same bytes."""
    first = run("merge", *summaries).stdout
    assert first
    for order in itertools.islice(itertools.permutations(summaries), 0, 720, 97):
        assert run("merge", *order).stdout == first, order
    left, right = folder / "left.ranks", folder / "right.ranks"
    for cut in range(1, len(summaries)):
        assert run("merge", *summaries[:cut], "-o", left).returncode == 0
        assert run("merge", *summaries[cut:], "-o", right).returncode == 0
        assert run("merge", right, left).stdout == first, cut
        assert run("merge", right, left, summaries[0], left).stdout == first, cut


def one_line(done, status, *words):
    text = done.stderr.decode()
    assert done.returncode == status and text.count("\n") == 1, (done.returncode, text)
    assert all(word in text for word in words), text


def check_damage(folder, summary):
    """Every byte counts: cut or changed anywhere, a summary is refused, with its name."""
    good = summary.read_bytes()
    bad = folder / "bad.ranks"
    for end in (*range(15, 60), *range(60, len(good), len(good) // 40)):
        bad.write_bytes(good[:end])
        one_line(run("advise", bad), FORMAT_ERROR, "bad.ranks")
    for at in range(20, len(good), len(good) // 60):
        bad.write_bytes(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1:])
        done = run("advise", bad)
        assert done.returncode == FORMAT_ERROR, (at, done.stderr)
    newer = good.replace(b"tfprof.ranks\x10\x01", b"tfprof.ranks\x10\x02", 1)
    assert newer != good
    bad.write_bytes(newer)
    one_line(run("merge", bad), FORMAT_ERROR, "format 2", "reads 1", "newer")
    one_line(run("merge", summary, HERE / "check_ranks.py"), FORMAT_ERROR, "summarize")
    for command in (["why", summary, "gap"], ["timeline", summary], ["whatif", summary, "--merge", "kernel"],
                    ["whatif", summary, "--edit", "scale parts=host factor=0.5"], ["scope", summary]):
        one_line(run(*command), USAGE, "summaries of ranks hold no events")
    one_line(run("advise", summary, "--steps", "1"), USAGE, "--steps")


def check_twice(folder, summaries):
    """A rank of two runs is no job."""
    other = summarize(folder, record(TFPROF, folder, sketch=SKETCH.replace("x12", "x13"))[2:3])
    one_line(run("advise", *summaries, *other), USAGE, "rank 2")


def peak(*arguments):
    """What a command printed, and the most memory it took."""
    process = subprocess.Popen([TFPROF, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    out, said = process.stdout.read(), process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    return json.loads(out), usage.ru_maxrss


def worth_telling(report):
    """Rules in their order; what is worth less than text shows of a step is told by the events of recordings alone."""
    return [finding["rule"] for finding in report["findings"] if finding["impact"].get("share", 1) >= 0.005]


def check_many(folder):
    """Many recordings are summarized one after the other: the same answer as from summaries, in memory that does not grow."""
    most = {}
    for ranks in (32, 64):
        sketch = SKETCH.replace("ranks 6", f"ranks {ranks}").replace("to 5", f"to {ranks - 1}").replace("x12", "x200")
        paths = record(TFPROF, folder / str(ranks), sketch=sketch.replace("group 6", f"group {ranks}"))
        assert len(paths) == ranks
        direct, most[ranks] = peak("advise", folder / str(ranks), "--format", "json")
        assert "each was summarized" in str(direct["profile"]["notes"]), direct["profile"]
        summary = folder / f"{ranks}.ranks"
        assert run("summarize", folder / str(ranks), "-o", summary).returncode == 0
        summed, _ = peak("advise", summary, "--format", "json")
        assert {key: value for key, value in direct.items() if key != "profile"} == \
            {key: value for key, value in summed.items() if key != "profile"}
        assert any(finding["rule"] == "straggler-rank" and finding["subject"]["rank"] == 3 for finding in direct["findings"])
    assert most[64] < 1.3 * most[32], most
    # As an object store hands it over: a recording, and then its summary, through pipes.
    paths = sorted((folder / "32").glob("*.json"))[:2]
    sums = [run("summarize", "-", stdin=path.read_bytes()).stdout for path in paths]
    piped = json.loads(run("advise", "-", "--format", "json", stdin=b"".join(sums)).stdout)
    given = json.loads(run("advise", *paths, "--format", "json").stdout)
    assert worth_telling(piped) == worth_telling(given)
    # A log directory of runs: those of the newest are ranks.
    nested = folder / "logs" / "2026_01_01_00_00_00"
    nested.parent.mkdir()
    (folder / "32").rename(nested)
    assert run("summarize", nested.parent, "-o", folder / "nested.ranks").returncode == 0
    assert (folder / "nested.ranks").read_bytes() == (folder / "32.ranks").read_bytes()
    nested.rename(folder / "32")
    # What needs events reads them.
    assert run("why", folder / "32", "step:slowest").returncode == 0
    assert b"each was summarized" not in run("advise", folder / "32", "--steps", "2:9", "--format", "json").stdout


def check_groups(folder):
    """Collectives of two process groups stay two where nothing numbers them."""
    folder.mkdir()
    events = []
    for step in range(3):
        at = 1000 * step
        events.append({"ph": "X", "name": f"ProfilerStep#{step}", "cat": "user_annotation", "pid": 1, "tid": 1, "ts": at, "dur": 990})
        for turn, group in enumerate(("data", "tensor")):
            events.append({"ph": "X", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "cat": "kernel", "pid": 0, "tid": 7,
                           "ts": at + 100 + 300 * turn, "dur": 200,
                           "args": {"device": 0, "stream": 7, "Collective name": "allreduce", "In msg nelems": 1024, "dtype": "Float",
                                    "Group size": 2, "Process Group Name": group}})
    (folder / "rank0.json").write_text(json.dumps({
        "schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 4}, "traceEvents": events,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}]}), encoding="utf-8")
    (summary,) = summarize(folder, [folder / "rank0.json"])
    body = summary.read_bytes()
    assert b"\x04data" in body and b"\x06tensor" in body, "names of groups with their lengths"


def check_protobuf(summary):
    """The bytes are what proto/rank_summary.proto says, by protoc."""
    done = subprocess.run(["protoc", f"--proto_path={HERE.parent / 'proto'}", "--decode=tfprof.ranks.RankFile",
                           "rank_summary.proto"], input=summary.read_bytes(), capture_output=True, check=True)
    assert done.stdout.startswith(b'schema: "tfprof.ranks"\nversion: 1\nrank {\n'), done.stdout[:80]
    body = summary.read_bytes()
    at = body.index(b"\x08\x00\x12")  # rank 0, whose number is the first field of its record
    assert at > 0


def check_made_job(folder):
    """A job that is simulated: without noise a step is 80 ms x 1.25 + 5 ms of the slow rank, 2/5 ms with the neighbour on its
    machine, 6 ms with its stage and 0.5 ms with all, 111.9 ms. Rank 17 of 17 on two stages is left over."""
    folder.mkdir()
    sketch, job = folder / "slow.job", folder / "slow.ranks"

    def make(lines):
        sketch.write_text("# a job\n\njob 17\nstages 2\nmachine 2\nsteps 20\n" + lines, encoding="utf-8")
        return run("synth", sketch, "-o", job)
    assert make("slow_rank 3 25%\n").returncode == 0
    told = json.loads(run("advise", job, "--format", "json").stdout)
    assert told["profile"]["hosts"] == 16 and abs(told["steps"]["wall_ms"]["median"] - 111.9) < 1e-6, told["steps"]
    assert [(part["part"], round(part["ms"], 3)) for part in told["composition"]] == \
        [("compute", 100), ("communication", 6.9), ("host", 5)], told["composition"]
    assert findings(run("advise", job, "--format", "json"))["straggler-rank"][0] == 3
    check_protobuf(job)
    for lines, where in (("slow_rank 16 25%", "16 ranks"), ("slow_rank 3", "a share is expected"), ("slow_rank 3 25% 4", "ends before"),
                         ("pauses 3 40ms", "'every' is expected"), ("compute 3", "a time is expected"), ("steps 9", "said already"),
                         ("fast_rank 3 25%", "begins no line"), ("meet 2000s", "out of range"),
                         ("slow_pair 3 6ms", "in the last stage"), ("uneven 5ms\n" * 17, "at most 16 faults")):
        done = make(lines + "\n")
        assert done.returncode == USAGE and where in done.stderr.decode().split("\n")[0], (lines, done.stderr)
    one_line(run("synth", sketch, "-o", folder / "slow.json"), USAGE, "slow.json")


with tempfile.TemporaryDirectory() as name:
    here = pathlib.Path(name)
    check_late_rank(here)
    ranks = check_cause(here / "cause")
    check_why(here / "cause", ranks)
    check_whatif(here, ranks)
    check_merge(here, ranks)
    check_damage(here, ranks[0])
    check_twice(here / "twice", ranks)
    check_protobuf(ranks[0])
    check_groups(here / "groups")
    check_made_job(here / "made")
    (here / "many").mkdir()
    check_many(here / "many")
