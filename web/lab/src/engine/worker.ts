/** The worker: one simulator, one call at a time. */

import { crash, type Failure, type Outcome, type Request, SimulationError, Simulator } from "./module";

export type Call = { id: number; request: Request };
export type Reply =
  | { id: number; progress: number }
  | { id: number; outcome: Outcome }
  | { id: number; failure: Failure };

/** Milliseconds between two reports of progress. */
const PACE = 50;

const scope = globalThis as unknown as {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: Reply, transfer?: Transferable[]): void;
};

let current = 0;
let reported = 0;
let simulator: Promise<Simulator>;

function progress(share: number): void {
  const now = performance.now();
  if (now - reported < PACE) return;
  reported = now;
  scope.postMessage({ id: current, progress: share });
}

function buffers(outcome: Outcome): Transferable[] {
  const columns = Object.values(outcome.tables).flatMap((table) => Object.values(table));
  return columns.flatMap((column) => (Array.isArray(column) ? [] : [column.buffer as ArrayBuffer]));
}

async function answer({ id, request }: Call): Promise<void> {
  current = id;
  reported = performance.now();
  try {
    const outcome = (await simulator).run(request);
    scope.postMessage({ id, outcome }, buffers(outcome));
  } catch (error) {
    scope.postMessage({ id, failure: error instanceof SimulationError ? error.failure : crash(error) });
  }
}

scope.onmessage = ({ data }: MessageEvent<WebAssembly.Module | Call>) => {
  if (data instanceof WebAssembly.Module) simulator = Simulator.start(data, progress);
  else void answer(data);
};
