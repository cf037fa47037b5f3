"""Runs notebooks and writes their outputs into them: `python tools/run_notebook.py examples/web-load.ipynb`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of a fresh kernel, without times and other changing data."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        options = {"record_timing": False, "resources": {"metadata": {"path": folder}}}
        # A kernel and its cells take long on a busy machine.
        client = NotebookClient(notebook, timeout=600, startup_timeout=600, **options)
        client.execute()
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main() -> None:
    """Runs every named notebook."""
    for name in sys.argv[1:]:
        nbformat.write(executed(Path(name)), name)
        print(f"{name}: done")


if __name__ == "__main__":
    main()
