"""The fluid model of AWM over beta and the round trip, for the lab, with the packets of validation/fluid.

The growth rates are those of `netlull.fluid`. The queues are its nonlinear equations (`netlull.fluid.integrate`), here
with a fixed step for all points of the plane at once: JiTCDDE takes seconds for each. tests/test_lab_data.py compares
both.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull.fluid.integrate import FLOOR_PACKETS

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "validation" / "fluid"))

from packets import MTU_BYTES, Case  # noqa: E402  # in validation/fluid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from netlull.fluid import AwmFluid

    Values = npt.NDArray[np.float64]

PRESET, FLOWS, TARGET_PACKETS = "ns2", 30, 50
"""The case of validation/fluid whose plane the page has."""
BETA_MBPS = (0.5, 1, 2, 3, 4, 5.5, 8, 11, 16, 22, 32, 45)
ROUND_TRIP_MS = (20, 30, 40, 60, 80, 100, 150, 200)
FAR, NEAR_S = 0.8, 0.002
"""The delay from the gateway to the senders and back: as a share of the round trip, or in s."""
SOLVED_S, SHOWN_S, SHOWN_STEP_S = 20.0, 2.0, 0.01
"""The integrated time, its last part in the page, and the time between two values there."""
STEP_S = 0.25e-3


@dataclass
class Past:
    """The latest values of a quantity at every point, a row per step."""

    rows: Values

    def put(self, step: int, values: Values) -> None:
        """Stores the values of a step."""
        self.rows[step % len(self.rows)] = values

    def at(self, steps: Values) -> Values:
        """The values at steps with fractions, one for each point."""
        low = np.floor(steps).astype(np.int64)
        share = steps - low
        points = np.arange(self.rows.shape[1])
        before, after = self.rows[low % len(self.rows), points], self.rows[(low + 1) % len(self.rows), points]
        return before + share * (after - before)


class Plane:
    """The equations of ACK-clocked senders for several models of equal MTU; see `netlull.fluid.integrate`."""

    def __init__(self, models: Sequence[AwmFluid]) -> None:
        """Begins with queues that had settled at 0.9 T."""
        self.rate, self.flows, self.target, self.buffer, self.mtu, self.beta, self.round_trip = (
            np.array([getattr(model, name) for model in models], dtype=np.float64)
            for name in ("rate", "flows", "target_bytes", "buffer_bytes", "mtu_bytes", "beta_bps", "round_trip_s")
        )
        taps = [model.arrival_taps for model in models]
        self.taps = [tuple(np.array([tap[i][part] for tap in taps]) for part in (0, 1)) for i in range(len(taps[0]))]
        queue = 0.9 * self.target
        window = (self.rate * self.round_trip + queue) / self.flows
        self.state = np.array([queue, window, np.zeros_like(queue)])
        longest = max(self.round_trip.max(), *(delay.max() for delay, _ in self.taps))
        length = int(longest / STEP_S) + 4
        self.windows, self.departures = (Past(np.tile(values, (length, 1))) for values in (window, self.rate))

    def slopes(self, step: int, state: Values) -> tuple[Values, Values]:
        """The derivatives of queue, swnd and withheld data in bytes/s, and the rate of departures."""
        queue, window, held = state
        allowed = self.departures.at(step - self.round_trip / STEP_S)
        for delay, gain in self.taps:
            allowed = allowed + self.flows * gain * self.windows.at(step - delay / STEP_S)
        arriving = np.maximum(allowed, 0) * np.maximum(1 - held / self.mtu, 0)
        served = self.rate * np.clip(queue / self.mtu, 0, 1)
        lost = np.maximum(arriving - served, 0) * np.clip(1 - (self.buffer - queue) / self.mtu, 0, 1)
        change = arriving - served - lost
        wanted = (-change + self.beta / 8 * (self.target - queue) / self.target) / self.flows
        above = np.clip((window - self.mtu) / (FLOOR_PACKETS * self.mtu), 0, 1)
        return np.array([change, np.where(wanted > 0, wanted, wanted * above), arriving - allowed]), served + lost

    def queues(self, duration_s: float, every_s: float) -> Values:
        """The queues in bytes, a row per `every_s`, by Heun's method."""
        every = round(every_s / STEP_S)
        rows = []
        for step in range(round(duration_s / STEP_S)):
            first, departed = self.slopes(step, self.state)
            self.windows.put(step, self.state[1])
            self.departures.put(step, departed)
            second, _ = self.slopes(step + 1, self.state + STEP_S * first)
            self.state = self.state + STEP_S / 2 * (first + second)
            if (step + 1) % every == 0:
                rows.append(self.state[0])
        return np.array(rows)


def cases(position: str) -> list[Case]:
    """A case per round trip, with the gateway `near` the senders or `far` from them."""
    return [
        Case(PRESET, FLOWS, ms / 1e3, TARGET_PACKETS, NEAR_S if position == "near" else FAR * ms / 1e3)
        for ms in ROUND_TRIP_MS
    ]


def rounded(values: Iterable[float]) -> list[float]:
    """Values with four significant digits."""
    return [float(f"{value:.4g}") for value in values]


def side(chosen: Sequence[Case], models: Sequence[Sequence[AwmFluid]], queues: Values) -> dict[str, Any]:
    """Stability and queues over beta (rows) and the round trip (columns)."""
    tenths = np.rint(queues * 10 / MTU_BYTES).astype(int).T
    return {
        "delay_ms": rounded(1e3 * case.sender_delay_s for case in chosen),
        "window_bytes": [round(case.fluid.window_bytes) for case in chosen],
        "loaded_ms": rounded(1e3 * case.fluid.loaded_round_trip_s for case in chosen),
        "critical_mbps": rounded(case.fluid.critical_beta_bps() / 1e6 for case in chosen),
        "period_ms": rounded(1e3 * case.fluid.critical_period_s() for case in chosen),
        "growth_per_s": [rounded(model.eigenvalue().real for model in row) for row in models],
        "queue_tenths": tenths.reshape(len(models), len(chosen), -1).tolist(),
    }


def sides() -> dict[str, dict[str, Any]]:
    """The plane with the gateway near the senders and far from them."""
    chosen = {position: cases(position) for position in ("near", "far")}
    models = {
        position: [[case.fluid.with_beta(value * 1e6) for case in every] for value in BETA_MBPS]
        for position, every in chosen.items()
    }
    plane = Plane([model for rows in models.values() for row in rows for model in row])
    late = plane.queues(SOLVED_S, SHOWN_STEP_S)[-round(SHOWN_S / SHOWN_STEP_S) :]
    parts = np.split(late, len(chosen), axis=1)
    return {
        position: side(chosen[position], models[position], part) for position, part in zip(chosen, parts, strict=True)
    }


def fluid() -> dict[str, Any]:
    """The planes, and the scenario of their packets."""
    return {
        "scenario": cases("far")[0].scenario(1e6).to_dict(),
        "flows": FLOWS,
        "mtu_bytes": MTU_BYTES,
        "target_packets": TARGET_PACKETS,
        "beta_mbps": BETA_MBPS,
        "round_trip_ms": ROUND_TRIP_MS,
        "shown_s": SHOWN_S,
        "step_s": SHOWN_STEP_S,
        **sides(),
    }
