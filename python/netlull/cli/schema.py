"""`netlull schema`: the fields of a scenario, for editors."""

from __future__ import annotations

import json

import click

from netlull import _engine
from netlull.topology.schema import schema

__all__ = ["schema_command"]


@click.command("schema")
@click.option("--vocabulary", is_flag=True, help="The events, observations and actions of plug-ins instead.")
def schema_command(vocabulary: bool) -> None:
    """Print the JSON Schema of a scenario, for editors."""
    click.echo(json.dumps(_engine.vocabulary() if vocabulary else schema(), indent=2, ensure_ascii=False))
