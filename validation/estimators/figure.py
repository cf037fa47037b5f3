"""Draws estimates over time next to the truth: `python validation/estimators/figure.py FILE.svg`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from run import STEP_S, Floats, Trace, steps, traces

from netlull.plot import save_as

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SEEDS = 10
TRUE, ESTIMATED, PRINTED = "#222222", "#0072b2", "#d55e00"


def band(axes: Axes, runs: list[Trace], pick: str, label: str, colour: str, scale: float = 1.0) -> None:
    """Draws the mean over the seeds and the range of nine in ten."""
    values = scale * np.array([getattr(run, pick) for run in runs])
    time: Floats = runs[0].time
    low, high = np.nanpercentile(values, [5, 95], axis=0)
    axes.fill_between(time, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(time, np.nanmean(values, axis=0), color=colour, label=label, linewidth=1.2)


def main(arguments: list[str]) -> int:
    """Writes the figure."""
    if len(arguments) != 1 or Path(arguments[0]).suffix not in (".svg", ".png", ".pdf"):
        print("expected one file to write: NAME.svg, NAME.png or NAME.pdf", file=sys.stderr)
        return 2
    counts = steps()["N 20 to 60 to 20"].with_(bin_s=0.25)
    trips = steps()["RTT 40 to 300 to 40 ms"].with_(bin_s=0.25)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 5.2), layout="constrained", sharex=True)
    measured, printed = (traces(counts, estimator, SEEDS) for estimator in ("timestamps", "printed"))
    band(top, measured, "active", "true (active connections)", TRUE)
    band(top, measured, "flows", "linear counting", ESTIMATED)
    band(top, printed, "flows", "as printed", PRINTED)
    top.set(ylabel="N, flows", title="40 flows join 20 at 30 s, and leave", ylim=(0, None), xlim=(20, 70))
    measured, printed = (traces(trips, estimator, SEEDS) for estimator in ("timestamps", "printed"))
    band(bottom, measured, "true_round_trip", "true (mean over segments)", TRUE, 1e3)
    band(bottom, measured, "round_trip", "timestamps, 16 samples at a time", ESTIMATED, 1e3)
    band(bottom, printed, "round_trip", "as printed", PRINTED, 1e3)
    title = "40 flows of 300 ms join 20 of 40 ms at 30 s, and leave"
    bottom.set(ylabel="RTT, ms", xlabel="time, s", title=title, ylim=(0, 240))
    for axes in (top, bottom):
        axes.axvline(STEP_S, color="#999999", linewidth=0.8, linestyle=":")
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    save_as(figure, Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
