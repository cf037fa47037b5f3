"""One cumulative acknowledgement for each burst in the dumb-bell of client-centered-2004 (Figs. 8 and 9).

python validation/client-options/crowd.py [SEEDS]

Of 100 downloads through one bottleneck none, 90 or 100 save energy, without UDP. `burst_acks = "withheld"` is compared
with closed acknowledgements. Losses with 100 energy-saving flows and the goodput of the ten standard flows next to 90
are relative to the same flows without energy saving, as means over seeds.
"""

from __future__ import annotations

import statistics
import sys
import tomllib
from pathlib import Path

from netlull import Scenario

PAPER = Path(__file__).parents[2] / "python" / "netlull" / "shipped" / "papers" / "client-centered-2004"
BUFFERS = ("0.5", "1", "2")
STANDARD = ("c19-", "c20-")
"""The clients that do not save energy next to 90 that do."""
MECHANISM = "station.savers.mechanism"
CASES: dict[str, dict[str, object]] = {
    "closed, gives up": {},
    "closed, never gives up": {f"{MECHANISM}.patience": 1_000_000},
    "withheld, gives up": {f"{MECHANISM}.burst_acks": "withheld"},
    "withheld, never gives up": {f"{MECHANISM}.patience": 1_000_000, f"{MECHANISM}.burst_acks": "withheld"},
}


def points(axis: str) -> dict[str, dict[str, object]]:
    """The values of the points of an axis in the paper's sweep."""
    sweep = tomllib.loads((PAPER / "crowd-sweep.toml").read_text())
    found = next(one for one in sweep["axis"] if one["name"] == axis)
    return {
        str(point["value"]): point.get("set", {}) | dict.fromkeys(point.get("unset", [])) for point in found["point"]
    }


def measure(savers: str, buffer: str, changes: dict[str, object], seed: int) -> tuple[float, float, float]:
    """Lost packets, the goodput of the standard flows in bit/s, and the share of time asleep of the energy savers."""
    scenario = Scenario.from_file(PAPER / "crowd-scenario.toml")
    sizes = points("buffer")[buffer]
    result = scenario.with_changes(changes, points("savers")[savers], sizes, {"flow.transient": None}).run(seed=seed)
    flows = [flow for flow in result.summary["flows"] if flow["name"].startswith(STANDARD)]
    lost = float(result.link("bottleneck")["dropped_packets"])
    asleep = [station["asleep_s"] for station in result.summary["stations"] if station["mechanism"] == "client_shaper"]
    return lost, sum(flow["goodput_bps"] for flow in flows), sum(asleep) / (15.0 * max(len(asleep), 1))


def main() -> None:
    """Prints the table."""
    seeds = range(1, 1 + (int(sys.argv[1]) if len(sys.argv) > 1 else 2))
    print("| acknowledgements | buffer | losses with 100 | standard flows' goodput next to 90 | asleep, of 100 |")
    print("|---|---|---|---|---|")
    for buffer in BUFFERS:
        none = [measure("0", buffer, {}, seed) for seed in seeds]
        for case, changes in CASES.items():
            full = [measure("100", buffer, changes, seed) for seed in seeds]
            most = [measure("90", buffer, changes, seed) for seed in seeds]
            losses = statistics.fmean(own[0] / base[0] for own, base in zip(full, none, strict=True))
            gains = statistics.fmean(own[1] / base[1] for own, base in zip(most, none, strict=True))
            asleep = statistics.fmean(own[2] for own in full)
            print(f"| {case} | {buffer} BDP | {losses:.2f} | {gains:.2f} | {100 * asleep:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
