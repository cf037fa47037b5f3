"""Writes the administrators' table from the stored runs of the study `ports`.

    python studies/eee-2026/table.py out/eee-2026    # after netlull reproduce eee-2026 --study ports --full --out out
    python studies/eee-2026/table.py                 # the Markdown again, from ports.csv

`ports.csv` has the numbers of each cell with the build of the engine, `table.md` the tables. Those of low-power idle
without coalescing also stand in docs/how-to/eee.md.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq

from netlull.papers import Evidence, Grid, folder_of, load
from netlull.papers.source import module_of

HERE = Path(__file__).parent
NUMBERS, TABLE = HERE / "ports.csv", HERE / "table.md"
PAGE = HERE.parents[1] / "docs" / "how-to" / "eee.md"
BEGIN, END = "<!-- eee-2026: table, of studies/eee-2026/table.md -->\n", "<!-- end -->"
PAPER = load(folder_of("eee-2026"))
PORTS = module_of(PAPER.info.folder, "ports")


def collect(study: Path) -> None:
    """Writes `ports.csv` from the folder of the study."""
    store = study / "store"
    engine = json.loads((store / "sweep.json").read_text(encoding="utf-8"))["engine"]
    table = pq.read_table(store / "results.parquet")
    axes = [name for name in table.column_names if f"{name}_label" in table.column_names]
    found = PORTS.records(Evidence(PAPER, Grid(table, axes), {}))
    with NUMBERS.open("w", encoding="utf-8", newline="\n") as file:
        rows = csv.DictWriter(file, [*found[0], "engine"], lineterminator="\n")
        rows.writeheader()
        rows.writerows({**record, "engine": engine} for record in found)


def markdown(*settings: str) -> str:
    """The tables of `ports.csv`, of all settings or of some."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    (engine,) = {record["engine"] for record in found}
    parts = [f"Made by `python studies/eee-2026/table.py` from `ports.csv`, engine {engine}."]
    for setting in settings or dict.fromkeys(record["setting"] for record in found):
        chosen = [record for record in found if record["setting"] == setting]
        for caption, header, rows in (PORTS.sleep_table(chosen), PORTS.tcp_table(chosen)):
            lines = [header, ["---"] * len(header), *rows]
            parts.append(f"**{setting}**: {caption}")
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """The page for administrators with the tables of low-power idle."""
    text = PAGE.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    return f"{head}{begin}{markdown('LPI')}{end}{tail}"


if __name__ == "__main__":
    if sys.argv[1:]:
        collect(Path(sys.argv[1]) / "studies" / "ports")
    TABLE.write_text(markdown(), encoding="utf-8", newline="\n")
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
