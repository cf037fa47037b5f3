/**
 * Prints the scenarios of every preset as JSON: scene -> preset -> name of the run -> scenario.
 *
 *     node presets.mjs DATA.json
 *
 * DATA.json is the data of the build.
 */
import { imported } from "./imported.mjs";

const { presets } = await imported("scenes-entry.ts", process.argv[2]);
process.stdout.write(JSON.stringify(presets));
