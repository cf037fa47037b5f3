/** Requests over a link whose rate a controller scales: completion times and energy. */

import { Chain } from "../ui/chain";
import { tcpOptions } from "../lib/catalogue";
import { bound } from "../lib/claims";
import { distribution, field, requestsOf, sample } from "../lib/requests";
import { entry } from "../lib/summary";
import { asRate, number, place, placeAt, ratesOf, rowsOf, savingOf, scaled, seedOf, seedParameter, text, tickOf, tickParameter, type Claim, type Judgement, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

const LINK = "N1-N2";
const FLOW = "web";
/** The highest rate of the link, b/s. */
const RATE = 10e6;
const WARM_UP = 10;
/** The shortest run, in seconds. */
const SHORTEST = 60;
/** A run requests this much data, or this many objects if that is less. */
const VOLUME_BITS = 1.2e9;
const REQUESTS = 8000;
/** Seconds with charts over time and an animation, and the interval of their samples. */
const SHOWN = 30;
const INTERVAL = 0.05;

/** Seconds of a run: the paper's, or those with about the same number of requests at all loads. */
function seconds(values: Values): number {
  if (values.ns2) return 600;
  const bits = Math.min(VOLUME_BITS, REQUESTS * 8000 * number(values, "mean"));
  return Math.max(SHORTEST, Math.round(bits / (number(values, "load") * RATE)) + WARM_UP);
}

function size(values: Values): Scenario {
  const kind = text(values, "law");
  const mean = `${number(values, "mean")} kB`;
  if (kind === "pareto") return { kind, mean, shape: number(values, "shape"), max: "30 MB" };
  if (kind === "fixed") return { kind, size: mean };
  if (kind === "lognormal") {
    // The mean of a lognormal law is its median times exp(sigma^2 / 2).
    const sigma = number(values, "sigma");
    const median = Math.round((1000 * number(values, "mean")) / Math.exp((sigma * sigma) / 2));
    return { kind, components: [{ weight: 1, median: `${median} B`, sigma }] };
  }
  return { kind, mean };
}

function controller(values: Values): Scenario | null {
  const kind = text(values, "controller");
  const common = { kind, rates: { from: "1 Mb/s", to: "10 Mb/s", step: "1 Mb/s" }, transition: `${number(values, "transition")} ms` };
  if (kind === "practra") return { ...common, min_interval: `${number(values, "mrci")} ms`, delay_bound: `${number(values, "d")} ms`, ...(values.jumps ? { steps: "any" } : {}), ...tickOf(values) };
  if (kind === "earth") return { ...common, threshold: `${number(values, "threshold")} packets`, min_interval: `${number(values, "pace")} ms` };
  if (kind === "lull") return { ...common, slowdown: number(values, "slowdown") / 100, forecast: values.forecast === true };
  return null;
}

/** Packets of 1500 B that can wait. */
function packets(values: Values): number {
  const bdp = (RATE * number(values, "rtt")) / 1000 / (8 * 1500);
  return Math.max(5, Math.round(bdp * number(values, "buffer"))) - (values.counted ? 1 : 0);
}

function scenario(values: Values, control: Scenario | null): Scenario {
  const edge = { duplex: true, rate: "1 Gb/s", delay: "0.1 ms", buffer: "unlimited" };
  const delay = `${+(number(values, "rtt") / 2 - 0.2).toFixed(1)} ms`;
  return {
    name: "web-load",
    description: "Requests, one TCP connection each, over a link of 10 Mb/s",
    duration: `${seconds(values)} s`,
    warm_up: `${WARM_UP} s`,
    seed: seedOf(values),
    nodes: ["servers", "N1", "N2", "clients"],
    link: [
      { from: "servers", to: "N1", ...edge },
      { from: "N1", to: "N2", rate: "10 Mb/s", delay, buffer: values.counted ? `${packets(values)} packets` : `${number(values, "buffer")} BDP`, ...(control ? { controller: control } : {}) },
      { from: "N2", to: "N1", rate: "10 Mb/s", delay },
      { from: "N2", to: "clients", ...edge },
    ],
    flow: [{ kind: "requests", name: FLOW, from: "servers", to: "clients", offered: `${number(values, "load") * 10} Mb/s`, size: size(values), most_open: 1_000_000 }],
    tcp: { ...(values.ns2 ? { preset: "ns2" } : {}), congestion_control: text(values, "tcp"), delayed_ack: false },
    probe: { interval: `${INTERVAL * 1000} ms`, links: [LINK], requests: true },
  };
}

/** The part of a table up to the end of the shown seconds. */
function shown(rows: Record<string, number[]>): Record<string, number[]> {
  const count = placeAt(rows.time_s ?? [], SHOWN) + 1;
  return Object.fromEntries(Object.entries(rows).map(([name, values]) => [name, values.slice(0, count)]));
}

const TIMES = [["p95", "p95", "95 % of the requests do not exceed it"], ["p50", "p50", "The median"], ["p99", "p99", "99 % of the requests do not exceed it"], ["Mean", "mean", "The mean"]] as const;

function view(runs: Record<string, Run>, values: Values): View {
  const own = runs.own!, plain = runs.plain ?? own;
  const controlled = own !== plain;
  const link = entry(own.read.links, LINK), flow = entry(own.read.flows, FLOW), always = entry(plain.read.flows, FLOW);
  const samples = shown(rowsOf(own.tables.link, "link", place(own.read.links, LINK)));
  const rate = ratesOf(own, LINK, SHOWN);
  const time = samples.time_s ?? [];
  const arrivals = scaled(asRate(samples.arrived_bytes ?? [], INTERVAL), 1e-6);
  const mine = requestsOf(own), theirs = controlled ? requestsOf(plain) : mine;
  const chosen = sample(mine, WARM_UP);
  const name = controlled ? "with the controller" : "always on";
  const second = (y: Series): Series[] => (controlled ? [{ ...y, compared: false, colour: 6 }] : []);
  const early = placeAt(mine.start, SHOWN) + 1;
  const ratio = (key: string) => {
    const [a, b] = [field(flow, `${key}_completion_s`), field(always, `${key}_completion_s`)];
    return a !== null && b !== null && b > 0 ? a / b : null;
  };
  const started = field(flow, "requests_started"), completed = field(flow, "requests_completed");
  const total = seconds(values);
  return {
    seconds: SHOWN,
    figures: [
      { label: "Energy saved, frequency scaling (FS)", value: savingOf(link, "fs"), unit: "%", digits: 1, help: "The power of the link follows its rate." },
      ...TIMES.flatMap(([label, key, help]) => {
        const value = field(flow, `${key}_completion_s`);
        return [
          { label: `${label} of completion times`, value: value === null ? null : 1000 * value, unit: "ms", digits: 0, help: `${help}.` },
          ...(controlled ? [{ label: `${label}, compared with always-on`, value: ratio(key), unit: "×", digits: 2 }] : []),
        ];
      }),
      { label: "Energy saved, dynamic voltage scaling (DVS)", value: savingOf(link, "dvs"), unit: "%", digits: 1, help: "The power follows the cube of the rate, down to half of the rate." },
      { label: "Energy saved, measured port of a Cisco NCS-55A1-24H", value: savingOf(link, "ncs-55a1-24h"), unit: "%", digits: 1, help: "A port with its share of the box, at the same utilisation. Most of its power does not follow the rate." },
      { label: "Mean rate", value: link.mean_rate_bps / 1e6, unit: "Mb/s", digits: 2 },
      { label: "Rate changes per second", value: link.rate_changes / own.read.measured_s, unit: "", digits: 1 },
      { label: "Dropped packets", value: 100 * link.drop_fraction, unit: "%", digits: 2 },
      { label: "Requests after the warm-up", value: started, unit: "", digits: 0, help: `They arrive between ${WARM_UP} s and ${total} s.` },
      { label: "Requests finished", value: started && completed !== null ? (100 * completed) / started : null, unit: "%", digits: 2, help: "Completion times count finished requests only." },
    ],
    panels: [
      {
        title: "Distribution of completion times", x: "completion time (s)", y: "% of requests", timed: false, logX: true, yMin: 0, yMax: 100,
        series: [{ label: name, ...distribution(mine, WARM_UP), kind: "line" }, ...second({ label: "always on", ...distribution(theirs, WARM_UP), kind: "line", dashed: true })],
      },
      {
        title: "Completion time over size", x: "size (kB)", y: "seconds", timed: false, logX: true, logY: true,
        series: [
          ...second({ label: "always on", x: chosen.x, y: chosen.rows.map((row) => theirs.completion[row] ?? NaN), kind: "points" }),
          { label: name, x: chosen.x, y: chosen.rows.map((row) => mine.completion[row]!), kind: "points", colour: 0 },
        ],
      },
      {
        title: `Rate and arrivals, first ${SHOWN} s`, x: "time (s)", y: "Mb/s", timed: true, yMin: 0,
        series: [
          { label: "rate of the link", x: rate.x, y: rate.y, kind: "steps" },
          { label: "arrivals", x: time, y: arrivals, kind: "line" },
        ],
      },
      { title: `Queue, first ${SHOWN} s`, x: "time (s)", y: "packets", timed: true, yMin: 0, series: [{ label: "queue", x: time, y: samples.queue_packets ?? [], kind: "line" }] },
    ],
    picture: (now) => {
      const present = rate.y[Math.max(0, placeAt(rate.x, now))] ?? 0;
      const packets = samples.queue_packets?.[Math.max(0, placeAt(time, now))] ?? 0;
      let open = 0;
      for (let i = 0; i < early; i++) if (mine.start[i]! <= now && !(mine.start[i]! + mine.completion[i]! <= now)) open++;
      const most = Math.max(1, link.max_queue_packets);
      return (
        <Chain
          label={`At ${now.toFixed(1)} s: open requests ${open}; the link runs at ${present.toFixed(0)} Mb/s, ${packets} packets wait`}
          nodes={["servers", "N1", "N2", "clients"]}
          links={[
            { share: 1, text: `${open} open` },
            { share: present / 10, text: `${present.toFixed(0)} Mb/s`, queue: packets / most, queueText: `${packets} packets` },
            { share: 1, text: "1 Gb/s" },
          ]}
        />
      );
    },
  };
}

/** Claim I6. Its part on always on does not count: the sizes are fitted to it. */
function growth(runs: Record<string, Run>, values: Values): Judgement | null {
  const [plain, control] = [runs.plain!, runs.own!].map((run) => field(entry(run.read.flows, FLOW), "mean_completion_s")) as [number | null, number | null];
  if (plain === null || control === null) return null;
  const [least, times] = [bound("I6", "control_min_s"), bound("I6", "ratio_min")];
  return {
    found: `${plain.toPrecision(2)} s to ${control.toPrecision(2)} s, ${(control / plain).toFixed(1)} times as long, where ${packets(values)} packets can wait`,
    rule: `at least ${least} s, and at least ${times} times as long`,
    parts: [control >= least, control / plain >= times],
  };
}

const I6: Claim = {
  id: "I6",
  at: { load: [0.8], ns2: [true], controller: ["practra"], mrci: [16], d: [40], jumps: [false], transition: [2], law: ["campus"], mean: [6.5], rtt: [50, 40, 36, 35, 30], tcp: ["new_reno"] },
  judge: growth,
};

const only = (kind: string) => (values: Values) => values.controller === kind;

export const webLoad: Scene = {
  id: "web-load",
  title: "Web load under control",
  question: "At load 0.3, which controllers can save half of the energy (FS) while p95 of the completion times grows by at most 15 %? Which settings of practRA do so?",
  first: {
    sentence: "The link saves energy by running slowly while few users download: compare the energy saved with the time of the slowest downloads (p95).",
    keys: ["load", "d", "mrci"],
  },
  claim: I6,
  explanation: [
    "Requests arrive at random. Each opens a TCP connection, transfers an object of random size and closes. The load is the requested data per second, divided by 10 Mb/s. The same seed has the same requests under every controller, so all differences are the controller's.",
    "practRA goes up one rate when the queue threatens its delay bound d, and down one rate when the queue is empty and little traffic is forecast. EARTH goes up when the queue reaches a threshold and down when it is empty. Lull lowers the rate between two rounds of TCP, and is back before the next round arrives.",
    "Completion time lasts from the opening of the connection to the last acknowledged byte. Slow start takes several round trips, and a packet that is late in an early round delays all later rounds.",
    "A run lasts until about 150 MB or 8,000 objects are requested, so a run at a low load is longer. Charts over time and the animation show its first 30 s; the animation counts the open requests.",
  ],
  pages: [
    { title: "practRA", path: "models/practra" },
    { title: "EARTH and its relatives", path: "models/g-router" },
    { title: "Lull", path: "models/lull" },
    { title: "Traffic: requests and laws of sizes", path: "models/traffic" },
    { title: "Power models", path: "models/power" },
  ],
  parameters: [
    { kind: "slider", key: "load", label: "Load", unit: "", stops: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], default: 0.3, help: "Requested data per second, divided by the link's 10 Mb/s." },
    { kind: "choice", key: "controller", label: "Controller", options: [{ value: "none", label: "none, always on" }, { value: "practra", label: "practRA" }, { value: "earth", label: "EARTH" }, { value: "lull", label: "Lull" }], default: "practra", help: "The rule by which the link chooses one of its ten rates." },
    { kind: "slider", key: "mrci", label: "mRCI", unit: "ms", stops: [5, 10, 16, 20, 50, 100, 200, 500], default: 10, help: "Minimum rate-change interval: least time between two changes.", when: only("practra") },
    { kind: "slider", key: "d", label: "Delay bound d", unit: "ms", stops: [5, 7, 10, 15, 20, 30, 40, 60, 80], default: 40, help: "Queueing delay above which the link goes up.", when: only("practra") },
    { kind: "switch", key: "jumps", label: "Jumps between rates", default: false, help: "A change goes as far as its rule leads, instead of one step.", when: only("practra") },
    { kind: "slider", key: "threshold", label: "Threshold", unit: "packets", stops: [2, 5, 10, 15, 20, 25, 30, 37, 40, 50, 80], default: 37, help: "Queue at which the link goes up. It never does if the buffer is shorter.", when: only("earth") },
    { kind: "slider", key: "pace", label: "Time between two changes", unit: "ms", stops: [5, 10, 20, 50, 100, 200, 500], default: 100, help: "Least time between two changes of the rate.", when: only("earth") },
    { kind: "slider", key: "slowdown", label: "Slowdown s", unit: "%", stops: [1, 2, 5, 10, 20, 50, 100], default: 5, help: "How much longer requests may take.", when: only("lull") },
    { kind: "switch", key: "forecast", label: "Forecasts", default: true, help: "Lull expects the packets of a round again after one round-trip time.", when: only("lull") },
    { kind: "slider", key: "transition", label: "Pause of a change", unit: "ms", stops: [0.01, 0.1, 0.2, 0.5, 1, 2, 4], default: 2, help: "Nothing is sent for this long after a change (delta).", when: (values) => values.controller !== "none" },
    { kind: "choice", key: "law", label: "Sizes of objects", options: [{ value: "pareto", label: "Pareto" }, { value: "campus", label: "campus" }, { value: "web_search", label: "web search" }, { value: "lognormal", label: "lognormal" }, { value: "exponential", label: "exponential" }, { value: "fixed", label: "all equal" }], default: "pareto", help: "Campus and web search are laws fitted to measurements." },
    { kind: "slider", key: "mean", label: "Mean size", unit: "kB", stops: [3, 5, 6.5, 10, 15, 20, 30, 50, 100, 200], default: 30, help: "Mean of the law." },
    { kind: "slider", key: "shape", label: "Shape of Pareto's law", unit: "", stops: [1.1, 1.2, 1.35, 1.5, 1.75, 2, 2.5], default: 1.35, help: "A smaller shape has more very large objects; none exceeds 30 MB.", when: (values) => values.law === "pareto" },
    { kind: "slider", key: "sigma", label: "Spread of the lognormal law", unit: "", stops: [0.25, 0.5, 1, 1.5, 2, 2.5], default: 1.5, help: "Standard deviation of the logarithm of the size.", when: (values) => values.law === "lognormal" },
    { kind: "slider", key: "rtt", label: "Round-trip time", unit: "ms", stops: [5, 10, 20, 30, 35, 36, 40, 50, 80, 100, 150, 200], default: 50, help: "Propagation delay there and back, without queues." },
    { kind: "slider", key: "buffer", label: "Buffer", unit: "BDP", stops: [0.25, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1, 1.5, 2, 4], default: 1, help: "Rate times round-trip time (bandwidth-delay product); at least 5 packets.", decides: true },
    { kind: "switch", key: "counted", label: "Buffer with the packet being sent", default: false, help: "ns-2 counts it, so one packet less can wait.", decides: true },
    tickParameter,
    { kind: "switch", key: "ns2", label: "TCP and length of the paper", default: false, help: "ns-2's options and 600 s, which take some seconds to run. Off: the RFCs' options.", decides: true },
    { kind: "choice", key: "tcp", label: "TCP", options: tcpOptions, default: "new_reno", help: "The congestion control of the servers." },
    seedParameter("It draws arrivals and sizes."),
  ],
  presets: [
    { name: "practRA as printed", source: "lull-2026, setting “practRA, mRCI 10 ms”", values: { controller: "practra", load: 0.3, mrci: 10, d: 40, jumps: false, transition: 2, law: "pareto", mean: 30, shape: 1.35, rtt: 50, buffer: 1, counted: false, tick: "every", ns2: false, tcp: "new_reno" } },
    { name: "practRA, best setting", source: "lull-2026, the best of 32 settings", values: { controller: "practra", load: 0.3, mrci: 10, d: 5, jumps: true, transition: 2, law: "pareto", mean: 30, shape: 1.35, rtt: 50, buffer: 1, counted: false, tick: "every", ns2: false, tcp: "new_reno" } },
    { name: "Lull", source: "lull-2026, Pareto sizes", values: { controller: "lull", load: 0.3, slowdown: 5, forecast: true, transition: 2, law: "pareto", mean: 30, shape: 1.35, rtt: 50, buffer: 1, counted: false, ns2: false, tcp: "new_reno" } },
    { name: "EARTH", source: "lull-2026, study “others”", values: { controller: "earth", load: 0.3, threshold: 37, pace: 100, transition: 2, law: "pareto", mean: 30, shape: 1.35, rtt: 50, buffer: 1, counted: false, ns2: false, tcp: "new_reno" } },
    { name: "Campus downloads", source: "intertwining-2012, load 0.8, with the TCP options of the RFCs", values: { controller: "practra", load: 0.8, mrci: 16, d: 40, jumps: false, transition: 2, law: "campus", mean: 6.5, rtt: 50, buffer: 1, counted: false, tick: "every", ns2: false, tcp: "new_reno" } },
    { name: "A rate that does not recover", source: "intertwining-2012, a buffer of half a BDP", values: { controller: "practra", load: 0.8, mrci: 16, d: 40, jumps: false, transition: 2, law: "campus", mean: 6.5, rtt: 50, buffer: 0.5, counted: false, tick: "every", ns2: false, tcp: "new_reno" } },
    { name: "The paper's 7 s", source: "intertwining-2012, section 3.2: the average round trip of 50 ms as a measured one (35 ms of propagation), the buffer as ns-2 counts it, a tick of one mRCI", values: { controller: "practra", load: 0.8, mrci: 16, d: 40, jumps: false, transition: 2, law: "campus", mean: 6.5, rtt: 35, buffer: 1, counted: true, tick: "mrci", ns2: true, tcp: "new_reno" } },
    { name: "Always on", source: "the shipped scenario web-load, load 0.8", values: { controller: "none", load: 0.8, law: "pareto", mean: 30, shape: 1.35, rtt: 50, buffer: 1, counted: false, ns2: false, tcp: "new_reno" } },
  ],
  scenarios: (values) => {
    const control = controller(values);
    return { own: scenario(values, control), ...(control ? { plain: scenario(values, null) } : {}) };
  },
  view,
};
