"""Draws the first picture of the README from the shipped results of the benchmark: `tools/first_picture.py FILE`.

Left the energy of the link, right the time that users wait: means over the cells with web load.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from netlull import benchmark
from netlull.benchmark.page import shipped
from netlull.plot import COLOURS, DOUBLE_COLUMN, figure, save_as, styled

WEB = "web"
SHOWN = {"always-on": "always on", "practra-10": "practRA", "lull": "Lull"}


def main(file: Path) -> None:
    """Draws the picture into `file`."""
    definition = benchmark.Definition.load()
    web = {cell.name for cell in definition.cells if cell.family == WEB}
    records = {record.name: record for record in shipped()}
    energies, waits = [], []
    for name in SHOWN:
        cells = [cell for cell in records[name].cells if cell.name in web]
        energies.append(100 * math.fsum(math.fsum(cell.energy) / len(cell.energy) for cell in cells) / len(cells))
        waits.append(100 * math.exp(math.fsum(math.log(cell.slowdown) for cell in cells) / len(cells)))
    with styled():
        drawn = figure(DOUBLE_COLUMN, 1.7)
        left, right = drawn.subplots(1, 2, sharey=True)
        for axes, values, title in ((left, energies, "Energy of the link"), (right, waits, "Time that users wait")):
            axes.barh(list(SHOWN.values()), values, color=[COLOURS[6], COLOURS[1], COLOURS[2]], height=0.65)
            for place, value in enumerate(values):
                axes.text(value + 2, place, f"{value:.0f} %", va="center")
            axes.set_xlim(0, 1.15 * max(*values, 100))
            axes.set_title(title, loc="left")
            axes.set_xlabel("% of always on")
            axes.grid(visible=False, axis="y")
        left.invert_yaxis()
    save_as(drawn, file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
