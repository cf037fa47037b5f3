"""`netlull conformance`: procedures that check a congestion control, or loss recovery."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from netlull import conformance
from netlull.cli.inputs import json_option
from netlull.cli.progress import bar
from netlull.cli.tables import Table, draw, new_console, say
from netlull.cli.text import echo
from netlull.conformance.frame import NOT_EXPORTED
from netlull.documents.tomltext import parse_setting
from netlull.results.output import check_replaceable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.conformance import Case, Judgement

__all__ = ["conformance_command"]


@click.command("conformance")
@click.option(
    "--congestion-control",
    "control",
    metavar="WHAT",
    help="A name of `netlull list tcp`, FILE.py:CLASS, FILE.wasm, or a table; default that of the suite.",
)
@click.option(
    "--suite", type=click.Choice(list(conformance.SUITES)), help="The suite; default that of the name, else bbr."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="Change a field of every network, such as tcp.preset=linux-6. Repeatable.",
)
@click.option("--case", "numbers", multiple=True, metavar="NUMBER", help="Only this case, such as A.7. Repeatable.")
@click.option("--seed", type=int, default=1, metavar="N", help="Seed of the runs; default 1.")
@click.option("--list", "only_list", is_flag=True, help="List the cases, and judge nothing.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write a page with pictures, qlog and pcapng traces."
)
@json_option
@click.pass_context
def conformance_command(  # noqa: PLR0913, PLR0917  # one per option
    context: click.Context,
    control: str | None,
    suite: str | None,
    settings: tuple[str, ...],
    numbers: tuple[str, ...],
    seed: int,
    only_list: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Check a congestion control or loss recovery, case by case.

    Each case runs it on a small network, and compares the observations with its specification. The suite `bbr` has the
    22 test cases of draft-ietf-ccwg-bbr, `cubic` rules of RFC 9438, `sack` of RFC 6675, `rack` of RFC 8985. Exits 1 if
    a case fails. docs/how-to/conformance.md explains the table.
    """
    subject = conformance.Subject() if control is None else conformance.Subject.read(control)
    subject = replace(subject, settings=dict(parse_setting(setting) for setting in settings))
    usual = None if only_list and control is None else conformance.suite_of(subject)
    wanted = conformance.chosen(numbers, suite, usual)
    if only_list:
        _list(wanted, as_json=as_json)
        return
    if out is not None:
        check_replaceable(out, conformance.KIND)
    judgements = []
    with bar("conformance") as show:
        for done, case in enumerate(wanted):
            show(done / len(wanted), case.number)
            judgements.append(conformance.judge(case, subject, seed=seed))
    if out is not None:
        conformance.write(judgements, out)
    if as_json:
        echo(json.dumps(conformance.document(judgements), indent=2, ensure_ascii=False))
    else:
        _print(judgements)
        if out is not None:
            echo(f"written to {out}: open index.html")
    if any(one.verdict == "fails" for one in judgements):
        context.exit(1)


def _list(wanted: Sequence[Case], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {"case": one.number, "title": one.title, "document": one.document, "network": one.network, "do": one.doc}
            for one in wanted
        ]
        echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    table = Table(["case", "title", "network"], words=3)
    for one in wanted:
        table.add([one.number, one.title, one.network])
    draw(new_console(), table)


def _print(judgements: Sequence[Judgement]) -> None:
    console = new_console()
    header, rows = conformance.overview(judgements)
    table = Table(header, words=len(header))
    for one, cells in zip(judgements, rows, strict=True):
        table.add(cells, style="red" if one.verdict == "fails" else None)
    draw(console, table)
    for one in judgements:
        for check in one.checks:
            if check.holds is False:
                say(
                    console,
                    f"{one.case.number} {check.kind}: {check.what}: {check.seen}; expected {check.expected} "
                    f"({check.source})",
                )
    missing = dict.fromkeys(check.what for one in judgements for check in one.checks if check.seen == NOT_EXPORTED)
    if missing:
        say(console, f"The algorithm does not export {', '.join(missing)}. Checks that need them are not judged.")
    counts = [sum(one.verdict == verdict for one in judgements) for verdict in ("passes", "fails", "not judged")]
    say(
        console,
        f"{conformance.names_of(judgements)}: {counts[0]} of {len(judgements)} cases pass, {counts[1]} fail, "
        f"{counts[2]} are not judged.",
    )
