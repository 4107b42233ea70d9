#!/usr/bin/env python3
"""Runs docs/notebook.ipynb cell by cell as a notebook does, and looks at what it would show.

    check_notebook.py LIBRARY RECORDING     LIBRARY: libtfprof.so.1, or "installed" for a wheel's own module

Without the packages cffi, pandas and pyarrow it is skipped (status 77).
"""
import ast, json, os, pathlib, sys
from xml.etree import ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
try:
    import cffi, pandas, pyarrow  # noqa: F401
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)
library, os.environ["RECORDING"] = sys.argv[1:]
if library != "installed":
    os.environ["TFPROF_LIBRARY"] = library
    sys.path.insert(0, str(ROOT / "engine/python"))


def shown(source, names):
    """Runs a cell; the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


def main():
    page = json.loads((ROOT / "docs/notebook.ipynb").read_text(encoding="utf-8"))
    assert page["nbformat"] == 4 and all(not cell["outputs"] for cell in page["cells"] if cell["cell_type"] == "code")
    names = {}
    values = [shown("".join(cell["source"]), names) for cell in page["cells"] if cell["cell_type"] == "code"]
    advice, picture, frame, together = [value for value in values if value is not None]
    table = advice._repr_html_()
    assert table.count("<tr>") == 1 + sum(not finding.hidden_by for finding in advice) and advice.verdict.text[:20] in table
    svg = ElementTree.fromstring(picture._repr_svg_())
    parts = {item["part"]: item["ms"] for item in advice.json["composition"]}
    space = "{http://www.w3.org/2000/svg}"
    labels = [text.text for text in svg.iter(space + "text")][::2]
    widths = [float(bar.get("width")) for bar in svg.iter(space + "rect")]
    assert labels == list(parts) and len(labels) > 1, labels
    # Bars are to each other as the times are, to the hundredth of a pixel that is written.
    scale = max(widths) / max(parts.values())
    assert all(abs(width - scale * ms) <= 0.02 for width, ms in zip(widths, parts.values())), (widths, parts)
    assert list(frame.columns) == ["name", "calls", "self_ns"] and len(frame) == 10, frame
    assert list(frame["self_ns"]) == sorted(frame["self_ns"], reverse=True) and frame["self_ns"].iloc[0] > 0
    assert 0 < together["step_ms"] < advice.step_ms
    print("%d cells, %d findings, %d bars, %d rows" % (len(page["cells"]), len(advice), len(widths), len(frame)))


main()
