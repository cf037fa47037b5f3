/**
 * Prints the scenarios of every preset as JSON: scene -> preset -> name of the run -> scenario.
 *
 *     node presets.mjs DATA.json
 *
 * DATA.json is the output of `tools/lab_data.py`. The tests run these scenarios without a browser.
 */
import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const data = JSON.parse(readFileSync(process.argv[2], "utf8"));
const built = await build({
  stdin: { contents: 'export { SCENES } from "./scenes"; export { defaults } from "./scenes/scene";', resolveDir: source },
  bundle: true,
  write: false,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: Object.fromEntries(Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)])),
});
const { SCENES, defaults } = await import(`data:text/javascript;base64,${Buffer.from(built.outputFiles[0].text).toString("base64")}`);
const presets = (scene) => Object.fromEntries(scene.presets.map(({ name, values }) => [name, scene.scenarios({ ...defaults(scene), ...values })]));
console.log(JSON.stringify(Object.fromEntries(SCENES.map((scene) => [scene.id, presets(scene)]))));
