"""Made-up results of troubled-marriage-2016: numbers that agree with the paper, and numbers that contradict it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from conftest import SHIPPED
from netlull.papers import Evidence, Grid, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull import papers

FOLDER = SHIPPED / "papers" / "troubled-marriage-2016"
RTT = (1.0, 10.0, 50.0, 100.0)
MRCI = (10.0, 50.0, 100.0, 500.0, 1000.0)
SEEDS = (1, 2, 3, 4)
OWN = [claim.id for claim in load(FOLDER).claims if not claim.study]
"""The claims that the paper's own sweep decides."""
NEAR = tuple(round(99.6 + 0.1 * step, 1) for step in range(9))
PLACES: tuple[tuple[str, dict[str, float]], ...] = (
    ("single", {}),
    *(("near", {"near": rtt}) for rtt in NEAR),
    *(("background", {"bon": bon}) for bon in (1.0, 10.0, 50.0, 100.0)),
    *(("both", {"bn": bn}) for bn in (5.0, 50.0, 500.0, 5000.0)),
)
"""The experiments, with the values on the axes beside RTT and mRCI."""


def table(
    rate: Callable[[str, float, float], float],
    reduction: Callable[[str, float, float], float],
    loss: Callable[[str, float, float], float],
    changes: Callable[[str, float, float], float],
    other: Callable[[str, float, float], float] | None = None,
) -> pa.Table:
    """The sweep's table from four functions of experiment, RTT and mRCI (0 in TCPonly), with a little noise.

    `other` replaces the reduction with bursts of other durations than 100 ms.
    """
    noise = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for experiment, at in PLACES:
        seeds = SEEDS[:1] if experiment in ("single", "near") else SEEDS
        cut = other if other and at.get("bon", 100) != 100 else reduction
        for rtt in (100.0,) if experiment == "near" else RTT:
            for seed in seeds:
                base = 8e6 * (1 + 0.01 * noise.standard_normal())
                for mrci in (0.0, *MRCI):
                    wobble = 1 + 0.001 * noise.standard_normal()
                    row = {
                        "experiment": experiment if mrci else f"{experiment}-tcponly",
                        "rtt": None if experiment == "near" else rtt,
                        "near": None,
                        "mrci": mrci or None,
                        "bon": None,
                        "bn": None,
                        "seed": seed,
                        **at,
                    }
                    name = "single" if experiment == "near" else experiment
                    row["goodput_bps"] = base * (1 - (cut(name, rtt, mrci) if mrci else 0)) * wobble
                    row["mean_rate_bps"] = 10e6 * (rate(name, rtt, mrci) if mrci else 1) * wobble
                    row["loss"] = loss(experiment, rtt, mrci) * wobble
                    row["rate_changes"] = changes(name, rtt, mrci) if mrci else 0.0
                    rows.append(row)
    return pa.Table.from_pylist(rows)


class Recording:
    """A run with time series from functions of time; bins of 50 ms."""

    def __init__(
        self,
        arrival: Callable[[np.ndarray], np.ndarray],
        service: Callable[[np.ndarray], np.ndarray] = lambda time: 0 * time + 10e6,
        drops: tuple[float, ...] = (),
    ) -> None:
        time = np.arange(1, 6001) * 0.05
        sent = arrival(time) * 0.05 / 8
        link, flow = ["N1-N2"] * len(time), ["tcp"] * len(time)
        self.summary: dict[str, Any] = {"duration_s": 300.0}
        self._series = {
            "link": pa.table({"time_s": time, "link": link, "arrived_bytes": sent}),
            "flow": pa.table({"time_s": time, "flow": flow, "sent_bytes": sent}),
            "rate": pa.table({"time_s": time - 0.05, "link": link, "rate_bps": service(time)}),
            "drop": pa.table(
                {"time_s": pa.array(drops, pa.float64()), "flow": pa.array(["tcp"] * len(drops), pa.string())}
            ),
        }

    def series(self, name: str) -> pa.Table:
        return self._series[name]


def constant(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda time: 0 * time + rate


def sawtooth(recovery_s: float, top: float = 10e6) -> Callable[[np.ndarray], np.ndarray]:
    """The rate falls to 40 % of the top every 20 s and is back after `recovery_s`."""
    return lambda time: top * np.minimum(0.4 + 0.6 * (time % 20) / recovery_s, 1)


LOSSES = tuple(np.arange(20.0, 300.0, 20.0) - 0.01)


def late(rate: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The same, 1.2 s later."""
    return lambda time: rate(time - 1.2)


def climbing(recovery_s: float) -> Recording:
    """A run with losses, in which the service rate follows the arrivals in steps and holds them back."""
    return Recording(sawtooth(recovery_s), stepped(late(sawtooth(recovery_s))), LOSSES)


def stepped(rate: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The same in steps of 1 Mb/s."""
    return lambda time: np.floor(rate(time) / 1e6) * 1e6


def spiky(rate: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The rate with a spike of 8 Mb/s for the first half of every second."""
    return lambda time: rate(time) + 8e6 * (time % 1 < 0.5)


def square(low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    """10 s at the lower rate, 10 s at the higher."""
    return lambda time: np.where(time % 20 < 10, low, high)


def recordings(*, like_the_paper: bool) -> dict[str, Recording]:
    flat = Recording(constant(5e6), constant(5e6))
    names = [run.name for run in load(FOLDER).series]
    found = dict.fromkeys(names, flat)
    if like_the_paper:
        full = spiky(constant(5e6))
        found |= {
            "fig3a": Recording(constant(9.9e6), lambda time: 9.5e6 + 0.5e6 * np.sign(np.sin(time))),
            "fig3b": Recording(sawtooth(14), sawtooth(14), LOSSES),
            "fig3c": Recording(constant(9.9e6)),
            "fig3d": Recording(sawtooth(6)),
            "fig5a": Recording(full, full),
            "fig5b": Recording(spiky(sawtooth(6)), spiky(sawtooth(6))),
            "fig5c": Recording(spiky(square(4e6, 8e6)), constant(5e6)),
            "fig5d": Recording(spiky(sawtooth(6)), constant(2e6)),
            "fig7a": Recording(constant(3e6), constant(3e6)),
            "fig7b": Recording(sawtooth(6, top=5e6), sawtooth(6, top=5e6)),
            "fig7c": Recording(constant(3e6), constant(3e6)),
            "fig7d": Recording(square(1e6, 4e6), constant(2.5e6)),
        }
        kinds = {"mrci10": climbing(14), "mrci1000": climbing(14), "tcponly": Recording(sawtooth(6), drops=LOSSES)}
    else:
        wild = Recording(constant(5e6), lambda time: 5.5e6 + 4.5e6 * np.sign(np.sin(time)))
        found |= {"fig3a": flat, "fig3c": wild, "fig3b": Recording(constant(5e6)), "fig7b": Recording(constant(9e6))}
        kinds = {"mrci10": climbing(3), "mrci1000": climbing(12), "tcponly": Recording(sawtooth(6), drops=LOSSES)}
    near = {name: kinds[name.rpartition("-")[2]] for name in names if name.startswith("near")}
    others = {name: found[name[:-4]] for name in names if name.endswith(("-302", "-303", "-304"))}
    return found | others | near


def grow(mrci: float) -> float:
    """A function that is 0 at mRCI 10 ms and 1 at 1000 ms."""
    return float(np.log10(mrci / 10) / 2)


AXES = ["rtt", "near", "mrci", "bon", "bn"]


def world_of_the_paper(paper: papers.Paper) -> Evidence:
    """Numbers that agree with the paper."""

    def rate(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return {1.0: 0.99, 10.0: 0.98, 50.0: 0.85, 100.0: 0.7}[rtt] - (0.05 if mrci == 10 else 0)
        by_rtt = {"background": (0.8, 0.75, 0.6, 0.5), "both": (0.4, 0.4, 0.35, 0.3)}[experiment]
        return by_rtt[RTT.index(rtt)]

    def reduction(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return float(0.13 / (1 + mrci / rtt) ** 0.7)
        by_rtt = {"background": (0.1, 0.2, 0.35, 0.4), "both": (0.09, 0.15, 0.2, 0.2)}[experiment]
        return by_rtt[RTT.index(rtt)] + 0.1 * grow(mrci)

    def loss(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "near":
            return 0.02 if mrci else 0.01
        return 0.01 if experiment == "single" or not mrci else 0.03 + 0.01 * RTT.index(rtt)

    changes = lambda experiment, rtt, mrci: 5000 / mrci  # noqa: E731
    return Evidence(
        paper,
        Grid(table(rate, reduction, loss, changes), AXES),
        recordings(like_the_paper=True),
    )


def opposite_world(paper: papers.Paper) -> Evidence:
    """Numbers that contradict the paper everywhere."""

    def rate(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return 0.5 if rtt <= 10 else 1.0
        by_rtt = {"background": (0.7, 0.8, 0.9, 0.95), "both": (0.9, 0.92, 0.95, 0.97)}[experiment]
        return by_rtt[RTT.index(rtt)]

    def reduction(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return (0.0 if mrci == 10 else 0.2) if rtt <= 10 else 0.05 * grow(mrci)
        by_rtt = {"background": (-0.1, -0.12, -0.14, -0.16), "both": (-0.05, -0.05, -0.04, -0.01)}[experiment]
        return by_rtt[RTT.index(rtt)] - 0.2 * grow(mrci)

    def loss(experiment: str, rtt: float, mrci: float) -> float:
        if not mrci:
            return 0.01
        return 0.06 if experiment == "single" else 0.005 - 0.001 * RTT.index(rtt)

    changes = lambda experiment, rtt, mrci: mrci  # noqa: E731
    short = lambda experiment, rtt, mrci: 0.6 + 0.1 * grow(mrci)  # noqa: E731
    return Evidence(
        paper,
        Grid(table(rate, reduction, loss, changes, short), AXES),
        recordings(like_the_paper=False),
    )


def flows_world(paper: papers.Paper, costs: dict[float, float]) -> Evidence:
    """The study of many flows, in which practRA costs a share of the goodput that depends on mRCI."""
    noise = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for traffic in ("alone", "bursts"):
        for count in (8.0, 50.0):
            for seed in SEEDS:
                at = {"rtt": "20 to 160 ms", "tcp": "NewReno", "flows": count, "seed": seed}
                rows.append({"experiment": f"{traffic}-tcponly", **at, "mrci": None, "goodput_bps": 9e6})
                for mrci, cost in costs.items():
                    got = 9e6 * (1 - cost) * (1 + 0.001 * noise.standard_normal())
                    rows.append({"experiment": traffic, **at, "mrci": mrci, "goodput_bps": got})
    return Evidence(paper, Grid(pa.Table.from_pylist(rows), ["rtt", "tcp", "flows", "mrci"]), {})
