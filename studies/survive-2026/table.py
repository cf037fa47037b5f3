"""Writes the table of the page `survive-2026` from the stored runs of the study and of its three parts.

    python studies/survive-2026/table.py out/survive-2026    # after netlull reproduce survive-2026 --full --out out
    python studies/survive-2026/table.py                     # the Markdown again, from savings.csv

`savings.csv` has the numbers of each cell with the build of the engine.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq

from netlull.papers import Evidence, Grid, folder_of, load
from netlull.papers.source import module_of

PAPER = load(folder_of("survive-2026"))
NUMBERS = Path(__file__).parent / "savings.csv"
PAGE = PAPER.info.folder / "README.md"
BEGIN, END = "<!-- table, of studies/survive-2026/table.py -->\n", "<!-- end -->"
MEASURES = module_of(PAPER.info.folder, "measures")
PARTS = ("", "idle", "sleep", "client")
"""The study's own sweep, and its parts."""


def collect(folder: Path) -> None:
    """Writes `savings.csv` from the folder of the reproduction."""
    found = []
    for part in PARTS:
        store = (folder / "studies" / part if part else folder) / "store"
        engine = json.loads((store / "sweep.json").read_text(encoding="utf-8"))["engine"]
        table = pq.read_table(store / "results.parquet")
        axes = [name for name in table.column_names if f"{name}_label" in table.column_names]
        evidence = Evidence(PAPER, Grid(table, axes), {})
        found += [{**record, "engine": engine} for record in MEASURES.records(evidence)]
    with NUMBERS.open("w", encoding="utf-8", newline="\n") as file:
        rows = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        rows.writeheader()
        rows.writerows(found)


def markdown() -> str:
    """The tables of `savings.csv`: one for drop-tail, one for CoDel."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    (engine,) = {record["engine"] for record in found}
    parts = [f"Made by `python studies/survive-2026/table.py` from `savings.csv`, engine {engine}."]
    for queue in MEASURES.QUEUES:
        lines = [MEASURES.HEADER, ["---"] * len(MEASURES.HEADER), *MEASURES.rows(found, queue)]
        parts.append(f"**{queue}**. {MEASURES.CAPTION}")
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """The study's page with the tables."""
    head, begin, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    return f"{head}{begin}{markdown()}{end}{tail}"


if __name__ == "__main__":
    if sys.argv[1:]:
        collect(Path(sys.argv[1]))
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
