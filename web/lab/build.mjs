/**
 * Builds the lab: one page without further files.
 *
 *     node build.mjs MODULE.wasm DATA.json STYLE.css OUT.html
 *
 * DATA.json is the output of `tools/lab_data.py`. STYLE.css has the colours that the lab shares with reports.
 */
import { build } from "esbuild";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { stringify } from "smol-toml";

const source = join(dirname(fileURLToPath(import.meta.url)), "src");
const [module, data, colours, out] = process.argv.slice(2);

async function bundled(entry, define = {}) {
  const built = await build({
    entryPoints: [join(source, entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    define,
  });
  return built.outputFiles[0].text;
}

/** A script inside a page must not end it. */
const inPage = (text) => text.replaceAll("</script", "<\\/script");

const worker = await bundled("engine/worker.ts");
const values = JSON.parse(readFileSync(data, "utf8"));
for (const [name, scenario] of Object.entries(values.READY)) {
  if (typeof scenario !== "string") values.READY[name] = stringify(scenario);
}
const define = Object.fromEntries(Object.entries({ ...values, WORKER: worker }).map(([name, value]) => [name, JSON.stringify(value)]));
const script = await bundled("main.tsx", define);
const uplot = readFileSync(join(source, "../../node_modules/uplot/dist/uPlot.min.css"), "utf8");
const style = [readFileSync(colours, "utf8"), uplot, readFileSync(join(source, "lab.css"), "utf8")].join("\n");
const parts = { STYLE: style, SIMULATOR: gzipSync(readFileSync(module), { level: 9 }).toString("base64"), SCRIPT: inPage(script) };
const page = Object.entries(parts).reduce((text, [name, part]) => text.replace(`/*${name}*/`, () => part), readFileSync(join(source, "page.html"), "utf8"));
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, page);
const kilobytes = (text) => `${Math.round(text.length / 1000)} kB`;
console.log(`${out}: ${kilobytes(page)}; simulator ${kilobytes(parts.SIMULATOR)} in base64, script ${kilobytes(parts.SCRIPT)}`);
