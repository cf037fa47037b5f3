/** The fluid model of AWM next to packets: the stability map of the G-Router's window control. */

import { Chain } from "../ui/chain";
import { entry } from "../lib/summary";
import { Plane } from "../ui/plane";
import { asRate, number, place, placeAt, rowsOf, scaled, seedOf, seedParameter, text, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

/** One position of the gateway. Tables have a row per beta and a column per round trip. */
interface Side {
  /** d: from the gateway to the senders and back. */
  delay_ms: number[];
  /** swnd in equilibrium. */
  window_bytes: number[];
  /** R_0: the round trip with the queue at its target. */
  loaded_ms: number[];
  critical_mbps: number[];
  /** The period at the critical beta. */
  period_ms: number[];
  growth_per_s: number[][];
  /** The queue over the last seconds of the integrated time. */
  queue_tenths: number[][][];
}

/** The fluid model, put in by the build (tools/lab_data.py). */
declare const FLUID: {
  scenario: Scenario;
  flows: number;
  mtu_bytes: number;
  target_packets: number;
  beta_mbps: number[];
  round_trip_ms: number[];
  step_s: number;
  shown_s: number;
  near: Side;
  far: Side;
};

const SECONDS = 30;
const LINK = "gateway-far";
const INTERVAL = 0.01;

interface Point {
  side: Side;
  row: number;
  column: number;
}

function pointOf(values: Values): Point {
  return {
    side: text(values, "gateway") === "near" ? FLUID.near : FLUID.far,
    row: FLUID.beta_mbps.indexOf(number(values, "beta")),
    column: FLUID.round_trip_ms.indexOf(number(values, "rtt")),
  };
}

/** The scenario of validation/fluid at this point. */
function scenario(values: Values): Scenario {
  const { side, column } = pointOf(values);
  const there = side.delay_ms[column]! / 2, way = number(values, "rtt") / 2 - there;
  const base = FLUID.scenario as { link: Scenario[]; [key: string]: unknown };
  const link = base.link.map((link) => {
    if (link.from === "senders") return { ...link, delay: `${Math.round(1000 * there)} us` };
    if (link.from === "far" && link.to === "receivers") return link;
    const controller = link.controller as Scenario | undefined;
    return {
      ...link,
      delay: `${Math.round(1000 * way)} us`,
      // swnd starts a fifth above the equilibrium.
      ...(controller ? { controller: { ...controller, beta: `${1e6 * number(values, "beta")} b/s`, initial_window: `${Math.round(Math.max(1.2 * side.window_bytes[column]!, FLUID.mtu_bytes))} B` } } : {}),
    };
  });
  return { ...base, name: "fluid", description: "AWM alone on a link of fixed rate", seed: seedOf(values), duration: `${SECONDS} s`, warm_up: `${SECONDS / 2} s`, link, probe: { interval: `${INTERVAL * 1000} ms`, links: [LINK], flows: ["upload-1"] } };
}

function halfRange(values: readonly number[]): number {
  return values.length ? (Math.max(...values) - Math.min(...values)) / 2 : Number.NaN;
}

/** The place of the critical beta among the rows, by the logarithm of beta. */
function rowOf(beta: number): number {
  const rows = FLUID.beta_mbps;
  const below = Math.max(0, Math.min(rows.length - 2, placeAt(rows, beta)));
  return below + Math.log(beta / rows[below]!) / Math.log(rows[below + 1]! / rows[below]!);
}

function told({ side, row, column }: Point): string {
  const beta = FLUID.beta_mbps[row]!, critical = side.critical_mbps[column]!;
  return `beta ${beta} Mb/s, round trip ${FLUID.round_trip_ms[column]} ms: the fluid is ${beta < critical ? "stable" : "unstable"}, growth ${side.growth_per_s[row]![column]} per second, critical beta ${critical} Mb/s`.replace("growth -", "growth −");
}

function notes({ side, row, column }: Point, drops: number, packets: number): string[] {
  const ratio = FLUID.beta_mbps[row]! / side.critical_mbps[column]!;
  const fluid = halfRange(side.queue_tenths[row]![column]!) / 10;
  const changed = (FLUID.flows * side.delay_ms[column]!) / side.loaded_ms[column]!;
  if (ratio < 1 && drops > 0) return ["The fluid is stable here, but packets are lost. The model has neither congestion windows nor losses that shrink them."];
  if (ratio < 1 && packets > 2 * fluid + 3) return [`The fluid comes to rest, but the packets swing on, because windows change in whole segments. If all ${FLUID.flows} windows are rounded the other way, N d / R₀ = ${changed.toFixed(0)} packets have changed before the first of them reaches the queue. R₀ is the round trip with the queue at T.`];
  if (ratio >= 1 && packets < 0.5 * fluid) return ["The fluid swings widely, the packets hardly. Windows are whole segments: a disturbance below one segment changes no window, so its growth never starts."];
  return [];
}

function view(runs: Record<string, Run>, values: Values): View {
  const run = runs.own!, point = pointOf(values);
  const { side, row, column } = point;
  const summary = entry(run.read.links, LINK);
  const link = rowsOf(run.tables.link, "link", place(run.read.links, LINK));
  const gateway = rowsOf(run.tables.gateway, "link", place(run.read.links, LINK));
  const time = link.time_s ?? [], queue = link.queue_packets ?? [];
  const from = SECONDS - FLUID.shown_s;
  const first = placeAt(time, from + INTERVAL / 2) + 1;
  const late = { x: time.slice(first), y: queue.slice(first) };
  const fluid = scaled(side.queue_tenths[row]![column]!, 0.1);
  const fluidTime = fluid.map((_, i) => from + (i + 1) * FLUID.step_s);
  const growth = side.growth_per_s[row]![column]!, critical = side.critical_mbps[column]!;
  const buffer = 2 * FLUID.target_packets;
  const level = (label: string, value: number, x: number[], colour: number): Series => ({ label, kind: "line", x, y: x.map(() => value), dashed: true, compared: false, colour });
  const half = run.read.duration_s / 2;
  const drops = time.reduce((sum, at, i) => sum + (at > half ? link.dropped_packets![i]! : 0), 0);
  const timed = { x: "time (s)", timed: true, yMin: 0 };
  const swing = halfRange(late.y);
  return {
    seconds: SECONDS,
    figures: [
      { label: "Growth rate of the fluid", value: growth, unit: "1/s", digits: 2, help: "The rightmost root of the linear model: below 0 disturbances die out." },
      { label: "Critical beta", value: critical, unit: "Mb/s", digits: 2, help: "The largest stable beta of the fluid at this round trip." },
      { label: "Chosen beta, relative to the critical", value: number(values, "beta") / critical, unit: "", digits: 2 },
      { label: "Settling time of the fluid", value: growth < 0 ? Math.log(20) / -growth : null, unit: "s", digits: 2, help: "Until a small disturbance has fallen to a twentieth; none if it grows." },
      { label: "Period of the fluid at the critical beta", value: side.period_ms[column]!, unit: "ms", digits: 0 },
      { label: "Swing of the fluid (half of its range)", value: halfRange(fluid), unit: "packets", digits: 1, help: `Half of the queue's range in the last ${FLUID.shown_s} s.` },
      { label: "Swing of the packets (half of their range)", value: swing, unit: "packets", digits: 1, help: `Half of the queue's range in the last ${FLUID.shown_s} s.` },
      { label: "Packets lost in the second half", value: drops, unit: "", digits: 0 },
      { label: "Utilisation in the second half", value: summary.utilisation * 100, unit: "%", digits: 1 },
    ],
    notes: notes(point, drops, swing),
    panels: [
      {
        title: `Queue in the last ${FLUID.shown_s} s`, x: "time (s)", y: "packets", timed: false, yMin: 0, yMax: 1.1 * buffer,
        series: [
          { label: "packets", kind: "line", ...late },
          { label: "fluid", kind: "line", x: fluidTime, y: fluid },
          level("target T", FLUID.target_packets, fluidTime, 6),
          level("buffer", buffer, fluidTime, 4),
        ],
      },
      { ...timed, title: "Queue of packets", y: "packets", series: [{ label: "queue", kind: "line", x: time, y: queue }] },
      {
        ...timed, title: "Suggested window", y: "kB",
        series: [
          { label: "swnd", kind: "line", x: gateway.time_s ?? [], y: scaled(gateway.window_bytes ?? [], 1e-3) },
          level("swnd in equilibrium", side.window_bytes[column]! / 1000, time, 6),
        ],
      },
      { ...timed, title: "Arrivals at the gateway", y: "Mb/s", series: [{ label: "arrivals", kind: "line", x: time, y: scaled(asRate(link.arrived_bytes ?? [], INTERVAL), 1e-6) }] },
    ],
    chooser: (values, choose) => {
      const shown = pointOf(values);
      return (
        <Plane
          title="Stability of the fluid"
          x={{ label: "round trip without queues R (ms)", values: FLUID.round_trip_ms }}
          y={{ label: "beta (Mb/s)", values: FLUID.beta_mbps }}
          shade={(column, row) => (shown.side.growth_per_s[row]![column]! * shown.side.loaded_ms[column]!) / 1000}
          ends={["disturbances die out", "disturbances grow"]}
          line={{ label: "critical beta", rows: shown.side.critical_mbps.map(rowOf) }}
          chosen={shown}
          choose={(column, row) => choose({ rtt: FLUID.round_trip_ms[column]!, beta: FLUID.beta_mbps[row]! })}
          told={(column, row) => told({ side: shown.side, row, column })}
        />
      );
    },
    picture: (at) => {
      const waiting = queue[Math.max(0, Math.min(queue.length - 1, placeAt(time, at - 1e-9) + 1))] ?? 0;
      const window = gateway.window_bytes?.[Math.max(0, placeAt(gateway.time_s ?? [], at))] ?? 0;
      return (
        <Chain
          label={`At ${at.toFixed(1)} s ${waiting} packets wait at the gateway, which suggests a window of ${(window / 1000).toFixed(1)} kB to each of ${FLUID.flows} senders`}
          nodes={[`${FLUID.flows} senders`, "gateway", "receivers"]}
          links={[
            { share: 1, text: `${(side.delay_ms[column]! / 2).toFixed(1)} ms` },
            { share: 0.4, text: `10 Mb/s, ${(number(values, "rtt") / 2 - side.delay_ms[column]! / 2).toFixed(1)} ms`, queue: waiting / buffer, queueText: `${waiting} packets, swnd ${(window / 1000).toFixed(1)} kB` },
          ]}
        />
      );
    },
  };
}

export const fluid: Scene = {
  id: "fluid",
  title: "Fluid against packets",
  question: "Choose points below and above the line of the critical beta. Do the packets follow the fluid with the gateway far from the senders? Do they with the gateway next to them?",
  first: {
    sentence: "A gateway tells senders how much to send so that its queue stays at 50 packets, and the queue swings if it corrects too hard (beta).",
    keys: ["beta", "rtt", "gateway"],
  },
  explanation: [
    "A gateway holds its queue at a target T of 50 packets. Active Window Management (AWM) lowers the receive windows in passing acknowledgements. beta is the rate at which it corrects the queue. If beta is too large, corrections act after their reason has gone, and the queue swings.",
    "The fluid model treats packets as a flow of bytes with delays. Its linear theory gives the growth rate of a small disturbance for each beta and round trip R. The map has these rates. Below the line of the critical beta, disturbances die out.",
    "The packets are a run of the simulator at the chosen point: 30 flows with 10 Mb/s, packets of 1000 B and a buffer of 100 packets. The scenario is that of the comparison in validation/fluid. The fluid starts from a queue settled at 0.9 T. The first chart has the last 2 of 20 s of the fluid, and the last 2 of 30 s of the packets. Their phases need not agree.",
    "They differ in three ways. Windows consist of whole segments, so the queue of a far gateway swings a little at any beta. Next to the senders, disturbances below one segment never grow. And the model has neither losses nor congestion windows.",
    "The beta printed in the paper is 10 kb/s, far below this map.",
  ],
  pages: [
    { title: "AWM and the G-Router", path: "models/g-router" },
    { title: "Ask the fluid model", path: "how-to/fluid" },
  ],
  parameters: [
    { kind: "slider", key: "beta", label: "beta", unit: "Mb/s", stops: FLUID.beta_mbps, default: FLUID.beta_mbps[3]!, help: "Rate at which AWM corrects the queue's distance from its target." },
    { kind: "slider", key: "rtt", label: "Round trip R", unit: "ms", stops: FLUID.round_trip_ms, default: 100, help: "Propagation delay there and back, without queues." },
    { kind: "choice", key: "gateway", label: "Gateway", options: [{ value: "far", label: "far from the senders" }, { value: "near", label: "next to the senders" }], default: "far", help: "From the gateway to the senders and back: 0.8 R, or 2 ms." },
    seedParameter("It draws the start times of the flows, about 50 ms apart."),
  ],
  presets: [
    { name: "Below the bound", source: "validation/fluid: R = 100 ms, d = 0.8 R, three quarters of the critical beta", values: { beta: 4, rtt: 100, gateway: "far" } },
    { name: "Above the bound", source: "validation/fluid: R = 100 ms, d = 0.8 R, 1.5 times the critical beta", values: { beta: 8, rtt: 100, gateway: "far" } },
    { name: "The same next to the senders", source: "validation/fluid: R = 100 ms, d = 2 ms; the bound is five times as high", values: { beta: 8, rtt: 100, gateway: "near" } },
    { name: "Fluid swings, packets do not", source: "validation/fluid: next to the senders, 1.3 times the critical beta", values: { beta: 32, rtt: 100, gateway: "near" } },
  ],
  scenarios: (values) => ({ own: scenario(values) }),
  view,
};
