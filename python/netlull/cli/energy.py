"""`netlull energy`: the power of an operator's devices, and what could be saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull.cli.inputs import json_option
from netlull.cli.progress import warn
from netlull.cli.tables import Table, new_console, say, show
from netlull.cli.text import echo
from netlull.errors import InputError, some
from netlull.fleet.answer import Prices, answer
from netlull.fleet.devices import read_devices
from netlull.fleet.example import write_example
from netlull.fleet.inventory import read_inventory
from netlull.fleet.loads import read_loads
from netlull.fleet.power import fleet_of
from netlull.numbers import count, counted, digits
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from netlull.fleet.answer import Answer, Rows

__all__ = ["energy_command"]

_FILE = click.Path(path_type=Path)
_MOST = 1e9
"""The largest price, CO2, PUE and size of packets."""


def _positive(_: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and not 0 < value <= _MOST:
        name = str(parameter.name).replace("_", "-")
        raise InputError(f"--{name} {value:g}: expected a number above 0, at most {_MOST:g}")
    return value


@click.command("energy")
@click.argument("loads", nargs=-1, type=_FILE, metavar="LOADS...")
@click.option("--inventory", type=_FILE, metavar="FILE", help="The devices and interfaces, as CSV.")
@click.option(
    "--devices", type=_FILE, metavar="PATH",
    help="Further models: TOML with [[device]] tables, a NetBox device type as YAML, or a folder of them.",
)  # fmt: skip
@click.option("--unit", type=click.Choice(["b/s", "B/s"]), help="Of columns that are named in and out.")
@click.option("--timezone", "zone", metavar="NAME", help="Of times without one, and of the hours; default UTC.")
@click.option(
    "--packet-size", type=float, default=1000.0, callback=_positive, metavar="BYTES", help="Mean; default 1000."
)
@click.option("--price", type=float, callback=_positive, metavar="NUMBER", help="Of a kWh.")
@click.option("--currency", default="EUR", metavar="NAME", help="Of --price; default EUR.")
@click.option("--co2", type=float, callback=_positive, metavar="GRAMS", help="CO2 equivalent of a kWh.")
@click.option("--pue", type=float, callback=_positive, metavar="NUMBER", help="The building's energy for 1 of devices.")
@click.option(
    "--survive-failure", is_flag=True, help="The bound of sleep leaves a network that survives the failure of a link."
)
@click.option("--estop", type=float, metavar="THRESHOLD", help="Also the links that ESTOP puts to sleep, 0 to 1.")
@click.option(
    "--load-aware",
    type=float,
    metavar="BOUND",
    help="Also the links of the load-aware plan: no link above BOUND x capacity, by an estimated traffic matrix.",
)
@click.option(
    "--matrix",
    metavar="STEP",
    help="Estimate the traffic matrix each STEP, such as '1 h', and count the steps with overloaded links.",
)
@click.option("--asleep", type=_FILE, metavar="FILE", help="Also your own plan, as CSV: device, interface, from, to.")
@click.option("--out", type=_FILE, metavar="FOLDER", help="Write report.html, hours.csv and links.csv there.")
@click.option("--anonymise", is_flag=True, help="Numbers in place of the names of devices and interfaces.")
@click.option("--example", type=_FILE, metavar="FOLDER", help="Write the files of a made-up provider, and end.")
@json_option
def energy_command(  # noqa: PLR0913, PLR0917  # one per option
    loads: tuple[Path, ...],
    inventory: Path | None,
    devices: Path | None,
    unit: str | None,
    zone: str | None,
    packet_size: float,
    price: float | None,
    currency: str,
    co2: float | None,
    pue: float | None,
    survive_failure: bool,
    estop: float | None,
    load_aware: float | None,
    matrix: str | None,
    asleep: Path | None,
    out: Path | None,
    anonymise: bool,
    example: Path | None,
    as_json: bool,
) -> None:
    """Show the power of devices by cause, and possible savings.

    LOADS are CSV tables with time, device, interface and loads, folders of such tables, or JSON answers of Prometheus.
    docs/how-to/energy.md has their columns.
    """
    if example is not None:
        _write_example(example)
        return
    if inventory is None:
        raise InputError("--inventory: is missing; expected the CSV file of the devices (--example FOLDER writes one)")
    if not loads:
        raise InputError("LOADS: is missing; expected a CSV table, a folder of them, or a JSON answer of Prometheus")
    if packet_size < 1:
        raise InputError(f"--packet-size {packet_size:g}: expected at least 1 byte")
    if pue is not None and pue < 1:
        raise InputError(f"--pue {pue:g}: expected a number of at least 1")
    matrix_s = None if matrix is None else in_unit(matrix, "s")
    if matrix is not None and not (matrix_s and matrix_s > 0):
        raise InputError(f'--matrix "{matrix}": expected a time such as "1 h"')
    own = None if devices is None else read_devices(devices)
    network = read_inventory(inventory, own)
    found = read_loads(loads, network, unit=unit, zone=zone)
    prices = Prices(price, currency, co2, pue)
    fleet = fleet_of(network, own, packet_size)
    plans = {} if estop is None else {f"ESTOP at {estop:g}": netlull.fleet.estop(network, estop, found.intervals)}
    plans |= {} if asleep is None else {"the plan of --asleep": netlull.fleet.read_plan(asleep, network, found, zone)}
    result = answer(
        fleet, found, prices, zone=zone, survives=survive_failure, plans=plans, load_aware=load_aware,
        matrix_s=matrix_s,
    )  # fmt: skip
    if found.strangers:
        names = "" if anonymise else f": {some(found.strangers)}"
        warn(f"{counted(len(found.strangers), 'interface')} of the loads not in {inventory}{names}")
    # Refused before anything is printed.
    written = None if out is None else netlull.report.energy_report(result, out, anonymise=anonymise)
    if as_json:
        echo(json.dumps(result.document(anonymise=anonymise), indent=2, ensure_ascii=False, allow_nan=False))
    else:
        _print(result, anonymise=anonymise)
        if written is not None:
            echo(f"written to {written}")


def _write_example(folder: Path) -> None:
    inventory, loads = write_example(folder)
    echo(f"Wrote {inventory} and {loads}. Next: netlull energy {loads} --inventory {inventory}")


def _print(answer: Answer, *, anonymise: bool) -> None:
    console = new_console()
    say(console, answer.sentence, style="bold")
    inventory = answer.fleet.inventory
    length = f"{digits(answer.hours)} h in {count(answer.loads.intervals)} intervals"
    say(console, f"{counted(len(inventory.models), 'device')}, {counted(len(answer.links), 'link')}, {length}\n")
    show(console, "Power and energy by cause", _table(answer.power_table()))
    if answer.schemes:
        show(console, "What could be saved", _table(answer.savings_table()))
    show(console, "Plans", _table(answer.plans_table()))
    for note in [*answer.about_plans(), *answer.notes(answer.names(anonymise=anonymise))]:
        say(console, note)


def _table(rows: Rows) -> Table:
    table = Table(rows[0])
    for row in rows[1]:
        table.add(row)
    return table
