"""The cases: paths of the paper's Figs. 5 to 7, senders, and mechanisms for the client's radio."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import SENDERS

from netlull import Scenario, site

LINUX: Mapping[str, object] = {"preset": "linux-6", "window_scaling": False}
"""Linux's TCP in the scenario's words (docs/models/tcp.md)."""

SITES = ("uiuc", "sun", "freebsd", "stanford", "washington", "jriver", "intel")
"""The sites of Fig. 5, in the paper's order."""
ROUND_TRIPS = (30, 60, 90, 120)
"""Figs. 6 and 7, in ms."""
LOSSES = (0.0, 0.1, 0.25, 0.5, 1.0)
"""Fig. 6, in percent."""
FAST = "stanford-108M"
"""C5's prediction: the site with 108 Mb/s of air."""
WINDOW, SIZE = "32 KiB", "4.5 MB"
"""Window and size of emulated paths, as in client-centered-2004."""

BASE, LIVE, PAPER = "eager", "shaper", "shaper-paper"
_BEACONS = {"beacon_period": "100 ms"}
WAYS: Mapping[str, Mapping[str, object] | None] = {
    BASE: {"kind": "eager"},
    LIVE: {
        "kind": "client_shaper",
        "margin": "1 ms",
        "rtt_from": "open_ack",
        "repair": "as_they_are",
        "least_wait": "5 ms",
        "paced_share": 0.5,
        "paced_stretch": 1.5,
        "paced_bursts": 2,
        "paced_from": "slow_start",
    },
    PAPER: {"kind": "client_shaper"},
    "always_on": None,
    "psm-ideal": {"kind": "psm", "access_point": {**_BEACONS, "beacon_time": "0 ms", "poll": "all"}},
    "psm": {"kind": "psm", "access_point": {**_BEACONS, "poll": "one"}},
    "bsd": {"kind": "bsd", "access_point": {**_BEACONS, "poll": "one"}},
}
"""The paper's baseline TCP; the shaper as in `netlulld client`, and with the paper's readings alone; no sleep and plain
acknowledgements; the paper's ideal PSM, 802.11's, bounded slowdown."""
_SHAPERS = (BASE, LIVE, PAPER)

SEED = 1
"""The compared seed. The simulator has `SEEDS` for the spread."""
SEEDS = tuple(range(1, 11))
LONGEST_S = 120


@dataclass(frozen=True)
class Case:
    """A download."""

    path: str
    """A site, `stanford-108M`, `60ms-0.5%`, or `60ms-clean`: without noise."""
    sender: str
    way: str

    @property
    def name(self) -> str:
        """The name in stored results."""
        return f"{self.path}/{self.sender}/{self.way}"

    @property
    def made_from(self) -> object:
        """The options of TCP and of the station."""
        return [LINUX, SENDERS[self.sender], WAYS[self.way]]

    @property
    def base(self) -> Case:
        """The baseline: the same download with the paper's baseline TCP."""
        return dataclasses.replace(self, way=BASE)

    def scenario(self, duration_s: float = LONGEST_S) -> Scenario:
        """The scenario for either world.

        The window is the client's largest offer, because a sender's buffer is not a window in Linux.
        """
        if self.path in SITES or self.path == FAST:
            one = site(self.path.partition("-")[0])
            one = dataclasses.replace(one, air="108 Mb/s") if self.path == FAST else one
        else:
            round_trip, kind = self.path.split("-")
            noise = {"noise_share": 0.0} if kind == "clean" else {}
            loss = 0.0 if kind == "clean" else float(kind.removesuffix("%")) / 100
            one = site("freebsd")
            fields = {"round_trip_s": float(round_trip.removesuffix("ms")) / 1e3, "loss": loss, **noise}
            one = dataclasses.replace(one, window=WINDOW, size=SIZE, **fields)  # type: ignore[arg-type]
        tcp = {
            **LINUX,
            "congestion_control": SENDERS[self.sender],
            "receive_buffer": "65535 B" if one.window == "64 KiB" else one.window,
        }
        made = one.scenario(WAYS[self.way], duration=f"{duration_s:g} s", tcp=tcp)
        # Linux decides by itself how many segments of slow start it acknowledges at once.
        values: dict[str, object] = {
            "name": self.name.replace("/", " "),
            "tcp.send_buffer": None,
            "tcp.quick_acks": None,
        }
        if self.way == "psm-ideal":
            values["station.client.wake_time"] = "0 ms"
        return made.with_values(values)


def emulated_path(round_trip_ms: float, loss_percent: float) -> str:
    """The name of an emulated path."""
    return f"{round_trip_ms:g}ms-{loss_percent:g}%"


def cases() -> list[Case]:
    """All cases, in the order of the figures."""
    found = [Case(name, sender, way) for name in SITES for sender in SENDERS for way in _SHAPERS]
    found += [Case(FAST, sender, way) for sender in SENDERS for way in (BASE, LIVE)]
    paths = [emulated_path(round_trip, loss) for round_trip in ROUND_TRIPS for loss in LOSSES]
    found += [Case(path, sender, way) for path in paths for sender in SENDERS for way in (BASE, LIVE)]
    ends = [emulated_path(round_trip, loss) for round_trip in ROUND_TRIPS for loss in (LOSSES[0], LOSSES[-1])]
    found += [Case(path, sender, PAPER) for path in ends for sender in ("reno", "cubic")]
    calm = [emulated_path(round_trip, 0) for round_trip in ROUND_TRIPS]
    others = [way for way in WAYS if way not in _SHAPERS]
    found += [Case(path, sender, way) for path in calm for sender in SENDERS for way in others]
    clean = [f"{round_trip}ms-clean" for round_trip in ROUND_TRIPS]
    return found + [Case(path, sender, way) for path in clean for sender in SENDERS for way in (BASE, LIVE)]


def quick(every: Sequence[Case]) -> list[Case]:
    """A few cases for a test: a site and an emulated path, with and without the shaper."""
    return [case for case in every if case.path in {"jriver", "60ms-clean"} and case.way in {BASE, LIVE}]
