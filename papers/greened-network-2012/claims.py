"""How each claim of claims.toml is judged. A claim is parts; each holds or not and says what was measured."""

from __future__ import annotations

from netlull.papers import Evidence, Part, Tolerance

TABLE_V = {
    90: ("9-10", "3-9"),
    80: ("9-10", "3-9"),
    70: ("9-10", "3-9", "2-8"),
    60: ("9-10", "3-9", "2-8"),
    50: ("9-10", "3-9", "2-8", "1-5"),
}
"""The links that the paper switches off, in its order."""


def links_asleep(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """N1."""
    parts = []
    for threshold, theirs in TABLE_V.items():
        ours = tuple(entry["link"] for entry in evidence.series[f"plan-{threshold}"].summary["routing"]["sleep"])
        parts.append(Part(f"at{threshold}", ours == theirs, f"{threshold} %: {', '.join(ours)}."))
    return parts


JUDGES = {"N1": links_asleep}
"""One function for each claim."""

HEADLINES = ()
"""The numbers by which a reading's effect is told."""
