r"""The linear theory of AWM: the stability limit of its loop, and its rightmost root.

About the target, with x = q - T in bytes, W = N swnd less its equilibrium in bytes, and b = beta / T in 1/s (beta in
bytes/s), every fluid model of AWM here is

    x'(t) = -a x(t) + sum_i c_i W(t - tau_i),    W'(t) = -x'(t) - b x(t),

The second equation is (1) and (2) of g-router section 2.1. Its characteristic function is

    F(s) = s (s + a) + (s + b) H(s),    H(s) = sum_i c_i exp(-s tau_i).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull.errors import needs

if TYPE_CHECKING:
    import numpy.typing as npt

    Values = npt.NDArray[Any]

__all__ = ["Crossing", "Loop"]

_POINTS_PER_TURN, _MOST_PER_TURN = 48, 20_000
_FEWEST_NODES, _MOST_NODES = 24, 96
_NEWTON_STEPS = 40


@dataclass(frozen=True)
class Crossing:
    """The first crossing of the imaginary axis by a pair of roots, as b = beta / T grows."""

    b_per_s: float
    """The critical b in 1/s: stable below, unstable above; infinite if there is none."""
    omega_per_s: float
    """The angular frequency of the oscillation at the crossing, in rad/s; NaN if there is none."""


@dataclass(frozen=True)
class Loop:
    """The linear loop: the queue's own leak a in 1/s, and the taps (tau_i in s, c_i in 1/s) of the windows."""

    leak_per_s: float
    taps: tuple[tuple[float, float], ...]

    @property
    def memory_s(self) -> float:
        """The longest delay, in s."""
        return max(delay for delay, _ in self.taps)

    @cached_property
    def _conserving(self) -> bool:
        """True if x depends on W alone. F then has a trivial root at 0: the constant of an integral."""
        return self.leak_per_s == 0.0 and abs(sum(gain for _, gain in self.taps)) < 1e-9 * abs(self.taps[0][1])

    def _transfer(self, s: Values) -> tuple[Values, Values]:
        """H(s) and H'(s)."""
        value, slope = np.zeros_like(s, dtype=np.complex128), np.zeros_like(s, dtype=np.complex128)
        for delay, gain in self.taps:
            # The gains of a conserving loop sum to 0. `expm1` avoids cancellation near s = 0.
            value += gain * (np.expm1(-s * delay) if self._conserving else np.exp(-s * delay))
            slope -= delay * gain * np.exp(-s * delay)
        return value, slope

    def _b_on_the_axis(self, omega: Values) -> Values:
        """The b for which j omega is a root. Only real positive values are valid.

        F is linear in b: b = -(s (s + a) + s H(s)) / H(s).
        """
        s = 1j * omega
        transfer, _ = self._transfer(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Values = -s - s * (s + self.leak_per_s) / transfer
        return found

    def _imaginary_part(self, omega: float) -> float:
        """|H|^2 times the imaginary part of b at j omega: the same sign, and no pole where H is 0."""
        s = np.array([1j * omega])
        transfer, _ = self._transfer(s)
        return float(-((s * (s + self.leak_per_s) + s * transfer) * np.conj(transfer)).imag[0])

    @cached_property
    def crossing(self) -> Crossing:
        """The smallest positive b with a root on the imaginary axis.

        Near b = 0 the loop is stable: its slow root is -b/2, and all others lie left of the axis. So it loses stability
        at the smallest b that puts a pair of roots on the axis. A scan over omega finds it; Brent's method refines it.
        """
        with needs("statistics"):
            from scipy.optimize import brentq

        b = self._b_on_the_axis(omega := self._scanned())
        turns = np.flatnonzero((b.imag[:-1] * b.imag[1:] <= 0) & ((b.real[:-1] > 0) | (b.real[1:] > 0)))
        best = Crossing(float("inf"), float("nan"))
        for index in turns[np.argsort(np.abs(b[turns]))][:12]:
            root = float(
                brentq(
                    self._imaginary_part,
                    omega[index],
                    omega[index + 1],
                    xtol=1e-13,
                )
            )
            value = complex(self._b_on_the_axis(np.array([root]))[0])
            # A change of sign through a pole of b is not a root.
            if abs(value.imag) < 1e-6 * abs(value) and 0 < value.real < best.b_per_s:
                best = Crossing(float(value.real), root)
        return best

    def _scanned(self) -> Values:
        """The omega to scan: to two turns of the shortest two delays, with steps as fine as the changes of b.

        If windows are much younger than their delay, the loop has almost no damping. Then b is real and positive only
        in a narrow window, as wide as their age. Their age beyond the first delay is -sum_i c_i tau_i^2 / 2 - tau_1.
        """
        first, *others = sorted(delay for delay, _ in self.taps)
        turns, per_turn = 10.0, _POINTS_PER_TURN
        if self._conserving:
            age = -sum(gain * delay**2 for delay, gain in self.taps) / 2 - first
            turns += 2 * self.memory_s / others[0]
            per_turn = min(max(per_turn, int(6 * first / age)), _MOST_PER_TURN)
        return 2 * np.pi / self.memory_s / per_turn * np.arange(1, int(turns * per_turn))

    def rightmost(self, b_per_s: float) -> complex:
        """The root of F with the largest real part, in 1/s; of a pair, the one above the real axis.

        Candidates are the eigenvalues of the loop's generator, discretised by collocation at Chebyshev nodes (D. Breda,
        S. Maset, R. Vermiglio, Pseudospectral differencing methods for characteristic roots of delay differential
        equations, SIAM J. Sci. Comput. 27(2), 2005). Newton's method on F makes them exact.
        """
        starts: Values = np.linalg.eigvals(self._generator(b_per_s, self._nodes(b_per_s)))
        if self._conserving:
            starts = np.delete(starts, np.argmin(np.abs(starts)))  # the root at 0
        starts = starts[starts.imag >= 0]
        starts = starts[np.argsort(-starts.real)][:12].astype(np.complex128)
        roots = self._polished(np.concatenate([starts, self._about_the_crossing()]), b_per_s)
        best = roots[np.argmax(roots.real)]
        oscillates = abs(best.imag) > 1e-9 * abs(best)  # rounding errors of a real root do not oscillate
        return complex(best.real, abs(best.imag) if oscillates else 0.0)

    def _about_the_crossing(self) -> Values:
        """Starts near the first root to cross, which may oscillate too fast for the discretisation."""
        omega = self.crossing.omega_per_s
        if np.isnan(omega):
            return np.zeros(0, dtype=np.complex128)
        around = 1j * (omega + np.arange(-4, 5) * np.pi / self.memory_s)
        return np.concatenate([around + real / self.memory_s for real in (-1.0, 0.0, 1.0)])

    def _nodes(self, b_per_s: float) -> int:
        """The number of Chebyshev nodes for the fastest oscillation, or growth with b, over the longest delay."""
        omega = self.crossing.omega_per_s
        fastest = b_per_s if np.isnan(omega) else max(omega, b_per_s)
        return int(np.clip(_FEWEST_NODES + 0.75 * fastest * self.memory_s, _FEWEST_NODES, _MOST_NODES))

    def _generator(self, b_per_s: float, nodes: int) -> Values:
        """The matrix whose eigenvalues approximate the roots. Row 0 is the present; the others differentiate the past.

        The state is (x now; W at the nodes 0 = theta_0 > ... > theta_n = -memory).
        """
        past = 0.5 * self.memory_s * (np.cos(np.pi * np.arange(nodes + 1) / nodes) - 1.0)
        matrix = np.zeros((nodes + 2, nodes + 2))
        windows = sum(gain * _interpolation(past, -delay) for delay, gain in self.taps)
        matrix[0, 0] = -self.leak_per_s
        matrix[0, 1:] = windows
        matrix[1] = -matrix[0]
        matrix[1, 0] -= b_per_s
        matrix[2:, 1:] = _differentiation(past)[1:]
        return matrix

    def _polished(self, starts: Values, b_per_s: float) -> Values:
        """Roots of F by Newton's method from the starts, without a trivial root at 0."""
        s = np.where(starts == 0, 1e-12, starts)
        scale = 1.0 / self.memory_s
        with np.errstate(all="ignore"):
            for _ in range(_NEWTON_STEPS):
                value, slope = self._characteristic(s, b_per_s)
                s = s - value / slope
            value, slope = self._characteristic(s, b_per_s)
            good = np.abs(value / slope) < 1e-9 * (np.abs(s) + scale)
        if not good.any():
            return starts  # never observed; the discretisation alone is good to some digits
        return s[good]

    def _characteristic(self, s: Values, b_per_s: float) -> tuple[Values, Values]:
        """F and its derivative, or F / s and its derivative if F has a trivial root at 0."""
        transfer, slope = self._transfer(s)
        value = s * (s + self.leak_per_s) + (s + b_per_s) * transfer
        derivative = 2 * s + self.leak_per_s + transfer + (s + b_per_s) * slope
        if not self._conserving:
            return value, derivative
        return value / s, derivative / s - value / s**2


def _weights(nodes: int) -> Values:
    """Barycentric weights of Chebyshev points of the second kind."""
    weights: Values = (-1.0) ** np.arange(nodes)
    weights[[0, -1]] *= 0.5
    return weights


def _interpolation(points: Values, at: float) -> Values:
    """The row that interpolates at a position from values at Chebyshev points (second barycentric formula)."""
    distance = at - points
    hit = np.abs(distance) < 1e-14 * (points[0] - points[-1])
    if hit.any():
        exact: Values = hit.astype(np.float64)
        return exact
    terms: Values = _weights(len(points)) / distance
    row: Values = terms / terms.sum()
    return row


def _differentiation(points: Values) -> Values:
    """The differentiation matrix at Chebyshev points (L. N. Trefethen, Spectral Methods in MATLAB, 2000, ch. 6)."""
    weights = _weights(len(points))
    gaps = points[:, None] - points[None, :]
    np.fill_diagonal(gaps, 1.0)
    matrix: Values = np.asarray(weights[None, :] / weights[:, None] / gaps)
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix
