"""`netlull bound`: the energy that any controller of a link can save."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull import _engine
from netlull.bounds import DEFAULT_LATE
from netlull.cli.inputs import (
    code_option,
    json_option,
    load_scenario,
    memory_option,
    scenario_argument,
    seed_option,
    set_option,
)
from netlull.cli.progress import bar, warn, watched
from netlull.cli.tables import Table, draw, new_console, say
from netlull.cli.text import echo
from netlull.numbers import count, digits, percent, scaled
from netlull.results.output import is_standard_output, staged_file

if TYPE_CHECKING:
    from netlull.bounds import Bounds, ModelBounds

__all__ = ["bound_command"]


@click.command("bound")
@scenario_argument
@click.option("--link", metavar="NAME", help="The link; default the only controlled or slowest one.")
@click.option(
    "--late", multiple=True, metavar="TIME", help="No packet later than this. Repeatable; default 2, 5 and 10 ms."
)
@click.option(
    "--rates", metavar="RATES", help="The rates, such as '1 Mb/s, 5 Mb/s, 10 Mb/s'; default the controller's."
)
@click.option("--transition", metavar="TIME", help="The pause of a change; default the controller's, else 2 ms.")
@click.option("--in-service", metavar="RULE", help="finish_then_pause or suspend; default the controller's.")
@click.option("--transition-power", metavar="RULE", help="higher, new or old; default the controller's.")
@click.option("--step", metavar="TIME", help="The step of the computation: smaller is closer and slower.")
@click.option("--causal/--no-causal", default=True, help="Also bound causal controllers for memoryless arrivals.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the bounds to this file as JSON.")
@seed_option
@set_option
@memory_option
@code_option
@json_option
def bound_command(  # noqa: PLR0913, PLR0917  # one per option
    file: str,
    link: str | None,
    late: tuple[str, ...],
    rates: str | None,
    transition: str | None,
    in_service: str | None,
    transition_power: str | None,
    step: str | None,
    causal: bool,
    out: Path | None,
    seed: int | None,
    settings: tuple[str, ...],
    memory: str | None,
    as_json: bool,
) -> None:
    """Bound the energy that any controller of a link can save.

    Runs FILE without the controller of the link, and computes the least energy for the packets of that run.
    docs/how-to/bound.md explains the numbers.
    """
    scenario = load_scenario(file, settings, seed)
    for warning in scenario.warnings:
        warn(warning)
    monitor = _engine.Monitor()
    with bar(scenario.name) as show, watched(monitor, show), warnings.catch_warnings():
        # The warnings were printed above.
        warnings.simplefilter("ignore")
        bounds = netlull.bound(
            scenario,
            link=link,
            late=late or DEFAULT_LATE,
            rates=None if rates is None else [rate.strip() for rate in rates.split(",")],
            transition=transition,
            in_service=in_service,
            transition_power=transition_power,
            step=step,
            causal=causal,
            monitor=monitor,
            memory=memory,
        )
    text = json.dumps(bounds.to_dict(), indent=2, ensure_ascii=False)
    if out is not None:
        with staged_file(out) as stage:
            stage.write_text(text + "\n", encoding="utf-8")
    if as_json:
        echo(text, err=out is not None and is_standard_output(out))
    else:
        _print(bounds)
        if out is not None:
            echo(f"written to {out}", err=is_standard_output(out))


def _print(bounds: Bounds) -> None:
    console = new_console()
    rates = bounds.rates_bps
    say(
        console,
        f"{bounds.link}: {len(rates)} rates from {scaled(rates[0], 'b/s')} to {scaled(rates[-1], 'b/s')}, "
        f"pause {scaled(bounds.transition_s, 's')}, {bounds.in_service}, "
        f"{count(bounds.packets)} packets, {digits(bounds.seconds)} s measured",
        style="bold",
    )
    columns = ["power", "always on", "no packet late by more than", "clairvoyant saves at most", "at least"]
    controller = bounds.controller
    columns += [] if controller is None else [f"{controller.kind} saves", "of the clairvoyant"]
    table = Table(columns, words=1)
    for name, model in bounds.models.items():
        for number, each in enumerate(model.clairvoyant):
            first = [name, scaled(model.always_on_j, "J")] if number == 0 else ["", ""]
            cells = [*first, scaled(each.late_s, "s"), percent(each.saving), percent(each.feasible_saving)]
            if model.controller_saving is not None:
                share = model.controller_saving / each.saving if each.saving > 0 else None
                cells += [percent(model.controller_saving), percent(share)]
            table.add(cells)
    draw(console, table)
    if controller is not None:
        say(
            console,
            f"{controller.kind}: packets are late by {scaled(controller.mean_late_s, 's')} on average, "
            f"95 % by {scaled(controller.p95_late_s, 's')} at most, "
            f"the latest by {scaled(controller.largest_late_s, 's')}",
        )
    _print_causal(bounds)


def _print_causal(bounds: Bounds) -> None:
    models = {name: model for name, model in bounds.models.items() if model.causal}
    if not models:
        return
    console = new_console()
    say(
        console,
        "A causal controller for memoryless arrivals of this load saves at most, by mean lateness "
        "(a weaker demand than above):",
    )
    first: ModelBounds = next(iter(models.values()))
    table = Table(["power", *(f"mean {scaled(each.mean_late_s, 's')}" for each in first.causal or ())])
    for name, model in models.items():
        table.add([name, *(percent(each.saving) for each in model.causal or ())])
    draw(console, table)
