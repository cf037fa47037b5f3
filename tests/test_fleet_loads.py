"""Inventories and loads of an operator's interfaces: CSV, Prometheus, counters, clocks that change."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull import InputError
from netlull.fleet.inventory import Inventory, read_inventory
from netlull.fleet.loads import Loads, link_loads, read_loads

if TYPE_CHECKING:
    from collections.abc import Sequence

INVENTORY = """\
device,model,interface,speed,transceiver,peer_device,peer_interface,loads
a,ncs-55a1-24h,e0,10 Gb/s,,b,e0,a-e0.csv
a,,e1,1 Gb/s,,,,
b,8201-32fh,e0,10 Gb/s,,,,b-e0.csv
"""
NOON = 1_700_000_000
HEAD = "time,device,interface,in_bps,out_bps\n"


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    path = tmp_path / "inventory.csv"
    path.write_text(INVENTORY, encoding="utf-8")
    return read_inventory(path)


def loads_of(inventory: Inventory, folder: Path, text: str, name: str = "loads.csv", **options: Any) -> Loads:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_loads([path], inventory, **options)


def prometheus(*series: tuple[dict[str, str], Sequence[tuple[float, object]]]) -> str:
    result = [{"metric": labels, "values": [[at, str(value)] for at, value in values]} for labels, values in series]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def test_a_link_has_two_ends_and_one_of_them_names_it(inventory: Inventory) -> None:
    (link,) = inventory.links
    assert (link.ends, link.speed_bps) == ((("a", "e0"), ("b", "e0")), 10e9)
    assert inventory.models == {"a": "ncs-55a1-24h", "b": "8201-32fh"}
    assert inventory.ports["b", "e0"].peer == ("a", "e0")
    assert inventory.ports["a", "e1"].peer is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "speed",
            "spede",
            "line 1: column speed is missing; expected device, model, interface, speed; the columns are",
        ),
        ("transceiver", "tranceiver", 'line 1: column "tranceiver" is unknown; did you mean transceiver?'),
        ("10 Gb/s", "10", 'line 2: speed: is "10"; expected a rate such as "10 Gb/s"'),
        ("b,e0,a-e0", "b,e9,a-e0", "line 2: peer_interface: b e9 is not in the file"),
        ("b,e0,a-e0", "c,e9,a-e0", "line 2: peer_interface: c e9 is not in the file; the file has no device c"),
        ("b,e0,a-e0", "b,,a-e0", "line 2: peer_device and peer_interface: one is empty; expected both or none"),
        ("1 Gb/s,,,", "10 Gb/s,,b,e0", "line 3: peer_interface: b e0 is also the end of a link to a e0"),
        ("b,8201-32fh,e0,10", "b,8201-32fh,e0,1", "line 2: peer_interface: the ends have 1 Gb/s and 10 Gb/s"),
        ("a,,e1", "a,8201-32fh,e1", 'line 3: model: is "8201-32fh", but a has ncs-55a1-24h; expected one model'),
        ("b,8201-32fh", "b,", "line 4: model: is empty; expected the model of b"),
        ("a,,e1", "a,,e0", "line 3: interface: a e0 is also in line 2; expected it once"),
        ("a,,e1,1 Gb/s,,,,", "a,,e1", "line 3: has 3 cells; expected 8, as in the first line"),
    ],
)
def test_a_wrong_inventory_names_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "inventory.csv"
    assert old in INVENTORY
    path.write_text(INVENTORY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_inventory(path)
    assert str(caught.value).startswith(f"{path}, {message}")


def test_the_two_ends_are_averaged_and_a_missing_one_is_filled(inventory: Inventory, tmp_path: Path) -> None:
    rows = [
        "time,device,interface,in_bps,out_bps",
        f"{NOON},a,e0,100,200",
        f"{NOON + 300},a,e0,,220",
        f"{NOON + 600},a,e0,120,240",
        # In the other order, and one row missing.
        f"{NOON + 600},b,e0,244,124",
        f"{NOON},b,e0,210,110",
        f"{NOON + 900},a,e0,0,0",
        f"{NOON + 900},b,e0,0,0",
    ]
    loads = loads_of(inventory, tmp_path, "\n".join(rows))
    assert (loads.start_s, loads.step_s, loads.intervals) == (NOON, 300, 4)
    (link,) = link_loads(inventory, loads)
    # a to b: (200 + 210)/2, 220, (240 + 244)/2; b to a: (100 + 110)/2, unknown, (120 + 124)/2.
    np.testing.assert_array_equal(link, [[205, 220, 242, 0], [105, np.nan, 122, 0]])


def test_ends_that_differ_are_counted(inventory: Inventory, tmp_path: Path) -> None:
    # a sends 1 Gb/s, and b counts 0.8: a fifth less. The other direction differs by 9 %, within the tolerance of 10 %.
    rows = [f"{NOON},a,e0,1e9,1e9", f"{NOON},b,e0,0.8e9,0.91e9"]
    loads = loads_of(inventory, tmp_path, HEAD + "\n".join(rows))
    assert loads.unequal == ((0, pytest.approx(0.2)),)
    # Differences at up to 0.1 % of 10 Gb/s, and intervals that one end does not know, do not count.
    rows = [f"{NOON},a,e0,1e9,9e6", f"{NOON},b,e0,0,1e9", f"{NOON + 300},a,e0,9e9,9e9"]
    assert loads_of(inventory, tmp_path, HEAD + "\n".join(rows)).unequal == ()


def test_links_have_weights_at_one_end_or_both(tmp_path: Path) -> None:
    path = tmp_path / "inventory.csv"
    head = "device,model,interface,speed,peer_device,peer_interface,weight\n"
    ends = "a,8201-32fh,e0,10 Gb/s,b,e0,{}\nb,8201-32fh,e0,10 Gb/s,,,{}\n"
    others = "a,,e1,10 Gb/s,b,e1,{}\nb,,e1,10 Gb/s,,,\n"
    for weights, expected in ((("7", "", "3"), [7, 3]), (("7", "7", "3"), [7, 3]), (("", "", ""), [None, None])):
        path.write_text(head + (ends + others).format(*weights), encoding="utf-8")
        assert [link.weight for link in read_inventory(path).links] == expected
    for weights, message in (
        (("7", "8", "3"), "line 2: weight: the ends of the link have 7 and 8; expected the same weight"),
        (("7", "", ""), "line 4: weight: is empty, and other links have one; expected a weight of every link, or of"),
        (("0", "", "1"), 'line 2: weight: is "0"; expected a whole number from 1 to 4294967295'),
        (("1.5", "", "1"), 'line 2: weight: is "1.5"; expected a whole number'),
        (("9" * 20, "", "1"), "expected a whole number"),
    ):
        path.write_text(head + (ends + others).format(*weights), encoding="utf-8")
        with pytest.raises(InputError) as caught:
            read_inventory(path)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("header", "options", "scale"),
    [("in_bps,out_bps", {}, 1), ("in_bytes_per_s,out_bytes_per_s", {}, 8), ("in,out", {"unit": "B/s"}, 8)],
)
def test_loads_have_units(
    inventory: Inventory, tmp_path: Path, header: str, options: dict[str, str], scale: int
) -> None:
    text = f"time,device,interface,{header}\n{NOON},a,e0,100,200\n{NOON + 60},a,e0,100,200\n"
    loads = loads_of(inventory, tmp_path, text, **options)
    np.testing.assert_array_equal(loads.rates["a", "e0"], np.array([[100, 100], [200, 200]]) * scale)


def test_clocks_jitter_and_interfaces_have_steps_of_their_own(inventory: Inventory, tmp_path: Path) -> None:
    jitter = [0, 2, -1, 1, 0, 2, -2, 1, 0, -1, 1, 0, 2]
    rows = [f"{NOON + 300 * place + late},a,e0,100,100" for place, late in enumerate(jitter)]
    rows += [f"{NOON + 3600 * place},a,e1,{place},7" for place in range(2)]
    rows += [f"{NOON + 300 * place},b,e0,100,100" for place in range(13)]
    loads = loads_of(inventory, tmp_path, "\n".join(["time,device,interface,in_bps,out_bps", *rows]))
    assert (loads.start_s, loads.step_s, loads.intervals) == (NOON, 300, 24)
    np.testing.assert_allclose(loads.rates["a", "e0"][0][:13], 100)
    np.testing.assert_array_equal(loads.rates["a", "e1"][0], [0] * 12 + [1] * 12)
    # 2 Gb/s at 1 Gb/s.
    fast = loads_of(inventory, tmp_path, HEAD + f"{NOON},a,e1,2e9,0\n")
    assert fast.fast == 1


def test_a_folder_has_a_file_for_each_interface(inventory: Inventory, tmp_path: Path) -> None:
    folder = tmp_path / "loads"
    folder.mkdir()
    (folder / "a-e0.csv").write_text(f"time,in_bps,out_bps\n{NOON},1,2\n{NOON + 300},3,4\n", encoding="utf-8")
    loads = read_loads([folder], inventory)
    np.testing.assert_array_equal(loads.rates["a", "e0"], [[1, 3], [2, 4]])
    np.testing.assert_array_equal(loads.rates["b", "e0"], [[2, 4], [1, 3]])
    assert loads.missing == ("b-e0.csv",)


def test_counters_wrap_and_are_reset_and_keep_what_they_counted_in_a_gap(inventory: Inventory, tmp_path: Path) -> None:
    labels = {"__name__": "ifHCInOctets", "instance": "a:9116", "ifName": "e0"}
    most = 2**64
    counter = [
        (NOON, most - 3000), (NOON + 300, 0),  # 3000 bytes in 300 s: 80 b/s
        (NOON + 600, 6000), (NOON + 1200, 36_000),  # 160 b/s; a gap of 600 s with 30,000 bytes: 400 b/s
        (NOON + 1500, 1500),  # a reset: unknown
        (NOON + 1800, 1500),  # nothing
    ]  # fmt: skip
    # A file may begin with a byte order mark.
    text = "\ufeff" + prometheus((labels, counter), (labels | {"ifName": "e7"}, counter))
    loads = loads_of(inventory, tmp_path, text, "loads.json")
    received, sent = loads.rates["a", "e0"]
    # A float cannot hold 2^64 - 3000 exactly: the distance to its neighbours is 2048.
    np.testing.assert_allclose(received, [80, 160, 400, 400, np.nan, 0], atol=2048 * 8 / 300)
    np.testing.assert_array_equal(sent, np.full(6, np.nan))
    assert loads.resets == 1
    assert loads.strangers == ("__name__=ifHCInOctets ifName=e7 instance=a:9116",)


def test_a_counter_of_32_bits_wraps_unless_its_port_is_too_fast_to_tell(inventory: Inventory, tmp_path: Path) -> None:
    counter = [(NOON, 2**32 - 1000), (NOON + 20, 500), (NOON + 40, 1000)]
    series = [({"__name__": "ifInOctets", "instance": "a", "ifName": name}, counter) for name in ("e0", "e1")]
    loads = loads_of(inventory, tmp_path, prometheus(*series), "loads.json")
    # 1 Gb/s for 20 s is 2.5 GB, below 2^32 bytes: the wrap is 1500 bytes. 10 Gb/s may have wrapped several times.
    np.testing.assert_allclose(loads.rates["a", "e1"][0], [1500 * 8 / 20, 500 * 8 / 20])
    assert ("a", "e0") not in loads.rates or np.isnan(loads.rates["a", "e0"]).all()


def test_the_hour_that_comes_twice_has_two_loads_and_a_skipped_one_none(inventory: Inventory, tmp_path: Path) -> None:
    def rows(*times: str) -> str:
        told = [f"{time},a,e0,{place},0" for place, time in enumerate(times)]
        return "\n".join(["time,device,interface,in_bps,out_bps", *told])

    autumn = rows(*(f"2026-10-25 0{hour}:00" for hour in (1, 2, 2, 3)))
    loads = loads_of(inventory, tmp_path, autumn, zone="Europe/Oslo")
    assert (loads.step_s, loads.intervals) == (3600, 4)
    np.testing.assert_array_equal(loads.rates["a", "e0"][0], [0, 1, 2, 3])
    spring = rows("2026-03-29 01:00", "2026-03-29 03:00", "2026-03-29 04:00", "2026-03-29 05:00")
    loads = loads_of(inventory, tmp_path, spring, zone="Europe/Oslo")
    np.testing.assert_array_equal(loads.rates["a", "e0"][0], [0, 1, 2, 3])
    # Loads that begin in that hour are clear if each of its times comes twice, and else are refused.
    whole = rows(*[f"2026-10-25 02:{minute:02}" for minute in range(0, 60, 15)] * 2, "2026-10-25 03:00")
    loads = loads_of(inventory, tmp_path, whole, zone="Europe/Oslo")
    np.testing.assert_array_equal(loads.rates["a", "e0"][0], range(9))
    with pytest.raises(
        InputError, match=r"line 2: time: the loads of an interface begin at .2026-10-25 02:30."
    ) as caught:
        loads_of(
            inventory, tmp_path, rows("2026-10-25 02:30", "2026-10-25 02:45", "2026-10-25 03:00"), zone="Europe/Oslo"
        )
    assert "expected the offset of each time" in str(caught.value)
    with pytest.raises(InputError, match=r"line 2: time: .2026-03-29 02:30. does not exist in Europe/Oslo"):
        loads_of(inventory, tmp_path, rows("2026-03-29 02:30"), zone="Europe/Oslo")
    with pytest.raises(InputError, match=r"line 2: time: .2026-10-25 01:00. has no time zone"):
        loads_of(inventory, tmp_path, autumn)
    with pytest.raises(InputError, match="did you mean Europe/Oslo"):
        loads_of(inventory, tmp_path, autumn, zone="Europe/Olso")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "time,device,interface,in,out\n1700000000,a,e0,1,1",
            ": columns in and out have no unit; expected --unit with b/s or B/s",
        ),
        ("time,device,in_bps,out_bps\n1700000000,a,1,1", ", line 1: column interface is missing"),
        (
            "time,device,interface,in_bps\n1700000000,a,e0,1",
            ", line 1: no columns of loads; expected in_bps and out_bps",
        ),
        (
            HEAD + "1700000000,a,e0,1,1\n1700000001,a,e0,x,1",
            ', line 3: in_bps: is "x"; expected a number',
        ),
        (
            HEAD + "1700000000,a,e0,1,1\n1700000001,a,e0,1,-4",
            ', line 3: out_bps: is "-4.0"; expected',
        ),
        (
            HEAD + "1700000000,a,e0,1,1\n1700000001,a,e0,1",
            ", line 3: has 4 cells; expected 5",
        ),
        (HEAD + "noon,a,e0,1,1", ', line 2: time: "noon" is no time; expected ISO 8601'),
        (
            HEAD + "1700000000,a,e0,1,1\n1700000000,a,e0,1,1",
            ", line 3: time: 1700000000 comes twice for a e0",
        ),
        (HEAD + "1700000000,,e0,1,1", ", line 2: device: is empty; expected a name"),
        (HEAD + "1700000000,z,e0,1,1", ": no load of an interface of "),
        (HEAD + "", ": has no rows; expected loads"),
        (HEAD + "20260329,a,e0,1,1", ', line 2: time: "20260329" is no time since 1990'),
        (HEAD + "\n\n1700000000,a,e0,1,-1", ', line 4: out_bps: is "-1.0"; expected'),
        (
            "",
            ", line 1: no columns of loads; expected in_bps and out_bps, in_bytes_per_s and out_bytes_per_s, in_octets "
            "and out_octets, or in and out with --unit; the file is empty",
        ),
        (
            (HEAD + "1700000000,a,e0,1,1").replace(",", ";"),
            ", line 1: no columns of loads; expected in_bps and "
            "out_bps, in_bytes_per_s and out_bytes_per_s, in_octets and out_octets, or in and out with --unit; "
            "the columns are separated by semicolons, not by commas",
        ),
        (HEAD + "1700000000,a,e0,1,1e20", ', line 2: out_bps: is "1e+20"; expected a number from 0 to 2^64'),
        (HEAD + "1700000000,a,e0,,nan", ": no load is known; expected numbers, and counters at two times or more"),
        ("time,device,interface,in_octets,out_octets\n1700000000,a,e0,1,1", ": no load is known; expected numbers, "),
        (
            HEAD + "0001-01-01T00:00:00,a,e0,1,1",
            ', line 2: time: "0001-01-01T00:00:00" is in the year 1; expected 1990',
        ),
        (
            HEAD + "9999-12-31T23:59:59-05:00,a,e0,1,1",
            ', line 2: time: "9999-12-31T23:59:59-05:00" is in the year 9999',
        ),
        (
            HEAD + "1700000000,a,e0,1,1\n1700000001,a,e0,1,1\n9e9,a,e0,1,1",
            ": 7300000001 intervals of 1 s",
        ),
    ],
)
def test_wrong_loads_name_the_line(inventory: Inventory, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        loads_of(inventory, tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'loads.csv'}{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "missing required field `data`"),
        (prometheus(({"__name__": "ifHCInOctet"}, [])), 'metric "ifHCInOctet" is unknown; did you mean ifHCInOctets'),
        (
            prometheus(({"__name__": "ifHCInOctets", "instance": "a", "ifName": "e0"}, [(2e9, 1), (1e9, 2)])),
            "times do not grow; expected ascending times",
        ),
        (
            prometheus(({"__name__": "ifHCInOctets", "instance": "a", "ifName": "e0"}, [(2, "x"), (3, 2)])),
            "could not convert string to float: 'x'; expected pairs of a time and a number",
        ),
        (
            prometheus(({"__name__": "ifHCInOctets", "instance": "a", "ifName": "e0"}, [(2e9, 1), (3e9, "+Inf")])),
            "a counter is inf; expected a number from 0 to 2^64",
        ),
        (
            prometheus(({"__name__": "ifHCInOctets", "instance": "a", "ifName": "e0"}, [(2e12, 1), (3e12, 2)])),
            "data.result[0].values: a time is 2e+12; expected seconds since 1970, from 1990 on",
        ),
    ],
)
def test_a_wrong_answer_of_prometheus_is_told(inventory: Inventory, tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        loads_of(inventory, tmp_path, text, "loads.json")
    assert message in str(caught.value)


SOUND = {
    "inventory.csv": INVENTORY,
    "loads.csv": f"time,device,interface,in_octets,out_octets\n{NOON},a,e0,100,200\n{NOON + 300},a,e0,,220\n",
    "loads.json": prometheus(
        ({"__name__": "ifHCInOctets", "instance": "a", "ifName": "e0"}, [(NOON, 1), (NOON + 9, 2)])
    ),
}
PIECES = st.one_of(
    st.sampled_from([",", "\n", '"', "-1", "1e999", "nan", "\x00", "é", "{", "]", "10 Gb/s", "a", "2026-03-29 02:30"]),
    st.text(max_size=6),
)


@given(st.sampled_from(sorted(SOUND)), st.data())
def test_damaged_files_are_refused_or_read(name: str, data: st.DataObject) -> None:
    text = SOUND[name]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 8)))
        text = text[:start] + data.draw(PIECES) + text[end:]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for file, sound in (SOUND | {name: text}).items():
            (folder / file).write_bytes(sound.encode("utf-8", errors="surrogatepass"))
        try:
            loads = read_loads(
                [folder / ("loads.json" if name == "loads.json" else "loads.csv")],
                read_inventory(folder / "inventory.csv"),
            )
        except InputError as error:
            assert str(folder) in str(error)  # noqa: PT017  # it names the file
        else:
            assert all(np.all((rates >= 0) | np.isnan(rates)) for rates in loads.rates.values())
