/** The view of any scenario: tables of links and flows, curves of a link and of the flows. */

import type { Panel, Run } from "../scenes/scene";
import { asRate, place, rowsOf, scaled } from "../scenes/scene";

/** Points of a curve over a run. */
export const POINTS = 500;
/** Flows with curves of their own. */
const MOST_FLOWS = 7;

interface FreeView {
  table: { columns: string[]; rows: string[][] };
  links: string[];
  /** The link of the charts. */
  link: string;
  panels: Panel[];
  seconds: number;
}

function rate(bps: number): string {
  return bps >= 1e9 ? `${(bps / 1e9).toFixed(2)} Gb/s` : bps >= 1e6 ? `${(bps / 1e6).toFixed(2)} Mb/s` : `${(bps / 1e3).toFixed(1)} kb/s`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}

export function freeView(run: Run, wanted: string): FreeView {
  const { links, flows, duration_s: seconds, network } = run.read;
  const models = Object.keys(network.energy);
  const rows = [
    ...links.map((link) => [link.name, rate(link.throughput_bps), rate(link.mean_rate_bps), percent(link.drop_fraction), `${(link.mean_wait_s * 1000).toFixed(2)} ms`, ...models.map((model) => `${(link.energy[model]?.total_j ?? 0).toPrecision(5)} J`)]),
    ...flows.map((flow) => [flow.name, rate(flow.goodput_bps), "", percent(flow.loss_fraction), "", ...models.map(() => "")]),
  ];
  const busiest = [...links].sort((a, b) => b.utilisation - a.utilisation)[0]?.name ?? "";
  const link = links.some(({ name }) => name === wanted) ? wanted : busiest;
  const samples = rowsOf(run.tables.link, "link", place(links, link));
  const interval = samples.time_s?.[0] ?? 1;
  const shown = flows.slice(0, MOST_FLOWS).map(({ name }) => ({ name, samples: rowsOf(run.tables.flow, "flow", place(flows, name)) }));
  const x = samples.time_s ?? [];
  const timed = { x: "time (s)", timed: true, yMin: 0 };
  const curve = (label: string, at: number[] | undefined, y: number[]) => ({ label, x: at ?? [], y, kind: "line" as const });
  const panels: Panel[] = [
    { ...timed, title: `Rate and arrivals of ${link}`, y: "Mb/s", series: [{ ...curve("rate", x, scaled(samples.rate_bps ?? [], 1e-6)), kind: "steps" }, curve("arrivals", x, scaled(asRate(samples.arrived_bytes ?? [], interval), 1e-6))] },
    { ...timed, title: `Queue of ${link}`, y: "packets", series: [curve("queue", x, samples.queue_packets ?? [])] },
    { ...timed, title: "Goodput of flows", y: "Mb/s", series: shown.map(({ name, samples }) => curve(name, samples.time_s, scaled(asRate(samples.delivered_bytes ?? [], interval), 1e-6))) },
    { ...timed, title: "Congestion windows", y: "kB", series: shown.filter(({ samples }) => samples.cwnd_bytes?.some((value) => !Number.isNaN(value))).map(({ name, samples }) => curve(name, samples.time_s, scaled(samples.cwnd_bytes ?? [], 1e-3))) },
  ];
  return {
    table: { columns: ["link or flow", "throughput", "mean rate", "dropped", "mean wait", ...models.map((model) => `energy (${model})`)], rows },
    links: links.map(({ name }) => name),
    link,
    panels: panels.filter(({ series }) => series.some(({ x }) => x.length > 0)),
    seconds,
  };
}
