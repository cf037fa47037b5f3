"""AWM alone on a link of fixed rate, in packets: the case of the fluid model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netlull import Scenario
from netlull.fluid import AwmFluid

if TYPE_CHECKING:
    import numpy.typing as npt

    from netlull import Result

    Values = npt.NDArray[np.float64]

RATE_BPS = 10e6
MTU_BYTES = 1000
DURATION_S, SETTLED_S = 60, 30
BIN_S = 0.01
LINK = "gateway-far"


@dataclass(frozen=True)
class Case:
    """N flows of one TCP through a gateway: R and d in s, T in packets; the buffer is 2 T."""

    preset: str
    flows: int
    round_trip_s: float
    target_packets: int
    sender_delay_s: float

    def __str__(self) -> str:
        """The name in the tables."""
        return (
            f"{self.preset:<4} N {self.flows:>2}  R {self.round_trip_s * 1e3:>3.0f} ms"
            f"  T {self.target_packets:>2}  d {self.sender_delay_s * 1e3:>2.0f} ms"
        )

    @cached_property
    def fluid(self) -> AwmFluid:
        """The fluid model of this case, at beta = 1.707 T / R_0."""
        model = AwmFluid(
            RATE_BPS,
            self.flows,
            self.round_trip_s,
            self.target_packets * MTU_BYTES,
            1.0,
            2 * self.target_packets * MTU_BYTES,
            MTU_BYTES,
            sender_delay_s=self.sender_delay_s,
            segments_per_ack=1 if self.preset == "ns2" else 2,
        )
        return model.with_beta(model.rate_bound_bps())

    def scenario(self, beta_bps: float, duration_s: float = DURATION_S) -> Scenario:
        """Uploads that start about 50 ms apart, by seed. swnd starts a fifth above the equilibrium."""
        there = self.sender_delay_s / 2
        way = self.round_trip_s / 2 - there
        controller = {
            "kind": "awm",
            "target": f"{self.target_packets} packets",
            "beta": f"{beta_bps:.0f} b/s",
            "floor": f"{MTU_BYTES} B",
            "initial_window": f"{max(1.2 * self.fluid.window_bytes, MTU_BYTES):.0f} B",
            "flows": {"kind": "fixed", "count": self.flows},
        }
        fast = {"rate": "1 Gb/s", "buffer": "unlimited"}
        return Scenario.from_dict(
            {
                "name": "awm-alone",
                "duration": f"{duration_s:g} s",
                "warm_up": f"{duration_s / 2:g} s",
                "mtu": f"{MTU_BYTES} B",
                "nodes": ["senders", "gateway", "far", "receivers"],
                "link": [
                    {"from": "senders", "to": "gateway", "duplex": True, "delay": f"{there * 1e6:.0f} us", **fast},
                    {
                        "from": "gateway",
                        "to": "far",
                        "rate": f"{RATE_BPS:.0f} b/s",
                        "delay": f"{way * 1e6:.0f} us",
                        "buffer": f"{2 * self.target_packets} packets",
                        "controller": controller,
                    },
                    {"from": "far", "to": "gateway", "delay": f"{way * 1e6:.0f} us", **fast},
                    {"from": "far", "to": "receivers", "duplex": True, **fast},
                ],
                "flow": [
                    {
                        "kind": "tcp",
                        "name": "upload",
                        "from": "senders",
                        "to": "receivers",
                        "count": self.flows,
                        "spacing": "50 ms",
                        "jitter": "50 ms",
                    }
                ],
                "tcp": {"congestion_control": "new_reno", "preset": self.preset},
                "probe": {"interval": f"{BIN_S * 1e3:g} ms", "links": [LINK]},
            }
        )


@dataclass(frozen=True)
class Measured:
    """The measurements of a run's queue."""

    drops: float
    """Packets dropped in the second half."""
    utilisation: float
    early_packets: float
    """The queue's standard deviation in the third sixth of the run, in packets."""
    late_packets: float
    """The same in the last sixth."""
    period_s: float
    """The strongest period of the queue in the second half, up to a second; NaN if the queue hardly moves."""


def queue_of(result: Result) -> tuple[Values, Values]:
    """Time in s and queue in packets, at the ends of bins."""
    table = result.series("link")
    return table["time_s"].to_numpy(), table["queue_packets"].to_numpy().astype(np.float64)


def measure(result: Result) -> Measured:
    """The numbers of a run of `Case.scenario`."""
    _, queue = queue_of(result)
    sixth = len(queue) // 6
    late = queue[3 * sixth :]
    link = result.link(LINK)
    return Measured(
        link["dropped_packets"],
        link["utilisation"],
        float(queue[2 * sixth : 3 * sixth].std()),
        float(queue[5 * sixth :].std()),
        strongest_period_s(late),
    )


def strongest_period_s(queue: Values) -> float:
    """The period in s of the largest line of the spectrum, among periods up to a second."""
    if queue.std() < 0.5:
        return float("nan")
    spectrum = np.abs(np.fft.rfft((queue - queue.mean()) * np.hanning(len(queue))))
    frequency = np.fft.rfftfreq(len(queue), BIN_S)
    fast = frequency >= 1.0
    return float(1 / frequency[fast][spectrum[fast].argmax()])


def mean_window_age_s(case: Case, beta_bps: float, seed: int) -> tuple[float, float]:
    """The mean age of the windows in force in s, and the number of consecutive packets of a flow.

    A window holds from one acknowledgement to the next, measured at the flow's segments: E[gap^2] / (2 E[gap]).
    """
    from netlull import Probe

    result = case.scenario(beta_bps, 20).run(seed, probe=Probe(f"{BIN_S * 1e3:g} ms", segments=True, links=[LINK]))
    table = result.series("segment")
    time, flow = table["time_s"].to_numpy(), table["flow"].combine_chunks().indices.to_numpy()
    kept = time > 10
    time, flow = time[kept], flow[kept]
    gaps = np.concatenate([np.diff(time[flow == name]) for name in np.unique(flow)])
    runs = 1 + np.count_nonzero(np.diff(flow))
    return float((gaps**2).sum() / (2 * gaps.sum())), len(flow) / runs
