"""What trackers of experiments keep of a recording."""

from __future__ import annotations

import json
import pathlib
from typing import Any, Dict, List, Tuple

from . import Advice, Path, Profile, _split

REPORT, ADVICE = "report.html", "advice.json"


def collect(folder: pathlib.Path, given: "tuple[Path, ...]", how: Dict[str, Any]) -> Tuple[Advice, Dict[str, float]]:
    """Writes the page and the advice into the folder; the advice, and its numbers by name."""
    reading, asking = _split(how)
    with Profile(*given, **reading) as profile:
        advice = profile.advise(**asking)
        profile.report(folder / REPORT)
    (folder / ADVICE).write_text(json.dumps(advice.json, indent=1), encoding="utf-8")
    shown = [finding for finding in advice if not finding.hidden_by]
    numbers: Dict[str, float] = {"findings": len(shown)}
    if advice.step_ms is not None:
        numbers["step_ms"] = advice.step_ms
    for part in advice.json["composition"]:
        numbers["part_ms/%s" % part["part"]] = part["ms"]
    for finding in reversed(shown):  # of a rule with several, the first
        if finding.impact.mid_ms is not None:
            numbers["saves_ms/%s" % finding.rule.replace("/", "-")] = finding.impact.mid_ms
    return advice, numbers


COLUMNS = ["rank", "rule", "severity", "title", "saves_low_ms", "saves_ms", "saves_high_ms", "place", "remedy", "fingerprint"]


def rows(advice: Advice) -> List[List[Any]]:
    """The findings as rows of COLUMNS."""
    made = []
    for finding in advice:
        places = ["%s:%s" % (place.file, place.line) for place in finding.locations if place.file]
        if not finding.hidden_by:
            made.append([finding.rank, finding.rule, finding.severity, finding.title, finding.impact.low_ms, finding.impact.mid_ms,
                         finding.impact.high_ms, places[0] if places else None, finding.remedy, finding.fingerprint])
    return made
