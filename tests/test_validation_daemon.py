"""The downloads through `netlulld client` on real packets: which of them count, and the stored table."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from conftest import ROOT

DAEMON = ROOT / "validation" / "linux" / "daemon"


@pytest.fixture(scope="module")
def daemon() -> ModuleType:
    """The script, which is not installed."""
    spec = importlib.util.spec_from_file_location("daemon_run", DAEMON / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def download(daemon: ModuleType) -> Any:
    """A maker of downloads."""

    def made(way: str, seed: int, product_js: float, **changed: object) -> Any:
        values: dict[str, object] = {
            "cell": "60ms-0%/reno", "way": way, "seed": seed, "size": 100, "received": 100, "seconds": 2.0,
            "energy_j": product_js / 2, "product_js": product_js, "asleep_s": 1.0, "missed": 0, "packets": 10,
            "bursts": 3, "resent_opens": 0, "fallback": "", "late_s": 1e-4, "latest_s": 1e-3, "wait_s": 1e-5,
            "load": 1.0, "attempt": 1, "kernel": "6.0", "processors": 2,
        }  # fmt: skip
        return daemon.Download(**(values | changed))

    return made


def test_pairs_have_one_seed_and_give_the_mean_ratio(daemon: ModuleType, download: Any) -> None:
    found = [download("eager", 1, 10.0), download("shaper", 1, 5.0), download("eager", 2, 20.0)]
    found += [download("shaper", 2, 14.0), download("shaper", 3, 1.0)]
    (row,) = daemon.table(found)
    # Ratios 0.5 and 0.7: mean 0.6, standard deviation 0.1414, t of one degree of freedom 12.706: 0.6 +- 1.27.
    assert list(row.pairs) == [1, 2]
    assert row.product.mean == pytest.approx(0.6)
    assert row.product.half_width == pytest.approx(1.2706, rel=1e-3)
    assert row.saves is None


def test_a_verdict_needs_an_interval_beside_one(daemon: ModuleType, download: Any) -> None:
    pairs = [(seed, 0.6 + 0.01 * seed) for seed in (1, 2, 3)]
    for factor, saves in ((1.0, True), (2.0, False)):
        found = [download("eager", seed, 1.0) for seed, _ in pairs]
        found += [download("shaper", seed, factor * ratio) for seed, ratio in pairs]
        assert daemon.table(found)[0].saves is saves


@pytest.mark.parametrize("bad", [{"late_s": 1.1e-3}, {"wait_s": 3e-4}, {"received": 99}, {"seconds": math.nan}])
def test_late_and_incomplete_downloads_have_no_pair(daemon: ModuleType, download: Any, bad: dict[str, float]) -> None:
    found = [download("eager", seed, 10.0) for seed in (1, 2)]
    found += [download("shaper", 1, 5.0), download("shaper", 2, 5.0, **bad)]
    assert list(daemon.table(found)[0].pairs) == [1]
    again = download("shaper", 2, 6.0, attempt=2)
    assert daemon.table([*found, again])[0].pairs[2].shaped is again


def test_a_missed_packet_or_a_fallback_excludes_nothing(daemon: ModuleType, download: Any) -> None:
    found = [download("eager", 1, 10.0), download("shaper", 1, 30.0, missed=9, fallback="bad_bursts")]
    assert daemon.table(found)[0].product.mean == pytest.approx(3.0)


def test_the_stored_table_is_what_the_command_prints() -> None:
    command = [sys.executable, str(DAEMON / "run.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (DAEMON / "results.md").read_text(), "run validation/linux/daemon/run.py --measure"
