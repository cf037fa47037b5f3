/** The requests of a run: their completion times and sizes. */

import type { Run } from "../scenes/scene";
import type { FlowSummary } from "./summary";

/** Points of a distribution, and requests in the picture of times over sizes. */
const QUANTILES = 250;
const POINTS = 1200;

export interface Requests {
  start: number[];
  /** Bytes. */
  size: number[];
  /** Seconds; NaN for a request that the end of the run cut off. */
  completion: number[];
}

/** The requests in the order of their starts. The same seed gives every controller the same starts and sizes. */
export function requestsOf(run: Run): Requests {
  const table = run.tables.request!;
  const [start, sizes, completion] = [table.start_s, table.size_bytes, table.completion_s] as Float64Array[];
  const order = Array.from(start!, (_, row) => row).sort((a, b) => start![a]! - start![b]!);
  return { start: order.map((row) => start![row]!), size: order.map((row) => sizes![row]!), completion: order.map((row) => completion![row]!) };
}

/** The distribution of completion times of requests after the warm-up, as percentages of the finished ones. */
export function distribution({ start, completion }: Requests, warmUp: number): { x: number[]; y: number[] } {
  const sorted = Float64Array.from(completion.filter((value, i) => start[i]! >= warmUp && !Number.isNaN(value))).sort();
  const count = Math.min(QUANTILES, sorted.length);
  const ranks = Array.from({ length: count }, (_, i) => Math.ceil(((i + 1) * sorted.length) / count));
  const tail = [0.995, 0.999].map((share) => Math.ceil(share * sorted.length)).filter((rank) => rank > 0);
  const shown = [...new Set([...ranks, ...tail])].sort((a, b) => a - b);
  return { x: shown.map((rank) => sorted[rank - 1]!), y: shown.map((rank) => (100 * rank) / sorted.length) };
}

/** Some of the requests by size: their sizes in kB, and a choice of rows for the times. */
export function sample({ start, size }: Requests, warmUp: number): { x: number[]; rows: number[] } {
  const measured = start.map((_, row) => row).filter((row) => start[row]! >= warmUp);
  const stride = Math.max(1, Math.ceil(measured.length / POINTS));
  const rows = measured.filter((_, i) => i % stride === 0).sort((a, b) => size[a]! - size[b]!);
  return { x: rows.map((row) => size[row]! / 1000), rows };
}

/** A number of a flow's summary; null if it has none. */
export function field(flow: FlowSummary, name: string): number | null {
  const value = flow[name];
  return typeof value === "number" ? value : null;
}
