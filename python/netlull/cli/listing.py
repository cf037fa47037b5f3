"""`netlull list`: papers, models, scenarios and topologies."""

from __future__ import annotations

import json
from typing import Any

import click

import netlull
from netlull import _engine, bundled
from netlull.cli.inputs import json_option
from netlull.cli.tables import print_listing
from netlull.sites import described, sites
from netlull.topology.find import shipped

__all__ = ["list_command"]

_KINDS = (
    "papers",
    "mechanisms",
    "tcp",
    "tcp-options",
    "queues",
    "losses",
    "power",
    "radios",
    "sites",
    "scenarios",
    "topologies",
)


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(_KINDS), metavar=f"[{'|'.join(_KINDS)}]")
@json_option
def list_command(kind: str | None, as_json: bool) -> None:
    """List papers, mechanisms, TCPs, scenarios and more.

    The kinds are papers, mechanisms, TCPs, queues, losses, power models, radios, sites, ready scenarios and topologies.
    """
    kinds = _KINDS if kind is None else (kind,)
    found = {wanted: _entries(wanted) for wanted in kinds}
    if as_json:
        click.echo(json.dumps(found if kind is None else found[kind], indent=2, ensure_ascii=False))
        return
    if kind == "tcp":
        found["tcp-options"] = _entries("tcp-options")
    print_listing(found, whole=kind is not None)


def _entries(kind: str) -> list[dict[str, Any]]:
    if kind == "papers":
        return [{"name": paper.key, "description": paper.title} for paper in netlull.papers.find()]
    if kind == "scenarios":
        return [{"name": name, "description": bundled.description(path)} for name, path in bundled.ready().items()]
    if kind == "topologies":
        return [{"name": name, "description": bundled.description(path)} for name, path in shipped().items()]
    if kind == "sites":
        return [described(site) for site in sites().values()]
    return _engine.catalogue()[kind]
