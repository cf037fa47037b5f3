"""`netlull plan`: which links of a network may sleep."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import netlull
from netlull.cli.inputs import json_option
from netlull.cli.networks import network_of, reading_options
from netlull.cli.numbers import digits, percent, scaled
from netlull.cli.plot import check_file, write_figure
from netlull.cli.tables import add_row, new_console, say, table_of
from netlull.errors import InputError
from netlull.topology import ReadOptions, SleepPlan, Topology, sleep_plan
from netlull.topology.state import LineState, Part

__all__ = ["plan_command"]


@click.command("plan")
@click.argument("file", metavar="FILE")
@click.option("--estop", type=float, metavar="THRESHOLD", help="ESTOP, to this share of the algebraic connectivity.")
@click.option("--esacon", type=float, metavar="THRESHOLD", help="ESACON, to this share of the algebraic connectivity.")
@click.option(
    "--load-aware",
    type=float,
    metavar="BOUND",
    help="The least loaded first, no link loaded beyond this share of its rate.",
)
@click.option(
    "--threshold", type=float, metavar="SHARE", help="With --load-aware: of the algebraic connectivity; default 0."
)
@click.option(
    "--map", "picture", type=click.Path(path_type=Path), metavar="FILE", help="Draw it: a .svg, .pdf or .png file."
)
@reading_options
@json_option
def plan_command(
    file: str,
    estop: float | None,
    esacon: float | None,
    load_aware: float | None,
    threshold: float | None,
    picture: Path | None,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Tell which links of FILE, a topology or a scenario, a plan switches off, in the order in which it tries them.

    docs/models/estop.md has the plans. Load-aware plans need the demands of an SNDlib file or of netlull's TOML.
    """
    if picture is not None:
        check_file(picture, "--map")
    kinds = {"estop": estop, "esacon": esacon, "load_aware": load_aware}
    chosen = {kind: value for kind, value in kinds.items() if value is not None}
    if len(chosen) != 1:
        raise InputError("--estop, --esacon, --load-aware: expected one of them")
    ((kind, value),) = chosen.items()
    if threshold is not None and kind != "load_aware":
        raise InputError(f"--threshold: stands beside --{kind}; expected it with --load-aware")
    topology = network_of(file, (), reading)
    is_load_aware = kind == "load_aware"
    plan = sleep_plan(
        topology, kind, threshold=threshold if is_load_aware else value, bound=value if is_load_aware else None
    )
    if as_json:
        click.echo(json.dumps(_facts(plan), indent=2, ensure_ascii=False))
    else:
        _print(topology, kind, plan)
    if picture is not None:
        _draw(topology, f"{kind} {value:g}", plan, picture)


def _facts(plan: SleepPlan) -> dict[str, Any]:
    initial = plan.initial_connectivity
    return {
        "initial_connectivity": initial,
        "off": [line.label for line in plan.off],
        "step": [
            {
                "link": step.line.label,
                "rank": step.rank,
                "verdict": step.verdict,
                "connectivity": step.connectivity,
                "ratio": step.connectivity / initial if initial else None,
            }
            for step in plan.steps
        ],
    }


_VERDICTS = {
    "off": "sleeps",
    "disconnects": "stays: the network would fall apart",
    "too_weak": "stays: connectivity below the threshold",
    "too_loaded": "stays: a link would be overloaded",
}
_MOST_ROWS = 60
"""Of a network with more links those that sleep, up to this many; of the others how many there are."""
_NO_DEMANDS = "no demands: every link counts as idle (a scenario's [[sleep]] with this plan counts its flows)"
_RANKS = {"estop": "betweenness", "esacon": "λ₂ without it", "load_aware": "load"}


def _print(topology: Topology, kind: str, plan: SleepPlan) -> None:
    console = new_console()
    facts = _facts(plan)
    share = percent(len(facts["off"]) / len(topology.lines))
    told = f"{topology.name}: {len(facts['off'])} of {len(topology.lines)} links sleep ({share})"
    say(console, f"{told}, algebraic connectivity {digits(facts['initial_connectivity'], 5)} before", style="bold")
    table = table_of(["link", "verdict", _RANKS[kind], "λ₂ / before"], words=2)
    many = len(facts["step"]) > _MOST_ROWS
    shown = [step for step in facts["step"] if not many or step["verdict"] == "off"][:_MOST_ROWS]
    for step in shown:
        rank = scaled(step["rank"], "b/s") if kind == "load_aware" else digits(step["rank"])
        cells = [step["link"], _VERDICTS[step["verdict"]], rank, digits(step["ratio"])]
        add_row(table, cells, style=None if step["verdict"] == "off" else "dim")
    console.print(table)
    if kind == "load_aware" and not topology.demands:
        say(console, _NO_DEMANDS)
    if many:
        verdicts = [step["verdict"] for step in facts["step"]]
        rest = [f"{verdicts.count('off') - len(shown)} more sleep"] if verdicts.count("off") > len(shown) else []
        stays = ((verdicts.count(verdict), words) for verdict, words in _VERDICTS.items() if verdict != "off")
        rest += [f"{number} {words.replace('stays', 'stay', 1)}" for number, words in stays if number]
        say(console, f"{'; '.join(rest)} (--json has all)")


def _draw(topology: Topology, name: str, plan: SleepPlan, picture: Path) -> None:
    asleep = {line.ends for line in plan.off}
    states = {line.ends: LineState(asleep=line.ends in asleep) for line in topology.lines}
    write_figure(netlull.plot.network_map(topology, Part(name, states)), picture)
