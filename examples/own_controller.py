"""A link controller in Python, compared with a link that is always at full rate.

python examples/own_controller.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import netlull
from netlull import Link, Requests, Scenario

if TYPE_CHECKING:
    from netlull._core import Observation
    from netlull.plugins import ControlledLink


class Follow(netlull.RateController):
    """Serves a little faster than packets arrive."""

    interval = "20 ms"
    transition = "1 ms"
    headroom: float = netlull.param(1.25, least=1, doc="The rate over the rate of arrivals.")
    slowest: netlull.Rate = netlull.param("1 Mb/s", above="0 b/s", doc="The lowest rate.")

    def start(self, link: ControlledLink) -> None:
        """Begins a run with the rate of arrivals unknown."""
        self.arrivals = link.rate

    def tick(self, seen: Observation) -> float:
        """Returns the rate for the next 20 ms."""
        self.arrivals += 0.5 * (8 * seen.arrived_bytes / seen.span - self.arrivals)
        if seen.queue_packets > 10:
            return self.link.rate
        return min(max(self.headroom * self.arrivals, self.slowest), self.link.rate)


def web(controller: Follow | None) -> Scenario:
    """Returns a scenario with web load on a link of 10 Mb/s."""
    return Scenario(
        duration="60 s",
        nodes=["a", "b"],
        links=[
            Link("a", "b", "10 Mb/s", "20 ms", "50 packets", controller=controller),
            Link("b", "a", "10 Mb/s", "20 ms"),
        ],
        flows=[Requests("web", "a", "b", offered="3 Mb/s", size={"kind": "exponential", "mean": "50 kB"})],
    )


def main() -> None:
    """Prints energy and completion times of three runs."""
    for name, controller in (("always on", None), ("follow", Follow()), ("follow, 2 x", Follow(headroom=2))):
        result = web(controller).run(seed=1)
        saving = result.metric("link.a-b.energy.fs.saving")
        completion_s = result.metric("flow.web.p95_completion_s")
        print(f"{name:<12} saving {saving:6.1%}, 95 % of the requests complete within {completion_s * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
