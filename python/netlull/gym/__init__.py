"""Gymnasium environments: a simulator that stops at every tick and waits for the agent's action.

`import netlull.gym` registers the environments. `gymnasium.make("netlull/LinkRate-v0")` makes one, and
`gymnasium.make_vec("netlull/LinkRate-v0", num_envs=64)` makes many that step in one call (docs/how-to/gym.md).
"""

from netlull.errors import needs

with needs("gym"):
    import gymnasium

from netlull.gym.base import SimulatorEnv, SimulatorVectorEnv
from netlull.gym.doze import ClientDozeEnv, ClientDozeVectorEnv, client_doze_scenario
from netlull.gym.link import LinkRateEnv, LinkRateVectorEnv, link_rate_scenario
from netlull.gym.sleep import AbileneSleepEnv, AbileneSleepVectorEnv, abilene_sleep_scenario

__all__ = [
    "AbileneSleepEnv",
    "AbileneSleepVectorEnv",
    "ClientDozeEnv",
    "ClientDozeVectorEnv",
    "LinkRateEnv",
    "LinkRateVectorEnv",
    "SimulatorEnv",
    "SimulatorVectorEnv",
    "abilene_sleep_scenario",
    "client_doze_scenario",
    "link_rate_scenario",
]

_KINDS: dict[str, tuple[type[SimulatorEnv], type[SimulatorVectorEnv]]] = {
    "netlull/LinkRate-v0": (LinkRateEnv, LinkRateVectorEnv),
    "netlull/ClientDoze-v0": (ClientDozeEnv, ClientDozeVectorEnv),
    "netlull/AbileneSleep-v0": (AbileneSleepEnv, AbileneSleepVectorEnv),
}

for _name, (_single, _many) in _KINDS.items():
    gymnasium.register(
        _name,
        entry_point=f"{_single.__module__}:{_single.__name__}",
        vector_entry_point=f"{_many.__module__}:{_many.__name__}",
    )
