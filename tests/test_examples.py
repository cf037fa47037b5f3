"""The examples in docstrings give what they print."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import netlull

PACKAGE = Path(netlull.__file__).parent
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def test_the_main_classes_have_examples() -> None:
    assert {"netlull.scenario", "netlull.results.result", "netlull.sweep.plan"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
