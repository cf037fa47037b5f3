"""Rate control of a link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.builders import Link, Power, Requests
from netlull.errors import InputError
from netlull.gym.base import SimulatorEnv, SimulatorVectorEnv, chosen, defaults, filled, reward_weights
from netlull.gym.panels import Line, Panel, held
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt


__all__ = ["LinkRateEnv", "LinkRateVectorEnv", "link_rate_scenario"]

_RATES = tuple(f"{rate} Mb/s" for rate in range(1, 11))


def link_rate_scenario(offered: str = "3 Mb/s", duration: str = "60 s") -> Scenario:
    """The default scenario: web requests over a link N1-N2 of 10 Mb/s, without a controller.

    Requests for 30 kB on average arrive at N1 as a Poisson process, each on its own TCP connection to N2. The round
    trip is 50 ms, and the buffer is one bandwidth-delay product.

    Args:
        offered: the offered load.
        duration: the length of an episode.
    """
    return Scenario(
        name="link-rate",
        duration=duration,
        nodes=["N1", "N2"],
        links=[Link("N1", "N2", "10 Mb/s", "25 ms", duplex=True, buffer="BDP")],
        flows=[Requests("web", "N1", "N2", offered=offered, size={"kind": "exponential", "mean": "30 kB"})],
        tcp={"congestion_control": "new_reno", "delayed_ack": False},
        power=[Power("fs")],
    )


def _options(  # noqa: PLR0913  # the options of the environments
    scenario: Scenario,
    *,
    link: str | None,
    rates: Sequence[str],
    step: str,
    transition: str,
    power: str | None,
    energy_weight: float,
    delay_weight: float,
    loss_weight: float,
    delay_scale: str,
    backlog_scale: str,
) -> dict[str, object]:
    if isinstance(rates, str):
        raise InputError(f"rates: is {rates!r}; expected a sequence of rates")
    return {
        "link": link if link is not None else _controlled(scenario),
        "rates": list(rates),
        "step": step,
        "transition": transition,
        "power": power,
        "weights": reward_weights(energy_weight, delay_weight, loss_weight, delay_scale),
        "backlog_scale": backlog_scale,
    }


def _controlled(scenario: Scenario) -> str:
    """The name of the only link with a controller."""
    links = scenario.to_dict()["link"]
    named = [link.get("name", f"{link['from']}-{link['to']}") for link in links if link.get("controller")]
    if len(named) != 1:
        raise InputError(f"link: is missing, and {len(named)} links have a controller; expected the name of a link")
    return str(named[0])


class LinkRateEnv(SimulatorEnv):
    """Rate control of a link: at every tick the agent chooses the service rate until the next.

    The action is the number of a rate. The observation has six entries:

    - `rate`: service rate over the link's rate (0 to 1)
    - `backlog`: time of the backlog at the link's rate, over `backlog_scale` (0 to 1, cut off)
    - `mean_backlog`: the same for the mean backlog of the step, in packets of one MTU (0 to 1, cut off)
    - `arrivals`: arrived bytes over the link's capacity in the step (0 to 4, cut off)
    - `utilisation`: departed bytes over the link's capacity in the step (0 to 1, cut off)
    - `drops`: dropped packets over arrived packets (0 to 1)

    The reward is minus the cost of the step. The cost is the sum of

    - `energy_weight` times the link's energy over its energy at the highest rate,
    - `delay_weight` times the time of the mean backlog at the link's rate over `delay_scale`,
    - `loss_weight` times `drops`.

    The energy is without the energy of bits and packets.

    Args:
        scenario: the network and its traffic; default `link_rate_scenario()`. An episode lasts as long.
        link: the link; default the only link with a controller, which is replaced.
        rates: the rates to choose from; default 1 to 10 Mb/s in steps of 1 Mb/s.
        step: the time between two ticks. The duration is a multiple of it.
        transition: nothing is sent for this long after a change of the rate.
        power: the name of the power model in results; default the first.
        energy_weight: the weight of the energy.
        delay_weight: the weight of the delay.
        loss_weight: the weight of drops.
        delay_scale: the delay that costs as much as the whole energy, for equal weights.
        backlog_scale: the largest backlog in observations, as time at the link's rate.
        render_mode: "rgb_array" for pictures.

    Raises:
        InputError: no link is given, and none or several have a controller.
        ScenarioError: an argument is impossible; the message names it.
    """

    _kind = "link_rate"

    def __init__(  # noqa: PLR0913  # the options of the environment
        self,
        scenario: Scenario | None = None,
        link: str | None = None,
        *,
        rates: Sequence[str] = _RATES,
        step: str = "10 ms",
        transition: str = "2 ms",
        power: str | None = None,
        energy_weight: float = 1.0,
        delay_weight: float = 1.0,
        loss_weight: float = 1.0,
        delay_scale: str = "10 ms",
        backlog_scale: str = "100 ms",
        render_mode: str | None = None,
    ) -> None:
        used, link = _place(scenario, link)
        options = _options(
            used,
            link=link,
            rates=rates,
            step=step,
            transition=transition,
            power=power,
            energy_weight=energy_weight,
            delay_weight=delay_weight,
            loss_weight=loss_weight,
            delay_scale=delay_scale,
            backlog_scale=backlog_scale,
        )
        self.link = str(options["link"])
        super().__init__(used, options, render_mode)

    def _panels(self, table: Mapping[str, npt.NDArray[np.float64]]) -> list[Panel]:
        time = table["time_s"]
        width = time[1] - time[0] if len(time) > 1 else 1.0
        arrived = table["arrived_bytes"] * 8 / width / 1e6
        service = held(table["rate_bps"] / 1e6)
        return [
            Panel(
                f"{self.link}: rates",
                "Rate (Mb/s)",
                [
                    Line("arrival rate", time, arrived, colour=0, width=0.8),
                    Line("link rate", time, service, colour=1, steps=True, width=1.3),
                ],
            ),
            Panel("Queue", "Queue (packets)", [Line("queue", time, table["waiting_packets"], colour=2)]),
        ]


class LinkRateVectorEnv(SimulatorVectorEnv):
    """Rate control of a link in many simulators. The arguments are those of `LinkRateEnv`."""

    _kind = "link_rate"
    _single = LinkRateEnv

    def __init__(
        self, num_envs: int = 1, scenario: Scenario | None = None, link: str | None = None, **options: Any
    ) -> None:
        used, link = _place(scenario, link)
        super().__init__(num_envs, used, _options(used, link=link, **filled(options, _DEFAULTS)))


def _place(scenario: Scenario | None, link: str | None) -> tuple[Scenario, str | None]:
    """The scenario, or the default one with its link."""
    return chosen(scenario, link_rate_scenario), "N1-N2" if scenario is None and link is None else link


_DEFAULTS = defaults(LinkRateEnv, without={"scenario", "link", "render_mode"})
