"""`netlull plot doze`: the radio's states over time, their drawing, the span shown, refusals."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from conftest import MODERN, SHIPPED, doze
from netlull import (
    Bsd,
    Cbr,
    ClientShaper,
    Eager,
    FieldPathError,
    InputError,
    Psm,
    Radio,
    Result,
    Scenario,
    Station,
    TcpOptions,
)
from netlull.plot import Air, air_of, doze_figure
from netlull.plot.air import offsets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Printed = Callable[..., str]


@pytest.fixture(scope="module")
def shaped() -> Result:
    return doze(ClientShaper()).run()


@pytest.fixture(scope="module")
def polled() -> Result:
    return doze(Psm(access_point={"poll": "one"})).run()


def _stretch_s(air: Air, state: str) -> float:
    (one,) = [stretch for stretch in air.stretches if stretch.state == state]
    return float(np.sum(one.to_s - one.from_s))


@pytest.mark.parametrize("mechanism", [None, ClientShaper(), Psm(), Psm(access_point={"poll": "all"}), Bsd()])
def test_the_times_drawn_are_those_of_the_energy(mechanism: object) -> None:
    result = doze(mechanism).run()
    air = air_of(result)
    station = result.station("client")
    for state in ("asleep", "waking", "idle", "receiving", "transmitting"):
        # The figure omits packets whose beginning the radio missed: 0.6 ms each at most.
        assert _stretch_s(air, state) == pytest.approx(
            station[f"{state}_s"], abs=1e-6 + 6e-4 * station["missed_packets"]
        )
    joules = sum(_stretch_s(air, state) * power for state, power in air.powers_w.items())
    assert joules == pytest.approx(station["energy"]["wavelan-dsss"]["total_j"], rel=1e-3)


def test_places_in_the_download_begin_at_zero_and_end_at_its_size(shaped: Result) -> None:
    air = air_of(shaped)
    data = air.offset_bytes[air.kind == "data"]
    # 1 MB in segments of 1448 B: the last begins at 690 x 1448 B = 999,120 B.
    assert (data.min(), data.max()) == (0, 999_120)


def test_sequence_numbers_may_begin_again() -> None:
    # Two segments of 1448 B around 2^32, from an opening with the number 2^32 - 1000.
    seq = [2**32 - 1000, 2**32 - 999, 449, 1897]
    kind = np.array(["data", "data", "data", "ack"])
    assert offsets(pa.table({"seq": seq}), kind).tolist() == [0, 0, 1448, 2896]


def test_packets_after_a_silence_are_another_burst(shaped: Result) -> None:
    air = air_of(shaped)
    packets = air.burst >= 0
    # Bursts end with open acknowledgements: the packets between two of them belong to one burst.
    opened = air.time_s[air.kind == "open"][2:-1]
    for begin, end in pairwise(opened):
        between = packets & (air.time_s > begin) & (air.time_s < end)
        assert len(set(air.burst[between])) == 1
    assert (air.burst[~packets] == -1).all()


def test_powers_are_those_of_the_radio_asked_for(shaped: Result) -> None:
    assert air_of(shaped).powers_w["asleep"] == pytest.approx(0.177)
    modern = air_of(shaped, radio="modern").powers_w
    # Waking uses the power of idling by default.
    assert modern == {"asleep": 0.01, "waking": 0.5, "idle": 0.5, "receiving": 0.9, "transmitting": 1.2}
    waking = Radio(**{**vars(MODERN), "waking": "700 mW"})
    told = doze(stations=[Station(["client"], radio=[waking])], probe={"stations": True}).run()
    assert air_of(told).powers_w["waking"] == pytest.approx(0.7)


def test_the_figure_has_three_panels_and_says_what_the_download_cost(shaped: Result) -> None:
    drawn = doze_figure(shaped)
    assert [axes.get_title(loc="left")[:3] for axes in drawn.axes] == ["(a)", "(b)", "(c)"]
    assert [axes.get_ylabel().replace("\n", " ") for axes in drawn.axes] == [
        "Place in the download (kB)",
        "Window (kB)",
        "Power (W)",
    ]
    assert drawn.axes[-1].get_xlabel() == "Time (s)"
    download = shaped.station("client")["download"]
    title = drawn.get_suptitle()
    assert f"{download['seconds']:.3g} s x {download['energy_j']['wavelan-dsss']:.3g} J" in title
    assert "client: client shaper" in title
    names = {text.get_text() for text in drawn.legends[0].get_texts()}
    assert {"received", "closed acknowledgement", "open acknowledgement", "asleep", "waking", "idle"} <= names
    assert not names & {"beacon", "poll"}
    assert doze_figure(shaped, title="mine").get_suptitle() == "mine"


def test_open_acknowledgements_open_the_window_and_closed_ones_close_it(shaped: Result) -> None:
    windows = doze_figure(shaped).axes[1]
    (opened,) = [line for line in windows.lines if line.get_marker() == "^"]
    (closed,) = [line for line in windows.lines if line.get_markerfacecolor() == "white"]
    assert set(np.asarray(opened.get_ydata())) == {65.535}
    assert set(np.asarray(closed.get_ydata())) == {0.0}


def test_missed_packets_are_crosses_where_they_were(shaped: Result) -> None:
    air = air_of(shaped)
    drawn = doze_figure(shaped, whole=True)
    (crosses,) = [line for line in drawn.axes[0].lines if line.get_marker() == "x"]
    assert len(np.asarray(crosses.get_xdata())) == shaped.station("client")["missed_packets"]
    assert set(np.asarray(crosses.get_xdata())) == set(air.end_s[air.kind == "missed"])


def test_beacons_and_polls_are_shown_where_there_are_some(polled: Result) -> None:
    drawn = doze_figure(polled)
    assert len(drawn.axes) == 4
    strip, power = drawn.axes[2:]
    (beacons,) = [line for line in strip.lines if line.get_marker() == "v"]
    # Five beacon periods of 100 ms.
    assert len(np.asarray(beacons.get_xdata())) == 5
    # Their lines are separate, not at a power that no radio has: transmitting draws 1.675 W.
    assert [label.get_text() for label in strip.get_yticklabels()] == ["beacons", "polls"]
    assert power.get_ylim() == (0, pytest.approx(1.05 * 1.675))
    assert not power.lines
    assert strip.get_title(loc="left") == "(c) Radio, and the beacons that it hears and its polls"


@pytest.mark.parametrize("poll", ["one", "all"])
def test_the_title_says_what_a_poll_brings(poll: str) -> None:
    drawn = doze_figure(doze(Psm(access_point={"poll": poll})).run())
    assert f"psm (poll = {poll})" in drawn.get_suptitle()


def _legend(result: Result, **options: Any) -> set[str]:
    return {text.get_text() for text in doze_figure(result, **options).legends[0].get_texts()}


def test_an_acknowledgement_is_open_only_after_closed_ones(shaped: Result) -> None:
    names = _legend(doze(Eager()).run(), whole=True)
    assert {"eager acknowledgement", "other acknowledgement"} <= names
    assert "open acknowledgement" not in names
    # Without timestamps the shaper gives up before its first closed acknowledgement.
    names = _legend(doze(ClientShaper(), tcp=TcpOptions(timestamps=False)).run(), whole=True)
    assert "eager acknowledgement" in names
    assert not names & {"open acknowledgement", "closed acknowledgement"}
    # A shaper that works to the end has eager ones only before its first closed one.
    air = air_of(shaped)
    assert air.time_s[air.kind == "eager"].max(initial=0) < air.time_s[air.kind == "closed"].min()


def _panel_words(drawn: Figure) -> list[str]:
    return [text.get_text() for axes in drawn.axes for text in axes.texts]


def test_a_station_of_datagrams_has_packets_by_size_and_no_download() -> None:
    drawn = doze_figure(doze(Psm(), flows=[Cbr("calls", "server", "client", "1 Mb/s")], duration="1 s").run())
    assert "no TCP download" in drawn.get_suptitle()
    assert "not complete" not in drawn.get_suptitle()
    packets = drawn.axes[0]
    assert packets.get_ylabel() == "Size of the\npacket (B)"
    assert {float(y) for line in packets.lines for y in np.asarray(line.get_ydata())} == {1500.0}
    assert _panel_words(drawn) == ["no TCP download"]


def test_datagrams_beside_a_download_have_no_place_in_it() -> None:
    # The datagram precedes the opening, but the first number is the opening's.
    kind = np.array(["data", "data", "data", "data", "ack"])
    found = offsets(pa.table({"seq": [0, 5_000, 5_001, 0, 6_449]}), kind)
    assert np.isnan(found).tolist() == [True, False, False, True, False]
    assert found[[1, 2, 4]].tolist() == [0, 0, 1448]


def test_where_there_is_nothing_the_panels_say_so(shaped: Result, polled: Result) -> None:
    # 1 MB has arrived after 1.1 s.
    after = doze_figure(shaped, span_s=(3.0, 3.5))
    assert _panel_words(after) == ["nothing on the air for the station", "no acknowledgement"]
    assert all(not len(axes.get_yticks()) for axes in after.axes[:2])
    assert after.axes[0].get_xlim() == (3.0, 3.5)
    # Beacons continue.
    assert _panel_words(doze_figure(polled, span_s=(3.0, 3.5))) == ["no packet for the station", "no acknowledgement"]


def test_no_axis_of_windows_goes_down_to_nothing(shaped: Result) -> None:
    air = air_of(shaped)
    # A closed acknowledgement and the next packet: the only window is 0, drawn on the scale of the rest.
    first = int(np.flatnonzero(air.kind == "closed")[5])
    span = (float(air.time_s[first]) - 1e-6, float(air.end_s[first]) + 1e-6)
    assert doze_figure(shaped, span_s=span).axes[1].get_ylim()[1] == pytest.approx(1.18 * 65.535)


def test_some_bursts_in_the_middle_are_shown_unless_more_is_asked_for(shaped: Result) -> None:
    download = shaped.station("client")["download"]
    start, end = doze_figure(shaped).axes[0].get_xlim()
    wakes = air_of(shaped).wakes_s
    assert 4 <= np.sum((wakes >= start) & (wakes <= end)) <= 6
    assert 0 <= start < end <= 1.02 * download["seconds"]
    start, end = doze_figure(shaped, whole=True).axes[0].get_xlim()
    assert (start, end) == (0.0, pytest.approx(1.01 * download["seconds"]))
    assert doze_figure(shaped, span_s=(0.1, 0.3)).axes[0].get_xlim() == (0.1, 0.3)
    assert doze_figure(shaped, span_s=(0.1, None)).axes[0].get_xlim()[1] == end


def test_many_changes_are_shown_as_mean_power_over_bins() -> None:
    # 3 MB are 2072 packets, received or not: more changes of state than the figure draws one by one.
    result = doze(flows=[{"kind": "tcp", "name": "d", "from": "server", "to": "client", "size": "3 MB"}]).run()
    power = doze_figure(result, whole=True).axes[2]
    assert "mean power over" in power.get_title(loc="left")
    tops = [float(shape.get_paths()[0].vertices[:, 1].max()) for shape in power.collections]
    # Stacked: the top is the sum of all states, at most the power of transmitting and at least that of idling.
    assert 1.319 <= max(tops) <= 1.675


def test_a_station_that_never_sleeps_or_never_ends_can_be_drawn() -> None:
    assert "always on" in doze_figure(doze().run()).get_suptitle()
    unfinished = doze(ClientShaper(), duration="300 ms").run()
    assert "download not complete" in doze_figure(unfinished).get_suptitle()
    assert doze_figure(unfinished, whole=True).axes[0].get_xlim() == (0.0, pytest.approx(0.3))


def test_what_cannot_be_drawn_is_refused(shaped: Result, small: Scenario) -> None:
    with pytest.raises(InputError, match="small: has no station"):
        doze_figure(small.run())
    with pytest.raises(InputError, match="nap: did not record its stations"):
        doze_figure(doze(probe={"window": True}).run())
    with pytest.raises(FieldPathError, match='there is no station "phone"; expected one of client'):
        doze_figure(shaped, "phone")
    with pytest.raises(InputError, match='has no radio "x"; expected one of wavelan-dsss, modern'):
        doze_figure(shaped, radio="x")
    with pytest.raises(FieldPathError, match='station "phone" is the node client'):
        doze_figure(shaped, "phone")
    with pytest.raises(InputError, match="is not a span of time; expected a start before the end; the run ends at 4 s"):
        doze_figure(shaped, span_s=(0.3, 0.1))
    with pytest.raises(InputError, match=r"without --to the figure ends with the download, at .* the run"):
        doze_figure(shaped, span_s=(3.0, None))
    both = Station(["client", "other"], name="phones", radio=["wavelan-dsss"])
    links = [
        *doze().to_dict()["link"],
        {"from": "ap", "to": "other", "rate": "20 Mb/s", "delay": "0 ms", "duplex": True},
    ]
    nodes = ["server", "ap", "client", "other"]
    with pytest.raises(FieldPathError, match='station "phones" is the nodes client, other'):
        doze_figure(doze(stations=[both], nodes=nodes, links=links, duration="10 ms").run(), "phones")
    with pytest.raises(InputError, match="is after the run, which ends at 4 s"):
        doze_figure(shaped, span_s=(5.0, 6.0))


def test_one_command_writes_both_kinds_of_picture(printed: Printed, tmp_path: Path) -> None:
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    short = ("--set", "flow.download.size=300 kB", "--set", "duration=2 s")
    text = printed("plot", "doze", "doze", "-o", svg, "-o", png, *short)
    assert text.splitlines() == [f"written to {svg}", f"written to {png}"]
    assert svg.read_text(encoding="utf-8").startswith("<?xml")
    assert png.read_bytes().startswith(b"\x89PNG")
    again = tmp_path / "again.svg"
    printed("plot", "doze", "doze", "-o", again, *short)
    assert again.read_bytes() == svg.read_bytes()


def test_a_file_of_a_run_is_no_scenario(refused: Printed, shaped: Result, tmp_path: Path) -> None:
    shaped.save(tmp_path / "run")
    for name in ("air.parquet", "manifest.json"):
        assert "expected the folder of a run, not a file in it" in refused("plot", "doze", tmp_path / "run" / name)


def test_a_site_is_drawn_by_its_name(printed: Printed, tmp_path: Path) -> None:
    picture = tmp_path / "sun.svg"
    printed("plot", "doze", "sun", "-o", picture, "--set", "flow.download.size=300 kB", "--set", "duration=3 s")
    assert "client shaper" in picture.read_text(encoding="utf-8")


def test_run_draws_the_station_that_slept_most(printed: Printed, tmp_path: Path) -> None:
    text = (SHIPPED / "scenarios" / "doze.toml").read_text(encoding="utf-8").partition("[probe]")[0]
    path = tmp_path / "nap.toml"
    path.write_text(text.replace('"4.5 MB"', '"300 kB"').replace('"20 s"', '"2 s"'), encoding="utf-8")
    printed("run", path, "--out", tmp_path / "out")
    assert {"doze.svg", "doze.pdf"} <= {one.name for one in (tmp_path / "out" / "figures").iterdir()}
    assert "air" in Result.load(tmp_path / "out").series_names


def test_a_saved_run_can_be_drawn(shaped: Result, printed: Printed, tmp_path: Path) -> None:
    shaped.save(tmp_path / "run")
    printed("plot", "doze", tmp_path / "run", "--whole", "--radio", "modern", "-o", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").is_file()


def test_the_command_refuses_what_it_cannot_do(refused: Printed, tmp_path: Path) -> None:
    assert "ends in .svg, .pdf, .png" in refused("plot", "doze", "doze", "-o", tmp_path / "a.gif")
    assert "--whole" in refused("plot", "doze", "doze", "--whole", "--from", "1 s")
    assert "has no station" in refused("plot", "doze", "dumbbell", "--set", "duration=1 s", "-o", tmp_path / "a.svg")
