/** Reads a scenario in TOML as `netlull.fieldpath.read_toml` does: the same values are refused with the same message. */

import { parse, TomlDate, TomlError } from "smol-toml";
import type { Scenario } from "../engine/module";

/** Tables and lists in one another. */
const DEEPEST = 32;

/** Throws an error whose message names line and column, or the field. */
export function readToml(text: string): Scenario {
  try {
    const scenario = parse(text) as Scenario;
    refuse(scenario, "", 0);
    if ("topology" in scenario) throw new Error("topology: needs files, which the lab does not have; `netlull lab FILE` opens the scenario with its links");
    return scenario;
  } catch (error) {
    if (error instanceof TomlError) throw new Error(`line ${error.line}, column ${error.column}: ${error.message.split("\n")[0]}`);
    throw error;
  }
}

/** Refuses values that JSON does not have: JSON.stringify would write them as null or as text. */
function refuse(value: unknown, path: string, depth: number): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Error(`${path}: ${String(value).replace("Infinity", "inf").replace("NaN", "nan")}; expected a finite number`);
  }
  if (value instanceof TomlDate) throw new Error(`${path}: ${value.toISOString()} is a date or a time; expected text, a number, true or false, a list or a table`);
  if (typeof value !== "object" || value === null) return;
  if (depth > DEEPEST) throw new Error(`${path.split(".")[0]}: is nested too deeply; expected at most ${DEEPEST} tables and lists in one another`);
  for (const [key, item] of Object.entries(value)) {
    const name = Array.isArray(value) ? entryName(item) ?? key : key;
    refuse(item, path ? `${path}.${name}` : name, depth + 1);
  }
}

/** The name of an entry of a list in paths. */
function entryName(item: unknown): string | null {
  const { name, from, to, model } = (item ?? {}) as Record<string, unknown>;
  if (typeof name === "string") return name;
  if (typeof from === "string" && typeof to === "string") return `${from}-${to}`;
  return typeof model === "string" ? model : null;
}
