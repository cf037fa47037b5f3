#!/usr/bin/env python3
"""Measures the steps per second of the Gymnasium environments on one core.

    python benches/gym.py [--seconds 5]

prints, for each environment, the steps per second of processor time and of wall-clock time. A vector environment counts
a step for each of its simulators. On a shared machine only processor time is of use.

Actions are random and drawn before the measurement. "held" is the number of steps for which an action is held: a link
whose rate changes at every step pauses, drops and sends again more often, and such a step costs more than one of a
trained agent. docs/how-to/gym.md compares the numbers with published ones.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import TYPE_CHECKING

import gymnasium
import numpy as np
from kept import needs_release

import netlull.gym

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ("netlull/LinkRate-v0", "netlull/ClientDoze-v0", "netlull/AbileneSleep-v0")
BATCHES = (8, 16, 64)
HOLDS = (1, 100)
DRAWN = 512
PER_LOOK = 16
"""Calls between two looks at the clock."""


def single(name: str, hold: int, seconds: float) -> tuple[float, float]:
    """The steps per second of processor and of wall-clock time of one simulator."""
    # Without the wrappers of `make`, which check every step.
    environment = gymnasium.make(name).unwrapped
    environment.action_space.seed(0)
    actions = [environment.action_space.sample() for _ in range(DRAWN)]
    environment.reset(seed=0)

    def step(number: int) -> None:
        if environment.step(actions[number // hold % DRAWN])[3]:
            environment.reset()

    return measured(step, 1, seconds)


def batch(name: str, count: int, hold: int, seconds: float) -> tuple[float, float]:
    """The same for `count` simulators that step in one call."""
    environment = gymnasium.make_vec(name, num_envs=count, vectorization_mode="vector_entry_point")
    environment.action_space.seed(0)
    actions = [environment.action_space.sample() for _ in range(DRAWN)]
    environment.reset(seed=0)
    return measured(lambda number: environment.step(actions[number // hold % DRAWN]), count, seconds)


def measured(step: Callable[[int], object], count: int, seconds: float) -> tuple[float, float]:
    """Calls a function for some seconds of processor time."""
    for number in range(PER_LOOK):
        step(number)
    calls, used, began = 0, time.process_time(), time.perf_counter()
    while time.process_time() - used < seconds:
        for number in range(calls, calls + PER_LOOK):
            step(number)
        calls += PER_LOOK
    return calls * count / (time.process_time() - used), calls * count / (time.perf_counter() - began)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="processor time of each row")
    parser.add_argument("--only", choices=NAMES, help="one environment")
    arguments = parser.parse_args()
    needs_release()
    print(f"numpy {np.__version__}, gymnasium {gymnasium.__version__}, netlull {netlull.__version__}")
    print(f"{'environment':26}{'simulators':>11}{'held':>6}{'steps/s of CPU':>16}{'steps/s':>12}")
    for name in (arguments.only,) if arguments.only else NAMES:
        for count, hold in itertools.product((1, *BATCHES), HOLDS):
            seconds = arguments.seconds
            rate = single(name, hold, seconds) if count == 1 else batch(name, count, hold, seconds)
            print(f"{name:26}{count:>11}{hold:>6}{rate[0]:>16,.0f}{rate[1]:>12,.0f}", flush=True)


if __name__ == "__main__":
    main()
