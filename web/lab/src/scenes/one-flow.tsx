/** One TCP flow over a link that scales its rate: the troubled marriage. */

import { Chain } from "../ui/chain";
import { tcpOptions } from "../lib/catalogue";
import { bound } from "../lib/claims";
import { entry } from "../lib/summary";
import { asRate, number, place, placeAt, ratesOf, rowsOf, savingOf, scaled, seedOf, seedParameter, text, tickOf, tickParameter, type Claim, type Judgement, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

const RATE = 10e6;
const INTERVAL = 0.1;
const LINK = "N1-N2";

/** Seconds of a run. */
function seconds(values: Values): number {
  return values.ns2 ? 300 : 60;
}

function scenario(values: Values, controlled: boolean): Scenario {
  const rtt = number(values, "rtt");
  const access = Math.min(1, rtt / 10);
  const delay = `${rtt / 2 - 2 * access} ms`;
  const edge = { duplex: true, rate: "100 Mb/s", delay: `${access} ms`, buffer: "unlimited" };
  const flows: Scenario[] = [{ kind: "tcp", name: "tcp", from: "sender", to: "receiver" }];
  if (values.bursts) {
    flows.push({ kind: "bursts", name: "bursts", from: "sender", to: "receiver", rate: "10 Mb/s", cycle: "1 s", mean_on: `${number(values, "on")} ms` });
  }
  const kind = text(values, "controller");
  const controller = {
    kind,
    rates: { from: "1 Mb/s", to: "10 Mb/s", step: "1 Mb/s" },
    transition: `${number(values, "transition")} ms`,
    ...(kind === "practra" ? { min_interval: `${number(values, "mrci")} ms`, delay_bound: `${number(values, "d")} ms`, ...tickOf(values) } : {}),
  };
  return {
    name: "one-flow",
    description: "One TCP flow over a link that scales its rate",
    duration: `${seconds(values)} s`,
    seed: seedOf(values),
    nodes: ["sender", "N1", "N2", "receiver"],
    link: [
      { from: "sender", to: "N1", ...edge },
      { from: "N1", to: "N2", rate: "10 Mb/s", delay, buffer: `${number(values, "buffer")} packets`, ...(controlled ? { controller } : {}) },
      { from: "N2", to: "N1", rate: "10 Mb/s", delay },
      { from: "N2", to: "receiver", ...edge },
    ],
    flow: flows,
    tcp: { ...(values.ns2 ? { preset: "ns2" } : {}), congestion_control: text(values, "tcp"), delayed_ack: values.ns2 === true },
    probe: { interval: `${INTERVAL * 1000} ms`, links: [LINK] },
  };
}

function curves(run: Run, until: number) {
  const link = rowsOf(run.tables.link, "link", place(run.read.links, LINK));
  const flow = rowsOf(run.tables.flow, "flow", place(run.read.flows, "tcp"));
  return {
    link, flow,
    rate: ratesOf(run, LINK, until),
    arrived: scaled(asRate(link.arrived_bytes ?? [], INTERVAL), 1e-6),
  };
}

function view(runs: Record<string, Run>, values: Values): View {
  const own = runs.own!, plain = runs.plain!;
  const until = seconds(values);
  const found = curves(own, until), always = curves(plain, until);
  const link = entry(own.read.links, LINK);
  const goodput = entry(own.read.flows, "tcp").goodput_bps, best = entry(plain.read.flows, "tcp").goodput_bps;
  const line = (label: string, x: number[], y: number[], more: Partial<Series> = {}): Series => ({ label, x, y, kind: "line", ...more });
  return {
    seconds: until,
    figures: [
      { label: "Goodput of TCP", value: goodput / 1e6, unit: "Mb/s", digits: 2 },
      { label: "Goodput, compared with always-on", value: best > 0 ? (goodput / best - 1) * 100 : null, unit: "%", digits: 1, signed: true },
      { label: "Energy saved, frequency scaling (FS)", value: savingOf(link, "fs"), unit: "%", digits: 1, help: "The controlled link alone, compared with the highest rate all the time." },
      { label: "Energy saved, dynamic voltage scaling (DVS)", value: savingOf(link, "dvs"), unit: "%", digits: 1 },
      { label: "Mean rate", value: link.mean_rate_bps / 1e6, unit: "Mb/s", digits: 2 },
      { label: "Mean wait in the queue", value: link.mean_wait_s * 1000, unit: "ms", digits: 1 },
      { label: "Dropped packets", value: link.drop_fraction * 100, unit: "%", digits: 2 },
      { label: "Rate changes", value: link.rate_changes, unit: "", digits: 0 },
    ],
    panels: [
      {
        title: "Rate and arrivals", x: "time (s)", y: "Mb/s", timed: true, yMin: 0,
        series: [
          line("rate of the link", found.rate.x, found.rate.y, { kind: "steps" }),
          line("arrivals", found.link.time_s ?? [], found.arrived),
        ],
      },
      {
        title: "Congestion window", x: "time (s)", y: "kB", timed: true, yMin: 0,
        series: [
          line("window", found.flow.time_s ?? [], scaled(found.flow.cwnd_bytes ?? [], 1e-3)),
          line("window, always-on", always.flow.time_s ?? [], scaled(always.flow.cwnd_bytes ?? [], 1e-3), { dashed: true, compared: false, colour: 6 }),
        ],
      },
      { title: "Queue", x: "time (s)", y: "packets", timed: true, yMin: 0, series: [line("queue", found.link.time_s ?? [], found.link.queue_packets ?? [])] },
      {
        title: "Goodput of TCP", x: "time (s)", y: "Mb/s", timed: true, yMin: 0,
        series: [
          line("goodput", found.flow.time_s ?? [], scaled(asRate(found.flow.delivered_bytes ?? [], INTERVAL), 1e-6)),
          line("goodput, always-on", always.flow.time_s ?? [], scaled(asRate(always.flow.delivered_bytes ?? [], INTERVAL), 1e-6), { dashed: true, compared: false, colour: 6 }),
        ],
      },
    ],
    picture: (time) => {
      const at = Math.max(0, placeAt(found.link.time_s ?? [], time));
      const rate = found.rate.y[Math.max(0, placeAt(found.rate.x, time))] ?? 0;
      const queue = found.link.queue_packets?.[at] ?? 0;
      return (
        <Chain
          label={`At ${time.toFixed(1)} s the link runs at ${rate.toFixed(0)} Mb/s, ${queue} packets wait`}
          nodes={["sender", "N1", "N2", "receiver"]}
          links={[
            { share: 1, text: "100 Mb/s" },
            { share: rate / 10, text: `${rate.toFixed(0)} Mb/s`, queue: queue / number(values, "buffer"), queueText: `${queue} packets` },
            { share: 1, text: "100 Mb/s" },
          ]}
        />
      );
    },
  };
}

/** Claim T2 by one mRCI. The claim counts the mean over all mRCI as well. */
function rateBelow(runs: Record<string, Run>, values: Values): Judgement {
  const below = 1 - entry(runs.own!.read.links, LINK).mean_rate_bps / RATE;
  const [low, high, slack] = ["low", "high", "slack"].map((name) => bound("T2", name)) as [number, number, number];
  const [least, most] = [low - slack, high + slack];
  const percent = (share: number) => +(100 * share).toPrecision(3);
  return {
    found: `${(100 * below).toFixed(1)} % below the maximum at mRCI ${number(values, "mrci")} ms`,
    rule: `${percent(least)} to ${percent(most)} % at each mRCI, ${percent(low)} to ${percent(high)} % as the mean over mRCI`,
    parts: [below >= least && below <= most],
  };
}

const T2: Claim = {
  id: "T2",
  at: { rtt: [100], ns2: [true], controller: ["practra"], d: [40], transition: [2], tcp: ["new_reno"], bursts: [false] },
  judge: rateBelow,
};

export const oneFlow: Scene = {
  id: "one-flow",
  title: "One flow and a link that scales",
  question: "TCP loses half of its goodput here. How does the loss depend on the round-trip time and on mRCI? Which of the other sliders repairs it, and what happens to the energy?",
  first: {
    sentence: "The link saves energy by running slowly while little data arrives, but TCP then sends less: compare the energy saved with the goodput lost.",
    keys: ["rtt", "mrci", "buffer"],
  },
  claim: T2,
  explanation: [
    "A link of 10 Mb/s takes the lowest of ten rates that its arrivals need. Lower rates need less power. Packets arrive over a link of 100 Mb/s, so arrivals can exceed the rate of this link for a while. TCP measures the path by losses and acknowledgements, so each side reacts to the other.",
    "practRA changes its rate at most once per mRCI (minimum rate-change interval) and keeps the queueing delay near d. If d times the rate exceeds the buffer, packets are lost before the queue can ask for more. TCP then halves its window, and the link believes that nobody needs it.",
  ],
  pages: [
    { title: "practRA", path: "models/practra" },
    { title: "Lull", path: "models/lull" },
    { title: "Power models", path: "models/power" },
  ],
  parameters: [
    { kind: "slider", key: "rtt", label: "Round-trip time", unit: "ms", stops: [2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200], default: 50, help: "Propagation delay there and back, without queues." },
    { kind: "slider", key: "buffer", label: "Buffer", unit: "packets", stops: [5, 8, 10, 15, 20, 25, 30, 31, 32, 33, 34, 35, 40, 50, 60, 80, 100, 150, 200], default: 33, help: "Packets of 1500 B that can wait at the link.", decides: true },
    tickParameter,
    { kind: "switch", key: "ns2", label: "TCP and length of the paper", default: false, help: "ns-2's options with delayed acknowledgements, and 300 s. Off: the RFCs' options, each packet acknowledged, 60 s.", decides: true },
    { kind: "choice", key: "controller", label: "Controller", options: [{ value: "practra", label: "practRA" }, { value: "lull", label: "Lull" }], default: "practra", help: "The rule by which the link chooses its rate." },
    { kind: "slider", key: "mrci", label: "mRCI", unit: "ms", stops: [5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000], default: 100, help: "Minimum rate-change interval: least time between two changes.", when: (values) => values.controller === "practra" },
    { kind: "slider", key: "d", label: "Delay bound d", unit: "ms", stops: [2, 5, 8, 10, 15, 20, 25, 30, 35, 40, 42, 45, 50, 60, 80], default: 40, help: "Queueing delay that the link tries to keep.", when: (values) => values.controller === "practra" },
    { kind: "slider", key: "transition", label: "Pause of a change", unit: "ms", stops: [0.1, 0.2, 0.5, 1, 2, 5, 10], default: 2, help: "Nothing is sent for this long after a change (delta)." },
    { kind: "choice", key: "tcp", label: "TCP", options: tcpOptions, default: "new_reno", help: "The congestion control of the sender." },
    { kind: "switch", key: "bursts", label: "Bursts of datagrams", default: true, help: "A second sender starts a burst at 10 Mb/s every second." },
    { kind: "slider", key: "on", label: "Mean burst", unit: "ms", stops: [10, 25, 50, 75, 100, 150, 200, 300], default: 50, help: "Mean length of a burst.", when: (values) => values.bursts === true },
    seedParameter("It draws the lengths of the bursts."),
  ],
  presets: [
    { name: "The paper's case", source: "troubled-marriage-2016, section IV", values: { rtt: 50, buffer: 33, tick: "every", ns2: false, controller: "practra", mrci: 100, d: 40, transition: 2, tcp: "new_reno", bursts: true, on: 50 } },
    { name: "A delay bound within the buffer", source: "netlull: d times the rate stays below the buffer", values: { rtt: 50, buffer: 33, tick: "every", ns2: false, controller: "practra", mrci: 10, d: 10, transition: 2, tcp: "new_reno", bursts: true, on: 50 } },
    { name: "One flow, no bursts", source: "troubled-marriage-2016, section IV-A and Fig. 2 at mRCI 1000 ms; buffer and tick are assumptions", values: { rtt: 100, buffer: 33, tick: "every", ns2: true, controller: "practra", mrci: 1000, d: 40, transition: 2, tcp: "new_reno", bursts: false } },
    { name: "Lull", source: "netlull's own controller", values: { rtt: 50, buffer: 33, ns2: false, controller: "lull", transition: 2, tcp: "new_reno", bursts: true, on: 50 } },
  ],
  scenarios: (values) => ({ own: scenario(values, true), plain: scenario(values, false) }),
  view,
};
