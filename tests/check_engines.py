#!/usr/bin/env python3
"""What advice says of engines that serve language models.
Small traces that each show one thing, and one close to it that must not be told the same.

    check_engines.py TFPROF

Expected figures are worked out beside each trace.
"""
import csv
import io
import json

from kineto_trace import Trace, case, find, rules, run_cases, text_of
from synthetic import expect, run, write


@case
def experts_across_ranks():
    """Kernels that carry tokens between ranks: few blocks on purpose, and communication."""
    for name, is_comm in (("void deep::ep::internode::combine<false, 8, __nv_bfloat16>(int4*)", True), ("void deep::combine<__nv_bfloat16>(int4*)", False)):
        trace = Trace()
        for i in range(4):
            trace.op("aten::mm", 20 * i, 8, [[4096, 4096], [4096, 4096]], ["c10::BFloat16"] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", 20 * i + 1, 1000 + 4000 * i, 2000)
            number = trace.call("cudaLaunchKernel", 20 * i + 10, 5)
            trace.event("kernel", name, 3000 + 4000 * i, 1990, 7, 0, device=0, stream=7, correlation=number, grid=[20, 1, 1], block=[256, 1, 1])
        report = trace.advice(f"experts-{is_comm}")
        expect((find(report, "small-grid") is None) == is_comm, f"{name[:40]}: {rules(report)}")
        parts = {part["part"]: part["share"] for part in report["composition"]}
        expect((parts.get("communication", 0) > 0.3) == is_comm, f"{name[:40]}: {parts}")


@case
def serving():
    """Three decoding steps of 4000 us of kernels, the next 1000 us behind the last: 8 requests in 5000 us are 1600 tokens a second."""
    for name, is_engine in (("step[DECODE bs=8]", True), ("step[DECODE bs=512]", True), ("step of the model", False)):
        trace = Trace()
        for i in range(3):
            at = 1000 + 5000 * i
            trace.event("user_annotation", name, at, 900)
            number = trace.call("cudaGraphLaunch", at + 10, 20)
            for j in range(4):
                trace.device("kernel", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", number, at + 100 + 1000 * j, 1000)
            trace.call("cudaStreamSynchronize", at + 910, 3200)  # for the tokens: until the last kernel ends, 10 us
        report = trace.advice(f"serving-{name[5:-1].replace(' ', '-')}")
        finding = find(report, "serving-step")
        expect((finding is not None) == is_engine, f"{name}: {rules(report)}")
        expect(not finding or "4.00 ms" in finding["title"], f"{name}: {text_of(finding)[:200]}")
        if name == "step[DECODE bs=8]":
            expect("8 requests" in finding["title"] and "1600" in finding["title"].replace(" ", ""), f"{name}: {text_of(finding)[:200]}")
        expect(not finding or "Schedule the next step" in text_of(finding), "a pause of a quarter of a step is told")
        # the engine's marks are steps of 5 ms; one that nobody knows is none
        expect((report["steps"]["source"] == "marker" and abs(report["steps"]["wall_ms"]["median"] - 5) < 0.01) == is_engine,
               f"{name}: {report['steps']}")
        # 989 TFLOP/s over 3350 GB/s: below 295 tokens a step an H100 waits for weights
        expect((report["verdict"]["class"] == "memory-bound") == ("bs=8" in name), f"{name}: {report['verdict']}")


@case
def engines_without_marks():
    """Six calls of a server's step, 5000 us each, are steps; those of a function that nobody knows are none."""
    for name, is_engine in (("vllm/v1/worker/gpu_worker.py(263): execute_model", True), ("app/worker.py(263): execute_model", False)):
        trace = Trace()
        for i in range(6):
            at = 1000 + 5000 * i
            trace.event("python_function", name, at, 4900)
            for j in range(3 + 3 * (i % 2)):
                trace.op(["aten::mm", "aten::add", "aten::mul"][j % 3], at + 10 + 20 * j, 15, [[64, 64]] * 2)
                trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 12 + 20 * j, at + 100 + 700 * j, 690)
            trace.call("cudaStreamSynchronize", at + 200, 4600)
        report = trace.advice(f"engine-without-marks-{is_engine}")
        facts = report["steps"]
        expect((facts["source"] == "marker") == is_engine, f"{name}: {facts}")
        expect(not is_engine or abs(facts["wall_ms"]["median"] - 5) < 0.11, f"{name}: {facts}")


@case
def phases_without_marks():
    """Calls of a server's step: one of 8 products of 1000 us, launched one by one, then five that replay a graph of 4: it reads prompts, and they
    decode, for nobody knows how many. Where the first one is as short as the others, or nothing is replayed, the phase is not known."""
    for first, is_replayed in ((8, True), (4, True), (8, False)):
        trace = Trace()
        for i in range(6):
            at, count = 1000 + 9000 * i, 4 if i else first
            trace.event("python_function", "vllm/v1/worker/gpu_worker.py(263): execute_model", at, 8900)
            number = trace.call("cudaGraphLaunch", at + 20, 20) if i and is_replayed else None
            for j in range(count):
                if number:
                    trace.device("kernel", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", number, at + 100 + 1000 * j, 1000)
                else:
                    trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 12 + 20 * j, at + 100 + 1000 * j, 1000)
            trace.call("cudaStreamSynchronize", at + 200, 8600)
        write("calls.json", json.dumps(trace.head | {"traceEvents": trace.events}))
        rows = list(csv.DictReader(io.StringIO(run("table", "engine_phases", "calls.json", "--format", "csv")[1])))
        phases = {row["phase"]: (float(row["steps"]), float(row["step_ns"]), row["requests"]) for row in rows}
        if not is_replayed:
            right = {"unknown": (6, 4e6, "")}
        else:
            right = {"prefill" if first == 8 else "unknown": (1, first * 1e6, ""), "decode": (5, 4e6, "")}
        expect(phases == right, f"{first} kernels, graphs {is_replayed}: {phases}")


@case
def serving_phases():
    """A prefill and three decoding steps, each 5000 us behind the one before: a kernel of 1000 us, a wait of 300, argmax in 40, a copy of
    64 bytes back by a call of 5. In decoding 8 requests in 5000 us are 1600 tokens a second, and a product of 8 rows with 4096 x 4096
    weights moves 2·(8·4096 + 4096·4096 + 8·4096) = 33.7 MB in 1000 us: 1.0 % of 3350 GB/s."""
    trace = Trace()
    for i in range(4):
        at = 1000 + 5000 * i
        trace.event("user_annotation", "step[DECODE bs=8]" if i else "step[EXTEND bs=2 toks=1000]", at, 900)
        trace.op("aten::mm", at + 10, 30, [[8, 4096], [4096, 4096]], ["c10::BFloat16"] * 2)
        trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 15, at + 100, 1000)
        trace.call("cudaStreamSynchronize", at + 910, 300)
        trace.op("aten::argmax", at + 1300, 40)
        number = trace.call("cudaMemcpyAsync", at + 1345, 5)
        trace.device("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", number, at + 1360, 2, bytes=64)
    write("phases.json", json.dumps(trace.head | {"traceEvents": trace.events}))
    rows = list(csv.DictReader(io.StringIO(run("table", "engine_phases", "phases.json", "--format", "csv")[1])))
    expect([row["phase"] for row in rows] == ["prefill", "decode"], f"phases: {rows}")
    right = {"steps": 3, "requests": 8, "tokens": 8, "step_ns": 1e6, "kernel_ns": 1e6, "kernels": 1, "launches": 1, "graph_share": 0,
             "gap_ns": 4e6, "host_ns": 9e5, "between_ns": 45e3, "sampling_ns": 4e4, "wait_ns": 3e5, "read_backs": 1,
             "read_back_bytes": 64, "tokens_per_s": 1600, "bandwidth_share": 0.010055}
    for name, value in right.items() if len(rows) == 2 else ():
        expect(abs(float(rows[1][name] or "nan") - value) <= 1e-3 * value, f"decode, {name}: {rows[1][name]} instead of {value}")
    expect(len(rows) < 2 or float(rows[0]["tokens"]) == 1000, f"prefill: {rows}")


@case
def bandwidth_of_graphs():
    """Three decoding steps: a product of 8 rows with 4096 x 4096 weights in 100 us moves 33.7 MB, 337 GB/s of 3350: 10.06 %. Beside 20 us of a
    replayed graph, 5/6 of kernel time is known and speaks for all; beside 900 us of it a tenth is, and no share is told."""
    for graph_us in (20, 900):
        trace = Trace()
        for i in range(3):
            at = 1000 + 5000 * i
            trace.event("user_annotation", "step[DECODE bs=8]", at, 900)
            trace.op("aten::mm", at + 10, 30, [[8, 4096], [4096, 4096]], ["c10::BFloat16"] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 15, at + 100, 100)
            number = trace.call("cudaGraphLaunch", at + 60, 20)
            trace.device("kernel", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", number, at + 210, graph_us)
        write("graphs.json", json.dumps(trace.head | {"traceEvents": trace.events}))
        rows = list(csv.DictReader(io.StringIO(run("table", "engine_phases", "graphs.json", "--format", "csv")[1])))
        told = rows[0]["bandwidth_share"] if rows else None
        expect(bool(rows) and (abs(float(told or "nan") - 0.10055) < 1e-4 if graph_us == 20 else told == ""), f"{graph_us} us of a graph: {rows}")
        text = text_of(find(trace.advice(f"graphs-{graph_us}"), "serving-step"))
        expect(("bandwidth" in text) == (graph_us == 20), f"{graph_us} us of a graph: {text[:600]}")


@case
def prompts_beside_decoding():
    """Four steps of 1000 us decode alone, two of 3000 us read 3 prompts beside 37 requests that decode, each 200 us behind the one before: as
    many decode in 1000 us, so that prompts add 2 x 2000 of 4 x 1000 + 2 x 3000 + 5 x 200 us, 36.4 %, of which nobody knows how much goes.
    No price where those that decode alone are far fewer or none, nor where prompts add nothing: the rest is the same."""
    for alone, mixed_us, is_priced in ((40, 3000, True), (8, 3000, False), (None, 3000, False), (40, 1000, False)):
        trace, at = Trace(), 1000
        for i in range(6):
            is_mixed = i in (1, 4) or alone is None
            length, requests = (mixed_us, 37) if is_mixed else (1000, alone)
            prompts = "3(sq900sk900sqsq1sqsk1)" if is_mixed else "0(sq0sk0sqsq0sqsk0)"
            trace.event("user_annotation", f"execute_{requests}_context_{prompts}_generation_{requests}(sq{requests}sk9000sqsq1sqsk1)", at, 90)
            number = trace.call("cudaGraphLaunch", at + 10, 20)
            trace.device("kernel", "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", number, at + 100, length)
            trace.call("cudaStreamSynchronize", at + 100, length + 10)
            at += length + 200
        finding = find(trace.advice(f"mixed-{alone}-{mixed_us}"), "serving-step")
        impact = finding["impact"] if finding else {}
        expect(finding is not None and ("mid_ms" in impact) == is_priced, f"{alone} alone, {mixed_us} us: {finding}")
        expect(("steps that decode alone" in text_of(finding)) == is_priced, f"{alone} alone, {mixed_us} us: {text_of(finding)[:900]}")
        # the last step is cut, and the mean of the others (3 x 1200 + 2 x 3200) / 5 us: 36.4 % of 2 ms are 0.727 ms
        expect(not is_priced or (impact["low_ms"] == 0 and abs(impact["high_ms"] - 0.7273) < 0.001 and impact["mid_ms"] < impact["high_ms"]), f"{impact}")


@case
def padded_batches():
    """Decoding for 20 requests whose products have 32 rows: 12 of 32, 37.5 %, are padding. With 20 rows there is none, and 2000 rows are other work."""
    for count in (32, 20, 2000):
        trace = Trace()
        for i in range(4):
            at = 1000 + 5000 * i
            trace.event("user_annotation", "step[DECODE bs=20]", at, 900)
            trace.op("aten::mm", at + 10, 30, [[count, 4096], [4096, 4096]], ["c10::BFloat16"] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 15, at + 100, 1000)
        finding = find(trace.advice(f"padded-{count}"), "serving-step")
        text = text_of(finding)
        expect(finding is not None and ("37.5" in text or "0.375" in text or "padded" in text) == (count == 32), f"{count} rows: {text[:600]}")


@case
def memory_for_servers():
    """Of an H100's 85 GB 1 GB is used while the device mostly waits for launches: four times as much is promised, of requests where nothing trains.
    At 84 GB there is advice for training to save some, where something trains."""
    for gigabytes in (1, 84):
        for is_trained in (True, False):
            trace = Trace()
            for i in range(8):
                at = 1000 + 1000 * i
                trace.step(i, at, 998)
                for j in range(9):
                    trace.op("autograd::engine::evaluate_function: MmBackward0" if is_trained and j == 5 else "aten::mm", at + 100 * j + 5, 90)
                    trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 100 * j + 10, at + 100 * j + 20, 10)
                trace.events.append({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": at + 50,
                                     "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 + i, "Bytes": 1024,
                                              "Total Allocated": gigabytes * 10**9, "Total Reserved": gigabytes * 10**9}})
            report = trace.advice(f"memory-{gigabytes}-{is_trained}")
            finding = find(report, "memory-headroom" if gigabytes == 1 else "memory-near-limit")
            text = json.dumps(finding["remedy"]) if finding else ""
            expect(finding is not None and ("optimiser" in text or "training" in text) == is_trained, f"{gigabytes} GB, trains {is_trained}: {rules(report)} {text}")
            expect(gigabytes == 84 or " 4 times" in text, f"no more than that: {text}")


if __name__ == "__main__":
    run_cases()
