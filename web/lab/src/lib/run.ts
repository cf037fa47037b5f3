/** A run of the simulator, with its summary read. */

import type { Engine } from "../engine/engine";
import type { Request } from "../engine/module";
import type { Run } from "../scenes/scene";
import type { Summary } from "./summary";

export async function simulated(engine: Engine, request: Request, signal: AbortSignal, progress?: (share: number) => void): Promise<Run> {
  const outcome = await engine.run(request, signal, progress);
  return { ...outcome, read: JSON.parse(outcome.summary) as Summary };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
