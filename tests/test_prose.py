"""The check of the prose sees what it is there to see: each test writes a text that breaks one rule, or none."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, checked_tree

LONG = " ".join(["word"] * 40)
PLAIN = "The link drops the packet. " * 60


def check(folder: Path, files: dict[str, str]) -> tuple[int, list[str]]:
    code, said = checked_tree("check_prose.py", folder, files)
    return code, [line.removeprefix(f"{folder}/") for line in said]


def checked(folder: Path, name: str, text: str) -> list[str]:
    return check(folder, {name: text})[1]


def test_plain_texts_pass(tmp_path: Path) -> None:
    files = {
        "page.md": "# A link\n\nIt drops packets.\n",
        "link.rs": "//! Links.\n\n/// Returns the rate.\nfn rate() {}\n",
        "link.py": '"""Links."""\n\n\ndef rate():\n    """Returns the rate."""\n',
    }
    assert check(tmp_path, files) == (0, ["prose is plain: 13 words in 3 files"])


@pytest.mark.parametrize("start", ["What the link sends", "Whether it sleeps or wakes", "One for each", "Those of it"])
def test_doc_comments_begin_with_a_noun_or_a_verb(tmp_path: Path, start: str) -> None:
    rust = f"//! {PLAIN}\n\npub struct Link {{\n    /// {start}.\n    /// More.\n    rate: u64,\n}}\n"
    python = f'"""{PLAIN}"""\n\n\nclass Link:\n    rate: int\n    """{start}. More."""\n'
    files = {"link.rs": rust, "link.py": python, "page.md": f"{PLAIN * 7}{start}.\n"}
    said = [line for line in check(tmp_path, files)[1] if ": start: " in line]
    assert said == [f"link.py:6: start: {start}.", f"link.rs:4: start: {start}."]


@pytest.mark.parametrize("start", ["Whether it sleeps", "Whatever it sends", "Oneself", "No one"])
def test_other_beginnings_pass(tmp_path: Path, start: str) -> None:
    assert check(tmp_path, {"link.rs": f"/// {start}.\n"})[0] == 0


@pytest.mark.parametrize("clause", ["what is sent", "What it drops", "what\nthe link carries", "what comes back"])
def test_clauses_in_the_place_of_nouns_are_counted(tmp_path: Path, clause: str) -> None:
    """300 words and one clause are 3.3 for each 1,000; with 1,800 words more they are 0.5."""
    said = checked(tmp_path, "page.md", f"{PLAIN}\n\nHere is {clause}.\n")
    assert said == [f"page.md:3: clause: Here is {' '.join(clause.split())}."]
    assert check(tmp_path, {"page.md": f"{PLAIN * 7}\n\nHere is {clause}.\n"})[0] == 0


def test_clauses_count_in_lists_tables_and_headings_and_by_group(tmp_path: Path) -> None:
    text = "# What is sent\n\n- what is lost\n\n| what is kept |\n|---|\n"
    said = check(tmp_path, {"page.md": text, "plain.rs": f"/// {PLAIN * 7}\n"})[1]
    assert [line.split(": ")[0] for line in said] == ["page.md:1", "page.md:3", "page.md:5"]


def test_code_has_no_clauses(tmp_path: Path) -> None:
    text = "```sh\nwhat is sent\n```\n\n<!-- what is sent -->\n`what is sent` stays.\n\n  ~~~\n  what it is\n  ~~~\n"
    assert check(tmp_path, {"page.md": text})[0] == 0


@pytest.mark.parametrize("name", ["page.md", "link.rs", "link.py"])
def test_sentences_end(tmp_path: Path, name: str) -> None:
    begin, end = {"page.md": ("", ""), "link.rs": ("/// ", ""), "link.py": ('"""', '"""')}[name]
    assert check(tmp_path, {name: f"{begin}{LONG}.{end}\n"})[0] == 0
    assert checked(tmp_path, name, f"{begin}Short. {LONG} word.{end}\n") == [
        f"{name}:1: length: 41 words: {LONG} word."
    ]


@pytest.mark.parametrize("short", ["e.g. a", "(i.e. a", "Eq. 3", "et al. find", "rates, queues, etc. with", "0.5 of"])
def test_abbreviations_end_no_sentence(tmp_path: Path, short: str) -> None:
    assert "length" in checked(tmp_path, "page.md", f"{LONG} {short} it.\n")[0]


@pytest.mark.parametrize("end", ['it." The', "it.) The", "it? the", "`a`. ns-2", "queues, etc. The"])
def test_marks_and_names_in_small_letters_end_sentences(tmp_path: Path, end: str) -> None:
    assert check(tmp_path, {"page.md": f"{LONG[:-25]} {end} {LONG[:-25]}.\n"})[0] == 0


@pytest.mark.parametrize("between", ["\n\n", "\n- ", "\n2. ", "\n  * ", "\n# ", "\n```\ncode\n```\n", "\n| row |\n"])
def test_paragraphs_entries_and_headings_are_separate(tmp_path: Path, between: str) -> None:
    assert check(tmp_path, {"page.md": f"- {LONG}{between}{LONG}\n"})[0] == 0


def test_a_long_sentence_is_found_where_it_starts(tmp_path: Path) -> None:
    text = f"A [link\nof two](http://example.org/a_(b)\n) lines.\n{LONG.replace(' ', chr(10))}\nmore.\n"
    assert checked(tmp_path, "page.md", text)[0].startswith("page.md:4: length: 41 words: word word")


def test_code_and_addresses_are_short(tmp_path: Path) -> None:
    address = "http://example.org/" + "/a" * 50
    text = f"Here `{LONG}` and [a\nlink]({address}) and ![a *picture*]({address}) are.\n\n| {LONG} {LONG} |\n"
    assert check(tmp_path, {"page.md": text}) == (0, ["prose is plain: 89 words in 1 files"])


def test_arguments_of_a_docstring_are_separate(tmp_path: Path) -> None:
    text = f'def rate():\n    """Returns.\n\n    Args:\n        a: {LONG[:-5]}\n        b: {LONG[:-5]}\n    """\n'
    assert check(tmp_path, {"link.py": text})[0] == 0


def test_examples_are_code(tmp_path: Path) -> None:
    text = f'def rate():\n    """Returns.\n\n    Example:\n        >>> rate()\n        {LONG} {LONG}\n    """\n'
    assert check(tmp_path, {"link.py": text}) == (0, ["prose is plain: 2 words in 1 files"])


def test_texts_that_document_nothing_are_left_out(tmp_path: Path) -> None:
    python = '"""Links."""\n\nRATE = "What is sent"\n\n\ndef rate():\n    pass\n    "What is sent"\n'
    rust = '//// What is sent\n// What is sent\nconst RATE: &str = "What is sent";\n'
    built = {"_build/page.md": "What is sent", "target/doc/link.rs": "/// What is sent"}
    assert check(tmp_path, {"link.py": python, "link.rs": rust} | built) == (0, ["prose is plain: 1 words in 2 files"])


def test_the_report_has_the_numbers_of_each_file(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"Short.\n\nOf two.\n\n{LONG}.\n\n{LONG} what is.\n")
    command = [sys.executable, str(ROOT / "tools" / "check_prose.py"), "--report", str(tmp_path / "page.md")]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    # Lengths 1, 2, 40 and 42: the median is 21; the least length that 90 % of four do not exceed is the fourth.
    assert said[1].split() == ["85", "11.76", "21", "42", "1", str(tmp_path / "page.md")]
    assert [line.split()[-1] for line in said[2:5]] == ["Markdown", "rustdoc", "docstrings"]
    assert [line.split(": ")[1] for line in said[5:]] == ["clause", "length"]


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "check_prose.py"), str(tmp_path / "none.md")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.md: no such file or folder" in done.stderr
