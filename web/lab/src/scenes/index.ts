/** The scenes, in the order of the page. */

import { duel } from "./duel";
import { oneFlow } from "./one-flow";
import type { Scene } from "./scene";
import { webLoad } from "./web-load";

export const SCENES: readonly Scene[] = [oneFlow, duel, webLoad];
