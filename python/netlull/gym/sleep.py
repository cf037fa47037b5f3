"""Sleep and wake of the links of a network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from netlull.builders import Poisson, Power, Tcp
from netlull.errors import InputError
from netlull.gym.base import SimulatorEnv, SimulatorVectorEnv, chosen, defaults, filled, reward_weights
from netlull.gym.panels import Line, Panel, held
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt


__all__ = ["AbileneSleepEnv", "AbileneSleepVectorEnv", "abilene_sleep_scenario"]

_BACKGROUND = (("CHINng", "IPLSng"), ("IPLSng", "KSCYng"), ("DNVRng", "SNVAng"))


def abilene_sleep_scenario(duration: str = "30 s") -> Scenario:
    """The default scenario: Abilene with links of 40 Mb/s, one TCP flow across it and background traffic.

    The network and the traffic are those of the shipped scenario `abilene`: a CUBIC flow from New York to Seattle, and
    datagrams of 10 Mb/s on three links on its way.

    Args:
        duration: the length of an episode.
    """
    background = [
        Poisson(f"background-{number}", *ends, rate="10 Mb/s") for number, ends in enumerate(_BACKGROUND, start=1)
    ]
    return Scenario(
        name="abilene-sleep",
        duration=duration,
        mtu="1040 B",
        topology={"file": "abilene", "rate": "40 Mb/s", "buffer": "50 packets"},
        routing={"update": {"kind": "flooding", "processing": "0 s", "computation": "10 ms"}},
        flows=[Tcp("download", "NYCMng", "STTLng", tcp={"congestion_control": "cubic"}), *background],
        power=[Power("fs")],
    )


def _may_sleep(scenario: Scenario, links: Sequence[str] | None) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with an entry of `sleep` for these links, or for all links of the network."""
    if isinstance(links, str):
        raise InputError(f"links: is {links!r}; expected a sequence of names")
    document = json.loads(scenario.canonical())
    every = [link.get("name") or f"{link['from']}-{link['to']}" for link in document["link"]]
    names = every if links is None else links
    # The time of the entry has no meaning: the agent decides.
    return scenario.with_values({"sleep": [{"at": "0 s", "links": list(names)}]}), tuple(names)


def _options(
    *,
    step: str,
    notice: str,
    wake_time: str,
    power: str | None,
    energy_weight: float,
    delay_weight: float,
    loss_weight: float,
    delay_scale: str,
) -> dict[str, object]:
    return {
        "step": step,
        "notice": notice,
        "wake_time": wake_time,
        "power": power,
        "weights": reward_weights(energy_weight, delay_weight, loss_weight, delay_scale),
    }


class AbileneSleepEnv(SimulatorEnv):
    """Sleep of links: at every tick the agent decides for each link whether it sleeps (0) or is awake (1).

    A link that goes to sleep is announced at once and sleeps after `notice`; packets on it are then lost. A link that
    wakes has its full power at once, and carries packets and is announced after `wake_time`. Routers learn of it by the
    scenario's `routing.update`. An agent may cut the network in two: packets without a route are lost.

    The action has an entry for each link. The observation has 2 n + 1 entries for n links:

    - `awake NAME` for each link: 1 if the agent chose awake (0 to 1)
    - `load NAME` for each link: delivered bytes over capacity, of the direction with more load (0 to 1, cut off)
    - `lost`: lost packets over sent packets in the step (0 to 1, cut off)

    The reward is minus the cost of the step. The cost is the sum of

    - `energy_weight` times the energy of all links over that of links that are always awake,
    - `delay_weight` times the mean time of a received packet on links over `delay_scale`,
    - `loss_weight` times `lost`.

    The energy is without the energy of bits and packets.

    Args:
        scenario: the network and its traffic; default `abilene_sleep_scenario()`. An episode lasts as long.
        links: the names of the links that may sleep; default all. A duplex link is one link.
        step: the time between two ticks. The duration is a multiple of it.
        notice: the time from a decision until the link sleeps; less than a step.
        wake_time: the time from a decision until the link carries packets again; less than a step.
        power: the name of the power model in results; default the first.
        energy_weight: the weight of the energy.
        delay_weight: the weight of the delay.
        loss_weight: the weight of lost packets.
        delay_scale: the delay that costs as much as the whole energy, for equal weights.
        render_mode: "rgb_array" for pictures.

    Raises:
        InputError: `links` is text.
        ScenarioError: an argument is impossible; the message names it.
    """

    _kind = "links_sleep"

    def __init__(  # noqa: PLR0913  # the options of the environment
        self,
        scenario: Scenario | None = None,
        links: Sequence[str] | None = None,
        *,
        step: str = "1 s",
        notice: str = "100 ms",
        wake_time: str = "100 ms",
        power: str | None = None,
        energy_weight: float = 1.0,
        delay_weight: float = 1.0,
        loss_weight: float = 10.0,
        delay_scale: str = "100 ms",
        render_mode: str | None = None,
    ) -> None:
        used, self.links = _may_sleep(chosen(scenario, abilene_sleep_scenario), links)
        options = _options(
            step=step,
            notice=notice,
            wake_time=wake_time,
            power=power,
            energy_weight=energy_weight,
            delay_weight=delay_weight,
            loss_weight=loss_weight,
            delay_scale=delay_scale,
        )
        super().__init__(used, options, render_mode)

    @staticmethod
    def _space(choices: Sequence[int]) -> spaces.Space[Any]:
        return spaces.MultiBinary(len(choices))

    def _panels(self, table: Mapping[str, npt.NDArray[np.float64]]) -> list[Panel]:
        time = table["time_s"]
        return [
            Panel("Links", "Awake links", [Line("awake", time, held(table["links_awake"]), 1, steps=True)]),
            Panel(
                "Packets",
                "Packets per step",
                [Line("received", time, table["received_packets"], 0), Line("lost", time, table["lost_packets"], 3)],
            ),
            Panel("Delay", "Mean delay (ms)", [Line("delay", time, table["mean_delay_s"] * 1e3, 2)]),
        ]


class AbileneSleepVectorEnv(SimulatorVectorEnv):
    """Sleep of links in many simulators. The arguments are those of `AbileneSleepEnv`."""

    _kind = "links_sleep"
    _single = AbileneSleepEnv

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Scenario | None = None,
        links: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        used, self.links = _may_sleep(chosen(scenario, abilene_sleep_scenario), links)
        super().__init__(num_envs, used, _options(**filled(options, _DEFAULTS)))


_DEFAULTS = defaults(AbileneSleepEnv, without={"scenario", "links", "render_mode"})
