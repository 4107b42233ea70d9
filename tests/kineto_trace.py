"""Kineto traces that tests write event by event, and what is asked of the advice on them; cases: functions of a test, run in order."""
import json

from synthetic import expect, finish, run, write

CASES = []


def case(function):
    CASES.append(function)
    return function


def run_cases():
    def run_all():
        for function in CASES:
            function()
    finish(run_all)


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


SGEMM = {"H100": "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x128x8_stage3_warpsize1x4x1_ffma_execute_kernel__5x_cublas",
         "T4": "turing_sgemm_128x64_tn"}
