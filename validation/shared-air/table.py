"""Clients of one access point share its air: energy x delay of the client's shaper relative to eager clients.

python validation/shared-air/table.py [SEEDS]

Every client downloads 4.5 MB from a separate server, 60 ms away. The table has, for each number of clients, the mean
over seeds of a download's time, energy, and energy x delay, relative to eager clients with the same seed, and the half
width of the 95 % interval.
"""

import math
import statistics
import sys

from scipy import stats

from netlull import Air, Link, Result, Scenario, Station, Tcp

CLIENTS = (1, 2, 4, 8)
RADIO = "wavelan-dsss"


def cell(clients: int, mechanism: str) -> Scenario:
    """An access point with 20 Mb/s of air, which all its clients share."""
    numbers = range(1, clients + 1)
    noise = {"mean": "0.6 ms", "shape": 2.0}
    links: list[Link] = []
    for number in numbers:
        server, client = f"server-{number}", f"client-{number}"
        links += [
            Link(server, "ap", "100 Mb/s", "29.5 ms", "unlimited", noise=noise),
            Link("ap", server, "100 Mb/s", "29.5 ms", "unlimited", noise=noise),
            Link("ap", client, "20 Mb/s", buffer="unlimited", duplex=True, air="cell"),
        ]
    return Scenario(
        name=f"shared-air-{clients}-{mechanism}",
        duration="120 s",
        nodes=["ap", *(f"{kind}-{number}" for number in numbers for kind in ("server", "client"))],
        tcp={"preset": "freebsd-4.5", "delayed_ack_timeout": "40 ms"},
        links=links,
        airs=[Air("cell")],
        flows=[
            Tcp(f"download-{number}", f"server-{number}", f"client-{number}", size="4.5 MB", jitter="100 ms")
            for number in numbers
        ],
        stations=[
            Station([f"client-{number}" for number in numbers], radio=[RADIO], mechanism={"kind": mechanism}),
        ],
    )


def measures(result: Result, clients: int) -> tuple[float, float, float, float]:
    """Means over the clients: seconds, joules, joule seconds, missed packets."""
    downloads = [result.station(f"client-{number}")["download"] for number in range(1, clients + 1)]

    def mean(values: list[float]) -> float:
        return statistics.fmean(values)

    return (
        mean([download["seconds"] for download in downloads]),
        mean([download["energy_j"][RADIO] for download in downloads]),
        mean([download["energy_delay_js"][RADIO] for download in downloads]),
        mean([download["missed_packets"] for download in downloads]),
    )


def interval(values: list[float]) -> str:
    """The mean of values and the half width of its 95 % interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.fmean(values):.2f} ± {half:.2f}"


def main() -> None:
    """Prints the table."""
    seeds = range(1, 1 + (int(sys.argv[1]) if len(sys.argv) > 1 else 10))
    print("| clients | eager: time, energy | time | energy | energy x delay | missed packets |")
    print("|---|---|---|---|---|---|")
    for clients in CLIENTS:
        eager, shaper = (
            [measures(cell(clients, mechanism).run(seed=seed), clients) for seed in seeds]
            for mechanism in ("eager", "client_shaper")
        )
        ratios = [
            interval([own[place] / base[place] for own, base in zip(shaper, eager, strict=True)]) for place in range(3)
        ]
        seconds, joules = (statistics.fmean(base[place] for base in eager) for place in (0, 1))
        missed = statistics.fmean(own[3] for own in shaper)
        print(f"| {clients} | {seconds:.1f} s, {joules:.1f} J | {' | '.join(ratios)} | {missed:.1f} |")


if __name__ == "__main__":
    main()
