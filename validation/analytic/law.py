"""A law with its rows, and the small networks for measuring the laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import netlull

PACKET_BYTES = 1500
MSS_BYTES = 1460
Table = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """A comparison: the setting, the measured value, the theoretical value and the tolerance."""

    case: str
    measured: float
    theory: float
    tolerance: float
    bound: bool = False
    """True if theory is an upper bound instead of a value."""

    @property
    def error(self) -> float:
        """Relative difference from theory."""
        return self.measured / self.theory - 1.0

    @property
    def holds(self) -> bool:
        """True if the difference is within the tolerance."""
        return self.error <= self.tolerance if self.bound else abs(self.error) <= self.tolerance


@dataclass(frozen=True)
class Law:
    """A law with its rows, and the reason for their tolerances."""

    title: str
    unit: str
    rows: Sequence[Row]
    reason: str
    notes: Sequence[str] = ()
    """Cases that are not judged, and why."""

    @property
    def holds(self) -> bool:
        """True if every row holds."""
        return all(row.holds for row in self.rows)

    def table(self) -> str:
        """The law as text."""
        head = f"{'case':<36} {'measured':>14} {'theory':>14} {'error':>9} {'allowed':>9}  verdict"
        lines = [f"{self.title} [{self.unit}]", f"allowed: {self.reason}", head]
        for row in self.rows:
            verdict = "ok" if row.holds else "NOT MET"
            lines.append(
                f"{row.case:<36} {row.measured:>14.9g} {row.theory:>14.9g}"
                f" {row.error:>+9.2%} {row.tolerance:>9.2%}  {verdict}"
            )
        return "\n".join([*lines, *self.notes]) + "\n"


def one_link(duration: str, link: Table, flow: Table, **more: Any) -> netlull.Scenario:
    """Two nodes and a link in each direction; the reverse link is for TCP."""
    wire = {"from": "a", "to": "b", "duplex": True, "rate": "10 Mb/s", "buffer": "unlimited"} | dict(link)
    return netlull.Scenario.from_dict(
        {"name": "analytic", "duration": duration, "nodes": ["a", "b"], "link": [wire], "flow": [dict(flow)]} | more
    )


def tcp_pair(duration_s: float, link: Table, tcp: Table, flows: int = 1, **more: Any) -> netlull.Scenario:
    """Endless flows over a link. The reverse link has no queue and no losses."""
    there = {"from": "a", "to": "b", "buffer": "unlimited"} | dict(link)
    back = {"from": "b", "to": "a", "buffer": "unlimited", "rate": there["rate"], "delay": there["delay"]}
    flow = {"kind": "tcp", "name": "t", "from": "a", "to": "b", "count": flows}
    return netlull.Scenario.from_dict(
        {
            "name": "analytic",
            "duration": f"{duration_s:g} s",
            "nodes": ["a", "b"],
            "link": [there, back],
            "flow": [flow],
            "tcp": {"delayed_ack": False, "timestamps": False} | dict(tcp),
        }
        | more
    )
