"""Doze of a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.builders import Link, Requests, Station
from netlull.errors import InputError
from netlull.gym.base import SimulatorEnv, SimulatorVectorEnv, chosen, defaults, filled, reward_weights
from netlull.gym.panels import Line, Panel, held
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt


__all__ = ["ClientDozeEnv", "ClientDozeVectorEnv", "client_doze_scenario"]


def client_doze_scenario(offered: str = "500 kb/s", duration: str = "60 s") -> Scenario:
    """The default scenario: a client with a WaveLAN radio that loads pages over an air of 20 Mb/s.

    Requests for 30 kB on average arrive as a Poisson process, each on its own TCP connection. The round trip is 40 ms.

    Args:
        offered: the offered load.
        duration: the length of an episode.
    """
    return Scenario(
        name="client-doze",
        duration=duration,
        nodes=["server", "access-point", "client"],
        links=[
            Link("server", "access-point", "100 Mb/s", "20 ms", duplex=True, buffer="unlimited"),
            Link("access-point", "client", "20 Mb/s", "0 ms", duplex=True, buffer="unlimited"),
        ],
        flows=[Requests("web", "server", "client", offered=offered, size={"kind": "exponential", "mean": "30 kB"})],
        stations=[Station(nodes=["client"], radio=["wavelan-dsss"])],
        tcp={"congestion_control": "new_reno"},
    )


def _options(  # noqa: PLR0913  # the options of the environments
    scenario: Scenario,
    *,
    station: str | None,
    step: str,
    radio: str | None,
    access_point: Mapping[str, object] | None,
    energy_weight: float,
    delay_weight: float,
    loss_weight: float,
    delay_scale: str,
    silence_scale: str,
) -> dict[str, object]:
    return {
        "station": station if station is not None else _station(scenario),
        "step": step,
        "radio": radio,
        "access_point": dict(access_point or {}),
        "weights": reward_weights(energy_weight, delay_weight, loss_weight, delay_scale),
        "silence_scale": silence_scale,
    }


def _station(scenario: Scenario) -> str:
    """The node of the only station."""
    nodes = [node for station in scenario.to_dict().get("station", []) for node in station["nodes"]]
    if len(nodes) != 1:
        raise InputError(f"station: is missing, and the scenario has {len(nodes)}; expected the node of a station")
    return str(nodes[0])


class ClientDozeEnv(SimulatorEnv):
    """Doze of a client: at every tick the agent lets the radio doze (0) or stay awake (1) until the next.

    While the client dozes, the access point holds packets for it, and the radio wakes only to send the host's packets.
    An awake client gets all held packets, and later ones at once. The client does not see the held packets: it must
    wake to get them. A decision acts at its tick, after the station's other actions of that instant.

    - `awake`: 1 if the agent chose awake (0 to 1)
    - `received`: received bytes over the air's capacity in the step (0 to 1, cut off)
    - `sent`: sent bytes over the air's capacity in the step (0 to 1, cut off)
    - `silence`: time since the last packet in either direction, over `silence_scale` (0 to 1, cut off)
    - `dozing`: time since the agent last chose awake, over `silence_scale` (0 to 1, cut off)

    The reward is minus the cost of the step. The cost is the sum of

    - `energy_weight` times the radio's energy over that of a radio that never sleeps,
    - `delay_weight` times the time for which the access point has held packets, in whole steps, over `delay_scale`,
    - `loss_weight` times the share of packets that the radio missed.

    Args:
        scenario: the network and its traffic; default `client_doze_scenario()`. An episode lasts as long.
        station: the node of the client; default the only station, whose mechanism is replaced.
        step: the time between two ticks. The duration is a multiple of it.
        radio: the name of the radio's power model in results; default the first.
        access_point: the parameters of the access point (`netlull.AccessPoint`), such as `{"buffer": 100}`.
        energy_weight: the weight of the energy.
        delay_weight: the weight of the delay.
        loss_weight: the weight of missed packets.
        delay_scale: the delay that costs as much as the whole energy, for equal weights.
        silence_scale: the longest silence in observations.
        render_mode: "rgb_array" for pictures.

    Raises:
        InputError: no station is given, and the scenario has none or several.
        ScenarioError: an argument is impossible; the message names it.
    """

    _kind = "client_doze"

    def __init__(  # noqa: PLR0913  # the options of the environment
        self,
        scenario: Scenario | None = None,
        station: str | None = None,
        *,
        step: str = "20 ms",
        radio: str | None = None,
        access_point: Mapping[str, object] | None = None,
        energy_weight: float = 1.0,
        delay_weight: float = 1.0,
        loss_weight: float = 1.0,
        delay_scale: str = "200 ms",
        silence_scale: str = "1 s",
        render_mode: str | None = None,
    ) -> None:
        used = chosen(scenario, client_doze_scenario)
        options = _options(
            used,
            station=station,
            step=step,
            radio=radio,
            access_point=access_point,
            energy_weight=energy_weight,
            delay_weight=delay_weight,
            loss_weight=loss_weight,
            delay_scale=delay_scale,
            silence_scale=silence_scale,
        )
        super().__init__(used, options, render_mode)

    def _panels(self, table: Mapping[str, npt.NDArray[np.float64]]) -> list[Panel]:
        time = table["time_s"]
        return [
            Panel("Radio", "Awake", [Line("awake by decision", time, held(table["awake"]), 1, steps=True)]),
            Panel("Packets", "Packets per step", [Line("received", time, table["received_packets"], colour=0)]),
            Panel("Access point", "Held packets", [Line("held", time, table["held_packets"], colour=2)]),
        ]


class ClientDozeVectorEnv(SimulatorVectorEnv):
    """Doze of a client in many simulators. The arguments are those of `ClientDozeEnv`."""

    _kind = "client_doze"
    _single = ClientDozeEnv

    def __init__(self, num_envs: int = 1, scenario: Scenario | None = None, **options: Any) -> None:
        used = chosen(scenario, client_doze_scenario)
        super().__init__(num_envs, used, _options(used, **filled(options, _DEFAULTS)))


_DEFAULTS = defaults(ClientDozeEnv, without={"scenario", "render_mode"})
