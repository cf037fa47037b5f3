"""Options that several commands share, and the scenario that they describe."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import netlull
from netlull import _engine
from netlull.builders import ClientShaper
from netlull.documents.tomltext import parse_setting
from netlull.errors import NEEDS_CODE, InputError
from netlull.library import find, shipped, sites
from netlull.scenario import Scenario

if TYPE_CHECKING:
    from netlull.cluster import Cluster

__all__ = [
    "Place",
    "allows_code",
    "choices",
    "classes_in",
    "cluster_options",
    "code_option",
    "json_option",
    "load_scenario",
    "memory_option",
    "scenario_argument",
    "seed_option",
    "set_option",
    "set_option_of_emulation",
]

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_CODE = "netlull.allow_code"
"""The place of `--allow-code` in a command's context."""


def _set_option(what: str) -> _Decorator:
    told = f"{what}, such as link.N1-N2.rate='5 Mb/s'. Repeatable."
    return click.option("--set", "settings", multiple=True, metavar="PATH=VALUE", help=told)


scenario_argument: _Decorator = click.argument("file", metavar="FILE")
seed_option: _Decorator = click.option("--seed", type=int, metavar="N", help="Seed; default the scenario's.")
memory_option: _Decorator = click.option(
    "--memory", metavar="SIZE", help="The most memory of a run, such as 2GB; default a third of the free memory."
)
set_option: _Decorator = _set_option("Change a field")
set_option_of_emulation: _Decorator = _set_option("With --emulate: change a field")
code_option: _Decorator = click.option(
    "--allow-code",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, given: context.meta.__setitem__(_CODE, given),
    help="Load the Python classes that the files name. They can do whatever you can.",
)
json_option: _Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


@dataclass(frozen=True)
class Place:
    """The target of `cluster_options`; `where` is None for this process."""

    where: str | None
    config: Path | None

    @contextlib.contextmanager
    def reached(self, workers: int | None) -> Iterator[Cluster | None]:
        """The cluster, open within the block; None if runs stay in this process."""
        if self.where is None:
            if self.config is not None:
                raise InputError(
                    f"--cluster-config: {self.config} describes jobs; expected --cluster slurm or pbs with it"
                )
            yield None
            return
        with netlull.open_cluster(self.where, workers=workers, config=self.config) as cluster:
            yield cluster


def cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--cluster` and `--cluster-config`: the command gets a `Place` as `place`."""

    @functools.wraps(command)
    def placed(*arguments: Any, cluster: str | None, cluster_config: Path | None, **options: Any) -> Any:
        return command(*arguments, place=Place(cluster, cluster_config), **options)

    where = click.option(
        "--cluster", metavar="WHERE", help="Run on: local, tcp://HOST:PORT, tls://HOST:PORT, slurm or pbs."
    )
    config = click.option(
        "--cluster-config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Description of the slurm or pbs jobs, in TOML.",
    )
    return where(config(placed))


def load_scenario(
    file: str,
    settings: Iterable[str],
    seed: int | None,
    replay: Path | None = None,
    *,
    without: str | None = None,
    plug_ins: bool = True,
    classes: bool = True,
) -> Scenario:
    """The scenario of a file, a shipped scenario or a site, with `--set` and `--seed` applied before the check.

    A tape replaces its plug-ins. `without` names a field that is left out. Commands that do not simulate take no
    `plug_ins`: then no code is loaded. An emulation takes modules and no `classes`. Otherwise a class may be loaded if
    `--set` names it, or with `--allow-code`.

    Raises:
        InputError: a path, a setting or the file is invalid.
        ScenarioError: the message starts with the file and names the field, its value and the expected values.
    """
    values = dict(parse_setting(setting) for setting in settings)
    if seed is not None:
        values["seed"] = _engine.check_seed(seed)
    if without is not None:
        values[without] = None
    try:
        allowed = classes and (allows_code() or list(classes_in(values)))
        code = {"plug_ins": plug_ins, "allow_code": allowed}
        return _found(file, values, replay, code)
    except _engine.ScenarioError as error:
        # With a place, the message has the file already.
        told = str(error) if error.line else f"{file}: {error}"
        if not classes:
            told = told.replace(NEEDS_CODE, "a mechanism of netlull or a WebAssembly module")
        raise InputError(told) from error.__cause__


def allows_code() -> bool:
    """True if the command line has `--allow-code`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_CODE))


def classes_in(value: Any, field: str = "") -> Iterator[str]:
    """The classes of plug-ins in a value from the command line."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from classes_in(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from classes_in(inner)
    elif isinstance(value, str) and field.rpartition(".")[2] == "class":
        yield value


def _found(name: str, values: dict[str, Any], replay: Path | None, code: dict[str, Any]) -> Scenario:
    """A file, else a shipped scenario, else a site, whose client has the paper's shaper."""
    if name not in sites() or name in shipped() or Path(name).is_file():
        return Scenario.from_file(find(name), values=values, replay=replay, **code)
    return sites()[name].scenario(ClientShaper(), probe={"stations": True, "window": True}).with_values(values)


def choices(given: Iterable[str]) -> dict[str, str]:
    """The choices of repeated `--where AXIS=POINT`, by axis.

    Raises:
        InputError: a choice has no equals sign.
    """
    chosen = {}
    for choice in given:
        axis, equals, point = choice.partition("=")
        if not equals:
            raise InputError(f'--where "{choice}": expected axis=point')
        chosen[axis.strip()] = point.strip()
    return chosen
