"""Tables and summaries that the commands print."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from netlull.cli.awake import loss_words, saving_words
from netlull.cli.phases import PHASES, phase_notes, phase_rows, power_words
from netlull.cli.stations import radio_powers, radio_words, station_cells, stations_notes
from netlull.cli.text import printable
from netlull.numbers import count, counted, digits, percent, scaled
from netlull.quantities import in_unit
from netlull.results.energy import has_varied, model_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import rich.table
    from rich.console import Console

    from netlull.results.result import Result

__all__ = [
    "WIDE",
    "Table",
    "draw",
    "emulation_notes",
    "new_console",
    "print_listing",
    "print_result",
    "say",
    "show",
]

_MOST_ROWS = 20
_FOLDED = 28
"""The width in characters to which a column of text may be folded."""
_LATENESS = {"50 %": "p50_s", "99 %": "p99_s", "99.9 %": "p999_s", "latest": "max_s"}
_REQUEST_TIMES = {"mean": "mean", "50 %": "p50", "95 %": "p95", "99 %": "p99", "longest": "max"}
"""The columns of completion times, with their names in metrics."""
_MOST_UNFINISHED = 0.01
"""The share of unfinished requests above which completion times may mislead."""
_WIDTH_WITHOUT_TERMINAL = 150
WIDE = 145
"""Terminal width in characters that fits every table."""

Summary = dict[str, Any]


def new_console() -> Console:
    """A console as wide as the terminal. Files and pipes get unfolded lines."""
    from rich.console import Console

    class Quiet(Console):
        """Leaves a closed pipe to the command's own ending."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Quiet(width=width, highlight=False)


@dataclass
class Table:
    """Rows under a header. The first `words` columns are text, which may be folded; the others are numbers."""

    columns: Sequence[str]
    words: int = 1
    rows: list[tuple[list[str], str | None]] = field(default_factory=list)
    """The cells of each row, and its style."""

    def __post_init__(self) -> None:
        """Makes the header printable."""
        self.columns = list(map(printable, self.columns))

    def add(self, cells: Iterable[str], *, style: str | None = None) -> None:
        """Adds a row. Missing cells at its end are empty."""
        row = list(map(printable, cells))
        self.rows.append((row + [""] * (len(self.columns) - len(row)), style))

    def least_widths(self) -> list[int]:
        """The least width of each column in characters: numbers stay whole, with their units."""
        widths = []
        for index, column in enumerate(self.columns):
            cells = [row[index] for row, _ in self.rows]
            texts = [column, *cells] if index < self.words else [column]
            word = min(max((len(word) for text in texts for word in text.split()), default=0), _FOLDED)
            widths.append(word if index < self.words else max([word, *map(len, cells)]))
        return widths

    def widths(self, room: int) -> list[int]:
        """The width of each column in characters, in a line of `room`. What is left over is shared out evenly."""
        widths = self.least_widths()
        whole = [
            max([len(column), *(len(cells[i]) for cells, _ in self.rows)]) for i, column in enumerate(self.columns)
        ]
        spare = max(0, room - _width(widths))
        order = sorted(range(len(widths)), key=lambda index: whole[index] - widths[index])
        for place, index in enumerate(order):
            more = max(0, min(spare // (len(order) - place), whole[index] - widths[index]))
            widths[index] += more
            spare -= more
        return widths

    def transposed(self, rows: slice) -> Table:
        """Some of the rows as columns. An indented row gets the name of the row to which it belongs, too."""
        chosen = [cells for cells, _ in self.rows[rows]]
        turned = Table([self.columns[0], *self._whole_names()[rows]], 1)
        for index, column in enumerate(self.columns[1:], start=1):
            turned.add([column, *(cells[index] for cells in chosen)])
        return turned

    def _whole_names(self) -> list[str]:
        names, above = [], ""
        for cells, _ in self.rows:
            above = above if cells[0].startswith(" ") else cells[0]
            names.append(cells[0] if above == cells[0] else f"{above} {cells[0].strip()}")
        return names


def show(console: Console, title: str, table: Table) -> None:
    """Prints a table under its title."""
    say(console, title, style="bold")
    draw(console, table)


def draw(console: Console, table: Table) -> None:
    """Prints a table. On a narrow terminal its rows become columns; files and pipes get lines of any length."""
    from rich.console import Console

    needed = _width(table.least_widths())
    if needed <= console.width:
        console.print(_drawn(table, console.width))
    elif not console.is_terminal:
        Console(width=needed, highlight=False, file=console.file).print(_drawn(table, needed))
    else:
        start = 0
        while start < len(table.rows):
            end = start + 1
            while (
                end < len(table.rows)
                and _width(table.transposed(slice(start, end + 1)).least_widths()) <= console.width
            ):
                end += 1
            console.print(_drawn(table.transposed(slice(start, end)), console.width))
            start = end


def _width(widths: Sequence[int]) -> int:
    """The length of a line with these columns, in characters."""
    return sum(widths) + 3 * len(widths)


def _drawn(table: Table, room: int) -> rich.table.Table:
    from rich import box
    from rich import table as rich_table
    from rich.text import Text

    drawn = rich_table.Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, (column, width) in enumerate(zip(table.columns, table.widths(room), strict=True)):
        justify: Literal["left", "right"] = "left" if index < table.words else "right"
        drawn.add_column(Text(column), justify=justify, overflow="fold", width=width)
    for cells, style in table.rows:
        drawn.add_row(*(Text(cell) for cell in cells), style=style)
    return drawn


def say(console: Console, words: str, *, style: str = "") -> None:
    """Prints plain text."""
    from rich.text import Text

    console.print(Text(printable(words), style=style))


def _chosen(console: Console, cells: dict[str, str], essential: Sequence[str]) -> dict[str, str]:
    """All columns, or only the essential ones on a narrow terminal."""
    return cells if console.width >= WIDE else {column: cells[column] for column in essential}


def _recorded(summary: Summary) -> str:
    """The packets of an earlier recording run, if there was one."""
    recording = summary.get("recording")
    if recording is None:
        return ""
    return (
        f"{recording['flow']}: {count(recording['packets'])} packets recorded at {recording['link']} in an earlier run"
    )


def print_result(result: Result) -> None:
    """Prints one run: headline, links, energy, flows, stations; for an emulated run also lateness and differences."""
    from rich.text import Text

    console, summary, emulation = new_console(), result.summary, result.emulation
    checked = "not checked" if summary["verify"] == "off" else f"{count(summary['checks'])} checks passed"
    facts = [
        f"seed {summary['seed']}",
        f"{digits(summary['duration_s'])} s {'emulated' if emulation else 'simulated'}",
        f"measured from {digits(summary['warm_up_s'])} s" if summary["warm_up_s"] else "",
        f"{scaled(float(summary['packet_hops']), '', 3).strip()} packet-hops",
        "" if emulation else checked,
        _recorded(summary),
    ]
    console.print(
        Text.assemble((printable(summary["name"]), "bold"), "  ", " · ".join(fact for fact in facts if fact), "\n")
    )
    losses = loss_words(summary)
    for line in losses:
        say(console, line, style="bold")
    if losses:
        say(console, "")
    if summary["links"]:
        title = "Links, busiest first (packets offered, dropped by the queue, lost in transit; queue in packets)"
        show(console, title, _links_table(console, summary["links"]))
        if summary["routing"]:
            _print_sleep(console, summary)
        if summary["links"][0]["energy"]:
            what = "Energy and mean power" if console.width >= WIDE else "Mean power"
            title = f"{what} (and the share saved compared with the same links at full rate, with this run's traffic)"
            show(console, title, _energy_table(console, summary))
            for line in _energy_notes(summary, result.scenario):
                say(console, line)
            say(console, "")
    if summary["flows"]:
        show(console, "Flows", _flows_table(console, summary, result.scenario))
    requests = [flow for flow in summary["flows"] if flow["kind"] == "requests"]
    if requests:
        _print_requests(console, requests)
    if summary.get("phase"):
        _print_phases(console, summary)
    if summary.get("stations"):
        _print_stations(console, summary["stations"])
    if console.width < WIDE:
        say(
            console,
            f"On {console.width} columns, tables lack some of theirs; {WIDE} have room for all, as has --json.",
        )
    for line in emulation_notes(emulation) if emulation else ():
        say(console, line)


def emulation_notes(emulation: Summary) -> list[str]:
    """The lateness of an emulated run, its machine, and its differences from the scenario."""
    late, system = emulation["lateness"], emulation["system"]
    lateness = ", ".join(f"{name} {scaled(late[key], 's', 2)}" for name, key in _LATENESS.items())
    processors = counted(system["processors"], "processor")
    processors += " kept awake" if system.get("kept_awake") else ""
    where = f"Linux {system['kernel']}, scheduling {system['scheduling']}, {processors}"
    limit = scaled(late["limit_s"], "s", 2)
    return [
        f"Lateness of {count(late['packets'])} packets: {lateness} (limit for 99 %: {limit}); {where}",
        *(f"Differs from the scenario: {difference}" for difference in emulation["differences"]),
    ]


def _print_requests(console: Console, requests: list[Summary]) -> None:
    title = "Requests (that arrived in the measured time; times from the SYN to the last byte acknowledged)"
    show(console, title, _requests_table(console, requests))
    for flow in requests:
        unfinished = flow["requests_started"] - flow["requests_completed"]
        if unfinished > _MOST_UNFINISHED * flow["requests_started"]:
            share = percent(unfinished / flow["requests_started"])
            say(console, f"{flow['name']}: {share} of the requests are unfinished and count in no completion time.")
    keys = ", ".join(f"{name}_completion_s" for name in _REQUEST_TIMES.values())
    say(console, f"Metrics of sweeps: flow.{requests[0]['name']}.requests_completed, {keys}\n")


def _print_phases(console: Console, summary: Summary) -> None:
    rows = phase_rows(summary, wide=console.width >= WIDE)
    table = Table(list(rows[0]))
    for row in rows[:_MOST_ROWS]:
        table.add(list(row.values()))
    _add_rest(table, len(rows))
    show(console, PHASES, table)
    for line in phase_notes(summary):
        say(console, line)
    say(console, "")


def _print_stations(console: Console, stations: list[Summary]) -> None:
    """Prints stations, under the first power model of their radios."""
    shown = stations[:_MOST_ROWS]
    table = Table(list(station_cells(shown[0], wide=console.width >= WIDE)), words=2)
    for station in shown:
        table.add(list(station_cells(station, wide=console.width >= WIDE).values()))
    _add_rest(table, len(stations))
    show(console, f"Stations (energy {radio_words(shown)}; download: from SYN to FIN)", table)
    for line in stations_notes(shown):
        say(console, line)


def _links_table(console: Console, links: list[Summary]) -> Table:
    essential: tuple[str, ...] = ("link", "mean rate", "changes", "utilisation", "dropped", "mean wait")
    if any(link["marked_packets"] for link in links):
        essential += ("marked",)
    if any(link.get("low_power") for link in links):
        essential += ("asleep",)
    busiest = sorted(links, key=lambda link: -(link["utilisation"] or 0.0))
    rows = [_chosen(console, _link_cells(link, essential), essential) for link in busiest[:_MOST_ROWS]]
    table = Table(list(rows[0]))
    for row in rows:
        table.add(list(row.values()))
    _add_rest(table, len(links))
    return table


def _link_cells(link: Summary, essential: Sequence[str]) -> dict[str, str]:
    """All columns. Marked packets, and the time asleep of low-power idle, appear only where there are some."""
    dropped = count(link["dropped_packets"])
    if link["dropped_packets"]:
        dropped += f" ({percent(link['drop_fraction'])})"
    cells = {
        "link": link["name"],
        "rate": scaled(link["rate_bps"], "b/s"),
        "mean rate": scaled(link["mean_rate_bps"], "b/s"),
        "changes": count(link["rate_changes"]),
        "throughput": scaled(link["throughput_bps"], "b/s"),
        "utilisation": percent(link["utilisation"]),
        "offered": count(link["offered_packets"]),
        "dropped": dropped,
        "lost": count(link["lost_packets"]),
        "mean queue": digits(link["mean_queue_packets"], 3),
        "max queue": count(link["max_queue_packets"]),
        "mean wait": scaled(link["mean_wait_s"], "s", 3),
        "marked": count(link["marked_packets"]),
        "asleep": percent(low["low_share"] if (low := link.get("low_power")) else None),
    }
    rare = {"marked", "asleep"} - set(essential)
    return {column: cell for column, cell in cells.items() if column not in rare}


def _print_sleep(console: Console, summary: Summary) -> None:
    """Prints the sleeping links, their times, and the packets lost there."""
    routing = summary["routing"]
    if routing["sleep"]:
        lost = {link["name"]: link["asleep_packets"] for link in summary["links"]}
        ends = {link["name"]: (link["to"], link["from"]) for link in summary["links"]}
        back = {(link["from"], link["to"]): link["asleep_packets"] for link in summary["links"]}
        table = Table(["link", "announced", "asleep from", "awake again", "packets lost there"])
        for nap in routing["sleep"][:_MOST_ROWS]:
            both = lost[nap["link"]] + back.get(ends[nap["link"]], 0)
            times = (scaled(nap[key], "s") for key in ("announced_s", "asleep_s", "awake_s"))
            table.add([nap["link"], *times, count(both)])
        _add_rest(table, len(routing["sleep"]))
        show(console, "Sleep (packets lost in both directions, over all sleep times of the link)", table)
    changes, convergence = routing["table_changes"], routing["convergence_s"]
    facts = [
        f"{count(changes)} new routing tables"
        if changes or convergence is None
        else "no new routing table before the end",
        f"convergence {scaled(convergence, 's', 3)}" if changes and convergence is not None else "",
        f"{count(routing['asleep_packets'])} packets lost on links asleep",
        f"{count(routing['unroutable_packets'])} without a route",
        f"{count(routing['expired_packets'])} out of hops",
    ]
    say(console, f"Routing: {', '.join(fact for fact in facts if fact)}\n")


def _energy_table(console: Console, summary: Summary) -> Table:
    """A row for each link that was below its full rate or slept; the other links share a row."""
    links, wide = summary["links"], console.width >= WIDE
    models = list(links[0]["energy"])
    table = Table(["link", *models])
    varied = [link for link in links if has_varied(link)]
    for link in varied[:_MOST_ROWS]:
        table.add([link["name"], *(_energy(link["energy"][model], wide=wide) for model in models)])
    _add_rest(table, len(varied))
    fixed = [link for link in links if not has_varied(link)]
    if fixed:
        name = fixed[0]["name"] if len(fixed) == 1 else f"{len(fixed)} always at full rate"
        table.add([name, *(_energy(_total(fixed, model), wide=wide) for model in models)])
    if varied and len(links) > 1:
        together = summary["network"]["energy"]
        table.add(["all links", *(_energy(together[model], wide=wide) for model in models)], style="bold")
    if "awake" in summary:
        awake = summary["awake"]["energy"]
        table.add(["without sleep", *(_energy(awake[model] | {"saving": None}, wide=wide) for model in models)])
    return table


def _energy_notes(summary: Summary, scenario: Mapping[str, Any]) -> list[str]:
    """The meaning of the models, and the reason for a missing saving."""
    lines = [*saving_words(summary), *model_words(summary, scenario)]
    if "awake" not in summary and any(energy["saving"] is None for energy in summary["network"]["energy"].values()):
        lines.append("Links slept and traffic took other links: compare with the run without sleep (netlull compare).")
    return lines


def _total(links: list[Summary], model: str) -> Summary:
    total, power, reference = (
        sum(link["energy"][model][key] for link in links) for key in ("total_j", "mean_w", "reference_j")
    )
    return {"total_j": total, "mean_w": power, "saving": 1 - total / reference if reference else float("nan")}


def _energy(energy: Summary, *, wide: bool) -> str:
    """Energy and power with the share saved; a narrow terminal has no room for the energy."""
    return f"{scaled(energy['total_j'], 'J')}, {power_words(energy)}" if wide else power_words(energy)


def _flows_table(console: Console, summary: Summary, scenario: Mapping[str, Any]) -> Table:
    flows, stops = summary["flows"], _stops(scenario)
    essential = ("flow", "kind", "goodput", "loss", "retransmitted", "timeouts", "completed in")
    rows = [_chosen(console, _flow_cells(flow, stops, summary["warm_up_s"]), essential) for flow in flows[:_MOST_ROWS]]
    table = Table(list(rows[0]), words=2)
    for row in rows:
        table.add(list(row.values()))
    _add_rest(table, len(flows))
    if len(flows) > 1:
        table.add(list(_chosen(console, _all_flows(flows, summary["measured_s"]), essential).values()), style="bold")
    return table


def _stops(scenario: Mapping[str, Any]) -> dict[str, float | None]:
    """The stop times in s of the flows that have one."""
    return {flow["name"]: in_unit(flow["stop"], "s") for flow in scenario.get("flow", ()) if "stop" in flow}


def _has_ended(flow: Summary, stops: Mapping[str, float | None], warm_up_s: float) -> bool:
    """True if a flow sent and delivered nothing after the warm-up, because it had ended."""
    if flow["kind"] == "tcp":
        return flow["completion_time_s"] is not None and flow["start_s"] + flow["completion_time_s"] <= warm_up_s
    stop = stops.get(flow["name"])
    return stop is not None and stop <= warm_up_s and not flow["packets_sent"] and not flow["delivered_bytes"]


def _flow_cells(flow: Summary, stops: Mapping[str, float | None], warm_up_s: float) -> dict[str, str]:
    tcp = flow["congestion_control"] is not None
    finished = _has_ended(flow, stops, warm_up_s)
    return {
        "flow": flow["name"],
        "kind": f"{flow['kind']} {flow['congestion_control']}" if tcp else flow["kind"],
        "goodput": "ended in warm-up" if finished else scaled(flow["goodput_bps"], "b/s"),
        "packets sent": count(flow["packets_sent"]),
        "loss": percent(flow["loss_fraction"]),
        "retransmitted": count(flow["retransmissions"]) if tcp else "-",
        "timeouts": count(flow["timeouts"]) if tcp else "-",
        "mean cwnd": _window(flow),
        "completed in": _completion(flow, warm_up_s),
    }


def _completion(flow: Summary, warm_up_s: float) -> str:
    """The completion time, with the mean rate over it: the goodput is the mean over the measured part of the run."""
    completion_s = flow["completion_time_s"]
    if not completion_s or flow["start_s"] < warm_up_s:
        return scaled(completion_s, "s")
    return f"{scaled(completion_s, 's')} ({scaled(8 * flow['delivered_bytes'] / completion_s, 'b/s')})"


def _window(flow: Summary) -> str:
    """The mean congestion window in bytes, and in segments if their size is known."""
    mean, segment = flow["mean_cwnd_bytes"], flow["segment_bytes"]
    segments = f" ({digits(mean / segment, 3)} segments)" if mean is not None and segment else ""
    return f"{scaled(mean, 'B')}{segments}"


def _all_flows(flows: list[Summary], measured_s: float) -> dict[str, str]:
    def total(field: str) -> int:
        return sum(flow[field] or 0 for flow in flows)

    sent = total("packets_sent")
    return {
        "flow": f"all {len(flows)}",
        "kind": "",
        "goodput": scaled(8 * total("delivered_bytes") / measured_s if measured_s else None, "b/s"),
        "packets sent": count(sent),
        "loss": percent(total("packets_dropped") / sent if sent else None),
        "retransmitted": count(total("retransmissions")),
        "timeouts": count(total("timeouts")),
        "mean cwnd": "",
        "completed in": "",
    }


def _requests_table(console: Console, flows: list[Summary]) -> Table:
    essential = ("flow", "arrived", "complete", "mean", "95 %")
    rows = [_chosen(console, _requests_cells(flow), essential) for flow in flows[:_MOST_ROWS]]
    table = Table(list(rows[0]))
    for row in rows:
        table.add(list(row.values()))
    _add_rest(table, len(flows))
    return table


def _requests_cells(flow: Summary) -> dict[str, str]:
    return {
        "flow": flow["name"],
        "arrived": count(flow["requests_started"]),
        "requested": scaled(flow["requested_bytes"], "B"),
        "complete": count(flow["requests_completed"]),
        **{column: scaled(flow[f"{name}_completion_s"], "s", 3) for column, name in _REQUEST_TIMES.items()},
        "most open": count(flow["most_open"]),
    }


def _add_rest(table: Table, entries: int) -> None:
    if entries > _MOST_ROWS:
        table.add([f"... {entries - _MOST_ROWS} more (--json has all)"])


_TITLES = {
    "tcp": "TCP congestion control",
    "tcp-options": "TCP options",
    "power": "Power models",
    "sites": "Sites of client-centered-2004",
}


def print_listing(found: dict[str, list[dict[str, Any]]]) -> None:
    """Prints the entries of each kind. Mechanisms have many parameters: only one that is alone shows them."""
    console = new_console()
    for kind, entries in found.items():
        table = Table(["name", "description", "source"], words=3)
        is_short = kind == "mechanisms" and len(entries) > 1
        for entry in entries:
            table.add([entry["name"], entry.get("description", ""), entry.get("source", "")])
            for cells in _details(entry, with_parameters=not is_short):
                table.add(cells, style="dim")
        title = _TITLES.get(kind, kind.capitalize())
        if entries:
            show(console, title, table)
            if is_short:
                say(console, "netlull list mechanisms NAME shows the parameters of one.\n")
        else:
            say(console, f"{title}: none", style="bold")


def _details(entry: dict[str, Any], *, with_parameters: bool) -> list[list[str]]:
    """Rows below an entry: values of an option, defaults of an algorithm, parameters, page."""
    rows = [[f"  {value['name']}", value["description"], value["source"]] for value in entry.get("values", [])]
    defaults = entry.get("defaults", {})
    if "default" in entry:
        rows.append(["  default", entry["default"], ""])
    elif defaults:
        rows.append(["  defaults", ", ".join(f"{option} = {value}" for option, value in defaults.items()), ""])
    for parameter in entry.get("parameters", []) if with_parameters else ():
        choices = [choice for choice in parameter.get("unit", "").split(" | ") if choice]
        unit = f" [{' | '.join(choices)}]" if choices else ""
        what = f"{parameter['description']}{_value(parameter)}"
        rows.append([f"  {parameter['name']}{unit}", what, parameter.get("source", "")])
    if "reading" in entry:
        rows.append(["  reading", entry["reading"], ""])
    if "device" in entry:
        rows += _device_rows(entry["device"])
    if "in_w" in entry:
        rows.append(["  powers", f"plugged in {scaled(entry['in_w'], 'W')}; up {scaled(entry['up_w'], 'W')} more", ""])
    if "idle_w" in entry:
        rows.append(["  powers", radio_powers(entry), ""])
    if "page" in entry:
        rows.append(["  page", entry["page"], ""])
    return rows


def _device_rows(device: dict[str, Any]) -> list[list[str]]:
    """The numbers of a device, as its table has them."""
    words = {key: value for key, value in device.items() if key not in {"name", "description", "source", "port"}}
    rows = [[f"  {key}", _plain(value), ""] for key, value in words.items()]
    for port in device.get("port", []):
        numbers = ", ".join(f"{key} {value}" for key, value in port.items() if key not in {"speed", "source"})
        rows.append([f"  port {port.get('speed', '')}".rstrip(), numbers, port.get("source", "")])
    return rows


def _plain(value: object) -> str:
    return ", ".join(f"{key} {inner}" for key, inner in value.items()) if isinstance(value, dict) else str(value)


def _value(parameter: dict[str, Any]) -> str:
    """A parameter's default, or the value of a fixed parameter."""
    default = parameter.get("default")
    if not default or default == "must be given":
        return f" ({default})" if default else ""
    return f" (default {default})" if parameter.get("is_option", True) else f": {default}"
