#!/usr/bin/env python3
"""Checks that every link of a built site leads somewhere: the file is there, and has the anchor.

    tools/check_links.py FOLDER

reads every HTML file of the folder, except rustdoc's, and prints each dead link as ``file: link: what is wrong``.
Addresses on the network are not fetched. Exits 1 if a link is dead.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

RUSTDOC = "rust"
"""The folder of rustdoc's pages, which rustdoc checks itself."""


@dataclass
class Page(HTMLParser):
    """The links and the anchors of an HTML file."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Prepares the parser."""
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes the links and the anchors of a tag."""
        for name, value in attrs:
            if value and name in {"id", "name"}:
                self.anchors.add(value)
            elif value and name in {"href", "src"} and tag != "base":
                self.links.append(value)


def read(path: Path) -> Page:
    """The page in a file."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def dead(root: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """The links that lead nowhere."""
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            wrong = problem(target, unquote(address.fragment), pages)
            if wrong:
                yield f"{path.relative_to(root)}: {link}: {wrong}"


def problem(target: Path, anchor: str, pages: dict[Path, Page]) -> str | None:
    """The reason why a link to an anchor of a file is dead; None if it is not."""
    if not target.is_file():
        return "no such file"
    # `name=value` is a setting that the page's script reads, as in the lab.
    if anchor and "=" not in anchor and target in pages and anchor not in pages[target].anchors:
        return "no such anchor"
    return None


def main(root: Path) -> int:
    """Prints the dead links of a site; the exit code."""
    pages = {path: read(path) for path in sorted(root.rglob("*.html")) if path.relative_to(root).parts[0] != RUSTDOC}
    if not pages:
        print(f"{root}: holds no page; expected the folder of a built site")
        return 1
    wrong = list(dead(root, pages))
    for line in wrong:
        print(line)
    if not wrong:
        print(f"links lead somewhere: {sum(len(page.links) for page in pages.values())} on {len(pages)} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
