/** A backbone whose links sleep under a TCP flow: the greened network. */

import { someTcps } from "../lib/catalogue";
import { route } from "../lib/routes";
import type { Energy, LinkSummary } from "../lib/summary";
import { type Cable, NetworkMap, type Place } from "../ui/map";
import { asRate, number, place, placeAt, rowsOf, scaled, seedOf, seedParameter, text, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

/** The scenario `abilene` with its links, and the places of its nodes, put in by the build. */
declare const BACKBONE: { scenario: Scenario; places: Record<string, [number, number]> };

const SECONDS = 30;
const INTERVAL = 0.1;
const RATE = 40e6;
/** Time after the change that counts as settled. */
const SETTLED = 2;
/** The flow has grown by then. */
const GROWN = 3;

/** Names of the nodes, and the side on which they stand on the map. */
const CITIES: Record<string, [string, Place["side"]]> = {
  ATLAM5: ["Atlanta M5", "right"], ATLAng: ["Atlanta", "left"], CHINng: ["Chicago", "above"], DNVRng: ["Denver", "above"],
  HSTNng: ["Houston", "below"], IPLSng: ["Indianapolis", "left"], KSCYng: ["Kansas City", "below"], LOSAng: ["Los Angeles", "below"],
  NYCMng: ["New York", "above"], SNVAng: ["Sunnyvale", "left"], STTLng: ["Seattle", "above"], WASHng: ["Washington", "right"],
};
const ENDS: Record<string, [string, string]> = {
  "NYCMng-STTLng": ["NYCMng", "STTLng"],
  "NYCMng-LOSAng": ["NYCMng", "LOSAng"],
  "WASHng-SNVAng": ["WASHng", "SNVAng"],
};
const MODELS: Record<string, string> = { fs: "ideal link", "ons-15600": "the paper's line cards", "nexus-9336-fx2": "a measured router" };

function named(link: { from: string; to: string }): string {
  return `${CITIES[link.from]?.[0] ?? link.from} to ${CITIES[link.to]?.[0] ?? link.to}`;
}

function plan(values: Values): Scenario {
  const kind = text(values, "plan"), threshold = number(values, "threshold") / 100;
  if (kind !== "load_aware") return { kind, threshold };
  return { kind, threshold, bound: number(values, "bound") / 100, tcp_rate: "20 Mb/s" };
}

function scenario(values: Values, sleeps: boolean): Scenario {
  const [from, to] = ENDS[text(values, "ends")]!;
  const at = number(values, "at"), rate = number(values, "background");
  const base = BACKBONE.scenario as { link: { from: string; to: string }[] };
  const tcp = text(values, "tcp");
  const { sleep: _sleep, ...rest } = BACKBONE.scenario as { sleep: unknown };
  const background = base.link.map((link) => ({ kind: "poisson", name: `background ${link.to}-${link.from}`, from: link.to, to: link.from, rate: `${rate} Mb/s` }));
  return {
    ...rest,
    name: "backbone",
    description: "Abilene, whose links fall asleep under a TCP flow and background traffic",
    duration: `${SECONDS} s`,
    seed: seedOf(values),
    ...(sleeps ? { sleep: [{ at: `${at} s`, plan: plan(values) }] } : {}),
    routing: { update: { kind: "flooding", processing: "0 s", computation: `${number(values, "computation")} ms` } },
    flow: [
      { kind: "tcp", name: "tcp", from, to, tcp: { congestion_control: tcp } },
      ...(rate > 0 ? background : []),
    ],
    power: Object.keys(MODELS).map((model) => ({ model })),
    phase: [
      { name: "before", from: `${GROWN} s`, to: `${at - 0.1} s` },
      { name: "change", from: `${at - 0.1} s`, to: `${at + SETTLED} s` },
      { name: "after", from: `${at + SETTLED} s` },
    ],
    probe: { interval: `${INTERVAL * 1000} ms`, flows: ["tcp"] },
  };
}

interface Phase {
  network: { energy: Record<string, Energy> };
  link: Record<string, { utilisation: number; dropped_packets: number }>;
  flow: Record<string, { goodput_bps: number; packets_dropped: number }>;
}

interface Routing {
  convergence_s: number | null;
  asleep_packets: number;
  unroutable_packets: number;
  expired_packets: number;
  sleep: { link: string; asleep_s: number; awake_s: number | null }[];
}

interface Link extends LinkSummary {
  from: string;
  to: string;
  delay_s: number;
}

/** A cable: the places of its two directions in the summary, and the time from which it sleeps. */
interface Line {
  name: string;
  there: number;
  back: number;
  asleep: number;
}

function linesOf(links: readonly Link[], routing: Routing | null): Line[] {
  return links.flatMap((link, there) => {
    const back = links.findIndex(({ from, to }) => from === link.to && to === link.from);
    if (back < there) return [];
    const nap = routing?.sleep.find((nap) => nap.link === link.name || nap.link === links[back]!.name);
    return [{ name: named(link), there, back, asleep: nap?.asleep_s ?? Number.POSITIVE_INFINITY }];
  });
}

/** The samples of a run that the view needs. */
function samples(run: Run) {
  const links = run.read.links as Link[];
  const loads = links.map((_, i) => {
    const rows = rowsOf(run.tables.link, "link", i);
    return { time: rows.time_s ?? [], rate: asRate(rows.delivered_bytes ?? [], INTERVAL), queue: rows.queue_packets ?? [] };
  });
  const flow = rowsOf(run.tables.flow, "flow", place(run.read.flows, "tcp"));
  return {
    links, loads, time: flow.time_s ?? [],
    goodput: scaled(asRate(flow.delivered_bytes ?? [], INTERVAL), 1e-6),
    window: scaled(flow.cwnd_bytes ?? [], 1e-3),
  };
}

const cached = new WeakMap<Run, ReturnType<typeof samples>>();

function samplesOf(run: Run): ReturnType<typeof samples> {
  const known = cached.get(run) ?? samples(run);
  cached.set(run, known);
  return known;
}

function phaseOf(run: Run, name: string): Phase {
  return (run.read.phase as Record<string, Phase>)[name]!;
}

/** The energy that a model saves after the change, in per cent of the same time without sleep. */
function saving(own: Run, awake: Run, model: string): number {
  const joules = (run: Run) => phaseOf(run, "after").network.energy[model]!.total_j;
  return (1 - joules(own) / joules(awake)) * 100;
}

function view(runs: Record<string, Run>, values: Values): View {
  const own = runs.own!, awake = runs.awake!;
  const found = samplesOf(own), always = samplesOf(awake);
  const { links } = found;
  const routing = own.read.routing as unknown as Routing | null;
  const lines = linesOf(links, routing);
  const sleeping = lines.filter(({ asleep }) => asleep < SECONDS);
  const down = new Set(sleeping.flatMap(({ there, back }) => [there, back]));
  const [from, to] = ENDS[text(values, "ends")]!;
  const at = number(values, "at");
  const before = route(links, from, to, () => true), after = route(links, from, to, (link) => !down.has(link));
  const roundTrip = (path: number[]) => path.reduce((sum, link) => sum + 2000 * links[link]!.delay_s, 0);
  const goodput = (run: Run, phase: string) => phaseOf(run, phase).flow.tcp!.goodput_bps / 1e6;
  const pathAt = (time: number) => (time < at ? before : after);
  const queues = found.time.map((time, i) => pathAt(time).reduce((sum, link) => sum + (found.loads[link]!.queue[i] ?? 0), 0));
  const plainQueues = always.time.map((_, i) => before.reduce((sum, link) => sum + (always.loads[link]!.queue[i] ?? 0), 0));
  const busiest = found.time.map((_, i) => Math.max(...found.loads.map(({ rate }) => rate[i] ?? 0)) / 1e6);
  const timed = { x: "time (s)", timed: true, yMin: 0 };
  const line = (label: string, y: number[], more: Partial<Series> = {}): Series => ({ label, x: found.time, y, kind: "line", ...more });
  const plain = { dashed: true, compared: false, colour: 6 };
  const places = Object.fromEntries(Object.entries(BACKBONE.places).map(([node, [x, y]]) => [node, { name: CITIES[node]?.[0] ?? node, side: CITIES[node]?.[1] ?? "above", x, y, end: node === from || node === to } satisfies Place]));
  const lost = routing ? routing.asleep_packets + routing.unroutable_packets + routing.expired_packets : 0;
  const kept = goodput(own, "after") / goodput(awake, "after");
  return {
    seconds: SECONDS,
    start: at + SETTLED,
    figures: [
      { label: `Links asleep, of ${lines.length}`, value: sleeping.length, unit: "", digits: 0 },
      { label: "Goodput after, compared with all links awake", value: (kept - 1) * 100, unit: "%", digits: 1, signed: true },
      ...Object.entries(MODELS).map(([model, label]) => ({ label: `Energy saved, ${label}`, value: saving(own, awake, model), unit: "%", digits: 1, help: `Power model ${model}; all links, after the change, compared with no sleep.` })),
      { label: "Goodput of the flow before", value: goodput(own, "before"), unit: "Mb/s", digits: 1, help: `From ${GROWN} s until just before the change.` },
      { label: "Goodput of the flow after", value: goodput(own, "after"), unit: "Mb/s", digits: 1, help: `From ${SETTLED} s after the change on.` },
      { label: "Links on the path, before", value: before.length, unit: "", digits: 0 },
      { label: "Links on the path, after", value: after.length, unit: "", digits: 0 },
      { label: "Round trip of the path, before", value: roundTrip(before), unit: "ms", digits: 1, help: "Propagation delay there and back, without queues." },
      { label: "Round trip of the path, after", value: roundTrip(after), unit: "ms", digits: 1 },
      { label: "Packets lost by the change", value: lost, unit: "", digits: 0, help: "On links that fall asleep, at routers without a path, and in loops." },
      { label: "Time until all routers know", value: routing?.convergence_s == null ? null : routing.convergence_s * 1000, unit: "ms", digits: 1 },
    ],
    notes: [sleeping.length ? `From ${at} s on asleep: ${sleeping.map(({ name }) => name).join("; ")}.` : "No link sleeps: without any of them, less connectivity than the threshold would remain."],
    panels: [
      { ...timed, title: "Goodput of the flow", y: "Mb/s", series: [line("goodput", found.goodput), line("goodput, all links awake", always.goodput, plain)] },
      { ...timed, title: "Congestion window", y: "kB", series: [line("window", found.window), line("window, all links awake", always.window, plain)] },
      { ...timed, title: "Queues on the flow's path", y: "packets", series: [line("queues", queues), line("queues, all links awake", plainQueues, plain)] },
      { ...timed, title: "Load of the busiest link", y: "Mb/s", series: [line("load", busiest)] },
    ],
    picture: (time) => {
      const sample = placeAt(found.time, time);
      const path = new Set(pathAt(time));
      const cables = lines.map(({ name, there, back, asleep }): Cable => {
        const rate = Math.max(found.loads[there]!.rate[sample] ?? 0, found.loads[back]!.rate[sample] ?? 0);
        const isAsleep = time >= asleep;
        return { from: links[there]!.from, to: links[there]!.to, load: rate / RATE, asleep: isAsleep, marked: path.has(there) || path.has(back), told: `${name}: ${isAsleep ? "asleep" : `${(rate / 1e6).toFixed(1)} Mb/s`}` };
      });
      const top = cables.reduce((one, other) => (other.load > one.load ? other : one));
      const dozing = cables.filter(({ asleep }) => asleep).length;
      return <NetworkMap label={`Map at ${time.toFixed(1)} s: ${dozing} of ${cables.length} links sleep. The busiest link is ${top.told}. The flow crosses ${path.size} links.`} places={places} cables={cables} />;
    },
  };
}

export const backbone: Scene = {
  id: "backbone",
  title: "A backbone that sleeps",
  question: "At which threshold does the flow lose goodput? Is the cause a longer path, or the background traffic that moves to its links? Which plan lets four links sleep without a loss of goodput?",
  first: {
    sentence: "Some links of a backbone fall asleep at 10 s to save energy, and the flow takes a longer path next to more other traffic.",
    keys: ["threshold", "background", "computation"],
  },
  explanation: [
    "Abilene was a research backbone of the United States. Its routers choose shortest paths. A plan puts links to sleep, in both directions. Routers learn of it hop by hop, and packets then take other paths.",
    "ESTOP tries the links in the order of betweenness: the share of shortest paths over a link, the smallest first. A link sleeps if the rest of the network keeps at least the threshold's share of its algebraic connectivity. ESACON has another order. The load-aware plan also bounds the load of each link; it assumes 20 Mb/s for the TCP flow.",
    "Rates are scaled by 1000: 40 Mb/s stand for 40 Gb/s, as in the paper. Delays are those of the real distances. Loads are therefore realistic as shares of a link. A real flow would need a window 1000 times as large.",
    "Background traffic crosses each link in one direction. If a link sleeps, its background takes the shortest remaining path, over several other links.",
    "The map shows the load of the busier direction in the last 0.1 s. A measured router saves much less than an ideal link, because a sleeping port still feeds its transceiver.",
  ],
  pages: [
    { title: "ESTOP and other plans", path: "models/estop" },
    { title: "Links that sleep, and routing", path: "models/sleep" },
    { title: "See what sleeping links would save", path: "how-to/sleep" },
  ],
  parameters: [
    { kind: "slider", key: "threshold", label: "Threshold", unit: "%", stops: [0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 95, 100], default: 70, help: "Share of the algebraic connectivity that must remain." },
    { kind: "choice", key: "plan", label: "Plan", options: [{ value: "estop", label: "ESTOP" }, { value: "esacon", label: "ESACON" }, { value: "load_aware", label: "load-aware" }], default: "estop", help: "The order in which links are tried." },
    { kind: "slider", key: "bound", label: "Bound of the load", unit: "%", stops: [90, 95, 100], default: 90, help: "No link's load may exceed this share of its rate.", when: (values) => values.plan === "load_aware" },
    { kind: "slider", key: "at", label: "Time of sleep", unit: "s", stops: [6, 8, 10, 12, 15, 20], default: 10, help: "The links are announced and fall asleep at this time." },
    { kind: "slider", key: "background", label: "Background on each link", unit: "Mb/s", stops: [0, 2.5, 5, 7.5, 10, 12.5, 15], default: 10, help: "Poisson datagrams. A quarter of each link in the paper." },
    { kind: "choice", key: "tcp", label: "TCP", options: someTcps("cubic", "new_reno", "bic", "vegas", "bbr"), default: "cubic", help: "The congestion control of the flow." },
    { kind: "choice", key: "ends", label: "The flow", options: [{ value: "NYCMng-STTLng", label: "New York to Seattle" }, { value: "NYCMng-LOSAng", label: "New York to Los Angeles" }, { value: "WASHng-SNVAng", label: "Washington to Sunnyvale" }], default: "NYCMng-STTLng", help: "The paper has New York to Seattle." },
    { kind: "slider", key: "computation", label: "Routers compute for", unit: "ms", stops: [0, 10, 30, 100, 300, 1000], default: 10, help: "From the first news of a change to the router's new table." },
    seedParameter("It draws the background traffic."),
  ],
  presets: [
    { name: "The paper's case", source: "greened-network-2012, section III: 70 %, a quarter of each link, CUBIC; Poisson packets in place of its unknown ones", values: { threshold: 70, plan: "estop", background: 10, tcp: "cubic", ends: "NYCMng-STTLng", computation: 10 } },
    { name: "Two links", source: "greened-network-2012, Table V: 90 %", values: { threshold: 90, plan: "estop", background: 10, tcp: "cubic", ends: "NYCMng-STTLng", computation: 10 } },
    { name: "Four links", source: "greened-network-2012, Table V: 50 %", values: { threshold: 50, plan: "estop", background: 10, tcp: "cubic", ends: "NYCMng-STTLng", computation: 10 } },
    { name: "Vegas", source: "greened-network-2012, Table IV: Vegas at 70 %", values: { threshold: 70, plan: "estop", background: 10, tcp: "vegas", ends: "NYCMng-STTLng", computation: 10 } },
    { name: "Load-aware", source: "netlull's own plan: four links sleep, and the flow keeps its goodput", values: { threshold: 0, plan: "load_aware", bound: 90, background: 10, tcp: "cubic", ends: "NYCMng-STTLng", computation: 10 } },
    { name: "Slow routers", source: "netlull: one second until a router has its new table", values: { threshold: 70, plan: "estop", background: 10, tcp: "cubic", ends: "NYCMng-STTLng", computation: 1000 } },
  ],
  scenarios: (values) => ({ own: scenario(values, true), awake: scenario(values, false) }),
  view,
};
