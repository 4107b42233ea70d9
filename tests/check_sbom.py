#!/usr/bin/env python3
"""The bill of materials of a build: CycloneDX as its specification wants it, and what the program really needs.

    check_sbom.py SBOM PROGRAM
"""
import json, re, subprocess, sys

# Names of the files that libraries have: of what is linked, and of what the program loads by name.
FILES = {"libprotobuf-c": "libprotobuf-c", "lua": "liblua5.4", "pcre2": "libpcre2-8", "zlib": "libz", "isa-l": "libisal",
         "igraph": "libigraph", "snappy": "libsnappy", "libedit": "libedit", "libmicrohttpd": "libmicrohttpd", "nghttp2": "libnghttp2",
         "openssl": "libssl"}
OF_COMPILER = {"libc", "libm", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"} | {"libasan", "libubsan", "libgcc_s", "libtsan"}


def main():
    sbom = json.load(open(sys.argv[1], encoding="utf-8"))
    assert (sbom["bomFormat"], sbom["specVersion"], sbom["version"]) == ("CycloneDX", "1.6", 1)
    whole = sbom["metadata"]["component"]
    version = subprocess.run([sys.argv[2], "--version"], capture_output=True, text=True, check=True).stdout
    assert whole["type"] == "application" and whole["version"] in version, (whole, version)
    parts = {part["bom-ref"]: part for part in sbom["components"]}
    assert len(parts) == len(sbom["components"]), "a name stands twice"
    for part in [whole, *parts.values()]:
        assert re.fullmatch(r"pkg:generic/[^@/]+@[0-9][\w.]*", part["purl"]), part
        assert part["name"] == part["bom-ref"] and part["version"] in part["purl"] and part["licenses"][0]["expression"], part
        assert part is whole or (part["type"], part["scope"] in ("required", "optional")) == ("library", True), part
    [edges] = sbom["dependencies"]
    assert edges["ref"] == "tfprof" and sorted(edges["dependsOn"]) == sorted(parts)
    headers = subprocess.run(["objdump", "-p", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    needed = {name.split(".so")[0] for name in re.findall(r"NEEDED +(\S+)", headers)} - OF_COMPILER
    linked = {FILES[name] for name, part in parts.items() if part["scope"] == "required" and name in FILES}
    assert needed == linked or not needed, "linked are %s, listed %s" % (sorted(needed), sorted(linked))
    texts = subprocess.run(["strings", sys.argv[2]], capture_output=True, text=True, check=True).stdout
    loaded = set(re.findall(r"^(lib[\w-]+)\.so\.\d+$", texts, re.M)) - needed - OF_COMPILER
    listed = {FILES[name] for name, part in parts.items() if part["scope"] == "optional"}
    assert not needed or loaded & set(FILES.values()) == listed, "loaded are %s, listed %s" % (sorted(loaded), sorted(listed))
    print("%d parts: %s" % (len(parts), ", ".join("%s %s" % (name, part["version"]) for name, part in sorted(parts.items()))))


main()
