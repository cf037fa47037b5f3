/** Requests over a link that sleeps between packets: low-power idle of Energy Efficient Ethernet. */

import { Chain } from "../ui/chain";
import { tcpOptions } from "../lib/catalogue";
import { distribution, field, requestsOf, sample } from "../lib/requests";
import { entry } from "../lib/summary";
import { asRate, number, place, placeAt, rowsOf, savingOf, scaled, seedOf, seedParameter, text, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

const LINK = "N1-N2";
const BACK = "N2-N1";
const FLOW = "web";
/** Rates in b/s, and true where both directions sleep together. */
const PHYS: Record<string, { rate: number; coupled: boolean }> = {
  "100base-tx": { rate: 1e8, coupled: false },
  "1000base-t": { rate: 1e9, coupled: true },
  "10gbase-t": { rate: 1e10, coupled: false },
  "802.3bj-dual": { rate: 4e10, coupled: false },
};
/** The rates of which `ROUTER` has ports, b/s. */
const PORTS = [1e9, 1e10];
const ROUTER = "n540x-8z16g";
/** A run requests this much data, or this many objects if that is less. */
const VOLUME_BITS = 4.8e8;
const REQUESTS = 4000;
const BUFFER = "2 MB";
/** The parts of the time with charts and an animation. */
const SLICES = 100;

/** The settings as numbers: b/s and seconds. */
function read(values: Values) {
  const { rate, coupled } = PHYS[text(values, "phy")]!;
  const rtt = number(values, "rtt") / 1e3, hysteresis = number(values, "hysteresis") / 1e6;
  const load = number(values, "load"), bits = 8000 * number(values, "mean");
  const measured = Math.max(Math.min(VOLUME_BITS, REQUESTS * bits) / (load * rate), 20 * rtt, 2 * hysteresis);
  // Twenty requests, or fifty round trips.
  const slice = Math.ceil((1e6 * Math.max((20 * bits) / (load * rate), 50 * rtt, 2 * hysteresis, 0.02)) / SLICES) / 1e6;
  return { rate, coupled, rtt, load, measured, warmUp: Math.max(measured / 10, 5 * rtt), slice };
}

function time(seconds: number): string {
  return `${Math.round(seconds * 1e6)} us`;
}

function scenario(values: Values, sleeps: boolean, more: Scenario): Scenario {
  const { rate, rtt, load, measured, warmUp } = read(values);
  const hold = number(values, "hold"), mean = number(values, "mean");
  const controller = {
    kind: "lpi", phy: text(values, "phy"), hysteresis: `${number(values, "hysteresis")} us`,
    ...(hold > 0 ? { coalesce_time: `${hold} us`, coalesce_frames: number(values, "frames") } : {}),
  };
  const edge = { duplex: true, rate: `${rate / 1e8} Gb/s`, delay: time(rtt / 20), buffer: "unlimited" };
  const link = { rate: `${rate / 1e9} Gb/s`, delay: time(0.4 * rtt), buffer: BUFFER, ...(sleeps ? { controller } : {}) };
  return {
    name: "eee",
    description: "Requests, one TCP connection each, over a link that sleeps between packets",
    duration: time(measured + warmUp),
    warm_up: time(warmUp),
    seed: seedOf(values),
    nodes: ["servers", "N1", "N2", "clients"],
    link: [
      { from: "servers", to: "N1", ...edge },
      { from: "N1", to: "N2", ...link },
      { from: "N2", to: "N1", ...link },
      { from: "N2", to: "clients", ...edge },
    ],
    flow: [{ kind: "requests", name: FLOW, from: "servers", to: "clients", offered: `${+((load * rate) / 1e6).toFixed(3)} Mb/s`, size: { kind: "pareto", mean: `${mean} kB`, shape: 1.35, max: `${100 * mean} kB` }, most_open: 1_000_000 }],
    tcp: { congestion_control: text(values, "tcp"), delayed_ack: false },
    power: [{ model: "fs" }, { model: ROUTER }],
    probe: { requests: true },
    ...more,
  };
}

/** The beginning of the run in slices. */
function beginning(values: Values): Scenario {
  const { slice } = read(values);
  return scenario(values, true, {
    duration: time(SLICES * slice), warm_up: "0 s", power: [{ model: "fs" }],
    probe: { interval: time(slice), links: [LINK] },
    phase: Array.from({ length: SLICES }, (_, i) => ({ name: String(i), from: time(i * slice), to: time((i + 1) * slice) })),
  });
}

interface Slice {
  link: Record<string, { asleep_s: number }>;
}

const TIMES = [["p95", "95 % of the requests do not exceed it"], ["p50", "The median"], ["p99", "99 % of the requests do not exceed it"]] as const;

function view(runs: Record<string, Run>, values: Values): View {
  const own = runs.own!, plain = runs.plain!, first = runs.beginning!;
  const { rate, coupled, warmUp, slice } = read(values);
  const link = entry(own.read.links, LINK), back = entry(own.read.links, BACK), awake = entry(plain.read.links, LINK);
  const flow = entry(own.read.flows, FLOW), always = entry(plain.read.flows, FLOW);
  const ms = ({ x, y }: { x: number[]; y: number[] }) => ({ x: scaled(x, 1e3), y });
  const mine = requestsOf(own), theirs = requestsOf(plain), chosen = sample(mine, warmUp);
  const slices = Object.values(first.read.phase as Record<string, Slice>);
  const asleep = (name: string) => slices.map((each) => (100 * each.link[name]!.asleep_s) / slice);
  const starts = slices.map((_, i) => i * slice), towards = asleep(LINK), from = asleep(BACK);
  const samples = rowsOf(first.tables.link, "link", place(first.read.links, LINK));
  const times = samples.time_s ?? [], queue = samples.queue_packets ?? [];
  const steps = (label: string, y: number[], more: Partial<Series> = {}): Series => ({ label, x: [...starts, SLICES * slice], y: [...y, y.at(-1)!], kind: "steps", ...more });
  const started = field(flow, "requests_started"), completed = field(flow, "requests_completed");
  const watts = PORTS.includes(rate) ? [link, back].reduce((sum, { energy }) => sum + (energy[ROUTER]!.reference_j - energy[ROUTER]!.total_j) / own.read.measured_s, 0) : null;
  const low = link.low_power!;
  return {
    seconds: SLICES * slice,
    figures: [
      { label: "Time asleep, towards the clients", value: 100 * low.low_share, unit: "%", digits: 1, help: "Low-power idle, fast wake included." },
      { label: "Energy saved, both directions", value: (savingOf(link, "fs")! + savingOf(back, "fs")!) / 2, unit: "%", digits: 1, help: "Of a port whose power falls to 10 % asleep (70 % in fast wake), and which takes its full power in transitions." },
      ...TIMES.flatMap(([key, help]) => {
        const [a, b] = [field(flow, `${key}_completion_s`), field(always, `${key}_completion_s`)];
        return [
          { label: `${key}, compared with no sleep`, value: a !== null && b !== null && b > 0 ? a / b : null, unit: "×", digits: 3 },
          { label: `${key} of completion times`, value: a === null ? null : 1000 * a, unit: "ms", digits: 3, help: `${help}.` },
        ];
      }),
      { label: "Time asleep, from the clients", value: 100 * back.low_power!.low_share, unit: "%", digits: 1 },
      { label: "Time in transitions, towards the clients", value: (100 * (low.entering_s + low.waking_s)) / own.read.measured_s, unit: "%", digits: 1 },
      { label: "Sleeps per second", value: low.sleeps / own.read.measured_s, unit: "", digits: 0 },
      { label: "Mean wait at the link", value: 1e6 * link.mean_wait_s, unit: "µs", digits: 1 },
      { label: "Mean wait at the link without sleep", value: 1e6 * awake.mean_wait_s, unit: "µs", digits: 1 },
      { label: "Power saved, measured ports of a Cisco N540X", value: watts === null ? null : 1000 * watts, unit: "mW", digits: 1, help: "Both ends: mean SFP and SFP+ ports of a fleet of routers, without transceivers. None for other rates." },
      { label: "Dropped packets", value: 100 * link.drop_fraction, unit: "%", digits: 2 },
      { label: "Requests after the warm-up", value: started, unit: "", digits: 0 },
      { label: "Requests finished", value: started && completed !== null ? (100 * completed) / started : null, unit: "%", digits: 2, help: "Completion times count finished requests only." },
    ],
    panels: [
      {
        title: "Distribution of completion times", x: "completion time (ms)", y: "% of requests", timed: false, logX: true, yMin: 0, yMax: 100,
        series: [
          { label: "with sleep", ...ms(distribution(mine, warmUp)), kind: "line" },
          { label: "without sleep", ...ms(distribution(theirs, warmUp)), kind: "line", dashed: true, compared: false, colour: 6 },
        ],
      },
      {
        title: "Completion time over size", x: "size (kB)", y: "ms", timed: false, logX: true, logY: true,
        series: [
          { label: "without sleep", x: chosen.x, y: chosen.rows.map((row) => 1e3 * (theirs.completion[row] ?? NaN)), kind: "points", compared: false, colour: 6 },
          { label: "with sleep", x: chosen.x, y: chosen.rows.map((row) => 1e3 * mine.completion[row]!), kind: "points", colour: 0 },
        ],
      },
      {
        title: "Time asleep at the beginning of the run", x: "time (s)", y: "% of each hundredth", timed: true, yMin: 0, yMax: 100,
        series: coupled ? [steps("both directions", towards)] : [steps("towards the clients", towards), steps("from the clients", from)],
      },
      { title: "Arrivals at the beginning of the run", x: "time (s)", y: "Mb/s", timed: true, yMin: 0, series: [{ label: "arrivals", x: times, y: scaled(asRate(samples.arrived_bytes ?? [], slice), 1e-6), kind: "line" }] },
      { title: "Queue at the beginning of the run", x: "time (s)", y: "packets", timed: true, yMin: 0, series: [{ label: "queue", x: times, y: queue, kind: "line" }] },
    ],
    picture: (now) => {
      const at = Math.max(0, placeAt(starts, now)), packets = queue[Math.max(0, placeAt(times, now))] ?? 0, share = towards[at]!;
      const most = Math.max(1, ...queue);
      return (
        <Chain
          label={`At ${(1e3 * now).toFixed(1)} ms the link sleeps for ${share.toFixed(0)} % of the time, ${packets} packets wait`}
          nodes={["servers", "N1", "N2", "clients"]}
          links={[
            { share: 1, text: `${rate / 1e8} Gb/s` },
            { share: 1 - share / 100, text: `asleep ${share.toFixed(0)} %`, asleep: share === 100, queue: packets / most, queueText: `${packets} packets` },
            { share: 1, text: `${rate / 1e8} Gb/s` },
          ]}
        />
      );
    },
  };
}

export const eee: Scene = {
  id: "eee",
  title: "A link that sleeps between packets",
  question: "How long must the timer before sleep be so that p95 of the completion times grows by less than 1 %, and how much of the saving is left? At which loads does coalescing save more than it costs?",
  first: {
    sentence: "The link sleeps whenever it has been idle for a while, and packets wait until it is awake: compare the time asleep with the time of the slowest downloads (p95).",
    keys: ["load", "hysteresis", "hold"],
  },
  explanation: [
    "Energy Efficient Ethernet (IEEE 802.3az) has low-power idle: a link that has been idle for its hysteresis goes to sleep, and wakes when a packet arrives. The packet waits for the time to wake: 30.5 µs for 100BASE-TX, 16.5 µs for 1000BASE-T, 4.48 µs for 10GBASE-T. A packet that arrives while the link goes to sleep (182 µs for 1000BASE-T) waits for the end of that as well.",
    "With coalescing, a sleeping link waits for several packets, or until the first one has waited for the longest hold. It sleeps longer, and every first packet is late.",
    "1000BASE-T sleeps only if both directions are idle, so acknowledgements keep it awake. The others let each direction sleep alone.",
    "Requests arrive at random. Each opens a TCP connection, transfers an object with a size of Pareto's law (shape 1.35) and closes. The same seed has the same requests with and without sleep. The links to servers and clients are ten times as fast and never sleep; 2 MB of packets can wait.",
    "A run lasts until about 60 MB or 4,000 objects are requested, at least 20 round trips. Charts over time and the animation show the beginning of the run, in a hundred slices.",
  ],
  pages: [
    { title: "Should I switch on EEE?", path: "how-to/eee" },
    { title: "Energy Efficient Ethernet", path: "models/eee" },
    { title: "Power models", path: "models/power" },
  ],
  parameters: [
    { kind: "slider", key: "load", label: "Load", unit: "", stops: [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9], default: 0.1, help: "Requested data per second, divided by the rate of the link." },
    { kind: "choice", key: "phy", label: "Physical layer", options: [{ value: "100base-tx", label: "100BASE-TX, 100 Mb/s" }, { value: "1000base-t", label: "1000BASE-T, 1 Gb/s" }, { value: "10gbase-t", label: "10GBASE-T, 10 Gb/s" }, { value: "802.3bj-dual", label: "802.3bj, 40 Gb/s, fast wake and deep sleep" }], default: "1000base-t", help: "It sets the rate and the times to sleep and to wake." },
    { kind: "slider", key: "hysteresis", label: "Timer before sleep", unit: "µs", stops: [0, 1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 600, 1000, 2000, 5000, 10000, 250000], default: 30, help: "Idle time before the link goes to sleep (hysteresis; Linux: tx-timer)." },
    { kind: "slider", key: "hold", label: "Coalescing, longest hold", unit: "µs", stops: [0, 5, 10, 20, 50, 100, 200, 500, 1000], default: 0, help: "Time after which the first waiting packet wakes the link. 0: at once." },
    { kind: "slider", key: "frames", label: "Coalescing, packets", unit: "", stops: [2, 3, 5, 10, 12, 20, 50, 100], default: 10, help: "Waiting packets that wake the link earlier.", when: (values) => number(values, "hold") > 0 },
    { kind: "slider", key: "rtt", label: "Round-trip time", unit: "ms", stops: [0.1, 0.2, 0.5, 1, 2, 5, 10], default: 1, help: "Propagation delay there and back, without queues." },
    { kind: "slider", key: "mean", label: "Mean size", unit: "kB", stops: [3, 10, 30, 100, 300], default: 30, help: "Mean size of an object." },
    { kind: "choice", key: "tcp", label: "TCP", options: tcpOptions, default: "cubic", help: "The congestion control of the servers." },
    seedParameter("It draws arrivals and sizes."),
  ],
  presets: [
    { name: "Raspberry Pi 5", source: "timer of 250 ms, raspberrypi/linux#7251", values: { phy: "1000base-t", load: 0.1, hysteresis: 250000, hold: 0, rtt: 1, mean: 30, tcp: "cubic" } },
    { name: "MediaTek mt7621", source: "timer of 30 µs, openwrt/openwrt#17351", values: { phy: "1000base-t", load: 0.1, hysteresis: 30, hold: 0, rtt: 1, mean: 30, tcp: "cubic" } },
    { name: "RTL8372", source: "timer of 5 µs of a computer at this switch, logicog/RTLPlayground#28", values: { phy: "1000base-t", load: 0.1, hysteresis: 5, hold: 0, rtt: 1, mean: 30, tcp: "cubic" } },
    { name: "10GBASE-T, no timer", source: "times of HystEEE", values: { phy: "10gbase-t", load: 0.1, hysteresis: 0, hold: 0, rtt: 1, mean: 30, tcp: "cubic" } },
    { name: "40 Gb/s, coalescing", source: "DualModeEeeSimulator: 10 µs or 12 frames", values: { phy: "802.3bj-dual", load: 0.1, hysteresis: 0, hold: 10, frames: 12, rtt: 1, mean: 30, tcp: "cubic" } },
  ],
  scenarios: (values) => ({ own: scenario(values, true, {}), plain: scenario(values, false, {}), beginning: beginning(values) }),
  view,
};
