#!/usr/bin/env python3
"""What the recording of a graph's capture tells of its replays: ops, shapes and lines of kernels that one call launches.

    check_graphs.py TFPROF

Expected figures are worked out beside each trace.
"""
import csv
import io
import json

from kineto_trace import H100, MI300X, Trace
from synthetic import expect, finish, run, write

PRODUCT = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"


def replayed(names, replays=3, launch="cudaGraphLaunch", device=H100):
    """A graph of kernels of 1000 us each, replayed again and again."""
    trace, at = Trace(device), 1000
    for _ in range(replays):
        number = trace.call(launch, at, 20)
        for name in names:
            category = "gpu_memset" if name.startswith("Memset") else "gpu_memcpy" if name.startswith("Memcpy") else "kernel"
            trace.device(category, name, number, at + 100, 1000)
            at += 1001
        at += 200
    write("replays.json", json.dumps(trace.head | {"traceEvents": trace.events}))


def captured(graphs, has_names, maker="cuda"):
    """Graphs as [(op, shapes, kernel)]: launched one by one between the beginning and the end of their capture, inside of their op and of a
    line of the program: graph g's nth node is at line 10 g + n. Nothing runs. A kernel before the capture is none of its."""
    trace, at = Trace(), 1000
    trace.op("aten::zeros", at - 100, 20, [[4]])
    trace.call(f"{maker}LaunchKernel", at - 90, 5)
    for g, graph in enumerate(graphs):
        trace.call(f"{maker}StreamBeginCapture", at, 2)
        for n, (op, shapes, kernel) in enumerate(graph):
            at += 100
            trace.event("python_function", f"model.py({10 * g + n}): forward", at, 60)
            trace.op(op, at + 10, 40, shapes, ["c10::BFloat16"] * len(shapes))
            if kernel.startswith("Mem"):
                trace.call(f"{maker}{kernel[:6]}Async", at + 20, 10)
                continue
            trace.number += 1
            trace.event("cuda_runtime", f"{maker}LaunchKernel", at + 20, 10, 1, correlation=trace.number, **({"kernel": kernel} if has_names else {}))
            trace.event("cuda_driver", "cuLaunchKernel", at + 22, 5, 1, correlation=trace.number)  # the same launch, inside of it
        at += 100
        trace.call(f"{maker}StreamEndCapture", at, 2)
        at += 100
    write("capture.json", json.dumps(trace.head | {"traceEvents": trace.events}))


def table(name, *options):
    status, out, err = run("table", name, "replays.json", "--format", "csv", *options)
    return list(csv.DictReader(io.StringIO(out))) if status == 0 else [], err


def told(*options):
    status, _, err = run("advise", "replays.json", *options)
    expect(status == 0, f"a capture never fails advice: {status} {err}")
    return " ".join(run("info", "replays.json", *options)[1].split())


def products(length):
    return [("aten::mm", [[length, length]] * 2, PRODUCT), ("aten::add", [[length, length]] * 2, ADD), ("aten::mm", [[length, length]] * 2, PRODUCT)]


def ops_and_lines():
    """2 · 8192³ = 1.0995e12 operations in 1000 us are 1099.5 TFLOP/s: 84.1 % of the 1307.4 of an MI300X. An H100 would do more than it can, so there it
    takes 6144: 2 · 6144³ = 4.6386e11, 46.9 % of 989. Without the capture no kernel has an op."""
    for device, length, share, maker, has_names in ((MI300X, 8192, 0.841, "hip", True), (H100, 6144, 0.469, "cuda", False)):
        replayed([PRODUCT, ADD, PRODUCT], launch=f"{maker}GraphLaunch", device=device)
        captured([products(length)], has_names, maker)
        rows, err = table("roofline", "--capture", "capture.json")
        mm = [row for row in rows if row["op"] == "aten::mm"]
        expect(len(mm) == 2 and all(abs(float(row["efficiency"]) - share) < 0.001 for row in mm), f"{maker}: {rows} {err}")
        expect({(row["source_file"], int(row["source_line"])) for row in mm} == {("model.py", 0), ("model.py", 2)}, f"{maker}: lines {mm}")
        expect(all(row["shapes"] == f"[{length},{length}]x[{length},{length}]" for row in mm), f"{maker}: shapes {mm}")
        kernels, _ = table("kernels", "--capture", "capture.json")
        expect({row["op"] for row in kernels} == {"aten::mm", "aten::add"}, f"{maker}: kernels {kernels}")
        text = told("--capture", "capture.json")
        sure = "by their names and order" if has_names else "by their order alone"
        expect("9 of 9 kernels and copies of 3 replayed graphs" in text and sure in text, f"{maker}: {text[:600]}")
        rows, _ = table("roofline")
        expect(rows == [], f"{maker}: without the capture {rows}")


def what_does_not_fit():
    """Another kernel, or one more, is another graph: one line, and advice as without the capture."""
    replayed([PRODUCT, ADD, PRODUCT])
    without = json.loads(run("advise", "--format", "json", "replays.json")[1])["findings"]
    for graph, has_names in ((products(6144)[:2] + [("aten::relu", [[6144, 6144]], "void relu_kernel(float*)")], True), (products(6144)[:2], False)):
        captured([graph], has_names)
        text = told("--capture", "capture.json")
        expect(f"no captured graph fits a replayed one: {len(graph)} launches were captured first, 3 pieces of work replayed" in text, f"{text[:600]}")
        rows, _ = table("roofline", "--capture", "capture.json")
        expect(rows == [], f"nothing is told of what does not fit: {rows}")
        found = json.loads(run("advise", "--format", "json", "--capture", "capture.json", "replays.json")[1])["findings"]
        expect([f["rule"] for f in found] == [f["rule"] for f in without], "advice is that without the capture")


def memory_is_set_and_copied():
    """Nodes that set memory or copy it are no kernels, whether calls tell names or not; a set in the place of a kernel is another graph."""
    nodes = [("aten::zero_", [[6144, 6144]], "Memset (Device)"), ("aten::copy_", [[6144, 6144]] * 2, "Memcpy DtoD (Device -> Device)")] + products(6144)
    for has_names in (True, False):
        for order, count in ((range(5), 15), ((2, 1, 0, 3, 4), 0)):
            replayed([kernel for _, _, kernel in nodes])
            captured([[nodes[i] for i in order]], has_names)
            rows, _ = table("kernels", "--capture", "capture.json")
            expect(sum(row["op"] == "aten::mm" for row in rows) == (2 if count else 0), f"names {has_names}, {count}: {rows}")
            expect((f"{count} of 15 kernels and copies" in told("--capture", "capture.json")) == (count > 0), f"names {has_names}, {count}")


def several_fit():
    """Captures of other batches with the same kernels leave open what ran; layers that are alike do not: each has its line in its turn."""
    replayed([PRODUCT, ADD, PRODUCT], replays=4)
    captured([products(6144), products(4096)], True)
    text = told("--capture", "capture.json")
    expect("4 of 4 replayed graphs fit captures of several shapes" in text, f"{text[:600]}")
    expect(table("roofline", "--capture", "capture.json")[0] == [], "what is not known is not told")
    captured([products(6144), products(6144)], True)
    rows, _ = table("roofline", "--capture", "capture.json")
    lines = {int(row["source_line"]) for row in rows if row["op"] == "aten::mm"}
    expect(lines == {0, 2, 10, 12}, f"lines of both layers: {lines}")


def one_more():
    """A launch of 41 that the graph does not have, or one that the capture lacks, leaves the other 40 theirs."""
    long = [(f"my::op{i % 7}", [[64 + i, 64]], f"kernel_{i}") for i in range(41)]
    for of_graph, of_capture in ((40, 41), (41, 40)):
        names = [kernel for _, _, kernel in long]
        replayed(names[:20] + names[21:] if of_graph == 40 else names, replays=1)
        captured([long[:20] + long[21:] if of_capture == 40 else long], True)
        text = told("--capture", "capture.json")
        expect(f"40 of {of_graph} kernels and copies of 1 replayed graph have" in text, f"{of_graph}: {text[:600]}")
        rows, _ = table("kernels", "--top", "0", "--capture", "capture.json")
        by_kernel = {row["name"]: row["op"] for row in rows}
        expect(by_kernel.get("kernel_30") == "my::op2" and by_kernel.get("kernel_3") == "my::op3", f"each has its own: {by_kernel}")


def what_is_no_capture():
    replayed([PRODUCT, ADD, PRODUCT])
    expect("the capture holds no captured graph" in told("--capture", "replays.json"), "a recording without a capture")
    status, _, err = run("advise", "replays.json", "--capture", "nowhere.json")
    expect(status not in (0, 1) and "nowhere.json" in err, f"no such file: {status} {err}")


def main():
    ops_and_lines()
    what_does_not_fit()
    memory_is_set_and_copied()
    several_fit()
    one_more()
    what_is_no_capture()


if __name__ == "__main__":
    finish(main)
