/** Headless Chromium, and the scenes of the page. */
import { chromium } from "playwright-core";

export const { LAB, BROWSER } = process.env;

/** Milliseconds after which a page on a busy machine has failed. */
const PATIENCE = 180_000;

export function launched() {
  return chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"], timeout: PATIENCE });
}

/** A blank page. */
export async function blankPage(browser) {
  const page = await browser.newPage({ acceptDownloads: true });
  page.setDefaultTimeout(PATIENCE);
  return page;
}

/** The names of the scenes, from the page's menu. */
export async function scenesOf(browser) {
  const page = await blankPage(browser);
  await page.goto(LAB);
  const links = page.getByRole("navigation", { name: "Scenes" }).getByRole("link");
  await links.first().waitFor();
  const targets = await links.evaluateAll((found) => found.map(({ hash }) => new URLSearchParams(hash.slice(1)).get("scene")));
  await page.close();
  return targets.filter((name) => name !== "free");
}
