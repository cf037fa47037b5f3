"""`netlull emulate`: one scenario, once, in real time with the kernel's TCP."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from netlull.cli.inputs import json_option, load_scenario, scenario_argument, seed_option, set_option
from netlull.cli.progress import bar, warn
from netlull.cli.run import check_capture, out_option, run_into
from netlull.cli.tables import print_result
from netlull.cli.text import echo
from netlull.errors import InputError

if TYPE_CHECKING:
    from netlull.results.result import Result
    from netlull.scenario import Scenario

__all__ = ["Emulating", "emulate_command", "late_option"]

late_option = click.option(
    "--max-lateness", metavar="TIME", help="Refuse the run if 1 in 100 packets was later; default netlulld's."
)


@dataclass(frozen=True)
class Emulating:
    """The options of an emulation; fields as in `Scenario.emulate`."""

    max_lateness: str | None = None
    tapes: Path | None = None
    capture: Path | None = None
    attach: tuple[tuple[str, str], ...] = ()

    def run(self, scenario: Scenario, title: str | None = None) -> Result:
        """Emulates in this thread with a progress bar. Ctrl-C and SIGTERM raise KeyboardInterrupt."""
        for warning in scenario.warnings:
            warn(warning)
        with bar(title or scenario.name) as show, warnings.catch_warnings():
            # The warnings were printed above.
            warnings.simplefilter("ignore")
            return scenario.emulate(
                max_lateness=self.max_lateness,
                tapes=self.tapes,
                capture=self.capture,
                attach=dict(self.attach),
                progress=lambda share: show(share, ""),
            )


@click.command("emulate")
@scenario_argument
@seed_option
@set_option
@out_option
@late_option
@click.option(
    "--tapes", type=click.Path(path_type=Path), metavar="DIR", help="Record each machine's events for `netlull replay`."
)
@click.option(
    "--capture",
    type=click.Path(path_type=Path),
    metavar="FILE.pcapng",
    help="Write the packets that hosts send and receive; FILE.pcap is classic pcap.",
)
@click.option(
    "--attach",
    multiple=True,
    metavar="NODE=NETNS",
    help="Use an existing network namespace as this node. Repeatable.",
)
@json_option
def emulate_command(  # noqa: PLR0913, PLR0917  # one per option
    file: str,
    seed: int | None,
    settings: tuple[str, ...],
    out: Path | None,
    max_lateness: str | None,
    tapes: Path | None,
    capture: Path | None,
    attach: tuple[str, ...],
    as_json: bool,
) -> None:
    """Emulate FILE in real time with the kernel's TCP.

    Prints the results as `netlull run` does. Needs Linux and netlulld, but not root; `netlull doctor` reports missing
    parts. Runs with too much lateness are refused.
    """
    if capture is not None:
        check_capture("--capture", capture)
    scenario = load_scenario(file, settings, seed, classes=False)
    emulating = Emulating(max_lateness, tapes, capture, tuple(_pair(given) for given in attach))
    result = run_into(out, scenario, emulating.run)
    if as_json:
        # The summary has the fields of `netlull run`; "emulation" is added next to them.
        document: dict[str, Any] = {**result.summary, "emulation": result.emulation}
        echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    print_result(result)
    if out is not None:
        echo(f"written to {out}")


def _pair(given: str) -> tuple[str, str]:
    node, equals, name = given.partition("=")
    if not (node and equals and name):
        raise InputError(f'--attach "{given}": expected node=namespace')
    return node, name
