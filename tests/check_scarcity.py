#!/usr/bin/env python3
"""Too little memory, every allocation and every write that fails in turn: the whole answer or one line and status 3, nothing
between.
    usage: check_scarcity.py TFPROF FAULT_LIBRARY RECORDINGS_DIR [budgets|reading|asking|advising|writing]"""
import gzip
import os
import shutil
import sys

from synthetic import HEAD, body, expect, finish, read, run, synth, write

FAULT, RECORDINGS = (os.path.realpath(path) for path in sys.argv[2:4])
DONE = (0, 1, 4) # 4: a gate that cannot tell
LUA_STRIDE = "1999"
FORMATS = {}
RULE = """
local names, self = {}, 0
for op in p:table("ops"):where({ kind = "op" }):top("self_ns", 9):each() do
  names[#names + 1] = ("%s: %s"):format(op.name:gsub("a(.)", "%1"), fmt.ns(op.self_ns))
  self = self + op.self_ns
end
table.sort(names)
local saved = p:whatif { { "scale", parts = { "host" }, factor = 0.5 } }
return finding {
  title = table.concat(names, ", "), condition = tostring(self), confidence = "low",
  evidence = { { "self", self, "ns" }, { "a step", saved or 0, "ns" } },
  remedy = { text = "Do less.", code = ("x"):rep(9) }, impact = impact.replay { { "scale", parts = { "host" }, factor = 0.5 } },
}
"""


def is_whole_or_refused(name, answer, whole):
    """An answer is the one that there is without limits, or none and a reason. A rule may fail, which is said."""
    status, out, err = answer
    if status == 99 and "__sanitizer::CheckFailed" in err:
        return False # the allocation was the sanitizer's own
    if status in DONE:
        is_same = (status, out) == whole[:2] or "ule failed" in out + err
        expect(is_same, f"{name}: status {status}, and another answer than without limits")
        return True
    no_memory = status == 5 and ("not enough memory" in err or "no memory for" in err) # of a rule that is typed
    expect((status == 3 or no_memory) and err.startswith("tfprof: "), f"{name}: status {status}: {err!r}")
    return False


def sweep(arguments):
    """Near the least memory that is enough, below and above."""
    whole = run(*arguments, "--threads", "1")
    expect(whole[0] in DONE, f"{arguments}: {whole[0]} {whole[2]}")

    def fits(kilobytes):
        name = f"{' '.join(arguments)} --memory {kilobytes}K"
        return is_whole_or_refused(name, run(*arguments, "--threads", "1", "--memory", f"{kilobytes}K"), whole)

    low, high = 16, 16
    while not fits(high) and high < 1 << 20:
        low, high = high, high * 4
    while high - low > max(low // 16, 8):
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    for step in range(1, 7):
        fits(high - high * step // 40)
        fits(high + high * step // 40)


def sweeps():
    """What each format takes to read and to look at, and what commands take besides."""
    for arguments in FORMATS.values():
        sweep(["info", *arguments])
        sweep(["scope", "-select", "micros,bytes,tensor_value", *arguments])
    for arguments in (["advise", "big.json"], ["advise", *FORMATS["xspace"]], ["advise", *FORMATS["files"]], ["diff", "g.json", "big.json"],
                      ["gate", "--budget", "findings.veto == 0", "big.json"], ["code", *FORMATS["profile"]],
                      ["graph", *FORMATS["graph"]], ["table", "kernels", "big.json"]):
        sweep(arguments)


def each(kind, *arguments, step=1, sites=False):
    """Every call of a kind, or one in `step`, fails in a copy of the program of its own; the program itself is not disturbed.
    Of the memory that Lua asks for, which it does without for a while, one in many; with `sites` the first call of each
    place in the program, and in its copy whatever that place asks for behind it."""
    shutil.rmtree("each", ignore_errors=True)
    os.mkdir("each")
    name = f"{' '.join(arguments)}, {kind}".replace(RULE, "RULE")
    which = {"FAULT_SITES": "1"} if sites else {"FAULT_STRIDE": LUA_STRIDE, "FAULT_STEP": str(step)}
    whole = run(*arguments, into="whole", env={"LD_PRELOAD": FAULT, "FAULT": kind, "FAULT_EACH": "each", "FAULT_COUNT": "count"} | which)
    expect(whole[0] in DONE, f"{name}: status {whole[0]}: {whole[2]}")
    for path in sorted(os.listdir("each")):
        number, ending = path.split(".")
        if ending == "status":
            texts = [read(f"each/{number}.{stream}").decode(errors="replace") for stream in ("out", "err")]
            is_whole_or_refused(f"{name} {number}", (int(read("each/" + path)), *texts), whole)
    return int(read("count"))


def failing_reads():
    for arguments in FORMATS.values():
        for command in (["info"], ["scope", "-select", "micros,tensor_value"]):
            count = each("malloc", *command, "--threads", "1", *arguments)
            expect(count > 5, f"{command} {arguments}: {count} allocations")


def failing_commands():
    for arguments in (["diff", "g.json", "g.json"], ["whatif", "--drop", "op:aten::add", "g.json"], ["why", "g.json"], ["op", "g.json"],
                      ["table", "kernels", "g.json"], ["code", *FORMATS["profile"]], ["graph", "--format", "json", *FORMATS["graph"]]):
        each("malloc", *arguments, "--threads", "1")
    # A rule that uses what rules use: every place that its Lua asks for memory at.
    each("malloc", "repl", "g.json", "--threads", "1", "--rule", RULE, sites=True)
    each("malloc", "synth", "sketch.synth", "-o", "made.json")


def failing_advice():
    """Rules take most of what these allocate, and most of that they can do without."""
    for arguments in (["advise", "g.json"], ["gate", "--baseline", "g.tfbase", "g.json"], ["baseline", "g.json"],
                      ["advise", *FORMATS["files"]]):
        each("malloc", *arguments, "--threads", "1", step=29)


def failing_writes():
    """Each write of a file fails, and what is to make it last."""
    for arguments in (["baseline", "g.json", "-o", "out"], ["advise", "g.json", "-o", "out"], ["synth", "sketch.synth", "-o", "out.json"],
                      ["op", "--output=file:outfile=out", "g.json"], ["report", "g.json", "-o", "out"],
                      ["oplog", *FORMATS["profile"], "-o", "out"], ["code", "-output", "pprof:outfile=out", *FORMATS["profile"]],
                      ["graph", "-step", "0", "-output", "timeline:outfile=out", *FORMATS["files"]],
                      ["gate", "--baseline", "g.tfbase", "g.json", "--report", "json=out"]):
        for call in ("write", "fsync", "rename"):
            fails_each_time(call, arguments)


def fails_each_time(call, arguments):
    """Copies of the program would take each other's temporary files away: a run of its own for each call."""
    run(*arguments, env={"LD_PRELOAD": FAULT, "FAULT": call, "FAULT_COUNT": "count"})
    count = int(read("count"))
    expect(count > 0, f"{arguments}: calls {call}")
    for number in range(1, count + 1):
        for path in [path for path in os.listdir(".") if path.startswith("out")]:
            os.remove(path)
        status, _, err = run(*arguments, env={"LD_PRELOAD": FAULT, "FAULT": call, "FAULT_N": str(number)})
        expect(status == 3 and err.startswith("tfprof: "), f"{arguments}, {call} {number} of {count}: {status} {err!r}")
        expect(number > 1 or not [path for path in os.listdir(".") if path.startswith("out")], f"{arguments}: nothing is left")
        expect(not [path for path in os.listdir(".") if path.startswith(".out")], f"{arguments}: no temporary file is left")


def prepare():
    mnist = os.path.join(RECORDINGS, "tf1-mnist-softmax")
    shutil.copy(os.path.join(mnist, "profile", "profile_11"), "profile.pb")
    files = [f"--graph_path={mnist}/profile/graph.pbtxt", f"--run_meta_path={mnist}/profile/run_meta_1",
             f"--op_log_path={mnist}/profile/tfprof_log"]
    write("big.json", synth("big.json", HEAD + "step x10\n" + body(200)))
    synth("g.json", HEAD + "step x12\n" + body(20))
    write("g.json.gz", gzip.compress(read("g.json"), mtime=0))
    # Launches that the device waits for: many findings, and so much text.
    synth("tiny.xplane.pb", HEAD.rstrip("\n") + "\nlaunch 8us\nstep x10\n  op aten::add x100\n    kernel k 3us\n    gap 5us\n  sync\n")
    run("baseline", "g.json", "-o", "g.tfbase")
    FORMATS.update({"kineto": ["g.json"], "packed": ["g.json.gz"], "xspace": ["tiny.xplane.pb"], "profile": ["profile.pb"],
                    "files": files, "graph": [f"{mnist}/extra/graph.pb"],
                    "first checkpoint": [*files, f"--checkpoint_path={mnist}/extra/ckpt-v1"],
                    "second checkpoint": [*files, f"--checkpoint_path={mnist}/extra/ckpt-v2"]})


def main():
    prepare()
    parts = {"budgets": sweeps, "reading": failing_reads, "asking": failing_commands, "advising": failing_advice,
             "writing": failing_writes}
    for name in sys.argv[4:] or parts:
        parts[name]()


finish(main)
