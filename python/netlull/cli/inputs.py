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
from netlull.bundled import find, ready
from netlull.errors import InputError
from netlull.fieldpath import parse_setting
from netlull.scenario import Scenario
from netlull.sites import sites

if TYPE_CHECKING:
    from netlull.cluster import Cluster

__all__ = [
    "Place",
    "choices",
    "cluster_options",
    "json_option",
    "load_scenario",
    "scenario_argument",
    "seed_option",
    "set_option",
]

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

scenario_argument: _Decorator = click.argument("file", metavar="FILE")
seed_option: _Decorator = click.option("--seed", type=int, metavar="N", help="Seed; default the scenario's.")
set_option: _Decorator = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change the scenario, such as link.N1-N2.rate='5 Mb/s'. May be given several times.",
)
json_option: _Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")


@dataclass(frozen=True)
class Place:
    """Where `cluster_options` say that runs go; `where` is None for this process."""

    where: str | None
    config: Path | None

    @contextlib.contextmanager
    def reached(self, workers: int | None) -> Iterator[Cluster | None]:
        """The cluster for as long as the block lasts; None if there is none."""
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
        "--cluster-config", type=click.Path(path_type=Path), metavar="FILE", help="The jobs of slurm or pbs, in TOML."
    )
    return where(config(placed))


def load_scenario(file: str, settings: Iterable[str], seed: int | None) -> Scenario:
    """The scenario of a file, a ready one or a site's, with `--set` and `--seed` applied before it is checked.

    Raises:
        InputError: a path, a setting or the file cannot be used.
        ScenarioError: starts with the file and names the field, its value and what was expected.
    """
    values = dict(parse_setting(setting) for setting in settings)
    if seed is not None:
        values["seed"] = _engine.check_seed(seed)
    try:
        return _found(file, values)
    except _engine.ScenarioError as error:
        raise InputError(f"{file}: {error}") from None


def _found(name: str, values: dict[str, Any]) -> Scenario:
    """A file before a ready scenario of that name before a site, whose client has the paper's shaper."""
    if name not in sites() or name in ready() or Path(name).is_file():
        return Scenario.from_file(find(name), values=values)
    return sites()[name].scenario(ClientShaper(), probe={"stations": True, "window": True}).with_values(values)


def choices(given: Iterable[str]) -> dict[str, str]:
    """`--where AXIS=POINT`, several of them.

    Raises:
        InputError: one has no equals sign.
    """
    chosen = {}
    for choice in given:
        axis, equals, point = choice.partition("=")
        if not equals:
            raise InputError(f'--where "{choice}": expected axis=point')
        chosen[axis.strip()] = point.strip()
    return chosen
