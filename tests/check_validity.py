#!/usr/bin/env python3
"""What advice on an accelerator may say: small traces that each show one thing, and one close to it that must not be told the same.

    check_validity.py TFPROF

Expected figures are worked out beside each trace.
"""
import csv
import io
import json

from synthetic import expect, finish, run, write

MI300X = {"id": 0, "name": "AMD Instinct MI300X", "totalGlobalMem": 206141652992, "computeMajor": 9, "computeMinor": 4, "numSms": 304}
H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85 * 10**9, "computeMajor": 9, "computeMinor": 0, "numSms": 132}


class Trace:
    """A Kineto trace of one process: threads of the host by number, streams of GPU 0. Times in microseconds."""

    def __init__(self, device=H100):
        self.head = {"schemaVersion": 1, "deviceProperties": [device] if device else [], "record_shapes": 1}
        self.events, self.number = [], 0

    def event(self, category, name, at, duration, thread=1, pid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": at, "dur": duration, "args": args})

    def op(self, name, at, duration, shapes=None, types=None, concrete=None, thread=1):
        args = {"External id": 1000 + len(self.events)}
        if shapes is not None:
            args |= {"Input Dims": shapes, "Input type": types or ["float"] * len(shapes)}
        if concrete:
            args["Concrete Inputs"] = concrete
        self.event("cpu_op", name, at, duration, thread, **args)

    def step(self, number, at, duration):
        self.event("user_annotation", f"ProfilerStep#{number}", at, duration)

    def call(self, name, at, duration, thread=1):
        self.number += 1
        self.event("cuda_runtime", name, at, duration, thread, correlation=self.number)
        return self.number

    def kernel(self, name, launched, at, duration, launch=5, thread=1, stream=7, call="cudaLaunchKernel"):
        number = self.call(call, launched, launch, thread)
        self.device("kernel", name, number, at, duration, stream)

    def device(self, category, name, number, at, duration, stream=7, **args):
        self.event(category, name, at, duration, stream, 0, device=0, stream=stream, correlation=number,
                   grid=[1000, 1, 1], block=[256, 1, 1], **args)

    def advice(self, name):
        write(f"{name}.json", json.dumps(self.head | {"traceEvents": self.events}))
        status, out, err = run("advise", "--format", "json", f"{name}.json")
        expect(status == 0, f"{name}: status {status} {err}")
        return json.loads(out) if status == 0 else {"findings": [], "verdict": {}}


def rules(report):
    return [finding["rule"].split("/")[-1] for finding in report["findings"]]


def find(report, rule):
    return next((f for f in report["findings"] if f["rule"].split("/")[-1] == rule), None)


def priced(report):
    return [f["rule"].split("/")[-1] for f in report["findings"] if "mid_ms" in f.get("impact", {})]


def text_of(finding):
    return json.dumps(finding, ensure_ascii=False) if finding else ""


def attention(trace, length):
    """Ten calls, 32 heads of 128, `length` long: 2·2·32·length²·128 operations each."""
    shape = [1, length, 32, 128]
    for i in range(10):
        trace.op("aten::_flash_attention_forward", 10 * i, 8, [shape] * 3, ["c10::BFloat16"] * 3)
        trace.kernel("attn_fwd", 10 * i + 1, 1000 + 10000 * i, 9990)


def rates():
    # 16384 long: 4.398e12 operations in 9.99 ms are 440 TFLOP/s, 33.7 % of the 1307.4 that an MI300X does.
    trace = Trace(MI300X)
    attention(trace, 16384)
    report = trace.advice("attention")
    finding = find(report, "roofline-gap")
    expect(finding is not None and "33.7 %" in finding["title"], f"attention is rated: {text_of(finding)[:200]}")
    expect(rules(report)[0] == "roofline-gap", f"it is the answer: {rules(report)}")
    # 23170 long: 8.796e12 operations, 880 TFLOP/s, 67.3 %: at its roof.
    trace = Trace(MI300X)
    attention(trace, 23170)
    report = trace.advice("attention-at-roof")
    expect(find(report, "roofline-gap") is None, f"what is near its limit has no gap: {rules(report)}")
    expect("at its roof: 67.3 %" in text_of(find(report, "hot-op")), f"but an answer: {rules(report)}")
    # An add of 8192 x 8192 floats moves 3 · 2.68e8 bytes; in 421 us 1913 GB/s, 36.1 % of 5300; in 180 us 84.4 %.
    for duration, has_gap in ((421, True), (180, False)):
        trace = Trace(MI300X)
        for i in range(10):
            trace.op("aten::add", 10 * i, 8, [[8192, 8192], [8192, 8192], []], ["float", "float", "Scalar"])
            trace.kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)",
                         10 * i + 1, 1000 + (duration + 1) * i, duration)
        report = trace.advice(f"adds-{duration}")
        finding = find(report, "roofline-gap")
        expect((finding is not None) == has_gap, f"adds of {duration} us: {rules(report)}")
        expect(not finding or "36.1 %" in finding["title"], f"adds are rated by their bytes: {text_of(finding)[:200]}")
        expect(find(report, "elementwise-chain") is None, f"one op again and again is no chain: {rules(report)}")
        expect(report["verdict"]["class"] == "memory-bound", f"memory holds adds: {report['verdict']}")


def products_in_tf32():
    """Products of 8192 x 8192 floats do 1.0995e12 operations in 10 ms: 22.2 % of the 495 TFLOP/s that an H100 does in TF32, and more than the 67
    that it does in float32, where the kernel is of that."""
    for kernel, share in (("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", 0.222), (SGEMM["H100"], None)):
        trace = Trace()
        for i in range(6):
            trace.step(i, 1000 + 10000 * i, 9999)
            trace.op("aten::mm", 1001 + 10000 * i, 8, [[8192, 8192]] * 2)
            trace.kernel(kernel, 1002 + 10000 * i, 1010 + 10000 * i, 9980)
        trace.advice("products-in-tf32")
        facts = json.loads(run("info", "--format", "json", "products-in-tf32.json")[1])["facts"]
        mfu = facts.get("flops.mfu")
        expect(mfu is None if share is None and mfu is None else abs(mfu - (share or 1.64)) < 0.01, f"{kernel}: {mfu}")


def memory_elsewhere():
    """Adds, multiplications and exponentials of 8192 x 8192 floats move 8.05e8, 8.05e8 and 5.37e8 bytes. At 26 GB/s (31, 31 and 20.6 ms) of an
    H100's 3350 that is 0.78 %: data that come through a bus. At 1040 GB/s, 31 %, they are in the device's memory."""
    for times in (40, 1):
        trace, at = Trace(), 1000
        for i in range(12):
            name, duration = [("add", 775), ("mul", 775), ("exp", 516)][i % 3]
            shape = [[8192, 8192], [8192, 8192], []] if name != "exp" else [[8192, 8192]]
            trace.op(f"aten::{name}", 10 * i, 8, shape, ["float", "float", "Scalar"][: len(shape)])
            trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", 10 * i + 1, at, duration * times)
            at += duration * times + 1
        report = trace.advice(f"memory-elsewhere-{times}")
        told = text_of(find(report, "roofline-gap"))
        expect(("through the bus" in told) == (times == 40), f"{times} times as long: {told[-300:]}")


def chains():
    """Different ops over the same values, which one kernel could do."""
    trace = Trace(MI300X)
    for i in range(12):
        name = ["aten::add", "aten::mul", "aten::tanh", "aten::exp"][i % 4]
        trace.op(name, 10 * i, 8, [[8192, 8192], [8192, 8192], []][: 1 + 2 * (i % 4 < 2)], ["float", "float", "Scalar"])
        trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", 10 * i + 1, 130 + 301 * i, 300)
    report = trace.advice("chain")
    expect(find(report, "elementwise-chain") is not None, f"a chain is one: {rules(report)}")


def kernels_without_ops():
    """One graph that is replayed: kernels have no op and no sizes, but an answer; without markers the shares hold."""
    for fill, is_device in ((99, True), (30, False)):
        trace = Trace()
        number = trace.call("cudaGraphLaunch", 0, 20)
        for i in range(100):
            name = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN" if i % 2 else "void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*)"
            trace.device("kernel", name, number, 100 + 100 * i, fill if i % 2 else fill // 3)
        report = trace.advice(f"graph-{fill}")
        finding = find(report, "hot-op")
        expect(finding is not None and "take 7" in finding["title"] + " take 7" * ("takes 7" in finding["title"]),
               f"products are named: {text_of(finding)[:300]}")
        expect(not finding or "tell no sizes" in text_of(finding), "why they are not rated is said")
        expect(not finding or (finding["severity"] == "warn") == is_device, f"filled {fill}: {finding and finding['severity']}")
        expect(priced(report) == [] or not is_device, f"nothing is priced: {priced(report)}")


T4 = {"id": 0, "name": "Tesla T4", "totalGlobalMem": 15 * 10**9, "computeMajor": 7, "computeMinor": 5, "numSms": 40}
SGEMM = {"H100": "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x128x8_stage3_warpsize1x4x1_ffma_execute_kernel__5x_cublas",
         "T4": "turing_sgemm_128x64_tn"}


def float_products(device, model, host, count=10):
    """Steps of `host` us of ops, each with a product of 300 us, which the host waits for where it is done before."""
    trace = Trace(device)
    for i in range(count):
        at, step = 1000 + i * max(host, 320), max(host, 320)
        trace.step(i, at, step - 2)
        trace.op("aten::addmm", at + 5, host - 20, [[512], [512, 2048], [2048, 512]])
        trace.kernel(SGEMM[model], at + 8, at + 15, 300)
        if host < 300:
            trace.call("cudaStreamSynchronize", at + host, 316 - host)
    return trace


def precision():
    """What makes products faster is worth nothing where the host is the limit, and most of the step where they are."""
    for host, is_worth in ((2000, False), (60, True)):
        report = float_products(H100, "H100", host).advice(f"float-{host}")
        share = max([f["impact"].get("share", 0) for f in report["findings"]
                     if f["rule"].split("/")[-1] in ("tf32-off", "low-16bit-share", "tensor-cores-unused", "tensor-core-share-low") and "mid_ms" in f["impact"]] or [0])
        expect((share > 0.3) if is_worth else (share < 0.01), f"products under {host} us of host: {share} {rules(report)}")
    for device, model, wanted, other in ((T4, "T4", "float16", "bfloat16"), (H100, "H100", "bfloat16", "torch.float16")):
        report = float_products(device, model, 60).advice(f"half-{model}")
        text = " ".join(json.dumps(f["remedy"]) for f in report["findings"] if "autocast" in json.dumps(f["remedy"]))
        expect(wanted in text and other not in text, f"{model}: {text}")


def scalers():
    """A scaler reads one value a step, until which the device has worked off its 2000 us; then 1000 us of host, for which it is idle. bfloat16 needs
    none, but a T4 has no bfloat16."""
    for device, model, has_type in ((T4, "T4", False), (H100, "H100", True)):
        trace = Trace(device)
        for i in range(6):
            at = 1000 + 3200 * i
            trace.step(i, at, 3190)
            trace.op("aten::mm", at + 10, 20, [[4096, 4096]] * 2, ["c10::Half"] * 2)
            trace.kernel("turing_fp16_s1688gemm_fp16_128x256_ldg8_f2f_nn", at + 12, at + 30, 2000)
            trace.op("aten::_amp_foreach_non_finite_check_and_unscale_", at + 40, 20, [[4096]], ["float"])
            trace.kernel("void at::native::multi_tensor_apply_kernel<f>(int)", at + 42, at + 2031, 10)
            trace.op("aten::item", at + 70, 2000, [[]], ["float"])
            trace.op("aten::_local_scalar_dense", at + 71, 1998, [[]], ["float"])
            number = trace.call("cudaMemcpyAsync", at + 72, 1980)
            trace.device("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", number, at + 2042, 2, bytes=4)
            trace.call("cudaStreamSynchronize", at + 2053, 10)
            trace.op("aten::_foreach_add_", at + 3070, 20, [[4096]], ["float"])
            trace.kernel("void at::native::multi_tensor_apply_kernel<g>(int)", at + 3072, at + 3080, 50)
        finding = find(trace.advice(f"scaler-{model}"), "amp-scaler-sync")
        expect(finding is not None and ("torch.bfloat16" in json.dumps(finding["remedy"])) == has_type, f"{model}: {text_of(finding)[:600]}")


def fused_optimizers():
    """PyTorch's fused Adam takes its rates as doubles whatever it updates: what its functor works on says whether that is double precision."""
    for element in ("float", "double"):
        trace = Trace()
        functor = f"at::native::(anonymous namespace)::FusedAdamMathFunctor<{element}, 4, (at::native::ADAM_MODE)1, false>"
        for i in range(6):
            trace.step(i, 10000 * i, 9990)
            trace.op("aten::_fused_adamw_", 10000 * i + 10, 100)
            trace.kernel(f"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<M<4>, {functor}, float const*, double, double, "
                         f"bool>(M<4>, {functor}, float const*, double, double, bool)", 10000 * i + 20, 10000 * i + 200, 9000)
        report = trace.advice(f"adam-{element}")
        expect((find(report, "fp64-on-device") is not None) == (element == "double"), f"{element}: {rules(report)}")


def only_the_host():
    """Ops that only an accelerator has tell that it was not recorded; the same program on a CPU has others."""
    for name, is_device in (("aten::_flash_attention_forward", True), ("aten::_scaled_dot_product_flash_attention_for_cpu", False)):
        trace = Trace(None)
        for i in range(10):
            trace.step(i, 1000 * i, 998)
            trace.op("aten::addmm", 1000 * i + 10, 600, [[512], [512, 512], [512, 512]])
            trace.op(name, 1000 * i + 620, 300, [[1, 8, 64, 64]] * 3)
        report = trace.advice(name.split("::")[1])
        expect(("device-timeline-missing" in rules(report)) == is_device, f"{name}: {rules(report)}")
        expect((report["verdict"]["class"] == "unknown") == is_device, f"{name}: {report['verdict']}")


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


def other_accelerators():
    """Work of a backend that PyTorch does not know is work of a device: 60 of each 100 us compute. A category of no known form is told, and not taken for work."""
    for prefix, is_known in (("npu", True), ("zzz-", False)):
        trace = Trace(None)
        for i in range(40):
            trace.op("aten::mm", 1000 + 100 * i, 40, [[512, 512]] * 2)
            trace.number += 1
            trace.event(f"{prefix}_runtime" if is_known else prefix, "aclrtLaunchKernel", 1010 + 100 * i, 5, correlation=trace.number)
            trace.event(f"{prefix}_kernel" if is_known else prefix, "MatMulV2", 1030 + 100 * i, 60, 7, 0, device=0, stream=7, correlation=trace.number)
        report = trace.advice(f"backend-{is_known}")
        parts = {part["part"]: part["share"] for part in report["composition"]}
        expect((len(report["profile"]["devices"]) > 0) == is_known, f"{prefix}: {report['profile']['devices']}")
        names = [device["name"] for device in report["profile"]["devices"] if device["kind"] != "cpu"]
        expect(not is_known or names == ["NPU 0"], f"a device is called what it is: {names}")
        _, out, _ = run("advise", f"backend-{is_known}.json")
        expect(not is_known or "1 NPU" in out and "GPU" not in out, f"nor is it a GPU: {out[:200]}")
        expect(not is_known or 0.55 < parts.get("compute", 0) < 0.65, f"{prefix}: {parts}")
        expect("low-16bit-share" not in rules(report), f"{prefix}: nobody knows what it multiplies in 16 bits: {rules(report)}")
    _, out, _ = run("info", "backend-False.json")
    expect("Not understood" in out, "what is not understood is told")


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


def an_accelerator_without_calls():
    """A GPU whose runtime was never called was not looked at; one that the profiler alone waited for did nothing."""
    for is_watched in (False, True):
        trace = Trace()
        for i in range(30):
            trace.op("aten::mm", 1000 + 100 * i, 90)
        if is_watched:
            trace.call("cudaDeviceSynchronize", 4000, 5)
        report = trace.advice(f"watched-{is_watched}")
        expect(is_vetoed(report, "device-timeline-missing") == (not is_watched), f"watched {is_watched}: {rules(report)}")
        expect((report["verdict"]["class"] == "unknown") == (not is_watched), f"watched {is_watched}: {report['verdict']}")
        expect(is_watched or priced(report) == [], f"nothing is priced: {priced(report)}")


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


def gathered():
    """An all-gather that nothing can hide, of a program that trains and of one that does not: buckets of gradients are for the first."""
    for is_trained in (True, False):
        trace = Trace()
        for i in range(4):
            at = 1000 + 4000 * i
            trace.step(i, at, 3990)
            trace.op("aten::mm", at + 5, 8, [[4096, 4096], [4096, 4096]], ["c10::BFloat16"] * 2)
            trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 6, at + 20, 1000)
            if is_trained:
                trace.op("autograd::engine::evaluate_function: MmBackward0", at + 20, 8)
            trace.op("c10d::allgather_", at + 30, 8)
            trace.kernel("ncclDevKernel_AllGather_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", at + 31, at + 1020, 2900, stream=9)
            trace.call("cudaDeviceSynchronize", at + 50, 3900)
        report = trace.advice(f"gather-{is_trained}")
        finding = find(report, "exposed-comm")
        text = json.dumps(finding["remedy"]) if finding else ""
        others = json.dumps([f["remedy"] for f in report["findings"]])
        expect(is_trained or not any(word in others for word in ("DDP", "FullySharded", "loss", "optimiser")), f"advice for a server: {others}")
        expect(finding is None or ("DDP" in text) == is_trained, f"trains {is_trained}: {text}")
        expect(is_trained or finding is not None, f"a server's collectives are named: {rules(report)}")
        # of training at most what there is to compute can hide it, 1000 us; the range is what such prices turned out to be
        expect(not is_trained or finding is None or finding["impact"]["model_ms"] <= 1.01, f"{finding and finding['impact']}")


def other_hardware():
    """Steps of 2000 us of products, 1000 us of adds and 40 us of launches. An H200 has an H100's arithmetic and 4800 for 3350 GB/s: 2000 + 1000 · 3350 / 4800 = 2698 us.
    An A100 of 80 GB has 312 for 989 TFLOP/s and 2039 GB/s: 2000 · 989 / 312 + 1000 · 3350 / 2039 = 6340 + 1643 = 7983 us."""
    trace = Trace()
    for i in range(6):
        at = 1000 + 3040 * i
        trace.step(i, at, 3030)
        trace.op("aten::mm", at + 1, 8, [[8192, 8192]] * 2, ["c10::BFloat16"] * 2)
        trace.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNN", at + 2, at + 10, 2000)
        trace.op("aten::add", at + 11, 8, [[8192, 8192]] * 2, ["float"] * 2)
        trace.kernel("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)",
                     at + 12, at + 2010, 1000)
        trace.call("cudaDeviceSynchronize", at + 20, 2995)
    trace.advice("other-hardware")
    for name, wanted in (("H200", 2.738), ("A100 80GB", 8.023), ("H100", 3.04)):
        status, out, err = run("whatif", "--format", "json", "--hardware", name, "other-hardware.json")
        expect(status == 0, f"{name}: {status} {err}")
        # What recording took of the 40 us is told apart.
        told = json.loads(out) if status == 0 else {"edits": [{"step_ms": 0}]}
        step_ms = told["edits"][0]["step_ms"] + told.get("recording_ms", 0)
        expect(abs(step_ms - wanted) < 0.01, f"{name}: {step_ms} ms, {wanted} wanted")
    # 989 / 494.5 = 2 for products and 3350 / 1675 = 2 for adds: 4000 + 2000 and the 40 of launches
    with open("half.toml", "w") as file:
        file.write('name = "half of an H100"\nbf16-tflops = 494.5\nmemory-gb-per-s = 1675\n')
    status, out, err = run("whatif", "--format", "json", "--hardware", "half.toml", "other-hardware.json")
    told = json.loads(out) if status == 0 else {"edits": [{"step_ms": 0}]}
    step_ms = told["edits"][0]["step_ms"] + told.get("recording_ms", 0)
    expect(abs(step_ms - 6.04) < 0.01, f"a file of half an H100: {step_ms} ms, {status} {err}")
    status, out, err = run("advise", "--format", "json", "--accelerator", "half.toml", "other-hardware.json")
    expect(status == 0, f"a file for devices that are known: {status} {err}")
    with open("half.toml", "a") as file:
        file.write("bf16-tflop = 3\n")
    status, _, err = run("whatif", "--hardware", "half.toml", "other-hardware.json")
    expect(status == 2 and err.startswith("tfprof: half.toml:4:1: an accelerator has no 'bf16-tflop'; did you mean bf16-tflops?"), f"a wrong file: {status} {err}")
    _, out, _ = run("whatif", "--hardware", "H200", "other-hardware.json")
    expect("An estimate" in out, f"it is said to be an estimate: {out}")
    status, _, err = run("whatif", "--hardware", "abacus", "other-hardware.json")
    expect(status == 2 and "H200" in err, f"what nobody knows: {status} {err}")
    trace.head["deviceProperties"] = []
    trace.advice("unknown-hardware")
    status, _, err = run("whatif", "--hardware", "H200", "unknown-hardware.json")
    expect(status == 4 and "not known" in err, f"from what nobody knows: {status} {err}")


def main():
    other_hardware()
    other_accelerators()
    scarce()
    first_use()
    kernels_loaded()
    first_use_in_a_step()
    memory_for_servers()
    waits_for_sizes()
    earlier_work()
    lost_kernels()
    unlaunched()
    graphs_not_recorded()
    captured()
    unmarked_rounds()
    the_device_alone()
    no_device_work()
    an_accelerator_without_calls()
    a_wait_alone()
    calls_that_run_the_work()
    prepared_in_the_step()
    serving()
    engines_without_marks()
    phases_without_marks()
    serving_phases()
    gathered()
    rates()
    products_in_tf32()
    memory_elsewhere()
    chains()
    kernels_without_ops()
    precision()
    scalers()
    fused_optimizers()
    only_the_host()
    one_step()
    one_long_step()
    distortion()
    ranks_in_one_file()
    experts_across_ranks()


if __name__ == "__main__":
    finish(main)
