/**
 * The page in headless Chromium.
 *
 *     LAB=file:///.../index.html BROWSER=/usr/bin/chromium SUMMARIES=summaries.json node --test page.test.mjs
 *
 * SUMMARIES has the summary of each ready scenario, of another build of netlull.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";

const { LAB, BROWSER, SUMMARIES } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SCENES = ["one-flow", "duel", "web-load", "doze", "backbone", "fluid"];

let browser;
before(async () => {
  browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
});
after(() => browser.close());

/** Opens the page at a fragment. Every request after the page itself and every error fails the test. */
async function opened(t, fragment, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(LAB) && !/^(blob|data):/.test(request.url())) faults.push(`request of ${request.url()}`);
  });
  t.after(async () => {
    await context.close();
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

async function saved(page, name) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
  return readFileSync(await download.path());
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
      await settled(page);
      await page.getByRole("button", { name: "Keep as A" }).click();
      const presets = page.locator(".presets button");
      for (let i = 0; i < (await presets.count()); i++) {
        await presets.nth(i).click();
        await settled(page);
        assert.equal(await presets.nth(i).getAttribute("aria-pressed"), "true");
      }
      const [shown, address] = [await figures(page), page.url()];
      const other = await opened(t, address.slice(address.indexOf("#") + 1));
      await settled(other);
      assert.equal(await figures(other), shown);
    });

    test("data, picture and scenario can be taken away", async (t) => {
      const page = await opened(t, `scene=${scene}`);
      await settled(page);
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

    test("the animation runs and pauses", async (t) => {
      const page = await opened(t, `scene=${scene}`);
      await settled(page);
      const play = page.getByRole("button", { name: "Play" });
      if ((await play.count()) === 0) return;
      await play.click();
      await page.waitForFunction(() => Number(document.querySelector(".player input").value) > 0.2);
      await page.getByRole("button", { name: "Pause" }).click();
      const time = await page.locator(".player input").inputValue();
      await page.waitForTimeout(200);
      assert.equal(await page.locator(".player input").inputValue(), time);
    });

    for (const colorScheme of ["light", "dark"]) {
      test(`everyone can use it (${colorScheme})`, async (t) => {
        const page = await opened(t, `scene=${scene}`, { colorScheme, reducedMotion: "reduce" });
        await settled(page);
        await page.evaluate(AXE);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).slice(0, 3)}`), []);
      });
    }

    test("it fits a phone", async (t) => {
      const page = await opened(t, `scene=${scene}`, { viewport: { width: 390, height: 844 } });
      await settled(page);
      const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(width <= room, `${width} pixels wide`);
    });
  });
}

describe("free form", () => {
  test("ready scenarios have the summaries of the other build", async (t) => {
    const page = await opened(t, "scene=free");
    for (const [name, summary] of Object.entries(JSON.parse(readFileSync(SUMMARIES, "utf8")))) {
      await page.getByLabel("Ready scenario").selectOption(name);
      await page.getByRole("button", { name: /^Run/ }).click();
      await settled(page);
      assert.equal((await saved(page, "Summary (JSON)")).toString(), summary, name);
    }
  });

  test("errors name the field or the line", async (t) => {
    const page = await opened(t, "scene=free");
    const text = page.getByLabel("Scenario in TOML");
    await page.getByLabel("Ready scenario").selectOption("dumbbell");
    const good = await text.inputValue();
    for (const [bad, message] of [
      [good.replace(/^duration = .*$/m, 'duration = "-1 s"'), /^duration: .*-1 s.*expected/],
      [good.replace(/^rate = .*$/m, 'rte = "1 Mb/s"'), /rte/],
      ["duration = ", /^line 1, column \d+: /],
      ['[topology]\nfile = "abilene"', /^topology: needs files/],
    ]) {
      await text.fill(bad);
      await page.getByRole("button", { name: /^Run/ }).click();
      assert.match(await page.locator(".error").innerText(), message);
    }
  });

  test("a run can be cancelled, and the next one works", async (t) => {
    const page = await opened(t, "scene=free");
    await page.getByLabel("Ready scenario").selectOption("dumbbell");
    const text = page.getByLabel("Scenario in TOML");
    const good = await text.inputValue();
    await text.fill(good.replace(/^duration = .*$/m, 'duration = "20 h"'));
    await page.getByRole("button", { name: /^Run/ }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.waitForSelector(".results[aria-busy=false]");
    assert.equal(await page.locator(".error").count(), 0);
    await text.fill(good);
    await page.getByRole("button", { name: /^Run/ }).click();
    await settled(page);
  });

  test("a damaged address is no disaster", async (t) => {
    const page = await opened(t, "scene=free&toml=AAAA");
    await page.waitForSelector("textarea");
    const other = await opened(t, "scene=one-flow&rtt=7&buffer=many");
    await settled(other);
    assert.match(await other.locator(".controls").innerText(), /50 ms/);
  });
});
