/** The figures of a scene at an address, as the page shows them. */

import { Simulator } from "../src/engine/module";
import { readRoute } from "../src/lib/share";
import type { Summary } from "../src/lib/summary";
import { SCENES } from "../src/scenes";
import type { Run } from "../src/scenes/scene";
import { written } from "../src/ui/figures";

export async function figuresOf(module: WebAssembly.Module, fragment: string): Promise<Record<string, string>> {
  const route = await readRoute(fragment, SCENES);
  if (route.kind !== "scene") throw new Error(`${fragment}: expected a scene`);
  const simulator = await Simulator.start(module, () => {});
  const runs: Record<string, Run> = {};
  for (const [name, scenario] of Object.entries(route.scene.scenarios(route.values))) {
    const outcome = simulator.run(scenario);
    runs[name] = { ...outcome, read: JSON.parse(outcome.summary) as Summary };
  }
  const { figures } = route.scene.view(runs, route.values);
  return Object.fromEntries(figures.map(({ label, value, unit, digits }) => [label, written(value, digits, unit).trim()]));
}
