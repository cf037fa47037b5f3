"""The six networks of the benchmark, and the networks of the growth table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from network import Cbr, Link, Network, Requests, Transfer

PACKET_BYTES = 1500
ROUND_TRIP_S = 0.05
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Tolerance:
    """The tolerance of a peer's result: goodput relative, loss relative, or absolute for a very small loss."""

    goodput: float
    loss: float
    loss_floor: float = 2e-4


@dataclass(frozen=True)
class Bench:
    """A network, its run times in each simulator, and the tolerances of the peers.

    A node of ns-3 searches a list of its devices for each packet. Large networks therefore have fewer hosts there.
    `htsim` is None for traffic that its program does not run. `counted_s` has the run times of the two runs whose
    instructions are counted.
    """

    name: str
    title: str
    make: Callable[[float], Network]
    duration_s: float
    quick_s: float
    ns3_s: float
    ns3_quick_s: float
    ns2_quickest: str
    ns2: Tolerance
    ns3: Tolerance
    make_ns3: Callable[[float], Network] | None = None
    htsim: Tolerance | None = None
    counted_s: tuple[float, float] | None = None


def dumbbell(  # noqa: PLR0913  (all parameters of a dumb-bell in one place)
    name: str,
    duration_s: float,
    *,
    flows: int,
    rate_bps: int,
    access_bps: int,
    stagger_s: float,
    buffer: int | None = None,
    fair_start: bool = False,
    spread_s: float = 0.0,
    hosts: int | None = None,
) -> Network:
    """Returns source i -- N1 -- N2 -- N3 -- sink i, with equal router links and round trips of 50 ms +- `spread_s`.

    The default buffer is a bandwidth-delay product. With `fair_start`, slow start ends at a flow's share of it. With
    `hosts`, flows share sources and sinks.
    """
    bdp = rate_bps * ROUND_TRIP_S / 8 / PACKET_BYTES
    limit = round(bdp) if buffer is None else buffer
    pairs = min(flows, hosts or flows)
    sources, sinks = ([f"{what}{index}" for index in range(pairs)] for what in ("source", "sink"))
    quarter = (ROUND_TRIP_S - spread_s) / 4
    # Multiples of the golden ratio, which are spread evenly for any number of hosts.
    access = [round(spread_s / 2 * (GOLDEN * pair % 1.0), 9) for pair in range(pairs)]
    return Network(
        name=name,
        duration_s=duration_s,
        nodes=["N1", "N2", "N3", *sources, *sinks],
        links=[
            Link("N1", "N2", rate_bps, quarter, limit),
            Link("N2", "N3", rate_bps, quarter, limit),
            *(Link(source, "N1", access_bps, delay) for source, delay in zip(sources, access, strict=True)),
            *(Link("N3", sink, access_bps, delay) for sink, delay in zip(sinks, access, strict=True)),
        ],
        transfers=[
            Transfer(sources[flow % pairs], sinks[flow % pairs], round(flow * stagger_s, 9)) for flow in range(flows)
        ],
        ssthresh=max(2, round(bdp / flows)) if fair_start else None,
    )


def single(duration_s: float) -> Network:
    """Returns a dumb-bell with one flow."""
    return dumbbell("single", duration_s, flows=1, rate_bps=10**7, access_bps=10**8, stagger_s=0.0)


def twenty(duration_s: float) -> Network:
    """Returns a dumb-bell with twenty flows."""
    return dumbbell("twenty", duration_s, flows=20, rate_bps=10**7, access_bps=10**8, stagger_s=0.137)


def gigabit(duration_s: float, hosts: int | None = None) -> Network:
    """Returns a dumb-bell with a hundred flows at 1 Gb/s."""
    return dumbbell(
        "gigabit",
        duration_s,
        flows=100,
        rate_bps=10**9,
        access_bps=10**10,
        stagger_s=0.00137,
        fair_start=True,
        spread_s=0.01,
        hosts=hosts,
    )


def ten_gigabit(duration_s: float, hosts: int | None = None) -> Network:
    """Returns a dumb-bell with a thousand flows at 10 Gb/s."""
    return dumbbell(
        "ten-gigabit",
        duration_s,
        flows=1000,
        rate_bps=10**10,
        access_bps=10**11,
        stagger_s=0.000137,
        fair_start=True,
        spread_s=0.01,
        hosts=hosts,
    )


def web(duration_s: float) -> Network:
    """Returns a dumb-bell with requests at a load of 0.8 of 10 Mb/s."""
    network = dumbbell("web", duration_s, flows=1, rate_bps=10**7, access_bps=10**8, stagger_s=0.0)
    return Network(
        name=network.name,
        duration_s=duration_s,
        nodes=network.nodes,
        links=network.links,
        requests=Requests("source0", "sink0", 8 * 10**6, 30_000, 1.35, 30_000_000),
    )


# Abilene as in greened-network-2012: nodes in alphabetical order, with longitude and latitude in degrees.
ABILENE_NODES = {
    "ATLAM5": (-84.383, 33.750),
    "ATLAng": (-85.500, 34.500),
    "CHINng": (-87.617, 41.833),
    "DNVRng": (-105.000, 40.750),
    "HSTNng": (-95.517, 29.770),
    "IPLSng": (-86.160, 39.781),
    "KSCYng": (-96.597, 38.962),
    "LOSAng": (-118.250, 34.050),
    "NYCMng": (-73.967, 40.783),
    "SNVAng": (-122.026, 37.386),
    "STTLng": (-122.300, 47.600),
    "WASHng": (-77.027, 38.897),
}
ABILENE_LINKS = "0-1 1-4 1-5 1-11 2-5 2-8 3-6 3-9 3-10 4-6 4-7 5-6 7-9 8-11 9-10"
ABILENE_BPS = 40 * 10**6
ABILENE_SEGMENT_BYTES = 1000
CBR_SHARE = 0.25
# Not TCP's size: exactly four packets in an interval would lock the phases, and one of the two would get all drops.
CBR_PACKET_BYTES = 1000
EARTH_KM = 6371.0
LIGHT_IN_FIBRE_KM_PER_S = 200_000.0


def abilene(duration_s: float) -> Network:
    """Returns Abilene with data from New York to Seattle over five links, and CBR at a quarter of every link's rate."""
    names = list(ABILENE_NODES)
    pairs = [tuple(names[int(end)] for end in link.split("-")) for link in ABILENE_LINKS.split()]
    streams = [ends for one, other in pairs for ends in ((one, other), (other, one))]
    cbr_bps = round(CBR_SHARE * ABILENE_BPS)
    interval_s = 8 * CBR_PACKET_BYTES / cbr_bps
    return Network(
        name="abilene",
        duration_s=duration_s,
        nodes=names,
        # More than the BDP of the path, 226 packets.
        links=[Link(one, other, ABILENE_BPS, abilene_delay_s(one, other), 250) for one, other in pairs],
        transfers=[Transfer("NYCMng", "STTLng", 0.1)],
        # Evenly spread over an interval, so that no two streams send at once.
        cbr=[
            Cbr(
                one,
                other,
                round(CBR_SHARE * ABILENE_BPS),
                CBR_PACKET_BYTES,
                round(interval_s * index / len(streams), 9),
            )
            for index, (one, other) in enumerate(streams)
        ],
        mss=ABILENE_SEGMENT_BYTES,
        ssthresh=150,
    )


def abilene_delay_s(one: str, other: str) -> float:
    """Returns the great-circle distance over the speed of light in fibre, to 10 us."""
    (lon1, lat1), (lon2, lat2) = (map(math.radians, ABILENE_NODES[name]) for name in (one, other))
    cosine = math.sin(lat1) * math.sin(lat2) + math.cos(lat1) * math.cos(lat2) * math.cos(lon1 - lon2)
    return round(EARTH_KM * math.acos(cosine) / LIGHT_IN_FIBRE_KM_PER_S, 5)


BENCHES = (
    Bench(
        "single", "single flow, 10 Mb/s", single, 300, 60, 300, 20, "Splay",
        ns2=Tolerance(0.01, 0.05), ns3=Tolerance(0.03, 0.5), htsim=Tolerance(0.03, 0.5),
        counted_s=(20, 60),
    ),
    Bench(
        "twenty", "20 flows, 10 Mb/s", twenty, 600, 100, 300, 20, "Splay",
        ns2=Tolerance(0.01, 0.05), ns3=Tolerance(0.03, 0.3), htsim=Tolerance(0.03, 0.3),
        counted_s=(20, 60),
    ),
    Bench(
        "gigabit", "100 flows, 1 Gb/s", gigabit, 60, 3, 4, 0.3, "Calendar",
        ns2=Tolerance(0.01, 0.1), ns3=Tolerance(0.05, 0.5), make_ns3=partial(gigabit, hosts=32),
        htsim=Tolerance(0.05, 0.5), counted_s=(1, 2),
    ),
    Bench(
        "ten-gigabit", "1,000 flows, 10 Gb/s", ten_gigabit, 10, 1, 1, 0.3, "Calendar",
        ns2=Tolerance(0.01, 0.1), ns3=Tolerance(0.05, 0.5), make_ns3=partial(ten_gigabit, hosts=32),
        htsim=Tolerance(0.05, 0.5), counted_s=(0.6, 0.9),
    ),
    Bench(
        "web", "web load 0.8, 10 Mb/s", web, 600, 60, 600, 20, "Splay",
        ns2=Tolerance(0.02, 0.2), ns3=Tolerance(0.05, 0.5),
    ),
    Bench(
        "abilene", "Abilene, CBR on every link", abilene, 100, 20, 40, 4, "Calendar",
        ns2=Tolerance(0.02, 0.1), ns3=Tolerance(0.05, 0.5),
    ),
)  # fmt: skip


def growing(flows: int, hosts: int, rate_bps: int, duration_s: float) -> Network:
    """Returns a dumb-bell of `flows` flows between `hosts` hosts on either side. All flows start within 0.1 s."""
    return dumbbell(
        f"{flows} flows",
        duration_s,
        flows=flows,
        rate_bps=rate_bps,
        access_bps=10 * rate_bps,
        stagger_s=0.1 / flows,
        fair_start=True,
        spread_s=0.01,
        hosts=hosts,
    )
