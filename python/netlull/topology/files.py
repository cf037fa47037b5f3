"""`Topology`, the class for users: a network with its reading and writing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from netlull.topology.document import written
from netlull.topology.hub import read_hub
from netlull.topology.model import Network
from netlull.topology.options import ReadOptions
from netlull.topology.read import read_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Topology"]


class Topology(Network):
    """Nodes and cables: at most one between two nodes, none from a node to itself. May be in several pieces.

    Raises:
        InputError: a node or link is given twice, or a link leads to an unknown node; the message names it.
    """

    @classmethod
    def of(cls, network: Network) -> Self:
        """The topology of a reader's network."""
        return cls(network.name, network.nodes, network.lines, network.demands, network.description)

    @classmethod
    def from_file(cls, path: str | Path, format: str | None = None, **options: object) -> Self:  # noqa: A002
        """A topology from an SNDlib file (native or XML), Topology Zoo's GraphML, or TOML (docs/how-to/topology.md).

        The content determines the format, unless `format` is `sndlib-native`, `sndlib-xml`, `graphml` or `toml`. The
        other options are those of `netlull.topology.ReadOptions`.

        Raises:
            InputError: names the file, the place in it, the value and the expected values.
        """
        return cls.of(read_file(path, ReadOptions.of({"format": format, **options})))

    @classmethod
    def from_hub(cls, key: str, **options: object) -> Self:
        """A topology of the package topohub (`pip install netlull[topology]`), such as `sndlib/germany50`.

        Raises:
            InputError: the package is not installed, or has no such topology.
        """
        return cls.of(read_hub(key, ReadOptions.of(options)))

    def to_toml(self) -> str:
        """The topology in netlull's own format, which `from_file` reads."""
        return written(self)
