/**
 * Prints the scenarios of every preset as JSON: scene -> preset -> name of the run -> scenario.
 *
 *     node presets.mjs DATA.json
 *
 * DATA.json is the data of the build.
 */
import { fileURLToPath } from "node:url";
import { bundled } from "../build.mjs";

const code = await bundled(fileURLToPath(new URL("presets-entry.ts", import.meta.url)), "esm", process.argv[2]);
const { presets } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
process.stdout.write(JSON.stringify(presets));
