"""The library that comes with netlull: shipped scenarios, starters, sites, and the page of the laboratory.

Shipped scenarios run by name from anywhere. Sites are the seven servers of the downloads in client-centered-2004 (its
Fig. 4), as paths to a wireless client. `shipped/sites.toml` has their values, with the paper's words (`source`)
and the assumptions (`reading`), site by site.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import re
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError, near, near_file
from netlull.quantities import in_unit
from netlull.renames import hint_of_path
from netlull.results.output import staged_file
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from netlull.builders import Doze, Probe

__all__ = [
    "LAB_PAGE",
    "Site",
    "all_sites",
    "described",
    "description",
    "find",
    "lab_fragment",
    "lab_page",
    "place_lab",
    "shipped",
    "site",
    "sites",
    "starters",
]

_SHIPPED = Path(__file__).parent / "shipped"
_FILE = _SHIPPED / "sites.toml"
_NODES = ("server", "access-point", "client")


@dataclass(frozen=True)
class Site:
    """A server, the path from it to an access point, and the downloaded file. `dataclasses.replace` changes a field."""

    name: str
    host: str
    round_trip_s: float
    """Base round-trip time in s, without noise and without transmission times."""
    noise_share: float
    """Mean of the additional, gamma-distributed noise of a round trip, as a share of the base round trip."""
    noise_shape: float
    """Shape of that distribution. Its standard deviation is the mean over the square root of the shape."""
    size: str
    """Size of the file, with its unit."""
    window: str
    """The server's send buffer, `tcp.send_buffer`: the limit of data in flight."""
    loss: float
    """Probability of the independent loss of each packet on the path to the access point."""
    air: str
    """Rate between access point and client, in both directions, with its unit."""
    rate: str
    """Rate of the path, with its unit."""
    source: str
    """The paper's words."""
    reading: str
    """The assumptions where the paper is silent."""

    @property
    def noise_mean_s(self) -> float:
        """Mean of the noise in s: a share of the round trip, which scales with `round_trip_s` (section IV-A-c)."""
        return self.noise_share * self.round_trip_s

    def values(self) -> dict[str, object]:
        """The values that turn another site's scenario into this one's.

        They are arguments of `Scenario.with_values`, and values of axis points: round trip, noise, loss, rates, the
        file's size and the server's send buffer. Everything else is the same at all sites.
        """
        to_client, back = (f"link.{one}-{other}" for one, other in (_NODES[:2], _NODES[1::-1]))
        lossy = {"kind": "bernoulli", "probability": self.loss} if self.loss else None
        noisy = {"mean": _time(self.noise_mean_s), "shape": self.noise_shape} if self.noise_share else None
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
        """A download from the site to a station `client` behind `access-point`, with `mechanism` on the station.

        Both ends follow the paper's folder. The server has the preset `freebsd-4.5`, with a timestamp clock of 10 ms
        and the site's window as send buffer. The client advertises 64 KiB. It acknowledges each packet in slow start,
        and delays later acknowledgements by 40 ms. `tcp` changes further options. `"preset": None` removes the preset:
        `{"preset": None, "congestion_control": "cubic"}`.

        Raises:
            ScenarioError: the mechanism, an option or the probe is invalid.
        """
        station: dict[str, object] = {"name": _NODES[2], "nodes": [_NODES[2]]}
        if mechanism is not None:
            station["mechanism"] = mechanism
        document: dict[str, object] = {
            "name": self.name,
            "description": f"a download from {self.host}, {1e3 * self.round_trip_s:g} ms away",
            "duration": duration,
            "nodes": list(_NODES),
            "tcp": _TCP,
            "link": [
                {"from": _NODES[0], "to": _NODES[1], "rate": self.rate, "buffer": "unlimited"},
                {"from": _NODES[1], "to": _NODES[0], "rate": self.rate, "buffer": "unlimited"},
                {"from": _NODES[1], "to": _NODES[2], "duplex": True, "rate": self.air, "buffer": "unlimited"},
            ],
            # A random start between two beacons.
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


_TCP = {"preset": "freebsd-4.5", "receive_buffer": "64 KiB", "delayed_ack_timeout": "40 ms", "quick_acks": 44}
"""As in client-centered-2004: FreeBSD 4.5 sends (section IV-A), Linux 2.4 receives, with 64 KB (section III)."""


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e9)} ns"


def all_sites() -> Mapping[str, Site]:
    """The sites by name, the nearest first. Exported by `netlull`, where `sites` is a module."""
    return sites()


@functools.cache
def sites() -> Mapping[str, Site]:
    """The sites by name, the nearest first."""
    document: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    path = document["path"]
    found: dict[str, Site] = {}
    for one in document["site"]:
        round_trip_s = in_unit(one["round_trip"], "s") or 0.0
        found[one["name"]] = Site(
            name=one["name"],
            host=one["host"],
            round_trip_s=round_trip_s,
            noise_share=path["noise_share"],
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
    """The site with this name: uiuc, sun, freebsd, stanford, washington, jriver or intel.

    Raises:
        InputError: there is no such site; lists the existing ones.
    """
    there = sites()
    if name not in there:
        raise InputError(f'site "{name}" is unknown; {near(name, there)}')
    return there[name]


def described(one: Site) -> dict[str, Any]:
    """A site's entry in a list."""
    facts = f"{one.host}: {1e3 * one.round_trip_s:g} ms away, {one.size}, window {one.window}, loss {one.loss:g}"
    return {"description": facts, **dataclasses.asdict(one), "noise_mean_s": one.noise_mean_s, "set": one.values()}


def shipped() -> dict[str, Path]:
    """The shipped scenarios by name."""
    return _scenarios("scenarios")


def starters() -> dict[str, Path]:
    """The commented scenarios that `netlull new` copies, by kind."""
    return _scenarios("starters")


def _scenarios(folder: str) -> dict[str, Path]:
    return {path.stem: path for path in sorted((_SHIPPED / folder).glob("*.toml"))}


def description(path: Path) -> str:
    """The description in a scenario file."""
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))


def find(name_or_file: str) -> Path:
    """A scenario file by its path, or a shipped scenario by its name.

    Raises:
        InputError: there is neither; lists the shipped scenarios.
    """
    path = Path(name_or_file)
    if path.exists() and not path.is_dir():
        return path
    scenarios = shipped()
    if name_or_file in scenarios:
        return scenarios[name_or_file]
    names = ", ".join(scenarios) or "none"
    places = f"or a site: {', '.join(sites())}"
    found = "is a folder" if path.is_dir() else "there is no such file"
    renamed = hint_of_path(path, scenarios)
    if renamed is not None:
        raise InputError(f"{name_or_file}: {found}; {renamed}")
    expected = near_file(path, f"a scenario file or one of: {names}; {places}", [*scenarios, *sites()])
    raise InputError(f"{name_or_file}: {found}; {expected}")


LAB_PAGE = "lab.html"
"""The name of the page next to a report."""


def lab_page() -> bytes | None:
    """The page that `make lab` builds; None if it was not built."""
    try:
        # Not as a file of `netlull.report`, whose import needs matplotlib.
        return files("netlull").joinpath("report", "shipped", LAB_PAGE).read_bytes()
    except OSError:
        return None


def place_lab(path: Path, *, answers: bool = True) -> bool:
    """Writes the page to `path` unless the file is the same. Returns False if it was not built.

    Args:
        path: the file.
        answers: False leaves out the answers of the exercises.

    Raises:
        OutputError: the file cannot be written.
    """
    page = lab_page()
    if page is None:
        return False
    if not answers:
        page = re.sub(rb'(<script type="application/json" id="answers">)[^<]*', rb"\1{}", page)
    if not (path.is_file() and path.read_bytes() == page):
        with staged_file(path) as stage:
            stage.write_bytes(page)
    return True


def lab_fragment(toml: str) -> str:
    """The end of the page's address that opens it with this scenario (web/lab/src/lib/share.ts).

    The text is compressed (raw deflate, RFC 1951) and written in base64url (RFC 4648 section 5).
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(toml.encode()) + packer.flush()
    return "#scene=free&toml=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
