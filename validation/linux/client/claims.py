"""The paper's claims, judged for a sender in a world with a shaper, by the tolerances of its folder's claims.toml.

Each case has one run instead of twenty. Claims about means over seeds are judged by the available run. C9, a crowd, is
not judged.
"""

from __future__ import annotations

import itertools
import math
import statistics
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulated import Download
from paths import BASE, FAST, LIVE, LOSSES, ROUND_TRIPS, SITES, Case, emulated_path

PAPER = Path(__file__).parents[3] / "python" / "netlull" / "shipped" / "papers" / "client-centered-2004" / "claims.toml"
Runs = Callable[[Case], Download | None]
"""The download of a case in a world; None without a run."""
Part = tuple[str, bool]
"""A measured value, and True if it agrees with the paper."""


@dataclass(frozen=True)
class World:
    """A world with one sender and one shaper."""

    runs: Runs
    sender: str
    way: str = LIVE

    def run(self, path: str, way: str | None = None) -> Download:
        """The download of a path. Times are NaN without a run."""
        found = self.runs(Case(path, self.sender, way or self.way))
        return found if found is not None else NOTHING

    def product(self, path: str, way: str | None = None) -> float:
        """Energy x delay over the baseline's."""
        return self.run(path, way).product_js / self.run(path, BASE).product_js

    def slowdown(self, path: str) -> float:
        """Time over the baseline's."""
        return self.run(path).seconds / self.run(path, BASE).seconds


_NAN = math.nan
NOTHING = Download(_NAN, _NAN, _NAN, _NAN, _NAN, _NAN, _NAN, _NAN, _NAN, _NAN, _NAN, "", 0)


def tolerances() -> dict[str, Mapping[str, Any]]:
    """The tolerances by claim."""
    document = tomllib.loads(PAPER.read_text(encoding="utf-8"))
    return {claim["id"]: claim["tolerance"] for claim in document["claim"]}


def judged(world: World) -> dict[str, list[Part]]:
    """The parts of each claim that its folder counts."""
    tolerance = tolerances()
    return {name: judge(world, tolerance[name]) for name, judge in JUDGES.items()}


def verdict(parts: Sequence[Part]) -> str:
    """The verdict in the words of the papers' reports."""
    held = sum(holds for _, holds in parts)
    return "holds" if held == len(parts) else "in part" if held else "fails"


def _sites(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    found = {name: world.product(name) for name in SITES}
    mean, best = statistics.mean(found.values()), min(found, key=lambda name: found[name])
    parts = [
        (f"mean {mean:.2f}", abs(mean - tolerance["mean"]) <= tolerance["points"]),
        (f"best {found[best]:.2f}", abs(found[best] - tolerance["best"]) <= tolerance["points"]),
        (f"at {best}", best == "jriver"),
    ]
    return parts + [
        (f"{name} {value:.2f}", (value < 1) is (name not in {"stanford", "uiuc"})) for name, value in found.items()
    ]


def _grid(world: World) -> dict[tuple[float, float], float]:
    return {(rtt, loss): world.product(emulated_path(rtt, loss)) for rtt in ROUND_TRIPS for loss in LOSSES}


def _emulated(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    found = _grid(world)
    mean, best = statistics.mean(found.values()), min(found.values())
    return [
        (f"mean {mean:.2f}", abs(mean - tolerance["mean"]) <= tolerance["points"]),
        (f"best {best:.2f}", abs(best - tolerance["best"]) <= tolerance["points"]),
    ]


def _falls(rows: Sequence[tuple[str, Sequence[float]]], slack: float) -> list[Part]:
    means = [statistics.mean(column) for column in zip(*(values for _, values in rows), strict=True)]
    parts = []
    for label, values in [*rows, ("mean", means)]:
        falls = values[-1] < values[0] and all(b <= a + slack for a, b in itertools.pairwise(values))
        parts.append((f"{label}: {' '.join(f'{value:.2f}' for value in values)}", falls))
    return parts


def _longer(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    found = _grid(world)
    rows = [(f"{loss:g} %", [found[rtt, loss] for rtt in ROUND_TRIPS]) for loss in LOSSES]
    return _falls(rows, tolerance["slack"])


def _more_loss(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    found = _grid(world)
    rows = [(f"{rtt} ms", [found[rtt, loss] for loss in LOSSES]) for rtt in ROUND_TRIPS]
    return _falls(rows, tolerance["slack"])


def _near(found: float, printed: float, share: float) -> bool:
    return abs(found - printed) <= share * printed


def _stanford(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    base, run, share = world.run("stanford", BASE), world.run("stanford"), tolerance["share"]
    more, product, fast = world.slowdown("stanford") - 1, world.product("stanford"), world.product(FAST)
    return [
        (f"baseline {base.seconds:.2f} s", _near(base.seconds, tolerance["base_s"], share)),
        (f"{more:.0%} slower", abs(more - tolerance["slower"]) <= tolerance["points"]),
        (
            f"ends {run.detection_s:.2f} s",
            _near(run.detection_s, tolerance["detection_s"], tolerance["detection_share"]),
        ),
        (f"product {product:.2f}", _near(product, tolerance["product"], share)),
        (f"at 108 Mb/s {fast:.2f}", _near(fast, tolerance["fast_product"], share)),
    ]


def _missed(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    runs = [world.run(emulated_path(rtt, loss)) for rtt in ROUND_TRIPS for loss in LOSSES]
    share = statistics.mean(run.missed / run.received for run in runs)
    packets = statistics.mean(world.run(name).missed for name in SITES)
    return [
        (f"sites {packets:.1f} packets", packets < tolerance["packets"]),
        (f"emulated {share:.2%}", share <= tolerance["share"]),
    ]


def _psm(world: World, _tolerance: Mapping[str, Any]) -> list[Part]:
    psm = {rtt: world.product(emulated_path(rtt, 0), "psm-ideal") for rtt in ROUND_TRIPS}
    parts = []
    for rtt, value in psm.items():
        shaped = world.product(emulated_path(rtt, 0))
        parts.append((f"{rtt} ms: {value:.2f}, shaper {shaped:.2f}", (value < shaped) is (rtt == 90)))
    return [*parts, ("order of PSM", psm[30] > psm[60] > psm[90] < psm[120])]


def _psm_time(world: World, tolerance: Mapping[str, Any]) -> list[Part]:
    path = emulated_path(30, 0)
    factor = world.run(path, "psm-ideal").seconds / world.run(path, BASE).seconds
    return [(f"{factor:.2f}", factor > tolerance["factor"])]


def _uiuc(world: World, _tolerance: Mapping[str, Any]) -> list[Part]:
    run = world.run("uiuc")
    product = world.product("uiuc")
    return [
        (f"fallback {run.fallback or 'none'}", run.fallback == "saturated"),
        (f"product {product:.2f}", product > 1),
    ]


def _faster(world: World, _tolerance: Mapping[str, Any]) -> list[Part]:
    found = {rtt: world.slowdown(emulated_path(rtt, max(LOSSES))) for rtt in ROUND_TRIPS}
    return [(f"{rtt} ms: {value:.2f}", value < 1) for rtt, value in found.items()]


JUDGES: Mapping[str, Callable[[World, Mapping[str, Any]], list[Part]]] = {
    "C1": _sites,
    "C2": _emulated,
    "C3": _longer,
    "C4": _more_loss,
    "C5": _stanford,
    "C6": _missed,
    "C7": _psm,
    "C8": _psm_time,
    "C10": _uiuc,
    "C11": _faster,
}
TITLES: Mapping[str, str] = {
    "C1": "seven sites: mean 0.81, best 0.36",
    "C2": "emulated: mean 0.46, best 0.27",
    "C3": "better with longer round trips",
    "C4": "better with more loss",
    "C5": "stanford: 45 % slower, 1.2",
    "C6": "hardly a packet missed",
    "C7": "against ideal PSM",
    "C8": "PSM three times as long at 30 ms",
    "C10": "uiuc goes back to standard TCP",
    "C11": "faster than baseline at 1 % of loss",
}
