/** A download to a client whose radio sleeps between bursts: client-centered energy and delay. */

import { Chain } from "../ui/chain";
import { someTcps } from "../lib/catalogue";
import { entry } from "../lib/summary";
import { number, place, placeAt, rowsOf, scaled, seedOf, seedParameter, strays, text, textsOf, type Claim, type Judgement, type Panel, type Run, type Scenario, type Scene, type Series, type Values, type View } from "./scene";

/** The TCP options of the paper's server with a timestamp clock of 1 ms, put in by the build (tools/lab_data.py). */
declare const FINE_CLOCK: Scenario;

const SECONDS = 120;
/** Length of the part of the download that the charts show in detail. */
const PART = 0.5;
/** Bins of a chart of the whole download. */
const BINS = 120;
const IDEAL = "ideal_psm";
const BSD = "freebsd-4.5";
const STATES = ["asleep", "waking", "idle", "receive", "send"] as const;
const [ASLEEP, WAKING, IDLE, RECEIVE, SEND] = [0, 1, 2, 3, 4];

interface Download {
  start_s: number;
  seconds: number;
  missed_packets: number;
  asleep_s: number;
  wakes: number;
  energy_j: Record<string, number>;
  energy_delay_js: Record<string, number>;
}

interface Station {
  name: string;
  asleep_s: number;
  bursts: number;
  fallback: string | null;
  download: Download | null;
}

const FALLBACKS: Record<string, string> = {
  no_timestamps: "The shaper left the windows unchanged, because the sender uses no timestamps.",
  bad_bursts: "The shaper gave up after three bursts in a row with a missing packet (bad bursts).",
  saturated: "The shaper gave up, because three bursts in a row filled the air for the whole round trip (saturated).",
  paced: "The shaper gave up, because the sender spreads its packets (paced).",
  slowdown: "The shaper gave up, because the download became too slow.",
};

/** The mechanism of the radio; `IDEAL` is the paper's power-saving mode, which wakes and polls in no time. */
function mechanism(kind: string, values: Values): Scenario {
  if (kind === IDEAL) return { kind: "psm", access_point: { beacon_time: "0 ms", poll: "all" } };
  if (kind === "client_shaper" && number(values, "margin") > 0) return { kind, margin: `${number(values, "margin")} ms` };
  if (kind === "psm_one" || kind === "psm_all") return { kind: "psm", access_point: { poll: kind === "psm_one" ? "one" : "all" } };
  return kind === "bsd" ? { kind, access_point: { poll: "one" } } : { kind };
}

function scenario(values: Values, kind: string): Scenario {
  const rtt = number(values, "rtt"), noise = number(values, "noise"), loss = number(values, "loss");
  const sender = text(values, "sender");
  const buffer = `${number(values, "window")} KiB`;
  return {
    name: "doze",
    description: "A download to a client whose radio sleeps between bursts",
    duration: `${SECONDS} s`,
    seed: seedOf(values),
    nodes: ["server", "access-point", "client"],
    // The client is that of the paper. Both buffers limit the data in flight.
    tcp: {
      ...(sender !== BSD ? { congestion_control: sender } : number(values, "clock") === 1 ? FINE_CLOCK : { preset: sender }),
      timestamps: true, send_buffer: buffer, receive_buffer: buffer, delayed_ack_timeout: "40 ms", quick_acks: 44,
    },
    link: [
      {
        from: "server", to: "access-point", rate: "100 Mb/s", delay: `${rtt / 2} ms`, buffer: "unlimited",
        ...(noise > 0 ? { noise: { mean: `${+((rtt * noise) / 100).toPrecision(6)} ms`, shape: 2 } } : {}),
        ...(loss > 0 ? { loss: { kind: "bernoulli", probability: loss / 100 } } : {}),
      },
      { from: "access-point", to: "server", rate: "100 Mb/s", delay: `${rtt / 2} ms`, buffer: "unlimited" },
      { from: "access-point", to: "client", duplex: true, rate: `${number(values, "air")} Mb/s`, delay: "0 ms", buffer: "unlimited" },
    ],
    flow: [{ kind: "tcp", name: "download", from: "server", to: "client", size: `${number(values, "size")} MB`, start: "50 ms" }],
    station: [{ name: "phone", nodes: ["client"], radio: [text(values, "radio")], ...(kind === IDEAL ? { wake_time: "0 ms" } : {}), mechanism: mechanism(kind, values) }],
    ...(kind === IDEAL ? {} : { probe: { stations: true, window: true } }),
  };
}

/** A step curve of places in `STATES`. */
interface Steps {
  x: number[];
  y: number[];
}

/** Transmissions to and from the station: a column per property. */
interface Air {
  from: number[];
  to: number[];
  kind: string[];
  seq: number[];
  size: number[];
  window: number[];
}

function airOf(run: Run): Air {
  const rows = rowsOf(run.tables.air, "station", 0);
  return {
    from: rows.time_s ?? [], to: rows.end_s ?? [], kind: textsOf(run.tables.air, "station", 0, "kind"),
    seq: rows.seq ?? [], size: rows.size_bytes ?? [], window: rows.window_bytes ?? [],
  };
}

const RECEIVED = new Set(["data", "beacon"]);

/** The radio's state over time, from its changes and from the transmissions. */
function radioOf(run: Run, air: Air): Steps {
  const times = rowsOf(run.tables.radio, "station", 0).time_s ?? [];
  const states = textsOf(run.tables.radio, "station", 0, "state");
  type Change = { at: number; radio?: number; receiving?: number; sending?: number };
  const changes: Change[] = times.map((at, i) => ({ at, radio: states[i] === "asleep" ? ASLEEP : states[i] === "waking" ? WAKING : IDLE }));
  for (let i = 0; i < air.from.length; i++) {
    if (air.kind[i] === "missed") continue;
    const key = RECEIVED.has(air.kind[i]!) ? "receiving" : "sending";
    changes.push({ at: air.from[i]!, [key]: 1 }, { at: air.to[i]!, [key]: -1 });
  }
  changes.sort((a, b) => a.at - b.at);
  const steps: Steps = { x: [0], y: [IDLE] };
  let radio = IDLE, receiving = 0, sending = 0;
  for (let i = 0; i < changes.length; i++) {
    const change = changes[i]!;
    radio = change.radio ?? radio;
    receiving += change.receiving ?? 0;
    sending += change.sending ?? 0;
    if (changes[i + 1]?.at === change.at) continue;
    const state = radio !== IDLE ? radio : sending > 0 ? SEND : receiving > 0 ? RECEIVE : IDLE;
    if (state !== steps.y.at(-1)) {
      steps.x.push(change.at);
      steps.y.push(state);
    }
  }
  return steps;
}

/** The points of a curve within a span. A curve that is held between its points also has a value at both ends. */
function within(x: readonly number[], y: readonly number[], from: number, to: number, held: boolean): { x: number[]; y: number[] } {
  const before = placeAt(x, from), last = placeAt(x, to);
  const found = { x: x.slice(before + 1, last + 1), y: y.slice(before + 1, last + 1) };
  if (held && before >= 0) {
    found.x.unshift(from);
    found.y.unshift(y[before]!);
  }
  if (held && last >= 0) {
    found.x.push(to);
    found.y.push(y[last]!);
  }
  return found;
}

/** The share of each bin of a span that the radio is in a state. */
function shares({ x, y }: Steps, wanted: (state: number) => boolean, from: number, to: number): { x: number[]; y: number[] } {
  const width = (to - from) / BINS;
  const sums = new Array<number>(BINS).fill(0);
  for (let i = 0; i < x.length; i++) {
    if (!wanted(y[i]!)) continue;
    let at = Math.max(x[i]!, from);
    const end = Math.min(x[i + 1] ?? to, to);
    while (at < end) {
      const bin = Math.min(BINS - 1, Math.floor((at - from) / width + 1e-9));
      const edge = Math.min(end, from + (bin + 1) * width);
      sums[bin]! += edge - at;
      if (edge <= at) break;
      at = edge;
    }
  }
  return { x: sums.map((_, bin) => from + (bin + 0.5) * width), y: sums.map((sum) => Math.min(1, sum / width)) };
}

interface Curves {
  air: Air;
  radio: Steps;
  /** Data at the client, with its position in the download in kB. */
  data: { x: number[]; y: number[]; missed: boolean[] };
  received: { x: number[]; y: number[] };
  window: { x: number[]; y: number[] };
  cwnd: { x: number[]; y: number[] };
  opens: { x: number[]; y: number[] };
}

function curves(run: Run): Curves {
  const air = airOf(run);
  const data: Curves["data"] = { x: [], y: [], missed: [] };
  const received = { x: [0], y: [0] }, window = { x: [] as number[], y: [] as number[] }, opens = { x: [] as number[], y: [] as number[] };
  const first = air.seq[air.kind.indexOf("data")] ?? 0;
  let most = 0, base = 0, before = first;
  for (let i = 0; i < air.from.length; i++) {
    const kind = air.kind[i]!;
    if (kind === "data" || kind === "missed") {
      // Sequence numbers start anew at 0 after 2^32.
      if (before - air.seq[i]! > 2 ** 31) base += 2 ** 32;
      before = air.seq[i]!;
      const offset = (base + air.seq[i]! - first) / 1000;
      data.x.push(air.to[i]!);
      data.y.push(offset);
      data.missed.push(kind === "missed");
      if (kind === "data" && offset > most) {
        most = offset;
        received.x.push(air.to[i]!);
        received.y.push(offset);
      }
    } else if (Number.isFinite(air.window[i]!)) {
      window.x.push(air.from[i]!);
      window.y.push(air.window[i]! / 1000);
      if (kind === "open") {
        opens.x.push(air.from[i]!);
        opens.y.push(air.window[i]! / 1000);
      }
    }
  }
  const cwnd = rowsOf(run.tables.window, "flow", place(run.read.flows, "download"));
  return { air, radio: radioOf(run, air), data, received, window, opens, cwnd: { x: cwnd.time_s ?? [], y: scaled(cwnd.cwnd_bytes ?? [], 1e-3) } };
}

const cached = new WeakMap<Run, Curves>();

function curvesOf(run: Run): Curves {
  const known = cached.get(run) ?? curves(run);
  cached.set(run, known);
  return known;
}

function chosen({ x, y }: { x: number[]; y: number[] }, keep: (i: number) => boolean): { x: number[]; y: number[] } {
  return { x: x.filter((_, i) => keep(i)), y: y.filter((_, i) => keep(i)) };
}

/** The panels of a short part: single packets, acknowledgements and states. */
function detail(own: Curves, awake: Curves, from: number, to: number): Panel[] {
  const timed = { x: "time (s)", timed: true };
  const series = (label: string, values: { x: number[]; y: number[] }, held: boolean, more: Partial<Series> = {}): Series => ({ label, kind: held ? "steps" : "points", ...within(values.x, values.y, from, to, held), ...more });
  return [
    { ...timed, title: "The radio", y: "", yMin: 0, yMax: 4.3, levels: STATES, series: [series("state of the radio", own.radio, true)] },
    {
      ...timed, title: "Packets at the client", y: "position (kB)",
      series: [
        series("received", chosen(own.data, (i) => !own.data.missed[i]), false),
        series("missed", chosen(own.data, (i) => own.data.missed[i]!), false),
      ],
    },
    {
      ...timed, title: "Advertised window", y: "kB", yMin: 0,
      series: [
        series("window in the last acknowledgement", own.window, true),
        series("open acknowledgement", own.opens, false, { colour: 2 }),
      ],
    },
    {
      ...timed, title: "Congestion window of the sender", y: "kB", yMin: 0,
      series: [series("window", own.cwnd, true), series("window, radio always awake", awake.cwnd, true, { dashed: true, compared: false, colour: 6 })],
    },
  ];
}

/** The panels of the whole download. */
function overview(own: Curves, awake: Curves, to: number): Panel[] {
  const timed = { x: "time (s)", timed: true, yMin: 0 };
  const curve = (label: string, values: { x: number[]; y: number[] }, more: Partial<Series> = {}): Series => ({ label, kind: "steps", ...within(values.x, values.y, 0, to, true), ...more });
  const share = (label: string, wanted: (state: number) => boolean): Series => ({ label, kind: "line", ...shares(own.radio, wanted, 0, to) });
  const missed = chosen(own.data, (i) => own.data.missed[i]!);
  return [
    {
      ...timed, title: "The radio, shares of time", y: "share", yMax: 1.05,
      series: [share("asleep", (state) => state === ASLEEP), share("idle or waking", (state) => state === IDLE || state === WAKING), share("receive or send", (state) => state === RECEIVE || state === SEND)],
    },
    {
      ...timed, title: "Data at the client", y: "kB",
      series: [
        curve("received", own.received),
        { label: "missed", kind: "points", ...within(missed.x, missed.y, 0, to, false) },
        curve("received, radio always awake", awake.received, { dashed: true, compared: false, colour: 6 }),
      ],
    },
    { ...timed, title: "Advertised window", y: "kB", series: [{ label: "open acknowledgement", kind: "points", ...within(own.opens.x, own.opens.y, 0, to, false), colour: 2 }, curve("window in the last acknowledgement", own.window, { colour: 0 })] },
    {
      ...timed, title: "Congestion window of the sender", y: "kB",
      series: [curve("window", own.cwnd), curve("window, radio always awake", awake.cwnd, { dashed: true, compared: false, colour: 6 })],
    },
  ];
}

function notes(station: Station, values: Values): string[] {
  const found: string[] = [];
  if (!station.download) found.push(`The download is not complete after ${SECONDS} s, so its energy and time are not known.`);
  if (station.fallback) found.push(FALLBACKS[station.fallback] ?? `The shaper gave up: ${station.fallback}.`);
  const end = station.download ? station.download.start_s + station.download.seconds : SECONDS;
  if (text(values, "part") === "part" && number(values, "from") >= end) found.push(`The charts begin after the end of the download at ${end.toFixed(2)} s.`);
  if (text(values, "mechanism") === "bsd" && station.asleep_s === 0) found.push("Bounded slowdown stays awake for 200 ms after each acknowledgement that it sends. The gaps of this download are shorter, so it never sleeps.");
  return found;
}

/** The span that the charts show: all of the download, or a part of it. */
function span(values: Values, download: Download | null): [number, number] {
  const start = download?.start_s ?? 0, length = download?.seconds ?? SECONDS;
  const from = number(values, "from");
  return text(values, "part") === "whole" ? [0, Math.ceil((start + length) * 10) / 10] : [from, from + PART];
}

function view(runs: Record<string, Run>, values: Values): View {
  const station = entry(runs.own!.read.stations as unknown as Station[], "client");
  const reference = entry(runs.awake!.read.stations as unknown as Station[], "client");
  const own = curvesOf(runs.own!), awake = curvesOf(runs.awake!);
  const download = station.download, plain = reference.download;
  const [from, to] = span(values, download);
  const radio = text(values, "radio");
  const change = (pick: (download: Download) => number) => (download && plain && pick(plain) > 0 ? (pick(download) / pick(plain) - 1) * 100 : null);
  const energy = (download: Download) => download.energy_j[radio] ?? Number.NaN;
  const product = (download: Download) => download.energy_delay_js[radio] ?? Number.NaN;
  return {
    from, seconds: to,
    figures: [
      { label: "Energy, compared with always awake", value: change(energy), unit: "%", digits: 1, signed: true, help: "Always awake: a client that acknowledges at once after a burst and never sleeps, the paper's baseline." },
      { label: "Time, compared with always awake", value: change((download) => download.seconds), unit: "%", digits: 1, signed: true },
      { label: "Energy × delay, relative to always awake", value: download && plain ? product(download) / product(plain) : null, unit: "", digits: 2, help: "Below 1 the saving is worth its delay: the paper's measure." },
      { label: "Energy of the radio in the download", value: download ? energy(download) : null, unit: "J", digits: 2 },
      { label: "Time of the download", value: download?.seconds ?? null, unit: "s", digits: 2 },
      { label: "Share of the download asleep", value: download ? (download.asleep_s / download.seconds) * 100 : null, unit: "%", digits: 1 },
      { label: "Wake-ups of the radio", value: download?.wakes ?? null, unit: "", digits: 0 },
      { label: "Missed packets", value: download?.missed_packets ?? null, unit: "", digits: 0, help: "Packets that arrived while the radio slept." },
    ],
    notes: notes(station, values),
    panels: text(values, "part") === "whole" ? overview(own, awake, to) : detail(own, awake, from, to),
    picture: (time) => {
      const state = own.radio.y[Math.max(0, placeAt(own.radio.x, time))] ?? IDLE;
      const window = own.window.y[placeAt(own.window.x, time)] ?? 0;
      const received = own.received.y[Math.max(0, placeAt(own.received.x, time))] ?? 0;
      const isDozing = state === ASLEEP || state === WAKING;
      const told = isDozing ? STATES[state]! : state === IDLE ? "idle" : state === RECEIVE ? "receives" : "sends";
      return (
        <Chain
          label={`At ${time.toFixed(3)} s the radio is in state ${STATES[state]}, the client has ${received.toFixed(0)} kB and last advertised a window of ${window.toFixed(1)} kB`}
          nodes={["server", "access point", "client"]}
          links={[
            { share: 0.25, text: `${number(values, "rtt") / 2} ms` },
            { share: state === IDLE ? 0.05 : 0.6, text: `radio ${told}`, asleep: isDozing, queue: received / (1000 * number(values, "size")), queueText: `${received.toFixed(0)} kB, window ${window.toFixed(0)} kB` },
          ]}
        />
      );
    },
  };
}

/** Claim C7 at one round trip: at 90 ms power-saving mode is better, elsewhere the shaper. */
function againstPsm(runs: Record<string, Run>, values: Values): Judgement | null {
  const [shaper, psm, awake] = ["own", IDEAL, "awake"].map((name) => entry(runs[name]!.read.stations as unknown as Station[], "client").download?.energy_delay_js[text(values, "radio")]);
  if (shaper === undefined || psm === undefined || awake === undefined) return null;
  const rtt = number(values, "rtt"), isBetter = rtt !== 90;
  return {
    found: `energy × delay ${(shaper / awake).toFixed(2)} at ${rtt} ms, ideal PSM ${(psm / awake).toFixed(2)}`,
    rule: `at ${rtt} ms ${isBetter ? "the technique" : "PSM"} has the lower energy × delay`,
    parts: [isBetter ? shaper < psm : psm < shaper],
  };
}

const C7: Claim = {
  id: "C7",
  at: { mechanism: ["client_shaper"], rtt: [60, 30, 90, 120], air: [20], window: [32], size: [4.5], sender: [BSD], loss: [0], radio: ["wavelan-dsss"] },
  judge: againstPsm,
};

const PAPER = { rtt: 60, air: 20, window: 32, size: 4.5, sender: BSD, clock: 10, radio: "wavelan-dsss", noise: 2, loss: 0 };

export const doze: Scene = {
  id: "doze",
  title: "A client that dozes",
  question: "From which round-trip time on does the client shaper lower energy × delay? What becomes of the saving with a sender of today, CUBIC or BBR, and why?",
  first: {
    sentence: "The radio of a phone saves energy by sleeping between the bursts of a download, if a round trip takes longer than a burst.",
    keys: ["rtt", "window", "air"],
  },
  claim: C7,
  explanation: [
    "A client downloads a file over a wireless card. Most of the time the card only listens, which takes nearly as much power as receiving. The client shaper makes gaps that are long enough to sleep.",
    "With every acknowledgement of a burst but the last, the client advertises a window of zero (closed acknowledgements). The server stops. Then one open acknowledgement allows the next burst, which arrives one round trip later. The radio sleeps in between and wakes just before the burst.",
    "Noise, losses and pacing change the times of arrival. A packet that arrives while the radio sleeps is missed, and the sender treats it as lost. FreeBSD 4.5 takes back data beyond a closed window, so a missed packet costs it only one burst. Later senders reduce their window. BBR spreads its packets, which leaves no bursts.",
    "In power-saving mode (PSM) the access point holds packets until its next beacon, one per 100 ms. An ideal poll releases all of them, a poll of 802.11 one packet. Bounded slowdown (BSD) stays awake for 200 ms after each packet that it sends.",
    "Energies and times are those of the download. The comparison is a client that acknowledges equally eagerly and never sleeps. Energy × delay, relative to that client, is the paper's measure.",
  ],
  pages: [
    { title: "The client's shaper", path: "models/client-shaper" },
    { title: "Radios that doze", path: "models/radio" },
    { title: "Let a client doze", path: "how-to/doze" },
  ],
  parameters: [
    { kind: "choice", key: "mechanism", label: "Mechanism", options: [{ value: "client_shaper", label: "client shaper" }, { value: "psm_one", label: "PSM, 802.11" }, { value: "psm_all", label: "PSM, ideal poll" }, { value: "bsd", label: "bounded slowdown" }, { value: "eager", label: "always awake" }], default: "client_shaper", help: "The rule by which the radio sleeps." },
    { kind: "slider", key: "rtt", label: "Round-trip time", unit: "ms", stops: [10, 20, 21, 30, 40, 50, 58, 60, 90, 120, 160, 200], default: 60, help: "Propagation delay between server and client, there and back." },
    { kind: "slider", key: "air", label: "Rate of the air", unit: "Mb/s", stops: [5, 10, 20, 54, 108], default: 20, help: "Between access point and client, without overhead." },
    { kind: "slider", key: "window", label: "Receive buffer", unit: "KiB", stops: [8, 16, 32, 48, 64, 128, 256, 1024], default: 32, help: "The largest window. The send buffer has the same size." },
    { kind: "slider", key: "size", label: "Download", unit: "MB", stops: [0.5, 1, 2, 3, 4.5, 4.8, 5, 8], default: 4.5, help: "Size of the file." },
    { kind: "choice", key: "sender", label: "TCP of the server", options: [{ value: BSD, label: "FreeBSD 4.5" }, ...someTcps("new_reno", "cubic", "bbr")], default: BSD, help: "FreeBSD 4.5 of 2002 is the paper's. It has a timestamp clock of 10 ms." },
    { kind: "slider", key: "clock", label: "Clock of timestamps", unit: "ms", stops: [1, 10], default: 10, help: "The client measures its round trip by it. A coarse clock wakes the radio early.", when: (values) => values.sender === BSD, decides: true },
    { kind: "slider", key: "margin", label: "Wake margin", unit: "ms", stops: [0, 0.5, 1, 2, 3, 5, 10], default: 0, help: "The radio wakes this much earlier than the least round trip requires.", when: (values) => values.mechanism === "client_shaper", decides: true },
    { kind: "slider", key: "noise", label: "Noise of the delay", unit: "%", stops: [0, 0.5, 1, 2, 3, 5, 7.5], default: 2, help: "Mean of a random extra delay of each packet, as a share of the round trip." },
    { kind: "slider", key: "loss", label: "Loss", unit: "%", stops: [0, 0.1, 0.25, 0.5, 1, 2], default: 0, help: "Packets lost on the path to the client." },
    { kind: "choice", key: "radio", label: "Radio", options: ["wavelan-dsss", "intel-5300", "esp32", "esp32-c3"].map((value) => ({ value, label: value })), default: "wavelan-dsss", help: "Powers and wake-up time. The paper has a WaveLAN card: 0.177 W asleep, 1.319 W idle." },
    { kind: "choice", key: "part", label: "Charts show", options: [{ value: "part", label: `${PART} s` }, { value: "whole", label: "the whole download" }], default: "part", help: "Single bursts, or the download as a whole." },
    { kind: "slider", key: "from", label: "Charts begin at", unit: "s", stops: [0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30], default: 2, help: "The simulated time at which the part begins. The download starts at 0.05 s.", when: (values) => values.part === "part" },
    seedParameter("It draws noise and losses."),
  ],
  presets: [
    { name: "The paper's path", source: "client-centered-2004, section IV-A: 60 ms, 20 Mb/s of air, FreeBSD 4.5 with 32 KiB; noise of 2 % is an assumption", values: { ...PAPER, mechanism: "client_shaper", margin: 0 } },
    { name: "A site with a large window", source: "client-centered-2004, Fig. 4 and section IV-B: stanford, 58 ms, 64 KiB", values: { ...PAPER, mechanism: "client_shaper", margin: 0, rtt: 58, window: 64, size: 4.8 } },
    { name: "A saturated site", source: "client-centered-2004, section IV-B: uiuc, 21 ms, 64 KiB, back to standard TCP", values: { ...PAPER, mechanism: "client_shaper", margin: 0, rtt: 21, window: 64, size: 5 } },
    { name: "Power-saving mode", source: "client-centered-2004, section IV-C: ideal PSM at 90 ms", values: { ...PAPER, mechanism: "psm_all", rtt: 90 } },
    { name: "A clock of 1 ms", source: "client-centered-2004, section III-C: timers of 1 ms; the margin of 3 ms is an assumption", values: { ...PAPER, mechanism: "client_shaper", clock: 1, margin: 3 } },
    { name: "A sender of today", source: "netlull: CUBIC in place of FreeBSD 4.5", values: { ...PAPER, mechanism: "client_shaper", margin: 0, sender: "cubic" } },
  ],
  scenarios: (values) => ({ own: scenario(values, text(values, "mechanism")), awake: scenario(values, "eager"), ...(strays(C7, values).length ? {} : { [IDEAL]: scenario(values, IDEAL) }) }),
  view,
};
