"""What the commands print for people."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from netlull.cli.numbers import count, digits, percent, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.papers import PaperOutcome
    from netlull.sweep import SweepResult

__all__ = ["print_claims", "print_listing", "print_summary", "print_sweep"]

_MOST_ROWS = 20
_WIDTH_WITHOUT_TERMINAL = 150

Summary = dict[str, Any]


def _console() -> Console:
    """As wide as the terminal; a file or a pipe gets lines that are not folded."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(width=width, highlight=False)


def _table(title: str, columns: Sequence[str], *, words: int = 1) -> Table:
    """A table whose first `words` columns are text and whose others are numbers."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < words else "right", overflow="fold")
    return table


def _add(table: Table, cells: Sequence[str], *, style: str | None = None) -> None:
    table.add_row(*(Text(cell) for cell in cells), style=style)


def print_summary(summary: Summary) -> None:
    """One run: headline, links, energy, flows."""
    console = _console()
    checked = "not checked" if summary["verify"] == "off" else f"{count(summary['checks'])} checks passed"
    facts = [
        f"seed {summary['seed']}",
        f"{digits(summary['duration_s'])} s simulated",
        f"measured from {digits(summary['warm_up_s'])} s" if summary["warm_up_s"] else "",
        f"{scaled(float(summary['packet_hops']), '', 3).strip()} packet-hops",
        checked,
    ]
    console.print(Text.assemble((summary["name"], "bold"), "  ", " · ".join(fact for fact in facts if fact)))
    if summary["links"]:
        console.print(_links_table(summary["links"]))
        console.print(_energy_table(summary["links"]))
    if summary["flows"]:
        console.print(_flows_table(summary["flows"], summary["measured_s"]))


def _links_table(links: list[Summary]) -> Table:
    columns = [
        "link",
        "rate",
        "mean rate",
        "changes",
        "throughput",
        "utilisation",
        "offered",
        "dropped",
        "lost",
        "mean queue",
        "max queue",
        "mean wait",
    ]
    table = _table("Links (packets offered, dropped by the buffer, lost on the way; queue in packets)", columns)
    for link in links[:_MOST_ROWS]:
        dropped = count(link["dropped_packets"])
        if link["dropped_packets"]:
            dropped += f" ({percent(link['drop_fraction'])})"
        cells = [
            link["name"],
            scaled(link["rate_bps"], "b/s"),
            scaled(link["mean_rate_bps"], "b/s"),
            count(link["rate_changes"]),
            scaled(link["throughput_bps"], "b/s"),
            percent(link["utilisation"]),
            count(link["offered_packets"]),
            dropped,
            count(link["lost_packets"]),
            digits(link["mean_queue_packets"], 3),
            count(link["max_queue_packets"]),
            scaled(link["mean_wait_s"], "s", 3),
        ]
        _add(table, cells)
    _add_rest(table, len(links))
    return table


def _energy_table(links: list[Summary]) -> Table:
    models = list(links[0]["energy"])
    table = _table("Energy, and what is saved against the full rate all the time", ["link", *models])
    for link in links[:_MOST_ROWS]:
        _add(table, [link["name"], *(_energy(link["energy"][model]) for model in models)])
    _add_rest(table, len(links))
    if len(links) > 1:
        totals = [
            {key: sum(link["energy"][model][key] for link in links) for key in ("total_j", "reference_j")}
            for model in models
        ]
        for total in totals:
            total["saving"] = 1 - total["total_j"] / total["reference_j"] if total["reference_j"] else float("nan")
        _add(table, ["all links", *map(_energy, totals)], style="bold")
    return table


def _energy(energy: Summary) -> str:
    return f"{scaled(energy['total_j'], 'J')}, saves {percent(energy['saving'])}"


def _flows_table(flows: list[Summary], measured_s: float) -> Table:
    columns = [
        "flow",
        "kind",
        "goodput",
        "packets sent",
        "loss",
        "retransmitted",
        "timeouts",
        "mean cwnd",
        "completed in",
    ]
    table = _table("Flows", columns, words=2)
    for flow in flows[:_MOST_ROWS]:
        tcp = flow["kind"] == "tcp"
        cells = [
            flow["name"],
            flow["kind"],
            scaled(flow["goodput_bps"], "b/s"),
            count(flow["packets_sent"]),
            percent(flow["loss_fraction"]),
            count(flow["retransmissions"]) if tcp else "-",
            count(flow["timeouts"]) if tcp else "-",
            scaled(flow["mean_cwnd_bytes"], "B"),
            scaled(flow["completion_time_s"], "s"),
        ]
        _add(table, cells)
    _add_rest(table, len(flows))
    if len(flows) > 1:
        _add(table, _all_flows(flows, measured_s), style="bold")
    return table


def _all_flows(flows: list[Summary], measured_s: float) -> list[str]:
    total = {
        key: sum(flow[key] or 0 for flow in flows) for key in ("packets_sent", "packets_dropped", "delivered_bytes")
    }
    loss = total["packets_dropped"] / total["packets_sent"] if total["packets_sent"] else float("nan")
    goodput = 8 * total["delivered_bytes"] / measured_s if measured_s else float("nan")
    retransmissions, timeouts = (sum(flow[key] or 0 for flow in flows) for key in ("retransmissions", "timeouts"))
    middle = [scaled(goodput, "b/s"), count(total["packets_sent"]), percent(loss)]
    return [f"all {len(flows)}", "", *middle, count(retransmissions), count(timeouts), "", ""]


def _add_rest(table: Table, entries: int) -> None:
    if entries > _MOST_ROWS:
        table.add_row(f"... {entries - _MOST_ROWS} more (--json has all)")


def print_sweep(result: SweepResult) -> None:
    """A sweep: one row per point, each metric's mean with its 95 % interval."""
    summary = result.summarise()
    many = len(set(summary["experiment"].to_pylist())) > 1
    axes = [f"{axis} [{result.units[axis]}]" if result.units[axis] else axis for axis in result.axes]
    title = "Means over seeds with 95 % confidence intervals"
    table = _table(title, [*(["experiment"] if many else []), *axes, "runs", *result.metrics], words=len(axes) + many)
    for row in summary.to_pylist():
        cells = [row["experiment"]] if many else []
        cells += [row[f"{axis}_label"] or "-" for axis in result.axes]
        cells.append(count(row["runs"]))
        cells += [_interval(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in result.metrics]
        _add(table, cells)
    _console().print(table)


def _interval(mean: float, low: float, high: float) -> str:
    half = (high - low) / 2
    return digits(mean) if half != half else f"{digits(mean)} ± {digits(half, 2)}"  # noqa: PLR0124  # NaN


def print_listing(found: dict[str, list[dict[str, Any]]]) -> None:
    """What there is of each kind, with the parameters of mechanisms."""
    console = _console()
    titles = {"tcp": "TCP congestion control", "power": "Power models"}
    for kind, entries in found.items():
        table = _table(titles.get(kind, kind.capitalize()), ["name", "what it is", "source"], words=3)
        for entry in entries:
            _add(table, [entry["name"], entry.get("description", ""), entry.get("source", "")])
            for parameter in entry.get("parameters", []):
                unit = f" [{parameter['unit']}]" if parameter.get("unit") else ""
                default = parameter.get("default")
                given = "" if default in (None, "") else f" (default {default})"
                what = f"{parameter['description']}{given}"
                _add(table, [f"  {parameter['name']}{unit}", what, parameter.get("source", "")], style="dim")
        console.print(table if entries else f"{kind}: none")


def print_claims(outcome: PaperOutcome) -> None:
    """A paper's claims: theirs, ours, verdict."""
    table = _table(outcome.key, ["claim", "what the paper says", "paper", "ours", "verdict"], words=5)
    for claim in outcome.claims:
        _add(table, [claim.id, claim.statement, str(claim.theirs), str(claim.ours), str(claim.verdict)])
    _console().print(table)
