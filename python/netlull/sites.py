"""The seven servers that client-centered-2004 downloads from (its Fig. 4), as ready paths to a client on the air.

What they are is in `sites.toml`, with the paper's words (`source`) and what had to be chosen (`reading`), site by site.
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.words import near

if TYPE_CHECKING:
    from netlull.elements import Probe
    from netlull.scenario import Scenario
    from netlull.stations import Doze

__all__ = ["Site", "described", "site", "sites"]

_FILE = Path(__file__).with_name("sites.toml")
_NODES = ("server", "access-point", "client")


@dataclass(frozen=True)
class Site:
    """A server, the path from it to an access point, and what is downloaded. `dataclasses.replace` changes a field."""

    name: str
    host: str
    round_trip_s: float
    """Base round trip, without noise and without the time that packets take to be sent."""
    noise_mean_s: float
    """Mean of the noise that a round trip has on top, gamma-distributed."""
    noise_shape: float
    size: str
    """Of the file."""
    window: str
    """The server's send buffer: what is in flight at most."""
    loss: float
    """Probability that a packet is lost on the way to the access point, each on its own."""
    air: str
    """Rate between access point and client, both ways."""
    rate: str
    """Rate of the path."""
    source: str
    """What the paper says."""
    reading: str
    """What it does not, and what was chosen."""

    def values(self) -> dict[str, object]:
        """What makes another site's scenario this one's: for `Scenario.with_values`, and for points of an axis."""
        to_client, back = (f"link.{one}-{other}" for one, other in (_NODES[:2], _NODES[1::-1]))
        lossy = {"kind": "bernoulli", "probability": self.loss} if self.loss else None
        noisy = {"mean": _time(self.noise_mean_s), "shape": self.noise_shape} if self.noise_mean_s else None
        return {
            f"{to_client}.delay": _time(self.round_trip_s / 2),
            f"{to_client}.rate": self.rate,
            f"{to_client}.noise": noisy,
            f"{to_client}.loss": lossy,
            f"{back}.delay": _time(self.round_trip_s / 2),
            f"{back}.rate": self.rate,
            f"link.{_NODES[1]}-{_NODES[2]}.rate": self.air,
            "flow.download.size": self.size,
            "tcp.send_buffer": self.window,
        }

    def scenario(
        self,
        mechanism: Doze | Mapping[str, object] | None = None,
        *,
        duration: str = "120 s",
        tcp: Mapping[str, object] | None = None,
        probe: Probe | Mapping[str, object] | None = None,
    ) -> Scenario:
        """A download from the site to a station `client` behind `access-point`, which dozes by `mechanism`.

        The sender is FreeBSD 4.5's, as in the paper's folder, with what `tcp` says; with a `congestion_control` it is
        another one.
        """
        from netlull.scenario import Scenario

        station: dict[str, object] = {"name": _NODES[2], "nodes": [_NODES[2]]}
        if mechanism is not None:
            station["mechanism"] = mechanism
        document: dict[str, object] = {
            "name": self.name,
            "description": f"a download from {self.host}, {1e3 * self.round_trip_s:g} ms away",
            "duration": duration,
            "nodes": list(_NODES),
            "tcp": _OTHER_TCP if tcp and "congestion_control" in tcp else _TCP,
            "link": [
                {"from": _NODES[0], "to": _NODES[1], "rate": self.rate, "buffer": "unlimited"},
                {"from": _NODES[1], "to": _NODES[0], "rate": self.rate, "buffer": "unlimited"},
                {"from": _NODES[1], "to": _NODES[2], "duplex": True, "rate": self.air, "buffer": "unlimited"},
            ],
            # It begins anywhere between two beacons.
            "flow": [
                {
                    "kind": "tcp", "name": "download", "from": _NODES[0], "to": _NODES[2], "size": self.size,
                    "jitter": "100 ms",
                }
            ],
            "station": [station],
        }  # fmt: skip
        if probe is not None:
            document["probe"] = probe
        options = {f"tcp.{option}": value for option, value in (tcp or {}).items()}
        return Scenario.from_dict(document).with_values({**self.values(), **options})


_CLIENT = {"receive_buffer": "64 KiB"}
"""A client that advertises 64 KB (section III)."""
_TCP = {"preset": "freebsd-4.5", **_CLIENT, "delayed_ack_timeout": "40 ms"}
"""As in papers/client-centered-2004: a server of 2003, and delayed acknowledgements of Linux 2.4."""
_OTHER_TCP = {"timestamps": True, "window_scaling": False, **_CLIENT}
"""Under a sender of another kind."""


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)} ns"


@functools.cache
def sites() -> Mapping[str, Site]:
    """The sites by name, the nearest first."""
    from netlull.quantities import in_unit

    document: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    path = document["path"]
    found: dict[str, Site] = {}
    for one in document["site"]:
        round_trip_s = in_unit(one["round_trip"], "s") or 0.0
        found[one["name"]] = Site(
            name=one["name"],
            host=one["host"],
            round_trip_s=round_trip_s,
            noise_mean_s=path["noise_share"] * round_trip_s,
            noise_shape=path["noise_shape"],
            size=one["size"],
            window=one["window"],
            loss=one["loss"],
            air=path["air"],
            rate=path["rate"],
            source=one["source"],
            reading=f"{one['reading']} {path['reading']}",
        )
    return found


def site(name: str) -> Site:
    """The site of that name: uiuc, sun, freebsd, stanford, washington, jriver or intel.

    Raises:
        InputError: there is none; says what there is.
    """
    there = sites()
    if name not in there:
        raise InputError(f'site "{name}": there is none; {near(name, there)}')
    return there[name]


def described(one: Site) -> dict[str, Any]:
    """A site as a list shows it."""
    facts = f"{one.host}: {1e3 * one.round_trip_s:g} ms away, {one.size}, window {one.window}, loss {one.loss:g}"
    return {"description": facts, **dataclasses.asdict(one), "set": one.values()}
