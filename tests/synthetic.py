"""What tests of whole commands share: running tfprof in a folder of its own on recordings that it writes itself."""
import os
import subprocess
import sys
import tempfile

TFPROF = os.path.realpath(sys.argv[1])
HEAD = 'format kineto\ngpu "NVIDIA A100" memory 40GB sms 108 compute 8.0\n'
faults = []


def expect(holds, what):
    if not holds:
        faults.append(what)
        print("FAULT", what)


def run(*arguments, text="", env=None, timeout=120, into=None):
    """Status, standard output, standard error. A signal is a negative status. into: a file that standard output goes to
    rather than a pipe, for those who read it meanwhile."""
    if into:
        with open(into, "w+b") as file:
            status, _, err = run_to(file, *arguments, text=text, env=env, timeout=timeout)
        return status, read(into).decode(errors="replace"), err
    return run_to(subprocess.PIPE, *arguments, text=text, env=env, timeout=timeout)


def run_to(stdout, *arguments, text, env, timeout):
    done = subprocess.run([TFPROF, *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, input=text, timeout=timeout,
                          errors="replace", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0:allocator_may_return_null=1:exitcode=99", **(env or {})})
    return done.returncode, done.stdout, done.stderr


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def body(launches, micros=30):
    return f"  op aten::add x{launches}\n    kernel k {micros}us\n  sync\n"


def synth(path, sketch):
    """Writes the recording of a sketch; gives its bytes."""
    write("sketch.synth", sketch)
    status, _, err = run("synth", "sketch.synth", "-o", path)
    expect(status == 0, f"{path} is made: {err}")
    return read(path)


def pack(name, code):
    """A pack of one rule, which does `code` and then finds something."""
    os.makedirs(name, exist_ok=True)
    write(f"{name}/pack.toml", f'name = "{name}"\nversion = "1.0.0"\napi = 1\ndescription = "d"\n')
    write(f"{name}/r.lua", f'''return rule {{ id = "{name}/r", api = 1, version = "1.0.0", title = "fired", category = "x",
  severity = "error", doc = "d", check = function(p, cfg) {code}
  return finding {{ evidence = {{ {{ "n", 1, "count" }} }}, condition = "c", remedy = {{ text = "t" }},
    impact = impact.none {{}} }} end }}''')


def finish(main):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
    print(len(faults), "faults")
    sys.exit(bool(faults))
