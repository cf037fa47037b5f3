"""Senders beyond the paper: the cases in which shaping into bursts works or fails, and the reasons."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled
from netlull.plot import COLOURS, Curve, Panel, figure, legend_above, log_y, panel_grid, styled

from .studies import MIDDLE, middle, ratios, spread, strip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Recorded

BASELINE, SHAPER = "baseline TCP", "shaper"
CLIENTS = (SHAPER, "open repair", "RTT from open ACKs", "both", "both and guard", "open repair and guard")
"""The values of the axis `client`, without baseline TCP."""
SHOWN = (SHAPER, "open repair", "RTT from open ACKs", "open repair and guard")
"""The clients in figures; tables have all clients."""
DEEP = 2.0
"""The product above which a download counts as trapped in small bursts."""
PRODUCT = "Energy x delay, baseline TCP = 1"


def cells(sender: str, client: str, *, rtt: float = 60, loss: float = 0) -> tuple[Cell, Cell]:
    """A point and its baseline."""
    at: dict[str, float | str] = {"rtt": rtt, "loss": loss, "sender": sender}
    return Cell.of("senders", client=client, **at), Cell.of("senders", client=BASELINE, **at)


def calm(sender: str, client: str, noise: float) -> tuple[Cell, Cell]:
    """A point on the axis of noise at 60 ms, and its baseline."""
    at: dict[str, float | str] = {"noise": noise, "sender": sender}
    return Cell.of("calm", client=client, **at), Cell.of("calm", client=BASELINE, **at)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the products, the effect of noise, recorded bursts, and downloads trapped in small bursts."""
    yield Drawn(
        "senders-product",
        "Energy x delay with other senders",
        "No loss, noise of 2 % of the round trip, at 30, 60 and 120 ms from top to bottom. A dot is a seed, a line "
        "the median of ten. Below 1 shaping pays. FreeBSD 4.5 takes back the data in flight when the window closes "
        "and sends it again without reducing cwnd. All other senders treat packets missed during sleep as losses.",
        products(evidence),
    )
    if "calm" in evidence.grid.experiments:
        yield Drawn(
            "senders-noise",
            "Effect of the path's noise",
            f"The paper's shaper, 60 ms, no loss; noise: mean of the gamma distribution in percent of 60 ms. {MIDDLE}",
            noises(evidence),
        )
    if "freebsd" in evidence.series:
        yield Drawn(
            "senders-bursts",
            "Bursts of three senders; the last one paces",
            "60 ms, no loss, the paper's shaper: packets that the client receives in 0.4 s; grey: its radio is "
            "awake. FreeBSD's window of 23 packets arrives in 13 ms. BBR's 44 packets arrive at the rate that BBR "
            "has measured, a window for each round trip. The burst then lasts as long as the sleep before it, and "
            "the download takes more than twice the time.",
            bursts(evidence),
        )
        yield Drawn(
            "senders-hole",
            "How small bursts slow a download",
            "Packets of each burst over time, without loss, the paper's shaper. Crosses: bursts with a missing "
            "packet, which arrived while the radio slept. The sender of 2003 has its whole window again in the "
            "next burst. The others continue with less, and a smaller burst is more easily judged complete too "
            "soon.",
            holes(evidence),
        )


def products(evidence: Evidence) -> Figure:
    """Draws strips of products, with a row for each round-trip time."""
    rtts, senders = evidence.grid.values("senders", "rtt"), _senders(evidence)
    with styled():
        made = figure(height=1.2 + 1.55 * len(rtts))
        rows = made.subplots(len(rtts), 1, squeeze=False, sharex=True)[:, 0]
        for axes, rtt in zip(rows, rtts, strict=True):
            for across, sender in enumerate(senders, start=1):
                for place, client in enumerate(SHOWN):
                    sample = ratios(evidence, *cells(sender, client, rtt=rtt), "product_js")
                    strip(axes, across + (place - 1.5) * 0.2, sample, place, client if across == 1 else "")
            axes.axhline(1, color="#222222", linewidth=0.8)
            log_y(axes)
            axes.set_ylabel("Energy x delay,\nbaseline = 1")
            axes.set_title(f"{rtt:g} ms", loc="left")
        names = [sender.replace(", ", "\n") for sender in senders]
        rows[-1].set_xticks(range(1, len(senders) + 1), names)
        legend_above(made, [rows[0]])
    return made


def noises(evidence: Evidence) -> Figure:
    """Draws the products over the noise."""
    levels = evidence.grid.values("calm", "noise")
    panels = []
    for letter, metric, label in (("a", "product_js", PRODUCT), ("b", "seconds", "Transfer time, baseline TCP = 1")):
        curves = [
            Curve(
                sender,
                levels,
                [middle(ratios(evidence, *calm(sender, SHAPER, noise), metric)) for noise in levels],
                colour,
                dashed=sender.endswith("1 MiB"),
            )
            for colour, sender in enumerate(_senders(evidence))
        ]
        panels.append(Panel(f"({letter})", "Noise (% of the round trip)", label, curves, log_x=False, log_y=True))
    return panel_grid(panels)


PICTURED = {
    "freebsd": "FreeBSD 4.5, 32 KiB, noise 2 %",
    "cubic-calm": "CUBIC, 64 KiB, no noise",
    "bbr-calm": "BBRv3, 64 KiB, no noise",
}
FROM_S, SPAN_S = 1.0, 0.4


def bursts(evidence: Evidence) -> Figure:
    """Draws sequence numbers and the state of the radio, with a row for each sender."""
    with styled():
        made = figure(height=1.0 + 1.5 * len(PICTURED))
        rows = made.subplots(len(PICTURED), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (name, title) in zip(rows, PICTURED.items(), strict=True):
            draw_bursts(axes, evidence.series[name])
            axes.set_title(title, loc="left")
            axes.set_ylabel("Received (kB)")
        rows[-1].set_xlabel("Time (s)")
        legend_above(made, [rows[0]])
    return made


def draw_bursts(axes: Axes, run: Recorded) -> None:
    """Draws the arrivals of an interval of a download, counted from 0, and the awake intervals of the radio."""
    end = FROM_S + SPAN_S
    air, radio = run.series("air"), run.series("radio")
    time, kind = air["time_s"].to_numpy(), np.array(air["kind"].to_pylist())
    seq = np.array(air["seq"].to_pylist(), dtype=float)
    for since, until in awake(radio["time_s"].to_pylist(), radio["state"].to_pylist(), end):
        axes.axvspan(max(since, FROM_S), min(until, end), color="#e6e6e6", linewidth=0, zorder=0)
    shown = (time >= FROM_S) & (time <= end)
    first = seq[shown & (kind == "data")].min()
    for what, mark, colour, label in (("data", ".", 0, "received"), ("missed", "x", 1, "missed")):
        chosen = shown & (kind == what)
        if not chosen.any():
            continue
        axes.plot(time[chosen], (seq[chosen] - first) / 1e3, mark, markersize=3, color=COLOURS[colour], label=label)
    for at in time[shown & (kind == "open")]:
        axes.axvline(
            at,
            color=COLOURS[2],
            linewidth=0.8,
            label="open acknowledgement" if at == time[shown & (kind == "open")][0] else None,
        )
    axes.set_xlim(FROM_S, end)


def awake(times: list[float], states: list[str], end: float) -> list[tuple[float, float]]:
    """The intervals in which the radio is not asleep."""
    spans: list[tuple[float, float]] = []
    since: float | None = None
    for at, state in zip(times, states, strict=True):
        if state == "asleep" and since is not None:
            spans.append((since, at))
            since = None
        elif state != "asleep" and since is None:
            since = at
    return [*spans, (since, end)] if since is not None else spans


HOLES = {
    "freebsd": "FreeBSD 4.5, 32 KiB, 60 ms",
    "new-reno": "NewReno, 64 KiB, 60 ms",
    "cubic": "CUBIC, 64 KiB, 60 ms",
    "bbr": "BBRv3, 64 KiB, 120 ms",
}


def holes(evidence: Evidence) -> Figure:
    """Draws the packets of each burst over time."""
    with styled():
        made = figure(height=4.2)
        places = made.subplots(2, 2).ravel()
        for axes, (name, title) in zip(places, HOLES.items(), strict=True):
            table = evidence.series[name].series("burst")
            time, packets = table["time_s"].to_numpy(), table["packets"].to_numpy()
            intact = np.array(table["intact"].to_pylist(), dtype=bool)
            axes.plot(time, packets, color="#bbbbbb", linewidth=0.6, zorder=1)
            axes.plot(time[intact], packets[intact], ".", markersize=3, color=COLOURS[0], label="intact")
            axes.plot(time[~intact], packets[~intact], "x", markersize=3.5, color=COLOURS[1], label="packet missing")
            axes.set_title(title, loc="left")
            axes.set_xlabel("Time (s)")
            axes.set_ylabel("Packets of a burst")
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
        legend_above(made, [places[1]])
    return made


def _senders(evidence: Evidence) -> list[str]:
    return evidence.grid.labels("senders", "sender")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields products of all shapers, times and missed packets of the paper's, and the ends of recorded downloads."""
    rtts, all_losses = (evidence.grid.values("senders", axis) for axis in ("rtt", "loss"))
    for metric, name in (("product_js", "Energy x delay"), ("seconds", "Transfer time")):
        rows = [
            [sender, f"{rtt:g}", f"{loss:g}"]
            + [
                spread(middle(ratios(evidence, *cells(sender, client, rtt=rtt, loss=loss), metric)))
                for client in CLIENTS
            ]
            for sender in _senders(evidence)
            for rtt in rtts
            for loss in all_losses
        ]
        yield Tabled(
            "figures",
            f"{name} over baseline TCP's: median of the seeds (lowest to highest)",
            ["sender", "round trip (ms)", "loss (%)", *CLIENTS],
            rows,
        )
    rows = [_why(evidence, sender, rtt) for sender in _senders(evidence) for rtt in rtts]
    header = [
        "sender",
        "round trip (ms)",
        "asleep (% of the time)",
        "packets missed",
        "bursts",
        f"seeds beyond {DEEP:g}",
    ]
    yield Tabled("figures", "The paper's shaper without loss: medians over seeds", header, rows)
    ended = [_ended(name, run) for name, run in evidence.series.items()]
    header = [
        "run",
        "bursts",
        "packets",
        "span (ms)",
        "span (% of the round trip)",
        "with a packet missing",
        "makes bursts for (% of the download)",
        "then",
    ]
    yield Tabled("figures", "Recorded downloads, the paper's shaper: medians of their bursts", header, ended)


def _why(evidence: Evidence, sender: str, rtt: float) -> list[str]:
    where, baseline = cells(sender, SHAPER, rtt=rtt)
    grid = evidence.grid
    seconds = grid.samples(where, "seconds")
    asleep = [100 * value / seconds[seed] for seed, value in grid.samples(where, "asleep_s").items()]
    sample = ratios(evidence, where, baseline, "product_js")
    deep = sum(value > DEEP for value in sample)
    return [
        sender,
        f"{rtt:g}",
        f"{median(asleep):.0f}",
        *(f"{median(grid.samples(where, metric).values()):.0f}" for metric in ("missed", "bursts")),
        f"{deep} of {len(sample)}",
    ]


def _ended(name: str, run: Recorded) -> list[str]:
    table = run.series("burst")
    if not len(table):
        return [name, "0", *[""] * 6]
    first, last = (np.array(table[column].to_pylist()) for column in ("first_s", "last_s"))
    packets, whole = np.array(table["packets"].to_pylist()), np.array(table["intact"].to_pylist(), dtype=bool)
    station = run.summary["stations"][0]
    rtt, download = station["round_trip_s"], station["download"]
    span = float(np.median(last - first))
    shaped = (table["ended_s"].to_pylist()[-1] - table["time_s"].to_pylist()[0]) / download["seconds"]
    return [
        name,
        str(len(packets)),
        f"{np.median(packets):.0f}",
        f"{1e3 * span:.1f}",
        f"{100 * span / rtt:.0f}",
        str(int((~whole).sum())),
        f"{100 * shaped:.0f}",
        FALLBACKS[station["fallback"]],
    ]


FALLBACKS = {
    "no_timestamps": "standard: no timestamps",
    "bad_bursts": "standard: three bad bursts",
    "saturated": "standard: saturated",
    "paced": "standard: paced",
    "slowdown": "standard: the bound of the slowdown",
    None: "goes on to the end",
}
"""The text for each reason for which a shaper gave up."""
