"""The paper's Figs. 2 to 7 over the offered load, distributions of completion times, and energy."""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid

from .measures import (
    STATIC,
    TCP_PC,
    TCPONLY,
    UDP_PC,
    BySeed,
    difference,
    es_qosd_goodput,
    es_qosd_time,
    inflation,
    loads,
    mean,
    over_seeds,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netlull.stats import Interval

LOAD_LABEL = "Offered load"
BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."
PAIRED = "Differences and ratios are paired by seed: equal seeds have the same arrivals and sizes."


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all figures; the paper's figures come first, in order."""
    yield transitions(evidence)
    yield savings(evidence)
    yield losses(evidence)
    yield completion(evidence)
    yield completion_distribution(evidence)
    yield goodput_difference(evidence)
    yield time_difference(evidence)
    yield time_difference_distribution(evidence)
    yield energy(evidence)


def _curve(
    evidence: Evidence, label: str, colour: int, value: Callable[[float], Interval], *, dashed: bool = False
) -> Curve:
    found = loads(evidence)
    return Curve(label, found, [value(load) for load in found], colour, dashed)


def _paired(evidence: Evidence, label: str, colour: int, value: Callable[[float], BySeed], scale: float = 1.0) -> Curve:
    def interval(load: float) -> Interval:
        return over_seeds({seed: number * scale for seed, number in value(load).items()})

    return _curve(evidence, label, colour, interval)


def _constant(evidence: Evidence, label: str, value: float, colour: int = 6) -> Curve:
    """A constant line for comparison, without an interval."""
    line = _curve(evidence, label, colour, lambda _: over_seeds({1: value}), dashed=True)
    return dataclasses.replace(line, marked=False)


HEADLINE_LOAD, PRINTED_S = 0.8, {TCP_PC: 7.0, TCPONLY: 0.2}
"""The load and the completion times of the paper's headline."""


def _printed(label: str, value: float, colour: int) -> Curve:
    """A number of the paper at the headline's load: a hollow marker."""
    return Curve(label, [HEADLINE_LOAD], [over_seeds({1: value})], colour, dashed=True)


def _panel(title: str, y_label: str, curves: list[Curve], *, y_from: float | None = None, log_y: bool = False) -> Panel:
    return Panel(title, LOAD_LABEL, y_label, curves, log_x=False, y_from=y_from, log_y=log_y)


COLOUR = {TCP_PC: 0, TCPONLY: 1, UDP_PC: 2}
NAME = {TCP_PC: "TCP+PC", TCPONLY: "TCPonly", UDP_PC: "UDP+PC"}


def _scenarios(evidence: Evidence, metric: str, scale: float, names: tuple[str, ...]) -> list[Curve]:
    def curve(name: str) -> Curve:
        return _curve(evidence, NAME[name], COLOUR[name], lambda load: mean(evidence, name, load, metric, scale))

    return [curve(name) for name in names]


def transitions(evidence: Evidence) -> Drawn:
    """Draws Fig. 2."""
    gap = _paired(
        evidence, "TCP+PC less UDP+PC", 3, lambda load: difference(evidence, load, TCP_PC, UDP_PC, "rate_changes")
    )
    panels = [
        _panel(
            "(a) Rate changes",
            "Rate changes in 590 s",
            _scenarios(evidence, "rate_changes", 1, (TCP_PC, UDP_PC)),
            y_from=0,
        ),
        _panel("(b) Difference", "Rate changes", [gap, _constant(evidence, "no difference", 0)]),
    ]
    return Drawn(
        "fig2",
        "Fig. 2. Number of power state transitions",
        f"(a) Rate changes of N1 after the warm-up of 10 s. (b) TCP+PC minus UDP+PC. {BANDS} {PAIRED}",
        panel_grid(panels),
    )


def savings(evidence: Evidence) -> Drawn:
    """Draws Fig. 3."""
    panels = []
    for letter, model in (("a", "fs"), ("b", "dvs")):
        curves = [
            _saving(evidence, name, f"saving_{model}{ending}", static, colour)
            for colour, (static, ending) in enumerate(STATIC.items())
            for name in (TCP_PC, UDP_PC)
        ]
        panels.append(_panel(f"({letter}) {model.upper()}", "Energy saved (%)", curves, y_from=0))
    gaps = [
        _paired(
            evidence,
            f"{model.upper()}, TCP+PC less UDP+PC",
            colour,
            functools.partial(difference, evidence, first=TCP_PC, second=UDP_PC, metric=f"saving_{model}"),
            100,
        )
        for colour, model in ((4, "fs"), (5, "dvs"))
    ]
    panels.append(_panel("(c) Difference, static power 0", "Points", [*gaps, _constant(evidence, "no difference", 0)]))
    caption = (
        "Energy saved by N1 against always running at its maximum rate (a) with frequency scaling, (b) with voltage "
        f"scaling, for static shares of the power; dashed: UDP+PC. (c) TCP+PC minus UDP+PC. {BANDS} {PAIRED}"
    )
    return Drawn("fig3", "Fig. 3. Energy saved with TCP and with its replay", caption, panel_grid(panels, columns=3))


def _saving(evidence: Evidence, name: str, metric: str, static: str, colour: int) -> Curve:
    label = f"{NAME[name]}, $P_s$ {static}"
    return _curve(evidence, label, colour, lambda load: mean(evidence, name, load, metric, 100), dashed=name == UDP_PC)


def losses(evidence: Evidence) -> Drawn:
    """Draws Fig. 4."""
    gap = _paired(
        evidence, "TCP+PC less TCPonly", 3, lambda load: difference(evidence, load, TCP_PC, TCPONLY, "loss"), 100
    )
    panels = [
        _panel(
            "(a) Loss at N1",
            "Packets dropped (%)",
            _scenarios(evidence, "loss", 100, (TCP_PC, TCPONLY, UDP_PC)),
            y_from=0,
        ),
        _panel("(b) Difference", "Points", [gap, _constant(evidence, "no difference", 0)]),
    ]
    return Drawn("fig4", "Fig. 4. Loss probability at N1", f"{BANDS} {PAIRED}", panel_grid(panels))


PERCENTILES = {"p50_s": "median", "p95_s": "95th percentile", "p99_s": "99th percentile"}


def completion(evidence: Evidence) -> Drawn:
    """Draws Fig. 5."""
    printed = [
        _printed(f"the paper: {NAME[name]} {'above ' if name == TCP_PC else ''}{value:g} s", value, COLOUR[name])
        for name, value in PRINTED_S.items()
    ]
    ratio = _paired(evidence, "TCP+PC over TCPonly", 3, lambda load: inflation(evidence, load))
    times = PRINTED_S[TCP_PC] / PRINTED_S[TCPONLY]
    panels = [
        _panel(
            "(a) Mean completion time",
            "Completion time (s)",
            [*_scenarios(evidence, "completion_s", 1, (TCP_PC, TCPONLY)), *printed],
            log_y=True,
        ),
        _panel(
            "(b) Inflation",
            "TCP+PC over TCPonly",
            [
                ratio,
                _constant(evidence, "the paper: at least 2", 2),
                _printed(f"the paper: 7 s over 0.2 s, {times:.0f} times", times, 3),
            ],
            log_y=True,
        ),
    ]
    caption = (
        "Mean completion time of the downloads that are complete at the end of the run. Hollow markers: the paper's "
        f"numbers at load 0.8. {BANDS} {PAIRED}"
    )
    return Drawn("fig5", "Fig. 5. Average completion time", caption, panel_grid(panels))


def completion_distribution(evidence: Evidence) -> Drawn:
    """Draws Fig. 5 with percentiles."""
    curves = [
        _percentile(evidence, name, metric, label, colour)
        for colour, (metric, label) in enumerate(PERCENTILES.items())
        for name in (TCP_PC, TCPONLY)
    ]
    ratios = [
        _paired(evidence, f"{label}, ratio", colour, functools.partial(inflation, evidence, metric=metric))
        for colour, (metric, label) in enumerate(PERCENTILES.items(), start=3)
    ]
    panels = [
        _panel("(a) Percentiles of completion time", "Completion time (s)", curves, log_y=True),
        _panel("(b) Inflation", "TCP+PC over TCPonly", ratios, log_y=True),
    ]
    caption = f"Median, 95th and 99th percentile of the downloads; dashed: TCPonly. {BANDS} {PAIRED}"
    return Drawn("fig5-distribution", "Fig. 5 as distribution", caption, panel_grid(panels))


def _percentile(evidence: Evidence, name: str, metric: str, label: str, colour: int) -> Curve:
    return _curve(
        evidence,
        f"{NAME[name]}, {label}",
        colour,
        lambda load: mean(evidence, name, load, metric),
        dashed=name == TCPONLY,
    )


def _differences(evidence: Evidence, quantity: Callable[[Evidence, float, str], BySeed]) -> list[Panel]:
    panels = []
    for letter, model in (("a", "fs"), ("b", "dvs")):
        curves = [
            _paired(
                evidence,
                f"$P_s$ {static}",
                colour,
                functools.partial(_at, evidence, quantity, f"saving_{model}{ending}"),
            )
            for colour, (static, ending) in enumerate(STATIC.items())
        ]
        curves.append(_constant(evidence, "nothing gained", 0))
        panels.append(_panel(f"({letter}) {model.upper()}", "ES - QoSD (points)", curves))
    return panels


def _at(evidence: Evidence, quantity: Callable[[Evidence, float, str], BySeed], saving: str, load: float) -> BySeed:
    return quantity(evidence, load, saving)


def goodput_difference(evidence: Evidence) -> Drawn:
    """Draws Fig. 6."""
    caption = f"Energy saved minus goodput lost against TCPonly, in percentage points. {BANDS} {PAIRED}"
    drawn = panel_grid(_differences(evidence, es_qosd_goodput))
    return Drawn("fig6", "Fig. 6. ES - QoSD, the QoS metric being goodput", caption, drawn)


def time_difference(evidence: Evidence) -> Drawn:
    """Draws Fig. 7."""
    caption = f"Energy saved minus growth of the mean completion time against TCPonly, in points. {BANDS} {PAIRED}"
    drawn = panel_grid(_differences(evidence, es_qosd_time))
    return Drawn("fig7", "Fig. 7. ES - QoSD, the QoS metric being completion time", caption, drawn)


def time_difference_distribution(evidence: Evidence) -> Drawn:
    """Draws Fig. 7 with percentiles instead of the mean."""
    panels = []
    for letter, model in (("a", "fs"), ("b", "dvs")):
        curves = [
            _paired(
                evidence,
                label,
                colour,
                functools.partial(es_qosd_time, evidence, saving=f"saving_{model}", metric=metric),
            )
            for colour, (metric, label) in enumerate(PERCENTILES.items())
        ]
        curves.append(_constant(evidence, "nothing gained", 0))
        panels.append(_panel(f"({letter}) {model.upper()}, $P_s$ 0", "ES - QoSD (points)", curves))
    caption = f"As Fig. 7, with the growth of a percentile instead of the mean's. {BANDS} {PAIRED}"
    return Drawn("fig7-distribution", "Fig. 7 as distribution", caption, panel_grid(panels))


POWER_MODELS = {
    "saving_fs": "ideal FS, P_s = 0",
    "saving_dvs": "ideal DVS, P_s = 0",
    "saving_fs_50": "ideal FS, P_s = 0.5",
    "saving_ncs_55a1_24h": "measured: NCS-55A1-24H",
    "saving_wedge_tofino": "measured: Wedge (Tofino)",
}
"""The ideal power models and the measured devices: metric and name."""


def energy(evidence: Evidence) -> Drawn:
    """Draws the energy saved under each power model."""
    curves = [
        _model_saving(evidence, metric, name.replace("P_s", "$P_s$"), colour)
        for colour, (metric, name) in enumerate(POWER_MODELS.items())
    ]
    cost = _paired(evidence, "completion time, TCP+PC", 6, lambda load: _growth(inflation(evidence, load)), 100)
    panels = [
        _panel("(a) What is saved", "Energy saved (%)", curves, y_from=0),
        _panel("(b) What it costs", "Completion time grows by (%)", [cost]),
    ]
    caption = (
        "Energy that N1's link saves in TCP+PC, for ideal scaling and for a port of a measured device with its share "
        f"of the box, next to the growth of the mean completion time that it costs. {BANDS}"
    )
    return Drawn("energy", "Energy saved, and its price", caption, panel_grid(panels), "energy")


def _growth(ratios: BySeed) -> BySeed:
    return {seed: ratio - 1 for seed, ratio in ratios.items()}


def _model_saving(evidence: Evidence, metric: str, name: str, colour: int) -> Curve:
    return _curve(evidence, name, colour, lambda load: mean(evidence, TCP_PC, load, metric, 100))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the energy saved with its cost in completion time."""
    header = ["load", *(f"{name} (%)" for name in POWER_MODELS.values()), "completion time (times)", "p99 (times)"]
    rows = []
    for load in loads(evidence):
        saved = [number(mean(evidence, TCP_PC, load, metric, 100)) for metric in POWER_MODELS]
        cost = [number(over_seeds(inflation(evidence, load, metric)), digits=2) for metric in ("completion_s", "p99_s")]
        rows.append([f"{load:g}", *saved, *cost])
    yield Tabled("energy", "Energy saved by N1's link in TCP+PC, and completion times", header, rows)
