#!/usr/bin/env python3
"""Checks that documentation is written in plain sentences.

Three groups of texts: Markdown pages, rustdoc (`///`, `//!`) and Python docstrings. Three rules:

start   A doc comment or docstring begins with a noun or a verb, never with "What", "Whether ... or", "One" or "Those".
clause  Clauses in the place of nouns (`what is sent`, `what the link drops`) stay below `CLAUSES_PER_1000` in a group.
length  A sentence has at most `LONGEST` words. Code in a sentence is one word; tables and addresses do not count.

    tools/check_prose.py [--report] [PATH...]

prints each violation as ``file:line: rule: text`` and exits 1, or counts the words and exits 0. A path is a file or a
folder; without one, the documentation of the whole tree is checked. `--report` adds the numbers of each file: words,
clauses per 1,000 words, and the length of sentences (median, 90 %, too long).
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 40
CLAUSES_PER_1000 = 0.5

GROUPS = {".md": "Markdown", ".rs": "rustdoc", ".py": "docstrings"}
CHECKED = {
    ".md": ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "python/netlull/shipped/papers", "validation"),
    ".rs": ("crates", "examples"),
    ".py": ("python/netlull", "tools"),
}
"""The texts of the tree, by the end of their names."""

START = re.compile(r"(What|One|Those)\b|Whether\b.*\bor\b", re.DOTALL)
CLAUSE = re.compile(
    r"\bwhat\s+(?:is|are|was|were|comes?|came|go(?:es)?|went|has|have|had|do(?:es)?|did|takes?|took|makes?|made|gives?|gave"
    r"|becomes?|became|arrives?|happens?|waits?|sends?|lies|stands?|stood|holds|lets|can|cannot|could|may|must|would"
    r"|its?|they|their|there|an?|the|this|these|each|every|no|one|else|of|in|to)\b",
    re.IGNORECASE,
)
ABBREVIATIONS = {"e.g.", "i.e.", "cf.", "vs.", "al.", "resp.", "approx."}
ABBREVIATIONS |= {"eq.", "eqs.", "fig.", "figs.", "sec.", "sect.", "tab.", "ref.", "refs.", "p.", "pp.", "ch."}

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
HEADING = re.compile(r"\s*#{1,6} ")
ROW = re.compile(r"\s*\|")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)]) ")
PARAMETER = re.compile(r"\s+\*{0,2}[\w.]+: |\s*\w+:$")
"""`name: text` and `Args:` of a docstring."""


class Piece(NamedTuple):
    """A paragraph, an entry of a list, a heading or a row of a table, without its markup."""

    line: int
    text: str
    is_prose: bool
    """Not a row and not a heading: its sentences have a length."""


class Sentence(NamedTuple):
    """A sentence, and the line that it starts on."""

    line: int
    text: str

    @property
    def words(self) -> int:
        """Its length."""
        return count_words(self.text)


class Problem(NamedTuple):
    """A violation of a rule."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        """The line that the program prints."""
        return f"{shown(self.path)}:{self.line}: {self.rule}: {' '.join(self.text.split())}"


@dataclass(frozen=True)
class Text:
    """A file's documentation: the pages, comments or docstrings in it, each as its pieces."""

    path: Path
    documents: list[list[Piece]]

    @property
    def pieces(self) -> Iterator[Piece]:
        """All pieces, in the order of the file."""
        return (piece for document in self.documents for piece in document)

    @property
    def words(self) -> int:
        """All words, those of headings and tables included."""
        return sum(count_words(piece.text) for piece in self.pieces)

    def sentences(self) -> list[Sentence]:
        """The sentences whose length counts."""
        return [sentence for piece in self.pieces if piece.is_prose for sentence in sentences(piece)]

    def clauses(self) -> list[Problem]:
        """Each clause in the place of a noun, with its sentence."""
        return [
            Problem(self.path, sentence.line, "clause", sentence.text)
            for piece in self.pieces
            for sentence in sentences(piece)
            for _ in CLAUSE.finditer(sentence.text)
        ]

    def too_long(self) -> list[Problem]:
        """Each sentence with more words than the limit."""
        return [
            Problem(self.path, sentence.line, "length", f"{sentence.words} words: {sentence.text}")
            for sentence in self.sentences()
            if sentence.words > LONGEST
        ]

    def starts(self) -> list[Problem]:
        """Each comment or docstring with a wrong first word."""
        if self.path.suffix == ".md":
            return []
        firsts = [next(sentences(document[0])) for document in self.documents if document]
        return [Problem(self.path, first.line, "start", first.text) for first in firsts if START.match(first.text)]


def count_words(text: str) -> int:
    """The words of a text; a lone dash or operator is none."""
    return sum(any(letter.isalnum() for letter in word) for word in text.split())


def sentences(piece: Piece) -> Iterator[Sentence]:
    """The sentences of a piece. A sentence ends at `.`, `!` or `?` before a space, except after an abbreviation."""
    start = 0
    ends = [match.end() for match in re.finditer(r"[.!?][\"')\]]*(?=\s)", piece.text)]
    for end in [*(end for end in ends if not is_abbreviation(piece.text[:end], piece.text[end:])), len(piece.text)]:
        text = piece.text[start:end]
        if text.strip():
            begin = start + len(text) - len(text.lstrip())
            yield Sentence(piece.line + piece.text.count("\n", 0, begin), text.strip())
        start = end


def is_abbreviation(before: str, after: str) -> bool:
    """If the last word before a point is short for another one; "etc." is if the sentence goes on."""
    word = before.rsplit(maxsplit=1)[-1].lstrip("([\"'").lower()
    return word in ABBREVIATIONS or (word == "etc." and after.lstrip()[:1].islower())


def without_markup(text: str) -> str:
    """The words that a reader sees; code counts as one word. Line breaks stay."""

    def keep(match: re.Match[str]) -> str:
        shown = next((group for group in match.groups() if group is not None), "")
        return shown + "\n" * (match.group().count("\n") - shown.count("\n"))

    text = re.sub(r"(`+)(?:.|\n)+?\1", lambda match: "CODE" + "\n" * match.group().count("\n"), text)
    text = re.sub(r"<!--(?:.|\n)*?-->|</?[A-Za-z][^<>]*>", keep, text)
    text = re.sub(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)", keep, text)
    text = re.sub(r"\[([^\[\]]+)\]\[[^\[\]]*\]", keep, text)
    return re.sub(r"\*\*|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)", "", text)


def pieces(lines: Iterable[tuple[int, str]]) -> list[Piece]:
    """The pieces of a text in Markdown, given as numbered lines."""
    found: list[tuple[int, list[str], bool]] = []
    fence = ""
    is_open = is_example = False
    for number, line in lines:
        mark = FENCE.match(line)
        is_example = bool(line.strip()) and (is_example or line.lstrip().startswith(">>>"))
        if is_example:
            is_open = False
        elif fence or mark:
            closes = fence and line.strip().startswith(fence)
            fence = "" if closes else fence or (mark[1] if mark else "")
            is_open = False
        elif not line.strip():
            is_open = False
        elif ROW.match(line) or HEADING.match(line):
            found.append((number, [line], False))
            is_open = False
        elif is_open and not ITEM.match(line) and not PARAMETER.match(line):
            found[-1][1].append(line)
        else:
            found.append((number, [ITEM.sub("", line)], True))
            is_open = True
    return [Piece(number, without_markup("\n".join(text)), is_prose) for number, text, is_prose in found]


def rust_comments(text: str) -> Iterator[list[tuple[int, str]]]:
    """The doc comments of a Rust file, without their slashes."""
    comment: list[tuple[int, str]] = []
    kind = ""
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        match = re.match(r"\s*(///(?!/)|//!) ?(.*)", line)
        if comment and (match is None or match[1] != kind):
            yield comment
            comment = []
        if match:
            kind = match[1]
            comment.append((number, match[2]))


def docstrings(text: str, path: Path) -> Iterator[list[tuple[int, str]]]:
    """The docstrings of a Python file: of modules, classes and functions, and those below an attribute."""
    for node in ast.walk(ast.parse(text, filename=str(path))):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for before, statement in zip([None, *body], body, strict=False):
            documents = isinstance(node, owners) if before is None else isinstance(before, ast.Assign | ast.AnnAssign)
            match statement:
                case ast.Expr(value=ast.Constant(value=str() as words)) if documents:
                    yield list(enumerate(words.splitlines(), start=statement.lineno))


def read(path: Path) -> Text:
    """The documentation in a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        documents = rust_comments(text)
    elif path.suffix == ".py":
        documents = docstrings(text, path)
    else:
        documents = iter([list(enumerate(text.splitlines(), start=1))])
    return Text(path, [pieces(document) for document in documents])


def files(paths: list[Path]) -> list[Path]:
    """The files to check: the given ones and those in the given folders, or those of the tree."""
    if not paths:
        paths = [file for end, places in CHECKED.items() for place in places for file in below(ROOT / place, {end})]
    return sorted({file for path in paths for file in below(path, set(GROUPS))})


def below(path: Path, ends: set[str]) -> Iterator[Path]:
    """The files at or below a path with one of these ends; none that were built."""
    if path.is_file():
        yield path
    for end in ends if path.is_dir() else ():
        yield from (file for file in path.rglob(f"*{end}") if not {"_build", "target"} & set(file.parts))


def shown(path: Path) -> Path:
    """The path from the root of the tree, if it is in it."""
    return path.resolve().relative_to(ROOT) if path.resolve().is_relative_to(ROOT) else path


def per_1000(clauses: int, words: int) -> float:
    """Clauses per 1,000 words."""
    return 1000 * clauses / words if words else 0.0


def numbers(name: str, texts: list[Text]) -> str:
    """A line of the report."""
    words = sum(text.words for text in texts)
    clauses = sum(len(text.clauses()) for text in texts)
    lengths = sorted(sentence.words for text in texts for sentence in text.sentences())
    middle, most = (median(lengths), lengths[ceil(0.9 * len(lengths)) - 1]) if lengths else (0, 0)
    too_long = sum(len(text.too_long()) for text in texts)
    return f"{words:8} {per_1000(clauses, words):8.2f} {middle:8.0f} {most:8} {too_long:8}  {name}"


def report(texts: list[Text]) -> None:
    """Prints the numbers of each file and of each group."""
    print(f"{'words':>8} {'clauses':>8} {'median':>8} {'90 %':>8} {'too long':>8}  (clauses per 1,000 words)")
    for text in texts:
        print(numbers(str(shown(text.path)), [text]))
    for end, group in GROUPS.items():
        print(numbers(f"all {group}", [text for text in texts if text.path.suffix == end]))


def problems(texts: list[Text]) -> Iterator[Problem]:
    """The violations in some files; the clauses of a group only where they are too many."""
    for text in texts:
        yield from text.starts()
        yield from text.too_long()
    for end in GROUPS:
        group = [text for text in texts if text.path.suffix == end]
        clauses = [clause for text in group for clause in text.clauses()]
        if per_1000(len(clauses), sum(text.words for text in group)) > CLAUSES_PER_1000:
            yield from clauses


def main() -> int:
    """Reads the arguments and prints the violations; the exit code."""
    parser = argparse.ArgumentParser(description="Check that documentation is written in plain sentences.")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders (default: the tree's)")
    parser.add_argument("--report", action="store_true", help="print the numbers of each file")
    arguments = parser.parse_args()
    for path in arguments.paths:
        if not path.exists():
            parser.error(f"{path}: no such file or folder")
    texts = [read(path) for path in files(arguments.paths)]
    if arguments.report:
        report(texts)
    wrong = sorted(problems(texts))
    for problem in wrong:
        print(problem)
    if not wrong:
        print(f"prose is plain: {sum(text.words for text in texts)} words in {len(texts)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
