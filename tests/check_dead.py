#!/usr/bin/env python3
"""What the sources hold that nothing needs.

    check_dead.py BUILD      BUILD: a build tree without link-time optimisation

Names functions and data that no other file of the program uses (they should be static, or go), members of
structs that nothing reads, or that are read and never set, facts and columns that neither a rule nor the program nor a
page uses, flaws of the ledger that the last rule says a second time, and files that pages or comments name and that do not exist.
Names alone decide, so two members of one name vouch for each other. Tests count as users of a
function only where its own file uses it, too.
"""
import collections, pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYMBOLS = ROOT / "engine/lib/tfprof.map"  # what users of the library call
INTERFACE = ROOT / "engine/lib/tfprof.h"
LIBRARIES = ["engine/libtfprof_engine.a", "rules/libtfprof_rules.a", "engine/libtfprof_cli.a"]
WRITES = re.compile(r"=(?!=)|[-+*/|&^]=|<<=|>>=")


def files(folders, *suffixes):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code_of(path):
    """A C file without comments and texts."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', blank, path.read_text(), flags=re.S).replace("##", "__")


def check_exports(build, sources):
    archives = [build / name for name in LIBRARIES] + [
        *build.glob("engine/**/main.c.o"), *build.glob("engine/**/lib/*.c.o"), *build.glob("*/CMakeFiles/compile_*.dir/**/*.o")]
    listing = subprocess.run(["nm", "-A", *archives], capture_output=True, text=True, check=True).stdout
    home, users = {}, collections.defaultdict(set)
    for where, kind, name in re.findall(r"^(\S+?):(?:[0-9a-f]+| +) (\w) (\S+)$", listing, re.M):
        if kind in "TDRBC" and not name.startswith("__odr_asan."):  # marks of the address sanitizer, one a global
            home[name] = where
        elif kind == "U":
            users[name].add(where)
    tests = "\n".join(code_of(path) for path in files(["tests"], ".c", ".h"))
    exported = re.findall(r"tfprof_\w+", SYMBOLS.read_text())
    for name in sorted(home):
        if users[name] or name == "main" or name in exported:
            continue
        file_name = home[name].split(":")[-1].removesuffix(".o")
        own = "\n".join(text for path, text in sources.items() if path.name == file_name)
        is_tested = re.search(r"\b%s\b" % name, tests)
        if len(re.findall(r"\b%s\b" % name, own)) < 2:
            yield "%s: %s has no caller%s" % (file_name, name, " but tests" if is_tested else "")
        elif not is_tested:
            yield "%s: %s is used in its file alone: make it static" % (file_name, name)


def structs(text):
    """Name and body of each struct and union, inner ones by themselves."""
    for match in re.finditer(r"\b(?:struct|union)\s*(\w*)\s*\{", text):
        at, depth = match.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        yield match[1], re.sub(r"\{[^{}]*\}", "", text[match.end():at - 1])


def members(body):
    """Name of each member, and whether it is a plain value that only an assignment sets."""
    for declaration in re.sub(r"^\s*#.*$", "", body, flags=re.M).split(";"):
        declaration = declaration.strip()
        special = re.match(r"VEC\(.*\)\s*(\w+)$", declaration) or re.search(r"\(\*(\w+)\)", declaration)
        if special:
            yield special[1], False
        elif re.match(r"(?![A-Z_]+\()\w", declaration):  # no list of a macro
            for part in declaration.split(","):
                words = re.findall(r"\w+", re.sub(r"\[[^\]]*\]|:\s*\w+\s*$", "", part))
                is_inner = re.match(r"(struct|union)\b", declaration) and "*" not in declaration
                yield words[-1], "[" not in part and not is_inner


def uses_of_members(everything):
    """Names of members that are read, and those that something may set: an assignment, an address, a table."""
    dot, rows = r"(?:\.|->)\s*", r"(?:\s*\[[^\[\]]*\])*"
    read, written = set(), set()
    for name, after in re.findall(dot + r"(\w+)(?=%s\s*(\S{0,3}))" % rows, everything):
        (written if WRITES.match(after) else read).add(name)
    for pattern in (dot + r"(\w+)%s\s*(?:\+\+|--)" % rows,
                    r"(?:\+\+|--)[\w.>\[\]()-]*?" + dot + r"(\w+)",
                    r"&[\w.>\[\]()-]*?" + dot + r"(\w+)\b(?!\s*(?:\.|->|\())",
                    r"offsetof\([^,]+,\s*(\w+)"):
        written |= set(re.findall(pattern, everything))
    for path in files(["tests"], ".c"):
        written |= set(re.findall(dot + r"(\w+)[^=\n;,]*=", code_of(path)))
    return read, written


def filled_by_place(everything):
    """Structs whose values are somewhere written one after the other, without names."""
    return {name for pattern in (r"\bstruct (\w+)\s+\w+\s*(?:\[[^\]]*\])+\s*=",
                                 r"\bstruct (\w+) \{[^{}]*\}\s*\w+\s*\[[^\]]*\]\s*=",
                                 r"\(struct (\w+)\)\s*\{\s*[^.}\s]",
                                 r"\bstruct (\w+)\s+\w+\s*=\s*\{\s*[^.}0\s]")
            for name in re.findall(pattern, everything)}


def check_members(sources):
    everything = "\n".join(sources.values())
    read, written = uses_of_members(everything)
    by_place = filled_by_place(everything)
    for path, text in sources.items():
        if path == INTERFACE:  # others read and set what is in it
            continue
        for struct, body in structs(text):
            is_set = not struct or struct.endswith("_values") or struct in by_place  # options set *_values by offset
            for name, is_plain in members(body):
                if name not in read:
                    yield "%s: nothing reads %s of struct %s" % (path.relative_to(ROOT), name, struct or "(no name)")
                elif is_plain and not is_set and name not in written:
                    yield "%s: nothing sets %s of struct %s" % (path.relative_to(ROOT), name, struct)


def check_facts():
    """A share of a fact that is used, and the fact of a share, are the same measurement."""
    facts = re.findall(r"^\| `(\w+\.[\w.]+)` \|", (ROOT / "docs/facts.md").read_text(), re.M)
    rules = [path.read_text().split("\n  examples = {")[0] for path in files(["checkers"], ".lua")]
    program = "\n".join(path.read_text() for path in files(["engine", "rules"], ".c", ".h", ".def"))
    program = re.sub(r'"\s*\n\s*"', "", re.sub(r'\{ "[\w.]+", UNIT_', "", program))  # but for where facts are made
    pages = "\n".join(path.read_text() for path in files(["docs"], ".md") if path.name != "facts.md")
    used = {word for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', program) for word in re.split("[,|]", text)}
    used |= {"critical.%s_ns" % name for name in re.findall(r'\bMOVED\("(\w+)"', program)}  # names of older versions
    for fact in facts:
        group, name = fact.split(".", 1)
        if any('"%s"' % fact in text or '"%s."' % group in text and '"%s"' % name in text for text in rules) or \
                re.search(r"(?<![\w.])%s(?!\w)" % re.escape(fact), pages):
            used.add(fact)
    for fact in facts:
        stem = re.sub(r"_(ns|share)$", "", fact)
        if not used & {fact, stem + "_ns", stem + "_share"}:
            yield "docs/facts.md: nothing uses %s: a rule, a section of engine/report/tools.def" % fact


def check_columns():
    """A column is used where a rule, or a file of the program other than its table's own, names it beside its table; a
    page of the program (ROWS) shows it; or a page of docs/ tells of it."""
    listed = re.findall(r"^Table `(\w+)`:.*\n\n\| column .*\n.*\n((?:\|.*\n)+)", (ROOT / "docs/facts.md").read_text(), re.M)
    readers = [path.read_text().split("\n  examples = {")[0] for path in files(["checkers", "rules"], ".lua")]
    for path in files(["engine", "rules"], ".c", ".h"):
        texts = re.findall(r'"(?:\\.|[^"\\\n])*"', re.sub(r'\{ "\w+", UNIT_', "", path.read_text()))
        readers.append(" ".join(texts))
    shown = re.findall(r'ROWS\(\s*"[^"]*",\s*"(\w+)",\s*"([^"]*)"', (ROOT / "engine/report/tools.def").read_text())
    pages = "\n".join(path.read_text() for path in files(["docs"], ".md") if path.name != "facts.md")
    for table, rows in listed:
        beside = "\n".join(text for text in readers if '"%s"' % table in text)
        on_pages = {column for name, columns in shown if name == table for column in columns.split(",")}
        for column in re.findall(r"^\| `(\w+)`", rows, re.M):
            if not on_pages & {column, ""} and not re.search(r"\b%s\b" % column, beside) and \
                    "`%s.%s`" % (table, column) not in pages:
                yield "docs/facts.md: nothing uses %s of the table %s: a rule, ROWS of engine/report/tools.def" % (column, table)


def check_flaws():
    """The list `named` of the rule that says what no other one does is of the flaws that others ask the ledger for."""
    last = ROOT / "checkers/unnamed-excess.lua"
    told = set(re.findall(r'const struct detector \w+ = \{\s*"([\w-]+)"',
                          "\n".join(path.read_text() for path in files(["engine/analyze/excess"], ".c"))))
    said = {word for path in files(["checkers"], ".lua") if path != last
            for text in re.findall(r'"([^"\n]*)"', path.read_text().split("\n  examples = {")[0])
            for word in re.findall(r"[\w-]+", text)} & told
    named = set(re.findall(r"[\w-]+", "".join(re.findall(r'"([^"]*)"', last.read_text().split("local ways")[0]))))
    for flaw in sorted((said ^ named) - {"library-range"}):  # which the rule looks at by itself
        yield "checkers/unnamed-excess.lua: %s %s" % (flaw, "is not in `named`, and a rule asks for it"
                                                      if flaw in said else "is in `named`, and no rule asks for it")


def check_names_of_files():
    folders = ["engine", "rules", "docs", "tests", "checkers", "proto", "cases"]
    every = {str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*")}
    known = every | {name.split("/", depth)[-1] for name in every for depth in range(1, 1 + name.count("/"))}
    pages = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"] + files(["docs", "tests"], ".md")
    for path in pages + files(["engine", "rules"], ".c", ".h", ".def"):
        text = path.read_text(errors="replace")
        if path.suffix == ".md":
            said = re.findall(r"`([\w./-]+\.(?:[ch]|def))`", text)
        else:
            said = [name for comment in re.findall(r"/\*.*?\*/", text, re.S)
                    for name in re.findall(r"(?<![\w./*<-])(?!_)([\w/]+\.(?:h|c|def|md))\b", comment)]
        for name in sorted(set(said + re.findall(r"\bdocs/[\w-]+(?:\.\w+)*\.\w+\b", text))):
            if name not in known and not re.search(r"(^|_)X\b|(^|/)[A-Z]+\b", name):
                yield "%s: names %s, which does not exist" % (path.relative_to(ROOT), name)


def main():
    build = pathlib.Path(sys.argv[1])
    sources = {path: code_of(path) for path in files(["engine", "rules"], ".c", ".h", ".def")}
    found = [*check_exports(build, sources), *check_members(sources), *check_facts(), *check_columns(), *check_flaws(),
             *check_names_of_files()]
    print("\n".join(found) if found else "nothing is dead")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
