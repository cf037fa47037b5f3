"""`netlull topology` and `netlull map`: contents of a topology file, its conversion, and a picture of a network."""

from __future__ import annotations

import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import netlull
from netlull.cli.inputs import json_option, set_option
from netlull.cli.networks import network_of, reading_options, topology_named
from netlull.cli.plot import check_file, seconds, write_figure
from netlull.cli.tables import Table, draw, new_console, say
from netlull.cli.text import echo
from netlull.documents.textfiles import check_text
from netlull.errors import InputError
from netlull.numbers import count, counted, digits, scaled
from netlull.results.output import is_standard_output, staged_file
from netlull.results.result import Result
from netlull.scenario import Scenario
from netlull.topology.hub import PREFIX
from netlull.topology.model import hops_between, hops_from
from netlull.topology.state import part_of, topology_of_scenario

if TYPE_CHECKING:
    from netlull.topology import ReadOptions, Topology
    from netlull.topology.state import Part

__all__ = ["map_command", "topology_command"]

_FILE = click.Path(path_type=Path)


@click.command("topology")
@click.argument("file", metavar="FILE")
@click.option("--to", type=_FILE, metavar="FILE", help="Write the topology to this file, in netlull's TOML.")
@click.option("--scenario", type=_FILE, metavar="FILE", help="Write a scenario on this topology to this file.")
@reading_options
@json_option
def topology_command(file: str, to: Path | None, scenario: Path | None, reading: ReadOptions, as_json: bool) -> None:
    """Show nodes, links, degrees and lengths of a topology.

    Also prints capacities, delays and costs. FILE is in SNDlib's native format or XML, Topology Zoo's GraphML or
    netlull's TOML. It can also be the name of a shipped topology (abilene), or topohub:GROUP/NAME of the package
    topohub.
    """
    for out in (to, scenario):
        if out is not None and out.suffix != ".toml" and not is_standard_output(out):
            raise InputError(f"{out}: expected a name that ends in .toml, or - for the standard output")
    if to is not None and scenario is not None and to.resolve() == scenario.resolve():
        raise InputError(f"--scenario {scenario}: is the file of --to; expected another file")
    topology = topology_named(file, reading)
    texts = {}
    if to is not None:
        texts[to] = topology.to_toml()
    if scenario is not None:
        texts[scenario] = _scenario_text(topology, file, scenario, reading)
    for out, text in texts.items():
        _write(out, text)
    if any(map(is_standard_output, texts)):
        return
    if as_json:
        echo(json.dumps(facts(topology), indent=2, ensure_ascii=False))
        return
    _print(topology)
    for out in texts:
        echo(f"written to {out}")


def _write(out: Path, text: str) -> None:
    with staged_file(out) as stage:
        stage.write_text(text, encoding="utf-8", newline="\n")


def facts(topology: Topology) -> dict[str, Any]:
    """The numbers of a topology (Table I of greened-network-2012 and more): b/s, km, s and counts."""
    degrees = topology.degrees
    return {
        "name": topology.name,
        "nodes": len(topology.nodes),
        "links": len(topology.lines),
        "pieces": len(topology.pieces),
        "least_degree": min(degrees),
        "mean_degree": sum(degrees) / len(degrees),
        "largest_degree": max(degrees),
        "diameter_hops": topology.diameter,
        "algebraic_connectivity": topology.algebraic_connectivity,
        "demands": len(topology.demands),
        "link": [
            {
                "from": line.a,
                "to": line.b,
                "capacity_bps": line.capacity_bps,
                "length_km": topology.length_km(line),
                "delay_s": None if (delay := topology.delay_ns(line)) is None else delay / 1e9,
                "cost": line.cost,
            }
            for line in topology.lines
        ],
    }


def _print(topology: Topology) -> None:
    told = facts(topology)
    console = new_console()
    say(console, topology.name + (f": {topology.description}" if topology.description else ""), style="bold")
    degrees = f"{told['least_degree']} / {digits(told['mean_degree'])} / {told['largest_degree']}"
    say(
        console, f"{count(told['nodes'])} nodes, {count(told['links'])} links, degrees {degrees} (least, mean, largest)"
    )
    if told["pieces"] > 1:
        connected = f"in {told['pieces']} pieces, the largest of {len(topology.pieces[0])} nodes"
    elif told["diameter_hops"] is None:
        connected = "connected; too many nodes for diameter and algebraic connectivity"
    else:
        spectrum = digits(told["algebraic_connectivity"], 5)
        connected = f"diameter {told['diameter_hops']} hops, algebraic connectivity {spectrum}"
    demands = f", {counted(told['demands'], 'demand')}" if told["demands"] else ""
    say(console, connected + demands)
    table = Table(["link", "capacity", "length", "delay", "cost"])
    for line, link in zip(topology.lines, told["link"], strict=True):
        length = link["length_km"]
        cells = [line.label, scaled(link["capacity_bps"], "b/s"), "-" if length is None else f"{digits(length)} km"]
        table.add([*cells, scaled(link["delay_s"], "s"), str(line.cost)])
    draw(console, table)


def _scenario_text(topology: Topology, file: str, out: Path, reading: ReadOptions) -> str:
    """A scenario with a flow between the two most distant nodes. Missing values of the file get placeholders."""
    topology.check_connected()
    lines = [f"name = {_text(out.stem)}", 'duration = "60 s"', "", "[topology]", _source(file, out)]
    plain = type(reading)()
    given = {field.name: getattr(reading, field.name) for field in fields(reading)}
    lines += [f"{option} = {_text(value)}" for option, value in given.items() if value != getattr(plain, option)]
    if any(line.capacity is None for line in topology.lines):
        lines.append('default_rate = "10 Gb/s"       # of links without a capacity in the file')
    if any(topology.delay_ns(line) is None for line in topology.lines):
        lines.append('default_delay = "1 ms"         # of links without a length in the file')
    lines.append("rate_scale = 0.001             # a thousandth of the capacities: short runs")
    lines.append('buffer = "100 packets"')
    source, target = _furthest(topology)
    lines += ["", "[[flow]]", 'kind = "tcp"', 'name = "tcp"', f"from = {_text(source)}", f"to = {_text(target)}"]
    text = "\n".join(lines) + "\n"
    # A scenario that netlull would refuse is not written.
    Scenario.from_toml(text, f"--scenario {out}", folder=out.parent)
    return text


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _source(file: str, out: Path) -> str:
    if file.startswith(PREFIX):
        return f"hub = {_text(file.removeprefix(PREFIX))}"
    if not Path(file).exists():
        return f"file = {_text(file)}"
    return f"file = {_text(os.path.relpath(Path(file).resolve(), out.resolve().parent))}"


def _furthest(topology: Topology) -> tuple[str, str]:
    """The first two nodes whose distance in hops is the diameter; in a large network, two distant nodes."""
    if len(topology.nodes) < 2:
        raise InputError(f"{topology.name}: has one node; expected at least two for a scenario")
    if topology.diameter is None:
        # The most distant node from any node is an end of a long path.
        ends = [0]
        for _ in range(2):
            hops = hops_from(topology, ends[-1])
            ends.append(max(hops, key=lambda node: (hops[node], -node)))
        return topology.nodes[ends[1]].name, topology.nodes[ends[2]].name
    for a, row in enumerate(hops_between(topology)):
        for b, far in enumerate(row):
            if far == topology.diameter:
                return topology.nodes[a].name, topology.nodes[b].name
    raise AssertionError("a connected network has a diameter")


@click.command("map")
@click.argument("file", metavar="FILE")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("map.svg"),
    show_default=True,
    metavar="FILE",
    help="A .svg, .pdf or .png file.",
)
@click.option("--phase", metavar="NAME", help="For a run: only this phase.")
@click.option("--at", "at_s", callback=seconds, metavar="TIME", help="For a run: the recorded bin at this time.")
@click.option("--model", metavar="NAME", help="For a run: the power model of the links.")
@click.option("--title", metavar="TEXT", help="Title; default the network's name and size.")
@set_option
@reading_options
def map_command(
    file: str,
    out: Path,
    phase: str | None,
    at_s: float | None,
    model: str | None,
    title: str | None,
    settings: tuple[str, ...],
    reading: ReadOptions,
) -> None:
    """Draw the network of a topology, a scenario or a run.

    FILE is a topology, a scenario, or a folder that `netlull run --out` wrote. The picture of a run shows the load and
    power of each link, and the sleeping links.
    """
    check_file(out)
    check_text("--title", title or "")
    is_run = Path(file).is_dir()
    if not is_run:
        for option, value in (("--phase", phase), ("--at", at_s), ("--model", model)):
            if value is not None:
                raise InputError(f"{option}: {file} is not a run; expected the folder that `netlull run --out` wrote")
    topology, part = _run(file, settings, phase, at_s, model) if is_run else (network_of(file, settings, reading), None)
    write_figure(netlull.plot.network_map(topology, part, title=title), out)


def _run(
    folder: str, settings: tuple[str, ...], phase: str | None, at_s: float | None, model: str | None
) -> tuple[Topology, Part]:
    if settings:
        raise InputError(f"{folder}: is a finished run; expected a scenario for --set")
    result = Result.load(folder)
    return topology_of_scenario(result.scenario), part_of(result, phase=phase, at_s=at_s, model=model)
