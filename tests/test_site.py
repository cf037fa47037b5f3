"""The documentation site: its configuration on a small tree, and the check of its links."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, checked_tree

SAMPLE = '''
"""Samples."""

from dataclasses import dataclass, field
from typing import Annotated

import msgspec


@dataclass
class Sample:
    """A sample of `values` (docs/guide.md).

    Raises:
        ValueError: it is empty.
    """

    name: Annotated[str, msgspec.Meta(pattern="(x)")]
    values: list[int] = field(default_factory=list)
    """The values: numbers."""
'''
CLAIM = """
[[claim]]
id = "A1"
title = "It falls"
statement = "The rate falls."
where = "Fig. 2"
theirs = "half"
measured = "Mean rate."
reason = "Ten per cent."
tolerance = { share = 0.1 }
[claim.why]
"fast slow" = "The buffer is short."
"""
TREE = {
    "docs/index.md": "# Home\n\n[Checks](../validation/), [one](../validation/one/)\n\n"
    "```{toctree}\nguide\napi\npaper/README\nwide\n../validation/README\n../validation/one/results\n```\n",
    "docs/guide.md": '# Guide\n\n<a href="../out/lab/index.html#scene=duel">The lab</a>\n',
    "docs/api.md": "# API\n\n```{eval-rst}\n.. autoclass:: sample.Sample\n```\n",
    "validation/README.md": "# Checks\n",
    "validation/one/run.py": "",
    "validation/one/results.md": "| case |\n|---|\n| a |\n\n## Open\n",
    "docs/paper/README.md": "# Paper\n\nText.\n\n<!-- claims -->\n",
    "docs/paper/claims.toml": CLAIM,
    "docs/wide.md": f"# Wide\n\n| a | b |\n|---|---|\n| x | {'word ' * 9} |\n| y | z |\n",
    "crates/README.md": "# No page of the site\n",
    "sample.py": SAMPLE,
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small tree, built without a warning."""
    tree = tmp_path_factory.mktemp("tree")
    for name, text in TREE.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-c", str(ROOT / "docs"), str(tree), str(tree / "out")]
    paths = os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths})
    assert done.returncode == 0, done.stderr
    # `make docs` puts the lab here.
    (tree / "out" / "lab").mkdir()
    (tree / "out" / "lab" / "index.html").write_text("<!doctype html>")
    return tree / "out"


def test_links_to_folders_lead_to_their_pages(site: Path) -> None:
    home = (site / "docs" / "index.html").read_text()
    assert home.count('href="../validation/README.html"') >= 3, "both links and the table of contents"


def test_links_into_the_lab_of_the_tree_lead_to_that_of_the_site(site: Path) -> None:
    assert 'href="../lab/index.html#scene=duel"' in (site / "docs" / "guide.html").read_text()


def test_stored_results_get_a_title(site: Path) -> None:
    assert "<h1>Results: one<" in (site / "validation" / "one" / "results.html").read_text()


def test_a_papers_page_has_its_claims(site: Path) -> None:
    page = (site / "docs" / "paper" / "README.html").read_text()
    assert "<h3>A1. It falls<" in page or "<h2>A1. It falls<" in page
    for text in (
        "The paper (Fig. 2):</strong> The rate falls.",
        "Mean rate.",
        "Ten per cent.",
        "(fast slow):</strong> The",
    ):
        assert text in page


def test_columns_of_sentences_keep_their_width(site: Path) -> None:
    page = (site / "docs" / "wide.html").read_text()
    cells = re.findall(r"<t[hd] class=\"([^\"]*)\"><p>([^<]*)</p>", page)
    assert {text.split()[0] for classes, text in cells if "words" in classes} == {"b", "word", "z"}


def test_pages_of_other_folders_are_left_out(site: Path) -> None:
    assert not (site / "crates").exists()


def test_the_entry_leads_to_the_first_page(site: Path) -> None:
    assert 'url=docs/index.html"' in (site / "index.html").read_text()


def test_signatures_and_docstrings_are_readable(site: Path) -> None:
    page = (site / "docs" / "api.html").read_text()
    assert "Meta" not in page
    assert "factory" not in page
    assert 'href="guide.html"' in page.split("A sample of")[1].split("</p>")[0]
    assert ">ValueError<" in page
    assert "<p>The values: numbers.</p>" in page


def test_search_works_without_a_network(site: Path) -> None:
    assert '"Guide"' in (site / "searchindex.js").read_text()
    home = (site / "docs" / "index.html").read_text()
    assert 'src="http' not in home
    assert 'rel="stylesheet" type="text/css" href="http' not in home


def test_a_site_whose_links_lead_somewhere_passes(site: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "check_links.py"), str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("links lead somewhere: ")


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ("gone.html", "no such file"),
        ("deep/page.html#gone", "no such anchor"),
        ("#gone", "no such anchor"),
        ("deep", "no such file"),
        ("rust/gone.html", "no such file"),
    ],
)
def test_a_dead_link_is_named(tmp_path: Path, link: str, said: str) -> None:
    pages = {"index.html": f'<a href="{link}">', "deep/page.html": '<h1 id="top">'}
    assert checked_tree("check_links.py", tmp_path, pages) == (1, [f"index.html: {link}: {said}"])


@pytest.mark.parametrize(
    "link", ["deep/page.html#top", "deep/a%20b.html?x=1", "#here", "https://example.org/gone", "mailto:a@example.org"]
)
def test_other_links_pass(tmp_path: Path, link: str) -> None:
    pages = {
        "index.html": f'<p id="here"><a href="{link}"><img src="deep/page.html">',
        "deep/page.html": '<a name="top" href="../index.html">',
        "deep/a b.html": "",
        "rust/index.html": '<a href="gone.html">',
    }
    assert checked_tree("check_links.py", tmp_path, pages) == (0, ["links lead somewhere: 3 on 3 pages"])


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    assert checked_tree("check_links.py", tmp_path, {"page.md": ""})[0] == 1
