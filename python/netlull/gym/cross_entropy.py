"""An example: learns a link controller by the cross-entropy method, and compares it with other controllers.

    python -m netlull.gym.cross_entropy

The policy is a linear function of the observation. Each generation draws weights from a normal distribution, runs an
episode with each, and fits the distribution to the best ones (Rubinstein, 1999). There is no deep-learning framework.

The comparison uses other seeds than the training. Its cost is that of the reward: the energy over that of a link that
is always on, plus the mean queueing delay over 10 ms, plus the share of dropped packets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
import numpy.typing as npt

from netlull.builders import Lull, Practra
from netlull.gym.link import LinkRateEnv, LinkRateVectorEnv, link_rate_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.gym.base import Observations
    from netlull.results.result import Result
    from netlull.scenario import Scenario

__all__ = ["Comparison", "Policy", "compare", "learn"]

Floats = npt.NDArray[np.float64]

_LINK = "N1-N2"
_RATES = [f"{rate} Mb/s" for rate in range(1, 11)]
_SHARE = 8
"""The number of candidates for each of the best."""
_MEMORY = 0.9
"""The weight of the past in the mean of arrivals."""
_FEATURES = 7
"""A constant, five entries of the observation, and the mean of arrivals."""
_USED = slice(1, 6)
"""The entries of the observation, without the rate."""
_DELAY_SCALE_S = 0.01


class Policy:
    """Linear policies side by side, one for each row of `weights`: the rate is a share of the highest.

    A policy remembers the mean of arrivals. Each of its episodes needs a new object.
    """

    def __init__(self, weights: Floats) -> None:
        self._weights = np.atleast_2d(weights)
        self._arrivals = np.zeros(len(self._weights))

    def __call__(self, observations: Observations) -> npt.NDArray[np.int64]:
        """The numbers of the rates."""
        rows = np.atleast_2d(observations).astype(np.float64)
        self._arrivals = _MEMORY * self._arrivals + (1 - _MEMORY) * rows[:, 3]
        features = np.column_stack([np.ones(len(rows)), rows[:, _USED], self._arrivals])
        share = np.einsum("ij,ij->i", features, self._weights)
        numbers: npt.NDArray[np.int64] = np.clip(np.ceil(share * len(_RATES)) - 1, 0, len(_RATES) - 1).astype(np.int64)
        return numbers


def learn(scenario: Scenario, generations: int, candidates: int, seed: int) -> tuple[Floats, list[float]]:
    """The mean weights after some generations, and the mean cost per step of the best candidates in each.

    All candidates of a generation run with the same seed, and generation g with the seed `seed` + g.
    """
    draw = np.random.default_rng(seed)
    mean, spread = np.zeros(_FEATURES), np.full(_FEATURES, 1.0)
    environment = LinkRateVectorEnv(candidates, scenario, _LINK, rates=_RATES)
    costs = []
    for generation in range(generations):
        weights = mean + spread * draw.standard_normal((candidates, _FEATURES))
        policy, total = Policy(weights), np.zeros(candidates)
        observations, _ = environment.reset(seed=[seed + generation] * candidates)
        for _ in range(environment.steps):
            observations, rewards, _, _, _ = environment.step(policy(observations))
            total += rewards
        best = np.argsort(-total)[: max(candidates // _SHARE, 2)]
        mean, spread = weights[best].mean(axis=0), weights[best].std(axis=0) + 0.02
        costs.append(float(-total[best].mean() / environment.steps))
    return mean, costs


class Comparison(NamedTuple):
    """A controller's means over seeds, and the standard error of its cost."""

    controller: str
    cost: float
    error: float
    saving: float
    delay_ms: float
    completion_ms: float
    p95_ms: float


def compare(scenario: Scenario, weights: Floats, seeds: Sequence[int]) -> list[Comparison]:
    """The learned policy next to a link that is always on, practRA and Lull."""
    practra = Practra(_RATES, transition="2 ms", min_interval="50 ms", delay_bound="10 ms")
    lull = Lull(_RATES, transition="2 ms")
    controlled = {
        "always on": scenario,
        "practRA": scenario.with_values({f"link.{_LINK}.controller": practra}),
        "Lull": scenario.with_values({f"link.{_LINK}.controller": lull}),
    }
    rows = [_row(name, [one.run(seed) for seed in seeds]) for name, one in controlled.items()]
    environment = LinkRateEnv(scenario, _LINK, rates=_RATES)
    learned = []
    for seed in seeds:
        policy, over = Policy(weights), False
        observation, _ = environment.reset(seed=seed)
        while not over:
            observation, _, _, over, _ = environment.step(policy(observation)[0])
        learned.append(environment.result())
    return [*rows, _row("learned", learned)]


def _row(name: str, results: Sequence[Result]) -> Comparison:
    costs, links = [], [result.link(_LINK) for result in results]
    for result in results:
        link = result.link(_LINK)
        energy = link["energy"]["fs"]
        packet_s = 8 * 1500 / link["rate_bps"]
        waits = link["mean_queue_packets"] * packet_s / _DELAY_SCALE_S
        costs.append(energy["total_j"] / energy["reference_j"] + waits + link["drop_fraction"])
    flows = [result.flow("web") for result in results]
    error = float(np.std(costs, ddof=1) / np.sqrt(len(costs))) if len(costs) > 1 else float("nan")
    return Comparison(
        name,
        float(np.mean(costs)),
        error,
        float(np.mean([link["energy"]["fs"]["saving"] for link in links])),
        1e3 * float(np.mean([link["mean_wait_s"] for link in links])),
        1e3 * float(np.mean([flow["mean_completion_s"] for flow in flows])),
        1e3 * float(np.mean([flow["p95_completion_s"] for flow in flows])),
    )


@click.command()
@click.option("--generations", default=30, show_default=True, help="Generations of candidates.")
@click.option("--candidates", default=48, show_default=True, help="Candidates in a generation.")
@click.option("--duration", default="60 s", show_default=True, help="The length of an episode.")
@click.option("--seeds", default=10, show_default=True, help="Seeds of the comparison, from 1000 on.")
@click.option("--seed", default=1, show_default=True, help="The first seed of the training.")
def main(generations: int, candidates: int, duration: str, seeds: int, seed: int) -> None:
    """Learns a link controller and compares it with other controllers."""
    scenario = link_rate_scenario(duration=duration)
    weights, costs = learn(scenario, generations, candidates, seed)
    shown = sorted({0, len(costs) // 4, len(costs) // 2, len(costs) - 1})
    for generation in shown:
        click.echo(f"generation {generation + 1:3}: cost of the best {costs[generation]:.3f}")
    click.echo(f"weights: {', '.join(f'{weight:.2f}' for weight in weights)}")
    click.echo("controller      cost          saving  mean wait  mean completion  95 % completion")
    for row in compare(scenario, weights, range(1000, 1000 + seeds)):
        click.echo(
            f"{row.controller:10}{row.cost:9.3f} ± {row.error:.3f}{row.saving:9.1%}{row.delay_ms:8.2f} ms"
            f"{row.completion_ms:14.1f} ms{row.p95_ms:14.1f} ms"
        )


if __name__ == "__main__":
    main()
