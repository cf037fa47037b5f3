"""`netlull list`: papers, models, scenarios and topologies."""

from __future__ import annotations

import json
from typing import Any

import click

import netlull
from netlull import _engine, bundled
from netlull.cli.inputs import json_option
from netlull.cli.tables import print_listing
from netlull.cli.warnings import warn
from netlull.errors import InputError
from netlull.loading import listed
from netlull.sites import described, sites
from netlull.suggest import near
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


_FAMILIES = {
    "mechanisms": ("controllers", "sleep_plans", "station_policies"),
    "tcp": ("congestion_controls",),
}
"""The families of plug-ins whose entries a kind has."""


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(_KINDS), metavar=f"[{'|'.join(_KINDS)}]")
@click.argument("name", required=False)
@json_option
def list_command(kind: str | None, name: str | None, as_json: bool) -> None:
    """List papers, mechanisms, TCPs, scenarios and more.

    The kinds are papers, mechanisms, TCPs, queues, losses, power models, radios, sites, ready scenarios and topologies.
    NAME selects one entry of a kind, such as `netlull list mechanisms practra`.
    """
    kinds = _KINDS if kind is None else (kind,)
    found = {wanted: _entries(wanted) for wanted in kinds}
    if kind is not None and name is not None:
        found = {kind: [_selected(name, kind, found[kind])]}
    if as_json:
        click.echo(json.dumps(found if kind is None else found[kind], indent=2, ensure_ascii=False))
        return
    if kind == "tcp" and name is None:
        found["tcp-options"] = _entries("tcp-options")
    print_listing(found, whole=kind is not None)


def _selected(name: str, kind: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry with this name.

    Raises:
        InputError: no entry of this kind has the name.
    """
    for entry in entries:
        if entry["name"] == name:
            return entry
    raise InputError(f'NAME: "{name}": no entry of {kind}; {near(name, [str(entry["name"]) for entry in entries])}')


def _entries(kind: str) -> list[dict[str, Any]]:
    if kind == "papers":
        return [{"name": paper.key, "description": paper.title} for paper in netlull.papers.find()]
    if kind == "scenarios":
        return [{"name": name, "description": bundled.description(path)} for name, path in bundled.ready().items()]
    if kind == "topologies":
        return [{"name": name, "description": bundled.description(path)} for name, path in shipped().items()]
    if kind == "sites":
        return [described(site) for site in sites().values()]
    entries = _engine.catalogue()[kind]
    families = _FAMILIES.get(kind, ())
    for plugin in listed() if families else ():
        if plugin.family not in families:
            continue
        if plugin.problem is None:
            entries.append(plugin.described())
        else:
            warn(f'"{plugin.name}" of the package {plugin.package} cannot be used: {plugin.problem}')
    return entries
