#!/usr/bin/env python3
"""The Python package's tfprof.profiler against what TensorFlow's library answered.

    check_classic_api.py TFPROF LIBRARY RECORDING...     RECORDING: with expect/tfprof, as for tests/classic.py
    check_classic_api.py TFPROF LIBRARY --tensorflow     builds a program and compares with tf.compat.v1.profiler itself

Views and advice are compared byte for byte, but for the order of maps, which TensorFlow leaves open; the ProfileProto with the one that
TensorFlow wrote, node by node. Without the package cffi, or TensorFlow, it is skipped (status 77).
"""
import contextlib, gzip, io, json, os, pathlib, shlex, subprocess, sys, tempfile

try:
    import cffi  # noqa: F401
except ImportError:
    print("skipped: no package cffi")
    sys.exit(77)
ROOT = pathlib.Path(__file__).resolve().parent.parent
program, library, *recordings = sys.argv[1:]
os.environ["TFPROF_LIBRARY"] = library
sys.path[:0] = [str(ROOT / "engine/python"), str(ROOT / "tests")]
from tfprof import profiler
from tfprof._wire import fields, numbers

LISTS = ["account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes", "select"]
METHODS = {"scope": "profile_name_scope", "graph": "profile_graph", "op": "profile_operations", "code": "profile_python"}
MESSAGES = {"advise": "AdviceProto", "op": "MultiGraphNodeProto", "code": "MultiGraphNodeProto", "scope": "GraphNodeProto",
            "graph": "GraphNodeProto"}
failed = 0


def expect(is_so, *what):
    global failed
    if not is_so:
        failed += 1
        print("WRONG:", *what)


def decoded(view, message):
    done = subprocess.run(["protoc", f"--proto_path={ROOT / 'tests'}", f"--decode=tfprof_results.{MESSAGES[view]}",
                           "tfprof_results.proto"], input=message, capture_output=True, check=True)
    return done.stdout


def same(view, got, wanted):
    return got == wanted or (len(got) == len(wanted) and decoded(view, got) == decoded(view, wanted))


def options_of(prompt):
    """A line of the prompt as the dictionary of the API."""
    view, *words = shlex.split(prompt)
    options = profiler.ProfileOptionBuilder().with_max_depth(10).with_empty_output().build()
    while words:
        name = words.pop(0).lstrip("-")
        if name == "account_displayed_op_only":
            options[name] = not (words and words[0] == "false" and words.pop(0))
            continue
        value = words.pop(0)
        if name in LISTS:
            options[name] = [part for part in value.split(",") if part]
        elif name != "output":
            options[name] = value if name == "order_by" else int(value)
    return view, options


def stored(path):
    packed = path.with_name(path.name + ".gz")
    return path.read_bytes() if path.exists() else gzip.decompress(packed.read_bytes()) if packed.exists() else None


def profiler_of(recording, inputs):
    """`inputs`: options of the program; runs count from 0, as there."""
    files = {name: [recording / path for path in paths.split(",")]
             for name, _, paths in (text.lstrip("-").partition("=") for text in inputs)}
    graph, log = (files[name][0].read_bytes() if name in files else b"" for name in ("graph_path", "op_log_path"))
    made = profiler.Profiler(graph, log)
    for step, path in enumerate(files.get("run_meta_path", [])):
        made.add_step(step, path.read_bytes())
    return made


def check_answers(recording):
    """Questions about the graph, all runs and the log; what names a checkpoint is no question of this API."""
    from classic import UNSUPPORTED

    profilers, count = {}, 0
    for path in sorted((recording / "expect/tfprof").glob("*.json")):
        asked, wanted = json.loads(path.read_text()), stored(path.with_suffix(".pb"))
        if wanted is None or UNSUPPORTED.match(asked["prompt"]) or any("checkpoint" in name for name in asked["inputs"]):
            continue
        inputs = tuple(asked["inputs"])
        if inputs not in profilers:
            profilers[inputs] = profiler_of(recording, inputs)
        made = profilers[inputs]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if asked["view"] == "advise":
                only = asked["prompt"].split(" ")[1:]
                got = made.advise({name: {} for name in only[0].split(",")} if only else None)
            else:
                view, options = options_of(asked["prompt"])
                got = getattr(made, METHODS[view])(options)
        expect(same(asked["view"], got, wanted), recording.name, path.stem, asked["prompt"])
        count += 1
    return count


def grouped(message):
    found = {}
    for number, value in fields(message):
        found.setdefault(number, []).append(value)
    return found


def settled(number, value):
    """A field of a node; steps (12) with the entries of their memory's maps in order."""
    if number != 12:
        return value
    step, run = (dict(fields(value)).get(part) for part in (1, 2))
    return step, [(part, sorted(map(repr, fields(told))) if part == 7 else told) for part, told in fields(run)]


def nodes_of(profile):
    """By name: fields as sorted values, ids as what they stand for."""
    texts = {pair.get(1, 0): pair.get(2, b"") for pair in (dict(fields(value)) for value in grouped(profile)[4])}
    nodes = [grouped(dict(fields(value))[2]) for value in grouped(profile)[1]]
    names = {node.get(13, [0])[0]: node[1][0] for node in nodes}
    made = {}
    for node in nodes:
        pairs = {number: [dict(fields(value)) for value in node.pop(number, [])] for number in (2, 14)}
        trace = b"".join(node.pop(10, []))
        node.pop(13, None)
        lines = [dict(fields(value)) for _, value in fields(trace)]
        made[node[1][0]] = (
            {number: sorted(settled(number, value) for value in values) for number, values in node.items()},
            sorted((pair.get(1, 0), names[pair.get(2, 0)]) for pair in pairs[2]),
            sorted((names[pair.get(1, 0)], pair.get(2, 0)) for pair in pairs[14]),
            [(line.get(2), line.get(5), *(texts[line.get(number, 0)] for number in (6, 7, 8))) for line in lines])
    return made


def binary_graph(text):
    """The graph as bytes, by TensorFlow's types where they are at hand."""
    with contextlib.suppress(ImportError):
        from google.protobuf import text_format
        from tensorflow.core.framework import graph_pb2

        return text_format.Parse(text, graph_pb2.GraphDef()).SerializeToString()
    return None


def check_profile(recording):
    """serialize_to_string against TensorFlow's own file; and the program reads it as that one."""
    written = next((recording / "profile").glob("profile_*"))
    graph = recording / "extra/graph.pb"
    graph = graph.read_bytes() if graph.exists() else binary_graph((recording / "profile/graph.pbtxt").read_text())
    if graph is None:
        return
    made = profiler.Profiler(graph, (recording / "profile/tfprof_log").read_bytes())
    for path in (recording / "profile").glob("run_meta_*"):
        made.add_step(int(path.name.rpartition("_")[2]), path.read_bytes())
    got, wanted = made.serialize_to_string(), written.read_bytes()
    ours, theirs = nodes_of(got), nodes_of(wanted)
    expect(ours.keys() == theirs.keys(), recording.name, "nodes of the profile", ours.keys() ^ theirs.keys())
    for name in ours.keys() & theirs.keys():
        expect(ours[name] == theirs[name], recording.name, "node", name, *(
            (a, b) for a, b in zip(ours[name], theirs[name]) if a != b))
    steps = [[list(numbers(value)) for value in grouped(profile).get(3, [])] for profile in (got, wanted)]
    expect(steps[0] == [sorted(sum(steps[1], []))], recording.name, "steps", steps)
    expect(all(grouped(got).get(number) == grouped(wanted).get(number) for number in (2, 5)), recording.name, "flags")
    with tempfile.TemporaryDirectory() as folder:
        again = pathlib.Path(folder) / written.name
        again.write_bytes(got)
        for view in METHODS:
            asked = [program, view, "--compat", "-max_depth", "1000", "-select", "micros,bytes,params,float_ops,occurrence"]
            expect(subprocess.run([*asked, again], capture_output=True).stdout ==
                   subprocess.run([*asked, written], capture_output=True).stdout, recording.name, "the view", view)


def check_rest(recording):
    """What needs no answer of TensorFlow to compare with."""
    folder = recording / "profile"
    graph, run, log = (folder / name for name in ("graph.pbtxt", "run_meta_3", "tfprof_log"))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        answer = profiler.profile(graph.read_bytes(), run.read_bytes(), log.read_bytes(), "op",
                                  profiler.ProfileOptionBuilder.time_and_memory())
    shown = subprocess.run([program, "op", "--compat", "-max_depth", "10000", "-min_micros", "1", "-min_bytes", "1", "-order_by",
                            "micros", "-account_displayed_op_only", "-select", "micros,bytes", "--graph_path", graph,
                            "--run_meta_path", run, "--op_log_path", log], capture_output=True, text=True).stdout
    expect(said.getvalue() == shown and shown, "what profile prints is not what the program prints")
    rows = [child.name for child in answer.children]
    expect(answer.name == "_TFProfRoot" and rows and answer.total_exec_micros >= answer.children[0].exec_micros, rows)
    # MatMul of [100, 784] and [784, 10]: 2 * 784 * 100 * 10, as TensorFlow registers it; the log's own entries stay out.
    float_ops = profiler.ProfileOptionBuilder(profiler.ProfileOptionBuilder.float_operation()).with_empty_output().build()
    counted = profiler.profile(graph.read_bytes(), run.read_bytes(), cmd="graph", options=float_ops)

    def walk(node):
        yield node
        for child in node.children:
            yield from walk(child)

    expect({node.name: node.float_ops for node in walk(counted)}.get("MatMul") == 1568000, "float operations of MatMul")
    with tempfile.TemporaryDirectory() as place:
        profiler.write_op_log(graph.read_bytes(), place, log.read_bytes(), run.read_bytes())
        done = subprocess.run([program, "scope", "--compat", "-account_type_regexes", "_trainable_variables", "-select", "params",
                               "--graph_path", graph, "--op_log_path", os.path.join(place, "tfprof_log")], capture_output=True, text=True)
        # 784 * 10 weights and 10 biases.
        expect("7.85k params" in done.stdout, "the op log", done.stdout, done.stderr)
        target = os.path.join(place, "t")
        options = profiler.ProfileOptionBuilder().with_timeline_output(target).with_step(0).build()
        with contextlib.redirect_stdout(io.StringIO()):
            profiler.profile(graph.read_bytes(), run.read_bytes(), cmd="graph", options=options)
        expect(json.loads(pathlib.Path(target + "_0").read_text())["traceEvents"], "a timeline")
    for kind, wrong in ((TypeError, lambda: profiler.profile(3)), (ValueError, lambda: profiler.profile(b"", cmd="lines")),
                        (ValueError, lambda: profiler.Profiler(b"").add_step(-1, b"")),
                        (ValueError, lambda: profiler.profile(graph.read_bytes(), options={"show_name_regexes": ["a{1,2}"]}))):
        try:
            wrong()
        except kind:
            continue
        expect(False, "no", kind)


def check_tensorflow():
    """The same calls of tf.compat.v1.profiler and of ours, of one graph and its runs."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    try:
        import numpy
        import tensorflow as tensorflow_2
    except ImportError:
        print("skipped: no TensorFlow")
        sys.exit(77)
    tf = tensorflow_2.compat.v1
    tf.disable_eager_execution()
    x = tf.placeholder(tf.float32, [None, 32], "x")
    with tf.variable_scope("dense"):
        weights = tf.get_variable("weights", [32, 16])
        y = tf.nn.relu(tf.matmul(x, weights) + tf.get_variable("bias", [16]))
    loss = tf.reduce_mean(tf.square(y))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    theirs, ours = None, None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        runs = []
        for _ in range(3):
            runs.append(tf.RunMetadata())
            session.run(train, {x: numpy.ones((8, 32), "float32")}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), runs[-1])
        theirs, ours = tf.profiler.Profiler(session.graph), profiler.Profiler(session.graph)
        for step, run in enumerate(runs):
            theirs.add_step(step, run)
            ours.add_step(step, run)
        builder = tf.profiler.ProfileOptionBuilder
        sets = [builder.trainable_variables_parameter(), builder.float_operation(), builder.time_and_memory(), builder().build(),
                builder().with_step(1).select(["micros", "bytes", "occurrence"]).order_by("bytes").build()]
        count = 0
        for chosen in sets:
            chosen = {**chosen, "output": "none"}
            for view, method in METHODS.items():
                wanted = getattr(theirs, method)(chosen).SerializeToString(deterministic=True)
                got = type(getattr(theirs, method)(chosen)).FromString(getattr(ours, method)(chosen))
                expect(got.SerializeToString(deterministic=True) == wanted, "Profiler", view, chosen)
                wanted = tf.profiler.profile(session.graph, runs[2], cmd=view, options=chosen)
                got = type(wanted).FromString(profiler.profile(session.graph, runs[2], cmd=view, options=chosen))
                expect(got == wanted, "profile", view, chosen)
                count += 2
        graph, checkers = session.graph, profiler.ALL_ADVICE
        for wanted, got in ((theirs.advise(checkers), ours.advise(checkers)), (theirs.advise({}), ours.advise({})),
                            (tf.profiler.advise(graph, runs[0]), profiler.advise(graph, runs[0]))):
            expect(type(wanted).FromString(got) == wanted, "advise", got, wanted)
            count += 1
        from tensorflow.core.profiler import tfprof_log_pb2

        got, wanted = (nodes_of(made.serialize_to_string()) for made in (ours, theirs))
        expect(got.keys() == wanted.keys(), "nodes", got.keys() ^ wanted.keys())
        for name in got.keys() & wanted.keys():
            expect(got[name] == wanted[name], "node", name, *((a, b) for a, b in zip(got[name], wanted[name]) if a != b))
        with tempfile.TemporaryDirectory() as place:
            with profiler.ProfileContext(place, trace_steps=[1, 2], dump_steps=[2]) as context:
                context.add_auto_profiling("op", {**builder.time_and_memory(), "output": "none"}, [1])
                for _ in range(4):
                    session.run(train, {x: numpy.ones((8, 32), "float32")})
            expect(os.listdir(place) == ["profile_2"], os.listdir(place))
            expect(context.get_profiles("op")[1].total_exec_micros > 0, "a view of the context")
            kept = tfprof_log_pb2.ProfileProto.FromString((pathlib.Path(place) / "profile_2").read_bytes())
            expect(list(kept.steps) == [1, 2], kept.steps)
            session.run(train, {x: numpy.ones((8, 32), "float32")})  # as before the context
    print("%d answers as TensorFlow's, %d wrong" % (count, failed))


if recordings == ["--tensorflow"]:
    check_tensorflow()
else:
    total = 0
    for place in map(pathlib.Path, recordings):
        total += check_answers(place)
        check_profile(place)
    check_rest(pathlib.Path(recordings[0]))
    print("%d answers, %d wrong" % (total, failed))
    expect(total >= 40 * len(recordings), "only %d answers were compared" % total)
sys.exit(1 if failed else 0)
