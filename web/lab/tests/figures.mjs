/**
 * Computes the figures of scenes without a browser.
 *
 *     node figures.mjs MODULE.wasm DATA.json FRAGMENTS.json
 *
 * FRAGMENTS.json is a list of addresses' fragments, `#scene=one-flow&rtt=50`. Prints for each the figures by label, as
 * the page shows them. DATA.json is the data of the build.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundled } from "../build.mjs";

const [module, data, fragments] = process.argv.slice(2);
const entry = fileURLToPath(new URL("figures-entry.ts", import.meta.url));
const code = await bundled(entry, "esm", data);
const { figuresOf } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
const compiled = await WebAssembly.compile(readFileSync(module));
const results = [];
for (const fragment of JSON.parse(readFileSync(fragments, "utf8"))) results.push(await figuresOf(compiled, fragment));
process.stdout.write(JSON.stringify(results));
