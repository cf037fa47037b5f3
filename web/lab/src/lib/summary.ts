/** The summary of a run: the parts that the lab shows. Names and units are those of `netlull run --json`. */

export interface Energy {
  total_j: number;
  /** That of the link at its highest rate all the time. */
  reference_j: number;
  saving: number | null;
}

/** Times of a link with low-power idle. */
export interface LowPower {
  entering_s: number;
  waking_s: number;
  sleeps: number;
  /** The share of time in low power, 0 to 1. */
  low_share: number;
}

export interface LinkSummary {
  name: string;
  rate_bps: number;
  offered_packets: number;
  dropped_packets: number;
  lost_packets: number;
  marked_packets: number;
  drop_fraction: number;
  throughput_bps: number;
  utilisation: number;
  mean_rate_bps: number;
  rate_changes: number;
  mean_queue_packets: number;
  max_queue_packets: number;
  mean_wait_s: number;
  low_power?: LowPower;
  energy: Record<string, Energy>;
}

export interface FlowSummary {
  name: string;
  kind: string;
  goodput_bps: number;
  loss_fraction: number;
  completion_time_s?: number | null;
  [key: string]: unknown;
}

export interface Summary {
  name: string;
  duration_s: number;
  measured_s: number;
  network: { energy: Record<string, Energy> };
  links: LinkSummary[];
  flows: FlowSummary[];
  stations: Record<string, unknown>[];
  routing: { sleep: { link: string; asleep_s: number | null; awake_s: number | null }[] } | null;
  [key: string]: unknown;
}

export function entry<T extends { name: string }>(entries: readonly T[], name: string): T {
  const found = entries.find((candidate) => candidate.name === name);
  if (!found) throw new Error(`no entry ${name}; expected one of ${entries.map((candidate) => candidate.name).join(", ")}`);
  return found;
}
