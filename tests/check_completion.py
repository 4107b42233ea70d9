#!/usr/bin/env python3
"""Completions as shells have them: names of rules, tables, attributes, recipes, what why can be asked, options, files.

    check_completion.py TFPROF      zsh and fish where they are installed
"""
import os, pathlib, pty, re, select, shutil, signal, subprocess, sys, tempfile, time

tfprof = os.path.abspath(sys.argv[1])
failed = 0
# What bash has before the cursor, as words by its own word breaks; some that must be offered, some that must not.
ROWS = [
    (["explain", "hot"], ["hot-op"], ["--help", "tfdata-sequential-map"]),
    (["explain", "hot-op", ""], [], ["hot-op"]),
    (["table", ""], ["ops", "steps", "kernels"], ["--help"]),
    (["table", "ops", "-"], ["--where"], ["ops"]),
    (["why", ""], [], ["gap"]),
    (["why", "logdir", ""], ["gap", "step:slowest", "collective:"], []),
    (["why", "logdir", "step", ":"], ["slowest"], ["gap"]),
    (["why", "logdir", "step", ":", "sl"], ["slowest"], []),
    (["advise", "--only", "in"], ["input", "input-bound-step"], ["--input-format"]),
    (["advise", "--only", "=", "hot"], ["hot-op"], []),
    (["advise", "--skip", "hot-op,inp"], ["hot-op,input-bound-step"], ["input-bound-step"]),
    (["advise", "--preset", ""], ["recommended", "strict"], []),
    (["advise", ""], [], ["--help", "hot-op"]),
    (["advise", "logdir", "--pre"], ["--preset"], []),
    (["scope", "-select", "micros,by"], ["micros,bytes"], []),
    (["op", "-order_by", "mic"], ["micros"], []),
    (["verify", "--claimed", "hot"], ["hot-op"], []),
    (["howto", "tor"], ["torch"], []),
    (["howto", "ag"], ["agent"], []),
    (["help", "wh"], ["why", "whatif"], []),
    (["ad"], ["advise"], []),
]


def wrong(*what):
    global failed
    failed += 1
    print("WRONG:", *what)


def script(shell, folder):
    path = pathlib.Path(folder, {"bash": "tfprof", "zsh": "_tfprof", "fish": "tfprof.fish"}[shell])
    path.write_bytes(subprocess.run([tfprof, "--generate", shell], capture_output=True, check=True).stdout)
    return path


def check_bash(path):
    for words, some, none in ROWS:
        line = ". '%s'; COMP_WORDS=(tfprof \"$@\"); COMP_CWORD=$#; _tfprof; printf '%%s\\n' \"${COMPREPLY[@]}\"" % path
        done = subprocess.run(["bash", "-c", line, "bash", *words], capture_output=True, text=True, check=False)
        offered = done.stdout.split("\n")
        if done.stderr or not set(some) <= set(offered) or set(none) & set(offered):
            wrong(words, "offers", offered[:20], done.stderr)


def check_fish(path):
    for line, wanted in ("tfprof explain hot", "hot-op"), ("tfprof advise --only hot", "hot-op"), ("tfprof why logdir step:s", "step:slowest"), (
            "tfprof table kern", "kernels"), ("tfprof howto ag", "agent"):
        done = subprocess.run(["fish", "--no-config", "-c", "source %s; complete -C '%s'" % (path, line)], capture_output=True, text=True,
                              check=False)
        if wanted not in [row.split("\t")[0].split("=")[-1] for row in done.stdout.splitlines()] or done.stderr:
            wrong("fish", line, done.stdout[:300], done.stderr[:300])


def typed_into_zsh(path, line, wanted):
    """A terminal is what completes there, so a shell in one is asked: whether it makes of the line and a tab what is wanted."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"], os.environ["COLUMNS"] = "xterm", "200"
        os.execvp("zsh", ["zsh", "-f", "-i"])

    def wait_for(part):
        said, end = "", time.monotonic() + 20
        while part not in said and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                said += re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", os.read(terminal, 65536).decode(errors="replace"))
        return said
    os.write(terminal, ("PS1=; fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; echo rea''dy\n" % path.parent).encode())
    said = wait_for("ready")
    os.write(terminal, line.encode() + b"\t")
    said = wait_for(wanted)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    if wanted not in said:
        wrong("zsh", line, said[-200:])


def check_zsh(path):
    for line, wanted in ("explain tfdata-sequential-m", "explain tfdata-sequential-map"), ("table step_roof", "table step_roofline"), (
            "advise --only=hot-op,tfdata-sequential-m", "--only=hot-op,tfdata-sequential-map"), ("howto agen", "howto agent"), (
            "why logdir step:slo", "why logdir step:slowest"), ("scope --select=micros,occ", "--select=micros,occurrence"), (
            "verify --claimed=tfdata-sequential-m", "--claimed=tfdata-sequential-map"):
        typed_into_zsh(path, "tfprof " + line, wanted)


with tempfile.TemporaryDirectory() as folder:
    check_bash(script("bash", folder))
    shells = ["bash"]
    for shell, check in ("zsh", check_zsh), ("fish", check_fish):
        if shutil.which(shell):
            check(script(shell, folder))
            shells.append(shell)
print(", ".join(shells))
sys.exit(1 if failed else 0)
