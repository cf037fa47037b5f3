/**
 * The page in headless Chromium.
 *
 *     LAB=file:///.../index.html BROWSER=/usr/bin/chromium SUMMARIES=summaries.json node --test page.test.mjs
 *
 * SUMMARIES has the summary of each shipped scenario, of another build of netlull.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { blankPage, LAB, launched, scenesOf } from "./browser.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await launched();
after(() => browser.close());
const SCENES = await scenesOf(browser);
const { PAGES } = JSON.parse(readFileSync(new URL("../data.json", import.meta.url), "utf8"));

/** Pages that earlier tests have left blank. Another one costs two seconds of processor time. */
const blank = [];

/** Opens the page at a fragment. Every request after the page itself and every error fails the test. */
async function opened(t, fragment, { viewport = { width: 1280, height: 900 }, ...media } = {}) {
  const page = blank.pop() ?? (await blankPage(browser));
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference", ...media });
  const faults = [];
  const listeners = {
    console: (message) => message.type() === "error" && faults.push(message.text()),
    pageerror: (error) => faults.push(String(error)),
    request: (request) => {
      if (request.url().replace(/#.*/, "") !== LAB && !/^(blob|data):/.test(request.url())) faults.push(`request of ${request.url()}`);
    },
  };
  for (const [event, listener] of Object.entries(listeners)) page.on(event, listener);
  t.after(async () => {
    for (const [event, listener] of Object.entries(listeners)) page.off(event, listener);
    await page.goto("about:blank");
    blank.push(page);
    assert.deepEqual(faults, []);
  });
  await page.goto(`${LAB}#${fragment}`);
  return page;
}

/** Waits until the results are those of the settings. */
async function settled(page) {
  await page.waitForSelector(".results[data-current=true] table.figures");
}

/** The text of the figures. */
const figures = (page) => page.locator("table.figures").first().innerText();

/** Fails with the rules that axe-core finds broken. */
async function usable(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3)}`), []);
}

/** Waits until the address is a link. */
async function isAt(page, link) {
  await page.waitForURL((address) => address.href === link);
}

/** Waits until an error says so. */
async function failed(page, message) {
  await page.locator(".error", { hasText: message }).waitFor();
}

/** The notices on parts of the address that the page does not follow. */
function notices(page) {
  return page.getByRole("status").locator("p.warning");
}

/** Waits until an element has the focus. */
async function focused(page, key, value) {
  await page.waitForFunction(([key, value]) => document.activeElement[key] === value, [key, value]);
}

/** The texts that the page copies: the clipboard of a headless browser needs a permission. */
async function copies(page) {
  await page.evaluate(() => {
    globalThis.copied = [];
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void globalThis.copied.push(text) } });
  });
  return async () => (await page.waitForFunction(() => globalThis.copied.at(-1))).jsonValue();
}

/** Moves the pointer over an element until it has been noticed: a chart that is drawn anew waits for the next move. */
async function touched(page, element, noticed) {
  for (let moves = 0; !(await noticed.isVisible()); moves++) {
    assert.ok(moves < 200, "the pointer is not noticed");
    const { width, height } = await element.boundingBox();
    await element.hover({ position: { x: width / 2 + (moves % 5), y: height / 2 } });
    await page.waitForTimeout(20 * moves);
  }
}

/** A scenario that takes longer than any wait, on any machine. */
function endless(toml) {
  return toml.replace(/^duration = .*$/m, 'duration = "1000 h"');
}

async function downloaded(page, name) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
  return download;
}

async function saved(page, name) {
  return readFileSync(await (await downloaded(page, name)).path());
}

for (const scene of SCENES) {
  describe(scene, () => {
    test("a slider moved by the keyboard changes the result, and back", async (t) => {
      const page = await opened(t, `scene=${scene}`);
      await settled(page);
      const before = await figures(page);
      const sliders = page.locator(".controls input[type=range]");
      let changed = false;
      for (let i = 0; i < (await sliders.count()) && !changed; i++) {
        const slider = sliders.nth(i);
        await slider.focus();
        const value = await slider.inputValue();
        await page.keyboard.press(value === "0" ? "End" : "Home");
        await settled(page);
        changed = (await figures(page)) !== before;
        if (!changed) await slider.fill(value);
      }
      assert.ok(changed, "no slider changes the figures");
      await page.getByRole("button", { name: "Reset" }).click();
      await settled(page);
      assert.equal(await figures(page), before);
    });

    test("an address holds the whole scene, with the kept result", async (t) => {
      const page = await opened(t, `scene=${scene}`);
      const copied = await copies(page);
      await settled(page);
      await page.getByRole("button", { name: "Keep as A" }).click();
      const presets = page.locator(".presets button");
      for (let i = 0; i < (await presets.count()); i++) {
        await presets.nth(i).click();
        await settled(page);
        assert.equal(await presets.nth(i).getAttribute("aria-pressed"), "true");
      }
      await page.getByRole("button", { name: "Copy link" }).click();
      await isAt(page, await copied());
      const shown = await figures(page);
      const other = await opened(t, page.url().split("#")[1]);
      await settled(other);
      assert.equal(await figures(other), shown);
      const rows = (await saved(other, "Data (CSV)")).toString().split("\r\n");
      assert.ok(rows.some((row) => row.split(",")[1].endsWith(" (A)")), "the data of A is missing");
    });

    // These share a page, because each page is compiled, simulated and drawn first.
    test("a page as it opens", async (t) => {
      const page = await opened(t, `scene=${scene}`, { viewport: { width: 1366, height: 768 } });
      await settled(page);
      await t.test("the first chart is on the first screen, next to the numbers", async () => {
        const [chart, numbers] = [await page.locator(".head .panel").boundingBox(), await page.locator("table.figures").boundingBox()];
        assert.ok(chart.y + chart.height <= 768, `the chart ends at ${chart.y + chart.height}`);
        assert.ok(numbers.x >= chart.x + chart.width && Math.abs(numbers.y - chart.y) < 40, JSON.stringify({ chart, numbers }));
      });

      await t.test("its charts and settings have names of their own", async () => {
        for (const name of [".panel figcaption", ".controls label"]) {
          const names = await page.locator(name).allInnerTexts();
          assert.ok(names.length > 0);
          assert.equal(new Set(names).size, names.length, String(names));
        }
      });

      await t.test("links lead to scenes, to pages, or to the project", async () => {
        const links = await page.locator("a[href]").evaluateAll((found) => found.map((link) => link.getAttribute("href")));
        const pages = links.filter((link) => !link.startsWith("#"));
        assert.ok(pages.length > 0 && pages.every((link) => link.startsWith(PAGES) && link.endsWith(".md")), String(pages));
      });

      await t.test("the animation runs and pauses", async () => {
        // Slow, so that it never ends before the pause.
        const seconds = await page.locator(".player input").evaluate(({ min, max }) => max - min);
        await page.getByLabel("Speed").selectOption(seconds < 5 ? "0.01" : "0.1");
        const start = await page.locator(".player input").inputValue();
        await page.getByRole("button", { name: "Play" }).click();
        await page.waitForFunction((start) => document.querySelector(".player input").value !== start, start);
        await page.getByRole("button", { name: "Pause" }).click();
        await page.getByRole("button", { name: "Play" }).waitFor();
        const time = await page.locator(".player input").inputValue();
        await page.waitForTimeout(200);
        assert.equal(await page.locator(".player input").inputValue(), time);
      });

      await t.test("data, picture and scenario can be taken away", async () => {
        const rows = (await saved(page, "Data (CSV)")).toString().trim().split("\r\n");
        assert.equal(rows[0], "panel,series,x,y,x_axis,y_axis");
        assert.ok(rows.length > 50, `${rows.length} rows`);
        assert.deepEqual([...(await saved(page, "Picture (PNG)")).subarray(1, 4)], [...Buffer.from("PNG")]);
        await page.getByRole("button", { name: "Open as TOML" }).click();
        const toml = await page.getByRole("dialog").getByLabel("Scenario", { exact: true }).inputValue();
        assert.match(toml, /^duration = "/m);
        await page.getByRole("button", { name: "Edit here" }).click();
        await page.waitForSelector(".free");
        await settled(page);
        assert.equal(await page.getByLabel("Scenario in TOML").inputValue(), toml);
        assert.equal(await page.locator(".error").count(), 0);
      });
    });

    test("everyone can use it, in light and in dark colours", async (t) => {
      const page = await opened(t, `scene=${scene}`, { reducedMotion: "reduce" });
      await settled(page);
      await usable(page);
      await page.emulateMedia({ colorScheme: "dark" });
      await usable(page);
      await page.getByRole("button", { name: "Keep as A" }).click();
      await settled(page);
      await page.getByRole("button", { name: "Open as TOML" }).click();
      await usable(page);
      await page.emulateMedia({ colorScheme: "light" });
      await usable(page);
    });

    for (const view of ["", "&view=first"]) {
      test(`it fits a phone, where a chart and numbers stay in view while a setting moves${view}`, async (t) => {
        const page = await opened(t, `scene=${scene}${view}`, { viewport: { width: 390, height: 844 } });
        await settled(page);
        const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.ok(width <= room, `${width} pixels wide`);
        const settings = page.locator(".controls input, .controls select");
        for (let i = 0; i < (await settings.count()); i++) {
          await settings.nth(i).focus();
          const { chart, rows, setting } = await page.evaluate(() => {
            const box = (element) => element.getBoundingClientRect().toJSON();
            const rows = [...document.querySelectorAll("table.figures tbody tr")].map(box).filter(({ height }) => height > 0);
            return { chart: box(document.querySelector(".head .chart")), rows, setting: box(document.activeElement) };
          });
          assert.equal(rows.length, 3);
          assert.ok(chart.top >= 0 && rows.every(({ top }) => top > chart.top), JSON.stringify({ chart, rows }));
          assert.ok(setting.top >= rows.at(-1).bottom && setting.bottom < 845, JSON.stringify({ rows, setting }));
        }
      });
    }

    test("A and B are told apart under a long name, which is cut between characters, and no label waits for a value", async (t) => {
      const page = await opened(t, `scene=${scene}&seed=${encodeURIComponent(`${"a".repeat(59)}😀😀`)}`);
      await settled(page);
      await page.getByRole("button", { name: "Keep as A" }).click();
      await settled(page);
      const names = await page.locator(".u-legend .u-series:not(:first-child) .u-label").allInnerTexts();
      assert.ok(names.length > 0 && names.every((name) => /\([AB]\)$/.test(name)), String(names));
      assert.equal(await page.locator(".u-legend .u-series:first-child").first().isVisible(), false);
      assert.equal(await page.locator(".u-legend .u-value:visible").count(), 0);
      await touched(page, page.locator(".u-over").first(), page.locator(".u-legend .u-series:first-child .u-value", { hasText: /\d/ }).first());
      const changes = await page.locator("table.figures tbody tr").evaluateAll((rows) => rows.map(({ cells }) => [cells[2].innerText, cells[3].innerText]));
      assert.ok(changes.some(([now]) => now.endsWith("%")));
      for (const [now, change] of changes) assert.equal(change.endsWith(" points"), now.endsWith(" %"), `${now}, ${change}`);
      // The first chart has a width to read on screens of every width.
      for (const width of [834, 911, 1024, 1270, 1290, 1366]) {
        await page.setViewportSize({ width, height: 768 });
        await page.waitForFunction(() => document.querySelector(".head .chart").getBoundingClientRect().width > 350);
      }
    });

    test("a first look has three settings, a name, three numbers and a way to the rest", async (t) => {
      const page = await opened(t, `scene=${scene}&view=first`);
      await settled(page);
      assert.equal(await page.locator(".controls .control").count(), 4);
      assert.equal(await page.locator("table.figures tr").count(), 3);
      const [before, address] = [await figures(page), page.url()];
      await page.locator(".controls input[type=range]").first().focus();
      await page.keyboard.press("Home");
      await settled(page);
      assert.notEqual(await figures(page), before);
      await page.waitForURL(({ href }) => href !== address);
      assert.match(page.url(), /view=first/);
      await page.locator("details summary").first().click();
      const exercise = page.getByText("The exercise needs all settings.");
      assert.equal(await exercise.count(), await page.getByText(/^Exercise \d/).count());
      if (await exercise.count()) assert.match(await exercise.getByRole("link").getAttribute("href"), /^#scene=.*(?<!view=first.*)seed=1$/);
      await usable(page);
      const shown = await figures(page);
      await page.getByRole("link", { name: "All settings", exact: true }).click();
      await page.locator(".presets").waitFor();
      await settled(page);
      assert.ok((await figures(page)).startsWith(shown));
      assert.doesNotMatch(page.url(), /view=first/);
    });
  });
}

describe("claims", () => {
  const T2 = "scene=one-flow&rtt=100&ns2=true&bursts=false&mrci=1000&buffer=33";

  /** The sentence with the verdict, once the results are those of the settings. */
  async function verdict(page) {
    await settled(page);
    return page.locator(".verdict p", { hasText: /^Here: / }).innerText();
  }

  for (const [fragment, setting, wanted] of [
    [T2, (page) => page.getByLabel("practRA's tick").selectOption("one mRCI"), [/^Here: 9\.\d % below the maximum at mRCI 1000 ms: fails in this run \(seed 1\)\.$/, /^Here: 16\.\d % .*: holds in this run/]],
    ["scene=doze&seed=7&clock=1&margin=3", (page) => page.getByLabel("Clock of timestamps").press("End"), [/^Here: energy × delay 0\.6\d at 60 ms, ideal PSM 0\.64: holds in this run \(seed 7\)\.$/, /: fails in this run/]],
  ]) {
    test(`a reading decides a claim: ${fragment}`, async (t) => {
      const page = await opened(t, fragment, { colorScheme: "dark" });
      assert.match(await verdict(page), wanted[0]);
      await usable(page);
      await setting(page);
      await page.locator(".verdict", { hasText: wanted[1].source.match(/holds|fails/)[0] }).waitFor();
      assert.match(await verdict(page), wanted[1]);
      await usable(page);
    });
  }

  test("the claim on 7 s holds with three readings together, and fails as printed", async (t) => {
    const page = await opened(t, "scene=web-load");
    await page.getByRole("button", { name: "The paper's 7 s" }).click();
    await page.locator(".verdict", { hasText: "holds" }).waitFor();
    assert.match(await verdict(page), /^Here: 0\.19 s to 6\.6 s, 34\.\d times as long, where 28 packets can wait: holds in this run \(seed 1\)\.$/);
    await page.getByLabel("Buffer", { exact: true }).press("End");
    await page.locator(".verdict", { hasText: "where 116 packets can wait: fails" }).waitFor();
    // Above the tenfold, below the seconds.
    await page.goto(`${LAB}#scene=web-load&load=0.8&mrci=16&law=campus&mean=6.5&rtt=36&counted=true&tick=mrci&ns2=true`);
    await page.locator(".verdict", { hasText: "where 29 packets can wait: holds partly" }).waitFor();
    await usable(page);
  });

  test("settings that a verdict needs are listed and set, and the readings stay", async (t) => {
    const page = await opened(t, "scene=one-flow&buffer=32&tick=10&bursts=true&controller=lull&tcp=cubic");
    const copied = await copies(page);
    await settled(page);
    assert.match(await page.locator(".verdict").innerText(), /A verdict needs Round-trip time: 100 ms; TCP and length of the paper: on; Controller: practRA; TCP: NewReno.*; Bursts of datagrams: off\./);
    await page.getByRole("button", { name: "Set these" }).press("Enter");
    await focused(page, "className", "verdict");
    assert.match(await verdict(page), / at mRCI 100 ms: holds in this run/);
    await page.locator("[role=status]", { hasText: /Results: .*T2 holds in this run \(seed 1\)\./ }).waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = new URLSearchParams((await copied()).split("#")[1]);
    assert.deepEqual(["buffer", "tick", "mrci", "rtt", "bursts"].map((key) => link.get(key)), ["32", "10", "100", "100", "false"]);
  });

  test("a first look and a scene without a claim have no verdict", async (t) => {
    const page = await opened(t, `${T2}&view=first`);
    await settled(page);
    assert.equal(await page.locator(".verdict").count(), 0);
    await page.goto(`${LAB}#scene=duel`);
    await page.getByRole("heading", { name: "TCP duel" }).waitFor();
    await settled(page);
    assert.equal(await page.locator(".verdict").count(), 0);
  });
});

describe("free form", () => {
  test("shipped scenarios have the summaries of the other build", async (t) => {
    const page = await opened(t, "scene=free");
    for (const [name, summary] of Object.entries(JSON.parse(readFileSync(process.env.SUMMARIES, "utf8")))) {
      await page.getByLabel("Shipped scenario").selectOption(name);
      await page.getByRole("button", { name: /^Run/ }).click();
      await settled(page);
      assert.equal((await saved(page, "Summary (JSON)")).toString(), summary, name);
    }
  });

  test("errors name the field or the line", async (t) => {
    const page = await opened(t, "scene=free");
    const text = page.getByLabel("Scenario in TOML");
    await page.getByLabel("Shipped scenario").selectOption("dumbbell");
    const good = await text.inputValue();
    for (const [bad, message] of [
      [good.replace(/^duration = .*$/m, 'duration = "-1 s"'), /duration: .*-1 s.*expected/],
      [good.replace(/^rate = .*$/m, 'rte = "1 Mb/s"'), /rte/],
      ["duration = ", /^scenario, line 1, column \d+: is not TOML/],
      ['[topology]\nfile = "x.gml"', /^scenario, line 2, column \d+: topology\.file: x\.gml: the lab has no files/],
    ]) {
      await text.fill(bad);
      await page.getByRole("button", { name: /^Run/ }).click();
      await failed(page, message);
    }
  });

  test("the line of an error is marked, until it changes", async (t) => {
    const page = await opened(t, "scene=free");
    const text = page.getByLabel("Scenario in TOML");
    const run = page.getByRole("button", { name: /^Run/ });
    for (const line of [2, 300]) {
      await text.fill(`${"# a comment\n".repeat(line - 1)}duration = "-1 s"\nnodes = ["a"]\n`);
      await run.click();
      await page.locator(".wrong").waitFor();
      const { mark, area, top } = await page.evaluate((line) => {
        const area = document.querySelector("textarea"), style = getComputedStyle(area);
        const top = area.getBoundingClientRect().top + 1 + parseFloat(style.paddingTop) + (line - 1) * parseFloat(style.lineHeight) - area.scrollTop;
        return { mark: document.querySelector(".wrong").getBoundingClientRect().toJSON(), area: area.getBoundingClientRect().toJSON(), top };
      }, line);
      assert.ok(Math.abs(mark.top - top) < 2, `${mark.top} instead of ${top}`);
      assert.ok(mark.top >= area.top && mark.bottom <= area.bottom, JSON.stringify({ mark, area }));
      assert.equal(await text.getAttribute("aria-invalid"), "true");
      await page.getByRole("button", { name: `Go to line ${line}` }).click();
      assert.equal(await page.evaluate(() => { const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd); }), '"-1 s"');
      await usable(page);
      await page.keyboard.type('"1 s"');
      await page.locator(".wrong").waitFor({ state: "detached" });
    }
    // Lines that end as on Windows, and characters of two UTF-16 units before the place.
    const windows = 'duration = "1 s"\r\nnodes = ["a", "b"]\r\nflow = [{ name = "😀😀😀", kind = "tcpp" }]\r\n';
    await page.locator("input[type=file]").first().setInputFiles({ name: "x.toml", mimeType: "text/plain", buffer: Buffer.from(windows) });
    await page.waitForFunction(() => document.querySelector("textarea").value.includes("tcpp"));
    await run.click();
    await page.getByRole("button", { name: "Go to line 3" }).click();
    assert.match(await page.evaluate(() => { const { value, selectionStart, selectionEnd } = document.activeElement; return value.slice(selectionStart, selectionEnd); }), /^"tcpp"/);
    await text.fill("name = 'no place'");
    await run.click();
    await failed(page, "missing");
    assert.equal(await page.locator(".wrong").count(), 0);
  });

  test("a run can be cancelled, and the next one works", async (t) => {
    const page = await opened(t, "scene=free");
    await page.getByLabel("Shipped scenario").selectOption("dumbbell");
    const text = page.getByLabel("Scenario in TOML");
    const good = await text.inputValue();
    await text.fill(endless(good));
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForSelector(".results[aria-busy=false]");
    assert.equal(await page.locator(".error").count(), 0);
    await text.fill(good);
    await page.getByRole("button", { name: /^Run/ }).click();
    await settled(page);
  });

  test("a damaged address says so", async (t) => {
    for (const fragment of ["scene=free&toml=AAAA", `scene=free&toml=${deflateRawSync(Buffer.alloc(2 ** 26)).toString("base64url")}`]) {
      const page = await opened(t, fragment);
      await failed(page, /damaged/);
      assert.notEqual(await page.getByLabel("Scenario in TOML").inputValue(), "");
    }
    const other = await opened(t, "scene=one-flow&rtt=7&buffer=many");
    await settled(other);
    assert.match(await other.locator(".controls").innerText(), /50 ms/);
    assert.equal(await notices(other).count(), 2);
  });

  test("the newest of two runs is shown", async (t) => {
    const page = await opened(t, "scene=free");
    const text = page.getByLabel("Scenario in TOML");
    await page.getByLabel("Shipped scenario").selectOption("dumbbell");
    const good = await text.inputValue();
    await text.fill(endless(good));
    await text.press("Control+Enter");
    await page.getByRole("button", { name: "Cancel" }).waitFor();
    await text.fill(good.replace(/^duration = .*$/m, 'duration = "3 s"'));
    await text.press("Control+Enter");
    await settled(page);
    assert.equal(JSON.parse(await saved(page, "Summary (JSON)")).duration_s, 3);
    assert.equal(await page.getByRole("button", { name: "Cancel" }).count(), 0);
    // The clock follows the shorter run.
    assert.equal(await page.getByLabel("Simulated time").getAttribute("max"), "3");
  });

  test("progress is outside of what screen readers speak, and cancelling keeps the focus on the page", async (t) => {
    const page = await opened(t, "scene=free");
    const text = page.getByLabel("Scenario in TOML");
    await page.getByLabel("Shipped scenario").selectOption("dumbbell");
    await text.fill(endless(await text.inputValue()));
    await text.press("Control+Enter");
    const cancel = page.getByRole("button", { name: "Cancel" });
    await cancel.waitFor();
    assert.equal(await page.locator("[role=status] progress, [aria-live] progress").count(), 0);
    await cancel.focus();
    await page.keyboard.press("Enter");
    await page.getByText("Cancelled.").waitFor();
    await focused(page, "id", "scene");
  });

  test("a link has the text as it is, and the text survives a look at a scene", async (t) => {
    const page = await opened(t, "scene=free");
    const copied = await copies(page);
    await page.getByLabel("Scenario in TOML").fill("# mine");
    // It is shown for 2.5 s.
    await Promise.all([page.getByText("Copied").waitFor(), page.getByRole("button", { name: "Copy link" }).click()]);
    const other = await opened(t, (await copied()).split("#")[1]);
    await other.waitForSelector("textarea");
    assert.equal(await other.getByLabel("Scenario in TOML").inputValue(), "# mine");
    await page.getByRole("link", { name: "TCP duel" }).click();
    await settled(page);
    await page.getByRole("link", { name: "Your own scenario" }).click();
    assert.equal(await page.getByLabel("Scenario in TOML").inputValue(), "# mine");
  });

  test("files that are no scenario are refused", async (t) => {
    const page = await opened(t, "scene=free");
    const input = page.locator("input[type=file]");
    for (const [buffer, message] of [[Buffer.from([0xff, 0xfe, 0, 0x80]), /not text in UTF-8/], [Buffer.alloc(2 ** 20 + 1, "#"), /expected at most/]]) {
      await input.setInputFiles({ name: "x.toml", mimeType: "application/toml", buffer });
      await page.locator(".error", { hasText: message }).waitFor();
    }
    await input.setInputFiles({ name: "x.toml", mimeType: "application/toml", buffer: Buffer.from("# a file") });
    await page.waitForFunction(() => document.querySelector("textarea").value === "# a file");
    assert.equal(await page.locator(".error").count(), 0);
  });

  test("what does not run in a page is an error with a reason", async (t) => {
    const page = await opened(t, "scene=free");
    const text = page.getByLabel("Scenario in TOML");
    await page.getByLabel("Shipped scenario").selectOption("dumbbell");
    const good = await text.inputValue();
    for (const [bad, message] of [
      [`topology = { file = "x.gml" }\n${good}`, /topology\.file: x\.gml: the lab has no files/],
      [good.replace(/^duration = .*$/m, 'duration = "1 s"\nwarm_up = nan'), /warm_up: nan; expected a finite number/],
    ]) {
      await text.fill(bad);
      await text.press("Control+Enter");
      await failed(page, message);
    }
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`everyone can use it (${colorScheme})`, async (t) => {
      const page = await opened(t, "scene=free", { colorScheme, reducedMotion: "reduce", viewport: { width: 390, height: 844 } });
      await page.getByRole("button", { name: /^Run/ }).click();
      await settled(page);
      await usable(page);
      const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(width <= room, `${width} pixels wide`);
    });
  }
});

describe("page", () => {
  /** Moves a slider many times, faster than runs are. Returns its last value. */
  async function dragged(page, label, moves) {
    const slider = page.getByLabel(label, { exact: true });
    const most = Number(await slider.getAttribute("max"));
    await slider.evaluate(async (slider, [moves, most]) => {
      for (let i = 0; i < moves; i++) {
        slider.value = i % (most + 1);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, 5));
      }
    }, [moves, most]);
    return slider.getAttribute("aria-valuetext");
  }

  test("fast dragging ends with the last value in results, link and address, and keeps A", async (t) => {
    const page = await opened(t, "scene=one-flow&a.rtt=20");
    const copied = await copies(page);
    // A may still run.
    const value = (await dragged(page, "Round-trip time", 410)).replace(" ms", "");
    await page.getByRole("button", { name: "Copy link" }).click();
    await settled(page);
    assert.equal(await page.locator("table.figures thead").count(), 1);
    const link = await copied();
    assert.equal(new URLSearchParams(link.split("#")[1]).get("rtt"), value);
    await isAt(page, link);
    const shown = await figures(page);
    const other = await opened(t, page.url().split("#")[1]);
    await settled(other);
    assert.equal(await figures(other), shown);
  });

  test("scenes change while a run is busy; back and forward return to their values", async (t) => {
    const page = await opened(t, "scene=one-flow&rtt=100");
    await page.getByRole("link", { name: "TCP duel" }).click();
    await page.getByRole("link", { name: "Web load under control" }).click();
    await settled(page);
    await page.goBack();
    await settled(page);
    assert.equal(await page.locator("h1").innerText(), "TCP duel");
    await page.goBack();
    await settled(page);
    assert.equal(await page.getByLabel("Round-trip time", { exact: true }).getAttribute("aria-valuetext"), "100 ms");
    await page.goForward();
    await settled(page);
    assert.match(await page.title(), /^TCP duel/);
  });

  test("a worker that crashes is replaced, and its run is an error", async (t) => {
    const page = await opened(t, "scene=free");
    await page.evaluate(() => {
      const post = Worker.prototype.postMessage;
      Worker.prototype.postMessage = function (message, ...more) {
        if (!message.request) return post.call(this, message, ...more);
        Worker.prototype.postMessage = post;
        return this.dispatchEvent(new ErrorEvent("error", { message: "out of memory" }));
      };
    });
    await page.getByRole("button", { name: /^Run/ }).click();
    await failed(page, /has stopped: out of memory/);
    for (let i = 0; i < 3; i++) {
      await page.getByRole("button", { name: /^Run/ }).click();
      await settled(page);
    }
  });

  test("a page without an address is for a first look, and other scenes keep the view and the name", async (t) => {
    const page = await opened(t, "");
    await settled(page);
    const before = await figures(page);
    const name = page.getByLabel("Name or seed", { exact: true });
    await name.fill("Zoë");
    await name.press("Enter");
    await page.getByText("seed 3349081364").waitFor();
    await settled(page);
    const own = await figures(page);
    assert.notEqual(own, before);
    await page.getByRole("button", { name: "Reset" }).click();
    await settled(page);
    assert.equal(await figures(page), own);
    await page.getByRole("link", { name: "Web load under control" }).click();
    await settled(page);
    assert.equal(await page.locator(".controls .control").count(), 4);
    assert.equal(await page.getByLabel("Name or seed", { exact: true }).inputValue(), "Zoë");
    await page.getByText(/^Exercise 3/).click();
    await page.getByText("Answers").click();
    await page.getByRole("link", { name: "d = 5 ms with jumps", exact: true }).click();
    await page.locator(".presets").waitFor();
    await settled(page);
    assert.equal(new URL(page.url()).hash.includes("seed=Zo%C3%AB"), true);
    await page.getByRole("button", { name: "Open as TOML" }).click();
    assert.match(await page.getByRole("dialog").getByLabel("Scenario", { exact: true }).inputValue(), /^seed = 3349081364$/m);
  });

  for (const [fragment, ...wanted] of [
    ["scene=web-load&load=0.55", "The link asks for load=0.55, which is not offered. “Load” is 0.3. Offered: 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9."],
    ["scene=one-flow&rtt=50ms", /^The link asks for rtt=50ms, .* Offered \(ms, without the unit\): 2, 5, /],
    ["scene=one-flow&view=first&mrci=10&d=41", / d=41, .* is 40\. /],
    ["scene=web-load&controller=practa", "The link asks for controller=practa, which is not offered. “Controller” is practra. Offered: none, practra, earth, lull."],
    ["scene=web-load&mcri=10&rtt=70", / rtt=70, .* is 50\. /, /^The link asks for mcri=10, but scene web-load has no setting mcri\. Its settings: load, controller, mrci, /],
    ["scene=web-laod&load=0.5", "The link asks for scene=web-laod, which is not offered. The scene is one-flow with its defaults. Offered: one-flow, duel, web-load, eee, doze, backbone, fluid, free."],
    ["scene=duel&a.rtt1=11&view=frist", / a\.rtt1=11, .* is 80\. /, / view=frist, .* Offered: first\./],
    [`scene=duel&seed=${"x".repeat(61)}`, /a name of at most 60 characters/],
    ["scene=web-load&load=0.30&seed=Ada&a.load=0.5&view=first"],
  ]) {
    test(`what the address asks for and the page does not offer is said: ${fragment.slice(0, 60)}`, async (t) => {
      const page = await opened(t, fragment);
      await settled(page);
      const told = await notices(page).allInnerTexts();
      assert.equal(told.length, wanted.length, String(told));
      wanted.forEach((text, i) => (text instanceof RegExp ? assert.match(told[i], text) : assert.equal(told[i], text)));
      await usable(page);
    });
  }

  test("a notice is gone once its setting changes, or all do", async (t) => {
    const page = await opened(t, "scene=web-load&load=0.55&rtt=70&mcri=10");
    await settled(page);
    assert.equal(await notices(page).count(), 3);
    await page.getByLabel("Mean size", { exact: true }).press("Home");
    await notices(page).nth(2).waitFor({ state: "detached" });
    await page.getByLabel("Load", { exact: true }).press("Home");
    await notices(page).nth(1).waitFor({ state: "detached" });
    assert.match(await notices(page).innerText(), / rtt=70,/);
    await page.getByRole("button", { name: "Reset" }).click();
    await notices(page).waitFor({ state: "detached" });
  });

  test("a page without answers has its questions, and other pages open next to the lab", async (t) => {
    const answers = '<script type="application/json" id="answers">';
    const folder = mkdtempSync(join(tmpdir(), "class-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const [before, after] = readFileSync(fileURLToPath(LAB), "utf8").split(answers);
    // As `netlull lab --no-answers` does.
    writeFileSync(join(folder, "lab.html"), before + answers + after.replace(/^[^<]*/, "{}"));
    const page = await browser.newPage();
    t.after(() => page.close());
    await page.goto(`${pathToFileURL(join(folder, "lab.html"))}#scene=one-flow`);
    await settled(page);
    await page.getByText(/^Exercise 1/).click();
    await page.getByText(/Name one thing that Lull knows/).waitFor();
    assert.equal(await page.getByText("Answers", { exact: true }).count(), 0);
    const other = await opened(t, "scene=one-flow");
    await settled(other);
    await other.getByText(/^Exercise 1/).click();
    await other.getByText("Answers", { exact: true }).click();
    await other.getByText(/^The numbers are those of seed 1/).waitFor();
    const links = await other.locator('a[href]:not([href^="#"])').evaluateAll((found) => found.map(({ target, rel }) => `${target} ${rel}`));
    assert.ok(links.length > 3 && links.every((link) => link === "_blank noopener"), String(links));
  });

  for (const viewport of [{ width: 1366, height: 768 }, { width: 390, height: 844 }]) {
    test(`a row of the answers shows its results (${viewport.width} pixels)`, async (t) => {
      const page = await opened(t, "scene=web-load&view=first&seed=Ada", { viewport });
      await settled(page);
      await page.getByText(/^Exercise 3/).click();
      await page.getByText("Answers", { exact: true }).click();
      await page.getByRole("link", { name: "Lull, load 0.8" }).click();
      await page.waitForURL(/controller=lull/);
      await settled(page);
      const [chart, numbers] = [await page.locator(".head .panel").boundingBox(), await page.locator("table.figures tr").first().boundingBox()];
      for (const { y, height } of [chart, numbers]) assert.ok(y >= 0 && y + height <= viewport.height, JSON.stringify({ chart, numbers }));
    });
  }

  test("Reset keeps A", async (t) => {
    const page = await opened(t, "scene=one-flow&rtt=100&a.rtt=20");
    await settled(page);
    const before = await page.locator("table.figures tbody td:nth-child(2)").allInnerTexts();
    await page.getByRole("button", { name: "Reset" }).click();
    await page.waitForFunction(() => document.querySelector(".controls input").getAttribute("aria-valuetext") === "50 ms");
    await settled(page);
    assert.deepEqual(await page.locator("table.figures tbody td:nth-child(2)").allInnerTexts(), before);
  });

  test("files carry scene and name, and a page in a file says what to send", async (t) => {
    const page = await opened(t, "scene=duel&seed=Zoë");
    await settled(page);
    for (const [button, name] of [["Data (CSV)", "duel-Zoë.csv"], ["Picture (PNG)", "duel-Zoë.png"]]) assert.equal((await downloaded(page, button)).suggestedFilename(), name);
    const help = page.getByText(/send the file and the part of the link from # on/);
    assert.equal(await help.count(), LAB.startsWith("file:") ? 1 : 0);
    await page.getByRole("link", { name: "Your own scenario" }).click();
    await page.waitForSelector(".free");
    assert.equal(await help.count(), LAB.startsWith("file:") ? 1 : 0);
  });

  for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
    test(`nothing moves when a chart or its legend is touched (${viewport.width} pixels)`, async (t) => {
      const page = await opened(t, "scene=duel&flows=4&a.flows=4", { viewport });
      await settled(page);
      const height = () => page.evaluate(() => [document.querySelector("main").getBoundingClientRect().height, document.querySelector(".rest").getBoundingClientRect().top + scrollY].map(Math.round));
      const before = await height();
      await touched(page, page.locator(".u-over").first(), page.locator(".u-legend .u-value:visible").first());
      assert.deepEqual(await height(), before);
      await page.locator(".u-legend .u-series:nth-child(2) .u-label").first().hover();
      assert.deepEqual(await height(), before);
      await page.locator(".u-legend .u-series:nth-child(2) .u-label").first().click();
      assert.deepEqual(await height(), before);
    });
  }

  test("pictures on a phone have all of their texts", async (t) => {
    const page = await opened(t, "scene=backbone", { viewport: { width: 390, height: 844 } });
    await settled(page);
    const outside = await page.locator("svg.map").evaluate((map) => {
      const { left, right, top, bottom } = map.getBoundingClientRect();
      return [...map.querySelectorAll("text")].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.left < left || box.right > right || box.top < top || box.bottom > bottom;
      }).map(({ textContent }) => textContent);
    });
    assert.deepEqual(outside, []);
    const other = await opened(t, "scene=one-flow", { viewport: { width: 390, height: 844 } });
    await settled(other);
    const [box, text, picture] = await other.locator("svg.chain").evaluate((chain) => [chain.querySelector(".buffer"), chain.querySelector("text.start"), chain].map((part) => part.getBoundingClientRect().toJSON()));
    assert.ok(text.top >= box.bottom - 1 && text.bottom <= picture.bottom, JSON.stringify({ box, text, picture }));
  });

  test("the site's copy links to the site's pages", async (t) => {
    const folder = join(mkdtempSync(join(tmpdir(), "site-")), "lab");
    mkdirSync(folder);
    t.after(() => rmSync(dirname(folder), { recursive: true }));
    // As in the Makefile's target `docs`.
    const site = readFileSync(fileURLToPath(LAB), "utf8").replace('<html lang="en">', '<html lang="en" data-docs="../docs/">');
    for (const [name, wanted] of [["index.html", /^\.\.\/docs\/[\w/-]+\.html$/], ["copied.html", /^https:.*\.md$/]]) {
      writeFileSync(join(folder, name), site);
      const page = await blankPage(browser);
      t.after(() => page.close());
      await page.goto(`${pathToFileURL(join(folder, name))}#scene=duel`);
      await settled(page);
      const links = await page.locator("a[href]").evaluateAll((found) => found.map((link) => link.getAttribute("href")).filter((link) => !link.startsWith("#")));
      assert.ok(links.length > 0 && links.every((link) => wanted.test(link)), String(links));
    }
  });

  test("nothing is sent before the start", async (t) => {
    const page = await opened(t, "scene=duel");
    await settled(page);
    const shown = await page.locator("svg.duel text.small").allTextContents();
    assert.deepEqual(shown, ["0.0 Mb/s", "0.0 Mb/s"]);
    await page.getByLabel("Simulated time").fill("3.01");
    const speeds = page.locator("svg.duel text.small");
    await speeds.first().filter({ hasText: /^(1[5-9]|2\d)\./ }).waitFor();
    // The second flow starts at 5 s.
    assert.equal(await speeds.nth(1).textContent(), "0.0 Mb/s");
  });

  test("the focus follows a dialog", async (t) => {
    const page = await opened(t, "scene=one-flow");
    await settled(page);
    const open = page.getByRole("button", { name: "Open as TOML" });
    await open.focus();
    await page.keyboard.press("Enter");
    // A busy machine opens it later than the next key.
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focused(page, "textContent", "Open as TOML");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Edit here" }).click();
    await page.waitForSelector(".free");
    await focused(page, "id", "scene");
  });

  test("a dialog opens again although the event of the closed one comes later", async (t) => {
    const page = await opened(t, "scene=one-flow");
    await settled(page);
    const open = page.getByRole("button", { name: "Open as TOML" });
    await open.click();
    await page.getByRole("dialog").waitFor();
    // The event of the closed dialog comes after the click.
    await open.evaluate(async (button) => {
      const dialog = document.querySelector("dialog");
      const closed = new Promise((resolve) => dialog.addEventListener("close", () => setTimeout(resolve, 100)));
      dialog.close();
      button.click();
      await closed;
    });
    await page.getByRole("button", { name: "Edit here" }).click();
    await page.waitForSelector(".free");
  });

  test("screen readers hear the results once they rest", async (t) => {
    const page = await opened(t, "scene=one-flow");
    await settled(page);
    await page.locator("[role=status]", { hasText: /Results: Goodput of TCP \d/ }).waitFor({ state: "attached" });
  });
});
