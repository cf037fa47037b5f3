"""`netlull run` and `netlull trace`: one scenario, once; its packets at links, for Wireshark."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull._engine import MemoryLimitError, Monitor, ScenarioError
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
from netlull.cli.tables import print_result
from netlull.cli.text import echo
from netlull.errors import InputError, MissingPackageError, OutputError
from netlull.numbers import scaled
from netlull.quantities import in_unit
from netlull.results.awake import check_arrivals, has_slept
from netlull.results.output import is_standard_output, json_text, staged_file, staged_folder, writing
from netlull.results.result import KIND
from netlull.runs.memory import excess, limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull.results.result import Result
    from netlull.scenario import Scenario

__all__ = [
    "check_capture",
    "out_option",
    "run_command",
    "run_into",
    "simulate",
    "trace_command",
    "with_default_probe",
]

_BINS = 500
_LEAST_BIN_NS = 1_000_000


out_option = click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write columns, manifest and figures to this folder."
)


@click.command("run")
@scenario_argument
@seed_option
@set_option
@out_option
@click.option("--verify", type=click.Choice(["ledger", "replay", "off"]), help="Check of the conservation laws.")
@memory_option
@click.option("--tape", type=click.Path(path_type=Path), metavar="FILE", help="Write the decisions of plug-ins.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Repeat a run with the decisions of this tape, without the plug-ins.",
)
@click.option(
    "--no-awake",
    is_flag=True,
    help="Where links sleep, leave out the same run without sleep, which shows the saving and takes as long again.",
)
@code_option
@json_option
def run_command(  # noqa: PLR0913, PLR0917  # one per option
    file: str,
    seed: int | None,
    settings: tuple[str, ...],
    out: Path | None,
    verify: str | None,
    memory: str | None,
    tape: Path | None,
    replay: Path | None,
    no_awake: bool,
    as_json: bool,
) -> None:
    """Simulate FILE and print the results.

    FILE is a scenario file, or the name of a shipped scenario or a site. Where links sleep, the same run without sleep
    follows, and the difference is shown.
    """
    scenario = load_scenario(file, settings, seed, replay)
    if verify is not None:
        scenario = scenario.with_values({"verify": verify})
    # A tape has the decisions of one run.
    stopped: list[type[KeyboardInterrupt]] = []
    twice = functools.partial(_simulate_twice, stopped=stopped)
    run = simulate if no_awake or replay is not None else twice
    result = run_into(out, scenario, functools.partial(run, memory=memory, tape=tape))
    if as_json:
        echo(json_text(result.summary), nl=False)
    else:
        print_result(result)
        if out is not None:
            echo(f"written to {out}")
    if stopped:
        raise stopped[0]


def run_into(out: Path | None, scenario: Scenario, run: Callable[[Scenario], Result]) -> Result:
    """Runs the scenario. With a folder, records time series and writes figures, columns and manifest there."""
    if out is None:
        return run(scenario)
    with staged_folder(out, kind=KIND) as stage:
        result = run(with_default_probe(scenario))
        figures = stage / "figures"
        with writing(figures):
            figures.mkdir()
        try:
            if not netlull.plot.run_figures(result, figures):
                warn("no figures are drawn: probe records no time series; expected probe.interval, such as '100 ms'")
        except MissingPackageError as missing:
            warn(f"no figures are drawn: {missing}")
        with writing(figures):
            if not any(figures.iterdir()):
                figures.rmdir()
        result.write_into(stage)
    return result


def _simulate_twice(
    scenario: Scenario,
    memory: str | None = None,
    tape: Path | None = None,
    *,
    stopped: list[type[KeyboardInterrupt]],
) -> Result:
    """Runs the scenario as `simulate`; where links slept, also without sleep, and compares the two.

    An interrupt of the second run is put into `stopped`: the first result can still be shown and written.
    """
    result = simulate(scenario, memory, tape)
    if not has_slept(result):
        return result
    try:
        check_arrivals(result.scenario)
    except InputError as error:
        warn(f"there is no run without sleep to compare with, so the saving is unknown: {error}")
        return result
    try:
        awake = _simulated(scenario.with_values({"sleep": None, "probe": None}), f"{scenario.name} awake", memory)
        result.compare_awake(awake)
    except (InputError, MemoryLimitError, ScenarioError) as error:
        warn(f"the same run without sleep failed, so the saving is unknown: {error}")
    except KeyboardInterrupt as stop:
        warn("the same run without sleep was interrupted, so the saving is unknown")
        # Only its kind: the exception refers to everything that was open.
        stopped.append(type(stop))
    return result


def simulate(scenario: Scenario, memory: str | None = None, tape: Path | None = None) -> Result:
    """Runs the scenario in this thread with a progress bar. Ctrl-C and SIGTERM raise KeyboardInterrupt."""
    for warning in (*scenario.warnings, *excess(scenario.checked, limit(memory))):
        warn(warning)
    return _simulated(scenario, scenario.name, memory, tape)


def _simulated(scenario: Scenario, title: str, memory: str | None = None, tape: Path | None = None) -> Result:
    """Runs the scenario in this thread, with a progress bar of this title."""
    monitor = Monitor()
    with bar(title) as show, watched(monitor, show), warnings.catch_warnings():
        # The warnings were printed above.
        warnings.simplefilter("ignore")
        return scenario.run(monitor=monitor, memory=memory, tape=tape)


def with_default_probe(scenario: Scenario) -> Scenario:
    """The scenario, with a default recording if it has no probe: 500 bins, windows, events, stations."""
    document = scenario.to_dict()
    if "probe" in document:
        return scenario
    duration_ns = in_unit(scenario.duration, "ns") or 0.0
    bin_ns = max(round(duration_ns / _BINS), _LEAST_BIN_NS)
    probe: dict[str, object] = {"interval": f"{bin_ns} ns", "window": True, "events": True}
    if document.get("station"):
        probe["stations"] = True
    return scenario.with_values({"probe": probe})


def check_capture(option: str, path: Path) -> None:
    """Refuses a file of packets whose name does not say its format.

    Raises:
        InputError: the name ends in neither .pcapng nor .pcap.
    """
    if path.suffix.lower() not in {".pcapng", ".pcap"}:
        raise InputError(f"{option} {path}: expected a name that ends in .pcapng or .pcap")


@click.command("trace")
@scenario_argument
@click.option("--link", "links", multiple=True, metavar="NAME", help="A link, by name. Repeatable; default all links.")
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE.pcapng",
    help="The file to write; FILE.pcap is classic pcap.",
)
@seed_option
@set_option
@code_option
@json_option
def trace_command(  # the command's options
    file: str, links: tuple[str, ...], out: Path, seed: int | None, settings: tuple[str, ...], as_json: bool
) -> None:
    """Write the packets at links of a simulation as pcapng.

    Simulates FILE. The capture has one interface per link. Classic pcap has no interfaces.
    """
    if not is_standard_output(out):
        check_capture("--out", out)
    for link in links:
        if links.count(link) > 1:
            raise InputError(f'--link: is "{link}" twice; expected each link once')
    scenario = load_scenario(file, settings, seed)
    for warning in scenario.warnings:
        warn(warning)
    monitor, most = Monitor(), limit(None)
    with staged_file(out) as stage, bar(scenario.name) as show, watched(monitor, show):
        try:
            raw = scenario.checked.trace(list(links), str(stage), monitor, most, named=str(out))
        except OSError as error:
            raise OutputError(str(error).replace(str(stage), str(out))) from None
        size = stage.stat().st_size
    echo(raw.summary() if as_json else f"written to {out} ({scaled(size, 'B')})", err=is_standard_output(out))
