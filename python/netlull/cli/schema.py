"""`netlull schema`: the fields of a scenario, for editors."""

from __future__ import annotations

import json

import click

from netlull.topology.schema import schema

__all__ = ["schema_command"]


@click.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of a scenario, for editors."""
    click.echo(json.dumps(schema(), indent=2, ensure_ascii=False))
