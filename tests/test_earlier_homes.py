"""Names stay importable from the modules that held them before."""

from importlib import import_module

import pytest

import netlull


@pytest.mark.parametrize(
    ("earlier", "name", "home"),
    [
        ("bundled", "find", "library"),
        ("result", "Result", "results.result"),
        ("result", "metric", "results.result"),
        ("sites", "site", "library"),
    ],
)
def test_a_name_is_the_same_in_its_earlier_home(earlier: str, name: str, home: str) -> None:
    held = getattr(import_module(f"netlull.{earlier}"), name)
    assert held is getattr(import_module(f"netlull.{home}"), name)
    assert getattr(getattr(netlull, earlier), name) is held
