#!/usr/bin/env python3
"""Holds the code that remedies show: it is Python or a command, and what it names of frameworks is there.
usage: check.py CHECKERS API              every name and argument stands in API, which real frameworks answered
       check.py CHECKERS API --ask        adds to API what the frameworks that can be imported here have (slow)
API has a line a name: `torch.nn.functional.gelu approximate=`, with the arguments that remedies give by name.
"""
import ast
import importlib
import inspect
import pathlib
import re
import sys
import textwrap

# What snippets call things, and what they are. A name that is not listed is the reader's own.
ALIASES = {
    "torch": "torch", "F": "torch.nn.functional", "nn": "torch.nn", "dist": "torch.distributed",
    "DataLoader": "torch.utils.data.DataLoader", "DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel",
    "DDP": "torch.nn.parallel.DistributedDataParallel", "profile": "torch.profiler.profile",
    "FSDP": "torch.distributed.fsdp.FullyShardedDataParallel", "ProfilerActivity": "torch.profiler.ProfilerActivity",
    "tf": "tensorflow", "keras": "keras", "jax": "jax", "jnp": "jax.numpy", "lax": "jax.lax", "np": "numpy", "numpy": "numpy",
    "optax": "optax", "nnx": "flax.nnx", "flax": "flax", "ocp": "orbax.checkpoint", "orbax": "orbax",
}
PRELUDE = pathlib.Path(__file__).parents[2] / "rules" / "prelude.lua"  # what rules share
COMMANDS = re.compile(r"^\s*(#|[A-Z][A-Z0-9_]+=|export |nvidia-smi|torchrun|python|tfprof|rocm-smi|numactl|pip|perf|--|echo |sudo |nsys|grep )")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|\[\[(.*?)\]\]', re.S)


def lua_text(match):
    if match.group(3) is not None:
        return match.group(3).lstrip("\n")
    text = match.group(1) if match.group(1) is not None else match.group(2)
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text)


def literals(source, start):
    """String literals of the Lua expression at `start`: up to where its table or statement ends."""
    depth, at = 0, start
    while at < len(source):
        match = STRING.match(source, at)
        if match:
            before, text = source[:at].rstrip(), lua_text(match)
            at = match.end()
            joined = re.compile(r"\s*\.\.\s*").match(source, at)
            while joined and STRING.match(source, joined.end()):
                match = STRING.match(source, joined.end())
                text, at = text + lua_text(match), match.end()
                joined = re.compile(r"\s*\.\.\s*").match(source, at)
            if not before.endswith(("==", "~=", "[", "p:has(", "format(", "find(", "match(")):
                yield text
            continue
        if source.startswith("--", at):
            at = source.find("\n", at)
            continue
        char = source[at]
        depth += (char in "({[") - (char in ")}]")
        if depth < 0 or (char == "," and depth == 0):
            return
        if char == "\n" and depth == 0:
            rest = source[at:].lstrip()
            line = source[start:at].rstrip()
            if not rest.startswith(("or ", "and ", "..", ":format", '"')) and not line.endswith(("or", "and", "..", "=", "(", "{", ",")):
                return
        at += 1


def snippets(folder):
    for path in [*sorted(pathlib.Path(folder).glob("*.lua")), PRELUDE]:
        source = path.read_text(encoding="utf-8")
        for match in re.finditer(r"\b(?:code|remedy_code)\s*=\s*(?!=)", source):
            for text in literals(source, match.end()):
                if re.search(r"[^\w \-]", text):  # a word alone names a framework or a kind
                    yield path.stem, re.sub(r"%(\.\d)?[sdfgq]", "1", text).replace("%%", "%")


def parse(text):
    """The syntax tree; None: a command; SyntaxError where it is neither."""
    lines = [line for line in text.split("\n") if line.strip() and not COMMANDS.match(line)]
    if not lines:
        return None
    body = textwrap.dedent("\n".join(lines))
    for tail in ("", "\n    pass", "\n        pass", "\ndef f(): pass"):
        try:
            return ast.parse(body + tail)
        except SyntaxError as error:
            last = error
    raise last


def dotted(node):
    """a.b.c of a chain of attributes that begins with an alias; None otherwise."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in ALIASES:
        return None
    return ".".join([ALIASES[node.id]] + parts[::-1])


def names_of(tree):
    """{name: arguments given by name} of what a snippet names; of chains only the longest."""
    found, inner = {}, set()
    bound = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            inner.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)) and id(node) not in inner:
            name = dotted(node)
            if name and not (isinstance(node, ast.Name) and (node.id in bound or name == ALIASES.get(node.id) and "." not in name)):
                found.setdefault(name, set())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func) in found:
            found[dotted(node.func)] |= {keyword.arg for keyword in node.keywords if keyword.arg}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found.setdefault(f"{node.module}.{alias.name}", set())
    return found


def resolve(name):
    """As a program reaches it: attributes first, modules that must be imported where there is none."""
    root, *parts = name.split(".")
    thing = importlib.import_module(root)
    for end, part in enumerate(parts):
        try:
            thing = getattr(thing, part)
        except AttributeError as error:
            try:
                thing = importlib.import_module(".".join([root] + parts[:end + 1]))
            except ImportError:
                raise error from None
    return thing


def takes(thing, arguments):
    """Arguments that it does not take; those of functions whose signature is not told are believed if documented."""
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        schemas = getattr(getattr(sys.modules.get("torch"), "_C", None), "_jit_get_schemas_for_operator", lambda name: [])
        named = {argument.name for schema in schemas("aten::" + getattr(thing, "__name__", "")) for argument in schema.arguments}
        arguments = arguments - named
        return {argument for argument in arguments if argument not in (thing.__doc__ or "")}
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters.values()):
        return {argument for argument in arguments if argument not in parameters and argument not in (inspect.getdoc(thing) or "")}
    return arguments - set(parameters)


def ask(wanted, known):
    bad = []
    for name, arguments in sorted(wanted.items()):
        try:
            thing = resolve(name)
        except ImportError:
            continue  # not installed here
        except AttributeError as error:
            bad.append(f"{name}: {error}")
            continue
        missing = takes(thing, arguments)
        if missing:
            bad.append(f"{name} takes no {', '.join(sorted(missing))}")
        known.setdefault(name, set()).update(arguments - missing)
    return bad


def main():
    folder, path = sys.argv[1], pathlib.Path(sys.argv[2])
    wanted, bad, count, where = {}, [], 0, {}
    for rule, text in snippets(folder):
        count += 1
        try:
            tree = parse(text)
        except SyntaxError as error:
            bad.append(f"{rule}: {error.msg}: {text!r}")
            continue
        for name, arguments in (names_of(tree) if tree else {}).items():
            wanted.setdefault(name, set()).update(arguments)
            where.setdefault(name, rule)
    known = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            name, *arguments = line.split()
            known[name] = {argument.rstrip("=") for argument in arguments}
    if "--ask" in sys.argv:
        bad += ask(wanted, known)
        lines = [" ".join([name] + [argument + "=" for argument in sorted(known[name] & wanted[name])]) for name in sorted(known) if name in wanted]
        path.write_text("# Names and arguments in code of remedies that real frameworks have: check.py --ask\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for name, arguments in sorted(wanted.items()):
        if name not in known:
            bad.append(f"{where[name]}: {name} is not in {path.name}: no framework has been asked")
        elif arguments - known[name]:
            bad.append(f"{where[name]}: {name}: {', '.join(sorted(arguments - known[name]))} not in {path.name}")
    for name in sorted(set(known) - set(wanted)):
        bad.append(f"{path.name}: {name}: no remedy names it any more")
    print("\n".join(bad))
    print(f"{count} snippets, {len(wanted)} names, {len(bad)} faults")
    sys.exit(1 if bad or count < 100 else 0)


main()
