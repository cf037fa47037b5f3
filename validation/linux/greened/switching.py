"""The cases: the paper's network (greened-network-2012) with real senders, awake and with ESTOP's links asleep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import SENDERS

from netlull import Scenario

PAPERS = Path(__file__).parents[3] / "python" / "netlull" / "shipped" / "papers"
PAPER = PAPERS / "greened-network-2012" / "scenario.toml"
LINUX: Mapping[str, object] = {"preset": "linux-6"}
"""Linux's TCP in the scenario's words (docs/models/tcp.md)."""
JUDGED = ("reno", "cubic")
"""The judged TCPs. Linux's bbr is version 1, netlull's version 3: it is not compared."""
THRESHOLDS = (None, 0.9, 0.7, 0.5)
"""Share of the algebraic connectivity that ESTOP leaves: two, three and four links sleep; `None`: none sleeps."""
DURATION = "45 s"
"""Links fall asleep at 30 s."""
BACKGROUND = "1040 B"
"""Size of the background's packets, equal to the download's. The paper's 208 B would be 140,000 packets a second, which
makes a shared machine too late (README.md)."""
SWITCHING: Mapping[str, object] = {"name": "switching", "from": "30 s", "to": "30.03 s"}
"""The time of losses by the switch-off: from 30 s until all routers have new tables, 25 ms later."""
SEEDS = (1, 2)


@dataclass(frozen=True)
class Case:
    """A download across the network."""

    sender: str
    threshold: float | None

    @property
    def name(self) -> str:
        """The name in stored results."""
        return f"{self.sender}/{'awake' if self.threshold is None else f'{100 * self.threshold:.0f}'}"

    @property
    def made_from(self) -> object:
        """The options of TCP, and the paper's network."""
        return [LINUX, SENDERS[self.sender], DURATION, BACKGROUND, SWITCHING, SEEDS, PAPER.read_text(encoding="utf-8")]

    @property
    def awake(self) -> Case:
        """The same case with all links awake."""
        return Case(self.sender, None)

    def scenario(self) -> Scenario:
        """The scenario for either world."""
        document = Scenario.from_file(PAPER).to_dict()
        document |= {"duration": DURATION, "tcp": {**LINUX, "congestion_control": SENDERS[self.sender]}}
        document["phase"].append(SWITCHING)
        for flow in document["flow"][1:]:
            flow["packet"] = BACKGROUND
        # Packets lost by routers are counted with all links awake, too.
        if self.threshold is None:
            del document["sleep"]
        else:
            document["sleep"][0]["plan"]["threshold"] = self.threshold
        return Scenario.from_dict(document)


def cases() -> list[Case]:
    """All cases."""
    return [Case(sender, threshold) for sender in JUDGED for threshold in THRESHOLDS]


def quick(every: Sequence[Case]) -> list[Case]:
    """A few cases to try."""
    return [case for case in every if case.sender == "reno" and case.threshold in {None, 0.7}]
