/** The scenarios of every preset: scene -> preset -> name of the run -> scenario. */

import { SCENES } from "../src/scenes";
import { defaults, type Scenario } from "../src/scenes/scene";

export const presets: Record<string, Record<string, Record<string, Scenario>>> = Object.fromEntries(
  SCENES.map((scene) => [scene.id, Object.fromEntries(scene.presets.map(({ name, values }) => [name, scene.scenarios({ ...defaults(scene), ...values })]))]),
);
