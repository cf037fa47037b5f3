"""Compares a gateway's estimates of N and RTT with the truth: `python validation/estimators/run.py [PART ...]`.

Prints a table per part. With `--store` the tables replace the text in `stored/`. `--seeds` sets the seeds per cell
(default 10).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from cells import ESTIMATORS, Cell, cells

from netlull.stats import mean_interval

HERE = Path(__file__).parent
Floats = npt.NDArray[np.float64]
Parts = dict[str, Callable[[int], str]]


@dataclass(frozen=True)
class Trace:
    """Table `gateway` of one run after the warm-up, and the link's rate."""

    time: Floats
    flows: Floats
    active: Floats
    seen: Floats
    round_trip: Floats
    true_round_trip: Floats
    true_flow_round_trip: Floats
    window: Floats
    rate: Floats


def trace(cell: Cell, estimator: str, seed: int) -> Trace:
    """Runs a cell."""
    result = cell.scenario(estimator).run(seed=seed)
    table, link = result.series("gateway"), result.series("link")
    after = table["time_s"].to_numpy() > cell.warm_up_s

    def column(name: str) -> Floats:
        found: Floats = np.asarray(table[name].to_numpy(), dtype=float)[after]
        return found

    return Trace(
        column("time_s"),
        column("flows"),
        column("active_flows"),
        column("seen_flows"),
        column("round_trip_s"),
        column("true_round_trip_s"),
        column("true_flow_round_trip_s"),
        column("window_bytes"),
        link["rate_bps"].to_numpy().astype(float)[after],
    )


def traces(cell: Cell, estimator: str, seeds: int) -> list[Trace]:
    """A cell under every seed, on all cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda seed: trace(cell, estimator, seed), range(1, seeds + 1)))


def interval(values: Iterable[float], digits: int = 1) -> str:
    """The mean and half of its 95 % interval."""
    found = mean_interval(values)
    half = (found.high - found.low) / 2
    return f"{found.mean:.{digits}f} +- {half:.{digits}f}"


def range_90(values: Floats, digits: int = 1) -> str:
    """The 5 % and 95 % points."""
    low, high = np.nanpercentile(values, [5, 95])
    return f"{low:.{digits}f} .. {high:.{digits}f}"


def relative(estimate: Floats, truth: Floats) -> Floats:
    """Errors in percent."""
    return 100.0 * (estimate / truth - 1.0)


def mean(values: Floats) -> float:
    """The mean of the existing values."""
    return float(np.nanmean(values))


def bias(estimate: Floats, truth: Floats) -> float:
    """Error of the mean in percent."""
    return 100.0 * (mean(estimate) / mean(truth) - 1.0)


def round_trips(seeds: int) -> str:
    """RTT by each estimator: bias of the mean, spread of single estimates."""
    head = (
        f"{'cell':<22}{'estimator':<12}{'true RTT, ms':>16}{'over flows':>16}{'bias, %':>20}"
        f"{'deviation, %':>14}{'5 .. 95 %':>22}"
    )
    lines = ["RTT against the mean over segments; estimates at the ends of seconds", head]
    for name, cell in cells().items():
        for estimator in ESTIMATORS:
            if estimator == "printed" and name not in ("gateway-20", "g-router-20", "far-20", "mixed-24", "web"):
                continue
            runs = traces(cell, estimator, seeds)
            biases = [bias(run.round_trip, run.true_round_trip) for run in runs]
            # Around the run's own bias: the differences between seeds do not count twice.
            spread = [100.0 * float(run.round_trip.std()) / mean(run.true_round_trip) for run in runs]
            errors = np.concatenate([relative(run.round_trip, run.true_round_trip) for run in runs])
            segments = interval(1e3 * mean(run.true_round_trip) for run in runs)
            flows = interval(1e3 * mean(run.true_flow_round_trip) for run in runs)
            lines.append(
                f"{name:<22}{estimator:<12}{segments:>16}{flows:>16}{interval(biases):>20}"
                f"{np.mean(spread):>14.1f}{range_90(errors):>22}"
            )
    return "\n".join(lines) + "\n"


INTERVALS_S = (0.2, 1.0)


def flow_counts(seeds: int) -> str:
    """N by linear counting, compared with the connections of the interval and with those active at an instant."""
    lines = [
        "N by linear counting (4096 bits) against the connections active at an instant and those seen in the interval",
        f"{'cell':<22}{'interval, s':>12}{'active':>18}{'seen':>18}{'estimate':>18}"
        f"{'against active, %':>20}{'against seen, %':>20}{'5 .. 95 % of seen':>22}",
    ]
    for name, cell in cells().items():
        for seconds in INTERVALS_S:
            counting = {"kind": "linear_counting", "interval": f"{seconds} s"}
            runs = traces(cell.with_(bin_s=seconds, flow_count=counting), "timestamps", seeds)
            # An estimate is of the previous interval, which ends with the first packet after it.
            pairs = [(run.flows[1:], run.seen[:-1], run.active[:-1]) for run in runs]
            errors = np.concatenate([relative(flows, np.maximum(seen, 1)) for flows, seen, _ in pairs])
            against_active = [bias(flows, active) for flows, _, active in pairs]
            against_seen = [bias(flows, seen) for flows, seen, _ in pairs]
            means = [interval(mean(values) for values in column) for column in zip(*pairs, strict=True)]
            lines.append(
                f"{name:<22}{seconds:>12}{means[2]:>18}{means[1]:>18}{means[0]:>18}"
                f"{interval(against_active):>20}{interval(against_seen, 2):>20}{range_90(errors):>22}"
            )
    return "\n".join(lines) + "\n"


def whang(flows: float, bits: int) -> tuple[float, float]:
    """Bias and standard error of linear counting, both in flows (Whang et al. 1990, section 3).

    With t = n/m: bias (e^t - t - 1) / 2, variance m (e^t - t - 1).
    """
    load = flows / bits
    term = math.exp(load) - load - 1.0
    return term / 2.0, math.sqrt(bits * term)


def linear_counting(seeds: int) -> str:
    """N's error over maps of several sizes, next to theory. Every seed has other keys."""
    seeds *= 10
    lines = [
        f"Linear counting beside Whang et al. 1990; {seeds} seeds, flows that send in every interval",
        f"{'flows':>6}{'bits':>7}{'mean error':>20}{'theory':>9}{'deviation':>23}{'theory':>9}",
    ]
    for flows, rate in ((5, 10.0), (20, 10.0), (100, 50.0)):
        for bits in (64, 256, 1024, 4096):
            cell = Cell("", flows=flows, rate_mbps=rate, duration_s=6.0, warm_up_s=4.0, buffer_packets=int(10 * rate))
            counting = {"kind": "linear_counting", "bits": bits}
            runs = traces(cell.with_(flow_count=counting), "timestamps", seeds)
            errors = np.array([run.flows[-1] - run.seen[-2] for run in runs])
            bias, error = whang(flows, bits)
            low, high = deviation_interval(errors)
            deviation = f"{errors.std(ddof=1):.2f} ({low:.2f} .. {high:.2f})"
            lines.append(f"{flows:>6}{bits:>7}{interval(errors, 2):>20}{bias:>9.2f}{deviation:>23}{error:>9.2f}")
    return "\n".join(lines) + "\n"


def deviation_interval(values: Floats) -> tuple[float, float]:
    """95 % interval of a standard deviation, by the bootstrap: errors of a few collisions are far from normal."""
    generator = np.random.default_rng(1)
    drawn = generator.choice(values, (2000, len(values)))
    low, high = np.percentile(drawn.std(axis=1, ddof=1), [2.5, 97.5])
    return float(low), float(high)


STEP_S = 30.0
"""Time in s at which flows join or a bottleneck appears."""


def steps() -> dict[str, Cell]:
    """Cells with a step in the truth."""
    base = Cell("", duration_s=80.0, warm_up_s=0.0, bin_s=0.1, rate_mbps=50.0, buffer_packets=400)
    return {
        "N 20 to 60 to 20": base.with_(joining=40, joining_kb=2000.0),
        "N 5 to 45 to 5": base.with_(flows=5, joining=40, joining_kb=2600.0),
        "RTT 40 to 300 to 40 ms": base.with_(rtts_ms=(40.0,), joining=40, joining_kb=1600.0, joining_rtt_ms=300.0),
    }


def reached(time: Floats, estimate: Floats, truth: Floats, start: float, end: float) -> float:
    """Seconds from `start` until the estimate is within 10 % of the later truth; NaN if never."""
    inside = (time > start) & (time <= end)
    target = np.nanmean(truth[inside][inside.sum() // 2 :])
    right = np.flatnonzero(np.abs(estimate[inside] / target - 1.0) <= 0.1)
    return float(time[inside][right[0]] - start) if len(right) else math.nan


def convergence(seeds: int) -> str:
    """The time after a step for the truth itself, and for the estimate."""
    lines = [
        "Seconds from a step until truth and estimate are within 10 % of the new truth",
        f"{'step':<24}{'estimator':<18}{'truth, up':>16}{'estimate, up':>24}{'estimate, down':>24}",
    ]
    for name, cell in steps().items():
        counts = name.startswith("N")
        for estimator in ("timestamps",) if counts else ("timestamps", "handshake"):
            runs = traces(cell, estimator, seeds)
            found = [_settle(cell, run, counts=counts) for run in runs]
            truth, up, down = (missing([times[column] for times in found]) for column in range(3))
            said = "linear counting" if counts else estimator
            lines.append(f"{name:<24}{said:<18}{truth:>16}{up:>24}{down:>24}")
    return "\n".join(lines) + "\n"


def _settle(cell: Cell, run: Trace, *, counts: bool) -> tuple[float, float, float]:
    """The times in s for the truth after the step up, the estimate after that, and the estimate after the step down."""
    # Until the first tenth of the joined flows has left, and from the departure of the last.
    plateau = run.time[np.flatnonzero(run.active > cell.flows + 0.9 * cell.joining)[-1]]
    over = run.time[np.flatnonzero(run.active > cell.flows)[-1]]
    truth, estimate = (run.active, run.flows) if counts else (run.true_round_trip, run.round_trip)
    return (
        reached(run.time, truth, truth, STEP_S, plateau),
        reached(run.time, estimate, truth, STEP_S, plateau),
        reached(run.time, estimate, truth, over, over + 8.0),
    )


def missing(values: Sequence[float]) -> str:
    """An interval, with the number of values that never settled."""
    good = [value for value in values if not math.isnan(value)]
    never = len(values) - len(good)
    text = interval(good, 2) if len(good) > 1 else "-"
    return f"{text} ({never} never)" if never else text


def printed(seeds: int) -> str:
    """Equations 5 and 7 as printed: N swnd / C keeps its initial value."""
    lines = [
        "As printed: RTT_k is N_0 swnd_0 / C_0 for ever, and N_k = RTT_0 C_k / swnd_k",
        f"{'cell':<22}{'N_0':>5}{'RTT_0, ms':>11}{'N, true':>10}{'RTT true, ms':>14}{'N printed':>18}"
        f"{'RTT printed, ms':>18}{'N swnd/C, least':>17}{'largest':>9}",
    ]
    for name in ("gateway-5", "gateway-20", "gateway-100", "g-router-20", "far-20", "mixed-24", "web"):
        cell = cells()[name]
        runs = traces(cell, "printed", seeds)
        invariant = np.concatenate([8e3 * run.flows * run.window / run.rate for run in runs])
        # The product changes where N is at its floor of 1.
        free = np.concatenate([run.flows for run in runs]) > 1.0
        low, high = (invariant[free].min(), invariant[free].max()) if free.any() else (math.nan, math.nan)
        first = 8e3 * max(cell.flows, 1) * 20e3 / (cell.rate_mbps * 1e6)
        estimate = interval(1e3 * run.round_trip.mean() for run in runs)
        lines.append(
            f"{name:<22}{max(cell.flows, 1):>5}{first:>11.1f}{np.mean([run.active.mean() for run in runs]):>10.1f}"
            f"{1e3 * np.mean([np.nanmean(run.true_round_trip) for run in runs]):>14.1f}"
            f"{interval(run.flows.mean() for run in runs):>18}{estimate:>18}"
            f"{low:>17.2f}{high:>9.2f}"
        )
    return "\n".join(lines) + "\n"


PARTS: Parts = {
    "round-trips": round_trips,
    "flow-counts": flow_counts,
    "linear-counting": linear_counting,
    "convergence": convergence,
    "printed": printed,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default all")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of each cell (default 10)")
    parser.add_argument("--store", action="store_true", help="replace the tables in stored/")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.parts if name not in PARTS]
    if unknown:
        parser.error(f"{unknown[0]}: expected one of {', '.join(PARTS)}")
    if chosen.seeds < 2:
        parser.error(f"--seeds: is {chosen.seeds}; expected at least 2, for intervals")
    for name in chosen.parts or PARTS:
        table = PARTS[name](chosen.seeds)
        print(table, flush=True)
        if chosen.store:
            (HERE / "stored" / f"{name}.txt").write_text(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
