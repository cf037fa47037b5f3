/**
 * Computes the figures of scenes without a browser.
 *
 *     node figures.mjs MODULE.wasm DATA.json FRAGMENTS.json
 *
 * FRAGMENTS.json is a list of addresses' fragments, `#scene=one-flow&rtt=50`. Prints for each the figures by label, as
 * the page shows them, and the verdict by the name of the claim. DATA.json is the data of the build.
 */
import { readFileSync } from "node:fs";
import { imported } from "./imported.mjs";

const [module, data, fragments] = process.argv.slice(2);
const { figuresOf } = await imported("scenes-entry.ts", data);
const compiled = await WebAssembly.compile(readFileSync(module));
const results = [];
for (const fragment of JSON.parse(readFileSync(fragments, "utf8"))) results.push(await figuresOf(compiled, fragment));
process.stdout.write(JSON.stringify(results));
