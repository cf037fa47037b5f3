/** A run of the simulator, with its summary read. */

import type { Engine } from "../engine/engine";
import type { Scenario } from "../engine/module";
import type { Run } from "../scenes/scene";
import type { Summary } from "./summary";

export async function simulated(engine: Engine, scenario: Scenario, signal: AbortSignal, progress?: (share: number) => void): Promise<Run> {
  const outcome = await engine.run(scenario, signal, progress);
  return { ...outcome, read: JSON.parse(outcome.summary) as Summary };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
