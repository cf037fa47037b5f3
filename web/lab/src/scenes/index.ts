/** The scenes, in the order of the page. */

import { backbone } from "./backbone";
import { doze } from "./doze";
import { duel } from "./duel";
import { eee } from "./eee";
import { fluid } from "./fluid";
import { oneFlow } from "./one-flow";
import type { Scene } from "./scene";
import { webLoad } from "./web-load";

export const SCENES: readonly Scene[] = [oneFlow, duel, webLoad, eee, doze, backbone, fluid];
