"""`netlull reproduce`: figures and judged claims of papers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import netlull
from netlull.cli.inputs import Place, cluster_options, json_option
from netlull.cli.progress import bar
from netlull.cli.text import echo
from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.papers import JudgedClaim, PaperOutcome
    from netlull.sweep import Progress

__all__ = ["reproduce_command"]


@click.command("reproduce")
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--all", "every", is_flag=True, help="Reproduce all shipped papers.")
@click.option("--quick", "scope", flag_value="quick", default="quick", help="Run a part of the grid (the default).")
@click.option("--full", "scope", flag_value="full", help="Run the whole grid and all studies of the paper.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out"),
    metavar="DIR",
    help="Folder for the reports; default out.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Runs at a time; default one per core.")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="Seeds where there is randomness.")
@click.option("--readings", is_flag=True, help="Also vary the readings: the assumptions where the paper is silent.")
@click.option(
    "--study", "studies", multiple=True, metavar="NAME", help="Only this further study of the paper. Repeatable."
)
@cluster_options
@json_option
def reproduce_command(  # noqa: PLR0913, PLR0917  # one per option
    keys: tuple[str, ...],
    every: bool,
    scope: str,
    out: Path,
    workers: int | None,
    seeds: int | None,
    readings: bool,
    studies: tuple[str, ...],
    place: Place,
    as_json: bool,
) -> None:
    """Reproduce papers: judged claims, figures and a report.

    KEY is a paper of `netlull list papers`.
    """
    _check_keys(keys, every=every, studies=studies)
    with bar("reproduce") as show:

        def shown(progress: Progress) -> None:
            show(progress.fraction, f"{progress.done}/{progress.total} runs")

        try:
            with place.reached(workers) as where:
                common: dict[str, Any] = {
                    "scope": scope,
                    "out": out,
                    "seeds": seeds,
                    "workers": workers if where is None else None,
                    "cluster": where,
                    "progress": shown,
                }
                if studies:
                    outcomes = [netlull.papers.reproduce_studies(_only(keys, readings=readings), studies, **common)]
                else:
                    outcomes = netlull.papers.reproduce(keys, readings=readings, **common)
        except netlull.papers.PaperError as error:
            raise InputError(str(error)) from None
    if as_json:
        echo(json.dumps([_document(outcome) for outcome in outcomes], indent=2, ensure_ascii=False))
        return
    for outcome in outcomes:
        click.secho(f"{outcome.key}: {outcome.title}", bold=True)
        echo(f"{outcome.scope}: {outcome.runs} runs in {outcome.time}\n")
        if outcome.claims:
            echo(outcome.table())
        if outcome.studies:
            echo(f"studies: {', '.join(outcome.studies)}")
        if outcome.readings:
            echo(f"\n{outcome.readings}")
        echo(f"report: {outcome.report}")


def _check_keys(keys: Sequence[str], *, every: bool, studies: Sequence[str]) -> None:
    """Refuses no paper at all, and papers next to all of them."""
    if every and keys:
        raise InputError(f"--all: reproduces all papers; expected it without {keys[0]}")
    if not keys and not every and not studies:
        known = ", ".join(paper.key for paper in netlull.papers.find())
        raise InputError(f"KEY: is missing; expected one or more of {known}, or --all")


def _only(keys: Sequence[str], *, readings: bool) -> str:
    """The paper of the requested studies."""
    if readings:
        raise InputError("--readings: varies the paper's own sweep; expected it without --study")
    if len(keys) != 1:
        raise InputError(f"--study: {len(keys)} papers are named; expected the KEY of the study's paper")
    return keys[0]


def _document(outcome: PaperOutcome) -> dict[str, Any]:
    return {
        "key": outcome.key,
        "scope": outcome.scope,
        "runs": outcome.runs,
        "wall_s": outcome.time.wall_s,
        "cpu_s": outcome.time.cpu_s,
        "simulated_cpu_s": outcome.time.simulated.cpu_s,
        "simulated_packet_hops": outcome.time.simulated.packet_hops,
        "studies": list(outcome.studies),
        "claims": [_claim(judged, outcome) for judged in outcome.claims],
        "report": str(outcome.report),
        "figures": [str(path) for path in outcome.figures],
    }


def _claim(judged: JudgedClaim, outcome: PaperOutcome) -> dict[str, Any]:
    return {
        "id": judged.id,
        "quote": judged.claim.quote,
        "statement": judged.claim.statement,
        "theirs": judged.claim.theirs,
        "ours": judged.ours,
        "verdict": judged.verdict.value,
        "decided_by": judged.decided_by,
        "equally_supported": {
            equal.label: verdict.value for equal in outcome.equals if (verdict := equal.verdict(judged.id)) is not None
        },
    }
