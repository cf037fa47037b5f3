"""Differences between a run of netlull and one of ns-2 or ns-3: plain functions on numbers and congestion windows."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Sample = tuple[float, float]
"""Time (s), and the congestion window (packets) from then on."""

CUT = 0.8
"""A window that falls below this share of its value was cut."""
FAST_RECOVERY = 3.0
"""RFC 5681 section 3.2 step 3: fast recovery starts with ssthresh plus three segments."""


@dataclass(frozen=True)
class Evidence:
    """A simulator's results: counters, and the window at the case's sample times."""

    numbers: Mapping[str, float]
    window: Sequence[float] = ()


@dataclass(frozen=True)
class Difference:
    """A number of both simulators, with its tolerance."""

    name: str
    other: float
    netlull: float
    tolerance: float | None = None
    absolute: bool = False

    @property
    def value(self) -> float:
        """The number of netlull less the other's, relative unless the latter is 0, or absolute."""
        difference = self.netlull - self.other
        return difference if self.absolute or self.other == 0 else difference / abs(self.other)

    @property
    def holds(self) -> bool:
        """True within the tolerance, or without one."""
        return self.tolerance is None or abs(self.value) <= self.tolerance


def differences(
    other: Mapping[str, float], netlull: Mapping[str, float], tolerance: Mapping[str, float]
) -> list[Difference]:
    """The counters of both, in the other's order. `NAME_abs` in `tolerance` makes NAME's tolerance absolute.

    Raises:
        KeyError: one of them lacks a number that has a tolerance.
    """
    found = []
    for name in other:
        if name not in netlull:
            continue
        absolute = f"{name}_abs" in tolerance
        allowed = tolerance.get(f"{name}_abs") if absolute else tolerance.get(name)
        found.append(Difference(name, other[name], netlull[name], allowed, absolute))
    named = {difference.name for difference in found}
    for name in tolerance:
        if name.removesuffix("_abs") not in named | {"window"}:
            raise KeyError(f"tolerance for {name}: expected one of {', '.join(sorted(named))}")
    return found


def without_inflation(changes: Iterable[tuple[float, float, float]]) -> list[Sample]:
    """The window in ns-2's form, without inflation by duplicate acknowledgements, from (time, cwnd, ssthresh).

    A cut to half the window plus three segments begins a recovery (RFC 5681 section 3.2; the preset `ns2` halves
    exactly and rounds ssthresh down). It ends when the window is less than half a segment above that half. A partial
    acknowledgement leaves a whole segment more (RFC 6582 section 3.2), a full one at most the growth of one
    acknowledgement. A whole segment more in congestion avoidance is limited transmit (RFC 3042), not growth.
    """
    plain: list[Sample] = []
    before = 0.0
    base: float | None = None
    for time, cwnd, ssthresh in changes:
        if base is not None and cwnd > base + 0.5:
            continue
        if base is None and cwnd < before and 0 <= cwnd - FAST_RECOVERY - ssthresh < 1:
            base = cwnd - FAST_RECOVERY
            before = base
        elif base is None and before >= ssthresh and cwnd > before + 1 - 1e-6:
            continue
        else:
            base = None
            before = cwnd
        plain.append((time, before))
    return plain


def at(samples: Sequence[Sample], times: Iterable[float]) -> list[float]:
    """The window at these times; 0 before the first sample."""
    starts = [time for time, _ in samples]
    return [samples[index - 1][1] if (index := bisect_right(starts, time)) else 0.0 for time in times]


def cuts(samples: Sequence[Sample]) -> list[Sample]:
    """The times of the window's cuts, and its values before."""
    return [
        (time, before)
        for (_, before), (time, after) in itertools.pairwise(samples)
        if after < min(CUT * before, before)
    ]


def window_distance(other: Sequence[float], netlull: Sequence[float]) -> float:
    """Mean absolute difference of two windows sampled at the same times, over the mean of the first.

    Raises:
        ValueError: they have different lengths, or no samples.
    """
    if len(other) != len(netlull) or not sum(other):
        raise ValueError(f"expected as many samples, and windows above 0: {len(other)} and {len(netlull)} samples")
    return sum(abs(one - another) for one, another in zip(other, netlull, strict=True)) / sum(other)


def table(title: str, found: Iterable[Difference], other: str = "ns-2") -> str:
    """The differences of one case as text. `other` is the other simulator's name."""
    lines = [title, f"  {'':<24} {other:>14} {'netlull':>14} {'difference':>11} {'allowed':>9}  verdict"]
    for each in found:
        shown = f"{each.value:+.4g}" if each.absolute or each.other == 0 else f"{each.value:+.2%}"
        if each.tolerance is None:
            allowed, verdict = "-", "not judged"
        else:
            allowed = f"{each.tolerance:g}" if each.absolute else f"{100 * each.tolerance:g}%"
            verdict = "ok" if each.holds else "NOT MET"
        lines.append(f"  {each.name:<24} {each.other:>14.9g} {each.netlull:>14.9g} {shown:>11} {allowed:>9}  {verdict}")
    return "\n".join(lines) + "\n"
