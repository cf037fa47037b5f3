"""Watts, kWh and possible savings of fleets: inventories computed by hand, and the command."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest

from conftest import ROOT
from netlull import InputError, OutputError
from netlull.fleet.answer import Answer, Prices, answer
from netlull.fleet.devices import read_devices
from netlull.fleet.example import write_example
from netlull.fleet.inventory import read_inventory
from netlull.fleet.loads import read_loads
from netlull.fleet.plans import estop, read_plan
from netlull.fleet.power import fleet_of
from netlull.fleet.savings import saved_by_sleep
from netlull.report.energy import energy_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEADER = "device,model,interface,speed,transceiver,peer_device,peer_interface\n"
PAIR = HEADER + "a,ncs-55a1-24h,e0,100 Gb/s,,b,e0\nb,ncs-55a1-24h,e0,100 Gb/s,,,\n"
TRIANGLE = HEADER + "".join(
    f"{one},ncs-55a1-24h,to-{other},100 Gb/s,,{other},to-{one}\n" for one in "abc" for other in "abc" if one != other
)
NOON = 1_700_000_000 - 1_700_000_000 % 3600


def answered(folder: Path, inventory: str, rows: list[str], devices: str | None = None, **options: Any) -> Answer:
    (folder / "inventory.csv").write_text(inventory, encoding="utf-8")
    (folder / "loads.csv").write_text("\n".join(["time,device,interface,in_bps,out_bps", *rows]), encoding="utf-8")
    if devices is not None:
        (folder / "devices.toml").write_text(devices, encoding="utf-8")
    there = read_inventory(folder / "inventory.csv")
    fleet = fleet_of(there, None if devices is None else read_devices(folder / "devices.toml"))
    return answer(fleet, read_loads([folder / "loads.csv"], there), **options)


def by_cause(found: Answer) -> dict[str, float]:
    return dict(found.by_cause())


def test_two_routers_by_hand(tmp_path: Path) -> None:
    # NCS-55A1-24H at 100G: box 319.82 W, port 0.316, transceiver 0.019 in and 0.194 up, 21.5 pJ/bit, 58.3 nJ/packet.
    # 10 Gb/s one way and 2 Gb/s the other: each forwards (10 + 2)/2 = 6 Gb/s, 750,000 packets of 1000 B a second.
    rows = [f"{NOON},a,e0,2e9,10e9", f"{NOON + 300},a,e0,2e9,10e9", f"{NOON + 300},b,e0,10e9,2e9"]
    found = answered(tmp_path, PAIR, rows)
    expected = {
        "base": 639.64, "port": 0.632, "transceiver_in": 0.038, "transceiver_up": 0.388,
        "per_bit": 2 * 6e9 * 21.5e-12, "per_packet": 2 * 750e3 * 58.3e-9,
    }  # fmt: skip
    # In the first interval only a's counters are known: b's are filled from them.
    assert by_cause(found) == pytest.approx(expected, rel=1e-12)
    assert found.mean_w == pytest.approx(sum(expected.values()), rel=1e-12)
    assert found.hours == pytest.approx(1 / 6)
    ((hour, kwh),) = found.by_hour()
    assert hour.timestamp() == NOON
    assert kwh.sum() == pytest.approx(found.mean_w / 6 / 1000, rel=1e-9)
    # The link is the only way. At 25G a port saves 0.325 W and carries 10 Gb/s. Low-power idle saves 90 % of 0.51 W
    # while a port does not send: 90 % of the time at a and 98 % at b.
    sleep, unplugged, adaptation, idle, chosen = found.schemes
    assert [sleep.watts, sleep.links, unplugged.watts, chosen.watts, chosen.links] == [0, 0, 0, 0, 0]
    assert adaptation.watts == pytest.approx(2 * (0.316 - 0.102 + 0.194 - 0.083), rel=1e-9)
    assert idle.watts == pytest.approx(0.9 * 0.51 * (0.9 + 0.98), rel=1e-9)


def test_a_triangle_by_hand(tmp_path: Path) -> None:
    # One of three links may sleep: two ports of 0.316 + 0.194 W; unplugged 0.019 W more each. Idle links sleep first.
    # With two links at every device, none can.
    rows = [
        f"{NOON},{one},to-{other},{load},{load}"
        for one, other, load in (("a", "b", "0"), ("b", "c", "1e9"), ("c", "a", "1e9"))
    ]
    found = answered(tmp_path, TRIANGLE, rows)
    sleep, unplugged, *_, chosen = found.schemes
    assert (sleep.links, chosen.links) == (1, 1)
    assert [scheme.watts for scheme in (sleep, unplugged, chosen)] == pytest.approx([1.02, 1.058, 1.02], rel=1e-9)
    assert found.asleep[:, 0].tolist() == [True, False, False]
    assert found.by_class() == [("100 Gb/s", 3, 1, 1.0)]
    safe = answered(tmp_path, TRIANGLE, rows, survives=True)
    assert [(scheme.watts, scheme.links) for scheme in safe.schemes[:2]] == [(0, 0), (0, 0)]


def test_ends_that_differ_are_named(tmp_path: Path) -> None:
    # a counts 2 Gb/s to b, and b half of it.
    rows = [f"{NOON},a,e0,0,2e9", f"{NOON},b,e0,1e9,0"]
    found = answered(tmp_path, PAIR, rows)
    note = "1 direction of links whose two ends differ by more than 10.0 % in the mean; the worst, by 50.0 %: "
    assert f"{note}a e0 - b e0." in found.notes(found.names())
    assert f"{note}link 1: device 1 - device 2." in found.notes(found.names(anonymise=True))
    assert found.by_link()[0].is_bridge


def test_estop_and_ones_own_plan(tmp_path: Path) -> None:
    # Two intervals; ESTOP lets one link of the triangle sleep at 0.2 and none at 0.9: lambda_2 falls from 3 to 1.
    rows = [f"{NOON + step},{one},to-{other},0,0" for step in (0, 300) for one, other in ("ab", "bc", "ca")]
    found = answered(tmp_path, TRIANGLE, rows)
    inventory, loads = found.fleet.inventory, found.loads
    assert [estop(inventory, threshold, 2).sum(axis=0).tolist() for threshold in (0.2, 0.9)] == [[1, 1], [0, 0]]
    plan = tmp_path / "plan.csv"
    plan.write_text(f"device,interface,from,to\nb,to-a,{NOON + 300},\nc,to-b,,{NOON + 300}\n", encoding="utf-8")
    own = read_plan(plan, inventory, loads)
    assert own.tolist() == [[False, True], [False, False], [True, False]]
    told = answered(tmp_path, TRIANGLE, rows, plans={"mine": own}).schemes[-1]
    assert (told.name, told.links, told.is_bound) == ("links asleep by mine", 1, False)
    assert told.watts == pytest.approx(1.02, rel=1e-9)
    for bad, message in (
        ("z,to-a,,", "interface: z to-a is no end of a link"),
        ("b,to-a,noon,", 'line 2: from: "noon" is no time'),
        (f"b,to-a,{NOON + 300},{NOON}", f'line 2: to: "{NOON}" is not after "{NOON + 300}"'),
    ):
        plan.write_text(f"device,interface,from,to\n{bad}\n", encoding="utf-8")
        with pytest.raises(InputError, match=re.escape(message)):
            read_plan(plan, inventory, loads)


OWN = """\
[[device]]
name = "box"
base = "143 W"
port = [{ speed = "10 Gb/s", power = "2 W", transceiver_in = "1 W", transceiver_up = "0.5 W" }]
supply = { count = 2, efficiency = "pfe600" }

[[device]]
name = "carded"
base = "10 W"
line_card = { power = "60 W", capacity = "20 Gb/s", asleep = "20 W" }
port = [{ speed = "10 Gb/s", power = "2 W" }]
"""


def test_own_supplies_and_line_cards_by_hand(tmp_path: Path) -> None:
    # box: 143 + 2 x 3.5 = 150 W, 75 W from each of two supplies, whose efficiency is 88 % there: 170.4545.. W.
    # carded: 10 + 60 + 2 x 2 = 74 W; both ports share a card.
    inventory = HEADER + "".join(
        f"{device},{model},e{port},10 Gb/s,,{peer},e{port}\n"
        for device, model, peer in (("a", "box", "b"), ("b", "carded", "a"))
        for port in (0, 1)
    )
    found = answered(tmp_path, inventory, [f"{NOON},a,e0,0,0", f"{NOON},a,e1,0,0"], OWN)
    assert found.power.devices["a"].sum() == pytest.approx(150 / 0.88, rel=1e-12)
    assert found.power.devices["b"].sum() == pytest.approx(74, rel=1e-12)
    # A bundle of two: one link may sleep and keeps its transceivers. At most it saves what both would, less the ports
    # of the other: at a 150 to 145 W, less 2.5 W at the least slope between 150, 147.5 and 145 W; at b 4 - 2 W and 40.
    sleep, *_, chosen = found.schemes
    assert sleep.links == chosen.links == 1
    # Below the first point of the curve, on the line through the first two.
    wall = {watts: watts / (0.88 + (watts / 2 - 75) * (0.902 - 0.88) / (94 - 75)) for watts in (145, 147.5, 150)}
    slopes = [(wall[150] - wall[147.5]) / 2.5, (wall[147.5] - wall[145]) / 2.5]
    assert sleep.watts == pytest.approx(wall[150] - wall[145] - 2.5 * min(slopes) + 4 - 2 + 40, rel=1e-9)
    assert chosen.watts == pytest.approx(wall[150] - wall[147.5] + 2, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_no_plan_saves_more_than_the_bound(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = [f"n{place}" for place in range(int(random.integers(2, 7)))]
    pairs = [random.choice(nodes, 2, replace=False).tolist() for _ in range(int(random.integers(2, 16)))]
    points = sorted(random.uniform(50, 700, 3).tolist())
    curve = [[f"{watts:.0f} W", round(float(random.uniform(0.75, 0.97)), 3)] for watts in points]
    devices = "".join(
        f"""[[device]]
name = "box-{name}"
base = "{random.uniform(20, 400):.0f} W"
line_card = {{ power = "{random.uniform(10, 300):.0f} W", capacity = "40 Gb/s", asleep = "5 W" }}
port = [{{ speed = "10 Gb/s", power = "{random.uniform(0.1, 20):.1f} W" }}]
asleep = "{random.uniform(0, 3):.1f} W"
supply = {{ count = 1, efficiency = {json.dumps(curve)} }}
"""
        for name in nodes
    )
    used = dict.fromkeys(nodes, 0)
    inventory = HEADER
    for one, other in pairs:
        ends = [(name, used[name]) for name in (one, other)]
        for name in (one, other):
            used[name] += 1
        (a, x), (b, y) = ends
        inventory += f"{a},box-{a},e{x},10 Gb/s,,{b},e{y}\n{b},box-{b},e{y},10 Gb/s,,,\n"
    found = answered(tmp_path, inventory, [f"{NOON},{pairs[0][0]},e0,0,0"], devices)
    sleep, unplugged, *_ = found.schemes
    for _ in range(20):
        # A spanning forest in random order stays awake, and some of the others.
        awake = nx.Graph()
        off = []
        for place in random.permutation(len(pairs)).tolist():
            one, other = pairs[place]
            if one in awake and other in awake and nx.has_path(awake, one, other):
                off.append(place)
            awake.add_edge(one, other)
        asleep = np.zeros((len(pairs), 1), dtype=bool)
        asleep[[place for place in off if random.random() < 0.8], 0] = True
        saved = float(saved_by_sleep(found.fleet, asleep)[0])
        assert saved <= sleep.watts + 1e-9
        assert saved <= unplugged.watts + 1e-9
        assert asleep.sum() <= sleep.links


def test_ports_of_other_speeds_are_counted(tmp_path: Path) -> None:
    # The model has ports of 25, 50 and 100 Gb/s: 10 Gb/s count as 25 Gb/s, and 400 Gb/s as 100 Gb/s.
    for speed, watts in (("10 Gb/s", 0.102), ("25 Gb/s", 0.102), ("400 Gb/s", 0.316)):
        found = answered(tmp_path, PAIR.replace("100 Gb/s", speed), [f"{NOON},a,e0,0,0"])
        assert by_cause(found)["port"] == pytest.approx(2 * watts, rel=1e-9)
        note = "2 ports of a speed that the model does not describe, counted as the next faster one, or as its fastest."
        assert (note in found.notes(found.names())) == (speed != "25 Gb/s")


def test_prices_and_a_year(tmp_path: Path) -> None:
    prices = Prices(0.25, "CHF", 30.0, 1.5)
    found = answered(tmp_path, PAIR, [f"{NOON},a,e0,0,0"], prices=prices)
    kwh = found.kwh_of_a_year(100.0)
    assert kwh == pytest.approx(100 * 8760 / 1000 * 1.5)
    assert found.money(kwh) == pytest.approx(0.25 * 1314)
    assert found.kilograms(kwh) == pytest.approx(30 * 1314 / 1000)
    assert "CHF" in found.sentence
    assert "kg CO2e" in found.sentence
    free = answered(tmp_path, PAIR, [f"{NOON},a,e0,0,0"])
    assert free.money(kwh) is None
    assert "EUR" not in free.sentence


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "ncs-55a1-24h",
            "ncs-55a1",
            'inventory.csv, line 2: model: "ncs-55a1" of a is unknown; did you mean ncs-55a1-24h',
        ),
        (",e0,100 Gb/s,,b", ",e0,100 Gb/s,qsfp99,b", 'inventory.csv, line 2: transceiver is "qsfp99"; expected one of'),
    ],
)
def test_a_wrong_model_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        answered(tmp_path, PAIR.replace(old, new), [f"{NOON},a,e0,0,0"])
    assert message in str(caught.value)


def test_the_example_has_a_report(tmp_path: Path, printed: Callable[..., str], refused: Callable[..., str]) -> None:
    printed("energy", "--example", str(tmp_path / "isp"))
    assert "exists already; expected a new folder" in refused("energy", "--example", str(tmp_path / "isp"))
    files = [str(tmp_path / "isp" / "loads.csv"), "--inventory", str(tmp_path / "isp" / "inventory.csv")]
    out = tmp_path / "out"
    told = printed("energy", *files, "--price", "0.25", "--out", str(out))
    assert "Sleeping links could save at most" in told
    facts = json.loads(printed("energy", *files, "--json"))
    assert sum(facts["mean_w_by_cause"].values()) == pytest.approx(facts["mean_w"], rel=1e-9)
    assert sum(facts["mean_w_by_device"].values()) == pytest.approx(facts["mean_w"], rel=1e-9)
    with (out / "hours.csv").open(encoding="utf-8") as file:
        hours = list(csv.DictReader(file))
    assert len(hours) == 24
    assert sum(float(hour["total_kwh"]) for hour in hours) == pytest.approx(facts["kwh"], rel=1e-6)
    with (out / "links.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 260
    page = (out / "report.html").read_text(encoding="utf-8")
    assert facts["answer"].split(":")[0] in page
    assert "metro-000" in page
    # A second call replaces earlier results, but never other files.
    printed("energy", *files, "--anonymise", "--out", str(out))
    hidden = (out / "report.html").read_text(encoding="utf-8") + (out / "links.csv").read_text(encoding="utf-8")
    assert "metro-000" not in hidden
    for option, value, message in (
        ("--price", "1e308", "--price 1e+308: expected a number above 0, at most 1e+09"),
        ("--co2", "nan", "--co2 nan: expected a number above 0"),
        ("--packet-size", "0.5", "--packet-size 0.5: expected at least 1 byte"),
        ("--pue", "0.9", "--pue 0.9: expected a number of at least 1"),
    ):
        assert message in refused("energy", *files, option, value)
    (out / "mine.txt").write_text("mine", encoding="utf-8")
    assert "holds other files (mine.txt)" in refused("energy", *files, "--out", str(out))


def test_an_example_is_there_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"file/inventory\.csv: cannot be written"):
        write_example(file)
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "loads.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"loads\.csv: exists already"):
        write_example(linked)
    monkeypatch.setattr("netlull.fleet.example._counted", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_example(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "linked", "loads.csv"]
    assert file.read_text(encoding="utf-8") == "mine"


def test_a_report_is_there_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = answered(tmp_path, PAIR, [f"{NOON},a,e0,0,0"])
    out = tmp_path / "out"
    energy_report(found, out)
    earlier = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr("netlull.report.energy._links", lambda *_: 1 / 0)
    for folder in (out, tmp_path / "new" / "out"):
        with pytest.raises(ZeroDivisionError):
            energy_report(found, folder)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == earlier
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inventory.csv", "loads.csv", "out"]
    # Never over the user's files, nor over a file of a result that another command has written.
    for folder, message in ((tmp_path, "holds other files"), (tmp_path / "loads.csv", "is a file; expected a folder")):
        with pytest.raises(OutputError, match=message):
            energy_report(found, folder)
    (out / "manifest.json").write_text('{"kind": "run"}', encoding="utf-8")
    with pytest.raises(OutputError, match='is of no "energy"'):
        energy_report(found, out)


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Callable[..., str]) -> None:
    page = (ROOT / "docs/how-to/energy.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [line.split()[2:] for line in page.splitlines() if line.startswith("$ netlull ")]
    told = [printed(*command) for command in commands]
    assert len(told) == 4
    (answer_of_the_page,) = re.findall(r"The example's answer:\n\n```text\n(.*?)```", page, flags=re.DOTALL)
    lines = {" ".join(line.split()) for line in told[1].splitlines()}
    assert {" ".join(line.split()) for line in answer_of_the_page.splitlines()} <= lines | {""}
    (plans,) = re.findall(r"```text\n(plan .*?)```", page, flags=re.DOTALL)
    shown = " ".join(told[2].split())
    for line in plans.splitlines():
        assert " ".join(line.split()) in shown
    assert "EUR a year" in told[3]
