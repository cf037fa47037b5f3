"""`netlull plan`: the links of a network that may sleep."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import netlull
from netlull.cli.inputs import json_option, set_option
from netlull.cli.networks import loaded_network_of, reading_options
from netlull.cli.plot import check_file, seconds, write_figure
from netlull.cli.progress import warn
from netlull.cli.tables import WIDE, Table, draw, new_console, say
from netlull.cli.text import echo
from netlull.errors import InputError, some
from netlull.numbers import counted, digits, percent, scaled
from netlull.quantities import in_unit
from netlull.topology import ReadOptions, SleepPlan, Topology, sleep_plan
from netlull.topology.plan import KINDS, PlanKind, phrase
from netlull.topology.state import LineState, Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netlull.topology.loads import Loads

__all__ = ["plan_command"]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _value_of(kind: PlanKind) -> str | None:
    """The parameter that is the value of a plan's option: the first required one."""
    return next(iter(kind.required), None)


def _further(kind: PlanKind) -> list[str]:
    """The parameters of a plan that have their own options."""
    return [name for name in kind.parameters if name != _value_of(kind)]


def _with(name: str) -> str:
    """The options of the plans that have a further parameter of this name."""
    return " or ".join(_flag(kind.name) for kind in KINDS.values() if name in _further(kind))


def _plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds an option for each plan of the core, and one for each further parameter."""
    options = []
    for kind in KINDS.values():
        value = _value_of(kind)
        if value is None:
            options.append(click.option(_flag(kind.name), is_flag=True, help=kind.summary))
        else:
            words = f"{kind.summary} {value.upper()}: {phrase(kind.parameters[value])}."
            options.append(click.option(_flag(kind.name), type=float, metavar=value.upper(), help=words))
    for name, meaning in {name: kind.parameters[name] for kind in KINDS.values() for name in _further(kind)}.items():
        words = f"With {_with(name)}: {phrase(meaning)}."
        options.append(click.option(_flag(name), type=float, metavar="NUMBER", help=words))
    for option in reversed(options):
        command = option(command)
    return command


@click.command("plan")
@click.argument("file", metavar="FILE")
@_plan_options
@click.option(
    "--map",
    "picture",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the plan: a .svg, .pdf or .png file.",
)
@click.option(
    "--at", "at_s", callback=seconds, metavar="TIME", help="Of a scenario: the flows active at this time; default all."
)
@click.option("--phase", metavar="NAME", help="Of a run: the goodput in this phase; default the measured time.")
@set_option
@reading_options
@json_option
def plan_command(
    file: str,
    picture: Path | None,
    at_s: float | None,
    phase: str | None,
    settings: tuple[str, ...],
    reading: ReadOptions,
    as_json: bool,
    **options: float | bool | None,
) -> None:
    """Print the links of FILE that a plan switches off.

    FILE is a topology, a scenario, or a folder that `netlull run --out` wrote. The links are in the order of the
    plan's trials. docs/models/estop.md describes the plans. The demands are those of a topology's file, the offered
    rates of a scenario's flows, or the goodput of a run's flows.
    """
    if picture is not None:
        check_file(picture, "--map")
    kind, parameters = _chosen(options)
    topology, loads = loaded_network_of(file, settings, reading, at_s, phase)
    try:
        plan = sleep_plan(topology, kind.name, **parameters)
    except InputError as error:
        if not kind.reads_traffic:
            raise
        hints = [_AT] if loads.at_several_times else []
        if _only_hops(topology):
            hints.append(_COSTS)
        raise InputError("; ".join([str(error), *hints])) from None
    if as_json:
        echo(json.dumps(_facts(topology, plan), indent=2, ensure_ascii=False))
    else:
        _print(topology, kind, plan, loads)
    _warn(topology, kind, plan, loads)
    if picture is not None:
        value = _value_of(kind)
        further = [f"{_flag(name)} {number:g}" for name, number in parameters.items() if name != value]
        further += ["without known traffic"] if _is_blind(kind, loads) else []
        title = " ".join([kind.name, *([] if value is None else [f"{parameters[value]:g}"]), *further])
        _draw(topology, title, plan, picture)


def _chosen(options: Mapping[str, float | bool | None]) -> tuple[PlanKind, dict[str, float]]:
    """The chosen plan and its parameters."""
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    chosen = [kind for kind in KINDS.values() if kind.name in given]
    if len(chosen) != 1:
        raise InputError(f"{', '.join(map(_flag, KINDS))}: expected one of them")
    (kind,) = chosen
    parameters = {name: value for name, value in given.items() if name != kind.name}
    for name in parameters:
        if name not in _further(kind):
            raise InputError(f"{_flag(name)}: is not an option of {_flag(kind.name)}; expected it with {_with(name)}")
    value = _value_of(kind)
    return kind, parameters if value is None else {value: given[kind.name], **parameters}


def _is_blind(kind: PlanKind, loads: Loads) -> bool:
    """True if a plan that reads the traffic has none."""
    return kind.reads_traffic and not loads.demands


def _only_hops(topology: Topology) -> bool:
    """True if all costs are equal and capacities differ."""
    return len({line.cost for line in topology.lines}) == 1 and len({line.capacity for line in topology.lines}) > 1


def _facts(topology: Topology, plan: SleepPlan) -> dict[str, Any]:
    initial, loads, worst = plan.initial_connectivity, plan.loads_bps or {}, plan.worst_failure
    capacities = {line.label: line.capacity_bps for line in topology.lines}
    return {
        "initial_connectivity": initial,
        "off": [line.label for line in plan.off],
        "bridges": [line.label for line in plan.bridges],
        "worst_failure": worst
        and {"failure": worst.failure.label, "link": worst.line.label, "load_bps": worst.load_bps},
        "step": [
            {
                "link": step.line.label,
                "rank": step.rank,
                "verdict": step.verdict,
                "connectivity": step.connectivity,
                "ratio": step.connectivity / initial if initial else None,
                "load_bps": loads.get(step.line.label),
                "capacity_bps": capacities[step.line.label],
            }
            for step in plan.steps
        ],
    }


def _utilisations(topology: Topology, plan: SleepPlan) -> dict[str, float]:
    """The load of each link as a share of its capacity, the busiest first; empty if loads are unknown."""
    loads = plan.loads_bps or {}
    known = ((line.label, line.capacity_bps) for line in topology.lines if line.label in loads)
    shares = {label: loads[label] / capacity for label, capacity in known if capacity is not None}
    return dict(sorted(shares.items(), key=lambda entry: -entry[1]))


def _warn(topology: Topology, kind: PlanKind, plan: SleepPlan, loads: Loads) -> None:
    """Warns of links above their capacity, and of loads that are unknown."""
    over = [f"{link} ({percent(share)})" for link, share in _utilisations(topology, plan).items() if share > 1]
    if over:
        links = "1 link" if len(over) == 1 else f"{len(over)} links"
        hints = [_AT] if loads.at_several_times else []
        hints += [] if kind.reads_traffic else ["--load-aware keeps loads below a bound, or says why it cannot"]
        warn("; ".join([f"the demands on {links} exceed the capacity: {some(over)}", *hints]))
    without = [line.label for line in topology.lines if line.capacity_bps is None]
    if loads.demands and without:
        warn(f"loads are unknown: {some(without)} without a capacity")
    if _is_blind(kind, loads):
        warn("no demands, so every link counts as idle; expected a file with demands, a scenario or a run")


_VERDICTS = {
    "off": "sleeps",
    "disconnects": "stays: the network would be disconnected",
    "too_weak": "stays: connectivity below the threshold",
    "too_loaded": "stays: a link would be overloaded",
    "fragile": "stays: a failure would disconnect or overload",
}
_AT = "--at TIME counts only the flows active then"
_COSTS = 'a scenario with topology.cost = "capacity" prefers large links'
_LOAD_COLUMNS = ("utilisation", "load", "capacity")
_MOST_ROWS = 60
"""The most links listed. Larger networks list their sleeping links, up to this number, and count the others."""


def _about_failures(plan: SleepPlan) -> list[str]:
    """The links whose failure cuts the network in two, and the largest utilisation after the failure of another."""
    lines, worst = [], plan.worst_failure
    if plan.bridges:
        number = len(plan.bridges)
        links = "the failure of this link cuts" if number == 1 else f"the failure of any of these {number} links cuts"
        lines.append(f"{links} the network in two: {some(line.label for line in plan.bridges)}")
    if worst is not None and worst.line.capacity_bps:
        share = percent(worst.load_bps / worst.line.capacity_bps)
        lines.append(
            f"busiest after the failure of one link: {worst.line.label}, {share}, without {worst.failure.label}"
        )
    return lines


def _about(topology: Topology, loads: Loads) -> list[str]:
    """The traffic that the plan counted, its routes, and the flows that it did not count."""
    lines = []
    if loads.demands:
        total = scaled(math.fsum(in_unit(demand.rate, "b/s") or 0.0 for demand in loads.demands), "b/s")
        lines.append(f"traffic: {total} between {counted(len(loads.demands), 'pair')} of nodes, {loads.origin}")
        by = "hops" if len({line.cost for line in topology.lines}) == 1 else "the links' costs"
        lines.append(f"routes: shortest paths by {by}; the routers must use the same")
    if loads.unknown:
        flows = "1 TCP flow counts" if loads.unknown == 1 else f"{loads.unknown} TCP flows count"
        lines.append(f"{flows} as 0 b/s without a write_rate; the folder of a finished run gives its measured rate")
    return lines


def _print(topology: Topology, kind: PlanKind, plan: SleepPlan, loads: Loads) -> None:
    console = new_console()
    facts = _facts(topology, plan)
    share = percent(len(facts["off"]) / len(topology.lines))
    blind = ", without known traffic" if _is_blind(kind, loads) else ""
    told = f"{topology.name}: {len(facts['off'])} of {len(topology.lines)} links sleep ({share}){blind}"
    say(console, f"{told}, algebraic connectivity {digits(facts['initial_connectivity'], 5)} before", style="bold")
    shares = _utilisations(topology, plan)
    rank_name = f"{kind.rank} before" if kind.rank in _LOAD_COLUMNS else kind.rank
    header = ["link", "verdict", *(_LOAD_COLUMNS if shares else ()), rank_name, "λ₂ / before"]
    many = len(facts["step"]) > _MOST_ROWS
    shown = [step for step in facts["step"] if not many or step["verdict"] == "off"][:_MOST_ROWS]
    rows = []
    for step in shown:
        rank = digits(step["rank"]) if kind.rank_unit is None else scaled(step["rank"], kind.rank_unit)
        load = [percent(shares.get(step["link"])), scaled(step["load_bps"], "b/s"), scaled(step["capacity_bps"], "b/s")]
        rows.append([step["link"], _VERDICTS[step["verdict"]], *(load if shares else []), rank, digits(step["ratio"])])
    # A narrow terminal has room for the first columns.
    columns = len(header) if console.width >= WIDE else 3
    table = Table(header[:columns], words=2)
    for step, cells in zip(shown, rows, strict=True):
        table.add(cells[:columns], style=None if step["verdict"] == "off" else "dim")
    draw(console, table)
    if columns < len(header):
        say(console, f"On {console.width} columns the table lacks {', '.join(header[columns:])}; --json has all.")
    if shares:
        busiest, most = next(iter(shares.items()))
        when = " while these links sleep" if plan.off else ""
        say(console, f"busiest link: {busiest}, {percent(most)} of its capacity{when}")
    for line in _about_failures(plan):
        say(console, line)
    for line in _about(topology, loads):
        say(console, line)
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
