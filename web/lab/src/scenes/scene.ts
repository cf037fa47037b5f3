/** The description of a scene. Controls, addresses, figures, charts and downloads derive from it. */

import type { ComponentChild } from "preact";
import type { Column, Outcome, Scenario, Table } from "../engine/module";
import type { ClaimId } from "../lib/claims";
import { entry, type LinkSummary, type Summary } from "../lib/summary";

export type Value = number | string | boolean;
export type Values = Record<string, Value>;

interface Common {
  key: string;
  label: string;
  /** A sentence about the parameter. */
  help: string;
  /** The parameter is shown for these values only; default all. */
  when?: (values: Values) => boolean;
  /** True for a reading that decides the scene's claim. The verdict is next to such parameters. */
  decides?: boolean;
}
/** A slider over some values in rising order. */
export interface Slider extends Common {
  kind: "slider";
  unit: string;
  stops: number[];
  default: number;
}
export interface Choice extends Common {
  kind: "choice";
  options: { value: string; label: string }[];
  default: string;
}
export interface Switch extends Common {
  kind: "switch";
  default: boolean;
}
/** A text that decides the seed: a number, or a name (`seedOf`). */
export interface Seed extends Common {
  kind: "seed";
  default: string;
}
export type Parameter = Slider | Choice | Switch | Seed;

export interface Preset {
  name: string;
  /** The source of the values, such as a section of a paper. */
  source: string;
  values: Values;
}

/** A curve. `y` has NaN where there is no value. */
export interface Series {
  label: string;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
  kind: "line" | "steps" | "points";
  dashed?: boolean;
  /** Number of the colour; default the place in the panel. */
  colour?: number;
  /** False: the curve is not shown again for the kept result A. */
  compared?: boolean;
}

export interface Panel {
  title: string;
  x: string;
  y: string;
  series: Series[];
  /** True if x is simulated time: the panels share a cursor and the clock. */
  timed: boolean;
  logX?: boolean;
  /** A logarithmic y axis from the least to the greatest value; `yMin` and `yMax` do not apply. */
  logY?: boolean;
  yMin?: number;
  yMax?: number;
  /** Names of the values 0, 1, 2, ... of y, for a chart of states. */
  levels?: readonly string[];
}

/** A number that sums up a run. `value` is null where the run has none. */
export interface Figure {
  label: string;
  value: number | null;
  unit: string;
  /** Decimal places. */
  digits: number;
  /** True for a change: numbers above zero have a sign as well. */
  signed?: boolean;
  help?: string;
}

export interface View {
  /** The first three are those that a first look and a phone show. */
  figures: Figure[];
  panels: Panel[];
  /** The simulated time at which the clock ends; 0 without a clock. */
  seconds: number;
  /** The simulated time at which it begins; default 0. */
  from?: number;
  /** The simulated time that it shows first; default its beginning. */
  start?: number;
  /** Sentences on this run below the figures. */
  notes?: string[];
  /** The judgement of the scene's claim, where the settings are those of the claim. */
  judged?: Judgement | null;
  /** The picture of the network at a simulated time. */
  picture?: (time: number) => ComponentChild;
  /** A picture in which a point can be chosen; it changes values. */
  chooser?: (values: Values, choose: (changes: Values) => void) => ComponentChild;
}

/** The judgement of a claim by one run. */
export interface Judgement {
  /** The numbers of the run, as a part of a sentence. */
  found: string;
  /** The rule of the claim, as a part of a sentence. */
  rule: string;
  /** True for each part of the claim that holds. */
  parts: boolean[];
}

/** A claim of a paper that a run of the scene can judge. */
export interface Claim {
  /** Its name in the paper's claims.toml. */
  id: ClaimId;
  /** The settings that it is about: the values of each, the usual one first. All other settings are free. */
  at: Record<string, [Value, ...Value[]]>;
  /** Null if the runs lack a number. */
  judge(runs: Record<string, Run>, values: Values): Judgement | null;
}

/** A finished run, with its summary read. */
export interface Run extends Outcome {
  read: Summary;
}

export interface Scene {
  /** The name in addresses. */
  id: string;
  title: string;
  /** The question that the reader can answer with the sliders. */
  question: string;
  /** For a first look: a sentence, and the keys of the three settings that it shows. */
  first: { sentence: string; keys: [string, string, string] };
  claim?: Claim;
  /** Some short paragraphs. */
  explanation: string[];
  /** Names of pages of the documentation, with their paths below `docs/`. */
  pages: { title: string; path: string }[];
  parameters: Parameter[];
  presets: Preset[];
  /** The scenarios to run, by name. The first is the scene's own; the others are for comparison. */
  scenarios(values: Values): Record<string, Scenario>;
  view(runs: Record<string, Run>, values: Values): View;
}

/** The settings, by their keys, that keep a claim from being judged. */
export function strays(claim: Claim, values: Values): string[] {
  return Object.keys(claim.at).filter((key) => !claim.at[key]!.includes(values[key]!));
}

export function defaults(scene: Scene): Values {
  return Object.fromEntries(scene.parameters.map((parameter) => [parameter.key, parameter.default]));
}

/** The longest name that decides a seed. */
export const LONGEST_NAME = 60;

const SEED = "seed";

/** The parameter of the seed, which every scene has. `draws` names the random events. */
export function seedParameter(draws: string): Seed {
  return { kind: "seed", key: SEED, label: "Name or seed", default: "1", help: `A number, or a name that gives one. ${draws} Presets, Reset and other scenes keep it.` };
}

/** The tick of practRA, for scenes with `controller` and `mrci`. */
export const tickParameter: Choice = {
  kind: "choice", key: "tick", label: "practRA's tick", default: "every", decides: true,
  options: [{ value: "every", label: "every packet" }, { value: "1", label: "1 ms" }, { value: "10", label: "10 ms" }, { value: "mrci", label: "one mRCI" }],
  help: "practRA tests its rules at each packet or tick. The papers name no clock but mRCI.", when: (values) => values.controller === "practra",
};

/** The controller's `tick` of that parameter. */
export function tickOf(values: Values): { tick?: string } {
  const tick = text(values, "tick");
  return tick === "every" ? {} : { tick: `${number(values, tick === "mrci" ? "mrci" : "tick")} ms` };
}

/** The values with another scene's seed. */
export function withSeed(values: Values, other: Values): Values {
  return { ...values, [SEED]: other[SEED] ?? values[SEED]! };
}

/** CRC-32 as of zlib and PNG, bit by bit. */
function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** The seed of a name: the number itself, or the CRC-32 of the name in small letters (UTF-8). Spaces at its ends do not count. */
export function seedOf(values: Values): number {
  const name = text(values, SEED).normalize("NFC").trim().toLowerCase();
  return /^\d{1,15}$/.test(name) ? Number(name) : crc32(new TextEncoder().encode(name));
}

/** The name of a file with results, without its ending: the scene, and the name or seed. */
export function fileName(scene: Scene, values: Values): string {
  return `${scene.id}-${text(values, SEED).replace(/[^\p{L}\p{M}\p{N}]+/gu, "-")}`;
}

/** Reads a number among the values. */
export function number(values: Values, key: string): number {
  return Number(values[key]);
}

/** Reads a text among the values. */
export function text(values: Values, key: string): string {
  return String(values[key]);
}

/** The rows of a table that belong to one link, flow or station, by its place in the summary: a column per name. */
export function rowsOf(table: Table | undefined, owner: string, place: number): Record<string, number[]> {
  if (!table) return {};
  const owners = table[owner] as Uint32Array;
  const names = Object.keys(table).filter((name) => name !== owner && !Array.isArray(table[name]));
  const rows: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let row = 0; row < owners.length; row++) {
    if (owners[row] !== place) continue;
    for (const name of names) rows[name]!.push((table[name] as Float64Array)[row]!);
  }
  return rows;
}

/** The texts of a column of a table that belong to one link, flow or station, in the order of `rowsOf`. */
export function textsOf(table: Table | undefined, owner: string, place: number, column: string): string[] {
  const owners = table?.[owner] as Uint32Array | undefined;
  const texts = (table?.[column] ?? []) as string[];
  return texts.filter((_, row) => owners![row] === place);
}

/** The place of an entry of the summary. Tables name links and flows by it. */
export function place(entries: readonly { name: string }[], name: string): number {
  return entries.findIndex((entry) => entry.name === name);
}

/** Bytes per interval as b/s. */
export function asRate(bytes: readonly number[], interval: number): number[] {
  return bytes.map((value) => (value * 8) / interval);
}

/** Values in another unit. */
export function scaled(values: readonly number[], factor: number): number[] {
  return values.map((value) => value * factor);
}

/** The rates of a link in Mb/s, as steps from the start of the run to `until`. */
export function ratesOf(run: Run, link: string, until: number): { x: number[]; y: number[] } {
  const { time_s: times = [], rate_bps: rates = [] } = rowsOf(run.tables.rate, "link", place(run.read.links, link));
  const count = placeAt(times, until) + 1;
  const [x, y] = count > 0 ? [times.slice(0, count), rates.slice(0, count)] : [[0], [entry(run.read.links, link).rate_bps]];
  return { x: [...x, until], y: scaled([...y, y.at(-1)!], 1e-6) };
}

/** The energy that a link saves under a power model, in per cent of the same link at its highest rate all the time. */
export function savingOf(link: LinkSummary, model: string): number | null {
  const saving = link.energy[model]?.saving ?? null;
  return saving === null ? null : 100 * saving;
}

/** The last place whose value is at most `at`, in rising values; -1 before the first. */
export function placeAt(values: ArrayLike<number>, at: number): number {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export type { Column, Scenario };
