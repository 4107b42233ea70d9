"""Advice as values: what `tfprof advise --format json` says, with names and types."""

from __future__ import annotations

import dataclasses
import html
import json
from typing import Any, Mapping, Optional, Sequence, Tuple


@dataclasses.dataclass(frozen=True)
class Impact:
    """What a fix saves of each step. None: the rule cannot tell."""

    low_ms: Optional[float]
    mid_ms: Optional[float]
    high_ms: Optional[float]
    share: Optional[float]
    method: str
    confidence: str


@dataclasses.dataclass(frozen=True)
class Evidence:
    what: str
    value: Any
    unit: Optional[str]
    share: Optional[float]

    def __str__(self) -> str:
        share = "" if self.share is None else " (%.1f %%)" % (100 * self.share)
        value = "%.4g" % self.value if isinstance(self.value, float) else str(self.value)
        return "%s: %s%s%s" % (self.what, value, " " + self.unit if self.unit else "", share)


@dataclasses.dataclass(frozen=True)
class Location:
    file: Optional[str]
    line: Optional[int]
    function: Optional[str]


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing to change. `json` holds all that the library says of it."""

    rank: int
    rule: str
    title: str
    severity: str
    category: str
    impact: Impact
    evidence: Tuple[Evidence, ...]
    condition: str
    remedy: str
    code: Optional[str]
    locations: Tuple[Location, ...]
    edits: Tuple[str, ...]
    fingerprint: str
    hidden_by: Optional[str]
    json: Mapping[str, Any] = dataclasses.field(repr=False)

    @property
    def price(self) -> str:
        """ "saves 2.02 … 7.69 ms a step", or ""."""
        if self.impact.low_ms is None or self.impact.high_ms is None:
            return ""
        return "saves %.3g … %.3g ms a step" % (self.impact.low_ms, self.impact.high_ms)


@dataclasses.dataclass(frozen=True)
class Verdict:
    class_: str
    text: str
    share: Optional[float]


class Picture(str):
    """SVG, which notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


_WIDTH, _ROW, _NAMES = 640, 24, 140  # pixels: of the picture, of a row, of the names beside the bars


def _bars(rows: Sequence[Tuple[str, float, str]]) -> Picture:
    """A bar a row: name, length and what stands behind it. The longest takes the room there is."""
    most = max([length for _, length, _ in rows], default=0) or 1
    room = _WIDTH - _NAMES - 120
    drawn = "".join(
        '<text x="%d" y="%d" text-anchor="end">%s</text><rect x="%d" y="%d" width="%.2f" height="%d" fill="#4c78a8"/>'
        '<text x="%.2f" y="%d">%s</text>' % (
            _NAMES - 8, at * _ROW + 17, html.escape(name), _NAMES, at * _ROW + 4, room * length / most, _ROW - 8,
            _NAMES + room * length / most + 6, at * _ROW + 17, html.escape(note))
        for at, (name, length, note) in enumerate(rows))
    return Picture('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">%s</svg>' % (
        _WIDTH, max(len(rows), 1) * _ROW, drawn))


@dataclasses.dataclass(frozen=True)
class Advice(Sequence[Finding]):
    """The verdict and the findings, the one that saves most first. `json` holds everything else."""

    verdict: Verdict
    findings: Tuple[Finding, ...]
    step_ms: Optional[float]
    json: Mapping[str, Any] = dataclasses.field(repr=False)
    warnings: str = dataclasses.field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self.findings[index]

    def __str__(self) -> str:
        lines = ["%d. %s%s" % (finding.rank, finding.title, finding.price and " (%s)" % finding.price)
                 for finding in self.findings if not finding.hidden_by]
        return "\n".join([self.verdict.text, *lines])

    def picture(self) -> Picture:
        """What a step waits for: a bar a part, as long as its time."""
        return _bars([(item["part"], item["ms"], "%.3g ms (%.0f %%)" % (item["ms"], 100 * item["share"]))
                      for item in self.json["composition"]])

    def _repr_html_(self) -> str:
        """For notebooks. Names of a recording are text in it and never markup."""
        rows = "".join(_html_row(finding) for finding in self.findings if not finding.hidden_by)
        return ("<div class='tfprof'><p><b>%s</b></p><table><thead><tr><th>#</th><th>what</th><th>saves a step</th>"
                "<th>do</th></tr></thead><tbody>%s</tbody></table></div>" % (html.escape(self.verdict.text), rows))

    def __rich__(self) -> Any:
        """For terminals, where `rich` is installed."""
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table("#", "what", "saves a step", "do")
        for finding in self.findings:
            if not finding.hidden_by:
                table.add_row(str(finding.rank), Text(finding.title), Text(finding.price.replace("saves ", "").replace(
                    " a step", "")), Text(finding.remedy))
        return Group(Text(self.verdict.text, style="bold"), table)


def _html_row(finding: Finding) -> str:
    escape = html.escape
    evidence = "".join("<li>%s</li>" % escape(str(item)) for item in finding.evidence)
    code = "<pre>%s</pre>" % escape(finding.code) if finding.code else ""
    return ("<tr><td>%d</td><td style='text-align:left'><details><summary>%s</summary><code>%s</code> %s<ul>%s</ul></details></td>"
            "<td>%s</td><td style='text-align:left'>%s%s</td></tr>" % (
                finding.rank, escape(finding.title), escape(finding.rule), escape(finding.condition), evidence,
                escape(finding.price.replace("saves ", "").replace(" a step", "")), escape(finding.remedy), code))


def _finding(item: Mapping[str, Any]) -> Finding:
    impact = item["impact"]
    return Finding(
        rank=item["rank"], rule=item["rule"], title=item["title"], severity=item["severity"], category=item["category"],
        impact=Impact(impact.get("low_ms"), impact.get("mid_ms"), impact.get("high_ms"), impact.get("share"),
                      impact["method"], impact["confidence"]),
        evidence=tuple(Evidence(e["what"], e["value"], e.get("unit"), e.get("share")) for e in item["evidence"]),
        condition=item["condition"], remedy=item["remedy"]["text"], code=item["remedy"].get("code"),
        locations=tuple(Location(place.get("file"), place.get("line"), place.get("function"))
                        for place in item.get("locations", ())),
        edits=tuple(item.get("edits", ())), fingerprint=item["fingerprint"], hidden_by=item.get("hidden_by"), json=item)


def parse(as_json: str, warnings: str) -> Advice:
    data = json.loads(as_json)
    verdict = data["verdict"]
    return Advice(
        verdict=Verdict(verdict["class"], verdict["text"], verdict.get("share")),
        findings=tuple(_finding(item) for item in data["findings"]),
        step_ms=data["steps"].get("wall_ms", {}).get("median"), json=data, warnings=warnings)
