/**
 * Measures the time from a moved slider to the new picture, in headless Chromium.
 *
 *     LAB=file:///.../index.html BROWSER=/usr/bin/chromium node latency.mjs [SCENE...]
 *
 * Each slider of a scene moves to its ends and its middle. Prints median, 90 % and greatest of the times, in ms.
 */
import { LAB, launched, scenesOf } from "./browser.mjs";

/** Moves a slider, and waits for the frame after the result of the new settings. */
const moved = (slider, value) =>
  new Promise((done) => {
    const results = document.querySelector(".results");
    const start = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const look = () => {
      if (results.dataset.current === "true") requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

const browser = await launched();
const wanted = process.argv.slice(2);
for (const scene of wanted.length ? wanted : await scenesOf(browser)) {
  const page = await browser.newPage();
  await page.goto(`${LAB}#scene=${scene}`);
  await page.waitForSelector(".results[data-current=true] table.figures");
  await page.waitForTimeout(500);
  const times = [];
  const count = await page.locator(".controls input[type=range]").count();
  for (let i = 0; i < count; i++) {
    for (const share of [0, 1, 0.5]) {
      const slider = page.locator(".controls input[type=range]").nth(i);
      if ((await slider.count()) === 0) continue;
      const value = Math.round(share * Number(await slider.getAttribute("max")));
      if (Number(await slider.inputValue()) === value) continue;
      times.push(await slider.evaluate(new Function("slider", "value", `return (${moved})(slider, value)`), value));
    }
    await page.getByRole("button", { name: "Reset" }).click();
    await page.waitForSelector(".results[data-current=true]");
  }
  times.sort((a, b) => a - b);
  const at = (share) => Math.round(times[Math.min(times.length - 1, Math.floor(share * times.length))]);
  console.log(`${scene}: ${times.length} moves, median ${at(0.5)} ms, 90 % ${at(0.9)} ms, greatest ${at(1)} ms`);
  await page.close();
}
await browser.close();
