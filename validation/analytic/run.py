"""Compares simulations with closed forms; run it with `python validation/analytic/run.py`.

Prints one table per law, with the tolerance and whether it is met, and exits 1 if one is not. With `--store` the tables
also replace the text in `stored/`. Seeds are fixed, so the numbers are the same everywhere.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import netlull

HERE = Path(__file__).parent
PACKET_BYTES = 1500
MSS_BYTES = 1460


@dataclass(frozen=True)
class Row:
    """One comparison: what was set, what came out, what theory says, how far apart they may be."""

    case: str
    measured: float
    theory: float
    tolerance: float

    @property
    def error(self) -> float:
        """Relative difference from theory."""
        return self.measured / self.theory - 1.0

    @property
    def holds(self) -> bool:
        """Whether the difference is within the tolerance."""
        return abs(self.error) <= self.tolerance


@dataclass(frozen=True)
class Law:
    """A law with its rows."""

    name: str
    title: str
    unit: str
    rows: list[Row]

    def table(self) -> str:
        """The law as text."""
        head = f"{'case':<28} {'measured':>14} {'theory':>14} {'error':>9} {'allowed':>9}  verdict"
        lines = [f"{self.title} [{self.unit}]", head]
        for row in self.rows:
            verdict = "ok" if row.holds else "NOT MET"
            lines.append(
                f"{row.case:<28} {row.measured:>14.9g} {row.theory:>14.9g}"
                f" {row.error:>+9.2%} {row.tolerance:>9.2%}  {verdict}"
            )
        return "\n".join(lines) + "\n"


def one_link(duration: str, link: dict[str, object], flow: dict[str, object]) -> netlull.Scenario:
    """Two nodes and a link there (and back, for TCP)."""
    wire = {"from": "a", "to": "b", "duplex": True, "rate": "10 Mb/s", "buffer": "unlimited"} | link
    return netlull.Scenario.from_dict(
        {"name": "analytic", "duration": duration, "nodes": ["a", "b"], "link": [wire], "flow": [flow]}
    )


def serialisation() -> Law:
    """N back-to-back packets end at exactly floor(8 L n 10^9 / r): the last of them tells the sum of all."""
    rows = []
    for rate_bps in (7_000_003, 9_999_991, 64_000):
        flow = {"kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "20 Mb/s"}
        scenario = one_link("10 s", {"rate": f"{rate_bps} b/s"}, flow)
        delivered = scenario.run(seed=1).metric("link.a-b.delivered_packets")
        whole = 10 * 10**9 * rate_bps // (8 * PACKET_BYTES * 10**9)
        rows.append(Row(f"packets in 10 s at {rate_bps} b/s", delivered, float(whole), 0.0))
    return Law("serialisation", "Serialisation: packets that a busy link delivers", "packets", rows)


def md1() -> Law:
    """M/D/1: mean wait rho s / (2 (1 - rho)) (Pollaczek-Khinchine with no variance of service)."""
    service_s = 8 * PACKET_BYTES / 10e6
    rows = []
    for load, tolerance in ((0.3, 0.01), (0.5, 0.01), (0.8, 0.02), (0.9, 0.05)):
        flow = {"kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": f"{load * 10:g} Mb/s"}
        wait_s = one_link("6000 s", {}, flow).run(seed=1).metric("link.a-b.mean_wait_s")
        rows.append(Row(f"load {load}", wait_s * 1e3, load * service_s / (2 * (1 - load)) * 1e3, tolerance))
    return Law("md1", "M/D/1: mean wait of a packet", "ms", rows)


def reno_loss() -> Law:
    """Reno's window under independent loss: 1.31 / sqrt(p) segments on time average (Ott, Kemperman, Mathis 1996).

    The path has no queue to speak of and room for every window; each segment is acknowledged. At larger p timeouts take
    their toll, which the law leaves out, so its range ends there.
    """
    rtt_s = 0.1
    rows = []
    windows = []
    losses = (1e-4, 3e-4, 1e-3, 3e-3)
    for loss in losses:
        link = {
            "rate": "10 Gb/s",
            "delay": f"{rtt_s / 2 * 1e3:g} ms",
            "loss": {"kind": "bernoulli", "probability": loss},
        }
        flow = {
            "kind": "tcp",
            "name": "t",
            "from": "a",
            "to": "b",
            "tcp": {"delayed_ack": False, "timestamps": False, "min_rto": "200 ms"},
        }
        goodput_bps = one_link("10000 s", link, flow).run(seed=1).metric("flow.t.goodput_bps")
        windows.append(goodput_bps * rtt_s / 8 / MSS_BYTES)
        rows.append(Row(f"window at p = {loss:g}", windows[-1], 1.31 / math.sqrt(loss), 0.08))
    slope = float(np.polyfit(np.log(losses), np.log(windows), 1)[0])
    rows.append(Row("exponent of p", slope, -0.5, 0.04))
    return Law("reno-loss", "NewReno under random loss: 1.31 / sqrt(p)", "segments", rows)


LAWS = (serialisation, md1, reno_loss)


def main() -> int:
    """Runs every law; 1 if one is not met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="replace the tables in stored/")
    arguments = parser.parse_args()
    met = True
    for law in (make() for make in LAWS):
        print(law.table())
        met = met and all(row.holds for row in law.rows)
        if arguments.store:
            (HERE / "stored" / f"{law.name}.txt").write_text(law.table())
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
