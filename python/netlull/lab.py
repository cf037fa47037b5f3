"""The laboratory in the browser: its page, and addresses in it."""

from __future__ import annotations

import base64
import zlib
from importlib.resources import files
from pathlib import Path

from netlull.results.output import staged_file

__all__ = ["PAGE", "fragment", "lab_page", "place_lab"]

PAGE = "lab.html"
"""The name of the page next to a report."""


def lab_page() -> bytes | None:
    """The page that `make lab` builds; None if it was not built."""
    try:
        # Not as a file of `netlull.report`, whose import needs matplotlib.
        return files("netlull").joinpath("report", "bundled", PAGE).read_bytes()
    except OSError:
        return None


def place_lab(path: Path) -> bool:
    """Writes the page to `path` unless the file is the same. Returns False if it was not built.

    Raises:
        OutputError: the file cannot be written.
    """
    page = lab_page()
    if page is None:
        return False
    if not (path.is_file() and path.read_bytes() == page):
        with staged_file(path) as stage:
            stage.write_bytes(page)
    return True


def fragment(toml: str) -> str:
    """The end of the page's address that opens it with this scenario (web/lab/src/lib/share.ts).

    The text is compressed (raw deflate, RFC 1951) and written in base64url (RFC 4648 section 5).
    """
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(toml.encode()) + packer.flush()
    return "#scene=free&toml=" + base64.urlsafe_b64encode(packed).decode().rstrip("=")
