#!/usr/bin/env python3
"""Types at the prompt of a terminal and reads what it shows.

    usage: tests/check_terminal.py TFPROF RECORDINGS
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

SECONDS = 60
ROWS, COLUMNS = 20, 100
PROMPT = "tfprof> "


class Terminal:
    """A program on a terminal of its own; `shown` is all that it has written."""

    def __init__(self, arguments, folder, **environment):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        clean = {name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS",
                                                     "LD_LIBRARY_PATH") if name in os.environ}
        self.child = subprocess.Popen(list(map(str, arguments)), stdin=slave, stdout=slave, stderr=slave,
                                      cwd=folder, close_fds=True, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                                      env={**clean, "TERM": "xterm", "HOME": str(folder), **environment})
        os.close(slave)
        self.shown = ""

    def read(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            got = os.read(self.master, 1 << 16)
        except OSError:  # the program has ended
            return False
        self.shown += got.decode(errors="replace")
        return bool(got)

    def wait_for(self, words, since):
        """What is shown from there on, once it has these words."""
        end = time.monotonic() + SECONDS
        while words not in plain(self.shown[since:]) and time.monotonic() < end:
            self.read(1)
        return plain(self.shown[since:])

    def settle(self, since):
        """What is shown from there on, once nothing more comes."""
        while self.read(0.5):
            pass
        return plain(self.shown[since:])

    def type(self, text):
        since = len(self.shown)
        os.write(self.master, text.encode())
        return since

    def line(self, text):
        """Types a line; the answer up to the next prompt."""
        since = self.type(text + "\n")
        self.wait_for("\n", since)
        answer = plain(self.shown[since:]).split("\n", 1)
        shown = self.wait_for("\n" + PROMPT, since) if len(answer) > 1 else answer[0]
        return shown.split("\n", 1)[-1].rsplit(PROMPT, 1)[0]

    def close(self):
        os.write(self.master, b"\x15quit\n")  # Ctrl-U: nothing is left of the line
        while self.read(SECONDS):
            pass
        os.close(self.master)
        return self.child.wait(SECONDS)


def plain(text):
    """Without the sequences that move the cursor, and with single line feeds."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]", "", text)
    return text.replace("\r", "")


class Checks:
    def __init__(self, tfprof, recordings, folder):
        self.folder, self.failed = folder, 0
        self.prompt = [tfprof, "prompt", recordings / "tf1-mnist-softmax/profile/profile_11"]

    def expect(self, holds, what, shown=""):
        if not holds:
            self.failed += 1
            print(what, "|", repr(shown[-1500:]))

    def open(self, *arguments, **environment):
        terminal = Terminal(arguments or self.prompt, self.folder, **environment)
        terminal.wait_for(PROMPT, 0)
        return terminal

    def end(self, terminal):
        status = terminal.close()
        self.expect(status == 0, f"exit {status}", terminal.shown)


def long_answers(check):
    """More than a window of lines: through the pager, or with the columns and the root at the end."""
    terminal = check.open(TFPROF_PAGER="sed s/^/paged:/")
    shown = terminal.line("scope -max_depth 3")
    check.expect("paged:  GradientDescent" in shown and "\n_TFProf" not in shown, "paged", shown)
    shown = terminal.line("scope -max_depth 1")
    check.expect("paged:" not in shown and "_TFProfRoot" in shown, "short", shown)
    check.end(terminal)
    for pager in ({"TFPROF_PAGER": "cat"}, {"TFPROF_PAGER": ""}, {"PAGER": "cat"}, {"PATH": "/nonexistent"}):
        terminal = check.open(**pager)
        rows = terminal.line("scope -max_depth 3 -select bytes").rstrip("\n").split("\n")
        check.expect(rows[-2] == "node name | requested bytes" and rows[-1].startswith("_TFProfRoot (") and
                     rows.count(rows[-1]) == 2, f"{pager}: head at the end", "\n".join(rows))
        check.end(terminal)
    terminal = check.open(TFPROF_PAGER="/nonexistent/pager")
    shown = terminal.line("scope -max_depth 3")
    check.expect("\n  GradientDescent" in shown, "a pager that is not there", shown)
    check.end(terminal)
    terminal = check.open(*check.prompt, "--compat", TFPROF_PAGER="sed s/^/paged:/")
    shown = terminal.line("scope -max_depth 3")
    check.expect("paged:" not in shown and shown.count("_TFProfRoot") == 1, "as the original", shown)
    check.end(terminal)


def tab(check):
    (check.folder / "alphabet.txt").write_text("")
    terminal = check.open(TFPROF_PAGER="cat")
    since = terminal.type("op -output file:outfile=alph\t")
    shown = terminal.wait_for("alphabet.txt", since)
    check.expect(shown.rstrip().endswith("file:outfile=alphabet.txt"), "a file's name", shown)
    terminal.type("\x15")  # Ctrl-U
    # Words that begin alike are listed once, also at a second Tab, and again when the line is another.
    since = terminal.type("set -min_o\t\t")
    shown = terminal.settle(since)
    check.expect(shown.count("-min_occurrence") == 1 and shown.count("-min_output_bytes") == 1, "listed once", shown)
    since = terminal.type("c\x7f\t")
    shown = terminal.settle(since)
    check.expect(shown.count("-min_occurrence") == 0, "a deletion alone changes nothing", shown)
    terminal.type("\x15")
    since = terminal.type("set -min_p\t")
    shown = terminal.settle(since)
    check.expect(shown.count("-min_params") == 1, "another line", shown)
    check.end(terminal)


def letters(check):
    """Letters beyond ASCII arrive, whatever the locale."""
    (check.folder / "letters.pbtxt").write_text('node { name: "模型层" op: "NoOp" } node { name: "x" op: "NoOp" }')
    for locale in ("C", "C.UTF-8"):
        terminal = check.open(check.prompt[0], "prompt", "letters.pbtxt", LC_ALL=locale)
        shown = terminal.line("scope -show_name_regexes .*层")
        check.expect("\n  模型层 (" in shown and "\n  x (" not in shown, f"letters in {locale}", shown)
        check.end(terminal)


def interrupts(check):
    terminal = check.open()
    greeting = plain(terminal.shown)
    check.expect(all(words in greeting for words in ("profile_11", "136 nodes, 12 steps", "help explains")),
                 "the greeting", greeting)
    since = terminal.type("scope -max_dep")
    terminal.wait_for("scope -max_dep", since)  # Ctrl-C takes what was typed and not yet read with it
    since = terminal.type("\x03")
    check.expect("^C" in terminal.wait_for(PROMPT, since), "Ctrl-C drops the line", terminal.shown)
    shown = terminal.line("op -max_rows 1")
    check.expect("more rows" in shown, "and the next is answered", shown)
    check.end(terminal)


def main():
    tfprof, recordings = (pathlib.Path(path).resolve() for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        check = Checks(tfprof, recordings, pathlib.Path(folder))
        long_answers(check)
        tab(check)
        letters(check)
        interrupts(check)
    print("failed:", check.failed)
    sys.exit(check.failed > 0)


if __name__ == "__main__":
    main()
