#!/usr/bin/env python3
"""The Python module against the program: the same answers, errors by kind, tables without copies, threads.

    check_python.py TFPROF LIBRARY RECORDING...     LIBRARY: libtfprof.so.1, or "installed" for a wheel's own module

Without the package cffi it is skipped (status 77).
"""
import contextlib, json, os, pathlib, re, subprocess, sys, tempfile, threading, time

try:
    import cffi  # noqa: F401
except ImportError:
    print("skipped: no package cffi")
    sys.exit(77)
tfprof_program, library, *recordings = sys.argv[1:]
if library != "installed":
    os.environ["TFPROF_LIBRARY"] = library
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "engine/python"))
import tfprof


def said(*arguments):
    return json.loads(subprocess.run([tfprof_program, *map(str, arguments)], capture_output=True, check=True).stdout)


def raises(kind, part, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        assert re.search(part, str(error)), error
    else:
        raise AssertionError("%s does not raise" % function)


def check_recording(path):
    wanted = said("advise", path, "--format", "json", "--config", "none")
    with tfprof.open(path) as profile:
        advice = profile.advise()
        assert advice.json == wanted
        assert [finding.rule for finding in advice] == [finding["rule"] for finding in wanted["findings"]]
        for finding, item in zip(advice, wanted["findings"]):
            assert (finding.impact.mid_ms, finding.remedy) == (item["impact"].get("mid_ms"), item["remedy"]["text"])
            assert len(finding.evidence) == len(item["evidence"])
        for name in profile.tables:
            table = profile.table(name)
            rows = said("table", name, path, "--format", "json")
            assert table.rows == rows["rows"] and table.units == {c["name"]: c["unit"] for c in rows["columns"]}
        facts = profile.facts
        assert len(list(facts)) == len(facts) > 5 and all(facts[name].name == name for name in facts)


def check_answers(path):
    with tfprof.open(path, steps="5:9") as profile:
        assert profile.info() == said("info", path, "--steps", "5:9", "--format", "json")
        assert profile.whatif(scale={"host": 0.5}, no_input_wait=True) == said(
            "whatif", path, "--steps", "5:9", "--format", "json", "--scale", "host=0.5", "--no-input-wait")
        assert profile.why("step:slowest") == said("why", path, "step:slowest", "--steps", "5:9", "--format", "json")
        assert profile.tool("overview") == said("overview", path, "--steps", "5:9", "--format", "json")
        top = profile.table("ops", columns=["name", "self_ns"], where=["self_ns>1us"], sort="self_ns", top=2).rows
        assert top == said("table", "ops", path, "--steps", "5:9", "--format", "json", "--columns", "name,self_ns",
                           "--where", "self_ns>1us", "--sort", "self_ns", "--top", "2")["rows"]
        assert profile.report() == subprocess.run([tfprof_program, "report", path, "--steps", "5:9", "-o", "-"], capture_output=True, check=True).stdout.decode()
    assert tfprof.explain("input-bound-step") == said("explain", "input-bound-step", "--format", "json", "--config", "none")
    edits = next(f.edits for f in tfprof.advise(path) if f.edits)
    assert tfprof.whatif(path, *edits) == said("whatif", path, "--format", "json", *["--edit=" + edit for edit in edits])
    assert tfprof.diff(path, path) == said("diff", path, path, "--format", "json")
    failed = tfprof.gate(path, budget=["findings.total < 0"])
    assert failed.status == 1 and not failed and failed.headline.startswith("Failed")
    # A name of a recording is text on a page and never markup.
    page = tfprof.advise(path)._repr_html_()
    assert page.startswith("<div") and tfprof.advise(path)[0].title.replace("<", "&lt;")[:10] in page


def check_files(path):
    """Commands that read by themselves."""
    root = pathlib.Path(__file__).resolve().parent.parent / "cases"
    pair = [str(root / "pairs/jax-onehot-embedding" / side) for side in ("slow", "fixed")]
    with tempfile.TemporaryDirectory() as folder:
        kept = os.path.join(folder, "1.tfbase")
        assert tfprof.baseline(path, reason="first", output=kept) == subprocess.run(
            [tfprof_program, "baseline", path, "--reason", "first", "--config", "none"], capture_output=True, check=True).stdout
        assert tfprof.gate(path, baseline=kept).passed
        tfprof.baseline(path, output=os.path.join(folder, "2.tfbase"))
        assert tfprof.history(folder, metric=["step_ms.p50"]) == said("history", folder, "--format", "json", "--metric", "step_ms.p50")
    rule = tfprof.advise(pair[0])[0].rule
    done = subprocess.run([tfprof_program, "verify", *pair, "--claimed", rule, "--format", "json", "--config", "none"], capture_output=True)
    verified = tfprof.verify(*pair, claimed=rule)
    assert (verified.status, verified.json) == (done.returncode, json.loads(done.stdout)) and bool(verified) == (done.returncode == 0)
    assert tfprof.view("scope", pair[0], select="micros", max_depth=3) == said(
        "scope", pair[0], "-select", "micros", "-max_depth", "3", "--format", "json")
    with tempfile.TemporaryDirectory() as folder:
        for kind, suffix, cut in ("perfetto", "pftrace", {}), ("chrome", "json", {"around": "step:slowest"}), ("csv", "csv", {"finding": 1}):
            file = os.path.join(folder, "t." + suffix)
            subprocess.run([tfprof_program, "timeline", pair[0], "-o", file, "--config", "none",
                            *["--%s=%s" % item for item in cut.items()]], check=True)
            wanted = pathlib.Path(file).read_bytes()
            assert tfprof.timeline(pair[0], file + "2", format=kind, **cut) == wanted == pathlib.Path(file + "2").read_bytes() != b""
        ranks = root / "recordings/torch-ddp-straggler/slow"
        kept = os.path.join(folder, "job.ranks")
        assert tfprof.summarize(ranks, output=kept) == subprocess.run(
            [tfprof_program, "summarize", ranks], capture_output=True, check=True).stdout == tfprof.summarize(kept)
        assert tfprof.advise(kept).json == said("advise", kept, "--format", "json", "--config", "none")
    with tfprof.open(pair[0]) as profile:
        raises(tfprof.UsageError, "give one", profile.timeline, around="gap", finding=1)
        assert profile.hlo() == said("hlo", pair[0], "--format", "json")
        raises(tfprof.UsageError, "--format dot", profile.hlo, format="dot")
    raises(tfprof.InputError, "nowhere", tfprof.summarize, "nowhere")
    raises(tfprof.UsageError, "no view", tfprof.view, "scopes", path)
    raises(tfprof.UsageError, "command line alone", tfprof.view, "scope", path, color="never")
    raises(tfprof.UsageError, "no-such-rule", tfprof.verify, *pair, claimed="no-such-rule")


RECORD = """
import json, os, sys
step = 1000 * int(open("ms").read())
events = [{"ph": "X", "name": name, "cat": kind, "pid": 1, "tid": 1, "ts": 1000 + i * step, "dur": step} for i in range(8)
          for name, kind in (("ProfilerStep#%d" % i, "user_annotation"), ("aten::mm", "cpu_op"))]
json.dump({"schemaVersion": 1, "traceEvents": events, "deviceProperties": []}, open(os.environ["TFPROF_RECORDING"], "w"))
"""


def check_bisect():
    """Of four revisions the third is slower."""
    def git(*words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", folder, *words], capture_output=True, check=True,
                              text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        git("init", "-q")
        pathlib.Path(folder, "record.py").write_text(RECORD)
        revisions = []
        for number, ms in enumerate((10, 10, 15, 15)):
            pathlib.Path(folder, "ms").write_text("%d" % ms)
            git("add", "-A")
            git("commit", "-q", "--allow-empty", "-m", "number %d" % number)
            revisions.append(git("rev-parse", "--short", "HEAD"))
        heard = []
        found = tfprof.bisect(revisions[0], sys.executable + " record.py", repository=folder, progress=heard.append)
        assert "run 1: %s  10.0 ms" % revisions[0] in heard and "reading" in heard, heard
        assert found and (found.status, found.json["revision"]) == (0, revisions[2]), found
        alike = tfprof.bisect(revisions[0], sys.executable + " record.py", bad=revisions[1], repository=folder)
        assert not alike and alike.status == 4, alike
        raises(tfprof.UsageError, "is no revision", tfprof.bisect, "-1", "true")


def check_progress(path):
    """Stages are heard by whoever is named, in the thread that asks, and by nobody else."""
    heard = []
    assert tfprof.advise(path, progress=lambda stage: heard.append((stage, threading.get_ident()))).json == tfprof.advise(path).json
    assert heard == [(stage, threading.get_ident()) for stage in ("reading", "analysing", "running rules")], heard
    heard.clear()
    with tfprof.open(path, progress=heard.append) as profile:
        assert heard == ["reading", "analysing"], heard
        profile.whatif(scale={"host": 0.5})
        assert heard[2:] == ["replaying steps"], heard
        others = []
        thread = threading.Thread(target=lambda: others.append(tfprof.open(path)))
        thread.start()
        thread.join()
        assert len(heard) == 3 and len(others) == 1
    heard.clear()
    tfprof.gate(path, budget=["findings.total < 0"], progress=heard.append)
    assert heard[:1] == ["reading"], heard
    raises(ZeroDivisionError, "", tfprof.advise, path, progress=lambda stage: 1 / 0)
    raises(tfprof.InputError, "nowhere", tfprof.advise, "nowhere", progress=heard.append)


def check_options():
    """Options of reading are told from those of questions, all of them."""
    rows = (pathlib.Path(__file__).resolve().parent.parent / "engine/cli/input_options.def").read_text()
    names = {name.replace("-", "_") for name in re.findall(r'\.name = "([a-z-]+)"', rows)}
    assert names - {"list"} == set(tfprof._READING) - {"progress"}, names ^ set(tfprof._READING)
    assert tfprof.rules() == said("rules", "--format", "json", "--config", "none")


def check_errors(path):
    raises(tfprof.InputError, "nowhere", tfprof.open, "nowhere")
    raises(OSError, "nowhere", tfprof.advise, "nowhere")
    raises(tfprof.UsageError, "did you mean", tfprof.advise, path, min_impcat="1%")
    raises(tfprof.UsageError, "nothing to hold", tfprof.gate, path)
    raises(tfprof.LimitError, "memory", tfprof.open, path, memory=1000)
    raises(tfprof.FormatError, "", tfprof.open, __file__)
    profile = tfprof.open(path)
    raises(tfprof.InconclusiveError, "no table kernels", profile.table, "kernels")
    raises(KeyError, "no.such", profile.facts.__getitem__, "no.such")
    profile.close()
    profile.close()
    raises(tfprof.UsageError, "is closed", profile.advise)


def check_frames(path):
    """Each of these packages where it is installed."""
    found = []
    table = tfprof.open(path).table("steps")  # outlives its profile's last name
    rows = table.rows
    numbers = [row["duration_ns"] for row in rows]
    try:
        import pyarrow
    except ImportError:
        pyarrow = None
    if pyarrow:
        batch = table.to_arrow()
        assert batch.to_pylist() == [{name: row.get(name) for name in table.columns} for row in rows]
        assert batch.schema.field("duration_ns").metadata[b"unit"] == b"ns"
        found.append("pyarrow")
        try:
            import pandas  # noqa: F401
        except ImportError:
            pass
        else:
            column = batch.column(batch.schema.get_field_index("duration_ns"))
            array = column.to_numpy(zero_copy_only=True)
            assert array.__array_interface__["data"][0] == column.buffers()[1].address  # the library's own memory
            assert list(table.to_pandas()["duration_ns"]) == numbers
            found.append("pandas")
    try:
        import polars  # noqa: F401
    except ImportError:
        pass
    else:
        assert table.to_polars()["duration_ns"].to_list() == numbers
        found.append("polars")
    try:
        import rich.console
    except ImportError:
        pass
    else:
        console = rich.console.Console(width=120, record=True, file=open(os.devnull, "w"))
        advice = tfprof.advise(path)
        console.print(advice)
        shown = " ".join(console.export_text().split())
        assert advice.verdict.text.split(":")[0] in shown and advice[0].remedy.split()[0] in shown
        found.append("rich")
    table.__arrow_c_schema__()
    table.__arrow_c_array__()  # nobody takes the capsules over
    return found


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    return thread


def check_threads(path):
    profile, texts = tfprof.open(path), []
    threads = [in_thread(lambda: texts.append(profile.advise().json)) for _ in range(3)]
    for thread in threads:
        thread.join()
    assert len(texts) == 3 and texts[0] == texts[1] == texts[2]
    # A profile that is closed while a thread asks it lives as long as that takes.
    entered, closed, heard = threading.Event(), threading.Event(), []
    profile = tfprof.open(path)
    thread = in_thread(lambda: heard.append(profile.advise(progress=lambda stage: (entered.set(), closed.wait(10))).json))
    entered.wait(10)
    profile.close()
    closed.set()
    thread.join()
    assert heard == [texts[0]]


def check_lock(path):
    """Others run while the library works, though Python itself would let nobody: switching takes 1000 s."""
    before, state = sys.getswitchinterval(), []

    def ask():
        state.append("begun")
        tfprof.open(path)
        state.append("ended")
    sys.setswitchinterval(1000)
    try:
        thread = in_thread(ask)
        while not state:
            time.sleep(0.0001)
        assert state == ["begun"], "a call keeps Python's lock"
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert state == ["begun", "ended"]


def check_silence(path):
    """Nothing is printed, whatever is damaged: warnings are lines of an answer."""
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "b")
        place.mkdir()
        tfprof.baseline(path, output=place / "1.tfbase")
        (place / "2.tfbase").write_text("tfprof baseline\nnonsense")
        tfprof.history(place)
        cut = pathlib.Path(folder, "cut.pt.trace.json")
        whole = json.dumps({"schemaVersion": 1, "traceEvents": [
            {"ph": "X", "name": "ProfilerStep#%d" % i, "cat": "user_annotation", "pid": 1, "tid": 1, "ts": 1000 + i * 1000, "dur": 900}
            for i in range(8)], "deviceProperties": []})
        cut.write_text(whole[:-60])
        tfprof.advise(cut)
        raises(tfprof.FormatError, "--damage accept", tfprof.baseline, cut)
        assert tfprof.gate(cut, budget=["findings.total < 100"]).status == 4
        assert tfprof.gate(cut, budget=["findings.total < 100"], damage="accept").passed
        tfprof.summarize(cut)


@contextlib.contextmanager
def printed_nothing():
    """What C or Python writes to standard output and error is nothing."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        kept = [os.dup(number) for number in (1, 2)]
        for number in 1, 2:
            os.dup2(file.fileno(), number)
        try:
            yield
        finally:
            sys.stdout.flush()
            for number, before in zip((1, 2), kept):
                os.dup2(before, number)
                os.close(before)
            file.seek(0)
            said = file.read().decode()
    assert said == "", "printed: " + said


with printed_nothing():
    for recording in recordings:
        check_recording(recording)
    check_answers(recordings[0])
    check_options()
    check_progress(recordings[0])
    check_errors(recordings[0])
    check_files(recordings[0])
    check_bisect()
    check_silence(recordings[0])
    check_threads(recordings[0])
    check_lock(recordings[0])
print("%d recordings; %s" % (len(recordings), ", ".join(check_frames(recordings[0])) or "no data frames here"))
