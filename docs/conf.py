"""How `make docs` builds the site: Sphinx reads the Markdown of the whole tree, and Python's docstrings.

The root of the sources is the root of the repository, so a link between two pages is the same on the site and in the
tree. `docs/index.md` has the tables of contents.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

import netlull

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "netlull"
author = "netlull developers"
project_copyright = "netlull developers, MIT or Apache-2.0"
version = release = netlull.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benches/*.md",
    "docs/**.md",
    "python/netlull/shipped/papers/**.md",
    "validation/**.md",
]
# Files and folders that hold no page.
exclude_patterns = ["docs/paper/paper.md", "docs/_build", "out", "target", "web", ".*", "crates"]

myst_heading_anchors = 4
suppress_warnings = [
    "myst.header",  # a page may begin its sections at any depth
    "ref.python",  # two classes may have the same name in two modules
]

# Docstrings have `code` between single marks.
default_role = "py:obj"
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"netlull {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
# The entry of the site, which leads to `root_doc`.
html_extra_path = ["entry"]
html_copy_source = False
html_show_sphinx = False

CHECKED = re.compile(r"[~.\w]*Annotated\[(.+?), [.\w]*Meta\((?:[^()]|\([^()]*\))*\)\]")
NAMED_PAGE = re.compile(r"(?<![\w/`])((?:docs|validation)/[\w/-]+)\.md\b")
CLAIMS = "<!-- claims -->"
"""The line of a paper's page that the paper's claims replace."""
SENTENCE = 40
"""The letters from which on a cell of a table counts as a sentence."""
LAB_LINK = re.compile(r'(?<=href=")((?:\.\./)*)out/lab/')
"""A link into the lab of the tree, which `make lab` builds; the site has the page elsewhere."""
FOLDER_LINK = re.compile(r"(?<=\]\()([\w./-]+/)(?=[)#])")


def prepared_page(app: Sphinx, document: str, content: list[str]) -> None:
    """Lets a link to a folder lead to its page: README.md in it, or in the folder above. Stored results get a title.

    Links into the lab lead to the site's copy. A page of a paper gets the paper's claims.
    """

    def page(match: re.Match[str]) -> str:
        folder = (Path(app.srcdir) / document).parent / match[1]
        found = [name for name in ("README.md", "../README.md") if (folder / name).is_file()]
        return match[1] + found[0] if found else match[1]

    here = Path(document)
    title = f"# Results: {here.parent.relative_to('validation')}\n\n" if here.name == "results" else ""
    if title and (Path(app.srcdir) / here).with_name("README.md").is_file():
        title += "These are the stored results of [this comparison](README.md).\n\n"
    text = LAB_LINK.sub(r"\1lab/", FOLDER_LINK.sub(page, content[0]))
    if CLAIMS in text:
        text = text.replace(CLAIMS, claims_of((Path(app.srcdir) / here).with_name("claims.toml")))
    content[0] = title + text


def claims_of(file: Path) -> str:
    """The claims of a paper as sections: the paper's words, the measure, the tolerance, and reasons for differences."""

    def section(claim: dict[str, Any]) -> str:
        parts = {
            f"The paper ({claim['where']})": claim["statement"],
            "The paper's value": claim["theirs"],
            "The measure": claim["measured"],
            "The tolerance": claim["reason"],
        }
        parts |= {f"Reason for a difference ({part})": why for part, why in claim.get("why", {}).items()}
        text = "\n\n".join(f"**{name}:** {value.strip()}" for name, value in parts.items())
        return f"### {claim['id']}. {claim['title']}\n\n{text}\n"

    return "\n".join(section(claim) for claim in tomllib.loads(file.read_text(encoding="utf-8"))["claim"])


def readable_docstring(app: Sphinx, what: str, name: str, thing: object, _options: object, lines: list[str]) -> None:
    """Reads the sections of a docstring in Google's style (`Raises:`), and links the pages that it names.

    Docstrings of attributes have no sections: their colons are colons.
    """
    if what not in {"attribute", "data", "property"}:
        lines[:] = GoogleDocstring(lines, Config(), app, what, name, thing).lines()
    lines[:] = [NAMED_PAGE.sub(r":doc:`/\1`", line) for line in lines]


def readable_signature(
    _app: Sphinx, _what: str, _name: str, _thing: object, _options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Leaves out of a signature the checks that msgspec makes, and defaults that are no Python."""
    return CHECKED.sub(r"\1", signature).replace("<factory>", "...") if signature else signature, returns


def wide_columns(_app: Sphinx, document: nodes.document) -> None:
    """Marks the cells of columns that hold sentences, which the style sheet keeps from being squeezed."""
    for table in document.findall(nodes.tgroup):
        rows = [list(row.findall(nodes.entry)) for row in table.findall(nodes.row)]
        for column in zip(*rows, strict=False):
            if max(len(cell.astext()) for cell in column) > SENTENCE:
                for cell in column:
                    cell["classes"].append("words")


def setup(app: Sphinx) -> None:
    """Registers the hooks."""
    app.connect("doctree-read", wide_columns)
    app.connect("source-read", prepared_page)
    app.connect("autodoc-process-docstring", readable_docstring)
    app.connect("autodoc-process-signature", readable_signature)
