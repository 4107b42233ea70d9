#!/usr/bin/env python3
"""The C library as its users have it: installed, by pkg-config, from the page.

    check_library.py BUILD TFPROF RECORDING...

Installs the build into a folder, compiles the example of docs/library.md with what pkg-config says, and compares what it prints
with what the program prints. Exported names are those of the list tests/library/abi.txt, no more and no fewer, with their version.
"""
import os, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*arguments, **more):
    return subprocess.run([*map(str, arguments)], capture_output=True, text=True, check=True, **more)


def exported(library):
    listing = run("nm", "-D", "--defined-only", "--with-symbol-versions", library).stdout
    return sorted(line.split()[-1].replace("@@", "@") for line in listing.splitlines() if line.split()[1] != "A")


def check_names(library):
    listed = (ROOT / "tests/library/abi.txt").read_text().split()
    assert exported(library) == sorted(listed), "exported names are not those of tests/library/abi.txt: %s" % (
        set(exported(library)) ^ set(listed))
    header = (ROOT / "engine/lib/tfprof.h").read_text()
    declared = set(re.findall(r"\b(tfprof_\w+)\(", header))
    assert declared == {name.split("@")[0] for name in listed}, "tfprof.h declares others than are exported"
    soname = re.search(r"SONAME +(\S+)", run("objdump", "-p", library).stdout)[1]
    assert soname == "libtfprof.so.1", soname


def build_example(prefix, work):
    page = (ROOT / "docs/library.md").read_text()
    (work / "example.c").write_text(re.search(r"```c\n(.*?)```", page, re.S)[1])
    found = {"PKG_CONFIG_PATH": str(next(prefix.rglob("pkgconfig"))), "PATH": os.environ["PATH"]}
    flags = run("pkg-config", "--cflags", "--libs", "tfprof", env=found).stdout.split()
    sanitizers = [os.environ["TFPROF_SANITIZERS"]] if os.environ.get("TFPROF_SANITIZERS") else []
    run(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", *sanitizers, work / "example.c", *flags, "-o", work / "example")
    return work / "example"


def main():
    build, tfprof, *recordings = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        prefix = work / "prefix"
        for component in "library", "development":
            run("cmake", "--install", build, "--prefix", prefix, "--component", component)
        for path in prefix.rglob("tfprof.pc"):  # made for where the build is meant to go
            path.write_text(re.sub(r"(?m)^(\w+)=.*", lambda m: "%s=%s" % (m[1], {
                "prefix": prefix, "libdir": path.parent.parent, "includedir": prefix / "include"}[m[1]]), path.read_text()))
        library = next(prefix.rglob("libtfprof.so.1"))
        check_names(library)
        example = build_example(prefix, work)
        where = dict(os.environ, LD_LIBRARY_PATH=str(library.parent), ASAN_OPTIONS="detect_leaks=1")
        for recording in recordings:
            given = run(example, recording, env=where)
            wanted = run(tfprof, "advise", recording, "--format", "json", "--preset", "strict", "--config", "none").stdout
            assert given.stdout == wanted, "%s: the library says something else than the program" % recording
            assert re.search(r"^step\.ns: \d+ ns$", given.stderr, re.M) and "  duration_ns" in given.stderr, given.stderr
        missing = subprocess.run([str(example), "nowhere.json"], capture_output=True, text=True, env=where)
        assert missing.returncode == 2 and missing.stderr.startswith("nowhere.json: "), missing
    print("%d recordings; %d names" % (len(recordings), len(exported_names())))


def exported_names():
    return (ROOT / "tests/library/abi.txt").read_text().split()


main()
