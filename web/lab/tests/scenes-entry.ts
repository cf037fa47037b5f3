/** The scenes for tests under Node. */

import { Simulator } from "../src/engine/module";
import { verdictOf } from "../src/lib/claims";
import { offered, readRoute } from "../src/lib/share";
import type { Summary } from "../src/lib/summary";
import { SCENES } from "../src/scenes";
import { defaults, type Run, type Scenario, type Scene, strays, type Values } from "../src/scenes/scene";
import { written } from "../src/ui/figures";

/** The runs of a scene at an address. */
async function runsOf(module: WebAssembly.Module, fragment: string): Promise<{ scene: Scene; values: Values; runs: Record<string, Run> }> {
  const route = await readRoute(fragment, SCENES);
  if (route.kind !== "scene") throw new Error(`${fragment}: expected a scene`);
  if (route.refused.length) throw new Error(`${fragment}: ${route.refused[0]!.told}`);
  const simulator = await Simulator.start(module, () => {});
  const runs: Record<string, Run> = {};
  for (const [name, scenario] of Object.entries(route.scene.scenarios(route.values))) {
    const outcome = simulator.run({ scenario });
    runs[name] = { ...outcome, read: JSON.parse(outcome.summary) as Summary };
  }
  return { scene: route.scene, values: route.values, runs };
}

/** The figures of a scene at an address, as the page shows them, and the verdict by the name of the claim. */
export async function figuresOf(module: WebAssembly.Module, fragment: string): Promise<Record<string, string>> {
  const { scene, values, runs } = await runsOf(module, fragment);
  const { figures } = scene.view(runs, values);
  const { claim } = scene, judged = claim && !strays(claim, values).length ? claim.judge(runs, values) : null;
  return { ...Object.fromEntries(figures.map((figure) => [figure.label, written(figure).trim()])), ...(judged ? { [claim!.id]: verdictOf(judged.parts) } : {}) };
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
