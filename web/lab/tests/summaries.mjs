/**
 * Runs scenarios in the module under Node.
 *
 *     node summaries.mjs MODULE.wasm SCENARIOS.json
 *
 * SCENARIOS.json is a list of requests. Prints a list of results in JSON: the summary's text and a digest of all
 * tables, or the error's message.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { imported } from "./imported.mjs";

const [module, scenarios] = process.argv.slice(2);
const { Simulator, SimulationError } = await imported("../src/engine/module.ts");

/** A digest of the tables in the order of their names: numbers in their bytes, words by line. */
function digest(tables) {
  const hash = createHash("sha256");
  for (const table of Object.keys(tables).sort()) {
    for (const column of Object.keys(tables[table]).sort()) {
      const values = tables[table][column];
      hash.update(`${table}.${column}\n`).update(Array.isArray(values) ? values.join("\n") : values);
    }
  }
  return hash.digest("hex");
}

const simulator = await Simulator.start(await WebAssembly.compile(readFileSync(module)), () => {});
const results = JSON.parse(readFileSync(scenarios, "utf8")).map((request) => {
  try {
    const { summary, tables } = simulator.run(request);
    return { summary, digest: digest(tables) };
  } catch (error) {
    if (error instanceof SimulationError) return { error: error.message };
    throw error;
  }
});
process.stdout.write(JSON.stringify(results));
