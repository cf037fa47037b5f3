/**
 * Renews docs/teaching/addresses.md, the names and values of addresses: `node addresses.mjs PAGE.md DATA.json`.
 *
 * The tables begin at the first heading of the second level. DATA.json is the data of the build.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { imported } from "./imported.mjs";

const [page, data] = process.argv.slice(2);
const { addresses } = await imported("scenes-entry.ts", data);
const [head] = readFileSync(page, "utf8").split(/^## /m);
writeFileSync(page, head + addresses);
