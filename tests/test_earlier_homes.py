"""Names stay importable from the modules that held them before."""

from importlib import import_module

import pytest

import netlull


@pytest.mark.parametrize(
    ("earlier", "home"),
    [
        ("bundled.find", "library.find"),
        ("bundled.ready", "library.shipped"),
        ("bundled.starters", "library.starters"),
        ("paired.compare_runs", "compare.compare_runs"),
        ("result.Result", "results.result.Result"),
        ("result.metric", "results.result.metric"),
        ("sites.site", "library.site"),
    ],
)
def test_a_name_is_the_same_in_its_earlier_home(earlier: str, home: str) -> None:
    module, _, name = earlier.partition(".")
    holder, _, own_name = home.rpartition(".")
    held = getattr(import_module(f"netlull.{module}"), name)
    assert held is getattr(import_module(f"netlull.{holder}"), own_name)
    assert getattr(getattr(netlull, module), name) is held
