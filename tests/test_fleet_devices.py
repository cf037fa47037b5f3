"""Models of devices from the user's files: device types of NetBox, tables in TOML, folders of both."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from netlull import InputError
from netlull.documents.yamltext import read_yaml
from netlull.fleet.answer import Answer, answer
from netlull.fleet.devices import Devices, read_devices, speed_of
from netlull.fleet.inventory import read_inventory
from netlull.fleet.loads import read_loads
from netlull.fleet.power import fleet_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EDGE = """\
---
manufacturer: Acme
model: 7050
slug: acme-7050
part_number: AC-7050
u_height: 1.0
weight: ~
comments: 'see [the data sheet](https://acme.example/7050)'
interfaces:
  - name: Management0
    type: 1000base-t
    mgmt_only: true
  - name: Ethernet1
    type: 10gbase-x-sfpp
  - name: Ethernet2
    type: 10gbase-x-sfpp
  - name: Port-Channel1
    type: lag
power-ports:
  - name: PSU1
    type: iec-60320-c14
    maximum_draw: 250
  - name: PSU2
    type: iec-60320-c14
    maximum_draw: 250
"""
CORE = """\
manufacturer: Cisco
model: NCS 55A1-24H
slug: cisco-ncs-55a1-24h
interfaces:
  - {name: TenGigE0, type: 10gbase-x-sfpp}
module-bays:
  - name: PSU0
    position: '0'
"""
INVENTORY = """\
device,model,interface,speed,peer_device,peer_interface
a,AC-7050,Ethernet1,,b,TenGigE0
a,,Ethernet2,SFP+ (10GE),,
b,NCS 55A1-24H,TenGigE0,,,
"""
LOADS = "time,device,interface,in_bps,out_bps\n1700000000,a,Ethernet1,0,0\n"


def read(folder: Path, **files: str) -> Devices:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return read_devices(folder)


def answered(folder: Path, devices: Devices, inventory: str = INVENTORY) -> Answer:
    (folder / "inventory.csv").write_text(inventory, encoding="utf-8")
    (folder / "loads.csv").write_text(LOADS, encoding="utf-8")
    there = read_inventory(folder / "inventory.csv", devices)
    return answer(fleet_of(there, devices), read_loads([folder / "loads.csv"], there))


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("10 Gb/s", 10e9), ("1000base-t", 1e9), ("100base-tx", 100e6), ("2.5gbase-t", 2.5e9),
        ("100gbase-x-qsfp28", 100e9), ("400gbase-x-qsfpdd", 400e9), ("1.6tbase-cr8", 1.6e12), ("SFP+ (10GE)", 10e9),
        ("100BASE-TX (10/100ME)", 100e6), ("QSFP-DD (400GE)", 400e9),
        ("lag", None), ("ieee802.11ac", None), ("32gfc-sfp28", None), ("SFP28 (32GFC)", None), ("base-t", None),
    ],
)  # fmt: skip
def test_interface_types_have_speeds(text: str, speed: float | None) -> None:
    assert speed_of(text) == speed


def test_a_device_type_gives_speeds_and_a_data_sheet_s_watts(tmp_path: Path) -> None:
    # Two supplies of 250 W: half of their sum. The other device is one of netlull, by its slug without the maker:
    # 319.82 W, and its 25G port up, the slowest that the model has: 0.102 + 0.019 + 0.083 W.
    found = answered(tmp_path, read(tmp_path, edge=EDGE, core=CORE))
    assert [port.speed_bps for port in found.fleet.inventory.ports.values()] == [10e9] * 3
    assert {name: float(watts.sum()) for name, watts in found.power.devices.items()} == pytest.approx(
        {"a": 250, "b": 319.82 + 0.204}, rel=1e-12
    )
    assert "leaves out the ports of 1 device" in found.sentence
    assert any(
        "1 device with one number" in note and "not a measurement" in note for note in found.notes(found.names())
    )
    assert found.fleet.described["AC-7050"]["source"].startswith("maximum_draw in edge.yaml: a data sheet's figure")


@pytest.mark.parametrize(
    ("draws", "watts"),
    [
        # The budget counts before the maximum. One supply counts whole, several count half.
        ("[{name: a, type: x, maximum_draw: 300, allocated_draw: 120}]", 120),
        ("[{name: a, type: x, maximum_draw: 300}]", 300),
        ("[{name: a, type: x, allocated_draw: 90}, {name: b, type: x, maximum_draw: 500, allocated_draw: 70}]", 80),
        ("[{name: a, type: x, maximum_draw: 100}, {name: b, type: x, maximum_draw: 100}, "
         "{name: c, type: x, maximum_draw: 100}, {name: d, type: x, maximum_draw: 100}]", 200),
    ],
)  # fmt: skip
def test_the_draw_of_power_ports(tmp_path: Path, draws: str, watts: float) -> None:
    text = EDGE.partition("power-ports:")[0] + f"power-ports: {draws}\n"
    assert read(tmp_path, edge=text).types["7050"][0].draw_w == watts


def test_the_device_type_of_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/energy.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL)
    (found,) = read(tmp_path, page=block).types["acme-7050"]
    assert (found.draw_w, found.draw_field, found.speeds) == (250, "maximum_draw", {"Ethernet1": 10e9})


def test_no_savings_where_no_model_has_ports(tmp_path: Path, printed: Callable[..., str]) -> None:
    inventory = INVENTORY.replace("b,NCS 55A1-24H,TenGigE0", "b,acme-7050,Ethernet1").replace("TenGigE0", "Ethernet1")
    found = answered(tmp_path, read(tmp_path, edge=EDGE), inventory)
    assert found.mean_w == 500
    assert found.schemes == []
    assert found.sentence == "The fleet draws 500 W. Savings are unknown: no model says what a port draws."
    files = [str(tmp_path / "loads.csv"), "--inventory", str(tmp_path / "inventory.csv")]
    out = tmp_path / "out"
    told = printed("energy", *files, "--devices", str(tmp_path / "edge.yaml"), "--anonymise", "--out", str(out))
    assert "Savings are unknown" in told
    assert "What could be saved" not in told
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Savings are unknown" in page
    assert "edge.yaml" not in page


def test_a_table_in_toml_comes_before_a_device_type(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('[[device]]\nname = "AC-7050"\nbase = "99 W"\n', encoding="utf-8")
    found = answered(tmp_path, read(tmp_path, edge=EDGE, core=CORE))
    assert found.power.devices["a"].sum() == 99
    assert found.fleet.inventory.ports["a", "Ethernet1"].speed_bps == 10e9


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model: 7050\n", "", "edge.yaml, line 2: model: is missing; expected text"),
        ("model: 7050", "model: [7050]", "edge.yaml, line 3: model: is a list; expected text"),
        ("  - name: Ethernet2", "  - nome: Ethernet2", "edge.yaml, line 15: interfaces.2.name: is missing"),
        ("Ethernet2", "Ethernet1", 'edge.yaml, line 15: interfaces.2.name: "Ethernet1" comes twice'),
        ("maximum_draw: 250", "maximum_draw: much",
         'edge.yaml, line 22: power-ports.0.maximum_draw: is "much"; expected a number of W above 0, up to 1,000,000'),
        ("maximum_draw: 250", "maximum_draw: 0", 'edge.yaml, line 22: power-ports.0.maximum_draw: is "0"; expected'),
        ("interfaces:\n", "interfaces: 3\nx:\n", 'edge.yaml, line 9: interfaces: is "3"; expected a list'),
        ("  - name: Ethernet2", "  - Ethernet2\n  - name: Ethernet2",
         'edge.yaml, line 15: interfaces.2: is "Ethernet2'),
        ("weight: ~", "weight: *all", "edge.yaml, line 7: has the alias *all; expected the value itself"),
        ("weight: ~", "weight: &all 3", "edge.yaml, line 7: has the anchor &all; expected none"),
        ("weight: ~", "weight: !!python/object:os.system 3", "edge.yaml, line 7: has the tag"),
        ("weight: ~", "model: 1", "edge.yaml, line 7: model: is twice in a mapping"),
        ("weight: ~", "weight: " + "[" * 20, "edge.yaml, line 7: is nested too deeply; expected at most 16"),
        ("weight: ~", "weight: ~\n---", "edge.yaml, line 8: has a second document; expected one"),
        ("weight: ~", "weight: [1", "edge.yaml, line 8: is not YAML"),
        (EDGE, "- 1\n", "edge.yaml, line 1: is a list; expected a mapping such as a NetBox device type"),
        (EDGE, "", "edge.yaml: is empty; expected YAML"),
    ],
)  # fmt: skip
def test_a_wrong_device_type_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in EDGE
    with pytest.raises(InputError) as caught:
        read(tmp_path, edge=EDGE.replace(old, new))
    assert str(caught.value).startswith(f"{tmp_path}/{message}")


def test_large_device_types_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=re.escape("has too many values; expected at most 100,000")):
        read_yaml("- 1\n" * 100_001, "x.yaml")
    with pytest.raises(InputError, match=r"edge\.yaml: is too large; expected at most 1 MiB"):
        read(tmp_path, edge="#" * (2**20 + 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Ethernet1,,", "Ethernet9,,", "line 2: speed: is empty, and "),
        ("Ethernet1,,", "Port-Channel1,,", "line 2: speed: is empty, and the type of the interface in "),
        ("NCS 55A1-24H,TenGigE0", "NCS,TenGigE0", 'line 4: speed: is ""; expected a rate such as "10 Gb/s"'),
        ("NCS 55A1-24H,TenGigE0,", "NCS,TenGigE0,10 Gb/s", ', line 4: model: "NCS" of b is unknown; did you mean'),
    ],
)
def test_an_inventory_that_does_not_fit_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in INVENTORY
    with pytest.raises(InputError) as caught:
        answered(tmp_path, read(tmp_path, edge=EDGE, core=CORE), INVENTORY.replace(old, new))
    assert str(caught.value).startswith(str(tmp_path / "inventory.csv"))
    assert message in str(caught.value)


def test_a_device_without_watts_and_a_name_of_two_files_are_refused(tmp_path: Path) -> None:
    bare = EDGE.partition("power-ports:")[0]
    with pytest.raises(InputError, match=r"edge\.yaml: power-ports: no draw; expected maximum_draw or allocated_draw"):
        answered(tmp_path, read(tmp_path, edge=bare, core=CORE))
    # With the speeds in the inventory, the name matters for the watts alone.
    fast = INVENTORY.replace("Ethernet1,,", "Ethernet1,10 Gb/s,")
    devices = read(tmp_path, edge=EDGE, other=EDGE.replace("acme-7050", "acme-7051"), core=CORE)
    for inventory in (INVENTORY, fast):
        with pytest.raises(
            InputError, match=r'\.csv, line 2: model "AC-7050" is in .*edge\.yaml and .*other\.yaml; expected the slug'
        ):
            answered(tmp_path, devices, inventory)
    own = replace(devices, tables={"AC-7050": {"base": "99 W"}})
    assert answered(tmp_path, own, fast).power.devices["a"].sum() == 99
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="has no TOML and no YAML file"):
        read_devices(tmp_path / "none")
