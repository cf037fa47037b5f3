"""Options of the client's shaper beyond its paper: energy x delay relative to eager acknowledgements.

python validation/client-options/table.py [SEEDS]

Each row has one option of the shaper on one path of client-centered-2004, compared with `eager` on the same path with
the same seeds: means over seeds, and half widths of 95 % intervals. `growth` is 2, as the paper says.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from scipy import stats

from netlull import Scenario

PAPERS = Path(__file__).parents[2] / "python" / "netlull" / "shipped" / "papers"
SCENARIO = PAPERS / "client-centered-2004" / "scenario.toml"
RADIO = "wavelan-dsss"
NEW_RENO = {"congestion_control": "new_reno", "timestamps": True, "receive_buffer": "1 MiB"}


class Course(NamedTuple):
    """A path of the paper's scenario, as values for it."""

    name: str
    values: dict[str, object]


class Download(NamedTuple):
    """A download's time in seconds, energy in joules, and the client's part in it."""

    seconds: float
    energy: float
    missed: int
    bursts: int
    fallback: object


def course(name: str, rtt_ms: float, *, noise: float = 0.02, **values: object) -> Course:
    """A path with this round trip. Its noise is a share of the round trip."""
    delay = f"{rtt_ms / 2} ms"
    links = {
        "link.server-access-point.delay": delay,
        "link.access-point-server.delay": delay,
        "link.server-access-point.noise.mean": f"{noise * rtt_ms} ms",
    }
    return Course(name, links | values)


LOSS = "link.server-access-point.loss.probability"
PLAIN = course("60 ms", 60)
LOSSY = course("60 ms, 1 % loss", 60, **{LOSS: 0.01})
QUIET = course("60 ms, no noise", 60, noise=0)
STANFORD = course("58 ms, 64 KiB", 58, **{"tcp.send_buffer": "64 KiB"})
UIUC = course("21 ms, 64 KiB, 1 % loss", 21, **{LOSS: 0.01, "tcp.send_buffer": "64 KiB", "flow.download.size": "5 MB"})
MODERN = course("60 ms, NewReno, 1 MiB, 0.1 % loss", 60, **{LOSS: 0.001, "tcp": NEW_RENO})

CASES: tuple[tuple[Course, dict[str, object]], ...] = (
    (UIUC, {}),
    (UIUC, {"resume": 0.5}),
    (UIUC, {"resume": 0.9}),
    (MODERN, {}),
    (MODERN, {"resume": 0.5}),
    (STANFORD, {}),
    (STANFORD, {"most_slowdown": 0.1}),
    (STANFORD, {"most_slowdown": 0.2}),
    (STANFORD, {"most_slowdown": 0.4}),
    (PLAIN, {}),
    (PLAIN, {"rtt_from": "open_ack"}),
    (PLAIN, {"rtt_from": "handshake"}),
    (PLAIN, {"rtt_from": "answers"}),
    (PLAIN, {"rtt_from": "handshake", "margin": "3 ms"}),
    (PLAIN, {"rtt_from": "answers", "margin": "3 ms"}),
    (QUIET, {}),
    (QUIET, {"rtt_from": "handshake"}),
    (QUIET, {"rtt_from": "answers"}),
    (STANFORD, {"open_window": "16 KiB"}),
    (STANFORD, {"open_window": "32 KiB"}),
    (PLAIN, {"burst_acks": "withheld"}),
    (LOSSY, {}),
    (LOSSY, {"burst_acks": "withheld"}),
    (LOSSY, {"burst_acks": "withheld", "repair": "as_they_are"}),
)


def downloads(place: Course, mechanism: dict[str, object], seeds: range) -> list[Download]:
    """The client's downloads, one for each seed."""
    found = []
    for seed in seeds:
        scenario = Scenario.from_file(SCENARIO).with_changes(place.values, {"station.laptop.mechanism": mechanism})
        station = scenario.run(seed=seed).station("client")
        download = station["download"]
        seconds, energy = float(download["seconds"]), float(download["energy_j"][RADIO])
        missed = int(download["missed_packets"])
        found.append(Download(seconds, energy, missed, int(station["bursts"]), station["fallback"]))
    return found


def interval(values: list[float]) -> str:
    """The mean of values and the half width of its 95 % interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.fmean(values):.2f} ± {half:.2f}"


def row(place: Course, option: dict[str, object], eager: list[Download], shaper: list[Download]) -> str:
    """A row of the table."""
    pairs = list(zip(shaper, eager, strict=True))
    ratios = (
        [own.seconds / base.seconds for own, base in pairs],
        [own.energy / base.energy for own, base in pairs],
        [own.seconds * own.energy / (base.seconds * base.energy) for own, base in pairs],
    )
    words = ", ".join(f"`{name} = {json.dumps(value)}`" for name, value in option.items()) or "none"
    missed, bursts = (statistics.fmean(values) for values in zip(*((d.missed, d.bursts) for d in shaper), strict=True))
    ends = Counter(str(own.fallback) for own in shaper if own.fallback)
    reasons = ", ".join(f"{name} {count}" for name, count in sorted(ends.items())) or "never"
    cells = [place.name, words, *map(interval, ratios), f"{missed:.1f}", f"{bursts:.0f}", reasons]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Prints the table."""
    seeds = range(1, 1 + (int(sys.argv[1]) if len(sys.argv) > 1 else 10))
    print("| path | option | time | energy | energy x delay | missed packets | bursts | fallback |")
    print("|---|---|---|---|---|---|---|---|")
    eager: dict[str, list[Download]] = {}
    for place, option in CASES:
        if place.name not in eager:
            eager[place.name] = downloads(place, {"kind": "eager"}, seeds)
        shaper = downloads(place, {"kind": "client_shaper", "growth": 2.0} | option, seeds)
        print(row(place, option, eager[place.name], shaper), flush=True)


if __name__ == "__main__":
    main()
