/** The scenes for tests under Node. */

import { Simulator } from "../src/engine/module";
import { readRoute } from "../src/lib/share";
import type { Summary } from "../src/lib/summary";
import { SCENES } from "../src/scenes";
import { defaults, type Run, type Scenario } from "../src/scenes/scene";
import { written } from "../src/ui/figures";

/** The figures of a scene at an address, as the page shows them. */
export async function figuresOf(module: WebAssembly.Module, fragment: string): Promise<Record<string, string>> {
  const route = await readRoute(fragment, SCENES);
  if (route.kind !== "scene") throw new Error(`${fragment}: expected a scene`);
  for (const [key, value] of new URLSearchParams(fragment.slice(1))) {
    if (key !== "scene" && String(route.values[key]) !== value) throw new Error(`${fragment}: ${key} has no value ${value}`);
  }
  const simulator = await Simulator.start(module, () => {});
  const runs: Record<string, Run> = {};
  for (const [name, scenario] of Object.entries(route.scene.scenarios(route.values))) {
    const outcome = simulator.run({ scenario });
    runs[name] = { ...outcome, read: JSON.parse(outcome.summary) as Summary };
  }
  const { figures } = route.scene.view(runs, route.values);
  return Object.fromEntries(figures.map(({ label, value, unit, digits }) => [label, written(value, digits, unit).trim()]));
}

/** The scenarios of every preset: scene -> preset -> name of the run -> scenario. */
export const presets: Record<string, Record<string, Record<string, Scenario>>> = Object.fromEntries(
  SCENES.map((scene) => [scene.id, Object.fromEntries(scene.presets.map(({ name, values }) => [name, scene.scenarios({ ...defaults(scene), ...values })]))]),
);
