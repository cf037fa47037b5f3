/** Headless Chromium, and the scenes of the page. */
import { chromium } from "playwright-core";

export const { LAB, BROWSER } = process.env;

export function launched() {
  return chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
}

/** The names of the scenes, from the page's menu. */
export async function scenesOf(browser) {
  const page = await browser.newPage();
  await page.goto(LAB);
  const links = page.getByRole("navigation", { name: "Scenes" }).getByRole("link");
  await links.first().waitFor();
  const targets = await links.evaluateAll((found) => found.map(({ hash }) => new URLSearchParams(hash.slice(1)).get("scene")));
  await page.close();
  return targets.filter((name) => name !== "free");
}
