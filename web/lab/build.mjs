/**
 * Builds the lab: one page without further files.
 *
 *     node build.mjs MODULE.wasm DATA.json COLOURS.css OUT.html
 *
 * DATA.json is web/lab/data.json, written by `make generate`. COLOURS.css has the colours that the lab shares with reports.
 */
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");

/** A script with all that it imports. The build defines the names in the file `data`, which is null for a script that uses none; `more` are further names that the build defines. */
export async function bundled(entry, format, data, more = {}) {
  const values = { ...(data === null ? {} : JSON.parse(readFileSync(data, "utf8"))), ...more };
  const built = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format,
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    define: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)])),
  });
  return built.outputFiles[0].text;
}

async function page(module, data, colours) {
  const WORKER = await bundled(join(source, "engine/worker.ts"), "iife", null);
  const { EXERCISES } = JSON.parse(readFileSync(data, "utf8"));
  const questions = EXERCISES.map(({ answers, ...text }) => text);
  const answers = Object.fromEntries(EXERCISES.map(({ scene, answers }) => [scene, answers]));
  const script = await bundled(join(source, "main.tsx"), "iife", data, { WORKER, EXERCISES: questions });
  const styles = [colours, join(here, "../node_modules/uplot/dist/uPlot.min.css"), join(source, "lab.css")];
  const parts = {
    STYLE: styles.map((path) => readFileSync(path, "utf8")).join("\n"),
    // `netlull lab --no-answers` empties this element.
    ANSWERS: JSON.stringify(answers).replaceAll("<", "\\u003c"),
    SIMULATOR: gzipSync(readFileSync(module), { level: 9 }).toString("base64"),
    // A script inside a page must not end it.
    SCRIPT: script.replaceAll("</script", "<\\/script"),
  };
  const template = readFileSync(join(source, "page.html"), "utf8");
  return Object.entries(parts).reduce((text, [name, part]) => text.replace(`/*${name}*/`, () => part), template);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [module, data, colours, out] = process.argv.slice(2);
  const text = await page(module, data, colours);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, text);
  console.log(`${out}: ${Math.round(Buffer.byteLength(text) / 1000)} kB`);
}
