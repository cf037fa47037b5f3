"""The nonlinear equations of `AwmFluid`, integrated with JiTCDDE (G. Ansmann, Chaos 28, 043116, 2018).

JiTCDDE follows the method of Shampine and Thompson (Bogacki-Shampine pairs, Hermite interpolation of the past). It runs
without a compiler: Python evaluates the equations.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull.errors import InputError
from netlull.fluid.checks import is_number

if TYPE_CHECKING:
    import numpy.typing as npt

    from netlull.fluid.parameters import AwmParameters

__all__ = ["FLOOR_PACKETS", "FluidRun", "integrate"]

_RELATIVE, _ABSOLUTE_PACKETS = 1e-5, 1e-4
FLOOR_PACKETS = 0.05
"""Range above its floor, in packets, in which a window stops shrinking. A jump would halt the integrator."""


@dataclass(frozen=True)
class FluidRun:
    """A solution: arrays with one value per step, all of the same length."""

    time_s: npt.NDArray[np.float64]
    queue_bytes: npt.NDArray[np.float64]
    window_bytes: npt.NDArray[np.float64]
    """swnd, in bytes."""

    def amplitude_bytes(self, from_s: float, to_s: float) -> float:
        """Half of the queue's range between two times, in bytes.

        Raises:
            InputError: there is no value between the times.
        """
        part = self.queue_bytes[(self.time_s >= from_s) & (self.time_s <= to_s)]
        if part.size == 0:
            raise InputError(f"from_s, to_s: {from_s:g} to {to_s:g} has no value; the run ends at {self.time_s[-1]:g}")
        return float(part.max() - part.min()) / 2


def integrate(model: AwmParameters, duration_s: float, from_bytes: float | None, step_s: float | None) -> FluidRun:
    """Integrates the equations; see `AwmFluid.solve`."""
    start = 0.9 * model.target_bytes if from_bytes is None else from_bytes
    step = model.loaded_round_trip_s / 50 if step_s is None else step_s
    for name, value, least in (("duration_s", duration_s, 0.0), ("step_s", step, 0.0)):
        if not (is_number(value) and least < value < math.inf):
            raise InputError(f"{name}: is {value!r}; expected a number above zero")
    if step > duration_s:
        raise InputError(f"step_s: is {step:g}; expected at most duration_s ({duration_s:g})")
    if not (is_number(start) and model.mtu_bytes <= start <= model.buffer_bytes):
        given = "is the default, 0.9 target_bytes" if from_bytes is None else f"is {start!r}"
        within = f"mtu_bytes ({model.mtu_bytes:g}) to buffer_bytes ({model.buffer_bytes:g})"
        raise InputError(f"from_bytes: {given}; expected {within}")
    system = _system(model, start)
    times = np.arange(0.0, duration_s + step / 2, step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about steps that end after the next requested time
        states = np.array([system.integrate(time)[:2] for time in times[1:]])
    first = np.array([[start, _settled_window(model, start)]])
    states = np.concatenate([first, states.reshape(-1, 2)])
    return FluidRun(times, states[:, 0], states[:, 1])


def _settled_window(model: AwmParameters, queue: float) -> float:
    """The window that keeps a queue: (C R + q) / N, in bytes."""
    return (model.rate * model.round_trip_s + queue) / model.flows


def _system(model: AwmParameters, start: float) -> Any:
    """The integrator at 0 s. Its past is settled at a queue of `start` bytes."""
    try:
        import sympy  # noqa: F401  # JiTCDDE evaluates without a compiler through it
        from jitcdde import jitcdde
    except ImportError as error:
        raise InputError(
            f"the fluid model is integrated with JiTCDDE, and {error.name} is missing: pip install 'netlull[fluid]'"
        ) from None
    equations = _ack_clock(model) if model.arrivals == "ack_clock" else _rate(model)
    system = jitcdde(equations, verbose=False)
    served = model.rate
    system.add_past_point(-10 * model.loaded_round_trip_s - 1, *_settled(model, start, served, -1))
    system.add_past_point(0.0, *_settled(model, start, served, 0))
    system.generate_lambdas(simplify=False)
    system.set_integration_parameters(
        rtol=_RELATIVE,
        atol=_ABSOLUTE_PACKETS * model.mtu_bytes,
        first_step=1e-4,
        max_step=model.loaded_round_trip_s / 8,
    )
    # The derivative of the windows jumps at 0 s. The integrator's steps shrink where the jump recurs.
    system.initial_discontinuities_handled = True
    return system


def _settled(model: AwmParameters, queue: float, served: float, when: int) -> tuple[list[float], list[float]]:
    """State and derivative of the settled past, at its beginning (-1) or its end (0)."""
    elapsed = (10 * model.loaded_round_trip_s + 1) * when
    state = [queue, _settled_window(model, queue), 0.0, served * elapsed]
    return state, [0.0, 0.0, 0.0, served]


def _ack_clock(model: AwmParameters) -> list[Any]:
    """The derivatives of q, swnd, the senders' withheld data (e) and the queue's departures (D), all in bytes.

    The permission to send grows with E' = D'(t - R) + N (d/dt of the windows in force). A window that shrinks faster
    than acknowledgements arrive does not withdraw packets: senders wait until E is back at its earlier value,

        e' = a - E',   a = max(E', 0) (1 - e / MTU)+,

    so the arrivals a begin again within the last packet of e. The queue serves C, and less below one packet. Arrivals
    at a full queue are lost, and count as departures: they are repaired immediately.
    """
    import symengine
    from jitcdde import dy, t, y

    queue, window, held, _ = (y(index) for index in range(4))
    allowed = dy(3, t - model.round_trip_s) + model.flows * sum(
        gain * (y(1, t - delay) if delay > 0 else window) for delay, gain in model.arrival_taps
    )
    zero = symengine.Integer(0)
    arriving = symengine.Max(allowed, zero) * symengine.Max(1 - held / model.mtu_bytes, zero)
    served, lost = _service(model, queue, arriving)
    change = arriving - served - lost
    return [change, _window_change(model, queue, window, change), arriving - allowed, served + lost]


def _rate(model: AwmParameters) -> list[Any]:
    """The equations of `_ack_clock` without withheld data: e stays 0."""
    import symengine
    from jitcdde import t, y

    queue, window = y(0), y(1)
    sent = model.flows * y(1, t - model.loaded_round_trip_s)
    arriving = sent / (model.round_trip_s + queue / model.rate)
    served, lost = _service(model, queue, arriving)
    change = arriving - served - lost
    return [change, _window_change(model, queue, window, change), symengine.Integer(0), served + lost]


def _service(model: AwmParameters, queue: Any, arriving: Any) -> tuple[Any, Any]:
    """Served and lost data, in bytes/s."""
    import symengine

    zero, one = symengine.Integer(0), symengine.Integer(1)
    served = model.rate * symengine.Min(symengine.Max(queue, zero) / model.mtu_bytes, one)
    if math.isinf(model.buffer_bytes):
        return served, zero
    full = symengine.Min(symengine.Max(1 - (model.buffer_bytes - queue) / model.mtu_bytes, zero), one)
    return served, symengine.Max(arriving - served, zero) * full


def _window_change(model: AwmParameters, queue: Any, window: Any, change: Any) -> Any:
    """The derivative of swnd from equations (1) and (2), in bytes/s; zero below the floor."""
    import symengine

    zero, one = symengine.Integer(0), symengine.Integer(1)
    wanted = (-change + model.beta_bps / 8 * (model.target_bytes - queue) / model.target_bytes) / model.flows
    above = (window - model.mtu_bytes) / (FLOOR_PACKETS * model.mtu_bytes)
    return symengine.Max(wanted, zero) + symengine.Min(wanted, zero) * symengine.Min(symengine.Max(above, zero), one)
