"""`Topology`, what users hold: a network with the files that it comes from and goes to."""

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
        InputError: names the node or link that is given twice, or that leads to a node that is not there.
    """

    @classmethod
    def of(cls, network: Network) -> Self:
        """The topology that a reader found."""
        return cls(network.name, network.nodes, network.lines, network.demands, network.description)

    @classmethod
    def from_file(cls, path: str | Path, format: str | None = None, **options: object) -> Self:  # noqa: A002
        """A topology from an SNDlib file (native or XML), Topology Zoo's GraphML, or TOML (docs/how-to/topology.md).

        The format is told by the content; `format` is one of `sndlib-native`, `sndlib-xml`, `graphml`, `toml`.
        The other options are those of `netlull.topology.ReadOptions`.

        Raises:
            InputError: names the file, the place in it, the value and what was expected.
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
        """The topology in the format of its own that `from_file` reads."""
        return written(self)
