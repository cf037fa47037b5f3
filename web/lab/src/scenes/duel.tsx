/** Two to eight TCP flows behind one bottleneck. */

import { queueKinds, tcp, tcpOptions, tcpTitle } from "../lib/catalogue";
import { entry } from "../lib/summary";
import { DuelPicture } from "../ui/duel-picture";
import { asRate, number, place, placeAt, rowsOf, scaled, seedOf, seedParameter, text, type Parameter, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

/** The last of eight flows starts before the second half, which the figures count. */
const SECONDS = 70;
const INTERVAL = 0.1;
/** Samples in a point of the curves of shares: goodput is the mean of a second. */
const BINS = 10;
/** Samples in a point of the curve of fairness: five seconds, so that a few round trips count. */
const FAIR_BINS = 50;
/** Windows at the start can exceed the later ones many times. The chart is scaled for the time after this one, in seconds. */
const SETTLED = 10;
const LINK = "N1-receiver";
const MOST = 8;
const COLOURS = 7;

function flows(values: Values): number[] {
  return Array.from({ length: number(values, "flows") }, (_, i) => i + 1);
}

/** The value of a flow: its own, or that of flow 2 for all others. */
function own(values: Values, key: string, flow: number): string {
  return text(values, `${key}${flow > 2 && !values.each ? 2 : flow}`);
}

function queue(values: Values): Scenario | null {
  const kind = text(values, "queue");
  const packets = `${number(values, "threshold")} packets`;
  if (kind === "red" && values.step) return { kind, min_threshold: packets, max_threshold: packets, weight: 1, gentle: false, ecn: "always" };
  if (kind === "red") return { kind, min_threshold: packets };
  if (kind === "codel") return { kind, target: `${number(values, "target")} ms` };
  return kind === "drop_tail" ? null : { kind };
}

function options(values: Values, name: string): Scenario {
  const marked = text(values, "queue") !== "drop_tail" && values.ecn === true;
  return { congestion_control: name, ...(marked && tcp(name).ecn === "off" ? { ecn: "classic" } : {}) };
}

function scenario(values: Values): Scenario {
  const all = flows(values);
  const managed = queue(values);
  const loss = number(values, "loss") / 100;
  const rate = `${number(values, "rate")} Mb/s`;
  return {
    name: "duel",
    description: "TCP flows share a bottleneck",
    duration: `${SECONDS} s`,
    warm_up: `${SECONDS / 2} s`,
    seed: seedOf(values),
    nodes: [...all.map((flow) => `sender-${flow}`), "N1", "receiver"],
    link: [
      ...all.map((flow) => ({ from: `sender-${flow}`, to: "N1", duplex: true, rate: "1 Gb/s", delay: `${Number(own(values, "rtt", flow)) / 2 - 1} ms`, buffer: "unlimited" })),
      { from: "N1", to: "receiver", rate, delay: "1 ms", buffer: `${number(values, "buffer")} BDP`, ...(managed ? { queue: managed } : {}), ...(loss > 0 ? { loss: { kind: "bernoulli", probability: loss } } : {}) },
      { from: "receiver", to: "N1", rate, delay: "1 ms", buffer: "unlimited" },
    ],
    flow: all.map((flow) => ({ kind: "tcp", name: `flow-${flow}`, from: `sender-${flow}`, to: "receiver", start: `${+((flow - 1) * number(values, "gap")).toFixed(1)} s`, tcp: options(values, own(values, "tcp", flow)) })),
    probe: { interval: `${INTERVAL * 1000} ms`, links: [LINK] },
  };
}

/** Jain's fairness index: 1 if all are equal, 1/n if one has everything. */
function jain(shares: readonly number[]): number {
  const sum = shares.reduce((a, b) => a + b, 0);
  const squares = shares.reduce((a, b) => a + b * b, 0);
  return squares > 0 ? (sum * sum) / (shares.length * squares) : NaN;
}

/** Sums of groups of `size` values. */
function grouped(values: readonly number[], size: number): number[] {
  return Array.from({ length: Math.floor(values.length / size) }, (_, group) => {
    let sum = 0;
    for (let i = group * size; i < (group + 1) * size; i++) sum += values[i]!;
    return sum;
  });
}

/** The goodput of a flow in the second before `now`, Mb/s. */
function goodputAt(rows: Record<string, number[]>, now: number): number {
  const last = placeAt(rows.time_s ?? [], now) + 1;
  return asRate([(rows.delivered_bytes ?? []).slice(Math.max(0, last - BINS), last).reduce((sum, bytes) => sum + bytes, 0)], BINS * INTERVAL)[0]! / 1e6;
}

/** The ends of groups of `size` intervals. */
function ends(count: number, size: number): number[] {
  return Array.from({ length: count }, (_, group) => +((group + 1) * size * INTERVAL).toFixed(3));
}

function view(runs: Record<string, Run>, values: Values): View {
  const run = runs.own!;
  const { read, tables } = run;
  const link = entry(read.links, LINK);
  const samples = rowsOf(tables.link, "link", place(read.links, LINK));
  const all = flows(values).map((flow) => {
    const name = `flow-${flow}`;
    const rows = rowsOf(tables.flow, "flow", place(read.flows, name));
    const control = own(values, "tcp", flow), rtt = own(values, "rtt", flow);
    return {
      label: `${flow} ${tcpTitle(control)}`, told: `${tcpTitle(control)}, round-trip time ${rtt} ms`, flow, rows, goodput: entry(read.flows, name).goodput_bps,
      delivered: grouped(rows.delivered_bytes ?? [], BINS), longer: grouped(rows.delivered_bytes ?? [], FAIR_BINS),
    };
  });
  const time = ends(all[0]!.delivered.length, BINS);
  const totals = time.map((_, at) => all.reduce((sum, { delivered }) => sum + delivered[at]!, 0));
  const shares = all.map(({ delivered }) => delivered.map((bytes, at) => (totals[at]! > 0 ? (100 * bytes) / totals[at]! : NaN)));
  const fairness = all[0]!.longer.map((_, at) => jain(all.map(({ longer }) => longer[at]!)));
  // A step lasts from the start of its five seconds to the next one.
  const fair = { x: [0, ...ends(fairness.length, FAIR_BINS)], y: [...fairness, fairness.at(-1) ?? NaN] };
  const curve = (i: number, x: number[], y: number[]): Series => ({ label: all[i]!.label, x, y, kind: "line", colour: i % COLOURS, dashed: i >= COLOURS });
  const offered = link.offered_packets;
  const settled = Math.max(1, ...all.flatMap(({ rows }) => (rows.cwnd_bytes ?? []).filter((value, at) => rows.time_s![at]! > SETTLED && !Number.isNaN(value)))) / 1000;
  return {
    seconds: SECONDS,
    figures: [
      ...all.map(({ flow, goodput, told }) => ({ label: `Goodput of flow ${flow}, second half`, value: goodput / 1e6, unit: "Mb/s", digits: 2, help: told })),
      { label: "Jain's fairness index, second half", value: jain(all.map(({ goodput }) => goodput)), unit: "", digits: 3, help: "1 if all flows have the same goodput, 1/n if one of n flows has everything." },
      { label: "Utilisation of the bottleneck", value: 100 * link.utilisation, unit: "%", digits: 1 },
      { label: "Mean wait in the queue", value: 1000 * link.mean_wait_s, unit: "ms", digits: 1 },
      { label: "Packets dropped by the queue", value: offered > 0 ? (100 * link.dropped_packets) / offered : null, unit: "%", digits: 2 },
      { label: "Packets lost at random", value: offered > 0 ? (100 * link.lost_packets) / offered : null, unit: "%", digits: 2 },
      { label: "Packets marked (ECN)", value: offered > 0 ? (100 * link.marked_packets) / offered : null, unit: "%", digits: 2 },
    ],
    panels: [
      {
        title: "Share of the goodput", x: "time (s)", y: "%", timed: true, yMin: 0,
        series: [
          ...all.map((_, i) => curve(i, time, shares[i]!)),
          { label: "equal share", x: [0, SECONDS], y: [100 / all.length, 100 / all.length], kind: "line", dashed: true, colour: 6, compared: false },
        ],
      },
      { title: "Congestion windows", x: "time (s)", y: "kB", timed: true, yMin: 0, yMax: 1.1 * settled, series: all.map(({ rows }, i) => curve(i, rows.time_s ?? [], scaled(rows.cwnd_bytes ?? [], 1e-3))) },
      { title: "Queue of the bottleneck", x: "time (s)", y: "packets", timed: true, yMin: 0, series: [{ label: "queue", x: samples.time_s ?? [], y: samples.queue_packets ?? [], kind: "line" }] },
      { title: "Jain's fairness index of five seconds", x: "time (s)", y: "index", timed: true, yMin: 0, yMax: 1, series: [{ label: "fairness", ...fair, kind: "steps" }] },
    ],
    picture: (now) => {
      const packets = samples.queue_packets?.[Math.max(0, placeAt(samples.time_s ?? [], now))] ?? 0;
      return (
        <DuelPicture
          time={now} rate={number(values, "rate")} packets={packets} most={link.max_queue_packets}
          flows={all.map(({ label }, i) => ({ label, colour: i % COLOURS, dashed: i >= COLOURS, goodput: goodputAt(all[i]!.rows, now) }))}
        />
      );
    },
  };
}

const RTTS = [4, 10, 20, 30, 40, 50, 60, 80, 100, 120, 160, 200, 320];
const each = (flow: number) => (values: Values) => values.each === true && number(values, "flows") >= flow;

function ownParameters(flow: number): Parameter[] {
  const when = flow > 2 ? { when: each(flow) } : {};
  const help = (subject: string) => (flow === 2 ? `${subject} of flow 2, and of later flows without their own.` : `${subject} of flow ${flow}.`);
  const whose = flow === 2 ? "others" : `flow ${flow}`;
  return [
    { kind: "choice", key: `tcp${flow}`, label: `TCP of ${whose}`, options: tcpOptions, default: flow === 1 ? "cubic" : "new_reno", help: help("The congestion control"), ...when },
    { kind: "slider", key: `rtt${flow}`, label: `Round-trip time of ${whose}`, unit: "ms", stops: RTTS, default: 80, help: help("Propagation delay there and back"), ...when },
  ];
}

const QUEUE_LABELS: Record<string, string> = { drop_tail: "drop-tail", red: "RED", codel: "CoDel" };
const managed = (values: Values) => values.queue !== "drop_tail";

export const duel: Scene = {
  id: "duel",
  title: "TCP duel",
  question: "Two NewReno flows, of 20 ms and of 160 ms, share a link (second preset). How much more goodput does the short one have? Which TCP is fairest, and which one favours the long path?",
  first: {
    sentence: "Two TCP flows share one link: their round-trip times and the link's buffer decide how much goodput each of them gets.",
    keys: ["rtt1", "rtt2", "buffer"],
  },
  explanation: [
    "All flows cross one bottleneck and send as much as their TCP allows. A TCP that reacts to losses grows its window until the queue drops packets. With equal windows, the flow with the shorter round-trip time sends faster, and its window also grows faster.",
    "The figures count the second half of the run. Jain's fairness index is (sum of x)² / (n × sum of x²) for the goodputs x of n flows. It is 1 for equal goodputs and 1/n if one flow has everything. The chart of windows cuts off higher peaks of the first 10 s. With large buffers losses are rare, and a run of 70 s still shows the start.",
    "A queue with management acts before the buffer is full: RED (random early detection) from the mean length of the queue, CoDel (controlled delay) from the waiting time. With ECN (explicit congestion notification) it marks packets instead of dropping them. DCTCP reduces its window by the share of marked packets, so it needs a queue that marks all packets above a low threshold. A flow that opens while the queue is above the threshold loses its first packet, goes on without ECN and starves.",
    "The buffer is given in bandwidth-delay products (BDP): rate times the longest round-trip time.",
  ],
  pages: [
    { title: "The congestion controls", path: "models/tcp/README" },
    { title: "Choose and compare TCPs", path: "how-to/tcp" },
    { title: "Queues", path: "models/queues" },
    { title: "Explicit congestion notification", path: "models/tcp/ecn" },
  ],
  parameters: [
    { kind: "slider", key: "flows", label: "Flows", unit: "", stops: [2, 3, 4, 5, 6, 7, 8], default: 2, help: "Flow 1 and the others." },
    ...ownParameters(1),
    ...ownParameters(2),
    { kind: "switch", key: "each", label: "Settings for each flow", default: false, help: "Flows from 3 on have a TCP and a round-trip time of their own.", when: (values) => number(values, "flows") > 2 },
    ...Array.from({ length: MOST - 2 }, (_, i) => ownParameters(i + 3)).flat(),
    { kind: "slider", key: "rate", label: "Rate of the bottleneck", unit: "Mb/s", stops: [1, 2, 5, 10, 20], default: 20, help: "The senders' own links have 1 Gb/s." },
    { kind: "slider", key: "buffer", label: "Buffer", unit: "BDP", stops: [0.1, 0.25, 0.5, 1, 2, 4, 8], default: 1, help: "Rate times the longest round-trip time; at least 5 packets." },
    { kind: "choice", key: "queue", label: "Queue", options: queueKinds.map((value) => ({ value, label: QUEUE_LABELS[value] ?? value })), default: "drop_tail", help: "The rule that drops or marks packets." },
    { kind: "slider", key: "target", label: "Target of CoDel", unit: "ms", stops: [1, 2, 5, 10, 20, 50], default: 5, help: "Waiting time that may last.", when: (values) => values.queue === "codel" },
    { kind: "slider", key: "threshold", label: "Threshold of RED", unit: "packets", stops: [5, 10, 20, 30, 50, 100], default: 5, help: "No drops or marks while the mean queue is shorter.", when: (values) => values.queue === "red" },
    { kind: "switch", key: "step", label: "Mark every packet above the threshold", default: false, help: "The present queue decides instead of its mean, as DCTCP needs it. Packets of TCPs without ECN are dropped.", when: (values) => values.queue === "red" },
    { kind: "switch", key: "ecn", label: "ECN", default: false, help: "All TCPs answer to marks. DCTCP always does.", when: managed },
    { kind: "slider", key: "loss", label: "Random loss", unit: "%", stops: [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5], default: 0, help: "Packets lost before the bottleneck, independent of each other." },
    { kind: "slider", key: "gap", label: "Time between two starts", unit: "s", stops: [0, 0.1, 0.5, 1, 2, 5], default: 5, help: "Each flow starts this long after the one before." },
    seedParameter("It draws the random losses, and the choices of RED and BBR."),
  ],
  presets: [
    { name: "CUBIC and NewReno", source: "the shipped scenario tcp-duel", values: { flows: 2, tcp1: "cubic", tcp2: "new_reno", rtt1: 80, rtt2: 80, rate: 20, buffer: 1, queue: "drop_tail", loss: 0, gap: 5 } },
    { name: "Short and long round trips", source: "T. Lakshman, U. Madhow, The performance of TCP/IP for networks with high bandwidth-delay products and random loss, IEEE/ACM Transactions on Networking 5(3), 1997", values: { flows: 2, tcp1: "new_reno", tcp2: "new_reno", rtt1: 20, rtt2: 160, rate: 20, buffer: 1, queue: "drop_tail", loss: 0, gap: 1 } },
    { name: "BBR and CUBIC, shallow buffer", source: "docs/models/tcp/bbr.md, next to CUBIC on 10 Mb/s", values: { flows: 2, tcp1: "bbr", tcp2: "cubic", rtt1: 50, rtt2: 50, rate: 10, buffer: 0.25, queue: "drop_tail", loss: 0, gap: 1 } },
    { name: "Vegas and NewReno", source: "J. Mo et al., Analysis and comparison of TCP Reno and Vegas, INFOCOM 1999", values: { flows: 2, tcp1: "vegas", tcp2: "new_reno", rtt1: 50, rtt2: 50, rate: 10, buffer: 1, queue: "drop_tail", loss: 0, gap: 1 } },
    { name: "BBR under random loss", source: "docs/models/tcp/bbr.md, random loss", values: { flows: 2, tcp1: "bbr", tcp2: "cubic", rtt1: 50, rtt2: 50, rate: 10, buffer: 1, queue: "drop_tail", loss: 1, gap: 1 } },
    { name: "CoDel", source: "RFC 8289, with its target of 5 ms", values: { flows: 4, tcp1: "cubic", tcp2: "cubic", rtt1: 80, rtt2: 80, each: false, rate: 20, buffer: 4, queue: "codel", target: 5, ecn: false, loss: 0, gap: 1 } },
    { name: "DCTCP", source: "RFC 8257; validation/analytic/fairness.py: marks from 20 packets on, all flows start together", values: { flows: 8, tcp1: "dctcp", tcp2: "dctcp", rtt1: 50, rtt2: 50, each: false, rate: 20, buffer: 1, queue: "red", threshold: 20, step: true, ecn: false, loss: 0, gap: 0 } },
  ],
  scenarios: (values) => ({ own: scenario(values) }),
  view,
};
