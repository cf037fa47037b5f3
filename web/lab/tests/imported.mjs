/** Imports a TypeScript module of the lab in Node. `data` is the data of the build, for modules that use it. */
import { fileURLToPath } from "node:url";
import { bundled } from "../build.mjs";

export async function imported(path, data = null) {
  const code = await bundled(fileURLToPath(new URL(path, import.meta.url)), "esm", data);
  return import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}
