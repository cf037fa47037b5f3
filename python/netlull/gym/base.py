"""Parts that all environments share: spaces, seeds, episodes and raw values."""

from __future__ import annotations

import inspect
import json
import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from netlull import _engine
from netlull.errors import InputError
from netlull.results.result import Result
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netlull.gym.panels import Panel

__all__ = ["Observations", "SimulatorEnv", "SimulatorVectorEnv", "chosen", "defaults", "filled", "reward_weights"]

Observations = npt.NDArray[np.float32]
"""An observation: one entry for each name in `observed`."""


def reward_weights(energy: object, delay: object, loss: object, delay_scale: str) -> dict[str, object]:
    """The weights of a reward, for the core.

    Raises:
        InputError: a weight is not a finite number.
    """
    weights: dict[str, object] = {}
    for name, value in (("energy", energy), ("delay", delay), ("loss", loss)):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
            raise InputError(f"{name}_weight: is {value!r}; expected a finite number")
        weights[name] = float(value)
    return {**weights, "delay_scale": delay_scale}


def chosen(scenario: Scenario | None, default: Callable[[], Scenario]) -> Scenario:
    """The scenario, or the default one.

    Raises:
        InputError: it is not a scenario.
    """
    if scenario is None:
        return default()
    if not isinstance(scenario, Scenario):
        raise InputError(f"scenario: is {scenario!r}; expected a netlull.Scenario")
    return scenario


def defaults(environment: type[SimulatorEnv], without: set[str]) -> dict[str, Any]:
    """The options of an environment with their defaults."""
    parameters = inspect.signature(environment).parameters
    return {name: parameter.default for name, parameter in parameters.items() if name not in without}


def filled(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the defaults of missing ones.

    Raises:
        InputError: an option is unknown; lists the known ones.
    """
    unknown = sorted(set(options) - set(defaults))
    if unknown:
        raise InputError(f"{unknown[0]}: is not an option; expected one of: {', '.join(defaults)}")
    return {**defaults, **options}


class _Core:
    """Simulators, and the spaces of their actions and observations."""

    def __init__(self, scenario: Scenario, kind: str, options: Mapping[str, object], count: object) -> None:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= _MOST:
            raise InputError(f"num_envs: is {count!r}; expected 1 to {_MOST}")
        if scenario.checked.calls_python:
            raise InputError("scenario: has classes in Python; expected parts of netlull")
        try:
            text = json.dumps(options, allow_nan=False)
        except (TypeError, ValueError):
            raise InputError(_not_json(options)) from None
        self.simulators = _engine.Simulators(scenario.checked, kind, text, int(count))
        choices, observed, raw, self.steps = self.simulators.shape()
        self.observed = tuple(name for name, _ in observed)
        self.raw = tuple(raw)
        self.choices = choices
        high = np.array([largest for _, largest in observed], dtype=np.float32)
        self.observation_space = spaces.Box(np.zeros_like(high), high, dtype=np.float32)


_MOST = 100_000


def _not_json(options: Mapping[str, object]) -> str:
    """The error of the first option with a value that documents cannot have."""
    for name, value in options.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            return f"{name}: is {value!r}; expected text, finite numbers, lists or tables"
    raise AssertionError("all options are JSON")


def _entries(action: Any, count: int, entries: int) -> npt.NDArray[np.int64]:
    """The entries of the actions of `count` simulators, one after the other.

    Raises:
        InputError: they are no whole numbers, or their number is wrong.
    """
    given = np.asarray(action)
    if given.dtype.kind not in "iub":
        raise InputError(f"action: is {action!r}; expected whole numbers")
    if given.size != count * entries:
        each = f"{entries} for each of {count} simulators" if count > 1 else f"{entries}"
        raise InputError(f"action: has {given.size} entries; expected {each}")
    return np.ascontiguousarray(given, dtype=np.int64).reshape(-1)


def _run_seed(generator: np.random.Generator) -> int:
    """A seed for a run of an episode without a given seed."""
    return int(generator.integers(_engine.MAX_SEED, endpoint=True))


class SimulatorEnv(gymnasium.Env[Observations, Any]):
    """An environment of one simulator. An episode is one run of its scenario; it ends by truncation at the run's end.

    `reset(seed=s)` starts the run with seed s. A reset without a seed takes the next seed from `np_random`. Either way
    `info["seed"]` has the seed of the run.

    Attributes:
        observed: the names of the observation's entries.
        raw: the names of the raw values in `info`.
        steps: the steps of an episode.
        scenario: the scenario of every run.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012  # as in its base

    _kind: ClassVar[str]

    def __init__(self, scenario: Scenario, options: Mapping[str, object], render_mode: str | None = None) -> None:
        if render_mode not in {None, *self.metadata["render_modes"]}:
            raise InputError(f"render_mode: is {render_mode!r}; expected None or 'rgb_array'")
        core = _Core(scenario, self._kind, options, 1)
        self.scenario = scenario
        self.render_mode = render_mode
        self.observed, self.raw, self.steps = core.observed, core.raw, core.steps
        self.observation_space = core.observation_space
        self.action_space = self._space(core.choices)
        self._simulators, self._count = core.simulators, len(core.choices)
        self._rows: list[npt.NDArray[np.float64]] = []
        self._over = True

    @staticmethod
    def _space(choices: Sequence[int]) -> spaces.Space[Any]:
        return spaces.Discrete(choices[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Starts a run and returns the observation at its start. There are no `options`.

        Raises:
            ScenarioError: the seed is not a whole number from 0 to 2^63 - 1.
        """
        super().reset(seed=None if seed is None else _engine.check_seed(seed), options=options)
        run = _run_seed(self.np_random) if seed is None else int(seed)
        self._simulators.reset(0, run)
        observations, raw = self._simulators.read()
        self._over = False
        self._rows = [raw[:, 0]]
        return observations[0], {**self._info(raw), "seed": run}

    def step(self, action: Any) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Carries out an action and runs to the next tick.

        Returns:
            The observation, the reward, False (an episode never terminates), True at the end of the run, and the raw
            values by their names.

        Raises:
            InputError: the action has another type or another number of entries.
            ScenarioError: the action is impossible, or the run has failed.
            ResetNeeded: the episode is over.
        """
        if self._over:
            raise ResetNeeded("step: the episode is over; expected a reset before")
        observations, rewards, over, raw = self._simulators.step(_entries(action, 1, self._count), _NO_SEEDS)
        self._over = bool(over[0])
        if self.render_mode is not None:
            self._rows.append(raw[:, 0])
        return observations[0], float(rewards[0]), False, self._over, self._info(raw)

    def _info(self, raw: npt.NDArray[np.float64]) -> dict[str, Any]:
        return dict(zip(self.raw, raw[:, 0].tolist(), strict=True))

    def result(self) -> Result:
        """The result of an episode that is over, checked by the verifier like any run.

        Raises:
            ScenarioError: the episode is not over, or its result has been read.
            VerificationError: the run broke a conservation law: a bug in the simulator.
        """
        return Result.from_raw(self._simulators.finish(0), ())

    def render(self) -> npt.NDArray[np.uint8] | None:
        """The episode so far as a picture of 640 by 480 pixels or so; None without `render_mode`."""
        if self.render_mode is None:
            return None
        table = dict(zip(self.raw, np.array(self._rows).T.reshape(len(self.raw), -1), strict=True))
        # matplotlib comes with another extra.
        pixels: npt.NDArray[np.uint8] = import_module("netlull.gym.picture").picture(self._panels(table))
        return pixels

    def _panels(self, table: Mapping[str, npt.NDArray[np.float64]]) -> list[Panel]:
        """The panels of a picture, from the raw values of all steps."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the environment. A closed environment can be reset."""
        self._over = True
        self._rows = []


_NO_SEEDS = np.zeros(1, dtype=np.uint64)


class SimulatorVectorEnv(VectorEnv[Observations, Any, npt.NDArray[Any]]):
    """Many simulators that step in one call, in Rust and without the GIL.

    Simulator i has the episodes of a `SimulatorEnv` with its seed. After the end of an episode, the next step starts
    another (`AutoresetMode.NEXT_STEP`). Its seed comes from the simulator's own generator, as in a `SyncVectorEnv`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # as in its base
        "autoreset_mode": AutoresetMode.NEXT_STEP,
        "render_modes": [],
    }

    _kind: ClassVar[str]
    _single: ClassVar[type[SimulatorEnv]]

    def __init__(self, num_envs: int, scenario: Scenario, options: Mapping[str, object]) -> None:
        core = _Core(scenario, self._kind, options, num_envs)
        self.num_envs = num_envs
        self.scenario = scenario
        self.observed, self.raw, self.steps = core.observed, core.raw, core.steps
        self.single_observation_space = core.observation_space
        self.single_action_space = self._single._space(core.choices)  # noqa: SLF001  # its own
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._simulators, self._count = core.simulators, len(core.choices)
        self._generators: list[np.random.Generator] = []
        self._next = np.zeros(num_envs, dtype=np.uint64)
        self._over: npt.NDArray[np.bool_] = np.zeros(num_envs, dtype=np.bool_)
        self._waits = False
        everywhere = np.ones(num_envs, dtype=np.bool_)
        self._masks = {f"_{name}": everywhere for name in self.raw}
        self._never = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Starts a run in every simulator. A single seed s gives simulator i the seed s + i. There are no `options`.

        Raises:
            ScenarioError: a seed is not a whole number from 0 to 2^63 - 1.
            InputError: the number of seeds differs from the number of simulators.
        """
        del options
        seeds = self._seeds(seed)
        if not self._generators:
            self._generators = [seeding.np_random(None)[0] for _ in seeds]
        runs = []
        for number, given in enumerate(seeds):
            if given is not None:
                self._generators[number] = seeding.np_random(_engine.check_seed(given))[0]
            run = _run_seed(self._generators[number]) if given is None else int(given)
            self._simulators.reset(number, run)
            runs.append(run)
        self._next = np.array([_run_seed(_copy(generator)) for generator in self._generators], dtype=np.uint64)
        self._waits = False
        observations, raw = self._simulators.read()
        info = self._info(raw)
        info["seed"], info["_seed"] = np.array(runs, dtype=np.int64), np.ones(self.num_envs, dtype=np.bool_)
        return observations, info

    def _seeds(self, seed: int | Sequence[int | None] | None) -> Sequence[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, int | np.integer):
            return [int(seed) + number for number in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InputError(f"seed: has {len(seed)} values; expected {self.num_envs}, one for each simulator")
        return seed

    def step(
        self, actions: Any
    ) -> tuple[Observations, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Carries out an action in every simulator and runs each to its next tick.

        A simulator whose episode was over starts a new run instead: its reward is 0.

        Returns:
            Observations, rewards, no terminations, truncations at the ends of runs, and arrays of raw values by name.

        Raises:
            InputError: the actions have another type or another number of entries.
            ScenarioError: an action is impossible, or a run has failed.
            ResetNeeded: no run has started.
        """
        if not self._generators:
            raise ResetNeeded("step: no run has started; expected a reset before")
        flat = _entries(actions, self.num_envs, self._count)
        observations, rewards, over, raw = self._simulators.step(flat, self._next)
        info = self._info(raw)
        if self._waits:
            self._begun(info)
        self._waits = _TRUE in over.tobytes()  # a tenth of the time of `any`
        self._over = over
        return observations, rewards, self._never.copy(), over.copy(), info

    def _begun(self, info: dict[str, Any]) -> None:
        """Notes the seeds of the runs that have begun, and draws the seeds of the runs after them."""
        seeds, began = np.zeros(self.num_envs, dtype=np.int64), self._over
        for number in np.flatnonzero(began):
            generator = self._generators[number]
            seeds[number] = _run_seed(generator)
            self._next[number] = _run_seed(_copy(generator))
        info["seed"], info["_seed"] = seeds, began

    def _info(self, raw: npt.NDArray[np.float64]) -> dict[str, Any]:
        info: dict[str, Any] = self._masks.copy()
        info.update(zip(self.raw, raw, strict=True))
        return info

    def result(self, number: int) -> Result:
        """The result of a simulator whose episode is over, checked by the verifier. The next step starts a new run.

        Raises:
            ScenarioError: the episode is not over, or its result has been read.
            VerificationError: the run broke a conservation law: a bug in the simulator.
        """
        return Result.from_raw(self._simulators.finish(number), ())


_TRUE = b"\x01"


def _copy(generator: np.random.Generator) -> np.random.Generator:
    """A generator in the same state."""
    twin = np.random.Generator(type(generator.bit_generator)())
    twin.bit_generator.state = generator.bit_generator.state
    return twin
