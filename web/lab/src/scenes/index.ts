/** The scenes, in the order of the page. */

import { oneFlow } from "./one-flow";
import type { Scene } from "./scene";

export const SCENES: readonly Scene[] = [oneFlow];
