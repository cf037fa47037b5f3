"""Report pages in a real browser, if there is one: figures are interactive, without errors or overflow."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from netlull.library import lab_fragment
from netlull.plot import Chart, Series
from netlull.report import FigureBlock, Section, TableBlock, Try, chart_library, render, write
from test_report import SVG, page

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no chromium here"),
    pytest.mark.skipif(chart_library() is None, reason="no chart library here: make setup fetches it with npm"),
]

DRIVER = """
<script>
addEventListener("load", () => {
  const found = {};
  const at = (selector) => document.querySelector(selector);
  const over = at(".u-over");
  const mouse = (kind, x, y) => {
    const { left, top, width, height } = over.getBoundingClientRect();
    const place = { clientX: left + x * width, clientY: top + y * height };
    over.dispatchEvent(new MouseEvent(kind, { bubbles: true, button: 0, movementX: 1, ...place }));
  };
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  // The time is virtual. A page that never does so fails the test with what it shows.
  const until = async (holds) => { for (let n = 0; n < 200 && !holds(); n += 1) await wait(50); };
  const hints = (text) => until(() => at(".hint").textContent.includes(text));
  (async () => {
    await until(() => document.querySelectorAll("figure canvas").length === 3);
    found.live = document.querySelectorAll("figure.live").length;
    found.canvases = document.querySelectorAll("figure canvas").length;
    found.overflow = document.documentElement.scrollWidth - innerWidth;
    mouse("mouseenter", 0.5, 0.5); mouse("mousemove", 0.5, 0.5);
    await hints("load: 2");
    found.hint = at(".hint").textContent;
    at(".legend button").click();
    found.pressed = at(".legend button").getAttribute("aria-pressed");
    mouse("mousemove", 0.501, 0.5);
    await until(() => /^(?!.*one).*two: 3/s.test(at(".hint").textContent));
    found.alone = at(".hint").textContent;
    const key = (name) => at(".box").dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    key("0"); key("ArrowRight");
    await hints("load: 3");
    found.stepped = at(".hint").textContent;
    for (const [kind, x] of [["mousemove", 0.75], ["mousedown", 0.75], ["mousemove", 0.99], ["mouseup", 0.99]]) {
      mouse(kind, x, 0.2);
      await wait(50);
    }
    await wait(100);
    mouse("mousemove", 0.05, 0.5);
    await wait(100);
    await hints("load: 3");
    found.zoomed = at(".hint").textContent;
    at(".tool:not(#theme)").click();
    mouse("mousemove", 0.06, 0.5);
    await hints("load: 1");
    found.whole = at(".hint").textContent;
    const still = [...document.querySelectorAll(".tool")].find((button) => button.textContent === "Still picture");
    still.click();
    found.picture = getComputedStyle(at("figure.live > img")).display;
    const light = getComputedStyle(document.body.parentElement).backgroundColor;
    at("#theme").click(); at("#theme").click();
    found.theme = document.documentElement.dataset.theme;
    found.darker = getComputedStyle(document.body.parentElement).backgroundColor !== light;
    at("table.sortable th:nth-child(2) button").click();
    at("table.sortable th:nth-child(2) button").click();
    const first = [...document.querySelectorAll("table.sortable tbody td:first-child")];
    found.sorted = first.map((cell) => cell.textContent);
    at("input[type=search]").value = "b";
    at("input[type=search]").dispatchEvent(new Event("input"));
    found.rows = [...document.querySelectorAll("table.sortable tbody tr")].filter((row) => !row.hidden).length;
    document.body.dataset.found = JSON.stringify(found);
  })();
});
</script>
"""
"""Performs a reader's actions and records the results on the page. The page's own policy blocks such scripts."""


def tried(path: Path, html: str, width: int) -> tuple[Any, list[str]]:
    """The driver's results and the console's messages."""
    path.write_text(html, encoding="utf-8")
    assert BROWSER
    ended = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
         f"--user-data-dir={path.parent / 'profile'}", f"--window-size={width},1600", "--virtual-time-budget=60000",
         "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    said = [line for line in ended.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'data-found="([^"]*)"', ended.stdout)
    return json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&")) if found else {}, said


def interactive() -> str:
    """A page with lines, bars and points, and a table."""
    lines = [
        Series("one", [1, 2, 3], [1.0, 2.0, 3.0], [0.5, 1.5, 2.5], [1.5, 2.5, 3.5], [5, 5, 5]),
        Series("two", [1, 2, 3], [3.0, 3.0, 3.0], [2.9, 2.9, 2.9], [3.1, 3.1, 3.1], [5, 5, 5], 1, dashed=True),
    ]
    bars = [Series("static", [0, 1], [2.0, 2.0], [0.0, 0.0], kind="bars")]
    points = [Series("", [0.0, 1.0], [2.0, 2.0], [1.0, 1.0], [3.0, 3.0], [4, 4], kind="points")]
    charts = [
        Chart("lines", "load", "time (s)", lines, (0.9, 3.1), (0.0, 4.0)),
        Chart("bars", "who", "energy (J)", bars, (-0.6, 1.6), (0.0, 3.0), names=["a", "a long name"]),
        Chart("points", "who", "log", points, (-0.6, 1.6), (0.5, 5.0), log_y=True, names=["a", "b"]),
    ]
    table = TableBlock("Values", ["name", "value"], [["a", "1.5 ± 0.1"], ["b", "11"], ["c", "2"]], sortable=True)
    section = Section("figures", "Figures", tables=[table], figures=[FigureBlock("f", "F", "C", SVG, charts)])
    return render(dataclasses.replace(page(), claims=[], sections=[section]))


@pytest.mark.parametrize("width", [500, 1400])
def test_a_reader_can_look_closer(tmp_path: Path, width: int) -> None:
    html = interactive()
    policy = re.search(r"<meta http-equiv[^>]*>", html)
    assert policy
    page_of_a_driver = html.replace(policy[0], "").replace("</body>", DRIVER + "</body>")
    found, said = tried(tmp_path / "page.html", page_of_a_driver, width)
    assert said == []
    assert found["live"] == 1
    assert found["canvases"] == 3
    assert found["overflow"] <= 0
    # In the middle of 0.9 to 3.1 is 2: one is 2 (1.5 to 2.5), two is 3.
    assert "load: 2" in found["hint"]
    assert "one: 2 (1.5 to 2.5, n = 5)" in found["hint"]
    assert "two: 3 (2.9 to 3.1, n = 5)" in found["hint"]
    assert found["pressed"] == "false"
    assert "one" not in found["alone"]
    assert "two: 3" in found["alone"]
    assert "load: 3" in found["stepped"]
    # The left of the axis is close to 1, until the stretch from 2.55 on is closer.
    assert "load: 3" in found["zoomed"]
    assert "load: 1" in found["whole"]
    assert found["picture"] == "block"
    assert (found["theme"], found["darker"]) == ("dark", True)
    # By number, greatest first: 11, 2, 1.5.
    assert found["sorted"] == ["b", "c", "a"]
    assert found["rows"] == 1


PRESS = """
addEventListener("load", () => {
  open = (url, where) => { document.body.dataset.found = JSON.stringify([shown, url, where]); };
  const forms = [...document.querySelectorAll("form.try")];
  const shown = forms.map((form) => getComputedStyle(form).display !== "none");
  forms[1].querySelector("select").value = "2";
  forms[1].querySelector("button").click();
});
"""
"""Chooses a point of the second figure, and records the address that the page opens."""


def allowed(html: str, script: str) -> str:
    """The page with one more script, which its own policy allows."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert html.count("script-src ") == 1
    return html.replace("script-src ", f"script-src 'sha256-{digest}' ").replace(
        "</body>", f"<script>{script}</script></body>"
    )


def test_a_point_opens_in_the_lab_under_the_pages_own_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netlull.library.lab_page", lambda: b"<!doctype html><title>lab</title>")
    monkeypatch.setattr("netlull.report.page.lab_page", lambda: b"")
    points = [Try(f"rtt={rtt} ms", f'name = "ä</script> {rtt}"\n' + "# ?\n" * rtt) for rtt in range(3)]
    section = Section(
        "figures",
        "Figures",
        figures=[
            FigureBlock("f", "F", "C", SVG, points=points[:2]),
            FigureBlock("g", "G", "C", SVG, points=points[1:]),
        ],
    )
    html = write(dataclasses.replace(page(), claims=[], sections=[section]), tmp_path / "report.html").read_text(
        "utf-8"
    )
    assert (tmp_path / "lab.html").read_text() == "<!doctype html><title>lab</title>"
    found, said = tried(tmp_path / "page.html", allowed(html, PRESS), 900)
    assert said == []
    shown, address, where = found
    assert (shown, where) == ([True, True], "_blank")
    # The address of Python and that of the page hold the same text.
    name, _, packed = address.partition("#scene=free&toml=")
    assert name == "lab.html"
    assert re.fullmatch(r"[\w-]+", packed)
    for text in (packed, lab_fragment(points[2].toml).partition("toml=")[2]):
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        assert zlib.decompress(data, -zlib.MAX_WBITS).decode() == points[2].toml


def test_its_own_policy_lets_the_page_live_and_nothing_else_run(tmp_path: Path) -> None:
    html = interactive().replace("</body>", DRIVER + "</body>")
    found, said = tried(tmp_path / "page.html", html, 1400)
    assert found == {}
    assert len(said) == 1
    assert "Content Security Policy" in said[0]
