#!/usr/bin/env python3
"""How fast kernels are held to be: by their arithmetic, their bytes, their type and the device.
Small traces that each show one thing, and one close to it that must not be told the same.

    check_rates.py TFPROF

Expected figures are worked out beside each trace.
"""
import json

from kineto_trace import H100, MI300X, SGEMM, Trace, case, find, priced, rules, run_cases, text_of
from synthetic import expect, run


def attention(trace, length):
    """Ten calls, 32 heads of 128, `length` long: 2·2·32·length²·128 operations each."""
    shape = [1, length, 32, 128]
    for i in range(10):
        trace.op("aten::_flash_attention_forward", 10 * i, 8, [shape] * 3, ["c10::BFloat16"] * 3)
        trace.kernel("attn_fwd", 10 * i + 1, 1000 + 10000 * i, 9990)


@case
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


@case
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


@case
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


@case
def chains():
    """Different ops over the same values, which one kernel could do."""
    trace = Trace(MI300X)
    for i in range(12):
        name = ["aten::add", "aten::mul", "aten::tanh", "aten::exp"][i % 4]
        trace.op(name, 10 * i, 8, [[8192, 8192], [8192, 8192], []][: 1 + 2 * (i % 4 < 2)], ["float", "float", "Scalar"])
        trace.kernel("void at::native::vectorized_elementwise_kernel<4, f>(int)", 10 * i + 1, 130 + 301 * i, 300)
    report = trace.advice("chain")
    expect(find(report, "elementwise-chain") is not None, f"a chain is one: {rules(report)}")


@case
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


@case
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


@case
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


@case
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


@case
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


@case
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


@case
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


@case
def what_sizes_ask():
    """On a CPU one product takes 900 of 1000 us. A square matrix times few columns may be mostly zeros, times a quarter of as many and more it is a layer's rows;
    scores of 512 with 512 places may be hidden by a mask, those of 128 are few."""
    for name, shapes, word in (("aten::mm", [[2000, 2000], [2000, 64]], "sparse"), ("aten::mm", [[2000, 2000], [2000, 600]], None),
                               ("aten::_softmax", [[4, 8, 512, 512]], "mask"), ("aten::_softmax", [[64, 8, 128, 128]], None)):
        trace = Trace(device=None)
        for i in range(6):
            trace.step(i, 1000 + 1000 * i, 995)
            trace.op(name, 1010 + 1000 * i, 900, shapes)
        finding = find(trace.advice(f"sizes-{name[6:]}-{shapes[0][-1]}-{shapes[-1][-1]}"), "hot-op")
        text = json.dumps(finding["remedy"]) if finding else ""
        expect(finding is not None and all((asked in text) == (asked == word) for asked in ("sparse", "mask")), f"{name} {shapes}: {text}")


@case
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


if __name__ == "__main__":
    run_cases()
