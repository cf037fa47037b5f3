"""The seven sites of client-centered-2004: the paper's printed values, and scenarios and axes made of them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

import netlull
from conftest import SHIPPED
from netlull import Axis, AxisPoint, ClientShaper, Eager, InputError, Psm, Scenario, Sweep, site
from netlull.library import sites
from netlull.quantities import in_unit

Printed = Callable[..., str]

FIG_4 = {"uiuc": 21, "sun": 50, "freebsd": 57, "stanford": 58, "washington": 61, "jriver": 63, "intel": 91}


def test_round_trips_are_those_of_figure_4() -> None:
    assert {name: round(1e3 * one.round_trip_s) for name, one in sites().items()} == FIG_4
    for one in sites().values():
        assert one.source.startswith("Fig. 4:")
        assert one.reading
        # "an ftp download ..., requesting a file between 4 and 5 MB": section IV-A-a.
        assert 4 <= float(one.size.removesuffix(" MB")) <= 5


def test_noise_is_scaled_to_the_round_trip() -> None:
    # 2 % of 50 ms.
    assert site("sun").values()["link.server-access-point.noise"] == {"mean": "1000000 ns", "shape": 2.0}
    assert {one.noise_share for one in sites().values()} == {0.02}


def test_another_round_trip_scales_the_noise() -> None:
    # 2 % of 200 ms, not of intel's 91.
    far = dataclasses.replace(site("intel"), round_trip_s=0.2)
    assert far.noise_mean_s == pytest.approx(0.004)
    assert far.values()["link.server-access-point.noise"] == {"mean": "4000000 ns", "shape": 2.0}
    assert dataclasses.replace(far, noise_share=0.0).values()["link.server-access-point.noise"] is None


def test_both_ends_are_those_of_the_paper_folder() -> None:
    paper = Scenario.from_file(SHIPPED / "papers" / "client-centered-2004" / "scenario.toml").to_dict()["tcp"]
    for one in netlull.all_sites().values():
        assert one.scenario().to_dict()["tcp"] == {**paper, "send_buffer": one.window}, one.name


def test_stanford_s_product_is_that_of_the_paper_folder() -> None:
    # The paper says 1.2, the folder's report 1.15.
    product = "station.client.download.energy_delay_js.wavelan-dsss"
    shaped, baseline = (site("stanford").scenario(kind).run(1).metric(product) for kind in (ClientShaper(), Eager()))
    assert shaped / baseline == pytest.approx(1.15, abs=0.1)


def test_a_site_runs_by_its_name(printed: Printed, refused: Printed) -> None:
    short = ("--set", "flow.download.size=100 kB", "--set", "duration=2 s", "--seed", "3", "--json")
    (station,) = json.loads(printed("run", "stanford", *short))["stations"]
    assert (station["name"], station["mechanism"]) == ("client", "client_shaper")
    (station,) = json.loads(printed("run", "stanford", "--set", "station.client.mechanism.kind=psm", *short))[
        "stations"
    ]
    assert station["mechanism"] == "psm"
    assert "did you mean stanford?" in refused("run", "stanfrod")
    assert "or a site: uiuc, sun, freebsd, stanford" in refused("run", "x")
    assert refused("run", "stanford", "--set", "duration=2").startswith("netlull: stanford: duration")


def test_an_unknown_site_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match='site "standford" is unknown; did you mean stanford'):
        site("standford")


def test_a_round_trip_takes_what_it_says() -> None:
    calm = dataclasses.replace(site("intel"), noise_share=0.0)
    run = calm.scenario(Eager(), duration="1 s", probe={"stations": True}).run()
    air = run.series("air").to_pylist()
    opened = next(row for row in air if row["kind"] == "sent")
    first = next(row for row in air if row["kind"] == "data" and row["time_s"] > opened["end_s"])
    # From the answer to the SYN to the first data: 91 ms, and 0.12 ms for 1500 B at 100 Mb/s.
    assert first["time_s"] - opened["end_s"] == pytest.approx(0.09112, abs=1e-5)


def test_uiuc_and_stanford_take_the_paper_s_time() -> None:
    # "The entire 5MB file takes only 2 seconds": 5 MB in packets of 1448 of 1500 B are 2.07 s on the air; the first
    # round trips, from two packets on. A quarter, as claim C10 allows: the paper's number has one digit.
    assert site("uiuc").scenario(Eager()).run().station("client")["download"]["seconds"] == pytest.approx(2, rel=0.25)
    # "7.48 seconds to 5.15 seconds". A tenth, as claim C5 allows: one run on one day, whose noise is not printed. 74
    # windows of 65.2 kB at 58 ms, 2 % of noise and the first packet's 0.7 ms on its way are 4.4 s; slow start the rest.
    seconds = site("stanford").scenario(Eager()).run().station("client")["download"]["seconds"]
    assert seconds == pytest.approx(5.15, rel=0.1)


def test_the_paper_s_sweep_says_the_same_of_each_site() -> None:
    sweep = SHIPPED / "papers" / "client-centered-2004" / "sweep.toml"
    # The paper's first axis value of `air` is 20 Mb/s.
    swept = {
        point.values["site"]: point.scenario
        for point in Sweep.from_file(sweep).points()
        if point.experiment == "sites" and (point.values["air"], point.values["client"]) == (20, "baseline TCP")
    }
    assert len(swept) == len(sites())
    for name, one in sites().items():
        ours, theirs = (_download(scenario) for scenario in (one.scenario(Eager()), swept[name]))
        assert ours == theirs, one.name


def _download(scenario: Scenario) -> dict[str, Any]:
    """The parameters of a download, in seconds and bits, without names."""
    document = scenario.to_dict()
    (flow,) = document["flow"]
    found: dict[str, Any] = {"size": flow["size"], "jitter": flow["jitter"], "tcp": document["tcp"]}
    for link in document["link"]:
        noise, loss = link.get("noise"), link.get("loss", {"probability": 0.0})
        found[f"{link['from']}-{link['to']}"] = {
            "rate": link["rate"],
            "delay_ns": _ns(link.get("delay", "0 ms")),
            "noise": noise and (_ns(noise["mean"]), noise["shape"]),
            "loss": loss["probability"],
        }
    return found


def _ns(quantity: str) -> int:
    return round(1e9 * (in_unit(quantity, "s") or 0.0))


def test_a_site_takes_other_mechanisms_and_senders() -> None:
    options = {"preset": None, "congestion_control": "cubic", "send_buffer": None}
    modern = site("sun").scenario(Psm(), tcp=options, duration="30 s")
    document = modern.to_dict()
    assert document["station"][0]["mechanism"]["kind"] == "psm"
    assert document["tcp"]["congestion_control"] == "cubic"
    assert not {"preset", "send_buffer"} & set(document["tcp"])
    assert site("sun").scenario().to_dict()["tcp"]["send_buffer"] == "32 KiB"
    assert site("sun").scenario().name == "sun"


def test_losses_are_those_of_the_path() -> None:
    lossy = dataclasses.replace(site("sun"), loss=0.01, size="500 kB")
    run = lossy.scenario(Eager()).run()
    assert run.link("server-access-point")["lost_packets"] > 0
    assert run.link("access-point-client")["lost_packets"] == 0


def test_an_axis_of_sites_is_a_sweep_over_their_scenarios() -> None:
    base = site("intel").scenario(ClientShaper())
    places = [AxisPoint(1e3 * one.round_trip_s, name, one.values()) for name, one in sites().items()]
    points = Sweep(base, [Axis("site", points=places)], 1, {"s": "station.client.download.seconds"}).points()
    assert len(points) == 7
    for point, (name, one) in zip(points, sites().items(), strict=True):
        own = one.scenario(ClientShaper()).with_values({"name": "x", "description": None})
        assert point.scenario.with_values({"name": "x", "description": None}) == own, name


def test_sites_are_listed_with_their_readings(printed: Printed) -> None:
    text = printed("list", "sites")
    for name in FIG_4:
        assert name in text
    assert "cs.stanford.edu: 58 ms away, 4.8 MB" in text
    assert "no room for losses" in " ".join(text.split())
    found = json.loads(printed("list", "sites", "--json"))
    assert [one["name"] for one in found] == list(FIG_4)
    assert found[0]["set"]["flow.download.size"] == "5 MB"
    assert netlull.site("uiuc") is netlull.all_sites()["uiuc"]
