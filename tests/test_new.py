"""`netlull` alone shows where to start; `netlull new` writes scenarios that run as written."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netlull.cli import LISTED, main
from netlull.library import starters

Printed = Callable[..., str]

KINDS = ["access-link", "backbone", "dumb-bell", "wireless-client"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def summary_of(printed: Printed, kind: str) -> Any:
    assert "mine.toml" in printed("new", "mine", "--kind", kind)
    return json.loads(printed("run", "mine.toml", "--json"))


def test_without_arguments_it_names_three_commands_that_there_are(printed: Printed) -> None:
    lines = [line.split() for line in printed().splitlines()]
    named = [line[1] for line in lines if line[:1] == ["netlull"] and line[1] in LISTED]
    assert named == ["run", "reproduce", "new"]
    assert all(len(line) <= 80 for line in printed().splitlines())


def test_a_group_without_arguments_lists_its_commands(printed: Printed) -> None:
    assert printed("plot") == printed("plot", "--help")


def test_a_name_with_a_dash_is_shown_as_a_path(printed: Printed) -> None:
    assert "Run it with `netlull run ./-x.toml`" in printed("new", "--", "-x")
    assert "-x" in printed("run", "./-x.toml")


def test_there_are_four_kinds(printed: Printed) -> None:
    assert list(starters()) == KINDS
    assert all(kind in printed("new", "--help") for kind in KINDS)


def test_a_dumb_bell_shares_its_bottleneck(printed: Printed) -> None:
    summary = summary_of(printed, "dumb-bell")
    assert summary["name"] == "mine"
    shares = {flow["name"]: flow["goodput_bps"] for flow in summary["flows"]}
    assert set(shares) == {"cubic", "new-reno"}
    # 10 Mb/s less headers and the start of the second flow
    assert 9e6 < sum(shares.values()) < 10e6


def test_an_access_link_changes_its_rate_and_saves(printed: Printed) -> None:
    summary = summary_of(printed, "access-link")
    (link,) = [link for link in summary["links"] if link["name"] == "provider-home"]
    assert link["rate_changes"] > 0
    assert link["energy"]["fs"]["saving"] > 0.1
    assert summary["flows"][0]["completion_time_s"] > 0


def test_a_backbone_puts_links_to_sleep(printed: Printed) -> None:
    summary = summary_of(printed, "backbone")
    asleep = [link for link in summary["links"] if link["asleep_s"] > 0]
    # from 10 to 20 s, in both directions
    assert len(asleep) == 6
    assert all(link["asleep_s"] == pytest.approx(10) for link in asleep)


def test_a_wireless_client_sleeps(printed: Printed) -> None:
    (station,) = summary_of(printed, "wireless-client")["stations"]
    assert station["wakes"] > 10
    assert station["missed_packets"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_starters_are_commented(kind: str) -> None:
    text = starters()[kind].read_text(encoding="utf-8")
    assert sum("#" in line for line in text.splitlines()) >= 10
    assert all(len(line) <= 120 for line in text.splitlines())


@pytest.mark.parametrize(
    ("name", "file"),
    [("mine", "mine.toml"), ("mine.toml", "mine.toml"), ("v1.2", "v1.2.toml"), ("deep/er/mine", "deep/er/mine.toml")],
)
def test_the_file_and_the_scenario_have_the_name(printed: Printed, here: Path, name: str, file: str) -> None:
    printed("new", name)
    written = (here / file).read_text(encoding="utf-8")
    assert tomllib.loads(written)["name"] == Path(file).stem


def test_a_name_with_quotes_stays_a_name(printed: Printed, here: Path) -> None:
    printed("new", 'my "own"')
    assert tomllib.loads((here / 'my "own".toml').read_text(encoding="utf-8"))["name"] == 'my "own"'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine"], "NAME: mine.toml exists already; expected a new file"),
        (["folder"], "NAME: folder.toml exists already; expected a new file"),
        ([""], 'NAME: "" names no file; expected one such as mine'),
        (["."], 'NAME: "." names no file; expected one such as mine'),
        (["other", "--kind", "ring"], "Invalid value for '--kind': 'ring' is not one of 'access-link', 'backbone'"),
        (["mine.toml/other"], "mine.toml/other.toml: cannot be written"),
    ],
)
def test_bad_input_is_refused(here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    (here / "mine.toml").write_text("# precious\n")
    (here / "folder.toml").mkdir()
    assert main(["new", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert (here / "mine.toml").read_text() == "# precious\n"
    assert sorted(path.name for path in here.iterdir()) == ["folder.toml", "mine.toml"]
