/** The scenes, in the order of the page. */

import { backbone } from "./backbone";
import { doze } from "./doze";
import { fluid } from "./fluid";
import { oneFlow } from "./one-flow";
import type { Scene } from "./scene";

export const SCENES: readonly Scene[] = [oneFlow, doze, backbone, fluid];
