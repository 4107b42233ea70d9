#!/usr/bin/env python3
"""What is missing in a recording of an accelerator, or is in it once: it is said, and not taken for what the program does.
Small traces that each show one thing, and one close to it that must not be told the same.

    check_validity.py TFPROF

Expected figures are worked out beside each trace.
"""
import json

from kineto_trace import SGEMM, Trace, case, find, priced, rules, run_cases, text_of
from synthetic import expect, run


@case
def distortion():
    """Steps of 10 ms with 4000 events of the host, half to one and a half microseconds each: 2 to 6 ms of recording. That makes them longer where
    the device works for 1 ms, and not where it works all the time."""
    for busy in (1000, 9900):
        trace = Trace()
        for step in range(4):
            at = 1000 + 10000 * step
            trace.step(step, at, 9990)
            for i in range(4000):
                trace.event("python_function", "model.py(3): forward", at + 2 + 2 * i, 1)
            trace.op("aten::mm", at + 8010, 100, [[64, 64]] * 2) if busy == 1000 else trace.op("aten::mm", at + 1, 1)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 8020 if busy == 1000 else at + 1, at + 9990 - busy, busy)
        finding = find(trace.advice(f"distortion-{busy}"), "profiler-overhead-high")
        expect((finding is not None) == (busy == 1000), f"{busy} us of work: {text_of(finding)[:300]}")
        expect(not finding or "1.25x to 2.5" in finding["title"], f"2 to 6 of 10 ms: {text_of(finding)[:300]}")


@case
def ranks_in_one_file():
    """The same steps of two processes in a file: what is told a step is of both, and nothing is priced. Two threads of one process are one rank."""
    for processes in (2, 1):
        trace = Trace()
        for rank in range(2):
            for step in range(4):
                at, pid, thread = 1000 + 10000 * step, 1 + rank if processes == 2 else 1, 1 + rank
                if rank == 0 or processes == 2:
                    trace.event("user_annotation", f"ProfilerStep#{step}", at, 9900, thread, pid)
                for i in range(4):
                    trace.event("cpu_op", "aten::mm", at + 100 + 2000 * i, 50, thread, pid)
                    trace.number += 1
                    trace.event("cuda_runtime", "cudaLaunchKernel", at + 110 + 2000 * i, 5, thread, pid, correlation=trace.number)
                    trace.event("kernel", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 120 + 2000 * i, 300, 7, rank, device=rank, stream=7,
                                correlation=trace.number, grid=[1000, 1, 1], block=[256, 1, 1])
        report = trace.advice(f"ranks-in-one-file-{processes}")
        finding = find(report, "rank-set-incomplete")
        expect((finding is not None and finding["severity"] == "veto") == (processes == 2), f"{processes} processes: {rules(report)}")
        expect(processes == 1 or priced(report) == [], f"nothing is priced: {priced(report)}")


@case
def one_long_step():
    """Four steps of 10 ms that compute for 9, and one of 30 with 20 ms of a host's op behind the read: of the usual step 1 ms is idle, and no
    more is saved where nothing is read."""
    trace = Trace()
    for i in range(5):
        at = 1000 + 10000 * i
        trace.step(i, at, 30000 if i == 4 else 10000)
        for j in range(20):
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 50 + 20 * j, at + 100 + 450 * j, 450)
        trace.op("aten::item", at + 458, 8704)
        trace.call("cudaStreamSynchronize", at + 460, 8700)
    trace.op("aten::normal_", 1000 + 49300, 20600)
    report = trace.advice("one-long-step")
    finding = find(report, "scalar-readback")
    expect(abs(report["steps"]["wall_ms"]["median"] - 10) < 0.1, f"the usual step: {report['steps']}")
    expect(finding is None or finding["impact"].get("high_ms", 0) <= 1.01, f"reads: {text_of(finding)[:600]}")


@case
def one_step():
    """The only step has an allocation of 60 of its 80 ms and few kernels: it tells nothing of others. Twelve kernels that
    fill a step, or the same allocation among twenty steps, are as they are."""
    for kernels, steps, is_used in ((4, 1, False), (12, 1, True), (4, 20, True)):
        trace = Trace()
        for step in range(steps):
            at = 80000 * step
            trace.step(step, at, 79900)
            if step == 0 and kernels == 4:
                trace.call("cudaMalloc", at + 1000, 60000)
            for i in range(kernels):
                begin, long = (at + 62000 + 1400 * i, 1300) if kernels == 4 else (at + 1000 + 6400 * i, 6300)
                trace.op("aten::mm", begin, 500, [[2048, 2048]] * 2)
                trace.kernel(SGEMM["H100"], begin + 10, begin + 20, long)
        report = trace.advice(f"one-step-{kernels}-{steps}")
        expect((report["steps"]["used"] > 0) == is_used, f"{kernels} kernels in {steps} steps: {report['steps']}")
        expect(is_used or priced(report) == [], f"nothing is priced: {priced(report)}")
        why = find(report, "too-few-steps")
        expect(is_used or (why and "mostly start-up" in why["title"]), f"why is said: {text_of(why)[:200]}")


@case
def scarce():
    """Three products with pauses of which nothing is recorded tell nothing of a step; thirty do, and so do three with ops between them."""
    for count, op in ((3, 40), (30, 40), (3, 1500)):
        trace = Trace()
        for i in range(count):
            trace.op("aten::mm", 1000 + 2000 * i, op, [[4096, 4096], [4096, 4096]], ["c10::BFloat16"] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 1010 + 2000 * i, 1030 + 2000 * i, 100)
        report = trace.advice(f"scarce-{count}-{op}")
        is_scarce = count == 3 and op == 40
        expect((report["verdict"]["class"] == "unknown") == is_scarce, f"{count} products, {op} us: {report['verdict']}")
        expect(not is_scarce or priced(report) == [], f"{count} products: {priced(report)}")


@case
def first_use():
    """A launch of 300 ms before 10 ms of kernels is loading; the same time in launches of 3 ms each is what the program costs."""
    for launches in (1, 100):
        trace = Trace()
        at = 1000
        for i in range(100):
            launch = 300000 // launches if launches > 1 or i == 50 else 5
            trace.op("aten::mm", at, launch + 10)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN" if i % 2 else "void at::native::reduce_kernel<512, 1, f>(f)", at + 2, at + launch + 5, 100, launch)
            at += launch + 110
        report = trace.advice(f"first-use-{launches}")
        expect(("start-up" in json.dumps([report["verdict"], report["findings"]])) == (launches == 1), f"{launches} long launches: {rules(report)}")
        expect(launches == 100 or not any(f["impact"].get("mid_ms", 0) > 150 for f in report["findings"]), f"loading is not priced: {priced(report)}")


@case
def kernels_loaded():
    """Twelve kernels, each launched twice; 5 us a launch, but 3 ms for the first of each kernel, which then takes 100 us: 36 of 40 ms are start-up.
    Where the second of each takes 3 ms as well, that is what launches cost."""
    for second in (5, 3000):
        trace, at = Trace(), 1000
        for i in range(24):
            launch = second if i >= 12 else 3000
            trace.op("aten::mul", at, launch + 10)
            trace.kernel(f"void at::native::kernel_{i % 12}<4, f>(int)", at + 2, at + launch + 5, 100, launch)
            at += launch + 110
        report = trace.advice(f"kernels-loaded-{second}")
        told = "start-up" in json.dumps([report["verdict"], report["findings"]])
        expect(told == (second == 5), f"second launches of {second} us: {report['verdict']} {rules(report)}")
        expect((priced(report) == []) == (second == 5), f"second launches of {second} us: {priced(report)}")


@case
def first_use_in_a_step():
    """One marked step of 9 ms, 6 of them in one launch: that is loading, and no price holds it. In launches of 60 us each it is the program's."""
    for launches in (1, 100):
        trace = Trace()
        trace.step(0, 1000, 9000)
        at = 1100
        for i in range(100):
            launch = 6000 // launches if launches > 1 or i == 50 else 5
            trace.op("aten::mm", at, launch + 5)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 2, at + launch + 3, 5, launch)
            at += launch + 15 if launches > 1 else launch + 25
        report = trace.advice(f"first-use-in-a-step-{launches}")
        text = json.dumps([f["title"] for f in report["findings"]])
        expect(("start-up" in text) == (launches == 1), f"{launches} long launches in a step: {rules(report)}")
        most = max([f["impact"].get("model_ms", 0) for f in report["findings"] if "impact" in f] or [0])
        expect((most < 3.1) == (launches == 1), f"{launches} long launches in a step: {most} ms")
        # 6 of 9 ms are start-up: what is left of the step tells nothing of a steady one
        expect(is_vetoed(report, "warmup-in-window") == (launches == 1), f"{launches} long launches in a step: {rules(report)[:3]}")


@case
def waits_for_sizes():
    """Steps of 10 ms, of which the host waits 6 for the device in one op: where that op must know how large its result is, it is told so."""
    for name, is_sized in (("aten::nonzero", True), ("aten::_coalesce", True), ("aten::copy_", False)):
        trace = Trace()
        for i in range(8):
            at = 1000 + 10000 * i
            trace.step(i, at, 9990)
            trace.op(name, at + 100, 6400)
            trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", at + 110, at + 120, 600)
            trace.call("cudaStreamSynchronize", at + 200, 6000)
            trace.op("aten::mm", at + 6600, 3000, [[512, 512]] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 8600, at + 8700, 1200)
        report = trace.advice(f"waits-{name[6:]}")
        finding = find(report, "blocking-sync-in-step")
        expect(finding is not None and (("how large its result is" in text_of(finding)) == is_sized), f"{name}: {rules(report)} {text_of(finding)[:600]}")


@case
def earlier_work():
    """A wait of 400 ms before the first kernel is for work from before the recording; after kernels it is one of the program."""
    for is_first in (True, False):
        trace = Trace()
        if not is_first:
            trace.kernel("nvjet_a", 0, 10, 3000)
        trace.call("cudaStreamSynchronize", 3100, 400000)
        for i in range(100):
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 403200 + 10 * i, 403300 + 100 * i, 100)
        report = trace.advice(f"earlier-{is_first}")
        step_ms = report["steps"]["wall_ms"]["median"]
        expect((step_ms < 12) == is_first, f"first {is_first}: a step of {step_ms} ms")
        told = find(report, "incomplete-step-used")
        expect((told is not None and "400.0 ms" in told["title"]) == is_first, f"first {is_first}: {text_of(told)[:200]}")


def is_vetoed(report, rule):
    """A veto stands first, and nothing behind it is priced or loud."""
    first, rest = report["findings"][0], report["findings"][1:]
    return (first["rule"].split("/")[-1] == rule and first["severity"] == "veto" and priced(report) == []
            and not any(f["severity"] in ("warn", "error") and f["category"] not in ("validity", "kernels") for f in rest))


@case
def lost_kernels():
    """Of 200 launches 40 have no kernel: a fifth, so that idle time means nothing. Two without one, or 30 that a capture takes note of,
    or 40 behind the last kernel, are nothing of the kind."""
    for name, lost, is_lost in (("40", range(60, 100), True), ("2", range(60, 62), False), ("captured", range(60, 90), False), ("end", range(160, 200), False)):
        trace = Trace()
        for i in range(200):
            at = 1000 + 100 * i
            trace.step(i // 20, at, 1990) if i % 20 == 0 else None
            trace.op("aten::mm", at + 1, 90, [[512, 512]] * 2)
            if name == "captured" and i in (60, 90):
                trace.call("cudaStreamBeginCapture" if i == 60 else "cudaStreamEndCapture", at + 2, 1)
            if i in lost:
                trace.call("cudaLaunchKernel", at + 10, 5)
            else:
                trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 10, at + 20, 30)
        report = trace.advice(f"lost-{name}")
        expect((find(report, "trace-truncated") is not None) == is_lost, f"lost {name}: {rules(report)}")
        # idle 70 of 100 us a launch, 76 with the lost ones: the host is the limit, if that could be known
        expect(is_vetoed(report, "trace-truncated") if is_lost else priced(report) != [], f"lost {name}: {rules(report)[:3]} {priced(report)}")


@case
def unlaunched():
    """Of 200 kernels 40 have no launch in the recording, or 4."""
    for count, is_told in ((40, True), (4, False)):
        trace = Trace()
        for i in range(200):
            at = 1000 + 100 * i
            trace.op("aten::mm", at + 1, 90, [[512, 512]] * 2)
            if i < count:
                trace.device("kernel", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 5000 + i, at + 20, 30)
            else:
                trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 10, at + 20, 30)
        told = find(trace.advice(f"unlaunched-{count}"), "trace-truncated")
        expect((told is not None and "20.0 %" in told["title"]) == is_told, f"{count} kernels without a launch: {text_of(told)[:200]}")


@case
def graphs_not_recorded():
    """Ten steps of 30 ms: a kernel of 1 ms, then a graph, launched 0.9 ms before that kernel ends, of which the first event comes 20 ms later and
    takes 5 ms: 20 of 30 ms are work without events, no idle time. As a kernel of a launch of its own it was held up by something else."""
    for call in ("cudaGraphLaunch", "cudaLaunchKernel"):
        trace = Trace()
        for i in range(10):
            at = 1000 + 30000 * i
            trace.step(i, at, 29990)
            trace.op("aten::mul", at + 1, 10, [[512, 512]] * 2)
            trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", at + 2, at + 10, 1000)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 100, at + 21010, 5000, call=call)
            trace.call("cudaDeviceSynchronize", at + 200, 25900)
        report = trace.advice(f"not-recorded-{call}")
        parts = {part["part"]: part["share"] for part in report["composition"]}
        expect((abs(parts.get("unknown", 0) - 0.667) < 0.01) == (call == "cudaGraphLaunch"), f"{call}: {parts}")
        expect((find(report, "device-idle-high") is None) == (call == "cudaGraphLaunch"), f"{call}: {rules(report)}")


@case
def captured():
    """A capture of 600 of 1000 us of the only step runs nothing: no price. One of 100 us leaves the step as it is."""
    for long, is_vetoing in ((600, True), (100, False)):
        trace = Trace()
        trace.step(0, 1000, 1000)
        for i in range(20):
            trace.op("aten::mm", 1010 + 15 * i, 12, [[512, 512]] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 1011 + 15 * i, 1020 + 15 * i, 8)
        trace.call("cudaStreamBeginCapture", 1320, 2)
        trace.op("aten::mm", 1325, long - 20, [[512, 512]] * 2)
        trace.call("cudaStreamEndCapture", 1318 + long, 2)
        report = trace.advice(f"captured-{long}")
        expect(is_vetoed(report, "warmup-in-window") == is_vetoing, f"a capture of {long} us: {rules(report)} {priced(report)}")
        expect((report["verdict"]["class"] == "unknown") == is_vetoing, f"a capture of {long} us: {report['verdict']}")


def rounds(count, gap, row, head=(), reads=False):
    """Ops of `head` once, then `count` rounds of `row`, an op each 10 us, `gap(i)` behind round i; a kernel for each, and a copy of what
    they gave behind each round where it `reads`."""
    trace, at = Trace(), 1000
    for i in range(-1, count):
        for name in head if i < 0 else row:
            trace.op(f"aten::{name}", at, 8, [[512, 512]] * 2)
            trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", at + 1, at + 4, 5)
            at += 10
        if reads:
            trace.device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", trace.call("cudaMemcpyAsync", at, 5), at + 6, 2, bytes=64)
        at += gap(i) if i >= 0 else 0
    return trace


def modules(trace, count):
    """Calls of a module around all rounds of 120 us, or around each."""
    for i in range(count):
        trace.event("python_function", "nn.Module: Model_0", 995 + 120 * i, 1190 if count == 1 else 100)
    return trace


@case
def unmarked_rounds():
    """Ten rounds of nine ops, each followed by 30 us: steps of 120 us, also behind prompts of 27 ops, where each gives a token. Neither are
    layers of a single pass, which head and tail stand beside or a module's call around, nor rounds that take from 120 to 660 us."""
    row = ["linear", "add", "gelu", "mul", "softmax", "bmm", "copy_", "sub", "mean"]
    for name, trace, is_found in (
        ("rounds", rounds(10, lambda i: 30, row), True),
        ("layers", rounds(10, lambda i: 0, row, ["embedding", "rsqrt", "cat", "exp", "neg", "cos", "sin", "pow"]), False),
        ("decoding", rounds(10, lambda i: 30, row, [row[0], *["embedding", "rsqrt"] * 13], reads=True), True),
        ("layers-behind-a-first", rounds(10, lambda i: 30, row, [row[0], *["embedding", "rsqrt"] * 13]), False),
        ("layers-that-read", rounds(10, lambda i: 30, row, ["embedding", "rsqrt", "cat", "exp"], reads=True), False),
        ("layers-of-a-module", modules(rounds(10, lambda i: 30, row), 1), False),
        ("passes-of-a-module", modules(rounds(10, lambda i: 30, row), 10), True),
        ("uneven-rounds", rounds(10, lambda i: 30 + 60 * i, row), False),
    ):
        trace.advice(name)
        facts = json.loads(run("info", "--format", "json", f"{name}.json")[1])["facts"]
        expect((facts["step.source"] == "inferred") == is_found, f"{name}: steps by {facts['step.source']}")
        expect(not is_found or abs(facts["step.ns"] - 0.12) < 1e-6, f"{name}: a step takes {facts.get('step.ns')} ms")


@case
def unmarked_rounds_on_a_cpu():
    """There rounds make no steps, since they may be the same work for each part of a batch, and how often they come is told: ten of nine
    ops, 120 us from one to the next."""
    trace = Trace(None)
    for i in range(90):
        trace.op(f"aten::op{i % 9}", 1000 + 10 * i + 30 * (i // 9), 8)
    trace.advice("rounds-on-a-cpu")
    facts = json.loads(run("info", "--format", "json", "rounds-on-a-cpu.json")[1])["facts"]
    expect(facts["step.source"] == "whole-trace", f"rounds on a CPU: steps by {facts['step.source']}")
    expect(facts.get("step.rounds") == 10, f"rounds on a CPU: {facts.get('step.rounds')}")
    expect(facts.get("step.meaning") == "10 rounds of the same ops, 120.0 µs each", f"rounds on a CPU: {facts.get('step.meaning')}")


@case
def the_device_alone():
    """Kernels that fill a third of the recording, without anything of the host: a share of their time is all that can be told.
    With the host's ops there are prices."""
    for has_host in (True, False):
        trace = Trace()
        for i in range(100):
            if has_host:
                trace.op("aten::mul", 1000 + 30 * i, 28, [[64, 64]] * 2)
                trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", 1001 + 30 * i, 1010 + 30 * i, 10)
            else:
                trace.device("kernel", "void at::native::vectorized_elementwise_kernel<4, f>(int)", i + 1, 1010 + 30 * i, 10)
        report = trace.advice(f"alone-{has_host}")
        expect(is_vetoed(report, "no-step-markers") == (not has_host), f"host {has_host}: {rules(report)} {priced(report)}")


@case
def no_device_work():
    """Launches without kernels leave the device unknown; with kernels they do not."""
    for has_kernels, count in ((True, 30), (False, 30), (False, 2)):
        trace = Trace()
        for i in range(count):
            trace.op("aten::mm", 1000 + 100 * i, 50)
            if has_kernels:
                trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 1010 + 100 * i, 1020 + 100 * i, 60)
            else:
                trace.call("cudaLaunchKernel", 1010 + 100 * i, 5)
        report = trace.advice(f"kernels-{has_kernels}-{count}")
        expect((find(report, "device-timeline-missing") is None) == has_kernels, f"kernels {has_kernels}: {rules(report)}")
        expect((report["verdict"]["class"] == "unknown") == (not has_kernels), f"kernels {has_kernels}: {report['verdict']}")


@case
def an_accelerator_without_calls():
    """A GPU whose runtime was never called was not looked at; one that the profiler alone waited for did nothing, nor did one
    beside ops that processors alone have, unless all are so short that a loader may have made these."""
    for is_watched, op, length, is_known in ((False, "aten::mm", 90, False), (True, "aten::mm", 90, True),
                                             (False, "aten::mkldnn_convolution", 900, True),
                                             (False, "aten::mkldnn_convolution", 90, False)):
        trace = Trace()
        for i in range(30):
            trace.op(op, 1000 + (length + 10) * i, length)
        if is_watched:
            trace.call("cudaDeviceSynchronize", 4000, 5)
        name = f"watched-{is_watched}-{op[6:]}-{length}"
        report = trace.advice(name)
        expect(is_vetoed(report, "device-timeline-missing") == (not is_known), f"{name}: {rules(report)}")
        expect((report["verdict"]["class"] == "unknown") == (not is_known), f"{name}: {report['verdict']}")
        expect(("cpu-fallback-op" in rules(report)) == is_known, f"{name}: {rules(report)}")
        expect(is_known or priced(report) == [], f"nothing is priced: {priced(report)}")


@case
def events_of_another_tool():
    """Events of categories that nobody knows tell nothing of what a step does; a name of a framework among them does."""
    for name, is_known in (("Linear", False), ("PjitFunction(step)", True)):
        trace = Trace(None)
        for i in range(30):
            trace.event("forward", name, 1000 + 100 * i, 90)
        report = trace.advice(f"tool-{is_known}")
        expect((report["verdict"]["class"] == "unknown") == (not is_known), f"{name}: {report['verdict']}")


@case
def a_wait_alone():
    """A GPU, a wait of 115 ms for it, and no work of it: not an idle step, but one that is not known. With work it is known."""
    for has_work in (False, True):
        trace = Trace()
        trace.op("aten::mm", 1000, 900, [[512, 512]] * 2)
        for i in range(10 * has_work):
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 1010 + 10 * i, 2000 + 11000 * i, 10900)
        trace.call("cudaDeviceSynchronize", 2000, 115000)
        report = trace.advice(f"wait-alone-{has_work}")
        expect((report["verdict"]["class"] == "unknown") == (not has_work), f"a wait, work {has_work}: {report['verdict']}")


@case
def calls_that_run_the_work():
    """300 calls that last as long as their work: a mode to leave where CUDA's, how the runtime is where another's."""
    for prefix, call in (("cuda", "cudaLaunchKernel"), ("mtia", "runFunction - job_prep_and_submit_for_execution")):
        trace = Trace(None)
        for i in range(300):
            trace.op("aten::mm", 100 * i, 95)
            trace.number += 1
            trace.event(f"{prefix}_runtime", call, 100 * i + 5, 85, correlation=trace.number)
            trace.event("kernel" if prefix == "cuda" else "mtia_ccp_events", "fc", 100 * i + 10, 75, 7, 0, device=0, stream=7,
                        correlation=trace.number)
        report = trace.advice(f"blocking-{prefix}")
        expect((find(report, "launch-blocking-on") is not None) == (prefix == "cuda"), f"{prefix}: {rules(report)}")


@case
def prepared_in_the_step():
    """Of 100 ms a step 60 pass in Python that makes the batch, 35 on the device: who prepares is named, and it is worth what the device waits."""
    for python_ms, is_told in ((60, True), (8, False)):
        trace = Trace()
        for i in range(6):
            at = 1000 + 100000 * i
            trace.step(i, at, 99900)
            trace.event("python_function", "images.py(390): normalize", at + 100, 1000 * python_ms - 200)
            trace.event("python_function", "model.py(12): forward", at + 1000 * python_ms, 99000 - 1000 * python_ms)
            trace.op("aten::mm", at + 1000 * python_ms + 100, 500)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 1000 * python_ms + 200, at + 1000 * python_ms + 1000,
                         98000 - 1000 * python_ms)
            trace.call("cudaDeviceSynchronize", at + 1000 * python_ms + 700, 98000 - 1000 * python_ms)
        report = trace.advice(f"prepared-{python_ms}")
        finding = find(report, "python-in-step")
        expect((finding is not None) == is_told, f"{python_ms} ms: {rules(report)}")
        expect(not finding or "normalize" in text_of(finding), f"it is named: {text_of(finding)[:300]}")
        expect(not finding or 0.5 < finding["impact"]["share"] < 0.65, f"and priced: {finding and finding['impact']}")
        # The device works for 98 - 60 ms of it and 0.3 pass in waits: 61.7 are the host's.
        expect(not finding or finding["impact"]["high_ms"] <= python_ms + 1.75, f"at most the host's part: {finding and finding['impact']}")


if __name__ == "__main__":
    run_cases()
