"""`netlull plot`: figures of runs, one command per kind."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull.cli.inputs import choices, code_option, load_scenario, set_option
from netlull.cli.run import simulate, with_default_probe
from netlull.cli.text import echo
from netlull.errors import InputError
from netlull.quantities import in_unit
from netlull.results.output import is_standard_output
from netlull.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

__all__ = ["check_file", "plot_group", "seconds", "write_figure"]

_LEAST_BIN_NS = 1_000_000
_KINDS_OF_FILES = (".svg", ".pdf", ".png")
_PARTS_OF_RUNS = (".parquet", ".json")
_WINDOWS: Mapping[str, object] = {"window": True, "events": True}
"""The recording that a figure of windows needs."""


@click.group("plot", invoke_without_command=True)
@click.pass_context
def plot_group(context: click.Context) -> None:
    """Draw figures of runs."""
    if context.invoked_subcommand is None:
        echo(context.get_help())


def seconds(_context: click.Context, parameter: click.Parameter, given: str | None) -> float | None:
    """A time in the run, in seconds, from `12` (seconds) or `500 ms`.

    Raises:
        InputError: the text is not a time of at least 0 s.
    """
    if given is None:
        return None
    found = in_unit(given, "s")
    if found is None:
        with contextlib.suppress(ValueError):
            found = float(given)
    if found is None or not 0 <= found < float("inf"):
        raise InputError(f'{parameter.opts[0]} "{given}": expected seconds, or a time such as "500 ms"')
    return found


_figure_option = click.option(
    "--out", type=click.Path(path_type=Path), required=True, metavar="FILE", help="A .svg, .pdf or .png file."
)
_from_option = click.option(
    "--from", "start", callback=seconds, metavar="TIME", help="Start of the figure; default 0 s."
)
_to_option = click.option(
    "--to", "end", callback=seconds, metavar="TIME", help="End of the figure; default the end of the run."
)
_each_option = click.option(
    "--each", metavar="PATH=A,B,...", help="Run each scenario once per value, such as tcp.hystart=true,false."
)
_label_option = click.option(
    "--label", "labels", multiple=True, metavar="TEXT", help="Name of a run in the legend. One per run."
)


@plot_group.command("cwnd")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_figure_option
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="Only this flow. Repeatable.")
@_from_option
@_to_option
@_each_option
@_label_option
@set_option
@code_option
def cwnd_command(
    runs: tuple[str, ...],
    out: Path,
    flows: tuple[str, ...],
    start: float | None,
    end: float | None,
    each: str | None,
    labels: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Draw congestion windows over time.

    A RUN is a folder that `netlull run --out` wrote, or a scenario file or shipped scenario, which is run first. Up to
    five runs share a panel. More runs are drawn side by side.
    """
    check_file(out)
    named = _named([found for run in runs for found in _results(run, settings, each)], labels)
    windows = [one for label, result in named for one in netlull.plot.windows_of(result, label, flows)]
    write_figure(netlull.plot.cwnd_figure(windows, (start, end)), out)


@plot_group.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="A B...")
@_figure_option
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="The window of this flow. Repeatable.")
@click.option("--link", "links", multiple=True, metavar="NAME", help="The queue of this link. Repeatable.")
@_from_option
@_to_option
@_each_option
@_label_option
@set_option
@code_option
def overlay_command(  # noqa: PLR0917  # one per option
    runs: tuple[str, ...],
    out: Path,
    flows: tuple[str, ...],
    links: tuple[str, ...],
    start: float | None,
    end: float | None,
    each: str | None,
    labels: tuple[str, ...],
    settings: tuple[str, ...],
) -> None:
    """Draw windows and queues of several runs in the same panels.

    A typical case is a simulated and an emulated run. A and B are folders that `netlull run --out` or `netlull emulate
    --out` wrote, or scenarios, which are simulated first. Without --flow and --link, the first TCP flows and the links
    with the longest queues are drawn.
    """
    check_file(out)
    found = [found for run in runs for found in _results(run, settings, each, probe={})]
    worlds = [result.world for _, result in found]
    if len(set(worlds)) == len(worlds):
        found = [(result.world, result) for _, result in found]
    named = _named(found, labels)
    write_figure(netlull.plot.overlay_figure(named, flows, links, (start, end)), out)


@plot_group.command("link")
@click.argument("run", metavar="FILE-or-RUN")
@click.option("--link", "link", required=True, metavar="NAME", help="The link.")
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="The window of this flow. Repeatable.")
@_from_option
@_to_option
@_figure_option
@set_option
@code_option
def link_command(
    run: str,
    link: str,
    flows: tuple[str, ...],
    start: float | None,
    end: float | None,
    out: Path,
    settings: tuple[str, ...],
) -> None:
    """Draw a link over time: service rate and arrivals, queue, and congestion windows.

    FILE is a scenario file or a shipped scenario, which is run first. RUN is a folder that `netlull run --out` wrote.
    Without --flow, the first TCP flows are drawn. With --from and --to, a scenario records short bins.
    """
    check_file(out)
    probe: dict[str, object] = {}
    if start is not None and end is not None and start < end:
        probe = {
            "interval": f"{max(round((end - start) * 1e9 / netlull.plot.link.BINS), _LEAST_BIN_NS)} ns",
            "window": True,
        }
    ((_, result),) = _results(run, settings, None, probe=probe)
    write_figure(netlull.plot.link_figure(result, link, flows, (start, end)), out)


@plot_group.command("sweep")
@click.argument("store", type=click.Path(path_type=Path), metavar="STORE")
@click.option("--x", "x", required=True, metavar="AXIS", help="The x axis of the figure.")
@click.option("--by", metavar="AXIS", help="The axis with one colour per point.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric. Repeatable.")
@click.option("--where", multiple=True, metavar="AXIS=POINT", help="Only this point of another axis. Repeatable.")
@_figure_option
def sweep_figure_command(
    store: Path, x: str, by: str | None, metrics: tuple[str, ...], where: tuple[str, ...], out: Path
) -> None:
    """Draw the metrics of a sweep with confidence intervals.

    STORE is the folder that `netlull sweep` wrote. The intervals are at 95 %.
    """
    check_file(out)
    chosen = choices(where)
    drawn = netlull.plot.sweep_figure(netlull.SweepResult.load(store), x, by, metrics, chosen)
    write_figure(drawn, out)


@plot_group.command("doze")
@click.argument("run", metavar="FILE-or-RUN")
@click.option(
    "-o", "--out", "outs", type=click.Path(path_type=Path), multiple=True, default=(Path("doze.svg"),),
    show_default="doze.svg", metavar="FILE", help="A .svg, .pdf or .png file. Repeatable.",
)  # fmt: skip
@click.option("--station", metavar="NAME", help="The station, by its node; default the first.")
@click.option("--radio", metavar="NAME", help="The power model of its radio; default the first.")
@click.option("--from", "start", callback=seconds, metavar="TIME", help="Start of the figure.")
@click.option("--to", "end", callback=seconds, metavar="TIME", help="End of the figure.")
@click.option("--whole", is_flag=True, help="Draw the whole download instead of some bursts in its middle.")
@set_option
@code_option
def doze_command(
    run: str,
    outs: tuple[Path, ...],
    station: str | None,
    radio: str | None,
    start: float | None,
    end: float | None,
    *,
    whole: bool,
    settings: tuple[str, ...],
) -> None:
    """Draw packets and radio of a dozing station over time.

    Without --from, --to and --whole: some bursts in the middle of the download. FILE is a scenario file, a shipped
    scenario or a site, which is run first. RUN is a folder that `netlull run --out` wrote with stations = true in
    [probe].
    """
    for out in outs:
        check_file(out)
    if whole and (start is not None or end is not None):
        raise InputError("--whole: excludes --from and --to; expected one or the other")
    ((_, result),) = _results(run, settings, None, probe={"stations": True})
    drawn = netlull.plot.doze_figure(result, station, (start, end), whole=whole, radio=radio)
    for out in outs:
        write_figure(drawn, out)


def check_file(out: Path, option: str = "--out") -> None:
    """Refuses an output file of an unknown kind before anything is run.

    Raises:
        InputError: the file's name does not end in .svg, .pdf or .png.
    """
    if out.suffix not in _KINDS_OF_FILES and not is_standard_output(out):
        raise InputError(f"{option} {out}: expected a name that ends in {', '.join(_KINDS_OF_FILES)}, or - for SVG")


def write_figure(drawn: Figure, out: Path) -> None:
    """Writes a figure and prints its path."""
    netlull.plot.save_as(drawn, out)
    echo(f"written to {out}", err=is_standard_output(out))


def _results(
    run: str, settings: Sequence[str], each: str | None, probe: Mapping[str, object] = _WINDOWS
) -> Iterator[tuple[str, Result]]:
    """The named result of a folder, or those of a scenario's runs with this probe added to its own."""
    if Path(run).is_file() and Path(run).suffix in _PARTS_OF_RUNS:
        raise InputError(
            f"{run}: is not a scenario; expected the folder of a run, not a file in it, or a scenario file"
        )
    if Path(run).is_dir():
        if settings or each is not None:
            raise InputError(f"{run}: is a finished run; expected a scenario for --set and --each")
        yield Path(run).resolve().name, Result.load(run)
        return
    for label, extra in _variants(each):
        yield label or Path(run).stem, _simulated(run, (*settings, *extra), probe)


def _variants(each: str | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The settings of `--each PATH=A,B`, one per value."""
    if each is None:
        yield "", ()
        return
    path, equals, values = each.partition("=")
    if not path.strip() or not equals or not all(value.strip() for value in values.split(",")):
        raise InputError(f'--each "{each}": expected path=value,value, such as tcp.congestion_control=new_reno,cubic')
    for value in values.split(","):
        yield value.strip(), (f"{path}={value}",)


def _simulated(file: str, settings: Sequence[str], probe: Mapping[str, object]) -> Result:
    """Runs a scenario with the figure's probes added to its own."""
    scenario = load_scenario(file, settings, None)
    if not probe:
        return simulate(with_default_probe(scenario))
    own = scenario.to_dict().get("probe") or {}
    return simulate(scenario.with_values({"probe": {**own, **probe}}))


def _named(found: Sequence[tuple[str, Result]], labels: Sequence[str]) -> list[tuple[str, Result]]:
    """Each run with the given label, or with a unique name."""
    if labels and len(labels) != len(found):
        raise InputError(f"--label was given {len(labels)} times; expected one for each of {len(found)} runs")
    names = list(labels) or [name for name, _ in found]
    twice = {name for name in names if names.count(name) > 1}
    unique = [f"{name} ({index})" if name in twice else name for index, name in enumerate(names, start=1)]
    return [(name, result) for name, (_, result) in zip(unique, found, strict=True)]
