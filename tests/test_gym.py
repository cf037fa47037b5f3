"""Gymnasium environments: checks, seeds, vectors, episodes, errors, pictures and the example."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from click.testing import CliRunner
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import netlull.gym
from conftest import ROOT, SHIPPED
from netlull import Lull, Scenario, ScenarioError
from netlull.cli import main
from netlull.errors import InputError
from netlull.gym import cross_entropy

SHORT: dict[str, dict[str, Any]] = {
    "netlull/LinkRate-v0": {"scenario": netlull.gym.link_rate_scenario(duration="200 ms"), "link": "N1-N2"},
    "netlull/ClientDoze-v0": {"scenario": netlull.gym.client_doze_scenario(duration="400 ms")},
    "netlull/AbileneSleep-v0": {"scenario": netlull.gym.abilene_sleep_scenario(duration="5 s")},
}
STEPS = {"netlull/LinkRate-v0": 20, "netlull/ClientDoze-v0": 20, "netlull/AbileneSleep-v0": 5}
names = pytest.mark.parametrize("name", SHORT)


def make(name: str, **options: Any) -> netlull.gym.SimulatorEnv:
    environment = gymnasium.make(name, **SHORT[name], **options).unwrapped
    assert isinstance(environment, netlull.gym.SimulatorEnv)
    return environment


@names
def test_the_checker_of_gymnasium_has_no_complaint(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name))
        check_env(make(name, render_mode="rgb_array"))


def episode(environment: netlull.gym.SimulatorEnv, seed: int | None, actions: list[Any]) -> list[Any]:
    observation, info = environment.reset(seed=seed)
    seen = [(observation.tolist(), info)]
    for action in actions:
        observation, reward, terminated, truncated, info = environment.step(action)
        assert not terminated
        seen.append((observation.tolist(), reward, truncated, info))
    return seen


@names
def test_seeds_give_episodes_that_end_by_truncation(name: str) -> None:
    environment = make(name)
    environment.action_space.seed(7)
    actions = [environment.action_space.sample() for _ in range(environment.steps)]
    assert environment.steps == STEPS[name]
    first = episode(environment, 3, actions)
    assert [step[2] for step in first[1:]] == [False] * (STEPS[name] - 1) + [True]
    assert first[0][1]["seed"] == 3
    assert episode(make(name), 3, actions) == first
    assert episode(environment, 4, actions) != first
    # Episodes without a seed continue the generator.
    one, other = make(name), make(name)
    one.reset(seed=5)
    other.reset(seed=5)
    assert episode(one, None, actions) == episode(other, None, actions)
    for observation, *_ in first:
        assert np.array(observation, dtype=np.float32) in environment.observation_space


@names
def test_an_episode_is_a_run_of_its_seed(name: str) -> None:
    environment = make(name)
    nothing = environment.action_space.sample() * 0
    stays = nothing + 9 if name == "netlull/LinkRate-v0" else nothing + 1
    episode(environment, 11, [stays] * environment.steps)
    found = environment.result().summary
    expected = SHORT[name]["scenario"].run(11).summary
    assert found["seed"] == 11
    for one, other in zip(found["flows"], expected["flows"], strict=True):
        assert (one["delivered_bytes"], one["packets_sent"]) == (other["delivered_bytes"], other["packets_sent"])
    with pytest.raises(ScenarioError, match="expected"):
        environment.result()


@names
def test_a_vector_steps_like_its_simulators_one_by_one(name: str) -> None:
    vector = gymnasium.make_vec(name, num_envs=3, vectorization_mode="vector_entry_point", **SHORT[name])
    assert vector.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    sync = SyncVectorEnv([lambda: make(name)] * 3)
    assert (vector.single_observation_space, vector.single_action_space) == (
        sync.single_observation_space,
        sync.single_action_space,
    )
    assert (vector.observation_space, vector.action_space) == (sync.observation_space, sync.action_space)
    found, expected = vector.reset(seed=8), sync.reset(seed=8)
    np.testing.assert_array_equal(found[0], expected[0])
    vector.action_space.seed(1)
    for _ in range(2 * STEPS[name] + 3):
        actions = vector.action_space.sample()
        one, other = vector.step(actions), sync.step(actions)
        for place in range(4):
            np.testing.assert_array_equal(one[place], other[place])
        assert set(one[4]) == set(other[4])
        for key in other[4]:
            np.testing.assert_array_equal(one[4][key], other[4][key], err_msg=key)
    # A reset in the middle of episodes, and one with a seed for each simulator.
    np.testing.assert_array_equal(vector.reset()[1]["seed"], sync.reset()[1]["seed"])
    assert vector.reset(seed=[4, None, 6])[1]["seed"][[0, 2]].tolist() == [4, 6]
    vector.close()


def test_an_environment_closes_and_resets_in_the_middle_of_an_episode() -> None:
    environment = make("netlull/LinkRate-v0")
    with pytest.raises(ResetNeeded, match="expected a reset before"):
        environment.step(0)
    first = episode(environment, 1, [3] * 5)
    assert episode(environment, 1, [3] * 5) == first
    environment.close()
    with pytest.raises(ResetNeeded):
        environment.step(0)
    with pytest.raises(ScenarioError, match="an episode that is over"):
        environment.result()
    assert episode(environment, 1, [3] * 5) == first
    vector = netlull.gym.LinkRateVectorEnv(2, **SHORT["netlull/LinkRate-v0"])
    with pytest.raises(ResetNeeded):
        vector.step([0, 0])
    vector.reset(seed=0)
    for _ in range(vector.steps):
        _, _, _, over, _ = vector.step([1, 2])
    assert over.all()
    assert [vector.result(number).summary["seed"] for number in (0, 1)] == [0, 1]


def test_info_has_the_raw_values_behind_the_observation_and_the_reward() -> None:
    environment = make("netlull/LinkRate-v0", delay_scale="20 ms", energy_weight=2.0)
    environment.reset(seed=2)
    rates = [environment.step(action)[4]["rate_bps"] for action in range(10)]
    assert rates == [1e6 * (action + 1) for action in range(10)]
    observation, reward, _, _, info = environment.step(4)
    assert (info["time_s"], info["rate_bps"]) == (pytest.approx(0.11), 5e6)
    entries = dict(zip(environment.observed, observation.tolist(), strict=True))
    assert entries["rate"] == 0.5
    assert entries["backlog"] == pytest.approx(min(info["backlog_bytes"] * 8 / 10e6 / 0.1, 1))
    assert entries["arrivals"] == pytest.approx(info["arrived_bytes"] * 8 / 10e6 / 0.01)
    delay = info["mean_waiting_packets"] * 1500 * 8 / 10e6 / 0.02
    drops = info["dropped_packets"] / max(info["arrived_packets"], 1)
    assert reward == pytest.approx(-(2 * info["energy_j"] / info["always_on_j"] + delay + drops))


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("LinkRate", {"link": "a-b"}, "link.a-b.controller: is on an unknown link"),
        ("LinkRate", {"rates": ["11 Mb/s"]}, "rates.0: is 11 Mb/s; expected more than 0 b/s"),
        ("LinkRate", {"rates": []}, "rates: is empty; expected at least one rate"),
        ("LinkRate", {"rates": "1 Mb/s"}, "rates: is '1 Mb/s'; expected a sequence of rates"),
        ("LinkRate", {"step": "7 ms"}, "step: is 7 ms; expected a time of which the duration, 60 s, is a multiple"),
        ("LinkRate", {"step": "0 s"}, "expected more than 0 s"),
        ("LinkRate", {"step": "fast"}, "step: "),
        ("LinkRate", {"power": "none"}, "power: is none; expected a power model of the scenario: fs"),
        ("LinkRate", {"delay_weight": -1}, "delay_weight: is -1; expected 0 or more"),
        ("LinkRate", {"delay_weight": float("nan")}, "delay_weight: is nan; expected a finite number"),
        ("LinkRate", {"delay_scale": "0 s"}, "delay_scale: is 0 s; expected more than 0 s"),
        ("LinkRate", {"scenario": netlull.gym.link_rate_scenario()}, "link: is missing, and 0 links have a controller"),
        ("LinkRate", {"render_mode": "human"}, "render_mode: is 'human'; expected None or 'rgb_array'"),
        ("LinkRate", {"energy_weight": "x"}, "energy_weight: is 'x'; expected a finite number"),
        ("LinkRate", {"rates": [object]}, "rates: is [<class 'object'>]; expected text, finite numbers"),
        ("LinkRate", {"scenario": "mine.toml"}, "scenario: is 'mine.toml'; expected a netlull.Scenario"),
        ("ClientDoze", {"scenario": 5}, "scenario: is 5; expected a netlull.Scenario"),
        ("AbileneSleep", {"scenario": []}, "scenario: is []; expected a netlull.Scenario"),
        ("ClientDoze", {"station": "server"}, "station.server.mechanism: belongs to no station"),
        ("ClientDoze", {"radio": "loud"}, "radio: is loud; expected a radio of the station: wavelan-dsss"),
        ("ClientDoze", {"access_point": {"buffer": 0}}, "access_point"),
        ("ClientDoze", {"scenario": netlull.gym.link_rate_scenario()}, "station: is missing, and the scenario has 0"),
        ("AbileneSleep", {"links": ["a-b"]}, '"a-b" is not a link'),
        ("AbileneSleep", {"links": "a-b"}, "links: is 'a-b'; expected a sequence of names"),
        ("AbileneSleep", {"notice": "1 s"}, "notice: is 1 s; expected less than a step, 1 s"),
    ],
)
def test_impossible_arguments_are_named(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ScenarioError)) as single:
        getattr(netlull.gym, f"{name}Env")(**options)
    assert message in str(single.value)
    if "render_mode" not in options:
        with pytest.raises((InputError, ScenarioError)) as vector:
            getattr(netlull.gym, f"{name}VectorEnv")(2, **options)
        assert str(vector.value) == str(single.value)


def test_impossible_actions_seeds_and_vectors_are_named() -> None:
    environment = make("netlull/LinkRate-v0")
    environment.reset(seed=1)
    with pytest.raises(ScenarioError, match="action: is 10; expected a whole number from 0 to 9"):
        environment.step(10)
    for action in (3.7, "3", None, [1.0]):
        with pytest.raises(InputError, match=r"action: is .*; expected whole numbers"):
            environment.step(action)
    with pytest.raises(InputError, match="action: has 2 entries; expected 1"):
        environment.step([1, 2])
    # The refused actions were no steps.
    assert environment.step(3)[4]["time_s"] == pytest.approx(0.01)
    with pytest.raises(ScenarioError, match="seed"):
        environment.reset(seed=-1)
    count: Any
    for count in ("3", 2.5, True):
        with pytest.raises(InputError, match=r"num_envs: is .*; expected 1 to"):
            netlull.gym.LinkRateVectorEnv(count)
    with pytest.raises(InputError, match="num_envs: is 0; expected 1 to"):
        netlull.gym.LinkRateVectorEnv(0)
    with pytest.raises(InputError, match="speed: is not an option; expected one of: rates, step"):
        netlull.gym.LinkRateVectorEnv(2, speed=1)
    vector = netlull.gym.LinkRateVectorEnv(2, **SHORT["netlull/LinkRate-v0"])
    with pytest.raises(InputError, match="seed: has 3 values; expected 2"):
        vector.reset(seed=[1, 2, 3])
    vector.reset(seed=1)
    with pytest.raises(InputError, match="action: has 3 entries; expected 1 for each of 2 simulators"):
        vector.step([1, 2, 3])
    with pytest.raises(InputError, match="expected whole numbers"):
        vector.step([0.5, 1.5])


def test_scenarios_with_two_runs_or_with_classes_are_refused() -> None:
    class Half(netlull.RateController):
        """Half of the rate."""

        interval = "5 ms"

        def tick(self, seen: Any) -> float:
            return self.link.rate / 2

    scenario = netlull.gym.link_rate_scenario(duration="100 ms")
    with pytest.raises(InputError, match="scenario: has classes in Python"):
        netlull.gym.LinkRateEnv(scenario.with_values({"link.N1-N2.controller": Half()}))
    shipped = SHIPPED / "scenarios" / "udp-replay.toml"
    with pytest.raises(ScenarioError, match="recording: needs two runs"):
        netlull.gym.LinkRateEnv(Scenario.from_file(shipped), "N1-N2")


def test_the_link_is_the_only_one_with_a_controller() -> None:
    lull = Lull(["5 Mb/s", "10 Mb/s"], transition="2 ms")
    scenario = netlull.gym.link_rate_scenario(duration="100 ms").with_values({"link.N1-N2.controller": lull})
    environment = netlull.gym.LinkRateEnv(scenario)
    assert environment.link == "N1-N2"
    environment.reset(seed=1)
    assert environment.step(9)[4]["rate_bps"] == 10e6


@names
def test_pictures_show_the_episode_so_far(name: str) -> None:
    environment = make(name, render_mode="rgb_array")
    environment.reset(seed=1)
    start = environment.render()
    for _ in range(3):
        environment.step(environment.action_space.sample())
    later = environment.render()
    assert start is not None
    assert later is not None
    assert later.dtype == np.uint8
    assert later.shape[2] == 3
    assert len(np.unique(later.reshape(-1, 3), axis=0)) > 10
    assert (start.shape != later.shape) or (start != later).any()
    assert make(name).render() is None


def test_links_without_a_route_lose_packets() -> None:
    environment = make("netlull/AbileneSleep-v0", loss_weight=1.0)
    environment.reset(seed=1)
    assert environment.action_space.shape == (15,)
    awake = [environment.step(np.ones(15, dtype=np.int8)) for _ in range(2)]
    asleep = [environment.step(np.zeros(15, dtype=np.int8)) for _ in range(3)]
    assert awake[1][4]["energy_j"] == pytest.approx(awake[1][4]["always_on_j"])
    assert asleep[1][4]["energy_j"] == pytest.approx(0)
    assert asleep[1][4]["received_packets"] == 0
    assert asleep[1][4]["lost_packets"] > 100


def test_the_example_learns_and_compares() -> None:
    arguments = ["--generations", "3", "--candidates", "8", "--duration", "1 s", "--seeds", "2"]
    done = CliRunner().invoke(cross_entropy.main, arguments, catch_exceptions=False)
    lines = done.output.splitlines()
    assert [line.split()[0] for line in lines[:-5]] == ["generation"] * 3 + ["weights:"]
    assert [line.split("  ")[0] for line in lines[-4:]] == ["always on", "practRA", "Lull", "learned"]


def test_the_cost_of_the_comparison_is_that_of_the_reward() -> None:
    scenario: Scenario = netlull.gym.link_rate_scenario(duration="5 s")
    weights = np.array([0.8, 0, 0, 0, 0, 0, 0])
    learned = cross_entropy.compare(scenario, weights, [1000])[-1]
    environment = netlull.gym.LinkRateEnv(scenario, "N1-N2")
    environment.reset(seed=1000)
    cost = sum(-environment.step(7)[1] for _ in range(environment.steps)) / environment.steps
    # Drops count per step in the reward, and per run in the comparison.
    assert learned.cost == pytest.approx(cost, abs=0.02)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine", "--kind", "access-link"]) == 0
    text = (ROOT / "docs" / "how-to" / "gym.md").read_text(encoding="utf-8")
    variables: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, "gym.md", "exec"), variables)  # noqa: S102  # our own page
    assert variables["pixels"].ndim == 3
    assert variables["observations"].shape == (64, 6)
    assert capsys.readouterr().out.splitlines()[-1].startswith("provider-home 10000000.0 -")
