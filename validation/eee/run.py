#!/usr/bin/env python3
"""Compares low-power idle with measurements of a Raspberry Pi 5 (raspberrypi/linux#7251).

    python validation/eee/run.py

Prints, for pings and TCP transfers, the measured change by Energy Efficient Ethernet and that of the model. Exits 1 if
the model's goodput changes by 0.1 % or more with the timers of 250 ms that the measurements had.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np

from netlull import Scenario

LINK = Path(__file__).with_name("raspberry-pi-5.toml")
SENDS, ANSWERS = "link.pi-peer.controller", "link.peer-pi.controller"
TIMERS = (("250 ms", "250 ms"), ("250 ms", "5 us"), ("5 us", "5 us"))
"""The idle times before sleep of the Pi and its peer. Measured is 250 ms at the Pi; the peer's is unknown."""
MEASURED_S = {0.01: (172e-6, 205e-6), 1.0: (188e-6, 272e-6)}
"""Mean round trips without and with Energy Efficient Ethernet, by the time between two pings."""
MEASURED_BPS = {"send": (937.0e6, 937.3e6), "receive": (936.5e6, 936.5e6)}
GOODPUT_CHANGE = 0.001


def link(timers: tuple[str, str] | None, *, coupled: bool = False) -> Scenario:
    """The link with these timers; None without sleep."""
    scenario = Scenario.from_file(LINK)
    if timers is None:
        return scenario.with_values({SENDS: None, ANSWERS: None})
    pairs = zip((SENDS, ANSWERS), timers, strict=True)
    return scenario.with_values(
        {f"{path}.hysteresis": timer for path, timer in pairs}
        | {f"{path}.coupled": coupled for path in (SENDS, ANSWERS)}
    )


def round_trips_s(scenario: Scenario, interval_s: float) -> np.ndarray:
    """The times from each ping to its answer. The first two follow the handshake and do not count."""
    result = scenario.with_values({"flow.ping.write_rate": f"{44 * 8 / interval_s} b/s"}).run(seed=1)
    sent, answered = (result.series(name)["time_s"].to_numpy() for name in ("segment", "window"))
    # SYN and SYN-ACK have a row each in the second table.
    count = min(len(sent), len(answered) - 2)
    return np.asarray(answered[2:][:count] - sent[:count])[2:]


def added_s(interval_s: float, timers: tuple[str, str], *, coupled: bool = False) -> float:
    """The time that sleep adds to every ping."""
    with_sleep, without = (round_trips_s(link(each, coupled=coupled), interval_s) for each in (timers, None))
    added = with_sleep - without
    if np.ptp(added) > 1e-9:
        raise ValueError(f"pings differ by {np.ptp(added)} s")
    return float(added[0])


@functools.cache
def goodput_bps(timers: tuple[str, str] | None, direction: str) -> float:
    """The goodput of ten seconds of TCP from the Pi (`send`) or to it."""
    ends = ("pi", "peer") if direction == "send" else ("peer", "pi")
    flow = {"kind": "tcp", "name": "iperf", "from": ends[0], "to": ends[1]}
    result = link(timers).with_values({"flow": [flow], "probe": {}, "tcp.congestion_control": "cubic"}).run(seed=1)
    return float(result.flow("iperf")["goodput_bps"])


def pings() -> list[str]:
    """Rows of the table of pings: added microseconds."""
    rows = [
        "| ping each | timer of the Pi | timer of the peer | measured | each direction alone | coupled directions |",
        "|---|---|---|---|---|---|",
    ]
    for interval_s, (off, on) in MEASURED_S.items():
        for number, timers in enumerate(TIMERS):
            found = [f"{1e6 * added_s(interval_s, timers, coupled=coupled):+.1f} us" for coupled in (False, True)]
            measured = f"{1e6 * (on - off):+.0f} us" if number == 0 else ""
            rows.append(f"| {interval_s:g} s | {timers[0]} | {timers[1]} | {measured} | {' | '.join(found)} |")
    return rows


def transfers() -> list[str]:
    """Rows of the table of transfers, with 250 ms at both ends."""
    rows = ["| TCP | measured off, on | change | model off, on | change |", "|---|---|---|---|---|"]
    for direction, measured in MEASURED_BPS.items():
        model = [goodput_bps(timers, direction) for timers in (None, TIMERS[0])]
        cells = [
            cell
            for off, on in (measured, model)
            for cell in (f"{off / 1e6:.1f}, {on / 1e6:.1f} Mb/s", f"{100 * (on / off - 1):+.4f} %")
        ]
        rows.append(f"| {direction} | {' | '.join(cells)} |")
    return rows


def main() -> int:
    """Prints both tables."""
    print("\n".join([*pings(), "", *transfers()]))
    changes = [goodput_bps(TIMERS[0], each) / goodput_bps(None, each) - 1 for each in MEASURED_BPS]
    return int(max(map(abs, changes)) >= GOODPUT_CHANGE)


if __name__ == "__main__":
    sys.exit(main())
