"""The stored forms of all documents of the project: canonical text, table and TOML, or the refused field.

`tests/front_door.txt` has a line per document. `python tests/test_front_door.py` writes it anew.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import lzma
import random
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from netlull import InputError, Scenario, ScenarioError, Sweep, SweepError
from netlull.errors import FieldPathError
from netlull.library import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "python" / "netlull" / "shipped"
STUDIES = ROOT / "studies"
STORE = Path(__file__).with_name("front_door.txt")
MUTATED = Path(__file__).with_name("front_door_mutated.json.xz")
"""Valid and invalid documents, made from the shipped ones by `tools/mutations.py`; a list of JSON texts."""
COUNT = 400
POINTS = 60
REFUSED = (FieldPathError, InputError, ScenarioError, SweepError)


def digest(*scenarios: Scenario) -> str:
    """The digest of the forms of scenarios: canonical text, document, TOML."""
    hashed = hashlib.sha256()
    for scenario in scenarios:
        for form in (scenario.canonical(), json.dumps(scenario.to_dict()), scenario.to_toml()):
            hashed.update(form.encode() + b"\0")
    return hashed.hexdigest()[:16]


def refusal(error: Exception) -> str:
    """The field that an error names."""
    field = getattr(error, "field", None) or re.split(r"[:;]? is |: ", str(error), maxsplit=1)[0]
    return f"refused {field[:80]!r}"


def files() -> Iterator[Path]:
    """The files of scenarios and sweeps."""
    folders = [SHIPPED, STUDIES, ROOT / "validation"]
    found = [path for folder in folders for path in folder.rglob("*.toml")] + [*(ROOT / "tests/corpus").glob("*.json")]
    for path in sorted(found):
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        if "duration" in document or "axis" in document:
            yield path


def of_file(path: Path) -> str:
    """What a file becomes. Of a sweep, its first points."""
    try:
        if path.name.endswith("sweep.toml"):
            points = itertools.islice(Sweep.from_file(path).each_point(), POINTS)
            return f"points {digest(*(point.scenario for point in points))}"
        if path.suffix == ".json":
            return digest(Scenario.from_dict(json.loads(path.read_text(encoding="utf-8"))))
        return digest(Scenario.from_file(path))
    except REFUSED as error:
        return refusal(error)


def pages() -> Iterator[tuple[str, str]]:
    """The names and texts of scenarios in the documentation."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for number, text in enumerate(
            re.findall(r"^```toml\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        ):
            # Classes may be those of another test of this process.
            if re.search(r"^duration = ", text, re.MULTILINE) and 'kind = "python"' not in text:
                yield f"{page.relative_to(ROOT)}#{number}", text


def of_text(text: str, folder: Path) -> str:
    """What a text becomes."""
    try:
        return digest(Scenario.from_toml(text, folder=folder))
    except REFUSED as error:
        return refusal(error)


def of_document(text: str) -> str:
    """What a document becomes."""
    try:
        return digest(Scenario.from_dict(json.loads(text)))
    except REFUSED as error:
        return refusal(error)


def mutated() -> list[str]:
    texts: list[str] = json.loads(lzma.decompress(MUTATED.read_bytes()))
    return texts


def lines() -> Iterator[str]:
    """The lines of the store."""
    for path in files():
        yield f"{path.relative_to(ROOT)}: {of_file(path)}"
    for name, text in pages():
        yield f"{name}: {of_text(text, ROOT / 'docs')}"
    for number, text in enumerate(mutated()):
        yield f"mutated {number}: {of_document(text)}"


def test_every_document_becomes_what_is_stored() -> None:
    assert list(lines()) == STORE.read_text(encoding="utf-8").splitlines()


def test_the_store_has_many_kinds() -> None:
    stored = STORE.read_text(encoding="utf-8").splitlines()
    refused = {line.split(": ", 1)[1] for line in stored if ": refused" in line}
    assert len(stored) > COUNT
    assert len(refused) > 50
    assert sum(": refused" not in line for line in stored) > 100


def wrong_values() -> Iterator[tuple[Path, int, str, str]]:
    """Shipped scenarios with one wrong value each: the file, the line, the key and the text."""
    folders = [SHIPPED / "scenarios", SHIPPED / "papers", STUDIES]
    for path in sorted(path for folder in folders for path in folder.rglob("*.toml")):
        if path.parent.name != "scenarios" and not path.name.endswith("scenario.toml"):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > 120:
            continue
        for index, line in enumerate(lines):
            if (found := re.match(r"([a-z_]+) = .*[^\[,]$", line)) is not None:
                wrong = [*lines[:index], f"{found[1]} = {{ wrong = [1, 2] }}", *lines[index + 1 :]]
                yield path, index + 1, found[1], "\n".join(wrong)


def test_every_wrong_value_is_named_with_its_line() -> None:
    count = 0
    for path, line, key, text in wrong_values():
        with pytest.raises((InputError, ScenarioError)) as caught:
            Scenario.from_toml(text, str(path), folder=path.parent)
        error = caught.value
        is_number = any(key.isdigit() for key in str(error.field).split("."))
        if key == "each" and is_number:
            # The names of the repetition are gone: the error is where one of them is used.
            used = text.splitlines()[error.line - 1]
            assert "{" in used, error
            assert f"{str(error.field).rpartition('.')[2]} = " in used, error
            continue
        if error.field == "recording.without" or (is_number and "\nentries = [" in text):
            # The first run of a recording is another scenario; entries written once for many change the numbers.
            continue
        assert (error.file, error.line) == (str(path), line), (path, line, text.splitlines()[line - 1], error)
        assert key in str(error.field).split("."), error
        assert str(error).startswith(f"{path}, line {line}, column "), error
        count += 1
    assert count > 200


PLACES = """\
duration = "1 s"
nodes = ["a", "b", "h{1..3}"]
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
[[link]]
each = { i = "1..3" }
from = "h{i}"
to = "a"
rate = "1 Mb/s"
"""


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"link.a-b.rate": "bad"}, "link.a-b.rate"),
        ({"link.0.rate": "bad"}, "link.a-b.rate"),
        ({"link.h{1..3}-a.rate": "bad"}, "link.h1-a.rate"),
        ({"link.a-b": "bad"}, "link.0"),
        ({"link.0.name": "x", "link.0.rate": "bad"}, "link.x.rate"),
    ],
)
def test_a_changed_value_is_at_no_line_of_the_file(values: dict[str, object], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(PLACES, "x.toml", values=values)
    assert (caught.value.field, caught.value.line) == (field, None), caught.value


def test_other_values_keep_their_lines() -> None:
    wrong = PLACES.replace('to = "a"\nrate = "1 Mb/s"', 'to = "a"\nrate = "1 MB/s"')
    with pytest.raises(ScenarioError, match=r"^x\.toml, line 11, column 8: link\.h1-a\.rate: ") as caught:
        Scenario.from_toml(wrong, "x.toml", values={"link.a-b.rate": "2 Mb/s"})
    assert caught.value.line == 11


def test_a_part_that_the_topology_makes_is_at_no_line() -> None:
    text = '[topology]\nfile = "abilene"\nbuffer = "0 packets"\n[[link]]\nfrom = "x"\nto = "y"\nrate = "1 Mb/s"\n'
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(f'duration = "1 s"\nnodes = ["x", "y"]\n{text}', "x.toml")
    assert caught.value.line is None, caught.value


def test_a_wrong_choice_of_reading_is_an_error_of_its_own_field() -> None:
    with pytest.raises(InputError, match=r'^x\.toml, line 4, column 10: topology\.pieces: "some" is unknown'):
        Scenario.from_toml('duration = "1 s"\n[topology]\nfile = "abilene"\npieces = "some"\n', "x.toml")


if __name__ == "__main__":
    if not MUTATED.exists():
        sys.path.insert(0, str(ROOT / "tools"))
        from mutations import Schema, at, places
        from mutations import mutated as changed

        import netlull

        rng, schema = random.Random(1), Schema(netlull.schema())  # noqa: S311  # reproducible
        documents = [Scenario.from_file(path).to_dict() for path in shipped().values() if path.stat().st_size < 4000]
        pool = [at(document, path) for document in documents for path in places(document) if path]
        texts: list[str] = []
        while len(texts) < COUNT:
            text = json.dumps(changed(rng.choice(documents), rng, schema, pool))
            if len(text) < 6000:
                texts.append(text)
        MUTATED.write_bytes(lzma.compress(json.dumps(texts).encode(), preset=9))
    STORE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
