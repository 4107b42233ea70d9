#!/usr/bin/env python3
"""Reads profiles that the code view writes for pprof back, by the published definition of the format.

    usage: tests/check_pprof.py TFPROF CASES

What pprof itself checks when it opens a file holds: gzip, an empty first string, indexes of strings
and ids that exist, ids of their own, a value a type. Sums are those of the published example, worked
out below, and what the view prints.
"""
import collections
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Of step 0 of the example: fc/MatMul, fc/W, fc/W/read, the gradient and loss, in this order.
SUMS = {
    "micros": (500 + 30) + 1 + 3 + (4000 + 1500) + 0,
    "accelerator_micros": (300 + 200) + 0 + 0 + 4000 + 0,
    "cpu_micros": (20 + 10) + 1 + 3 + 1500 + 0,
    "bytes": (2 * 4096 + 512 + 256) + 800 + 64 + 100 + 0,
    "peak_bytes": (2 * 2048 + 512 + 256) + 800 + 64 + 0 + 0,
    "residual_bytes": (2 * 1024 + 256) + 800 + 16 + 0 + 0,
    "output_bytes": 512 + 0 + 832 + 0 + 0,
    "params": 0 + 10 * 20 + 0 + 0 + 0,
    "float_ops": 2 * 1600 + 0 + 0 + 3200000 + 0 * 59,
}
# Each line in its function; the original, as published, has the line of the caller in the function
# called, which leaves the outermost function out.
LINES = {
    "fc/W": "model:fc:33 model:build_the_whole_network:20 train:main:10",
    "fc/W/read": "model:fc:33 model:build_the_whole_network:20 train:main:10",
    "fc/MatMul": "model:fc:34 model:build_the_whole_network:20 train:main:10",
    "loss": "model:twenty_chars_namexxx:40 train:nineteen_chars_name:11",
    "gradients/fc/MatMul_grad/MatMul": "model:fc (gradient):34 "
    "model:build_the_whole_network (gradient):20 train:main (gradient):10",
}
COMPAT_LINES = {
    "fc/W": "model:fc:20 model:build_the_whole_network:10",
    "fc/W/read": "model:fc:20 model:build_the_whole_network:10",
    "fc/MatMul": "model:fc:20 model:build_the_whole_network:10",
    "loss": "model:twenty_chars_namexxx:11",
    "gradients/fc/MatMul_grad/MatMul": "model:fc (gradient):20 "
    "model:build_the_whole_network (gradient):10",
}
UNITS = {"micros": "microseconds", "bytes": "bytes"}


def parsed(text):
    """protoc's text as dictionaries of lists."""
    root = collections.defaultdict(list)
    stack = [root]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            message = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(message)
            stack.append(message)
        elif line == "}":
            stack.pop()
        elif line:
            name, value = line.split(": ", 1)
            stack[-1][name].append(value[1:-1] if value[0] == '"' else int(value))
    return root


def one(message, name):
    """A number of a message; 0 where it is left out, as the format has it."""
    return message[name][0] if message[name] else 0


def decode(path):
    data = path.read_bytes()
    assert data[:2] == b"\x1f\x8b", "not gzip"
    done = subprocess.run(
        ["protoc", f"--proto_path={HERE}", "--decode=profiles.Profile", "profiles.proto"],
        input=gzip.decompress(data), capture_output=True, check=True)
    return parsed(done.stdout.decode())


def check(profile):
    """What pprof refuses, or cannot show."""
    strings = profile["string_table"]
    assert strings[0] == "", "the first string is not empty"
    assert len(set(strings)) == len(strings), "a string stands twice"
    functions = [one(function, "id") for function in profile["function"]]
    locations = [one(location, "id") for location in profile["location"]]
    assert functions and locations
    for ids in (functions, locations):
        assert 0 not in ids and len(set(ids)) == len(ids), "an id is 0 or stands twice"
    for function in profile["function"]:
        assert strings[one(function, "name")] and strings[one(function, "filename")]
    for location in profile["location"]:
        assert location["line"]
        for line in location["line"]:
            assert one(line, "function_id") in functions
    for sample in profile["sample"]:
        assert len(sample["value"]) == len(profile["sample_type"]) == 2
        assert set(sample["location_id"]) <= set(locations)
        for label in sample["label"]:
            assert strings[one(label, "key")] and strings[one(label, "str")]
    for comment in profile["comment"]:
        assert strings[comment]


def write(tfprof, arguments, attribute, folder):
    path = folder / attribute
    done = subprocess.run(
        [tfprof, "code", *arguments, "-max_depth", "10000", "-select", attribute, "-output",
         f"pprof:outfile={path}"], capture_output=True, text=True, check=True)
    assert f"--sample_index=1 <{path}>" in done.stdout
    profile = decode(path)
    check(profile)
    strings = profile["string_table"]
    kinds = [(strings[one(kind, "type")], strings[one(kind, "unit")])
             for kind in profile["sample_type"]]
    unit = next((UNITS[end] for end in UNITS if attribute.endswith(end)), "count")
    assert kinds == [("count", "count"), (attribute, unit)], kinds
    return profile


def check_scopes(tfprof, inputs, recordings, folder):
    """Scopes as stacks, for pprof and folded. The example by hand: below fc are MatMul, W and W/read, the gradient stands below
    gradients/fc/MatMul_grad, and what the views show of each is all there is."""
    path = folder / "scopes"
    subprocess.run([tfprof, "scope", *inputs, "-output", f"folded:outfile={path}"], check=True, capture_output=True)
    lines = dict(line.rsplit(" ", 1) for line in path.read_text().splitlines())
    want = {"_send_x": 5, "fc;MatMul": 500 + 30, "fc;W": 1, "fc;W;read": 3, "gradients;fc;MatMul_grad;MatMul": 4000 + 1500}
    assert {key: int(value) for key, value in lines.items()} == want, lines
    subprocess.run([tfprof, "scope", *inputs, "-output", f"pprof:outfile={path}"], check=True, capture_output=True)
    profile = decode(path)
    strings = profile["string_table"]
    names = {one(function, "id"): strings[one(function, "name")] for function in profile["function"]}
    at = {one(location, "id"): names[one(location["line"][0], "function_id")] for location in profile["location"]}
    got = {" ".join(at[place] for place in sample["location_id"]): sample["value"][1] for sample in profile["sample"] if sample["value"][1]}
    assert got == {"_send_x": 5, "fc/MatMul fc": 530, "fc/W fc": 1, "fc/W/read fc/W fc": 3,
                   "gradients/fc/MatMul_grad/MatMul gradients/fc/MatMul_grad gradients/fc gradients": 5500}, got
    for view, recording in ((view, recording) for recording in recordings for view in ("scope", "code")):
        done = subprocess.run([tfprof, view, str(recording), "-max_depth", "10000", "-output", f"folded:outfile={path}"],
                              capture_output=True, text=True, check=False)
        if view == "code" and "No code trace" in done.stderr:
            continue
        assert done.returncode == 0, done.stderr
        shown = subprocess.run([tfprof, view, str(recording), "-max_depth", "10000", "--format", "csv"],
                               capture_output=True, text=True, check=True).stdout
        total = int(re.search(r"^_TFProfRoot,0,,[^,]*,(\d+)", shown, re.M).group(1))
        assert sum(int(line.rsplit(" ", 1)[1]) for line in path.read_text().splitlines()) == total, (view, recording)
    for words, status in ((["-select", "micros,bytes"], 2), (["--compat"], 0)):
        done = subprocess.run([tfprof, "scope", *inputs, *words, "-output", f"folded:outfile={path}"], capture_output=True, check=False)
        assert done.returncode == status, (words, done)


def frames(profile, expected):
    """Samples of the example with their lines, innermost first, as "function:line"."""
    strings = profile["string_table"]
    names = {one(function, "id"): strings[one(function, "name")]
             for function in profile["function"]}
    lines = {one(location, "id"): "{}:{}".format(
        names[one(location["line"][0], "function_id")], one(location["line"][0], "line"))
        for location in profile["location"]}
    got = {strings[one(sample["label"][0], "str")]: " ".join(
        lines[location] for location in sample["location_id"]) for sample in profile["sample"]}
    assert got == expected, got


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tfprof, cases = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    example = cases / "published-example"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = subprocess.run(
            ["protoc", f"--proto_path={HERE}", "--encode=profiles.OpLogProto", "profiles.proto"],
            input=(example / "log.text").read_bytes(), capture_output=True, check=True).stdout
        (folder / "log").write_bytes(log)
        inputs = [f"--graph_path={example / 'graph.pbtxt'}",
                  f"--run_meta_path={example / 'step0.pbtxt'},{example / 'step1.pbtxt'}",
                  f"--op_log_path={folder / 'log'}", "-step", "0"]
        recorded = [str(cases / "recordings/tf1-mnist-softmax/profile/profile_11")]
        for attribute, expected in SUMS.items():
            profile = write(tfprof, inputs, attribute, folder)
            assert len(profile["sample"]) == 5
            got = sum(sample["value"][1] for sample in profile["sample"])
            assert got == expected, f"{attribute}: {got}, not {expected}"
            write(tfprof, recorded, attribute, folder)
        # Lines in the middle of traces have ops too, of PyTorch's programs most.
        traced = [str(cases / "recordings/torch-loop-index/fixed")]
        for recording in recorded, traced, [*recorded, "--compat"]:
            profile = write(tfprof, recording, "micros", folder)
            shown = subprocess.run(
                [tfprof, "code", *recording, "-select", "micros", "--format", "csv"],
                capture_output=True, text=True, check=True).stdout
            total = int(re.search(r"^_TFProfRoot,0,,[^,]*,(\d+)", shown, re.M).group(1))
            assert sum(sample["value"][1] for sample in profile["sample"]) == total
        check_scopes(tfprof, inputs, [cases / "recordings" / name for name in (
            "torch-loop-index/fixed", "tf2-input-sequential-map", "jax-sync-every-step/slow", "tf1-mnist-softmax/profile/profile_11")], folder)
        frames(write(tfprof, inputs, "micros", folder), LINES)
        frames(write(tfprof, [*inputs, "--compat"], "micros", folder), COMPAT_LINES)
    print(f"{2 * len(SUMS) + 5} profiles read back")


main()
