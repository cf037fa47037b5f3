"""`netlull plugin`: WebAssembly modules with link controllers, congestion controls and machines of stations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from netlull import _engine
from netlull.cli.inputs import json_option
from netlull.cli.tables import Table, new_console, show
from netlull.cli.text import echo
from netlull.errors import InputError
from netlull.results.output import prepare_file, writing
from netlull.scenario import Scenario

__all__ = ["plugin_group"]

_SHIPPED = Path(__file__).parents[1] / "shipped" / "plugins"
_BINDINGS = {"c": "netlull.h", "rust": "src/netlull.rs"}
_ENDINGS = {"c": "c", "rust": "rs"}
_KINDS = {
    "rate-controller": "link_controller",
    "link-controller": "link_controller",
    "congestion-control": "congestion_control",
    "station": "station_machine",
}
"""The kinds of templates, and the kind in the description of their modules."""
_RESERVED = ("kind", "module", "digest")
"""The fields of a table that are no parameters."""
_NAME = "[A-Za-z][A-Za-z0-9_-]{0,63}"
"""The names that packages of all languages and descriptions of modules may have."""


@click.group("plugin")
def plugin_group() -> None:
    """Write, check and try WebAssembly modules."""


@plugin_group.command("new")
@click.argument("name", metavar="NAME")
@click.option("--language", type=click.Choice(list(_BINDINGS)), required=True, help="The language of the source.")
@click.option(
    "--kind",
    type=click.Choice(list(_KINDS)),
    default="rate-controller",
    show_default=True,
    help="rate-controller: answers observations of a link with a rate; link-controller: gets every event of it.",
)
def new_command(name: str, language: str, kind: str) -> None:
    """Write the folder NAME with the source of a module that builds as written, and its build command.

    A folder that exists is never replaced.
    """
    folder = Path(name)
    if re.fullmatch(_NAME, folder.name) is None:
        expected = "a letter, then letters, digits, hyphens and underscores"
        raise InputError(f'NAME: "{name}" is no name of a module; expected {expected}')
    if folder.exists():
        raise InputError(f"NAME: {folder} exists already; expected a new folder")
    for path, text in _files(folder.name, language, kind).items():
        prepare_file(folder / path)
        with writing(folder / path):
            (folder / path).write_text(text, encoding="utf-8")
    (folder / "build.sh").chmod(0o755)
    echo(f"{folder}: a module of kind {kind} in {language}. Build it with:")
    echo(f"  cd {folder} && ./build.sh")
    echo(f"Then try it: netlull plugin run {folder}/{folder.name}.wasm")


def _files(name: str, language: str, kind: str) -> dict[str, str]:
    """The files of a new module."""
    ending = _ENDINGS[language]
    source = (_SHIPPED / language / f"{kind}.{ending}").read_text(encoding="utf-8")
    files = {_BINDINGS[language]: _engine.module_bindings()[Path(_BINDINGS[language]).name]}
    files["src/lib.rs" if language == "rust" else f"{name}.{ending}"] = source
    for path in sorted((_SHIPPED / language).glob("*.txt")):
        # `Cargo.toml.txt` becomes Cargo.toml: tools must not take the template for a project of their own.
        files[path.stem] = path.read_text(encoding="utf-8")
    described = (_SHIPPED / f"{kind}.json").read_text(encoding="utf-8").strip()
    if language == "c":
        described = described.replace("\n", "\n    ")
    return {path: text.replace("@DESCRIPTION@", described).replace("@NAME@", name) for path, text in files.items()}


@plugin_group.command("check")
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@json_option
def check_command(file: str, as_json: bool) -> None:
    """Check the module in FILE, and print its description, its digest and its parameters."""
    found = _described(file)
    if as_json:
        echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    description = found["description"]
    echo(f'{file}: a {description["kind"].replace("_", " ")}, "{description["name"]}"')
    if description["summary"]:
        echo(" ".join(description["summary"].split()))
    echo(f"version {description['netlull']} of the interface, SHA-256 {found['digest']}")
    table = Table(["parameter", "type", "default", "range", "meaning"], words=5)
    for row in _parameters(description):
        table.add(row)
    if table.rows:
        show(new_console(), "Parameters", table)
    else:
        echo("It has no parameters.")


def _described(file: str) -> dict[str, Any]:
    try:
        return _engine.module_description(file)
    except _engine.ScenarioError as error:
        raise _engine.ScenarioError(f"{file}: {error}") from None


def _parameters(description: dict[str, Any]) -> list[list[str]]:
    """The parameters of a description, a row each."""
    if "schema" in description:
        schema = description["schema"]
        required = schema.get("required", [])
        return [
            [
                name,
                str(field.get("type", "table")),
                "" if name in required else json.dumps(field.get("default")),
                "",
                " ".join(str(field.get("description", "")).split()),
            ]
            for name, field in schema.get("properties", {}).items()
        ]
    rows = []
    for field in description.get("parameters", []):
        bounds = [f"{word} {field[key]}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in field]
        default = "must be given" if "default" not in field else str(field["default"])
        rows.append([field["name"], field["type"], default, " ".join(bounds), field["summary"]])
    return rows


@plugin_group.command("run")
@click.argument("file", type=click.Path(exists=True, dir_okay=False), metavar="FILE")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of the module.")
@click.option("--seed", type=int, default=1, show_default=True, help="The seed of the arrivals.")
def run_command(file: str, settings: tuple[str, ...], seed: int) -> None:
    """Run the module in FILE in a small network, next to the same network without it."""
    kind = _described(file)["description"]["kind"]
    table = {"kind": "wasm", "module": str(Path(file).resolve())} | dict(map(_setting, settings))
    document = _network(kind)
    without = Scenario.from_dict(document)
    place = {
        "link_controller": "link.left-right.controller",
        "congestion_control": "flow.download.tcp.congestion_control",
        "station_machine": "station.phone.mechanism",
    }[kind]
    other = {"link_controller": "always at the full rate", "congestion_control": "NewReno"}.get(kind, "always awake")
    with_module = without.with_values({place: table})
    shown = Table(["", *_COLUMNS[kind]])
    for name, scenario in ((Path(file).name, with_module), (other, without)):
        shown.add([name, *_cells(kind, scenario.run(seed).summary)])
    show(new_console(), f"{place}, 20 s, seed {seed}", shown)


_COLUMNS = {
    "link_controller": ["goodput Mb/s", "mean rate Mb/s", "rate changes", "95 % of transfers s"],
    "congestion_control": ["goodput Mb/s", "retransmissions", "mean queue packets", "dropped"],
    "station_machine": ["download s", "asleep %", "energy J", "missed packets"],
}


def _cells(kind: str, summary: dict[str, Any]) -> list[str]:
    """The cells of a run."""
    link: dict[str, Any] = next((link for link in summary["links"] if link["name"] == "left-right"), {})
    flow = summary["flows"][0]
    if kind == "link_controller":
        rates = [flow["goodput_bps"] / 1e6, link["mean_rate_bps"] / 1e6]
        return [*(f"{rate:.2f}" for rate in rates), str(link["rate_changes"]), f"{flow['p95_completion_s']:.3f}"]
    goodput = f"{flow['goodput_bps'] / 1e6:.2f}"
    if kind == "congestion_control":
        counts = [str(flow["retransmissions"]), f"{link['mean_queue_packets']:.1f}", str(link["dropped_packets"])]
        return [goodput, *counts]
    station = summary["stations"][0]
    (energy,) = station["energy"].values()
    shares = [100 * station["asleep_s"] / summary["measured_s"], energy["total_j"]]
    took = flow["completion_time_s"]
    return [
        "-" if took is None else f"{took:.2f}",
        *(f"{share:.1f}" for share in shares),
        str(station["missed_packets"]),
    ]


def _setting(text: str) -> tuple[str, object]:
    """A parameter from `NAME=VALUE`: a number, true or false, or text."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InputError(f'--set: "{text}" has no value; expected NAME=VALUE')
    if name in _RESERVED:
        raise InputError(f'--set: "{name}" is no parameter of a module; expected another name')
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _network(kind: str) -> dict[str, Any]:
    """The network of `plugin run`."""
    document: dict[str, Any] = {"name": "plugin", "duration": "20 s", "warm_up": "2 s"}
    if kind == "station_machine":
        document |= {
            "nodes": ["server", "access", "phone"],
            "link": [
                {"from": "server", "to": "access", "duplex": True, "rate": "100 Mb/s", "delay": "20 ms"},
                {"from": "access", "to": "phone", "duplex": True, "rate": "11 Mb/s", "buffer": "100 packets"},
            ],
            "station": [{"name": "phone", "nodes": ["phone"], "radio": ["wavelan-dsss"]}],
            "flow": [{"kind": "tcp", "name": "download", "from": "server", "to": "phone", "size": "5 MB"}],
        }
        return document
    document |= {
        "nodes": ["senders", "left", "right", "receivers"],
        "link": [
            {"from": "senders", "to": "left", "duplex": True, "rate": "100 Mb/s", "delay": "1 ms"},
            {
                "from": "left",
                "to": "right",
                "duplex": True,
                "rate": "10 Mb/s",
                "delay": "18 ms",
                "buffer": "BDP",
            },
            {"from": "right", "to": "receivers", "duplex": True, "rate": "100 Mb/s", "delay": "1 ms"},
        ],
    }
    if kind == "congestion_control":
        document["flow"] = [{"kind": "tcp", "name": "download", "from": "senders", "to": "receivers"}]
    else:
        size = {"kind": "pareto", "mean": "50 kB", "shape": 1.5, "max": "5 MB"}
        web = {"kind": "requests", "name": "web", "from": "senders", "to": "receivers", "size": size}
        document["flow"] = [web | {"offered": "3 Mb/s"}]
    return document
