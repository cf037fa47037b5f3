/** The scenes for tests under Node. */

import { Simulator } from "../src/engine/module";
import { offered, readRoute } from "../src/lib/share";
import type { Summary } from "../src/lib/summary";
import { SCENES } from "../src/scenes";
import { defaults, type Run, type Scenario } from "../src/scenes/scene";
import { written } from "../src/ui/figures";

/** The figures of a scene at an address, as the page shows them. */
export async function figuresOf(module: WebAssembly.Module, fragment: string): Promise<Record<string, string>> {
  const route = await readRoute(fragment, SCENES);
  if (route.kind !== "scene") throw new Error(`${fragment}: expected a scene`);
  if (route.refused.length) throw new Error(`${fragment}: ${route.refused[0]!.told}`);
  const simulator = await Simulator.start(module, () => {});
  const runs: Record<string, Run> = {};
  for (const [name, scenario] of Object.entries(route.scene.scenarios(route.values))) {
    const outcome = simulator.run({ scenario });
    runs[name] = { ...outcome, read: JSON.parse(outcome.summary) as Summary };
  }
  const { figures } = route.scene.view(runs, route.values);
  return Object.fromEntries(figures.map((figure) => [figure.label, written(figure).trim()]));
}

/** The settings of addresses in Markdown: a table for each scene. */
export const addresses = SCENES.map((scene) => {
  const rows = scene.parameters.map((parameter) => {
    const unit = parameter.kind === "slider" && parameter.unit ? `, ${parameter.unit}` : "";
    return `| \`${parameter.key}\` | ${parameter.label}${unit} | ${offered(parameter).join(", ")} | ${parameter.default} |`;
  });
  return `## ${scene.title}\n\n\`#scene=${scene.id}\`\n\n| name | setting | values | default |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}).join("\n");

/** The scenarios of every preset: scene -> preset -> name of the run -> scenario. */
export const presets: Record<string, Record<string, Record<string, Scenario>>> = Object.fromEntries(
  SCENES.map((scene) => [scene.id, Object.fromEntries(scene.presets.map(({ name, values }) => [name, scene.scenarios({ ...defaults(scene), ...values })]))]),
);
