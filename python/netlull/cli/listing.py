"""`netlull list` and `netlull schema`: papers, models, scenarios, topologies; the fields of a scenario, for editors."""

from __future__ import annotations

import json
from typing import Any

import click

import netlull
from netlull import _engine, library
from netlull._engine import schema
from netlull.cli.inputs import json_option
from netlull.cli.progress import warn
from netlull.cli.tables import Table, draw, new_console, print_listing, say
from netlull.cli.text import echo
from netlull.errors import InputError, near
from netlull.library import described, sites
from netlull.plugins.loading import listed
from netlull.topology.find import shipped

__all__ = ["list_command", "schema_command"]

_KINDS = {
    "papers": "papers with claims (netlull reproduce)",
    "mechanisms": "controllers of links, gateways and radios; sleep plans",
    "tcp": "congestion controls",
    "tcp-options": "options of TCP and their defaults",
    "queues": "queue disciplines of links",
    "losses": "models of random losses",
    "power": "power models of links",
    "transceivers": "powers of pluggable transceivers",
    "radios": "power models of radios",
    "sites": "paths to the servers of a paper's measurements",
    "scenarios": "shipped scenarios",
    "topologies": "shipped networks",
}
"""Each kind and its contents."""

_FAMILIES = {
    "mechanisms": ("controllers", "sleep_plans", "station_policies"),
    "tcp": ("congestion_controls",),
}
"""The families of plug-ins whose entries a kind has."""


@click.command("list")
@click.argument("kind", required=False, type=click.Choice(_KINDS), metavar="[KIND]")
@click.argument("name", required=False)
@json_option
def list_command(kind: str | None, name: str | None, as_json: bool) -> None:
    """List papers, mechanisms, TCPs, scenarios and more.

    Without arguments: the kinds, and the number of their entries. With a kind: its entries. NAME selects one of them,
    such as `netlull list mechanisms practra`. With --json and without a kind: the entries of all kinds.
    """
    kinds = _KINDS if kind is None else (kind,)
    found = {wanted: _entries(wanted) for wanted in kinds}
    if kind is not None and name is not None:
        found = {kind: [_selected(name, kind, found[kind])]}
    if as_json:
        echo(json.dumps(found if kind is None else found[kind], indent=2, ensure_ascii=False))
        return
    if kind is None:
        _print_kinds({wanted: len(entries) for wanted, entries in found.items()})
        return
    if kind == "tcp" and name is None:
        found["tcp-options"] = _entries("tcp-options")
    print_listing(found)


def _print_kinds(counts: dict[str, int]) -> None:
    console = new_console()
    table = Table(["kind", "contents", "entries"], words=2)
    for kind, number in counts.items():
        table.add([kind, _KINDS[kind], str(number)])
    draw(console, table)
    say(console, "netlull list KIND shows the entries of a kind: netlull list mechanisms")
    say(console, "netlull list KIND NAME shows one entry: netlull list mechanisms practra")


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
        return [{"name": name, "description": library.description(path)} for name, path in library.shipped().items()]
    if kind == "topologies":
        return [{"name": name, "description": library.description(path)} for name, path in shipped().items()]
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


@click.command("schema")
@click.option("--vocabulary", is_flag=True, help="The events, observations and actions of plug-ins instead.")
def schema_command(vocabulary: bool) -> None:
    """Print the JSON Schema of a scenario, for editors."""
    echo(json.dumps(_engine.vocabulary() if vocabulary else schema(), indent=2, ensure_ascii=False))
